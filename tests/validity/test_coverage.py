"""How often a certificate is wrong, where the truth is known: at most delta, and more once a rule is broken."""

from dataclasses import replace

import numpy as np
import pytest
from honest import fit
from planted import Forgetful
from sklearn.tree import DecisionTreeClassifier
from thorough import grid
from worlds import RANGES, count_violations, grid_world, is_at_most

from certivote.pipeline import SOLVERS, Problem
from certivote.theory.bounds import dis_r
from certivote.theory.families import DIRICHLET
from certivote.theory.methods import METHODS
from certivote.theory.risks import count_errors
from certivote.theory.theorems import Setting
from certivote.voters import Stumps
from certivote.votes import fixed_point

STUMPS = Stumps(n_thresholds=4, ranges=RANGES)
TREES = [DecisionTreeClassifier(max_depth=depth, max_features=1) for depth in (1, 2, 3) for _ in range(3)]
VOTERS = {"none": STUMPS, "single": TREES, "cross": TREES}
DELTA = 0.2


def honest(method, split):
    options = {"method": method, "voters": VOTERS[split], "split": split, "delta": DELTA, "prior": 0.5}
    return lambda X, y, seed: fit(X, y, seed, **options)


@pytest.mark.filterwarnings("ignore::UserWarning")
@grid(strength=1, method=METHODS, split=VOTERS)
def test_a_certificate_fails_at_most_as_often_as_promised(method, split):
    # A look at each method; the study counts what the page on validity shows, all methods in all splits.
    violations = count_violations(12, 40, 0.3, 1, honest(method, split))
    assert is_at_most(violations, 12, DELTA)


@pytest.mark.parametrize("method", ["dis-r", "smv-exact", "holdout"])
def test_voters_trained_on_the_certification_rows_are_caught(method):
    def careless(X, y, seed):
        voters = [DecisionTreeClassifier(random_state=k).fit(X, y) for k in range(3)]
        return fit(X, y, seed, method=method, voters=voters, split="none", delta=DELTA, prior=0.5)

    violations = count_violations(20, 40, 0.5, 4, careless)
    assert not is_at_most(violations, 20, DELTA)


def test_a_forgotten_confidence_is_caught(monkeypatch):
    monkeypatch.setitem(METHODS, "holdout", replace(METHODS["holdout"], theorem=Forgetful()))
    violations = count_violations(100, 40, 0.3, 5, honest("holdout", "none"))
    assert not is_at_most(violations, 100, DELTA)


def drawn_bound(world, n, delta, draws, rng):
    """Smallest theorem-6 bound of several draws from one learned hyper-posterior, and the true risk of that draw."""
    X, y = world.sample(n, rng)
    voters = STUMPS.fit(None, None, np.array([0, 1]), rng)
    votes, everywhere = voters.votes(X), voters.votes(world.X)
    beta = np.full(voters.n_voters, 0.5)
    problem = Problem(votes, y, "plurality", beta, DIRICHLET, METHODS["dis-r"], Setting(delta, 1.5, "exact"))
    alpha = SOLVERS["lbfgs"](problem, rng, lambda *_: None)
    outcomes = []
    for _ in range(draws):
        draw = DIRICHLET.draw(alpha, rng)
        weights = fixed_point(draw.log_weights)
        errors = count_errors(votes.masses(weights), y, "plurality")
        bound = dis_r(errors / n, DIRICHLET.log_ratio(alpha, beta, draw.point), n, delta, "exact")
        outcomes.append((bound, world.risk_of_answers(everywhere.masses(weights).argmax(axis=1))))
    return min(outcomes)


@pytest.mark.parametrize(("draws", "holds"), [(1, True), (200, False)])
def test_choosing_the_best_of_many_draws_for_free_is_caught(draws, holds):
    rng = np.random.default_rng(3)
    world = grid_world(0.5, rng)
    outcomes = [drawn_bound(world, 8, DELTA, draws, rng) for _ in range(20)]
    violations = sum(risk > bound for bound, risk in outcomes)
    assert is_at_most(violations, 20, DELTA) is holds
