"""Boosting by tables of what values exclude answers as boosting that walks its trees, to the bit."""

import pickle
from functools import cache

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from certivote.voters import _boosting, _trees
from certivote.voters._boosting import Boosting
from certivote.voters._trees import LeafTables

STAGES = (4, 9)


def rows(n, seed=0):
    """Measurements, whole numbers, truth values, a column that is never asked, and gaps."""
    source = np.random.default_rng(seed)
    X = np.concatenate(
        [source.normal(size=(n, 3)), source.integers(5, size=(n, 2)), source.random((n, 9)) < 0.3, np.ones((n, 1))],
        axis=1,
    )
    return X, (X[:, 0] + X[:, 3] - X[:, 5] + 2 * X[:, 6] * X[:, 7] + 0.4 * source.normal(size=n)).round().astype(int)


def gaps(X, share=0.1):
    return np.where(np.random.default_rng(1).random(X.shape) < share, np.nan, X)


@cache
def grown(n_classes, leaves, with_gaps=True):
    X, y = rows(400)
    X = gaps(X) if with_gaps else X
    model = HistGradientBoostingClassifier(
        max_iter=9, max_leaf_nodes=leaves, min_samples_leaf=2, early_stopping=False, random_state=0
    )
    model.fit(X, np.clip(y, 0, n_classes - 1))
    boosting = Boosting.grown(model, STAGES)
    boosting.check(X.shape[1], n_classes, len(STAGES))
    return boosting, model


@pytest.mark.parametrize("with_gaps", [True, False])
@pytest.mark.parametrize(("n_classes", "leaves"), [(2, 8), (2, 31), (4, 12), (4, 31), (4, 2)])
def test_few_rows_many_rows_and_the_library_agree(n_classes, leaves, with_gaps, monkeypatch):
    boosting, model = grown(n_classes, leaves, with_gaps)
    X = rows(500, seed=2)[0]
    X = gaps(X) if with_gaps else X
    by_tables = boosting.answers(X)
    last = list(model.staged_predict(X))
    assert np.array_equal(by_tables, np.stack([last[stage - 1] for stage in STAGES], axis=1))
    few = np.concatenate([boosting.answers(X[start : start + 25]) for start in range(0, 500, 25)])
    assert np.array_equal(few, by_tables)
    monkeypatch.setattr(_trees, "_LARGEST", 0)
    assert np.array_equal(boosting.answers(X), by_tables)
    monkeypatch.setattr(_trees, "_library_agrees", lambda: False)
    assert np.array_equal(pickle.loads(pickle.dumps(boosting)).answers(X), by_tables)


@pytest.mark.parametrize("leaves", [8, 12, 31])
@pytest.mark.parametrize("n_rows", [1, 300, 100_000])
def test_tables_give_the_values_of_the_leaves(leaves, n_rows):
    """Whatever columns share a table, which the number of rows decides."""
    boosting, _ = grown(4, leaves)
    X = gaps(rows(300, seed=3)[0])
    limits = np.diff(boosting.edge_starts)
    tables = LeafTables(boosting.trees, boosting.values, limits, n_rows, with_gaps=True)
    assert tables._kind == {8: np.uint8, 12: np.uint16, 31: np.uint32}[leaves]
    found = np.full((300, boosting.trees.n_trees), np.nan)
    for part, values in tables.leaf_values(boosting._places(X)):
        found[part] = values
    by_node, thresholds = boosting._by_node
    walked = np.concatenate([by_node[boosting.trees.reached(X[k : k + 50], thresholds)] for k in range(0, 300, 50)])
    assert np.array_equal(found, walked)


def test_columns_of_few_values_share_tables():
    boosting, _ = grown(2, 31, with_gaps=False)
    limits = np.diff(boosting.edge_starts)
    alone, together = (
        len(LeafTables(boosting.trees, boosting.values, limits, n_rows, with_gaps=False)._groups)
        for n_rows in (1, 10_000)
    )
    assert together < alone <= np.count_nonzero(limits)


def test_a_part_of_the_stages_needs_a_part_of_the_trees():
    boosting, _ = grown(4, 31)
    X = gaps(rows(200, seed=4)[0])
    for chosen in ([0], [1], [0, 1]):
        few = boosting.only(np.array(chosen))
        few.check(X.shape[1], 4, len(chosen))
        assert few.trees.n_trees == 4 * STAGES[chosen[-1]]
        assert np.array_equal(few.answers(X), boosting.answers(X)[:, chosen])


def test_boosting_that_has_answered_is_stored_without_what_it_found():
    boosting, _ = grown(2, 8)
    boosting.answers(rows(3)[0])
    assert "_by_node" in vars(boosting)
    assert set(vars(pickle.loads(pickle.dumps(boosting)))) == set(Boosting.__dataclass_fields__)


def test_rows_in_several_pieces_get_the_same_answers(monkeypatch):
    boosting, _ = grown(4, 31)
    X = gaps(rows(300, seed=5)[0])
    expected = boosting.answers(X)
    monkeypatch.setattr(_boosting, "_CHUNK", 70)
    monkeypatch.setattr(_trees, "_CACHED", 1)
    assert np.array_equal(boosting.answers(X), expected)
