"""The Kullback-Leibler divergence of two Bernoullis, its two inverses and their derivatives.

Everything is written in the distance ``d = p - q`` and in

    phi(x) = x - ln(1 + x) >= 0,    kl(q || q + d) = q phi(d / q) + (1 - q) phi(-d / (1 - q)),

a sum of non-negative terms. So ``kl`` keeps its *relative* precision when ``p`` is close to ``q``, where the textbook
formula is a difference of two nearly equal numbers.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["kl", "kl_inverse_lower", "kl_inverse_upper", "kl_inverse_upper_derivatives", "log1p_gap"]

Array = NDArray[np.float64]

_OUTWARD = 2e-14
"""Relative amount by which an inverse is moved outward. The evaluation of ``kl`` errs by less than 1e-14 of itself."""


def _series(square: Any) -> Any:
    """``(atanh(r) - r) / r^3 = 1/3 + r^2/5 + r^4/7 + ...`` at ``square = r^2 <= 1/9``."""
    total = square * 0.0
    for k in range(37, 1, -2):
        total = total * square + 1.0 / k
    return total


def log1p_gap(x: ArrayLike) -> Array:
    """Return ``phi(x) = x - ln(1 + x)`` to full relative precision, for ``x >= -1``.

    Examples
    --------
    >>> f"{float(log1p_gap(1e-9)):.10e}"  # x**2 / 2 - x**3 / 3, where x - log1p(x) has no correct digit
    '4.9999999967e-19'
    """
    x = np.asarray(x, dtype=float)
    # ln(1 + x) = 2 atanh(r) with r = x / (2 + x), and x - 2 r = x r.
    small = np.clip(x, -0.5, 0.5)
    r = small / (2.0 + small)
    near = r * (small - 2.0 * r * r * _series(r * r))
    with np.errstate(divide="ignore", invalid="ignore"):
        far = x - np.log1p(x)
    return np.where(np.abs(x) <= 0.5, near, np.where(np.isposinf(x), np.inf, far))


def _gap(x: float) -> float:
    """:func:`log1p_gap` of one finite number."""
    if abs(x) > 0.5:
        return x - math.log1p(x) if x > -1.0 else math.inf
    r = x / (2.0 + x)
    return float(r * (x - 2.0 * r * r * _series(r * r)))


def _share(a: float, d: float) -> float:
    """``a phi(d/a) = d - a ln(1 + d/a)`` for ``d >= 0``, with its limit at ``a = 0``."""
    if a <= 0.0:
        return d
    ratio = d / a
    return a * _gap(ratio) if math.isfinite(ratio) else d - a * (math.log(d) - math.log(a))


def _term(a: float, b: float, d: float) -> float:
    """``d - a ln(b / a)``: what a probability that goes from ``a`` to ``b = a + d`` adds to ``kl``."""
    if d >= 0.0:
        return _share(a, d)
    if b <= 0.0:
        return math.inf
    return d + a * (math.log(a) - math.log(b)) if b < 0.5 * a else a * _gap(d / a)


def _elementwise(function: Callable[..., Any], q: ArrayLike, other: ArrayLike, outputs: int = 1) -> Any:
    """Apply a function of two numbers to arrays that broadcast."""
    q, other = np.asarray(q, dtype=float), np.asarray(other, dtype=float)
    if not np.all((q >= 0) & (q <= 1)):
        raise ValueError(f"q must lie in [0, 1]; got values from {np.min(q)} to {np.max(q)}.")
    if np.any(np.isnan(other)):
        raise ValueError("The divergence or second probability must be a number; got NaN.")
    if q.ndim == other.ndim == 0:
        result = function(float(q), float(other))
        return np.float64(result) if outputs == 1 else tuple(np.float64(value) for value in result)
    return np.vectorize(function, otypes=[float] * outputs)(q, other)


def kl(q: ArrayLike, p: ArrayLike) -> Array:
    r"""Divergence ``kl(q || p) = q ln(q/p) + (1-q) ln((1-q)/(1-p))`` of two Bernoullis.

    Examples
    --------
    >>> float(kl(0.0, 0.5))
    0.6931471805599453
    """
    return _elementwise(lambda q, p: _term(q, p, p - q) + _term(1.0 - q, 1.0 - p, q - p), q, p)


def _outermost(a: float, b: float, eps: float) -> float:
    """A ``t``, provably not below the root of ``kl = eps``, where the distance is ``d = -b expm1(-t)``.

    Here ``a`` is the probability that grows to ``a + d`` and ``b = 1 - a`` the one that shrinks to ``b exp(-t)``. In
    ``t`` the divergence is convex, increasing, zero at 0, and has slope ``d / (a + d)``. Newton's method from above
    therefore never crosses the root, and a relative move of ``t`` outward moves the divergence by at least as much.
    """
    if eps <= 0.0:
        return 0.0
    if b <= 0.0 or math.isinf(eps):
        return math.inf
    # Two upper bounds of the root: kl(q||p) >= d^2 / (2 p), and kl(q||p) >= b t - (entropy of q).
    bernstein = eps + math.sqrt(eps * (eps + 2.0 * a))
    entropy = -(a * math.log(a) if a > 0 else 0.0) - b * math.log(b)
    t = (eps + entropy) / b
    if bernstein < b:
        t = min(t, -math.log1p(-bernstein / b))
    if math.isinf(t):
        return t
    for _ in range(100):
        fall = math.expm1(-t)
        d = -b * fall
        if d <= 0.0:
            break
        value = _share(a, d) + b * (_gap(fall) if t < 0.5 else t + fall)
        step = (value - eps) * (a + d) / d
        t = max(t - step, 0.0)
        if abs(step) <= 1e-15 * t:
            break
    return t * (1.0 + _OUTWARD)


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
    >>> round(float(kl_inverse_upper(0.0, 0.1)), 12)  # 1 - exp(-0.1)
    0.095162581964
    """
    return _elementwise(lambda q, eps: _upper(q, eps)[0], q, eps)


