"""The inverted kl that training descends, and its derivatives."""

import math

import numpy as np
import pytest
from mpmath import mp, mpf
from reference import differences_of_bound, exact_inverse

from certivote.theory import bounds
from certivote.theory.theorems import c_bound_slopes, kl_slopes

FACTORS = [1.0, 2.0, 4.0]
CONFIDENCE = 6.0


def c_bound(risks, penalty, n):
    """The C-bound at a confidence of so many nats."""
    nats = (penalty + CONFIDENCE, 2 * penalty + CONFIDENCE)
    return bounds.c_bound(*bounds.moment_limits(*risks, nats, n))


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize(("risk", "penalty", "n"), [(0.05, 3.0, 300), (0.2, 40.0, 2000), (0.45, 5.0, 50)])
def test_kl_slopes_against_differences(factor, risk, penalty, n):
    value, in_risk, in_penalty = kl_slopes(risk, penalty + CONFIDENCE, n, factor)
    with mp.workdps(40):
        true = factor * exact_inverse(risk, (mpf(penalty) + mpf(CONFIDENCE)) / n, 1)
        assert value == pytest.approx(float(true), rel=1e-12)
    expected = differences_of_bound(
        lambda r, p: factor * bounds.sample_bound(r[0], p + CONFIDENCE, n), np.array([risk]), penalty
    )
    assert in_risk == pytest.approx(expected[0][0], rel=1e-5)
    assert in_penalty == pytest.approx(expected[1], rel=1e-5)


def test_kl_slopes_have_factor_one_by_default():
    assert kl_slopes(0.1, 9.0, 300) == kl_slopes(0.1, 9.0, 300, 1.0)


def test_kl_slopes_accept_statistics_in_an_array():
    assert kl_slopes(np.array([0.1]), 9.0, 300, 2.0) == kl_slopes(0.1, 9.0, 300, 2.0)


@pytest.mark.parametrize("risk", [0.0, 1.0])
@pytest.mark.parametrize("factor", [1.0, 4.0])
def test_kl_slopes_are_finite_at_the_edges(factor, risk):
    for penalty in (-1e4, 0.0, 1e4):
        assert all(math.isfinite(part) for part in kl_slopes(risk, penalty + CONFIDENCE, 100, factor))


@pytest.mark.parametrize(
    ("risks", "penalty", "n"),
    [((0.1, 0.15), 3.0, 300), ((0.2, 0.3), 5.0, 2000), ((0.3, 0.2), 1.0, 2000), ((0.02, 0.03), 30.0, 1000)],
)
def test_slopes_of_the_c_bound_against_differences(risks, penalty, n):
    value, in_risks, in_penalty = c_bound_slopes(np.array(risks), penalty, CONFIDENCE, n)
    assert value < 1
    assert value == pytest.approx(c_bound(risks, penalty, n), rel=1e-9)
    expected = differences_of_bound(lambda r, p: c_bound(r, p, n), np.array(risks), penalty)
    np.testing.assert_allclose(in_risks, expected[0], rtol=1e-5)
    assert in_penalty == pytest.approx(expected[1], rel=1e-5)
    assert in_risks[0] > 0 > in_risks[1]
    assert in_penalty > 0


@pytest.mark.parametrize(("risks", "penalty", "n"), [((0.45, 0.48), 5.0, 100), ((0.6, 0.2), 2.0, 1000)])
def test_slopes_of_the_c_bound_where_it_does_not_apply(risks, penalty, n):
    # There the bound is flat, and the solver is sent down the mean wrong mass instead.
    value, in_risks, in_penalty = c_bound_slopes(np.array(risks), penalty, CONFIDENCE, n)
    assert c_bound(risks, penalty, n) == 1.0
    assert value >= 1.0
    assert value == pytest.approx(0.5 + bounds.sample_bound(risks[0], penalty + CONFIDENCE, n), rel=1e-12)
    expected = differences_of_bound(lambda r, p: c_bound_slopes(r, p, CONFIDENCE, n)[0], np.array(risks), penalty)
    np.testing.assert_allclose(in_risks, expected[0], rtol=1e-5)
    assert in_penalty == pytest.approx(expected[1], rel=1e-5)
    assert in_risks[0] > 0
    assert in_penalty > 0


def test_the_objective_of_the_c_bound_is_continuous_where_it_begins_to_apply():
    n = 1000
    low, high = 0.3, 0.5
    for _ in range(60):
        middle = 0.5 * (low + high)
        limit = bounds.sample_bound(middle, CONFIDENCE, n)
        low, high = (middle, high) if limit < 0.5 else (low, middle)
    below, above = (c_bound_slopes(np.array([risk, 0.4]), 0.0, CONFIDENCE, n)[0] for risk in (low - 1e-9, high + 1e-9))
    assert below <= 1 <= above
    assert above - below < 1e-6
