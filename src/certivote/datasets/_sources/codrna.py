"""LIBSVM cod-rna: pairs of RNA sequences, non-coding or not."""

from pathlib import Path

from certivote.datasets._entry import Entry, File, Ranges, Rows
from certivote.datasets._formats import read_svmlight
from certivote.datasets._hosts import LIBSVM, LIBSVM_LICENCE

__all__ = ["ENTRY"]

RANGES: Ranges = ((-1000, 0), (0, 200), *((0, 1),) * 6)
"""The LIBSVM page names the features. First, ten times the free energy in kcal/mol of the common fold that Dynalign
finds for two sequences: a fold releases energy, so it is not above 0, and two RNAs of 120 bases release up to about 0.4
for each base, 100 in all. Second, the length of the shorter sequence: the study is of tRNA (about 76 bases) and 5S rRNA
(about 120). Then the shares of A, U and C in each sequence."""


def read(folder: Path) -> Rows:
    """Eight features of a pair of sequences; 1 for a pair of non-coding RNAs, else -1."""
    return read_svmlight(folder, "cod-rna", n_features=8)


ENTRY = Entry(
    name="codrna",
    source="LIBSVM cod-rna",
    licence=LIBSVM_LICENCE,
    citation="Uzilov, Keegan and Mathews (2006), Detection of non-coding RNAs on the basis of predicted secondary "
    "structure formation free energy change",
    files=(
        File(
            "cod-rna.xz",
            f"{LIBSVM}/binary/cod-rna",
            "806c3e145a64773b11e3dc3bf5296e755c011be3dd05e3cc60302b81e01cf71a",
        ),
    ),
    read=read,
    shape=(59_535, 8),
    n_classes=2,
    class_counts=(39_690, 19_845),
    digest="58b5d179af9f60ea498dc22abd9b13822af83814616037ee83b20a54ac5dc7ff",
    ranges=RANGES,
    note="The training file alone, without cod-rna.t and cod-rna.r. 49,466 rows are distinct.",
)
