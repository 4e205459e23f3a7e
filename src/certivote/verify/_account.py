"""The account of one bound, in ball arithmetic: what it starts from and pays, and the bound itself."""

from collections.abc import Iterator
from dataclasses import replace

from flint import arb

from certivote.certificate import Certificate, PartRecord, Statement
from certivote.verify._ball_maths import kl_limit_holds
from certivote.verify._check import Check
from certivote.verify._families import FAMILIES
from certivote.verify._losses import losses_fit
from certivote.verify._methods import RANDOM, method_of
from certivote.verify._theorems import bound_holds, nats, penalty, rate_holds, shares

SLACK = arb("1e-8")
"""How far above the theorem's value the recorded numbers may be; more means that one of them is another's."""
_FLOAT_LEVELS = 690
"""Nats beyond which levels are no floats: there the library takes the Chernoff limit, which is larger."""
_RISK_SHARE = 0.01
"""What a simulation takes of delta."""


def check_delta(stated: float, expected: arb, whole: float, where: str) -> Check:
    """Whether a number is the part of delta that it should be, but for rounding."""
    right = bool(abs(arb(stated) - expected) <= expected * arb("1e-15"))
    return Check(f"{where}, delta", right, f"{stated!r} is its part of {whole!r}")


def check_account(c: Certificate, part: PartRecord, cost: arb, where: str) -> Iterator[Check]:
    """What one bound starts from and pays, and the bound itself."""
    risk = _risk(c, part, where)
    yield risk
    if not risk.passed:
        return
    yield check_penalty(c, part, cost, where)
    factor = method_of(c).factor
    proved = part.bound <= factor and bound_holds(c, part, cost, arb(part.bound))
    yield Check(f"{where}, bound", proved, f"the theorem's value is {'' if proved else 'not '}at most {part.bound!r}")
    # Where levels are no floats the library takes Chernoff's limit.
    tight = rate_holds if nats(c, part, cost) >= _FLOAT_LEVELS else bound_holds
    same = part.bound == 0.0 or not tight(c, part, cost, arb(part.bound) * (1 - SLACK))
    yield Check(f"{where}, numbers", same, f"they give {'this bound' if same else 'a smaller bound: one was changed'}")


def check_penalty(c: Certificate, part: PartRecord, cost: arb, where: str) -> Check:
    """What is paid for what was learned."""
    stated, exact = part.penalty, penalty(c, part, cost)
    right = bool(exact <= arb(stated) * (1 + arb("1e-14")) + arb("1e-12"))
    right = right and bool(arb(stated) <= exact + SLACK * (1 + abs(exact)))
    return Check(f"{where}, penalty", right, f"recorded {stated:.9f}, proved {float(exact.upper()):.9f} nats")


def _risk(c: Certificate, part: PartRecord, where: str) -> Check:
    """The statistics: errors that are counted, or numbers between 0 and 1 of which some say how they came about."""
    method, means = method_of(c), part.statement.means
    wanted = 0 if method.counts_errors else method.n_risks
    right = len(means) == wanted and all(0.0 <= mean <= 1.0 for mean in means)
    if method.predictor == RANDOM:
        right = right and part.errors is None
    else:
        right = right and part.errors is not None and 0 <= part.errors <= part.n
    if method.counts_errors and c.groups:
        right = right and losses_fit(part.losses, part.entities, part.n, part.errors or 0)
    else:
        right = right and not part.losses
    if method.predictor != RANDOM or FAMILIES[part.family].has_closed_form(c.loss, len(c.classes)):
        right = right and (part.statement.risk_draws, part.statement.risk_delta) == (0, 0.0)
    else:
        right = right and _is_simulated(c, part)
    belong = f" of {part.entities} entities" if part.entities else ""
    counted = "" if part.errors is None else f"{part.errors} errors in {part.n} rows{belong}; "
    return Check(f"{where}, risk", right, f"{counted}means {', '.join(map(repr, means)) or 'none'}")


def _is_simulated(c: Certificate, part: PartRecord) -> bool:
    """Whether a risk can be the limit that a simulation of so many answers gives, at its part of delta."""
    said = part.statement
    if said.risk_draws <= 0:
        return False
    if not abs(said.risk_delta - _RISK_SHARE * said.delta / shares(c)) <= 1e-12 * said.risk_delta:
        return False
    # It is no lower than that of a simulation without an error.
    return kl_limit_holds(0.0, -arb(said.risk_delta).log() / said.risk_draws, arb(said.means[0]))


def as_part(part: PartRecord, entry: Statement) -> PartRecord:
    """The rows that a statement is about, on which the same vote was certified."""
    return replace(part, statement=entry)
