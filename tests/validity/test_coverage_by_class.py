"""How often some statement about a class is wrong, where the truth is known: in at most a share delta of the runs."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier
from worlds import RANGES, grid_world, is_at_most

from certivote import CertifiedVoteClassifier, by_class
from certivote.methods import METHODS
from certivote.voters import Stumps

DELTA = 0.2
STUMPS = Stumps(n_thresholds=3, ranges=RANGES)
TREES = [DecisionTreeClassifier(max_depth=depth, max_features=1) for depth in (1, 2, 3)]


def count(runs, n, classes, seed, **options):
    rng = np.random.default_rng(seed)
    world = grid_world(0.4 if classes == 2 else 0.5, rng, classes)
    wrong = 0
    for _ in range(runs):
        X, y = world.sample(n, rng)
        clf = CertifiedVoteClassifier(delta=DELTA, random_state=int(rng.integers(2**31)), **options).fit(X, y)
        bound, truth = world.worst_statement(clf)
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


class Undivided(list):
    """Statements that do not share delta."""

    def __len__(self):
        return 1


@pytest.mark.parametrize("divided", [True, False])
def test_a_delta_that_is_not_divided_is_caught(divided, monkeypatch):
    if not divided:
        honest = by_class._statements
        monkeypatch.setattr(by_class, "_statements", lambda hearing: Undivided(honest(hearing)))
    runs = 80
    options = {"method": "holdout", "voters": TREES, "split": "single"}
    assert is_at_most(count(runs, 600, 3, 5, **options), runs, DELTA) is divided
