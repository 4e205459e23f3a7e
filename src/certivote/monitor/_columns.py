"""Which columns have moved: a hint of what may be behind an alarm, and no more than a hint."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certivote.pipeline import ColumnShares

_LEVEL = 0.01
"""Of columns that have not moved, about this share of all monitors would name one."""


@dataclass(frozen=True)
class Moved:
    """How far a column has moved.

    Attributes
    ----------
    column : str
    distance : float
        For numbers, the largest difference of the shares of rows up to some number (Kolmogorov-Smirnov); for words, of
        the shares that any set of words has (total variation). Missing values count like another word.
    by_chance : float
        What hardly any column exceeds that has not moved.
    """

    column: str
    distance: float
    by_chance: float


def moved(columns: tuple[ColumnShares, ...], counts: list[NDArray[np.int64]]) -> tuple[Moved, ...]:
    """The columns that have moved by more than chance explains, those that have moved most first.

    Rows are taken as independent. For each set of words, and for each range from below, Hoeffding's inequality limits
    what chance does.
    """
    found = []
    for column, own in zip(columns, counts, strict=True):
        then, now = int(column.seen.sum()), int(own.sum())
        if not now:
            continue
        difference = own / now - column.seen / then
        distance = _of_words(difference) if column.edges is None else _of_numbers(difference)
        sets = len(difference) * math.log(2.0) if column.edges is None else math.log(len(difference))
        nats = sets + math.log(2.0 * len(columns) / _LEVEL)
        found.append(Moved(column.name, distance, math.sqrt(0.5 * nats * (1.0 / then + 1.0 / now))))
    far = [each for each in found if each.distance > each.by_chance]
    return tuple(sorted(far, key=lambda each: each.by_chance - each.distance))


def _of_words(difference: NDArray[np.float64]) -> float:
    return float(0.5 * np.abs(difference).sum())


def _of_numbers(difference: NDArray[np.float64]) -> float:
    """The last place is that of missing values."""
    return float(max(np.abs(np.cumsum(difference[:-1])).max(), abs(difference[-1])))
