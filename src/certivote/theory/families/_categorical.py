"""Distributions over voters: the weights themselves are what is learned."""

from collections.abc import Sequence

import numpy as np

from certivote.maths import categorical
from certivote.theory.families._base import Array, Family, Starts
from certivote.theory.families._dirichlet import LOG_LIMIT


class Categorical(Family):
    """Weights with sum 1, ``softmax(x)``. Of a hyper-prior only its mean weights enter, not how concentrated it is."""

    name = "categorical"
    over_weights = False

    def prior(self, beta: Array) -> Array:
        return np.asarray(beta / beta.sum())

    def floor(self, prior: Array, renyi_order: float | None) -> Array:
        return np.zeros_like(prior)

    def parameters(self, x: Array, floor: Array) -> Array:
        return categorical.softmax(x)

    def chain(self, x: Array, gradient: Array) -> Array:
        return categorical.softmax_chain(categorical.softmax(x), gradient)

    def limits(self, n_voters: int) -> tuple[Array, Array]:
        return np.full(n_voters, -LOG_LIMIT), np.full(n_voters, LOG_LIMIT)

    def starts(self, prior: Array, floor: Array, path: Sequence[Array]) -> Starts:
        """The prior itself, and boosted weights mixed with a little of it."""
        far = path or [np.full(len(prior), 1.0 / len(prior))]
        return [np.log(prior)], [np.log(0.05 * prior + 0.95 * direction) for direction in far]

    def kl_divergence(self, parameters: Array, prior: Array) -> tuple[float, Array]:
        return categorical.kl_divergence(parameters, prior)

    def mean_weights(self, parameters: Array) -> Array:
        return parameters
