r"""An upper limit for the mean of independent losses between 0 and 1, by betting against every mean above it.

A player who doubts that the mean is ``mu`` bets, before each loss ``l_s`` is shown, a stake ``lambda_s`` on its being
small: the wealth is multiplied by ``1 + lambda_s (mu - l_s)``. If ``mu`` is the mean, this is a fair game, and the
wealth ever reaches ``1/u`` with probability at most ``u`` (Ville 1939). So the means at which it has reached ``1/u``
are rejected at level ``u``, and the others are a confidence set (Waudby-Smith and Ramdas 2024).

The stakes are theirs for a small variance, and no more than what leaves a share of the wealth for any loss:

    lambda_s(mu) = min(lambda_s, c / (1 - mu)),    lambda_s = sqrt(2 ln(1/target) / (m var_{s-1})),

where ``var_{s-1}`` estimates the variance from the losses before. A small part of the wealth is bet for a much smaller
target, so that levels far below the target have a sensible limit too.

**The wealth does not decrease in mu**, so the means that are not rejected are all those up to a limit. *Proof.* Both
``lambda (mu - l)`` and ``c (mu - l)/(1 - mu)``, which is ``c (1 - l)/(1 - mu) - c``, do not decrease in ``mu``, and
both are 0 at ``mu = l``. The stake takes the smaller of the two where ``mu >= l``, and the larger where ``mu < l``: of
two functions that do not decrease, neither does. The factors are positive, so their products do not decrease either.
"""

import math
from collections.abc import Callable

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

__all__ = ["betting_upper", "order_free_upper"]

Array = NDArray[np.float64]

_SHARE = 31.0 / 32.0
"""``c``: the part of the wealth that a loss of 1 may take."""
_MEAN_GUESS = 0.5
"""What the mean is taken for before the first loss, with the weight of one loss."""
_VARIANCE_GUESS = 0.25
"""What the variance is taken for before the first loss, with the weight of one loss."""
_PLAYERS = ((0.875, 1.0), (0.125, 8.0))
"""Parts of the wealth at the start, and how many times ``ln(1/target)`` each is bet for."""
_BOLDNESS = (8.0, 24.0, 96.0, math.inf)
"""``a`` of the shares ``c = a / (a + sqrt(m))`` that are bet on all of ``m`` losses at once, each of an equal part."""
_EPS = 2.0**-52


def betting_upper(losses: ArrayLike, log_level: float, log_target: float) -> float:
    r"""Smallest mean at which the bets have reached ``1/level``: an upper limit for the mean loss, from above.

    For independent losses in [0, 1] with mean :math:`\mu` and any distribution, the limit is below
    :math:`\mu` with probability at most the level. It is never below the mean of the given losses.

    Parameters
    ----------
    losses : array-like of shape (m,), in [0, 1]
        In an order that was fixed before they were looked at.
    log_level : float
        Logarithm of the probability that the limit may fail.
    log_target : float
        Logarithm of the level that the bets are made for: a negative constant, fixed before the losses are looked at.
        The limit is valid at every ``log_level`` with any ``log_target``, and smallest where both are the same. With
        the target fixed, a smaller level never gives a smaller limit.

    Returns
    -------
    float
        Never below the exact limit and, at levels up to 0.99, above it by less than 1e-9 of the distance to the mean
        of the losses; 1 where no mean is rejected.

    References
    ----------
    Waudby-Smith, Ramdas. *Estimating means of bounded random variables by betting*. Journal of the Royal Statistical
    Society, Series B, 2024. Ville. *Étude critique de la notion de collectif*. 1939.

    Examples
    --------
    A hundred patients with ten rows each, one of them wrong for every patient:

    >>> import math
    >>> level = math.log(0.05)
    >>> round(betting_upper([0.1] * 100, level, level), 3)
    0.128
    """
    losses = _checked(losses)
    _check_level(log_level)
    if not -math.inf < log_target < 0.0:
        raise ValueError(f"log_target must be a negative number, the logarithm of a probability; got {log_target}.")
    stakes = _stakes(losses, log_target)
    return _first_reached(lambda mean: -log_level - _log_wealth(losses, stakes, mean), losses, 1.0)


def order_free_upper(losses: ArrayLike, log_level: float) -> float:
    r"""As :func:`betting_upper`, by bets on all losses at once: the same limit in any order.

    For independent losses in [0, 1] with mean :math:`\mu` and any distribution, the limit is below
    :math:`\mu` with probability at most the level. It is never below the mean of the given losses, and a smaller level
    never gives a smaller limit.

    Parameters
    ----------
    losses : array-like of shape (m,), in [0, 1]
    log_level : float
        Logarithm of the probability that the limit may fail.

    Returns
    -------
    float
        Never below the exact limit, also if losses are shares rounded to the nearest float, and above it by less than
        1e-9 of the distance to the mean of the losses; 1 where no mean below it is rejected.

    Examples
    --------
    A hundred patients with ten rows each, one of them wrong for every patient:

    >>> import math
    >>> round(order_free_upper([0.1] * 100, math.log(0.05)), 3)
    0.132
    """
    losses = _checked(losses)
    _check_level(log_level)
    values, counts = np.unique(losses, return_counts=True)
    # A share that was rounded down to a float is at most the next one.
    right = 1.0 - np.where(values > 0.0, np.minimum(np.nextafter(values, 1.0), 1.0), 0.0)
    root = math.sqrt(len(losses))
    shares = np.array([a / (a + root) if a < math.inf else 1.0 for a in _BOLDNESS])
    return _first_reached(
        lambda mean: -log_level - _log_order_free(right, counts, shares, mean), losses, math.nextafter(1.0, 0.0)
    )


