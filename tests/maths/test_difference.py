"""Limits for the difference of two error rates, against enumeration of all outcomes and against mpmath."""

from functools import cache
from math import comb

import mpmath
import numpy as np
import pytest

from certivote.maths import difference as module
from certivote.maths.difference import difference_upper

LEVEL = 0.025


@cache
def all_limits(n, level):
    """The upper limit of every outcome, by the numbers of rows where the first and the second alone is wrong."""
    found = np.full((n + 1, n + 1), np.nan)
    for first in range(n + 1):
        for second in range(n + 1 - first):
            found[first, second] = difference_upper(first, second, n, level)
    return found


def probabilities(n, p10, p01):
    """Of every outcome."""
    found = np.zeros((n + 1, n + 1))
    for first in range(n + 1):
        for second in range(n + 1 - first):
            ways = comb(n, first) * comb(n - first, second)
            found[first, second] = ways * p10**first * p01**second * (1.0 - p10 - p01) ** (n - first - second)
    return found


RATES = [0.0, 0.01, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 1.0]


@pytest.mark.parametrize(
    ("n", "level"), [(3, 0.2), (5, LEVEL), (9, 0.2), (14, LEVEL), (20, LEVEL), (20, 0.2), (30, LEVEL)]
)
def test_the_exact_probability_of_failing_is_at_most_the_level(n, level):
    limits, worst = all_limits(n, level), 0.0
    for p10 in RATES:
        for p01 in RATES:
            if p10 + p01 > 1.0 + 1e-12:
                continue
            p01 = min(p01, 1.0 - p10)
            worst = max(worst, probabilities(n, p10, p01)[limits < p10 - p01 - 1e-15].sum())
    assert worst <= level
    if n >= 20:
        assert worst > level / 5  # so that a limit that is much too wide is noticed


def test_limits_fail_no_more_often_near_the_truth_that_fails_most():
    """Just above each limit of one n, where the probability of failing jumps."""
    n = 12
    limits = all_limits(n, LEVEL)
    for limit in np.unique(limits[~np.isnan(limits)]):
        for s in np.linspace(max(abs(limit), 1e-9), 1.0, 25):
            difference = min(limit + 1e-9, s)
            at = probabilities(n, (s + difference) / 2.0, max((s - difference) / 2.0, 0.0))
            assert at[limits < difference].sum() <= LEVEL


@pytest.mark.parametrize(
    ("first", "second", "n"), [(0, 0, 10), (10, 0, 10), (0, 10, 10), (3, 3, 12), (2, 5, 25), (5, 2, 25), (9, 4, 40)]
)
def test_the_limit_is_rejected_and_what_is_hardly_below_it_is_not(first, second, n):
    with mpmath.workdps(30):
        found = difference_upper(first, second, n, LEVEL)
        if found < 1.0:
            assert largest_p(first, second, n, mpmath.mpf(found)) <= mpmath.mpf(LEVEL) * (1 + mpmath.mpf("1e-8"))
        seen = (first - second) / n
        below = mpmath.mpf(seen + 0.97 * (found - seen))
        assert largest_p(first, second, n, below) > LEVEL


def largest_p(first, second, n, difference):
    """The largest ``P`` over a fine grid of the confidence set, and ``gamma``: by enumeration, from the definition."""
    gamma, z = mpmath.mpf(LEVEL) / 20, mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * mpmath.mpf(LEVEL))
    size = mpmath.mpf(n + 2)

    def statistic(k10, k01):
        d = mpmath.mpf(k10 - k01) / size
        return d + z * mpmath.sqrt(((k10 + k01 + 1) / size - d * d) / size)

    seen = statistic(first, second) + mpmath.mpf("1e-15")
    most = {j: max((k for k in range(j + 1) if statistic(k, j - k) <= seen), default=-1) for j in range(n + 1)}
    low, high = clopper_pearson(first + second, n, gamma / 2)
    largest = mpmath.mpf(0)
    for step in range(41):
        s = low + (high - low) * step / 40
        if s < difference:
            continue
        theta = min(max((1 + difference / s) / 2, 0), 1) if s else mpmath.mpf(1) / 2
        total = mpmath.mpf(0)
        for j, top in most.items():
            inner = mpmath.fsum(comb(j, k) * theta**k * (1 - theta) ** (j - k) for k in range(top + 1))
            total += comb(n, j) * s**j * (1 - s) ** (n - j) * inner
        largest = max(largest, total)
    return largest + gamma


def clopper_pearson(k, n, level):
    """Both limits, each at this level."""

    def tail(p):
        return mpmath.fsum(comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k + 1))

    def other(p):
        return mpmath.fsum(comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k, n + 1))

    high = mpmath.mpf(1) if k == n else halved(lambda p: tail(p) > level)
    low = mpmath.mpf(0) if k == 0 else halved(lambda p: other(p) < level)
    return low, high


