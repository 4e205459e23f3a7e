"""Moments of the past, for pictures: as many as a picture can show, however long it was."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_POINTS = 500
Moment = tuple[float, ...]


class PastPoints:
    """Some of the moments after each outcome: at multiples of a stride, which is doubled when there are too many.

    Attributes
    ----------
    stride : int
    kept : list of tuples
        The number of the outcome, and whatever else is kept of the moment.

    Examples
    --------
    >>> past = PastPoints()
    >>> for start in range(0, 1500, 300):
    ...     past.add(np.arange(start + 1, start + 301), np.arange(300.0))
    >>> past.stride, len(past.kept), past.kept[-1]
    (4, 375, (1500, 299.0))
    """

    def __init__(self, stride: int = 1, kept: list[Moment] | None = None):
        self.stride, self.kept = stride, [] if kept is None else kept

    def add(self, n: NDArray[np.int64], *values: NDArray[Any]) -> None:
        """Moments that follow: the numbers of outcomes, and what is kept of each."""
        while True:
            due = np.flatnonzero(n % self.stride == 0)
            if len(self.kept) + len(due) <= MOST_POINTS:
                break
            self.stride *= 2
            self.kept = [moment for moment in self.kept if moment[0] % self.stride == 0]
        self.kept.extend(zip(*(each[due].tolist() for each in (n, *values)), strict=True))

    def until(self, now: Moment) -> list[Moment]:
        """All of them, and the present one."""
        return [*self.kept, now] if now[0] and (not self.kept or self.kept[-1][0] < now[0]) else self.kept
