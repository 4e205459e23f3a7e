"""UCI Splice-junction Gene Sequences: 60 positions of DNA, with a splice junction in the middle or not."""

from pathlib import Path

import numpy as np

from certivote.datasets._entry import Entry, File, Ranges, Rows
from certivote.datasets._formats import encode, read_strings
from certivote.datasets._hosts import UCI, UCI_LICENCE

__all__ = ["ENTRY"]

BASES = "ACDGNRST"
"""The letters of a position in splice.names: the four bases, and D, N, R and S where the base is not certain."""

RANGES: Ranges = ((0, len(BASES) - 1),) * 60
"""Known from the encoding: positions in the list of letters that splice.names gives."""


def read(folder: Path) -> Rows:
    """The letters of 60 positions as codes; a junction (EI or IE) or none (N)."""
    table = read_strings(folder, "splice.data")
    labels, sequences = np.char.strip(table[:, 0]), np.char.strip(table[:, -1])
    if unknown := set(labels) - {"EI", "IE", "N"}:
        raise ValueError(f"its labels are EI, IE and N, but there is {min(unknown)!r}")
    letters = np.array([list(sequence) for sequence in sequences])
    return encode(letters, [BASES] * letters.shape[1]), np.where(labels == "N", "none", "junction")


ENTRY = Entry(
    name="splice",
    source="UCI Molecular Biology (Splice-junction Gene Sequences)",
    licence=UCI_LICENCE,
    citation="Noordewier, Towell and Shavlik (1991), Training knowledge-based neural networks to recognize genes",
    files=(
        File(
            "splice.data",
            f"{UCI}/molecular-biology/splice-junction-gene-sequences/splice.data",
            "ebbae10c85d3c285e2a2489a37e42bc2ee8d91d15005e391a9962fa3389a114f",
        ),
    ),
    read=read,
    shape=(3_190, 60),
    n_classes=2,
    class_counts=(1_535, 1_655),
    digest="e76c367a37758f6f5904a780cb6c7d152c55eb08a96aff1739d3d43a51d570fc",
    ranges=RANGES,
    note="Upstream has three classes; here N (none) stands against EI and IE (junction), all 3,190 rows. 15 of "
    "them hold an ambiguous letter (D, N, R or S), each with a code of its own; LIBSVM's splice leaves these out "
    "(3,175).",
)
