"""The votes as a linear map: what weights give each class on each example, and the transpose of that map.

Objectives see only ``forward(weights)`` and ``adjoint(gradient)``, so another storage of votes is one more class here.
The weights of a deployed vote are fixed-point numbers (:func:`fixed_point`): their sums are exact in double precision
in whatever order they are taken, so certification and prediction agree to the bit on every machine.
"""

import hashlib
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["BinnedVotes", "DenseVotes", "LinearMap", "SoftVotes", "Votes", "fixed_point", "plurality"]

Array = NDArray[np.float64]

_UNIT = 2.0**52
"""Fixed-point weights are multiples of 1/_UNIT with sum 1."""
_CHUNK = 1 << 16
"""Rows whose class masses are computed at a time."""


class LinearMap(Protocol):
    """A linear map of the weights and its transpose."""

    def forward(self, weights: Array) -> Array:
        """Image of a weight vector."""

    def adjoint(self, gradient: Array) -> Array:
        """Gradient in the weights, from a gradient in the image."""


class Votes(Protocol):
    """Which class each of ``n_voters`` voters gives each of ``n_rows`` examples."""

    n_rows: int
    n_voters: int
    n_classes: int

    def masses(self, weights: Array) -> Array:
        """Weight behind each class at each example, of shape (n_rows, n_classes)."""

    def by_class(self) -> LinearMap:
        """The map from weights to masses, kept in memory for repeated use."""

    def against(self, labels: NDArray[np.intp]) -> LinearMap:
        """The map from weights to wrong masses: the weight behind the classes other than the label."""

    def take(self, rows: NDArray[np.intp]) -> "Votes":
        """The votes on some of the examples."""

    def digest(self) -> str:
        """What tells these votes from others."""


def fixed_point(log_weights: Array) -> Array:
    """Round drawn weights to multiples of 2**-52 that sum to 1 exactly; the largest weight takes the remainder.

    The deployed vote may be any fixed function of the draw, so this costs nothing. The penalty keeps ``log_weights``.

    Examples
    --------
    >>> float(fixed_point(np.log([0.3, 0.7])).sum())
    1.0
    """
    units = np.floor(np.exp(log_weights) * _UNIT)
    units[np.argmax(units)] += _UNIT - units.sum()
    return units / _UNIT


def plurality(masses: Array) -> NDArray[np.intp]:
    """The vote: the class with the largest mass, ties to the smallest class. The one rule of the whole library."""
    return np.argmax(masses, axis=1)


def _digest(table: NDArray[Any], size: int) -> str:
    """Of a table of numbers, the same in whatever order and width it is stored."""
    wide = np.dtype("<f8") if table.dtype.kind == "f" else np.dtype("<u4")
    content = np.ascontiguousarray(table).astype(wide, copy=False)
    return hashlib.sha256(repr((table.shape, size)).encode() + content.tobytes()).hexdigest()


class _Matrix:
    """A linear map stored as a dense or sparse matrix, its image reshaped."""

    def __init__(self, matrix: Array | sparse.csc_array, shape: tuple[int, ...]):
        self._matrix, self._transpose, self._shape = matrix, matrix.T, shape

    def forward(self, weights: Array) -> Array:
        return (self._matrix @ weights).reshape(self._shape)

    def adjoint(self, gradient: Array) -> Array:
        return self._transpose @ gradient.ravel()


class DenseVotes:
    """Votes stored one by one, as class codes.

    Parameters
    ----------
    codes : array of shape (n_rows, n_voters) of small integers
        Class of each vote.
    n_classes : int

    Examples
    --------
    >>> votes = DenseVotes(np.array([[0, 0, 1], [2, 1, 1]], dtype=np.uint8), n_classes=3)
    >>> votes.masses(np.array([0.5, 0.25, 0.25])).tolist()
    [[0.75, 0.25, 0.0], [0.0, 0.5, 0.5]]
    """

    def __init__(self, codes: NDArray[np.integer], n_classes: int):
        self.codes = codes
        self.n_rows, self.n_voters = codes.shape
        self.n_classes = n_classes

    def masses(self, weights: Array) -> Array:
        out = np.empty((self.n_rows, self.n_classes))
        for start in range(0, self.n_rows, _CHUNK):
            rows = slice(start, start + _CHUNK)
            out[rows] = DenseVotes(self.codes[rows], self.n_classes).by_class().forward(weights)
        return out

    def by_class(self) -> LinearMap:
        # Column j holds a one at (i, vote of j on i): no sorting is needed to lay it out by columns.
        index_type = np.int64 if self.n_rows * self.n_classes >= 2**31 else np.int32
        first = np.arange(self.n_rows, dtype=np.int64) * self.n_classes
        indices = (first[:, None] + self.codes).astype(index_type).ravel(order="F")
        pointers = np.arange(self.n_voters + 1, dtype=np.int64) * self.n_rows
        shape = (self.n_rows, self.n_classes)
        matrix = sparse.csc_array(
            (np.ones(indices.size), indices, pointers), shape=(shape[0] * shape[1], self.n_voters)
        )
        return _Matrix(matrix, shape)

    def against(self, labels: NDArray[np.intp]) -> LinearMap:
        return _Matrix((self.codes != labels[:, None]).astype(float), (self.n_rows,))

    def take(self, rows: NDArray[np.intp]) -> "DenseVotes":
        return DenseVotes(self.codes[rows], self.n_classes)

    def digest(self) -> str:
        return _digest(self.codes, self.n_classes)


