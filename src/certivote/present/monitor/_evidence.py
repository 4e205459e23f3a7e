"""The section about evidence, which monitors of outcomes and of rows have in common."""

from dataclasses import dataclass

from certivote.certificate import number_down
from certivote.monitor import DriftMonitor, Stream
from certivote.present._plain import plain_text
from certivote.present.monitor._curves import evidence_curve
from certivote.present.monitor._streams import evidence_text
from certivote.present.page import Curve

Watch = Stream | DriftMonitor
Moment = tuple[int, float, float]


@dataclass(frozen=True)
class Evidence:
    """The evidence over time, and in words; ``curve`` is None before the first outcome.

    Attributes
    ----------
    curve : Curve or None
    now, threshold : str
    changes : str
        What the evidence of a change has done.
    mean : str
        How many outcomes there are between its false alarms in the mean, or more.
    """

    curve: Curve | None
    now: str
    threshold: str
    changes: str
    mean: str


def evidence_of(watch: Watch, unit: str) -> Evidence:
    """Of one that is watched."""
    points, curve = moments(watch), None
    if points:
        lines = [("", [(n, log) for n, log, _ in points]), ("other", [(n, change) for n, _, change in points])]
        curve = evidence_curve(lines, watch.log_threshold, points[-1][0])
    now, threshold = evidence_text(watch.log_evidence), evidence_text(watch.log_threshold)
    return Evidence(curve, now, threshold, _changes(watch, unit), number_down(1.0 / watch.alpha))


def moments(watch: Watch) -> list[Moment]:
    """The past: how many outcomes, and the logarithms of both kinds of evidence."""
    if isinstance(watch, DriftMonitor):
        return list(watch.history)
    return [(point.n, point.log_evidence, point.log_change) for point in watch.history]


def _changes(watch: Watch, unit: str) -> str:
    found = f"Evidence of a change for the worse since some unknown moment: {evidence_text(watch.log_change)} now."
    if not watch.change_alarms:
        return f"{found} It has never reached the line."
    times = "once" if watch.change_alarms == 1 else f"{watch.change_alarms:,} times"
    last = f"after {unit} {watch.change_at:,}, {plain_text(watch.change_when or '')}"
    return f"{found} It has reached the line {times}, last {last}; each time it starts anew."
