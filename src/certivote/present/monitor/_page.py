"""The page: what has happened since a certificate was made, with the evidence over time."""

import os
from dataclasses import dataclass
from typing import Any

from certivote.certificate import counted
from certivote.monitor import DriftMonitor, Monitor, Stream
from certivote.present._plain import plain_text
from certivote.present.monitor._curves import error_curve, evidence_curve
from certivote.present.monitor._evidence import evidence_of
from certivote.present.monitor._streams import StreamLine, state_of, stream_line
from certivote.present.page import Bar, Curve, axis, write_page

_DRAWN = 6
"""Statements of one promise that are drawn: those with the largest evidence."""
_COLUMNS = 20
"""Columns that are shown: those that have moved most."""


@dataclass(frozen=True)
class PromiseBlock:
    """The statements of one promise, and the evidence against those that are nearest to an alarm."""

    name: str
    lines: list[StreamLine]
    curve: Curve | None
    label: str


def write_monitor(
    monitor: Monitor | DriftMonitor, path: str | os.PathLike[str], *, title: str, command: str = ""
) -> None:
    """Write the page as one HTML file, which replaces an existing one when it is complete.

    Parameters
    ----------
    monitor : Monitor or DriftMonitor
    path : path
    title : str
    command : str
        How to certify the vote again, one line per command; empty to leave that out.
    """
    own, template = _of_rows(monitor) if isinstance(monitor, DriftMonitor) else _of_outcomes(monitor)
    given: dict[str, Any] = {
        "what": "After deployment",
        "title": plain_text(title),
        "alarm": monitor.alarm,
        "words": [plain_text(line) for line in str(monitor).splitlines()],
        "alpha": f"{monitor.alpha:g}",
        "sure": f"{100 * monitor.alpha:g} %",
        "assumptions": [plain_text(text) for text in monitor.assumptions],
        "records": _records(monitor, own["unit"]),
        "commands": [plain_text(line).split(" ") for line in command.splitlines()],
    }
    write_page(path, template, given | own)


def _of_outcomes(monitor: Monitor) -> tuple[dict[str, Any], str]:
    first, points = monitor.streams[0], monitor.streams[0].history
    own = {
        "unit": "groups" if monitor.groups else "outcomes",
        "n": first.n,
        "statements": counted(sum(stream.is_watched for stream in monitor.streams), "statement"),
        "line": stream_line(first),
        "evidence": evidence_of(first, "outcome") if first.is_watched else None,
        "errors": error_curve(points, first.bound) if points else None,
        "blocks": _blocks(monitor.streams[1:]),
    }
    return own, "monitor/outcomes.html.jinja"


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


def _of_rows(monitor: DriftMonitor) -> tuple[dict[str, Any], str]:
    state, mark = state_of(monitor.alarm_at, monitor.alarm_when, "row")
    moved = monitor.moved
    top, ticks = axis([1e-6, *(each.distance for each in moved)])
    own = {
        "unit": "groups" if monitor.groups else "rows",
        "n": monitor.n,
        "state": state,
        "mark": mark,
        "evidence": evidence_of(monitor, "row"),
        "candidates": monitor.candidates,
        "compared": "the new rows before it" if monitor.learned else f"{monitor.compared_with} and the new ones before",
        "moved": [
            Bar(
                plain_text(each.column),
                f"{each.distance:.3f}",
                f"by chance hardly above {each.by_chance:.3f}",
                "observed",
                0.0,
                min(each.distance / top, 1.0),
            )
            for each in moved[:_COLUMNS]
        ],
        "moved_axis": tuple((place, f"{place * top:.2g}") for place, _ in ticks),
        "unmoved": len(moved) > _COLUMNS,
    }
    return own, "monitor/rows.html.jinja"


def _records(monitor: Monitor | DriftMonitor, unit: str) -> list[tuple[str, str]]:
    total, calls = monitor.total, monitor.calls
    rows = [("Certificate (SHA-256)", plain_text(monitor.certificate_digest))]
    rows.append(("Rows given", f"{total.rows:,}, of which {total.counted:,} were counted"))
    if total.repeated:
        rows.append(("Given again", f"{counted(total.repeated, 'row')}, counted once"))
    if total.later:
        rows.append(("Left out", f"{counted(total.later, 'row')} of groups that had been counted before"))
    if calls:
        first, last = calls[0][1], calls[-1][1]
        rows.append((f"Told of {unit}", plain_text(f"from {first} to {last}" if first != last else first)))
    divided = "" if isinstance(monitor, DriftMonitor) else ", divided: half for the bound, half for other statements"
    rows.append(("Alpha", f"{monitor.alpha:g}{divided}"))
    return rows
