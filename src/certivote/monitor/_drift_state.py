"""What a monitor of rows without labels has counted, as plain data, and back."""

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from certivote.monitor._evidence import Alarm
from certivote.monitor._monitor_state import changes_from, changes_of, logs_of
from certivote.monitor._past import MOST_POINTS, Thinned
from certivote.monitor._rows import checked_seed
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
from certivote.pipeline import GRID

if TYPE_CHECKING:
    from certivote.monitor._drift import DriftMonitor

__all__ = ["KIND", "content_of", "fill"]

KIND = "rows"
_LEAST = -100.0
"""Below the logarithm of any rank."""


def content_of(monitor: "DriftMonitor") -> dict[str, Any]:
    """All that must be remembered."""
    places = np.flatnonzero(monitor.new_scores)
    first, stride, kept = monitor.first_alarm, monitor.past.stride, monitor.past.kept
    return {
        "certificate": monitor.certificate_digest,
        "reference": monitor.reference_digest,
        "seed": f"{monitor.seed:x}",
        "chain": monitor.chain.hex(),
        "alpha": monitor.alpha,
        "scores": [[int(place), int(monitor.new_scores[place])] for place in places],
        "sums": monitor.sums.tolist(),
        "largest": monitor.largest,
        "first_alarm": None if first is None else [first.n, first.when],
        "changes": changes_of(monitor.changes),
        "stride": stride,
        "past": [[n, evidence, *logs_of([log])] for n, evidence, log in kept],
        "columns": [counts.tolist() for counts in monitor.column_counts],
        "total": list(asdict(monitor.total).values()),
        "calls": [list(call) for call in monitor.calls],
        "ids": digests_of(monitor.ids.digests),
        "ids_kind": monitor.ids.kind,
        "entities": digests_of(monitor.entities.digests),
    }


def fill(monitor: "DriftMonitor", content: dict[str, Any]) -> None:
    """Give a new monitor of the same model what was remembered; a ValueError if it cannot have been counted."""
    if set(content) != set(content_of(monitor)):
        raise ValueError("it has other entries than states have")
    if text(content["reference"], "reference") != monitor.reference_digest:
        raise ValueError("rows were compared with others than those of this model")
    monitor.begin(checked_seed(int(text(content["seed"], "seed"), 16)))
    chain = bytes.fromhex(text(content["chain"], "chain"))
    if len(chain) != len(monitor.chain):
        raise ValueError("what breaks ties is no digest")
    monitor.alpha = number(content["alpha"], 1e-300, 1.0, "alpha")
    for entry in items(content["scores"], "scores", most=GRID + 1):
        place, count = items(entry, "scores", 2)
        monitor.new_scores[whole(place, 0, GRID, "a score")] = whole(count, 1, LARGEST_COUNT, "a count")
    if len(content["scores"]) != np.count_nonzero(monitor.new_scores):
        raise ValueError("a score is there twice")
    monitor.total = total_from(content["total"])
    n = monitor.total.counted
    if monitor.n != n or monitor.total.entities != (n if monitor.groups else 0):
        raise ValueError("the rows do not add up")
    if not n and chain != monitor.chain:
        raise ValueError("ties were broken before there were rows")
    monitor.chain = chain
    _evidence(monitor, content, n)
    for counts, entry in zip(monitor.column_counts, items(content["columns"], "columns"), strict=True):
        counts[:] = [whole(each, 0, n, "a count") for each in items(entry, "a column", len(counts))]
        if counts.sum() > n:
            raise ValueError("the rows of a column do not add up")
    monitor.calls = told_from(content["calls"], n)
    monitor.ids, monitor.entities = (Seen(digests_from(content[name], name)) for name in ("ids", "entities"))
    monitor.ids.kind = text(content["ids_kind"], "ids_kind")
    if len(monitor.ids.digests) > monitor.total.rows or len(monitor.entities.digests) != monitor.total.entities:
        raise ValueError("the ids do not add up")


def _evidence(monitor: "DriftMonitor", content: dict[str, Any], n: int) -> None:
    """What it is now follows from the sums; what it was must be in order."""
    sums = [number(each, _LEAST * n, 0.0, "a sum") for each in items(content["sums"], "sums", 2)]
    # The product of p and 1-p is at most a quarter.
    if sum(sums) > -2.0 * math.log(2.0) * n + TOLERANCE * (1.0 + n):
        raise ValueError("ranks are surer than they can be")
    monitor.sums = np.array(sums)
    monitor.largest = number(content["largest"], 0.0, 1e300, "evidence")
    monitor.past = Thinned(whole(content["stride"], 1, LARGEST_COUNT, "stride"))
    earlier = 0
    for entry in items(content["past"], "past", most=MOST_POINTS):
        place, evidence, log = items(entry, "past", 3)
        earlier = whole(place, earlier + 1, n, "past")
        known = -math.inf if log is None else number(log, -1e300, 1e300, "evidence")
        monitor.past.kept.append((earlier, number(evidence, -1e300, 1e300, "evidence"), known))
        if earlier % monitor.past.stride:
            raise ValueError("moments of the past are not at their stride")
    slack = TOLERANCE * (1.0 + monitor.largest)
    evidences = [monitor.log_evidence, *(float(moment[1]) for moment in monitor.past.kept)]
    if max(evidences) > monitor.largest + slack:
        raise ValueError("the evidence was higher than what is remembered")
    monitor.changes = changes_from(content["changes"], monitor)
    if content["first_alarm"] is not None:
        place, when = items(content["first_alarm"], "alarm", 2)
        monitor.first_alarm = Alarm(whole(place, 1, n, "alarm"), 0, text(when, "alarm"))
    distance = monitor.largest - monitor.log_threshold
    if (monitor.first_alarm is None) != (distance < 0.0) and abs(distance) > slack:
        raise ValueError("there was an alarm or not, against the evidence")
