"""What the report says, section by section: numbers and sentences, no markup."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from certivote.bounds import holdout
from certivote.breakdown import bound_at, least_bound, observed_rate, rows_needed, steps, vote_weights
from certivote.records import ClassBound, Record
from certivote.wording import copies, observed, percent_up

__all__ = [
    "FreshRows",
    "at_a_glance",
    "by_class",
    "comparison_note",
    "data_needed",
    "delta_curve",
    "origin",
    "premises",
    "weights",
]

_DELTAS = np.geomspace(1e-6, 0.5, 201)
_TARGETS = tuple(k * 10.0**e for e in (-1, -2, -3, -4) for k in (9, 8, 7, 6, 5, 4, 3, 2.5, 2, 1.5, 1.2, 1))
_BARS = 40
"""Most bars in the picture of the weights."""


class FreshRows:
    """Rows that neither taught nor certified: their true classes and the answers they got."""

    def __init__(self, truth: Sequence[Any], answers: Sequence[Any]):
        if len(truth) != len(answers) or not len(truth):
            raise ValueError(
                f"truth and answers must be as long as one another and not empty; got {len(truth)} and {len(answers)}."
            )
        self.n = len(truth)
        self.counts = Counter((str(true), str(said)) for true, said in zip(truth, answers, strict=True))
        self.errors = sum(count for (true, said), count in self.counts.items() if true != said)

    def of_class(self, label: str, kind: str) -> tuple[int, int]:
        """Errors and rows of a class, or false alarms and rows of the others."""
        wrong = rows = 0
        for (true, said), count in self.counts.items():
            if (true == label) == (kind == "error"):
                rows += count
                wrong += count * ((said == label) == (kind != "error"))
        return wrong, rows


@dataclass(frozen=True)
class Bar:
    """A labelled length from ``start`` to ``end``, as shares of the axis."""

    name: str
    figure: str
    note: str
    kind: str
    start: float
    end: float


@dataclass(frozen=True)
class Curve:
    """Points as shares of both axes, with the labels of the axes: (share, text)."""

    points: tuple[tuple[float, float], ...]
    across: tuple[tuple[float, str], ...]
    up: tuple[tuple[float, str], ...]

    @property
    def path(self) -> str:
        """The curve in an SVG view box of 1000 by 1000."""
        return "M" + "L".join(f"{1000 * x:.1f} {1000 * (1 - y):.1f}" for x, y in self.points)


def plain_percent(value: float, places: int = 2) -> str:
    """A rate that was observed."""
    return f"{100 * value:.{places}f} %"


_ENDS = {1.0: 4, 1.5: 3, 2.0: 4, 3.0: 3, 4.0: 4, 5.0: 5, 6.0: 3, 8.0: 4, 10.0: 4}
"""Round ends of an axis, up to powers of ten, and into how many parts each is divided."""


def _axis(values: Iterable[float]) -> tuple[float, tuple[tuple[float, str], ...]]:
    """The end of an axis of probabilities for these values, at most 1, and its ticks."""
    top = min(max(*values, 1e-6), 1.0)
    unit = 10.0 ** math.floor(math.log10(top))
    end = next(end for end in _ENDS if end * unit >= top * (1 - 1e-9))
    parts = _ENDS[end]
    return end * unit, tuple((k / parts, f"{100 * end * unit * k / parts:.3g} %") for k in range(parts + 1))


def _small(value: float) -> str:
    """A probability, by a power of ten where it is small."""
    if value >= 1e-3:
        return f"{value:.2g}"
    digits, power = f"{value:.1e}".split("e")
    raised = str(int(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10{raised}" if digits == "1.0" else f"{digits}·10{raised}"


def at_a_glance(record: Record, test: FreshRows | None) -> tuple[list[Bar], tuple[tuple[float, str], ...]]:
    """The bound beside what was observed, and the axis."""
    part, rate = record.deployed_part, observed_rate(record)
    rows = [("Seen on certified rows", rate, plain_percent(rate), observed(part), "observed")]
    if test is not None:
        share = test.errors / test.n
        note = f"{test.errors:,} of {test.n:,} rows, said to have neither taught nor certified"
        rows.append(("Seen on test rows", share, plain_percent(share), note, "test"))
    note = f"with {100 * (1 - record.delta):g} % confidence; {record.method}, {record.theorem}"
    rows.append(("Certified: at most", record.bound, percent_up(record.bound), note, "bound"))
    if record.average_bound is not None:
        own = f"average over the votes of all {len(record.parts)} parts; one of them is deployed"
        rows.append(
            ("Average of all votes: at most", record.average_bound, percent_up(record.average_bound), own, "pale")
        )
    note = (
        f"the same voters with weights from before the certified rows: {part.holdout_errors:,} errors. For comparison; "
        "choosing between the two now would void both"
    )
    rows.append(("Plain hold-out: at most", part.holdout_bound, percent_up(part.holdout_bound), note, "pale"))
    top, ticks = _axis(value for _, value, _, _, _ in rows)
    bars = [Bar(name, figure, note, kind, 0.0, min(value / top, 1.0)) for name, value, figure, note, kind in rows]
    return bars, ticks


_STEP_WORDS = {
    "observed": ("Observed error rate", "what the vote gets wrong on the certified rows"),
    "surrogate": ("Surrogate", "this method bounds a larger quantity than the error itself"),
    "confidence": ("Confidence, sample size", "to hold with the stated probability, on so many rows"),
    "rest": ("Confidence, constant, size", "to hold with the stated probability, on so many rows"),
    "constant": ("Constant", "what the theorem adds whatever was learned"),
    "grid": ("Choices", "several draws or orders to choose from"),
    "prior": ("Hyper-prior", "for choosing it among several"),
    "draw": ("Draw", "for weights that were learned from the certified rows, at the one draw"),
    "weights": ("Weights", "for weights that were learned from the certified rows"),
}


def origin(record: Record) -> tuple[list[Bar], tuple[tuple[float, str], ...]]:
    """Where the bound comes from, in nats and in percentage points, and the axis."""
    found = steps(record)
    top, ticks = _axis(step.end for step in found)
    bars = []
    for step in found:
        name, note = _STEP_WORDS.get(step.what, (step.what, ""))
        points = 100 * (step.end - step.start)
        figure = f"{points:+.2f} points" if step.what != "observed" else plain_percent(step.end)
        if step.nats is not None:
            note = f"{step.nats:.2f} nats: {note}"
        low, high = sorted((min(step.start / top, 1.0), min(step.end / top, 1.0)))
        bars.append(Bar(name, figure, note, "observed" if step.what == "observed" else "step", low, high))
    part = record.deployed_part
    total = f"{part.penalty + part.confidence:.2f} nats in all, on {part.n:,} rows"
    bars.append(Bar("Bound", percent_up(record.bound), total, "bound", 0.0, min(record.bound / top, 1.0)))
    return bars, ticks


def delta_curve(record: Record) -> tuple[Curve, dict[str, Any]]:
    """The bound as a function of delta, and what the slider looks up."""
    deltas = np.unique(np.append(_DELTAS, record.delta))
    values = [min(bound_at(record, delta=float(delta)), 1.0) for delta in deltas]
    top, ticks = _axis(values)
    low, span = math.log(deltas[0]), math.log(deltas[-1] / deltas[0])
    points = tuple(((math.log(d) - low) / span, v / top) for d, v in zip(deltas.tolist(), values, strict=True))
    marks = (1e-6, 1e-4, 0.01, 0.5)
    across = tuple(((math.log(mark) - low) / span, _small(mark)) for mark in marks)
    recorded = int(np.flatnonzero(deltas == record.delta)[0])
    shown = [percent_up(value) for value in values]
    shown[recorded] = percent_up(min(record.bound, 1.0))
    lookup = {
        "x": [round(100 * x, 3) for x, _ in points],
        "y": [round(100 * y, 3) for _, y in points],
        "delta": [_small(d) if d != record.delta else f"{d:g}" for d in deltas.tolist()],
        "bound": shown,
        "recorded": recorded,
    }
    return Curve(points, across, ticks), lookup


def data_needed(record: Record) -> tuple[Curve, tuple[float, float], list[tuple[str, str, str]], str]:
    """The bound as the rows grow, where it is now, what a few targets would take, and what rows alone cannot do."""
    part, least = record.deployed_part, least_bound(record)
    floor = f"With this error rate no number of rows brings the bound below {percent_up(min(least, 1.0))}."
    possible = [target for target in _TARGETS if least * 1.01 < target < record.bound]
    chosen = np.unique(np.linspace(0, len(possible) - 1, min(len(possible), 4)).round().astype(int))
    table = []
    for target in (possible[k] for k in chosen):
        rows = rows_needed(record, target)
        if rows is None:
            table.append((f"{100 * target:g} %", "over a billion", ""))
        else:
            table.append((f"{100 * target:g} %", f"{_round_up(rows):,}", f"{rows / part.n:.1f} times"))
    sizes = np.geomspace(max(part.n / 4, 2), max(part.n, 2) * 100, 81)
    if part.errors and record.certified != "the mean vote":
        # Sizes with a whole number of errors, or the curve would show their rounding.
        rate = part.errors / part.n
        sizes = np.maximum(np.round(rate * sizes), 1) / rate + 1e-9
    sizes = np.unique(np.append(sizes.astype(int), part.n))
    values = [min(bound_at(record, n=int(size)), 1.0) for size in sizes]
    top, ticks = _axis(values)
    low, span = math.log(sizes[0]), math.log(sizes[-1] / sizes[0])
    points = tuple(((math.log(n) - low) / span, v / top) for n, v in zip(sizes.tolist(), values, strict=True))
    marks = [10**k for k in range(12) if sizes[0] <= 10**k <= sizes[-1]]
    across = tuple(((math.log(mark) - low) / span, f"{mark:,}") for mark in marks)
    here = points[int(np.flatnonzero(sizes == part.n)[0])]
    return Curve(points, across, ticks), here, table, floor


def _round_up(rows: int) -> int:
    """To three digits."""
    unit = 10 ** max(len(str(rows)) - 3, 0)
    return -(-rows // unit) * unit


def weights(record: Record) -> tuple[list[float], list[tuple[str, str]], str]:
    """Heights of bars, the largest weight first, the shares of the leading voters, and what a bar is."""
    ordered = np.sort(vote_weights(record))[::-1]
    groups = np.array_split(ordered, min(_BARS, len(ordered)))
    heights = np.array([group.mean() for group in groups])
    largest = len(groups[0])
    each = "each bar is one voter" if largest == 1 else f"each bar is the mean of up to {largest} voters"
    counts = [count for count in (1, 5, 10, 50, 100, 500) if count < len(ordered)]
    table = [
        ("the largest" if count == 1 else f"the largest {count}", f"{100 * ordered[:count].sum():.1f} %")
        for count in counts
    ]
    half = int(np.searchsorted(np.cumsum(ordered), 0.5) + 1)
    table.append(("half of the weight", f"{half:,} of {len(ordered):,} voters"))
    table.append(("as many equal voters", f"{1 / np.sum(ordered**2):.1f}"))
    return (heights / heights.max()).tolist(), table, each


@dataclass(frozen=True)
class ClassCell:
    """One statement about a class: its bound, what was seen, and both as shares of the axis."""

    bound: str
    seen: str
    rate: float
    limit: float


@dataclass(frozen=True)
class ClassRow:
    """A class, its errors, and its false alarms where there is a bound on them."""

    name: str
    errors: ClassCell
    alarms: ClassCell | None


def by_class(record: Record, test: FreshRows | None) -> list[ClassRow]:
    """A row a class. Among two classes, the false alarms of one are the errors within the other."""
    top, _ = _axis([0.0, *(entry.bound for entry in record.by_class)])
    errors, alarms = (
        {entry.label: entry for entry in record.by_class if entry.kind == kind} for kind in ("error", "false alarm")
    )
    if len(errors) == 2:
        first, second = errors
        alarms = {first: errors[second], second: errors[first]}

    def cell(entry: ClassBound) -> ClassCell:
        rate = 0.0 if not entry.n else entry.risks[0] if entry.errors is None else entry.errors / entry.n
        seen = f"seen: {plain_percent(rate)} of {entry.n:,}" if entry.n else "no certified rows"
        if entry.errors is not None and entry.n:
            seen = f"seen: {entry.errors:,} of {entry.n:,} ({plain_percent(rate)})"
        if test is not None:
            wrong, n = test.of_class(entry.label, entry.kind)
            seen += f"; in the test: {wrong:,} of {n:,}"
        return ClassCell(percent_up(min(entry.bound, 1.0)), seen, min(rate / top, 1.0), min(entry.bound / top, 1.0))

    return [
        ClassRow(label, cell(entry), cell(alarms[label]) if label in alarms else None)
        for label, entry in errors.items()
    ]


def premises(record: Record) -> list[tuple[str, str, str]]:
    """Each assumption, how far it was checked, and what was found."""
    part = record.deployed_part
    paid = f"{_count(record.n_draws, 'draw')}, {_count(len(record.parts), 'part')}"
    if record.orders:
        paid += f", {_count(len(record.orders), 'order')}"
    seen = f"{part.teaching_rows:,} teaching and {part.n:,} certified rows"
    digests = "" if part.certified_digest else " A record this old has no digests of them."
    if part.certified_digest:
        digests = " Their digests are recorded: verifying with model and data shows that no row is in both."
    known = (
        (
            "independent draws",
            "in part",
            f"Copies: {copies(part)}. Time order and groups leave no trace.",
        ),
        ("Preprocessing", "in part", f"{seen}.{digests} What was done to the data before is not in the record."),
        ("The method, loss", "in part", f"Paid for: {paid}. That nothing else was tried is not in the record."),
        ("never saw", "by construction", f"The vote knows {len(record.classes)} classes; any other is an error."),
        ("fixed without looking", "in part", f"{seen}.{digests}"),
        ("which classes there are", "in part", f"{len(record.classes)} classes are recorded."),
    )
    unknown = ("", "not in the record", "Ask whoever made it.")
    found = []
    for sentence in record.assumptions:
        _, status, check = next((entry for entry in known if entry[0] in sentence), unknown)
        found.append((sentence, status, check))
    return found


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def comparison_note(record: Record, test: FreshRows) -> str:
    """What a test on its own would certify."""
    alone = holdout(test.errors, test.n, record.delta)
    return (
        f"The test rows alone, had they been set aside for this before anything was looked at, would certify at most "
        f"{percent_up(alone)} with the same confidence."
    )
