"""Rows that seem to belong together are remarked on, and rows that are merely dense, discrete or sorted are not."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import datasets

from certivote import CertifiedVoteClassifier, verify
from certivote.remarks import _related_rows, related_rows
from certivote.remarks._columns import read_column
from certivote.remarks._neighbours import sample_of, share_with_jumps

REPEATS, NEXT, NEAR = "repeated values", "neighbours alike", "near-duplicates"


def findings(X, names=(), seed=0, share=0.5):
    """Of a random division, as a fit would make it."""
    rng = np.random.default_rng(seed + 1000)
    shuffled = rng.permutation(X.shape[0])
    cut = int(share * len(shuffled))
    return related_rows(X, np.sort(shuffled[:cut]), np.sort(shuffled[cut:]), names, digest=f"rows {seed}")


def one(found, kind, *which):
    """There is one finding, of this kind, about these columns: their names, or their places if they have none."""
    (finding,) = found
    assert (finding.kind, finding.columns or finding.places) == (kind, which)
    return finding.numbers


def grouped(sizes, noise, columns=5, seed=0, order="shuffled"):
    """Rows around a centre for each group, and the group of each row."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(len(sizes)), sizes)
    X = rng.normal(size=(len(sizes), columns))[groups] + noise * rng.normal(size=(len(groups), columns))
    kept = rng.permutation(len(groups)) if order == "shuffled" else np.arange(len(groups))
    return X[kept], rng.permutation(len(sizes))[groups[kept]]


def named(X, **columns):
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).assign(**columns)


# Columns that name groups


@pytest.mark.parametrize("order", ["shuffled", "sorted"])
@pytest.mark.parametrize("noise", [0.01, 0.1, 0.3, 1.0])
@pytest.mark.parametrize("kind", ["number", "text"])
def test_a_column_that_names_groups_is_named_whatever_it_is_called(kind, noise, order):
    X, groups = grouped(np.full(150, 10), noise, order=order)
    thing = groups if kind == "number" else [f"p{group}" for group in groups]
    frame = named(X, thing=thing)
    assert one(findings(frame, list(frame)), REPEATS, "thing") == (150, 10, 10)


def test_the_eight_hundred_patients_are_named():
    X, groups = grouped(np.full(800, 10), 0.1, columns=4)
    frame = named(X, patient_id=groups + 10_000)
    assert one(findings(frame, list(frame)), REPEATS, "patient_id") == (800, 10, 10)


def test_a_column_that_is_called_an_identifier_needs_less_evidence():
    X, groups = grouped(np.full(60, 10), 1.0)
    assert findings(named(X, thing=groups), [*"abcde", "thing"]) == ()
    for name in ("patient_id", "Subject", "machine no", "customerID", "ID"):
        one(findings(named(X, thing=groups), [*"abcde", name]), REPEATS, name)
    for name in ("patient_age", "paid", "grid", "number_of_rooms", "age_group"):
        assert findings(named(X, thing=groups), [*"abcde", name]) == ()


def test_sizes_may_differ_and_values_may_be_missing():
    sizes = np.random.default_rng(0).integers(1, 21, size=150)
    X, groups = grouped(sizes, 0.3)
    values = np.where(np.random.default_rng(1).random(len(X)) < 0.2, np.nan, groups)
    frame = named(X).assign(**{"the patient": values})
    _, fewest, most = one(findings(frame, list(frame)), REPEATS, "the patient")
    assert 1 == fewest < most <= 20


def test_without_names_of_columns_the_place_is_given():
    X, groups = grouped(np.full(150, 10), 0.1)
    one(findings(np.column_stack([X, groups])), REPEATS, 5)
    matrix = sparse.csr_matrix(np.column_stack([X, groups, np.zeros((len(X), 100))]))
    one(findings(matrix), REPEATS, 5)


def test_days_are_named_if_rows_of_one_are_alike():
    X, groups = grouped(np.full(150, 8), 0.1)
    frame = named(X, day=pd.Timestamp("2024-01-01") + pd.to_timedelta(groups, unit="D"))
    one(findings(frame, list(frame)), REPEATS, "day")


def test_the_coarsest_of_nested_names_is_named_and_equal_ones_once():
    X, groups = grouped(np.full(120, 12), 0.1)
    visit = groups * 3 + np.random.default_rng(0).integers(3, size=len(groups))
    frame = named(X, visit=visit, patient=groups, name=[f"n{group}" for group in groups])
    (finding,) = findings(frame, list(frame))
    assert (finding.kind, finding.numbers[0]) == (REPEATS, 120)


def test_a_long_table_is_looked_at_in_blocks(monkeypatch):
    monkeypatch.setattr(_related_rows, "_ROWS", 1200)
    X, groups = grouped(np.full(500, 10), 0.1)
    frame = named(X, thing=[f"p{group}" for group in groups])
    assert one(findings(frame, list(frame)), REPEATS, "thing") == (500, 10, 10)
    X, _ = grouped(np.full(500, 10), 0.1, order="sorted")
    one(findings(X), NEXT)


