"""Trees as plain arrays send rows where the trees that they were made of do, by compiled code or without it."""

import pickle
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import _classes
from sklearn.tree._tree import Tree

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
    return Trees.grown([estimator.tree_ for estimator in forest.estimators_])[0]


@cache
def few():
    return trees_of(RandomForestClassifier(n_estimators=3, max_depth=3, random_state=0).fit(*cancer()))


def one_by_one(trees, X):
    """The places of the leaves, tree by tree."""
    return np.stack([trees.reached_in(tree, X) for tree in range(trees.n_trees)], axis=1)


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
    rows, expected = convert(X).astype(np.float32), forest.apply(convert(X)) + trees.starts[:-1]
    assert np.array_equal(one_by_one(trees, rows), expected)
    assert np.array_equal(trees.reached(rows), expected)
    assert np.array_equal(trees.reached(rows[:7]), expected[:7])


def test_nodes_in_another_order_are_brought_into_ours():
    """The library numbers nodes as it grows them, which is not from left to right if it takes the best ones first."""
    X, y = cancer()
    forest = RandomForestClassifier(n_estimators=4, max_leaf_nodes=9, random_state=0).fit(X, y)
    grown = [estimator.tree_ for estimator in forest.estimators_]
    trees, leaves = Trees.grown(grown)
    trees.check(30)
    assert np.any(np.diff(leaves) < 0)
    counts = np.concatenate([tree.n_node_samples for tree in grown])
    rows = X.astype(np.float32)
    first = np.cumsum([0, *(tree.node_count for tree in grown)])[:-1]
    assert np.array_equal(trees.over_nodes(counts[leaves])[trees.reached(rows)], counts[forest.apply(X) + first])


def test_every_node_knows_its_right_side():
    X, y = DIGITS
    forest = RandomForestClassifier(n_estimators=5, random_state=0).fit(X, y)
    trees = trees_of(forest)
    for number, estimator in enumerate(forest.estimators_):
        own = slice(trees.starts[number], trees.starts[number + 1])
        right = estimator.tree_.children_right
        assert np.array_equal(trees.right[own], np.where(right < 0, 0, right + trees.starts[number]))


def test_sparse_rows_go_side_by_side_a_few_at_a_time(way, monkeypatch):
    X, y = DIGITS
    trees = trees_of(RandomForestClassifier(n_estimators=3, random_state=0).fit(X, y))
    rows = X[:20].astype(np.float32)
    expected = trees.reached(rows)
    monkeypatch.setattr(_trees, "_CELLS", 100)
    assert np.array_equal(trees.reached(sparse.csr_array(rows)), expected)


def test_some_rows_walk_before_trees_are_compiled():
    trees = replace(few())
    assert [trees.walks_best(n) for n in (64, 64, 12, 13)] == [True, False, True, False]
    assert not replace(few()).walks_best(65)


def test_trees_deeper_than_rows_go_side_by_side(way, monkeypatch):
    monkeypatch.setattr(_trees, "_LEVELS", 2)
    X = cancer()[0][:40].astype(np.float32)
    trees = replace(few())
    assert np.array_equal(trees.reached(X), one_by_one(trees, X))


def test_a_threshold_between_two_numbers_of_single_precision_sends_rows_as_it_did(way):
    low = np.float32(0.1)
    high = np.nextafter(low, np.float32(1))
    X = np.array([[low], [high]])
    for threshold in (float(low), (float(low) + float(high)) / 2, float(high), 1e300, -1e300, np.inf):
        trees, _ = Trees.joined(
            [np.array([0, -1, -1])],
            [np.array([threshold, 0.0, 0.0])],
            [np.array([1, -1, -1])],
            [np.array([2, -1, -1])],
            [np.zeros(3, dtype=bool)],
        )
        expected = np.where(X[:, 0].astype(float) <= threshold, 1, 2)
        assert np.array_equal(trees.reached(X)[:, 0], expected)
        assert np.array_equal(trees.reached_in(0, X), expected)


