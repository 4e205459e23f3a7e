"""Dirichlet distributions: draws and densities in log space, divergences, and the gradient beside each value.

``Q = Dir(alpha)`` is the hyper-posterior and ``P = Dir(beta)`` the hyper-prior, ``A`` and ``B`` the sums of their
parameters. The formulas of the paper's Appendix B.1 are differences of log-gammas as large as ``A ln A`` whose result
may be of order one. They are rearranged here with Stirling's formula

    ln Gamma(x) = (x - 1/2) ln x - x + ln(2 pi)/2 + mu(x)

so that the large terms cancel on paper and not in floating point; what is left of them is the non-negative

    W(x, y) = sum_j x_j ln[(x_j / X) / (y_j / Y)],    X = sum_j x_j, Y = sum_j y_j.

Each value carries a bound on its own rounding error and is returned with that bound added, so that a certificate built
on it errs upward only. The amount is a few 1e-14 a voter, plus what rounding the inputs' logarithms costs: some 1e-15
of ``sum_j |alpha_j - beta_j| |ln rho_j|``.
"""

import math

import numpy as np
import scipy
from numpy.typing import NDArray

from certivote.maths.binary_kl import log1p_gap

__all__ = ["draw", "draw_at", "draw_derivative", "draw_rows", "kl_divergence", "log_ratio", "renyi_divergence"]

Array = NDArray[np.float64]

_MU = (1 / 156, -691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12)
"""Stirling's series, last term first: mu(x) = 1/(12 x) - 1/(360 x^3) + ..."""
_NU = (-1 / 12, 691 / 32760, -1 / 132, 1 / 240, -1 / 252, 1 / 120, -1 / 12)
"""The same for psi(x) - ln x = -1/(2x) - 1/(12 x^2) + 1/(120 x^4) - ..."""
_TRI = (7 / 6, -691 / 2730, 5 / 66, -1 / 30, 1 / 42, -1 / 30, 1 / 6)
"""And for psi'(x) = 1/x + 1/(2 x^2) + 1/(6 x^3) - 1/(30 x^5) + ..."""
_FAR = 12.0
"""From here on the two series are exact to double precision."""
_EPS = 2.3e-16


def _sum(x: Array) -> float:
    """Sum without rounding errors."""
    return math.fsum(x.tolist())


def _in_inverse_squares(x: Array, coefficients: tuple[float, ...]) -> Array:
    square = 1.0 / (x * x)
    total = np.zeros_like(x)
    for coefficient in coefficients:
        total = total * square + coefficient
    return total


def _stirling_rest(x: Array) -> Array:
    """``mu(x) = ln Gamma(x) - (x - 1/2) ln x + x - ln(2 pi)/2``."""
    far = np.maximum(x, _FAR)
    near = np.minimum(x, _FAR)
    series = _in_inverse_squares(far, _MU) / far
    direct = scipy.special.gammaln(near) - (near - 0.5) * np.log(near) + near - 0.5 * math.log(2 * math.pi)
    return np.where(x >= _FAR, series, direct)


def _psi_rest(x: Array) -> Array:
    """``psi(x) - ln x``."""
    far = np.maximum(x, _FAR)
    near = np.minimum(x, _FAR)
    series = -0.5 / far + _in_inverse_squares(far, _NU) / (far * far)
    return np.where(x >= _FAR, series, scipy.special.psi(near) - np.log(near))


def _trigamma(x: Array) -> Array:
    """``psi'(x) = 1/x^2 + psi'(x + 1)`` and an asymptotic series; several times faster than zeta(2, x)."""
    near = np.zeros_like(x)
    for k in range(10):
        near += (x + k) ** -2.0
    far = x + 10.0
    series = 1.0 / far + 0.5 / far**2 + _in_inverse_squares(far, _TRI) / far**3
    return near + series


