"""Weights learned from out-of-sample votes on training rows."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from certivote import CertifiedVoteClassifier
from certivote.maths.streams import stream
from certivote.pipeline import _priors
from certivote.pipeline._priors import informed_weights, unseen_weights
from certivote.splits import Single
from certivote.voters import OutOfSampleVotes
from certivote.votes import build_votes


def rng(seed=0):
    return np.random.default_rng(seed)


class OutOfSampleRows:
    """Voters with given out-of-sample votes."""

    def __init__(self, fractions, groups):
        self.fractions, self.groups, self.asked = fractions, np.asarray(groups), None
        self.n_voters = len(groups)

    def out_of_sample(self, X, y, rows):
        self.asked = rows
        return OutOfSampleVotes(build_votes(fractions=self.fractions[rows]), self.groups)


def unseen_votes(errors, groups, n=400, n_classes=2, seed=0):
    """Groups that err with these probabilities, and the labels."""
    source = rng(seed)
    y = source.integers(n_classes, size=n)
    wrong = source.random((n, len(errors))) < errors
    codes = np.where(wrong, (y[:, None] + source.integers(1, n_classes, size=wrong.shape)) % n_classes, y[:, None])
    return OutOfSampleRows(np.eye(n_classes)[codes], groups), y


@pytest.mark.parametrize("loss", ["plurality", "half-weight"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_informed_weights_prefer_the_good_group(loss, n_classes):
    fitted, y = unseen_votes([0.5, 0.05, 0.5], [0, 0, 1, 1, 1, 2], n_classes=n_classes)
    weights = informed_weights(fitted, np.zeros((400, 1)), y, loss, rng())
    assert weights.shape == (6,)
    assert weights.sum() == pytest.approx(1.0)
    assert weights[2:5].sum() > 0.8
    assert len(np.unique(weights[:2])) == len(np.unique(weights[2:5])) == 1


def test_informed_weights_of_groups_that_err_alike_are_near_equal():
    fitted, y = unseen_votes([0.3] * 4, [0, 1, 2, 3, 3], n=4000)
    weights = informed_weights(fitted, np.zeros((4000, 1)), y, "plurality", rng())
    totals = np.bincount(fitted.groups, weights)
    np.testing.assert_allclose(totals, 0.25, atol=0.05)
    assert weights[3] == weights[4] == pytest.approx(totals[3] / 2)


def test_informed_weights_are_equal_where_nothing_is_known():
    groups = [0, 1, 1, 2]
    silent = OutOfSampleRows(np.full((50, 3, 2), 0.5), groups)
    weights = informed_weights(silent, np.zeros((50, 1)), np.arange(50) % 2, "plurality", rng())
    np.testing.assert_allclose(weights, [1 / 3, 1 / 6, 1 / 6, 1 / 3])
    few, y = unseen_votes([0.0, 1.0], [0, 1], n=1)
    nearly = informed_weights(few, np.zeros((1, 1)), y, "plurality", rng())
    assert 0.5 < nearly[0] < 0.7  # one row is not to be trusted much


@pytest.mark.parametrize("n", [2, 30])
def test_informed_weights_weigh_errors_against_the_divergence_from_equal_weights(n):
    fitted, y = unseen_votes([0.2, 0.4], [0, 1], n=n, seed=3)
    right = np.take_along_axis(fitted.fractions, y[:, None, None], axis=2)[:, :, 0]
    p = np.linspace(1e-4, 1 - 1e-4, 4001)
    wrong = 1.0 - right @ np.stack([p, 1 - p])
    risk = np.mean(1 / (1 + np.exp(-12.0 * (wrong - 0.5))), axis=0)
    divergence = np.log(2.0) + p * np.log(p) + (1 - p) * np.log(1 - p)
    best = p[np.argmin(risk + 4.0 / n * divergence)]
    weights = informed_weights(fitted, np.zeros((n, 1)), y, "plurality", rng())
    assert weights[0] == pytest.approx(best, abs=2e-3)
    assert abs(best - 0.5) > 0.01


def test_a_single_group_shares_evenly():
    fitted, y = unseen_votes([0.2], [0] * 7)
    np.testing.assert_allclose(informed_weights(fitted, np.zeros((400, 1)), y, "plurality", rng()), 1 / 7)


@pytest.mark.parametrize("loss", ["plurality", "half-weight"])
def test_groups_that_hardly_count_get_no_weight_at_all(loss):
    fitted, y = unseen_votes([0.02, 0.5, 0.5], [0, 0, 1, 2, 2, 2], n=4000)
    weights = informed_weights(fitted, np.zeros((4000, 1)), y, loss, rng())
    assert weights.tolist() == [0.5, 0.5, 0.0, 0.0, 0.0, 0.0]


def learned(monkeypatch, *weights):
    """What becomes of weights that are found in both ways of learning them."""
    monkeypatch.setattr(_priors, "_weights", lambda *given: np.array(weights))
    fitted, y = unseen_votes([0.3] * len(weights), np.arange(len(weights)), n=50)
    return unseen_weights(build_votes(fractions=fitted.fractions), y, "plurality", None).tolist()


def test_what_is_dropped_goes_to_the_others(monkeypatch):
    assert learned(monkeypatch, 0.64, 0.049, 0.051, 0.16, 0.1) == pytest.approx(
        [0.64 / 0.951, 0.0, 0.051 / 0.951, 0.16 / 0.951, 0.1 / 0.951]
    )
    assert learned(monkeypatch, 0.96, 0.04) == [1.0, 0.0]
    assert learned(monkeypatch, 0.5, 0.45, 0.05) == pytest.approx([0.5, 0.45, 0.05])


def test_many_small_groups_that_count_together_are_kept(monkeypatch):
    many = [0.76] + [0.04] * 6
    assert learned(monkeypatch, *many) == many
    fewer = learned(monkeypatch, 0.8, *[0.04] * 5)
    assert fewer == pytest.approx([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    equal = [1 / 40] * 40
    assert learned(monkeypatch, *equal) == equal


def test_rows_that_have_no_out_of_sample_votes_do_not_count():
    fitted, y = unseen_votes([0.05, 0.45], [0, 1])

    class Some:
        """Votes on every other row only."""

        def out_of_sample(self, X, y, rows):
            few = rows[::2]
            return OutOfSampleVotes(build_votes(fractions=fitted.fractions[few]), fitted.groups, few)

    weights = informed_weights(Some(), np.zeros((400, 1)), y, "plurality", rng())
    spoiled = np.where(np.arange(400) % 2, 1 - y, y)
    assert np.array_equal(informed_weights(Some(), np.zeros((400, 1)), spoiled, "plurality", rng()), weights)
    assert weights[0] > 0.5


def test_some_of_many_rows_are_asked(monkeypatch):
    monkeypatch.setattr(_priors, "_ROWS", 50)
    fitted, y = unseen_votes([0.1, 0.4], [0, 1])
    informed_weights(fitted, np.zeros((400, 1)), y, "plurality", rng())
    assert len(np.unique(fitted.asked)) == 50
    assert fitted.asked.max() > 100
    assert np.all(np.diff(fitted.asked) > 0)


def test_voters_that_are_always_sure_do_not_push_the_others_out():
    # Ten groups are right in three of four rows, fractions 0.3 and 0.7, and err independently; one is always sure and
    # right in 85 %. Together the ten are better than it by far, though their margins are narrow.
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=4000)
    right = rng.random((len(y), 10)) < 0.75
    unsure = np.where(right, 0.7, 0.3)
    sure = (rng.random((len(y), 1)) < 0.85).astype(float)
    own = np.concatenate([unsure, sure], axis=1)
    fractions = np.empty((len(y), 11, 2))
    fractions[np.arange(len(y)), :, y], fractions[np.arange(len(y)), :, 1 - y] = own, 1.0 - own
    fitted = OutOfSampleRows(fractions, np.arange(11))
    weights = informed_weights(fitted, np.zeros((len(y), 1)), y, "plurality", rng)
    errors = np.mean(own @ weights <= 0.5)
    assert errors < 0.8 * np.mean(sure == 0.0)
    assert weights[:10].sum() > 0.5


# In the estimator


def test_an_informed_prior_knows_the_good_voters_by_labels_that_are_no_codes():
    source = rng()
    X = source.normal(size=(200, 3))
    y = np.where(X[:, 0] > 0, "b", "a")
    good, bad = DecisionTreeClassifier(max_depth=1), LogisticRegression(C=1e-9, fit_intercept=False)
    clf = CertifiedVoteClassifier("dis-b", [bad, good, bad], prior="informed", random_state=0).fit(X, y)
    beta = np.array(clf.certificate_.parts[0].beta)
    assert beta[1] / beta.sum() > 0.5


def test_the_informed_prior_is_that_of_the_training_rows(one_digest):
    source = rng()
    X = source.normal(size=(120, 3))
    y = (X[:, 0] + source.normal(size=120) > 0).astype(int)
    voters = [DecisionTreeClassifier(max_depth=d, random_state=d) for d in (1, 3, 9)]

    def beta(X, y):
        clf = CertifiedVoteClassifier("dis-r", voters, Single(0.5), prior="informed", random_state=7).fit(X, y)
        return clf.certificate_.parts[0].beta

    order = stream("split", seed=(7,), digest=one_digest).permutation(120)
    spoiled_X, spoiled_y = X.copy(), y.copy()
    spoiled_X[order[60:]] = source.normal(size=(60, 3))
    spoiled_y[order[60:]] = source.integers(2, size=60)
    assert beta(X, y) == beta(spoiled_X, spoiled_y)
    spoiled_y[order[:60]] = 1 - y[order[:60]]
    spoiled_y[order[:20]] = y[order[:20]]
    assert beta(X, y) != beta(X, spoiled_y)


def test_voters_that_hardly_count_have_no_weight_in_the_drawn_vote():
    source = rng()
    X = source.normal(size=(3000, 3))
    y = (X[:, 0] > 0).astype(int)
    good, bad = DecisionTreeClassifier(max_depth=1), DummyClassifier(strategy="uniform")
    clf = CertifiedVoteClassifier("dis-b", [bad, good, bad], prior="informed", random_state=0).fit(X, y)
    assert clf.weights_.tolist() == [0.0, 1.0, 0.0]
    assert clf.certificate_.deployed_part.beta == (1e-6, 60.0, 1e-6)
