"""The theorems once more, in ball arithmetic: what each pays, and whether a number is at least its bound.

One row per theorem; which method uses which is in :mod:`certivote.verify._methods`.
"""

from collections.abc import Callable
from dataclasses import dataclass

from flint import arb, fmpq

from certivote.certificate import Certificate, PartRecord
from certivote.verify._ball_maths import binomial_limit_holds, kl_limit_holds, log_constant, positive, smallest
from certivote.verify._betting import bets_hold
from certivote.verify._families import FAMILIES, Family
from certivote.verify._losses import exact_losses, mean_loss
from certivote.verify._methods import DRAWN, method_of


@dataclass(frozen=True)
class Theorem:
    """What a theorem pays and proves.

    Attributes
    ----------
    learned : (family, part) -> nats
        What learning cost: the divergence, or the log-density ratio at the draw.
    price : (certificate, nats) -> nats
        What is paid for such a divergence or ratio.
    sure : (certificate, part, delta) -> nats
        What is paid to hold with probability ``1 - delta``.
    holds : (certificate, part, learned, bound) -> bool
        Whether the bound of the part is proved to be at most this number.
    average_holds : (certificate, learned of each part, bound) -> bool
        The same for the bound on the average of several votes, as the paper puts it together.
    """

    learned: Callable[[Family, PartRecord], arb]
    price: Callable[[Certificate, arb], arb]
    sure: Callable[[Certificate, PartRecord, arb], arb]
    holds: Callable[[Certificate, PartRecord, arb, arb], bool]
    average_holds: Callable[[Certificate, list[arb], arb], bool]


def learned(c: Certificate, part: PartRecord) -> arb:
    """What learning cost on one part, in nats.

    Raises
    ------
    ValueError
        If the recorded distributions and the draw are not such as the method has, or nothing finite can be paid.
    """
    method = method_of(c)
    if part.family not in method.families:
        raise ValueError(f"{c.method} does not learn a {part.family} distribution")
    family = FAMILIES[part.family]
    family.check(part)
    if method.predictor == DRAWN:
        family.check_draw(part)
    elif part.log_weights:
        raise ValueError(f"{c.method} draws no weights, but some are recorded")
    theorem = THEOREMS[method.theorem]
    if theorem is _RENYI and (part.renyi_order not in c.renyi_orders or not (part.renyi_order or 0.0) > 1):
        raise ValueError(f"{c.method} needs one of the recorded orders, greater than 1")
    if theorem is not _RENYI and part.renyi_order is not None:
        raise ValueError(f"{c.method} has no order, but one is recorded")
    return theorem.learned(family, part)


def penalty(c: Certificate, part: PartRecord, learned: arb) -> arb:
    """What is paid on one part for what was learned, with the choice of this hyper-prior."""
    return theorem_of(c).price(c, _with_prior(part, learned))


def confidence(c: Certificate, part: PartRecord) -> arb:
    """What is paid on one part to hold with probability 1 - delta, for one of all draws and orders."""
    return theorem_of(c).sure(c, part, delta_of_one(c, part))


def nats(c: Certificate, part: PartRecord, learned: arb) -> arb:
    """All that the theorem pays on one part."""
    return penalty(c, part, learned) + confidence(c, part)


def theorem_of(c: Certificate) -> Theorem:
    """The theorem of the certificate's method."""
    return THEOREMS[method_of(c).theorem]


def bound_holds(c: Certificate, part: PartRecord, learned: arb, bound: arb) -> bool:
    """Whether the theorem's bound on one part is proved to be at most ``bound``."""
    return theorem_of(c).holds(c, part, learned, bound)


def rate_holds(c: Certificate, part: PartRecord, learned: arb, bound: arb) -> bool:
    """The same by Chernoff's limit of the errors, which is never below that of the binomial tail."""
    if theorem_of(c).holds is not _binomial_holds:
        return bound_holds(c, part, learned, bound)
    return kl_limit_holds(_risk(c, part), nats(c, part, learned) / part.size, bound)


