"""The families of distributions as the auditor knows them, and deployed weights, proved in ball arithmetic.

A deployed weight is ``floor(exp(log weight) * 2**52) * 2**-52``, and the largest takes what is left of 1. The maker
computes the exponential in floats, and processors differ in its last bit. So a weight is right if it is what a float
exponential can give that is off by at most two units in the last place: every honest weight is, and none that was
changed by more than a few multiples of 2**-52.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray
from scipy import special

from certivote.certificate import Certificate, PartRecord
from certivote.verify._balls import (
    BITS,
    categorical_kl,
    dirichlet_kl,
    dirichlet_log_ratio,
    dirichlet_renyi,
    gaussian_kl,
    gaussian_log_ratio,
    gaussian_renyi,
)
from certivote.verify._methods import DRAWN, method_of
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


# --- Deployed weights.


UNITS = 1 << 52
"""Deployed weights are multiples of one over this."""
_LAST_PLACE = arb(2) ** -52
_EXPONENTIAL = 2
"""Units in the last place that a float exponential may be off."""


def are_fixed_point(weights: Array) -> bool:
    """Whether these are non-negative multiples of ``2**-52`` with sum 1."""
    if not np.all((weights >= 0) & (weights <= 1)):
        return False
    units = weights * UNITS
    return bool(np.all(units == np.floor(units))) and sum(map(int, units.tolist())) == UNITS


_HARDLY = 1e-6
"""Of the largest weight that was fixed beforehand, the part below which there is no weight."""


def hardly_counts(mean: Array) -> NDArray[np.bool_]:
    """Which voters have no weight in the vote that is fixed beforehand, by the mean of the hyper-prior."""
    return np.asarray(mean < _HARDLY * mean.max(initial=0.0))


def could_be_weights(weights: Array, logs: Sequence[arb], rounded: bool) -> bool:
    """Whether deployed weights are those of these logarithms, computed in floats on some processor.

    Parameters
    ----------
    weights : array
    logs : sequence of ball
        The exact logarithms.
    rounded : bool
        Whether the maker took the exponential of floats near them, and not of these numbers themselves.
    """
    if len(weights) != len(logs) or not are_fixed_point(weights):
        return False
    units = [int(unit) for unit in (weights * UNITS).tolist()]
    top = max(log.mid() for log in logs)
    lows, highs = [], []
    for log in logs:
        # Rounded on the way: differences to the largest, the logarithm of a sum, and the result.
        steps = 2 * (2 + abs(log) + abs(top - log) + abs(top)) if rounded else arb(0)
        error = (_EXPONENTIAL + steps) * _LAST_PLACE
        exact = log.exp() * UNITS
        lows.append(exact * (1 - error))
        highs.append(exact * (1 + error))
    fits = [low - 1 <= unit <= high for unit, low, high in zip(units, lows, highs, strict=True)]
    # The largest takes what the others leave, whatever that is; of several that are nearly the largest, any may.
    highest = max(low.mid() for low in lows)
    takers = [place for place, high in enumerate(highs) if high + 1 >= highest]
    misfits = [place for place, fit in enumerate(fits) if not fit]
    return not misfits or (len(misfits) == 1 and misfits[0] in takers)


def is_certified_vote(c: Certificate, part: PartRecord, weights: Array) -> bool:
    """Whether weights of all voters are those that the record stands for: drawn, learned, or the prior's."""
    method, family = method_of(c), FAMILIES[part.family]
    if method.predictor != DRAWN:
        return np.array_equal(weights, np.array(part.alpha))
    if len(part.log_weights) != part.n_voters:
        return False
    with ctx.workprec(BITS):
        logs = family.log_weights([arb(number) for number in part.log_weights])
        return could_be_weights(weights, logs, family.rounds_draw)
