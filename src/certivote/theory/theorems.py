"""What turns an empirical risk into a bound: what is paid for learning and for confidence, and the bound itself.

A theorem of this module ties a function of :mod:`certivote.theory.bounds` to the divergence that it charges, to the
derivatives that training needs, and to its names.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from certivote.maths.binary_kl import kl_inverse_upper_derivatives
from certivote.maths.binomial import binomial_upper
from certivote.maths.occam import PriceList
from certivote.theory import bounds
from certivote.theory.families import Family
from certivote.theory.general_bounds import Constant, add_up, confidence, log_constant, renyi_confidence

__all__ = [
    "Account",
    "CBound",
    "ClopperPearson",
    "OccamsHammer",
    "Ratio",
    "Renyi",
    "SeegerMaurer",
    "Setting",
    "Theorem",
    "c_bound_slopes",
    "kl_slopes",
]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Setting:
    """What must be fixed before the certification rows are looked at.

    Attributes
    ----------
    delta, renyi_order, constant
        As the theorems take them.
    prior_nats : float
        What the choice of this hyper-prior among several costs: with ``P`` the mixture of hyper-priors ``P_g`` of
        weight ``w_g``, the ratio and the divergences from ``P`` are at most those from ``P_g`` plus ``-ln w_g``.
    price_list : PriceList
        Of Occam's hammer.
    """

    delta: float
    renyi_order: float
    constant: Constant
    prior_nats: float = 0.0
    price_list: PriceList = PriceList.mixture()  # noqa: RUF009  # frozen


class Account(NamedTuple):
    """What the bound of one part starts from and pays."""

    risks: Sequence[float]
    penalty: float
    n: int
    setting: Setting


class Theorem(ABC):
    """One theorem, as certificates and training use it.

    Attributes
    ----------
    name, average_name : str
        Where the bound of one part, and the paper's bound on the average of several, are proved.
    charges_draw : bool
        Whether the penalty is that of the draw, :meth:`drawn_penalty`, and not its mean, :meth:`penalty`.
    uses_order, uses_prices : bool
        Whether the order of the Rényi divergence, or the price list, enters.
    has_constant : bool
        Whether it pays Maurer's constant, exactly or as the paper bounds it.
    two_classes : bool
        Whether it is for two classes only.
    needs : str
        What the sample must show for the bound to be below 1; empty if nothing in particular.
    factor : float
        What the bound tends to as the rows grow, in units of the first statistic.
    """

    name: str
    average_name: str
    factor: float = 1.0
    has_constant: ClassVar[bool] = True
    charges_draw: ClassVar[bool] = False
    uses_order: ClassVar[bool] = False
    uses_prices: ClassVar[bool] = False
    two_classes: ClassVar[bool] = False
    needs: ClassVar[str] = ""

    def price(self, nats: float, setting: Setting) -> float:
        """What is paid for a divergence, or a log-density ratio, of ``nats``."""
        return nats

    @abstractmethod
    def penalty(self, family: Family, parameters: Array, prior: Array, setting: Setting) -> tuple[float, Array]:
        """Nats for what was learned, in the mean over the draw where there is one, and their gradient."""

    def drawn_penalty(
        self, family: Family, parameters: Array, prior: Array, point: Array, setting: Setting
    ) -> tuple[float, Array, Array]:
        """Nats for what was learned at one draw, and their gradients in the parameters and in the point."""
        raise NotImplementedError

    def charge(self, family: Family, parameters: Array, prior: Array, point: Array, setting: Setting) -> float:
        """What the certificate pays for what was learned."""
        if self.charges_draw:
            return self.drawn_penalty(family, parameters, prior, point, setting)[0]
        return self.penalty(family, parameters, prior, setting)[0]

    def items(
        self, family: Family, parameters: Array, prior: Array, point: Array, setting: Setting
    ) -> dict[str, float]:
        """:meth:`charge`, item by item."""
        what = "draw" if len(point) else "weights"
        return {what: self.charge(family, parameters, prior, point, setting)}

    def floor(self, family: Family, prior: Array, setting: Setting) -> Array:
        """Lower limit of the parameters."""
        return family.floor(prior, setting.renyi_order if self.uses_order else None)

    def confidence(self, n: int, setting: Setting) -> float:
        """Nats to hold with probability ``1 - delta``."""
        return confidence(log_constant(n, setting.constant), setting.delta)

    def constant_nats(self, n: int, setting: Setting) -> float:
        """The part of :meth:`confidence` that is paid for every delta."""
        return log_constant(n, setting.constant) if self.has_constant else 0.0

    @abstractmethod
    def bound(self, risks: Sequence[float], penalty: float, n: int, setting: Setting) -> float:
        """The bound of one part, never below the exact value."""

    def of_errors(self, errors: float, penalty: float, n: int, setting: Setting) -> float:
        """The bound where the statistic is a rate of errors; these need not be a whole number."""
        return self.bound((errors / n,), penalty, n, setting)

    @abstractmethod
    def average(self, accounts: Sequence[Account], weights: Sequence[float]) -> float:
        """The paper's bound on the average of the votes of several parts."""

    @abstractmethod
    def invert(self, risks: Sequence[float], penalty: float, confidence: float, n: int) -> float:
        """The bound at any number of nats: what a bound is made of, step by step. Nothing is certified by it."""

    @abstractmethod
    def slopes(self, risks: Any, penalty: float, n: int, setting: Setting) -> tuple[float, Any, float]:
        """The bound for training, and its derivatives in the statistics and in the penalty."""


