"""How often some statement about a class is wrong, where the truth is known: in at most a share delta of the runs."""

import numpy as np
import pytest
from honest import fit
from sklearn.tree import DecisionTreeClassifier
from worlds import RANGES, grid_world, is_at_most

from certivote.theory.methods import METHODS
from certivote.voters import Stumps

DELTA = 0.2
STUMPS = Stumps(n_thresholds=3, ranges=RANGES)
TREES = [DecisionTreeClassifier(max_depth=depth, max_features=1) for depth in (1, 2, 3)]


def count(runs, n, classes, seed, delta=DELTA, **options):
    rng = np.random.default_rng(seed)
    world = grid_world(0.4 if classes == 2 else 0.5, rng, classes)
    wrong = 0
    for _ in range(runs):
        X, y = world.sample(n, rng)
        bound, truth = world.worst_statement(fit(X, y, int(rng.integers(2**31)), delta=delta, **options))
        wrong += truth > bound
    return wrong


ON_STUMPS = {"voters": STUMPS, "split": "none", "prior": 0.5}


@pytest.mark.parametrize("method", METHODS)
def test_the_statements_about_two_classes_fail_together_at_most_as_often_as_promised(method):
    assert is_at_most(count(15, 40, 2, 1, method=method, **ON_STUMPS), 15, DELTA)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    ("method", "split"), [("dis-b", "single"), ("dis-b", "cross"), ("holdout", 3), ("fo", "single")]
)
def test_the_statements_about_three_classes_fail_together_at_most_as_often_as_promised(method, split):
    options = {"method": method, "voters": TREES, "split": split, "prior": 5.0}
    assert is_at_most(count(15, 60, 3, 2, **options), 15, DELTA)


# A planted bug


@pytest.mark.parametrize("divided", [True, False])
def test_a_delta_that_is_not_divided_is_caught(divided):
    runs, promised, statements = 80, 0.1, 6
    options = {"method": "holdout", "voters": TREES, "split": "single"}
    delta = promised if divided else statements * promised  # each statement at the level of all
    assert is_at_most(count(runs, 600, 3, 5, delta, **options), runs, promised) is divided
