"""The self-bounding optimisers: they choose the posterior that minimises the bound itself.

A certificate holds for any choice made before weights are drawn, so everything here (starts, stopping, learning rate,
seeds) is free: it can make a certificate loose but not wrong. Numbers drawn here never reach the final draw, which has
a random stream of its own.
"""

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize
from threadpoolctl import ThreadpoolController

from certivote.pipeline._blocks import Blocks, blocked_boosting, blocked_risk
from certivote.pipeline._plan import Plan
from certivote.pipeline._priors import HyperPrior
from certivote.pipeline._progress import Tick
from certivote.pipeline._rows import PreparedPart
from certivote.pipeline._streams import Streams
from certivote.theory.entities import Entities
from certivote.theory.families import Draw, Family
from certivote.theory.methods import Method
from certivote.theory.risks import Labels, Loss, SmoothRisk, drawn_risk
from certivote.theory.theorems import Setting
from certivote.votes import Votes

Array = NDArray[np.float64]

_MAX_STEPS = 150
_SURE = 1e7
"""Concentration of a distribution over weights that differ from their mean by next to nothing."""


@dataclass(frozen=True)
class Problem:
    """What an optimiser sees of one part: votes and labels, prior, and how the bound is paid.

    The learned parameters are functions of an unconstrained vector ``x``, so every step is feasible. Where rows belong
    to ``entities``, risks are means over these, and their number takes the place of that of the rows. Where these are
    some of the rows only, ``n_rows`` is how many will be counted; where they come in ``blocks``, risks are of these.
    """

    votes: Votes
    labels: Labels
    loss: Loss
    prior: Array
    family: Family
    method: Method
    setting: Setting
    entities: Entities | None = None
    n_rows: int | None = None
    blocks: Blocks | None = None

    def bound(self, risk: Any, penalty: float) -> tuple[float, Any, float]:
        """The bound and its derivatives in the risk and in the penalty."""
        size = self.n_rows or self.votes.n_rows if self.entities is None else self.entities.count
        return self.method.theorem.slopes(risk, penalty, size, self.setting)

    def whole_risk(self) -> SmoothRisk:
        """The method's own smooth risk, on all rows."""
        if self.blocks is not None:
            return blocked_risk(self.blocks, self.method.name, self.family.name, self.loss)
        return self.risk(self.votes, self.labels, self.shares())

    def risk(self, votes: Votes, labels: Labels, shares: Array | None = None) -> SmoothRisk:
        """The method's own smooth risk, on all rows or on some."""
        return self.method.risk.smooth(self.family, votes, labels, self.loss, shares)

    def shares(self, rows: Labels | None = None) -> Array | None:
        """What each row counts for, of all rows or of some; None where all count the same."""
        if self.entities is None or rows is None:
            return None if self.entities is None else self.entities.shares
        some = self.entities.shares[rows]
        return some / some.sum()

    @functools.cached_property
    def floor(self) -> Array:
        """Lower limit of the parameters."""
        return self.method.theorem.floor(self.family, self.prior, self.setting)

    def parameters(self, x: Array) -> Array:
        """What is learned, at ``x``."""
        return self.family.parameters(x, self.floor)

    def chain(self, x: Array, gradient: Array) -> Array:
        """Gradient in ``x`` from one in the parameters."""
        return self.family.chain(x, gradient)

    def limits(self) -> tuple[Array, Array]:
        """Lowest and highest values of ``x``."""
        return self.family.limits(self.votes.n_voters)


@dataclass(frozen=True)
class Learned:
    """What was chosen before the draw."""

    parameters: Array
    prior: Array
    prior_weight: float
    setting: Setting


@dataclass(frozen=True)
class Objective:
    """The expected bound and its gradient: a function of the unconstrained vector ``x``."""

    problem: Problem
    risk: SmoothRisk

    def __call__(self, x: Array) -> tuple[float, Array]:
        value, gradient = self.at(self.problem.parameters(x))
        return value, self.problem.chain(x, gradient)

    def at(self, parameters: Array) -> tuple[float, Array]:
        """The same as a function of the parameters."""
        return _expected_bound(self.problem, self.risk, parameters)


def training_objective(problem: Problem, rng: np.random.Generator) -> Objective:
    """What full batches minimise. ``rng`` is for methods that train on several draws, whose numbers it fixes now."""
    return Objective(problem, _full_batch_risk(problem, rng))


