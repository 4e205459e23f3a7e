"""The inverted kl as training sees it: smooth, finite, and with its derivatives beside the value.

What certifies is in :mod:`certivote.theory.bounds`; these functions only steer the choice of the posterior.
"""

from typing import Any

import numpy as np

from certivote.maths.binary_kl import kl_inverse_upper_derivatives

__all__ = ["c_bound_slopes", "kl_slopes"]


def kl_slopes(risks: Any, nats: float, n: int, factor: float = 1.0) -> tuple[float, float, float]:
    """``factor * kl^{-1}(risk || nats/n)``, and its derivatives in the risk and in the nats."""
    value, in_risk, in_nats = _inverse(float(np.ravel(risks)[0]), nats, n)
    return factor * value, factor * in_risk, factor * in_nats


def c_bound_slopes(risks: Any, penalty: float, confidence: float, n: int) -> tuple[float, Any, float]:
    """The C-bound of mean wrong mass and disagreement, and its derivatives in the two and in the penalty."""
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


def _inverse(risk: float, nats: float, n: int) -> tuple[float, float, float]:
    """``kl^{-1}(risk || nats/n)`` and its derivatives in the risk and the nats, kept finite at the edges."""
    # At risk 0 the slope in the risk is infinite: a millionth of an example away from it, it is not.
    value, in_risk, in_eps = kl_inverse_upper_derivatives(min(max(risk, 1e-6 / n), 1.0), max(nats / n, 1e-12))
    return float(value), float(in_risk), float(in_eps) / n
