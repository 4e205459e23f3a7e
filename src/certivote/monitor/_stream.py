"""The outcomes that one statement is about, and the evidence against it so far."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certivote.maths.evidence import ErrorBets, mean_upper
from certivote.monitor._watched import ONE, Units, Watched

__all__ = ["MOST_POINTS", "Event", "Kept", "Point", "Stream"]

MOST_POINTS = 500
"""Moments of the past that are kept for pictures."""
_CHUNK = 512
"""Outcomes that are handled at a time."""


@dataclass(frozen=True)
class Point:
    """A moment of the past.

    Attributes
    ----------
    n : int
        Outcomes until then.
    errors : float
        Their losses in all.
    error_limit : float
        The upper limit for the mean error until then.
    log_evidence, log_change : float
        Natural logarithms of the evidence, and of the evidence of a change.
    """

    n: int
    errors: float
    error_limit: float
    log_evidence: float
    log_change: float


@dataclass(frozen=True)
class Event:
    """Something that happened once: after which outcome, at which sum of losses in units, and when that was told."""

    n: int
    units: int
    when: str


@dataclass(frozen=True)
class Kept:
    """What is kept of a moment: outcomes, the sum of their losses in units, the logarithm of the evidence of change."""

    n: int
    units: int
    log_change: float


class Stream:
    """One statement that is watched, and what outcomes have said of it.

    Attributes
    ----------
    watched : Watched
        The statement.
    n : int
        Outcomes that it is about; with entities, entities.
    """

    def __init__(self, watched: Watched, fractional: bool):
        self.watched = watched
        self.n, self.units = 0, 0
        self._slack = 2 if fractional or watched.costs else 0
        """Units by which a loss may have been rounded down."""
        self.highest = Event(0, 0, "")
        """Where the evidence was largest; 0 before the first outcome."""
        self.first_alarm: Event | None = None
        self.changes, self.last_change = 0, Event(0, 0, "")
        self.log_parts = self._bets.start() if self.is_watched else np.empty(0)
        self.stride, self.kept = 1, list[Kept]()

    # What it is

    @property
    def name(self) -> str:
        """What is watched, in words: ``errors``, ``errors within class ill``."""
        return self.watched.name

    @property
    def promise(self) -> str:
        """The promise that the statement belongs to; ``bound`` for the certificate's own."""
        return self.watched.promise

    @property
    def bound(self) -> float:
        """The certified bound."""
        return self.watched.bound

    @property
    def alpha(self) -> float:
        """Its share of the probability of a false alarm; 0 if it cannot be watched."""
        return self.watched.alpha

    @property
    def is_watched(self) -> bool:
        """Whether it can be watched: a bound of 1 or more cannot be exceeded."""
        return self.watched.alpha > 0.0

    # What was seen

    @property
    def errors(self) -> float:
        """The sum of the losses: how many errors, where each outcome is right or wrong."""
        return self.units / ONE

    @property
    def error_so_far(self) -> float | None:
        """The mean loss so far; None before the first outcome."""
        return self.errors / self.n if self.n else None

    @property
    def error_limit(self) -> float:
        """Upper limit for the mean error until now, valid at all times together with probability ``1 - alpha``."""
        return float(self._limits(np.array([self.n]), np.array([self.units]))[0])

    # What it says

    @property
    def log_threshold(self) -> float:
        """Logarithm of the evidence from which on there is an alarm: of 1/alpha."""
        return -math.log(self.alpha) * (1.0 + 2.0**-50) if self.is_watched else math.inf

    @property
    def log_evidence(self) -> float:
        """Logarithm of the evidence now."""
        return self._log_evidence(self.n, self.units)

    @property
    def e_value(self) -> float:
        """The evidence now: at most 1 in the mean, as long as the bound holds."""
        return _exp(self.log_evidence)

    @property
    def log_evidence_max(self) -> float:
        """Logarithm of the largest evidence so far, which decides about the alarm."""
        return self._log_evidence(self.highest.n, self.highest.units)

    @property
    def alarm(self) -> bool:
        """Whether the evidence has ever reached 1/alpha."""
        return self.first_alarm is not None

    @property
    def alarm_at(self) -> int | None:
        """After which outcome that was first so."""
        return self.first_alarm.n if self.first_alarm else None

    @property
    def alarm_when(self) -> str | None:
        """When that was told."""
        return self.first_alarm.when if self.first_alarm else None

    @property
    def log_change(self) -> float:
        """Logarithm of the evidence of a change (Shiryaev-Roberts) since the start, or since its last alarm."""
        return float(self._bets.log_change(self.log_parts)) if self.is_watched else -math.inf

    @property
    def change_value(self) -> float:
        """The evidence of a change: it reaches 1/alpha once in 1/alpha outcomes or less often, if the bound holds."""
        return _exp(self.log_change)

    @property
    def change_alarms(self) -> int:
        """How often it has reached 1/alpha; it starts anew after each time."""
        return self.changes

    @property
    def change_at(self) -> int | None:
        """After which outcome it last did so."""
        return self.last_change.n if self.changes else None

    @property
    def change_when(self) -> str | None:
        """When that was told."""
        return self.last_change.when if self.changes else None

    @property
    def history(self) -> tuple[Point, ...]:
        """At most 500 moments at equal distances, and now."""
        moments = [*self.kept]
        if self.n and (not moments or moments[-1].n < self.n):
            moments.append(Kept(self.n, self.units, self.log_change))
        n, units = (np.array([getattr(kept, name) for kept in moments], dtype=np.int64) for name in ("n", "units"))
        evidence = self._bets.log_evidence(n, units / ONE) if self.is_watched else np.zeros(len(n))
        return tuple(
            Point(kept.n, kept.units / ONE, limit, log, kept.log_change)
            for kept, limit, log in zip(moments, self._limits(n, units).tolist(), evidence.tolist(), strict=True)
        )

    # How it goes on

    def take(self, losses: Units, when: str) -> None:
        """Count more outcomes, in this order."""
        for start in range(0, len(losses), _CHUNK):
            self._take(losses[start : start + _CHUNK], when)

    def _take(self, losses: Units, when: str) -> None:
        n, units = self.n + np.arange(1, len(losses) + 1), self.units + np.cumsum(losses)
        log_change = np.full(len(losses), -np.inf)
        if self.is_watched:
            evidence = self._bets.log_evidence(n, units / ONE)
            best = int(np.argmax(evidence))
            if evidence[best] > self.log_evidence_max:
                self.highest = Event(int(n[best]), int(units[best]), when)
            if self.first_alarm is None and evidence[best] >= self.log_threshold:
                first = int(np.argmax(evidence >= self.log_threshold))
                self.first_alarm = Event(int(n[first]), int(units[first]), when)
            for places, path in self._changes(losses / ONE):
                log_change[places] = path
                if path[-1] >= self.log_threshold:
                    last = places.stop - 1
                    self.changes, self.last_change = self.changes + 1, Event(int(n[last]), int(units[last]), when)
        self.n, self.units = int(n[-1]), int(units[-1])
        self._keep(n, units, log_change)

    def _changes(self, losses: NDArray[np.float64]) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """The evidence of a change after each outcome, up to an alarm, after which it starts anew."""
        start = 0
        while start < len(losses):
            paths = self._bets.follow(self.log_parts, losses[start:])
            mixed = self._bets.log_change(paths)
            over = mixed >= self.log_threshold
            end = int(np.argmax(over)) + 1 if over.any() else len(mixed)
            self.log_parts = self._bets.start() if over.any() else paths[-1]
            yield slice(start, start + end), mixed[:end]
            start += end

    def _keep(self, n: NDArray[np.int64], units: Units, log_change: NDArray[np.float64]) -> None:
        """Moments at equal distances; if there are too many, every other one."""
        while True:
            due = np.flatnonzero(n % self.stride == 0)
            if len(self.kept) + len(due) <= MOST_POINTS:
                break
            self.stride *= 2
            self.kept = [kept for kept in self.kept if kept.n % self.stride == 0]
        rows = zip(n[due].tolist(), units[due].tolist(), log_change[due].tolist(), strict=True)
        self.kept.extend(Kept(*row) for row in rows)

    @cached_property
    def _bets(self) -> ErrorBets:
        return ErrorBets(self.bound)

    def _log_evidence(self, n: int, units: int) -> float:
        return float(self._bets.log_evidence(n, units / ONE)) if self.is_watched and n else 0.0

    def _limits(self, n: NDArray[Any], units: Units) -> NDArray[np.float64]:
        """Where nothing is watched, as if all of the probability were a twentieth."""
        level = math.log(self.alpha) if self.is_watched else math.log(0.05)
        return mean_upper(n, np.minimum((units + self._slack * n) / ONE, n), level)


def _exp(log: float) -> float:
    return math.exp(log) if log < 700.0 else math.inf