def _checked(losses: ArrayLike) -> Array:
    found = np.asarray(losses, dtype=float)
    if found.ndim != 1 or len(found) == 0 or not np.all((found >= 0.0) & (found <= 1.0)):
        raise ValueError(
            f"losses must be one or more numbers between 0 and 1, in one dimension; got an array of shape "
            f"{found.shape}{_range(found)}."
        )
    return found


def _check_level(log_level: float) -> None:
    if math.isnan(log_level):
        raise ValueError("log_level must be a number, the logarithm of a probability; got NaN.")


def _first_reached(missing: Callable[[float], float], losses: Array, last: float) -> float:
    """The first mean, from that of the losses up to the last, at which nothing is missing; from above, or else 1."""
    lowest = min(math.fsum(losses) / len(losses) * (1.0 + 4.0 * _EPS), 1.0)
    if lowest >= last or missing(last) > 0.0:
        return 1.0
    if missing(lowest) <= 0.0:
        return lowest
    root = float(scipy.optimize.brentq(missing, lowest, last, xtol=1e-18, rtol=4.0 * _EPS, maxiter=500))
    # The root is on either side; what is returned is a mean at which nothing is missing for certain.
    upper, step = root, _EPS * root
    while missing(upper) > 0.0:
        upper = min(root + step, last)
        step *= 2.0
    return upper


def _range(losses: Array) -> str:
    return f" with values from {np.min(losses)} to {np.max(losses)}" if losses.size else ""


def _stakes(losses: Array, log_target: float) -> Array:
    """``lambda_s`` before the cap, of the losses before ``s`` only: a row for each player."""
    weight = np.arange(1.0, len(losses) + 1.0)
    means = (_MEAN_GUESS + _running_sum(losses)) / (weight + 1.0)
    variances = (_VARIANCE_GUESS + _running_sum((losses - means) ** 2)) / (weight + 1.0)
    before = np.concatenate([[_VARIANCE_GUESS], variances[:-1]])
    aims = np.array([[times] for _, times in _PLAYERS])
    return np.sqrt(-2.0 * log_target * aims / (len(losses) * before))


def _running_sum(numbers: Array) -> Array:
    """Of ``s`` numbers in [0, 1], to ``2^-53`` of itself plus ``s^2 2^-80``: sums of their first 26 bits are exact."""
    first = np.round(numbers * 2.0**26) * 2.0**-26
    return np.cumsum(first) + np.cumsum(numbers - first)


def _log_wealth(losses: Array, stakes: Array, mean: float) -> float:
    """Logarithm of the largest wealth over time, from below, also if losses are shares rounded to the nearest float."""
    capped = np.minimum(stakes, _SHARE / (1.0 - mean) if mean < 1.0 else math.inf)
    gains = capped * (mean - losses)
    logs = np.log1p(gains)
    shares = [math.log(part) for part, _ in _PLAYERS]
    ahead = np.logaddexp.reduce(np.cumsum(logs, axis=1) + np.array(shares)[:, None])
    end = int(np.argmax(ahead)) + 1
    if ahead[end - 1] <= 0.0:
        return 0.0
    # A deviation in the plug-in errs by less than 3 _EPS, hence the sum q of their squares by 6 _EPS sqrt(s q), and the
    # guess g plus q by 3 _EPS sqrt(s/g) of itself. Stakes err by half of that; to this come a few roundings, and those
    # of the running sums.
    m = len(losses)
    relative = _EPS * (8.0 + 1.5 * math.sqrt(m / _VARIANCE_GUESS)) + m * m * 2.0**-80 / _VARIANCE_GUESS
    moves = (relative * np.abs(gains) + _EPS * capped * losses) / (1.0 + gains) + 8.0 * _EPS * np.abs(logs)
    each = [
        share + math.fsum(own[:end]) - 1.001 * float(np.sum(move[:end]))
        for share, own, move in zip(shares, logs, moves, strict=True)
    ]
    top = max(each)
    return top + math.log(math.fsum(math.exp(log - top) for log in each)) - 8.0 * _EPS * (1.0 + abs(top))


def _log_order_free(right: Array, counts: NDArray[np.intp], shares: Array, mean: float) -> float:
    """Logarithm of what bets on all losses at once have won, from below; ``counts`` of each ``1 - loss``."""
    with np.errstate(divide="ignore"):  # all of the wealth, lost to a loss of 1
        logs = np.log((1.0 - shares)[:, None] + shares[:, None] * (right / (1.0 - mean)))
    # Sums of what is not negative: a factor errs by less than 3 _EPS of itself, a logarithm by 1 more and a product.
    each = [math.fsum(own) - 4.0 * _EPS * (counts.sum() + float(np.abs(own).sum())) for own in counts * logs]
    top = max(each)
    won = top + math.log(math.fsum(math.exp(log - top) for log in each) / len(each))
    return won - 8.0 * _EPS * (1.0 + abs(top))
