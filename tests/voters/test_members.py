"""Members of a mixed vote: out of sample, none votes on a row that it has seen."""

import pickle
from functools import partial

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.svm import SVC

from certivote.voters._boosting import Boosting
from certivote.voters._encoding import Encoding
from certivote.voters._machines import Always, KernelPairs
from certivote.voters._members import NeighbourMember, _on_grid, fit_folds

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
    return Encoding.fitted(X, np.arange(0))


def support_vectors(X, y, entities=None):
    encoding = scaled(X)
    return KernelPairs.fitted(encoding, SVC(C=1e6, gamma=50.0).fit(encoding.transform(X), y), 50.0)


def boosting(stages, X, y, entities=None, leaves=31):
    model = HistGradientBoostingClassifier(
        max_iter=max(stages), min_samples_leaf=1, max_leaf_nodes=leaves, early_stopping=False
    )
    return Boosting.grown(model.fit(X, y), stages)


@pytest.mark.parametrize(("train", "n_stages"), [(support_vectors, 1), (partial(boosting, (20, 60)), 2)])
def test_models_that_learned_noise_by_heart_are_no_better_than_chance_out_of_sample(train, n_stages):
    X, y = noise()
    folds = rng().permutation(150) % 3
    member = fit_folds(train, X, y, folds, n_stages)
    fractions = member.out_of_sample(X, np.arange(150), 2)
    assert fractions.shape == (150, n_stages, 2)
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
    member = fit_folds(support_vectors, X, y, np.arange(60) % 3)
    rows = np.array([17, 3, 59, 4])
    assert np.array_equal(member.out_of_sample(X, rows, 2), member.out_of_sample(X, np.arange(60), 2)[rows])


def test_stages_of_boosting_are_votes_of_their_own():
    X, y = noise(90)
    member = fit_folds(partial(boosting, (2, 30), leaves=3), X, y, np.arange(90) % 2, 2)
    votes = member.votes(X)
    for k, fitted in enumerate(member.models):
        assert np.array_equal(votes[:, 2 * k : 2 * k + 2], fitted.answers(X))
    assert np.any(votes[:, 0] != votes[:, 1])


def test_a_fold_that_sees_one_class_votes_for_it():
    X, y = noise(30)
    y[:] = 1
    y[:3] = 0
    folds = np.repeat(np.arange(3), 10)
    member = fit_folds(support_vectors, X, y, folds)
    assert isinstance(member.models[0], Always)
    assert np.all(member.votes(X)[:, 0] == 1)
    assert member.out_of_sample(X, np.arange(3), 2)[:, 0, 0].sum() == 0


def test_models_see_their_own_columns():
    X, y = noise(60)
    columns = [np.array([0, 1]), np.array([2]), np.array([1, 3])]
    member = fit_folds(support_vectors, X, y, np.arange(60) % 3, columns=columns)
    member.check(4, 2)
    votes = member.votes(X)
    for k, seen in enumerate(columns):
        assert np.array_equal(votes[:, k : k + 1], member.models[k].answers(X[:, seen]))
    with pytest.raises(ValueError, match="column"):
        member.check(3, 2)


