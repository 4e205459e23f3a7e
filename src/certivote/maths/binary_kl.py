"""The Kullback-Leibler divergence of two Bernoullis, its two inverses and their derivatives.

Everything is written in the distance ``d = p - q`` and in

    phi(x) = x - ln(1 + x) >= 0,    kl(q || q + d) = q phi(d / q) + (1 - q) phi(-d / (1 - q)),

a sum of non-negative terms. So ``kl`` keeps its *relative* precision when ``p`` is close to ``q``, where the textbook
formula is a difference of two nearly equal numbers.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["kl", "kl_inverse_lower", "kl_inverse_upper", "kl_inverse_upper_derivatives", "log1p_gap"]

Array = NDArray[np.float64]

_SERIES = tuple(1.0 / k for k in range(37, 1, -2))
"""Coefficients of 2 (atanh(r) - r) / (2 r^3) = 1/3 + r^2/5 + r^4/7 + ..., last first."""

_OUTWARD = 2e-14
"""Relative amount by which an inverse is moved outward. The evaluation of ``kl`` errs by less than 1e-14 of itself."""


def log1p_gap(x: ArrayLike) -> Array:
    """Return ``phi(x) = x - ln(1 + x)`` to full relative precision, for ``x >= -1``.

    Examples
    --------
    >>> float(log1p_gap(1e-9))  # x**2 / 2, where x - log1p(x) has no correct digit
    4.999999996666667e-19
    """
    x = np.asarray(x, dtype=float)
    # ln(1 + x) = 2 atanh(r) with r = x / (2 + x), and x - 2 r = x r.
    small = np.clip(x, -0.5, 0.5)
    r = small / (2.0 + small)
    square = r * r
    series = np.zeros_like(r)
    for coefficient in _SERIES:
        series = series * square + coefficient
    near = r * (small - 2.0 * square * series)
    with np.errstate(divide="ignore", invalid="ignore"):
        far = x - np.log1p(x)
    return np.where(np.abs(x) <= 0.5, near, np.where(np.isposinf(x), np.inf, far))


def kl(q: ArrayLike, p: ArrayLike) -> Array:
    r"""Divergence ``kl(q || p) = q ln(q/p) + (1-q) ln((1-q)/(1-p))`` of two Bernoullis.

    Examples
    --------
    >>> float(kl(0.0, 0.5))
    0.6931471805599453
    """
    q, p = np.broadcast_arrays(np.asarray(q, dtype=float), np.asarray(p, dtype=float))
    d = p - q
    return _share(q, d) + _share(1.0 - q, -d)


def _share(a: Array, d: Array) -> Array:
    """``a phi(d/a) = d - a ln(1 + d/a)``, with its limit ``d`` at ``a = 0``."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        ratio = d / a
        value = np.where(np.isfinite(ratio), a * log1p_gap(ratio), d - a * (np.log(np.abs(d)) - np.log(a)))
    return np.where(a > 0, value, np.where(d >= 0, d, np.inf))


