"""Tables of the report: the weights, and class by class."""

from dataclasses import dataclass

import numpy as np

from certivote.certificate import Certificate, ClassBound
from certivote.present._breakdown import vote_weights
from certivote.present._subject import model_names
from certivote.present._wording import counted, entities, percent_up, plain_percent
from certivote.present.report._axes import axis
from certivote.present.report._test_rows import TestRows

__all__ = ["Weights", "by_class", "weights"]

_BARS = 40
"""Most bars in the picture of the weights."""


@dataclass(frozen=True)
class Weights:
    """Who votes with what weight.

    Attributes
    ----------
    heights : list of float
        Of bars, the largest weight first.
    shares : list of (voters, share)
    voters : str
        What the voters are called, many of them.
    words : str
        Who votes, and what a bar is.
    """

    heights: list[float]
    shares: list[tuple[str, str]]
    voters: str
    words: str


def weights(certificate: Certificate) -> Weights:
    """The weights of the deployed vote: of models that were given, by name; of voters, of the leading ones together."""
    part, found = certificate.deployed_part, vote_weights(certificate)
    order = np.argsort(-found, kind="stable")
    ordered = found[order]
    groups = np.array_split(ordered, min(_BARS, len(ordered)))
    heights = np.array([group.mean() for group in groups])
    heights = (heights / heights.max()).tolist()
    if certificate.candidates:
        names = model_names(certificate)
        named = [(names[k] if k < len(names) else f"model {k + 1}", f"{100 * found[k]:.1f} %") for k in order]
        return Weights(heights, named, "Models", f"{len(ordered)} models that were given, the heaviest first")
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
    trained = f"trained on {part.training_rows:,} rows, the heaviest first"
    return Weights(heights, table, "Voters", f"{counted(part.n_voters, 'voter')}, {trained}; {each}")


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
    top, _ = axis([0.0, *(entry.bound for entry in certificate.by_class)])
    errors, alarms = (
        {entry.label: entry for entry in certificate.by_class if entry.kind == kind}
        for kind in ("error", "false alarm")
    )
    if len(errors) == 2:
        first, second = errors
        alarms = {first: errors[second], second: errors[first]}

    def cell(entry: ClassBound) -> ClassCell:
        if not entry.n:
            rate, seen = 0.0, "no certification rows"
        elif entry.errors is None:
            rate = entry.risks[0]
            seen = f"seen: {plain_percent(rate)} of {entry.n:,}{_of_entities(entry)}"
        elif entry.losses:
            rate = entry.risks[0]
            mean = f"{plain_percent(rate)} in the mean over {entities(entry.entities)}"
            seen = f"seen: {mean} ({entry.errors:,} of {counted(entry.n, 'row')})"
        else:
            rate = entry.errors / entry.n
            seen = f"seen: {entry.errors:,} of {entry.n:,}{_of_entities(entry)} ({plain_percent(rate)})"
        if test is not None:
            wrong, n = test.of_class(entry.label, entry.kind)
            seen += f"; in the {'test' if test.is_test else 'rows given'}: {wrong:,} of {n:,}"
        return ClassCell(percent_up(min(entry.bound, 1.0)), seen, min(rate / top, 1.0), min(entry.bound / top, 1.0))

    return [
        ClassRow(label, cell(entry), cell(alarms[label]) if label in alarms else None)
        for label, entry in errors.items()
    ]


def _of_entities(entry: ClassBound) -> str:
    return f" rows of {entities(entry.entities)}" if entry.entities else ""
