"""Dirichlet distributions over weights, the paper's choice."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from certivote.maths import dirichlet
from certivote.maths.beta_tail import half_tail
from certivote.theory.blocks import over_blocks
from certivote.theory.entities import mean_of
from certivote.theory.families._base import Array, Draw, Family, Starts
from certivote.theory.risks import Labels, Loss, SmoothRisk, dirichlet_risk
from certivote.votes import Votes

LOG_LIMIT = 14.0
"""How far the logarithms of parameters may be from 0: about 1e-6 to 1e6."""


class Dirichlet(Family):
    """``Dir(alpha)``, with ``alpha = floor + exp(x)``."""

    name = "dirichlet"
    exact = True

    def prior(self, beta: Array) -> Array:
        return beta

    def floor(self, prior: Array, renyi_order: float | None) -> Array:
        return np.zeros_like(prior) if renyi_order is None else (renyi_order - 1.0) / renyi_order * prior

    def parameters(self, x: Array, floor: Array) -> Array:
        return floor + np.exp(x)

    def chain(self, x: Array, gradient: Array) -> Array:
        return gradient * np.exp(x)

    def limits(self, n_voters: int) -> tuple[Array, Array]:
        return np.full(n_voters, -LOG_LIMIT), np.full(n_voters, LOG_LIMIT)

    def starts(self, prior: Array, floor: Array, path: Sequence[Array]) -> Starts:
        near, far = dirichlet_starts(prior, path)
        return [np.log(alpha - floor) for alpha in near], [np.log(alpha - floor) for alpha in far]

    def kl_divergence(self, parameters: Array, prior: Array) -> tuple[float, Array]:
        return dirichlet.kl_divergence(parameters, prior)

    def mean_weights(self, parameters: Array) -> Array:
        return np.asarray(parameters / parameters.sum())

    def renyi_divergence(self, parameters: Array, prior: Array, renyi_order: float) -> tuple[float, Array]:
        return dirichlet.renyi_divergence(parameters, prior, renyi_order)

    def log_ratio(self, parameters: Array, prior: Array, point: Array) -> float:
        return dirichlet.log_ratio(parameters, prior, point)

    def log_ratio_gradients(self, parameters: Array, prior: Array, point: Array) -> tuple[Array, Array]:
        return dirichlet.log_ratio_gradient(parameters, point), parameters - prior

    def expected_risk(self, votes: Votes, labels: Labels, loss: Loss, shares: Array | None = None) -> SmoothRisk:
        return dirichlet_risk(votes, labels, loss, shares)

    def exact_risk(self, votes: Votes, labels: Labels, parameters: Array, shares: Array | None = None) -> float:
        """The mean of ``I_{1/2}(A - b_i, b_i)``, ``b_i`` the sum of the parameters of the voters wrong at ``i``."""
        total = math.fsum(parameters)

        def of_rows(votes: Votes, labels: Labels, shares: Array | None) -> SmoothRisk:
            def risk(parameters: Array) -> tuple[float, Array]:
                wrong = np.clip(votes.against(labels).forward(parameters), 0.0, total)
                return mean_of(half_tail(wrong, total), shares), np.empty(0)

            return risk

        value, _ = over_blocks(of_rows, votes, labels, shares)(parameters)
        return min(value * (1 + 1e-12) + 1e-12, 1.0)

    def draw(self, parameters: Array, rng: np.random.Generator) -> Draw:
        log_weights, *noise = dirichlet.draw(parameters, rng)
        return Draw(log_weights, log_weights, tuple(noise))

    def fixed_draws(self, n_draws: int, n_voters: int, rng: np.random.Generator) -> Callable[[Array], Sequence[Draw]]:
        shape = (n_draws, n_voters)
        uniforms, log_uniforms = rng.random(shape), -rng.standard_exponential(shape)

        def draws(parameters: Array) -> list[Draw]:
            found = [dirichlet.draw_at(parameters, u, v) for u, v in zip(uniforms, log_uniforms, strict=True)]
            return [Draw(log_weights, log_weights, tuple(noise)) for log_weights, *noise in found]

        return draws

    def through_draw(self, parameters: Array, draw: Draw, in_logs: Any, in_point: Any = 0.0) -> Array:
        """By ``d ln rho_k / d ln G_j = 1[j = k] - rho_j``."""
        total = in_logs + in_point
        in_log_gammas = total - np.exp(draw.log_weights) * total.sum()
        return in_log_gammas * dirichlet.draw_derivative(parameters, *draw.noise)

    def draw_log_masses(self, votes: Votes, parameters: Array, rng: np.random.Generator, rounds: int = 1) -> Array:
        """The masses of a vote drawn from a Dirichlet are Dirichlet too, with sums of the parameters as parameters."""
        return dirichlet.draw_rows(np.tile(votes.masses(parameters), (rounds, 1)), rng)


def dirichlet_starts(beta: Array, path: Sequence[Array]) -> Starts:
    """Dirichlet parameters ``beta + kappa w``.

    ``kappa`` is up to the sum of ``beta`` or well above it, and ``w`` equal weights, those of the prior, or the weights
    after some rounds of boosting.
    """
    n_voters, total = len(beta), beta.sum()
    directions = [np.full(n_voters, 1.0 / n_voters), beta / total, *path]
    near = [beta + kappa * total * direction for kappa in (0.1, 0.3, 1.0) for direction in directions]
    far = [beta + kappa * total * directions[-1] for kappa in (3.0, 10.0, 30.0, 100.0, 300.0)]
    return [beta, *near], far
