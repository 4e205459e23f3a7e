"""The benchmark data of the paper: where each file is, how it is read, and what its features can be."""

from certivote.datasets._catalogue import DATASETS, Dataset, data_directory, load

__all__ = ["DATASETS", "Dataset", "data_directory", "load"]
