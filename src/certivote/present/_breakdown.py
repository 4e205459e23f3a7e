"""What a certificate's bound is made of, step by step, and what it would be with other numbers: for pictures.

Nothing here is promised. The promise is the recorded bound at the recorded delta.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

import numpy as np
from numpy.typing import NDArray

from certivote.certificate import Certificate
from certivote.theory import calculator
from certivote.theory.families import FAMILIES
from certivote.theory.general_bounds import Constant
from certivote.theory.methods import METHODS
from certivote.theory.theorems import Setting

__all__ = ["Step", "bound_at", "error_share", "least_bound", "observed_rate", "rows_needed", "steps", "vote_weights"]

_LEARNED = ("draw", "weights", "occam", "prior")
"""Payments for what was learned; the others are for confidence."""
_NO_ORDER = 2.0
"""Stands where a theorem does not look at the order of the Rényi divergence."""


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
    """Error rate of the deployed vote on the certification rows; of the random vote, as the bound takes it."""
    part = certificate.deployed_part
    return part.risks[0] if part.errors is None else part.errors / part.n


def error_share(certificate: Certificate) -> Fraction | None:
    """The errors among the certification rows, exactly; None where the bound starts from another statistic."""
    part = certificate.deployed_part
    counted = METHODS[certificate.method].predictor.counts_errors
    return Fraction(part.errors, part.n) if counted and part.errors is not None else None


def steps(certificate: Certificate) -> list[Step]:
    """From the observed error rate to the bound: what each payment adds, confidence first.

    The sum of the steps is the bound whatever their order; the size of each depends on it, since a bound is not linear
    in nats. What is paid for the draw and for a level that depends on it is one step.
    """
    part, theorem = certificate.deployed_part, METHODS[certificate.method].theorem
    rate = observed_rate(certificate)
    found = [Step("observed", None, 0.0, rate)]
    if part.errors is not None and error_share(certificate) is None:
        found.append(Step("surrogate", None, rate, theorem.invert(part.risks, 0.0, 0.0, part.n)))
    payments: dict[str, float] = {}
    for payment in part.payments:
        what = "draw" if payment.what == "occam" else payment.what
        payments[what] = payments.get(what, 0.0) + payment.nats
    penalty = confidence = 0.0
    for what in sorted(payments, key=lambda what: (what in _LEARNED, what not in ("confidence", "rest"))):
        if what in _LEARNED:
            penalty += payments[what]
        else:
            confidence += payments[what]
        end = theorem.invert(part.risks, penalty, confidence, part.n)
        if payments[what]:
            found.append(Step(what, payments[what], found[-1].end, end))
    return found


def bound_at(certificate: Certificate, *, n: int | None = None, delta: float | None = None) -> float:
    """The bound of the deployed vote if it had been certified on ``n`` rows, or at ``delta``, all else being equal.

    The error rate on the rows is the same (rounded up to whole errors) and so is the penalty.
    """
    n = certificate.deployed_part.n if n is None else n
    share = error_share(certificate) or Fraction(0)
    return _bound(certificate, certificate.delta if delta is None else delta)(math.ceil(share * n), n)


def _bound(certificate: Certificate, delta: float) -> Callable[[float, int], float]:
    """The bound of the deployed vote at its penalty, as a function of the errors, if it starts from these, and of n."""
    part, theorem = certificate.deployed_part, METHODS[certificate.method].theorem
    events = certificate.n_draws * max(len(certificate.renyi_orders), 1)
    left = 1.0 - part.risk_delta * events / part.delta
    constant = cast(Constant, certificate.constant)
    setting = Setting(delta / len(certificate.parts) / events * left, part.renyi_order or _NO_ORDER, constant)
    if error_share(certificate) is None:
        return lambda _, n: theorem.bound(part.risks, part.penalty, n, setting)
    return lambda errors, n: theorem.of_errors(errors, part.penalty, n, setting)


def least_bound(certificate: Certificate) -> float:
    """What the bound comes down to with ever more rows and the same error rate."""
    return bound_at(certificate, n=100 * calculator.LARGEST)


def rows_needed(certificate: Certificate, target: float) -> int | None:
    """Certification rows with which the bound would be at most ``target``; None if a billion are not enough."""
    share = error_share(certificate) or Fraction(0)
    return calculator.rows_needed(_bound(certificate, certificate.delta), share, target)


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
