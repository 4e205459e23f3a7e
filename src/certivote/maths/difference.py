r"""Limits for the difference of two error rates, from the rows at which just one of two fixed classifiers is wrong.

Of ``n`` independent rows the first alone is wrong at ``k10``, the second alone at ``k01``; the cells of the trinomial
have probabilities ``p10`` and ``p01``, and the difference is ``D = p10 - p01``. Large differences are tested by

    T = d + z sqrt((a + b)/N - d^2) / sqrt(N),    a = k10 + 1/2, b = k01 + 1/2, N = n + 2, d = (a - b)/N,

with the normal quantile ``z`` of the level ``u``: one is rejected if so small a ``T`` is improbable. What else is
unknown is the rate of discordant rows, ``s = p10 + p01``. Given that there are ``j`` of them, ``k10`` is binomial:

    P(D, s) = sum_j Bin(j; n, s) P[Bin(j, theta) <= c_j],    theta = (1 + D/s)/2 held between 0 and 1,

where ``c_j`` is the largest ``k10`` among ``j`` discordant rows with a ``T`` of at most the one that was seen.

**The limit** (Berger and Boos 1994). ``D`` is rejected if ``P(D, s) + gamma <= u`` for all ``s >= D`` in ``C``, the
Clopper-Pearson limits for ``s`` at ``gamma/2`` a side, ``gamma = u/20``. A true ``D`` is rejected with probability at
most ``u``: either ``C`` misses ``s``, which has probability ``gamma``; or ``P`` at the true ``s`` is at most ``u -
gamma``, and as ``P`` is the probability of a set that holds all outcomes with so small a ``T``, this has probability at
most ``u - gamma``. For fixed ``s``, ``P`` does not increase in ``D`` (``theta`` grows), and fewer ``s`` are asked about
the larger ``D`` is: what is above a rejected ``D`` is rejected. Where ``s < -D`` no such population exists; holding
``theta`` at 0 there asks for more than is needed, and keeps that order.

**The supremum over s** is taken over cells. In a cell, ``theta`` is held at the end where it is smallest: what is left
is the mean ``g(s)`` of a function ``f`` of ``j`` between 0 and 1, and with the binomial probabilities ``b`` and their
derivatives in ``s``, by Cauchy and Schwarz,

    abs(g'(s))  = abs(E[f b'/b])  <= sqrt(g (1 - g)) sqrt(n / (s (1 - s))),
    abs(g''(s)) = abs(E[f b''/b]) <= sqrt(g) sqrt(2 n (n - 1)) / (s (1 - s)).

By the first, ``arcsin sqrt(g)`` changes by at most ``sqrt(n)`` times what ``arcsin sqrt(s)`` does, which bounds ``g``
in the cell by its value in the middle. With that in the second, ``g`` is at most a parabola through that value with the
slope that it has there. The smaller of the two is taken. Numbers of discordant rows so rare that they are left out of
the sums are added as if all were in the tail.

**Two limits** take its place for more than 100,000 rows and for levels below 1e-8: of Clopper and Pearson, above for
``p10`` and below for ``p01``, at half of the level each. For rows that belong to entities the mean of ``(1 + D_i)/2``,
with ``D_i`` the mean difference at the rows of an entity, is bounded as that of losses is: by bets
(:mod:`certivote.maths.betting`).
"""

import math
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from certivote.maths.binomial import binomial_upper

__all__ = ["difference_upper"]

Array = NDArray[np.float64]

_MOST_ROWS = 100_000
"""Rows up to which the limit is that of Berger and Boos."""
_SMALLEST_LEVEL = 1e-8
_GAMMA = 1.0 / 20.0
"""What the limits for ``s`` have of the level."""
_CELLS, _PIECES, _ROUNDS = 64, 8, 3
"""Cells to begin with, into how many those are divided that may hold too large a value, and how often they are looked
at."""
_LEFT_OUT = 1e-6
"""Part of the level: probability of numbers of discordant rows that are not summed over."""
_STEP = 2.0**-9
"""How far above the limit, in parts of its distance to what was seen, a difference is tried to be rejected."""
_MOST_AT_ONCE = 2_000_000
"""Numbers that are held in memory at once, a few times."""


