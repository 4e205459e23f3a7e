"""Find the files of a dataset, or download them, and read them."""

import importlib
import os
import tempfile
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from certivote.paper._catalogue import DATASETS
from certivote.paper._entry import Entry

RETRIES = 2


@dataclass(frozen=True)
class Dataset:
    """One dataset, all its published parts together in upstream order.

    Attributes
    ----------
    name : str
    X, y : arrays
        Rows and labels.
    ranges : array of shape (n_features, 2) or None
        Declared smallest and largest value for stumps, one row per feature. Values may lie outside.
    """

    name: str
    X: NDArray[Any]
    y: NDArray[Any]
    ranges: NDArray[np.float64] | None


class DatasetUnavailable(RuntimeError):  # noqa: N818, it says what is the matter
    """A dataset is neither in the data directory nor in the cache folder, and could not be downloaded."""


class ProgressBar(Protocol):
    """Shows the progress of a download. Pooch sets ``total`` at the start of each file, in bytes, or 0 if not known."""

    total: int

    def update(self, n: int) -> None:
        """Count ``n`` more bytes."""

    def reset(self) -> None:
        """Start again at zero bytes."""

    def close(self) -> None:
        """The file is complete."""


def data_directory(given: str | os.PathLike[str] | None = None) -> Path:
    """The folder of the data files.

    Parameters
    ----------
    given : path, optional
        This folder, if given. Otherwise it is the one in the environment variable ``CERTIVOTE_DATA``, and if that is
        not set, the cache folder, to which files are downloaded and which need not exist yet.

    Returns
    -------
    Path

    Raises
    ------
    FileNotFoundError
        If the folder is given or in the environment variable, and does not exist.

    Examples
    --------
    >>> import tempfile
    >>> from certivote.paper import data_directory
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     data_directory(folder) == Path(folder)
    True
    """
    folder = given or os.environ.get("CERTIVOTE_DATA")
    if not folder:
        return _cache_directory()
    path = Path(folder)
    if not path.is_dir():
        named = "" if given else ", which CERTIVOTE_DATA names,"
        raise FileNotFoundError(f"The data directory {path}{named} does not exist.")
    return path


def locate(name: str, data_dir: str | os.PathLike[str] | None = None) -> Path | None:
    """The folder that holds all files of a dataset, without downloading anything.

    Parameters
    ----------
    name : str
        A key of ``DATASETS``.
    data_dir : path, optional
        See :func:`data_directory`.

    Returns
    -------
    Path or None
        The data directory, or else the cache folder; None if neither has all the files.

    Raises
    ------
    ValueError
        If there is no dataset of that name.

    Examples
    --------
    >>> import tempfile
    >>> from certivote.paper import DATASETS, locate
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for file in DATASETS["svmguide"].files:
    ...         Path(folder, file.path).touch()
    ...     locate("svmguide", folder) == Path(folder)
    True
    """
    if name not in DATASETS:
        raise ValueError(f"Unknown dataset {name!r}; there are {', '.join(sorted(DATASETS))}.")
    return next((folder for folder in _folders(data_dir) if not DATASETS[name].missing(folder)), None)