class _Kl(Theorem):
    """Bounds that invert the kl of one statistic."""

    def invert(self, risks: Sequence[float], penalty: float, confidence: float, n: int) -> float:
        return self.factor * bounds.sample_bound(risks[0], add_up(penalty, confidence), n)

    def slopes(self, risks: Any, penalty: float, n: int, setting: Setting) -> tuple[float, Any, float]:
        return kl_slopes(risks, penalty + self.confidence(n, setting), n, self.factor)


@dataclass(frozen=True)
class SeegerMaurer(_Kl):
    """Theorem 2 (for every posterior at once), which is Theorem 5 with weight vectors in place of voters.

    ``factor`` is that of the inequality behind a surrogate, and ``multiple`` how often it pays the divergence: the
    number of voters that its statistic draws.
    """

    name: str = "Theorem 5"
    average_name: str = "Theorem 5 on each half"
    factor: float = 1.0
    multiple: float = 1.0

    def penalty(self, family: Family, parameters: Array, prior: Array, setting: Setting) -> tuple[float, Array]:
        value, gradient = family.kl_divergence(parameters, prior)
        return self.price(add_up(value, setting.prior_nats), setting), self.multiple * gradient

    def price(self, nats: float, setting: Setting) -> float:
        return self.multiple * nats

    def bound(self, risks: Sequence[float], penalty: float, n: int, setting: Setting) -> float:
        return self.factor * bounds.seeger_maurer(risks[0], penalty, n, setting.delta, setting.constant)

    def average(self, accounts: Sequence[Account], weights: Sequence[float]) -> float:
        return self.factor * bounds.seeger_maurer_cross(*_columns(accounts), weights, accounts[0].setting.constant)


@dataclass(frozen=True)
class Ratio(_Kl):
    """Theorems 6 and 8: the log-density ratio at the draw."""

    name: str = "Theorem 6"
    average_name: str = "Theorem 8"
    charges_draw = True

    def penalty(self, family: Family, parameters: Array, prior: Array, setting: Setting) -> tuple[float, Array]:
        value, gradient = family.kl_divergence(parameters, prior)
        return add_up(value, setting.prior_nats), gradient

    def drawn_penalty(
        self, family: Family, parameters: Array, prior: Array, point: Array, setting: Setting
    ) -> tuple[float, Array, Array]:
        value = add_up(family.log_ratio(parameters, prior, point), setting.prior_nats)
        return value, *family.log_ratio_gradients(parameters, prior, point)

    def bound(self, risks: Sequence[float], penalty: float, n: int, setting: Setting) -> float:
        return bounds.dis_r(risks[0], penalty, n, setting.delta, setting.constant)

    def average(self, accounts: Sequence[Account], weights: Sequence[float]) -> float:
        return bounds.dis_r_cross(*_columns(accounts), weights, accounts[0].setting.constant)