def ordinary(n=2000, seed=0):
    rng = np.random.default_rng(seed)
    level, age, city = rng.integers(10, size=n), rng.integers(18, 90, size=n), rng.integers(60, size=n)
    shop = rng.integers(30, size=n)
    spot = rng.normal(size=(60, 2))[city]
    return pd.DataFrame(
        {
            "age": age,
            "education": [f"level {code}" for code in level],
            "income": np.exp(10 + 0.02 * age + 0.3 * level + 0.5 * rng.normal(size=n)).round(-2),
            "pressure": rng.normal(120 + 0.5 * age, 10).round(),
            "sex": rng.choice(["m", "f"], size=n),
            "city": [f"c{code}" for code in city],
            "country": [f"k{code % 9}" for code in city],
            "latitude": spot[:, 0],
            "longitude": spot[:, 1],
            "shop": [f"s{code}" for code in shop],
            "sales": rng.normal(size=30)[shop] + rng.normal(size=n),
            "visitors": rng.normal(size=30)[shop] + rng.normal(size=n),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(300, size=n), unit="D"),
        }
    )


@pytest.mark.parametrize("seed", range(5))
def test_measurements_and_ordinary_categories_are_not_named(seed):
    frame = ordinary(seed=seed)
    assert findings(frame, list(frame), seed) == ()
    assert findings(frame.drop(columns="day").sort_values("shop"), list(frame.drop(columns="day")), seed) == ()


def test_a_whole_number_that_tells_all_other_columns_is_no_name():
    rng = np.random.default_rng(0)
    time = rng.integers(400, size=2000) / 2000
    others = np.column_stack([np.sin(9 * time), time**2, np.exp(time)]) + 1e-4 * rng.normal(size=(2000, 3))
    assert findings(np.column_stack([2000 * time, others])) == ()


# Neighbours in the table


def test_a_recording_is_told_and_its_shuffled_rows_are_not():
    X = np.cumsum(np.random.default_rng(0).normal(size=(2000, 4)), axis=0)
    one(findings(X), NEXT)
    one(findings(np.column_stack([np.arange(2000), X])), NEXT)
    assert findings(np.random.default_rng(1).permutation(X)) == ()


def test_groups_of_a_sorted_table_are_told():
    one(findings(grouped(np.full(150, 10), 0.3, order="sorted")[0]), NEXT)


@pytest.mark.parametrize("seed", range(3))
def test_sorted_tables_are_not_told(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2000, 5))
    assert findings(X[np.argsort(X[:, 0])], seed=seed) == ()
    classes = np.sort(rng.integers(5, size=2000))
    assert findings(X + 3 * rng.normal(size=(5, 5))[classes], seed=seed) == ()
    coarse = np.column_stack([rng.integers(20, size=2000), X])
    assert findings(coarse[np.lexsort((coarse[:, 1], coarse[:, 0]))], seed=seed) == ()


# Near-duplicates


@pytest.mark.parametrize(
    ("sizes", "noise", "columns"),
    [
        (np.full(400, 2), 0.01, 5),
        (np.full(400, 2), 0.1, 10),
        (np.full(300, 5), 0.1, 5),
        (np.full(150, 10), 0.01, 3),
        (np.full(150, 10), 0.3, 20),
        (np.full(80, 50), 0.1, 5),
        (np.random.default_rng(0).integers(1, 31, size=150), 0.1, 8),
    ],
)
def test_groups_without_a_name_are_told_by_near_duplicates(sizes, noise, columns):
    X, _ = grouped(sizes, noise, columns)
    one(findings(X), NEAR)
    frame = named(X, site=np.random.default_rng(0).choice(["a", "b"], size=len(X)))
    one(findings(frame, list(frame)), NEAR)


def test_without_training_rows_the_certification_rows_are_compared_with_one_another():
    X, _ = grouped(np.full(150, 10), 0.1)
    one(related_rows(X, np.arange(0), np.arange(len(X))), NEAR)


def test_only_near_duplicates_among_the_training_rows_are_counted():
    X, _ = grouped(np.full(150, 10), 0.01, order="sorted")
    sample = sample_of(np.arange(len(X)), {j: read_column(X, j) for j in range(X.shape[1])})
    first = np.arange(len(X)) < 750  # whole groups
    assert share_with_jumps(sample, first, ~first, np.random.default_rng(0)) < 0.05
    every = np.arange(len(X)) % 2 == 0
    assert share_with_jumps(sample, every, ~every, np.random.default_rng(0)) > 0.9


