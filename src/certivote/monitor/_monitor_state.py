"""What a monitor of outcomes has counted, as plain data, and back: nothing is believed that does not fit together."""

import math
from dataclasses import asdict
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from certivote.certificate import Fixed
from certivote.monitor._evidence import Alarm, Changes
from certivote.monitor._past import MOST_POINTS, Thinned
from certivote.monitor._seen import Seen
from certivote.monitor._state import (
    LARGEST_COUNT,
    TOLERANCE,
    digests_from,
    digests_of,
    items,
    number,
    text,
    told_from,
    total_from,
    whole,
)
from certivote.monitor._stream import Stream
from certivote.monitor._watched import KINDS, ONE, Watched
from certivote.theory.predictors import PREDICTORS

if TYPE_CHECKING:
    from certivote.monitor._monitor import Monitor

__all__ = ["KIND", "changes_from", "changes_of", "content_of", "fill", "logs_of"]

KIND = "outcomes"
_LABEL = 1 << 16
"""Characters of a class or a group."""
_MOST_STREAMS = 1 << 13


def content_of(monitor: "Monitor") -> dict[str, Any]:
    """All that must be remembered."""
    return {
        "certificate": monitor.certificate_digest,
        "classes": list(monitor.classes),
        "groups": monitor.groups,
        "certified": monitor.certified,
        "loss": monitor.loss,
        "alpha": monitor.alpha,
        "streams": [_stream(stream) for stream in monitor.streams],
        "total": list(asdict(monitor.total).values()),
        "calls": [list(call) for call in monitor.calls],
        "ids": digests_of(monitor.ids.digests),
        "ids_kind": monitor.ids.kind,
        "entities": digests_of(monitor.entities.digests),
    }


def _stream(stream: Stream) -> dict[str, Any]:
    first = stream.first_alarm
    return {
        "watched": asdict(stream.watched),
        "n": stream.n,
        "units": stream.units,
        "highest": list(stream.highest),
        "first_alarm": None if first is None else [first.n, first.units, first.when],
        "changes": changes_of(stream.changes),
        "stride": stream.past.stride,
        "past": [[n, units, _log(log)] for n, units, log in stream.past.kept],
    }


def changes_of(changes: Changes) -> list[Any]:
    """The evidence of a change, as plain data."""
    return [changes.count, changes.n, changes.when, logs_of(changes.logs.tolist())]


def logs_of(logs: list[float]) -> list[float | None]:
    """Logarithms, of which that of 0 is null."""
    return [_log(log) for log in logs]


def _log(log: float) -> float | None:
    return log if math.isfinite(log) else None


def fill(monitor: "Monitor", content: dict[str, Any]) -> None:
    """Give a new monitor what was remembered; a ValueError if it cannot have been counted."""
    if set(content) != _NAMES:
        raise ValueError("it has other entries than states have")
    monitor.certificate_digest = text(content["certificate"], "certificate")
    monitor.classes = tuple(text(label, "a class", _LABEL) for label in items(content["classes"], "classes"))
    monitor.groups, monitor.certified = (text(content[name], name, _LABEL) for name in ("groups", "certified"))
    if monitor.certified not in PREDICTORS:
        raise ValueError("nobody knows what was certified")
    monitor.loss, monitor.alpha = text(content["loss"], "loss"), number(content["alpha"], 1e-300, 1.0, "alpha")
    streams = items(content["streams"], "streams", most=_MOST_STREAMS)
    if not streams or len(monitor.classes) < 2:
        raise ValueError("nothing is watched")
    monitor.streams = tuple(_stream_from(entry, monitor, place == 0) for place, entry in enumerate(streams))
    if sum(stream.alpha for stream in monitor.streams) > monitor.alpha * (1.0 + TOLERANCE):
        raise ValueError("more than alpha is divided")
    monitor.total = total_from(content["total"])
    units = monitor.total.entities if monitor.groups else monitor.total.counted
    if monitor.streams[0].n != units or any(stream.n > units for stream in monitor.streams):
        raise ValueError("the outcomes do not add up")
    monitor.calls = told_from(content["calls"], units)
    monitor.ids, monitor.entities = (Seen(digests_from(content[name], name)) for name in ("ids", "entities"))
    monitor.ids.kind = text(content["ids_kind"], "ids_kind")
    if len(monitor.ids.digests) > monitor.total.rows or len(monitor.entities.digests) != monitor.total.entities:
        raise ValueError("the ids do not add up")


_NAMES = {
    "certificate",
    "classes",
    "groups",
    "certified",
    "loss",
    "alpha",
    "streams",
    "total",
    "calls",
    "ids",
    "ids_kind",
    "entities",
}