def _beta_ratio(beta: Array, alpha: Array) -> tuple[float, float]:
    """``ln B(beta) - ln B(alpha) + sum_j (alpha_j - beta_j) ln(alpha_j / A)`` and a bound on its rounding error.

    It is ``W(beta, alpha)``, half the logarithm of ``prod_j (alpha_j / beta_j) / (A / B)``, and differences of ``mu``.
    ``W`` is summed as ``beta_j phi(r_j - 1)`` with ``r_j = (alpha_j / A) / (beta_j / B)``.
    """
    sums = np.array([_sum(alpha), _sum(beta)])
    ratio = (alpha / beta) * (sums[1] / sums[0])
    gap = np.where(np.abs(ratio - 1.0) <= 0.5, log1p_gap(ratio - 1.0), ratio - 1.0 - np.log(ratio))
    terms = beta * gap + 0.5 * np.log(alpha / beta) + (_stirling_rest(beta) - _stirling_rest(alpha))
    of_sums = 0.5 * math.log(sums[0] / sums[1]) + float(np.diff(_stirling_rest(sums))[0])
    value = _sum(terms) - of_sums
    # r_j errs by a few units in the last place, which moves phi by |r_j - 1| / r_j as much.
    wobble = np.minimum(np.abs(ratio - 1.0) + np.abs(1.0 - 1.0 / ratio), 2.0 + ratio) + gap
    # 3e-14 bounds the error of the rest of Stirling's formula, whose parts are below 30 where it is not a series.
    error = 5 * _EPS * float(np.sum(beta * wobble)) + 3e-14 * (len(alpha) + 1) + 4 * _EPS * abs(value)
    return value, error


def log_ratio(alpha: Array, beta: Array, log_weights: Array) -> float:
    r"""Log-density ratio ``ln[Q(rho) / P(rho)]`` at one weight vector, given as ``ln rho``.

    .. math:: \ln\frac{B(\beta)}{B(\alpha)} + \sum_j (\alpha_j - \beta_j) \ln \rho_j

    (paper, Appendix B.1). Its mean over ``rho ~ Q`` is :func:`kl_divergence`.

    Examples
    --------
    >>> import numpy as np
    >>> value = log_ratio(np.array([2.0, 1.0]), np.array([1.0, 1.0]), np.log([0.5, 0.5]))  # Q has density 2 rho_1
    >>> 0 <= value < 1e-12
    True
    """
    log_mean = np.log(alpha / _sum(alpha))
    value, error = _beta_ratio(beta, alpha)
    error += 3 * _EPS * float(np.sum(np.abs(alpha - beta) * (np.abs(log_weights) + np.abs(log_mean) + 1.0)))
    return value + _sum((alpha - beta) * (log_weights - log_mean)) + error


def log_ratio_gradient(alpha: Array, log_weights: Array) -> Array:
    """Gradient of :func:`log_ratio` in ``alpha`` at a fixed weight vector: ``psi(A) - psi(alpha_j) + ln rho_j``."""
    return scipy.special.psi(alpha.sum()) - scipy.special.psi(alpha) + log_weights


def kl_divergence(alpha: Array, beta: Array) -> tuple[float, Array]:
    r"""``KL(Dir(alpha) || Dir(beta))`` and its gradient in ``alpha``.

    .. math:: \ln\frac{B(\beta)}{B(\alpha)} + \sum_j (\alpha_j - \beta_j)(\psi(\alpha_j) - \psi(A))

    Examples
    --------
    >>> import numpy as np
    >>> value, _ = kl_divergence(np.array([3.0, 3.0]), np.array([3.0, 3.0]))
    >>> 0 <= value < 1e-12
    True
    """
    a_sum, gap = _sum(alpha), alpha - beta
    value, error = _beta_ratio(beta, alpha)
    rest, rest_of_sum = _psi_rest(alpha), float(_psi_rest(np.array([a_sum]))[0])
    error += 5 * _EPS * float(np.sum(np.abs(gap) * (np.abs(rest) + abs(rest_of_sum)) * (alpha != a_sum)))
    gradient = gap * _trigamma(alpha) - gap.sum() * _trigamma(np.array([a_sum]))
    return value + _sum(gap * (rest - rest_of_sum)) + error, gradient


