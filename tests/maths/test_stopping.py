"""Evidence that errors are rarer than a target: against a second formula, its law against counting, and the targets."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy.stats import binom

from certivote.maths.stopping import StoppingBets, capped_threshold, first_reached, fixed_number, pool_evidence

TARGET = DELTA = 0.05
LOG = -math.log(DELTA)


def exact_evidence(bets, n, errors, mean):
    """With 40 digits, from weights that are written out again."""
    with mp.workdps(40):
        guess = [] if bets.expected is None else [mpf(4) / 5]
        rest = mpf(1) if bets.expected is None else mpf(1) / 5
        weights = [rest / (len(bets.q) - len(guess))] * (len(bets.q) - len(guess)) + guess
        t = mpf(mean)
        terms = [
            w * (mpf(q) / t) ** errors * ((1 - mpf(q)) / (1 - t)) ** (n - errors)
            for q, w in zip(bets.q.tolist(), weights, strict=True)
            if q < mean
        ]
        return mp.log(mp.fsum(terms)) if terms else -mp.inf


@pytest.mark.parametrize("expected", [None, 0.02])
def test_evidence_is_the_exact_one_rounded_down(expected):
    bets = StoppingBets(TARGET, expected)
    for n, errors, mean in product((1, 60, 5000), (0, 1, 40), (0.005, 0.02, 0.05, 0.3)):
        if errors <= n:
            exact = exact_evidence(bets, n, errors, mean)
            found = float(bets.log_evidence(n, errors, mean))
            assert found <= exact
            if exact > -mp.inf:
                assert exact - found < 1e-9


def test_evidence_is_a_martingale_at_the_target_and_falls_above_it():
    """The mean over all outcomes of five labels, by exact fractions of what the bets gain."""
    bets = StoppingBets(0.2)
    for truth, low, high in ((0.2, 1 - 1e-12, 1.0), (0.4, 0.0, 0.9999)):
        mean = sum(
            math.comb(5, k) * truth**k * (1 - truth) ** (5 - k) * math.exp(bets.log_evidence(5, k)) for k in range(6)
        )
        assert low <= mean <= high


def test_limits_are_where_the_evidence_reaches_its_threshold_and_the_smallest_counts():
    bets, rng = StoppingBets(TARGET, 0.02), np.random.default_rng(0)
    errors = np.cumsum(rng.random(400) < 0.02)
    n = np.arange(1, 401)
    each = [bets.limit([k], [e], -LOG) for k, e in zip(n.tolist(), errors.tolist(), strict=True)]
    assert bets.limit(n, errors, -LOG) == min(each)
    at = int(np.argmin(each))
    assert exact_evidence(bets, int(n[at]), int(errors[at]), min(each)) >= LOG
    assert exact_evidence(bets, int(n[at]), int(errors[at]), min(each) * (1 - 1e-9)) < LOG


def test_what_is_rejected_are_all_means_from_a_limit_on():
    bets = StoppingBets(TARGET)
    for n, errors in ((30, 0), (200, 3), (3000, 200)):
        means = np.linspace(1e-3, 0.999, 3001)
        rejected = bets.log_evidence(n, errors, means) >= LOG
        assert np.all(np.diff(rejected.astype(int)) >= 0)
        assert not np.any(rejected[means <= errors / n])


def test_the_boundary_is_where_the_threshold_is_reached():
    bets = StoppingBets(TARGET)
    boundary = bets.boundary(300, LOG)
    for n in (1, 59, 60, 100, 299, 300):
        reached = [k for k in range(n + 1) if float(bets.log_evidence(n, k)) >= LOG]
        assert boundary[n] == max(reached, default=-1)


def test_the_law_of_the_number_of_labels_is_that_of_all_outcomes():
    boundary = np.array([-1, -1, -1, 0, 0, 1, 1, 1, 2, 2, 2])
    counts = np.zeros(11)
    for outcome in product((0, 1), repeat=10):
        sums = np.cumsum(outcome)
        first = next((n for n in range(1, 11) if sums[n - 1] <= boundary[n]), None)
        if first:
            counts[first] += 0.3 ** sums[-1] * 0.7 ** (10 - sums[-1])
    np.testing.assert_allclose(first_reached(boundary, 0.3), counts, rtol=1e-12, atol=1e-15)


def test_the_target_is_reached_at_most_as_often_as_delta_and_a_cap_uses_nearly_all_of_it():
    bets = StoppingBets(TARGET, 0.02)
    assert first_reached(bets.boundary(20_000, LOG), TARGET).sum() <= DELTA
    threshold = capped_threshold(TARGET, 0.02, DELTA, 466)
    reached = first_reached(bets.boundary(466, threshold), TARGET).sum()
    assert 0.99 * DELTA < reached <= DELTA
    assert threshold < LOG
    # Larger errors reach it less often.
    assert first_reached(bets.boundary(466, threshold), 0.06).sum() < reached


def expected_share(truth, expected, cap):
    """Labels in the mean, as a share of the number that would have been fixed for a power of 0.9."""
    fixed = fixed_number(TARGET, DELTA, truth)
    horizon = int(1.5 * fixed) if cap else 12 * fixed
    threshold = capped_threshold(TARGET, expected, DELTA, horizon) if cap else LOG
    law = first_reached(StoppingBets(TARGET, expected).boundary(horizon, threshold), truth)
    return (law @ np.arange(horizon + 1) + (1 - law.sum()) * horizon) / fixed


@pytest.mark.parametrize("truth", [0.01, 0.02, 0.03])
def test_fewer_labels_than_a_fixed_number_in_the_mean(truth):
    assert expected_share(truth, None, cap=False) <= 0.92
    assert expected_share(truth, truth, cap=False) <= 0.82
    assert expected_share(truth, None, cap=True) <= 0.75
    assert expected_share(truth, truth, cap=True) <= 0.75


@pytest.mark.parametrize("truth", [0.01, 0.03])
def test_the_fixed_number_is_the_first_with_that_power(truth):
    def power(n):
        allowed = [k for k in range(n + 1) if binom.cdf(k, n, TARGET) <= DELTA]
        return binom.cdf(max(allowed, default=-1), n, truth)

    n = fixed_number(TARGET, DELTA, truth)
    assert power(n) >= 0.9
    assert all(power(k) < 0.9 for k in range(1, n))


def test_evidence_of_a_pool_is_exact_and_a_martingale_without_replacement():
    bets, n_pool = StoppingBets(0.3), 8
    weights = Fraction(1, len(bets.q))
    total = Fraction(0)
    n_wrong = math.ceil(0.3 * n_pool)
    orders = [order for order in product((False, True), repeat=n_pool) if sum(order) == n_wrong]
    for order in orders:
        found = pool_evidence(bets, np.array(order[:5]), n_pool, math.log(1e-9))
        wealth = [weights] * len(bets.q)
        for place, wrong in enumerate(order[:5]):
            mean = Fraction(n_wrong - sum(order[:place]), n_pool - place)
            if 0 < mean < 1:
                shares = [Fraction(q) * n_pool / n_wrong for q in bets.q.tolist()]
                gains = [share if wrong else (1 - share * mean) / (1 - mean) for share in shares]
                wealth = [own * gain for own, gain in zip(wealth, gains, strict=True)]
            assert math.exp(found[place]) == pytest.approx(float(sum(wealth)), rel=1e-12)
            assert math.exp(found[place]) <= float(sum(wealth)) * (1 + 1e-15)
        total += sum(wealth)
    assert total == len(orders)


def test_a_pool_that_is_labelled_to_the_end_is_known():
    bets = StoppingBets(0.3)
    few, many = np.zeros(10, dtype=bool), np.zeros(10, dtype=bool)
    few[:2], many[:3] = True, True
    assert pool_evidence(bets, few, 10, math.log(0.001))[-1] >= -math.log(0.001)
    assert np.max(pool_evidence(bets, many, 10, math.log(0.001))) < -math.log(0.001)
