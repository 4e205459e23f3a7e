"""The hyper-prior: one that was given, or one that knows the voters.

The latter is concentrated at weights learned from out-of-sample votes on training rows. The certification rows play no
part in it, so it costs the certificate nothing.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from certivote.maths.categorical import kl_divergence, softmax, softmax_chain
from certivote.maths.occam import PriceList
from certivote.pipeline._input import as_floats
from certivote.theory.entities import Entities
from certivote.theory.risks import Labels, Loss, drawn_risk, mistakes
from certivote.voters import FittedVoters
from certivote.votes import Votes

Array = NDArray[np.float64]

_GRID = {"flat": 0.5, "sparse": None, "concentrated": 5.0}
"""Dirichlet parameter of every voter; the sparse one is one over their number."""
_TRUST = 20.0
"""Concentration of the informed hyper-prior, per voter."""


@dataclass(frozen=True)
class HyperPrior:
    """Dirichlet parameters, and the weight of this hyper-prior among those that the learner may choose from."""

    beta: Array
    weight: float = 1.0


def given_hyper_priors(prior: Any, n_voters: int) -> tuple[HyperPrior, ...]:
    """The hyper-priors that a number, an array or ``"auto"`` stands for.

    Examples
    --------
    >>> [(prior.beta.tolist(), round(prior.weight, 3)) for prior in given_hyper_priors("auto", 2)]
    [([0.5, 0.5], 0.333), ([0.5, 0.5], 0.333), ([5.0, 5.0], 0.333)]
    """
    if isinstance(prior, str):
        values = [1.0 / n_voters if value is None else value for value in _GRID.values()]
        return tuple(HyperPrior(np.full(n_voters, value), 1.0 / len(values)) for value in values)
    beta = as_floats("prior", prior)
    if beta.ndim > 0 and beta.shape != (n_voters,):
        raise ValueError(
            f"prior must be a number or hold one number per voter, {n_voters} in all; got shape {beta.shape}."
        )
    if not np.all((beta >= 1e-6) & (beta <= 1e6)):
        raise ValueError(f"prior must be positive, from 1e-6 to 1e6; got values from {beta.min():g} to {beta.max():g}.")
    return (HyperPrior(np.full(n_voters, beta) if beta.ndim == 0 else beta),)


def informed_hyper_prior(weights: Array) -> HyperPrior:
    """A hyper-prior concentrated at weights that were learned without the certification rows."""
    return HyperPrior(np.maximum(_TRUST * len(weights) * weights, 1e-6))


def staying_price(prior: Any) -> PriceList:
    """A price list for dis-b that is cheap for a vote drawn from the hyper-prior itself, and open to all others."""
    if isinstance(prior, str) and prior == "informed":
        return PriceList.mixture(((0.0, 0.95),))
    return PriceList.mixture(((math.log(len(_GRID)) if isinstance(prior, str) else 0.0, 0.5),))


def fixed_share(prior: Any) -> float:
    """What the vote of the hyper-prior's mean has of delta, beside one that is learned: as a price list has it."""
    (_, share), *_ = staying_price(prior).atoms
    return share


_ROWS = 20_000
"""Training rows that suffice to weigh a few dozen groups of voters."""
_CAUTION = 4.0
"""Nats of divergence from equal weights that outweigh one error."""
_SLOPES = (12.0, 20.0)
"""Steepness of the sigmoid that stands for the loss: gentle, so that wide margins count and not just errors; or steep,
where that makes clearly fewer errors: gentle ones give too much to voters that are always sure."""
_LEAST, _SPARED = 0.05, 0.2
"""Weight below which a group of voters gets none, if all such groups together have no more than this."""
_CLEARLY = 2.0
"""Standard deviations of the difference of two votes' errors, were they equally good, beyond which it is clear."""


def informed_weights(
    voters: FittedVoters, X: Any, y: Labels, loss: Loss, rng: np.random.Generator, entities: Entities | None = None
) -> Array:
    """Weights of the voters that minimise the errors on rows they have not seen, kept near equal weights.

    Parameters
    ----------
    voters : FittedVoters
    X, y : array and codes
        The training rows and their classes.
    loss : {"plurality", "half-weight"}
    rng : numpy Generator
        Picks the rows, where there are more than are needed.
    entities : Entities, optional
        Those that the training rows belong to. Errors are then means over these.

    Returns
    -------
    array of shape (n_voters,)
        Not negative, with sum 1; equal within each group of voters.
    """
    rows = np.sort(rng.permutation(len(y))[:_ROWS])
    unseen = voters.out_of_sample(X, y, rows)
    rows = rows if unseen.rows is None else unseen.rows
    best = unseen_weights(unseen.votes, y[rows], loss, None if entities is None else entities.among(rows))
    sizes = np.bincount(unseen.groups, minlength=len(best))
    return (best / sizes)[unseen.groups]


def unseen_weights(votes: Votes, labels: Labels, loss: Loss, seen: Entities | None) -> Array:
    """Weights of groups of voters that minimise the errors of their out-of-sample votes."""
    gentle, steep = (_weights(votes, labels, loss, slope, seen) for slope in _SLOPES)
    before, after = (mistakes(votes.masses(weights), labels, loss) for weights in (gentle, steep))
    best = steep if _clearly_better(after, before, seen) else gentle
    # What hardly counts would be asked in vain.
    heavy = np.where(best < _LEAST, 0.0, best)
    return heavy / heavy.sum() if heavy.sum() >= 1.0 - _SPARED else best


def _clearly_better(after: NDArray[np.bool_], before: NDArray[np.bool_], entities: Entities | None) -> bool:
    """Whether the difference of the errors is more than chance, on rows or on entities, which are independent."""
    if entities is None:
        saved = np.count_nonzero(before) - np.count_nonzero(after)
        return bool(saved > _CLEARLY * math.sqrt(np.count_nonzero(before != after)))
    gains = entities.losses(before) - entities.losses(after)
    return bool(gains.sum() > _CLEARLY * math.sqrt(np.square(gains).sum()))


def _weights(votes: Votes, labels: Labels, loss: Loss, slope: float, entities: Entities | None) -> Array:
    """The weights that minimise the smooth risk and the divergence from equal weights."""
    equal = np.full(votes.n_voters, 1.0 / votes.n_voters)
    caution = _CAUTION / (votes.n_rows if entities is None else entities.count)
    risk = drawn_risk(votes, labels, loss, slope, None if entities is None else entities.shares)

    def objective(x: Array) -> tuple[float, Array]:
        weights = softmax(x)
        value, gradient = risk(weights)
        divergence, divergence_gradient = kl_divergence(weights, equal)
        return value + caution * divergence, softmax_chain(weights, gradient + caution * divergence_gradient)

    limits = [(-10.0, 10.0)] * votes.n_voters
    start = np.zeros(votes.n_voters)
    found = optimize.minimize(objective, start, jac=True, method="L-BFGS-B", bounds=limits, options={"maxiter": 100})
    return softmax(found.x)
