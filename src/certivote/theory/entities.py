"""Rows that belong together: several of one patient, machine or document.

Entities are independent of one another, their rows are not. So the loss of an entity is the share of its rows that are
wrong, and what is certified is the mean of that over new entities; see :ref:`the theory page <entities>`.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

__all__ = ["Entities", "mean_loss", "mean_of", "mean_slope", "spread"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Entities:
    """Which rows belong together.

    Attributes
    ----------
    codes : array of int
        Of each row, the number of its entity: from 0 on, each occurring, in the order in which bets are placed on them
        (which was fixed without looking at labels or votes).

    Examples
    --------
    >>> patients = Entities(np.array([0, 1, 1, 2]))
    >>> patients.count, patients.shares.tolist()
    (3, [0.3333333333333333, 0.16666666666666666, 0.16666666666666666, 0.3333333333333333])
    >>> patients.losses(np.array([True, True, False, False])).tolist()
    [1.0, 0.5, 0.0]
    """

    codes: NDArray[np.intp]

    @cached_property
    def sizes(self) -> NDArray[np.intp]:
        """Rows of each entity."""
        return np.bincount(self.codes)

    @property
    def count(self) -> int:
        """How many entities there are."""
        return len(self.sizes)

    @cached_property
    def shares(self) -> Array:
        """What each row counts for in the mean over entities of the means over their rows; the sum is 1."""
        return 1.0 / (self.count * self.sizes[self.codes])

    def losses(self, wrong: NDArray[np.bool_ | np.floating]) -> Array:
        """Of each entity, the share of its rows that are wrong."""
        return np.bincount(self.codes, weights=wrong, minlength=self.count) / self.sizes

    def among(self, rows: NDArray[np.intp]) -> "Entities":
        """The entities of some rows, and of these rows only, in the same order."""
        return Entities(np.unique(self.codes[rows], return_inverse=True)[1].reshape(-1))


def mean_of(values: Array, shares: Array | None) -> float:
    """The mean over rows; with shares, what each row counts for, over entities."""
    return float(values.mean()) if shares is None else float(np.dot(shares, values))


def spread(values: Array, shares: Array | None) -> Array:
    """What each row adds to :func:`mean_of`, for derivatives."""
    return values / len(values) if shares is None else values * shares


def mean_slope(slopes: Array, shares: Array | None) -> float:
    """As :func:`mean_of`, for derivatives of values in something that all rows have in common."""
    return float(slopes.sum() / len(slopes)) if shares is None else float(np.dot(shares, slopes))


def mean_loss(losses: Array) -> float:
    """The mean of the losses of entities, rounded the same way in any order."""
    return math.fsum(losses.tolist()) / len(losses)
