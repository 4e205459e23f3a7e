"""The interface of a family: distributions that a posterior is chosen from."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from certivote.theory.risks import Labels, Loss, SmoothRisk
from certivote.votes import Votes

Array = NDArray[np.float64]
Starts = tuple[list[Array], list[Array]]
"""Unconstrained vectors to start training from: near the prior, and far from it."""


@dataclass(frozen=True)
class Draw:
    """One draw from a posterior.

    Attributes
    ----------
    point : array
        What was drawn: what density ratios are taken at, and what is recorded.
    log_weights : array of shape (n_voters,)
        Logarithms of the weights that it stands for, which sum to 1.
    noise : tuple of arrays
        The random numbers behind it, for gradients through the draw.
    """

    point: Array
    log_weights: Array
    noise: tuple[Array, ...] = ()


class Family(ABC):
    """Distributions with parameters that can be learned.

    The parameters are functions of an unconstrained vector ``x``, so every step of an optimiser is feasible.

    Attributes
    ----------
    name : str
        As it is recorded.
    over_weights : bool
        Whether these are distributions over weight vectors, from which votes can be drawn; otherwise the parameters
        are weights themselves. The first come with a concentration, so that several hyper-priors make sense.
    exact : bool
        Whether the risk of a vote drawn from it has a closed form for two classes.
    """

    name: ClassVar[str]
    over_weights: ClassVar[bool] = True
    exact: ClassVar[bool] = False

    @abstractmethod
    def prior(self, beta: Array) -> Array:
        """Parameters of the prior that a hyper-prior stands for, which is given as those of a Dirichlet."""

    def floor(self, prior: Array, renyi_order: float | None) -> Array:
        """Lower limit of the parameters: 0, or where the Rényi divergence of this order becomes infinite."""
        raise NotImplementedError(f"the family {self.name} has no Rényi divergence")

    @abstractmethod
    def parameters(self, x: Array, floor: Array) -> Array:
        """The parameters at ``x``."""

    @abstractmethod
    def chain(self, x: Array, gradient: Array) -> Array:
        """Gradient in ``x`` from one in the parameters."""

    @abstractmethod
    def limits(self, n_voters: int) -> tuple[Array, Array]:
        """Lowest and highest values of ``x`` that training may try."""

    @abstractmethod
    def starts(self, prior: Array, floor: Array, path: Sequence[Array]) -> Starts:
        """Where to start training; ``path`` are weights after some rounds of boosting."""

    def random_start(self, prior: Array, rng: np.random.Generator) -> Array:
        """Where Algorithm 1 of the paper starts."""
        return np.log(rng.uniform(0.01, 2.0, len(prior)))

    @abstractmethod
    def kl_divergence(self, parameters: Array, prior: Array) -> tuple[float, Array]:
        """Kullback-Leibler divergence from the prior, rounded up, and its gradient."""

    @abstractmethod
    def mean_weights(self, parameters: Array) -> Array:
        """Weights of the voters in the mean, with sum 1."""

    # What follows is for distributions over weights.

    def renyi_divergence(self, parameters: Array, prior: Array, renyi_order: float) -> tuple[float, Array]:
        """Rényi divergence from the prior, rounded up, and its gradient."""
        raise NotImplementedError

    def log_ratio(self, parameters: Array, prior: Array, point: Array) -> float:
        """Logarithm of the ratio of the densities at a draw, rounded up."""
        raise NotImplementedError

    def log_ratio_gradients(self, parameters: Array, prior: Array, point: Array) -> tuple[Array, Array]:
        """Gradients of :meth:`log_ratio` in the parameters and in the point."""
        raise NotImplementedError

    def expected_risk(self, votes: Votes, labels: Labels, loss: Loss, shares: Array | None = None) -> SmoothRisk:
        """Risk of a vote drawn with given parameters, in the mean over the draw, to train on.

        ``shares`` are what each row counts for, where rows belong to entities.
        """
        raise NotImplementedError

    def exact_risk(self, votes: Votes, labels: Labels, parameters: Array, shares: Array | None = None) -> float:
        """The same for the half-weight loss, exactly and rounded up; for families that are :attr:`exact`."""
        raise NotImplementedError

    def draw(self, parameters: Array, rng: np.random.Generator) -> Draw:
        """One draw."""
        raise NotImplementedError

    def fixed_draws(self, n_draws: int, n_voters: int, rng: np.random.Generator) -> Callable[[Array], Sequence[Draw]]:
        """Draws as smooth functions of the parameters: the random numbers behind them are fixed now."""
        raise NotImplementedError

    def through_draw(self, parameters: Array, draw: Draw, in_logs: Any, in_point: Any = 0.0) -> Array:
        """Gradient in the parameters from gradients in the logarithms of the weights and in the point."""
        raise NotImplementedError

    def simulated_votes(self, n_voters: int) -> int:
        """Votes to draw, over all rows, to bound an expected risk without a closed form."""
        return 200_000

    def draw_log_masses(self, votes: Votes, parameters: Array, rng: np.random.Generator, rounds: int = 1) -> Array:
        """Logarithms of the class masses of votes drawn independently for every row, in rounds one below another.

        Of shape (rounds * n_rows, n_classes).
        """
        raise NotImplementedError