def average_holds(c: Certificate, learned: list[arb], bound: arb) -> bool:
    """Whether the bound on the average of the parts' votes is proved to be at most ``bound``."""
    if c.constant == "exact":
        return _mean_of_bounds_holds(c, learned, bound)
    return theorem_of(c).average_holds(c, learned, bound)


# --- What learning costs.


def _log_ratio(family: Family, part: PartRecord) -> arb:
    return family.log_ratio(_balls(part.alpha), _balls(part.beta), _balls(part.log_weights))


def _kl(family: Family, part: PartRecord) -> arb:
    return family.kl(_balls(part.alpha), _balls(part.beta))


def _renyi(family: Family, part: PartRecord) -> arb:
    return family.renyi(_balls(part.alpha), _balls(part.beta), arb(part.renyi_order))


def _nothing(family: Family, part: PartRecord) -> arb:
    return arb(0)


def _balls(numbers: tuple[float, ...]) -> list[arb]:
    return [arb(x) for x in numbers]


# --- What a bound pays.


def delta_of_one(c: Certificate, part: PartRecord) -> arb:
    """What is left of delta for one of all draws and orders, and beside a simulation."""
    return arb(part.delta) / shares(c) - arb(part.statement.risk_delta)


def shares(c: Certificate) -> int:
    """Draws and orders that the delta of a part is divided among."""
    return c.n_draws * max(len(c.renyi_orders), 1)


def _with_prior(part: PartRecord, learned: arb) -> arb:
    """With the choice of this hyper-prior: the mixture of all is at least its weight times this one."""
    return learned - arb(part.prior_weight).log()


def _each(c: Certificate, nats: arb) -> arb:
    """Once for every voter that the statistic draws."""
    return method_of(c).multiple * nats


def _by_price_list(c: Certificate, log_ratio: arb) -> arb:
    """What the price list asks for a draw of this log-density ratio: ``-ln b(1/theta)``."""
    level = arb(0)
    for place, weight in c.price_atoms:
        if log_ratio <= arb(place):
            level += arb(weight) * (-arb(place)).exp()
    for scale, weight in c.price_scales:
        size = arb(scale)
        level += arb(weight) / (size + 1) * (-(1 + 1 / size) * positive(log_ratio)).exp()
    return -level.log()


def _for_nothing(c: Certificate, nats: arb) -> arb:
    return arb(0)


def _kl_sure(c: Certificate, part: PartRecord, delta: arb) -> arb:
    return log_constant(part.size, c.constant) - delta.log()


def _renyi_sure(c: Certificate, part: PartRecord, delta: arb) -> arb:
    order = arb(part.renyi_order)
    first = delta / 2 if c.constant == "paper" else delta * order / (2 * order - 1)
    return log_constant(part.size, c.constant) - order / (order - 1) * first.log() - (delta - first).log()


def _binomial_sure(c: Certificate, part: PartRecord, delta: arb) -> arb:
    return -delta.log()


def _c_bound_sure(c: Certificate, part: PartRecord, delta: arb) -> arb:
    """For the mean wrong mass; the disagreement pays the divergence once more. Each has half of delta."""
    return _kl_sure(c, part, delta / 2)


# --- What a bound proves.


def _risk(c: Certificate, part: PartRecord) -> arb:
    """The first statistic: where the bound starts from errors, their exact share, or the mean of those of entities."""
    if method_of(c).counts_errors and part.entities:
        return mean_loss(part.losses, part.n)
    if method_of(c).counts_errors and part.errors is not None:
        return arb(fmpq(part.errors, part.n))
    return arb(part.statement.means[0])


def _kl_holds(c: Certificate, part: PartRecord, learned: arb, bound: arb) -> bool:
    rate = nats(c, part, learned) / part.size
    return kl_limit_holds(_risk(c, part), rate, bound / method_of(c).factor)


def _binomial_holds(c: Certificate, part: PartRecord, learned: arb, bound: arb) -> bool:
    assert part.errors is not None
    return binomial_limit_holds(part.errors, part.n, bound, (-nats(c, part, learned)).exp())


