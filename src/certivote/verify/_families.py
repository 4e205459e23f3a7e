"""The families of distributions as the auditor knows them: one row per family."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from flint import arb
from scipy import special

from certivote.certificate import PartRecord
from certivote.verify._ball_maths import (
    categorical_kl,
    dirichlet_kl,
    dirichlet_log_ratio,
    dirichlet_renyi,
    gaussian_kl,
    gaussian_log_ratio,
    gaussian_renyi,
)
from certivote.verify._simulation import (
    Array,
    Simulation,
    dirichlet_half_tail,
    simulate_dirichlet,
    simulate_logistic_normal,
)


@dataclass(frozen=True)
class Family:
    """What a hyper-posterior of this family must look like, how far it is from the hyper-prior, and what it draws.

    Attributes
    ----------
    check, check_draw : (part) -> None
        Raise a ValueError if the parameters, or the draw, cannot be of this family.
    log_ratio, kl, renyi : functions of (alpha, beta, draw), (alpha, beta) and (alpha, beta, order)
        In ball arithmetic.
    log_weights : (draw) -> logarithms of the weights
        Those that a recorded draw stands for, in ball arithmetic.
    rounds_draw : bool
        Whether the maker rounds on the way from the draw to the logarithms of the weights.
    prior : (Dirichlet parameters) -> array
        The prior that a hyper-prior stands for, as it is recorded.
    centre : (recorded prior) -> array
        The Dirichlet parameters that it stands for; where only mean weights are recorded, these.
    over_weights : bool
        Whether it is a distribution over weights, of which one of several may be chosen as the prior.
    half_tail : (wrong, total, shares) -> float, or None
        The expected half-weight loss of votes drawn from it, if it has a closed form.
    simulate : Simulation or None
        Draws such votes.
    parameters_each : int
        Parameters per voter.
    """

    check: Callable[[PartRecord], None]
    check_draw: Callable[[PartRecord], None]
    log_ratio: Callable[[list[arb], list[arb], list[arb]], arb]
    kl: Callable[[list[arb], list[arb]], arb]
    renyi: Callable[[list[arb], list[arb], arb], arb]
    log_weights: Callable[[list[arb]], list[arb]]
    prior: Callable[[Array], Array]
    centre: Callable[[Array], Array]
    half_tail: Callable[[Array, Array, Array | None], float] | None = None
    simulate: Simulation | None = None
    parameters_each: int = 1
    rounds_draw: bool = False
    over_weights: bool = True

    def has_closed_form(self, loss: str, n_classes: int) -> bool:
        """Whether the expected error rate of the random vote can be computed, and need not be simulated."""
        return self.half_tail is not None and (loss == "half-weight" or n_classes == 2)

    def simulated_votes(self, n_voters: int) -> int:
        """Votes that a certificate of the random vote draws where it cannot."""
        return 200_000 if self.parameters_each == 1 else min(200_000, 100_000_000 // n_voters)


def _check_lengths(part: PartRecord, each: int) -> None:
    if not part.n_voters >= 1 or not len(part.alpha) == len(part.beta) == each * part.n_voters:
        numbers = "one number" if each == 1 else f"{each} numbers"
        raise ValueError(f"alpha and beta must hold {numbers} for each of {part.n_voters} voters")


def _check_positive(name: str, numbers: Sequence[float]) -> None:
    if not all(0 < x < math.inf for x in numbers):
        raise ValueError(f"{name} must be positive")


def _check_dirichlet(part: PartRecord) -> None:
    _check_lengths(part, 1)
    _check_positive("alpha and beta", (*part.alpha, *part.beta))


def _check_dirichlet_draw(part: PartRecord) -> None:
    _check_one_each(part)
    total = sum((arb(x).exp() for x in part.log_weights), arb(0))
    if not abs(total - 1) < arb("1e-9"):
        raise ValueError("the drawn weights do not sum to 1")


def _check_logistic_normal(part: PartRecord) -> None:
    _check_lengths(part, 2)
    if not all(math.isfinite(x) for x in (*part.alpha, *part.beta)):
        raise ValueError("alpha and beta must be finite")
    _check_positive("the precisions", (*part.alpha[part.n_voters :], *part.beta[part.n_voters :]))


def _check_one_each(part: PartRecord) -> None:
    if len(part.log_weights) != part.n_voters or not all(math.isfinite(x) for x in part.log_weights):
        raise ValueError("log_weights must hold one finite number for each voter")


def _check_categorical(part: PartRecord) -> None:
    _check_lengths(part, 1)
    _check_positive("beta", part.beta)
    for name, weights in (("alpha", part.alpha), ("beta", part.beta)):
        if min(weights) < 0 or not abs(sum(map(arb, weights), arb(0)) - 1) < arb("1e-9"):
            raise ValueError(f"{name} must hold weights with sum 1")


def _no_draws(*_: object) -> NoReturn:
    raise ValueError("weights are not drawn from a categorical distribution")


def _log_softmax(point: list[arb]) -> list[arb]:
    total = sum((z.exp() for z in point), arb(0)).log()
    return [z - total for z in point]


def _logistic_normal_prior(beta: Array) -> Array:
    """Log-normal numbers with the mean of Gamma numbers and the variance of their logarithms, which is at most 9."""
    variances = np.minimum(special.polygamma(1, beta), 9.0)
    return np.concatenate([np.log(beta) - 0.5 * variances, 1.0 / variances])


def _logistic_normal_centre(recorded: Array) -> Array:
    means, precisions = np.split(recorded, 2)
    return np.asarray(np.exp(means + 0.5 / precisions))


def _as_is(parameters: Any) -> Any:
    return parameters


def _mean_weights(beta: Array) -> Array:
    return np.asarray(beta / beta.sum())


FAMILIES = {
    "dirichlet": Family(
        _check_dirichlet,
        _check_dirichlet_draw,
        dirichlet_log_ratio,
        dirichlet_kl,
        dirichlet_renyi,
        log_weights=_as_is,
        prior=_as_is,
        centre=_as_is,
        half_tail=dirichlet_half_tail,
        simulate=simulate_dirichlet,
    ),
    "logistic-normal": Family(
        _check_logistic_normal,
        _check_one_each,
        gaussian_log_ratio,
        gaussian_kl,
        gaussian_renyi,
        log_weights=_log_softmax,
        prior=_logistic_normal_prior,
        centre=_logistic_normal_centre,
        simulate=simulate_logistic_normal,
        parameters_each=2,
        rounds_draw=True,
    ),
    "categorical": Family(
        _check_categorical,
        _no_draws,
        _no_draws,
        categorical_kl,
        _no_draws,
        log_weights=_no_draws,
        prior=_mean_weights,
        centre=_as_is,
        over_weights=False,
    ),
}
"""All families by name."""
