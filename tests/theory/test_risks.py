import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import assert_gradient, central_differences

from certivote.maths import dirichlet
from certivote.maths.beta_tail import half_tail
from certivote.theory.risks import _expected_plurality, count_errors, dirichlet_risk, drawn_risk
from certivote.votes import DenseVotes, fixed_point

LOSSES = ["plurality", "half-weight"]


def sample_codes(n_rows, n_voters, n_classes, seed=0, accuracy=0.6):
    """Voters that are right with the given probability and otherwise vote at random."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_classes, n_rows)
    codes = rng.integers(0, n_classes, (n_rows, n_voters))
    right = rng.random((n_rows, n_voters)) < accuracy
    return np.where(right, labels[:, None], codes).astype(np.uint8), labels


def sample(n_rows, n_voters, n_classes, seed=0, accuracy=0.6):
    codes, labels = sample_codes(n_rows, n_voters, n_classes, seed, accuracy)
    return DenseVotes(codes, n_classes), labels


def brute_errors(masses, labels, loss):
    errors = 0
    for row, y in zip(masses.tolist(), labels, strict=True):
        if loss == "plurality":
            errors += row.index(max(row)) != y
        else:
            errors += sum(mass for c, mass in enumerate(row) if c != y) >= row[y]
    return errors


@st.composite
def masses_and_labels(draw):
    """Masses that are multiples of 1/64 and sum to 1, so that ties are frequent and sums are exact."""
    n_classes = draw(st.integers(2, 5))
    rows = draw(
        st.lists(
            st.lists(st.integers(0, 64), min_size=n_classes - 1, max_size=n_classes - 1).map(sorted),
            min_size=1,
            max_size=8,
        )
    )
    masses = np.array([np.diff([0, *cuts, 64]) for cuts in rows]) / 64.0
    labels = draw(st.lists(st.integers(0, n_classes - 1), min_size=len(rows), max_size=len(rows)))
    return masses, np.array(labels)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_errors_against_a_loop(loss, n_classes):
    votes, labels = sample(200, 6, n_classes)
    for weights in (
        np.array([3, 1, 1, 1, 1, 1]) / 8,
        np.array([2, 2, 2, 1, 1, 0]) / 8,
        np.array([8, 0, 0, 0, 0, 0]) / 8,
    ):
        masses = votes.masses(weights)
        errors = count_errors(masses, labels, loss)
        assert isinstance(errors, int)
        assert errors == brute_errors(masses, labels, loss)


@settings(deadline=None)
@given(masses_and_labels())
def test_errors_of_any_masses_against_a_loop(case):
    masses, labels = case
    plurality, half_weight = (count_errors(masses, labels, loss) for loss in LOSSES)
    assert (plurality, half_weight) == tuple(brute_errors(masses, labels, loss) for loss in LOSSES)
    assert plurality <= half_weight
    if masses.shape[1] == 2:
        ties_of_class_0 = np.count_nonzero((masses[:, 0] == masses[:, 1]) & (labels == 0))
        assert half_weight - plurality == ties_of_class_0


@settings(deadline=None)
@given(st.integers(2, 6), st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_half_weight_errors_are_never_fewer(n_classes, n_voters, seed):
    votes, labels = sample(50, n_voters, n_classes, seed, accuracy=0.3)
    log_weights, _, _ = dirichlet.draw(np.full(n_voters, 0.5), np.random.default_rng(seed))
    masses = votes.masses(fixed_point(log_weights))
    plurality, half_weight = (count_errors(masses, labels, loss) for loss in LOSSES)
    assert plurality <= half_weight
    if n_classes == 2 and np.all(masses[:, 0] != masses[:, 1]):
        assert plurality == half_weight


@pytest.mark.parametrize(("n_classes", "scale"), [(2, 0.2), (2, 3.0), (2, 100.0), (4, 2.0)])
def test_expected_half_weight_risk_against_draws(n_classes, scale):
    votes, labels = sample(80, 9, n_classes)
    rng = np.random.default_rng(1)
    alpha = scale * rng.uniform(0.1, 2.0, 9)
    value, _ = dirichlet_risk(votes, labels, "half-weight")(alpha)
    by_class = votes.by_class()
    drawn = [
        count_errors(by_class.forward(np.exp(dirichlet.draw(alpha, rng)[0])), labels, "half-weight") / 80
        for _ in range(3000)
    ]
    assert abs(value - np.mean(drawn)) < 5 * np.std(drawn) / math.sqrt(len(drawn))


@pytest.mark.parametrize(("n_classes", "scale"), [(2, 0.1), (2, 1.0), (2, 50.0), (2, 500.0), (5, 3.0)])
def test_expected_half_weight_risk_and_gradient_against_the_beta_tail(n_classes, scale):
    votes, labels = sample(150, 8, n_classes)
    alpha = scale * np.random.default_rng(2).uniform(0.2, 2.0, 8)
    wrong_masses = votes.against(labels)

    def mean_tail(alpha):
        return float(np.mean(half_tail(wrong_masses.forward(alpha), alpha.sum())))

    value, gradient = dirichlet_risk(votes, labels, "half-weight")(alpha)
    assert value == pytest.approx(mean_tail(alpha), abs=1e-7)
    assert_gradient(gradient, central_differences(mean_tail, alpha), 1e-4)


@pytest.mark.parametrize(("vote", "expected"), [(0, 0.0), (1, 1.0)])
def test_expected_risk_of_unanimous_voters(vote, expected):
    votes = DenseVotes(np.full((10, 4), vote, dtype=np.uint8), 3)
    labels = np.zeros(10, dtype=np.intp)
    for loss in LOSSES:
        value, gradient = dirichlet_risk(votes, labels, loss)(np.array([0.5, 1.0, 2.0, 3.0]))
        assert value == pytest.approx(expected, abs=1e-7)
        assert np.all(np.abs(gradient) < 1e-4)


@pytest.mark.parametrize("scale", [1.0, 30.0])
@pytest.mark.parametrize("n_classes", [3, 4])
def test_gradient_of_the_expected_plurality_risk(n_classes, scale):
    votes, labels = sample(150, 9, n_classes, accuracy=0.3)
    alpha = scale * np.random.default_rng(3).uniform(0.2, 2.0, 9)
    by_class = votes.by_class()

    def approximate_risk(alpha):
        """The tail at as many standard deviations as the strongest rival is above the label."""
        total = 0.0
        for row, y in zip(by_class.forward(alpha), labels, strict=True):
            rival = max(mass for c, mass in enumerate(row) if c != y)
            z = (rival - row[y]) / math.sqrt(rival + row[y])
            total += float(half_tail(np.array(0.5 * (alpha.sum() + math.sqrt(alpha.sum()) * z)), alpha.sum()))
        return total / len(labels)

    risk = dirichlet_risk(votes, labels, "plurality")
    value, gradient = risk(alpha)
    assert value == pytest.approx(approximate_risk(alpha), abs=1e-7)
    assert_gradient(gradient, central_differences(approximate_risk, alpha), 1e-4)
    assert_gradient(gradient, central_differences(lambda a: risk(a)[0], alpha, 1e-3), 1e-3)


def test_expected_plurality_risk_of_three_classes_is_near_that_of_draws():
    votes, labels = sample(300, 15, 3, accuracy=0.4)
    rng = np.random.default_rng(4)
    alpha = rng.uniform(0.5, 5.0, 15)
    by_class = votes.by_class()
    drawn = [
        count_errors(by_class.forward(np.exp(dirichlet.draw(alpha, rng)[0])), labels, "plurality") / 300
        for _ in range(500)
    ]
    assert dirichlet_risk(votes, labels, "plurality")(alpha)[0] == pytest.approx(np.mean(drawn), abs=0.05)


def test_expected_risks_of_two_classes_are_the_same():
    votes, labels = sample(100, 7, 2)
    alpha = np.random.default_rng(5).uniform(0.2, 5.0, 7)
    value, gradient = dirichlet_risk(votes, labels, "half-weight")(alpha)
    same_value, same_gradient = dirichlet_risk(votes, labels, "plurality")(alpha)
    assert same_value == value
    np.testing.assert_array_equal(same_gradient, gradient)
    margin_value, margin_gradient = _expected_plurality(votes.by_class(), labels, None)(alpha)
    assert margin_value == pytest.approx(value, abs=1e-7)
    assert_gradient(margin_gradient, gradient, 1e-4)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("slope", [10.0, 100.0])
def test_gradient_of_the_drawn_risk(loss, n_classes, slope):
    votes, labels = sample(120, 10, n_classes, accuracy=0.3)
    weights = np.random.default_rng(6).dirichlet(np.full(10, 3.0))
    risk = drawn_risk(votes, labels, loss, slope)
    _, gradient = risk(weights)
    assert_gradient(gradient, central_differences(lambda w: risk(w)[0], weights), 1e-5)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_steep_drawn_risk_is_the_share_of_errors(loss, n_classes):
    votes, labels = sample(200, 10, n_classes, accuracy=0.3)
    weights = np.random.default_rng(7).dirichlet(np.full(10, 3.0))
    value, _ = drawn_risk(votes, labels, loss, slope=1e9)(weights)
    errors = count_errors(votes.masses(weights), labels, loss)
    assert 0 < errors < 200
    assert value == pytest.approx(errors / 200, abs=1e-9)


def test_drawn_risks_of_two_classes_are_the_same():
    codes, labels = sample_codes(120, 10, 2)
    weights = np.random.default_rng(8).dirichlet(np.full(10, 1.0))
    value, gradient = drawn_risk(DenseVotes(codes, 2), labels, "half-weight")(weights)
    same_value, same_gradient = drawn_risk(DenseVotes(codes, 2), labels, "plurality")(weights)
    assert same_value == value
    np.testing.assert_array_equal(same_gradient, gradient)
    # A third class that nobody votes for leads through the margin. On the simplex, gradients matter up to a constant.
    margin_value, margin_gradient = drawn_risk(DenseVotes(codes, 3), labels, "plurality")(weights)
    assert margin_value == pytest.approx(value, rel=1e-12)
    assert_gradient(margin_gradient - margin_gradient.mean(), gradient - gradient.mean(), 1e-10)
