"""Divergences, limits, constants and bets in ball arithmetic, shared with nothing that makes certificates.

A limit is proved by its defining inequality at the reported value, so no inverse is taken: ``kl^{-1}(r || e) <= B``
where ``kl(r || B) >= e`` and ``r <= B``, the Clopper-Pearson limit is at most ``B`` where ``P[Bin(n, B) <= k]`` is
at most the level, and the limit by bets is at most ``B`` where the wealth at ``B`` itself has reached ``1/level``: it
does not decrease in the mean that the bets are made against.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from flint import arb, ctx, fmpq

BITS = 256
"""Precision of a proof."""
_INFINITE = "the Rényi divergence is infinite"


def positive(x: arb) -> arb:
    """The number, or 0 where it is negative."""
    return x if x > 0 else arb(0).union(x) if not x < 0 else arb(0)


def kl_limit_holds(risk: float | arb, rate: arb, bound: arb) -> bool:
    """Whether ``sup{p : kl(risk || p) <= rate}`` is at most ``bound``."""
    if bound >= 1:
        return True
    risk = arb(risk)
    if rate <= 0:
        return bool(risk <= bound)
    if not risk <= bound or not 0 < bound < 1:
        return False
    return bool(_kl(risk, bound) >= rate)


def _kl(q: arb, p: arb) -> arb:
    value = arb(0)
    if q != 0:
        value += q * (q / p).log()
    if q != 1:
        value += (1 - q) * ((1 - q) / (1 - p)).log()
    return value


def binomial_limit_holds(errors: int, n: int, bound: arb, level: arb) -> bool:
    """Whether ``P[Bin(n, bound) <= errors] <= level``: then the upper limit at that level is at most ``bound``."""
    if bound >= 1 or errors >= n:
        return bool(bound >= 1)
    if not 0 < bound < 1:
        return False
    # P[Bin(n, p) <= k] = I_{1-p}(n - k, k + 1).
    if errors == 0:
        return bool((1 - bound) ** n <= level)
    for bits in (BITS, 4 * BITS, 16 * BITS):
        ctx.prec = bits
        tail = (1 - bound).beta_lower(arb(n - errors), arb(errors + 1), regularized=True)
        if tail <= level or tail > level:
            break
    ctx.prec = BITS
    if tail <= level:
        return True
    # Far out in the tail the limit is Chernoff's, which is never below.
    return kl_limit_holds(arb(fmpq(errors, n)), -level.log() / n, bound)


def smallest(above: Callable[[arb], bool], low: arb, high: arb) -> arb:
    """A number at which ``above`` is proved, close to the smallest."""
    for _ in range(80):
        middle = ((low + high) / 2).mid()
        if above(middle):
            high = middle
        else:
            low = middle
    return high


def log_constant(n: int, constant: str) -> arb:
    """Logarithm of ``2 sqrt(n)``, or of Maurer's constant."""
    if constant == "paper":
        return (2 * arb(n).sqrt()).log()
    # xi(n) = n! (e/n)^n Q(n + 1, n), with Q the regularised upper incomplete gamma function.
    size = arb(n)
    upper = size.gamma_upper(size + 1, regularized=1)
    return (size + 1).lgamma() + size - size * size.log() + upper.log()


def _log_beta(alpha: list[arb]) -> arb:
    """Logarithm of the normaliser of a Dirichlet."""
    return sum((x.lgamma() for x in alpha), arb(0)) - sum(alpha, arb(0)).lgamma()


def dirichlet_log_ratio(alpha: list[arb], beta: list[arb], log_weights: list[arb]) -> arb:
    """Log-density ratio of two Dirichlets at a draw."""
    tilt = sum(((a - b) * w for a, b, w in zip(alpha, beta, log_weights, strict=True)), arb(0))
    return tilt + _log_beta(beta) - _log_beta(alpha)


def dirichlet_kl(alpha: list[arb], beta: list[arb]) -> arb:
    """Kullback-Leibler divergence of two Dirichlets."""
    top = sum(alpha, arb(0)).digamma()
    tilt = sum(((a - b) * (a.digamma() - top) for a, b in zip(alpha, beta, strict=True)), arb(0))
    return tilt + _log_beta(beta) - _log_beta(alpha)


def dirichlet_renyi(alpha: list[arb], beta: list[arb], order: arb) -> arb:
    """Rényi divergence of two Dirichlets."""
    between = [order * a + (1 - order) * b for a, b in zip(alpha, beta, strict=True)]
    if not all(x > 0 for x in between):
        raise ValueError(_INFINITE)
    return _log_beta(beta) - _log_beta(alpha) + (_log_beta(between) - _log_beta(alpha)) / (order - 1)


def gaussian_log_ratio(alpha: list[arb], beta: list[arb], point: list[arb]) -> arb:
    """Log-density ratio at a point of two products of Gaussians, given by their means and then their precisions."""
    terms = (
        (p / p0).log() - p * (z - m) ** 2 + p0 * (z - m0) ** 2
        for (m, p, m0, p0), z in zip(_pairs(alpha, beta), point, strict=True)
    )
    return sum(terms, arb(0)) / 2


