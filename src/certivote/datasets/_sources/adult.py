"""LIBSVM a9a: indicators made from UCI Adult, to predict who earns more than 50,000 dollars a year."""

from pathlib import Path

from certivote.datasets._entry import Entry, File, Ranges, Rows
from certivote.datasets._formats import read_svmlight
from certivote.datasets._hosts import LIBSVM, LIBSVM_LICENCE_OF_UCI_DATA

__all__ = ["ENTRY"]

RANGES: Ranges = ((0, 1),) * 123
"""Known from the encoding: indicators."""


def read(folder: Path) -> Rows:
    """123 indicators; 1 for an income above 50,000 dollars a year, else -1."""
    return read_svmlight(folder, "a9a", n_features=123)


ENTRY = Entry(
    name="adult",
    source="LIBSVM a9a, from UCI Adult",
    licence=LIBSVM_LICENCE_OF_UCI_DATA,
    citation="Platt (1998), Fast training of support vector machines; Becker and Kohavi (1996), Adult",
    files=(File("a9a.xz", f"{LIBSVM}/binary/a9a", "cea7c541c650d123ac692cb8e2244d1c2e82f67c75cbfeccdb25a4b6fc88ef72"),),
    read=read,
    shape=(32_561, 123),
    n_classes=2,
    class_counts=(24_720, 7_841),
    digest="7fe1326481763a530f6b9db2fd3b6fa30108ec2d75973fea138e1ed95996cff4",
    ranges=RANGES,
    note="32,561 rows: a9a without a9a.t. a1a and a1a.t hold the same people but drop features 120 to 123. 26,008 "
    "rows are distinct.",
)
