import math
from dataclasses import replace

import numpy as np
import pytest
from reference import assert_gradient, central_differences
from scipy import special

from certivote.maths import dirichlet
from certivote.maths.beta_tail import half_tail
from certivote.maths.binary_kl import kl_inverse_upper
from certivote.pipeline import _learn
from certivote.pipeline._learn import SOLVERS, Problem
from certivote.theory.methods import METHODS
from certivote.theory.risks import dirichlet_risk
from certivote.theory.theorems import Setting
from certivote.votes import BinnedVotes, DenseVotes

SETTING = Setting(delta=0.05, renyi_order=1.5, constant="paper")


def problem_of(votes, labels, method="dis-r", loss="half-weight", prior=0.5, setting=SETTING):
    row = METHODS[method]
    return Problem(votes, labels, loss, np.full(votes.n_voters, prior), row.family, row, setting)


def random_problem(method="dis-r", loss="half-weight", n_classes=2, n_rows=200, n_voters=8, accuracy=0.5, prior=0.5):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, n_classes, n_rows)
    codes = rng.integers(0, n_classes, (n_rows, n_voters))
    right = rng.random((n_rows, n_voters)) < accuracy
    votes = DenseVotes(np.where(right, labels[:, None], codes).astype(np.uint8), n_classes)
    return problem_of(votes, labels, method, loss, prior)


def needle(method="dis-r", n_rows=2000, n_voters=40, good=17, prior=0.5):
    """One voter errs on 5 % of the examples, all others are coin flips."""
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, n_rows)
    codes = rng.integers(0, 2, (n_rows, n_voters)).astype(np.uint8)
    codes[:, good] = labels ^ (rng.random(n_rows) < 0.05)
    return problem_of(DenseVotes(codes, 2), labels, method, prior=prior)


def expected_bound(problem, alpha):
    return _learn._expected_bound(problem, dirichlet_risk(problem.votes, problem.labels, problem.loss), alpha)


def starts_of(problem):
    """Where the solver starts: near the prior, and far from it."""
    path = _learn._boosting_path(problem.votes, problem.labels)
    return problem.family.starts(problem.prior, problem.floor, path)


def with_starts(problem, starts):
    """The same problem, started nowhere else."""

    class Restarted(type(problem.family)):
        def starts(self, prior, floor, path):
            return starts, starts

    return replace(problem, family=Restarted())


def solve(problem, solver="lbfgs", seed=0):
    ticks = []
    alpha = SOLVERS[solver](problem, np.random.default_rng(seed), lambda *_: ticks.append(1))
    assert ticks
    return alpha


@pytest.mark.parametrize("scale", [0.3, 3.0, 100.0])
@pytest.mark.parametrize("method", ["dis-r", "dis-v"])
def test_gradient_of_the_expected_bound(method, scale):
    problem = random_problem(method)
    n = problem.votes.n_rows
    wrong_masses = problem.votes.against(problem.labels)
    alpha = problem.floor + scale * np.random.default_rng(2).uniform(0.2, 2.0, 8)

    def bound(alpha):
        """Risk without a table, divergence and inverse as they stand in the theorem."""
        risk = np.mean(half_tail(wrong_masses.forward(alpha), alpha.sum()))
        if method == "dis-r":
            nats = dirichlet.kl_divergence(alpha, problem.prior)[0] + math.log(2 * math.sqrt(n) / 0.05)
        else:
            nats = dirichlet.renyi_divergence(alpha, problem.prior, 1.5)[0]
            nats += 4 * math.log(2 / 0.05) + math.log(2 * math.sqrt(n))
        return float(kl_inverse_upper(risk, nats / n))

    value, gradient = expected_bound(problem, alpha)
    assert value == pytest.approx(bound(alpha), abs=1e-6)
    assert_gradient(gradient, central_differences(bound, alpha, 1e-5), 1e-4)


@pytest.mark.parametrize("method", ["dis-r", "dis-v"])
def test_gradient_of_the_expected_bound_of_the_plurality_loss(method):
    problem = random_problem(method, "plurality", n_classes=3, accuracy=0.3)
    alpha = problem.floor + np.random.default_rng(3).uniform(0.5, 3.0, 8)
    _, gradient = expected_bound(problem, alpha)
    assert_gradient(gradient, central_differences(lambda a: expected_bound(problem, a)[0], alpha, 1e-3), 1e-3)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("loss", "n_classes"), [("half-weight", 2), ("half-weight", 4), ("plurality", 4)])
