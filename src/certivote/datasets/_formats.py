"""The file formats of the sources: tables of numbers or strings, svmlight, IDX images; each may be compressed."""

from collections.abc import Sequence
from io import BytesIO, StringIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from certivote.datasets._compressed import content
from certivote.datasets._entry import Rows

__all__ = ["encode", "read_images", "read_numbers", "read_strings", "read_svmlight", "split_last_column"]


def read_numbers(folder: Path, *names: str, delimiter: str | None = None) -> NDArray[np.float64]:
    """Tables of numbers, one below the other.

    Parameters
    ----------
    folder : Path
    *names : str
        The files, without compression suffix.
    delimiter : str, optional
        What separates the columns; white space by default.
    """
    tables = [np.loadtxt(StringIO(_text(folder, name)), delimiter=delimiter, ndmin=2) for name in names]
    return np.concatenate(tables)


def read_strings(folder: Path, name: str) -> NDArray[np.str_]:
    """A comma-separated table of strings."""
    return np.loadtxt(StringIO(_text(folder, name)), delimiter=",", dtype=str, ndmin=2)


def split_last_column(table: NDArray[np.float64]) -> Rows:
    """Rows and labels of a table whose last column is an integer label."""
    return table[:, :-1], table[:, -1].astype(int)


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


def read_svmlight(folder: Path, *names: str, n_features: int) -> Rows:
    """Dense rows and integer labels of files in svmlight format, one below the other.

    Parameters
    ----------
    folder : Path
    *names : str
        The files, without compression suffix.
    n_features : int
        A file may lack the last features: it leaves out zeros.
    """
    from sklearn.datasets import load_svmlight_file

    parts = [
        load_svmlight_file(BytesIO(content(folder, name)), n_features=n_features, zero_based=False) for name in names
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
    parts = ("train", "t10k")
    images = [_idx(folder, f"{subfolder}/{part}-images-idx3-ubyte") for part in parts]
    labels = [_idx(folder, f"{subfolder}/{part}-labels-idx1-ubyte") for part in parts]
    return np.concatenate([part.reshape(len(part), -1) for part in images]), np.concatenate(labels)


def _text(folder: Path, name: str) -> str:
    return content(folder, name).decode("ascii")


def _idx(folder: Path, name: str) -> NDArray[np.uint8]:
    """An array in IDX format: two zero bytes, type code 8, the number of dimensions, the dimensions, the bytes."""
    data = content(folder, name)
    if data[:3] != b"\x00\x00\x08":
        raise ValueError(f"{name} is not an IDX file of bytes")
    shape = np.frombuffer(data, dtype=">u4", count=data[3], offset=4)
    return np.frombuffer(data, dtype=np.uint8, offset=4 + 4 * len(shape)).reshape(shape)
