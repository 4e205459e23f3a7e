"""Votes as a linear map, in every storage, beside loops over the voters."""

from fractions import Fraction

import numpy as np
import pytest

from certivote.maths import dirichlet
from certivote.votes import BinnedVotes, DenseVotes, SoftVotes, _dense, build_votes, fixed_point, join_votes

SHAPES = [(1, 1, 2), (1, 7, 3), (13, 1, 2), (30, 11, 2), (25, 8, 5)]
STUMPS = [(1, 1, 1), (20, 1, 3), (17, 3, 1), (40, 4, 10)]
ROWS = [1, 30]


def dense(n_rows, n_voters, n_classes, seed=0):
    codes = np.random.default_rng(seed).integers(0, n_classes, (n_rows, n_voters)).astype(np.uint8)
    return DenseVotes(codes, n_classes), codes


def binned(n_rows, n_features, n_thresholds, seed=0):
    """Binned votes and, voter by voter, the classes they stand for."""
    rng = np.random.default_rng(seed)
    bins = rng.integers(0, n_thresholds + 1, (n_rows, n_features)).astype(np.uint8)
    bins[rng.random(bins.shape) < 0.4] = n_thresholds // 2
    codes = np.empty((n_rows, n_features * n_thresholds * 2), dtype=np.uint8)
    for i in range(n_rows):
        j = 0
        for f in range(n_features):
            for t in range(n_thresholds):
                above = bins[i, f] > t
                codes[i, j], codes[i, j + 1] = (1, 0) if above else (0, 1)
                j += 2
    return BinnedVotes(bins, n_thresholds), codes


def joined(n_rows, seed=0):
    """Votes of trees, of stumps and of trees again, which no one storage holds."""
    parts = [dense(n_rows, 3, 2, seed), binned(n_rows, 2, 3, seed + 1), dense(n_rows, 2, 2, seed + 2)]
    return join_votes([votes for votes, _ in parts]), np.concatenate([codes for _, codes in parts], axis=1)


def all_kinds():
    kinds = [dense(*shape) for shape in SHAPES] + [binned(*shape) for shape in STUMPS]
    kinds += [(SoftVotes(np.eye(shape[2])[codes]), codes) for shape in SHAPES for _, codes in [dense(*shape)]]
    return kinds + [joined(n_rows) for n_rows in ROWS]


IDS = [
    *(f"dense{shape}" for shape in SHAPES),
    *(f"binned{shape}" for shape in STUMPS),
    *(f"soft{shape}" for shape in SHAPES),
    *(f"joined{n_rows}" for n_rows in ROWS),
]


def brute_masses(codes, n_classes, weights):
    masses = np.zeros((len(codes), n_classes))
    for i, row in enumerate(codes):
        for j, code in enumerate(row):
            masses[i, code] += weights[j]
    return masses


def exact_masses(codes, n_classes, weights):
    parts = [Fraction(float(weight)) for weight in weights]
    return [
        [sum((w for w, code in zip(parts, row, strict=True) if code == c), Fraction(0)) for c in range(n_classes)]
        for row in codes
    ]


def drawn_weights(n_voters, seed=0, concentration=0.5):
    log_weights, _, _ = dirichlet.draw(np.full(n_voters, concentration), np.random.default_rng(seed))
    return fixed_point(log_weights)


def labels_for(votes, seed=1):
    return np.random.default_rng(seed).integers(0, votes.n_classes, votes.n_rows)


