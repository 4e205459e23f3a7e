"""What a monitor has seen as text that Prometheus and its kin read: one line per number, with names and units."""

import math
from collections.abc import Callable, Sequence
from datetime import datetime

from certivote.monitor import Monitor, Stream
from certivote.present._plain import plain_text

__all__ = ["metrics_text"]

Metric = tuple[str, str, str, Callable[[Stream], float | None]]
_STREAM: Sequence[Metric] = (
    ("outcomes_total", "counter", "Outcomes that the statement is about.", lambda own: own.n),
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
    ("evidence", "gauge", "Evidence against the bound now.", lambda own: own.e_value),
    ("evidence_max", "gauge", "The largest evidence so far.", lambda own: _exp(own.log_evidence_max)),
    (
        "change_evidence",
        "gauge",
        "Evidence of a change for the worse (Shiryaev-Roberts).",
        lambda own: own.change_value,
    ),
    ("alarm_threshold", "gauge", "Evidence that raises an alarm.", lambda own: _exp(own.log_threshold)),
    ("alarm", "gauge", "1 if the bound was ever found not to hold, otherwise 0.", lambda own: float(own.alarm)),
    (
        "change_alarms_total",
        "counter",
        "How often the evidence of a change has reached the threshold.",
        lambda own: own.change_alarms,
    ),
)


def metrics_text(monitor: Monitor) -> str:
    """The text exposition format of Prometheus, version 0.0.4: all numbers of all statements.

    Names begin with ``certivote_``. Statements are told apart by the labels ``promise``, ``statement`` and ``number``;
    ``certificate`` has the first digits of the certificate's digest.
    """
    certificate = monitor.certificate_digest[:16]
    labels = [
        _labels(certificate=certificate, promise=own.promise, statement=own.name, number=str(place))
        for place, own in enumerate(monitor.streams)
    ]
    lines = []
    for name, kind, words, value in _STREAM:
        found = [(label, value(own)) for label, own in zip(labels, monitor.streams, strict=True)]
        lines += _metric(name, kind, words, [(label, number) for label, number in found if number is not None])
    whole = _labels(certificate=certificate)
    total = monitor.total
    lines += _metric("rows_total", "counter", "Rows that were given.", [(whole, total.rows)])
    lines += _metric("rows_repeated_total", "counter", "Rows given again, counted once.", [(whole, total.repeated)])
    lines += _metric("false_alarm_probability", "gauge", "Of any alarm, if all bounds hold.", [(whole, monitor.alpha)])
    lines += _metric("any_alarm", "gauge", "1 if there is any alarm, otherwise 0.", [(whole, float(monitor.alarm))])
    if (told := _seconds(monitor.calls[-1][1] if monitor.calls else "")) is not None:
        lines += _metric("last_update_timestamp_seconds", "gauge", "When outcomes were last told.", [(whole, told)])
    return "\n".join(lines) + "\n"


def _metric(name: str, kind: str, words: str, values: Sequence[tuple[str, float]]) -> list[str]:
    name = f"certivote_{name}"
    return [f"# HELP {name} {words}", f"# TYPE {name} {kind}", *(f"{name}{own} {_number(x)}" for own, x in values)]


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
