"""Members of a mixed vote: out of sample, none votes on a row that it has seen."""

import pickle

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from certivote.voters._boosting import Boosting
from certivote.voters._encoding import Encoding
from certivote.voters._machines import Always, Linear
from certivote.voters._members import FoldedMember, NeighbourMember, _on_grid

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


def lines(X, y):
    encoding = scaled(X)
    return Linear.fitted(encoding, LogisticRegression().fit(encoding.transform(X), y))


def boosting(X, y, stages):
    model = HistGradientBoostingClassifier(max_iter=max(stages), max_leaf_nodes=3, early_stopping=False)
    return Boosting.grown(model.fit(X, y), stages)


def test_out_of_sample_votes_are_the_answers_on_record_in_the_order_asked_for():
    answers = np.array([[1, 0], [2, 2], [-1, -1], [0, 1]], dtype=np.int32)
    member = FoldedMember((), (), 2, answers)
    assert member.left_out.tolist() == [True, True, False, True]
    fractions = member.out_of_sample(np.array([3, 0, 1]), 3)
    assert fractions.shape == (3, 2, 3)
    assert np.array_equal(fractions.argmax(axis=2), answers[[3, 0, 1]])
    assert np.array_equal(fractions.sum(axis=2), np.ones((3, 2)))


def test_of_rows_that_all_models_have_seen_nothing_is_said():
    member = FoldedMember((), (), 1, np.array([[0], [-1]], dtype=np.int32))
    with pytest.raises(ValueError, match="only on rows that some training has left out"):
        member.out_of_sample(np.array([0, 1]), 2)
    from_a_file = FoldedMember((), (), 1)
    with pytest.raises(ValueError, match="from a file"):
        _ = from_a_file.left_out
    with pytest.raises(ValueError, match="left out"):
        from_a_file.out_of_sample(np.array([0]), 2)


def test_stages_of_boosting_are_votes_of_their_own():
    X, y = noise(90)
    model = boosting(X, y, (2, 30))
    member = FoldedMember((model,), (np.arange(4),), 2)
    member.check(4, 2)
    votes = member.votes(X)
    assert (member.n_voters, member.groups.tolist()) == (2, [0, 1])
    assert np.array_equal(votes, model.answers(X))
    assert np.any(votes[:, 0] != votes[:, 1])


def test_models_see_their_own_columns():
    """Of older files, in which there are several."""
    X, y = noise(60)
    columns = (np.array([0, 1]), np.array([2]), np.array([1, 3]))
    member = FoldedMember(tuple(lines(X[:, seen], y) for seen in columns), columns, 1)
    member.check(4, 2)
    assert (member.n_voters, member.groups.tolist()) == (3, [0, 0, 0])
    votes = member.votes(X)
    for k, seen in enumerate(columns):
        assert np.array_equal(votes[:, k : k + 1], member.models[k].answers(X[:, seen]))
    with pytest.raises(ValueError, match="column"):
        member.check(3, 2)


def test_members_of_no_model_or_of_other_stages_are_refused():
    X, y = noise(60)
    seen = (np.arange(4),)
    for member in (
        FoldedMember((), (), 1),
        FoldedMember((Always(0, 1),), (), 1),
        FoldedMember((Always(0, 2),), seen, 1),
        FoldedMember((Always(2, 1),), seen, 1),
        FoldedMember((lines(X, y),), seen, 2),
        FoldedMember((Always(0, 0),), seen, 0),
        FoldedMember((Always(0, 999),), seen, 999),
        FoldedMember((Always(0, 1),), (np.array([0, 0]),), 1),
        FoldedMember((Always(0, 1),), (np.array([[0, 1]]),), 1),
    ):
        with pytest.raises(ValueError, match=r"^a (constant )?(member|model)"):
            member.check(4, 2)


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
