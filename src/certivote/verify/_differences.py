r"""The differences of given models: their limits proved again, and their counts held against the answers.

With ``k10`` and ``k01`` rows of ``n`` at which one model alone is wrong, a difference ``D`` is rejected at level ``u``
if for all rates ``s`` of discordant rows in limits that fail with probability ``u/20``

    P(D, s) = sum_j Bin(j; n, s) P[Bin(j, theta) <= c_j] <= 19/20 u,   theta = (1 + D/s)/2,

with ``c_j`` the largest number among ``j`` whose statistic is no larger than the one recorded (docs/theory.md). Here
the supremum is bounded in another way than by the maker. In a cell with middle ``m``, ``theta`` is held where it is
smallest; let ``v`` be the value in the middle and ``v'`` its slope, for the function ``f`` of ``j`` that is left. With
the likelihood ratio ``L`` of ``s`` to ``m``, its first order ``1 + (s - m) U`` and ``x = (s - m)^2 / (m (1 - m))``,

    E_m (L - 1 - (s - m) U)^2 = (1 + x)^n - 1 - n x <= n (n - 1)/2 x^2 (1 + x)^(n - 2),

so that by Cauchy and Schwarz ``E_s f <= v + |s - m| |v'| + sqrt(v) x sqrt(n (n - 1)/2 (1 + x)^(n - 2))``.
"""

import math
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import numpy as np
from flint import arb, ctx
from scipy import special

from certivote.certificate import Certificate, Difference, counted
from certivote.verify._balls import BITS, bets_hold, binomial_limit_holds
from certivote.verify._check import Check
from certivote.verify._proof import is_share, promise_share
from certivote.verify._simulation import Array, Labels
from certivote.verify._theorems import exact_losses

_MOST_MODELS = 10
"""Given models up to which all pairs are compared."""
_MOST_ROWS, _SMALLEST_LEVEL = 100_000, 1e-8
"""Up to how many rows, and from which level on, limits are those of Berger and Boos."""
_CLOSE = 1e-12
"""How far losses of entities may be from those of both models; and the statistic from what is recorded."""
_LOOSE = 0.05
"""How far a limit may be above what can be proved, as a part of its distance to what was observed."""
_DIGITS = 24
"""Binary digits that limits are recorded with."""
_FIRST_CELLS, _ROUNDS = 32, 9
"""Cells to begin with; those that are not proved are divided by four, this many times."""
_AT_ONCE = 2_000_000
"""Numbers that are held in memory at once, a few times."""


def pairs_of(c: Certificate) -> list[tuple[str, str]]:
    """Which models must be compared."""
    names = [candidate.name for candidate in c.candidates]
    return list(combinations(names, 2)) if len(names) <= _MOST_MODELS else []


def check_differences(c: Certificate, parameters: dict[str, Any] | None) -> Iterator[Check]:
    """Whether all pairs are there, each at its part of delta, with counts that can be, and limits that are proved."""
    wanted, found = pairs_of(c), [(each.first, each.second) for each in c.differences]
    if c.is_given:
        yield _margin(c, parameters)
    if not wanted and not found:
        return
    yield Check("differences", found == wanted, f"{counted(len(found), 'pair')} of models, {len(wanted)} to compare")
    if found != wanted:
        return
    with ctx.workprec(BITS):
        due = promise_share(c) / len(wanted)
        for each, (first, second) in zip(c.differences, combinations(range(len(c.candidates)), 2), strict=True):
            yield from _check(c, each, first, second, due)


def _margin(c: Certificate, parameters: dict[str, Any] | None) -> Check:
    """Whether all differences have the margin that was asked for, if one was."""
    asked = None if parameters is None else parameters["margin"]
    right = asked is None or (isinstance(asked, float) and 0.0 < asked < 1.0 and bool(c.differences))
    right = right and all(each.margin == asked for each in c.differences)
    return Check("margin", right, f"{asked!r:.40} was asked for" if asked is not None else "none was asked for")


def _check(c: Certificate, each: Difference, first: int, second: int, due: arb) -> Iterator[Check]:
    where, limits = name_of(each), f"{each.lower!r} to {each.upper!r}"
    yield Check(f"{where}, delta", is_share(each.delta, due), f"{each.delta!r} is its part of {c.delta!r}")
    detail = f"wrong alone on {each.first_only:,} and {each.second_only:,} of {each.n:,} rows"
    right = _counts_fit(c, each, first, second)
    yield Check(f"{where}, counts", right, f"{detail}{'' if right else ', which does not fit the errors of both'}")
    if not right or not 0.0 < each.delta < 1.0:
        return
    level = arb(each.delta) / 2
    try:
        upper, lower = _sides(c, each, level)
        proved = upper(arb(each.upper)) and lower(arb(-each.lower))
        proved = proved and all(math.ldexp(limit, _DIGITS).is_integer() for limit in (each.lower, each.upper))
        yield Check(f"{where}, limits", proved, f"{limits} {'proved' if proved else 'NOT proved: too narrow'}")
        seen = each.observed
        near = all(
            not holds(arb(limit - _LOOSE * (limit - centre) - 1e-6))
            for holds, limit, centre in ((upper, each.upper, seen), (lower, -each.lower, -seen))
        )
    except (ArithmeticError, ValueError) as error:
        yield Check(f"{where}, limits", False, f"they cannot be proved: {error}")
        return
    yield Check(f"{where}, numbers", near, f"they give {'these' if near else 'closer'} limits")


