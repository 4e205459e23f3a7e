"""Sequential tests: their evidence, when it raised an alarm, how often there seemed to be a change, and its history."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from certivote.codec import LARGEST, Longest, Within, printable

Array = NDArray[np.float64]
Number = Annotated[int, Within(1, LARGEST)]
"""The number of an outcome, which is counted from 1."""
LossSum = Annotated[int, Within(0, (1 << 63) - 1)]
"""Sums of losses."""
Short = Annotated[str, Longest(64), printable]


@dataclass(frozen=True)
class Alarm:
    """After which outcome it was raised, the sum of the losses then (0 without losses), and when."""

    n: Number
    loss_sum: LossSum
    when: Short


class ChangeDetector:
    """The Shiryaev-Roberts form of some bets, which starts anew after each of its alarms.

    Attributes
    ----------
    logs : array
        Its logarithm for each of the bets.
    count : int
        Alarms so far.
    n, when : int and str
        After which outcome the last one was, and when that was told.
    """

    def __init__(self, n_bets: int):
        self.logs = np.full(n_bets, -np.inf)
        self.count, self.n, self.when = 0, 0, ""

    def take(
        self,
        follow: Callable[[Array, slice], Array],
        mix: Callable[[Array], Array],
        threshold: float,
        n: NDArray[np.int64],
        when: str,
    ) -> Array:
        """The logarithm of the mixture after each of some outcomes.

        Parameters
        ----------
        follow : function
            From the logarithms before some of the outcomes to those after each of them.
        mix : function
            From these to the logarithm of their mixture.
        threshold : float
            From which on there is an alarm.
        n : array of int
            The numbers of the outcomes.
        when : str
        """
        start, found = 0, np.empty(len(n))
        while start < len(n):
            paths = follow(self.logs, slice(start, None))
            mixed = mix(paths)
            over = mixed >= threshold
            is_alarm = bool(over.any())
            end = start + (int(np.argmax(over)) + 1 if is_alarm else len(mixed))
            found[start:end] = mixed[: end - start]
            self.logs = np.full(len(self.logs), -np.inf) if is_alarm else paths[-1]
            if is_alarm:
                self.count, self.n, self.when = self.count + 1, int(n[end - 1]), when
            start = end
        return found


class SequentialTest(ABC):
    """Evidence that may be looked at after every outcome, and what follows from it.

    Attributes
    ----------
    alpha : float
        The probability of a false alarm, for ever; 0 where there is nothing to watch.
    candidates : int
        How many candidates it was chosen among: the evidence of an alarm must be larger by this factor.
    first_alarm : Alarm or None
    changes : ChangeDetector
    """

    alpha: float
    candidates: int = 1
    first_alarm: Alarm | None
    changes: ChangeDetector

    @property
    @abstractmethod
    def log_evidence(self) -> float:
        """Natural logarithm of the evidence now."""

    @property
    @abstractmethod
    def log_evidence_max(self) -> float:
        """Natural logarithm of the largest evidence so far, which decides about the alarm."""

    @property
    @abstractmethod
    def log_change(self) -> float:
        """Natural logarithm of the evidence of a change (Shiryaev-Roberts) since the start or since its last alarm."""

    @property
    def log_threshold(self) -> float:
        """Natural logarithm of the evidence from which on there is an alarm: of candidates/alpha."""
        if not self.alpha > 0.0:
            return math.inf
        return (math.log(self.candidates) - math.log(self.alpha)) * (1.0 + 2.0**-50)

    @property
    def e_value(self) -> float:
        """The evidence now: at most 1 in the mean (of each candidate), as long as there is nothing to find."""
        return _exp(self.log_evidence)

    @property
    def change_value(self) -> float:
        """The evidence of a change now: as long as there is none, 1/alpha outcomes or more pass between its alarms."""
        return _exp(self.log_change)

    @property
    def alarm(self) -> bool:
        """Whether the evidence has ever reached candidates/alpha."""
        return self.first_alarm is not None

    @property
    def alarm_at(self) -> int | None:
        """After which outcome it first did."""
        return self.first_alarm.n if self.first_alarm else None

    @property
    def alarm_when(self) -> str | None:
        """When that was told."""
        return self.first_alarm.when if self.first_alarm else None

    @property
    def change_alarms(self) -> int:
        """How often the evidence of a change has reached candidates/alpha; it starts anew after each time."""
        return self.changes.count

    @property
    def change_at(self) -> int | None:
        """After which outcome it last did."""
        return self.changes.n if self.changes.count else None

    @property
    def change_when(self) -> str | None:
        """When that was told."""
        return self.changes.when if self.changes.count else None


def _exp(log: float) -> float:
    return math.exp(log) if log < 700.0 else math.inf


# Moments of the past, for pictures


MOST_POINTS = 500
Moment = tuple[float, ...]


class History:
    """Some of the moments after each outcome: at multiples of a stride, which is doubled when there are too many.

    Attributes
    ----------
    stride : int
    kept : list of tuples
        The number of the outcome, and what else is kept of the moment.

    Examples
    --------
    >>> past = History()
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
