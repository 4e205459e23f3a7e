"""Whether errors drift: early and late rows, divided at a moment, and Fisher's exact test once more."""

from collections.abc import Iterator

from flint import fmpq, fmpz

from certivote.certificate import Certificate, Drift, PartRecord
from certivote.verify._check import Check, trusted
from certivote.verify._methods import RANDOM, method_of

_RELATIVE = 1e-7
"""How far a p-value may be off, of itself: the maker sums up floats."""
_MOST_WORK = 5e11
"""Bits that are counted with: those of some million rows, in seconds."""


def check_drift(c: Certificate, part: PartRecord, where: str) -> Iterator[Check]:
    """One test, where rows have an order in time and the vote fixed answers: its counts and its p-value."""
    wanted = int(bool(c.order) and method_of(c).predictor != RANDOM)
    if not wanted and not part.drift:
        return
    if wanted and not part.drift and part.training_rows and not c.is_given:
        # All times together are of several moments; those of some rows need not be.
        yield Check(f"{where}drift", True, "not tested, as if all certification rows were of one moment")
        return
    if len(part.drift) != wanted:
        yield Check(f"{where}drift", False, f"{len(part.drift)} tests of it, where there must be {wanted}")
        return
    (drift,) = part.drift
    right = min(drift.early_rows, drift.late_rows) >= 1 and drift.early_rows + drift.late_rows == part.n
    right = right and drift.early_errors + drift.late_errors == part.errors
    right = right and drift.early_errors <= drift.early_rows and drift.late_errors <= drift.late_rows
    told = f"{drift.early_errors:,} errors in {drift.early_rows:,} early rows, "
    told += f"{drift.late_errors:,} in {drift.late_rows:,} late ones"
    if right and _work(drift) > _MOST_WORK:
        why = f"{told}; exact counting of so many would take too long"
        yield trusted(f"{where}drift", why, "parts[].drift")
        return
    if right:
        exact = fisher_p_value(drift)
        right = abs(drift.p_value - exact) <= _RELATIVE * exact
        told += f"; p = {exact:.6g}, {'as' if right else 'OTHER than'} recorded"
    yield Check(f"{where}drift", right, told)


def _work(drift: Drift) -> float:
    """Numbers that must be summed up, times the bits that they have at most."""
    errors = drift.early_errors + drift.late_errors
    return float(min(errors, drift.early_rows)) * float(drift.early_rows + drift.late_rows)


def fisher_p_value(drift: Drift) -> float:
    """The probability that a random order divides the errors at least as unevenly, by exact counting.

    Of all orders, ``C(early, x) C(late, errors - x)`` have ``x`` errors in the early part. These numbers rise and then
    fall, so those that are no larger than the one that was seen are at both ends.
    """
    early, late, errors = drift.early_rows, drift.late_rows, drift.early_errors + drift.late_errors

    def ways(x: int) -> fmpz:
        return fmpz.bin_uiui(early, x) * fmpz.bin_uiui(late, errors - x)

    first, last, seen = max(0, errors - late), min(early, errors), ways(drift.early_errors)
    tails, x, count = fmpz(0), first, ways(first)
    while x <= last and count <= seen:
        tails += count
        count = count * ((early - x) * (errors - x)) // ((x + 1) * (late - errors + x + 1))
        x += 1
    from_left, x, count = x, last, ways(last)
    while x >= from_left and count <= seen:
        tails += count
        count = count * (x * (late - errors + x)) // ((early - x + 1) * (errors - x + 1))
        x -= 1
    share = fmpq(tails, fmpz.bin_uiui(early + late, errors))
    return int(share.p) / int(share.q)
