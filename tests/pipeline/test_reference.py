"""What a model keeps of its certification rows: how sure it was of them, and how their values are spread."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

from certivote import CertifiedVoteClassifier
from certivote.pipeline import ColumnShares, on_grid, table_columns
from certivote.pipeline._reference import MOST_ROWS, reference_rows
from certivote.theory.entities import Entities
from certivote.voters import Forest, Stumps

FEW = Forest(RandomForestClassifier(n_estimators=5))


@pytest.mark.parametrize("split", ["single", "cross"])
def test_it_is_of_the_certification_rows_of_the_deployed_vote(split):
    X, y = load_breast_cancer(return_X_y=True)
    clf = CertifiedVoteClassifier("dis-b", FEW, split=split, random_state=0).fit(X, y)
    rows = clf.part_.certify
    assert np.array_equal(clf.reference_.masses, np.sort(on_grid(clf.predict_proba(X[rows]).max(axis=1))))
    assert [column.name for column in clf.reference_.columns] == [str(place) for place in range(30)]
    for place, column in enumerate(clf.reference_.columns):
        assert np.array_equal(column.seen, column.counts(X[rows, place]))
        assert column.seen.sum() == len(rows)
        assert len(column.edges) == 15
        assert column.seen[:-1].max() < 3 * len(rows) / 16


def test_the_random_vote_leaves_the_masses_of_its_mean_weights():
    X, y = load_breast_cancer(return_X_y=True)
    clf = CertifiedVoteClassifier("smv-exact", Stumps(2), loss="half-weight", random_state=0).fit(X[:, :4], y)
    own = clf.voters_.votes(X[clf.part_.certify][:, :4]).masses(clf.weights_).max(axis=1)
    assert np.array_equal(clf.reference_.masses, np.sort(on_grid(own)))


def test_there_are_at_most_so_many_rows_at_random():
    certify = np.arange(5, 3 * MOST_ROWS)
    found = reference_rows(np.zeros((3 * MOST_ROWS, 1)), (), certify, None, np.random.default_rng(3))
    assert len(np.unique(found.places)) == MOST_ROWS
    assert abs(found.places.mean() / len(certify) - 0.5) < 0.02
    assert found.columns[0].seen.sum() == 2000


def test_of_rows_that_belong_together_one_is_kept():
    codes = np.random.default_rng(0).integers(0, 40, size=400)
    entities = Entities(np.unique(codes, return_inverse=True)[1])
    found = reference_rows(np.zeros((400, 1)), (), np.arange(400), entities, np.random.default_rng(3))
    assert sorted(entities.codes[found.places]) == list(range(entities.count))
    firsts = np.unique(entities.codes, return_index=True)[1]
    assert not np.array_equal(np.sort(found.places), np.sort(firsts))  # any row, not the first


def test_columns_of_all_kinds():
    frame = pd.DataFrame(
        {
            "age": pd.array([31, 40, None] * 10, dtype="Int64"),
            "when": pd.to_datetime(["2026-01-01"] * 30),
            "state": ["well"] * 20 + ["ill"] * 6 + ["rare"] * 3 + [None],
            "flag": [True, False] * 15,
            "nothing": [None] * 30,
            "huge": pd.Series([10**400] * 30, dtype=object),
        }
    )
    columns = {c.name: c for c in (ColumnShares.of(*each) for each in table_columns(frame, list(frame), np.arange(30)))}
    assert columns["age"].seen.tolist() == [10, 10, 10]
    assert columns["state"].words == ("well", "ill")  # three rows might be somebody
    assert columns["state"].seen.tolist() == [20, 6, 3, 1]
    assert columns["flag"].words == ("True", "False")
    assert columns["when"].seen.tolist() == [30, 0, 0]
    assert columns["nothing"].seen.tolist() == [0, 30]
    assert columns["huge"].seen.tolist() == [0, 30]
    for column in columns.values():
        column.check()
    assert columns["age"].counts(["forty", 40, 12.0, None]).tolist() == [1, 1, 2]
    assert columns["state"].counts(["ill", "\ud800", 7]).tolist() == [0, 1, 2, 0]


def test_wide_and_sparse_rows_have_no_columns_to_compare():
    for X in (np.zeros((5, 301)), sparse.csr_array(np.eye(5)), np.zeros(5)):
        assert list(table_columns(X, (), np.arange(5))) == []


def test_ranges_where_values_are_tied():
    column = ColumnShares.of("zeros", np.array([0.0] * 90 + [-1.0, np.inf, -np.inf] + [5.0] * 7))
    assert column.edges.tolist() == [0.0]
    assert column.seen.tolist() == [92, 8, 0]
    assert ColumnShares.of("one value", np.full(50, -0.0)).seen.tolist() == [50, 0]
    assert ColumnShares.of("few", np.array([3.0, 1.0, 2.0])).edges.tolist() == [1.0, 2.0]
