r"""Evidence that errors have become more frequent than a bound, which may be looked at after every outcome.

Outcomes arrive one by one; the loss of each, ``Z``, lies in [0, 1]. The hypothesis H0 is that **at every time, given
the past, the mean of the next loss is at most** ``B``. Nothing else is assumed: not that losses are independent, nor
that they have the same mean.

**One bet.** For ``q > B`` let ``e_q(Z) = (q/B)^Z ((1-q)/(1-B))^(1-Z)``. *Given the past its mean is at most 1 under
H0.* Proof. ``e_q`` is the exponential of a linear function of ``Z``, so convex, and on [0, 1] below the chord ``Z q/B +
(1-Z) (1-q)/(1-B)``. If the mean of ``Z`` is ``p``, that of the chord is ``p q/B + (1-p)(1-q)/(1-B)``, which increases
in ``p`` since ``q/B > 1 > (1-q)/(1-B)``, and is 1 at ``p = B``.

**Evidence** (an e-process). The product of ``n`` bets depends on ``n`` and ``S``, the sum of the losses, alone:
``(q/B)^S ((1-q)/(1-B))^(n-S)``. It is a supermartingale that starts at 1, and so is a mixture of such products over a
grid of ``q`` that was fixed beforehand. By Ville's inequality it ever reaches ``1/alpha`` with probability at most
``alpha``.

**Evidence of a change** (the Shiryaev-Roberts form). After a long good time the products are tiny, and a change would
have to make up for that. ``R_t = (R_{t-1} + 1) e_q(Z_t)``, ``R_0 = 0``, is the sum over all ``s`` of the bets from
outcome ``s`` on. *The mean time until the mixture of these over q reaches 1/alpha is at least 1/alpha, under H0.*
Proof. ``E[R_t | past] <= R_{t-1} + 1``, so ``R_t - t`` is a supermartingale that starts at 0, and so it is for the
mixture. For the time ``T`` of the first alarm and any ``m``, by optional stopping, ``E[R_min(T, m)] <= E[min(T, m)] <=
E T``, and the left side is at least ``P(T <= m) / alpha``. If ``T`` is finite with probability 1, let ``m`` grow;
otherwise ``E T`` is infinite. After an alarm it starts anew from 0, so that the same holds for the next one. Where each
mean is ``B`` and losses are 0 or 1, ``E R_t = t``: no larger threshold is needed.

**An upper limit** for the mean ``m_n`` of the conditional means ``p_1, ..., p_n`` of the losses so far, at all ``n`` at
once. For ``r`` in (0, 1), ``E[r^Z | past] <= 1 - p_i + p_i r = exp(psi(p_i))`` with ``psi(p) = ln(1 - p (1-r))``, by
the chord again; so ``r^S exp(-sum_i psi(p_i))`` is a supermartingale. ``psi`` is the logarithm of a linear function, so
concave, and ``sum_i psi(p_i) <= n psi(m_n)`` by Jensen's inequality. Hence ``r^S exp(-n psi(m_n))`` is never above it,
however the ``p_i`` vary; and so it is for mixtures over fixed ``r``. It increases in ``m_n``: the means at which the
mixture is below ``1/alpha`` are those up to a limit, and with probability ``1 - alpha`` the true mean is below it at
all ``n``.

**Rounding.** Logarithms of evidence are rounded down, so that an alarm is one of the exact evidence too; limits are
rounded up.
"""

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["ErrorBets", "follow_bets", "log_sum_below", "mean_upper"]

Array = NDArray[np.float64]

_ODDS = (1.004, 1.008, 1.016, 1.03, 1.06, 1.12, 1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 10.0, 20.0)
"""How many times the odds of the bound those of the grid are."""
_SHARES = (1, 1, 1, 2, 3, 5, 8, 21, 21, 15, 27, 12, 8, 3)
"""Their weights, in 128ths: most where errors are 1.5 to 4 times the bound, and some for all others."""
_EPS = 2.0**-52
_STEPS = np.linspace(-2.0, 11.5, 28)
"""Of the upper limit: ``r = exp(-2^-s)`` for these ``s``."""
_HALVINGS = 42


