"""Tables of many votes, block by block, beside the same tables in one piece."""

import pickle

import numpy as np
import pytest
from many import LOOPS, blocks, floats, hard_rows, loops

from certivote.maths.loops import compiled_loops
from certivote.votes import (
    BinnedVotes,
    DenseVotes,
    SoftVotes,
    _blocks,
    _lookups,
    fixed_point,
    is_many,
    join_votes,
    row_blocks,
)

SHAPES = [(1, 1, 2), (1, 9, 3), (50, 1, 2), (50, 8, 2), (61, 17, 2), (61, 17, 5), (33, 5, 300), (40, 100, 10)]


def dense(n_rows, n_voters, n_classes):
    return DenseVotes(hard_rows(n_rows, n_voters, n_classes)[0], n_classes)


def binned(n_rows, n_features=3, n_thresholds=4):
    bins = np.random.default_rng(1).integers(0, n_thresholds + 1, (n_rows, n_features)).astype(np.uint8)
    return BinnedVotes(bins, n_thresholds)


def soft(n_rows):
    return SoftVotes(np.random.default_rng(2).dirichlet(np.ones(2), (n_rows, 4)))


TABLES = [
    *(dense(*shape) for shape in SHAPES),
    binned(1),
    binned(57),
    soft(57),
    join_votes([dense(57, 9, 2), binned(57), soft(57), dense(57, 3, 2)]),
]
IDS = [*map(str, SHAPES), "bins 1", "bins 57", "soft 57", "joined 57"]


def labels_for(votes):
    return np.random.default_rng(3).integers(0, votes.n_classes, votes.n_rows)


def fixed_weights(votes):
    return fixed_point(np.log(np.random.default_rng(4).dirichlet(np.full(votes.n_voters, 0.5)) + 1e-9))


@pytest.mark.parametrize("kind", LOOPS)
@pytest.mark.parametrize("entries", [1, 70, 300, 10**6])
@pytest.mark.parametrize("votes", TABLES, ids=IDS)
def test_maps_are_those_of_one_piece(votes, entries, kind):
    rng = np.random.default_rng(5)
    labels, weights = labels_for(votes), rng.uniform(0, 1, votes.n_voters)
    by_row, by_cell = rng.normal(size=votes.n_rows), rng.normal(size=(votes.n_rows, votes.n_classes))
    with floats():
        masses, wrong = votes.by_class(), votes.against(labels)
        expected = [masses.forward(weights), masses.adjoint(by_cell), wrong.forward(weights), wrong.adjoint(by_row)]
        columns = [wrong.forward(one) for one in np.eye(votes.n_voters)]
        class_columns = [masses.forward(one) for one in np.eye(votes.n_voters)]
    with blocks(entries), loops(kind):
        assert is_many(votes)
        masses, wrong = votes.by_class(), votes.against(labels)
        found = [masses.forward(weights), masses.adjoint(by_cell), wrong.forward(weights), wrong.adjoint(by_row)]
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
        for j in range(votes.n_voters):
            np.testing.assert_allclose(wrong.column(j), columns[j], rtol=0, atol=1e-15)
            np.testing.assert_allclose(masses.column(j), class_columns[j], rtol=0, atol=1e-15)


@pytest.mark.parametrize("votes", TABLES, ids=IDS)
def test_a_column_is_the_image_of_one_voter(votes):
    labels = labels_for(votes)
    for mapping in (votes.against(labels), votes.by_class()):
        for j, one in enumerate(np.eye(votes.n_voters)):
            np.testing.assert_array_equal(mapping.column(j), mapping.forward(one))


@pytest.mark.parametrize("kind", LOOPS)
@pytest.mark.parametrize("votes", TABLES[:-2], ids=IDS[:-2])
def test_masses_under_fixed_point_weights_are_exact(votes, kind):
    weights = fixed_weights(votes)
    with floats():
        expected = votes.masses(weights)
    with blocks(100), loops(kind):
        np.testing.assert_array_equal(votes.masses(weights), expected)
        for rows, block in row_blocks(votes):
            np.testing.assert_array_equal(block.masses(weights), expected[rows])


@pytest.mark.parametrize("votes", TABLES, ids=IDS)
def test_blocks_are_all_rows_in_their_order(votes):
    with floats():
        assert [(rows, block is votes) for rows, block in row_blocks(votes)] == [(slice(0, votes.n_rows), True)]
    with blocks(130):
        found = row_blocks(votes)
        assert [i for rows, _ in found for i in range(votes.n_rows)[rows]] == list(range(votes.n_rows))
        assert [block.n_rows for _, block in found] == [rows.stop - rows.start for rows, _ in found]
        assert {(block.n_voters, block.n_classes) for _, block in found} == {(votes.n_voters, votes.n_classes)}
        assert votes.n_rows == 1 or len(found) > 1


