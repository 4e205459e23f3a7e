"""A dataset, read and checked."""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certivote.datasets._catalogue import DATASETS
from certivote.datasets._fetch import fetch

__all__ = ["Dataset", "load"]


@dataclass(frozen=True)
class Dataset:
    """One dataset, all its published parts together in upstream order.

    Attributes
    ----------
    name : str
    X, y : arrays
        Rows and labels.
    ranges : array of shape (n_features, 2) or None
        Declared least and largest value of each feature, for stumps. Values may lie outside.
    """

    name: str
    X: NDArray[Any]
    y: NDArray[Any]
    ranges: NDArray[np.float64] | None


def load(name: str, data_dir: str | os.PathLike[str] | None = None) -> Dataset:
    """Read a dataset and check its size, its classes and its values.

    Parameters
    ----------
    name : str
        A key of ``DATASETS``.
    data_dir : path, optional
        Folder of the upstream files; see :func:`data_directory`. What is not there is looked for in the cache folder,
        and downloaded into it; see :func:`fetch`.

    Raises
    ------
    DatasetUnavailable
        If the files are nowhere and cannot be downloaded.
    ValueError
        If there is no dataset of that name, or if its files are not the ones they should be.

    Examples
    --------
    >>> from certivote.datasets import DATASETS, load
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