class ErrorBets:
    """The bets against one bound: a grid of ``q`` that depends on the bound alone.

    Parameters
    ----------
    bound : float in (0, 1)

    Examples
    --------
    >>> bets = ErrorBets(0.05)
    >>> float(np.round(np.exp(bets.log_evidence(100, 5)), 3))  # as many as the bound allows
    0.303
    >>> bool(np.exp(bets.log_evidence(100, 20)) > 1e5)
    True
    """

    def __init__(self, bound: float):
        if not 0.0 < bound < 1.0:
            raise ValueError(f"bound must lie strictly between 0 and 1 to be watched; got {bound!r}.")
        self.bound = float(bound)
        self.log_weights, self.wrong, self.right = _grid(self.bound)

    def log_evidence(self, n: ArrayLike, losses: ArrayLike) -> Array:
        """Logarithm of the evidence after ``n`` outcomes with so much loss in all, rounded down; element by element."""
        total = np.asarray(losses, dtype=float)[..., None]
        rest = np.asarray(n, dtype=float)[..., None] - total
        logs = self.log_weights + total * self.wrong + rest * self.right
        sizes = total * self.wrong - rest * self.right - self.log_weights
        return log_sum_below(logs - 8.0 * _EPS * sizes)

    @property
    def count(self) -> int:
        """How many ``q`` there are."""
        return len(self.wrong)

    def follow(self, logs: Array, losses: Array) -> Array:
        """Logarithms of the Shiryaev-Roberts form after each of some outcomes, rounded down: a column for each ``q``.

        It starts from minus infinity for each ``q``. More than some thousand outcomes should be given in several calls.
        """
        steps = losses[:, None] * self.wrong + (1.0 - losses[:, None]) * self.right
        return follow_bets(logs, steps)

    def log_change(self, logs: Array) -> Array:
        """Logarithm of the mixture over ``q`` of what :meth:`follow` gives, rounded down."""
        return log_sum_below(self.log_weights + logs)


def follow_bets(logs: Array, steps: Array) -> Array:
    """Logarithms of ``R_t = (R_{t-1} + 1) e_t`` after each of some bets, whose logarithms are ``steps``.

    ``R_t = E_t (R_0 + sum_{s<t} 1/E_s)`` with ``E_s`` the product of the first ``s`` bets. The sum of ``k`` terms in
    floating point is off by less than ``k`` roundings, which are deducted.
    """
    sums = np.cumsum(steps, axis=0)
    before = np.vstack([np.logaddexp(logs, 0.0), -sums[:-1]])
    paths = np.logaddexp.accumulate(before, axis=0)
    largest = 1.0 + np.max(np.abs(sums), initial=0.0) + np.max(np.abs(paths), initial=0.0)
    return np.asarray(sums + paths - 4.0 * _EPS * len(steps) * largest)


def log_sum_below(logs: Array) -> Array:
    """Logarithm of the sum of exponentials along the last axis, rounded down."""
    largest = np.max(logs, axis=-1, initial=-np.inf)
    safe = np.where(np.isfinite(largest), largest, 0.0)
    with np.errstate(divide="ignore"):
        total = safe + np.log(np.sum(np.exp(logs - safe[..., None]), axis=-1))
    return np.asarray(total - 64.0 * _EPS * (1.0 + np.abs(safe)))


@lru_cache(maxsize=256)
def _grid(bound: float) -> tuple[Array, Array, Array]:
    """Logarithms of weights, of what a bet gains by a loss of 1 and by one of 0; all rounded down."""
    odds = bound / (1.0 - bound)
    rows = []
    for times, share in zip(_ODDS, _SHARES, strict=True):
        q = times * odds / (1.0 + times * odds)
        if bound < q < 1.0:
            wrong, right = Fraction(q) / Fraction(bound), (1 - Fraction(q)) / (1 - Fraction(bound))
            rows.append((math.log(share / 128.0), _log(wrong), _log(right)))
    columns = np.array(rows).reshape(-1, 3).T
    below: Array = columns - 4.0 * _EPS * np.abs(columns)
    below.flags.writeable = False
    return below[0], below[1], below[2]


def _log(ratio: Fraction) -> float:
    """Logarithm of an exact number, with all its digits near 1 too."""
    return math.log1p(float(ratio - 1)) if Fraction(1, 2) < ratio < 2 else math.log(ratio)


def mean_upper(n: ArrayLike, losses: ArrayLike, log_level: float) -> Array:
    r"""Upper limit for the mean of the conditional means of the losses so far, valid at all times together, from above.

    Parameters
    ----------
    n, losses : array-like
        How many outcomes, and the sum of their losses; element by element.
    log_level : float
        Logarithm of the probability with which the limit may fail at any time.

    Examples
    --------
    >>> mean_upper([100, 10_000], [5, 500], np.log(0.05)).round(4).tolist()
    [0.1514, 0.0575]
    """
    count, total = np.broadcast_arrays(np.asarray(n, dtype=float), np.asarray(losses, dtype=float))
    least = -log_level * (1.0 + 4.0 * _EPS)
    # The mean so far is never rejected. The upper end is always a mean that is, or 1.
    low, high = np.divide(total, count, out=np.zeros(count.shape), where=count > 0.0), np.ones(count.shape)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        rejected = _log_against(middle, count, total) >= least
        low, high = np.where(rejected, low, middle), np.where(rejected, middle, high)
    return np.asarray(high)


def _log_against(mean: Array, n: Array, total: Array) -> Array:
    """Logarithm of the evidence against so large a mean, rounded down."""
    rates = -np.exp2(-_STEPS)
    first, second = total[..., None] * rates, n[..., None] * np.log1p(mean[..., None] * np.expm1(rates))
    # The logarithm of 1 - p (1-r) is off by what its argument is, times 1/(1 - p (1-r)) <= 1/r.
    doubt = n[..., None] * np.exp(-rates) + np.abs(first) + np.abs(second) + 1.0
    return log_sum_below(first - second - math.log(len(rates)) - 8.0 * _EPS * doubt)
