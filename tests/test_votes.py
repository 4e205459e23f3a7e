from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certivote import votes as votes_module
from certivote.maths import dirichlet
from certivote.votes import BinnedVotes, DenseVotes, fixed_point, plurality

SHAPES = [(1, 1, 2), (1, 7, 3), (13, 1, 2), (30, 11, 2), (25, 8, 5)]
STUMPS = [(1, 1, 1), (20, 1, 3), (17, 3, 1), (40, 4, 10)]


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


def both_kinds():
    return [dense(*shape) for shape in SHAPES] + [binned(*shape) for shape in STUMPS]


IDS = [f"dense{shape}" for shape in SHAPES] + [f"binned{shape}" for shape in STUMPS]


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


@pytest.mark.parametrize(("votes", "codes"), both_kinds(), ids=IDS)
def test_masses_against_a_loop_over_voters(votes, codes):
    weights = np.random.default_rng(2).uniform(0, 1, votes.n_voters)
    expected = brute_masses(codes, votes.n_classes, weights)
    assert codes.shape == (votes.n_rows, votes.n_voters)
    np.testing.assert_allclose(votes.masses(weights), expected, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(votes.by_class().forward(weights), expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(("votes", "codes"), both_kinds(), ids=IDS)
def test_wrong_masses_against_a_loop_over_voters(votes, codes):
    weights = np.random.default_rng(2).uniform(0, 1, votes.n_voters)
    labels = labels_for(votes)
    expected = [
        sum(weights[j] for j, code in enumerate(row) if code != y) for row, y in zip(codes, labels, strict=True)
    ]
    np.testing.assert_allclose(votes.against(labels).forward(weights), expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(("votes", "codes"), both_kinds(), ids=IDS)
def test_adjoint_of_the_masses(votes, codes):
    rng = np.random.default_rng(3)
    weights, gradient = rng.normal(size=votes.n_voters), rng.normal(size=(votes.n_rows, votes.n_classes))
    mapping = votes.by_class()
    pulled = mapping.adjoint(gradient)
    assert np.sum(mapping.forward(weights) * gradient) == pytest.approx(weights @ pulled, rel=1e-10, abs=1e-10)
    expected = [sum(gradient[i, code] for i, code in enumerate(column)) for column in codes.T]
    np.testing.assert_allclose(pulled, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("votes", "codes"), both_kinds(), ids=IDS)
def test_adjoint_of_the_wrong_masses(votes, codes):
    rng = np.random.default_rng(4)
    labels = labels_for(votes)
    weights, gradient = rng.normal(size=votes.n_voters), rng.normal(size=votes.n_rows)
    mapping = votes.against(labels)
    pulled = mapping.adjoint(gradient)
    assert mapping.forward(weights) @ gradient == pytest.approx(weights @ pulled, rel=1e-10, abs=1e-10)
    expected = [gradient[column != labels].sum() for column in codes.T]
    np.testing.assert_allclose(pulled, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("votes", "codes"), both_kinds(), ids=IDS)
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
    monkeypatch.setattr(votes_module, "_CHUNK", 5)
    np.testing.assert_array_equal(votes.masses(weights), whole)
    np.testing.assert_array_equal(whole, brute_masses(codes, 4, weights))


def test_many_classes_do_not_overflow_the_code_type():
    codes = np.array([[0, 199, 255], [255, 255, 1]], dtype=np.uint8)
    masses = DenseVotes(codes, 256).masses(np.array([0.5, 0.25, 0.25]))
    assert masses.shape == (2, 256)
    assert masses[0, [0, 199, 255]].tolist() == [0.5, 0.25, 0.25]
    assert masses[1, [1, 255]].tolist() == [0.25, 0.75]


@pytest.mark.parametrize("concentration", [1e-4, 0.01, 0.5, 5.0, 1e4])
@pytest.mark.parametrize("n_voters", [1, 2, 3, 100, 2460])
def test_fixed_point_weights_are_multiples_that_sum_to_one(n_voters, concentration):
    for seed in range(5):
        log_weights, _, _ = dirichlet.draw(np.full(n_voters, concentration), np.random.default_rng(seed))
        weights = fixed_point(log_weights)
        assert sum(Fraction(float(weight)) for weight in weights) == 1
        assert weights.sum() == 1.0
        assert weights[::-1].sum() == 1.0
        assert np.all(weights >= 0)
        assert np.all(weights * 2.0**52 == np.floor(weights * 2.0**52))
        np.testing.assert_allclose(weights, np.exp(log_weights), rtol=0, atol=1e-12)


@settings(deadline=None)
@given(st.lists(st.floats(-800.0, 0.0), min_size=1, max_size=50))
def test_fixed_point_of_any_normalised_logarithms(logits):
    logits = np.array(logits)
    log_weights = logits - (logits.max() + np.log(np.exp(logits - logits.max()).sum()))
    weights = fixed_point(log_weights)
    assert sum(Fraction(float(weight)) for weight in weights) == 1
    assert np.all(weights >= 0)
    assert np.all(weights * 2.0**52 == np.floor(weights * 2.0**52))


def test_fixed_point_leaves_its_argument_alone():
    log_weights = np.log([0.2, 0.3, 0.5])
    kept = log_weights.copy()
    fixed_point(log_weights)
    np.testing.assert_array_equal(log_weights, kept)


@pytest.mark.parametrize(("votes", "codes"), both_kinds(), ids=IDS)
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


@pytest.mark.parametrize(
    ("masses", "winner"),
    [
        ([0.5, 0.5], 0),
        ([0.2, 0.4, 0.4], 1),
        ([0.25, 0.25, 0.25, 0.25], 0),
        ([0.0, 0.3, 0.1, 0.3, 0.3], 1),
        ([0.1, 0.2, 0.7], 2),
        ([0.5 - 2.0**-52, 0.5 + 2.0**-52], 1),
    ],
)
def test_plurality_ties_go_to_the_smallest_class(masses, winner):
    assert plurality(np.array([masses])).tolist() == [winner]