def name_of(each: Difference) -> str:
    """What a difference is called."""
    return f"difference {each.first:.80} - {each.second:.80}"


def _counts_fit(c: Certificate, each: Difference, first: int, second: int) -> bool:
    """Whether the errors of both models, and of their entities, can be such."""
    part, one, two = c.deployed_part, c.candidates[first].statement, c.candidates[second].statement
    both = (one.errors or 0) - each.first_only
    right = (each.n, each.entities) == (part.n, part.entities)
    right = right and 0 <= both == (two.errors or 0) - each.second_only
    right = right and both + each.first_only + each.second_only <= each.n
    if not c.groups:
        return right and not each.losses
    right = right and len(each.losses) == len(one.losses) == len(two.losses)
    return right and all(
        abs(loss - (1.0 + a - b) / 2.0) <= _CLOSE
        for loss, a, b in zip(each.losses, one.losses, two.losses, strict=True)
    )


Holds = Callable[[arb], bool]


def _sides(c: Certificate, each: Difference, level: arb) -> tuple[Holds, Holds]:
    """Of the upper limit, and of the lower one with its sign changed, whether a number is proved to be one."""
    if c.groups:
        # Of q rows of an entity, the loss is a whole number of parts of 2 q.
        losses = exact_losses(each.losses, 2 * each.n)
        others = [1 - loss for loss in losses]
        return tuple(  # type: ignore[return-value]
            lambda limit, own=own: bets_hold(c.bets, own, level, level, (1 + limit) / 2) for own in (losses, others)
        )
    one, two = each.first_only, each.second_only
    if each.n > _MOST_ROWS or each.delta / 2.0 < _SMALLEST_LEVEL:
        return _apart(one, two, each.n, level), _apart(two, one, each.n, level)
    return _Rejection(one, two, each.n, level).holds, _Rejection(two, one, each.n, level).holds


def _apart(one: int, two: int, n: int, level: arb) -> Holds:
    """By a limit for each of both probabilities."""
    least = arb(_limit(one, n, level / 2)) + arb(_limit(n - two, n, level / 2)) - 1
    return lambda limit: bool(least <= limit)


def _limit(errors: int, n: int, level: arb) -> float:
    """The upper limit of Clopper and Pearson, proved, and hardly above the exact one."""
    if errors >= n:
        return 1.0
    near, step = float(special.betainccinv(errors + 1.0, float(n - errors), float(level))), 1e-12
    while near + step < 1.0:
        if binomial_limit_holds(errors, n, arb(near + step), level):
            return near + step
        step *= 10.0
    return 1.0