def halved(below):
    low, high = mpmath.mpf(0), mpmath.mpf(1)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) else (low, middle)
    return high


@pytest.mark.parametrize("z", [0.8, 1.96, 3.5])
def test_the_largest_number_with_so_small_a_statistic_is_found(z):
    for n in (1, 2, 5, 11, 24):
        size = n + 2.0

        def statistic(k, j, size=size):
            d = (2 * k - j) / size
            return d + z * np.sqrt(((j + 1) / size - d * d) / size)

        for j in range(n + 1):
            for k in range(j + 1):
                seen = statistic(k, j) + 1e-12
                wanted = [
                    max((i for i in range(number + 1) if statistic(i, number) <= seen), default=-1)
                    for number in range(n + 1)
                ]
                assert module._most_first(k, j - k, n, np.arange(n + 1), z).tolist() == wanted


def test_tails_from_one_number_to_the_next_are_those_of_the_binomial():
    number = np.arange(200, 400)
    most = np.where(number < 230, 180, number // 2)  # it grows by 0 and 1, and once by more
    theta = np.array([0.0, 0.3, 0.5, 0.58, 1.0])
    from scipy.stats import binom

    wanted = binom.cdf(most, number, theta[:, None])
    assert module._lower_tails(number, most, theta) == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize(("p", "n"), [(0.1, 60), (0.02, 500), (0.5, 40)])
def test_cells_bound_the_mean_of_a_function_of_a_binomial_number(p, n):
    """The two inequalities, for random functions between 0 and 1."""
    from scipy.stats import binom

    rng = np.random.default_rng(0)
    test = module._Test(n, 0.02, (0.0, 1.0), np.arange(n + 1), np.arange(n + 1), 0.0)
    middle = np.arcsin(np.sqrt(p))
    for _ in range(50):
        f = rng.random(n + 1) < rng.choice([0.02, 0.3, 0.9])
        if rng.random() < 0.5:
            f = np.sort(f)
        reach = rng.choice([0.01, 0.1, 0.5]) / np.sqrt(n)
        low, high = np.array([middle - reach]), np.array([middle + reach])
        value = binom.pmf(np.arange(n + 1), n, p) @ f
        slope = binom.pmf(np.arange(n + 1), n, p) @ (f * (np.arange(n + 1) - n * p)) / (p * (1 - p))
        bound = test._within(low, high, np.array([value]), np.array([slope]))[0]
        inside = np.sin(np.linspace(low[0], high[0], 101)) ** 2
        assert (binom.pmf(np.arange(n + 1), n, inside[:, None]) @ f).max() <= bound + 1e-12


def test_fifteen_against_thirty_of_a_thousand_are_told_apart():
    """The sign test of these 45 rows has a one-sided p of 0.018."""
    assert difference_upper(15, 30, 1000, LEVEL) < 0.0
    assert -difference_upper(30, 15, 1000, LEVEL) < -0.015 < difference_upper(15, 30, 1000, LEVEL)


@pytest.mark.parametrize(("n", "width"), [(200, 0.049), (1000, 0.0201)])
def test_half_widths_are_near_those_of_the_best_known(n, width):
    """Where a tenth of the rows are discordant and the errors are equal, in the mean over samples."""
    outcomes = np.random.default_rng(1).multinomial(n, [0.05, 0.05, 0.9], size=25)[:, :2].tolist()
    found = [(difference_upper(a, b, n, LEVEL) + difference_upper(b, a, n, LEVEL)) / 2.0 for a, b in outcomes]
    assert np.mean(found) <= 1.03 * width


def test_many_rows_and_small_levels_have_limits_by_clopper_and_pearson():
    for first, second, n, level in [(50, 70, 1000, 1e-9), (500, 700, 200_000, LEVEL), (0, 0, 200_000, LEVEL)]:
        upper, lower = (difference_upper(*pair, n, level) for pair in ((first, second), (second, first)))
        assert -1.0 <= -lower < (first - second) / n < upper <= 1.0
    near, beyond = difference_upper(500, 700, 100_000, LEVEL), difference_upper(500, 700, 100_001, LEVEL)
    assert near < beyond < near + 0.001


@pytest.mark.parametrize("wrong", [(-1, 0, 10, LEVEL), (6, 5, 10, LEVEL), (0, 0, 0, LEVEL), (1, 1, 10, 0.6)])
def test_impossible_counts_are_refused(wrong):
    with pytest.raises(ValueError, match="counts of different rows"):
        difference_upper(*wrong)
