import math

import numpy as np
import pytest
from mpmath import mp, mpf

from certivote.maths.binary_kl import kl_inverse_upper
from certivote.maths.binomial import binomial_upper, log_maurer

LOG_LEVELS = [math.log(0.99), math.log(0.5), math.log(0.05), -10.0, -50.0, -100.0, -200.0]
SMALL_LOG_LEVELS = [-300.0, -400.0, -500.0, -575.0, -600.0, -699.0]
COUNTS = [
    (0, 1),
    (0, 100),
    (0, 10**6),
    (1, 2),
    (1, 10),
    (3, 5),
    (9, 10),
    (5, 100),
    (33, 100),
    (98, 100),
    (20, 2000),
    (100, 2000),
    (1000, 2000),
    (1998, 2000),
    (37, 3224),
    (21559, 22940),
    (500, 10**6),
]


def exact_tail(errors, n, p):
    """``P[Bin(n, p) <= errors]``, summed from its largest term downward."""
    p = mpf(p)
    if p == 1:
        return mpf(errors == n)
    term = mp.binomial(n, errors) * p**errors * (1 - p) ** (n - errors)
    total = term
    for k in range(errors, 0, -1):
        term *= k * (1 - p) / ((n - k + 1) * p)
        total += term
        if k < n * p and term < total * mpf(10) ** (-mp.dps):
            break
    return total


def assert_valid(errors, n, log_level):
    p = float(binomial_upper(errors, n, log_level))
    assert 0 < p <= 1
    with mp.workdps(40):
        assert p == 1 or exact_tail(errors, n, p) <= mp.exp(mpf(log_level)), p


def assert_tight(errors, n, log_level):
    p = float(binomial_upper(errors, n, log_level))
    with mp.workdps(40):
        assert exact_tail(errors, n, mpf(p) * (1 - mpf("1e-8"))) > mp.exp(mpf(log_level)), p


def brute_force_log_maurer(n):
    """Logarithm of ``sum_k C(n, k) k^k (n-k)^(n-k) / n^n``, the sum in integers."""
    total = sum(math.comb(n, k) * k**k * (n - k) ** (n - k) for k in range(n + 1))
    return mp.log(mpf(total)) - n * mp.log(mpf(n))


@pytest.mark.parametrize(("errors", "n"), COUNTS)
@pytest.mark.parametrize("log_level", LOG_LEVELS)
def test_limit_is_tight_from_above(errors, n, log_level):
    assert_valid(errors, n, log_level)
    assert_tight(errors, n, log_level)


@pytest.mark.parametrize(("errors", "n"), COUNTS)
def test_limit_is_valid_at_small_levels(errors, n):
    for log_level in SMALL_LOG_LEVELS:
        assert_valid(errors, n, log_level)


@pytest.mark.parametrize(("errors", "n"), COUNTS)
def test_limit_is_tight_down_to_exp_minus_600(errors, n):
    for log_level in SMALL_LOG_LEVELS:
        if log_level >= -600:
            assert_tight(errors, n, log_level)


@pytest.mark.parametrize("n", [1, 2, 10, 2000])
@pytest.mark.parametrize("log_level", [-0.01, math.log(0.05), -100.0, -600.0, -5000.0])
def test_all_errors_give_one(n, log_level):
    assert float(binomial_upper(n, n, log_level)) == 1.0


@pytest.mark.parametrize("n", [1, 2, 10, 2000, 10**6])
@pytest.mark.parametrize("log_level", [-1e-6, math.log(0.05), -100.0, -650.0, -701.0, -5000.0])
def test_no_error_has_a_closed_form(n, log_level):
    p = float(binomial_upper(0, n, log_level))
    with mp.workdps(40):
        exact = -mp.expm1(mpf(log_level) / n)
        assert 0 <= p - exact <= mpf("1e-15") * exact or p == 1


@pytest.mark.parametrize(("errors", "n"), COUNTS)
def test_limit_below_the_smallest_level_is_valid(errors, n):
    for log_level in (-701.0, -1000.0, -1e4, -1e6):
        assert_valid(errors, n, log_level)


@pytest.mark.parametrize(("errors", "n"), [(5, 100), (20, 2000), (100, 2000), (500, 10**6)])
def test_limit_below_the_smallest_level_is_the_chernoff_form(errors, n):
    got = float(binomial_upper(errors, n, -1000.0))
    assert got == pytest.approx(float(kl_inverse_upper(errors / n, 1000.0 / n)), rel=1e-12)


@pytest.mark.parametrize(("errors", "n"), [(0, 10), (5, 100), (20, 2000)])
def test_limit_grows_as_the_level_falls(errors, n):
    limits = binomial_upper(errors, n, -np.geomspace(0.01, 1e5, 200))
    assert np.all(np.diff(limits) >= 0)


def test_limits_broadcast():
    errors, log_levels = np.array([[0], [3], [10]]), np.array([-1.0, -30.0])
    table = binomial_upper(errors, 10, log_levels)
    assert table.tolist() == [[float(binomial_upper(k[0], 10, level)) for level in log_levels] for k in errors]


@pytest.mark.parametrize(("errors", "n"), [(-1, 3), (4, 3), (0, 0), (math.nan, 3), (1, math.nan)])
def test_impossible_counts_are_refused(errors, n):
    with pytest.raises(ValueError, match="errors must lie between 0 and n"):
        binomial_upper(errors, n, -1.0)


def test_a_level_that_is_no_number_is_refused():
    with pytest.raises(ValueError, match="NaN"):
        binomial_upper(1, 3, math.nan)


def test_maurers_constant_against_its_sum():
    with mp.workdps(40):
        for n in range(1, 201):
            gap = log_maurer(n) - brute_force_log_maurer(n)
            assert 0 <= gap <= mpf("1e-11"), n


@pytest.mark.parametrize("n", [500, 1000, 12345, 10**5, 10**6])
def test_maurers_constant_against_the_incomplete_gamma_function(n):
    with mp.workdps(40):
        gap = log_maurer(n) - (mp.log(mp.gammainc(n + 1, n)) + n - n * mp.log(n))
        assert 0 <= gap <= mpf("1e-11")


def test_maurers_constant_is_at_most_the_papers():
    for n in range(1, 1001):
        assert log_maurer(n) <= math.log(2 * math.sqrt(n)) + 1e-12


@pytest.mark.parametrize("n", [10**4, 10**6, 10**8])
def test_maurers_constant_has_its_asymptotic_form(n):
    two_terms = math.log(math.sqrt(math.pi * n / 2) + 2 / 3)
    assert abs(log_maurer(n) - two_terms) < 0.1 / n + 1e-12
    three_terms = math.log(math.sqrt(math.pi * n / 2) + 2 / 3 + math.sqrt(math.pi / (2 * n)) / 12)
    assert abs(log_maurer(n) - three_terms) < 0.1 / n**1.5 + 1e-12


@pytest.mark.parametrize("n", [0, -1])
def test_maurers_constant_needs_an_example(n):
    with pytest.raises(ValueError, match="n must be at least 1"):
        log_maurer(n)
