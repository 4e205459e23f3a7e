"""Readers of the upstream formats: from the folder of the files to rows and labels.

All parts of a dataset come together, in upstream order. Letters become codes, in the order of the documented alphabet
and not in that of the letters that occur, so that a code means the same in every sample.
"""

from collections.abc import Sequence
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_svmlight_file

from certivote.datasets._compressed import content

__all__ = [
    "BASES",
    "MUSHROOM_LETTERS",
    "Rows",
    "adult",
    "australian",
    "codrna",
    "fashion_mnist",
    "haberman",
    "mnist",
    "mushrooms",
    "pendigits",
    "phishing",
    "protein",
    "sensorless",
    "shuttle",
    "splice",
    "svmguide",
    "tictactoe",
]

Rows = tuple[NDArray[Any], NDArray[Any]]

MUSHROOM_LETTERS = {
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

BASES = "ACDGNRST"
"""The letters of a position in splice.names: the four bases, and D, N, R and S where the base is not certain."""


def haberman(folder: Path) -> Rows:
    """UCI Haberman's Survival: age, year, positive nodes; 1 if the patient lived five years or longer, else 2."""
    return _last_is_label(_numbers(folder, "haberman.data", delimiter=","))


def tictactoe(folder: Path) -> Rows:
    """UCI Tic-Tac-Toe Endgame: nine squares (x is -1, blank 0, o 1), and whether x has won."""
    table = _words(folder, "tic-tac-toe.data")
    return _codes(table[:, :-1], ["xbo"] * (table.shape[1] - 1)) - 1, table[:, -1]


def svmguide(folder: Path) -> Rows:
    """LIBSVM svmguide1, then svmguide1.t."""
    return _svmlight(folder, ["svmguide1", "svmguide1.t"], 4)


def mushrooms(folder: Path) -> Rows:
    """UCI Mushroom: the letters of 22 attributes as codes; e(dible) or p(oisonous)."""
    table = _words(folder, "agaricus-lepiota.data")
    return _codes(table[:, 1:], list(MUSHROOM_LETTERS.values())), table[:, 0]


def phishing(folder: Path) -> Rows:
    """LIBSVM phishing: 68 indicators. Upstream writes 1 / sqrt(30) to five digits for true; it is 1 here."""
    X, y = _svmlight(folder, ["phishing"], 68)
    return (X > 0).astype(float), y


def adult(folder: Path) -> Rows:
    """LIBSVM a9a: 123 indicators; 1 for an income above 50,000 dollars a year, else -1."""
    return _svmlight(folder, ["a9a"], 123)


def codrna(folder: Path) -> Rows:
    """LIBSVM cod-rna: 1 for a pair of non-coding RNAs, else -1."""
    return _svmlight(folder, ["cod-rna"], 8)


def splice(folder: Path) -> Rows:
    """UCI Splice-junction: the letters of 60 positions as codes; a junction (EI or IE) or none (N)."""
    table = _words(folder, "splice.data")
    labels, sequences = np.char.strip(table[:, 0]), np.char.strip(table[:, -1])
    if unknown := set(labels) - {"EI", "IE", "N"}:
        raise ValueError(f"its labels are EI, IE and N, but there is {min(unknown)!r}")
    letters = np.array([list(sequence) for sequence in sequences])
    return _codes(letters, [BASES] * letters.shape[1]), np.where(labels == "N", "none", "junction")


def australian(folder: Path) -> Rows:
    """UCI Statlog (Australian Credit Approval): 14 attributes; 1 if the credit was approved, else 0."""
    return _last_is_label(_numbers(folder, "australian.dat"))


def pendigits(folder: Path) -> Rows:
    """UCI Pen-Based Recognition: eight points of the pen, x and y from 0 to 100; 30 writers, then 14 others."""
    return _last_is_label(_numbers(folder, "pendigits.tra", "pendigits.tes", delimiter=","))


def protein(folder: Path) -> Rows:
    """LIBSVM protein, then protein.t."""
    return _svmlight(folder, ["protein", "protein.t"], 357)


def shuttle(folder: Path) -> Rows:
    """UCI Statlog (Shuttle): nine integers; the training part, then the test part."""
    return _last_is_label(_numbers(folder, "shuttle.trn", "shuttle.tst"))


def sensorless(folder: Path) -> Rows:
    """UCI Sensorless Drive Diagnosis: 48 features of the currents; 11 states of the motor."""
    return _last_is_label(_numbers(folder, "Sensorless_drive_diagnosis.txt"))


def mnist(folder: Path) -> Rows:
    """The training and the test digits, 28 x 28 grey levels each."""
    return _images(folder, "mnist")


def fashion_mnist(folder: Path) -> Rows:
    """The training and the test articles, 28 x 28 grey levels each."""
    return _images(folder, "fashion-mnist")


def _numbers(folder: Path, *names: str, delimiter: str | None = None) -> NDArray[np.float64]:
    tables = [np.loadtxt(StringIO(_text(folder, name)), delimiter=delimiter, ndmin=2) for name in names]
    return np.concatenate(tables)


def _words(folder: Path, name: str) -> NDArray[np.str_]:
    return np.loadtxt(StringIO(_text(folder, name)), delimiter=",", dtype=str, ndmin=2)


def _text(folder: Path, name: str) -> str:
    return content(folder, name).decode("ascii")


def _last_is_label(table: NDArray[np.float64]) -> Rows:
    return table[:, :-1], table[:, -1].astype(int)


def _codes(table: NDArray[np.str_], alphabets: Sequence[str]) -> NDArray[np.float64]:
    """The place of each letter in the alphabet of its column."""
    if table.ndim != 2 or table.shape[1] != len(alphabets):
        raise ValueError(f"its rows hold {table.shape[1:]} letters, not {len(alphabets)}")
    codes = np.full(table.shape, -1.0)
    for column, alphabet in enumerate(alphabets):
        for code, letter in enumerate(alphabet):
            codes[table[:, column] == letter, column] = code
    if np.any(codes < 0):
        row, column = np.argwhere(codes < 0)[0]
        letter = str(table[row, column])
        raise ValueError(f"row {row + 1} has {letter!r} for attribute {column + 1}, not one of {alphabets[column]!r}")
    return codes


def _svmlight(folder: Path, names: Sequence[str], n_features: int) -> Rows:
    parts = [
        load_svmlight_file(BytesIO(content(folder, name)), n_features=n_features, zero_based=False) for name in names
    ]
    return np.concatenate([X.toarray() for X, _ in parts]), np.concatenate([y for _, y in parts]).astype(int)


def _images(folder: Path, subfolder: str) -> Rows:
    parts = ("train", "t10k")
    images = [_idx(folder, f"{subfolder}/{part}-images-idx3-ubyte") for part in parts]
    labels = [_idx(folder, f"{subfolder}/{part}-labels-idx1-ubyte") for part in parts]
    return np.concatenate([part.reshape(len(part), -1) for part in images]), np.concatenate(labels)


def _idx(folder: Path, name: str) -> NDArray[np.uint8]:
    """An array in IDX format: two zero bytes, type code 8, the number of dimensions, the dimensions, the bytes."""
    data = content(folder, name)
    if data[:3] != b"\x00\x00\x08":
        raise ValueError(f"{name} is not an IDX file of bytes")
    shape = np.frombuffer(data, dtype=">u4", count=data[3], offset=4)
    return np.frombuffer(data, dtype=np.uint8, offset=4 + 4 * len(shape)).reshape(shape)
