"""What becomes of a thousand cases: found, missed, flagged by mistake or left alone, as seen and as certified."""

import math
from dataclasses import dataclass

from certivote.certificate import Certificate, Statement
from certivote.present._statements import rate

_CASES = 1000
_ACROSS = 40
"""Dots in a row of the picture."""


@dataclass(frozen=True)
class Quarter:
    """One of four kinds of cases: how many were seen, what is certified of it, and its dots in the picture."""

    kind: str
    name: str
    seen: int
    limit: str
    dots: str


@dataclass(frozen=True)
class Thousand:
    """A thousand cases, of which the class that one looks for has its share among the certification rows."""

    words: str
    quarters: tuple[Quarter, ...]
    width: int
    height: int


def thousand(certificate: Certificate) -> Thousand | None:
    """The picture; None but for two classes, rows by themselves, and a bound for each class."""
    found = _statements(certificate)
    if certificate.groups or certificate.vacuous or found is None:
        return None
    label, other, missed, alarmed, verb = found
    rates = rate(missed), rate(alarmed)
    if rates[0] is None or rates[1] is None:
        return None
    have = round(_CASES * missed.n / (missed.n + alarmed.n))
    lack = _CASES - have
    lost, false = round(have * rates[0]), round(lack * rates[1])
    most_lost, most_false = (math.ceil(n * min(each.bound, 1.0)) for n, each in ((have, missed), (lack, alarmed)))
    kinds = (
        ("found", f"'{label}' and {verb}", have - lost, f"at least {have - most_lost:,}"),
        ("missed", f"'{label}' and missed", lost, f"at most {most_lost:,}"),
        ("mistaken", f"'{other}' and {verb} by mistake", false, f"at most {most_false:,}"),
        ("alone", f"'{other}' and left alone", lack - false, f"at least {lack - most_false:,}"),
    )
    quarters, start = [], 0
    for kind, name, seen, limit in kinds:
        quarters.append(Quarter(kind, name, seen, limit, _dots(start, seen)))
        start += seen
    words = (
        f"Of 1,000 cases with the classes in the shares of the certification rows, {have:,} are '{label}' and {lack:,} "
        f"'{other}'. Large: as many as were seen. Below: what is certified."
    )
    return Thousand(words, tuple(quarters), _ACROSS, _CASES // _ACROSS)


def _statements(certificate: Certificate) -> tuple[str, str, Statement, Statement, str] | None:
    """The class that one looks for, the other one, how often it is missed, how often it is named by mistake."""
    if len(certificate.classes) != 2 or certificate.loss != "plurality":
        return None
    flags = next((record for record in certificate.promises if record.name == "sensitivity"), None)
    if flags is not None and flags.chosen is not None and len(flags.statements) == 2:
        missed, alarmed = flags.statements
        label = missed.label
        verb = "flagged"
    else:
        errors = [entry for entry in certificate.by_class if entry.kind == "error"]
        if len(errors) != 2:
            return None
        missed, alarmed = sorted(errors, key=lambda entry: entry.n)
        label, verb = missed.label, f"answered '{missed.label}'"
    other = next((name for name in certificate.classes if name != label), "")
    return label, other, missed, alarmed, verb


def _dots(start: int, count: int) -> str:
    """An SVG path with a point for each case; they stand in columns, one kind after the other."""
    places = (divmod(number, _CASES // _ACROSS) for number in range(start, start + count))
    return "".join(f"M{x + 0.5} {y + 0.5}h0" for x, y in places)
