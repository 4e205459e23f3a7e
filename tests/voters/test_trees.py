"""Trees as plain arrays send rows where the trees that they were made of do, by compiled code or without it."""

import pickle
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from certivote.voters import Forest, _trees
from certivote.voters._trees import Trees

DIGITS = load_digits(return_X_y=True)


@pytest.fixture(params=["compiled", "walked"])
def way(request, monkeypatch):
    """How rows go down: by scikit-learn, or without it, as where its private classes have changed."""
    if request.param == "walked":
        monkeypatch.setattr(_trees, "_library_agrees", lambda: False)
    return request.param


def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X), y


def trees_of(forest):
    return Trees.grown([estimator.tree_ for estimator in forest.estimators_])


@cache
def few():
    return trees_of(RandomForestClassifier(n_estimators=3, max_depth=3, random_state=0).fit(*cancer()))


def leaves(trees, X):
    return np.stack([trees.leaf(tree, X) for tree in range(trees.n_trees)], axis=1)


def test_this_library_sends_rows_where_the_arrays_say():
    assert _trees._library_agrees()


@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_rows_reach_the_leaves_of_the_library(way, kind, convert):
    X, y = cancer() if convert is np.asarray else DIGITS
    forest = kind(n_estimators=5, random_state=0).fit(convert(X), y)
    trees = trees_of(forest)
    trees.check(X.shape[1])
    assert (trees._compiled is None) == (way == "walked")
    assert np.array_equal(leaves(trees, convert(X).astype(np.float32)), forest.apply(convert(X)))


def test_values_on_a_threshold_go_to_the_left(way):
    trees = replace(few())
    X = np.zeros((1, 30), dtype=np.float32)
    X[0, trees.feature[0]] = threshold = np.float32(trees.threshold[0])
    asked = replace(trees, threshold=np.where(np.arange(len(trees.threshold)) == 0, threshold, trees.threshold))
    above = np.nextafter(X, np.float32(np.inf), where=X != 0, out=X.copy())
    assert asked.leaf(0, X)[0] < asked.right[0] <= asked.leaf(0, above)[0]


def test_sparse_rows_may_have_long_column_numbers(way):
    """As scipy gives them to a matrix that it has put together."""
    X, y = DIGITS
    rows = sparse.csr_array(X)
    voters = Forest(RandomForestClassifier(n_estimators=3)).fit(rows, y, np.arange(10), np.random.default_rng(0))
    wide = sparse.csr_array((rows.data, rows.indices.astype(np.int64), rows.indptr.astype(np.int64)), shape=rows.shape)
    assert voters.votes(wide).digest() == voters.votes(rows).digest() == voters.votes(X).digest()


def test_some_of_the_trees_are_as_they_were(way):
    X = cancer()[0].astype(np.float32)
    trees = replace(few())
    chosen, nodes = trees.only(np.array([0, 2]))
    assert np.array_equal(leaves(chosen, X), leaves(trees, X)[:, [0, 2]])
    assert np.array_equal(chosen.threshold, trees.threshold[nodes])


def test_a_copy_of_trees_that_have_voted_votes_the_same(way):
    X = cancer()[0].astype(np.float32)
    trees = replace(few())
    assert np.array_equal(leaves(trees, X), leaves(pickle.loads(pickle.dumps(trees)), X))


def test_a_library_that_cannot_take_the_trees_is_not_used(monkeypatch):
    monkeypatch.setattr(Trees, "_as_library_tree", lambda self, tree: 1 / 0)
    assert not _trees._library_agrees.__wrapped__()


def test_a_library_that_sends_rows_elsewhere_is_not_used(monkeypatch):
    class Other:
        def apply(self, X):
            return np.zeros(len(X), dtype=np.intp)

    monkeypatch.setattr(Trees, "_as_library_tree", lambda self, tree: Other())
    assert not _trees._library_agrees.__wrapped__()


def test_rows_must_have_the_columns_that_trees_ask_for(way):
    with pytest.raises(ValueError, match="and X has 1"):
        replace(few()).leaf(0, np.zeros((2, 1), dtype=np.float32))


def changed(trees, name, value, place=0):
    """The trees with another value in one place; the first is the root of the first."""
    values = getattr(trees, name).copy()
    values[place] = value
    return replace(trees, **{name: values})


DAMAGES = {
    "a column that there is not": lambda trees: changed(trees, "feature", 30),
    "a column far away": lambda trees: changed(trees, "feature", 2_000_000_000),
    "a negative column": lambda trees: changed(trees, "feature", -2),
    "no threshold": lambda trees: changed(trees, "threshold", np.nan),
    "a node of another tree": lambda trees: changed(trees, "right", trees.starts[1]),
    "a node far away": lambda trees: changed(trees, "left", 2_000_000_000),
    "a circle": lambda trees: changed(trees, "left", 0),
    "one side only": lambda trees: changed(trees, "right", -1),
    "a leaf that goes on": lambda trees: changed(trees, "right", 1, int(np.flatnonzero(trees.left == -1)[0])),
    "few thresholds": lambda trees: replace(trees, threshold=trees.threshold[:-1]),
    "two dimensions": lambda trees: replace(trees, left=trees.left[None]),
    "an empty tree": lambda trees: changed(trees, "starts", trees.starts[2], 1),
    "no tree": lambda trees: replace(trees, starts=trees.starts[:1]),
    "nodes before the first tree": lambda trees: changed(trees, "starts", 1),
    "nodes after the last tree": lambda trees: replace(trees, starts=trees.starts[:-1]),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_arrays_that_are_no_trees_are_refused(damage):
    few().check(30)
    with pytest.raises(ValueError, match="tree"):
        DAMAGES[damage](few()).check(30)
