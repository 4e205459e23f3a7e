"""Sums of table entries that bytes choose, and the linear maps of one block of votes that are made of them.

Eight bits, such as whether each of eight voters is wrong, choose one of 256 entries of a table, which holds the sums of
all choices among eight weights. So a row of 100 votes takes 13 entries and not 100 products, and the gradient is read
off a histogram of each byte. Both are sums in a fixed order, along the columns of a row and row by row, with compiled
loops (:mod:`certivote.maths.loops`) as with sparse matrices.
"""

import functools
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from certivote.maths.loops import Loops, compiled_loops
from certivote.votes._base import Array, LinearMap

Cells = NDArray[np.integer]
Codes = NDArray[np.unsignedinteger]

_PATTERNS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(float)
"""The eight bits of each byte."""
KEPT = 0.6
"""Bytes, per byte of the votes, that the sparse matrix of a map may keep."""


def look_up(cells: Cells, tables: Array) -> Array:
    """Of each row, the sum over the columns ``g`` of ``tables[g, cells[i, g]]``, of shape (n_rows,).

    Examples
    --------
    >>> look_up(np.array([[0, 1], [1, 1]], dtype=np.uint8), np.array([[0.5, 0.25], [0.0, 8.0]])).tolist()
    [8.5, 8.25]
    """
    loops = compiled_loops()
    if loops is None:
        return _entries(cells, tables.shape[1]) @ tables.ravel()
    total = np.zeros(len(cells))
    loops.look_up(cells, tables, total)
    return total


def histograms(cells: Cells, gradient: Array, width: int) -> Array:
    """The transpose of :func:`look_up`: of each column, the sums of the gradient by entry, (n_columns, width).

    Examples
    --------
    >>> histograms(np.array([[0, 1], [1, 1]], dtype=np.uint8), np.array([2.0, 3.0]), 2).tolist()
    [[2.0, 3.0], [0.0, 5.0]]
    """
    loops = compiled_loops()
    if loops is None:
        return (_entries(cells, width).T @ gradient).reshape(-1, width)
    sums = np.zeros((cells.shape[1], width))
    loops.histograms(cells, gradient, sums)
    return sums


class Entries:
    """Cells that choose entries of tables, for repeated use.

    Parameters
    ----------
    cells : array of shape (n_rows, n_columns) of integers
    width : int
        Entries of each column's table.
    keep : bool, default=True
        Whether a sparse matrix may be kept, of four bytes a cell, where there are no compiled loops.
    """

    def __init__(self, cells: Cells, width: int, keep: bool = True):
        self.cells, self._width = cells, width
        self._kept = _entries(cells, width) if keep and compiled_loops() is None else None

    def sums(self, tables: Array) -> Array:
        """Of each row, the sum of its entries."""
        return look_up(self.cells, tables) if self._kept is None else self._kept @ tables.ravel()

    def histogram(self, gradient: Array) -> Array:
        """Of each column, the sums of the gradient by entry."""
        if self._kept is None:
            return histograms(self.cells, gradient, self._width)
        return (self._kept.T @ gradient).reshape(-1, self._width)


def class_masses(codes: Codes, n_classes: int, weights: Array) -> Array:
    """Weight behind each class on some rows, for once."""
    loops = compiled_loops()
    if n_classes == 2:
        # Each of both is a sum of weights, so that none is a difference of roundings.
        ones, tables = np.packbits(codes, axis=1), _sums_of_eight(weights)
        return np.stack([look_up(~ones, tables), look_up(ones, tables)], axis=1)
    return (_SparseClasses(codes, n_classes) if loops is None else _Classes(codes, n_classes, loops)).forward(weights)


def class_map(codes: Codes, n_classes: int) -> LinearMap:
    """The map from weights to the masses of all classes on some rows, for repeated use."""
    loops = compiled_loops()
    if loops is not None:
        return _Classes(codes, n_classes, loops)
    usual = _UsualClasses(codes, n_classes)
    return usual if usual.kept <= KEPT * codes.nbytes else _SparseClasses(codes, n_classes)