def test_the_share_is_that_of_rows_with_near_duplicates():
    X, _ = grouped(np.concatenate([np.full(100, 5), np.ones(1500, dtype=int)]), 0.001, 6)
    (share,) = one(findings(X), NEAR)
    assert 0.15 <= share < 0.31


def test_near_equal_images_are_told_and_images_are_not():
    X = datasets.load_digits().data
    assert findings(X) == ()
    rng = np.random.default_rng(0)
    mostly_zero = np.where(rng.random((1500, 60)) < 0.6, 0.0, rng.integers(1, 255, size=(1500, 60)))
    assert findings(mostly_zero) == ()
    twice = np.repeat(mostly_zero, 2, axis=0)
    twice += (twice > 0) * rng.integers(3, size=twice.shape)
    one(findings(rng.permutation(twice)), NEAR)


def independent():
    rng = np.random.default_rng(0)
    for columns in (2, 3, 5, 10, 50):
        yield f"normal {columns}", rng.normal(size=(2000, columns))
    yield "heavy tails", rng.standard_cauchy((2000, 5))
    yield "counts", rng.poisson(20, size=(2000, 3)).astype(float)
    yield "whole numbers", rng.integers(1000, size=(2000, 8))
    yield "binary", rng.integers(2, size=(2000, 20))
    yield "mixed", np.column_stack([rng.normal(size=(2000, 1)), rng.integers(2, size=(2000, 12))])
    yield "one factor", np.round(50 * rng.normal(size=(2000, 1)) + 15 * rng.normal(size=(2000, 8)))
    missing = np.exp(2 * rng.normal(size=(2000, 8)))
    yield "missing", np.where(rng.random(missing.shape) < 0.2, np.nan, missing)
    yield "surface", np.tanh(rng.normal(size=(2000, 2)) @ rng.normal(size=(2, 12))) + 0.02 * rng.normal(size=(2000, 12))
    yield "clusters", 6 * rng.normal(size=(20, 6))[rng.integers(20, size=2000)] + rng.normal(size=(2000, 6))
    yield "few", rng.normal(size=(150, 4))
    yield "sparse", sparse.random(2000, 300, density=0.05, random_state=0, format="csr")
    yield "duplicates", np.repeat(rng.normal(size=(700, 5)), 3, axis=0)[rng.permutation(2100)]
    for name in ("iris", "wine", "breast_cancer", "diabetes"):
        yield name, getattr(datasets, f"load_{name}")().data


@pytest.mark.parametrize(("name", "X"), [pytest.param(name, X, id=name) for name, X in independent()])
def test_independent_rows_are_not_remarked_on(name, X):
    for seed in range(3):
        assert findings(X, seed=seed) == ()


# What may be given


def test_the_same_seed_gives_the_same_remarks():
    X, _ = grouped(np.full(150, 10), 0.1)
    assert findings(X, seed=3) == findings(X, seed=3) != ()


@pytest.mark.parametrize(
    "X",
    [
        np.ones((300, 3)),
        np.full((300, 3), np.nan),
        np.arange(300.0)[:, None],
        np.empty((300, 0)),
        np.zeros((50, 3)),
        np.array([[1, "a"], [2.5, None]] * 150, dtype=object),
        pd.DataFrame({"lists": [[1, 2]] * 300, "prose": ["one two three four five six seven"] * 300}),
        sparse.csr_matrix((300, 5)),
    ],
    ids=["constant", "missing", "one column", "no column", "few rows", "objects", "lists", "empty sparse"],
)
def test_odd_tables_are_passed_over(X):
    assert findings(X) == ()


def test_columns_that_are_no_features_are_looked_at_too():
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(150), 6)
    rows = rng.normal(size=(150, 4))[patient] + 0.3 * rng.normal(size=(900, 4))
    order = rng.permutation(900)
    X, y = rows[order], (rows[order, 0] + rng.normal(size=900) > 0).astype(int)
    beside = pd.DataFrame({"patient": [f"P{number}" for number in patient[order]], "note": "as usual"})
    fit = CertifiedVoteClassifier("holdout", "forest", split="single", random_state=0).fit
    for features in (X, pd.DataFrame(X, columns=list("abcd"), index=np.arange(900) + 5)):
        remarks = fit(features, y, table=beside).certificate_.remarks
        assert any("Column 'patient' repeats" in remark and "--group patient" in remark for remark in remarks)
        assert not any("'patient'" in remark for remark in fit(features, y).certificate_.remarks)
    clf = fit(X, y, table=beside)
    assert all(line.passed for line in verify(clf.certificate_, clf, X, y, refit=True, table=beside))
    failed = [line for line in verify(clf.certificate_, clf, X, y, refit=True) if not line.passed]
    assert [line.what for line in failed] == ["refit, remarks"]
    assert "give them as table=" in failed[0].detail
    with pytest.raises(ValueError, match="table must have one row for each of the 900 in X; got 899"):
        fit(X, y, table=beside[1:])