@pytest.mark.parametrize("method", ["dis-r", "dis-v"])
def test_gradient_of_the_drawn_bound(method, loss, n_classes, seed, monkeypatch):
    problem = random_problem(method, loss, n_classes, accuracy=0.3)
    rng = np.random.default_rng(seed)
    ranks, log_uniforms = rng.uniform(0.01, 0.99, 8), np.log(rng.uniform(0.01, 0.99, 8))

    def draw_by_quantiles(alpha, _):
        """A draw that is a smooth function of alpha: the same ranks whatever alpha is."""
        gammas = special.gammaincinv(alpha + 1, ranks)
        log_gammas = np.log(gammas) + log_uniforms / alpha
        return log_gammas - special.logsumexp(log_gammas), gammas, log_uniforms

    monkeypatch.setattr(dirichlet, "draw", draw_by_quantiles)
    alpha = problem.floor + rng.uniform(0.5, 20.0, 8)
    rows = rng.permutation(200)[:64]

    def bound(alpha):
        return _learn._batch_bound(problem, rows, alpha, rng)[0]

    _, gradient = _learn._batch_bound(problem, rows, alpha, rng)
    assert_gradient(gradient, central_differences(bound, alpha, 1e-5), 1e-5)


@pytest.mark.parametrize("method", ["dis-r", "dis-v"])
def test_gradients_of_draws_integrate_to_the_change_of_the_mean(method):
    problem = needle(method, n_rows=60, n_voters=3, good=0)
    rows = np.arange(60)
    rng = np.random.default_rng(3)
    low, high, count = 1.0, 4.0, 1000

    def at(first):
        return _learn._batch_bound(problem, rows, np.array([first, 2.0, 2.0]), rng)

    start, end = (np.array([at(first)[0] for _ in range(count)]) for first in (low, high))
    slopes = (high - low) * np.array([at(first)[1][0] for first in rng.uniform(low, high, count)])
    change = end.mean() - start.mean()
    error = math.sqrt((start.var() + end.var() + slopes.var()) / count)
    assert abs(slopes.mean() - change) < 5 * error
    assert abs(change) > 10 * error


@pytest.mark.parametrize("loss", ["half-weight", "plurality"])
@pytest.mark.parametrize("method", ["dis-r", "dis-v"])
def test_lbfgs_ends_below_every_start(method, loss):
    problem = random_problem(method, loss, n_classes=3, n_rows=400, accuracy=0.4)
    near, far = starts_of(problem)
    assert near
    assert far
    final, _ = expected_bound(problem, solve(problem))
    for start in [*near, *far]:
        assert final < expected_bound(problem, problem.parameters(start))[0]


@pytest.mark.parametrize(
    ("problem", "better"),
    [
        (random_problem(n_rows=300, n_voters=20, accuracy=0.3, prior=0.025), "far"),
        (needle(n_rows=100, prior=100.0), "near"),
    ],
    ids=["far", "near"],
)
def test_lbfgs_keeps_the_better_of_its_two_minima(problem, better):
    final, _ = expected_bound(problem, solve(problem))
    ends = {}
    for side, starts in zip(("near", "far"), starts_of(problem), strict=True):
        alpha = _learn.lbfgs(with_starts(problem, starts), np.random.default_rng(0), lambda *_: None)
        ends[side], _ = expected_bound(problem, alpha)
    assert abs(ends["near"] - ends["far"]) > 0.01
    assert min(ends, key=ends.get) == better
    assert final == pytest.approx(ends[better], abs=1e-9)


@pytest.mark.parametrize("method", ["dis-r", "dis-v"])
def test_lbfgs_ends_at_a_stationary_point(method):
    problem = needle(method, n_rows=500, n_voters=10, good=3)
    alpha = solve(problem)
    final, gradient = expected_bound(problem, alpha)
    for factor in (0.8, 1.25):
        for j in range(10):
            moved = alpha.copy()
            moved[j] = problem.floor[j] + factor * (alpha[j] - problem.floor[j])
            assert expected_bound(problem, moved)[0] > final - 1e-5
    assert np.max(np.abs(gradient * (alpha - problem.floor))) < 1e-3


@pytest.mark.parametrize("method", ["dis-r", "dis-v"])
@pytest.mark.parametrize(("solver", "limit"), [("lbfgs", 0.2), ("adam", 0.25)])
def test_solvers_find_the_useful_voter(solver, limit, method):
    problem = needle(method)
    alpha = solve(problem, solver)
    assert int(np.argmax(alpha)) == 17
    value, _ = expected_bound(problem, alpha)
    assert 0.05 < value < limit


