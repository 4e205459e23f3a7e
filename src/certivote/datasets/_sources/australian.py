"""UCI Statlog (Australian Credit Approval): applications for credit, approved or not."""

from pathlib import Path

from certivote.datasets._entry import Entry, File, Ranges, Rows
from certivote.datasets._formats import read_numbers, split_last_column
from certivote.datasets._hosts import UCI, UCI_LICENCE

__all__ = ["ENTRY"]

RANGES: Ranges = (
    (0, 1),
    (0, 100),
    (0, 20),
    (1, 3),
    (1, 14),
    (1, 9),
    (0, 10),
    (0, 1),
    (0, 1),
    (0, 20),
    (0, 1),
    (1, 3),
    (0, 1000),
    (0, 10_000),
)
"""A1, A4, A5, A6, A8, A9, A11 and A12 are categories whose codes australian.doc lists. Of A2, A3, A7, A10, A13 and A14
it says only "continuous", their meaning being withheld: round numbers for the scale on which upstream prints the values
(A2 tens, A3, A7 and A10 units to tens, A13 hundreds, A14 up to thousands)."""


def read(folder: Path) -> Rows:
    """14 attributes; 1 if the credit was approved, else 0."""
    return split_last_column(read_numbers(folder, "australian.dat"))


ENTRY = Entry(
    name="australian",
    source="UCI Statlog (Australian Credit Approval)",
    licence=UCI_LICENCE,
    citation="Quinlan (1987), Simplifying decision trees",
    files=(
        File(
            "australian.dat",
            f"{UCI}/statlog/australian/australian.dat",
            "3abe5af151afa50b999a9ba21cbc884e80d80a4050b716cf88b34a2e6ecb731c",
        ),
    ),
    read=read,
    shape=(690, 14),
    n_classes=2,
    class_counts=(383, 307),
    digest="66d4950424e9afae572c495b55c8e37126be343a839244b1d08c7e9617ae8182",
    ranges=RANGES,
    note="The paper takes LIBSVM's australian: the same rows in the same order, rounded to single precision, "
    "labels -1 and 1. Missing values were filled upstream, from all rows together. A copy with a wrong label "
    "circulates.",
)
