"""Recompute a certificate from its record, in ball arithmetic: every number comes with a proven enclosure.

Nothing here is shared with the code that makes certificates: the theorems are those of
:mod:`certivote.verify._theorems`, and each bound is proved by its defining inequality at the reported value.
"""

from collections.abc import Iterator
from dataclasses import replace

from flint import arb, ctx

from certivote.certificate import Certificate, ClassBound, PartRecord
from certivote.verify._ball_maths import BITS, kl_limit_holds
from certivote.verify._check import Check
from certivote.verify._families import FAMILIES
from certivote.verify._losses import losses_fit, recorded_mean
from certivote.verify._methods import DRAWN, METHODS, RANDOM, method_of, n_candidates
from certivote.verify._theorems import (
    average_holds,
    bound_holds,
    confidence,
    learned,
    nats,
    penalty,
    rate_holds,
    shares,
)

__all__ = ["SLACK", "verify_record"]

SLACK = arb("1e-8")
"""How far above the theorem's value the recorded numbers may be; more means that one of them is another's."""
_FLOAT_LEVELS = 690
"""Nats beyond which levels are no floats: there the library takes the Chernoff limit, which is larger."""
_RISK_SHARE = 0.01
"""What a simulation takes of delta."""


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
    yield Check("bound", c.bound == own, f"{c.bound!r} is that of the deployed vote ({own!r})")
    best = bounds.index(min(bounds))
    yield Check(
        "deployed vote", c.deployed == best, f"its bound {own!r} is the smallest of the parts ({min(bounds)!r})"
    )
    order = c.deployed_part.renyi_order
    yield Check("order", c.renyi_order == order, f"{c.renyi_order!r} is that of the deployed vote ({order!r})")
    yield Check("vacuous", c.vacuous == (c.bound >= 1.0), f"{c.vacuous} with a bound of {c.bound!r}")
    if (c.average_bound is None) == (len(c.parts) > 1):
        yield Check("average", False, f"{c.average_bound!r} with {len(c.parts)} parts")
    elif c.average_bound is not None:
        yield from _average(c, c.average_bound)
    yield from _by_class(c)


