"""A certificate in words: the promise as a paragraph, and the numbers behind it, each with its name."""

from decimal import ROUND_CEILING, Decimal

from certivote.certificate import Certificate, ClassBound, PartRecord
from certivote.theory.methods import METHODS

__all__ = ["by_class_lines", "counted", "duplicates", "facts", "majority", "observed", "percent_up", "promise"]

_MANY = 10
"""Classes up to which the text has one line per class."""


def percent_up(value: float, places: int = 2) -> str:
    """A probability as a percentage, rounded up.

    Examples
    --------
    >>> percent_up(0.04930001)
    '4.94 %'
    """
    return f"{(Decimal(value) * 100).quantize(Decimal(1).scaleb(-places), rounding=ROUND_CEILING)} %"


def counted(number: int, what: str) -> str:
    """So many of a thing: ``1 error``, ``2 errors``."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def facts(certificate: Certificate) -> list[tuple[str, str]]:
    """The numbers behind the promise, each with its name."""
    part = certificate.deployed_part
    rows = [
        ("bound", f"{percent_up(certificate.bound)}  (delta = {certificate.delta:g})"),
        ("observed errors", observed(part)),
        ("method", f"{certificate.method}, {certificate.theorem}"),
        (
            "what is certified",
            f"{certificate.certified}; loss: {certificate.loss}; constant: {certificate.constant}",
        ),
        ("paid", _paid(part)),
        ("voters", f"{part.n_voters:,}, trained on {part.training_rows:,} rows; split: {certificate.split}"),
        ("hyper-prior", certificate.hyper_prior),
        ("duplicates", duplicates(part)),
        (
            "for comparison",
            f"the same voters with their prior weights, by hold-out: {percent_up(part.holdout_bound)} "
            f"({counted(part.holdout_errors, 'error')}); choosing between the two now would void both",
        ),
    ]
    if part.majority_class:
        rows.append(("", majority(part)))
    if certificate.average_bound is not None:
        own = ", ".join(percent_up(each.bound) for each in certificate.parts)
        average = f"average at most {percent_up(certificate.average_bound)}; each on its own: {own}"
        rows.insert(1, ("all votes", average))
    if certificate.n_draws > 1:
        rows.append(("draws", f"the best of {certificate.n_draws}, each paid for"))
    rows.extend(("chosen", choice) for choice in certificate.choices)
    rows.extend(("note", remark) for remark in certificate.remarks)
    return rows


def promise(certificate: Certificate) -> str:
    """What is promised, in plain words."""
    confidence = f"{100 * (1 - certificate.delta):g} %"
    bound = percent_up(certificate.bound)
    if certificate.vacuous:
        return (
            f"This certificate promises nothing: with {confidence} confidence the error is only known to be at "
            f"most {bound}."
        )
    predictor = METHODS[certificate.method].predictor
    return (
        f"With {confidence} confidence, {predictor.who} is wrong on at most {bound} of new cases that come from the "
        f"same source as the data it was certified on. {predictor.how}"
    )


def observed(part: PartRecord | ClassBound) -> str:
    """How often the vote was wrong on the certification rows."""
    if not part.n:
        return "no certification rows"
    if part.errors is None:
        return f"{part.risks[0]:.2%} of {part.n:,} certification rows, averaged over the draws"
    return f"{part.errors:,} of {part.n:,} certification rows ({part.errors / part.n:.2%})"


def by_class_lines(certificate: Certificate) -> list[str]:
    """One line per class: its errors, and its false alarms where they are not the other class's errors.

    None where there are more classes than one would read.
    """
    if len(certificate.classes) > _MANY:
        return []
    alarms = {entry.label: entry for entry in certificate.by_class if entry.kind == "false alarm"}
    lines = []
    for entry in certificate.by_class:
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


def _paid(part: PartRecord) -> str:
    items = [f"{payment.what} {payment.nats:.2f}" for payment in part.payments if payment.nats]
    return f"{part.penalty + part.confidence:.2f} nats: " + ", ".join(items)


def majority(part: PartRecord) -> str:
    """What the most frequent class alone would achieve."""
    return (
        f"always answering '{part.majority_class}' is certified at most {percent_up(part.majority_bound)} on the same "
        f"rows ({counted(part.majority_errors, 'error')})"
    )


def duplicates(part: PartRecord) -> str:
    """What was found about duplicate rows."""
    if not part.duplicates and not part.duplicates_of_training_rows:
        return "no certification row equals another one or a training row"
    return (
        f"{part.duplicates:,} certification rows equal an earlier one, {part.duplicates_of_training_rows:,} equal a "
        "training row (all are counted)"
    )
