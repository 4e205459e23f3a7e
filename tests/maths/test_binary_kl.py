import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from reference import exact_kl

from certivote.maths.binary_kl import (
    kl,
    kl_inverse_lower,
    kl_inverse_upper,
    kl_inverse_upper_derivatives,
    log1p_gap,
)

RISKS = [0.0, 1e-12, 1e-9, 1e-6, 1e-3, 0.05, 0.3, 0.5, 0.7, 0.95, 1 - 1e-3, 1 - 1e-6, 1 - 1e-9, 1 - 1e-12, 1.0]
DIVERGENCES = [10.0**power for power in np.arange(-12, 2.01, 0.5)]
CLOSENESS = [0.0, 2.0**-52, 1e-12, 1e-9, 1e-6, 1e-3, 0.1, 0.49, 0.51]

probabilities = st.one_of(
    st.floats(0.0, 1.0, allow_subnormal=False),
    st.floats(-12.0, 0.0).map(lambda power: 10.0**power),
    st.floats(-12.0, 0.0).map(lambda power: 1.0 - 10.0**power),
    st.sampled_from([0.0, 1.0]),
)
divergences = st.floats(-12.0, 2.0).map(lambda power: 10.0**power)


def exact_upper(q, eps):
    """Root of ``kl(q || p) = eps`` above ``q``, by bisection in mpmath."""
    low, high = mpf(q), mpf(1)
    for _ in range(int(3.4 * mp.dps)):
        middle = (low + high) / 2
        low, high = (middle, high) if exact_kl(q, middle) <= eps else (low, middle)
    return (low + high) / 2


def assert_kl(q, p):
    with mp.workdps(100):
        expected = exact_kl(q, p)
        got = float(kl(q, p))
        assert math.isfinite(got) == bool(mp.isfinite(expected)), (q, p, got, mp.nstr(expected, 17))
        if math.isfinite(got):
            assert abs(got - expected) <= mpf("1e-13") * expected, (q, p, got, mp.nstr(expected, 17))


@pytest.mark.parametrize("q", [0.0, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0])
def test_kl_against_mpmath(q):
    for p in [0.0, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0]:
        assert_kl(q, p)


@pytest.mark.parametrize("q", RISKS)
def test_kl_of_close_probabilities_against_mpmath(q):
    for closeness in CLOSENESS:
        for p in (
            q * (1 + closeness),
            q * (1 - closeness),
            1 - (1 - q) * (1 + closeness),
            1 - (1 - q) * (1 - closeness),
        ):
            if abs(p - q) <= 0.6 * min(q, 1 - q):
                assert_kl(q, p)


@pytest.mark.parametrize("q", [0.0, 1e-6, 0.1, 0.5, 0.9, 1.0])
def test_kl_of_an_extreme_second_probability_against_mpmath(q):
    for p in (1e-30, 1e-20, 1e-12, 1e-6, 1 - 1e-6, 1 - 1e-12, 1 - 2.0**-53):
        assert_kl(q, p)


@pytest.mark.parametrize(
    "x", [-1.0, -0.999, -0.5, -0.3, -1e-4, -1e-9, 0.0, 1e-300, 1e-12, 1e-3, 0.4999, 0.5001, 3.0, 1e9]
)
def test_log1p_gap_against_mpmath(x):
    with mp.workdps(700):
        expected = mpf(x) - mp.log(1 + mpf(x)) if x > -1 else mp.inf
        got = float(log1p_gap(x))
        assert got == expected or abs(got - expected) <= mpf("1e-14") * expected + mpf(5e-324)


@pytest.mark.parametrize("q", RISKS)
def test_upper_inverse_is_never_below_the_true_value(q):
    low = []
    with mp.workdps(60):
        for eps in DIVERGENCES:
            p = float(kl_inverse_upper(q, eps))
            assert q <= p <= 1
            if p < 1 and exact_kl(q, p) < eps:
                low.append((eps, p))
    assert not low


