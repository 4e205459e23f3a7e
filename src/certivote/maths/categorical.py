"""Categorical distributions: weights that are themselves the posterior over voters."""

import math

import numpy as np
import scipy
from numpy.typing import NDArray

__all__ = ["kl_divergence", "softmax", "softmax_chain"]

Array = NDArray[np.float64]


def kl_divergence(weights: Array, prior: Array) -> tuple[float, Array]:
    r"""``KL(rho || pi) = sum_j rho_j ln(rho_j / pi_j)`` and its gradient in ``rho``.

    Computed as ``sum_j [rho_j ln(rho_j / pi_j) - rho_j + pi_j]``, whose terms are non-negative and which is the same
    for weights that sum to 1. Returned from above: a bound on the rounding error is added. A weight of 0 adds nothing,
    and its gradient is given as that of the smallest positive float.

    Examples
    --------
    >>> import numpy as np
    >>> value, _ = kl_divergence(np.array([1.0, 0.0]), np.array([0.5, 0.5]))
    >>> round(value, 12)  # ln 2
    0.69314718056
    """
    terms = scipy.special.kl_div(weights, prior)
    error = 1e-15 * math.fsum(terms + weights + prior)
    tiny = np.maximum(weights, np.finfo(float).tiny)
    return math.fsum(terms) + error, np.log(tiny) - np.log(prior) + 1.0


def softmax(x: Array) -> Array:
    """Weights ``exp(x_j) / sum_k exp(x_k)``."""
    powers = np.exp(x - x.max())
    return powers / powers.sum()


def softmax_chain(weights: Array, gradient: Array) -> Array:
    """Gradient in ``x`` from a gradient in ``softmax(x)``."""
    return weights * (gradient - weights @ gradient)
