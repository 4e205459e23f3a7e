"""What was seen of one statement, in words and figures."""

import math
from dataclasses import dataclass

from certivote.certificate import number_down, percent_up, plain_percent
from certivote.monitor import Stream
from certivote.present._plain import plain_text
from certivote.present.page import power

_FEW = math.log(1e3)
_MANY = math.log(1e6)


@dataclass(frozen=True)
class StreamLine:
    """One statement.

    Attributes
    ----------
    name : str
    seen : str
        How many of how many were wrong.
    limit : str
        The limit of the error, which holds at all times.
    bound : str
        What was certified.
    evidence : str
        The largest evidence so far, and what raises an alarm.
    state, mark : str
        Whether there is an alarm, and the style of that.
    """

    name: str
    seen: str
    limit: str
    bound: str
    evidence: str
    state: str
    mark: str


def stream_line(stream: Stream) -> StreamLine:
    """The statement and what outcomes say of it."""
    rate, errors = stream.error_so_far, stream.errors
    count = f"{errors:,.0f}" if float(errors).is_integer() else f"{errors:,.1f}"
    evidence, (state, mark) = "none: nothing can exceed this bound", ("not watched", "partly")
    if stream.is_watched:
        largest, line = evidence_text(stream.log_evidence_max), evidence_text(stream.log_threshold)
        evidence, (state, mark) = f"{largest}; alarm from {line} on", state_of(stream.alarm_at, stream.alarm_when)
    return StreamLine(
        name=plain_text(stream.name),
        seen="no outcomes yet" if rate is None else f"{plain_percent(rate)} ({count} of {stream.n:,})",
        limit=percent_up(stream.error_limit) if stream.n else "100.00 %",
        bound=percent_up(stream.bound),
        evidence=evidence,
        state=state,
        mark=mark,
    )


def state_of(alarm_at: int | None, alarm_when: str | None, what: str = "outcome") -> tuple[str, str]:
    """Whether there is an alarm, and the style of that."""
    if alarm_at is None:
        return "no alarm", "good"
    return plain_text(f"alarm after {what} {alarm_at:,}, {alarm_when}"), "alarm"


def evidence_text(log: float) -> str:
    """Evidence by its natural logarithm, rounded down; what is large, by a power of ten.

    Examples
    --------
    >>> evidence_text(0.0), evidence_text(5.0), evidence_text(10.0), evidence_text(100.0)
    ('1', '148.4', '22,026', '10⁴³')
    """
    if log >= _MANY:
        return power(math.floor(log / math.log(10)))
    value = math.exp(log)
    if log >= _FEW:
        return f"{math.floor(value):,}"
    return f"{math.floor(value * 10) / 10:.1f}".removesuffix(".0") if value > 10 else number_down(value)
