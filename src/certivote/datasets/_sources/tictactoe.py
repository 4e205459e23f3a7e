"""UCI Tic-Tac-Toe Endgame: boards at the end of a game, and whether x has won."""

from pathlib import Path

from certivote.datasets._entry import Entry, File, Ranges, Rows
from certivote.datasets._formats import encode, read_strings
from certivote.datasets._hosts import UCI, UCI_LICENCE

__all__ = ["ENTRY"]

RANGES: Ranges = ((-1, 1),) * 9
"""Known from the encoding: a square holds x, is blank, or holds o."""


def read(folder: Path) -> Rows:
    """Nine squares (x is -1, blank 0, o 1), and whether x has won."""
    table = read_strings(folder, "tic-tac-toe.data")
    return encode(table[:, :-1], ["xbo"] * (table.shape[1] - 1)) - 1, table[:, -1]


ENTRY = Entry(
    name="tictactoe",
    source="UCI Tic-Tac-Toe Endgame",
    licence=UCI_LICENCE,
    citation="Aha (1991), Tic-Tac-Toe Endgame, UCI",
    files=(
        File(
            "tic-tac-toe.data",
            f"{UCI}/tic-tac-toe/tic-tac-toe.data",
            "a996a756484d0cf8cbad1680d823aadbfcff8ae2d78c450e6999362d580301c5",
        ),
    ),
    read=read,
    shape=(958, 9),
    n_classes=2,
    class_counts=(332, 626),
    digest="955c2a1f1892624759b7b2e4a5c4083e4e27207b141fc6f5f7fbf6a428ea1fda",
    ranges=RANGES,
    note="All possible boards at the end of a game, and so no random sample of anything.",
)
