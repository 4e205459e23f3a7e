"""How often some statement about a class is wrong, where the truth is known: in at most a share delta of the runs."""

from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier
from worlds import RANGES, grid_world, is_at_most

from certivote import CertifiedVoteClassifier, by_class
from certivote.maths.beta_tail import half_tail
from certivote.methods import METHODS
from certivote.voters import Stumps

DELTA = 0.2
STUMPS = Stumps(n_thresholds=3, ranges=RANGES)
TREES = [DecisionTreeClassifier(max_depth=depth, max_features=1) for depth in (1, 2, 3)]


@dataclass(frozen=True)
class ManyClasses:
    """Cases ``X`` with probabilities ``p``, and in each the probabilities of the classes."""

    X: np.ndarray
    p: np.ndarray
    chances: np.ndarray

    def sample(self, n, rng):
        cases = rng.choice(len(self.p), size=n, p=self.p)
        classes = (rng.random((n, 1)) > np.cumsum(self.chances[cases], axis=1)[:, :-1]).sum(axis=1)
        return self.X[cases], classes

    def answers(self, clf):
        """Probability of each answer in each case."""
        if clf.certificate_.certified != "the random vote":
            return np.eye(self.chances.shape[1])[clf.predict(self.X)]
        one = half_tail(clf.voters_.votes(self.X).masses(clf.weights_)[:, 1], clf.weights_.sum())
        return np.stack([1.0 - one, one], axis=1)

    def some_statement_is_wrong(self, clf):
        answers, joint = self.answers(clf), self.p[:, None] * self.chances
        for entry in clf.certificate_.by_class:
            own = int(entry.label)
            if entry.kind == "error":
                truth = joint[:, own] @ (1.0 - answers[:, own]) / joint[:, own].sum()
            else:
                others = joint.sum(axis=1) - joint[:, own]
                truth = others @ answers[:, own] / others.sum()
            if truth > entry.bound:
                return True
        return False


def two_classes(rng, noise=0.4):
    world = grid_world(noise, rng)
    return ManyClasses(world.X, world.p, np.stack([1.0 - world.positive, world.positive], axis=1))


def three_classes(rng):
    world = grid_world(0.0, rng)
    return ManyClasses(world.X, world.p, rng.dirichlet([1.0, 1.0, 1.0], len(world.p)))


def count(runs, n, make, seed, **options):
    rng = np.random.default_rng(seed)
    world = make(rng)
    wrong = 0
    for _ in range(runs):
        X, y = world.sample(n, rng)
        clf = CertifiedVoteClassifier(delta=DELTA, random_state=int(rng.integers(2**31)), **options).fit(X, y)
        wrong += world.some_statement_is_wrong(clf)
    return wrong


ON_STUMPS = {"voters": STUMPS, "split": "none", "prior": 0.5}


@pytest.mark.parametrize("method", METHODS)
def test_the_statements_about_two_classes_fail_together_at_most_as_often_as_promised(method):
    assert is_at_most(count(15, 40, two_classes, 1, method=method, **ON_STUMPS), 15, DELTA)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    ("method", "split"), [("dis-b", "single"), ("dis-b", "cross"), ("holdout", 3), ("fo", "single")]
)
def test_the_statements_about_three_classes_fail_together_at_most_as_often_as_promised(method, split):
    options = {"method": method, "voters": TREES, "split": split, "prior": 5.0}
    assert is_at_most(count(15, 60, three_classes, 2, **options), 15, DELTA)


@pytest.mark.validity
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("method", METHODS)
def test_coverage_in_many_runs(method):
    runs = 500
    wrong = count(runs, 60, lambda rng: two_classes(rng, 0.5), 3, method=method, **ON_STUMPS)
    print(f"{method:9} two classes, n = 60: {wrong} of {runs}, promised {DELTA:.0%}")
    assert is_at_most(wrong, runs, DELTA)


@pytest.mark.validity
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("split", ["single", "cross", 4])
@pytest.mark.parametrize("method", ["dis-b", "dis-r", "dis-v", "fo", "so", "bin", "holdout"])
def test_coverage_of_three_classes_in_many_runs(method, split):
    runs = 200
    wrong = count(runs, 90, three_classes, 4, method=method, voters=TREES, split=split, prior=5.0)
    print(f"{method:9} three classes, split {split}, n = 90: {wrong} of {runs}, promised {DELTA:.0%}")
    assert is_at_most(wrong, runs, DELTA)


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
    assert is_at_most(count(runs, 600, three_classes, 5, **options), runs, DELTA) is divided
