"""The wealth of bets against a mean, to many digits and straight from its definition."""

import math
from fractions import Fraction

from mpmath import mp, mpf


def log_wealths(losses, log_target, mean):
    """After each loss, the logarithm of the wealth of bets against ``mean``; losses are floats or fractions."""
    exact = [mpf(Fraction(loss).numerator) / Fraction(loss).denominator for loss in losses]
    players = [(mpf(7) / 8, log_target), (mpf(1) / 8, 8 * mpf(log_target))]
    found = [mpf(0)] * len(exact)
    for purse, aim in players:
        wealth = purse
        for s, stake in enumerate(stakes(exact, aim)):
            if mean < 1:
                stake = min(stake, mpf(31) / 32 / (1 - mpf(mean)))
            wealth *= 1 + stake * (mpf(mean) - exact[s])
            found[s] += wealth
    return [mp.log(wealth) for wealth in found]


def stakes(losses, log_target):
    """What is bet before each loss, as far as the mean that it is bet against allows it."""
    m, total, squares = len(losses), mpf(1) / 2, mpf(1) / 4
    for s, loss in enumerate(losses, start=1):
        yield mp.sqrt(-2 * mpf(log_target) / (m * squares / s))
        total += loss
        squares += (loss - total / (s + 1)) ** 2


def exact_mean(losses):
    total = sum(map(Fraction, losses))
    return mpf(total.numerator) / total.denominator / len(losses)


def order_free_log_wealth(losses, mean):
    """The logarithm of what bets on all losses at once have won against ``mean``, which is below 1."""
    exact = [mpf(Fraction(loss).numerator) / Fraction(loss).denominator for loss in losses]
    wealth = mpf(0)
    for bold in (8, 24, 96, None):
        share = mpf(1) if bold is None else mpf(bold / (bold + math.sqrt(len(exact))))  # a float, and exactly that
        product = mpf(1)
        for loss in exact:
            product *= 1 - share + share * (1 - loss) / (1 - mpf(mean))
        wealth += product / 4
    return mp.log(wealth)