class _Rejection:
    """Which differences are rejected, so that the limit is at most these, by what was counted."""

    def __init__(self, one: int, two: int, n: int, level: arb):
        self._n, self._level = n, float(level)
        rest = level / 40
        self._low, self._high = 1.0 - _limit(n - one - two, n, rest), _limit(one + two, n, rest)
        self._enough = 0.95 * self._level * (1.0 - 1e-10) - 5e-13
        # Chernoff's limit leaves out less than a thousand millionth of the level.
        nats = 21.0 - math.log(self._level)
        reach = math.sqrt(2.0 * nats * n * max(self._low * (1.0 - self._low), self._high * (1.0 - self._high), 1.0 / n))
        first = max(math.floor(n * self._low - reach - nats), 0)
        self._number = np.arange(first, min(math.ceil(n * self._high + reach + nats), n) + 1)
        self._most = np.array([_most(one, one + two, n, j, self._level) for j in self._number.tolist()])
        self._logs = -special.betaln(self._number + 1.0, n - self._number + 1.0) - math.log(n + 1.0)

    def holds(self, limit: arb) -> bool:
        """Whether a number is rejected, and so everything above it."""
        difference = float(limit)
        low = max(self._low, difference)
        if difference >= 1.0 or low > self._high:
            return True
        edges = np.sin(np.linspace(math.asin(math.sqrt(low)), math.asin(math.sqrt(self._high)), _FIRST_CELLS + 1)) ** 2
        edges[0], edges[-1] = low, self._high
        lows, highs = edges[:-1], edges[1:]
        for _ in range(_ROUNDS):
            values, most = self._cells(difference, lows, highs)
            open_cells = most > self._enough
            if not open_cells.any():
                return True
            if np.any(values > self._enough) or np.count_nonzero(open_cells) > 20_000:
                return False
            steps = np.linspace(0.0, 1.0, 5)
            edges = lows[open_cells, None] + (highs - lows)[open_cells, None] * steps
            edges[:, -1] = highs[open_cells]
            lows, highs = edges[:, :-1].ravel(), edges[:, 1:].ravel()
        return False

    def _cells(self, difference: float, lows: Array, highs: Array) -> tuple[Array, Array]:
        """Of each cell, ``P`` at its middle, and what it is at most in all of it."""
        own = max(_AT_ONCE // len(self._number), 1)
        found = [self._some(difference, lows[at : at + own], highs[at : at + own]) for at in range(0, len(lows), own)]
        return np.concatenate([one for one, _ in found]), np.concatenate([two for _, two in found])

    def _some(self, difference: float, lows: Array, highs: Array) -> tuple[Array, Array]:
        n, j = self._n, self._number
        m = (lows + highs) / 2.0
        held = highs if difference >= 0.0 else lows
        tails = self._tails(difference, held)
        logs = self._logs + special.xlogy(j, m[:, None]) + special.xlog1py(n - j, -m[:, None])
        chances = np.exp(logs)
        spread = np.maximum(m * (1.0 - m), 1e-300)
        value = np.sum(chances * tails, axis=1)
        slope = np.sum(chances * tails * (j - n * m[:, None]), axis=1) / spread
        reach = np.maximum(highs - m, m - lows)
        x = reach**2 / spread
        with np.errstate(over="ignore"):
            rest = np.sqrt(value) * x * np.sqrt(n * (n - 1) / 2.0 * np.exp((n - 2.0) * np.log1p(x)))
        most = value + reach * np.abs(slope) + rest
        at_middle = np.sum(chances * self._tails(difference, m), axis=1)
        return at_middle, np.where(np.isfinite(most), np.minimum(most, 1.0), 1.0) + 1e-9 * self._level

    def _tails(self, difference: float, s: Array) -> Array:
        """``P[Bin(j, theta) <= c_j]`` for each ``s`` and ``j``."""
        ratio = np.where(s > 0.0, difference / np.maximum(s, 1e-300), 0.0 if difference == 0.0 else -1.0)
        right = np.clip((1.0 - ratio) / 2.0, 0.0, 1.0)[:, None]
        j, k = self._number, self._most
        inside = (k >= 0) & (k < j)
        found = special.betainc(np.where(inside, j - k, 1.0), np.where(inside, k + 1.0, 1.0), right)
        return np.where(inside, found, (k >= j).astype(float))


def _most(one: int, discordant: int, n: int, j: int, level: float) -> int:
    """The largest of ``j`` with a statistic no larger than that of what was counted; -1 if there is none.

    The statistic first grows with the number and then may fall: it is asked for from above, and where it is too large
    there, halved for below.
    """
    z, size = -float(special.ndtri(level)), n + 2.0

    def statistic(k: int, number: int) -> float:
        d = (2 * k - number) / size
        return d + z * math.sqrt(max(((number + 1) / size - d * d) / size, 0.0))

    seen = statistic(one, discordant) + _CLOSE
    # Beyond this k it is larger than what was seen, since it is no smaller than d.
    last = min(j, math.floor((seen * size + j) / 2.0))
    if last >= 0 and statistic(last, j) <= seen:
        return last
    low, high = -1, max(last, 0)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if statistic(middle, j) <= seen else (low, middle)
    return low


def check_counts(c: Certificate, labels: Labels, codes: Labels, entities: Labels | None) -> Iterator[Check]:
    """The rows at which one of two models alone is wrong, counted again."""
    wrong = codes != labels[:, None]
    wanted = combinations(range(codes.shape[1]), 2)
    for each, (first, second) in zip(c.differences, wanted, strict=False):
        one, two = wrong[:, first] & ~wrong[:, second], wrong[:, second] & ~wrong[:, first]
        found = int(np.count_nonzero(one)), int(np.count_nonzero(two))
        right = (*found, len(labels)) == (each.first_only, each.second_only, each.n)
        detail = f"wrong alone on {found[0]:,} and {found[1]:,} rows counted"
        if right and entities is not None:
            sizes = np.bincount(entities)
            gains = np.bincount(entities[one], minlength=len(sizes)) - np.bincount(entities[two], minlength=len(sizes))
            right = ((sizes + gains) / (2 * sizes)).tolist() == list(each.losses)
            detail += "" if right else ", but the losses of the entities are OTHER than recorded"
        yield Check(f"{name_of(each)}, counted", right, detail)
