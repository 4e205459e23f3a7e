"""Weights in fixed point, and the rule of the vote."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certivote.maths import dirichlet
from certivote.votes import fixed_point, plurality


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
