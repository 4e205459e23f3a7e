"""The nearest of some points whose coordinates are whole numbers, exactly."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_BLOCKS = 128
"""Parts of the points, which take turns; at most as many neighbours are found."""
_CELLS = 1 << 20
"""Distances that are in memory at a time."""
_NOWHERE = 2.0**52
"""A square that is larger than all others."""


class NearestPoints:
    """Finds the nearest points by looking at all; of several at one distance the first ones count.

    Parameters
    ----------
    points : array of int, of shape (n_points, n_columns)
        So small that floats hold all sums of products of coordinates exactly: then distances are the same on every
        machine, in any order of addition.

    Examples
    --------
    >>> import numpy as np
    >>> from certivote.voters._nearest import NearestPoints
    >>> NearestPoints(np.array([[5], [1], [3], [1]])).find(np.array([[0.0], [4.0]]), 3).tolist()
    [[1, 3, 2], [0, 2, 1]]
    """

    def __init__(self, points: NDArray[np.int32]):
        whole = points.astype(np.float64)
        # A last column for the squares, and whole blocks: points that fill up the last one are never neighbours.
        self._table = np.zeros((len(points) + -len(points) % _BLOCKS, points.shape[1] + 1))
        self._table[: len(points), :-1] = whole
        self._table[: len(points), -1] = np.einsum("ij,ij->i", whole, whole)
        self._table[len(points) :, -1] = _NOWHERE

    def find(self, Z: Array, count: int) -> NDArray[np.intp]:
        """Numbers of the ``count`` nearest points (there must be as many), nearest first; of shape (n_rows, count)."""
        found = np.empty((len(Z), count), dtype=np.intp)
        step = max(_CELLS // len(self._table), 1)
        room = np.empty((min(step, len(Z)), len(self._table)))
        for start in range(0, len(Z), step):
            rows = Z[start : start + step]
            # Squared distances but for the squares of the rows, which change no order.
            far = np.matmul(np.column_stack([-2.0 * rows, np.ones(len(rows))]), self._table.T, out=room[: len(rows)])
            found[start : start + step] = _smallest(far, count)
        return found


def _smallest(far: Array, count: int) -> NDArray[np.intp]:
    """The places of the smallest numbers in each row, in ascending order; of equal ones the first."""
    n_rows, width = far.shape
    # ``count`` of the blocks have a number that is not above this one: the smallest are not above it either.
    least = far.reshape(n_rows, width // _BLOCKS, _BLOCKS).min(axis=1)
    limit = np.partition(least, count - 1, axis=1)[:, count - 1, None]
    near = np.flatnonzero(far <= limit)
    row, place = np.divmod(near, width)
    order = np.lexsort((far.ravel()[near], row))  # equal ones stay in their order
    begins = np.searchsorted(row, np.arange(n_rows))
    return place[order][begins[:, None] + np.arange(count)]
