"""The other promises of a certificate in words, as their own rooms put them."""

from certivote.certificate import Certificate, PromiseRecord, confidence, counted, number_up
from certivote.present._plain import plain
from certivote.promises import PROMISES


def promise_text(record: PromiseRecord) -> str:
    """A promise as text: how sure it is and what it is about, then one line per statement.

    Examples
    --------
    >>> from certivote import certify_predictions
    >>> certificate = certify_predictions(["ill", "well"] * 50, ["ill", "well"] * 50)
    >>> print(promise_text(certificate.promises[0]))
    With 95 % confidence, all at once: errors within a class at most 7.12 % (ill), 7.12 % (well).
      ill: errors at most 7.12 % (0 of 50)
      well: errors at most 7.12 % (0 of 50)
    """
    title, *lines = promise_lines(record)
    return "\n".join([f"With {confidence(record.delta)} confidence, all at once: {title}.", *(f"  {x}" for x in lines)])


def is_known(record: PromiseRecord) -> bool:
    """Whether this version knows such a promise, and the record has what belongs to it."""
    return record.name in PROMISES and _worded(record) is not None


def promise_lines(record: PromiseRecord) -> list[str]:
    """What the promise is about, and one line per statement."""
    if record.name not in PROMISES:
        return [f"a promise that this version of certivote does not know ({plain(record).name})"]
    lines = _worded(record)
    if not lines:
        return [f"a promise whose record is not as it must be ({plain(record).name}): rely on none of it"]
    aside = f"{record.set_aside:,} certification rows, drawn at random, fixed this beforehand and are not counted"
    return [*lines, aside] if record.set_aside else lines


def _worded(record: PromiseRecord) -> list[str] | None:
    """The sentences of the promise; None if the record is not one that it makes."""
    try:
        return PROMISES[record.name].sentences(plain(record)) or None
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError):  # a record may come from anywhere
        return None


def promises_note(certificate: Certificate, delta: str = "delta") -> str:
    """Whether all promises hold at once, or each with a delta of its own."""
    n = len(certificate.promises)
    if certificate.together:
        pairs = f", with the differences of {counted(len(certificate.differences), 'pair')} of models,"
        return (
            f"the bound and {counted(n, 'promise')}{pairs if certificate.differences else ''} hold at once with "
            f"{confidence(certificate.delta)} confidence: {delta} = {certificate.delta:g} is divided among them"
        )
    compared = certificate.differences
    deltas = [record.delta for record in certificate.promises] + [each.delta for each in compared]
    any_fails = certificate.delta + sum(deltas)
    each, which = (f"each of {n} promises", f"any of {n} promises") if n > 1 else ("it", "it")
    any_of = f"the bound, {which} or a difference" if compared else f"the bound or {which}"
    odds = f"is at most {number_up(any_fails)}" if any_fails < 1 else "is not limited"
    return (
        f"{each} holds with {confidence(certificate.delta)} confidence ({delta} = {certificate.delta:g} of its own), "
        f"all of its statements at once; the probability that {any_of} fails {odds}"
    )
