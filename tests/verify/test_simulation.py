"""The auditor's simulations of the random vote, where the expected error rate is known."""

import numpy as np
import pytest
from scipy import stats

from certivote.maths.binary_kl import kl_inverse_lower
from certivote.verify import _simulation as simulation
from certivote.votes import build_votes

MANY = 50_000_000


def votes_and_labels(codes, n_classes=2, repeated=10):
    """Rows of which each voter gives the class in its column; the true class is 0."""
    return build_votes(codes=np.tile(codes, (repeated, 1)), n_classes=n_classes), np.zeros(
        repeated * len(codes), dtype=np.intp
    )


def test_of_two_voters_the_one_with_the_larger_number_wins():
    votes, labels = votes_and_labels(np.array([[0, 1], [1, 0]]))
    means, precisions = np.array([0.7, 0.0]), np.array([1.0, 0.25])
    parameters = np.concatenate([means, precisions])
    spread = np.sqrt(1.0 + 4.0)
    # On half of the rows voter 0 is right, on the others voter 1.
    first = stats.norm.cdf(-0.7 / spread)
    for loss in ("plurality", "half-weight"):
        errors, answers = simulation.simulate_logistic_normal(votes, parameters, labels, loss, MANY)
        assert answers == 200_000
        assert errors / answers == pytest.approx(0.5 * first + 0.5 * (1.0 - first), abs=0.006)
    votes, labels = votes_and_labels(np.array([[0, 1]]))
    errors, answers = simulation.simulate_logistic_normal(votes, parameters, labels, "plurality", MANY)
    assert errors / answers == pytest.approx(first, abs=0.006)


def test_the_losses_differ_among_three_classes():
    votes, labels = votes_and_labels(np.array([[0, 1, 2]]), n_classes=3)
    parameters = np.concatenate([np.zeros(3), np.ones(3)])
    errors, answers = simulation.simulate_logistic_normal(votes, parameters, labels, "plurality", MANY)
    assert errors / answers == pytest.approx(2.0 / 3.0, abs=0.006)
    weights = np.exp(np.random.default_rng(1).normal(size=(200_000, 3)))
    half = float(np.mean(2.0 * weights[:, 0] <= weights.sum(axis=1)))
    errors, answers = simulation.simulate_logistic_normal(votes, parameters, labels, "half-weight", MANY)
    assert errors / answers == pytest.approx(half, abs=0.008)
    assert half > 0.7


def test_ties_go_to_the_smallest_class_and_count_as_half_of_the_weight():
    votes, labels = build_votes(fractions=np.full((4, 1, 2), 0.5)), np.array([0, 0, 0, 0])
    parameters = np.array([0.0, 1.0])
    assert simulation.simulate_logistic_normal(votes, parameters, labels, "plurality", 1000) == (0, 1000)
    assert simulation.simulate_logistic_normal(votes, parameters, labels, "half-weight", 1000) == (1000, 1000)


def test_random_numbers_are_limited_and_drawn_in_portions():
    taken = []

    class Watched:
        n_voters = 3_000

        def take(self, rows):
            taken.append(len(rows))
            return self

        def row_masses(self, weights):
            assert weights.shape == (taken[-1], self.n_voters)
            np.testing.assert_allclose(weights.sum(axis=1), 1.0)
            return weights[:, :2]

    parameters = np.concatenate([np.zeros(3_000), np.ones(3_000)])
    errors, answers = simulation.simulate_logistic_normal(
        Watched(), parameters, np.zeros(5, dtype=np.intp), "plurality", 6_000_000
    )
    assert answers == sum(taken) == 2_000
    assert max(taken) * 3_000 <= 500_000
    assert errors / answers == pytest.approx(0.5, abs=0.06)


def test_dirichlet_votes_have_the_rate_of_the_closed_form():
    votes, labels = votes_and_labels(np.array([[0, 1, 1], [0, 0, 1], [1, 0, 1], [0, 0, 0], [1, 1, 1]]))
    alpha = np.array([1.5, 0.4, 0.02])
    masses = votes.masses(alpha)
    exact = simulation.dirichlet_half_tail(masses[:, 1], masses.sum(axis=1))
    errors, answers = simulation.simulate_dirichlet(votes, alpha, labels, "plurality", MANY)
    assert errors / answers == pytest.approx(exact, abs=0.006)
    assert simulation.simulate_dirichlet(votes, alpha, labels, "half-weight", MANY) == (errors, answers)


@pytest.mark.parametrize(("errors", "answers"), [(0, 1000), (1, 1000), (1000, 1000), (137, 20_000), (60_000, 200_000)])
def test_the_least_rate_is_the_lower_inverse_of_kl(errors, answers):
    least = simulation.least_rate(errors, answers)
    assert least == pytest.approx(float(kl_inverse_lower(errors / answers, 20.0 / answers)), rel=1e-9, abs=1e-300)
    assert 0.0 <= least <= errors / answers
