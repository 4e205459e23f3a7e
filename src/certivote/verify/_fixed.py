"""The bound of a classifier that was fixed beforehand, proved at the recorded value."""

from flint import arb

from certivote.certificate import Certificate, PartRecord, Statement
from certivote.verify._account import SLACK, check_delta
from certivote.verify._ball_maths import binomial_limit_holds
from certivote.verify._betting import bets_hold
from certivote.verify._losses import exact_losses, losses_fit


def is_fixed_bound(c: Certificate, part: PartRecord, said: Statement, kind: str, label: str, delta: arb) -> bool:
    """Whether this is the bound, from above: of Clopper and Pearson, or by bets where rows belong to entities.

    It is about all rows of the part, at this delta of its own.
    """
    if (said.kind, said.label, said.threshold, said.n, said.entities) != (kind, label, None, part.n, part.entities):
        return False
    if said.means or (said.risk_draws, said.risk_delta) != (0, 0.0) or said.errors is None:
        return False
    if not 0 <= said.errors <= said.n or not 0.0 < said.bound <= 1.0:
        return False
    if not check_delta(said.delta, delta, c.delta, kind).passed:
        return False
    level, above, below = arb(said.delta), arb(said.bound), arb(said.bound) * (1 - SLACK)
    if not said.entities:
        if said.losses:
            return False
        holds = [binomial_limit_holds(said.errors, said.n, bound, level) for bound in (above, below)]
    elif losses_fit(said.losses, said.entities, said.n, said.errors):
        shares = exact_losses(said.losses, said.n)
        holds = [bets_hold(c.bets, shares, level, level, bound) for bound in (above, below)]
    else:
        return False
    return holds == [True, False]
