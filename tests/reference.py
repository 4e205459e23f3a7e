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


def exact_inverse(q, eps, end):
    """The end of ``{p : kl(q || p) <= eps}`` on the side of ``end``, 0 or 1, by bisection."""
    inside, outside = mpf(q), mpf(end)
    for _ in range(130 if eps > 0 else 0):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if exact_kl(q, middle) <= eps else (inside, middle)
    return inside


def differences_of_bound(bound, risks, penalty):
    """Central differences of a function of several risks and a penalty."""
    step = 1e-6
    moves = step * np.eye(len(risks))
    in_risks = [(bound(risks + h, penalty) - bound(risks - h, penalty)) / (2 * step) for h in moves]
    return np.array(in_risks), (bound(risks, penalty + 1e-5) - bound(risks, penalty - 1e-5)) / 2e-5


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
