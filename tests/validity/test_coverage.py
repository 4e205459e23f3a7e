"""How often a certificate is wrong, where the truth is known: at most delta, and more once a rule is broken."""

import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

sys.path.insert(0, str(Path(__file__).parent))
from worlds import RANGES, grid_world, is_at_most

from certivote import CertifiedVoteClassifier
from certivote.bounds import dis_r
from certivote.learn import SOLVERS, Problem
from certivote.maths import dirichlet
from certivote.methods import METHODS, Setting
from certivote.risks import count_errors
from certivote.voters import Stumps
from certivote.votes import fixed_point

STUMPS = Stumps(n_thresholds=4, ranges=RANGES)
TREES = [DecisionTreeClassifier(max_depth=depth, max_features=1) for depth in (1, 2, 3) for _ in range(3)]
SETTINGS = [
    ("dis-r", STUMPS, "none", "half-weight"),
    ("dis-v", STUMPS, "none", "half-weight"),
    ("dis-r", TREES, "single", "plurality"),
    ("dis-v", TREES, "single", "plurality"),
    ("dis-r", TREES, "cross", "plurality"),
    ("dis-v", TREES, "cross", "plurality"),
]


def count_violations(runs, n, noise, delta, seed, **parameters):
    """Runs in which the true risk exceeds the certificate's bound, or with two votes, their average risk its bound."""
    rng = np.random.default_rng(seed)
    world = grid_world(noise, rng)
    violations = 0
    for _ in range(runs):
        X, y = world.sample(n, rng)
        clf = CertifiedVoteClassifier(
            delta=delta, constant="exact", random_state=int(rng.integers(2**31)), **parameters
        )
        clf.fit(X, y)
        violations += world.risk(clf.predict) > clf.certificate_.bound
    return violations


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("method", "voters", "split", "loss"), SETTINGS)
def test_a_certificate_fails_at_most_as_often_as_promised(method, voters, split, loss):
    violations = count_violations(60, 60, 0.3, 0.2, 1, method=method, voters=voters, split=split, loss=loss)
    assert is_at_most(violations, 60, 0.2)


@pytest.mark.validity
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("solver", ["lbfgs", "adam"])
@pytest.mark.parametrize("noise", [0.1, 0.5])
@pytest.mark.parametrize(("method", "voters", "split", "loss"), SETTINGS)
def test_coverage_in_many_runs(method, voters, split, loss, noise, solver):
    runs = 2000 if solver == "lbfgs" else 300
    violations = count_violations(
        runs, 40, noise, 0.2, 2, method=method, voters=voters, split=split, loss=loss, solver=solver
    )
    print(
        f"{method:6} {split:7} {loss:12} {solver:6} noise {noise}: {violations} violations in {runs} runs, promise 20 %"
    )
    assert is_at_most(violations, runs, 0.2)


def drawn_bound(world, n, delta, draws, rng):
    """Smallest theorem-6 bound of several draws from one learned hyper-posterior, and the true risk of that draw."""
    X, y = world.sample(n, rng)
    taught = STUMPS.teach(None, None, np.array([0, 1]), rng)
    votes, everywhere = taught.votes(X), taught.votes(world.X)
    beta = np.full(taught.n_voters, 0.5)
    method, setting = METHODS["dis-r"], Setting(delta, 1.5, "exact")
    alpha = SOLVERS["lbfgs"](Problem(votes, y, "plurality", beta, method, setting), rng, lambda: None)
    outcomes = []
    for _ in range(draws):
        log_weights, _, _ = dirichlet.draw(alpha, rng)
        weights = fixed_point(log_weights)
        errors = count_errors(votes.masses(weights), y, "plurality")
        bound = dis_r(errors / n, method.penalty(alpha, beta, log_weights, setting), n, delta, "exact")
        outcomes.append((bound, world.risk(lambda _, w=weights: everywhere.masses(w).argmax(axis=1))))
    return min(outcomes)


@pytest.mark.parametrize(("draws", "holds"), [(1, True), (500, False)])
def test_choosing_the_best_of_many_draws_for_free_is_caught(draws, holds):
    rng = np.random.default_rng(3)
    world = grid_world(0.5, rng)
    outcomes = [drawn_bound(world, 20, 0.05, draws, rng) for _ in range(100)]
    violations = sum(risk > bound for bound, risk in outcomes)
    assert is_at_most(violations, 100, 0.05) is holds