def difference_upper(first_only: int, second_only: int, n: int, level: float) -> float:
    """Upper limit for the error of the first minus that of the second, from above.

    For every population it is below the true difference with probability at most the level.

    Parameters
    ----------
    first_only, second_only : int
        Rows at which the first alone, and the second alone, is wrong.
    n : int
        All rows, at least one.
    level : float in (0, 0.5)
        Fixed beforehand.

    References
    ----------
    Berger, Boos. *P values maximized over a confidence set for the nuisance parameter*. Journal of the American
    Statistical Association, 1994.

    Examples
    --------
    Of 1,000 rows, 50 errors and 65, of which 35 at the same rows:

    >>> round(difference_upper(15, 30, 1000, 0.025), 4)
    -0.0016
    """
    if not (first_only >= 0 and second_only >= 0 and first_only + second_only <= n and n >= 1 and 0.0 < level < 0.5):
        raise ValueError(
            "first_only and second_only must be counts of different rows among n, and level lie between 0 and 0.5; got "
            f"{first_only}, {second_only}, {n} and {level}."
        )
    if n > _MOST_ROWS or level < _SMALLEST_LEVEL:
        half = math.log(level / 2.0)
        highest, rest = binomial_upper([first_only, n - second_only], n, half).tolist()
        return min(highest + rest - 1.0 + 1e-9, 1.0)
    test = _Test.of(first_only, second_only, n, level)
    seen = (first_only - second_only) / n
    low, high = seen, min(test.most, 1.0)
    if test.highest(low) <= test.allowed:
        low = -1.0
    if high <= low or test.highest(high) > test.allowed:
        return 1.0
    root = float(scipy.optimize.brentq(lambda each: test.highest(each) - test.allowed, low, high, xtol=1e-7, rtol=1e-5))
    step = _STEP * max(root - seen, 1e-6)
    while root < high and not test.rejects(root):
        root, step = root + step, 2.0 * step
    return min(root, test.most * (1.0 + 1e-12), 1.0)


