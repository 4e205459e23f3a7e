"""Certificates on disk: in a file of their own, or inside a model."""

import os
import stat
from pathlib import Path

from certivote.certificate import Certificate
from certivote.io._archive import ModelFileError, read_archive

_LARGEST = 1 << 28
"""Bytes of a certificate."""


def read_certificate(path: str | os.PathLike[str]) -> Certificate:
    """The certificate of a file: its JSON, or a model, where nothing else is opened.

    Raises
    ------
    ValueError
        If it is neither, or is damaged. The message names the file.
    """
    path = Path(path)
    if not stat.S_ISREG(path.stat().st_mode):
        raise ValueError(f"{path} is not a regular file; a certificate is read from one.")
    with open(path, "rb") as file:
        is_model = file.read(2) == b"PK"
        file.seek(0)
        content = b"" if is_model else file.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise ValueError(f"{path} has more than {_LARGEST:,} bytes, which no certificate has.")
    try:
        return Certificate.from_json(read_archive(path).certificate if is_model else content.decode())
    except ModelFileError:
        raise
    except ValueError as error:
        raise ModelFileError(f"{path} is neither a certificate nor a model: {error!s:.500}") from error