def fetch(name: str, data_dir: str | os.PathLike[str] | None = None, *, progressbar: ProgressBar | None = None) -> Path:
    """The folder that holds the files of a dataset, after downloading them if necessary.

    The data directory is tried first, then the cache folder. If neither has all the files, they are downloaded (this
    needs the extra ``certivote[data]``) to a temporary folder, read and checked there, and only then moved to the cache
    folder: an interrupted, truncated or wrong download leaves nothing behind.

    Parameters
    ----------
    name : str
        A key of ``DATASETS``.
    data_dir : path, optional
        See :func:`data_directory`.
    progressbar : object, optional
        Shows the progress of a download; see :class:`ProgressBar`.

    Returns
    -------
    Path

    Raises
    ------
    DatasetUnavailable
        If the files are in neither folder and cannot be downloaded.
    ValueError
        If there is no dataset of that name.

    Examples
    --------
    >>> from certivote.paper import fetch
    >>> fetch("iris")
    Traceback (most recent call last):
        ...
    ValueError: Unknown dataset 'iris'; there are adult, australian, codrna, ..., svmguide, tictactoe.
    """
    found = locate(name, data_dir)
    if found is not None:
        return found
    entry, cache = DATASETS[name], _cache_directory()
    try:
        _download(entry, cache, progressbar)
    except (ImportError, OSError, ValueError) as error:
        if isinstance(error, ImportError):
            reason = "downloading needs the package pooch (install certivote[data])"
        elif isinstance(error, OSError):  # as are the errors of a connection
            reason = f"downloading failed ({type(error).__name__}: {textwrap.shorten(str(error), 160)})"
        else:
            reason = f"what was downloaded is not it ({' '.join(str(error).split())})"
        looked = "; ".join(f"{', '.join(entry.missing(folder))} not found in {folder}" for folder in _folders(data_dir))
        addresses = " and ".join(file.url for file in entry.files)
        raise DatasetUnavailable(
            f"The dataset {name} is not available: {looked}; {reason}. Get {addresses}, put all into "
            "one folder, and give it as data_dir (--data) or set CERTIVOTE_DATA to it."
        ) from error
    return cache


def load(name: str, data_dir: str | os.PathLike[str] | None = None) -> Dataset:
    """Read a dataset and check its size, its classes and its values.

    Parameters
    ----------
    name : str
        A key of ``DATASETS``.
    data_dir : path, optional
        Folder of the upstream files; see :func:`data_directory`. If it does not have them all, they are taken
        from the cache folder, or downloaded to it; see :func:`fetch`.

    Returns
    -------
    Dataset

    Raises
    ------
    DatasetUnavailable
        If the files are in neither folder and cannot be downloaded.
    ValueError
        If there is no dataset of that name, or if its files cannot be read or do not have the declared size or
        checksum.

    Examples
    --------
    >>> from certivote.paper import DATASETS, load
    >>> load("iris")
    Traceback (most recent call last):
        ...
    ValueError: Unknown dataset 'iris'; there are adult, australian, codrna, ..., svmguide, tictactoe.
    >>> DATASETS["haberman"].shape, DATASETS["haberman"].ranges  # what is known without the files
    ((306, 3), ((20, 100), (58, 70), (0, 30)))
    """
    folder = fetch(name, data_dir)
    entry = DATASETS[name]
    X, y = entry.rows(folder)
    return Dataset(name, X, y, None if entry.ranges is None else np.array(entry.ranges, dtype=float))


def _folders(data_dir: str | os.PathLike[str] | None) -> list[Path]:
    """The folders to look in, in this order."""
    return list(dict.fromkeys([data_directory(data_dir), _cache_directory()]))


def _cache_directory() -> Path:
    try:
        return Path(_pooch().os_cache("certivote"))
    except ImportError:
        return Path.home() / ".cache" / "certivote"


def _download(entry: Entry, cache: Path, progressbar: ProgressBar | None) -> None:
    pooch = _pooch()
    downloader = pooch.HTTPDownloader(progressbar=progressbar or False)
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache, prefix=f".{entry.name}-") as folder:
        # No hash for pooch: upstream may compress a file in another way than the one whose sha256 is declared. The
        # rows are checked instead.
        downloads = pooch.create(
            path=folder,
            base_url="",
            registry={file.download_path: None for file in entry.files},
            urls={file.download_path: file.url for file in entry.files},
            retry_if_failed=RETRIES,
        )
        for file in entry.files:
            downloads.fetch(file.download_path, downloader=downloader)
        entry.rows(Path(folder))
        for file in entry.files:
            target = cache / file.download_path
            target.parent.mkdir(parents=True, exist_ok=True)
            os.replace(Path(folder) / file.download_path, target)


def _pooch() -> Any:
    """The package, which is installed only with an extra such as ``certivote[data]``."""
    return importlib.import_module("pooch")