def kl_inverse_lower(q: ArrayLike, eps: ArrayLike) -> Array:
    r"""Return ``min{p <= q : kl(q || p) <= eps}``, from below: never above the true value.

    Examples
    --------
    >>> float(kl_inverse_lower(1.0, 0.1)) <= float(np.exp(-0.1))
    True
    """
    return _elementwise(_lower, q, eps)


def kl_inverse_upper_derivatives(q: ArrayLike, eps: ArrayLike) -> tuple[Array, Array, Array]:
    r"""Return the upper inverse ``p`` and its derivatives in ``q`` and in ``eps``.

    By the implicit function theorem, with ``s = p (1-p) / (p-q)``,

        dp/deps = s,    dp/dq = s [ln((1-q)/(1-p)) - ln(q/p)].

    Where ``p`` equals ``q`` the limits 1 and infinity are returned, where ``q`` is 1 or ``eps`` infinite, zeros.
    """
    result: tuple[Array, Array, Array] = _elementwise(_upper, q, eps, outputs=3)
    return result


def _upper(q: float, eps: float) -> tuple[float, float, float]:
    rest = 1.0 - q
    t = _outermost(q, rest, eps)
    if math.isinf(t):
        return 1.0, 0.0, 0.0
    d = -rest * math.expm1(-t)
    if d <= 0.0:
        return min(math.nextafter(q, 2.0), 1.0) if eps > 0 else q, 1.0, math.inf
    slope = (q + d) * rest * math.exp(-t) / d
    in_q = slope * (math.log1p(d / q) + t) if q > 0 and math.isfinite(d / q) else math.inf
    # 1 - rest exp(-t) keeps its digits near 1, q + d near q.
    p = math.nextafter(1.0 - rest * math.exp(-t) * (1.0 - 1e-15) if t > 0.5 else q + d, 2.0)
    return min(p, 1.0), in_q, slope


def _lower(q: float, eps: float) -> float:
    t = _outermost(1.0 - q, q, eps)
    if eps <= 0.0:
        return q
    # q exp(-t) keeps its digits near 0, q + q expm1(-t) near q.
    p = q * math.exp(-t) * (1.0 - 1e-15) if t > 0.5 else math.nextafter(q + q * math.expm1(-t), -1.0)
    return p if p >= 1e-300 else 0.0  # below, floats lose the digits that would tell the two sides apart
