"""What a monitor has seen as text that Prometheus and its kin read: one line per number, with names and units."""

import math
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from certivote.monitor import DriftMonitor, Monitor
from certivote.present._plain import plain_text

Metric = tuple[str, str, str, Callable[[Any], float | None]]


def _n(own: Any) -> float:
    return float(own.n)


_OF_STATEMENTS: Sequence[Metric] = (
    ("outcomes_total", "counter", "Outcomes that the statement is about.", _n),
    (
        "errors_total",
        "counter",
        "The sum of their losses: errors, where each is right or wrong.",
        lambda own: own.errors,
    ),
    ("error_ratio", "gauge", "Mean loss so far.", lambda own: own.error_so_far),
    (
        "error_limit_ratio",
        "gauge",
        "Upper limit for the mean loss until now, valid at all times together.",
        lambda own: own.error_limit if own.n else 1.0,
    ),
    ("certified_bound_ratio", "gauge", "What was certified: at most.", lambda own: own.bound),
)
_EVIDENCE: Sequence[Metric] = (
    ("evidence", "gauge", "Evidence now that something is wrong.", lambda own: own.e_value),
    ("evidence_max", "gauge", "The largest evidence so far.", lambda own: _exp(own.log_evidence_max)),
    ("change_evidence", "gauge", "Evidence of a change (Shiryaev-Roberts).", lambda own: own.change_value),
    ("alarm_threshold", "gauge", "Evidence that raises an alarm.", lambda own: _exp(own.log_threshold)),
    ("alarm", "gauge", "1 if the evidence has ever reached the threshold, otherwise 0.", lambda own: float(own.alarm)),
    (
        "change_alarms_total",
        "counter",
        "How often the evidence of a change has reached the threshold.",
        lambda own: own.change_alarms,
    ),
)


def metrics_text(monitor: Monitor | DriftMonitor) -> str:
    """The text exposition format of Prometheus, version 0.0.4: all numbers, of all statements.

    Names begin with ``certivote_``, and with ``certivote_drift_`` where rows are compared without labels. Statements
    are told apart by the labels ``promise``, ``statement`` and ``number``; ``certificate`` has the first digits of the
    certificate's digest.
    """
    whole, total = {"certificate": monitor.certificate_digest[:16]}, monitor.total
    if isinstance(monitor, DriftMonitor):
        prefix, shown = "certivote_drift_", [(_labels(**whole), monitor)]
        lines = _lines(prefix, [("rows_counted_total", "counter", "Rows that were counted.", _n), *_EVIDENCE], shown)
    else:
        prefix = "certivote_"
        streams = [
            (_labels(**whole, promise=own.promise, statement=own.name, number=str(place)), own)
            for place, own in enumerate(monitor.streams)
        ]
        lines = _lines(prefix, [*_OF_STATEMENTS, *_EVIDENCE], streams)
    told = _seconds(monitor.calls[-1][1] if monitor.calls else "")
    numbers: list[tuple[str, str, str, float | None]] = [
        ("rows_total", "counter", "Rows that were given.", total.rows),
        ("rows_repeated_total", "counter", "Rows given again, counted once.", total.repeated),
        ("false_alarm_probability", "gauge", "Of any alarm, if there is nothing to find.", monitor.alpha),
        ("any_alarm", "gauge", "1 if there is any alarm, otherwise 0.", float(monitor.alarm)),
        ("last_update_timestamp_seconds", "gauge", "When rows were last told of.", told),
    ]
    for name, kind, words, number in numbers:
        lines += _metric(prefix + name, kind, words, [(_labels(**whole), number)])
    return "\n".join(lines) + "\n"


def _lines(prefix: str, metrics: Sequence[Metric], shown: Sequence[tuple[str, Any]]) -> list[str]:
    """All metrics of some that are watched."""
    found = []
    for name, kind, words, value in metrics:
        found += _metric(prefix + name, kind, words, [(label, value(own)) for label, own in shown])
    return found


def _metric(name: str, kind: str, words: str, values: Sequence[tuple[str, float | None]]) -> list[str]:
    lines = [f"{name}{labels} {_number(value)}" for labels, value in values if value is not None]
    return [f"# HELP {name} {words}", f"# TYPE {name} {kind}", *lines] if lines else []


def _labels(**values: str) -> str:
    """Labels with their values escaped: backslashes, quotes, and, by being plain, line ends."""
    escaped = {name: plain_text(text).replace("\\", "\\\\").replace('"', '\\"') for name, text in values.items()}
    return "{" + ",".join(f'{name}="{text}"' for name, text in escaped.items()) + "}"


def _number(value: float) -> str:
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return repr(float(value)) if not float(value).is_integer() or abs(value) >= 2**53 else str(int(value))


def _exp(log: float) -> float:
    return math.exp(log) if log < 700.0 else math.inf


def _seconds(moment: str) -> float | None:
    try:
        return datetime.fromisoformat(moment).timestamp()
    except ValueError:
        return None
