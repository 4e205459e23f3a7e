"""Independent Gaussians: draws, densities, divergences, and the gradient beside each value.

They are the distributions of the vector ``z`` whose softmax is a weight vector, which is then logistic-normal. A vector
of parameters is ``[means, precisions]``, the precisions ``p_j = 1 / s_j^2`` being the inverse variances; ``Q`` with
``m_j, p_j`` is the hyper-posterior and ``P`` with ``m0_j, p0_j`` the hyper-prior. The divergences are sums of terms in

    phi(x) = x - ln(1 + x) >= 0,    y_j = p0_j / p_j - 1 = (p0_j - p_j) / p_j,

none negative, so that they keep their *relative* precision when ``Q`` is close to ``P``, and are 0 where it is ``P``.

Each value carries a bound on its own rounding error and is returned with that bound added, so that a certificate built
on it errs upward only. The amount is below 1e-13 of a divergence; of a log-ratio, whose terms have both signs, it is
below 3e-15 of the sum of their sizes.
"""

import math
from fractions import Fraction

import numpy as np
import scipy
from numpy.typing import NDArray

from certivote.maths.binary_kl import log1p_gap

__all__ = [
    "draw",
    "draw_at",
    "kl_divergence",
    "log_ratio",
    "log_ratio_gradients",
    "log_softmax",
    "log_softmax_chain",
    "lognormal_moments",
    "lognormal_pull_back",
    "pull_back",
    "renyi_divergence",
    "renyi_floor",
    "rival_probability",
    "split",
]

Array = NDArray[np.float64]

_EPS = 2.3e-16
"""Two rounding errors, and a little more."""
_UNDERFLOW = 1e-290
"""More than what a term loses where its factors underflow."""
_NEAR_FLOOR = 1 / 64
"""Below this ``1 - (order - 1) y`` is computed without rounding errors."""
_LARGEST_VARIANCE = 300.0
"""Variances above count as this in the moments of log-normals, which else overflow from 709 on."""
_NO_MASS = 1e-100
"""A mean below, where that of the heaviest voter is 1, counts as that of no voter."""
_NO_SPREAD = 1e-30
"""Log-variances below are less than what rounding does to a logarithm: the vote is certain."""


def split(parameters: Array) -> tuple[Array, Array]:
    """The means and the precisions, as views of ``[means, precisions]``."""
    half = len(parameters) // 2
    return parameters[:half], parameters[half:]


def _half_from_above(terms: Array, errors: Array, moved: NDArray[np.bool_]) -> float:
    """Half the sum of the terms and of the bounds on their errors; the parameters that moved may have underflowed."""
    value = 0.5 * math.fsum(terms.ravel().tolist())
    return value + (0.5 * math.fsum(errors.tolist()) + _EPS * abs(value) + _UNDERFLOW * int(np.count_nonzero(moved)))


def _phi(x: Array, one_more: Array) -> tuple[Array, Array]:
    """``phi(x)`` and a bound on its error, for an ``x`` and ``one_more = 1 + x`` of three and two rounding errors."""
    gap = np.where(x >= -0.5, log1p_gap(x), x - np.log(one_more))
    return gap, _EPS * (10.0 * gap + np.where(np.abs(x) > 0.5, 16.0 * np.abs(x), 0.0))


def log_ratio(parameters: Array, prior: Array, point: Array) -> float:
    r"""Log-density ratio ``ln[Q(z) / P(z)]`` at one point.

    .. math:: \frac12\sum_j \Bigl[\ln\frac{p_j}{p_j^0} - p_j (z_j - m_j)^2 + p_j^0 (z_j - m_j^0)^2\Bigr]

    It is that of the point, not of its softmax, which forgets a common shift. Its mean over ``z ~ Q`` is
    :func:`kl_divergence`.

    Examples
    --------
    >>> import numpy as np
    >>> prior = np.array([0.0, 1.0])
    >>> round(log_ratio(np.array([3.0, 1.0]), prior, np.array([3.0])), 12)  # 3^2 / 2
    4.5
    >>> log_ratio(prior, prior, np.array([3.0]))
    0.0
    """
    (means, precisions), (means0, precisions0) = split(parameters), split(prior)
    shift, gain = means - means0, precisions - precisions0
    logs = np.where(gain >= 0, 1.0, -1.0) * np.log1p(np.abs(gain) / np.minimum(precisions, precisions0))
    own, old = point - means, point - means0
    # Two ways to write the squares: the first is precise for unlike distributions, the second for like ones.
    apart = np.stack([-precisions * own * own, precisions0 * old * old])
    apart_size = np.abs(apart).sum(axis=0)
    close = np.stack([-gain * own * own, precisions0 * shift * (own + old)])
    close_size = np.abs(close[0]) + precisions0 * np.abs(shift) * (np.abs(own) + np.abs(old))
    squares = np.where(close_size <= apart_size, close, apart)
    errors = _EPS * (5.0 * np.abs(logs) + 3.0 * np.minimum(close_size, apart_size))
    return _half_from_above(np.vstack([logs, squares]), errors, parameters != prior)