@pytest.mark.parametrize("copies", [1, 2, 40])
def test_neighbours_that_know_the_noise_by_heart_are_no_better_than_chance_out_of_sample(copies):
    X, _ = noise(240 // copies)
    X = np.repeat(X, copies, axis=0)
    y = rng(1).integers(2, size=240)  # copies have labels of their own
    member = NeighbourMember.fitted(scaled(X), X, y, np.arange(240))
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
    member = NeighbourMember.fitted(scaled(X), X, y, np.arange(len(X)))
    polled = []
    original = NeighbourMember._poll
    monkeypatch.setattr(NeighbourMember, "_poll", lambda self, found: polled.append(found) or original(self, found))
    rows = rng().permutation(len(X))
    member.out_of_sample(X, rows, 2)
    (found,) = polled
    assert found.shape == (len(X), min(15, len(X) - 1))
    assert not np.any(found == rows[:, None])
    assert all(len(set(row)) == len(row) for row in found.tolist())


def test_rows_that_are_not_remembered_have_all_neighbours():
    X, y = noise(60)
    remembered = np.arange(0, 60, 2)
    member = NeighbourMember.fitted(scaled(X), X, y, remembered)
    votes = member.votes(X)
    fractions = member.out_of_sample(X, np.arange(60), 2).argmax(axis=2)
    assert np.array_equal(fractions[1::2], votes[1::2])
    assert np.array_equal(votes[::2, 0], y[::2])
    assert not np.array_equal(fractions[::2, 0], y[::2])


def test_neighbours_vote_by_plurality_among_the_nearest():
    X = np.arange(20, dtype=float)[:, None]
    y = np.array([2] + [0] * 4 + [1] * 15)
    member = NeighbourMember.fitted(scaled(X), X, y, np.arange(20))
    assert member.votes(np.array([[-1.0]])).tolist() == [[2, 0, 1]]


@pytest.mark.parametrize("width", [1, 3, 20, 130])
@pytest.mark.parametrize("kind", ["truth values", "few levels", "copies", "measurements"])
def test_of_points_at_one_distance_the_first_count(width, kind):
    """Beside a search by hand, in which ties are as they are in the data."""
    source = rng(width)
    X = {
        "truth values": source.integers(2, size=(300, width)).astype(float),
        "few levels": source.integers(4, size=(300, width)) * 0.3,
        "copies": np.repeat(source.normal(size=(10, width)), 30, axis=0),
        "measurements": source.normal(size=(300, width)),
    }[kind]
    y = source.integers(3, size=300)
    member = NeighbourMember.fitted(scaled(X), X, y, np.arange(200))
    member.check(width, 3)
    rows = _on_grid(member.encoding, X)
    distances = np.square(rows[:, None, :] - member.points[None].astype(float)).sum(axis=2)
    assert distances.max() < 2**47
    assert np.array_equal(distances, np.rint(distances))
    for count in (15, 16):
        expected = np.argsort(distances, axis=1, kind="stable")[:, :count]
        assert np.array_equal(member._nearest(rows, count), expected)


def test_neighbours_far_away_and_pickled_ones_vote_too():
    X, y = noise(40)
    X[0] = 1e9
    member = NeighbourMember.fitted(scaled(X), X, y, np.arange(40))
    member.check(4, 2)
    votes = member.votes(X)
    again = pickle.loads(pickle.dumps(member))
    assert "_search" not in vars(again)
    assert np.array_equal(again.votes(X), votes)
    assert member.votes(X[:0]).shape == (0, 3)


def test_models_are_told_the_entities_of_the_rows_they_see():
    X, y = noise(60)
    entities, told = np.arange(60) // 6, []

    def train(rows, labels, whose):
        told.append((rows, whose))
        return support_vectors(rows, labels)

    folds = entities % 3
    fit_folds(train, X, y, folds, entities=entities)
    for k, (rows, whose) in enumerate(told):
        assert np.array_equal(rows, X[folds != k])
        assert np.array_equal(whose, entities[folds != k])
    fit_folds(train, X, y, folds)
    assert told[-1][1] is None


def test_out_of_sample_neighbours_are_all_of_other_folds_beside_a_search_by_hand():
    X, y = noise(90, n_classes=3)
    folds, remembered = rng(1).integers(4, size=90), np.sort(rng(2).permutation(90)[:70])
    member = NeighbourMember.fitted(scaled(X), X, y, remembered, folds)
    asked = rng(3).permutation(90)[:40]
    fractions = member.out_of_sample(X, asked, 3)
    place = _on_grid(member.encoding, X)
    for row, fraction in zip(asked, fractions, strict=True):
        others = remembered[folds[remembered] != folds[row]]
        nearest = others[np.argsort(np.square(place[others] - place[row]).sum(axis=1), kind="stable")]
        expected = [np.bincount(y[nearest[:size]], minlength=3).argmax() for size in (1, 5, 15)]
        assert np.array_equal(fraction, np.eye(3)[expected])


def test_a_row_without_neighbours_in_other_folds_gets_no_opinion():
    X, y = noise(30)
    folds = np.array([0] * 25 + [1] * 5)
    fractions = NeighbourMember.fitted(scaled(X), X, y, np.arange(25), folds).out_of_sample(X, np.arange(30), 2)
    assert np.all(fractions[:25] == 0.5)
    assert np.all(fractions[25:].max(axis=2) == 1.0)