def _consistency(c: Certificate) -> Iterator[Check]:
    """Whether the record as a whole is one that a method of this name can have made."""
    method = method_of(c) if c.method in METHODS else None
    predictor = method.predictor if method else "nothing known"
    yield Check("method", predictor == c.certified, f"{c.method} certifies {predictor}; stated: {c.certified}")
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
    yield _delta_check(part.delta, arb(c.delta) / len(c.parts) / n_candidates(c), c.delta, where)
    sound = (
        part.n >= 1
        and 0 <= part.draw < c.n_draws
        and 0.0 < part.prior_weight <= 1.0
        and 0.0 <= part.risk_delta < part.delta
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
    yield from _account(c, part, cost, where)


def _delta_check(stated: float, expected: arb, whole: float, where: str) -> Check:
    right = bool(abs(arb(stated) - expected) <= expected * arb("1e-15"))
    return Check(f"{where}, delta", right, f"{stated!r} is its part of {whole!r}")


def _account(c: Certificate, part: PartRecord, cost: arb, where: str) -> Iterator[Check]:
    """What one bound starts from and pays, and the bound itself."""
    risk = _risk(c, part, where)
    yield risk
    if not risk.passed:
        return
    for name, stated, exact in (
        ("penalty", part.penalty, penalty(c, part, cost)),
        ("confidence", part.confidence, confidence(c, part)),
    ):
        right = bool(exact <= arb(stated) * (1 + arb("1e-14")) + arb("1e-12"))
        right = right and bool(arb(stated) <= exact + SLACK * (1 + abs(exact)))
        yield Check(f"{where}, {name}", right, f"recorded {stated:.9f}, proved {float(exact.upper()):.9f} nats")
    factor = method_of(c).factor
    proved = part.bound <= factor and bound_holds(c, part, cost, arb(part.bound))
    yield Check(f"{where}, bound", proved, f"the theorem's value is {'' if proved else 'not '}at most {part.bound!r}")
    # Where levels are no floats the library takes Chernoff's limit.
    tight = rate_holds if nats(c, part, cost) >= _FLOAT_LEVELS else bound_holds
    same = part.bound == 0.0 or not tight(c, part, cost, arb(part.bound) * (1 - SLACK))
    yield Check(f"{where}, numbers", same, f"they give {'this bound' if same else 'a smaller bound: one was changed'}")


def _risk(c: Certificate, part: PartRecord, where: str) -> Check:
    """The statistics: errors that are counted, or numbers between 0 and 1 of which some say how they came about."""
    method = method_of(c)
    right = len(part.risks) == method.n_risks and all(0.0 <= risk <= 1.0 for risk in part.risks)
    if method.predictor == RANDOM:
        right = right and part.errors is None
    else:
        right = right and part.errors is not None and 0 <= part.errors <= part.n
    if method.counts_errors and c.groups:
        right = right and losses_fit(part.losses, part.entities, part.n, part.errors or 0)
        right = right and part.risks[0] == recorded_mean(part.losses)
    else:
        right = right and not part.losses
        right = right and (not method.counts_errors or part.risks[0] == (part.errors or 0) / part.n)
    if method.predictor != RANDOM or FAMILIES[part.family].has_closed_form(c.loss, len(c.classes)):
        right = right and part.risk_draws == 0 and part.risk_delta == 0.0
    else:
        right = right and _is_simulated(c, part)
    belong = f" of {part.entities} entities" if part.entities else ""
    counted = "" if part.errors is None else f"{part.errors} errors in {part.n} rows{belong}; "
    return Check(f"{where}, risk", right, f"{counted}statistics {', '.join(map(repr, part.risks)) or 'none'}")


def _is_simulated(c: Certificate, part: PartRecord) -> bool:
    """Whether a risk can be the limit that a simulation of so many answers gives, at its part of delta."""
    if part.risk_draws <= 0:
        return False
    if not abs(part.risk_delta - _RISK_SHARE * part.delta / shares(c)) <= 1e-12 * part.risk_delta:
        return False
    # It is no lower than that of a simulation without an error.
    return kl_limit_holds(0.0, -arb(part.risk_delta).log() / part.risk_draws, arb(part.risks[0]))


def _average(c: Certificate, bound: float) -> Iterator[Check]:
    """The bound on the average: the mean of the parts' bounds, or the paper's inverse of the means."""
    try:
        costs = [learned(c, part) for part in c.parts]
        proved = average_holds(c, costs, arb(bound))
        same = bound == 0.0 or not average_holds(c, costs, arb(bound) * (1 - SLACK))
    except (AssertionError, ValueError, ZeroDivisionError) as error:
        yield Check("average", False, f"it cannot be computed: {error}")
        return
    yield Check("average", proved, f"the theorem's value is {'' if proved else 'not '}at most {bound!r}")
    yield Check("average, numbers", same, f"they give {'this bound' if same else 'a smaller one'}")


def _by_class(c: Certificate) -> Iterator[Check]:
    """The bounds by class: that none is missing, that delta is divided among all, and each as the part's own."""
    if not c.by_class:
        return
    part = c.deployed_part
    kinds = ("error", "false alarm") if method_of(c).counts_errors and len(c.classes) > 2 else ("error",)
    named = [(entry.label, entry.kind) for entry in c.by_class]
    right = named == [(label, kind) for label in c.classes for kind in kinds]
    yield Check("by class", right, f"{len(named)} statements: {' and '.join(kinds)} of {len(c.classes)} classes")
    rows = [entry.n for entry in c.by_class if entry.kind == "error"]
    others = [part.n - entry.n for entry in c.by_class if entry.kind == "false alarm"]
    right = sum(rows) == part.n and others in ([], rows)
    yield Check("by class, rows", right, f"those of the classes are {sum(rows):,} of {part.n:,}")
    if part.errors is not None:
        errors = sum(entry.errors or 0 for entry in c.by_class if entry.kind == "error")
        alarms = sum(entry.errors or 0 for entry in c.by_class if entry.kind == "false alarm")
        # An error of the plurality is one class's false alarm; the half-weight loss counts no fewer.
        right = errors == part.errors and (
            kinds == ("error",) or alarms == errors or (c.loss == "half-weight" and alarms < errors)
        )
        yield Check("by class, errors", right, f"those of the classes are {errors:,} of {part.errors:,}")
    if c.groups:
        yield _entities_of_classes(part.entities, c.by_class)
    try:
        cost = learned(c, part)
    except (ValueError, ZeroDivisionError):
        return  # the part's own checks have said so
    for entry in c.by_class:
        yield from _statement(c, part, entry, cost)


def _entities_of_classes(entities: int, by_class: tuple[ClassBound, ...]) -> Check:
    """Every entity has rows of some class, and those that have rows of another class are at least as many as of one."""
    own = {entry.label: entry.entities for entry in by_class if entry.kind == "error"}
    others = {entry.label: entry.entities for entry in by_class if entry.kind == "false alarm"}
    right = max(own.values(), default=0) <= entities <= sum(own.values())
    for label, found in others.items():
        rest = [count for name, count in own.items() if name != label]
        # An entity without rows of this class has others.
        right = (
            right
            and max(rest, default=0) <= found <= min(sum(rest), entities)
            and found >= entities - own.get(label, 0)
        )
    return Check("by class, entities", right, f"{', '.join(map(str, list(own.values())[:9]))} of {entities:,}")


def _statement(c: Certificate, part: PartRecord, entry: ClassBound, cost: arb) -> Iterator[Check]:
    where = f"{entry.kind}s, class {entry.label}"
    yield _delta_check(entry.delta, arb(c.delta) / len(c.parts) / n_candidates(c) / len(c.by_class), c.delta, where)
    if not entry.n:
        nothing = (entry.errors, entry.risks, entry.risk_draws, entry.risk_delta, entry.confidence, entry.bound)
        right = nothing == (None, (), 0, 0.0, 0.0, 1.0) and not entry.entities and not entry.losses
        yield Check(f"{where}, bound", right, f"{entry.bound!r} without a row")
    elif not (1 <= entry.entities <= min(entry.n, part.entities) if c.groups else entry.entities == 0):
        yield Check(
            f"{where}, entities", False, f"{entry.entities:,}, of {entry.n:,} rows and {part.entities:,} in all"
        )
    elif 0.0 <= entry.risk_delta < entry.delta:
        yield from _account(c, _as_part(part, entry), cost, where)
    else:
        yield Check(f"{where}, risk", False, f"{entry.risk_delta!r} of {entry.delta!r} was spent on it")


def _as_part(part: PartRecord, entry: ClassBound) -> PartRecord:
    """The rows of a class, on which the same vote was certified."""
    own = ("n", "entities", "errors", "losses", "risks", "delta", "risk_draws", "risk_delta", "confidence", "bound")
    return replace(part, **{name: getattr(entry, name) for name in own})