def log_ratio_gradients(parameters: Array, prior: Array, point: Array) -> tuple[Array, Array]:
    """Gradients of :func:`log_ratio` in the parameters and in the point.

    ``p_j (z_j - m_j)`` and ``(1 / p_j - (z_j - m_j)^2) / 2``; ``(p0_j - p_j) (z_j - m_j) + p0_j (m_j - m0_j)``.

    Examples
    --------
    >>> import numpy as np
    >>> log_ratio_gradients(np.array([3.0, 1.0]), np.array([0.0, 1.0]), np.array([5.0]))
    (array([ 2. , -1.5]), array([3.]))
    """
    (means, precisions), (means0, precisions0) = split(parameters), split(prior)
    own = point - means
    in_parameters = np.concatenate([precisions * own, 0.5 * (1.0 / precisions - own * own)])
    return in_parameters, (precisions0 - precisions) * own + precisions0 * (means - means0)


def kl_divergence(parameters: Array, prior: Array) -> tuple[float, Array]:
    r"""``KL(Q || P)`` and its gradient in the parameters of ``Q``.

    .. math:: \frac12\sum_j \bigl[p_j^0 (m_j - m_j^0)^2 + \phi(y_j)\bigr]

    Examples
    --------
    >>> import numpy as np
    >>> value, gradient = kl_divergence(np.array([3.0, 1.0]), np.array([0.0, 1.0]))
    >>> round(value, 12), gradient  # 3^2 / 2
    (4.5, array([3., 0.]))
    """
    (means, precisions), (means0, precisions0) = split(parameters), split(prior)
    shift, gain = means - means0, precisions - precisions0
    squares = precisions0 * shift * shift
    gaps, errors = _phi(-gain / precisions, precisions0 / precisions)
    value = _half_from_above(np.stack([squares, gaps]), errors + 3 * _EPS * squares, parameters != prior)
    return value, np.concatenate([precisions0 * shift, 0.5 * gain / precisions**2])


def renyi_divergence(parameters: Array, prior: Array, order: float) -> tuple[float, Array]:
    r"""Rényi divergence of order ``lambda > 1`` of ``Q`` from ``P``, and its gradient in the parameters of ``Q``.

    .. math:: \frac12\sum_j \Bigl[\frac{\lambda p_j^0 (m_j - m_j^0)^2}{1 - (\lambda-1) y_j}
              + \phi(y_j) + \frac{\phi(-(\lambda-1) y_j)}{\lambda-1}\Bigr]

    With the variances ``S = 1/p`` and ``T = 1/p0``, ``1 - (lambda-1) y_j`` is ``p0 (lambda T + (1-lambda) S)``. The
    divergence is finite where it is positive: above :func:`renyi_floor`.

    Raises
    ------
    ValueError
        If the divergence is infinite, or the order not above 1.

    Examples
    --------
    >>> import numpy as np
    >>> value, gradient = renyi_divergence(np.array([3.0, 1.0]), np.array([0.0, 1.0]), 2.0)
    >>> round(value, 12), gradient  # 2 times 3^2 / 2; narrower, Q would be nearer
    (9.0, array([ 6., -9.]))
    """
    if not order > 1.0:
        raise ValueError(f"order must be greater than 1; got {order}.")
    (means, precisions), (means0, precisions0) = split(parameters), split(prior)
    shift, gain = means - means0, precisions - precisions0
    y, ratio = -gain / precisions, precisions0 / precisions
    tilt = (order - 1.0) * y
    rest, rest_error = _rest(precisions, precisions0, tilt, order)
    squares = order * precisions0 * shift * shift / rest
    gaps, gap_errors = _phi(y, ratio)
    tilted, tilted_errors = _phi(-tilt, rest)
    tilted_errors = tilted_errors + np.where(tilt > 0.5, rest_error, 0.0)
    errors = (4 * _EPS + rest_error) * squares + gap_errors + (tilted_errors + _EPS * tilted) / (order - 1.0)
    terms = np.stack([squares, gaps, tilted / (order - 1.0)])
    value = _half_from_above(terms, errors, parameters != prior)
    in_means = order * precisions0 * shift / rest
    in_precisions = 0.5 * (order * gain / rest - (order - 1.0) / order * in_means**2) / precisions**2
    return value, np.concatenate([in_means, in_precisions])