def renyi_divergence(alpha: Array, beta: Array, order: float) -> tuple[float, Array]:
    r"""Rényi divergence of order ``lambda > 1`` of two Dirichlets, and its gradient in ``alpha``.

    .. math:: \ln\frac{B(\beta)}{B(\alpha)} + \frac{1}{\lambda-1}\ln\frac{B(\gamma)}{B(\alpha)},
              \qquad \gamma = \lambda\alpha + (1-\lambda)\beta

    (paper, Appendix B.1). Infinite, with a gradient of NaN, unless ``alpha_j > (lambda-1)/lambda beta_j`` for every j.
    """
    gamma = order * alpha + (1.0 - order) * beta
    if not np.all(gamma > 0):
        return math.inf, np.full_like(alpha, np.nan)
    # (order-1) beta + gamma = order alpha, so the two corrections by ln(alpha_j / A) cancel.
    to_prior, error = _beta_ratio(beta, alpha)
    to_gamma, error_of_gamma = _beta_ratio(gamma, alpha)
    # gamma_j is itself rounded, by a few units in the last place of its two parts.
    cost = scipy.special.psi(gamma) - np.log(alpha) + math.log(alpha.sum()) - scipy.special.psi(gamma.sum())
    error_of_gamma += 4 * _EPS * float(np.sum(np.abs(cost) * (order * alpha + (order - 1.0) * beta)))
    value = to_prior + error + (to_gamma + error_of_gamma) / (order - 1.0)
    tilt = (
        scipy.special.psi(gamma)
        - scipy.special.psi(gamma.sum())
        - scipy.special.psi(alpha)
        + scipy.special.psi(alpha.sum())
    )
    return value, order / (order - 1.0) * tilt


def draw(alpha: Array, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """One weight vector from ``Dir(alpha)`` as ``ln rho``, with the two variates it was made of.

    ``ln G_alpha = ln G_{alpha+1} + ln U / alpha`` keeps weights that would underflow to 0 for small ``alpha``.

    Returns
    -------
    log_weights, gammas, log_uniforms : arrays
        ``ln rho``; ``G_{alpha+1}``; ``ln U``. The last two are what :func:`draw_derivative` needs.
    """
    gammas = rng.standard_gamma(alpha + 1.0)
    log_uniforms = -rng.standard_exponential(alpha.shape)
    return _normalise(np.log(gammas) + log_uniforms / alpha), gammas, log_uniforms


def draw_at(alpha: Array, uniforms: Array, log_uniforms: Array) -> tuple[Array, Array, Array]:
    """The draw that belongs to fixed uniform numbers, smooth in ``alpha``. Returns what :func:`draw` does."""
    gammas = scipy.special.gammaincinv(alpha + 1.0, uniforms)
    return _normalise(np.log(gammas) + log_uniforms / alpha), gammas, log_uniforms


def draw_rows(parameters: Array, rng: np.random.Generator) -> Array:
    """One draw from the Dirichlet of each row, as logarithms; a parameter of 0 gives ``-inf``.

    The class masses of a vote with weights from ``Dir(alpha)`` are Dirichlet too, with the sums of ``alpha`` over the
    voters of each class as parameters: drawing the masses of an example is drawing a vote for it.
    """
    gammas = rng.standard_gamma(parameters + 1.0)
    exponentials = rng.standard_exponential(parameters.shape)
    with np.errstate(divide="ignore"):
        log_gammas = np.where(parameters > 0, np.log(gammas) - exponentials / parameters, -np.inf)
    return log_gammas - scipy.special.logsumexp(log_gammas, axis=1, keepdims=True)


def _normalise(log_gammas: Array) -> Array:
    top = log_gammas.max()
    return log_gammas - (top + math.log(_sum(np.exp(log_gammas - top))))


def draw_derivative(alpha: Array, gammas: Array, log_uniforms: Array) -> Array:
    r"""Derivative of ``ln G_alpha`` in ``alpha`` for the variates of one :func:`draw` (reparameterisation).

    With ``a = alpha + 1`` and ``F``, ``f`` the distribution and density of Gamma(a), the variate ``g = F^{-1}(u; a)``
    moves with ``a`` at ``dg/da = -(dF/da)/f``, and ``ln U / alpha`` at ``-ln U / alpha^2``. The gradient then passes to
    the weights by ``d ln rho_k / d ln G_j = 1[j = k] - rho_j``.
    """
    shape = alpha + 1.0
    # dF/da by a central difference, of the smaller tail so that no digits are lost. Its relative error, below 1e-7 for
    # alpha up to 1e4, is far below the noise of one draw, and the certificate does not depend on it.
    step = 1e-4 * np.sqrt(shape)
    lower = gammas < shape
    tail_slope = np.where(
        lower,
        scipy.special.gammainc(shape + step, gammas) - scipy.special.gammainc(shape - step, gammas),
        scipy.special.gammaincc(shape - step, gammas) - scipy.special.gammaincc(shape + step, gammas),
    ) / (2.0 * step)
    # ln[g f(g; a)] = a ln g - g - ln Gamma(a)
    log_density = shape * np.log(gammas) - gammas - scipy.special.gammaln(shape)
    return -tail_slope * np.exp(-log_density) - log_uniforms / alpha**2
