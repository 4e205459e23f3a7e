"""The self-bounding optimisers: they choose the posterior that minimises the bound itself.

A certificate holds for any choice made before weights are drawn, so everything here (starts, stopping, learning rate,
seeds) is free: it can make a certificate loose but not wrong. Numbers drawn here never reach the final draw, which has
a random stream of its own.
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize
from threadpoolctl import ThreadpoolController

from certivote.maths import dirichlet
from certivote.maths.categorical import softmax, softmax_chain
from certivote.methods import Method, Setting
from certivote.risks import Labels, Loss, SmoothRisk, drawn_risk
from certivote.votes import LinearMap, Votes

__all__ = ["SOLVERS", "Problem", "Tick", "expected_bound"]

Array = NDArray[np.float64]
Draw = tuple[Array, Array, Array]
Tick = Callable[[], None]
"""Called after each step of a solver, to show progress."""

_MAX_STEPS = 150
_LOG_RANGE = (-14.0, 14.0)
"""Where the logarithms of the parameters are kept, about 1e-6 to 1e6."""


@dataclass(frozen=True)
class Problem:
    """What an optimiser sees of one certified sample: votes and labels, prior, and how the bound is paid.

    The learned parameters, of a Dirichlet or the weights themselves, are functions of an unconstrained vector ``x``:
    ``floor + exp(x)``, or ``softmax(x)``. Every step is feasible.
    """

    votes: Votes
    labels: Labels
    loss: Loss
    beta: Array
    method: Method
    setting: Setting

    def bound(self, risk: Any, penalty: float) -> tuple[float, Any, float]:
        """The bound and its derivatives in the risk and in the penalty."""
        n = self.votes.n_rows
        return self.method.form.slopes(risk, penalty, self.method.confidence(n, self.setting), n)

    def floor(self) -> Array:
        """Lower limit of the parameters."""
        return self.method.floor(self.beta, self.setting)

    def parameters(self, x: Array) -> Array:
        """What is learned, at ``x``."""
        return self.floor() + np.exp(x) if self.method.distribution == "dirichlet" else softmax(x)

    def chain(self, x: Array, gradient: Array) -> Array:
        """Gradient in ``x`` from one in the parameters."""
        if self.method.distribution == "dirichlet":
            return gradient * np.exp(x)
        return softmax_chain(softmax(x), gradient)


def lbfgs(problem: Problem, rng: np.random.Generator, tick: Tick) -> Array:
    """Full-batch L-BFGS on the expected bound.

    The expected risk and the expected penalty are smooth functions of the parameters with exact gradients, but the
    bound has two kinds of minimum: near the prior, and far from it with concentrated weights. The best start of
    each kind is polished, and the better result kept, or the prior itself where learning does not pay. Where the
    method trains on several draws (smv-mc), their uniform numbers are fixed, which makes that risk smooth too.
    """
    # The starts come first: they have a vote matrix of their own, which is gone when the risk makes its.
    families = _starts(problem)
    risk = _full_batch_risk(problem, rng)

    def objective(x: Array) -> tuple[float, Array]:
        value, gradient = _expected_bound(problem, risk, problem.parameters(x))
        return value, problem.chain(x, gradient)

    def descend(x: Array) -> optimize.OptimizeResult:
        options = {"maxiter": _MAX_STEPS, "maxcor": 20, "ftol": 1e-6, "gtol": 1e-9}
        limits = [_LOG_RANGE] * len(x)
        return optimize.minimize(
            objective, x, jac=True, method="L-BFGS-B", bounds=limits, callback=lambda _: tick(), options=options
        )

    stay = _expected_bound(problem, risk, problem.beta)[0]
    results = []
    # The optimiser's own matrices are tiny: threads would spend their time waiting for one another.
    with _thread_pools().limit(limits=1, user_api="blas"):
        for starts in families:
            logs = [np.clip(start, *_LOG_RANGE) for start in starts]
            results.append(descend(min(logs, key=lambda x: objective(x)[0])))
    best = min(results, key=lambda result: result.fun)
    return problem.beta if stay <= best.fun else problem.parameters(best.x)


def expected_bound(problem: Problem, parameters: Array) -> float:
    """The bound at the expected risk and penalty, to choose between solutions before the draw."""
    risk = problem.method.risk(problem.votes, problem.labels, problem.loss)
    return _expected_bound(problem, risk, parameters)[0]


@functools.cache
def _thread_pools() -> ThreadpoolController:
    """The thread pools of the loaded libraries; finding them takes some milliseconds."""
    return ThreadpoolController()


def _expected_bound(problem: Problem, risk: SmoothRisk, parameters: Array) -> tuple[float, Array]:
    risk_value, risk_gradient = risk(parameters)
    penalty, penalty_gradient = problem.method.penalty(parameters, problem.beta, problem.setting)
    value, in_risk, in_penalty = problem.bound(risk_value, penalty)
    # One statistic and its gradient, or several and a gradient a row.
    return value, np.dot(in_risk, risk_gradient).reshape(parameters.shape) + in_penalty * penalty_gradient


def _full_batch_risk(problem: Problem, rng: np.random.Generator) -> SmoothRisk:
    method = problem.method
    if method.draws <= 1:
        return method.risk(problem.votes, problem.labels, problem.loss)
    shape = (method.draws, problem.votes.n_voters)
    uniforms, log_uniforms = rng.random(shape), -rng.standard_exponential(shape)
    drawn = drawn_risk(problem.votes, problem.labels, problem.loss)

    def risk(alpha: Array) -> tuple[float, Array]:
        draws = [dirichlet.draw_at(alpha, u, v) for u, v in zip(uniforms, log_uniforms, strict=True)]
        return _mean_over_draws(drawn, alpha, draws)

    return risk


def _starts(problem: Problem) -> tuple[list[Array], list[Array]]:
    """Starts near the prior, and far from it in the direction of boosting.

    Dirichlet: ``beta + kappa w`` with ``kappa`` up to the sum of ``beta`` or well above it, ``w`` equal weights,
    those of the prior, or the weights after some rounds of boosting. Categorical: the prior itself, and boosted
    weights mixed with a little of it.
    """
    beta, n_voters = problem.beta, problem.votes.n_voters
    path = _boosting_path(problem.votes.against(problem.labels), n_voters)
    directions = [np.full(n_voters, 1.0 / n_voters), beta / beta.sum(), *path]
    if problem.method.distribution == "categorical":
        return [np.log(beta)], [np.log(0.05 * beta + 0.95 * direction) for direction in path or directions[:1]]
    floor, total = problem.floor(), beta.sum()
    near = [beta + kappa * total * direction for kappa in (0.1, 0.3, 1.0) for direction in directions]
    far = [beta + kappa * total * directions[-1] for kappa in (3.0, 10.0, 30.0, 100.0, 300.0)]
    return [np.log(alpha - floor) for alpha in (beta, *near)], [np.log(alpha - floor) for alpha in far]


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
    """Algorithm 1 of the paper with the protocol of its Section 6: Adam on mini-batches.

    The objective of a batch is the bound with the batch's risk and the full sample's size; the risk is that of freshly
    drawn votes through a sigmoid, or, for methods without a draw, the method's own. The learning rate starts at 0.1 and
    is divided by 10 after 2 epochs without improvement of the mean objective; training stops after 25 such epochs or
    100 in all, and the best epoch is kept.
    """
    n = problem.votes.n_rows
    x = np.log(rng.uniform(0.01, 2.0, problem.votes.n_voters))
    mean, square = np.zeros_like(x), np.zeros_like(x)
    batch_size = 128 if problem.votes.n_classes == 2 else 1024
    rate, best, best_x, flat, steps = 0.1, np.inf, x, 0, 0
    for _ in range(100):
        values = []
        order = rng.permutation(n)
        for rows in np.array_split(order, max(1, round(n / batch_size))):
            value, gradient = _batch_bound(problem, rows, problem.parameters(x), rng)
            gradient = problem.chain(x, gradient)
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
    return problem.parameters(best_x)


def _batch_bound(problem: Problem, rows: Labels, parameters: Array, rng: np.random.Generator) -> tuple[float, Array]:
    """The bound on one mini-batch, and its gradient in the parameters."""
    votes, labels = problem.votes.take(rows), problem.labels[rows]
    if not problem.method.draws:
        return _expected_bound(problem, problem.method.risk(votes, labels, problem.loss), parameters)
    draws = [dirichlet.draw(parameters, rng) for _ in range(problem.method.draws)]
    drawn = drawn_risk(votes, labels, problem.loss)
    if problem.method.drawn_penalty is None:
        return _expected_bound(problem, lambda alpha: _mean_over_draws(drawn, alpha, draws), parameters)
    (draw,) = draws
    return _drawn_bound(problem, drawn, parameters, draw)


def _drawn_bound(problem: Problem, drawn: SmoothRisk, alpha: Array, draw: Draw) -> tuple[float, Array]:
    """The bound at one draw, and its gradient in ``alpha`` through the draw."""
    assert problem.method.drawn_penalty is not None
    log_weights = draw[0]
    weights = np.exp(log_weights)
    risk, risk_in_weights = drawn(weights)
    penalty, direct, penalty_in_logs = problem.method.drawn_penalty(alpha, problem.beta, log_weights, problem.setting)
    value, in_risk, in_penalty = problem.bound(risk, penalty)
    in_logs = in_risk * risk_in_weights * weights + in_penalty * penalty_in_logs
    return value, _through_draw(alpha, draw, in_logs) + in_penalty * direct


def _mean_over_draws(drawn: SmoothRisk, alpha: Array, draws: Sequence[Draw]) -> tuple[float, Array]:
    """Mean risk of drawn votes, and its gradient in ``alpha``."""
    value, gradient = 0.0, np.zeros_like(alpha)
    for draw in draws:
        weights = np.exp(draw[0])
        risk, risk_in_weights = drawn(weights)
        value += risk / len(draws)
        gradient += _through_draw(alpha, draw, risk_in_weights * weights) / len(draws)
    return value, gradient


def _through_draw(alpha: Array, draw: Draw, in_logs: Array) -> Array:
    """Gradient in ``alpha`` from one in ``ln rho``: ``d ln rho_k / d ln G_j = 1[j = k] - rho_j``."""
    log_weights, gammas, log_uniforms = draw
    in_log_gammas = in_logs - np.exp(log_weights) * in_logs.sum()
    return in_log_gammas * dirichlet.draw_derivative(alpha, gammas, log_uniforms)


SOLVERS: dict[str, Callable[[Problem, np.random.Generator, Tick], Array]] = {"lbfgs": lbfgs, "adam": adam}
