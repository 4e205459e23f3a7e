"""Weights learned from rehearsals, and that a rehearsal asks nobody about a row that taught him."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from certivote import CertifiedVoteClassifier, informed
from certivote.informed import informed_weights
from certivote.voters import Forest, Prefit, Rehearsal, Stumps
from certivote.votes import DenseVotes, SoftVotes, plurality

TWO = np.array([0, 1])


def rng(seed=0):
    return np.random.default_rng(seed)


def noise(n=150, n_classes=2, seed=0):
    """Rows that tell nothing about their labels."""
    source = rng(seed)
    return source.normal(size=(n, 4)), source.integers(n_classes, size=n)


def equal(votes):
    return np.full(votes.n_voters, 1.0 / votes.n_voters)


def accuracy(votes, labels, weights=None):
    return float(np.mean(plurality(votes.masses(equal(votes) if weights is None else weights)) == labels))


# Rehearsals


@pytest.mark.parametrize(
    "forest",
    [RandomForestClassifier(40), ExtraTreesClassifier(40, bootstrap=True), RandomForestClassifier(40, max_samples=0.7)],
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_forest_that_learned_noise_by_heart_rehearses_no_better_than_chance(forest, n_classes):
    X, y = noise(n_classes=n_classes)
    taught = Forest(forest).teach(X, y, np.arange(n_classes), rng())
    rehearsal = taught.rehearse(X, y, np.arange(len(y)))
    assert accuracy(taught.votes(X), y) > 0.97
    assert accuracy(rehearsal.votes, y) < 1 / n_classes + 0.17
    assert rehearsal.groups.tolist() == [0] * 40


def test_out_of_bag_votes_are_those_of_the_trees_that_missed_the_row():
    X, y = noise(60)
    taught = Forest(RandomForestClassifier(15)).teach(X, y, TWO, rng())
    rows = np.array([3, 0, 59, 17])
    shares = taught.rehearse(X, y, rows).votes.shares
    codes = taught.votes(X).codes
    for row, share in zip(rows, shares, strict=True):
        missed = [j for j, sample in enumerate(taught.forest.estimators_samples_) if row not in sample]
        ones = np.mean(codes[row, missed]) if missed else 0.5
        np.testing.assert_allclose(share[0], [1 - ones, ones])


def test_a_row_that_every_tree_has_seen_gets_no_opinion():
    X, y = noise(8)
    taught = Forest(RandomForestClassifier(1, random_state=0)).teach(X, y, TWO, rng())
    seen = np.unique(taught.forest.estimators_samples_[0])
    assert 0 < len(seen) < 8
    shares = taught.rehearse(X, y, np.arange(8)).votes.shares[:, 0, :]
    assert np.all(shares[seen] == 0.5)
    assert np.all(np.delete(shares, seen, axis=0).max(axis=1) == 1.0)


def test_trees_without_bootstrap_have_no_rehearsal():
    X, y = noise(30)
    taught = Forest(ExtraTreesClassifier(3)).teach(X, y, TWO, rng())
    with pytest.raises(ValueError, match="set bootstrap=True"):
        taught.rehearse(X, y, np.arange(30))


def test_a_forest_rehearses_on_sparse_rows():
    X, y = noise(40)
    X[np.abs(X) < 0.5] = 0.0
    dense, thin = (
        Forest(RandomForestClassifier(9, random_state=0)).teach(kind, y, TWO, rng()).rehearse(kind, y, np.arange(20))
        for kind in (X, sparse.csr_array(X))
    )
    assert np.array_equal(dense.votes.shares, thin.votes.shares)


@pytest.mark.parametrize("labels", [TWO, np.array([1, 2]), np.array([-5, 7]), np.array(["no", "yes"])])
def test_a_list_of_classifiers_rehearses_on_folds_whatever_the_labels_are(labels):
    X, y = noise()
    voters = Prefit([DecisionTreeClassifier(), KNeighborsClassifier(1)])
    taught = voters.teach(X, labels[y], labels, rng())
    rehearsal = taught.rehearse(X, y, np.arange(len(y)))
    assert rehearsal.groups.tolist() == [0, 1]
    for voter in range(2):
        assert accuracy(taught.votes(X), y, np.eye(2)[voter]) == 1.0
        assert 0.3 < accuracy(rehearsal.votes, y, np.eye(2)[voter]) < 0.67
        # Both classes are voted for.
        assert 20 < rehearsal.votes.codes[:, voter].sum() < 130


def test_classifiers_that_came_fitted_just_vote():
    X, y = noise(60)
    known = DecisionTreeClassifier().fit(X, y)
    taught = Prefit([known, DecisionTreeClassifier()]).teach(X, y, TWO, rng())
    rehearsal = taught.rehearse(X, y, np.arange(10, 40))
    assert accuracy(rehearsal.votes, y[10:40], np.array([1.0, 0.0])) == 1.0
    assert accuracy(rehearsal.votes, y[10:40], np.array([0.0, 1.0])) < 0.8


@pytest.mark.parametrize("n", [2, 3, 30])
def test_a_list_rehearses_with_one_row_of_a_class(n):
    X, y = noise(n)
    y[:] = 0
    y[0] = 1
    taught = Prefit([LogisticRegression()]).teach(X, y, TWO, rng())
    codes = taught.rehearse(X, y, np.arange(n)).votes.codes
    assert codes[0] == 0  # without that row, nobody knows the class


def test_stumps_rehearse_by_voting():
    X, y = noise(30)
    taught = Stumps(3).teach(X, y, TWO, rng())
    rehearsal = taught.rehearse(X, y, np.arange(10))
    weights = rng().dirichlet(np.ones(taught.n_voters))
    np.testing.assert_allclose(rehearsal.votes.masses(weights), taught.votes(X[:10]).masses(weights))
    assert rehearsal.groups.tolist() == list(range(taught.n_voters))


# Weights


class Rehearsed:
    """Voters with a given rehearsal."""

    def __init__(self, shares, groups):
        self.shares, self.groups, self.asked = shares, np.asarray(groups), None
        self.n_voters = len(groups)

    def rehearse(self, X, y, rows):
        self.asked = rows
        return Rehearsal(SoftVotes(self.shares[rows]), self.groups)


def rehearsed(errors, groups, n=400, n_classes=2, seed=0):
    """Groups that err with these probabilities, and the labels."""
    source = rng(seed)
    y = source.integers(n_classes, size=n)
    wrong = source.random((n, len(errors))) < errors
    codes = np.where(wrong, (y[:, None] + source.integers(1, n_classes, size=wrong.shape)) % n_classes, y[:, None])
    return Rehearsed(np.eye(n_classes)[codes], groups), y


@pytest.mark.parametrize("loss", ["plurality", "half-weight"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_informed_weights_prefer_the_good_group(loss, n_classes):
    taught, y = rehearsed([0.5, 0.05, 0.5], [0, 0, 1, 1, 1, 2], n_classes=n_classes)
    weights = informed_weights(taught, np.zeros((400, 1)), y, loss, rng())
    assert weights.shape == (6,)
    assert np.all(weights > 0)
    assert weights.sum() == pytest.approx(1.0)
    assert weights[2:5].sum() > 0.8
    assert len(np.unique(weights[:2])) == len(np.unique(weights[2:5])) == 1


def test_informed_weights_of_groups_that_err_alike_are_near_equal():
    taught, y = rehearsed([0.3] * 4, [0, 1, 2, 3, 3], n=4000)
    weights = informed_weights(taught, np.zeros((4000, 1)), y, "plurality", rng())
    totals = np.bincount(taught.groups, weights)
    np.testing.assert_allclose(totals, 0.25, atol=0.05)
    assert weights[3] == weights[4] == pytest.approx(totals[3] / 2)


def test_informed_weights_are_equal_where_nothing_is_known():
    groups = [0, 1, 1, 2]
    silent = Rehearsed(np.full((50, 3, 2), 0.5), groups)
    weights = informed_weights(silent, np.zeros((50, 1)), np.arange(50) % 2, "plurality", rng())
    np.testing.assert_allclose(weights, [1 / 3, 1 / 6, 1 / 6, 1 / 3])
    few, y = rehearsed([0.0, 1.0], [0, 1], n=1)
    nearly = informed_weights(few, np.zeros((1, 1)), y, "plurality", rng())
    assert 0.5 < nearly[0] < 0.7  # one row is not to be trusted much


@pytest.mark.parametrize("n", [2, 30])
def test_informed_weights_weigh_errors_against_the_divergence_from_equal_weights(n):
    taught, y = rehearsed([0.2, 0.4], [0, 1], n=n, seed=3)
    right = np.take_along_axis(taught.shares, y[:, None, None], axis=2)[:, :, 0]
    p = np.linspace(1e-4, 1 - 1e-4, 4001)
    wrong = 1.0 - right @ np.stack([p, 1 - p])
    risk = np.mean(1 / (1 + np.exp(-12.0 * (wrong - 0.5))), axis=0)
    divergence = np.log(2.0) + p * np.log(p) + (1 - p) * np.log(1 - p)
    best = p[np.argmin(risk + 4.0 / n * divergence)]
    weights = informed_weights(taught, np.zeros((n, 1)), y, "plurality", rng())
    assert weights[0] == pytest.approx(best, abs=2e-3)
    assert abs(best - 0.5) > 0.01


def test_a_single_group_shares_evenly():
    taught, y = rehearsed([0.2], [0] * 7)
    np.testing.assert_allclose(informed_weights(taught, np.zeros((400, 1)), y, "plurality", rng()), 1 / 7)


def test_some_of_many_rows_are_asked(monkeypatch):
    monkeypatch.setattr(informed, "_ROWS", 50)
    taught, y = rehearsed([0.1, 0.4], [0, 1])
    informed_weights(taught, np.zeros((400, 1)), y, "plurality", rng())
    assert len(np.unique(taught.asked)) == 50
    assert taught.asked.max() > 100
    assert np.all(np.diff(taught.asked) > 0)


# In the estimator


def test_an_informed_prior_knows_the_good_voters_by_labels_that_are_no_codes():
    source = rng()
    X = source.normal(size=(200, 3))
    y = np.where(X[:, 0] > 0, "b", "a")
    good, bad = DecisionTreeClassifier(max_depth=1), LogisticRegression(C=1e-9, fit_intercept=False)
    clf = CertifiedVoteClassifier("dis-b", [bad, good, bad], prior="informed", random_state=0).fit(X, y)
    beta = np.array(clf.certificate_.parts[0].beta)
    assert beta[1] / beta.sum() > 0.5


def test_the_informed_prior_is_that_of_the_teaching_rows():
    source = rng()
    X = source.normal(size=(120, 3))
    y = (X[:, 0] + source.normal(size=120) > 0).astype(int)
    voters = [DecisionTreeClassifier(max_depth=d, random_state=d) for d in (1, 3, 9)]

    def beta(X, y):
        clf = CertifiedVoteClassifier("dis-r", voters, prior="informed", teach_share=0.5, random_state=7).fit(X, y)
        return clf.certificate_.parts[0].beta

    order = np.random.default_rng(np.random.SeedSequence((7,)).spawn(5)[0]).permutation(120)
    spoiled_X, spoiled_y = X.copy(), y.copy()
    spoiled_X[order[60:]] = source.normal(size=(60, 3))
    spoiled_y[order[60:]] = source.integers(2, size=60)
    assert beta(X, y) == beta(spoiled_X, spoiled_y)
    spoiled_y[order[:60]] = 1 - y[order[:60]]
    spoiled_y[order[:20]] = y[order[:20]]
    assert beta(X, y) != beta(X, spoiled_y)


# Votes of groups


def test_soft_votes_are_linear_maps():
    source = rng()
    shares = source.dirichlet(np.ones(3), size=(7, 5))
    votes = SoftVotes(shares)
    labels = source.integers(3, size=7)
    weights = source.dirichlet(np.ones(5))
    masses = np.array([[sum(weights[g] * shares[i, g, c] for g in range(5)) for c in range(3)] for i in range(7)])
    np.testing.assert_allclose(votes.masses(weights), masses)
    np.testing.assert_allclose(votes.by_class().forward(weights), masses)
    wrong = votes.against(labels)
    np.testing.assert_allclose(wrong.forward(weights), 1.0 - masses[np.arange(7), labels])
    # <A w, g> = <w, A' g> for both maps.
    for linear, shape in ((votes.by_class(), (7, 3)), (wrong, (7,))):
        gradient = source.normal(size=shape)
        back = linear.adjoint(gradient)
        assert back.shape == (5,)
        for voter in range(5):
            assert np.sum(linear.forward(np.eye(5)[voter]) * gradient) == pytest.approx(back[voter])
    some = votes.take(np.array([4, 1]))
    assert (some.n_rows, some.n_voters, some.n_classes) == (2, 5, 3)
    np.testing.assert_allclose(some.masses(weights), masses[[4, 1]])


def test_soft_votes_of_sure_groups_are_dense_votes():
    codes = rng().integers(3, size=(9, 4))
    soft, dense = SoftVotes(np.eye(3)[codes]), DenseVotes(codes.astype(np.uint8), 3)
    weights, labels = rng().dirichlet(np.ones(4)), rng().integers(3, size=9)
    np.testing.assert_allclose(soft.masses(weights), dense.masses(weights))
    np.testing.assert_allclose(soft.against(labels).forward(weights), dense.against(labels).forward(weights))
    gradient = rng().normal(size=(9, 3))
    np.testing.assert_allclose(soft.by_class().adjoint(gradient), dense.by_class().adjoint(gradient))


def test_voters_that_are_always_sure_do_not_push_the_others_out():
    # Ten groups are right in three of four rows, shares 0.3 and 0.7, and err independently; one is always sure and
    # right in 85 %. Together the ten are better than it by far, though their margins are narrow.
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=4000)
    right = rng.random((len(y), 10)) < 0.75
    unsure = np.where(right, 0.7, 0.3)
    sure = (rng.random((len(y), 1)) < 0.85).astype(float)
    own = np.concatenate([unsure, sure], axis=1)
    shares = np.empty((len(y), 11, 2))
    shares[np.arange(len(y)), :, y], shares[np.arange(len(y)), :, 1 - y] = own, 1.0 - own
    taught = Unseen(SoftVotes(shares))
    weights = informed_weights(taught, np.zeros((len(y), 1)), y, "plurality", rng)
    errors = np.mean(own @ weights <= 0.5)
    assert errors < 0.8 * np.mean(sure == 0.0)
    assert weights[:10].sum() > 0.5


class Unseen:
    """Voters whose votes in rehearsal are given."""

    def __init__(self, votes):
        self._votes = votes

    def rehearse(self, X, y, rows):
        return Rehearsal(SoftVotes(self._votes.shares[rows]), np.arange(self._votes.n_voters))