def test_values_on_a_threshold_go_to_the_left(way):
    trees = replace(few())
    X = np.zeros((1, 30), dtype=np.float32)
    X[0, trees.feature[0]] = trees.threshold[0]
    above = np.nextafter(X, np.float32(np.inf), where=X != 0, out=X.copy())
    assert trees.reached_in(0, X)[0] < trees.right[0] <= trees.reached_in(0, above)[0]


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
    chosen, leaves = trees.only(np.array([0, 2]))
    values = np.arange(float(len(leaves)))
    own = trees.over_nodes(values)[one_by_one(trees, X)[:, [0, 2]]]
    assert np.array_equal(chosen.over_nodes(values[leaves])[one_by_one(chosen, X)], own)


def test_a_copy_of_trees_that_have_voted_votes_the_same(way):
    X = cancer()[0].astype(np.float32)
    trees = replace(few())
    voted = one_by_one(trees, X)
    assert len(vars(trees)) > 3
    again = pickle.loads(pickle.dumps(trees))
    assert len(vars(again)) == 3
    assert np.array_equal(voted, one_by_one(again, X))


def test_a_library_whose_trees_take_one_argument_more_is_used(monkeypatch):
    """For each column one number more, as scikit-learn 1.10 wants how many categories there are."""

    class Wider(Tree):
        def __new__(cls, *arguments):
            *known, categories = arguments
            assert categories.shape == (known[0],)
            made = super().__new__(cls, *known)
            made.categories = categories
            return made

        def __reduce__(self):
            _, arguments, state = super().__reduce__()
            return Wider, (*arguments, self.categories), state

    def grown(n_columns, *others):
        return Wider(n_columns, *others, np.full(n_columns, -1, dtype=np.intp))

    X, y = cancer()
    forest = RandomForestClassifier(n_estimators=3, random_state=0).fit(X, y)
    monkeypatch.setattr(_classes, "Tree", grown)
    monkeypatch.setattr(_trees, "_library_tree", _trees._library_tree.__wrapped__)
    monkeypatch.setattr(_trees, "_library_agrees", _trees._library_agrees.__wrapped__)
    trees, rows = trees_of(forest), X.astype(np.float32)
    assert np.array_equal(one_by_one(trees, rows), forest.apply(X) + trees.starts[:-1])
    one_by_one(trees, rows)
    assert [type(tree) for tree in trees._compiled.values()] == [Wider] * 3


def test_a_library_that_cannot_take_the_trees_is_not_used(monkeypatch):
    monkeypatch.setattr(Trees, "_as_library_tree", lambda self, tree: 1 / 0)
    with pytest.warns(UserWarning, match=r"does not take certivote's trees \(ZeroDivisionError.*more slowly"):
        assert not _trees._library_agrees.__wrapped__()


def test_a_library_that_sends_rows_elsewhere_is_not_used(monkeypatch):
    class Other:
        def apply(self, X):
            return np.zeros(len(X), dtype=np.intp)

    monkeypatch.setattr(Trees, "_as_library_tree", lambda self, tree: Other())
    with pytest.warns(UserWarning, match="it sends rows elsewhere"):
        assert not _trees._library_agrees.__wrapped__()


def test_rows_must_have_the_columns_that_trees_ask_for(way):
    with pytest.raises(ValueError, match="and X has 1"):
        replace(few()).reached_in(0, np.zeros((2, 1), dtype=np.float32))
    with pytest.raises(ValueError, match="and X has 1"):
        replace(few()).reached(np.zeros((2, 1), dtype=np.float32))


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
    "few thresholds": lambda trees: replace(trees, threshold=trees.threshold[:-1]),
    "few gaps": lambda trees: replace(trees, missing_left=trees.missing_left[:-1]),
    "two dimensions": lambda trees: replace(trees, feature=trees.feature[None]),
    "no tree": lambda trees: replace(trees, feature=trees.feature[:0]),
    "a tree without an end": lambda trees: replace(trees, feature=trees.feature[:-1]),
    "a tree that only begins": lambda trees: replace(trees, feature=np.append(trees.feature, np.int32(3))),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_arrays_that_are_no_trees_are_refused(damage):
    few().check(30)
    with pytest.raises(ValueError, match="tree"):
        DAMAGES[damage](few()).check(30)
