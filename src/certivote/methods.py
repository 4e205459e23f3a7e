"""The comparison as data: a method is a penalty, what it pays for confidence, and who is certified."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certivote import bounds
from certivote.bounds import Constant
from certivote.maths import dirichlet

__all__ = ["METHODS", "Method", "Setting"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Setting:
    """What must be fixed before the certified sample is looked at."""

    delta: float
    order: float
    constant: Constant


@dataclass(frozen=True)
class Method:
    """One row of the comparison.

    Attributes
    ----------
    name : str
        The paper's, in lower case.
    certified : str
        Whose error the bound is about.
    theorem, cross_theorem : str
        Where the bound of one sample and that of the average of two are proved.
    penalty : (alpha, beta, log_weights, setting) -> nats
        Penalty of the certificate, for the weights that were drawn.
    expected_penalty : (alpha, beta, setting) -> (nats, gradient)
        Its mean over the draw, to train on.
    drawn_penalty : (alpha, beta, log_weights, setting) -> (nats, gradient in alpha, gradient in log_weights)
        Its value at one draw, to train on (Algorithm 1).
    confidence : (n, setting) -> nats
        What the theorem pays to hold with probability ``1 - delta``.
    floor : (beta, setting) -> array
        Where the penalty becomes infinite: every alpha must exceed it.
    uses_order : bool
        Whether the order of the Rényi divergence enters.
    """

    name: str
    certified: str
    theorem: str
    cross_theorem: str
    penalty: Callable[[Array, Array, Array, Setting], float]
    expected_penalty: Callable[[Array, Array, Setting], tuple[float, Array]]
    drawn_penalty: Callable[[Array, Array, Array, Setting], tuple[float, Array, Array | float]]
    confidence: Callable[[int, Setting], float]
    floor: Callable[[Array, Setting], Array]
    uses_order: bool = False


def _drawn_ratio(alpha: Array, beta: Array, log_weights: Array, _: Setting) -> tuple[float, Array, Array]:
    value = dirichlet.log_ratio(alpha, beta, log_weights)
    return value, dirichlet.log_ratio_gradient(alpha, log_weights), alpha - beta


def _renyi(alpha: Array, beta: Array, setting: Setting) -> tuple[float, Array]:
    return dirichlet.renyi_divergence(alpha, beta, setting.order)


DIS_R = Method(
    name="dis-r",
    certified="the drawn vote",
    theorem="Theorem 6",
    cross_theorem="Theorem 8",
    penalty=lambda alpha, beta, log_weights, _: dirichlet.log_ratio(alpha, beta, log_weights),
    expected_penalty=lambda alpha, beta, _: dirichlet.kl_divergence(alpha, beta),
    drawn_penalty=_drawn_ratio,
    confidence=lambda n, setting: bounds.dis_r_confidence(n, setting.delta, setting.constant),
    floor=lambda beta, _: np.zeros_like(beta),
)

DIS_V = Method(
    name="dis-v",
    certified="the drawn vote",
    theorem="Theorem 7",
    cross_theorem="Theorem 9",
    penalty=lambda alpha, beta, _, setting: _renyi(alpha, beta, setting)[0],
    expected_penalty=_renyi,
    drawn_penalty=lambda alpha, beta, _, setting: (*_renyi(alpha, beta, setting), 0.0),
    confidence=lambda n, setting: bounds.dis_v_confidence(n, setting.delta, setting.order, setting.constant),
    floor=lambda beta, setting: (setting.order - 1.0) / setting.order * beta,
    uses_order=True,
)

METHODS = {method.name: method for method in (DIS_R, DIS_V)}
