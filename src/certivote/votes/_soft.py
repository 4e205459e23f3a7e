"""Votes that are divided among the classes."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from certivote.maths.tree_digest import Piece
from certivote.votes._base import Array, LinearMap, MatrixMap, table_digest, table_pieces


class SoftVotes:
    """Votes that may be divided: of a group of voters, the fraction of its members that votes for each class.

    Parameters
    ----------
    fractions : array of shape (n_rows, n_voters, n_classes)
        Non-negative, with sum 1 over the classes.

    Examples
    --------
    >>> import numpy as np
    >>> from certivote.votes import SoftVotes
    >>> votes = SoftVotes(np.array([[[0.5, 0.5], [0.0, 1.0]]]))
    >>> votes.masses(np.array([0.5, 0.5])).tolist()
    [[0.25, 0.75]]
    """

    def __init__(self, fractions: Array):
        self._fractions = fractions
        self.n_rows, self.n_voters, self.n_classes = fractions.shape

    @classmethod
    def join(cls, parts: "Sequence[SoftVotes]") -> "SoftVotes":
        return cls(np.concatenate([part._fractions for part in parts], axis=1))

    @classmethod
    def stack(cls, parts: "Sequence[SoftVotes]") -> "SoftVotes":
        return cls(np.ascontiguousarray(np.concatenate([part._fractions for part in parts])))

    @property
    def width(self) -> int:
        return self.n_voters * self.n_classes

    def masses(self, weights: Array) -> Array:
        # Without terms that are 0, so that rounding is the same whether voters without weight are there or not.
        some = np.flatnonzero(weights)
        fractions = self._fractions if len(some) == len(weights) else self._fractions[:, some]
        return SoftVotes(fractions).by_class().forward(weights[some])

    def row_masses(self, weights: Array) -> Array:
        return np.matmul(weights[:, None, :], self._fractions)[:, 0, :]

    def by_class(self) -> LinearMap:
        matrix = np.ascontiguousarray(self._fractions.transpose(0, 2, 1)).reshape(-1, self.n_voters)
        return MatrixMap(matrix, (self.n_rows, self.n_classes))

    def against(self, labels: NDArray[np.intp]) -> LinearMap:
        return MatrixMap(1.0 - self._fractions[np.arange(self.n_rows), :, labels], (self.n_rows,))

    def take(self, rows: NDArray[np.intp]) -> "SoftVotes":
        return SoftVotes(self._fractions[rows])

    def block(self, rows: slice) -> "SoftVotes":
        return SoftVotes(self._fractions[rows])

    def digest(self) -> str:
        return table_digest(self._fractions, self.n_classes)

    def pieces(self, first: int) -> tuple[Piece, ...]:
        return table_pieces(self._fractions, self.n_classes, first)
