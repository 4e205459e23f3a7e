"""UCI Mushroom: 22 categorical attributes of mushrooms, edible or poisonous."""

from pathlib import Path

from certivote.datasets._entry import Entry, File, Ranges, Rows
from certivote.datasets._formats import encode, read_strings
from certivote.datasets._hosts import UCI, UCI_LICENCE

__all__ = ["ENTRY"]

LETTERS = {
    "cap-shape": "bcfksx",
    "cap-surface": "fgsy",
    "cap-color": "bcegnpruwy",
    "bruises?": "ft",
    "odor": "acflmnpsy",
    "gill-attachment": "adfn",
    "gill-spacing": "cdw",
    "gill-size": "bn",
    "gill-color": "beghknopruwy",
    "stalk-shape": "et",
    "stalk-root": "?bceruz",
    "stalk-surface-above-ring": "fksy",
    "stalk-surface-below-ring": "fksy",
    "stalk-color-above-ring": "bcegnopwy",
    "stalk-color-below-ring": "bcegnopwy",
    "veil-type": "pu",
    "veil-color": "nowy",
    "ring-number": "not",
    "ring-type": "ceflnpsz",
    "spore-print-color": "bhknoruwy",
    "population": "acnsvy",
    "habitat": "dglmpuw",
}
"""The letters of each attribute in agaricus-lepiota.names, sorted; some of them occur in no row."""

RANGES: Ranges = tuple((0, len(letters) - 1) for letters in LETTERS.values())
"""Known from the encoding: positions in the list of letters that agaricus-lepiota.names gives for the attribute."""


def read(folder: Path) -> Rows:
    """The letters of 22 attributes as codes; e(dible) or p(oisonous)."""
    table = read_strings(folder, "agaricus-lepiota.data")
    return encode(table[:, 1:], list(LETTERS.values())), table[:, 0]


ENTRY = Entry(
    name="mushrooms",
    source="UCI Mushroom",
    licence=UCI_LICENCE,
    citation="Schlimmer (1987), Mushroom, UCI",
    files=(
        File(
            "agaricus-lepiota.data",
            f"{UCI}/mushroom/agaricus-lepiota.data",
            "e65d082030501a3ebcbcd7c9f7c71aa9d28fdfff463bf4cf4716a3fe13ac360e",
        ),
    ),
    read=read,
    shape=(8_124, 22),
    n_classes=2,
    class_counts=(4_208, 3_916),
    digest="7c8144772e6b31300fc0d1cc57350bf7bc57fbac5b4dd705a10b1729764ba2df",
    ranges=RANGES,
    note="The label is upstream's first column. The stalk root is '?' (missing) in 2,480 rows, a level of its own "
    "here. The veil type is the same in every row.",
)
