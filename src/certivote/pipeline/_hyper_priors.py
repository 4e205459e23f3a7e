"""From the argument ``prior`` to hyper-priors, and the price lists that go with them."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certivote.maths.occam import PriceList
from certivote.pipeline._values import as_floats

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