class SoftVotes:
    """Votes of groups of voters: each gives its members' shares to the classes.

    Parameters
    ----------
    shares : array of shape (n_rows, n_groups, n_classes)
        Non-negative, with sum 1 over the classes.
    """

    def __init__(self, shares: Array):
        self.shares = shares
        self.n_rows, self.n_voters, self.n_classes = shares.shape

    def masses(self, weights: Array) -> Array:
        return self.by_class().forward(weights)

    def by_class(self) -> LinearMap:
        matrix = np.ascontiguousarray(self.shares.transpose(0, 2, 1)).reshape(-1, self.n_voters)
        return _Matrix(matrix, (self.n_rows, self.n_classes))

    def against(self, labels: NDArray[np.intp]) -> LinearMap:
        return _Matrix(1.0 - self.shares[np.arange(self.n_rows), :, labels], (self.n_rows,))

    def take(self, rows: NDArray[np.intp]) -> "SoftVotes":
        return SoftVotes(self.shares[rows])

    def digest(self) -> str:
        return _digest(self.shares, self.n_classes)


class BinnedVotes:
    """Votes of decision stumps between two classes: they depend on an example only through its bin in each feature.

    The weight behind class 1 is a sum of one table entry a feature. The usual bin of a feature is left out of the
    matrix and enters through a constant, so that memory and time follow the entries that differ from it.

    Parameters
    ----------
    bins : array of shape (n_rows, n_features) of small integers
        Number of thresholds of the feature that lie below the example, from 0 to ``n_thresholds``.
    n_thresholds : int
        Thresholds a feature. Voter ``(f, t, 0)`` gives class 1 above threshold ``t`` and class 0 elsewhere, voter
        ``(f, t, 1)`` the opposite; voters are numbered in that order, the last index running fastest.
    """

    n_classes = 2

    def __init__(self, bins: NDArray[np.integer], n_thresholds: int):
        self._bins = bins
        self.n_rows, n_features = bins.shape
        self._shape = (n_features, n_thresholds, 2)
        self.n_voters = n_features * n_thresholds * 2

    def masses(self, weights: Array) -> Array:
        return self.by_class().forward(weights)

    def by_class(self) -> LinearMap:
        return _BinnedMasses(self._bins, self._shape)

    def against(self, labels: NDArray[np.intp]) -> LinearMap:
        return _BinnedWrong(_BinnedMasses(self._bins, self._shape), labels)

    def take(self, rows: NDArray[np.intp]) -> "BinnedVotes":
        return BinnedVotes(self._bins[rows], self._shape[1])

    def digest(self) -> str:
        return _digest(self._bins, self._shape[1])


class _BinnedMasses:
    """Weights to the masses of both classes, by tables over the bins."""

    def __init__(self, bins: NDArray[np.integer], shape: tuple[int, int, int]):
        self._voters = shape
        n_rows, n_features = bins.shape
        n_bins = shape[1] + 1
        counts = np.stack([np.bincount(bins[:, f], minlength=n_bins) for f in range(n_features)])
        self._usual = counts.argmax(axis=1)
        rows, features = np.nonzero(bins != self._usual)
        columns = (features * n_bins + bins[rows, features]).astype(np.int32)
        pointers = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n_rows))])
        self._unusual = sparse.csr_array((np.ones(len(rows)), columns, pointers), shape=(n_rows, n_features * n_bins))
        self._transpose = self._unusual.T

    def _tables(self, weights: Array) -> Array:
        """Weight behind class 1 in each bin of each feature."""
        above, below = np.moveaxis(weights.reshape(self._voters), -1, 0)
        table = np.zeros((self._voters[0], self._voters[1] + 1))
        np.cumsum(above, axis=1, out=table[:, 1:])
        table[:, :-1] += np.cumsum(below[:, ::-1], axis=1)[:, ::-1]
        return table

    def for_one(self, weights: Array) -> Array:
        """Weight behind class 1 at each example."""
        table = self._tables(weights)
        usual = table[np.arange(len(table)), self._usual]
        return self._unusual @ (table - usual[:, None]).ravel() + usual.sum()

    def pull_one(self, gradient: Array) -> Array:
        """Transpose of :meth:`for_one`."""
        histogram = (self._transpose @ gradient).reshape(self._voters[0], -1)
        histogram[np.arange(len(histogram)), self._usual] += gradient.sum() - histogram.sum(axis=1)
        below = np.cumsum(histogram, axis=1)[:, :-1]
        above = np.cumsum(histogram[:, ::-1], axis=1)[:, ::-1][:, 1:]
        return np.stack([above, below], axis=-1).ravel()

    def forward(self, weights: Array) -> Array:
        one = self.for_one(weights)
        return np.stack([weights.sum() - one, one], axis=1)

    def adjoint(self, gradient: Array) -> Array:
        return gradient[:, 0].sum() + self.pull_one(gradient[:, 1] - gradient[:, 0])


class _BinnedWrong:
    """Weights to wrong masses: the mass of class 1 where the label is 0, and the rest where it is 1."""

    def __init__(self, masses: _BinnedMasses, labels: NDArray[np.intp]):
        self._masses, self._positive = masses, labels == 1

    def forward(self, weights: Array) -> Array:
        one = self._masses.for_one(weights)
        return np.where(self._positive, weights.sum() - one, one)

    def adjoint(self, gradient: Array) -> Array:
        signed = np.where(self._positive, -gradient, gradient)
        return gradient[self._positive].sum() + self._masses.pull_one(signed)