def _sums_of_eight(weights: Array) -> Array:
    """For each eight voters and each byte, the sum of the weights of those whose bit is set."""
    padded = np.zeros(-(-len(weights) // 8) * 8)
    padded[: len(weights)] = weights
    sums: Array = padded.reshape(-1, 8) @ _PATTERNS.T
    return sums


class Bits:
    """A matrix of zeros and ones, of shape (n_rows, n_voters), as a linear map, a bit for each."""

    def __init__(self, ones: NDArray[np.bool_], keep: bool = True):
        self._n_voters = ones.shape[1]
        self._entries = Entries(np.packbits(ones, axis=1), 256, keep)

    def forward(self, weights: Array) -> Array:
        return self._entries.sums(_sums_of_eight(weights))

    def adjoint(self, gradient: Array) -> Array:
        return (self._entries.histogram(gradient) @ _PATTERNS).ravel()[: self._n_voters]

    def column(self, voter: int) -> Array:
        return ((self._entries.cells[:, voter // 8] >> (7 - voter % 8)) & 1).astype(float)


class _Classes:
    """The masses of all classes, by loops over the votes."""

    def __init__(self, codes: Codes, n_classes: int, loops: Loops):
        self._codes, self._n_classes, self._loops = codes, n_classes, loops

    def forward(self, weights: Array) -> Array:
        masses = np.zeros((len(self._codes), self._n_classes))
        self._loops.class_masses(self._codes, weights, masses)
        return masses

    def adjoint(self, gradient: Array) -> Array:
        total = np.zeros(self._codes.shape[1])
        self._loops.class_gradient(self._codes, gradient, total)
        return total

    def column(self, voter: int) -> Array:
        return np.eye(self._n_classes)[self._codes[:, voter]]


class _SparseClasses:
    """The masses of all classes, by a sparse matrix of the cells (class, row), which is made anew for each use.

    Masses lie class by class, so that rows can be gone through side by side.
    """

    def __init__(self, codes: Codes, n_classes: int):
        self._codes, self._n_classes = codes, n_classes

    def forward(self, weights: Array) -> Array:
        masses: Array = self._by_voter().T @ weights
        return masses.reshape(self._n_classes, len(self._codes)).T

    def adjoint(self, gradient: Array) -> Array:
        return self._by_voter() @ gradient.T.ravel()

    def column(self, voter: int) -> Array:
        return np.eye(self._n_classes)[self._codes[:, voter]]

    def _by_voter(self) -> Any:
        n_rows, n_voters = self._codes.shape
        cells = np.empty((n_voters, n_rows), dtype=np.int32)
        np.multiply(self._codes.T, n_rows, out=cells, dtype=np.int32, casting="unsafe")
        cells += np.arange(n_rows, dtype=np.int32)
        pointers = np.arange(n_voters + 1) * n_rows
        return entries_matrix(cells.ravel(), pointers, n_rows * self._n_classes, np.ones(cells.size))


class _UsualClasses:
    """The masses of all classes: that of each row's most frequent class by bits, the others by a sparse matrix."""

    def __init__(self, codes: Codes, n_classes: int):
        n_rows, n_voters = codes.shape
        self._shape = (n_classes, n_rows)
        counts = _SparseClasses(codes, n_classes).forward(np.ones(n_voters))
        self._usual = counts.argmax(axis=1).astype(codes.dtype)
        usual = codes == self._usual[:, None]
        self._bits = Bits(usual, keep=False)
        voters, rows = np.nonzero(~usual.T)
        cell_type = np.uint16 if n_rows * n_classes <= 2**16 else np.int32
        self._cells = (codes[rows, voters] * np.intp(n_rows) + rows).astype(cell_type)
        self._pointers = np.concatenate([[0], np.cumsum(np.bincount(voters, minlength=n_voters))])

    @property
    def kept(self) -> int:
        """Bytes of the sparse matrix."""
        return self._cells.nbytes

    def forward(self, weights: Array) -> Array:
        masses: Array = (self._others().T @ weights).reshape(self._shape)
        masses[self._usual, np.arange(self._shape[1])] = self._bits.forward(weights)
        return masses.T

    def adjoint(self, gradient: Array) -> Array:
        usual = gradient[np.arange(len(gradient)), self._usual]
        return self._bits.adjoint(usual) + self._others() @ gradient.T.ravel()

    def column(self, voter: int) -> Array:
        one = np.zeros(len(self._pointers) - 1)
        one[voter] = 1.0
        return self.forward(one)

    def _others(self) -> Any:
        cells = self._cells.astype(np.int32)
        return entries_matrix(cells, self._pointers, self._shape[0] * self._shape[1], np.ones(len(cells)))


def _entries(cells: Cells, width: int) -> Any:
    """The entries that cells choose from tables of this width, as ones in the rows of a sparse matrix."""
    n_rows, n_columns = cells.shape
    chosen = cells + np.arange(n_columns, dtype=np.int32) * np.int32(width)
    pointers = np.arange(n_rows + 1) * n_columns
    return entries_matrix(chosen.ravel(), pointers, n_columns * width, shared_ones(chosen.size))


def entries_matrix(columns: NDArray[np.int32], pointers: NDArray[np.integer], n_columns: int, ones: Array) -> Any:
    """A sparse matrix of ones."""
    parts = (ones, columns, pointers.astype(np.int32))
    return scipy.sparse.csr_array(parts, shape=(len(pointers) - 1, n_columns))


def shared_ones(size: int) -> Array:
    """Ones for the matrices of blocks: all are views of the same few arrays."""
    return _many_ones(size.bit_length())[:size]


@functools.lru_cache(maxsize=2)
def _many_ones(bits: int) -> Array:
    return np.ones(1 << bits)
