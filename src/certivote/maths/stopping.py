r"""Labelling until it is proven that errors are rarer than a target: the evidence, its exact distribution, its limits.

Rows are labelled in random order, and ``Z_i`` says whether the answer to the i-th is wrong. The hypothesis is that the
error is at least ``t``. For ``q < t`` the bet ``(q/t)^Z ((1-q)/(1-t))^(1-Z)`` has a mean of at most 1 under it: at an
error of ``p`` it is ``p q/t + (1-p)(1-q)/(1-t)``, which falls in ``p`` and is 1 at ``p = t``. So a mixture of products
of such bets over fixed ``q`` is a supermartingale that starts at 1 or below, and ever reaches ``1/delta`` with
probability at most ``delta`` (Ville): labelling may stop there, and may be looked at after every row.

    e_n(t) = sum_{q < t} w_q (q/t)^S ((1-q)/(1-t))^(n-S),    S errors among n.

**An upper limit at all times.** The ``q`` and their weights are the same for every ``t``; those that are not below it
are left out. Then ``e_n(t)`` rises in ``t`` above ``S/n``: each term does, as its logarithm has the derivative
``-S/t + (n-S)/(1-t)``, and terms come in. Below ``S/n`` no term exceeds its weight, so that nothing is rejected. The
``t`` with ``e_n(t) >= 1/delta`` are thus all those from a limit on; the true error has at all times together such a
limit above it with probability ``1 - delta``, and so has the smallest of all of them.

**A pool.** Of ``N`` rows that are labelled in random order without replacement, let ``K`` or more be wrong. Given the
past, the next one is wrong with probability at least ``t_i = (K - S_{i-1})/(N-i+1)``: the same bets with ``t_i`` for
``t`` and ``q t_i N/K`` for ``q``. Where ``t_i <= 0`` nothing is bet any more, and where ``t_i > 1`` there are fewer
rows left than that would need.

**A cap.** Where no more than ``H`` rows will be labelled, the threshold can be lowered from ``1/delta`` until the
evidence reaches it within ``H`` rows with probability ``delta`` for an error of ``t``. Where it is reached is a set of
small ``S`` for each ``n``, so that larger errors reach it less often. The probability is computed row by row, exactly.
Beyond the target nothing follows then: there is no limit at all times.

**Looking less often**, such as after each of some batches, takes no threshold down and no limit either.

References
----------
Ville. *Étude critique de la notion de collectif*. 1939. Waudby-Smith, Ramdas. *Confidence sequences for sampling
without replacement*. 2020. Wald. *Sequential tests of statistical hypotheses*. 1945.
"""

import math
from functools import lru_cache

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from certivote.maths.evidence import log_sum_below

__all__ = ["StoppingBets", "capped_threshold", "first_reached", "fixed_number", "pool_evidence"]

Array = NDArray[np.float64]
Whole = NDArray[np.int64]

_SHARES = (0.15, 0.185, 0.23, 0.28, 0.35, 0.43, 0.53, 0.65, 0.8)
"""The ``q`` as shares of the target, which bear equal weights."""
_GUESSED = 0.8
"""The weight of the guess, if there is one."""
_EPS = 2.0**-52
_HALVINGS = 52
_DOUBT = 1e-9
"""By how much a logarithm of evidence may be another's, where a probability must hold for both."""


