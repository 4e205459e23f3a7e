"""The benchmark data of the paper: an entry for each dataset (files, source, licence, size, checksums), its reader, the
declared ranges of its features, and the functions that find its files, download them and check them. This room knows
nothing of voters or bounds, imports nothing from the other rooms, and holds no data files. To add a dataset, write a
module in ``_sources/`` and list its entry in ``_catalogue.py``.
"""

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
