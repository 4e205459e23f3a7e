"""How a monitor is shown: in plain words, and as a page that the room of views makes when it is asked for."""

import os
from decimal import ROUND_CEILING, Context
from typing import TYPE_CHECKING, cast

from certivote.certificate import confidence, number_down, percent_up, plain_percent

if TYPE_CHECKING:
    from certivote.monitor._drift import DriftMonitor
    from certivote.monitor._monitor import Monitor
    from certivote.monitor._stream import Stream


_LONGEST = 200
"""Characters of a name."""


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
        f"of at most {share(stream.alpha)}."
    )


def drift_summary(monitor: "DriftMonitor") -> str:
    """What new rows say."""
    unit = "entities" if monitor.groups else "rows"
    if not monitor.n:
        return "No rows have been counted yet."
    if not monitor.alarm:
        return (
            f"{monitor.n:,} new {unit}: no alarm. The evidence that they look different from {monitor.compared_with} "
            f"is {number_down(monitor.e_value)} now; an alarm needs {number_down(monitor.candidates / monitor.alpha)}."
        )
    lines = [
        f"{monitor.n:,} new {unit}. ALARM: the rows look different from {monitor.compared_with} (since number "
        f"{monitor.alarm_at:,}, told {monitor.alarm_when}). If they came from the same population, such an alarm would "
        f"ever come with a probability of at most {share(monitor.alpha)}. It does not say that the error has grown: "
        "only outcomes can."
    ]
    names = [plain(each.column) for each in monitor.moved[:5]]
    if names:
        lines.append(f"A hint: the values of these columns have moved most: {', '.join(names)}.")
    return "\n".join(lines)


def share(probability: float) -> str:
    """A small probability as a percentage, rounded up.

    Examples
    --------
    >>> share(0.01), share(0.01 / 34)
    ('1 %', '0.02942 %')
    """
    known = Context(prec=4, rounding=ROUND_CEILING).create_decimal(f"{probability:.12g}")
    return f"{(100 * known).normalize():f} %"


def plain(text: str) -> str:
    """Text that a terminal can show, from a file that may be a stranger's."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text[:_LONGEST])


def assumptions(groups: str, is_random: bool, loss: str) -> tuple[str, ...]:
    """What must be true of how outcomes become known, and what they are about."""
    found = [_SELECTION, _RECORDED]
    if groups:
        found.append(_ENTITIES)
    if is_random:
        found.append(_RANDOM)
    if loss != "plurality":
        found.append(_HALF)
    return tuple(found)


_SELECTION = (
    "Which outcomes become known, and in which order, has nothing to do with whether the answers were right. If labels "
    "arrive only for some cases, such as those that were treated or accepted, this is about such cases."
)
_RECORDED = (
    "The answers are those of the certified classifier, and the true classes are recorded as they were when it was "
    "certified."
)
_ENTITIES = "An entity is judged by its rows in the update in which it first appears, as if these were all that it has."
_RANDOM = "Each answer is that of a vote which was drawn for it: asked again, another may be given."
_HALF = (
    "The bound is on cases where wrong voters hold half of the weight. Wrong answers are among these, and outcomes "
    "show no others, so that alarms come later than the bound itself would allow."
)


class Views:
    """What can be shown as a page."""

    def report(self, path: str | os.PathLike[str], *, title: str = "A certified model", command: str = "") -> None:
        """Write one web page that works offline: the evidence over time, and what was counted.

        Parameters
        ----------
        path : path
            The HTML file. An existing one is replaced when the new one is complete.
        title : str
        command : str
            How a reader certifies the vote again, with the names of the files as they will find them; empty to leave
            that out.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from certivote import Monitor, certify_predictions
        >>> certificate = certify_predictions(["ill", "well"] * 100, ["ill", "well"] * 99 + ["well", "well"])
        >>> monitor = Monitor(certificate)
        >>> _ = monitor.update(["ill", "well"], ["ill", "ill"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     monitor.report(f"{folder}/monitor.html", title="Triage")
        ...     "after 2 outcomes" in Path(f"{folder}/monitor.html").read_text(encoding="utf-8")
        True
        """
        from certivote.present import write_monitor

        write_monitor(cast("Monitor | DriftMonitor", self), path, title=title, command=command)
