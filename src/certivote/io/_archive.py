"""The archive that a model file is: named JSON texts, arrays of declared sizes, and what users brought."""

import io
import math
import stat
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from certivote.codec import FileError, parse, read, shown, write
from certivote.io._packed_arrays import ARRAY_TYPES, Declared, pack_array, unpack_array

_HEADER, _CERTIFICATE, _MODEL, _BROUGHT = "certivote.json", "certificate.json", "model.json", "brought.skops"
FORMAT, FORMAT_VERSION = "certivote model", 1
_LARGEST = 1 << 34
"""Bytes that a file may unpack to."""
_SPARE, _RATIO = 1 << 26, 200
"""A file may unpack to ``_SPARE`` bytes plus ``_RATIO`` times its own size: arrays of votes need no more."""
_LARGEST_TEXT = 1 << 28
_PER_VALUE = 100
"""Bytes of memory that a value in JSON takes, be it as short as ``{}``."""
_CHUNK = 1 << 20


class ModelFileError(FileError):
    """A file is not a model, is damaged, or holds what may not be loaded."""


class Archive:
    """What is in a model file, before any of it is interpreted.

    Attributes
    ----------
    versions : dict
        The versions that it was written with.
    certificate : str
        Its JSON.
    model : any JSON value
        The model as plain data.
    arrays : list of arrays
    brought : bytes
        What users brought, as skops writes it; empty if nothing.
    most : int
        Bytes of memory that the size of the file warrants.
    """

    def __init__(
        self,
        versions: dict[str, str],
        certificate: str,
        model: Any,
        arrays: Sequence[NDArray[Any]],
        brought: bytes = b"",
        most: int = _LARGEST,
    ):
        self.versions, self.certificate, self.model = versions, certificate, model
        self.arrays, self.brought, self.most = arrays, brought, most


@dataclass(frozen=True)
class _Header:
    """What comes first: which format it is, and which arrays there are."""

    format: str
    format_version: int
    versions: dict[str, str]
    arrays: tuple[Declared, ...]


def write_archive(archive: Archive) -> bytes:
    """The bytes of a model file."""
    arrays = [pack_array(array) for array in archive.arrays]
    header = _Header(FORMAT, FORMAT_VERSION, archive.versions, tuple(declared for declared, _ in arrays))
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(_HEADER, _as_json(header))
        file.writestr(_CERTIFICATE, archive.certificate)
        file.writestr(_MODEL, _as_json(archive.model))
        for number, (_, packed) in enumerate(arrays):
            file.writestr(f"arrays/{number}", packed)
        if archive.brought:
            file.writestr(_BROUGHT, archive.brought)
    return content.getvalue()


def _as_json(record: Any) -> bytes:
    try:
        return write(record).encode()
    except UnicodeEncodeError as error:
        near = error.object[max(error.start - 20, 0) : error.end + 20]
        raise ValueError(
            f"No file could hold the text {near!r} of a model: half of a surrogate pair is no character of its own. "
            "Read the column that has it in its real encoding, and fit again."
        ) from None


def read_archive(path: Path, content: bytes | None = None) -> Archive:
    """Unpack a model file, after its declared sizes have been checked; ``content`` instead, if it is given.

    Raises
    ------
    ModelFileError
        If it is not a model, is damaged, or would unpack to more than its size warrants.
    """
    if content is None and not stat.S_ISREG(path.stat().st_mode):
        raise ModelFileError(f"{path} is not a regular file; a model is read from one.")
    size = path.stat().st_size if content is None else len(content)
    most = min(_LARGEST, _SPARE + _RATIO * size)
    try:
        with zipfile.ZipFile(path if content is None else io.BytesIO(content)) as file:
            check_sizes(file, most, path)
            return _unpacked(file, most, path)
    except ModelFileError:
        raise
    except MemoryError as error:
        raise ModelFileError(f"{path} needs more memory than there is.") from error
    except Exception as error:  # a damaged file may make the reader raise anything
        raise ModelFileError(f"{path} is not a certivote model, or is damaged: {error!s:.200}") from error


def check_sizes(file: zipfile.ZipFile, most: int, path: Path) -> int:
    """Refuse an archive that is packed in an odd way, or would unpack to more bytes than these; how many it has."""
    entries = file.infolist()
    if len({entry.filename for entry in entries}) != len(entries):
        raise ModelFileError(f"{path} is damaged: a name occurs in it twice.")
    if any(entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for entry in entries):
        raise ModelFileError(f"{path} is damaged: it is packed in another way than models are.")
    total = sum(entry.file_size for entry in entries)
    if total > most:
        raise ModelFileError(f"{path} would unpack to {total:,} bytes, more than the {most:,} that its size warrants.")
    return total


def _unpacked(file: zipfile.ZipFile, most: int, path: Path) -> Archive:
    found = parse(text_of(file, _HEADER, most))
    is_model = isinstance(found, dict) and found.get("format") == FORMAT
    version = found.get("format_version") if is_model else None
    if type(version) is not int or version != FORMAT_VERSION:
        raise ModelFileError(
            f"{path} has format version {shown(version)}; this certivote reads version {FORMAT_VERSION}. Open it with "
            "the certivote that wrote it, or fit the model again."
        )
    header = read(_Header, found)
    arrays = _arrays(file, header.arrays, most)
    names = {entry.filename for entry in file.infolist()}
    wanted = {_HEADER, _CERTIFICATE, _MODEL, *(f"arrays/{number}" for number in range(len(arrays)))}
    if names - wanted - {_BROUGHT}:
        raise ValueError("it holds entries that models do not have")
    certificate = text_of(file, _CERTIFICATE, most)
    brought = bytes(_read(file, _BROUGHT, _LARGEST)) if _BROUGHT in names else b""
    return Archive(header.versions, certificate, parse(text_of(file, _MODEL, most)), arrays, brought, most)


def text_of(file: zipfile.ZipFile, name: str, most: int) -> str:
    """A JSON text, if it would not take more memory than this as Python objects."""
    content = _read(file, name, _LARGEST_TEXT)
    values = sum(content.count(mark) for mark in b",[{")
    if values * _PER_VALUE > most:
        raise ValueError(f"{name} has {values:,} values, more than its size warrants")
    return content.decode()


def _read(file: zipfile.ZipFile, name: str, most: int) -> bytearray:
    size = file.getinfo(name).file_size
    if size > most:
        raise ValueError(f"{name} has {size:,} bytes")
    content = bytearray(size)
    with file.open(name) as entry:
        # In pieces: a packed entry may hold more than it declares, which reading all at once would unpack.
        for start in range(0, size, _CHUNK):
            piece = entry.read(min(_CHUNK, size - start))
            if len(piece) != min(_CHUNK, size - start):
                raise ValueError(f"{name} has another size than it declares")
            content[start : start + len(piece)] = piece
    return content


def _arrays(file: zipfile.ZipFile, declared: Sequence[Declared], most: int) -> list[NDArray[Any]]:
    """The arrays, if as they are declared they take no more memory than this."""
    total = sum(math.prod(shape) * ARRAY_TYPES[kind].itemsize for kind, shape, _, _ in declared)
    if total > most:
        raise ValueError(f"its arrays take {total:,} bytes, more than the {most:,} that its size warrants")
    return [unpack_array(each, _read(file, f"arrays/{number}", most)) for number, each in enumerate(declared)]
