"""Binomial tail inversion (Clopper-Pearson) at log-levels, and Maurer's constant."""

import math

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from certivote.maths.binary_kl import kl_inverse_upper

__all__ = ["binomial_upper", "log_maurer"]

_TINIEST = -700.0
"""Below this log-level the level itself is no longer a float."""


def binomial_upper(errors: ArrayLike, n: ArrayLike, log_level: ArrayLike) -> NDArray[np.float64]:
    r"""Largest ``p`` with ``P[Bin(n, p) <= errors] >= level``: the Clopper-Pearson upper limit, from above.

    The tail is inverted by bisection below the Chernoff limit ``kl^{-1}(errors/n || -log_level/n)``, and the upper end
    is returned. (Library quantiles of the Beta distribution are off by many digits, or NaN, at levels such as
    ``exp(-500)``, which are ordinary here.) Below ``exp(-700)`` the Chernoff limit itself is returned.

    Parameters
    ----------
    errors, n : array-like of int
        Errors and sample size, ``0 <= errors <= n`` and ``n >= 1``.
    log_level : array-like
        Logarithm of the probability that the limit may fail.

    Examples
    --------
    >>> import math
    >>> round(float(binomial_upper(5, 100, math.log(0.05))), 6)
    0.102253
    """
    errors, n, log_level = np.broadcast_arrays(
        np.asarray(errors, dtype=float), np.asarray(n, dtype=float), np.asarray(log_level, dtype=float)
    )
    if not np.all((errors >= 0) & (errors <= n) & (n >= 1)):
        raise ValueError("errors must lie between 0 and n, and n be at least 1.")
    high = kl_inverse_upper(np.nextafter(errors / n, 1.0) * (errors > 0), np.maximum(-log_level, 0.0) / n)
    low = np.zeros_like(high)
    inner = (errors < n) & (log_level > _TINIEST)
    k, rest = np.where(inner, errors, 0.0), np.where(inner, n - errors, 1.0)
    # The tail P[Bin(n, p) <= k] is the upper tail of Beta(k+1, n-k) at p; 1e-10 covers the error of its evaluation.
    level = np.exp(np.maximum(log_level, _TINIEST)) * (1.0 - 1e-10)
    for _ in range(60):
        middle = 0.5 * (low + high)
        below = scipy.special.betaincc(k + 1.0, rest, middle) <= level
        high = np.where(inner & below, middle, high)
        low = np.where(inner & ~below, middle, low)
    no_error = -np.expm1(np.minimum(log_level, 0.0) / n) * (1.0 + 4e-16)
    return np.where(errors >= n, 1.0, np.where(errors <= 0, np.minimum(no_error, 1.0), high))


def log_maurer(n: int) -> float:
    r"""Logarithm of Maurer's constant :math:`\xi(n) = \sum_{k=0}^n \binom nk (k/n)^k (1-k/n)^{n-k}`, from above.

    The sum equals Schenker's :math:`n!\,n^{-n} \sum_{k=0}^n n^k/k!`, that is
    :math:`n!\,(e/n)^n\,\Gamma(n+1, n)/\Gamma(n+1)`: one incomplete gamma function for every ``n``. It is at most
    :math:`2\sqrt n` (Maurer 2004), the constant that the paper uses, and close to :math:`\sqrt{\pi n/2} + 2/3`.

    Examples
    --------
    >>> import math
    >>> round(math.exp(log_maurer(2)), 12)  # 1 + 1/2 + 1
    2.5
    """
    if n < 1:
        raise ValueError(f"n must be at least 1; got {n}.")
    # ln n! - n ln n + n = ln(2 pi n)/2 + 1/(12 n) - ..., the series being bracketed by its partial sums.
    factorial = 0.5 * math.log(2 * math.pi * n) + 1 / (12 * n) - 1 / (360 * n**3) + 1 / (1260 * n**5)
    if n < 20:
        factorial = math.log(math.factorial(n)) - n * math.log(n) + n
    return factorial + math.log(float(scipy.special.gammaincc(n + 1, n))) + 1e-13
