"""The limit of losses by betting, proved in ball arithmetic at the reported value.

The wealth of the bets does not decrease in the mean that they are made against, so the limit is at most ``B`` where
the wealth at ``B`` itself has reached ``1/level``: no inverse is taken. So it is with bets on all losses at once, whose
stakes do not depend on the losses. Nothing here is shared with the code that makes certificates.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from flint import arb, fmpq

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
