"""The shapes that the bounds have: an inverted kl, the C-bound of two of them, and an inverted binomial tail."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from certivote.bounds import add_up, average_bound, c_bound, check_shares, moment_limits, sample_bound
from certivote.maths.binary_kl import kl_inverse_upper_derivatives
from certivote.maths.binomial import binomial_upper

__all__ = ["Account", "BinomialForm", "CForm", "Form", "KlForm", "average_of_bounds"]


Account = tuple[Sequence[float], float, float, int]
"""Statistics, penalty, confidence and size of one sample: the arguments of :meth:`Form.bound`."""


class Form(Protocol):
    """How empirical statistics, a penalty and the confidence, both in nats, become a bound."""

    def bound(self, risks: Sequence[float], penalty: float, confidence: float, n: int) -> float:
        """The bound of one sample, never below the exact value."""

    def average(self, accounts: Sequence[Account], shares: Sequence[float]) -> float:
        """The bound on the average of the votes of several samples."""

    def slopes(self, risks: Any, penalty: float, confidence: float, n: int) -> tuple[float, Any, float]:
        """The bound, and its derivatives in the statistics and in the penalty, for training."""


@dataclass(frozen=True)
class KlForm:
    """``coefficient * kl^{-1}(risk || (penalty + confidence) / n)``."""

    coefficient: float = 1.0

    def bound(self, risks: Sequence[float], penalty: float, confidence: float, n: int) -> float:
        return self.coefficient * sample_bound(risks[0], add_up(penalty, confidence), n)

    def average(self, accounts: Sequence[Account], shares: Sequence[float]) -> float:
        risks, penalties, confidences, sizes = zip(*accounts, strict=True)
        nats = [add_up(p, c) for p, c in zip(penalties, confidences, strict=True)]
        return self.coefficient * average_bound([risk[0] for risk in risks], nats, sizes, shares)

    def slopes(self, risks: Any, penalty: float, confidence: float, n: int) -> tuple[float, Any, float]:
        value, in_risk, in_nats = _inverse(float(np.ravel(risks)[0]), penalty + confidence, n)
        return self.coefficient * value, self.coefficient * in_risk, self.coefficient * in_nats


@dataclass(frozen=True)
class CForm:
    """The C-bound, from the mean wrong mass (one divergence) and the disagreement (two: pairs of voters are drawn)."""

    def bound(self, risks: Sequence[float], penalty: float, confidence: float, n: int) -> float:
        return c_bound(*self._limits(risks, penalty, confidence, n))

    def average(self, accounts: Sequence[Account], shares: Sequence[float]) -> float:
        check_shares(shares)
        limits = [self._limits(*account) for account in accounts]
        upper = math.fsum(share * limit[0] for share, limit in zip(shares, limits, strict=True)) * (1 + 4e-16)
        lower = math.fsum(share * limit[1] for share, limit in zip(shares, limits, strict=True)) * (1 - 4e-16)
        return c_bound(upper, lower)

    def slopes(self, risks: Any, penalty: float, confidence: float, n: int) -> tuple[float, Any, float]:
        upper, upper_in_risk, upper_in_nats = _inverse(float(risks[0]), penalty + confidence, n)
        if upper >= 0.5:
            # The bound is 1 and flat: descend the mean wrong mass until it applies.
            return 0.5 + upper, np.array([upper_in_risk, 0.0]), upper_in_nats
        mirrored, lower_in_risk, mirrored_in_nats = _inverse(1.0 - float(risks[1]), 2 * penalty + confidence, n)
        lower = 1.0 - mirrored
        gap, spread = 1.0 - 2.0 * upper, 1.0 - 2.0 * lower
        in_upper, in_lower = 4.0 * gap / spread, -2.0 * (gap / spread) ** 2
        in_penalty = in_upper * upper_in_nats - 2.0 * in_lower * mirrored_in_nats
        return 1.0 - gap**2 / spread, np.array([in_upper * upper_in_risk, in_lower * lower_in_risk]), in_penalty

    @staticmethod
    def _limits(risks: Sequence[float], penalty: float, confidence: float, n: int) -> tuple[float, float]:
        return moment_limits(risks[0], risks[1], (penalty + confidence, 2 * penalty + confidence), n)


@dataclass(frozen=True)
class BinomialForm:
    """The Clopper-Pearson limit at level ``exp(-(penalty + confidence))``."""

    def bound(self, risks: Sequence[float], penalty: float, confidence: float, n: int) -> float:
        return float(binomial_upper(round(risks[0] * n), n, -add_up(penalty, confidence)))

    def average(self, accounts: Sequence[Account], shares: Sequence[float]) -> float:
        return average_of_bounds(self, accounts, shares)

    def slopes(self, risks: Any, penalty: float, confidence: float, n: int) -> tuple[float, Any, float]:
        # The Chernoff limit at the same level: above it by little, and smooth.
        return KlForm().slopes(risks, penalty, confidence, n)


def average_of_bounds(form: Form, accounts: Sequence[Account], shares: Sequence[float]) -> float:
    """A bound on the average of the votes: the average of their bounds."""
    check_shares(shares)
    own = [form.bound(*account) for account in accounts]
    return math.fsum(share * bound for share, bound in zip(shares, own, strict=True)) * (1 + 4e-16)


def _inverse(risk: float, nats: float, n: int) -> tuple[float, float, float]:
    """``kl^{-1}(risk || nats/n)`` and its derivatives in the risk and the nats, kept finite at the edges."""
    # At risk 0 the slope in the risk is infinite: a millionth of an example away from it, it is not.
    value, in_risk, in_eps = kl_inverse_upper_derivatives(min(max(risk, 1e-6 / n), 1.0), max(nats / n, 1e-12))
    return float(value), float(in_risk), float(in_eps) / n