@pytest.mark.parametrize(("votes", "codes"), all_kinds(), ids=IDS)
def test_masses_against_a_loop_over_voters(votes, codes):
    weights = np.random.default_rng(2).uniform(0, 1, votes.n_voters)
    expected = brute_masses(codes, votes.n_classes, weights)
    assert codes.shape == (votes.n_rows, votes.n_voters)
    np.testing.assert_allclose(votes.masses(weights), expected, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(votes.by_class().forward(weights), expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(("votes", "codes"), all_kinds(), ids=IDS)
def test_wrong_masses_against_a_loop_over_voters(votes, codes):
    weights = np.random.default_rng(2).uniform(0, 1, votes.n_voters)
    labels = labels_for(votes)
    expected = [
        sum(weights[j] for j, code in enumerate(row) if code != y) for row, y in zip(codes, labels, strict=True)
    ]
    np.testing.assert_allclose(votes.against(labels).forward(weights), expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(("votes", "codes"), all_kinds(), ids=IDS)
def test_adjoint_of_the_masses(votes, codes):
    rng = np.random.default_rng(3)
    weights, gradient = rng.normal(size=votes.n_voters), rng.normal(size=(votes.n_rows, votes.n_classes))
    mapping = votes.by_class()
    pulled = mapping.adjoint(gradient)
    assert np.sum(mapping.forward(weights) * gradient) == pytest.approx(weights @ pulled, rel=1e-10, abs=1e-10)
    expected = [sum(gradient[i, code] for i, code in enumerate(column)) for column in codes.T]
    np.testing.assert_allclose(pulled, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("votes", "codes"), all_kinds(), ids=IDS)
def test_adjoint_of_the_wrong_masses(votes, codes):
    rng = np.random.default_rng(4)
    labels = labels_for(votes)
    weights, gradient = rng.normal(size=votes.n_voters), rng.normal(size=votes.n_rows)
    mapping = votes.against(labels)
    pulled = mapping.adjoint(gradient)
    assert mapping.forward(weights) @ gradient == pytest.approx(weights @ pulled, rel=1e-10, abs=1e-10)
    expected = [gradient[column != labels].sum() for column in codes.T]
    np.testing.assert_allclose(pulled, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("votes", "codes"), all_kinds(), ids=IDS)
def test_take_keeps_the_chosen_rows_in_order(votes, codes):
    rows = np.random.default_rng(5).integers(0, votes.n_rows, 2 * votes.n_rows)
    taken = votes.take(rows)
    weights = drawn_weights(votes.n_voters)
    assert (taken.n_rows, taken.n_voters, taken.n_classes) == (len(rows), votes.n_voters, votes.n_classes)
    np.testing.assert_array_equal(taken.masses(weights), votes.masses(weights)[rows])
    labels = labels_for(votes)
    np.testing.assert_array_equal(
        taken.against(labels[rows]).forward(weights), votes.against(labels).forward(weights)[rows]
    )
    np.testing.assert_array_equal(taken.masses(weights), brute_masses(codes[rows], votes.n_classes, weights))


def test_masses_do_not_depend_on_the_size_of_a_chunk(monkeypatch):
    votes, codes = dense(23, 9, 4)
    weights = drawn_weights(9)
    whole = votes.masses(weights)
    monkeypatch.setattr(_dense, "_CELLS", 5)
    np.testing.assert_array_equal(votes.masses(weights), whole)
    np.testing.assert_array_equal(whole, brute_masses(codes, 4, weights))


def test_many_classes_do_not_overflow_the_code_type():
    codes = np.array([[0, 199, 255], [255, 255, 1]], dtype=np.uint8)
    masses = DenseVotes(codes, 256).masses(np.array([0.5, 0.25, 0.25]))
    assert masses.shape == (2, 256)
    assert masses[0, [0, 199, 255]].tolist() == [0.5, 0.25, 0.25]
    assert masses[1, [1, 255]].tolist() == [0.25, 0.75]


@pytest.mark.parametrize(("votes", "codes"), all_kinds(), ids=IDS)
def test_masses_of_fixed_point_weights_are_exact(votes, codes):
    for seed in range(3):
        weights = drawn_weights(votes.n_voters, seed)
        exact = exact_masses(codes, votes.n_classes, weights)
        got = [[Fraction(float(mass)) for mass in row] for row in votes.masses(weights)]
        assert got == exact
        labels = labels_for(votes)
        wrong = [Fraction(float(mass)) for mass in votes.against(labels).forward(weights)]
        assert wrong == [1 - row[y] for row, y in zip(exact, labels, strict=True)]


@pytest.mark.parametrize("seed", range(5))
def test_masses_of_permuted_voters_are_bit_identical(seed):
    rng = np.random.default_rng(seed)
    _, codes = dense(60, 300, 3, seed)
    weights = drawn_weights(300, seed, concentration=0.1)
    masses = DenseVotes(codes, 3).masses(weights)
    for _ in range(5):
        order = rng.permutation(300)
        np.testing.assert_array_equal(DenseVotes(codes[:, order], 3).masses(weights[order]), masses)


@pytest.mark.parametrize("shape", STUMPS)
def test_binned_and_dense_masses_are_bit_identical(shape):
    votes, codes = binned(*shape)
    weights = drawn_weights(votes.n_voters)
    labels = labels_for(votes)
    same = DenseVotes(codes, 2)
    np.testing.assert_array_equal(votes.masses(weights), same.masses(weights))
    np.testing.assert_array_equal(votes.against(labels).forward(weights), same.against(labels).forward(weights))


def a_loop_over_rows(votes, weights):
    return np.concatenate([votes.take(np.array([i])).masses(weights[i]) for i in range(votes.n_rows)])


@pytest.mark.parametrize(("votes", "codes"), all_kinds(), ids=IDS)
def test_masses_with_weights_of_each_rows_own(votes, codes):
    rng = np.random.default_rng(6)
    weights = rng.uniform(0, 1, (votes.n_rows, votes.n_voters))
    masses = votes.row_masses(weights)
    assert masses.shape == (votes.n_rows, votes.n_classes)
    assert masses.dtype == float
    np.testing.assert_allclose(masses, a_loop_over_rows(votes, weights), rtol=1e-12, atol=1e-13)
    # In whatever order the weights lie in memory.
    np.testing.assert_allclose(votes.row_masses(np.asfortranarray(weights)), masses, rtol=1e-12, atol=1e-13)
    # Of the same weights in every row, they are the masses.
    same = rng.uniform(0, 1, votes.n_voters)
    repeated = np.broadcast_to(same, weights.shape)
    np.testing.assert_allclose(votes.row_masses(repeated), votes.masses(same), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(("votes", "codes"), all_kinds(), ids=IDS)
def test_masses_with_fixed_point_weights_of_each_rows_own_are_exact(votes, codes):
    weights = np.stack([drawn_weights(votes.n_voters, seed) for seed in range(votes.n_rows)])
    masses = votes.row_masses(weights)
    np.testing.assert_array_equal(masses, a_loop_over_rows(votes, weights))
    np.testing.assert_array_equal(votes.row_masses(np.asfortranarray(weights)), masses)
    got = [[Fraction(float(mass)) for mass in row] for row in masses]
    assert got == [exact_masses(codes[i : i + 1], votes.n_classes, weights[i])[0] for i in range(votes.n_rows)]


@pytest.mark.parametrize("shape", SHAPES)
def test_divided_votes(shape):
    n_rows, n_voters, n_classes = shape
    rng = np.random.default_rng(7)
    fractions = rng.dirichlet(np.ones(n_classes), (n_rows, n_voters))
    votes = build_votes(fractions=fractions)
    weights, labels = rng.uniform(0, 1, n_voters), rng.integers(0, n_classes, n_rows)
    masses = np.array([sum(w * f for w, f in zip(weights, row, strict=True)) for row in fractions])
    np.testing.assert_allclose(votes.masses(weights), masses, rtol=1e-12)
    wrong = weights.sum() - masses[np.arange(n_rows), labels]
    np.testing.assert_allclose(votes.against(labels).forward(weights), wrong, rtol=1e-11, atol=1e-13)
    own = rng.uniform(0, 1, (n_rows, n_voters))
    np.testing.assert_allclose(votes.row_masses(own), a_loop_over_rows(votes, own), rtol=1e-12)
    for mapping in (votes.by_class(), votes.against(labels)):
        gradient = rng.normal(size=mapping.forward(weights).shape)
        pulled = mapping.adjoint(gradient)
        assert np.sum(mapping.forward(weights) * gradient) == pytest.approx(weights @ pulled, rel=1e-10, abs=1e-10)


def test_row_masses_of_votes_stored_column_by_column():
    votes, codes = dense(20, 6, 3)
    by_column = DenseVotes(np.asfortranarray(codes), 3)
    weights = np.random.default_rng(8).uniform(0, 1, (20, 6))
    np.testing.assert_array_equal(by_column.row_masses(weights), votes.row_masses(weights))
