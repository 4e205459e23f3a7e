"""The limit by bets that need no order: against its definition to 50 digits, and failures enumerated exactly."""

import math
from fractions import Fraction
from itertools import combinations_with_replacement, permutations

import numpy as np
import pytest
from bets import exact_mean, order_free_log_wealth
from mpmath import mp, mpf

from certivote.maths.betting import betting_upper, order_free_upper

LEVEL = math.log(0.05)


def random_losses(rng):
    m = int(rng.integers(1, 60))
    kind = int(rng.integers(5))
    if kind == 0:
        return [Fraction(int(rng.binomial(7, 0.2)), 7) for _ in range(m)]
    if kind == 1:
        return [Fraction(int(rng.binomial(n, rng.beta(0.2, 1.0))), int(n)) for n in rng.geometric(0.1, m)]
    if kind == 2:
        return (rng.random(m) < 0.05).astype(float).tolist()
    if kind == 3:
        return rng.random(m).tolist()
    return np.clip(10.0 ** rng.uniform(-300.0, 0.0, m), 0.0, 1.0).tolist()


def assert_tight_from_above(losses, log_level):
    limit = order_free_upper([float(loss) for loss in losses], log_level)
    with mp.workdps(50):
        mean = exact_mean(losses)
        assert mean <= limit <= 1
        if limit == 1:
            limit = 1 - mpf("1e-12")
            assert limit <= mean or order_free_log_wealth(losses, limit) < -mpf(log_level)
            return
        assert order_free_log_wealth(losses, limit) >= -mpf(log_level)
        lower = limit - mpf("1e-9") * (limit - mean) - mpf("1e-15")
        assert lower < mean or order_free_log_wealth(losses, lower) < -mpf(log_level)


@pytest.mark.parametrize("seed", range(40))
def test_limit_is_tight_from_above(seed):
    rng = np.random.default_rng(seed)
    assert_tight_from_above(random_losses(rng), float(-np.exp(rng.uniform(-3.0, 5.0))))


@pytest.mark.parametrize("loss", [0.0, 1e-12, Fraction(1, 3), 0.999, 1.0 - 2.0**-53, 1.0])
@pytest.mark.parametrize("log_level", [-0.01, LEVEL, -30.0, -800.0])
@pytest.mark.parametrize("m", [1, 9])
def test_limit_of_equal_losses(loss, log_level, m):
    assert_tight_from_above([loss] * m, log_level)


def test_the_order_does_not_matter():
    losses = [0.0, 0.0, 1.0, 0.25, 0.5]
    assert len({order_free_upper(order, LEVEL) for order in permutations(losses)}) == 1
    many = np.random.default_rng(0).beta(0.2, 2.0, 300)
    assert (
        order_free_upper(np.sort(many), LEVEL)
        == order_free_upper(many, LEVEL)
        == order_free_upper(np.sort(many)[::-1], LEVEL)
    )


def test_limit_grows_as_the_level_falls():
    losses = np.random.default_rng(3).binomial(10, 0.1, 200) / 10
    limits = [order_free_upper(losses, log_level) for log_level in -np.geomspace(0.01, 3000.0, 60)]
    assert np.all(np.diff(limits) >= 0.0)
    assert limits[-1] > limits[0]
    assert losses.mean() <= order_free_upper(losses, 0.0) < limits[0]


# Failures, by enumeration: of every multiset of losses its probability, and whether the limit is below the mean.

WORLDS = {
    "one in two": ((0.0, 0.5), (1.0, 0.5)),
    "one in ten": ((0.0, 0.9), (1.0, 0.1)),
    "mostly wrong": ((0.0, 0.1), (1.0, 0.9)),
    "almost one": ((0.0, 0.6), (0.999, 0.4)),
    "three": ((0.0, 0.55), (0.1, 0.25), (1.0, 0.2)),
    "four": ((0.0, 0.1), (0.3, 0.4), (0.6, 0.3), (1.0, 0.2)),
}


def failure(world, m, log_level):
    """The exact probability that the limit of so many losses is below their mean."""
    values, chances = zip(*world, strict=True)
    mean, failed = math.fsum(v * p for v, p in world), 0.0
    for places in combinations_with_replacement(range(len(world)), m):
        if order_free_upper([values[place] for place in places], log_level) < mean * (1.0 - 1e-12):
            counts = np.bincount(places, minlength=len(world))
            ways = math.factorial(m) / math.prod(math.factorial(count) for count in counts.tolist())
            failed += ways * float(np.prod(np.array(chances) ** counts))
    return failed


@pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS)
@pytest.mark.parametrize("m", [1, 3, 8])
@pytest.mark.parametrize("level", [0.05, 0.3])
def test_the_exact_probability_of_failure_is_below_the_level(world, m, level):
    assert failure(world, m, math.log(level)) <= level


def test_much_of_the_level_is_used():
    """By means just above the limit of so many right answers: the exact limit would use all of it."""
    mean = order_free_upper(np.zeros(40), LEVEL) * (1.0 + 1e-9)
    assert 0.02 < (1.0 - mean) ** 40 <= 0.05


@pytest.mark.parametrize("m", [35, 60, 300])
def test_sorted_losses_fail_no_more_often_than_they_may(m):
    """As in files that are sorted by loss, where bets in the order of the file fail in most cases."""
    rng, mean, runs = np.random.default_rng(m), 0.1, 400
    sorted_losses = np.sort(rng.binomial(10, rng.beta(0.2, 1.8, (runs, m))) / 10, axis=1)
    assert sum(order_free_upper(losses, LEVEL) < mean for losses in sorted_losses) <= 0.05 * runs
    if m == 300:
        assert sum(betting_upper(losses, LEVEL, LEVEL) < mean for losses in sorted_losses[:100]) > 50


@pytest.mark.parametrize(("m", "most"), [(20, 1.11), (100, 1.11), (1000, 1.11)])
@pytest.mark.parametrize("shape", [(0.2, 1.8), (2.0, 18.0), (1.0, 4.0)])
def test_limits_are_little_above_those_of_bets_in_order(m, most, shape):
    rng = np.random.default_rng(1)
    losses = rng.binomial(10, rng.beta(*shape, (60, m))) / 10
    free = np.mean([order_free_upper(own, LEVEL) for own in losses])
    in_order = np.mean([betting_upper(own, LEVEL, LEVEL) for own in losses])
    assert free < most * in_order


@pytest.mark.parametrize("losses", [[], [[0.0, 1.0]], [-1e-9], [1.0 + 1e-9], [0.5, math.nan], 0.5])
def test_losses_must_be_numbers_between_0_and_1(losses):
    with pytest.raises(ValueError, match="losses must be one or more numbers between 0 and 1"):
        order_free_upper(losses, LEVEL)


def test_levels_that_are_none():
    with pytest.raises(ValueError, match="log_level must be a number"):
        order_free_upper([0.5], math.nan)
    assert order_free_upper([0.0] * 10, -math.inf) == 1.0
