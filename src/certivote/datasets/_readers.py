"""Readers of the upstream formats."""

import gzip
import lzma
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_svmlight_file

__all__ = ["adult", "mnist", "tictactoe"]

Data = tuple[NDArray[Any], NDArray[Any]]


def tictactoe(folder: Path) -> Data:
    """UCI Tic-Tac-Toe Endgame: nine squares, and whether x has won."""
    table = np.loadtxt(folder / "tic-tac-toe.data", delimiter=",", dtype=str)
    X = np.select([table[:, :-1] == "x", table[:, :-1] == "o"], [-1.0, 1.0], 0.0)
    return X, table[:, -1]


def adult(folder: Path) -> Data:
    """LIBSVM a9a."""
    with lzma.open(folder / "a9a.xz") as file:
        X, y = load_svmlight_file(file, n_features=123)
    return X.toarray(), y.astype(int)


def mnist(folder: Path) -> Data:
    """The training and the test digits, 28 x 28 grey levels each."""
    parts = ("train", "t10k")
    images = [_idx(folder / "mnist" / f"{part}-images-idx3-ubyte.gz") for part in parts]
    labels = [_idx(folder / "mnist" / f"{part}-labels-idx1-ubyte.gz") for part in parts]
    return np.concatenate(images).reshape(-1, 784), np.concatenate(labels)


def _idx(path: Path) -> NDArray[np.uint8]:
    """An array in IDX format: two zero bytes, type code 8, the number of dimensions, the dimensions, the bytes."""
    with gzip.open(path) as file:
        content = file.read()
    if content[:3] != b"\x00\x00\x08":
        raise ValueError(f"{path} is not an IDX file of bytes.")
    shape = np.frombuffer(content, dtype=">u4", count=content[3], offset=4)
    return np.frombuffer(content, dtype=np.uint8, offset=4 + 4 * len(shape)).reshape(shape)
