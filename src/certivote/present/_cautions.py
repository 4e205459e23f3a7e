"""What must be said beside the headline: where a small bound hides that the vote fails, or may not hold."""

from certivote.certificate import (
    Certificate,
    Drift,
    PartRecord,
    Statement,
    confidence,
    counted,
    percent_up,
    plain_percent,
    units,
)
from certivote.present._sentences import remarks
from certivote.present._wording import cases, p_value, surprises

_COIN = 0.5
_SHOWN = 3
"""Classes that are named one by one."""
_FEW = 20
"""Certified groups below which it is said that they are few."""
_WARNING = (
    "copies the class",
    "tells the class",
    "dates tell the class",
    "numbers the rows",
    "filled for one class",
    "without giveaways",
    "repeated values",
    "neighbours alike",
    "near-duplicates",
)
"""The kinds of remarks that are cautions, in their order."""


def cautions(certificate: Certificate) -> list[str]:
    """Sentences that belong beside the bound wherever it is shown; none for a vote that is worth its certificate.

    They say that the bound is vacuous or no better than guessing, that delta is large, that the rows may not be what
    the promise takes them for (rows of training, columns that give the class away, rows that belong together, few
    groups, errors that drift), that always answering the most frequent class is certified as good, that a class is
    certified no better than by a coin, or that nothing is certified by class.
    """
    part, judged = certificate.deployed_part, is_evaluation(certificate)
    found = [
        *([] if judged else _of_bound(certificate)),
        *_of_delta(certificate),
        *_of_training(certificate),
        *(text for kind in _WARNING for own, text in remarks(certificate) if own == kind),
        *_of_entities(part),
        *(text for drift in part.drift for text in _of_drift(drift)),
        *([] if judged else _of_majority(part, certificate.bound)),
    ]
    return found if judged else found + _of_classes([entry for entry in certificate.by_class if entry.kind == "error"])


def other_remarks(certificate: Certificate) -> list[str]:
    """What the certificate remarks besides what is among the cautions."""
    return [text for kind, text in remarks(certificate) if kind not in _WARNING]


def no_better_than_majority(certificate: Certificate) -> bool:
    """Whether always answering the most frequent class is certified as good, or makes fewer errors."""
    part = certificate.deployed_part
    return bool(_of_majority(part, certificate.bound)) and not is_evaluation(certificate)


def is_evaluation(certificate: Certificate) -> bool:
    """Whether answers were judged to be right or wrong, as logs of evaluations say: there are no classes to compare."""
    majority = certificate.deployed_part.majority
    return (certificate.classes, majority.label, majority.errors) == (("right", "wrong"), "right", 0)


def sentence(text: str) -> str:
    """A note as a sentence."""
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def _of_bound(certificate: Certificate) -> list[str]:
    if certificate.vacuous:
        few = f"certified {units()}" if certificate.groups else "certification rows"
        return [
            f"Any classifier is wrong on at most 100 % of all cases. There are too few {few}, or too many errors among "
            "them."
        ]
    n_classes = max(len(certificate.classes), 2)
    if certificate.bound >= 1 - 1 / n_classes:
        return [f"The bound is no better than guessing among {n_classes} classes; more data would help."]
    return []


def _of_delta(certificate: Certificate) -> list[str]:
    if certificate.delta <= _COIN:
        return []
    part, sure = certificate.deployed_part, confidence(certificate.delta)
    seen = part.risks[0] if part.errors is None or part.losses else part.errors / max(part.n, 1)
    said = f"A promise with {sure} confidence says little: it may fail more often than not."
    if certificate.bound < seen:
        said += f" The bound is even below the error rate that was seen, {plain_percent(seen)}."
    return [said]


def _of_training(certificate: Certificate) -> list[str]:
    """Where a model was brought together with its training rows, the rows in both."""
    part = certificate.deployed_part
    if not certificate.is_given or not part.duplicates_of_training_rows:
        return []
    shared = part.duplicates_of_training_rows
    return [
        f"{shared:,} of the {counted(part.n, 'certification row')} also {'occurs' if shared == 1 else 'occur'} among "
        "the training rows. If the model learned from them, the bound may be too small: certify it on rows that it has "
        "never seen."
    ]