def _stream_from(entry: Any, monitor: "Monitor", is_first: bool) -> Stream:
    names = {"watched", "n", "units", "highest", "first_alarm", "changes", "stride", "past"}
    if not isinstance(entry, dict) or set(entry) != names:
        raise ValueError("a stream has other entries than streams have")
    watched = _watched_from(entry["watched"], len(monitor.classes))
    if is_first != (watched.promise == "bound"):
        raise ValueError("the bound is not what is watched first")
    stream = Stream(watched, bool(monitor.groups))
    stream.n = whole(entry["n"], 0, LARGEST_COUNT, "n")
    stream.units = whole(entry["units"], 0, stream.n * ONE, "units")
    n, units = items(entry["highest"], "highest", 2)
    stream.highest = whole(n, 0, stream.n, "highest"), whole(units, 0, stream.units, "highest")
    stream.past = Thinned(
        whole(entry["stride"], 1, LARGEST_COUNT, "stride"),
        [_moment(moment) for moment in items(entry["past"], "past", most=MOST_POINTS)],
    )
    stream.changes = changes_from(entry["changes"], stream)
    if entry["first_alarm"] is not None:
        n, units, when = items(entry["first_alarm"], "alarm", 3)
        stream.first_alarm = Alarm(
            whole(n, 1, stream.n, "alarm"), whole(units, 0, stream.units, "alarm"), text(when, "alarm")
        )
    _check_counts(stream)
    _check_evidence(stream)
    return stream


def _moment(entry: Any) -> tuple[float, ...]:
    n, units, log = items(entry, "past", 3)
    count = whole(n, 1, LARGEST_COUNT, "past")
    return count, whole(units, 0, count * ONE, "past"), _log_from(log)


def _log_from(value: Any) -> float:
    return -math.inf if value is None else number(value, -1e300, 1e300, "evidence")


def changes_from(value: Any, judged: Any) -> Changes:
    """The evidence of a change, which must be below the threshold: it starts anew when it is not."""
    count, n, when, logs = items(value, "changes", 4)
    found = Changes(len(judged.changes.logs))
    found.count = whole(count, 0, judged.n, "changes")
    found.n, found.when = (
        whole(n, min(found.count, 1), judged.n if found.count else 0, "changes"),
        text(when, "changes"),
    )
    found.logs = np.array([_log_from(log) for log in items(logs, "changes", len(found.logs))], dtype=float)
    judged.changes = found
    if judged.log_change >= judged.log_threshold:
        raise ValueError("the evidence of a change is beyond its threshold")
    return found


def _check_counts(stream: Stream) -> None:
    """Moments one after another, between which there are as many outcomes as losses at least."""
    moments = [(0, 0), *((int(n), int(units)) for n, units, _ in stream.past.kept), (stream.n, stream.units)]
    alarm = stream.first_alarm
    single = [stream.highest, *([(alarm.n, alarm.units)] if alarm else [])]
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
    moments = np.array([(stream.n, stream.units), *(moment[:2] for moment in stream.past.kept)], dtype=np.int64)
    known = stream.evidence_at(moments[:, 0], moments[:, 1])
    if np.any(known > highest + TOLERANCE * (1.0 + np.abs(known))):
        raise ValueError("the evidence was higher than what is remembered")
    slack = TOLERANCE * (1.0 + abs(highest))
    if (alarm is None) != (highest < stream.log_threshold) and abs(highest - stream.log_threshold) > slack:
        raise ValueError("there was an alarm or not, against the evidence")
    if alarm is not None:
        then = stream.evidence_at(np.array(alarm.n), np.array(alarm.units))
        if then < stream.log_threshold - slack:
            raise ValueError("there was an alarm against the evidence")


def _watched_from(entry: Any, n_classes: int) -> Watched:
    if not isinstance(entry, dict) or set(entry) != set(Watched.__dataclass_fields__):
        raise ValueError("what is watched has other entries than it should")
    promise, kind = (text(entry[name], name) for name in ("promise", "kind"))
    if (promise, kind) not in KINDS:
        raise ValueError("what is watched is unknown")
    columns = tuple(_fixed_from(each) for each in items(entry["columns"], "columns", most=64))
    groups = tuple(whole(each, 0, 1 << 20, "group") for each in items(entry["groups"], "groups", len(columns)))
    costs = tuple(whole(each, 0, ONE, "cost") for each in items(entry["costs"], "costs"))
    place = whole(entry["place"], -1, n_classes - 1, "place")
    threshold = None if entry["threshold"] is None else number(entry["threshold"], -math.inf, math.inf, "threshold")
    of_class = promise in ("by class", "precision", "sensitivity")
    if (promise == "subgroups") != bool(columns) or len(costs) != (n_classes**2 if promise == "costs" else 0):
        raise ValueError("what is watched lacks what it is about")
    if (of_class and place < 0) or (promise in ("abstention", "sensitivity", "sets") and threshold is None):
        raise ValueError("what is watched lacks what it is about")
    bound, alpha = number(entry["bound"], 0.0, 1e300, "bound"), number(entry["alpha"], 0.0, 1.0, "alpha")
    if alpha > 0.0 and not 0.0 < bound < 1.0:
        raise ValueError("a bound is watched that cannot be")
    label = text(entry["label"], "label", _LABEL)
    return Watched(promise, kind, label, place, threshold, bound, alpha, columns, groups, costs)


def _fixed_from(entry: Any) -> Fixed:
    if not isinstance(entry, dict) or set(entry) != set(Fixed.__dataclass_fields__):
        raise ValueError("a column is none")
    edges = tuple(
        number(each, -math.inf, math.inf, "an edge") for each in items(entry["numbers"], "edges", most=1 << 10)
    )
    words = tuple(text(each, "a word", _LABEL) for each in items(entry["words"], "words", most=1 << 10))
    return Fixed(text(entry["what"], "a column", _LABEL), edges, words)