@pytest.mark.parametrize(
    ("q", "eps"),
    [
        (0.03143640685097088, 22.85826801214585),
        (0.48835992622572183, 9.16208301433459),
        (0.06960564285656584, 34.550930242162615),
    ],
)
def test_upper_inverse_is_never_below_the_true_value_close_to_one(q, eps):
    p = float(kl_inverse_upper(q, eps))
    with mp.workdps(60):
        assert p == 1 or exact_kl(q, p) >= eps


@pytest.mark.parametrize("q", RISKS)
def test_upper_inverse_is_close_above(q):
    with mp.workdps(60):
        for eps in DIVERGENCES:
            p = float(kl_inverse_upper(q, eps))
            nearer = mpf(p) - mpf("1e-12") * (mpf(p) - mpf(q)) - 2 * mpf(float(np.spacing(p)))
            assert nearer <= q or exact_kl(q, nearer) <= eps, (eps, p)


@pytest.mark.parametrize("q", RISKS)
def test_lower_inverse_is_never_above_the_true_value_and_close(q):
    with mp.workdps(60):
        for eps in DIVERGENCES:
            p = float(kl_inverse_lower(q, eps))
            assert 0 <= p <= q
            assert p == 0 or exact_kl(q, p) >= eps, (eps, p)
            nearer = mpf(p) + mpf("1e-12") * (mpf(q) - mpf(p)) + 2 * mpf(float(np.spacing(p)))
            assert nearer >= q or exact_kl(q, nearer) <= eps, (eps, p)


@pytest.mark.parametrize("eps", [1e-12, 1e-3, 1.0, 30.0])
def test_inverses_at_the_ends_are_known(eps):
    with mp.workdps(40):
        assert float(kl_inverse_upper(0.0, eps)) == pytest.approx(float(-mp.expm1(-eps)), rel=1e-13)
        assert float(kl_inverse_lower(1.0, eps)) == pytest.approx(float(mp.exp(-eps)), rel=1e-12)
    assert float(kl_inverse_upper(1.0, eps)) == 1.0
    assert float(kl_inverse_lower(0.0, eps)) == 0.0


@pytest.mark.parametrize("q", [0.0, 1e-12, 0.3, 1.0])
@pytest.mark.parametrize("eps", [0.0, -1e-9, -5.0, -math.inf])
def test_no_divergence_leaves_the_risk(q, eps):
    assert float(kl_inverse_upper(q, eps)) == q
    assert float(kl_inverse_lower(q, eps)) == q


@pytest.mark.parametrize("q", [0.0, 1e-12, 0.3])
def test_endless_divergence_reaches_the_ends(q):
    assert float(kl_inverse_upper(q, math.inf)) == 1.0
    assert float(kl_inverse_lower(1 - q, math.inf)) == 0.0


@pytest.mark.parametrize("q", [1e-12, 1e-6, 1e-3, 0.05, 0.3, 0.5, 0.9, 1 - 1e-6])
@pytest.mark.parametrize("eps", [1e-9, 1e-5, 1e-2, 0.5, 3.0])
def test_derivatives_of_the_upper_inverse_against_mpmath(q, eps):
    value, in_q, in_eps = (float(part) for part in kl_inverse_upper_derivatives(q, eps))
    with mp.workdps(50):
        step = mpf(10) ** -15
        q_step, eps_step = step * min(mpf(q), 1 - mpf(q)), step * mpf(eps)
        by_q = (exact_upper(mpf(q) + q_step, eps) - exact_upper(mpf(q) - q_step, eps)) / (2 * q_step)
        by_eps = (exact_upper(q, mpf(eps) + eps_step) - exact_upper(q, mpf(eps) - eps_step)) / (2 * eps_step)
    assert value == float(kl_inverse_upper(q, eps))
    assert in_q == pytest.approx(float(by_q), rel=1e-10)
    assert in_eps == pytest.approx(float(by_eps), rel=1e-10)