@dataclass(frozen=True)
class _Test:
    """The test of one outcome at one level.

    Attributes
    ----------
    n : int
    allowed : float
        What ``P`` may be at most where a difference is rejected.
    ends : (float, float)
        Of ``C``, as ``arcsin sqrt(s)``.
    discordant, most_first : array of int
        Numbers of discordant rows that are summed over, and ``c_j`` of each.
    left_out : float
        Probability of the others, at most.
    """

    n: int
    allowed: float
    ends: tuple[float, float]
    discordant: NDArray[np.intp]
    most_first: NDArray[np.intp]
    left_out: float

    @classmethod
    def of(cls, first_only: int, second_only: int, n: int, level: float) -> "_Test":
        """Of what was seen."""
        number, gamma = first_only + second_only, _GAMMA * level
        highest = float(binomial_upper(number, n, math.log(gamma / 2.0)))
        lowest = 1.0 - float(binomial_upper(n - number, n, math.log(gamma / 2.0)))
        rare = _LEFT_OUT * level / 2.0
        first, last = n * lowest - _reach(n, lowest, rare), n * highest + _reach(n, highest, rare)
        discordant = np.arange(max(math.floor(first), 0), min(math.ceil(last), n) + 1)
        return cls(
            n=n,
            # 1e-12 covers sums of up to 10,000 numbers, and 1e-9 of itself logarithms of factorials.
            allowed=(level - gamma) * (1.0 - 1e-9) - 1e-12,
            ends=(math.asin(math.sqrt(max(lowest, 0.0))), math.asin(math.sqrt(min(highest, 1.0)))),
            discordant=discordant,
            most_first=_most_first(first_only, second_only, n, discordant, -float(scipy.special.ndtri(level))),
            left_out=2.0 * rare,
        )

    @property
    def most(self) -> float:
        """The largest rate of discordant rows in ``C``: no difference is larger."""
        return math.sin(self.ends[1]) ** 2

    def highest(self, difference: float) -> float:
        """The largest ``P`` at some places of ``C``."""
        lows, highs = _cells(*self._from(difference), _CELLS)
        middle = 0.5 * (lows + highs)
        return float(self._values(difference, middle, middle)[0].max()) + self.left_out

    def rejects(self, difference: float) -> bool:
        """Whether ``P`` is small enough in all of ``C``, for certain."""
        lows, highs = _cells(*self._from(difference), _CELLS)
        for _ in range(_ROUNDS):
            values, slopes = self._values(difference, lows, highs)
            open_cells = self._within(lows, highs, values, slopes) + self.left_out > self.allowed
            if not open_cells.any():
                return True
            steps = np.linspace(0.0, 1.0, _PIECES + 1)
            edges = lows[open_cells, None] + (highs - lows)[open_cells, None] * steps
            lows, highs = edges[:, :-1].ravel(), edges[:, 1:].ravel()
        return False

    def _within(self, lows: Array, highs: Array, values: Array, slopes: Array) -> Array:
        """What ``g`` is at most in each cell, by its value in the middle and its slope there."""
        moved = np.arcsin(np.sqrt(values)) + math.sqrt(self.n) * (0.5 * (highs - lows) + 1e-15)
        first = np.sin(np.minimum(moved, math.pi / 2.0)) ** 2
        low, middle, high = (np.sin(angle) ** 2 for angle in (lows, 0.5 * (lows + highs), highs))
        reach = np.maximum(high - middle, middle - low) + 1e-15
        spread = np.maximum(np.minimum(low * (1.0 - low), high * (1.0 - high)), 1e-300)
        second = values + np.abs(slopes) * reach + np.sqrt(first / 2.0) * self.n / spread * reach**2
        return np.minimum(first, second)

    def _from(self, difference: float) -> tuple[float, float]:
        """The part of ``C`` that is asked about."""
        return max(self.ends[0], math.asin(math.sqrt(min(max(difference, 0.0), 1.0)))), self.ends[1]

    def _values(self, difference: float, lows: Array, highs: Array) -> tuple[Array, Array]:
        """Of each cell, ``g`` in its middle, which has the ``theta`` of the end where that is smallest; and ``g'``."""
        most = max(_MOST_AT_ONCE // len(self.discordant), 1)
        if len(lows) > most:
            places = range(0, len(lows), most)
            pieces = [self._values(difference, lows[at : at + most], highs[at : at + most]) for at in places]
            return np.concatenate([one for one, _ in pieces]), np.concatenate([two for _, two in pieces])
        end = np.sin(highs if difference >= 0.0 else lows) ** 2
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(end > 0.0, difference / end, 0.0 if difference == 0.0 else -np.inf)
        theta = np.clip((1.0 + ratio) / 2.0, 0.0, 1.0)
        middle = np.sin(0.5 * (lows + highs)) ** 2
        weights = np.exp(_log_binomial(self.discordant, self.n, middle[:, None]))
        tails = _lower_tails(self.discordant, self.most_first, theta)
        found, inner = weights * tails, np.maximum(middle * (1.0 - middle), 1e-300)
        scores = (self.discordant - self.n * middle[:, None]) / inner[:, None]
        return np.clip(found.sum(axis=1), 0.0, 1.0), np.sum(found * scores, axis=1)


def _reach(n: int, p: float, rare: float) -> float:
    """How far a binomial number is from its mean at most, but with a small probability a side (Bernstein)."""
    nats = -math.log(rare)
    return nats / 3.0 + math.sqrt(nats * nats / 9.0 + 2.0 * nats * n * p * (1.0 - p))


def _cells(first: float, last: float, number: int) -> tuple[Array, Array]:
    edges = np.linspace(first, max(first, last), number + 1)
    return edges[:-1], edges[1:]


def _most_first(first_only: int, second_only: int, n: int, discordant: NDArray[np.intp], z: float) -> NDArray[np.intp]:
    """``c_j``: the largest number of rows where the first alone is wrong with a ``T`` that is no larger; -1 for none.

    ``T <= t`` means ``d <= t`` and ``(1 + w^2) d^2 - 2 t d + t^2 - w^2 M >= 0``, ``w = z/sqrt(N)``, ``M = (j+1)/N``:
    what is below the smaller root, and what lies between the larger one and ``t``, where it is not above.
    """
    size, w = n + 2.0, z / math.sqrt(n + 2.0)

    def statistic(number: Array | int, first: Array | int) -> Array:
        d = (2.0 * np.asarray(first, dtype=float) - number) / size
        return np.asarray(d + w * np.sqrt(np.maximum((number + 1.0) / size - d * d, 0.0)))

    t = float(statistic(first_only + second_only, first_only)) + 1e-12
    number = discordant.astype(float)
    root = (t - w * np.sqrt(np.maximum((1.0 + w * w) * (number + 1.0) / size - t * t, 0.0))) / (1.0 + w * w)
    top, low = (
        np.clip(np.floor((each * size + number) / 2.0 + 1e-6), -1.0, number) for each in (np.full_like(root, t), root)
    )
    found = np.where((top >= 0.0) & (statistic(number, top) <= t), top, low)
    # The roots are rounded: what is just above, or below, is asked for itself.
    for _ in range(2):
        above = np.minimum(found + 1.0, number)
        found = np.where(statistic(number, above) <= t, above, found)
    return found.astype(np.intp)


def _log_binomial(k: NDArray[np.intp], n: NDArray[np.intp] | int, p: Array) -> Array:
    """Logarithm of the binomial probabilities."""
    ways = scipy.special.gammaln(np.asarray(n) + 1.0) - scipy.special.gammaln(k + 1.0)
    return np.asarray(
        ways - scipy.special.gammaln(n - k + 1.0) + scipy.special.xlogy(k, p) + scipy.special.xlog1py(n - k, -p)
    )


def _lower_tails(number: NDArray[np.intp], most: NDArray[np.intp], theta: Array) -> Array:
    """``P[Bin(j, theta) <= c_j]``: a row for each ``theta``, a column for each of consecutive ``j``.

    From one ``j`` to the next by ``P[Bin(j+1) <= c] = P[Bin(j) <= c] - theta P[Bin(j) = c]``, and ``P[Bin(j+1) = c+1]``
    more where ``c`` grows by 1; where it does anything else, anew.
    """
    at = np.exp(_log_binomial(np.maximum(most, 0), number, theta[:, None])) * (most >= 0)
    grows = np.diff(most)
    steps = np.zeros((len(theta), len(number)))
    steps[:, 1:] = -theta[:, None] * at[:, :-1] + np.where(grows == 1, at[:, 1:], 0.0)
    sums = np.cumsum(steps, axis=1)
    anew = np.flatnonzero(np.concatenate([[True], (grows != 0) & (grows != 1)]))
    begun = np.where(most[anew] < 0, 0.0, scipy.special.bdtr(np.maximum(most[anew], 0), number[anew], theta[:, None]))
    last = np.searchsorted(anew, np.arange(len(number)), side="right") - 1
    return np.clip(sums + (begun - sums[:, anew])[:, last], 0.0, 1.0)
