"""Logistic-normal distributions over weights: the softmax of independent Gaussians."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy

from certivote.maths import gaussian
from certivote.theory.blocks import over_blocks
from certivote.theory.entities import mean_of, mean_slope, spread
from certivote.theory.families._base import Array, Draw, Family, Starts
from certivote.theory.families._dirichlet import LOG_LIMIT, dirichlet_starts
from certivote.theory.risks import Labels, Loss, SmoothRisk, own_and_rival
from certivote.votes import LinearMap, Votes, is_many

_WIDEST = 9.0
"""Largest variance of a hyper-prior: beyond it, one voter decides nearly every draw anyway, and what training takes for
the risk (sums of log-normals for log-normal) is far below it."""
_FAR = 40.0
"""How far from 0 the means may be."""
_CHUNK = 4_000_000
"""Normal numbers in memory at a time."""
_NUMBERS = 100_000_000
"""Normal numbers that a simulation may take."""


class LogisticNormal(Family):
    """``softmax(z)`` with ``z_j`` normal of mean ``m_j`` and precision ``p_j = floor_j + exp(x_j)``.

    What is drawn is the vector ``z``, and ratios and divergences are those of the Gaussians: the vote is a function of
    ``z``, so the theorems hold for them. They are never below those of the softmax, which forgets a common summand.
    """

    name = "logistic-normal"

    def prior(self, beta: Array) -> Array:
        """Per voter, the log-normal number with the mean of a Gamma(beta) number and the variance of its logarithm.

        A Dirichlet vector is made of such Gamma numbers, so a hyper-prior means the same in both families, as nearly as
        can be. The variance is at most 9.
        """
        variances = np.minimum(scipy.special.polygamma(1, beta), _WIDEST)
        return np.concatenate([np.log(beta) - 0.5 * variances, 1.0 / variances])

    def floor(self, prior: Array, renyi_order: float | None) -> Array:
        if renyi_order is not None:
            return gaussian.renyi_floor(prior, renyi_order)
        return np.repeat([-np.inf, 0.0], len(prior) // 2)

    def parameters(self, x: Array, floor: Array) -> Array:
        means, log_precisions = gaussian.split(x)
        return np.concatenate([means, gaussian.split(floor)[1] + np.exp(log_precisions)])

    def chain(self, x: Array, gradient: Array) -> Array:
        in_means, in_precisions = gaussian.split(gradient)
        return np.concatenate([in_means, in_precisions * np.exp(gaussian.split(x)[1])])

    def limits(self, n_voters: int) -> tuple[Array, Array]:
        widest = np.log(0.95 / _WIDEST)
        return np.repeat([-_FAR, widest], n_voters), np.repeat([_FAR, LOG_LIMIT], n_voters)

    def starts(self, prior: Array, floor: Array, path: Sequence[Array]) -> Starts:
        """Those of the Dirichlet family, translated as hyper-priors are."""
        means, precisions = gaussian.split(prior)
        near, far = dirichlet_starts(np.exp(means + 0.5 / precisions), path)
        near_starts = [self._unconstrained(self.prior(alpha), floor) for alpha in near[1:]]
        far_starts = [self._unconstrained(self.prior(alpha), floor) for alpha in far]
        return [self._unconstrained(prior, floor), *near_starts], far_starts

    def random_start(self, prior: Array, rng: np.random.Generator) -> Array:
        alpha = rng.uniform(0.01, 2.0, len(prior) // 2)
        return self._unconstrained(self.prior(alpha), np.repeat([-np.inf, 0.0], len(alpha)))

    @staticmethod
    def _unconstrained(parameters: Array, floor: Array) -> Array:
        means, precisions = gaussian.split(parameters)
        return np.concatenate([means, np.log(precisions - gaussian.split(floor)[1])])

    def kl_divergence(self, parameters: Array, prior: Array) -> tuple[float, Array]:
        return gaussian.kl_divergence(parameters, prior)

    def mean_weights(self, parameters: Array) -> Array:
        """About: the mean of a softmax has no closed form; the means of the exponentials are divided by their sum."""
        mean, _, _ = gaussian.lognormal_moments(parameters)
        return np.asarray(mean / mean.sum())

    def renyi_divergence(self, parameters: Array, prior: Array, renyi_order: float) -> tuple[float, Array]:
        return gaussian.renyi_divergence(parameters, prior, renyi_order)

    def log_ratio(self, parameters: Array, prior: Array, point: Array) -> float:
        return gaussian.log_ratio(parameters, prior, point)

    def log_ratio_gradients(self, parameters: Array, prior: Array, point: Array) -> tuple[Array, Array]:
        return gaussian.log_ratio_gradients(parameters, prior, point)

    def expected_risk(self, votes: Votes, labels: Labels, loss: Loss, shares: Array | None = None) -> SmoothRisk:
        """The label's weight against its strongest rival's, or all others', each taken for log-normal."""
        many = is_many(votes)

        def of_rows(votes: Votes, labels: Labels, shares: Array | None) -> SmoothRisk:
            if loss == "half-weight" or votes.n_classes == 2:
                return _half_weight(votes.against(labels), shares)
            return _plurality(votes.by_class(), labels, shares, many)

        return over_blocks(of_rows, votes, labels, shares)

    def draw(self, parameters: Array, rng: np.random.Generator) -> Draw:
        point, normals = gaussian.draw(parameters, rng)
        return Draw(point, gaussian.log_softmax(point), (normals,))

    def fixed_draws(self, n_draws: int, n_voters: int, rng: np.random.Generator) -> Callable[[Array], Sequence[Draw]]:
        normals = rng.standard_normal((n_draws, n_voters))

        def draws(parameters: Array) -> list[Draw]:
            points = [(gaussian.draw_at(parameters, row), row) for row in normals]
            return [Draw(point, gaussian.log_softmax(point), (row,)) for point, row in points]

        return draws

    def through_draw(self, parameters: Array, draw: Draw, in_logs: Any, in_point: Any = 0.0) -> Array:
        total = gaussian.log_softmax_chain(draw.log_weights, in_logs) + in_point
        return gaussian.pull_back(parameters, draw.noise[0], total)

    def simulated_votes(self, n_voters: int) -> int:
        return min(super().simulated_votes(n_voters), _NUMBERS // n_voters)

    def draw_log_masses(self, votes: Votes, parameters: Array, rng: np.random.Generator, rounds: int = 1) -> Array:
        means, precisions = gaussian.split(parameters)
        deviations = 1.0 / np.sqrt(precisions)
        step = max(1, _CHUNK // len(means))
        chunks = [np.arange(start, min(start + step, votes.n_rows)) for start in range(0, votes.n_rows, step)]
        masses = []
        for _ in range(rounds):
            for rows in chunks:
                points = means + deviations * rng.standard_normal((len(rows), len(means)))
                masses.append(votes.take(rows).row_masses(scipy.special.softmax(points, axis=1)))
        with np.errstate(divide="ignore"):
            return np.log(np.concatenate(masses))


def _half_weight(wrong_masses: LinearMap, shares: Array | None) -> SmoothRisk:
    def risk(parameters: Array) -> tuple[float, Array]:
        moments = gaussian.lognormal_moments(parameters)[:2]
        # Sums over tables are off by rounding errors, which must not make a variance negative.
        wrong = [np.clip(wrong_masses.forward(moment), 0.0, moment.sum()) for moment in moments]
        right = [moment.sum() - part for moment, part in zip(moments, wrong, strict=True)]
        value, *slopes = gaussian.rival_probability(right[0], right[1], wrong[0], wrong[1])
        in_moments = [
            wrong_masses.adjoint(spread(of_wrong - of_right, shares)) + mean_slope(of_right, shares)
            for of_right, of_wrong in zip(slopes[:2], slopes[2:], strict=True)
        ]
        return mean_of(value, shares), gaussian.lognormal_pull_back(parameters, *moments, *in_moments)

    return risk


def _plurality(class_masses: LinearMap, labels: Labels, shares: Array | None, many: bool) -> SmoothRisk:
    def risk(parameters: Array) -> tuple[float, Array]:
        rows = np.arange(len(labels))
        moments = gaussian.lognormal_moments(parameters)[:2]
        mean, var = (np.maximum(class_masses.forward(moment), 0.0) for moment in moments)
        own, rival = own_and_rival(mean, labels, many)
        value, *slopes = gaussian.rival_probability(own, var[rows, labels], mean[rows, rival], var[rows, rival])
        in_moments = []
        for of_own, of_rival in zip(slopes[:2], slopes[2:], strict=True):
            gradient = np.zeros_like(mean)
            gradient[rows, rival], gradient[rows, labels] = spread(of_rival, shares), spread(of_own, shares)
            in_moments.append(class_masses.adjoint(gradient))
        return mean_of(value, shares), gaussian.lognormal_pull_back(parameters, *moments, *in_moments)

    return risk