@dataclass(frozen=True)
class Renyi(_Kl):
    """Theorems 7 and 9: the Rényi divergence."""

    name: str = "Theorem 7"
    average_name: str = "Theorem 9"
    uses_order = True

    def penalty(self, family: Family, parameters: Array, prior: Array, setting: Setting) -> tuple[float, Array]:
        value, gradient = family.renyi_divergence(parameters, prior, setting.renyi_order)
        return add_up(value, setting.prior_nats), gradient

    def confidence(self, n: int, setting: Setting) -> float:
        moment = log_constant(n, setting.constant)
        return renyi_confidence(moment, setting.delta, setting.renyi_order, setting.constant)

    def bound(self, risks: Sequence[float], penalty: float, n: int, setting: Setting) -> float:
        return bounds.dis_v(risks[0], penalty, n, setting.delta, setting.renyi_order, setting.constant)

    def average(self, accounts: Sequence[Account], weights: Sequence[float]) -> float:
        orders = [account.setting.renyi_order for account in accounts]
        return bounds.dis_v_cross(*_columns(accounts), orders, weights, accounts[0].setting.constant)


class _Binomial(Theorem):
    """Bounds by the tail of the binomial distribution of the errors."""

    has_constant = False

    def confidence(self, n: int, setting: Setting) -> float:
        return -math.log(setting.delta)

    def bound(self, risks: Sequence[float], penalty: float, n: int, setting: Setting) -> float:
        return self.of_errors(round(risks[0] * n), penalty, n, setting)

    def of_errors(self, errors: float, penalty: float, n: int, setting: Setting) -> float:
        return bounds.dis_b(errors, penalty, n, setting.delta)

    def average(self, accounts: Sequence[Account], weights: Sequence[float]) -> float:
        return bounds.average_of_bounds([self.bound(*account) for account in accounts], weights)

    def invert(self, risks: Sequence[float], penalty: float, confidence: float, n: int) -> float:
        return float(binomial_upper(round(risks[0] * n), n, -add_up(penalty, confidence)))

    def slopes(self, risks: Any, penalty: float, n: int, setting: Setting) -> tuple[float, Any, float]:
        # The Chernoff limit at the same level: above it by little, and smooth.
        return kl_slopes(risks, penalty + self.confidence(n, setting), n)


@dataclass(frozen=True)
class OccamsHammer(_Binomial):
    """The binomial tail at a level that depends on the draw (:mod:`certivote.maths.occam`)."""

    name: str = "Occam's hammer with the binomial tail"
    average_name: str = "the mean of the bounds of each part"
    charges_draw = True
    uses_prices = True

    def price(self, nats: float, setting: Setting) -> float:
        return setting.price_list.price(nats)

    def penalty(self, family: Family, parameters: Array, prior: Array, setting: Setting) -> tuple[float, Array]:
        """The price of the mean log-ratio; staying at the prior has the same ratio at every draw."""
        if np.array_equal(parameters, prior):
            return self.price(setting.prior_nats, setting), np.zeros_like(parameters)
        divergence, gradient = Ratio().penalty(family, parameters, prior, setting)
        value, slope = setting.price_list.steering_price(divergence)
        return value, slope * gradient

    def drawn_penalty(
        self, family: Family, parameters: Array, prior: Array, point: Array, setting: Setting
    ) -> tuple[float, Array, Array]:
        """The price of the log-ratio at the draw; the gradients are those of its smooth stand-in."""
        ratio, in_parameters, in_point = Ratio().drawn_penalty(family, parameters, prior, point, setting)
        _, slope = setting.price_list.steering_price(ratio)
        return self.price(ratio, setting), slope * in_parameters, slope * in_point

    def items(
        self, family: Family, parameters: Array, prior: Array, point: Array, setting: Setting
    ) -> dict[str, float]:
        ratio = family.log_ratio(parameters, prior, point)
        return {"draw": ratio, "occam": self.charge(family, parameters, prior, point, setting) - ratio}


@dataclass(frozen=True)
class ClopperPearson(_Binomial):
    """Nothing is learned from the certification rows, so nothing is paid for it: Occam's hammer at price 0."""

    name: str = "Clopper-Pearson"
    average_name: str = "Clopper-Pearson on each half"

    def price(self, nats: float, setting: Setting) -> float:
        return 0.0

    def penalty(self, family: Family, parameters: Array, prior: Array, setting: Setting) -> tuple[float, Array]:
        return 0.0, np.zeros_like(parameters)


