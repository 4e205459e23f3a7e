"""LIBSVM phishing: indicators made from the 30 attributes of UCI Phishing Websites."""

from pathlib import Path

from certivote.datasets._entry import Entry, File, Ranges, Rows
from certivote.datasets._formats import read_svmlight
from certivote.datasets._hosts import LIBSVM, LIBSVM_LICENCE_OF_UCI_DATA

__all__ = ["ENTRY"]

RANGES: Ranges = ((0, 1),) * 68
"""Known from the encoding: indicators."""


def read(folder: Path) -> Rows:
    """68 indicators. Upstream writes 1 / sqrt(30) to five digits for true; it is 1 here."""
    X, y = read_svmlight(folder, "phishing", n_features=68)
    return (X > 0).astype(float), y


ENTRY = Entry(
    name="phishing",
    source="LIBSVM phishing, from UCI Phishing Websites",
    licence=LIBSVM_LICENCE_OF_UCI_DATA,
    citation="Mohammad, Thabtah and McCluskey (2012), An assessment of features related to phishing websites",
    files=(
        File(
            "phishing.xz",
            f"{LIBSVM}/binary/phishing",
            "eb1d232276bdb535bd9fa8a8428d34980ba201bfbbb25340bdd82db373354286",
        ),
    ),
    read=read,
    shape=(11_055, 68),
    n_classes=2,
    class_counts=(4_898, 6_157),
    digest="cd8a571195c9e156dcab41fb17e1222bf3c8eaf64adfed7918ed92e2999bc77e",
    ranges=RANGES,
    note="Upstream has 11,055 rows; the paper says 2,456, the size of an earlier UCI file of 30 attributes, but "
    "also 68 features, which only this file has. Many duplicates: 5,849 distinct rows with their labels, so that a "
    "random split puts equal rows on both sides. Upstream's 1 / sqrt(30) is 1 here.",
)
