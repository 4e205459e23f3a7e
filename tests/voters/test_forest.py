"""Forests: one vote per tree."""

from dataclasses import fields
from unittest import mock

import numpy as np
import pytest
from ballots import votes_matrix
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from certivote.voters import Forest, _forest


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_each_tree_votes_as_it_predicts(kind, convert):
    X, y = load_iris(return_X_y=True)
    labels = np.array(["a", "b", "c"])[y]
    keep = y != 1  # the voters see two of the three classes
    forest = kind(n_estimators=7, min_samples_leaf=5, max_depth=3)
    fitted = Forest(forest).fit(convert(X)[keep], labels[keep], np.array(["a", "b", "c"]), rng())
    alone = kind(n_estimators=7, min_samples_leaf=5, max_depth=3, random_state=int(rng().integers(2**31)))
    alone.fit(convert(X)[keep], labels[keep])
    expected = [tree.predict(X.astype(np.float32)).astype(int) for tree in alone.estimators_]
    seen = np.array([0, 2])  # codes of the classes the trees know
    assert np.array_equal(votes_matrix(fitted, convert(X), 3), seen[np.array(expected).T])


def test_a_forest_follows_the_seed_unless_it_has_its_own():
    X, y = load_iris(return_X_y=True)
    classes = np.arange(3)

    def thresholds(forest, seed):
        return Forest(forest).fit(X, y, classes, rng(seed)).trees.threshold.tolist()

    free = RandomForestClassifier(n_estimators=2)
    assert thresholds(free, 0) == thresholds(free, 0)
    assert thresholds(free, 0) != thresholds(free, 1)
    fixed = RandomForestClassifier(n_estimators=2, random_state=5)
    assert thresholds(fixed, 0) == thresholds(fixed, 1)
    assert free.random_state is None


def test_sparse_rows_with_missing_values_are_refused():
    """Compiled trees send them to the right, whatever the node says."""
    X, y = load_iris(return_X_y=True)
    fitted = Forest(RandomForestClassifier(3)).fit(sparse.csr_array(X), y, np.arange(3), rng())
    X[0, 0] = np.nan
    for rows in (X[:1], X):
        with pytest.raises(ValueError, match="sparse and has missing values, which trees cannot use"):
            fitted.votes(sparse.csr_array(rows))
    assert fitted.votes(X).n_rows == len(X)


def test_forests_that_split_by_categories_are_refused():
    """Scikit-learn 1.10 grows them; read as thresholds, their nodes would send rows elsewhere."""

    class Later(RandomForestClassifier):
        def __init__(self, categorical_features=None, n_jobs=None, random_state=None):
            super().__init__(3, n_jobs=n_jobs, random_state=random_state)
            self.categorical_features = categorical_features

    X, y = load_iris(return_X_y=True)
    assert Forest(Later()).fit(X, y, np.arange(3), rng()).n_voters == 3
    with pytest.raises(ValueError, match=r"got a forest with categorical_features=\[0\]. Leave it out"):
        Forest(Later(categorical_features=[0])).fit(X, y, np.arange(3), rng())


@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_trees_that_grow_a_few_at_a_time_are_those_of_one_fit(kind, n_jobs, monkeypatch):
    """As those for very many classes do, whose nodes have a number for each."""
    source = np.random.default_rng(0)
    X, y = source.normal(size=(120, 4)), source.integers(6, size=120)
    forest = Forest(kind(7, bootstrap=True, n_jobs=n_jobs, random_state=3))

    def fit():
        return forest.fit(X, y, np.arange(6), np.random.default_rng(1))

    at_once = fit()
    fits = mock.Mock(wraps=_forest.grow_in_turn)
    monkeypatch.setattr(_forest, "_MANY_CLASSES", 5)
    monkeypatch.setattr(_forest, "grow_in_turn", fits)
    in_turn = fit()
    assert fits.call_count == 1
    for one in fields(at_once.trees):
        assert np.array_equal(getattr(in_turn.trees, one.name), getattr(at_once.trees, one.name))
    assert np.array_equal(in_turn.leaf_votes, at_once.leaf_votes)
    assert np.array_equal(in_turn.seen, at_once.seen)
