"""LIBSVM protein: 357 features of proteins, in three classes."""

from pathlib import Path

from certivote.datasets._entry import Entry, File, Rows
from certivote.datasets._formats import read_svmlight
from certivote.datasets._hosts import LIBSVM, LIBSVM_LICENCE

__all__ = ["ENTRY"]


def read(folder: Path) -> Rows:
    """The training rows (protein), then the test rows (protein.t)."""
    return read_svmlight(folder, "protein", "protein.t", n_features=357)


ENTRY = Entry(
    name="protein",
    source="LIBSVM protein",
    licence=LIBSVM_LICENCE,
    citation="Wang (2002), Application of support vector machines in bioinformatics",
    files=(
        File("protein.bz2", f"{LIBSVM}/multiclass/protein.bz2"),
        File("protein.t.bz2", f"{LIBSVM}/multiclass/protein.t.bz2"),
    ),
    read=read,
    shape=(24_387, 357),
    n_classes=3,
    note="17,766 training and 6,621 test rows. protein.tr and protein.val are parts of the training rows and not "
    "used. Neither a checksum nor the class counts are declared.",
)