def test_lbfgs_finds_the_same_bound_with_binned_votes():
    rng = np.random.default_rng(4)
    bins = rng.integers(0, 6, (500, 3)).astype(np.uint8)
    labels = ((bins[:, 1] > 2) ^ (rng.random(500) < 0.1)).astype(np.intp)
    above = bins[:, :, None] > np.arange(5)
    codes = np.stack([above, ~above], axis=-1).reshape(500, 30).astype(np.uint8)
    bound_of = {}
    for votes in (BinnedVotes(bins, 5), DenseVotes(codes, 2)):
        problem = problem_of(votes, labels)
        alpha = solve(problem)
        assert int(np.argmax(alpha)) == (1 * 5 + 2) * 2
        bound_of[type(votes)] = expected_bound(problem, alpha)[0]
    assert bound_of[BinnedVotes] == pytest.approx(bound_of[DenseVotes], abs=1e-4)
    assert bound_of[BinnedVotes] < 0.25


@pytest.mark.parametrize("prior", [1e-3, 0.5, 20.0])
@pytest.mark.parametrize("solver", ["lbfgs", "adam"])
def test_alpha_stays_above_the_floor_of_dis_v(solver, prior):
    problem = random_problem("dis-v", n_rows=150, n_voters=12, prior=prior)
    alpha = solve(problem, solver)
    assert np.all(np.isfinite(alpha))
    assert np.all(alpha > prior / 3)
    assert np.isfinite(dirichlet.renyi_divergence(alpha, problem.prior, 1.5)[0])


@pytest.mark.parametrize("solver", ["lbfgs", "adam"])
def test_alpha_of_dis_r_is_positive(solver):
    alpha = solve(random_problem("dis-r", n_rows=150, n_voters=12), solver)
    assert np.all((alpha > 0) & np.isfinite(alpha))


@pytest.mark.parametrize("solver", ["lbfgs", "adam"])
def test_the_same_seed_gives_the_same_alpha(solver):
    problem = random_problem(n_rows=150)
    np.testing.assert_array_equal(solve(problem, solver, seed=5), solve(problem, solver, seed=5))


def test_adam_follows_its_seed():
    problem = random_problem(n_rows=150)
    assert not np.array_equal(solve(problem, "adam", seed=5), solve(problem, "adam", seed=6))


def test_solvers_leave_the_hyper_prior_alone():
    problem = random_problem(n_rows=150)
    for solver in SOLVERS:
        solve(problem, solver)
        np.testing.assert_array_equal(problem.prior, np.full(8, 0.5))


def test_the_boosting_path_starts_with_the_useful_voter():
    problem = needle(n_rows=500, n_voters=10, good=3)
    path = _learn._boosting_path(problem.votes, problem.labels)
    assert path
    for weights in path:
        assert weights.sum() == pytest.approx(1.0, abs=1e-12)
        assert np.all(weights >= 0)
        assert int(np.argmax(weights)) == 3


@pytest.mark.parametrize("method", ["dis-r", "dis-v"])
@pytest.mark.parametrize(("risk", "penalty"), [(0.2, 5.0), (0.01, 50.0), (0.9, 0.1)])
def test_derivatives_of_the_bound_in_risk_and_penalty(method, risk, penalty):
    problem = random_problem(method)
    value, in_risk, in_penalty = problem.bound(risk, penalty)
    assert risk < value < 1
    by_risk = (problem.bound(risk + 1e-6, penalty)[0] - problem.bound(risk - 1e-6, penalty)[0]) / 2e-6
    by_penalty = (problem.bound(risk, penalty + 1e-5)[0] - problem.bound(risk, penalty - 1e-5)[0]) / 2e-5
    assert in_risk == pytest.approx(by_risk, rel=1e-5)
    assert in_penalty == pytest.approx(by_penalty, rel=1e-5)


@pytest.mark.parametrize("method", ["dis-r", "dis-v"])
def test_the_bound_has_finite_derivatives_at_its_edges(method):
    problem = random_problem(method)
    for risk, penalty in [(0.0, 0.0), (0.0, 1e4), (1.0, 0.0), (0.3, -1e4)]:
        assert all(math.isfinite(part) for part in problem.bound(risk, penalty)), (risk, penalty)