def _of_entities(part: PartRecord) -> list[str]:
    if not 0 < part.entities < _FEW:
        return []
    return [
        f"Only {units(part.entities)} {'was' if part.entities == 1 else 'were'} certified. The bound rests "
        f"on these few, not on their {counted(part.n, 'row')}."
    ]


def _of_drift(drift: Drift) -> list[str]:
    if not surprises(drift):
        return []
    early, late = drift.early_errors / max(drift.early_rows, 1), drift.late_errors / max(drift.late_rows, 1)
    rates = f"late ({plain_percent(late)}) than early ({plain_percent(early)})"
    seen = f"{'more' if late > early else 'less'} frequent {rates}"
    means = (
        "The error seems to grow: the bound is about the whole time of these rows, and may be too small for the end of "
        "it and for all that comes after."
        if late > early
        else "The error changes with time: the bound is about the whole time of these rows, not about any part of it."
    )
    return [
        f"Errors were {seen} among the certification rows, more than chance would explain ({p_value(drift)}). {means}"
    ]


def _of_majority(part: PartRecord, bound: float) -> list[str]:
    if worse := _worse_than_majority(part):
        return [worse]
    if bound >= part.majority.bound:
        return [
            f"This is certified no better than always answering '{part.majority.label}', which is wrong on at most "
            f"{percent_up(part.majority.bound)} by the same rows."
        ]
    return []


def _worse_than_majority(part: PartRecord) -> str:
    """What to say if always answering the most frequent class makes fewer errors; with groups, in the mean."""
    better = f"Always answering '{part.majority.label}' is better: on the same {part.n:,} certification rows it"
    if part.entities and (part.losses or part.errors is None):
        mean = part.majority.risks[0]
        if part.risks[0] <= mean:
            return ""
        mine = plain_percent(part.risks[0])
        return f"{better} is wrong on {plain_percent(mean)} in the mean over {units()}, this classifier on {mine}."
    errors = part.risks[0] * part.n if part.errors is None else part.errors
    most = part.majority.errors or 0
    if errors <= most:
        return ""
    made = f"{errors:,.1f} in the mean" if part.errors is None else counted(part.errors, "error")
    return f"{better} makes {counted(most, 'error')}, this classifier {made}."


def _of_classes(entries: list[Statement]) -> list[str]:
    """One sentence per class that a coin would do as well for, the worst first."""
    worst = sorted((entry for entry in entries if entry.bound > _COIN), key=_rate, reverse=True)
    found = [_of_class(entry) for entry in worst[:_SHOWN]]
    if len(worst) > _SHOWN:
        rest = len(worst) - _SHOWN
        found.append(f"{rest} more {'class is' if rest == 1 else 'classes are'} certified no better than by a coin.")
    return found


def _rate(entry: Statement) -> float:
    if not entry.n:
        return 1.0
    return entry.risks[0] if entry.errors is None or entry.losses else entry.errors / entry.n


def _of_class(entry: Statement) -> str:
    if not entry.n:
        return f"Nothing is promised about class '{entry.label}': no certification row has it."
    its = "only certification row" if entry.n == 1 else cases(entry)
    seen = f"{plain_percent(entry.risks[0], 1)} of the answers to its {its} were wrong"
    if entry.errors is not None and entry.n == 1:
        seen = f"its {its} got a {'wrong' if entry.errors else 'right'} answer"
    elif entry.errors is not None:
        seen = f"{entry.errors:,} of its {its} got a wrong answer"
    if _rate(entry) > _COIN:
        return (
            f"Class '{entry.label}' is mostly missed: {seen}. Errors in this class are certified at most "
            f"{percent_up(min(entry.bound, 1.0))}, worse than a coin."
        )
    return (
        f"Class '{entry.label}' is certified no better than by a coin: {seen}, which bounds its errors by "
        f"{percent_up(min(entry.bound, 1.0))} only."
    )
