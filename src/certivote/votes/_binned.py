"""Votes of decision stumps, stored by the bins of the features."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from certivote.maths.tree_digest import Piece
from certivote.votes._base import Array, LinearMap, table_digest, table_pieces
from certivote.votes._blocks import StackedMap, is_many, row_blocks
from certivote.votes._lookups import KEPT, Entries, entries_matrix, shared_ones


class BinnedVotes:
    """Votes of decision stumps between two classes: they depend on an example only through its bin in each feature.

    The weight behind class 1 is a sum of one table entry per feature. The usual bin of a feature is left out of the
    matrix and enters through a constant, so that memory and time follow the entries that differ from it.

    Parameters
    ----------
    bins : array of shape (n_rows, n_features) of small integers
        Number of thresholds of the feature that lie below the example, from 0 to ``n_thresholds``.
    n_thresholds : int
        Thresholds per feature. Voter ``(f, t, 0)`` gives class 1 above threshold ``t`` and class 0 elsewhere, voter
        ``(f, t, 1)`` the opposite; voters are numbered in that order, the last index running fastest.
    is_block : bool, default=False
        Whether these are some rows of many: then entries are looked up by the bins themselves, without a matrix,
        unless few are unusual.

    Examples
    --------
    >>> import numpy as np
    >>> from certivote.votes import BinnedVotes
    >>> votes = BinnedVotes(np.array([[0], [1], [2]]), n_thresholds=2)
    >>> votes.masses(np.array([0.5, 0.0, 0.25, 0.25])).tolist()  # an example above both thresholds, in bin 2, is last
    [[0.75, 0.25], [0.25, 0.75], [0.25, 0.75]]
    """

    n_classes = 2

    def __init__(self, bins: NDArray[np.integer], n_thresholds: int, is_block: bool = False):
        self._bins, self._is_block = bins, is_block
        self.n_rows, n_features = bins.shape
        self._shape = (n_features, n_thresholds, 2)
        self.n_voters = n_features * n_thresholds * 2

    @classmethod
    def join(cls, parts: "Sequence[BinnedVotes]") -> "BinnedVotes | None":
        if len({part._shape[1] for part in parts}) != 1:
            return None
        return cls(np.concatenate([part._bins for part in parts], axis=1), parts[0]._shape[1])

    @classmethod
    def stack(cls, parts: "Sequence[BinnedVotes]") -> "BinnedVotes":
        return cls(np.ascontiguousarray(np.concatenate([part._bins for part in parts])), parts[0]._shape[1])

    @property
    def width(self) -> int:
        """The unusual entries of a row, in the mean: what they are made into takes memory and time as these do."""
        return -(-self._unusual // max(self.n_rows, 1)) or 1

    @cached_property
    def _usual(self) -> NDArray[np.intp]:
        """The most frequent bin of each feature."""
        n_bins = self._shape[1] + 1
        counts = [np.bincount(own, minlength=n_bins) for own in self._bins.T]
        return np.argmax(counts, axis=1)

    @cached_property
    def _unusual(self) -> int:
        return int(np.count_nonzero(self._bins != self._usual))

    def masses(self, weights: Array) -> Array:
        if is_many(self) and not self._is_block:
            return np.concatenate([block.masses(weights) for _, block in row_blocks(self)])
        if self._is_block:  # for once, no matrix is worth the making
            return _BinnedMasses(Entries(self._bins, self._shape[1] + 1, keep=False), self._shape).forward(weights)
        return self.by_class().forward(weights)

    def row_masses(self, weights: Array) -> Array:
        # With weights of its own, every row would need a table of its own: its voters are looked at one by one.
        above, below = np.moveaxis(weights.reshape(self.n_rows, *self._shape), -1, 0)
        over = self._bins[:, :, None] > np.arange(self._shape[1])
        one = np.where(over, above, below).sum(axis=(1, 2))
        return np.stack([weights.sum(axis=1) - one, one], axis=1)

    def by_class(self) -> LinearMap:
        if is_many(self) and not self._is_block:
            return StackedMap([(rows, block.by_class()) for rows, block in row_blocks(self)])
        return self._masses()

    def against(self, labels: NDArray[np.intp]) -> LinearMap:
        if is_many(self) and not self._is_block:
            return StackedMap([(rows, block.against(labels[rows])) for rows, block in row_blocks(self)])
        return _BinnedWrong(self._masses(), labels)

    def _masses(self) -> "_BinnedMasses":
        n_bins = self._shape[1] + 1
        if self._is_block and 4 * self._unusual > KEPT * self._bins.nbytes:
            return _BinnedMasses(Entries(self._bins, n_bins), self._shape)
        return _BinnedMasses(self._matrix, self._shape)

    @cached_property
    def _matrix(self) -> "_UnusualEntries":
        return _UnusualEntries(self._bins, self._shape[1] + 1, self._usual)

    def __reduce__(self) -> Any:
        return BinnedVotes, (self._bins, self._shape[1], self._is_block)

    def take(self, rows: NDArray[np.intp]) -> "BinnedVotes":
        return BinnedVotes(self._bins[rows], self._shape[1])

    def block(self, rows: slice) -> "BinnedVotes":
        return BinnedVotes(self._bins[rows], self._shape[1], is_block=True)

    def digest(self) -> str:
        return table_digest(self._bins, self._shape[1])

    def pieces(self, first: int) -> tuple[Piece, ...]:
        return table_pieces(self._bins, self._shape[1], first)


class _Entries(Protocol):
    """Tables over the bins of each feature to sums of their entries at each example, and the transpose."""

    def sums(self, table: Array) -> Array:
        """Of each example, the sum of its entries."""

    def histogram(self, gradient: Array) -> Array:
        """Of each bin of each feature, the sum of the gradient over its examples."""


class _UnusualEntries:
    """A sparse matrix of the entries that are not in the usual bin of their feature."""

    def __init__(self, bins: NDArray[np.integer], n_bins: int, usual: NDArray[np.intp]):
        n_rows, n_features = bins.shape
        self._usual = usual
        rows, features = np.nonzero(bins != usual)
        columns = (features * n_bins + bins[rows, features]).astype(np.int32)
        pointers = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n_rows))])
        self._unusual = entries_matrix(columns, pointers, n_features * n_bins, shared_ones(len(columns)))
        self._transpose = self._unusual.T

    def sums(self, table: Array) -> Array:
        usual = table[np.arange(len(table)), self._usual]
        return self._unusual @ (table - usual[:, None]).ravel() + usual.sum()

    def histogram(self, gradient: Array) -> Array:
        histogram: Array = (self._transpose @ gradient).reshape(len(self._usual), -1)
        histogram[np.arange(len(histogram)), self._usual] += gradient.sum() - histogram.sum(axis=1)
        return histogram


class _BinnedMasses:
    """Weights to the masses of both classes, by tables over the bins."""

    def __init__(self, entries: _Entries, shape: tuple[int, int, int]):
        self._entries, self._voters = entries, shape

    def _tables(self, weights: Array) -> Array:
        """Weight behind class 1 in each bin of each feature."""
        above, below = np.moveaxis(weights.reshape(self._voters), -1, 0)
        table = np.zeros((self._voters[0], self._voters[1] + 1))
        np.cumsum(above, axis=1, out=table[:, 1:])
        table[:, :-1] += np.cumsum(below[:, ::-1], axis=1)[:, ::-1]
        return table

    def for_one(self, weights: Array) -> Array:
        """Weight behind class 1 at each example."""
        return self._entries.sums(self._tables(weights))

    def pull_one(self, gradient: Array) -> Array:
        """Transpose of :meth:`for_one`."""
        histogram = self._entries.histogram(gradient)
        below = np.cumsum(histogram, axis=1)[:, :-1]
        above = np.cumsum(histogram[:, ::-1], axis=1)[:, ::-1][:, 1:]
        return np.stack([above, below], axis=-1).ravel()

    def forward(self, weights: Array) -> Array:
        one = self.for_one(weights)
        return np.stack([weights.sum() - one, one], axis=1)

    def adjoint(self, gradient: Array) -> Array:
        return gradient[:, 0].sum() + self.pull_one(gradient[:, 1] - gradient[:, 0])

    def column(self, voter: int) -> Array:
        weights = np.zeros(int(np.prod(self._voters)))
        weights[voter] = 1.0
        return self.forward(weights)


class _BinnedWrong:
    """Weights to wrong masses: the mass of class 1 where the label is 0, and the rest where it is 1."""

    def __init__(self, masses: _BinnedMasses, labels: NDArray[np.intp]):
        self._masses, self._positive = masses, labels == 1
        self._signs = np.where(self._positive, -1.0, 1.0)

    def forward(self, weights: Array) -> Array:
        one = self._masses.for_one(weights)
        return np.where(self._positive, weights.sum() - one, one)

    def adjoint(self, gradient: Array) -> Array:
        return gradient[self._positive].sum() + self._masses.pull_one(gradient * self._signs)

    def column(self, voter: int) -> Array:
        # The masses of both classes are 0 and 1.
        masses = self._masses.column(voter)
        return np.where(self._positive, masses[:, 0], masses[:, 1])
