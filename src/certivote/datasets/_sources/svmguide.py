"""LIBSVM svmguide1: four measurements of an astroparticle experiment."""

from pathlib import Path

from certivote.datasets._entry import Entry, File, Ranges, Rows
from certivote.datasets._formats import read_svmlight
from certivote.datasets._hosts import LIBSVM, LIBSVM_LICENCE

__all__ = ["ENTRY"]

RANGES: Ranges = ((0, 100), (0, 300), (-1, 1), (0, 200))
"""Upstream documents nothing: the features are four unnamed measurements. These are round numbers for the scale on
which it prints the values (tens, hundreds, fractions of either sign, hundreds)."""


def read(folder: Path) -> Rows:
    """The training rows (svmguide1), then the test rows (svmguide1.t)."""
    return read_svmlight(folder, "svmguide1", "svmguide1.t", n_features=4)


ENTRY = Entry(
    name="svmguide",
    source="LIBSVM svmguide1",
    licence=LIBSVM_LICENCE,
    citation="Hsu, Chang and Lin (2003), A practical guide to support vector classification",
    files=(
        File(
            "svmguide1",
            f"{LIBSVM}/binary/svmguide1",
            "2b9ab55b6236f62cee6b7739b52f9e7cb033771f39b9c22c1f1790d80ef14d7f",
        ),
        File(
            "svmguide1.t",
            f"{LIBSVM}/binary/svmguide1.t",
            "f9c2fd4c725172aeb4476fc1e2327d537f7fbc2f53f49dfd073f80efbe1ba8f7",
        ),
    ),
    read=read,
    shape=(7_089, 4),
    n_classes=2,
    class_counts=(3_089, 4_000),
    digest="895bc84e10c517fdbb3b7b480000d75dc44cbfec7c99b7146eda4a7e9e783d1a",
    ranges=RANGES,
    note="3,089 training and 4,000 test rows. Code that reads the training file twice puts the same rows on both "
    "sides of its split. Nothing is documented about the features, so their ranges are round numbers.",
)
