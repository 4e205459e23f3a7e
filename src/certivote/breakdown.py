"""What a certificate's bound is made of, step by step, and what it would be with other numbers: for pictures.

Nothing here is promised. The promise is the recorded bound at the recorded delta.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certivote.methods import METHODS, Setting
from certivote.records import Record

__all__ = ["Step", "bound_at", "least_bound", "observed_rate", "rows_needed", "steps", "vote_weights"]

_PENALTY = ("draw", "weights", "occam", "prior")
"""Payments that are for having learned; the others are for confidence."""
_MOST_ROWS = 10**9


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


def observed_rate(record: Record) -> float:
    """Error rate of the deployed vote on the certified rows; of the random vote, as the bound takes it."""
    part = record.deployed_part
    return part.risks[0] if part.errors is None else part.errors / part.n


def steps(record: Record) -> list[Step]:
    """From the observed error rate to the bound: what each payment adds, confidence first.

    The sum of the steps is the bound whatever their order; the size of each depends on it, since a bound is not linear
    in nats. What is paid for the draw of dis-b is one step with the price of its level.
    """
    part, form = record.deployed_part, METHODS[record.method].form
    rate = observed_rate(record)
    found = [Step("observed", None, 0.0, rate)]
    if record.certified == "the mean vote":
        found.append(Step("surrogate", None, rate, form.bound(part.risks, 0.0, 0.0, part.n)))
    payments: dict[str, float] = {}
    for payment in part.payments:
        what = "draw" if payment.what == "occam" else payment.what
        payments[what] = payments.get(what, 0.0) + payment.nats
    penalty = confidence = 0.0
    for what in sorted(payments, key=lambda what: (what in _PENALTY, what not in ("confidence", "rest"))):
        if what in _PENALTY:
            penalty += payments[what]
        else:
            confidence += payments[what]
        end = form.bound(part.risks, penalty, confidence, part.n)
        if payments[what]:
            found.append(Step(what, payments[what], found[-1].end, end))
    return found


def bound_at(record: Record, *, n: int | None = None, delta: float | None = None) -> float:
    """The bound of the deployed vote had it been certified on ``n`` rows, or at ``delta``, all else being equal.

    The error rate on the rows is the same (rounded up to whole errors) and so is the penalty.
    """
    part, method = record.deployed_part, METHODS[record.method]
    n = part.n if n is None else n
    delta = record.delta if delta is None else delta
    events = record.n_draws * max(len(record.orders), 1)
    left = 1.0 - part.risk_delta * events / part.delta
    setting = Setting(delta / len(record.parts) / events * left, part.order or 2.0, record.constant)  # type: ignore[arg-type]
    risks = part.risks if part.errors is None or part.n == n else _whole_errors(part.risks, n, method.certified)
    return method.form.bound(risks, part.penalty, method.confidence(n, setting), n)


def _whole_errors(risks: tuple[float, ...], n: int, certified: str) -> tuple[float, ...]:
    return risks if certified == "the mean vote" else (min(math.ceil(risks[0] * n - 1e-9) / n, 1.0),)


def least_bound(record: Record) -> float:
    """What the bound comes down to with ever more rows and the same error rate."""
    return bound_at(record, n=100 * _MOST_ROWS)


def rows_needed(record: Record, target: float) -> int | None:
    """Certified rows with which the bound would be at most ``target``, about; None if a billion are not enough."""
    low, high = 1, _MOST_ROWS
    if bound_at(record, n=high) > target:
        return None
    while high - low > max(1, low // 1000):
        middle = (low + high) // 2
        low, high = (low, middle) if bound_at(record, n=middle) <= target else (middle, high)
    return high


def vote_weights(record: Record) -> NDArray[np.float64]:
    """The weights of the deployed vote, with sum 1; of the random vote, in the mean over its draws."""
    part = record.deployed_part
    weights = np.exp(np.array(part.log_weights)) if part.log_weights else np.array(part.alpha)
    return np.asarray(weights / weights.sum())
