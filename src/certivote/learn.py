"""The self-bounding optimisers: they choose the hyper-posterior ``Dir(alpha)`` that minimises the bound itself.

A certificate holds for any choice of ``alpha`` made before the weights are drawn, so everything here (starts, stopping,
learning rate, seeds) is free: it can make a certificate loose but not wrong. Numbers drawn here never reach the final
draw, which has a random stream of its own.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from certivote.maths import dirichlet
from certivote.maths.binary_kl import kl_inverse_upper_derivatives
from certivote.methods import Method, Setting
from certivote.risks import Labels, Loss, SmoothRisk, drawn_risk, expected_risk
from certivote.votes import LinearMap, Votes

__all__ = ["SOLVERS", "Problem", "Tick"]

Array = NDArray[np.float64]
Tick = Callable[[], None]
"""Called after each step of a solver, to show progress."""

_MAX_STEPS = 150
_LOG_RANGE = (-14.0, 14.0)
"""Where the logarithms of the parameters are kept, about 1e-6 to 1e6."""


@dataclass(frozen=True)
class Problem:
    """What an optimiser sees of one certified sample: votes and labels, hyper-prior, and how the bound is paid."""

    votes: Votes
    labels: Labels
    loss: Loss
    beta: Array
    method: Method
    setting: Setting

    def bound(self, risk: float, penalty: float) -> tuple[float, float, float]:
        """The bound and its derivatives in the risk and in the penalty."""
        n = self.votes.n_rows
        eps = (penalty + self.method.confidence(n, self.setting)) / n
        # At risk 0 the slope in the risk is infinite: a millionth of an example away from it, it is not.
        value, in_risk, in_eps = kl_inverse_upper_derivatives(min(max(risk, 1e-6 / n), 1.0), max(eps, 1e-12))
        return float(value), float(in_risk), float(in_eps) / n

    def floor(self) -> Array:
        """Lower limit of alpha."""
        return self.method.floor(self.beta, self.setting)


def lbfgs(problem: Problem, rng: np.random.Generator, tick: Tick) -> Array:
    """Full-batch L-BFGS on the expected bound, in the logarithm of ``alpha`` above its floor.

    The expected risk and the expected penalty are smooth functions of ``alpha`` with exact gradients, but the bound has
    two kinds of minimum: near the hyper-prior, and far from it with concentrated weights. The best start of each kind
    is polished, and the better result kept.
    """
    floor = problem.floor()
    risk = expected_risk(problem.votes, problem.labels, problem.loss)

    def objective(x: Array) -> tuple[float, Array]:
        value, gradient = _expected_bound(problem, risk, floor + np.exp(x))
        return value, gradient * np.exp(x)

    def descend(x: Array) -> optimize.OptimizeResult:
        options = {"maxiter": _MAX_STEPS, "maxcor": 20, "ftol": 1e-6, "gtol": 1e-9}
        limits = [_LOG_RANGE] * len(floor)
        return optimize.minimize(
            objective, x, jac=True, method="L-BFGS-B", bounds=limits, callback=lambda _: tick(), options=options
        )

    results = []
    for starts in _starts(problem):
        logs = [np.clip(np.log(start - floor), *_LOG_RANGE) for start in starts]
        results.append(descend(min(logs, key=lambda x: objective(x)[0])))
    return floor + np.exp(min(results, key=lambda result: result.fun).x)


def _expected_bound(problem: Problem, risk: SmoothRisk, alpha: Array) -> tuple[float, Array]:
    risk_value, risk_gradient = risk(alpha)
    penalty, penalty_gradient = problem.method.expected_penalty(alpha, problem.beta, problem.setting)
    value, in_risk, in_penalty = problem.bound(risk_value, penalty)
    return value, in_risk * risk_gradient + in_penalty * penalty_gradient


def _starts(problem: Problem) -> tuple[list[Array], list[Array]]:
    """Starts ``beta + kappa w`` near the hyper-prior, and far from it: ``kappa`` below or above the sum of ``beta``.

    The directions ``w`` are equal weights and the weights after some rounds of boosting; far away, only the last.
    """
    beta, n_voters = problem.beta, problem.votes.n_voters
    equal = np.full(n_voters, 1.0 / n_voters)
    directions = [equal, *_boosting_path(problem.votes.against(problem.labels), n_voters)]
    near = [beta + kappa * beta.sum() * direction for kappa in (0.1, 0.3, 1.0) for direction in directions]
    far = [beta + kappa * beta.sum() * directions[-1] for kappa in (3.0, 10.0, 30.0, 100.0)]
    return [beta, *near], far


def _boosting_path(wrong_masses: LinearMap, n_voters: int, rounds: tuple[int, ...] = (8, 64)) -> list[Array]:
    """Normalised weights after some rounds of AdaBoost on the votes themselves."""
    path = []
    weights = np.zeros(n_voters)
    log_focus = np.zeros(len(wrong_masses.forward(weights)))
    for round_number in range(1, max(rounds) + 1):
        focus = np.exp(log_focus - log_focus.max())
        errors = wrong_masses.adjoint(focus / focus.sum())
        best = int(np.argmin(errors))
        error = float(np.clip(errors[best], 1e-6, 1 - 1e-6))
        if error >= 0.5:
            break
        step = 0.5 * np.log((1.0 - error) / error)
        weights[best] += step
        one = np.zeros(n_voters)
        one[best] = 1.0
        log_focus += 2.0 * step * wrong_masses.forward(one)
        if round_number in rounds:
            path.append(weights / weights.sum())
    return path


def adam(problem: Problem, rng: np.random.Generator, tick: Tick) -> Array:
    """Algorithm 1 of the paper with the protocol of its Section 6: Adam on one reparameterised draw a mini-batch.

    The objective of a batch is the bound with the batch's sigmoid risk and the full sample's size. The learning rate
    starts at 0.1 and is divided by 10 after 2 epochs without improvement of the mean objective; training stops after 25
    such epochs or 100 in all, and the best epoch's ``alpha`` is kept. Adam works on the logarithm of ``alpha`` above
    its floor, which keeps every step feasible.
    """
    n = problem.votes.n_rows
    floor = problem.floor()
    x = np.log(rng.uniform(0.01, 2.0, len(floor)))
    mean, square = np.zeros_like(x), np.zeros_like(x)
    batch_size = 128 if problem.votes.n_classes == 2 else 1024
    rate, best, best_x, flat, steps = 0.1, np.inf, x, 0, 0
    for _ in range(100):
        values = []
        order = rng.permutation(n)
        for rows in np.array_split(order, max(1, round(n / batch_size))):
            value, gradient = _drawn_bound(problem, rows, floor + np.exp(x), rng)
            gradient = gradient * np.exp(x)
            steps += 1
            mean = 0.9 * mean + 0.1 * gradient
            square = 0.999 * square + 0.001 * gradient**2
            scale = np.sqrt(square / (1 - 0.999**steps)) + 1e-8
            x = np.clip(x - rate * mean / (1 - 0.9**steps) / scale, *_LOG_RANGE)
            values.append(value)
        tick()
        if np.mean(values) < best:
            best, best_x, flat = float(np.mean(values)), x, 0
            continue
        flat += 1
        if flat % 2 == 0:
            rate *= 0.1
        if flat == 25:
            break
    return floor + np.exp(best_x)


def _drawn_bound(problem: Problem, rows: Labels, alpha: Array, rng: np.random.Generator) -> tuple[float, Array]:
    """The bound at one draw and one mini-batch, and its gradient in ``alpha`` through the draw."""
    log_weights, gammas, log_uniforms = dirichlet.draw(alpha, rng)
    weights = np.exp(log_weights)
    risk, risk_in_weights = drawn_risk(problem.votes.take(rows), problem.labels[rows], problem.loss)(weights)
    penalty, direct, penalty_in_logs = problem.method.drawn_penalty(alpha, problem.beta, log_weights, problem.setting)
    value, in_risk, in_penalty = problem.bound(risk, penalty)
    in_logs = in_risk * risk_in_weights * weights + in_penalty * penalty_in_logs
    # d ln rho_k / d ln G_j = 1[j = k] - rho_j
    in_log_gammas = in_logs - weights * in_logs.sum()
    through_draw = in_log_gammas * dirichlet.draw_derivative(alpha, gammas, log_uniforms)
    return value, through_draw + in_penalty * direct


SOLVERS: dict[str, Callable[[Problem, np.random.Generator, Tick], Array]] = {"lbfgs": lbfgs, "adam": adam}