class StoppingBets:
    """The bets against a target: which ``q`` there are, and their weights.

    Parameters
    ----------
    target : float in (0, 1)
    expected : float in (0, target), optional
        A guess of the error, on which four fifths are bet.

    Examples
    --------
    >>> bets = StoppingBets(0.05, 0.02)
    >>> float(bets.log_evidence(150, 1).round(2)), float(bets.log_evidence(150, 9).round(2))
    (3.77, -3.24)
    """

    def __init__(self, target: float, expected: float | None = None):
        self.target, self.expected = target, expected
        shares = [share * target for share in _SHARES]
        rest = 1.0 if expected is None else 1.0 - _GUESSED
        self.q = np.array(shares if expected is None else [*shares, expected])
        weights = np.full(len(shares), rest / len(shares))
        self.log_weights = np.log(weights if expected is None else np.append(weights, _GUESSED)) - 8.0 * _EPS

    def log_evidence(self, n: ArrayLike, errors: ArrayLike, mean: ArrayLike | None = None) -> Array:
        """Logarithm of the evidence against a mean, by default the target, rounded down; element by element."""
        t = np.asarray(self.target if mean is None else mean, dtype=float)[..., None]
        wrong = np.asarray(errors, dtype=float)[..., None]
        right = np.asarray(n, dtype=float)[..., None] - wrong
        with np.errstate(divide="ignore", invalid="ignore"):
            lost = wrong * np.log(self.q / t)
            won = right * np.log1p((t - self.q) / (1.0 - t))
        logs = np.where(self.q < t, self.log_weights + lost + won - 8.0 * _EPS * (won - lost), -np.inf)
        return log_sum_below(logs)

    def limit(self, n: ArrayLike, errors: ArrayLike, log_delta: float) -> float:
        """The smallest upper limit of all moments at once: of so many rows, and errors among them; from above."""
        count, wrong = np.atleast_1d(np.asarray(n, dtype=float)), np.atleast_1d(np.asarray(errors, dtype=float))
        some = slice(None, None, max(len(count) // 64, 1))
        best = self._limits(count[some], wrong[some], log_delta)
        # Where the best of some is not rejected, no moment has a smaller one.
        better = self.log_evidence(count, wrong, min(best, math.nextafter(1.0, 0.0))) >= -log_delta
        return min(best, self._limits(count[better], wrong[better], log_delta))

    def _limits(self, count: Array, wrong: Array, log_delta: float) -> float:
        """The smallest of the limits at some moments."""
        low = np.maximum(wrong / count, self.q.min())
        high = np.full(len(count), math.nextafter(1.0, 0.0))
        high = np.where(self.log_evidence(count, wrong, high) >= -log_delta, high, 1.0)
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            rejected = (high < 1.0) & (self.log_evidence(count, wrong, middle) >= -log_delta)
            low, high = np.where(rejected, low, middle), np.where(rejected, middle, high)
        return float(high.min(initial=1.0))

    def boundary(self, horizon: int, log_threshold: float) -> Whole:
        """After ``0, 1, ..., horizon`` rows, with how many errors the threshold is reached at most; -1 if with none."""
        n = np.arange(horizon + 1)
        low, high = np.full(len(n), -1), n + 1  # it is reached at the one, and not at the other
        while np.any(high - low > 1):
            middle = np.clip((low + high) // 2, 0, n)
            reached = (self.log_evidence(n, middle) >= log_threshold) & (n > 0)
            apart = high - low > 1
            low, high = np.where(apart & reached, middle, low), np.where(apart & ~reached, middle, high)
        return low


def first_reached(boundary: Whole, error: float) -> Array:
    """The probability that a boundary is reached first after each number of rows, for this error; exact but for floats.

    Examples
    --------
    >>> first_reached(np.array([-1, -1, 0]), 0.5).tolist()
    [0.0, 0.0, 0.25]
    """
    horizon = len(boundary) - 1
    found, law, first = np.zeros(horizon + 1), np.ones(1), 0  # of the errors that go on: first, first + 1, ...
    for n in range(1, horizon + 1):
        wrong, right = law * error, law * (1.0 - error)
        law = np.append(right, 0.0)
        law[1:] += wrong
        reached = int(boundary[n]) - first + 1
        if reached > 0:
            found[n], law, first = math.fsum(law[:reached]), law[reached:], first + reached
        if n % 64 == 0:  # what is too unlikely to matter, which goes on for ever
            law = law[: len(law) - int(np.argmax(law[::-1] > 1e-18 / horizon))] if len(law) else law
    return found


@lru_cache(maxsize=32)
def capped_threshold(target: float, expected: float | None, delta: float, horizon: int) -> float:
    """The logarithm of the threshold that an error of ``target`` reaches within ``horizon`` rows at most this often.

    Examples
    --------
    >>> threshold = capped_threshold(0.05, 0.02, 0.05, 466)
    >>> round(math.exp(threshold), 1), round(1 / 0.05, 1)
    (17.5, 20.0)
    """
    bets = StoppingBets(target, expected)
    low, high = 0.0, -math.log(delta) * (1.0 + 4.0 * _EPS)
    for _ in range(24):
        middle = 0.5 * (low + high)
        reached = float(first_reached(bets.boundary(horizon, middle - _DOUBT), target).sum())
        # What was left out of the law, and the roundings of each row.
        if (reached + 1e-18 * horizon) * (1.0 + 8.0 * _EPS * (horizon + 1)) <= delta:
            high = middle
        else:
            low = middle
    return high


def pool_evidence(bets: StoppingBets, wrong: NDArray[np.bool_], n_pool: int, log_delta: float) -> Array:
    """Logarithm of the evidence, after each row, against there being as many errors in a pool as the target allows.

    Parameters
    ----------
    bets : StoppingBets
    wrong : array of bool
        Of the rows that were labelled, in their order.
    n_pool : int
    log_delta : float
        What is returned at least from where no more errors fit into the rest of the pool.

    Returns
    -------
    array
        Rounded down.
    """
    n_wrong = math.ceil(bets.target * n_pool * (1.0 - 4.0 * _EPS))
    before = np.concatenate([[0], np.cumsum(wrong)[:-1]])
    left, missing = n_pool - np.arange(len(wrong)), n_wrong - before
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (missing / left)[:, None]
        shares = bets.q * (n_pool / n_wrong)
        steps = np.where(wrong[:, None], np.log(shares), np.log1p(t * (1.0 - shares) / (1.0 - t)))
    steps = np.where((t > 0.0) & (t < 1.0) & (shares < 1.0), steps, 0.0)
    sums, sizes = np.cumsum(steps, axis=0), np.cumsum(np.abs(steps), axis=0)
    rows = np.arange(1, len(wrong) + 1)[:, None]
    logs = log_sum_below(bets.log_weights + sums - (8.0 + rows) * 4.0 * _EPS * (1.0 + sizes))
    over = n_wrong - np.cumsum(wrong) > n_pool - rows[:, 0]
    return np.where(np.maximum.accumulate(over), np.maximum(logs, -log_delta * (1.0 + 4.0 * _EPS)), logs)


def fixed_number(target: float, delta: float, error: float, power: float = 0.9) -> int:
    """How many rows, fixed beforehand, prove the target by Clopper-Pearson with this probability, for this error.

    Examples
    --------
    >>> [fixed_number(0.05, 0.05, error) for error in (0.01, 0.02, 0.03)]
    [153, 311, 832]
    """
    errors = 0
    while True:
        low, high = 1, 2 * errors + 2
        while scipy.stats.binom.cdf(errors, high, target) > delta:
            low, high = high, 2 * high
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if scipy.stats.binom.cdf(errors, middle, target) <= delta else (middle + 1, high)
        if scipy.stats.binom.cdf(errors, low, error) >= power:
            return int(low)
        errors += 1 + errors // 64 if errors > 256 else 1