def test_tables_are_many_from_a_number_of_entries_on():
    for rows, expected in ((_blocks.MANY // 100 - 1, False), (_blocks.MANY // 100, True)):
        assert is_many(DenseVotes(np.zeros((rows, 100), dtype=np.uint8), 2)) is expected
        # Of bins, those count that are not the usual one of their feature: here, every other one.
        halves = np.repeat((np.arange(2 * rows) % 2).astype(np.uint8)[:, None], 100, axis=1)
        assert is_many(BinnedVotes(halves, 10)) is expected
        assert not is_many(BinnedVotes(np.zeros((rows, 100), dtype=np.uint8), 10))


def test_stumps_are_copied_without_their_matrix():
    votes = BinnedVotes(np.array([[0, 1], [2, 1], [0, 0]]), 2)
    votes.by_class()
    again = pickle.loads(pickle.dumps(votes))
    assert set(vars(again)) == set(vars(BinnedVotes(np.array([[0]]), 2)))
    assert again.digest() == votes.digest()


def test_a_block_is_not_copied():
    codes = np.zeros((100, 50), dtype=np.uint8)
    assert np.shares_memory(DenseVotes(codes, 2).block(slice(10, 20))._codes, codes)


@pytest.mark.parametrize("votes", TABLES, ids=IDS)
def test_digests_know_nothing_of_blocks(votes):
    with blocks(100):
        assert votes.digest() == votes.take(np.arange(votes.n_rows)).digest()
        in_blocks = votes.digest()
    with floats():
        assert votes.digest() == in_blocks


@pytest.mark.parametrize("share", [0.0, 0.2, 0.9])
def test_rows_with_and_without_a_usual_class(share):
    """Without compiled loops, a sparse matrix is kept if it is small, and made anew for each use if not."""
    rng = np.random.default_rng(0)
    codes = (rng.random((400, 30)) < share) * rng.integers(1, 7, (400, 30))
    votes, weights, gradient = DenseVotes(codes, 7), rng.random(30), rng.normal(size=(400, 7))
    expected = votes.by_class()
    with blocks(5000), loops("numpy"):
        kinds = {type(block.by_class()) for _, block in row_blocks(votes)}
        assert kinds == {_lookups._SparseClasses if share > 0.5 else _lookups._UsualClasses}
        found = votes.by_class()
        np.testing.assert_allclose(found.forward(weights), expected.forward(weights), rtol=1e-13, atol=1e-14)
        np.testing.assert_allclose(found.adjoint(gradient), expected.adjoint(gradient), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 5])
def test_compiled_loops_add_in_the_same_order(n_classes):
    """Sums over bits and bytes are the same to the last digit."""
    codes, labels = hard_rows(500, 37, n_classes)
    rng = np.random.default_rng(6)
    weights, gradient = rng.random(37), rng.normal(size=500)
    found = []
    for kind in LOOPS:
        with blocks(2000), loops(kind):
            votes = DenseVotes(codes, n_classes)
            wrong = votes.against(labels)
            stumps = BinnedVotes(codes, n_classes - 1).against(labels % 2)
            own = np.linspace(0, 1, 37 * (n_classes - 1) * 2)
            found.append(
                [
                    votes.masses(weights),
                    wrong.forward(weights),
                    wrong.adjoint(gradient),
                    stumps.forward(own),
                    stumps.adjoint(gradient),
                ]
            )
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_small_tables_compile_nothing():
    compiled_loops.cache_clear()
    votes = dense(200, 10, 4)
    votes.by_class().forward(np.ones(10))
    votes.against(labels_for(votes)).adjoint(np.ones(200))
    votes.masses(np.ones(10))
    assert compiled_loops.cache_info().currsize == 0


def test_a_numba_that_cannot_be_used_is_warned_about(unusable):
    """As numba does where numpy is newer than itself; without a word, nobody would know why it is slow."""
    unusable("numba", "Numba needs NumPy 2.4 or less. Got NumPy 2.5.")
    (codes, _), weights = hard_rows(500, 37, 2), np.ones(37)
    with blocks(2000):
        compiled_loops.cache_clear()
        with pytest.warns(UserWarning, match=r"numba cannot be used, .* more slowly: Numba needs NumPy 2\.4 or less"):
            found = DenseVotes(codes, 2).masses(weights)
        compiled_loops.cache_clear()
    with blocks(2000), loops("numpy"):
        np.testing.assert_array_equal(found, DenseVotes(codes, 2).masses(weights))
