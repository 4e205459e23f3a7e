"""Votes of a model that knows how sure it is: as many for each class as its probability asks for."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from certivote.voters._ballots import _MASSES, BALLOTS, ballots, staged_ballots
from certivote.voters._boosting import Boosting
from certivote.voters._machines import Always
from certivote.voters._members import FoldedMember

pytestmark = pytest.mark.filterwarnings("error")


def shares(codes, n_classes):
    return np.stack([np.mean(codes == code, axis=1) for code in range(n_classes)], axis=1)


@pytest.mark.parametrize("n_classes", [2, 3, 7])
@pytest.mark.parametrize("count", [1, 5, 9, 500])
def test_shares_are_those_of_the_probabilities_up_to_rounding(n_classes, count):
    scores = np.random.default_rng(n_classes).normal(scale=2.0, size=(300, n_classes))
    given = scores if n_classes > 2 else scores[:, 1:] - scores[:, :1]
    masses = np.exp(scores - scores.max(axis=1, keepdims=True))
    masses /= masses.sum(axis=1, keepdims=True)
    found = np.cumsum(shares(ballots(given, count), n_classes), axis=1)
    assert np.all(np.abs(found - np.cumsum(masses, axis=1)) <= 0.5 / count + 1.0 / 64)


def test_of_two_classes_the_likelier_one_has_more_ballots():
    scores = np.random.default_rng(0).normal(size=(500, 1))
    scores = scores[np.abs(scores[:, 0]) > 1.0 / 64]
    assert BALLOTS % 2
    assert np.array_equal(np.mean(ballots(scores, BALLOTS), axis=1) > 0.5, scores[:, 0] > 0)


def test_no_entry_of_the_table_is_near_a_half():
    """Exponentials differ in their last digits from machine to machine; what they round to does not."""
    exact = 2.0**20 * np.exp(-np.arange(len(_MASSES)) / 64)
    assert np.min(np.abs(exact - np.floor(exact) - 0.5)) > 1e-6


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e308, -1e308])
def test_scores_that_are_no_numbers_give_votes_all_the_same(value):
    for scores in (np.array([[value]]), np.array([[value, 0.0, 1.0]]), np.full((1, 3), value)):
        found = ballots(scores, 9)
        assert np.all((found >= 0) & (found <= 2))


def member(n_classes):
    source = np.random.default_rng(0)
    X, y = source.normal(size=(200, 4)), source.integers(n_classes, size=200)
    model = HistGradientBoostingClassifier(max_iter=12, early_stopping=False).fit(X, y)
    columns = np.arange(4)
    return X, FoldedMember((Boosting.grown(model, (3, 12)), Always(1, 2)), (columns, columns), 2, n_ballots=9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_ballots_of_a_member_are_those_of_the_scores_of_each_stage(n_classes):
    X, own = member(n_classes)
    own.check(4, n_classes)
    votes = own.votes(X)
    assert votes.shape == (200, own.n_voters) == (200, 36)
    assert own.groups.tolist() == [*[0] * 9, *[1] * 9] * 2
    for rows, stage, scores in own.models[0].scores(X):
        first = 9 * [3, 12].index(stage)
        assert np.array_equal(votes[rows, first : first + 9], ballots(scores, 9))
    assert np.all(votes[:, 18:] == 1)
    assert np.array_equal(np.concatenate([own.votes(X[:7]), own.votes(X[7:])]), votes)
    assert np.array_equal(staged_ballots(own.models[0], X, 9), votes[:, :18])


@pytest.mark.parametrize("wanted", [[0], [8, 9], [17], [20], [3, 30]])
def test_a_stage_whose_ballots_are_not_asked_for_goes(wanted):
    X, own = member(2)
    few, kept = own.only(np.array(wanted))
    few.check(4, 2)
    assert set(wanted) <= set(kept.tolist())
    assert np.array_equal(few.votes(X), own.votes(X)[:, kept])


def test_out_of_sample_a_stage_gives_each_class_its_share_of_the_ballots():
    unseen = np.array([[0, 0, 1, 2, 2, 2], [-1] * 6], dtype=np.int32)
    own = FoldedMember((), (), 2, unseen, 3)
    third = 1.0 / 3.0
    assert np.allclose(own.out_of_sample(np.array([0]), 3), [[[2 * third, third, 0.0], [0.0, 0.0, 1.0]]])


@pytest.mark.parametrize("count", [0, -1, 65, 1 << 40])
def test_more_ballots_than_any_model_has_are_refused(count):
    with pytest.raises(ValueError, match="another number of votes"):
        FoldedMember((Always(0, 1),), (np.arange(4),), 1, n_ballots=count).check(4, 2)
