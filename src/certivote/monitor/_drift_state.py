"""What a monitor of rows without labels has counted, as a record, and back."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np

from certivote.codec import Count, Longest, Within
from certivote.monitor._evidence import MOST_POINTS, Alarm, History, Number, Short
from certivote.monitor._inputs import checked_seed
from certivote.monitor._state import (
    TOLERANCE,
    ChangeDetectorState,
    Log,
    State,
    log_from,
    log_of,
    restore_shared,
    shared_fields,
)
from certivote.pipeline import GRID

if TYPE_CHECKING:
    from certivote.monitor._drift import DriftMonitor

KIND = "rows"
_LEAST = -100.0
"""Below the logarithm of any rank."""
Evidence = Annotated[float, Within(-1e300, 1e300)]
Sum = Annotated[float, Within(-1e300, 0.0)]


@dataclass(frozen=True)
class DriftState(State):
    """All that must be remembered; of moments of the past, the rows, the evidence and the evidence of a change."""

    reference: Short
    seed: int
    chain: bytes
    scores: Annotated[tuple[tuple[Annotated[int, Within(0, GRID)], Number], ...], Longest(GRID + 1)]
    sums: tuple[Sum, Sum]
    largest: Annotated[float, Within(0.0, 1e300)]
    first_alarm: Alarm | None
    changes: ChangeDetectorState
    stride: Number
    past: Annotated[tuple[tuple[Number, Evidence, Log], ...], Longest(MOST_POINTS)]
    columns: tuple[tuple[Count, ...], ...]

    @classmethod
    def of(cls, monitor: "DriftMonitor") -> "DriftState":
        """As it is stored."""
        places = np.flatnonzero(monitor.new_scores)
        first, second = monitor.sums.tolist()
        return cls(
            **shared_fields(monitor),
            reference=monitor.reference_digest,
            seed=monitor.seed,
            chain=monitor.chain,
            scores=tuple(zip(places.tolist(), monitor.new_scores[places].tolist(), strict=True)),
            sums=(first, second),
            largest=monitor.largest,
            first_alarm=monitor.first_alarm,
            changes=ChangeDetectorState.of(monitor.changes),
            stride=monitor.past.stride,
            past=tuple((int(n), evidence, log_of(log)) for n, evidence, log in monitor.past.kept),
            columns=tuple(tuple(counts.tolist()) for counts in monitor.column_counts),
        )

    def fill(self, monitor: "DriftMonitor") -> None:
        """Give a new monitor of the same model what was remembered; a ValueError if it cannot have been counted."""
        if self.reference != monitor.reference_digest:
            raise ValueError("rows were compared with others than those of this model")
        monitor.begin(checked_seed(self.seed))
        for place, count in self.scores:
            monitor.new_scores[place] = count
        if len(self.scores) != np.count_nonzero(monitor.new_scores):
            raise ValueError("a score is there twice")
        n = self.total.counted
        if monitor.n != n or self.total.entities != (n if monitor.groups else 0):
            raise ValueError("the rows do not add up")
        if len(self.chain) != len(monitor.chain) or (not n and self.chain != monitor.chain):
            raise ValueError("ties were broken by another digest")
        monitor.chain = self.chain
        restore_shared(monitor, self, n)
        self._fill_evidence(monitor, n)
        for counts, own in zip(monitor.column_counts, self.columns, strict=True):
            if len(own) != len(counts) or sum(own) > n:
                raise ValueError("the rows of a column do not add up")
            counts[:] = own

    def _fill_evidence(self, monitor: "DriftMonitor", n: int) -> None:
        """What it is now follows from the sums; what it was must be in order."""
        # The product of p and 1-p is at most a quarter.
        if min(self.sums) < _LEAST * n or sum(self.sums) > -2.0 * math.log(2.0) * n + TOLERANCE * (1.0 + n):
            raise ValueError("ranks are surer than they can be")
        monitor.sums, monitor.largest = np.array(self.sums), self.largest
        places = [place for place, _, _ in self.past]
        if any(place % self.stride for place in places) or places != sorted({*places}) or max(places, default=0) > n:
            raise ValueError("moments of the past do not follow one another at their stride")
        monitor.past = History(self.stride, [(place, known, log_from(log)) for place, known, log in self.past])
        slack = TOLERANCE * (1.0 + self.largest)
        if max([monitor.log_evidence, *(known for _, known, _ in self.past)]) > self.largest + slack:
            raise ValueError("the evidence was higher than what is remembered")
        self.changes.give(monitor)
        if self.first_alarm is not None and (self.first_alarm.n > n or self.first_alarm.loss_sum):
            raise ValueError("there was an alarm before there were rows")
        monitor.first_alarm = self.first_alarm
        distance = self.largest - monitor.log_threshold
        if (self.first_alarm is None) != (distance < 0.0) and abs(distance) > slack:
            raise ValueError("there was an alarm or not, against the evidence")
