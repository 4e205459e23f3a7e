"""The datasets: one entry each, with its reader and the declared ranges of its features.

The ranges are facts about the encoding, known before any row is seen, so that stumps built on them are independent of
the sample.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certivote.datasets import _readers

__all__ = ["DATASETS", "Dataset", "data_directory", "load"]


@dataclass(frozen=True)
class Dataset:
    """One dataset, all its published parts together in upstream order.

    Attributes
    ----------
    X, y : arrays
    ranges : array of shape (n_features, 2) or None
        Declared least and largest value of each feature, for stumps.
    """

    name: str
    X: NDArray[Any]
    y: NDArray[Any]
    ranges: NDArray[np.float64] | None


@dataclass(frozen=True)
class Entry:
    """How to read a dataset, and what its rows must add up to."""

    read: Callable[[Path], tuple[NDArray[Any], NDArray[Any]]]
    shape: tuple[int, int]
    n_classes: int
    feature_range: tuple[float, float] | None = None
    """Least and largest value that every feature can take, where all are encoded alike."""


DATASETS = {
    # A square holds x, is blank, or holds o: -1, 0, 1.
    "tictactoe": Entry(_readers.tictactoe, (958, 9), 2, (-1.0, 1.0)),
    # a9a: 123 indicators of the binned UCI attributes.
    "adult": Entry(_readers.adult, (32_561, 123), 2, (0.0, 1.0)),
    "mnist": Entry(_readers.mnist, (70_000, 784), 10),
}


def data_directory(given: str | os.PathLike[str] | None = None) -> Path:
    """The folder of the data files: the one given, else the environment variable ``CERTIVOTE_DATA``."""
    folder = given or os.environ.get("CERTIVOTE_DATA")
    if not folder:
        raise FileNotFoundError("No data directory: give one, or set the environment variable CERTIVOTE_DATA to it.")
    path = Path(folder)
    if not path.is_dir():
        raise FileNotFoundError(f"The data directory {path} does not exist.")
    return path


def load(name: str, data_dir: str | os.PathLike[str] | None = None) -> Dataset:
    """Read a dataset and check its size.

    Parameters
    ----------
    name : str
        A key of ``DATASETS``.
    data_dir : path, optional
        Folder of the upstream files; see :func:`data_directory`.
    """
    if name not in DATASETS:
        raise ValueError(f"Unknown dataset {name!r}; there are {', '.join(sorted(DATASETS))}.")
    entry = DATASETS[name]
    X, y = entry.read(data_directory(data_dir))
    found = (X.shape, len(np.unique(y)))
    if found != (entry.shape, entry.n_classes):
        raise ValueError(
            f"{name} should have shape {entry.shape} and {entry.n_classes} classes; the files give {found}."
        )
    ranges = None if entry.feature_range is None else np.tile(entry.feature_range, (entry.shape[1], 1))
    return Dataset(name, X, y, ranges)
