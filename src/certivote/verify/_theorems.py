"""The methods and the theorems in ball arithmetic: what each pays, and whether a number is at least its bound."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from flint import arb, fmpq

from certivote.certificate import Certificate, PartRecord, Statement
from certivote.verify._balls import bets_hold, binomial_limit_holds, kl_limit_holds, log_constant, positive, smallest
from certivote.verify._families import FAMILIES, Family
from certivote.verify._methods import BETS, DRAWN, method_of

# --- The losses of entities: shares of wrong rows, which must fit the rows and errors that are stated.


@lru_cache(maxsize=16)
def exact_losses(losses: tuple[float, ...], n: int) -> tuple[fmpq, ...]:
    """The shares that recorded losses stand for: of each, the one with at most ``n`` rows that rounds to it.

    Raises
    ------
    ValueError
        If one of them is no share of so few rows.
    """
    found: dict[float, fmpq] = {}
    for loss in losses:
        if loss not in found:
            share = Fraction(loss).limit_denominator(n)
            if not 0 <= share <= 1 or share.numerator / share.denominator != loss:
                raise ValueError(f"{loss!r} is no share of at most {n:,} rows")
            found[loss] = fmpq(share.numerator, share.denominator)
    return tuple(found[loss] for loss in losses)


def mean_loss(losses: tuple[float, ...], n: int) -> arb:
    """The mean of the shares, in ball arithmetic."""
    return sum(map(arb, exact_losses(losses, n)), arb(0)) / len(losses)


def losses_fit(losses: tuple[float, ...], entities: int, n: int, errors: int) -> bool:
    """Whether so many rows with so many errors can belong to entities with these losses.

    An entity with the loss p/q, in lowest terms, has p errors and q - p right rows, or a multiple of both.
    """
    if not losses or len(losses) != entities:
        return False
    try:
        shares = exact_losses(losses, n)
    except ValueError:
        return False
    wrong = sum(int(share.p) for share in shares)
    right = sum(int(share.q - share.p) for share in shares)
    none, all_wrong = errors == 0, errors == n
    return (
        wrong <= errors
        and right <= n - errors
        and none == all(share == 0 for share in shares)
        and all_wrong == all(share == 1 for share in shares)
    )


# --- Theorems, one row each.


@dataclass(frozen=True)
class Theorem:
    """What a theorem pays and proves.

    Attributes
    ----------
    learned : (family, part) -> nats
        What learning cost: the divergence, or the log-density ratio at the draw.
    price : (certificate, nats) -> nats
        What is paid for such a divergence or ratio.
    sure : (terms, cases, delta) -> nats
        What is paid to hold with probability ``1 - delta``.
    holds : (terms, statement, bound) -> bool
        Whether the bound of the statement is proved to be at most this number.
    average_holds : (certificate, terms of each part, bound) -> bool
        The same for the bound on the average of several votes, as the paper puts it together.
    """

    learned: Callable[[Family, PartRecord], arb]
    price: Callable[[Certificate, arb], arb]
    sure: Callable[["Terms", int, arb], arb]
    holds: Callable[["Terms", Statement, arb], bool]
    average_holds: Callable[[Certificate, list["Terms"], arb], bool]


@dataclass(frozen=True)
class Terms:
    """What all statements about one classifier are proved by.

    Attributes
    ----------
    theorem : Theorem
    constant, bets : str
        As the certificate has them.
    learned : ball
        What learning cost, with the choice of this hyper-prior: the mixture of all is at least its weight times it.
    penalty : ball
        What the theorem asks for that.
    shares : int
        Draws and orders that a delta is divided among.
    order : float or None
    factor : int
        What the limit of the statistic is multiplied by to bound the error.
    counts : bool
        Whether statements start from counts of errors, so that losses of entities are shares of rows.
    """

    theorem: Theorem
    constant: str
    bets: str
    learned: arb
    penalty: arb
    shares: int = 1
    order: float | None = None
    factor: int = 1
    counts: bool = True

    @property
    def places_bets(self) -> bool:
        """Whether the theorem bets on losses, one by one."""
        return self.theorem.holds is _bets_hold

    def delta_of_one(self, said: Statement) -> arb:
        """What is left of delta for one of all draws and orders, and beside a simulation."""
        return arb(said.delta) / self.shares - arb(said.risk_delta)

    def nats(self, said: Statement) -> arb:
        """All that the theorem pays."""
        return self.penalty + self.theorem.sure(self, said.size, self.delta_of_one(said))

    def holds(self, said: Statement, bound: arb) -> bool:
        """Whether the theorem's bound is proved to be at most ``bound``."""
        return self.theorem.holds(self, said, bound)

    def rate_holds(self, said: Statement, bound: arb) -> bool:
        """The same by Chernoff's limit of the errors, which is never below that of the binomial tail."""
        if self.theorem.holds is not _binomial_holds:
            return self.holds(said, bound)
        return kl_limit_holds(_risk(self, said), self.nats(said) / said.size, bound)


