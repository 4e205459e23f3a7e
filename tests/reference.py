"""What several tests compare with."""

import numpy as np
from mpmath import mp, mpf


def exact_kl(q, p):
    """``kl(q || p)`` in the working precision of mpmath, of numbers taken as they are."""
    q, p = mpf(q), mpf(p)
    value = mpf(0)
    if q > 0:
        value += q * mp.log(q / p) if p > 0 else mp.inf
    if q < 1:
        value += (1 - q) * mp.log((1 - q) / (1 - p)) if p < 1 else mp.inf
    return value


def central_differences(function, point, relative=1e-5):
    """Gradient of a function of positive numbers."""
    gradient = np.empty_like(point)
    for j, x in enumerate(point):
        step = np.zeros_like(point)
        step[j] = relative * x
        gradient[j] = (function(point + step) - function(point - step)) / (2 * relative * x)
    return gradient


def assert_gradient(gradient, expected, tolerance):
    """Equal up to a share of the largest entry, which must not be 0."""
    assert np.max(np.abs(expected)) > 0
    np.testing.assert_allclose(gradient, expected, rtol=0, atol=tolerance * np.max(np.abs(expected)))