def lbfgs(problem: Problem, rng: np.random.Generator, tick: Tick) -> Array:
    """Full-batch L-BFGS on the expected bound.

    The expected risk and the expected penalty are smooth functions of the parameters with exact gradients, but the
    bound has two kinds of minimum: near the prior, and far from it with concentrated weights. The best start of
    each kind is polished, and the better result kept, or the prior itself where learning does not pay. Where the
    method trains on several draws (smv-mc), their uniform numbers are fixed, which makes that risk smooth too.
    """
    # The starts come first: they have a vote matrix of their own, which is gone when the objective makes its.
    if problem.blocks is not None:
        path = blocked_boosting(problem.blocks)
    else:
        path = _boosting_path(problem.votes, problem.labels, problem.shares())
    near_and_far = problem.family.starts(problem.prior, problem.floor, path)
    objective = training_objective(problem, rng)
    low, high = problem.limits()

    def report(intermediate_result: optimize.OptimizeResult) -> None:  # scipy goes by this name
        tick(intermediate_result.fun)

    def descend(x: Array) -> optimize.OptimizeResult:
        options = {"maxiter": _MAX_STEPS, "maxcor": 20, "ftol": 1e-6, "gtol": 1e-9}
        limits = optimize.Bounds(low, high)
        return optimize.minimize(
            objective, x, jac=True, method="L-BFGS-B", bounds=limits, callback=report, options=options
        )

    stay = objective.at(problem.prior)[0]
    results = []
    # The optimiser's own matrices are tiny: threads would spend their time waiting for one another.
    with _thread_pools().limit(limits=1, user_api="blas"):
        for starts in near_and_far:
            kept = [np.clip(start, low, high) for start in starts]
            results.append(descend(min(kept, key=lambda x: objective(x)[0])))
    best = min(results, key=lambda result: result.fun)
    return problem.prior if stay <= best.fun else problem.parameters(best.x)


def expected_bound(problem: Problem, parameters: Array) -> float:
    """The bound at the expected risk and penalty, to choose between solutions before the draw."""
    return _expected_bound(problem, problem.whole_risk(), parameters)[0]


@functools.cache
def _thread_pools() -> ThreadpoolController:
    """The thread pools of the loaded libraries; finding them takes some milliseconds."""
    return ThreadpoolController()


def _expected_bound(problem: Problem, risk: SmoothRisk, parameters: Array) -> tuple[float, Array]:
    risk_value, risk_gradient = risk(parameters)
    theorem = problem.method.theorem
    penalty, penalty_gradient = theorem.penalty(problem.family, parameters, problem.prior, problem.setting)
    value, in_risk, in_penalty = problem.bound(risk_value, penalty)
    # One statistic and its gradient, or several and a row of gradients for each.
    return value, np.dot(in_risk, risk_gradient).reshape(parameters.shape) + in_penalty * penalty_gradient


def _full_batch_risk(problem: Problem, rng: np.random.Generator) -> SmoothRisk:
    n_draws = problem.method.risk.draws
    if n_draws <= 1:
        return problem.whole_risk()
    draws = problem.family.fixed_draws(n_draws, problem.votes.n_voters, rng)
    drawn = drawn_risk(problem.votes, problem.labels, problem.loss, shares=problem.shares())
    return lambda parameters: _mean_over_draws(problem.family, drawn, parameters, draws(parameters))


def _boosting_path(
    votes: Votes, labels: Labels, shares: Array | None = None, rounds: tuple[int, ...] = (8, 64)
) -> list[Array]:
    """Normalised weights after some rounds of AdaBoost on the votes themselves."""
    path = []
    wrong_masses = votes.against(labels)
    weights = np.zeros(votes.n_voters)
    log_focus = np.zeros(votes.n_rows) if shares is None else np.log(shares)
    focus = np.empty(votes.n_rows)
    for round_number in range(1, max(rounds) + 1):
        np.subtract(log_focus, log_focus.max(), out=focus)
        np.exp(focus, out=focus)
        focus /= focus.sum()
        errors = wrong_masses.adjoint(focus)
        best = int(np.argmin(errors))
        error = float(np.clip(errors[best], 1e-6, 1 - 1e-6))
        if error >= 0.5:
            break
        step = 0.5 * np.log((1.0 - error) / error)
        weights[best] += step
        # An update needs the column of one voter; only the errors need all.
        log_focus += np.multiply(2.0 * step, wrong_masses.column(best), out=focus)
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
    x = problem.family.random_start(problem.prior, rng)
    low, high = problem.limits()
    mean, square = np.zeros_like(x), np.zeros_like(x)
    batch_size = 128 if problem.votes.n_classes == 2 else 1024
    rate, best, best_x, flat, steps = 0.1, np.inf, x, 0, 0
    for _ in range(100):
        values = []
        for rows in np.array_split(rng.permutation(n), max(1, round(n / batch_size))):
            value, gradient = _batch_bound(problem, rows, problem.parameters(x), rng)
            gradient = problem.chain(x, gradient)
            steps += 1
            mean = 0.9 * mean + 0.1 * gradient
            square = 0.999 * square + 0.001 * gradient**2
            scale = np.sqrt(square / (1 - 0.999**steps)) + 1e-8
            x = np.clip(x - rate * mean / (1 - 0.9**steps) / scale, low, high)
            values.append(value)
        tick(np.mean(values))
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
    votes, labels, shares = problem.votes.take(rows), problem.labels[rows], problem.shares(rows)
    family, n_draws = problem.family, problem.method.risk.draws
    if not n_draws:
        return _expected_bound(problem, problem.risk(votes, labels, shares), parameters)
    draws = [family.draw(parameters, rng) for _ in range(n_draws)]
    drawn = drawn_risk(votes, labels, problem.loss, shares=shares)
    if not problem.method.theorem.charges_draw:
        return _expected_bound(problem, lambda found: _mean_over_draws(family, drawn, found, draws), parameters)
    (draw,) = draws
    return _drawn_bound(problem, drawn, parameters, draw)


