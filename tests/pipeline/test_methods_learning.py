"""What each method trains on: its objective, the gradient of that, and what the solvers make of it."""

import math

import numpy as np
import pytest
from auditor import MULTIPLE, maurer
from fits import CERTIFIED, DELTA
from scipy import stats

from certivote.pipeline import _learn
from certivote.pipeline._learn import SOLVERS, Problem
from certivote.theory.methods import METHODS
from certivote.theory.theorems import Setting
from certivote.votes import DenseVotes


def random_problem(method, loss="half-weight", n_classes=2, n_rows=300, n_voters=8, accuracy=0.5):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, n_classes, n_rows)
    codes = rng.integers(0, n_classes, (n_rows, n_voters))
    right = rng.random((n_rows, n_voters)) < accuracy * np.linspace(0.5, 1.5, n_voters)
    votes = DenseVotes(np.where(right, labels[:, None], codes).astype(np.uint8), n_classes)
    row = METHODS[method]
    prior = row.family.prior(np.linspace(0.3, 0.7, n_voters))
    return Problem(votes, labels, loss, prior, row.family, row, Setting(DELTA, 1.5, "paper"))


def full_bound(problem):
    """The training objective with the method's own risk on all rows, as a function of the parameters."""
    risk = problem.risk(problem.votes, problem.labels)
    return lambda parameters: _learn._expected_bound(problem, risk, parameters)


@pytest.mark.parametrize("accuracy", [0.3, 0.6])
@pytest.mark.parametrize("method", ["fo", "so", "bin", "smv-exact"])
def test_lbfgs_is_at_least_as_good_as_adam(method, accuracy):
    problem = random_problem(method, n_rows=500, n_voters=20, accuracy=accuracy)
    bound = full_bound(problem)
    value = {
        name: bound(solver(problem, np.random.default_rng(0), lambda *_: None))[0] for name, solver in SOLVERS.items()
    }
    start = bound(problem.prior)[0]
    assert value["lbfgs"] <= 1.02 * value["adam"]
    assert value["lbfgs"] < start
    assert value["adam"] < 1.02 * start


LEARNING = [name for name in CERTIFIED if name != "holdout"]
CASES = [("half-weight", 2, 0.5), ("half-weight", 4, 0.5), ("plurality", 4, 0.4), ("half-weight", 2, 0.0)]


@pytest.mark.parametrize(("loss", "n_classes", "accuracy"), CASES)
@pytest.mark.parametrize("method", LEARNING)
def test_gradient_of_the_training_objective_in_x(method, loss, n_classes, accuracy):
    problem = random_problem(method, loss, n_classes, accuracy=accuracy)
    risk = _learn._full_batch_risk(problem, np.random.default_rng(1))
    for seed, shift in [(2, 0.0), (3, 1.5)]:
        x = shift + np.random.default_rng(seed).uniform(-1.0, 1.0, 8)

        def objective(x):
            return _learn._expected_bound(problem, risk, problem.parameters(x))

        _, gradient = objective(x)
        steps = 2e-4 * np.eye(8)
        expected = np.array([(objective(x + h)[0] - objective(x - h)[0]) / 4e-4 for h in steps])
        assert np.max(np.abs(expected)) > 1e-4
        # The expected risk of a Dirichlet is looked up in a table, whose slope has fewer digits.
        tolerance = 1e-3 if problem.family.over_weights and method != "smv-mc" else 1e-5
        np.testing.assert_allclose(
            problem.chain(x, gradient), expected, rtol=0, atol=tolerance * np.max(np.abs(expected))
        )


@pytest.mark.parametrize("method", ["fo", "so", "bin", "c-bound", "smv-exact"])
def test_gradient_of_a_batch_in_x(method):
    problem = random_problem(method)
    rows, rng = np.arange(40, 120), np.random.default_rng(4)
    x = rng.uniform(-1.0, 1.0, 8)

    def objective(x):
        return _learn._batch_bound(problem, rows, problem.parameters(x), rng)

    steps = 2e-4 * np.eye(8)
    expected = np.array([(objective(x + h)[0] - objective(x - h)[0]) / 4e-4 for h in steps])
    assert np.max(np.abs(expected)) > 1e-4
    np.testing.assert_allclose(
        problem.chain(x, objective(x)[1]), expected, rtol=0, atol=1e-3 * np.max(np.abs(expected))
    )


def test_the_c_bound_is_trained_on_both_sides_of_where_it_applies():
    applies, flat = (full_bound(random_problem("c-bound", accuracy=accuracy)) for accuracy in (0.9, 0.0))
    uniform = np.full(8, 1 / 8)
    assert applies(uniform)[0] < 1 < flat(uniform)[0]


@pytest.mark.parametrize("method", LEARNING)
def test_parameters_are_feasible_whatever_x_is(method):
    problem = random_problem(method)
    rng = np.random.default_rng(5)
    for _ in range(20):
        parameters = problem.parameters(rng.uniform(-14, 14, 8))
        assert np.all(parameters > problem.floor)
        value, gradient = problem.method.theorem.penalty(problem.family, parameters, problem.prior, problem.setting)
        assert 0 <= value < math.inf
        assert np.all(np.isfinite(gradient))
        if problem.family.name == "categorical":
            assert parameters.sum() == pytest.approx(1.0, abs=1e-14)


@pytest.mark.parametrize("method", ["fo", "so", "bin", "c-bound"])
def test_penalties_of_the_surrogates_are_multiples_of_one_divergence(method):
    problem = random_problem(method)
    weights = np.random.default_rng(6).dirichlet(np.ones(8))
    value, _ = problem.method.theorem.penalty(problem.family, weights, problem.prior, problem.setting)
    assert value == pytest.approx(MULTIPLE[method] * stats.entropy(weights, problem.prior), rel=1e-12)


@pytest.mark.parametrize("constant", ["paper", "exact"])
@pytest.mark.parametrize("method", CERTIFIED)
def test_confidence_of_each_method_against_its_theorem(method, constant):
    got = METHODS[method].theorem.confidence(2000, Setting(0.05, 3.0, constant))
    root = math.log(2 * math.sqrt(2000) if constant == "paper" else maurer(2000))
    ratio = root - math.log(0.05)
    first = 0.5 if constant == "paper" else 3 / 5
    expected = {
        "dis-v": 1.5 * math.log(1 / (0.05 * first)) + math.log(1 / (0.05 * (1 - first))) + root,
        "c-bound": ratio + math.log(2),
        "holdout": -math.log(0.05),
        "dis-b": -math.log(0.05),
    }
    assert got == pytest.approx(expected.get(method, ratio), rel=1e-13)
