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

The threshold lies just below that number, and above the next smaller one, where the events of these rows are the same:
a number that is computed again, by other instructions of a processor, may differ in its last bits, which must not
decide. Rounded to single precision, as NumPy does where it compares masses of that precision with it, it lies there
too.

What has been shown is ``F(t) <= a``, and not that ``F(t)`` is at most the bound of the statement where that is less.

*Entities: a fixed sequence.* The bound of bets does not always grow where losses do, so the argument does not apply.
The thresholds 0 and ``((k - 1/3)/256)^2``, ``k = 1, ..., 256``, are tested in ascending order, each at the full level,
and the last before the first that fails is taken. (Of a rare class most masses are small, so that the steps are.)
*Proof.* A false claim needs that the first threshold with ``F(t) > a`` passed its test, which is one test of a
threshold that was fixed beforehand.
"""

from collections.abc import Callable
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certivote.certificate import Fixed, PromiseRecord, Statement, counted
from certivote.promises._ledger import Ledger

Array = NDArray[np.float64]
Test = Callable[[float], Statement]
"""The statement that is made at a threshold."""

GRID = 256
"""Steps of the thresholds that are tested one after another where rows belong to entities."""
_BESIDE = 1 / 3
"""By how much of a step these are off round numbers, which masses often are."""
_BETWEEN, _ERROR = 0.499999, 1e-9
"""A threshold is so far from one number to the next (not half-way, where those of other rows may be), or closer: by
more than any rounding error."""
_NEEDED = "rows needed"
_MOST_NEEDED, _MOST_BETS = 1_000_000, 10_000
"""Rows, and entities, beyond which nobody looks."""


def checked_share(name: str, value: Any) -> float:
    """A share between 0 and 1."""
    if not isinstance(value, Real) or isinstance(value, bool) or value <= 0.0 or not value < 1.0:
        raise ValueError(f"{name} must be a number between 0 and 1, such as 0.95; got {value!r:.100}.")
    return float(value)


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
    below = np.concatenate([[0.0], candidates[:-1]])
    first, end = 0, len(candidates)
    while first < end:
        middle = (first + end) // 2
        statement = test(float(candidates[middle]))
        if statement.bound <= most and (statement.errors or 0) <= most * statement.n:
            low, high = float(below[middle]), float(candidates[middle])
            between = apart(low, max(low + _BETWEEN * (high - low), high - _ERROR), high)
            found, first = replace(statement, threshold=between), middle + 1
        else:
            end = middle
    return found


def apart(low: float, number: float, high: float) -> float:
    """A number between two others or, if in single precision it is no longer above the lower one, the next that is.

    NumPy rounds a threshold where it compares scores of single precision with it.

    Examples
    --------
    >>> apart(0.25, 0.3, 0.35), apart(0.25, 0.25 + 1e-9, 0.25 + 2.0**-25)
    (0.3, 0.2500000298023224)
    """
    with np.errstate(over="ignore"):
        single = np.float32(number)
        above = float(single if float(single) > low else np.nextafter(single, np.float32(np.inf)))
    if above != float(single) and above <= high:
        return above
    return number if low < number < high else high


def _last_before_failure(test: Test, ascending: Array, most: float) -> Statement | None:
    """The last statement of the fixed sequence before the first that fails."""
    last = None
    for step in range(GRID + 1):
        threshold = (max(step - _BESIDE, 0.0) / GRID) ** 2
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

    few, many, limit = 0, 1, _MOST_BETS if bets else _MOST_NEEDED
    while many < limit and not enough(many):
        few, many = many, 2 * many
    if many >= limit:
        return ()
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (few, middle) if enough(middle) else (middle, many)
    return (Fixed(_NEEDED, (float(many),), ()),)


def lacking(record: PromiseRecord) -> str:
    """How many rows, or entities, there were for the statement that had the fewest, and how many it takes."""
    fewest = min(record.statements, key=lambda entry: entry.size)
    units = (
        counted(fewest.size, "group")
        if any(entry.entities for entry in record.statements)
        else counted(fewest.size, "row")
    )
    needed = next((int(fixed.numbers[0]) for fixed in record.fixed if fixed.what == _NEEDED and fixed.numbers), None)
    most = "far more" if needed is None else f"at least {needed:,}"
    return f"there are {units}, and it takes {most} if none of them goes wrong"
