"""Out-of-sample votes: no voter is asked about a row that it has seen."""

import numpy as np
import pytest
from ballots import codes_of, fractions_of
from scipy import sparse
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from certivote.voters import Classifiers, Forest, Stumps
from certivote.votes import plurality

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


@pytest.mark.parametrize(
    "forest",
    [RandomForestClassifier(40), ExtraTreesClassifier(40, bootstrap=True), RandomForestClassifier(40, max_samples=0.7)],
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_forest_that_learned_noise_by_heart_is_no_better_than_chance_out_of_sample(forest, n_classes):
    X, y = noise(n_classes=n_classes)
    fitted = Forest(forest).fit(X, y, np.arange(n_classes), rng())
    unseen = fitted.out_of_sample(X, y, np.arange(len(y)))
    assert accuracy(fitted.votes(X), y) > 0.97
    assert accuracy(unseen.votes, y) < 1 / n_classes + 0.17
    assert unseen.groups.tolist() == [0] * 40


def test_out_of_bag_votes_are_those_of_the_trees_that_missed_the_row():
    X, y = noise(60)
    fitted = Forest(RandomForestClassifier(15, random_state=7)).fit(X, y, TWO, rng())
    samples = RandomForestClassifier(15, random_state=7).fit(X, y).estimators_samples_
    rows = np.array([3, 0, 59, 17])
    fractions = fractions_of(fitted.out_of_sample(X, y, rows).votes)
    codes = codes_of(fitted.votes(X))
    for row, fraction in zip(rows, fractions, strict=True):
        missed = [j for j, sample in enumerate(samples) if row not in sample]
        ones = np.mean(codes[row, missed]) if missed else 0.5
        np.testing.assert_allclose(fraction[0], [1 - ones, ones])


def test_a_row_that_every_tree_has_seen_gets_no_opinion():
    X, y = noise(8)
    fitted = Forest(RandomForestClassifier(1, random_state=0)).fit(X, y, TWO, rng())
    seen = np.unique(RandomForestClassifier(1, random_state=0).fit(X, y).estimators_samples_[0])
    assert 0 < len(seen) < 8
    fractions = fractions_of(fitted.out_of_sample(X, y, np.arange(8)).votes)[:, 0, :]
    assert np.all(fractions[seen] == 0.5)
    assert np.all(np.delete(fractions, seen, axis=0).max(axis=1) == 1.0)


def test_trees_without_bootstrap_have_no_out_of_sample_votes():
    X, y = noise(30)
    fitted = Forest(ExtraTreesClassifier(3)).fit(X, y, TWO, rng())
    with pytest.raises(ValueError, match="set bootstrap=True"):
        fitted.out_of_sample(X, y, np.arange(30))


def test_a_forest_votes_out_of_sample_on_sparse_rows():
    X, y = noise(40)
    X[np.abs(X) < 0.5] = 0.0
    dense, thin = (
        Forest(RandomForestClassifier(9, random_state=0)).fit(kind, y, TWO, rng()).out_of_sample(kind, y, np.arange(20))
        for kind in (X, sparse.csr_array(X))
    )
    assert np.array_equal(fractions_of(dense.votes), fractions_of(thin.votes))


@pytest.mark.parametrize("labels", [TWO, np.array([1, 2]), np.array([-5, 7]), np.array(["no", "yes"])])
def test_a_list_of_classifiers_votes_out_of_sample_by_folds_whatever_the_labels_are(labels):
    X, y = noise()
    voters = Classifiers([DecisionTreeClassifier(), KNeighborsClassifier(1)])
    fitted = voters.fit(X, labels[y], labels, rng())
    unseen = fitted.out_of_sample(X, y, np.arange(len(y)))
    assert unseen.groups.tolist() == [0, 1]
    for voter in range(2):
        assert accuracy(fitted.votes(X), y, np.eye(2)[voter]) == 1.0
        assert 0.3 < accuracy(unseen.votes, y, np.eye(2)[voter]) < 0.67
        # Both classes are voted for.
        assert 20 < codes_of(unseen.votes)[:, voter].sum() < 130


def test_classifiers_that_came_fitted_just_vote():
    X, y = noise(60)
    known = DecisionTreeClassifier().fit(X, y)
    fitted = Classifiers([known, DecisionTreeClassifier()]).fit(X, y, TWO, rng())
    unseen = fitted.out_of_sample(X, y, np.arange(10, 40))
    assert accuracy(unseen.votes, y[10:40], np.array([1.0, 0.0])) == 1.0
    assert accuracy(unseen.votes, y[10:40], np.array([0.0, 1.0])) < 0.8


@pytest.mark.parametrize("n", [2, 3, 30])
def test_a_list_votes_out_of_sample_with_one_row_of_a_class(n):
    X, y = noise(n)
    y[:] = 0
    y[0] = 1
    fitted = Classifiers([LogisticRegression()]).fit(X, y, TWO, rng())
    codes = codes_of(fitted.out_of_sample(X, y, np.arange(n)).votes)
    assert codes[0] == 0  # without that row, nobody knows the class


def test_stumps_vote_out_of_sample_as_they_vote():
    X, y = noise(30)
    fitted = Stumps(3).fit(X, y, TWO, rng())
    unseen = fitted.out_of_sample(X, y, np.arange(10))
    weights = rng().dirichlet(np.ones(fitted.n_voters))
    np.testing.assert_allclose(unseen.votes.masses(weights), fitted.votes(X[:10]).masses(weights))
    assert unseen.groups.tolist() == list(range(fitted.n_voters))
