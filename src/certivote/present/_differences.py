"""The differences of given models in words, rounded so that none looks more certain than it is."""

from certivote.certificate import (
    Certificate,
    Difference,
    confidence,
    counted,
    percent_down,
    percent_up,
    units,
)
from certivote.present._plain import plain_text


def difference_text(difference: Difference) -> str:
    """One difference as a sentence with all its numbers."""
    return f"With {confidence(difference.delta)} confidence: {difference_line(difference)}."


def difference_line(difference: Difference) -> str:
    """What follows from the limits, the limits, and what was counted."""
    of = f" of {units(difference.entities)}" if difference.entities else ""
    alone = f"{difference.first_only:,} and {difference.second_only:,} of {counted(difference.n, 'row')}{of}"
    return f"{told_apart(difference)}: {limits_words(difference)} (wrong alone on {alone})"


def told_apart(difference: Difference) -> str:
    """Whether the limits tell the two models apart."""
    first, second = f"'{plain_text(difference.first)}'", f"'{plain_text(difference.second)}'"
    if difference.verdict == "cannot be told apart":
        return f"{first} and {second} cannot be told apart on these rows"
    worse, _, within = difference.verdict.partition("not worse by more than ")
    if not within:
        return f"{first} is {worse} than {second}"
    by = f"by more than {100.0 * (difference.margin or 0.0):.6g} percentage points"
    return f"{first} is worse than {second}, but not {by}" if worse else f"{first} is not worse than {second} {by}"


def limits_words(difference: Difference) -> str:
    """Between which numbers the difference lies."""
    low, high = difference.lower, difference.upper
    if high < 0.0:
        return f"its error is smaller by {_points(-high, -low)} percentage points"
    if low > 0.0:
        return f"its error is larger by {_points(low, high)} percentage points"
    return f"the difference of their errors is {range_words(difference)} percentage points"


def range_words(difference: Difference) -> str:
    """Both limits in percentage points, with their signs, rounded outwards."""
    return f"{_signed(difference.lower, up=False)} to {_signed(difference.upper, up=True)}"


def _points(low: float, high: float) -> str:
    return f"{_number(percent_down(low))} to {_number(percent_up(high))}"


def _signed(value: float, up: bool) -> str:
    """In percentage points."""
    if value < 0.0:
        return f"-{_number(percent_down(-value) if up else percent_up(-value))}"
    return _number(percent_up(value) if up else percent_down(value))


def _number(percent: str) -> str:
    return percent.removesuffix(" %")


def differences_note(certificate: Certificate, delta: str = "delta") -> str:
    """What holds together."""
    found = certificate.differences
    own = found[0].delta if found else certificate.delta
    pairs = f"{counted(len(found), 'pair')} of models, each with {delta} = {own:.3g}"
    if certificate.together:
        return f"{pairs}: these limits hold at once, and with the bound and all promises"
    return f"{pairs}: these limits hold at once with {confidence(certificate.delta)} confidence, beside the bound"


def headline_differences(certificate: Certificate) -> str:
    """Who is told apart from whom, in short: first what concerns the model that the certificate is about."""
    own = {each.name for each in certificate.candidates if each.chosen}
    found = sorted(certificate.differences, key=lambda each: not own & {each.first, each.second})
    apart = sum(each.lower > 0.0 or each.upper < 0.0 for each in found)
    return told_apart(found[0]) + (f", {apart} of {len(found)} pairs can" if len(found) > 1 else "")