def terms_of(c: Certificate, part: PartRecord) -> Terms:
    """The terms of the vote of a part.

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
    learned = theorem.learned(family, part) - arb(part.prior_weight).log()
    return Terms(
        theorem=theorem,
        constant=c.constant,
        bets=c.bets,
        learned=learned,
        penalty=theorem.price(c, learned),
        shares=c.n_draws * max(len(c.renyi_orders), 1),
        order=part.renyi_order,
        factor=method.factor,
        counts=method.counts_errors,
    )


def fixed_terms(c: Certificate) -> Terms:
    """The terms of any classifier that no certification row has influenced."""
    return Terms(THEOREMS["bets" if c.groups else "clopper-pearson"], c.constant, c.bets, arb(0), arb(0))


def mean_terms(c: Certificate, terms: Terms) -> Terms:
    """The same where the losses of rows are not just 0 or 1: counts of errors give way to bets."""
    theorem = THEOREMS[BETS.get(method_of(c).theorem, method_of(c).theorem)]
    return replace(terms, theorem=theorem, counts=False)


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


def _kl_sure(terms: Terms, cases: int, delta: arb) -> arb:
    return log_constant(cases, terms.constant) - delta.log()


def _renyi_sure(terms: Terms, cases: int, delta: arb) -> arb:
    order = arb(terms.order)
    first = delta / 2 if terms.constant == "paper" else delta * order / (2 * order - 1)
    return log_constant(cases, terms.constant) - order / (order - 1) * first.log() - (delta - first).log()


def _binomial_sure(terms: Terms, cases: int, delta: arb) -> arb:
    return -delta.log()


def _c_bound_sure(terms: Terms, cases: int, delta: arb) -> arb:
    """For the mean wrong mass; the disagreement pays the divergence once more. Each has half of delta."""
    return _kl_sure(terms, cases, delta / 2)


# --- What a bound proves.


def _risk(terms: Terms, said: Statement) -> arb:
    """The first statistic: the exact share of errors, or the mean of those of entities, where errors are counted."""
    if not terms.counts:
        return sum(map(arb, said.losses), arb(0)) / len(said.losses) if said.losses else arb(said.means[0])
    return mean_loss(said.losses, said.n) if said.entities else arb(fmpq(said.errors or 0, said.n))


def _kl_holds(terms: Terms, said: Statement, bound: arb) -> bool:
    return kl_limit_holds(_risk(terms, said), terms.nats(said) / said.size, bound / terms.factor)


def _binomial_holds(terms: Terms, said: Statement, bound: arb) -> bool:
    assert said.errors is not None
    return binomial_limit_holds(said.errors, said.n, bound, (-terms.nats(said)).exp())


def _bets_hold(terms: Terms, said: Statement, bound: arb) -> bool:
    """Bets are made for the delta of one draw, whatever level the draw then has."""
    losses = exact_losses(said.losses, said.n) if terms.counts else said.losses
    return bets_hold(terms.bets, losses, (-terms.nats(said)).exp(), terms.delta_of_one(said), bound)


def _c_bound_holds(terms: Terms, said: Statement, bound: arb) -> bool:
    return _c_bound_at_most(*_moment_limits(terms, said), bound)


def _moment_limits(terms: Terms, said: Statement) -> tuple[arb, arb]:
    """An upper limit of the mean wrong mass and a lower one of the disagreement, by bisection."""
    first = terms.nats(said)
    second = first + terms.learned
    risk, agreement = arb(said.means[0]), 1 - arb(said.means[1])
    upper = smallest(lambda p: kl_limit_holds(risk, first / said.size, p), risk, arb(1))
    return upper, 1 - smallest(lambda p: kl_limit_holds(agreement, second / said.size, p), agreement, arb(1))


def _c_bound_at_most(upper: arb, lower: arb, bound: arb) -> bool:
    """Whether the C-bound at these limits is at most ``bound``."""
    if bound >= 1:
        return True
    return bool(upper < arb(0.5)) and bool(1 - (1 - 2 * upper) ** 2 / (1 - 2 * lower) <= bound)


# --- The average of several votes.


def average_holds(c: Certificate, terms: list[Terms], bound: arb) -> bool:
    """Whether the bound on the average of the parts' votes is proved to be at most ``bound``."""
    if c.constant == "exact":
        return _mean_of_bounds_holds(c, terms, bound)
    return terms[0].theorem.average_holds(c, terms, bound)


def _mean(c: Certificate, values: list[arb]) -> arb:
    return sum((arb(weight) * value for weight, value in zip(c.average_weights, values, strict=True)), arb(0))


def _mean_of_bounds_holds(c: Certificate, terms: list[Terms], bound: arb) -> bool:
    """Every part's bound holds at once, so their mean bounds the average."""
    return bool(_mean(c, [arb(part.bound) for part in c.parts]) <= bound)


def _kl_average_holds(c: Certificate, terms: list[Terms], bound: arb) -> bool:
    """The inverse of the mean risk at the mean rate, as in Theorems 8 and 9."""
    parts = [(own, part.statement) for own, part in zip(terms, c.parts, strict=True)]
    rate = _mean(c, [positive(own.nats(said)) / said.size for own, said in parts])
    return kl_limit_holds(_mean(c, [_risk(own, said) for own, said in parts]), rate, bound / terms[0].factor)


def _c_bound_average_holds(c: Certificate, terms: list[Terms], bound: arb) -> bool:
    limits = [_moment_limits(own, part.statement) for own, part in zip(terms, c.parts, strict=True)]
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
