"""Where the files are, and how they get there."""

import importlib
import os
import tempfile
import textwrap
from pathlib import Path
from typing import Any

from certivote.datasets._catalogue import DATASETS
from certivote.datasets._entry import Entry

__all__ = ["DatasetUnavailable", "data_directory", "fetch"]

RETRIES = 2


class DatasetUnavailable(RuntimeError):  # noqa: N818, it says what is the matter
    """A dataset is neither in the data directory nor in the cache folder, and could not be downloaded."""


def data_directory(given: str | os.PathLike[str] | None = None) -> Path:
    """The folder of the data files.

    Parameters
    ----------
    given : path, optional
        Taken if given. Otherwise it is the folder named by the environment variable ``CERTIVOTE_DATA``, and without
        that the cache folder, which downloads fill and which need not exist yet.

    Examples
    --------
    >>> import tempfile
    >>> from certivote.datasets import data_directory
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     data_directory(folder) == Path(folder)
    True
    """
    folder = given or os.environ.get("CERTIVOTE_DATA")
    if not folder:
        return _cache_directory()
    path = Path(folder)
    if not path.is_dir():
        raise FileNotFoundError(f"The data directory {path} does not exist.")
    return path


def fetch(name: str, data_dir: str | os.PathLike[str] | None = None) -> Path:
    """The folder that holds the files of a dataset, after downloading them if need be.

    The data directory is looked at first, then the cache folder. If neither has all the files, they are downloaded
    (this needs the extra ``certivote[data]``), read and checked beside the cache folder's files, and only then moved to
    their names: an interrupted, cut or wrong download leaves nothing behind.

    Parameters
    ----------
    name : str
        A key of ``DATASETS``.
    data_dir : path, optional
        See :func:`data_directory`.

    Raises
    ------
    DatasetUnavailable
        If the files are in neither folder and cannot be downloaded.

    Examples
    --------
    >>> from certivote.datasets import fetch
    >>> fetch("iris")
    Traceback (most recent call last):
        ...
    ValueError: Unknown dataset 'iris'; there are adult, australian, codrna, ..., svmguide, tictactoe.
    """
    if name not in DATASETS:
        raise ValueError(f"Unknown dataset {name!r}; there are {', '.join(sorted(DATASETS))}.")
    entry = DATASETS[name]
    cache = _cache_directory()
    folders = list(dict.fromkeys([data_directory(data_dir), cache]))
    for folder in folders:
        if not entry.missing(folder):
            return folder
    try:
        _download(entry, cache)
    except (ImportError, OSError, ValueError) as error:
        if isinstance(error, ImportError):
            reason = "downloading needs the package pooch (install certivote[data])"
        elif isinstance(error, OSError):  # as are the errors of a connection
            reason = f"downloading failed ({type(error).__name__}: {textwrap.shorten(str(error), 160)})"
        else:
            reason = f"what was downloaded is not it ({' '.join(str(error).split())})"
        looked = "; ".join(f"{', '.join(entry.missing(folder))} not found in {folder}" for folder in folders)
        addresses = " and ".join(file.url for file in entry.files)
        raise DatasetUnavailable(
            f"The dataset {name} is not available: {looked}; {reason}. Get {addresses}, put all into "
            "one folder, and give it as data_dir or set CERTIVOTE_DATA to it."
        ) from error
    return cache


def _cache_directory() -> Path:
    try:
        return Path(_pooch().os_cache("certivote"))
    except ImportError:
        return Path.home() / ".cache" / "certivote"


def _download(entry: Entry, cache: Path) -> None:
    pooch = _pooch()
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache, prefix=f".{entry.name}-") as folder:
        # No hash for pooch: upstream's compression is not always that of the copy whose sha256 is declared. The rows
        # are checked instead.
        downloads = pooch.create(
            path=folder,
            base_url="",
            registry={file.download_path: None for file in entry.files},
            urls={file.download_path: file.url for file in entry.files},
            retry_if_failed=RETRIES,
        )
        for file in entry.files:
            downloads.fetch(file.download_path)
        entry.rows(Path(folder))
        for file in entry.files:
            target = cache / file.download_path
            target.parent.mkdir(parents=True, exist_ok=True)
            os.replace(Path(folder) / file.download_path, target)


def _pooch() -> Any:
    """The package, which only an extra requires."""
    return importlib.import_module("pooch")