def test_derivatives_at_the_edges():
    assert [float(part) for part in kl_inverse_upper_derivatives(0.3, 0.0)] == [0.3, 1.0, math.inf]
    assert [float(part) for part in kl_inverse_upper_derivatives(0.3, math.inf)] == [1.0, 0.0, 0.0]
    assert [float(part) for part in kl_inverse_upper_derivatives(1.0, 0.1)] == [1.0, 0.0, 0.0]
    _, in_q, in_eps = kl_inverse_upper_derivatives(0.0, 0.1)
    assert float(in_q) == math.inf
    assert float(in_eps) == pytest.approx(math.exp(-0.1), rel=1e-12)


@settings(deadline=None)
@given(probabilities, divergences)
def test_the_risk_lies_between_its_inverses(q, eps):
    assert 0 <= float(kl_inverse_lower(q, eps)) <= q <= float(kl_inverse_upper(q, eps)) <= 1


@settings(deadline=None)
@given(probabilities, divergences, divergences)
def test_inverses_move_outward_with_the_divergence(q, first, second):
    small, large = sorted((first, second))
    near, far = float(kl_inverse_upper(q, small)), float(kl_inverse_upper(q, large))
    assert far - q >= (near - q) * (1 - 1e-12) - 2 * np.spacing(near)
    near, far = float(kl_inverse_lower(q, small)), float(kl_inverse_lower(q, large))
    assert q - far >= (q - near) * (1 - 1e-12) - 2 * np.spacing(q)


@settings(deadline=None)
@given(probabilities, probabilities, divergences)
def test_inverses_increase_with_the_risk(first, second, eps):
    small, large = sorted((first, second))
    below, above = float(kl_inverse_upper(small, eps)), float(kl_inverse_upper(large, eps))
    assert below <= above + 1e-12 * (above - large) + 4 * np.spacing(above)
    below, above = float(kl_inverse_lower(small, eps)), float(kl_inverse_lower(large, eps))
    assert below <= above + 1e-12 * (large - above) + 4 * np.spacing(large)


@settings(deadline=None)
@given(st.integers(0, 2**30), divergences)
def test_lower_inverse_mirrors_the_upper_one(numerator, eps):
    q = numerator / 2**30
    upper, lower = float(kl_inverse_upper(1 - q, eps)), float(kl_inverse_lower(q, eps))
    assert 1 - lower == pytest.approx(upper, abs=1e-12)


@settings(deadline=None)
@given(probabilities, probabilities)
def test_kl_is_at_least_pinskers_bound(q, p):
    assert float(kl(q, p)) >= 2 * (p - q) ** 2 * (1 - 1e-12)


@settings(deadline=None)
@given(probabilities, probabilities, probabilities)
def test_kl_grows_away_from_the_first_probability(q, first, second):
    assume(min(first, second) >= q or max(first, second) <= q)
    near, far = sorted((first, second), reverse=max(first, second) <= q)
    assert float(kl(q, near)) <= float(kl(q, far)) * (1 + 1e-12)


def test_arrays_broadcast():
    q, eps = np.array([[0.0], [0.2], [1.0]]), np.array([0.0, 1e-3, 1.0, 50.0])
    for function in (kl_inverse_upper, kl_inverse_lower, lambda q, eps: kl(q, np.exp(-eps))):
        table = function(q, eps)
        assert table.shape == (3, 4)
        assert table.tolist() == [[float(function(row[0], column)) for column in eps] for row in q]
    assert all(part.shape == (3, 4) for part in kl_inverse_upper_derivatives(q, eps))


@pytest.mark.parametrize("function", [kl_inverse_upper, kl_inverse_lower, kl_inverse_upper_derivatives])
@pytest.mark.parametrize("q", [-1e-9, 1 + 1e-9, -math.inf, math.inf, math.nan, np.array([0.5, math.nan])])
def test_a_risk_outside_the_unit_interval_is_refused(function, q):
    with pytest.raises(ValueError, match=r"q must lie in \[0, 1\]"):
        function(q, 0.1)


@pytest.mark.parametrize("function", [kl_inverse_upper, kl_inverse_lower, kl_inverse_upper_derivatives])
@pytest.mark.parametrize("eps", [math.nan, np.array([0.1, math.nan])])
def test_a_divergence_that_is_no_number_is_refused(function, eps):
    with pytest.raises(ValueError, match="NaN"):
        function(0.1, eps)
