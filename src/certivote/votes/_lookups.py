"""Sums of table entries that bytes choose, and the linear maps of one block of votes that are made of them.

Eight bits, such as whether each of eight voters is wrong, choose one of 256 entries of a table, which holds the sums of
all choices among eight weights. So a row of 100 votes takes 13 entries and not 100 products, and the gradient is read
off a histogram of each byte. Both are sums in a fixed order: of the tables, and of the rows.
"""

from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from certivote.votes._base import Array, LinearMap
from certivote.votes._loops import Loops, compiled_loops

__all__ = ["Bits", "class_map", "class_masses", "histograms", "look_up"]

_PATTERNS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(float)
"""The eight bits of each byte."""
_SPARSE = 1.0
"""Bytes, per byte of the votes, that a map may keep."""


def look_up(cells: NDArray[np.integer], tables: Array) -> Array:
    """Of each row, the sum over the columns ``g`` of ``tables[g, cells[i, g]]``, of shape (n_rows,).

    Examples
    --------
    >>> look_up(np.array([[0, 1], [1, 1]], dtype=np.uint8), np.array([[0.5, 0.25], [0.0, 8.0]])).tolist()
    [8.5, 8.25]
    """
    loops = compiled_loops()
    if loops is not None:
        return loops.look_up(cells, tables)
    total = np.zeros(len(cells))
    for column, table in zip(cells.T, tables, strict=True):
        total += table.take(column)
    return total


def histograms(cells: NDArray[np.integer], gradient: Array, width: int) -> Array:
    """The transpose of :func:`look_up`: of each column, the sums of the gradient by entry, (n_columns, width).

    Examples
    --------
    >>> histograms(np.array([[0, 1], [1, 1]], dtype=np.uint8), np.array([2.0, 3.0]), 2).tolist()
    [[2.0, 3.0], [0.0, 5.0]]
    """
    loops = compiled_loops()
    if loops is not None:
        return loops.histograms(cells, gradient, width)
    return np.array([np.bincount(column, weights=gradient, minlength=width) for column in cells.T])


class Bits:
    """A matrix of zeros and ones as a linear map, an eighth of a byte for each.

    Parameters
    ----------
    ones : array of bool of shape (n_rows, n_voters)
    """

    def __init__(self, ones: NDArray[np.bool_]):
        self._n_voters = ones.shape[1]
        self._cells = np.packbits(ones, axis=1)

    def forward(self, weights: Array) -> Array:
        padded = np.zeros(8 * self._cells.shape[1])
        padded[: self._n_voters] = weights
        return look_up(self._cells, padded.reshape(-1, 8) @ _PATTERNS.T)

    def adjoint(self, gradient: Array) -> Array:
        return (histograms(self._cells, gradient, 256) @ _PATTERNS).ravel()[: self._n_voters]

    def column(self, voter: int) -> Array:
        return ((self._cells[:, voter // 8] >> (7 - voter % 8)) & 1).astype(float)


def class_masses(codes: NDArray[np.unsignedinteger], n_classes: int, weights: Array) -> Array:
    """Weight behind each class on some rows, for once."""
    if n_classes == 2:
        # Each of both is a sum of weights, so that no difference can be below 0.
        one = codes == 1
        return np.stack([Bits(~one).forward(weights), Bits(one).forward(weights)], axis=1)
    loops = compiled_loops()
    if loops is not None:
        return loops.class_masses(codes, weights, n_classes)
    return _SparseClasses(codes, n_classes).forward(weights)


def class_map(codes: NDArray[np.unsignedinteger], n_classes: int) -> LinearMap:
    """The map from weights to the masses of all classes on some rows, for repeated use."""
    loops = compiled_loops()
    if loops is not None:
        return _LoopedClasses(codes, n_classes, loops)
    usual = _UsualClasses(codes, n_classes)
    return usual if usual.n_bytes <= _SPARSE * codes.nbytes else _SparseClasses(codes, n_classes)


class _LoopedClasses:
    """The masses of all classes, by loops over the votes."""

    def __init__(self, codes: NDArray[np.unsignedinteger], n_classes: int, loops: Loops):
        self._codes, self._n_classes, self._loops = codes, n_classes, loops

    def forward(self, weights: Array) -> Array:
        return self._loops.class_masses(self._codes, weights, self._n_classes)

    def adjoint(self, gradient: Array) -> Array:
        return self._loops.class_gradient(self._codes, gradient)

    def column(self, voter: int) -> Array:
        return np.eye(self._n_classes)[self._codes[:, voter]]


class _SparseClasses:
    """The masses of all classes, by a sparse matrix of the cells (row, class), which is made anew for each use."""

    def __init__(self, codes: NDArray[np.unsignedinteger], n_classes: int):
        self._codes, self._n_classes = codes, n_classes

    def forward(self, weights: Array) -> Array:
        masses: Array = self._by_voter().T @ weights
        return masses.reshape(len(self._codes), self._n_classes)

    def adjoint(self, gradient: Array) -> Array:
        return self._by_voter() @ gradient.ravel()

    def column(self, voter: int) -> Array:
        return np.eye(self._n_classes)[self._codes[:, voter]]

    def _by_voter(self) -> Any:
        n_rows, n_voters = self._codes.shape
        first = np.arange(n_rows, dtype=np.int32) * self._n_classes
        cells = (first + np.ascontiguousarray(self._codes.T)).astype(np.int32, copy=False).ravel()
        return _matrix(cells, np.arange(n_voters + 1) * n_rows, n_rows * self._n_classes)


class _UsualClasses:
    """The masses of all classes: that of each row's most frequent class by bits, the others by a sparse matrix."""

    def __init__(self, codes: NDArray[np.unsignedinteger], n_classes: int):
        n_rows, n_voters = codes.shape
        self._shape, self._rows = (n_rows, n_classes), np.arange(n_rows)
        counts = _SparseClasses(codes, n_classes).forward(np.ones(n_voters))
        self._usual = counts.argmax(axis=1).astype(codes.dtype)
        usual = codes == self._usual[:, None]
        self._bits = Bits(usual)
        voters, rows = np.nonzero(~usual.T)
        cell_type = np.uint16 if n_rows * n_classes <= 2**16 else np.int32
        self._cells = (rows * n_classes + codes[rows, voters]).astype(cell_type)
        self._pointers = np.concatenate([[0], np.cumsum(np.bincount(voters, minlength=n_voters))])

    @property
    def n_bytes(self) -> int:
        """What the matrix takes."""
        return self._cells.nbytes

    def forward(self, weights: Array) -> Array:
        masses: Array = (self._others().T @ weights).reshape(self._shape)
        masses[self._rows, self._usual] = self._bits.forward(weights)
        return masses

    def adjoint(self, gradient: Array) -> Array:
        return self._bits.adjoint(gradient[self._rows, self._usual]) + self._others() @ gradient.ravel()

    def column(self, voter: int) -> Array:
        one = np.zeros(len(self._pointers) - 1)
        one[voter] = 1.0
        return self.forward(one)

    def _others(self) -> Any:
        return _matrix(self._cells.astype(np.int32), self._pointers, self._shape[0] * self._shape[1])


def _matrix(cells: NDArray[np.int32], pointers: NDArray[np.integer], n_cells: int) -> Any:
    """The voters' votes as ones in the rows of a sparse matrix."""
    shape = (len(pointers) - 1, n_cells)
    return scipy.sparse.csr_array((np.ones(len(cells)), cells, pointers.astype(np.int32)), shape=shape)
