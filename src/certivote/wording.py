"""A certificate in words: the promise as a paragraph, and the numbers behind it as lines of text."""

import textwrap
from decimal import ROUND_CEILING, Decimal

from certivote.records import ClassBound, Record, Sample

__all__ = ["by_class_lines", "copies", "describe", "facts", "observed", "percent_up", "promise"]

_MANY = 10
"""Classes up to which the text has a line each."""


def percent_up(value: float, places: int = 2) -> str:
    """A probability as a percentage, rounded up.

    Examples
    --------
    >>> percent_up(0.04930001)
    '4.94 %'
    """
    return f"{(Decimal(value) * 100).quantize(Decimal(1).scaleb(-places), rounding=ROUND_CEILING)} %"


def describe(record: Record) -> str:
    """One paragraph that anyone can read, then a line a number."""
    # A number and its per cent sign stay on one line.
    paragraph = textwrap.fill(promise(record).replace(" %", "\u00a0%"), width=100).replace("\u00a0", " ")
    rows = facts(record)
    if lines := by_class_lines(record):
        rows.append(("by class", f"a promise of its own: all of these together, with delta = {record.delta:g}"))
        rows.extend(("", line) for line in lines)
    width = max(len(name) for name, _ in rows) + 2
    table = "\n".join(f"  {name:<{width}}{value}" for name, value in rows)
    return f"{paragraph}\n\n{table}"


def facts(record: Record) -> list[tuple[str, str]]:
    """The numbers behind the promise, each with its name."""
    sample = record.deployed_part
    rows = [
        ("bound", f"{percent_up(record.bound)}  (delta = {record.delta:g})"),
        ("observed errors", observed(sample)),
        ("method", f"{record.method}, {record.theorem}"),
        ("what is certified", f"{record.certified}; loss: {record.loss}; constant: {record.constant}"),
        ("paid", _paid(sample)),
        ("voters", f"{len(sample.alpha):,}, taught on {sample.teaching_rows:,} rows; split: {record.split}"),
        ("hyper-prior", record.prior),
        ("copies", copies(sample)),
        (
            "for comparison",
            f"the same voters with their prior weights, by hold-out: {percent_up(sample.holdout_bound)} "
            f"({sample.holdout_errors:,} errors); choosing between the two now would void both",
        ),
    ]
    if record.average_bound is not None:
        own = ", ".join(percent_up(part.bound) for part in record.parts)
        rows.insert(1, ("all votes", f"average at most {percent_up(record.average_bound)}; each on its own: {own}"))
    if record.n_draws > 1:
        rows.append(("draws", f"the best of {record.n_draws}, each paid for"))
    rows.extend(("chosen", choice) for choice in record.choices)
    rows.extend(("note", remark) for remark in record.remarks)
    return rows


def promise(record: Record) -> str:
    """What is promised, in plain words."""
    confidence = f"{100 * (1 - record.delta):g} %"
    if record.vacuous:
        return (
            f"This certificate promises nothing: with {confidence} confidence the error is only known to be at "
            f"most {percent_up(record.bound)}. There are too few certified rows, or too many errors among them."
        )
    text = (
        f"With {confidence} confidence, {_WHO[record.certified]} is wrong on at most {percent_up(record.bound)} of new "
        f"cases that come from the same source as the data it was certified on. {_HOW[record.certified]}"
    )
    guess = 1 - 1 / max(len(record.classes), 2)
    if record.bound >= guess:
        text += f" That is no better than guessing among {len(record.classes)} classes; more data would help."
    return text


_WHO = {
    "the drawn vote": "this classifier",
    "the random vote": "this randomised predictor, averaged over its draws,",
    "the mean vote": "this classifier",
    "the fixed vote": "this classifier",
}
_ONE = "It is one fixed classifier: the same case always gets the same answer."
_HOW = {
    "the drawn vote": f"{_ONE} (A majority vote whose weights were drawn once.)",
    "the random vote": "It is not one fixed classifier: it draws a new vote for every case, and the same case may get "
    "different answers. No single vote is certified.",
    "the mean vote": f"{_ONE} (The majority vote with the learned weights themselves.)",
    "the fixed vote": f"{_ONE} (A majority vote with weights fixed before the certified rows were seen.)",
}


def observed(sample: Sample | ClassBound) -> str:
    """How often the vote erred on the certified rows."""
    if not sample.n:
        return "no certified rows"
    if sample.errors is None:
        return f"{sample.risks[0]:.2%} of {sample.n:,} certified rows, averaged over the draws"
    return f"{sample.errors:,} of {sample.n:,} certified rows ({sample.errors / sample.n:.2%})"


def by_class_lines(record: Record) -> list[str]:
    """A line a class: its errors, and its false alarms where they are not the other class's errors.

    None where there are more classes than one would read.
    """
    if len(record.classes) > _MANY:
        return []
    alarms = {entry.label: entry for entry in record.by_class if entry.kind == "false alarm"}
    lines = []
    for entry in record.by_class:
        if entry.kind != "error":
            continue
        line = f"{entry.label}: errors at most {percent_up(entry.bound)} ({_counts(entry)})"
        if entry.label in alarms:
            alarm = alarms[entry.label]
            line += f", false alarms at most {percent_up(alarm.bound)} ({_counts(alarm)})"
        lines.append(line)
    return lines


def _counts(entry: ClassBound) -> str:
    return f"{entry.n:,} rows" if entry.errors is None else f"{entry.errors:,} of {entry.n:,}"


def _paid(sample: Sample) -> str:
    items = [f"{payment.what} {payment.nats:.2f}" for payment in sample.payments if payment.nats]
    return f"{sample.penalty + sample.confidence:.2f} nats: " + ", ".join(items)


def copies(sample: Sample) -> str:
    """What was found about equal rows."""
    if not sample.copies and not sample.copies_of_teaching_rows:
        return "no two rows are equal"
    return (
        f"{sample.copies:,} certified rows equal an earlier one, {sample.copies_of_teaching_rows:,} equal a teaching "
        "row (all counted)"
    )
