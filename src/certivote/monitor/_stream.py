"""The outcomes that one statement is about, and the evidence against it so far."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certivote.maths.evidence import ErrorBets, mean_upper
from certivote.monitor._evidence import Alarm, ChangeDetector, History, SequentialTest
from certivote.monitor._statements import ONE, Losses, WatchedStatement

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


class Stream(SequentialTest):
    """One statement that is watched, and what outcomes have said of it.

    Attributes
    ----------
    statement : WatchedStatement
    alpha : float
        Its share of the probability of a false alarm; 0 if it cannot be watched.
    n : int
        Outcomes that it is about; with entities, entities.
    """

    def __init__(self, statement: WatchedStatement, fractional: bool):
        self.statement, self.alpha = statement, statement.alpha
        self.n, self.loss_sum = 0, 0
        self._slack = 2 if fractional or statement.costs else 0
        """By how many multiples of ``2**-32`` a loss may have been rounded down."""
        self.highest = (0, 0)
        """Outcomes and the sum of their losses where the evidence was largest; 0 before the first outcome."""
        self.first_alarm: Alarm | None = None
        self.changes = ChangeDetector(self._bets.count if self.is_watched else 0)
        self.past = History()

    # What it is

    @property
    def name(self) -> str:
        """What is watched, in words: ``errors``, ``errors within class ill``."""
        return self.statement.name

    @property
    def promise(self) -> str:
        """The promise that the statement belongs to; ``bound`` for the certificate's own."""
        return self.statement.promise

    @property
    def bound(self) -> float:
        """The certified bound."""
        return self.statement.bound

    @property
    def is_watched(self) -> bool:
        """Whether it can be watched: a bound of 1 or more cannot be exceeded."""
        return self.statement.alpha > 0.0

    # What was seen

    @property
    def errors(self) -> float:
        """The sum of the losses: how many errors, where each outcome is right or wrong."""
        return self.loss_sum / ONE

    @property
    def error_so_far(self) -> float | None:
        """The mean loss so far; None before the first outcome."""
        return self.errors / self.n if self.n else None

    @property
    def error_limit(self) -> float:
        """Upper limit for the mean error until now, valid at all times together with probability ``1 - alpha``."""
        return float(self._limits(np.array([self.n]), np.array([self.loss_sum]))[0])

    # What it says

    @property
    def log_evidence(self) -> float:
        return float(self.evidence_at(np.array(self.n), np.array(self.loss_sum)))

    @property
    def log_evidence_max(self) -> float:
        return float(self.evidence_at(*map(np.array, self.highest)))

    @property
    def log_change(self) -> float:
        return float(self._bets.log_change(self.changes.logs)) if self.is_watched else -math.inf

    @property
    def history(self) -> tuple[Point, ...]:
        """At most 500 moments at equal distances, and now."""
        moments = self.past.until((self.n, self.loss_sum, self.log_change))
        n, loss_sums = (np.array([moment[place] for moment in moments], dtype=np.int64) for place in (0, 1))
        limits, evidence = self._limits(n, loss_sums).tolist(), self.evidence_at(n, loss_sums).tolist()
        return tuple(
            Point(int(own[0]), own[1] / ONE, limit, log, own[2])
            for own, limit, log in zip(moments, limits, evidence, strict=True)
        )

    # How it goes on

    def take(self, losses: Losses, when: str) -> None:
        """Count more outcomes, in this order."""
        for start in range(0, len(losses), _CHUNK):
            self._take(losses[start : start + _CHUNK], when)

    def _take(self, losses: Losses, when: str) -> None:
        n, loss_sums = self.n + np.arange(1, len(losses) + 1), self.loss_sum + np.cumsum(losses)
        log_change = np.full(len(losses), -np.inf)
        if self.is_watched:
            evidence, shares = self._bets.log_evidence(n, loss_sums / ONE), losses / ONE
            best = int(np.argmax(evidence))
            if evidence[best] > self.log_evidence_max:
                self.highest = int(n[best]), int(loss_sums[best])
            if self.first_alarm is None and evidence[best] >= self.log_threshold:
                first = int(np.argmax(evidence >= self.log_threshold))
                self.first_alarm = Alarm(int(n[first]), int(loss_sums[first]), when)
            log_change = self.changes.take(
                lambda logs, rows: self._bets.follow(logs, shares[rows]),
                self._bets.log_change,
                self.log_threshold,
                n,
                when,
            )
        self.n, self.loss_sum = int(n[-1]), int(loss_sums[-1])
        self.past.add(n, loss_sums, log_change)

    @cached_property
    def _bets(self) -> ErrorBets:
        return ErrorBets(self.bound)

    def evidence_at(self, n: NDArray[np.int64], loss_sums: Losses) -> NDArray[np.float64]:
        """Logarithm of the evidence after ``n`` outcomes with these losses, element by element."""
        if not self.is_watched:
            return np.zeros(np.shape(n))
        return np.where(np.asarray(n) > 0, self._bets.log_evidence(n, np.asarray(loss_sums) / ONE), 0.0)

    def _limits(self, n: NDArray[Any], loss_sums: Losses) -> NDArray[np.float64]:
        """Where nothing is watched, as if all of the probability were a twentieth."""
        level = math.log(self.alpha) if self.is_watched else math.log(0.05)
        return mean_upper(n, np.minimum((loss_sums + self._slack * n) / ONE, n), level)
