"""Bounds without data: from an error rate, a sample size and a penalty, and back to the size that a bound needs."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from certivote.maths.occam import PriceList
from certivote.maths.shift import shifted_bound
from certivote.theory.bounds import SMALLEST_DELTA
from certivote.theory.general_bounds import Constant
from certivote.theory.methods import METHODS, Method
from certivote.theory.theorems import Setting

__all__ = ["LARGEST", "Formula", "formulas", "rows_needed"]

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
        What the bound tends to as the sample grows, in error rates, where the population stays as it is.
    bound : (errors, n) -> float
        ``errors`` need not be whole.
    limit : (rate) -> float
        What the bound tends to as the sample grows.
    """

    method: str
    constant: str
    theorem: str
    certified: str
    counted: str
    factor: float
    bound: Callable[[float, int], float]
    limit: Callable[[float], float]


def formulas(
    delta: float,
    penalty: float = 0.0,
    renyi_order: float = 1.5,
    *,
    kl: float = 0.0,
    total_variation: float = 0.0,
    label_noise: float = 0.0,
) -> list[Formula]:
    """Every bound of the library that an error rate and a penalty determine, hold-out first.

    Parameters
    ----------
    delta : float in (0, 1)
    penalty : float
        In nats, what learning from the sample costs: the log-density ratio at the draw (dis-b, dis-r), the Rényi
        divergence (dis-v) or the Kullback-Leibler divergence (smv-exact, fo, so) from the prior. Only the first may be
        negative: for such a penalty the others are left out. dis-b has the price list of a fit with a given prior.
    renyi_order : float
        Of the Rényi divergence, greater than 1.
    kl, total_variation, label_noise : float
        By how much the population that the bound shall hold for may differ from that of the sample: see
        :func:`certivote.maths.shift.shifted_bound`.

    Examples
    --------
    >>> rows = formulas(0.05, penalty=3.0)
    >>> [(row.method, round(row.bound(12, 500), 4)) for row in rows[:3]]
    [('holdout', 0.0386), ('dis-b', 0.0628), ('dis-r', 0.0661)]
    >>> round(formulas(0.05, label_noise=0.01)[0].bound(12, 500), 4)
    0.0486
    """
    if not SMALLEST_DELTA <= delta < 1:
        raise ValueError(f"delta must be at least {SMALLEST_DELTA:g} and less than 1; got {delta}.")
    if not math.isfinite(penalty):
        raise ValueError(f"penalty must be a finite number of nats; got {penalty}.")
    if not renyi_order > 1:
        raise ValueError(f"renyi_order must be greater than 1; got {renyi_order}.")
    differs = {"kl": kl, "total_variation": total_variation, "label_noise": label_noise}
    shifted_bound(0.0, **differs)  # refuses what cannot be

    def shifted(bound: float) -> float:
        return shifted_bound(bound, **differs) if any(differs.values()) else bound

    shown = [method for method in METHODS.values() if method.counted]
    if penalty < 0:
        shown = [method for method in shown if method.theorem.charges_draw or not method.predictor.learns]
    constants: tuple[Constant, ...] = ("exact", "paper")
    return [
        _formula(
            method,
            Setting(delta, renyi_order, constant, price_list=PriceList.mixture(((0.0, 0.5),))),
            penalty,
            shifted,
        )
        for method in sorted(shown, key=lambda method: method.predictor.learns)
        for constant in constants[: 2 if method.theorem.has_constant else 1]
    ]


def _formula(method: Method, setting: Setting, penalty: float, shifted: Callable[[float], float]) -> Formula:
    theorem = method.theorem
    order = f" (order {setting.renyi_order:g})" if theorem.uses_order else ""
    return Formula(
        method.name,
        setting.constant if theorem.has_constant else "",
        f"{theorem.name}{order}",
        method.predictor.short,
        method.counted,
        theorem.factor,
        lambda errors, n: shifted(theorem.of_errors(errors, theorem.price(penalty, setting), n, setting)),
        lambda rate: shifted(theorem.factor * rate),
    )


def rows_needed(bound: Callable[[float, int], float], rate: Fraction, target: float) -> int | None:
    """The smallest sample whose bound is at most the target, if its errors are the rate times its size, rounded up.

    Parameters
    ----------
    bound : (errors, n) -> float
        Falls as ``n`` grows with the same errors or the same share of errors, and grows with the errors.
    rate : Fraction
        From 0 to 1, exactly.
    target : float

    Returns
    -------
    int or None
        None, if no sample of up to :data:`LARGEST` rows is enough.

    Examples
    --------
    With no errors, ``ln(1/delta) / target`` rows and a little:

    >>> rows_needed(formulas(0.05)[0].bound, Fraction(0), 0.01)
    299
    """
    if not 0 <= rate <= 1:
        raise ValueError(f"rate must lie between 0 and 1; got {float(rate):g}.")
    if not 0 < target < 1:
        raise ValueError(f"target must lie strictly between 0 and 1; got {target}.")

    def smallest(enough: Callable[[int], bool], low: int, high: int) -> int | None:
        """Of sizes that suffice from some size on, the first."""
        if not enough(high):
            return None
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if enough(middle) else (middle + 1, high)
        return low

    # Were parts of an error possible, the bound would fall as the sample grows. Whole errors only add to it.
    start = smallest(lambda n: bound(min(float(rate * n), n), n) <= target, 1, LARGEST)
    while start is not None and start <= LARGEST:
        # As long as the errors stay the same, it falls; after that, one more error has come in.
        errors = math.ceil(rate * start)
        last = LARGEST if rate == 0 else min(math.floor(errors / rate), LARGEST)
        found = smallest(lambda n, errors=errors: bound(errors, n) <= target, start, last)  # type: ignore[misc]
        if found is not None:
            return found
        start = last + 1
    return None
