"""What a monitor of outcomes has counted, as a record, and back: nothing is believed that does not fit together."""

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np

from certivote.codec import Count, Longest, Names, at
from certivote.monitor._evidence import MOST_POINTS, Alarm, History, LossSum, Number
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
from certivote.monitor._statements import KINDS, ONE, Label, WatchedStatement
from certivote.monitor._stream import Stream
from certivote.theory.predictors import PREDICTORS

if TYPE_CHECKING:
    from certivote.monitor._monitor import Monitor

KIND = "outcomes"


@dataclass(frozen=True)
class StreamState:
    """What is remembered of a stream; of moments of the past, outcomes, their losses and the evidence of a change."""

    statement: WatchedStatement
    n: Count
    loss_sum: LossSum
    highest: tuple[Count, LossSum]
    first_alarm: Alarm | None
    changes: ChangeDetectorState
    stride: Number
    past: Annotated[tuple[tuple[Number, LossSum, Log], ...], Longest(MOST_POINTS)]

    @classmethod
    def of(cls, stream: Stream) -> "StreamState":
        """As it is stored."""
        past = tuple((int(n), int(units), log_of(log)) for n, units, log in stream.past.kept)
        changes = ChangeDetectorState.of(stream.changes)
        own = stream.statement, stream.n, stream.loss_sum, stream.highest, stream.first_alarm, changes
        return cls(*own, stream.past.stride, past)

    def stream(self, n_classes: int, fractional: bool) -> Stream:
        """A stream that goes on from here; a ValueError if it cannot have been counted."""
        _check_watched(self.statement, n_classes)
        stream = Stream(self.statement, fractional)
        stream.n, stream.loss_sum = self.n, self.loss_sum
        stream.highest, stream.first_alarm = self.highest, self.first_alarm
        stream.past = History(self.stride, [(n, units, log_from(log)) for n, units, log in self.past])
        self.changes.give(stream)
        _check_counts(stream)
        _check_evidence(stream)
        return stream


@dataclass(frozen=True)
class MonitorState(State):
    """All that must be remembered."""

    classes: tuple[Label, ...]
    groups: Label
    certified: Annotated[str, Names(PREDICTORS)]
    loss: Literal["plurality", "half-weight"]
    streams: Annotated[tuple[StreamState, ...], Longest(1 << 13)]

    @classmethod
    def of(cls, monitor: "Monitor") -> "MonitorState":
        """As it is stored."""
        return cls(
            **shared_fields(monitor),
            classes=monitor.classes,
            groups=monitor.groups,
            certified=monitor.certified,
            loss=monitor.loss,
            streams=tuple(map(StreamState.of, monitor.streams)),
        )

    def fill(self, monitor: "Monitor") -> None:
        """Give a new monitor what was remembered; a ValueError if it cannot have been counted."""
        monitor.classes, monitor.groups = self.classes, self.groups
        monitor.certified, monitor.loss = self.certified, self.loss
        promises = [stream.statement.promise for stream in self.streams]
        if len(self.classes) < 2 or promises.count("bound") != 1 or promises[0] != "bound":
            raise ValueError("the bound is not what is watched first, once and among classes")
        streams = []
        for place, each in enumerate(self.streams):
            with at(f".streams[{place}]"):
                streams.append(each.stream(len(self.classes), bool(self.groups)))
        monitor.streams = tuple(streams)
        if sum(stream.alpha for stream in streams) > self.alpha * (1.0 + TOLERANCE):
            raise ValueError("more than alpha is divided")
        units = self.total.entities if self.groups else self.total.counted
        if streams[0].n != units or any(stream.n > units for stream in streams):
            raise ValueError("the outcomes do not add up")
        restore_shared(monitor, self, units)


def _check_counts(stream: Stream) -> None:
    """Moments one after another, between which there are as many outcomes as losses at least."""
    moments = [(0, 0), *((int(n), int(units)) for n, units, _ in stream.past.kept), (stream.n, stream.loss_sum)]
    alarm = stream.first_alarm
    single = [stream.highest, *([(alarm.n, alarm.loss_sum)] if alarm else [])]
    if any(int(moment[0]) % stream.past.stride for moment in stream.past.kept):
        raise ValueError("moments of the past are not at their stride")
    pairs = [*pairwise(moments), *((own, moments[-1]) for own in single)]
    pairs += [((0, 0), own) for own in single]
    for place, ((n, units), (later, more)) in enumerate(pairs):
        in_order = n < later or place >= len(moments) - 2
        if not in_order or not n <= later or not 0 <= more - units <= (later - n) * ONE:
            raise ValueError("moments of the past do not follow one another")


def _check_evidence(stream: Stream) -> None:
    """The evidence is computed anew from the counts: it must be as high, and alarm, as is remembered."""
    highest, alarm = stream.log_evidence_max, stream.first_alarm
    moments = np.array([(stream.n, stream.loss_sum), *(moment[:2] for moment in stream.past.kept)], dtype=np.int64)
    known = stream.evidence_at(moments[:, 0], moments[:, 1])
    if np.any(known > highest + TOLERANCE * (1.0 + np.abs(known))):
        raise ValueError("the evidence was higher than what is remembered")
    slack = TOLERANCE * (1.0 + abs(highest))
    if (alarm is None) != (highest < stream.log_threshold) and abs(highest - stream.log_threshold) > slack:
        raise ValueError("there was an alarm or not, against the evidence")
    if alarm is not None:
        then = stream.evidence_at(np.array(alarm.n), np.array(alarm.loss_sum))
        if then < stream.log_threshold - slack:
            raise ValueError("there was an alarm against the evidence")


def _check_watched(watched: WatchedStatement, n_classes: int) -> None:
    """Refuse what cannot be watched among this many classes."""
    promise = watched.promise
    if (promise, watched.kind) not in KINDS:
        raise ValueError("what is watched is unknown")
    of_class = promise in ("by class", "precision", "sensitivity")
    if (
        (promise == "subgroups") != bool(watched.columns)
        or len(watched.groups) != len(watched.columns)
        or len(watched.costs) != (n_classes**2 if promise == "costs" else 0)
        or not (0 if of_class else -1) <= watched.place < n_classes
        or (promise in ("abstention", "sensitivity", "sets") and watched.threshold is None)
    ):
        raise ValueError("what is watched lacks what it is about")
    if watched.alpha > 0.0 and not 0.0 < watched.bound < 1.0:
        raise ValueError("a bound is watched that cannot be")
