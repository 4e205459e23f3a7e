"""The differences of given models: every pair, counted on the same rows, at its part of delta."""

import math
from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certivote.certificate import Difference
from certivote.maths.betting import betting_upper, order_free_upper
from certivote.maths.difference import difference_upper
from certivote.pipeline._plan import MOST_COMPARED, Plan
from certivote.theory.entities import Entities

Mask = NDArray[np.bool_]
_GRID = 2.0**24
"""Limits are recorded as multiples of one part of this, rounded outwards: they are proved, and not repeated."""


def make_differences(
    plan: Plan, wrong: Mapping[str, Mask], entities: Entities | None, margin: float | None
) -> tuple[Difference, ...]:
    """All pairs of models, which hold at once; ``wrong`` says of each at which rows it is."""
    if not plan.n_differences:
        return ()
    delta = plan.promise_delta / plan.n_differences
    return tuple(
        _difference((first, second), (wrong[first], wrong[second]), delta, entities, margin, plan.in_order)
        for first, second in combinations(wrong, 2)
    )


def _difference(
    names: tuple[str, str],
    wrong: tuple[Mask, Mask],
    delta: float,
    entities: Entities | None,
    margin: float | None,
    in_order: bool,
) -> Difference:
    """One pair, with half of delta for each limit."""
    first, second = wrong
    first_only, second_only = int(np.count_nonzero(first & ~second)), int(np.count_nonzero(second & ~first))
    losses = np.empty(0) if entities is None else entities.losses((1.0 + first - second) / 2.0)
    if entities is None:
        upper = difference_upper(first_only, second_only, len(first), delta / 2.0)
        lower = -difference_upper(second_only, first_only, len(first), delta / 2.0)
    else:
        upper = _by_bets(losses, delta / 2.0, in_order)
        lower = -_by_bets(1.0 - losses, delta / 2.0, in_order)
    return Difference(
        *names,
        n=len(first),
        entities=len(losses),
        first_only=first_only,
        second_only=second_only,
        losses=tuple(losses.tolist()),
        delta=delta,
        margin=margin,
        lower=math.floor(lower * _GRID) / _GRID,
        upper=math.ceil(upper * _GRID) / _GRID,
    )


def _by_bets(losses: NDArray[np.float64], level: float, in_order: bool) -> float:
    """An upper limit for the mean difference from one for the mean of the losses, which were rounded to floats."""
    above, log_level = np.minimum(losses + 2.0**-52, 1.0), math.log(level)
    mean = betting_upper(above, log_level, log_level) if in_order else order_free_upper(above, log_level)
    return min(math.nextafter(2.0 * mean - 1.0, 2.0), 1.0)


def check_margin(margin: Any, n_models: int) -> float | None:
    """A margin for the differences of several models."""
    if margin is None:
        return None
    if isinstance(margin, bool) or not isinstance(margin, int | float | np.number) or not 0.0 < margin < 1.0:
        raise ValueError(f"margin must be a number between 0 and 1, such as 0.005; got {margin!r:.100}.")
    if not 2 <= n_models <= MOST_COMPARED:
        raise ValueError(f"margin is about differences of models; give two, or up to {MOST_COMPARED}.")
    return float(margin)


def certify_difference(
    y_true: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    delta: float = 0.05,
    groups: ArrayLike | None = None,
    margin: float | None = None,
) -> Difference:
    """Limits for the error of one model minus that of another, from their answers to the same rows.

    With probability at least ``1 - delta`` the difference lies between ``lower`` and ``upper``. The rows must have had
    no part in training either model, in tuning it or in choosing it, which nothing can check.

    Parameters
    ----------
    y_true : array-like
        The true labels.
    first, second : array-like
        The answers of both models.
    delta : float in (0, 1), default=0.05
        Probability with which either limit may fail.
    groups : array-like, optional
        What each row belongs to, such as a patient: the errors are then those on a random row of a new one.
    margin : float in (0, 1), optional
        By how much the error of the first may be larger and still count as not worse. Fix it before you look at the
        rows.

    Returns
    -------
    Difference
        What was counted, the limits, and what follows from them. For a record that an auditor can check, give both to
        :func:`certify` or :func:`certify_predictions`, whose certificates have ``differences``.

    Examples
    --------
    A new model against the one in use, at 1,000 rows:

    >>> from certivote import certify_difference
    >>> truth = ["ill", "well"] * 500
    >>> new, old = ["well"] * 4 + truth[4:], truth[:990] + ["ill"] * 10
    >>> found = certify_difference(truth, new, old, margin=0.005)
    >>> found.discordant, found.verdict
    ((2, 5), 'not worse by more than 0.005')
    """
    from certivote.pipeline._given import certify_predictions

    answers = {"first": first, "second": second}
    return certify_predictions(y_true, answers, delta, groups, margin=margin).differences[0]