@dataclass(frozen=True)
class CBound(Theorem):
    """Theorem 2 for the mean wrong mass and for the disagreement, and the C-bound of the two limits."""

    name: str = "Theorem 2 twice and the C-bound"
    average_name: str = "Theorem 2 twice on each half and the C-bound of the average limits"
    two_classes = True
    needs = "a mean wrong mass below one half"

    def penalty(self, family: Family, parameters: Array, prior: Array, setting: Setting) -> tuple[float, Array]:
        value, gradient = family.kl_divergence(parameters, prior)
        return add_up(value, setting.prior_nats), gradient

    def confidence(self, n: int, setting: Setting) -> float:
        # Two events at delta / 2 each.
        return super().confidence(n, setting) + math.log(2.0)

    def bound(self, risks: Sequence[float], penalty: float, n: int, setting: Setting) -> float:
        return bounds.pac_bayes_c_bound((risks[0], risks[1]), penalty, n, setting.delta, setting.constant)

    def average(self, accounts: Sequence[Account], weights: Sequence[float]) -> float:
        pairs = [(account.risks[0], account.risks[1]) for account in accounts]
        _, penalties, sizes, deltas = _columns(accounts)
        constant = accounts[0].setting.constant
        return bounds.pac_bayes_c_bound_cross(pairs, penalties, sizes, deltas, weights, constant)

    def invert(self, risks: Sequence[float], penalty: float, confidence: float, n: int) -> float:
        nats = (penalty + confidence, 2 * penalty + confidence)
        return bounds.c_bound(*bounds.moment_limits(risks[0], risks[1], nats, n))

    def slopes(self, risks: Any, penalty: float, n: int, setting: Setting) -> tuple[float, Any, float]:
        return c_bound_slopes(risks, penalty, self.confidence(n, setting), n)


def _columns(accounts: Sequence[Account]) -> tuple[list[float], list[float], list[int], list[float]]:
    """First statistics, penalties, sizes and deltas."""
    return (
        [account.risks[0] for account in accounts],
        [account.penalty for account in accounts],
        [account.n for account in accounts],
        [account.setting.delta for account in accounts],
    )


# The inverted kl as training sees it: smooth, finite, and with its derivatives beside the value


def kl_slopes(risks: Any, nats: float, n: int, factor: float = 1.0) -> tuple[float, float, float]:
    """``factor * kl^{-1}(risk || nats/n)``, and its derivatives in the risk and in the nats."""
    value, in_risk, in_nats = _inverse(float(np.ravel(risks)[0]), nats, n)
    return factor * value, factor * in_risk, factor * in_nats


def c_bound_slopes(risks: Any, penalty: float, confidence: float, n: int) -> tuple[float, Any, float]:
    """The C-bound of mean wrong mass and disagreement, and its derivatives in the two and in the penalty."""
    upper, upper_in_risk, upper_in_nats = _inverse(float(risks[0]), penalty + confidence, n)
    if upper >= 0.5:
        # The bound is 1 and flat: descend the mean wrong mass until it applies.
        return 0.5 + upper, np.array([upper_in_risk, 0.0]), upper_in_nats
    mirrored, lower_in_risk, mirrored_in_nats = _inverse(1.0 - float(risks[1]), 2 * penalty + confidence, n)
    lower = 1.0 - mirrored
    gap, spread = 1.0 - 2.0 * upper, 1.0 - 2.0 * lower
    in_upper, in_lower = 4.0 * gap / spread, -2.0 * (gap / spread) ** 2
    in_penalty = in_upper * upper_in_nats - 2.0 * in_lower * mirrored_in_nats
    return 1.0 - gap**2 / spread, np.array([in_upper * upper_in_risk, in_lower * lower_in_risk]), in_penalty


def _inverse(risk: float, nats: float, n: int) -> tuple[float, float, float]:
    """``kl^{-1}(risk || nats/n)`` and its derivatives in the risk and the nats, kept finite at the edges."""
    # At risk 0 the slope in the risk is infinite: a millionth of an example away from it, it is not.
    value, in_risk, in_eps = kl_inverse_upper_derivatives(min(max(risk, 1e-6 / n), 1.0), max(nats / n, 1e-12))
    return float(value), float(in_risk), float(in_eps) / n