def _rest(precisions: Array, precisions0: Array, tilt: Array, order: float) -> tuple[Array, Array]:
    """``1 - (order-1) (p0 - p) / p`` and a bound on its relative error."""
    rest = 1.0 - tilt
    error = 2 * _EPS * (1.0 + 1.0 / np.maximum(rest, _NEAR_FLOOR))
    weight = Fraction(order)
    for j in np.flatnonzero(rest < _NEAR_FLOOR):
        own, old = Fraction(float(precisions[j])), Fraction(float(precisions0[j]))
        rest[j] = float(weight - (weight - 1) * old / own)
    if not np.all(rest > 0):
        worst = int(np.argmin(rest))
        raise ValueError(
            f"The Rényi divergence of order {order:g} is finite only where every precision is above {1 - 1 / order:g} "
            f"times that of the prior; got {precisions[worst]:g} where the prior has {precisions0[worst]:g}."
        )
    return rest, error


def renyi_floor(prior: Array, order: float) -> Array:
    """What the parameters must exceed: ``-inf`` for the means, ``(order-1)/order p0_j`` for the precisions.

    Examples
    --------
    >>> import numpy as np
    >>> renyi_floor(np.array([0.0, 4.0]), 2.0)
    array([-inf,   2.])
    """
    means, precisions = split(prior)
    return np.concatenate([np.full_like(means, -np.inf), (order - 1.0) / order * precisions])


