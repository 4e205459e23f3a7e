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
    """The end of ``{p : kl(q || p) <= eps}`` on the side of ``end``, 0 or 1."""
    return last_inside(lambda p: exact_kl(q, p) - eps, mpf(q), mpf(end)) if eps > 0 else mpf(q)


def last_inside(function, inside, outside):
    """The last number from ``inside`` to ``outside`` at which a function that rises on the way is not above 0.

    Bisection, and secants as soon as they stay inside; what those lead to counts if the sign changes right there.
    """
    for _ in range(16):
        inside, outside = _halved(function, inside, outside)
    close = mp.sign(outside - inside) * mpf(10) ** (8 - mp.dps)
    (x, at_x), (y, at_y) = ((end, function(end)) for end in (inside, outside))
    while at_x != at_y and abs(x - y) > abs(close):
        x, at_x, y = y, at_y, y - at_y * (y - x) / (at_y - at_x)
        if not min(inside, outside) <= y <= max(inside, outside):
            break
        at_y = function(y)
    else:
        if function(y - close) <= 0 < function(y + close):
            return y - close
    for _ in range(114):
        inside, outside = _halved(function, inside, outside)
    return inside


def _halved(function, inside, outside):
    middle = (inside + outside) / 2
    return (middle, outside) if function(middle) <= 0 else (inside, middle)


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
