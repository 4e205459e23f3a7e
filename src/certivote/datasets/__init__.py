"""The benchmark data of the paper: where each file is, how it is read, and what its features can be."""

from certivote.datasets._catalogue import DATASETS
from certivote.datasets._entry import Entry
from certivote.datasets._fetch import DatasetUnavailable, ProgressBar, data_directory, fetch, locate
from certivote.datasets._load import Dataset, load

__all__ = [
    "DATASETS",
    "Dataset",
    "DatasetUnavailable",
    "Entry",
    "ProgressBar",
    "data_directory",
    "fetch",
    "load",
    "locate",
]