def draw(parameters: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """One point from ``Q`` and the standard normal numbers it was made of."""
    normals = rng.standard_normal(len(parameters) // 2)
    return draw_at(parameters, normals), normals


def draw_at(parameters: Array, normals: Array) -> Array:
    """The point ``m_j + normals_j / sqrt(p_j)`` that belongs to fixed normal numbers, smooth in the parameters.

    Examples
    --------
    >>> import numpy as np
    >>> draw_at(np.array([3.0, 4.0]), np.array([1.0]))
    array([3.5])
    """
    means, precisions = split(parameters)
    return means + normals / np.sqrt(precisions)


def pull_back(parameters: Array, normals: Array, in_point: Array) -> Array:
    """Gradient in the parameters from a gradient in the point ``draw_at(parameters, normals)``."""
    _, precisions = split(parameters)
    return np.concatenate([in_point, in_point * (-0.5 * normals * precisions**-1.5)])


def log_softmax(point: Array) -> Array:
    """``z_j - ln sum_k exp(z_k)``: the logarithms of the weights at a point.

    Examples
    --------
    >>> import numpy as np
    >>> log_softmax(np.array([0.0, -2000.0]))
    array([    0., -2000.])
    """
    below: Array = point - point.max()
    return below - math.log(math.fsum(np.exp(below).tolist()))


def log_softmax_chain(log_weights: Array, in_logs: Array) -> Array:
    """Gradient in the point from a gradient in ``log_weights = log_softmax(point)``."""
    return in_logs - np.exp(log_weights) * math.fsum(in_logs.tolist())


def lognormal_moments(parameters: Array) -> tuple[Array, Array, Array]:
    r"""Means and variances of the independent log-normal numbers ``exp(z_j)``, which are the weights before their sum.

    .. math:: \exp(m_j + 1 / 2 p_j), \qquad (\exp(1 / p_j) - 1) \exp(2 m_j + 1 / p_j)

    All are scaled so that the largest mean is 1: a common factor of all weights changes no vote.

    Returns
    -------
    mean, var, jacobians : arrays
        The derivatives of ``mean_j`` and of ``var_j``, one a row, in ``m_j`` and then in ``p_j``, at a fixed scale.

    Examples
    --------
    >>> import numpy as np
    >>> mean, var, _ = lognormal_moments(np.array([0.0, -1.0, 1.0, 1.0]))
    >>> mean.round(6), var.round(6)  # 1, 1/e and (e - 1) times their squares
    (array([1.      , 0.367879]), array([1.718282, 0.232544]))
    """
    means, precisions = split(parameters)
    variances = np.minimum(1.0 / precisions, _LARGEST_VARIANCE)
    log_means = means + 0.5 * variances
    mean = np.exp(log_means - log_means.max())
    var = np.expm1(variances) * mean**2
    return mean, var, _jacobians(precisions, mean, var)


def _jacobians(precisions: Array, mean: Array, var: Array) -> Array:
    least = 1.0 / _LARGEST_VARIANCE
    slope = np.where(precisions > least, -1.0 / np.maximum(precisions, least) ** 2, 0.0)  # of the variance 1/p
    in_mean = np.concatenate([mean, 0.5 * mean * slope])
    return np.stack([in_mean, np.concatenate([2.0 * var, (mean**2 + 2.0 * var) * slope])])


def lognormal_pull_back(parameters: Array, mean: Array, var: Array, in_mean: Array, in_var: Array) -> Array:
    """Gradient in the parameters from gradients in the two moments of :func:`lognormal_moments`.

    The scale is held fixed, so that this is the gradient of a function that does not depend on it.
    """
    of_mean, of_var = _jacobians(split(parameters)[1], mean, var)
    gradient: Array = np.tile(in_mean, 2) * of_mean + np.tile(in_var, 2) * of_var
    return gradient


def rival_probability(
    own_mean: Array, own_var: Array, rival_mean: Array, rival_var: Array
) -> tuple[Array, Array, Array, Array, Array]:
    r"""Probability that a class has no less weight than the label, and its derivatives in the four arguments.

    The weight of a class is a sum of independent log-normal numbers, of mean ``A`` and variance ``V``. It is taken for
    log-normal itself (Fenton and Wilkinson), of log-variance and log-mean

    .. math:: s^2 = \ln(1 + V / A^2), \qquad \mu = \ln A - s^2 / 2,

    so that the probability is :math:`\Phi((\mu_\text{rival} - \mu_\text{own}) / \sqrt{s_\text{rival}^2 +
    s_\text{own}^2})`: exact for one voter on each side, otherwise an approximation, to steer the training only. It is 1
    where no voter is for the label, 0 where none is for the rival, and the derivatives are 0 there.

    Examples
    --------
    >>> import numpy as np
    >>> value, *_ = rival_probability(np.array([2.0, 0.0]), np.ones(2), np.array([2.0, 1.0]), np.ones(2))
    >>> value
    array([0.5, 1. ])
    """
    means = np.stack([own_mean, rival_mean]).astype(float)
    variances = np.stack([own_var, rival_var]).astype(float)
    absent = means < _NO_MASS
    means[absent], variances[absent] = 1.0, 0.0
    with np.errstate(over="ignore"):
        squares = np.minimum(variances / means / means, 1e300)
    log_vars = np.log1p(squares)
    own, rival = np.log(means) - 0.5 * log_vars
    spread = log_vars.sum(axis=0)
    smooth = (spread >= _NO_SPREAD) & ~absent.any(axis=0)
    spread = np.where(smooth, spread, 1.0)
    t = (rival - own) / np.sqrt(spread)
    value = np.where(absent[0], 1.0, np.where(absent[1], 0.0, np.where(smooth, scipy.special.ndtr(t), rival >= own)))

    density = np.where(smooth, np.exp(-0.5 * t * t) / math.sqrt(2.0 * math.pi), 0.0)
    in_logs = np.stack([-density, density]) / np.sqrt(spread)
    in_log_vars = -0.5 * in_logs - 0.5 * density * t / spread
    damped = 1.0 / (1.0 + squares)
    in_means = (in_logs - 2.0 * in_log_vars * squares * damped) / means
    in_variances = in_log_vars * damped / means / means
    return value, in_means[0], in_variances[0], in_means[1], in_variances[1]
