"""UCI Statlog (Shuttle): nine integers, in seven classes of very different sizes."""

from pathlib import Path

from certivote.datasets._entry import Entry, File, Rows
from certivote.datasets._formats import read_numbers, split_last_column
from certivote.datasets._hosts import UCI, UCI_LICENCE

__all__ = ["ENTRY"]


def read(folder: Path) -> Rows:
    """Nine integers per row; the training rows, then the test rows."""
    return split_last_column(read_numbers(folder, "shuttle.trn", "shuttle.tst"))


ENTRY = Entry(
    name="shuttle",
    source="UCI Statlog (Shuttle)",
    licence=UCI_LICENCE,
    citation="Catlett, Statlog (Shuttle), UCI",
    files=(
        File(
            "shuttle.trn",
            f"{UCI}/statlog/shuttle/shuttle.trn.Z",
            "87b24ee9fb5137e1d417659cf905d84d0e15342bbaa60770f1ae83da1a38200a",
        ),
        File(
            "shuttle.tst",
            f"{UCI}/statlog/shuttle/shuttle.tst",
            "f776934a628d9b94c482cb058a76ddaa63823e0f74aec065813c9dff3b89d661",
        ),
    ),
    read=read,
    shape=(58_000, 9),
    n_classes=7,
    class_counts=(45_586, 50, 171, 8_903, 3_267, 10, 13),
    digest="f8488c1784b760c8c420372e93b597be4625989f3ecdfa53b1ee3cf819ce0995",
    note="Class 1 is 79% of the rows; classes 6 and 7 have 10 and 13 rows, so that a part may miss them.",
)