def _bets_hold(c: Certificate, part: PartRecord, learned: arb, bound: arb) -> bool:
    """Bets are made for the delta of one draw, whatever level the draw then has."""
    losses = exact_losses(part.losses, part.n)
    return bets_hold(c.bets, losses, (-nats(c, part, learned)).exp(), delta_of_one(c, part), bound)


def _c_bound_holds(c: Certificate, part: PartRecord, learned: arb, bound: arb) -> bool:
    return _c_bound_at_most(*_moment_limits(c, part, learned), bound)


def _moment_limits(c: Certificate, part: PartRecord, learned: arb) -> tuple[arb, arb]:
    """An upper limit of the mean wrong mass and a lower one of the disagreement, by bisection."""
    first = nats(c, part, learned)
    second = first + _with_prior(part, learned)
    risk, agreement = arb(part.statement.means[0]), 1 - arb(part.statement.means[1])
    upper = smallest(lambda p: kl_limit_holds(risk, first / part.size, p), risk, arb(1))
    return upper, 1 - smallest(lambda p: kl_limit_holds(agreement, second / part.size, p), agreement, arb(1))


def _c_bound_at_most(upper: arb, lower: arb, bound: arb) -> bool:
    """Whether the C-bound at these limits is at most ``bound``."""
    if bound >= 1:
        return True
    return bool(upper < arb(0.5)) and bool(1 - (1 - 2 * upper) ** 2 / (1 - 2 * lower) <= bound)


# --- The average of several votes.


def _mean(c: Certificate, values: list[arb]) -> arb:
    return sum((arb(weight) * value for weight, value in zip(c.average_weights, values, strict=True)), arb(0))


def _mean_of_bounds_holds(c: Certificate, learned: list[arb], bound: arb) -> bool:
    """Every part's bound holds at once, so their mean bounds the average."""
    return bool(_mean(c, [arb(part.bound) for part in c.parts]) <= bound)


def _kl_average_holds(c: Certificate, learned: list[arb], bound: arb) -> bool:
    """The inverse of the mean risk at the mean rate, as in Theorems 8 and 9."""
    rates = [positive(nats(c, part, cost)) / part.size for part, cost in zip(c.parts, learned, strict=True)]
    risk = _mean(c, [_risk(c, part) for part in c.parts])
    return kl_limit_holds(risk, _mean(c, rates), bound / method_of(c).factor)


def _c_bound_average_holds(c: Certificate, learned: list[arb], bound: arb) -> bool:
    limits = [_moment_limits(c, part, cost) for part, cost in zip(c.parts, learned, strict=True)]
    return _c_bound_at_most(_mean(c, [upper for upper, _ in limits]), _mean(c, [lower for _, lower in limits]), bound)


_RENYI = Theorem(_renyi, _each, _renyi_sure, _kl_holds, _kl_average_holds)

THEOREMS = {
    "kl": Theorem(_kl, _each, _kl_sure, _kl_holds, _kl_average_holds),
    "ratio": Theorem(_log_ratio, _each, _kl_sure, _kl_holds, _kl_average_holds),
    "renyi": _RENYI,
    "occam": Theorem(_log_ratio, _by_price_list, _binomial_sure, _binomial_holds, _mean_of_bounds_holds),
    "clopper-pearson": Theorem(_nothing, _for_nothing, _binomial_sure, _binomial_holds, _mean_of_bounds_holds),
    "occam-bets": Theorem(_log_ratio, _by_price_list, _binomial_sure, _bets_hold, _mean_of_bounds_holds),
    "bets": Theorem(_nothing, _for_nothing, _binomial_sure, _bets_hold, _mean_of_bounds_holds),
    "c-bound": Theorem(_kl, _each, _c_bound_sure, _c_bound_holds, _c_bound_average_holds),
}
"""All theorems: 2 and 5 (``kl``), 6 and 8 (``ratio``), 7 and 9 (``renyi``), and those beyond the paper."""