def _outermost(a: Array, b: Array, eps: Array) -> Array:
    """A ``t``, provably not below the root of ``kl = eps``, where the distance is ``d = -b expm1(-t)``.

    Here ``a`` is the probability that grows to ``a + d`` and ``b = 1 - a`` the one that shrinks to ``b exp(-t)``. In
    ``t`` the divergence is convex, increasing, zero at 0, and has slope ``d / (a + d)``. Newton's method from above
    therefore never crosses the root, and a relative move of ``t`` outward moves the divergence by at least as much.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        # Two upper bounds of the root: kl(q||p) >= d^2 / (2 p), and kl(q||p) >= b t - (entropy of q).
        bernstein = eps + np.sqrt(eps * (eps + 2.0 * a))
        entropy = -np.where(a > 0, a * np.log(a), 0.0) - np.where(b > 0, b * np.log(b), 0.0)
        t = np.minimum(np.where(bernstein < b, -np.log1p(-bernstein / b), np.inf), (eps + entropy) / b)
        active = (eps > 0) & np.isfinite(t)
        t = np.where(active, t, 0.0)
        for _ in range(100):
            fall = np.expm1(-t)
            d = -b * fall
            value = _share(a, d) + b * np.where(t < 0.5, log1p_gap(fall), t + fall)
            step = np.where(active & (d > 0), (value - eps) * (a + d) / d, 0.0)
            t = np.maximum(t - step, 0.0)
            if not np.any(np.abs(step) > 1e-15 * t):
                break
    return np.where(active, t * (1.0 + _OUTWARD), np.where(eps > 0, np.inf, 0.0))


def kl_inverse_upper(q: ArrayLike, eps: ArrayLike) -> Array:
    r"""Return ``kl^{-1}(q || eps) = max{p >= q : kl(q || p) <= eps}``, from above.

    The paper's :math:`\mathrm{kl}^{-1}` (Appendix B.1). The result is never below the true value, and above it by less
    than 1e-13 of the distance to ``q`` plus two units in the last place. A negative ``eps`` counts as 0.

    Parameters
    ----------
    q : array-like in [0, 1]
        Empirical risk.
    eps : array-like
        Allowed divergence.

    Examples
    --------
    >>> float(kl_inverse_upper(0.0, 0.1))  # 1 - exp(-0.1) = 0.0951625819640404...
    0.09516258196404238
    """
    q, eps = _checked(q, eps)
    d = -(1.0 - q) * np.expm1(-_outermost(q, 1.0 - q, eps))
    return np.where(eps > 0, np.minimum(np.nextafter(q + d, 2.0), 1.0), q)


def kl_inverse_lower(q: ArrayLike, eps: ArrayLike) -> Array:
    r"""Return ``min{p <= q : kl(q || p) <= eps}``, from below: never above the true value.

    Examples
    --------
    >>> float(kl_inverse_lower(1.0, 0.1)) <= float(np.exp(-0.1))
    True
    """
    q, eps = _checked(q, eps)
    t = _outermost(1.0 - q, q, eps)
    # q exp(-t) keeps its digits near 0, q + q expm1(-t) near q.
    p = np.where(t > 0.5, q * np.exp(-t) * (1.0 - 4e-16), np.nextafter(q + q * np.expm1(-t), -1.0))
    p = np.where(p < 1e-300, 0.0, p)  # below, floats lose the digits that would tell the two sides apart
    return np.where(eps > 0, np.clip(p, 0.0, q), q)


def kl_inverse_upper_derivatives(q: ArrayLike, eps: ArrayLike) -> tuple[Array, Array, Array]:
    r"""Return the upper inverse ``p`` and its derivatives in ``q`` and in ``eps``.

    By the implicit function theorem, with ``s = p (1-p) / (p-q)``,

        dp/deps = s,    dp/dq = s [ln((1-q)/(1-p)) - ln(q/p)].

    Where ``p`` equals ``q`` the limits 1 and infinity are returned, where ``q`` is 1 or ``eps`` infinite, zeros.
    """
    q, eps = _checked(q, eps)
    rest = 1.0 - q
    t = _outermost(q, rest, eps)
    d = -rest * np.expm1(-t)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        slope = (q + d) * rest * np.exp(-t) / d
        in_q = slope * (np.log1p(d / q) + t)
    moved, full = (d > 0) & np.isfinite(t), np.isinf(t)
    return (
        np.where(eps > 0, np.minimum(np.nextafter(q + d, 2.0), 1.0), q),
        np.where(moved, in_q, np.where(full, 0.0, 1.0)),
        np.where(moved, slope, np.where(full | (q >= 1), 0.0, np.inf)),
    )


def _checked(q: ArrayLike, eps: ArrayLike) -> tuple[Array, Array]:
    q, eps = np.broadcast_arrays(np.asarray(q, dtype=float), np.asarray(eps, dtype=float))
    if not np.all((q >= 0) & (q <= 1)):
        raise ValueError(f"q must lie in [0, 1]; got values from {np.min(q)} to {np.max(q)}.")
    if np.any(np.isnan(eps)):
        raise ValueError("eps must be a number; got NaN.")
    return q, np.maximum(eps, 0.0)
