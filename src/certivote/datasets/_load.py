"""Read a dataset and check it."""

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
        Declared smallest and largest value for stumps, one row per feature. Values may lie outside.
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
