"""The bound of a classifier that was fixed beforehand, proved at the recorded value."""

from flint import arb

from certivote.verify._account import SLACK
from certivote.verify._balls import bets_hold, binomial_limit_holds
from certivote.verify._theorems import exact_losses, losses_fit


def is_fixed_bound(
    errors: int, n: int, losses: tuple[float, ...], entities: int, delta: float, bound: float, bets: str
) -> bool:
    """Whether this is the bound, from above: of Clopper and Pearson, or by bets where rows belong to entities."""
    if not 0 <= errors <= n or not 0.0 < bound <= 1.0 or not 0.0 < delta < 1.0:
        return False
    level, above, below = arb(delta), arb(bound), arb(bound) * (1 - SLACK)
    if not entities:
        if losses:
            return False
        return binomial_limit_holds(errors, n, above, level) and not binomial_limit_holds(errors, n, below, level)
    if not losses_fit(losses, entities, n, errors):
        return False
    shares = exact_losses(losses, n)
    return bets_hold(bets, shares, level, level, above) and not bets_hold(bets, shares, level, level, below)
