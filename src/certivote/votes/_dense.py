"""Votes stored one by one."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from certivote.maths.tree_digest import Piece
from certivote.votes._base import Array, LinearMap, MatrixMap, table_digest, table_pieces
from certivote.votes._blocks import StackedMap, is_many, row_blocks
from certivote.votes._lookups import Bits, class_map, class_masses

_CELLS = 1 << 16
"""Votes that are counted at a time: so few that they stay in the processor's cache."""


def code_type(n_classes: int) -> type[np.unsignedinteger]:
    """Smallest integers that hold the class codes, for voters that fill a large table.

    Examples
    --------
    >>> from certivote.votes import code_type
    >>> code_type(10).__name__, code_type(1000).__name__
    ('uint8', 'uint32')
    """
    return np.uint8 if n_classes <= 256 else np.uint32


class DenseVotes:
    """Votes stored one by one, as class codes.

    Parameters
    ----------
    codes : array of shape (n_rows, n_voters) of integers
        Class of each vote, from 0 to ``n_classes - 1``.
    n_classes : int
    is_block : bool, default=False
        Whether these are some rows of many: then maps are made of bits and bytes, not of floats.

    Examples
    --------
    >>> import numpy as np
    >>> from certivote.votes import DenseVotes
    >>> votes = DenseVotes(np.array([[0, 0, 1], [2, 1, 1]]), n_classes=3)
    >>> votes.masses(np.array([0.5, 0.25, 0.25])).tolist()
    [[0.75, 0.25, 0.0], [0.0, 0.5, 0.5]]
    """

    def __init__(self, codes: NDArray[np.integer], n_classes: int, is_block: bool = False):
        self._codes = codes.astype(code_type(n_classes), copy=False)
        self.n_rows, self.n_voters = codes.shape
        self.n_classes, self._is_block = n_classes, is_block

    @classmethod
    def join(cls, parts: "Sequence[DenseVotes]") -> "DenseVotes":
        return cls(np.concatenate([part._codes for part in parts], axis=1), parts[0].n_classes)

    @classmethod
    def stack(cls, parts: "Sequence[DenseVotes]") -> "DenseVotes":
        # In one order, however each part was filled: what is computed of them is the same to the last bit.
        return cls(np.asfortranarray(np.concatenate([part._codes for part in parts])), parts[0].n_classes)

    @property
    def width(self) -> int:
        return self.n_voters

    def masses(self, weights: Array) -> Array:
        if self._is_block:
            return class_masses(self._codes, self.n_classes, weights)
        if is_many(self):
            return np.concatenate([block.masses(weights) for _, block in row_blocks(self)])
        out = np.empty((self.n_rows, self.n_classes))
        step = max(_CELLS // self.n_voters, 1)
        for start in range(0, self.n_rows, step):
            part = DenseVotes(self._codes[start : start + step], self.n_classes)
            out[start : start + step] = part.row_masses(np.broadcast_to(weights, (part.n_rows, self.n_voters)))
        return out

    def row_masses(self, weights: Array) -> Array:
        # Counting the cells (row, class) adds up each row's weights in the order of the voters.
        cells = self._first_cells()[:, None] + self._codes
        total: Any = np.bincount(cells.ravel(), weights.ravel(), minlength=self.n_rows * self.n_classes)
        return total.reshape(self.n_rows, self.n_classes)

    def by_class(self) -> LinearMap:
        if self._is_block:
            return class_map(self._codes, self.n_classes)
        if is_many(self):
            return StackedMap([(rows, block.by_class()) for rows, block in row_blocks(self)])
        # Column j holds a one at (i, vote of j on i): no sorting is needed to lay it out by columns.
        index_type = np.int64 if self.n_rows * self.n_classes >= 2**31 else np.int32
        indices = (self._first_cells()[:, None] + self._codes).astype(index_type).ravel(order="F")
        pointers = np.arange(self.n_voters + 1, dtype=np.int64) * self.n_rows
        shape = (self.n_rows, self.n_classes)
        matrix = scipy.sparse.csc_array(
            (np.ones(indices.size), indices, pointers), shape=(shape[0] * shape[1], self.n_voters)
        )
        return MatrixMap(matrix, shape)

    def against(self, labels: NDArray[np.intp]) -> LinearMap:
        if self._is_block:
            # Of one type, so that whole vectors of bytes are compared; labels are codes of the same classes.
            return Bits(self._codes != labels.astype(self._codes.dtype)[:, None])
        if is_many(self):
            return StackedMap([(rows, block.against(labels[rows])) for rows, block in row_blocks(self)])
        return MatrixMap((self._codes != labels[:, None]).astype(float), (self.n_rows,))

    def take(self, rows: NDArray[np.intp]) -> "DenseVotes":
        return DenseVotes(self._codes[rows], self.n_classes)

    def block(self, rows: slice) -> "DenseVotes":
        return DenseVotes(self._codes[rows], self.n_classes, is_block=True)

    def digest(self) -> str:
        return table_digest(self._codes, self.n_classes)

    def pieces(self, first: int) -> tuple[Piece, ...]:
        return table_pieces(self._codes, self.n_classes, first)

    def _first_cells(self) -> NDArray[np.int64]:
        """Of each row, the number of its first cell when rows and classes are counted through."""
        return np.arange(self.n_rows, dtype=np.int64) * self.n_classes
