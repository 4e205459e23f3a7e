"""UCI Haberman's Survival: whether patients lived five years after an operation for breast cancer."""

from pathlib import Path

from certivote.datasets._entry import Entry, File, Ranges, Rows
from certivote.datasets._formats import read_numbers, split_last_column
from certivote.datasets._hosts import UCI, UCI_LICENCE

__all__ = ["ENTRY"]

RANGES: Ranges = ((20, 100), (58, 70), (0, 30))
"""Age: adult patients. Year minus 1900: haberman.names says the study ran from 1958 to 1970. Positive axillary nodes:
an operation removes some 10 to 30 nodes, and a tenth of 30 puts thresholds at 0, 3 and 9, where clinical staging has
them (none; 1 to 3; 4 to 9; 10 and more)."""


def read(folder: Path) -> Rows:
    """Age, year and number of positive nodes; 1 if the patient lived five years or longer, else 2."""
    return split_last_column(read_numbers(folder, "haberman.data", delimiter=","))


ENTRY = Entry(
    name="haberman",
    source="UCI Haberman's Survival",
    licence=UCI_LICENCE,
    citation="Haberman (1976), Generalized residuals for log-linear models",
    files=(
        File(
            "haberman.data",
            f"{UCI}/haberman/haberman.data",
            "b4b7a32586a5668f9f4d6dc8be9d1bc8cd4822523affb1f6b5bfc350681ef3e2",
        ),
    ),
    read=read,
    shape=(306, 3),
    n_classes=2,
    class_counts=(225, 81),
    digest="80c4980fd3b062a650690f35494406882fabdac2c4d0bf229af841cc49d95c65",
    ranges=RANGES,
    note="17 of the 306 rows repeat another.",
)
