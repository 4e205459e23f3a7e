"""What must be said beside the headline: where a small bound hides that the vote fails."""

from certivote.certificate import Certificate, ClassBound, PartRecord
from certivote.present._wording import counted, percent_up

__all__ = ["cautions", "no_better_than_majority"]

_COIN = 0.5
_SHOWN = 3
"""Classes that are named one by one."""


def cautions(certificate: Certificate) -> list[str]:
    """Sentences that belong beside the bound wherever it is shown; none for a vote that is worth its certificate.

    They say that the bound is vacuous or no better than guessing, that always answering the most frequent class is
    certified as good, that a class is certified no better than by a coin, or that nothing is certified by class.
    """
    found = [*_of_bound(certificate), *_of_majority(certificate.deployed_part, certificate.bound)]
    if not certificate.by_class:
        found.append(
            "Nothing is certified about single classes: this record is from before there were such bounds. A class "
            "with few cases may be missed altogether."
        )
    return found + _of_classes([entry for entry in certificate.by_class if entry.kind == "error"])


def no_better_than_majority(certificate: Certificate) -> bool:
    """Whether always answering the most frequent class is certified as good, or makes fewer errors."""
    return bool(_of_majority(certificate.deployed_part, certificate.bound))


def _of_bound(certificate: Certificate) -> list[str]:
    if certificate.vacuous:
        return [
            "Any classifier is wrong on at most 100 % of all cases. There are too few certification rows, or too many "
            "errors among them."
        ]
    n_classes = max(len(certificate.classes), 2)
    if certificate.bound >= 1 - 1 / n_classes:
        return [f"The bound is no better than guessing among {n_classes} classes; more data would help."]
    return []


def _of_majority(part: PartRecord, bound: float) -> list[str]:
    if not part.majority_class:
        return []  # a record from before it was compared
    errors = part.risks[0] * part.n if part.errors is None else part.errors
    if errors > part.majority_errors:
        made = f"{errors:,.1f} in the mean" if part.errors is None else counted(part.errors, "error")
        return [
            f"Always answering '{part.majority_class}' is better: on the same {part.n:,} certification rows it makes "
            f"{counted(part.majority_errors, 'error')}, this classifier {made}."
        ]
    if bound >= part.majority_bound:
        return [
            f"This is certified no better than always answering '{part.majority_class}', which is wrong on at most "
            f"{percent_up(part.majority_bound)} by the same rows."
        ]
    return []


def _of_classes(entries: list[ClassBound]) -> list[str]:
    """One sentence per class that a coin would do as well for, the worst first."""
    worst = sorted((entry for entry in entries if entry.bound > _COIN), key=_rate, reverse=True)
    found = [_of_class(entry) for entry in worst[:_SHOWN]]
    if len(worst) > _SHOWN:
        rest = len(worst) - _SHOWN
        found.append(f"{rest} more {'class is' if rest == 1 else 'classes are'} certified no better than by a coin.")
    return found


def _rate(entry: ClassBound) -> float:
    if not entry.n:
        return 1.0
    return entry.risks[0] if entry.errors is None else entry.errors / entry.n


def _of_class(entry: ClassBound) -> str:
    if not entry.n:
        return f"Nothing is promised about class '{entry.label}': no certification row has it."
    seen = f"{100 * entry.risks[0]:.1f} % of the answers to its {counted(entry.n, 'certification row')} were wrong"
    if entry.errors is not None:
        seen = f"{entry.errors:,} of its {counted(entry.n, 'certification row')} got a wrong answer"
    if _rate(entry) > _COIN:
        return (
            f"Class '{entry.label}' is mostly missed: {seen}. Errors in this class are certified at most "
            f"{percent_up(min(entry.bound, 1.0))}, worse than a coin."
        )
    return (
        f"Class '{entry.label}' is certified no better than by a coin: {seen}, which bounds its errors by "
        f"{percent_up(min(entry.bound, 1.0))} only."
    )
