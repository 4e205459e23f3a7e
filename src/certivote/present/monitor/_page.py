"""The page: what outcomes have said since a certificate was made, with the evidence over time."""

import os
from dataclasses import dataclass
from typing import Any

from certivote.certificate import counted, number_down, percent_up
from certivote.monitor import Monitor, Stream
from certivote.present._plain import plain_text
from certivote.present.monitor._curves import error_curve, evidence_curve
from certivote.present.monitor._streams import StreamLine, evidence_text, stream_line
from certivote.present.page import Curve, write_page

__all__ = ["write_monitor"]

_DRAWN = 6
"""Statements of one promise that are drawn: those with the largest evidence."""


@dataclass(frozen=True)
class PromiseBlock:
    """The statements of one promise, and the evidence against those that are nearest to an alarm."""

    name: str
    lines: list[StreamLine]
    curve: Curve | None
    label: str


def write_monitor(monitor: Monitor, path: str | os.PathLike[str], *, title: str, command: str) -> None:
    """Write the page as one HTML file, which replaces an existing one when it is complete.

    Parameters
    ----------
    monitor : Monitor
    path : path
    title : str
    command : str
        How to certify the vote again, one line per command.
    """
    first, unit = monitor.streams[0], "entities" if monitor.groups else "outcomes"
    points = first.history
    given: dict[str, Any] = {
        "what": "After deployment",
        "title": plain_text(title),
        "alarm": monitor.alarm,
        "change": bool(first.change_alarms),
        "after": f"after {first.n:,} {unit}",
        "words": [plain_text(line) for line in str(monitor).splitlines()],
        "alpha": f"{monitor.alpha:g}",
        "sure": percent_up(monitor.alpha),
        "unit": unit,
        "statements": counted(sum(stream.is_watched for stream in monitor.streams), "statement"),
        "line": stream_line(first),
        "evidence": _evidence(first) if points and first.is_watched else None,
        "now": evidence_text(first.log_evidence),
        "largest": evidence_text(first.log_evidence_max),
        "threshold": evidence_text(first.log_threshold) if first.is_watched else "",
        "changes": _changes(first),
        "errors": error_curve(points, first.bound) if points else None,
        "blocks": _blocks(monitor.streams[1:]),
        "assumptions": [plain_text(text) for text in monitor.assumptions],
        "records": _records(monitor, unit),
        "commands": [plain_text(line).split(" ") for line in command.splitlines()],
        "mean": number_down(1.0 / first.alpha) if first.is_watched else "",
    }
    write_page(path, "monitor/page.html.jinja", given)


def _evidence(stream: Stream) -> Curve:
    points = stream.history
    lines = [
        ("", [(point.n, point.log_evidence) for point in points]),
        ("other", [(point.n, point.log_change) for point in points]),
    ]
    return evidence_curve(lines, stream.log_threshold, points[-1].n)


def _changes(stream: Stream) -> str:
    if not stream.is_watched:
        return ""
    found = f"Evidence of a change for the worse since some unknown moment: {evidence_text(stream.log_change)} now."
    if not stream.change_alarms:
        return f"{found} It has never reached the line."
    times = "once" if stream.change_alarms == 1 else f"{stream.change_alarms:,} times"
    last = f"after outcome {stream.change_at:,}, {plain_text(stream.change_when or '')}"
    return f"{found} It has reached the line {times}, last {last}; each time it starts anew."


def _blocks(streams: tuple[Stream, ...]) -> list[PromiseBlock]:
    """All promises in the order of the certificate."""
    found = []
    for promise in dict.fromkeys(stream.promise for stream in streams):
        own = [stream for stream in streams if stream.promise == promise]
        nearest = sorted((stream for stream in own if stream.is_watched and stream.n), key=_nearness)[:_DRAWN]
        curve, label = None, ""
        if nearest:
            last = max(stream.n for stream in nearest)
            lines = [
                ("other" if place else "", [(point.n, point.log_evidence) for point in stream.history])
                for place, stream in enumerate(nearest)
            ]
            curve = evidence_curve(lines, nearest[0].log_threshold, last)
            rest = f"; pale: the next {counted(len(nearest) - 1, 'statement')}" if len(nearest) > 1 else ""
            label = f"Strong: {plain_text(nearest[0].name)}{rest}"
        found.append(PromiseBlock(plain_text(promise), [stream_line(stream) for stream in own], curve, label))
    return found


def _nearness(stream: Stream) -> float:
    return stream.log_threshold - stream.log_evidence_max


def _records(monitor: Monitor, unit: str) -> list[tuple[str, str]]:
    total = monitor.total
    rows = [("Certificate (SHA-256)", plain_text(monitor.certificate_digest))]
    rows.append(("Rows given", f"{total.rows:,}, of which {total.counted:,} were counted"))
    if total.repeated:
        rows.append(("Given again", f"{counted(total.repeated, 'row')}, counted once"))
    if total.later:
        rows.append(("Left out", f"{counted(total.later, 'row')} of entities that had been counted before"))
    if monitor.calls:
        first, last = monitor.calls[0][1], monitor.calls[-1][1]
        rows.append((f"Told of {unit}", plain_text(f"from {first} to {last}" if first != last else first)))
    rows.append(("Alpha", f"{monitor.alpha:g}, divided: half for the bound, half for all other statements"))
    return rows
