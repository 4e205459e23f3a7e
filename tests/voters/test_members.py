"""Members of a mixed vote: out of sample, none votes on a row that it has seen."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from certivote.voters._members import FoldedMember, NeighbourMember

pytestmark = pytest.mark.filterwarnings("error")


def rng(seed=0):
    return np.random.default_rng(seed)


def noise(n=150, n_classes=2, seed=0):
    source = rng(seed)
    return source.normal(size=(n, 4)), source.integers(n_classes, size=n)


def accuracies(fractions, labels):
    """Of each group."""
    return np.mean(fractions.argmax(axis=2) == labels[:, None], axis=0)


def scaled(X):
    return StandardScaler().fit(X)


@pytest.mark.parametrize(
    ("template", "stages"),
    [
        (DecisionTreeClassifier(random_state=0), ()),
        (make_pipeline(StandardScaler(), SVC(C=1e6, gamma=50.0)), ()),
        (HistGradientBoostingClassifier(max_iter=60, min_samples_leaf=1, early_stopping=False), (20, 60)),
    ],
)
def test_models_that_learned_noise_by_heart_are_no_better_than_chance_out_of_sample(template, stages):
    X, y = noise()
    folds = rng().permutation(150) % 3
    member = FoldedMember(template, X, y, folds, stages)
    fractions = member.out_of_sample(X, np.arange(150), 2)
    assert fractions.shape == (150, max(len(stages), 1), 2)
    assert np.all(accuracies(fractions, y) < 0.65)
    assert np.all(accuracies(fractions, y) > 0.35)
    votes = member.votes(X)
    for k in range(3):
        for stage in range(member.n_groups):
            voter = k * member.n_groups + stage
            assert member.groups[voter] == stage
            known = folds != k
            assert np.mean(votes[known, voter] == y[known]) > 0.9  # it knows what it was fitted on
            # And out of sample, a row is answered by the model of its own fold.
            assert np.array_equal(fractions[~known, stage].argmax(axis=1), votes[~known, voter])


def test_out_of_sample_votes_are_given_in_the_order_asked_for():
    X, y = noise(60)
    member = FoldedMember(DecisionTreeClassifier(random_state=0), X, y, np.arange(60) % 3)
    rows = np.array([17, 3, 59, 4])
    assert np.array_equal(member.out_of_sample(X, rows, 2), member.out_of_sample(X, np.arange(60), 2)[rows])


def test_stages_of_boosting_are_votes_of_their_own():
    X, y = noise(90)
    model = HistGradientBoostingClassifier(max_iter=30, min_samples_leaf=2, early_stopping=False)
    member = FoldedMember(model, X, y, np.arange(90) % 2, (2, 30))
    votes = member.votes(X)
    for k, fitted in enumerate(member.models):
        staged = list(fitted.staged_predict(X))
        assert np.array_equal(votes[:, 2 * k], staged[1])
        assert np.array_equal(votes[:, 2 * k + 1], staged[29])
    assert np.any(votes[:, 0] != votes[:, 1])


def test_a_fold_that_sees_one_class_votes_for_it():
    X, y = noise(30)
    y[:] = 1
    y[:3] = 0
    folds = np.repeat(np.arange(3), 10)
    member = FoldedMember(DecisionTreeClassifier(), X, y, folds)
    assert isinstance(member.models[0], DummyClassifier)
    assert np.all(member.votes(X)[:, 0] == 1)
    assert member.out_of_sample(X, np.arange(3), 2)[:, 0, 0].sum() == 0


@pytest.mark.parametrize("copies", [1, 2, 40])
def test_neighbours_that_know_the_noise_by_heart_are_no_better_than_chance_out_of_sample(copies):
    X, _ = noise(240 // copies)
    X = np.repeat(X, copies, axis=0)
    y = rng(1).integers(2, size=240)  # copies have labels of their own
    member = NeighbourMember(scaled(X), X, y, np.arange(240))
    fractions = member.out_of_sample(X, np.arange(240), 2)
    assert fractions.shape == (240, 3, 2)
    assert np.all(np.abs(accuracies(fractions, y) - 0.5) < 0.17)
    if copies == 1:
        assert np.mean(member.votes(X)[:, 0] == y) == 1.0


@pytest.mark.parametrize(("n", "copies"), [(40, 1), (40, 4), (60, 30), (9, 1), (16, 1), (17, 17), (2, 1)])
def test_no_row_is_its_own_neighbour(n, copies, monkeypatch):
    X, y = noise(n)
    X = np.repeat(X[: max(n // copies, 1)], copies, axis=0)[:n]
    y = y[: len(X)]
    member = NeighbourMember(scaled(X), X, y, np.arange(len(X)))
    polled = []
    original = member._poll
    monkeypatch.setattr(member, "_poll", lambda found: polled.append(found) or original(found))
    rows = rng().permutation(len(X))
    member.out_of_sample(X, rows, 2)
    (found,) = polled
    assert found.shape == (len(X), min(15, len(X) - 1))
    assert not np.any(found == rows[:, None])
    assert all(len(set(row)) == len(row) for row in found.tolist())


def test_rows_that_are_not_remembered_have_all_neighbours():
    X, y = noise(60)
    remembered = np.arange(0, 60, 2)
    member = NeighbourMember(scaled(X), X, y, remembered)
    votes = member.votes(X)
    fractions = member.out_of_sample(X, np.arange(60), 2).argmax(axis=2)
    assert np.array_equal(fractions[1::2], votes[1::2])
    assert np.array_equal(votes[::2, 0], y[::2])
    assert not np.array_equal(fractions[::2, 0], y[::2])


def test_neighbours_vote_by_plurality_among_the_nearest():
    X = np.arange(20, dtype=float)[:, None]
    y = np.array([2] + [0] * 4 + [1] * 15)
    member = NeighbourMember(scaled(X), X, y, np.arange(20))
    assert member.votes(np.array([[-1.0]])).tolist() == [[2, 0, 1]]
