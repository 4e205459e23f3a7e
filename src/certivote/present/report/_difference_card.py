"""The differences of all pairs of models, as bars between their limits on both sides of no difference."""

from certivote.certificate import Certificate, Difference, confidence, counted, unit
from certivote.present._cautions import sentence
from certivote.present._differences import differences_note, range_words, told_apart
from certivote.present.page import axis
from certivote.present.report._cards import Card, Interval


def differences_card(certificate: Certificate) -> Card | None:
    """One bar for each pair; None where there is none."""
    found = certificate.differences
    if not found:
        return None
    top, ticks = axis(max(abs(each.lower), abs(each.upper)) for each in found)
    right = [(0.5 + place / 2.0, text) for place, text in ticks]
    left = [(0.5 - place / 2.0, f"-{text}") for place, text in ticks[:0:-1]]
    words = [
        "The error of the first model minus that of the second, in percentage points. The bar is the range in which it "
        "is certified to lie, the blue mark is what was seen. A bar that does not reach the line in the middle tells "
        "both apart: on its left the first is better.",
        sentence(differences_note(certificate, "δ")),
    ]
    if certificate.groups:
        words.append(f"Errors are those on a random row of a new {unit()}.")
    return Card(
        "differences",
        "Which model is better",
        "",
        words,
        intervals=[_interval(each, top) for each in found],
        axis=(*left, *right),
        sure=f"{confidence(certificate.delta)} confidence",
    )


def _interval(each: Difference, top: float) -> Interval:
    start, end, seen = (
        min(max(0.5 + value / top / 2.0, 0.0), 1.0) for value in (each.lower, each.upper, each.observed)
    )
    alone = f"wrong alone on {each.first_only:,} and {each.second_only:,} of {counted(each.n, 'row')}"
    name = f"{each.first} − {each.second}"
    return Interval(name, range_words(each), f"{told_apart(each)}; {alone}", start, end, seen)
