"""The two archives that host most of the datasets: their addresses and the licences they state."""

__all__ = ["LIBSVM", "LIBSVM_LICENCE", "LIBSVM_LICENCE_OF_UCI_DATA", "UCI", "UCI_LICENCE"]

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
UCI_LICENCE = "CC BY 4.0"

LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets"
LIBSVM_LICENCE = "not stated on the LIBSVM data page"
LIBSVM_LICENCE_OF_UCI_DATA = f"{LIBSVM_LICENCE}; the UCI original is under {UCI_LICENCE}"