def _drawn_bound(problem: Problem, drawn: SmoothRisk, parameters: Array, draw: Draw) -> tuple[float, Array]:
    """The bound at one draw, and its gradient in the parameters through the draw."""
    theorem, family = problem.method.theorem, problem.family
    weights = np.exp(draw.log_weights)
    risk, risk_in_weights = drawn(weights)
    penalty, direct, penalty_in_point = theorem.drawn_penalty(
        family, parameters, problem.prior, draw.point, problem.setting
    )
    value, in_risk, in_penalty = problem.bound(risk, penalty)
    in_logs, in_point = in_risk * risk_in_weights * weights, in_penalty * penalty_in_point
    return value, family.through_draw(parameters, draw, in_logs, in_point) + in_penalty * direct


def _mean_over_draws(
    family: Family, drawn: SmoothRisk, parameters: Array, draws: Sequence[Draw]
) -> tuple[float, Array]:
    """Mean risk of drawn votes, and its gradient in the parameters."""
    value, gradient = 0.0, np.zeros_like(parameters)
    for draw in draws:
        weights = np.exp(draw.log_weights)
        risk, risk_in_weights = drawn(weights)
        value += risk / len(draws)
        gradient += family.through_draw(parameters, draw, risk_in_weights * weights) / len(draws)
    return value, gradient


SOLVERS: dict[str, Callable[[Problem, np.random.Generator, Tick], Array]] = {"lbfgs": lbfgs, "adam": adam}


def _problem(plan: Plan, part: PreparedPart, prior: Array, setting: Setting) -> Problem:
    """What there is to learn from the certification rows of a part."""
    rows = part.certification
    return Problem(
        *rows.to_learn(),
        plan.loss,
        prior,
        plan.family,
        plan.method,
        setting,
        rows.entities,
        rows.n_rows,
        rows.blocks,
    )


def learn(plan: Plan, part: PreparedPart, streams: Streams, number: int, tick: Tick) -> Learned:
    """The best of all candidates, by the expected bound: hyper-priors, and orders of the Rényi divergence."""
    hyper_priors = part.hyper_priors
    if not plan.family.over_weights:
        # Its prior is over voters: the concentration does not enter, and there is nothing to choose.
        hyper_priors = (HyperPrior(hyper_priors[0].beta),)
    options: list[tuple[Problem, Learned]] = []
    for hyper_prior in hyper_priors:
        prior = plan.family.prior(hyper_prior.beta)
        for candidate in plan.settings():
            setting = replace(candidate, prior_nats=-math.log(hyper_prior.weight))
            problem = _problem(plan, part, prior, setting)
            found = prior
            if plan.method.predictor.learns:
                found = SOLVERS[plan.solver](problem, streams.of("learning", number, len(options)), tick)
            options.append((problem, Learned(found, prior, hyper_prior.weight, setting)))
    if len(options) == 1:
        return options[0][1]
    return min(options, key=lambda option: expected_bound(option[0], option[1].parameters))[1]


def choose(
    ways: Sequence[Plan], parts: Sequence[PreparedPart], streams: Streams, tick: Tick
) -> tuple[Plan, list[Learned]]:
    """How the votes of all parts come to their weights, and these: decided before any of them is drawn.

    Of a learned vote and one that was fixed beforehand, the one that is expected to have the smaller bound is taken;
    with several parts, the smallest of their bounds decides.
    """
    learning, *fixed = ways
    learned = [learn(learning, part, streams, number, tick) for number, part in enumerate(parts)]
    for way in fixed:
        promised = [_promised(learning, part, each) for part, each in zip(parts, learned, strict=True)]
        if min(_promised_by_fixed(learning, way, part) for part in parts) <= min(promised):
            priors = [way.family.prior(part.hyper_priors[0].beta) for part in parts]
            return way, [Learned(prior, prior, 1.0, way.settings()[0]) for prior in priors]
    return learning, learned


def _promised(plan: Plan, part: PreparedPart, learned: Learned) -> float:
    """The expected bound of a vote that was learned."""
    return expected_bound(_problem(plan, part, learned.prior, learned.setting), learned.parameters)


def _promised_by_fixed(learning: Plan, fixed: Plan, part: PreparedPart) -> float:
    """The same of the vote that is fixed beforehand: as if drawn with hardly any variance, which costs nothing."""
    mean = part.hyper_priors[0].beta
    sure = learning.family.prior(_SURE * mean / mean.sum())
    free = replace(learning, method=replace(learning.method, theorem=fixed.method.theorem))
    return expected_bound(_problem(free, part, sure, fixed.settings()[0]), sure)