def gaussian_kl(alpha: list[arb], beta: list[arb]) -> arb:
    """Kullback-Leibler divergence of two products of Gaussians."""
    terms = (p0 * (m - m0) ** 2 + p0 / p - 1 - (p0 / p).log() for m, p, m0, p0 in _pairs(alpha, beta))
    return sum(terms, arb(0)) / 2


def gaussian_renyi(alpha: list[arb], beta: list[arb], order: arb) -> arb:
    """Rényi divergence of two products of Gaussians."""
    shifts = logs = arb(0)
    for m, p, m0, p0 in _pairs(alpha, beta):
        between = order / p0 + (1 - order) / p
        if not between > 0:
            raise ValueError(_INFINITE)
        shifts += (m - m0) ** 2 / between
        # ln(V / (S^(1-order) T^order)), with the variances S = 1/p and T = 1/p0.
        logs += between.log() + (1 - order) * p.log() + order * p0.log()
    return order / 2 * shifts + logs / (2 * (1 - order))


def _pairs(alpha: list[arb], beta: list[arb]) -> list[tuple[arb, arb, arb, arb]]:
    """Mean and precision of each voter, of both distributions."""
    half = len(alpha) // 2
    return list(zip(alpha[:half], alpha[half:], beta[:half], beta[half:], strict=True))


def categorical_kl(weights: list[arb], prior: list[arb]) -> arb:
    """Kullback-Leibler divergence of two weight vectors."""
    return sum((w * (w / p).log() for w, p in zip(weights, prior, strict=True) if w != 0), arb(0))


# --- Limits by betting.


_AT_STAKE = fmpq(31, 32)
"""What a loss of 1 may take of the wealth."""
_FIRST_MEAN, _FIRST_VARIANCE = fmpq(1, 2), fmpq(1, 4)
"""What mean and variance are taken for before the first loss, as if one loss had shown them."""
_PURSES, _BOLDER = (fmpq(7, 8), fmpq(1, 8)), 8
"""What two players have at the start, of whom the second bets for the target to this power."""

_AT_ONCE = (8.0, 24.0, 96.0)
"""How bold the players are who bet on all losses at once; one more bets all that it has. They start with as much."""


def bets_hold(how: str, losses: Sequence[float | fmpq], level: arb, target: arb, bound: arb) -> bool:
    """Whether the upper limit of the mean is at most ``bound`` by bets of the recorded kind."""
    if how == "in order":
        return betting_limit_holds(losses, level, target, bound)
    return how == "at once" and order_free_limit_holds(losses, level, bound)


def betting_limit_holds(losses: Sequence[float | fmpq], level: arb, target: arb, bound: arb) -> bool:
    """Whether the upper limit of the mean is at most ``bound``, at this level and with bets made for ``target``.

    Parameters
    ----------
    losses : sequence of float or fmpq
        Each in [0, 1], exact, in the order of the bets.
    level, target : arb
        The probability that the limit may fail, and the one that the bets were made for: below 1.
    bound : arb
    """
    exact = [arb(loss) for loss in losses]
    if not exact or not all(0 <= loss <= 1 for loss in exact) or not 0 < target < 1 or not level > 0:
        return False
    if bound >= 1:
        return True
    if not bound < 1 or not sum(exact, arb(0)) <= bound * len(exact):
        return False
    largest_stake, enough = arb(_AT_STAKE) / (1 - bound), 1 / level
    wealths, bolder = [arb(part) for part in _PURSES], arb(_BOLDER).sqrt()
    if enough <= 1:
        return True
    for loss, stake in zip(exact, _stakes(exact, target), strict=True):
        for player, own in enumerate((stake, bolder * stake)):
            wealths[player] *= 1 + own.min(largest_stake) * (bound - loss)
        if wealths[0] + wealths[1] >= enough:
            return True
    return False


def order_free_limit_holds(losses: Sequence[float | fmpq], level: arb, bound: arb) -> bool:
    """The same by bets on all losses at once: their order does not matter, and there is no target."""
    exact = [(arb(loss), number) for loss, number in Counter(losses).items()]
    if not exact or not all(0 <= loss <= 1 for loss, _ in exact) or not level > 0:
        return False
    if bound >= 1:
        return True
    if not 0 < bound < 1:
        return False
    # Square roots, sums and quotients of floats are the same on every machine: the stakes are these numbers exactly.
    root = math.sqrt(len(losses))
    bets = [arb(1), *(arb(bold / (bold + root)) for bold in _AT_ONCE)]
    wealth = arb(0)
    for bet in bets:
        product = arb(1)
        for loss, number in exact:
            product *= (1 - bet + bet * (1 - loss) / (1 - bound)) ** number
        wealth += product / len(bets)
    return bool(wealth * level >= 1)


def _stakes(losses: list[arb], target: arb) -> Iterator[arb]:
    """Before each loss, what the losses so far recommend to bet."""
    aim = -2 * target.log() / len(losses)
    total, squares = arb(_FIRST_MEAN), arb(_FIRST_VARIANCE)
    for seen, loss in enumerate(losses, start=1):
        yield (aim * seen / squares).sqrt()
        total += loss
        deviation = loss - total / (seen + 1)
        squares += deviation * deviation  # the power of a ball that holds 0 is no number
