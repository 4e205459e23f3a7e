"""Recompute a certificate from its record, in ball arithmetic: every number comes with a proven enclosure.

Nothing here is shared with the code that makes certificates: the theorems are those of
:mod:`certivote.verify._theorems`, and each bound is proved by its defining inequality at the reported value.
"""

from collections.abc import Iterator

from flint import arb, ctx

from certivote.certificate import Certificate, PartRecord
from certivote.verify._account import SLACK, check_account, check_delta
from certivote.verify._ball_maths import BITS
from certivote.verify._check import Check
from certivote.verify._methods import DRAWN, GIVEN, METHODS, method_of, n_candidates
from certivote.verify._promises import bound_share, check_promises
from certivote.verify._theorems import average_holds, learned


def verify_record(certificate: Certificate) -> list[Check]:
    """Prove every bound of a record at the recorded numbers.

    Parameters
    ----------
    certificate : Certificate

    Returns
    -------
    list of Check
        The bounds are proved if all have passed: each is at least the value of its theorem at the recorded numbers,
        and hardly above it. Whether the recorded numbers are those of the data takes the data.
    """
    with ctx.workprec(BITS):
        return list(_checks(certificate))


def _checks(c: Certificate) -> Iterator[Check]:
    first = list(_consistency(c))
    yield from first
    if not all(check.passed for check in first):
        return
    for number, part in enumerate(c.parts):
        yield from _part(c, part, f"part {number + 1}" if len(c.parts) > 1 else "part")
    own, bounds = c.deployed_part.bound, [part.bound for part in c.parts]
    best = bounds.index(min(bounds))
    yield Check(
        "deployed vote", c.deployed == best, f"its bound {own!r} is the smallest of the parts ({min(bounds)!r})"
    )
    if (c.average_bound is None) == (len(c.parts) > 1):
        yield Check("average", False, f"{c.average_bound!r} with {len(c.parts)} parts")
    elif c.average_bound is not None:
        yield from _average(c, c.average_bound)
    yield from check_promises(c)


def _consistency(c: Certificate) -> Iterator[Check]:
    """Whether the record as a whole is one that a method of this name can have made."""
    method = method_of(c) if c.method in METHODS else None
    right = method is not None and (method.predictor in (DRAWN, GIVEN) or not c.is_given)
    yield Check("method", right, f"{c.method} certifies {method.predictor if method else 'nothing known'}")
    there = 0 <= c.deployed < len(c.parts)
    yield Check("parts", there, f"{len(c.parts)} of them; number {c.deployed + 1} is deployed")
    yield Check("delta", 0.0 < c.delta < 1.0, f"{c.delta!r} lies strictly between 0 and 1")
    yield Check("loss", c.loss in ("plurality", "half-weight"), f"{c.loss!r}")
    yield Check("constant", c.constant in ("paper", "exact"), f"{c.constant!r}")
    weights = c.average_weights
    right = len(weights) == len(c.parts) and min(weights, default=-1.0) >= 0 and abs(_sum(weights) - 1) < arb("1e-12")
    yield Check("average weights", right, f"{len(weights)} of {len(c.parts)} parts, non-negative with sum 1")
    drawn = method is not None and method.predictor == DRAWN
    yield Check("draws", c.n_draws >= 1 and (drawn or c.n_draws == 1), f"{c.n_draws} draws are paid for")
    uses_orders = method is not None and method.theorem == "renyi"
    right = all(order > 1 for order in c.renyi_orders) and uses_orders == bool(c.renyi_orders)
    yield Check("orders", right, f"{len(c.renyi_orders)} are paid for")
    yield _price_list(c, method is not None and method.has_prices)


def _price_list(c: Certificate, is_used: bool) -> Check:
    entries = (*c.price_atoms, *c.price_scales)
    if not is_used:
        return Check("price list", not entries, f"{len(entries)} entries, for a theorem without one")
    right = all(len(entry) == 2 and entry[1] > 0 for entry in entries) and bool(c.price_scales)
    right = right and all(scale[0] > 0 for scale in c.price_scales)
    right = right and bool(0 < _sum(tuple(entry[1] for entry in entries)) < 1 + arb("1e-12"))
    return Check("price list", right, "scales and weights are positive, and the weights sum to at most 1")


def _sum(numbers: tuple[float, ...]) -> arb:
    return sum(map(arb, numbers), arb(0))


def _part(c: Certificate, part: PartRecord, where: str) -> Iterator[Check]:
    """One part of the rows: its share of delta, its counts, its bound and what it pays."""
    yield check_delta(part.delta, bound_share(c) / len(c.parts) / n_candidates(c), c.delta, where)
    sound = (
        part.n >= 1
        and 0 <= part.draw < c.n_draws
        and 0.0 < part.prior_weight <= 1.0
        and 0.0 <= part.statement.risk_delta < part.delta
        and (part.statement.kind, part.statement.label, part.statement.threshold) == ("error", "", None)
        and part.n_voters >= 1
        and (1 <= part.entities <= part.n if c.groups else part.entities == 0)
    )
    entities = f" of {part.entities} entities" if part.entities else ""
    yield Check(
        f"{where}, counts",
        sound,
        f"{part.n} rows{entities}, draw {part.draw + 1} of {c.n_draws}, prior of weight {part.prior_weight!r}",
    )
    if not sound:
        return
    try:
        cost = learned(c, part)
    except (ValueError, ZeroDivisionError) as error:
        yield Check(f"{where}, penalty", False, f"it cannot be computed: {error}")
        return
    yield from check_account(c, part, cost, where)


def _average(c: Certificate, bound: float) -> Iterator[Check]:
    """The bound on the average: the mean of the parts' bounds, or the paper's inverse of the means."""
    try:
        costs = [learned(c, part) for part in c.parts]
        proved = average_holds(c, costs, arb(bound))
        same = bound == 0.0 or not average_holds(c, costs, arb(bound) * (1 - SLACK))
    except (AssertionError, IndexError, ValueError, ZeroDivisionError) as error:
        yield Check("average", False, f"it cannot be computed: {error}")
        return
    yield Check("average", proved, f"the theorem's value is {'' if proved else 'not '}at most {bound!r}")
    yield Check("average, numbers", same, f"they give {'this bound' if same else 'a smaller one'}")
