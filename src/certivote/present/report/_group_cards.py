"""Promises about groups of cases, and about what mistakes cost."""

import math
from itertools import pairwise

from certivote.certificate import (
    Certificate,
    PromiseRecord,
    number_up,
    percent_down,
    percent_up,
)
from certivote.present._statements import Pair, group_blocks, limits, rate
from certivote.present.page import axis
from certivote.present.report._cards import (
    Card,
    Interval,
    Row,
    Tile,
    at_most,
    guide_note,
    seen,
)
from certivote.present.report._test_rows import TestRows

_MOST = 12
"""Classes up to which the costs are shown as a table."""


def subgroups(certificate: Certificate, record: PromiseRecord, test: TestRows | None) -> Card:
    """The error within each group, from below and above, and how far groups are apart."""
    found = group_blocks(record)
    top, ticks = axis(limits(pair)[1] for _, pairs in found for pair in pairs)
    intervals = [_interval(pair, top) for _, pairs in found for pair in pairs]
    tiles = [tile for name, pairs in found for tile in _gap(name, [pair for pair in pairs if pair[0].n])]
    words = [
        "How often it is wrong within each group of cases. The bar is the range in which the group's error is "
        "certified to be, the blue mark is what was seen. A wide bar means that the group has few "
        "rows, not that it is treated badly."
    ]
    if certificate.groups:
        words.append("These are means over new groups that have such cases, of a random one of these.")
    return Card(
        "subgroups",
        "Groups " + ", ".join(f"by {name}" for name, _ in found) if len(found) < 4 else "Groups of cases",
        "",
        words,
        tiles,
        intervals=intervals,
        axis=ticks,
        notes=guide_note(record, "The groups were"),
    )


def _interval(pair: Pair, top: float) -> Interval:
    (low, high), share = limits(pair), rate(pair[0])
    figure = f"{percent_down(low)} to {percent_up(high)}"
    place = None if share is None else min(share / top, 1.0)
    return Interval(pair[0].label, figure, seen(pair[0]), low / top, high / top, place)


def _gap(name: str, pairs: list[Pair]) -> list[Tile]:
    """By how much the errors of groups differ, at most and at least; nothing for fewer than two."""
    if len(pairs) < 2:
        return []
    lows, highs = zip(*map(limits, pairs), strict=True)
    most = min(math.nextafter(max(highs) - min(lows), 2.0), 1.0)
    least = max(math.nextafter(max(lows) - min(highs), -1.0), 0.0)
    note = f"and by at least {_points(percent_down(least))}" if least else "they may be the same"
    return [Tile(f"Errors of groups by {name} differ by", "at most", _points(percent_up(most)), note)]


def _points(percent: str) -> str:
    return f"{percent.removesuffix(' %')} points"


def costs(certificate: Certificate, record: PromiseRecord, test: TestRows | None) -> Card:
    """What a case costs in the mean, and the costs."""
    if record.value is None:
        raise ValueError("a promise about costs has a value")
    matrix = next(each for each in record.fixed if each.what == "costs")
    classes, size = matrix.words, len(matrix.words)
    rows = [matrix.numbers[k * size : (k + 1) * size] for k in range(size)]
    table = (("true class", *classes), *((name, *map(_plain, row)) for name, row in zip(classes, rows, strict=True)))
    words = [
        "Mistakes that differ in what they cost. What is bounded is the mean cost of a new case, in the unit of the "
        "costs that were given; right answers cost nothing unless that was given too."
    ]
    seen_cost = _seen_cost(record, max(matrix.numbers, default=0.0))
    note = "" if seen_cost is None else f"seen: {_plain(seen_cost)}"
    tiles = [Tile("Mean cost of a case", "at most", number_up(record.value), note)]
    levels = [entry for entry in record.statements if entry.kind == "cost at least"]
    top, _ = axis([0.0, *(entry.bound for entry in levels)])
    cells = [Row(f"{_plain(entry.threshold or 0.0)} or more", (at_most(entry, top),)) for entry in levels]
    return Card(
        "costs",
        "What mistakes cost",
        "",
        words,
        tiles,
        head=("A case costs", "How often") if cells else (),
        rows=cells,
        matrix=table if size <= _MOST else (),
        notes=guide_note(record, "The form of the bound was"),
    )


def _seen_cost(record: PromiseRecord, largest: float) -> float | None:
    """The mean cost of the certification rows, or of groups."""
    shares = [rate(entry) for entry in record.statements]
    if None in shares or not shares:
        return None
    known = [share for share in shares if share is not None]
    if record.statements[0].kind == "cost":
        return largest * record.statements[0].risks[0]
    steps = pairwise([0.0, *((entry.threshold or 0.0) for entry in record.statements)])
    return sum((high - low) * share for (low, high), share in zip(steps, known, strict=True))


def _plain(value: float) -> str:
    return f"{value:.4g}"
