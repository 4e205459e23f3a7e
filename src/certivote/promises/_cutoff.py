r"""The largest threshold at which a share of cases is certified to be small, chosen by looking at the rows.

*What is looked for.* Of some cases, a number ``z`` is known, and the event at the threshold ``t`` is ``z < t``: an ill
person is missed, a true class is left out of a set. Its probability ``F(t)`` does not decrease in ``t``. Wanted is a
large ``t`` with ``F(t) <= a``.

*Rows by themselves: no price.* Take the largest ``t`` among the numbers seen at which the bound of the ``k(t)`` events
among ``n`` rows is at most ``a``. It fails to have ``F(t) <= a`` with probability at most the level of that one bound.
*Proof.* Fix the vote, and let ``s`` be the largest number with ``F(s) <= a`` (there is one, since ``F`` is continuous
from the left; if it is infinite there is nothing to prove). Then ``p = P[z <= s]`` is at least ``a``, and the number
``K`` of rows with ``z <= s`` is binomial with ``p``. If the chosen ``t`` is beyond ``s``, each of these ``K`` rows has
an event at ``t``, so ``K <= k(t)``, and the bound of ``K`` events, which is not larger than that of ``k(t)``, is at
most ``a <= p``: the one test of ``K`` fails. This test does not depend on ``t`` nor on the level, as the lemma of
:mod:`certivote.promises._ledger` asks. (It is the Beta distribution of an order statistic, known from prediction sets
whose coverage holds given the calibration rows.)

What has been shown is ``F(t) <= a``, and not that ``F(t)`` is at most the bound of the statement where that is less.

*Entities: a fixed sequence.* The bound of bets does not always grow where losses do, so the argument does not apply.
The thresholds ``0/256, 1/256, ..., 256/256`` are tested in ascending order, each at the full level, and the last before
the first that fails is taken. *Proof.* A false claim needs that the first threshold with ``F(t) > a`` passed its test,
which is one test of a threshold that was fixed beforehand.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certivote.certificate import Fixed, PromiseRecord, Statement, counted, entities
from certivote.promises._ledger import Ledger

__all__ = ["GRID", "all_but", "checked_share", "lacking", "largest_threshold", "rows_needed"]

Array = NDArray[np.float64]
Test = Callable[[float], Statement]
"""The statement that is made at a threshold."""

GRID = 256
"""Steps of the thresholds that are tested one after another where rows belong to entities."""
_NEEDED = "rows needed"
_MOST_NEEDED = 1_000_000


def checked_share(name: str, value: Any) -> float:
    """A share between 0 and 1."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0.0 < float(value) < 1.0:
        raise ValueError(f"{name} must be a number between 0 and 1, such as 0.95; got {value!r:.100}.")
    return float(value)


def all_but(share: float) -> float:
    """One minus a share, rounded down.

    Examples
    --------
    >>> all_but(0.75)
    0.25
    """
    rest = 1.0 - share
    return rest if Fraction(rest) + Fraction(share) <= 1 else math.nextafter(rest, 0.0)


def largest_threshold(test: Test, candidates: Array, numbers: Array, grid: bool, most: float) -> Statement | None:
    """The statement at the largest threshold whose bound is at most ``most``; None if there is none.

    Parameters
    ----------
    test : function of a threshold
        Its events are numbers below the threshold.
    candidates : array
        Thresholds that may be chosen: numbers of the rows that the statement is about.
    numbers : array
        All numbers of these rows; infinite where no threshold makes an event.
    grid : bool
        Whether the fixed sequence is tested, as it must be where rows belong to entities.
    most : float
        Also the largest share of the rows themselves that may have events.
    """
    if grid:
        return _last_before_failure(test, np.sort(numbers), most)
    candidates, found = np.unique(candidates), None
    first, end = 0, len(candidates)
    while first < end:
        middle = (first + end) // 2
        statement = test(float(candidates[middle]))
        if statement.bound <= most and (statement.errors or 0) <= most * statement.n:
            found, first = statement, middle + 1
        else:
            end = middle
    return found


def _last_before_failure(test: Test, ascending: Array, most: float) -> Statement | None:
    """The last statement of the fixed sequence before the first that fails."""
    last = None
    for step in range(GRID + 1):
        threshold = step / GRID
        if last is not None and last.errors == np.searchsorted(ascending, threshold):
            last = replace(last, threshold=threshold)  # the same rows have events
            continue
        statement = test(threshold)
        if statement.bound > most:
            break
        last = statement
    return last


def rows_needed(ledger: Ledger, most: float, of: float) -> tuple[Fixed, ...]:
    """Rows, or entities, from which on a bound on no event at all would be at most ``most``, for the same payments."""
    paid = replace(ledger.setting, delta=ledger.setting.delta / of)
    bets = ledger.counted.entities is not None

    def enough(n: int) -> bool:
        zeros = (0.0,) * n if bets else ()
        return ledger.theorem.bound((0.0, *zeros), ledger.penalty, n, paid) <= most

    few, many = 0, 1
    while many < _MOST_NEEDED and not enough(many):
        few, many = many, 2 * many
    if many >= _MOST_NEEDED:
        return ()
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (few, middle) if enough(middle) else (middle, many)
    return (Fixed(_NEEDED, (float(many),), ()),)


def lacking(record: PromiseRecord) -> str:
    """How many rows, or entities, there were for the statement that had the fewest, and how many it takes."""
    fewest = min(record.statements, key=lambda entry: entry.size)
    units = entities(fewest.size) if any(entry.entities for entry in record.statements) else counted(fewest.size, "row")
    needed = next((int(fixed.numbers[0]) for fixed in record.fixed if fixed.what == _NEEDED and fixed.numbers), None)
    most = f"{_MOST_NEEDED:,} or more" if needed is None else f"at least {needed:,}"
    return f"there are {units}, and it takes {most} if none of them goes wrong"
