"""What all storages of votes have in common.

Objectives see only ``forward(weights)`` and ``adjoint(gradient)``, so another storage of votes is one more file.
The weights of a deployed vote are fixed-point numbers (:func:`fixed_point`): their sums are exact in double precision
in any order, so certification and prediction agree to the bit on every machine.
"""

from typing import Any, Protocol

import numpy as np
import scipy
from numpy.typing import NDArray

from certivote.maths.tree_digest import Piece, join_pieces, make_piece

Array = NDArray[np.float64]

_UNIT = 2.0**52
"""Fixed-point weights are multiples of 1/_UNIT with sum 1."""


class LinearMap(Protocol):
    """A linear map of the weights and its transpose."""

    def forward(self, weights: Array) -> Array:
        """Image of a weight vector."""

    def adjoint(self, gradient: Array) -> Array:
        """Gradient in the weights, from a gradient in the image."""

    def column(self, voter: int) -> Array:
        """Image of the weights that give everything to one voter."""


class Votes(Protocol):
    """Which class each of ``n_voters`` voters gives each of ``n_rows`` examples.

    Examples
    --------
    >>> import numpy as np
    >>> from certivote.votes import build_votes
    >>> votes = build_votes(codes=np.array([[0, 0, 1], [1, 1, 0]]), n_classes=2)
    >>> votes.n_rows, votes.n_voters, votes.n_classes
    (2, 3, 2)
    >>> votes.against(np.array([0, 0])).forward(np.array([0.5, 0.25, 0.25])).tolist()
    [0.25, 0.75]
    """

    n_rows: int
    n_voters: int
    n_classes: int

    @property
    def width(self) -> int:
        """Entries that a row takes in the table of the votes."""

    def masses(self, weights: Array) -> Array:
        """Weight behind each class at each example, of shape (n_rows, n_classes)."""

    def row_masses(self, weights: Array) -> Array:
        """The same where each example has weights of its own, of shape (n_rows, n_voters).

        It simulates a random vote, whose weights are drawn anew for every example.
        """

    def by_class(self) -> LinearMap:
        """The map from weights to masses, kept in memory for repeated use."""

    def against(self, labels: NDArray[np.intp]) -> LinearMap:
        """The map from weights to wrong masses: the weight behind the classes other than the label."""

    def take(self, rows: NDArray[np.intp]) -> "Votes":
        """The votes on some of the examples."""

    def block(self, rows: slice) -> "Votes":
        """The votes on consecutive rows of a table of many, not copied, with maps that take little memory."""

    def digest(self) -> str:
        """What tells these votes from others."""

    def pieces(self, first: int) -> tuple[Piece, ...]:
        """What these votes contribute to a digest if their first row has this number: a piece for each table."""


def fixed_point(log_weights: Array) -> Array:
    """Round drawn weights to multiples of 2**-52 that sum to 1 exactly; the largest weight takes the remainder.

    The deployed vote may be any fixed function of the draw, so this costs nothing. The penalty keeps ``log_weights``.

    Parameters
    ----------
    log_weights : array of shape (n_voters,)
        Logarithms of weights whose sum is 1 up to rounding.

    Returns
    -------
    array of shape (n_voters,)

    Examples
    --------
    >>> import numpy as np
    >>> from certivote.votes import fixed_point
    >>> float(fixed_point(np.log([0.3, 0.7])).sum())
    1.0
    """
    units = np.floor(np.exp(log_weights) * _UNIT)
    units[np.argmax(units)] += _UNIT - units.sum()
    return units / _UNIT


def plurality(masses: Array) -> NDArray[np.intp]:
    """The vote: the class with the largest mass, ties to the smallest class. The one rule of the whole library.

    Parameters
    ----------
    masses : array of shape (n_rows, n_classes)

    Returns
    -------
    array of shape (n_rows,)
        Codes of the classes.

    Examples
    --------
    >>> import numpy as np
    >>> from certivote.votes import plurality
    >>> plurality(np.array([[0.2, 0.8], [0.5, 0.5]])).tolist()
    [1, 0]
    """
    if masses.shape[1] == 2:  # the same, and quicker
        return (masses[:, 1] > masses[:, 0]).astype(np.intp)
    return np.argmax(masses, axis=1)


def table_digest(table: NDArray[Any], size: int) -> str:
    """Of a table of numbers, the same for any order and width of its storage."""
    # Certificates record digests: these functions may never change.
    return join_pieces(table_pieces(table, size, 0))


def table_pieces(table: NDArray[Any], size: int, first: int) -> tuple[Piece, ...]:
    """What a table of numbers contributes to such a digest; ``size``: the largest whole number that it may hold."""
    kind = "<f8" if table.dtype.kind == "f" else "u1" if size < 256 else "<u4"
    return (make_piece(repr((table.shape[1:], size)).encode(), table.astype(kind, copy=False), first),)


class MatrixMap:
    """A linear map stored as a dense or sparse matrix, its image reshaped."""

    def __init__(self, matrix: "Array | scipy.sparse.csc_array", shape: tuple[int, ...]):
        self._matrix, self._transpose, self._shape = matrix, matrix.T, shape

    def forward(self, weights: Array) -> Array:
        return (self._matrix @ weights).reshape(self._shape)

    def adjoint(self, gradient: Array) -> Array:
        return self._transpose @ gradient.ravel()

    def column(self, voter: int) -> Array:
        return (self._matrix[:, [voter]] @ np.ones(1)).reshape(self._shape)
