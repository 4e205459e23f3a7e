"""What a certificate's bound is made of, step by step, and what it would be with other numbers: for pictures.

Nothing here is promised. The promise is the recorded bound at the recorded delta.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from certivote.certificate import Certificate, method_of, setting_of
from certivote.theory import calculator
from certivote.theory.bets import Betting, BettingHammer
from certivote.theory.families import FAMILIES

_LEARNED = ("draw", "weights", "occam", "prior")
"""Payments for what was learned; the others are for confidence."""
_REPEATED = 20_000
"""Groups up to which their losses are repeated."""


@dataclass(frozen=True)
class Step:
    """One step from the observed error rate up to the bound.

    Attributes
    ----------
    what : str
        ``observed``, ``surrogate``, or the name of a payment.
    nats : float or None
        What is paid; None for the first two.
    start, end : float
        The bound before and after.
    """

    what: str
    nats: float | None
    start: float
    end: float


def observed_rate(certificate: Certificate) -> float:
    """Error rate of the deployed vote on the certification rows; of the random vote, as the bound takes it.

    With groups, the mean over these, as far as the record has it.
    """
    part = certificate.deployed_part
    return part.risks[0] if part.errors is None or part.losses else part.errors / part.n


def _error_share(certificate: Certificate) -> Fraction | None:
    """The errors among the certification rows, exactly; None where the bound starts from another statistic."""
    part = certificate.deployed_part
    if part.entities or part.errors is None or not method_of(certificate).predictor.counts_errors:
        return None
    return Fraction(part.errors, part.n)


def places_bets(certificate: Certificate) -> bool:
    """Whether the bound is won by bets on the losses of groups: it then depends on each of them."""
    return isinstance(method_of(certificate).theorem, Betting | BettingHammer)


def steps(certificate: Certificate) -> list[Step]:
    """From the observed error rate to the bound: what each payment adds, confidence first.

    The sum of the steps is the bound whatever their order; the size of each depends on it, since a bound is not linear
    in nats. What is paid for the draw and for a level that depends on it is one step.
    """
    part, method = certificate.deployed_part, method_of(certificate)
    rate, statistics = observed_rate(certificate), part.statement.statistics
    found = [Step("observed", None, 0.0, rate)]
    if part.errors is not None and not method.predictor.counts_errors:
        found.append(Step("surrogate", None, rate, method.theorem.invert(statistics, 0.0, 0.0, part.size)))
    payments: dict[str, float] = {}
    for payment in certificate.payments:
        what = "draw" if payment.what == "occam" else payment.what
        payments[what] = payments.get(what, 0.0) + payment.nats
    penalty = confidence = 0.0
    for what in sorted(payments, key=lambda what: (what in _LEARNED, what not in ("confidence", "rest"))):
        if what in _LEARNED:
            penalty += payments[what]
        else:
            confidence += payments[what]
        end = method.theorem.invert(statistics, penalty, confidence, part.size)
        if payments[what]:
            found.append(Step(what, payments[what], found[-1].end, end))
    return found


def bound_at(certificate: Certificate, *, n: int | None = None, delta: float | None = None) -> float:
    """The bound of the deployed vote if it had been certified on ``n`` cases, or at ``delta``, all else being equal.

    The error rate is the same (rounded up to whole errors) and so is the penalty. Cases are rows or groups; losses
    that bets are placed on are repeated in their order.
    """
    n = certificate.deployed_part.size if n is None else n
    share = _error_share(certificate) or Fraction(0)
    return _bound(certificate, certificate.delta if delta is None else delta)(math.ceil(share * n), n)


def _bound(certificate: Certificate, delta: float) -> Callable[[float, int], float]:
    """The bound of the deployed vote at its penalty, as a function of the errors, if it starts from these, and of n."""
    part, theorem = certificate.deployed_part, method_of(certificate).theorem
    setting = setting_of(certificate, part, part.statement)
    # Divided as it was among the bound and promises, parts of the split, candidates, draws and orders.
    setting = replace(setting, delta=delta / certificate.delta * setting.delta)
    if places_bets(certificate):
        losses = np.array(part.losses)
        return lambda _, n: theorem.bound((part.risks[0], *np.resize(losses, n).tolist()), part.penalty, n, setting)
    if _error_share(certificate) is None:
        return lambda _, n: theorem.bound(part.risks, part.penalty, n, setting)
    return lambda errors, n: theorem.of_errors(errors, part.penalty, n, setting)


def least_bound(certificate: Certificate) -> float:
    """What the bound comes down to with ever more rows or groups and the same error rate."""
    if places_bets(certificate):
        return certificate.deployed_part.risks[0]
    return bound_at(certificate, n=100 * calculator.LARGEST)


def growth(certificate: Certificate) -> list[tuple[int, float]]:
    """Numbers of rows or groups, the recorded one among them, and the bound with so many.

    Where bets are placed, all losses are repeated as a whole, so the recorded number is the smallest.
    """
    part = certificate.deployed_part
    if places_bets(certificate):
        most = min(max(_REPEATED // part.size, 2), 100)
        times = np.geomspace(1, most, 13).round().astype(int)
        sizes = part.size * np.unique(times)
    else:
        spread = np.geomspace(max(part.size / 4, 2), max(part.size, 2) * 100, 81)
        if rate := float(_error_share(certificate) or 0):
            # Sizes with a whole number of errors, or the curve would show their rounding.
            spread = np.maximum(np.round(rate * spread), 1) / rate + 1e-9
        sizes = np.unique(np.append(spread.astype(int), part.size))
    return [(size, bound_at(certificate, n=size)) for size in sizes.tolist()]


def cases_needed(certificate: Certificate, target: float, curve: Sequence[tuple[int, float]]) -> int | None:
    """Rows or groups with which the bound would be at most ``target``, below the recorded one; None if too many.

    Too many are more than a billion; where bets are placed, more than the curve has, between whose points the number
    is interpolated (a bound is nearly linear in one over the square root of the size).
    """
    if not places_bets(certificate):
        share = _error_share(certificate) or Fraction(0)
        return calculator.rows_needed(_bound(certificate, certificate.delta), share, target)
    for (size, before), (larger, after) in pairwise(curve):
        if after <= target:
            place = size**-0.5 + (before - target) / (before - after) * (larger**-0.5 - size**-0.5)
            return math.ceil(place**-2)
    return None


def vote_weights(certificate: Certificate) -> NDArray[np.float64]:
    """The weights of the deployed vote, with sum 1; of the random vote, in the mean over its draws."""
    part = certificate.deployed_part
    if part.log_weights:
        logs = np.array(part.log_weights)
        # Of some families they are known only up to a common summand.
        weights = np.exp(logs - logs.max())
    else:
        weights = FAMILIES[part.family].mean_weights(np.array(part.alpha))
    return np.asarray(weights / weights.sum())
