import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats

from certivote.certificate import row_keys
from certivote.pipeline import PartRows
from certivote.pipeline._division import split_rows
from certivote.pipeline._duplicates import count_duplicates


def order(n_rows, seed=0):
    return np.random.default_rng(seed).permutation(n_rows)


def test_none_certifies_on_every_row():
    (part,) = split_rows(order(7), "none", 0.5)
    assert len(part.train) == 0
    assert part.certify.tolist() == list(range(7))


@pytest.mark.parametrize("share", [0.1, 0.5, 0.65])
def test_parts_are_disjoint_and_complete(share):
    (part,) = split_rows(order(100), "single", share)
    assert len(part.train) == round(100 * share)
    assert sorted([*part.train, *part.certify]) == list(range(100))
    assert order(100)[: len(part.train)].tolist() == part.train.tolist()


def test_cross_uses_each_part_both_ways():
    first, second = split_rows(order(11), "cross", 0.4)
    assert first.train.tolist() == second.certify.tolist()
    assert first.certify.tolist() == second.train.tolist()


def test_the_split_is_uniform_and_not_stratified():
    # With 10 positives among 40 rows, those in a half are hypergeometric; a stratified split would always give 5.
    labels = np.arange(40) < 10
    counts = np.array([labels[split_rows(order(40, seed), "single", 0.5)[0].certify].sum() for seed in range(2000)])
    expected = 2000 * stats.hypergeom(40, 10, 20).pmf(np.arange(11))
    pooled = [expected[:3].sum(), *expected[3:8], expected[8:].sum()]
    seen = [np.sum(counts < 3), *[np.sum(counts == k) for k in range(3, 8)], np.sum(counts >= 8)]
    assert stats.chisquare(seen, pooled).pvalue > 1e-3


@pytest.mark.parametrize(("n_rows", "share"), [(1, 0.5), (3, 0.01), (3, 0.99)])
def test_a_part_without_rows_is_refused(n_rows, share):
    with pytest.raises(ValueError, match=f"n_samples = {n_rows} with train_share={share}"):
        split_rows(order(n_rows), "single", share)


@pytest.mark.parametrize(("n_rows", "count"), [(2, 2), (10, 3), (11, 5)])
def test_each_fold_is_certified_with_voters_from_the_others(n_rows, count):
    parts = split_rows(order(n_rows), count, 0.9)
    assert len(parts) == count
    assert sorted(row for part in parts for row in part.certify) == list(range(n_rows))
    assert {len(part.certify) for part in parts} <= {n_rows // count, -(-n_rows // count)}
    assert all(sorted([*part.train, *part.certify]) == list(range(n_rows)) for part in parts)


def test_more_folds_than_rows_are_refused():
    with pytest.raises(ValueError, match="n_samples = 3, and split=4 needs at least one for each fold"):
        split_rows(order(3), 4, 0.5)


@pytest.mark.parametrize(
    "convert",
    [
        lambda X: X,
        lambda X: X.astype(np.uint8),
        sparse.csr_array,
        lambda X: pd.DataFrame(X),
        lambda X: pd.DataFrame({"a": X[:, 0].astype(int).astype(str), "b": X[:, 1]}),
    ],
)
def test_duplicates_are_counted(convert):
    X = convert(np.array([[0, 1], [0, 1], [0, 1], [2, 3], [4, 5], [4, 5]], dtype=float))
    part = PartRows(train=np.array([0, 3]), certify=np.array([1, 2, 4, 5]))
    assert count_duplicates(row_keys(X), part) == (2, 2)


def test_negative_zero_is_zero():
    part = PartRows(train=np.array([], dtype=int), certify=np.arange(2))
    assert count_duplicates(row_keys(np.array([[0.0], [-0.0]])), part) == (1, 0)
