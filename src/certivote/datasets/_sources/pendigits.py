"""UCI Pen-Based Recognition of Handwritten Digits: the path of a pen, in eight points."""

from pathlib import Path

from certivote.datasets._entry import Entry, File, Rows
from certivote.datasets._formats import read_numbers, split_last_column
from certivote.datasets._hosts import UCI, UCI_LICENCE

__all__ = ["ENTRY"]


def read(folder: Path) -> Rows:
    """Eight points of the pen, x and y from 0 to 100; the digits of 30 writers, then those of 14 others."""
    return split_last_column(read_numbers(folder, "pendigits.tra", "pendigits.tes", delimiter=","))


ENTRY = Entry(
    name="pendigits",
    source="UCI Pen-Based Recognition of Handwritten Digits",
    licence=UCI_LICENCE,
    citation="Alpaydin and Alimoglu (1996), Pen-Based Recognition of Handwritten Digits, UCI",
    files=(
        File(
            "pendigits.tra",
            f"{UCI}/pendigits/pendigits.tra",
            "e2b9eb9f0d0467e2b64a4816a3420edf2b8043447576f4b84337aba44a9f97d3",
        ),
        File(
            "pendigits.tes",
            f"{UCI}/pendigits/pendigits.tes",
            "8bd03229c5c5291fefe43e45465dd948d2645bf23328b9d993e0b777666b2015",
        ),
    ),
    read=read,
    shape=(10_992, 16),
    n_classes=10,
    class_counts=(1_143, 1_143, 1_144, 1_055, 1_144, 1_055, 1_056, 1_142, 1_055, 1_055),
    digest="b1023df016fc9b041fc4eaf61b8bbc1c352bcca164c9a9bfeaff305ba44c7aec",
    note="7,494 digits of 30 writers, then 3,498 of 14 others: a random split mixes the writers.",
)
