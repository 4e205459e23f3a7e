"""One proof for everything that is said of a classifier: what it starts from, its part of delta, and its bound.

The bound of a vote, bounds by class, further promises and comparisons with other classifiers are statements of one
form. Each is proved by the defining inequality of its theorem at the reported value, in ball arithmetic, with the terms
of the classifier that it is about.
"""

from collections.abc import Iterator

from flint import arb

from certivote.certificate import Certificate, PartRecord, Statement
from certivote.verify._balls import kl_limit_holds
from certivote.verify._check import Check
from certivote.verify._families import FAMILIES
from certivote.verify._methods import RANDOM, method_of, n_candidates
from certivote.verify._theorems import Terms, losses_fit

SLACK = arb("1e-8")
"""How far above the theorem's value the recorded numbers may be; more means that one of them is another's."""
_FLOAT_LEVELS = 690
"""Nats beyond which levels are no floats: there the library takes the Chernoff limit, which is larger."""
_RISK_SHARE = 0.01
"""What a simulation takes of delta."""


def bound_share(c: Certificate) -> arb:
    """What the bound has of delta: four fifths where promises hold together with it."""
    return arb(c.delta) * 4 / 5 if c.together else arb(c.delta)


def promise_share(c: Certificate) -> arb:
    """What each promise has: a delta of its own, or its part of the fifth that the bound leaves.

    All differences of models together are as one promise.
    """
    return arb(c.delta) / 5 / (len(c.promises) + bool(c.differences)) if c.together else arb(c.delta)


def part_of_vote(c: Certificate, delta: arb) -> arb:
    """What the vote of one part has of a delta: its share, where certification rows chose; of each part and candidate.

    That this is the share of a vote of this kind, the parameters show.
    """
    return arb(c.share) * delta / len(c.parts) / n_candidates(c)


def is_share(stated: float, due: arb) -> bool:
    """Whether a number is the part of delta that it should be, but for rounding."""
    return bool(abs(arb(stated) - due) <= due * arb("1e-15"))


def check_penalty(part: PartRecord, terms: Terms, where: str) -> Check:
    """What is recorded as paid for what was learned: it is not more than the theorem asks for, and not less."""
    stated, exact = part.penalty, terms.penalty
    right = bool(exact <= arb(stated) * (1 + arb("1e-14")) + arb("1e-12"))
    right = right and bool(arb(stated) <= exact + SLACK * (1 + abs(exact)))
    return Check(f"{where}, penalty", right, f"recorded {stated:.9f}, proved {float(exact.upper()):.9f} nats")


def prove(terms: Terms, said: Statement, statistics: Check, where: str) -> Iterator[Check]:
    """A statement: its statistics, that its bound holds at them, and that they give no smaller one."""
    yield statistics
    if not statistics.passed:
        return
    proved = said.bound <= terms.factor and terms.holds(said, arb(said.bound))
    yield Check(f"{where}, bound", proved, f"the theorem's value is {'' if proved else 'not '}at most {said.bound!r}")
    # Where levels are no floats the library takes Chernoff's limit.
    tight = terms.rate_holds if terms.nats(said) >= _FLOAT_LEVELS else terms.holds
    same = said.bound == 0.0 or not tight(said, arb(said.bound) * (1 - SLACK))
    yield Check(f"{where}, numbers", same, f"they give {'this bound' if same else 'a smaller bound: one was changed'}")


def statistics(c: Certificate, part: PartRecord, terms: Terms, said: Statement, where: str) -> Check:
    """Errors that are counted, or means between 0 and 1 of which some say how they came about."""
    method = method_of(c)
    is_random = method.predictor == RANDOM and not terms.counts
    wanted = 0 if terms.counts else method.n_risks
    right = len(said.means) == wanted and all(0.0 <= mean <= 1.0 for mean in said.means)
    if is_random:
        right = right and said.errors is None
    else:
        right = right and said.errors is not None and 0 <= said.errors <= said.n
    if terms.counts and c.groups:
        right = right and losses_fit(said.losses, said.entities, said.n, said.errors or 0)
    else:
        right = right and not said.losses
    if is_random and not FAMILIES[part.family].has_closed_form(c.loss, len(c.classes)):
        right = right and _is_simulated(terms, said)
    else:
        right = right and (said.risk_draws, said.risk_delta) == (0, 0.0)
    belong = f" of {said.entities} entities" if said.entities else ""
    counted = "" if said.errors is None else f"{said.errors} errors in {said.n} rows{belong}; "
    return Check(f"{where}, risk", right, f"{counted}means {', '.join(map(repr, said.means)) or 'none'}")


def _is_simulated(terms: Terms, said: Statement) -> bool:
    """Whether a risk can be the limit that a simulation of so many answers gives, at its part of delta."""
    if said.risk_draws <= 0:
        return False
    if not abs(said.risk_delta - _RISK_SHARE * said.delta / terms.shares) <= 1e-12 * said.risk_delta:
        return False
    # It is no lower than that of a simulation without an error.
    return kl_limit_holds(0.0, -arb(said.risk_delta).log() / said.risk_draws, arb(said.means[0]))
