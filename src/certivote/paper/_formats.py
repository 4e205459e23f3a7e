"""The formats of the sources: tables of numbers or letters, svmlight, IDX images, each compressed in any way."""

import bz2
import gzip
import lzma
from collections.abc import Callable, Sequence
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = tuple[NDArray[Any], NDArray[Any]]
"""Rows ``X`` and labels ``y``."""

IMAGE_FILES = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")
"""The files of MNIST: images and labels of the training part, then those of the test part."""


def read_numbers(folder: Path, names: Sequence[str], *, delimiter: str | None = None) -> Rows:
    """Rows and labels of tables of numbers, one below the other, whose last column is an integer label.

    Parameters
    ----------
    folder : Path
    names : sequence of str
        The files, without compression suffix.
    delimiter : str, optional
        What separates the columns; white space by default.
    """
    tables = [np.loadtxt(StringIO(_text(folder, name)), delimiter=delimiter, ndmin=2) for name in names]
    table = np.concatenate(tables)
    return table[:, :-1], table[:, -1].astype(int)


def read_strings(folder: Path, name: str) -> NDArray[np.str_]:
    """A comma-separated table of strings."""
    return np.loadtxt(StringIO(_text(folder, name)), delimiter=",", dtype=str, ndmin=2)


def encode(table: NDArray[np.str_], alphabets: Sequence[str]) -> NDArray[np.float64]:
    """The position of each letter in the alphabet of its column.

    Parameters
    ----------
    table : array of shape (n_rows, n_features)
        Single letters.
    alphabets : sequence of str
        The letters that may occur, one string per feature.

    Raises
    ------
    ValueError
        If the number of columns is not the number of alphabets, or if a letter is not in its alphabet.

    Examples
    --------
    >>> import numpy as np
    >>> encode(np.array([["x", "t"], ["o", "f"]]), ["xbo", "ft"]).tolist()
    [[0.0, 1.0], [2.0, 0.0]]
    """
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


def read_svmlight(folder: Path, names: Sequence[str], *, n_features: int) -> Rows:
    """Dense rows and integer labels of files in svmlight format, one below the other.

    Parameters
    ----------
    folder : Path
    names : sequence of str
        The files, without compression suffix.
    n_features : int
        A file may lack the last features: it leaves out zeros.
    """
    from sklearn.datasets import load_svmlight_file

    parts = [
        load_svmlight_file(BytesIO(file_content(folder, name)), n_features=n_features, zero_based=False)
        for name in names
    ]
    return np.concatenate([X.toarray() for X, _ in parts]), np.concatenate([y for _, y in parts]).astype(int)


def read_images(folder: Path, subfolder: str) -> Rows:
    """Images as rows of grey levels, and their labels, from the four IDX files of MNIST: training part, then test part.

    Parameters
    ----------
    folder : Path
    subfolder : str
        Where the four files are in the folder: those of several datasets have the same names.
    """
    images, labels, more_images, more_labels = (_idx(folder, f"{subfolder}/{name}") for name in IMAGE_FILES)
    X = np.concatenate([images, more_images])
    return X.reshape(len(X), -1), np.concatenate([labels, more_labels])


def _text(folder: Path, name: str) -> str:
    return file_content(folder, name).decode("ascii")


def _idx(folder: Path, name: str) -> NDArray[np.uint8]:
    """An array in IDX format: two zero bytes, type code 8, the number of dimensions, the dimensions, the bytes."""
    data = file_content(folder, name)
    if data[:3] != b"\x00\x00\x08":
        raise ValueError(f"{name} is not an IDX file of bytes")
    shape = np.frombuffer(data, dtype=">u4", count=data[3], offset=4)
    return np.frombuffer(data, dtype=np.uint8, offset=4 + 4 * len(shape)).reshape(shape)


def bare_name(name: str) -> str:
    """The name without compression suffix.

    Examples
    --------
    >>> bare_name("a9a.xz"), bare_name("svmguide1.t")
    ('a9a', 'svmguide1.t')
    """
    return next((name.removesuffix(end) for end in _DECOMPRESS if end and name.endswith(end)), name)


def find_file(folder: Path, name: str) -> Path | None:
    """The file of that bare name in the folder, uncompressed or as .xz, .gz, .bz2 or .Z; None if there is none."""
    paths = (folder / f"{name}{end}" for end in _DECOMPRESS)
    return next((path for path in paths if path.is_file()), None)


def file_content(folder: Path, name: str) -> bytes:
    """The decompressed bytes of the file of that bare name."""
    path = find_file(folder, name)
    if path is None:
        raise FileNotFoundError(f"There is no {name} in {folder}.")
    return _DECOMPRESS[path.name.removeprefix(Path(name).name)](path.read_bytes())


def _unix_decompress(data: bytes) -> bytes:
    """Decompress what Unix ``compress`` wrote: one of the UCI files is still served in that format.

    Its codes (Welch 1984) are written lowest bit first, in groups of eight of one width; the width grows from 9 bits
    whenever the next word would no longer fit, and falls back to 9 at code 256, which empties the dictionary.
    """
    if data[:2] != b"\x1f\x9d":
        raise ValueError("it does not begin as a file of Unix compress does")
    widest, clears = data[2] & 0x1F, bool(data[2] & 0x80)
    letters = [bytes([i]) for i in range(256)] + [b""] * clears
    words, width, previous, out = letters.copy(), 9, b"", []
    group = place = 24  # in bits
    while place + width <= 8 * len(data):
        first = place // 8
        code = int.from_bytes(data[first : first + 4], "little") >> place % 8 & (1 << width) - 1
        place += width
        cleared = clears and code == 256
        if cleared:
            words, previous = letters.copy(), b""
        else:
            if previous and len(words) < 1 << widest:
                # The code may be that of the very word being added, which then begins and ends with the same letter.
                words.append(previous + (words[code] if code < len(words) else previous)[:1])
            if code >= len(words):
                raise ValueError(f"code {code} stands for no word yet")
            previous = words[code]
            out.append(previous)
        if cleared or (len(words) == 1 << width and width < widest):
            place = group = place + (group - place) % (8 * width)
            width = 9 if cleared else width + 1
    return b"".join(out)


_DECOMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".xz": lzma.decompress,
    ".gz": gzip.decompress,
    ".bz2": bz2.decompress,
    ".Z": _unix_decompress,
}
