"""What the report says, section by section: numbers and sentences, no markup."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from certivote.certificate import Certificate, ClassBound
from certivote.present._breakdown import (
    bound_at,
    error_share,
    least_bound,
    observed_rate,
    rows_needed,
    steps,
    vote_weights,
)
from certivote.present._plain import plain_text
from certivote.present._wording import counted, duplicates, observed, percent_up
from certivote.theory.bounds import holdout

__all__ = [
    "TestRows",
    "at_a_glance",
    "by_class",
    "comparison_note",
    "data_needed",
    "delta_curve",
    "origin",
    "premises",
    "remarks",
    "weights",
]

_DELTAS = np.geomspace(1e-6, 0.5, 201)
_TARGETS = tuple(k * 10.0**e for e in (-1, -2, -3, -4) for k in (9, 8, 7, 6, 5, 4, 3, 2.5, 2, 1.5, 1.2, 1))
_BARS = 40
"""Most bars in the picture of the weights."""


class TestRows:
    """Rows used neither for training nor for certification: their true classes and the answers they got.

    Parameters
    ----------
    truth, answers : sequences of the same length
    used : (int, int)
        How many of them trained the voters or certified the vote after all, and are no test.
    """

    __test__ = False
    """It is no test, though pytest would take it for one by its name."""

    def __init__(self, truth: Sequence[Any], answers: Sequence[Any], used: tuple[int, int] = (0, 0)):
        if len(truth) != len(answers) or not len(truth):
            raise ValueError(
                f"truth and answers must have the same length and not be empty; got {len(truth)} and {len(answers)}."
            )
        self.n, (self.trained, self.certified) = len(truth), used
        pairs = zip(truth, answers, strict=True)
        self.counts = Counter((plain_text(str(true)), plain_text(str(said))) for true, said in pairs)
        self.errors = sum(count for (true, said), count in self.counts.items() if true != said)

    @property
    def is_test(self) -> bool:
        """Whether none of the rows is known to have been used before."""
        return not self.trained and not self.certified

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


def at_a_glance(certificate: Certificate, test: TestRows | None) -> tuple[list[Bar], tuple[tuple[float, str], ...]]:
    """The bound beside what was observed, and the axis."""
    part, rate = certificate.deployed_part, observed_rate(certificate)
    rows = [("Seen on certification rows", rate, plain_percent(rate), observed(part), "observed")]
    if test is not None:
        share = test.errors / test.n
        note = f"{test.errors:,} of {test.n:,} rows, said to have been used neither for training nor for certification"
        if not test.is_test:
            note = f"{test.errors:,} of {test.n:,} rows, {_use(test)}: this is no test"
        name = "Seen on test rows" if test.is_test else "Seen on rows it was made from"
        rows.append((name, share, plain_percent(share), note, "test" if test.is_test else "pale"))
    note = f"with {100 * (1 - certificate.delta):g} % confidence; {certificate.method}, {certificate.theorem}"
    rows.append(("Certified: at most", certificate.bound, percent_up(certificate.bound), note, "bound"))
    if certificate.average_bound is not None:
        average = certificate.average_bound
        note = f"average over the votes of all {len(certificate.parts)} parts; one of them is deployed"
        rows.append(("Average of all votes: at most", average, percent_up(average), note, "pale"))
    note = (
        "the same voters with weights from before the certification rows were seen: "
        f"{counted(part.holdout_errors, 'error')}. For comparison only; choosing between the two now would void both"
    )
    rows.append(("Plain hold-out: at most", part.holdout_bound, percent_up(part.holdout_bound), note, "pale"))
    top, ticks = _axis(value for _, value, _, _, _ in rows)
    bars = [Bar(name, figure, note, kind, 0.0, min(value / top, 1.0)) for name, value, figure, note, kind in rows]
    return bars, ticks


_STEP_WORDS = {
    "observed": ("Observed error rate", "what the vote gets wrong on the certification rows"),
    "surrogate": ("Surrogate", "this method bounds a larger quantity than the error itself"),
    "confidence": ("Confidence, sample size", "to hold with the stated probability, on this many rows"),
    "rest": ("Confidence, constant, size", "to hold with the stated probability, on this many rows"),
    "constant": ("Constant", "what the theorem adds whatever was learned"),
    "grid": ("Choices", "for the choice among several draws or Rényi orders"),
    "prior": ("Hyper-prior", "for choosing it among several"),
    "draw": ("Draw", "for weights that were drawn after learning from the certification rows"),
    "weights": ("Weights", "for weights that were learned from the certification rows"),
}


def origin(certificate: Certificate) -> tuple[list[Bar], tuple[tuple[float, str], ...]]:
    """Where the bound comes from, in nats and in percentage points, and the axis."""
    found = steps(certificate)
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
    part = certificate.deployed_part
    total = f"{part.penalty + part.confidence:.2f} nats in all, on {part.n:,} rows"
    bars.append(Bar("Bound", percent_up(certificate.bound), total, "bound", 0.0, min(certificate.bound / top, 1.0)))
    return bars, ticks


def delta_curve(certificate: Certificate) -> tuple[Curve, dict[str, Any]]:
    """The bound as a function of delta, and what the slider looks up."""
    deltas = np.unique(np.append(_DELTAS, certificate.delta))
    values = [min(bound_at(certificate, delta=float(delta)), 1.0) for delta in deltas]
    top, ticks = _axis(values)
    low, span = math.log(deltas[0]), math.log(deltas[-1] / deltas[0])
    points = tuple(((math.log(d) - low) / span, v / top) for d, v in zip(deltas.tolist(), values, strict=True))
    marks = (1e-6, 1e-4, 0.01, 0.5)
    across = tuple(((math.log(mark) - low) / span, _small(mark)) for mark in marks)
    recorded = int(np.flatnonzero(deltas == certificate.delta)[0])
    shown = [percent_up(value) for value in values]
    shown[recorded] = percent_up(min(certificate.bound, 1.0))
    lookup = {
        "x": [round(100 * x, 3) for x, _ in points],
        "y": [round(100 * y, 3) for _, y in points],
        "delta": [_small(d) if d != certificate.delta else f"{d:g}" for d in deltas.tolist()],
        "bound": shown,
        "recorded": recorded,
    }
    return Curve(points, across, ticks), lookup


def data_needed(certificate: Certificate) -> tuple[Curve, tuple[float, float], list[tuple[str, str, str]], str]:
    """The bound as the rows grow, where it is now, what a few targets would take, and what rows alone cannot do."""
    part, least = certificate.deployed_part, least_bound(certificate)
    floor = f"With this error rate no number of rows would bring the bound below {percent_up(min(least, 1.0))}."
    possible = [target for target in _TARGETS if least * 1.01 < target < certificate.bound]
    chosen = np.unique(np.linspace(0, len(possible) - 1, min(len(possible), 4)).round().astype(int))
    table = []
    for target in (possible[k] for k in chosen):
        rows = rows_needed(certificate, target)
        if rows is None:
            table.append((f"{100 * target:g} %", "over a billion", ""))
        else:
            table.append((f"{100 * target:g} %", f"{_round_up(rows):,}", f"{rows / part.n:,.1f} times"))
    sizes = np.geomspace(max(part.n / 4, 2), max(part.n, 2) * 100, 81)
    if rate := float(error_share(certificate) or 0):
        # Sizes with a whole number of errors, or the curve would show their rounding.
        sizes = np.maximum(np.round(rate * sizes), 1) / rate + 1e-9
    sizes = np.unique(np.append(sizes.astype(int), part.n))
    values = [min(bound_at(certificate, n=int(size)), 1.0) for size in sizes]
    top, ticks = _axis(values)
    low, span = math.log(sizes[0]), math.log(sizes[-1] / sizes[0])
    points = tuple(((math.log(n) - low) / span, v / top) for n, v in zip(sizes.tolist(), values, strict=True))
    marks = [10**k for k in range(12) if sizes[0] <= 10**k <= sizes[-1]]
    across = tuple(((math.log(mark) - low) / span, f"{mark:,}") for mark in marks)
    here = points[int(np.flatnonzero(sizes == part.n)[0])]
    return Curve(points, across, ticks), here, table, floor


def _round_up(rows: int) -> int:
    """To three digits."""
    unit: int = 10 ** max(len(str(rows)) - 3, 0)
    return -(-rows // unit) * unit


def weights(certificate: Certificate) -> tuple[list[float], list[tuple[str, str]], str]:
    """Heights of bars, the largest weight first, the shares of the leading voters, and what a bar is."""
    ordered = np.sort(vote_weights(certificate))[::-1]
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
    table.append(("effective number of voters", f"{1 / np.sum(ordered**2):.1f}"))
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


def by_class(certificate: Certificate, test: TestRows | None) -> list[ClassRow]:
    """One row per class. Among two classes, the false alarms of one are the errors within the other."""
    top, _ = _axis([0.0, *(entry.bound for entry in certificate.by_class)])
    errors, alarms = (
        {entry.label: entry for entry in certificate.by_class if entry.kind == kind}
        for kind in ("error", "false alarm")
    )
    if len(errors) == 2:
        first, second = errors
        alarms = {first: errors[second], second: errors[first]}

    def cell(entry: ClassBound) -> ClassCell:
        rate = 0.0 if not entry.n else entry.risks[0] if entry.errors is None else entry.errors / entry.n
        seen = f"seen: {plain_percent(rate)} of {entry.n:,}" if entry.n else "no certification rows"
        if entry.errors is not None and entry.n:
            seen = f"seen: {entry.errors:,} of {entry.n:,} ({plain_percent(rate)})"
        if test is not None:
            wrong, n = test.of_class(entry.label, entry.kind)
            seen += f"; in the {'test' if test.is_test else 'rows given'}: {wrong:,} of {n:,}"
        return ClassCell(percent_up(min(entry.bound, 1.0)), seen, min(rate / top, 1.0), min(entry.bound / top, 1.0))

    return [
        ClassRow(label, cell(entry), cell(alarms[label]) if label in alarms else None)
        for label, entry in errors.items()
    ]


_BY_CONSTRUCTION = "A case whose class the voters never saw counts as an error."


def premises(certificate: Certificate) -> list[tuple[str, str, str]]:
    """Each assumption, whether anything was checked, and what the record says of it."""
    part = certificate.deployed_part
    paid = f"{counted(certificate.n_draws, 'draw')}, {counted(len(certificate.parts), 'part')}"
    if certificate.renyi_orders:
        paid += f", {counted(len(certificate.renyi_orders), 'Rényi order')}"
    seen = f"{part.training_rows:,} training and {part.n:,} certification rows"
    digests = " A record this old has no digests of them."
    if part.certification_digest:
        digests = " Their digests are recorded: verifying with the model and the data shows which rows they are."
    # Words by which a sentence is known, in certificates of every version; the one that needs no check, word for word.
    known = (
        (
            "independent draws",
            "only duplicates were counted",
            f"Duplicates: {duplicates(part)}. Time order and groups leave no trace.",
        ),
        (
            "Preprocessing",
            "not checked",
            f"{seen}.{digests} What was done to the data beforehand is not in the record.",
        ),
        ("The method, loss", "not checked", f"Paid for: {paid}. What else was tried is not in the record."),
        (
            _BY_CONSTRUCTION,
            "by construction",
            f"The vote knows {len(certificate.classes)} classes; any other is an error.",
        ),
        ("fixed without looking", "not checked", f"{seen}.{digests}"),
        ("which classes there are", "not checked", f"{len(certificate.classes)} classes are recorded."),
    )
    unknown = ("", "not checked", "It is not in the record: ask whoever made it.")
    found = []
    for sentence in certificate.assumptions:
        is_own = sentence == _BY_CONSTRUCTION
        entries = (entry for entry in known if entry[0] in sentence and is_own == (entry[0] == _BY_CONSTRUCTION))
        _, status, check = next(entries, unknown)
        found.append((sentence, status, check))
    return found


def _use(test: TestRows) -> str:
    return f"of which {test.trained:,} trained the voters and {test.certified:,} certified the vote"


def comparison_note(certificate: Certificate, test: TestRows) -> str:
    """What a test on its own would certify; of rows that were used before, that they are none."""
    if not test.is_test:
        return (
            f"The rows that were given as a test are those that this certificate was made from: {test.n:,} rows, "
            f"{_use(test)}. They say nothing about new cases beyond the certificate itself."
        )
    alone = holdout(test.errors, test.n, certificate.delta)
    return (
        f"The test rows alone, had they been set aside for this before anything was looked at, would certify at most "
        f"{percent_up(alone)} with the same confidence."
    )


def remarks(certificate: Certificate) -> list[str]:
    """What the certificate remarks, as sentences."""
    return [text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".") for text in certificate.remarks]
