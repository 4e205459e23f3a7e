"""Bounds without data: from an error rate, a sample size and a penalty, and back to the size that a bound needs."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from certivote.bounds import Constant, dis_b, dis_r, dis_v, holdout, seeger_maurer
from certivote.priors import staying_price

__all__ = ["LARGEST", "Formula", "examples_needed", "formulas"]

LARGEST = 10**9
"""Sample sizes beyond this are not looked for."""


@dataclass(frozen=True)
class Formula:
    """A bound as a function of the errors and the sample size alone.

    Attributes
    ----------
    method : str
    constant : {"", "exact", "paper"}
        Which constant, where the theorem has one.
    theorem : str
    certified : str
        Whose error is bounded.
    counted : str
        What the error rate is the rate of.
    factor : float
        What the bound tends to as the sample grows, in error rates.
    bound : (errors, n) -> float
        ``errors`` need not be whole.
    """

    method: str
    constant: str
    theorem: str
    certified: str
    counted: str
    factor: float
    bound: Callable[[float, int], float]


_FIXED, _DRAWN = "a classifier fixed beforehand", "one vote, drawn once"
_RANDOM, _MEAN = "a vote drawn for every case", "the vote of the mean weights"


def formulas(delta: float, penalty: float = 0.0, order: float = 1.5) -> list[Formula]:
    """Every bound of the library that an error rate and a penalty determine.

    Parameters
    ----------
    delta : float in (0, 1)
    penalty : float
        In nats, what learning from the sample costs: the log-density ratio at the draw (dis-b, dis-r), the Rényi
        divergence (dis-v) or the Kullback-Leibler divergence (smv, fo, so) from the prior. Only the first may be
        negative: for such a penalty the others are left out. dis-b has the price list of a fit with a given prior.
    order : float
        Of the Rényi divergence, greater than 1.

    Examples
    --------
    >>> rows = formulas(0.05, penalty=3.0)
    >>> [(row.method, round(row.bound(12, 500), 4)) for row in rows[:3]]
    [('holdout', 0.0386), ('dis-b', 0.0628), ('dis-r', 0.0661)]
    """
    if not 0 < delta < 1:
        raise ValueError(f"delta must lie strictly between 0 and 1; got {delta}.")
    if not math.isfinite(penalty):
        raise ValueError(f"penalty must be a finite number of nats; got {penalty}.")
    if not order > 1:
        raise ValueError(f"order must be greater than 1; got {order}.")
    gamma = staying_price(1.0)
    rows = [
        Formula("holdout", "", "Clopper-Pearson", _FIXED, "its errors", 1.0, lambda k, n: holdout(k, n, delta)),
        Formula(
            "dis-b",
            "",
            "Occam's hammer with the binomial tail",
            _DRAWN,
            "its errors",
            1.0,
            lambda k, n: dis_b(k, penalty, n, delta, gamma),
        ),
    ]
    constants: tuple[Constant, ...] = ("exact", "paper")
    for c in constants:
        rows.append(
            Formula(
                "dis-r", c, "Theorem 6", _DRAWN, "its errors", 1.0, partial(_of_rate, dis_r, penalty, delta, constant=c)
            )
        )
    if penalty < 0:
        return rows
    for c in constants:
        one = partial(_of_rate, seeger_maurer, penalty, delta, constant=c)
        two = partial(_of_rate, seeger_maurer, 2.0 * penalty, delta, constant=c)
        renyi = partial(_of_rate, dis_v, penalty, delta, order=order, constant=c)
        rows += [
            Formula("dis-v", c, f"Theorem 7 (order {order:g})", _DRAWN, "its errors", 1.0, renyi),
            Formula("smv", c, "Theorem 5", _RANDOM, "their mean error", 1.0, one),
            Formula("fo", c, "Theorem 2, times two", _MEAN, "the mean wrong mass", 2.0, _times(2.0, one)),
            Formula("so", c, "Theorem 2, times four", _MEAN, "the mean squared wrong mass", 4.0, _times(4.0, two)),
        ]
    return sorted(rows, key=lambda row: _ORDER.index(row.method))


_ORDER = ("holdout", "dis-b", "dis-r", "dis-v", "smv", "fo", "so")


def _of_rate(
    theorem: Callable[..., float], penalty: float, delta: float, errors: float, n: int, **settings: object
) -> float:
    return theorem(errors / n, penalty, n, delta, **settings)


def _times(factor: float, bound: Callable[[float, int], float]) -> Callable[[float, int], float]:
    return lambda errors, n: factor * bound(errors, n)


def examples_needed(formula: Formula, rate: Fraction, target: float) -> int | None:
    """The smallest sample whose bound is at most the target, if its errors are the rate times its size, rounded up.

    Parameters
    ----------
    formula : Formula
    rate : Fraction
        From 0 to 1, exactly.
    target : float

    Returns
    -------
    int or None
        None, if no sample of up to :data:`LARGEST` examples is enough; none ever is where the target does not exceed
        the limit of the bound, ``factor * rate``.

    Examples
    --------
    With no errors, ``ln(1/delta) / target`` examples and a little:

    >>> examples_needed(formulas(0.05)[0], Fraction(0), 0.01)
    299
    """
    if not 0 <= rate <= 1:
        raise ValueError(f"rate must lie between 0 and 1; got {float(rate):g}.")
    if not 0 < target < 1:
        raise ValueError(f"target must lie strictly between 0 and 1; got {target}.")
    if formula.factor * rate >= target:
        return None

    def smallest(enough: Callable[[int], bool], low: int, high: int) -> int | None:
        """Of sizes that suffice from some size on, the first."""
        if not enough(high):
            return None
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if enough(middle) else (middle + 1, high)
        return low

    # Were parts of an error possible, the bound would fall as the sample grows. Whole errors only add to it.
    start = smallest(lambda n: formula.bound(min(float(rate * n), n), n) <= target, 1, LARGEST)
    while start is not None and start <= LARGEST:
        # As long as the errors stay the same, it falls; after that, one more error has come in.
        errors = math.ceil(rate * start)
        last = LARGEST if rate == 0 else min(math.floor(errors / rate), LARGEST)
        found = smallest(lambda n, errors=errors: formula.bound(errors, n) <= target, start, last)  # type: ignore[misc]
        if found is not None:
            return found
        start = last + 1
    return None
