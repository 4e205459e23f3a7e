"""The comparison as data: a method is a distribution, a risk to train on, a penalty, a bound, and who is certified."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from certivote import bounds
from certivote.bounds import Constant
from certivote.forms import BinomialForm, CForm, Form, KlForm
from certivote.maths import categorical, dirichlet
from certivote.maths.occam import Gamma
from certivote.risks import (
    Labels,
    Loss,
    SmoothRisk,
    binomial,
    disagreement,
    expected_risk,
    first_order,
    moments,
    second_order,
)
from certivote.votes import Votes

__all__ = ["BINOMIAL_VOTERS", "METHODS", "Certified", "Method", "Setting"]

Array = NDArray[np.float64]
Certified = Literal["the drawn vote", "the random vote", "the mean vote", "the fixed vote"]
Penalty = Callable[[Array, Array, "Setting"], tuple[float, Array]]

BINOMIAL_VOTERS = 100
"""Voters that the binomial bound draws (the paper's N)."""


@dataclass(frozen=True)
class Setting:
    """What must be fixed before the certified sample is looked at.

    Attributes
    ----------
    delta, order, constant
        As the theorems take them.
    prior_nats : float
        What the choice of this hyper-prior among several costs: with ``P`` the mixture of hyper-priors ``P_g`` of
        weight ``w_g``, the ratio and the divergences from ``P`` are at most those from ``P_g`` plus ``-ln w_g``.
    gamma : Gamma
        Price list of dis-b.
    """

    delta: float
    order: float
    constant: Constant
    prior_nats: float = 0.0
    gamma: Gamma = Gamma.mixture()  # noqa: RUF009  # frozen


@dataclass(frozen=True)
class Method:
    """One row of the comparison.

    Attributes
    ----------
    name : str
        The paper's, in lower case.
    certified : str
        Whose error the bound is about: one vote drawn from the hyper-posterior, the randomised predictor that draws a
        vote for every example, the vote with the posterior's own weights, or a vote that learned nothing from the
        sample.
    theorem, cross_theorem : str
        Where the bound of one sample and that of the average of two are proved.
    distribution : {"dirichlet", "categorical"}
        What is learned: the parameters of a hyper-posterior over weights, or the weights themselves.
    risk : (votes, labels, loss) -> smooth risk
        What full batches train on, as a function of the learned parameters.
    penalty : (parameters, prior, setting) -> (nats, gradient)
        What learning them costs, in the mean over the draw where there is one.
    confidence : (n, setting) -> nats
        What the theorem pays to hold with probability ``1 - delta``.
    form : Form
        How these become a bound.
    draws : int
        Votes drawn in each step of Algorithm 1; 0 trains on ``risk`` itself.
    drawn_penalty : (alpha, beta, log_weights, setting) -> (nats, gradient in alpha and in log_weights), optional
        Penalty at one draw, where the theorem charges that instead of the mean.
    floor : (beta, setting) -> array
        Where the penalty becomes infinite: every parameter must exceed it.
    uses_order : bool
        Whether the order of the Rényi divergence enters.
    two_classes : bool
        Whether the bound is for two classes only.
    learns : bool
        Whether anything is learned from the certified sample.
    """

    name: str
    certified: Certified
    theorem: str
    cross_theorem: str
    distribution: Literal["dirichlet", "categorical"]
    risk: Callable[[Votes, Labels, Loss], SmoothRisk]
    penalty: Penalty
    confidence: Callable[[int, Setting], float]
    form: Form = KlForm()  # noqa: RUF009  # frozen
    draws: int = 0
    drawn_penalty: Callable[[Array, Array, Array, Setting], tuple[float, Array, Array]] | None = None
    floor: Callable[[Array, Setting], Array] = lambda beta, _: np.zeros_like(beta)
    uses_order: bool = False
    two_classes: bool = False
    learns: bool = True


def _ratio(n: int, setting: Setting) -> float:
    """``ln(2 sqrt(n) / delta)``, of Theorems 2, 5 and 6."""
    return bounds.pac_bayes(0.0, bounds.log_constant(n, setting.constant), setting.delta)


def _drawn_ratio(alpha: Array, beta: Array, log_weights: Array, setting: Setting) -> tuple[float, Array, Array]:
    value = bounds.add_up(dirichlet.log_ratio(alpha, beta, log_weights), setting.prior_nats)
    return value, dirichlet.log_ratio_gradient(alpha, log_weights), alpha - beta


def _drawn_price(alpha: Array, beta: Array, log_weights: Array, setting: Setting) -> tuple[float, Array, Array]:
    """What Occam's hammer charges at the draw; the gradients are those of the smooth stand-in."""
    ratio, in_alpha, in_logs = _drawn_ratio(alpha, beta, log_weights, setting)
    _, slope = setting.gamma.steering_price(ratio)
    return setting.gamma.price(ratio), slope * in_alpha, slope * in_logs


def _hyper_kl(alpha: Array, beta: Array, setting: Setting) -> tuple[float, Array]:
    value, gradient = dirichlet.kl_divergence(alpha, beta)
    return bounds.add_up(value, setting.prior_nats), gradient


def _price_of_mean(alpha: Array, beta: Array, setting: Setting) -> tuple[float, Array]:
    """What Occam's hammer charges at the mean log-ratio; staying at the prior has the same ratio at every draw."""
    if np.array_equal(alpha, beta):
        return setting.gamma.price(setting.prior_nats), np.zeros_like(alpha)
    divergence, gradient = _hyper_kl(alpha, beta, setting)
    value, slope = setting.gamma.steering_price(divergence)
    return value, slope * gradient


def _renyi(alpha: Array, beta: Array, setting: Setting) -> tuple[float, Array]:
    value, gradient = dirichlet.renyi_divergence(alpha, beta, setting.order)
    return bounds.add_up(value, setting.prior_nats), gradient


def _times(multiple: float) -> Penalty:
    """A multiple of the divergence between the weights and their prior."""

    def penalty(weights: Array, prior: Array, setting: Setting) -> tuple[float, Array]:
        value, gradient = categorical.kl_divergence(weights, prior)
        return multiple * bounds.add_up(value, setting.prior_nats), multiple * gradient

    return penalty


def _surrogate(name: str, curve: object, coefficient: float, multiple: float, inequality: str) -> Method:
    return Method(
        name=name,
        certified="the mean vote",
        theorem=f"Theorem 2 and the {inequality} bound",
        cross_theorem=f"Theorem 2 on each half and the {inequality} bound",
        distribution="categorical",
        risk=lambda votes, labels, _: moments(votes.against(labels), [curve]),  # type: ignore[list-item]
        penalty=_times(multiple),
        confidence=_ratio,
        form=KlForm(coefficient),
    )


def _stochastic(name: str, draws: int) -> Method:
    return Method(
        name=name,
        certified="the random vote",
        theorem="Theorem 5",
        cross_theorem="Theorem 5 on each half",
        distribution="dirichlet",
        risk=expected_risk,
        penalty=_hyper_kl,
        confidence=_ratio,
        draws=draws,
    )


_ROWS = (
    Method(
        name="dis-b",
        certified="the drawn vote",
        theorem="Occam's hammer with the binomial tail",
        cross_theorem="the mean of the bounds of each part",
        distribution="dirichlet",
        risk=expected_risk,
        penalty=_price_of_mean,
        drawn_penalty=_drawn_price,
        confidence=lambda _, setting: -math.log(setting.delta),
        form=BinomialForm(),
        draws=1,
    ),
    Method(
        name="dis-r",
        certified="the drawn vote",
        theorem="Theorem 6",
        cross_theorem="Theorem 8",
        distribution="dirichlet",
        risk=expected_risk,
        penalty=_hyper_kl,
        drawn_penalty=_drawn_ratio,
        confidence=_ratio,
        draws=1,
    ),
    Method(
        name="dis-v",
        certified="the drawn vote",
        theorem="Theorem 7",
        cross_theorem="Theorem 9",
        distribution="dirichlet",
        risk=expected_risk,
        penalty=_renyi,
        confidence=lambda n, setting: bounds.disintegrated_renyi(
            0.0, bounds.log_constant(n, setting.constant), setting.delta, setting.order, setting.constant
        ),
        floor=lambda beta, setting: (setting.order - 1.0) / setting.order * beta,
        draws=1,
        uses_order=True,
    ),
    _stochastic("smv-exact", draws=0),
    _stochastic("smv-mc", draws=10),
    _surrogate("fo", first_order, 2.0, 1.0, "factor-two"),
    _surrogate("so", second_order, 4.0, 2.0, "second-order"),
    _surrogate("bin", binomial(BINOMIAL_VOTERS), 2.0, BINOMIAL_VOTERS, "binomial"),
    Method(
        name="c-bound",
        certified="the mean vote",
        theorem="Theorem 2 twice and the C-bound",
        cross_theorem="Theorem 2 twice on each half and the C-bound of the average limits",
        distribution="categorical",
        risk=lambda votes, labels, _: moments(votes.against(labels), [first_order, disagreement]),
        penalty=_times(1.0),
        # Two events at delta / 2 each.
        confidence=lambda n, setting: _ratio(n, setting) + math.log(2.0),
        form=CForm(),
        two_classes=True,
    ),
    Method(
        name="holdout",
        certified="the fixed vote",
        theorem="Clopper-Pearson",
        cross_theorem="Clopper-Pearson on each half",
        distribution="categorical",
        risk=lambda votes, labels, _: moments(votes.against(labels), [first_order]),
        penalty=_times(0.0),
        confidence=lambda _, setting: -math.log(setting.delta),
        form=BinomialForm(),
        learns=False,
    ),
)

METHODS = {method.name: method for method in _ROWS}
