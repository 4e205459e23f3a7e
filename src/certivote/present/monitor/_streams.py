"""What was seen of one statement, in words and figures."""

import math
from dataclasses import dataclass

from certivote.certificate import number_down, percent_up, plain_percent
from certivote.monitor import Stream
from certivote.present._plain import plain_text
from certivote.present.page import power

__all__ = ["StreamLine", "evidence_text", "stream_line"]

_LARGE = math.log(1e6)


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
    seen = "no outcomes yet" if rate is None else f"{plain_percent(rate)} ({count} of {stream.n:,})"
    evidence = (
        f"{evidence_text(stream.log_evidence_max)}; alarm from {evidence_text(stream.log_threshold)} on"
        if stream.is_watched
        else "none: nothing can exceed this bound"
    )
    state, mark = "no alarm", "good"
    if stream.alarm:
        state, mark = f"alarm after outcome {stream.alarm_at:,}, {stream.alarm_when}", "alarm"
    elif not stream.is_watched:
        state, mark = "not watched", "partly"
    return StreamLine(
        name=plain_text(stream.name),
        seen=seen,
        limit=percent_up(stream.error_limit) if stream.n else "100.00 %",
        bound=percent_up(stream.bound),
        evidence=evidence,
        state=plain_text(state),
        mark=mark,
    )


def evidence_text(log: float) -> str:
    """Evidence by its natural logarithm, rounded down; what is large, by a power of ten.

    Examples
    --------
    >>> evidence_text(0.0), evidence_text(5.0), evidence_text(100.0)
    ('1', '148.41', '10⁴³')
    """
    return number_down(math.exp(log)) if log < _LARGE else power(math.floor(log / math.log(10)))
