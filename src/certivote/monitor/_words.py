"""What outcomes say, in plain words."""

from typing import TYPE_CHECKING

from certivote.certificate import confidence, number_down, percent_up, plain_percent

if TYPE_CHECKING:
    from certivote.monitor._monitor import Monitor
    from certivote.monitor._stream import Stream

__all__ = ["summary"]


def summary(monitor: "Monitor") -> str:
    """A paragraph."""
    return "\n".join(_lines(monitor))


def _lines(monitor: "Monitor") -> list[str]:
    first, unit = monitor.streams[0], "entities" if monitor.groups else "outcomes"
    if first.error_so_far is None:
        return [f"No {unit} have been counted yet."]
    lines = [
        f"{first.n:,} {unit}: {plain_percent(first.error_so_far)} wrong so far, and with "
        f"{confidence(first.alpha or 0.05)} confidence at most {percent_up(first.error_limit)} at every moment until "
        f"now. Certified: {percent_up(first.bound)}."
    ]
    lines += [_alarm(stream) for stream in monitor.alarms]
    if not monitor.alarm:
        lines.append(
            f"No alarm: the evidence against the bound is {number_down(first.e_value)} now. An alarm needs "
            f"{number_down(1.0 / first.alpha)}."
            if first.is_watched
            else "No alarm."
        )
    if not first.is_watched:
        lines.append("The certified bound is 100 % or more: nothing can exceed it, so it cannot be watched.")
    return lines


def _alarm(stream: "Stream") -> str:
    return (
        f"ALARM: the bound of {percent_up(stream.bound)} on {stream.name} does not hold any more (since outcome "
        f"{stream.alarm_at:,}, told {stream.alarm_when}). If it held, such an alarm would ever come with a probability "
        f"of at most {percent_up(stream.alpha)}."
    )
