"""The upper limit by betting: against its definition to 50 digits, and with means that are known."""

import math
from fractions import Fraction

import numpy as np
import pytest
from bets import exact_mean, log_wealths
from mpmath import mp, mpf

from certivote.maths import betting
from certivote.maths.betting import betting_upper
from certivote.maths.binary_kl import kl_inverse_upper

LEVEL = math.log(0.05)


def reached(losses, log_level, log_target, mean):
    """Whether bets against this mean have won enough, at some time."""
    return max(log_wealths(losses, log_target, mean)) >= -mpf(log_level)


def assert_tight_from_above(losses, log_level, log_target):
    """The limit of floats, which stand for the exact losses."""
    limit = betting_upper([float(loss) for loss in losses], log_level, log_target)
    with mp.workdps(50):
        mean = exact_mean(losses)
        assert mean <= limit <= 1
        assert limit == 1 or reached(losses, log_level, log_target, limit)
        lower = limit - mpf("1e-9") * (limit - mean) - mpf("1e-15")
        assert lower < mean or not reached(losses, log_level, log_target, lower), limit


def random_losses(rng):
    m = int(rng.integers(1, 80))
    kind = int(rng.integers(5))
    if kind == 0:
        return [Fraction(int(rng.binomial(7, 0.2)), 7) for _ in range(m)]
    if kind == 1:
        sizes = rng.geometric(0.1, m)
        return [Fraction(int(rng.binomial(n, rng.beta(0.2, 1.0))), int(n)) for n in sizes]
    if kind == 2:
        return (rng.random(m) < 0.05).astype(float).tolist()
    if kind == 3:
        return rng.random(m).tolist()
    return np.clip(10.0 ** rng.uniform(-300.0, 0.0, m), 0.0, 1.0).tolist()


@pytest.mark.parametrize("seed", range(40))
def test_limit_is_tight_from_above(seed):
    rng = np.random.default_rng(seed)
    log_target = float(-np.exp(rng.uniform(-3.0, 4.0)))
    log_level = log_target * float(rng.choice([0.5, 1.0, 2.0, 5.0]))
    assert_tight_from_above(random_losses(rng), log_level, log_target)


@pytest.mark.parametrize("loss", [0.0, 1e-12, Fraction(1, 3), 0.999, 1.0])
@pytest.mark.parametrize("log_level", [-0.01, -0.5, LEVEL, -30.0])
def test_limit_of_one_loss(loss, log_level):
    assert_tight_from_above([loss], log_level, log_level)
    assert_tight_from_above([loss], log_level, LEVEL)


@pytest.mark.parametrize("log_level", [-500.0, -701.0, -800.0])
def test_levels_that_are_no_floats(log_level):
    losses = [0.0, 0.1, 0.0, 0.1] * 300
    assert_tight_from_above(losses, log_level, log_level)
    limit = betting_upper(losses, log_level, log_level)
    assert betting_upper(losses, -400.0, -400.0) < limit < 0.8


def test_levels_far_below_the_target_have_a_limit():
    """As they do where a drawn vote has cost many nats."""
    losses = np.random.default_rng(5).binomial(10, 0.1, 500) / 10
    for nats, times in ((10.0, 1.05), (30.0, 1.1), (100.0, 1.3)):
        assert betting_upper(losses, -nats, LEVEL) < times * betting_upper(losses, -nats, -nats)


@pytest.mark.parametrize("m", [20, 100, 1000, 10_000])
@pytest.mark.parametrize("level", [0.05, 0.05 / 40])
def test_no_error_costs_little_more_than_the_exact_limit(m, level):
    limit = betting_upper(np.zeros(m), math.log(level), math.log(level))
    assert 1.0 <= limit / -math.expm1(math.log(level) / m) < 1.06


@pytest.mark.parametrize("m", [1, 2, 100])
@pytest.mark.parametrize("log_level", [-1e-3, LEVEL, -1000.0])
def test_all_errors_give_one(m, log_level):
    assert betting_upper(np.ones(m), log_level, LEVEL) == 1.0


def test_bets_that_win_early_do_not_take_the_limit_below_the_mean():
    losses = [0.0] * 100 + [1.0] * 100
    assert betting_upper(losses[:100], LEVEL, LEVEL) < 0.05
    assert betting_upper(losses, LEVEL, LEVEL) == pytest.approx(0.5, abs=1e-14)
    assert betting_upper(losses, LEVEL, LEVEL) >= 0.5


def test_a_level_of_one_promises_nothing_but_the_mean():
    assert betting_upper([0.25, 0.5], 0.0, LEVEL) == pytest.approx(0.375, rel=1e-14)


def test_limit_grows_as_the_level_falls_and_the_target_stays():
    losses = np.random.default_rng(3).binomial(10, 0.1, 200) / 10
    limits = [betting_upper(losses, log_level, LEVEL) for log_level in -np.geomspace(0.01, 300.0, 60)]
    assert np.all(np.diff(limits) >= 0.0)
    assert limits[-1] > limits[0]


@pytest.mark.parametrize("seed", range(10))
def test_wealth_does_not_decrease_in_the_mean(seed):
    """So the means that are not rejected are an interval, and it is enough to know the wealth at its end."""
    rng = np.random.default_rng(seed)
    losses = random_losses(rng)
    means = np.sort(rng.random(12)).tolist()
    with mp.workdps(30):
        wealths = np.array([log_wealths(losses, LEVEL, mean) for mean in [*means, 1.0]])
    assert np.all(wealths[1:] >= wealths[:-1])


def test_order_counts_but_little():
    rng = np.random.default_rng(0)
    losses = rng.binomial(10, 0.1, 300) / 10
    limits = [betting_upper(rng.permutation(losses), LEVEL, LEVEL) for _ in range(40)]
    assert 0.0 < np.std(limits) < 0.2 * (np.mean(limits) - losses.mean())


# Means that are known: how often the limit is below.

RUNS = 300
SIZES = (20, 300)


def no_error_just_missed(m):
    """0 or 1, and a mean just above the limit of a sample without an error, which is as frequent as can be."""
    return betting_upper(np.zeros(m), LEVEL, LEVEL) * (1.0 + 1e-9)


def seldom(m, rng):
    p = no_error_just_missed(m)
    return p, (rng.random((RUNS, m)) < p).astype(float)


def almost_one(m, rng):
    p = no_error_just_missed(m)
    return p * (1.0 - 1e-6), (rng.random((RUNS, m)) < p) * (1.0 - 1e-6)


def two_errors(m, rng):
    p = 3.0 / m
    return p, (rng.random((RUNS, m)) < p).astype(float)


def coin(m, rng):
    return 0.5, rng.integers(0, 2, (RUNS, m)).astype(float)


def mostly_wrong(m, rng):
    """1, and sometimes 0: a lucky streak at the start must not be taken for the mean."""
    return 0.95, (rng.random((RUNS, m)) < 0.95).astype(float)


def near_one(m, rng):
    eps = 10.0 ** rng.integers(-6, -1, (RUNS, m))
    return float(1.0 - np.mean(10.0 ** np.arange(-6, -1))), 1.0 - eps


def little_and_seldom_all(m, rng):
    """A small loss that hides how much a rare entity adds to the mean."""
    p = no_error_just_missed(m)
    return 0.02 * (1.0 - p) + p, np.where(rng.random((RUNS, m)) < p, 1.0, 0.02)


def patients(m, rng):
    rates = rng.beta(0.2, 1.8, (RUNS, m))
    return 0.1, rng.binomial(10, rates) / 10


WORLDS = (seldom, almost_one, two_errors, coin, mostly_wrong, near_one, little_and_seldom_all, patients)


@pytest.fixture(
    scope="module", params=[(world, m) for world in WORLDS for m in SIZES], ids=lambda p: f"{p[0].__name__}, {p[1]}"
)
def world(request):
    make, m = request.param
    return make, m, *make(m, np.random.default_rng([WORLDS.index(make), m]))


def test_limit_fails_no_more_often_than_it_may(world):
    make, _, mean, runs = world
    failures = sum(betting_upper(losses, LEVEL, LEVEL) < mean for losses in runs)
    allowed = 0.05 * RUNS
    assert failures <= allowed + 3.5 * math.sqrt(0.95 * allowed)
    if make is seldom:  # nearly all of the level is used
        assert failures >= 0.5 * allowed


@pytest.mark.parametrize("log_target", [-0.5, -20.0])
@pytest.mark.parametrize("make", [seldom, coin, patients], ids=lambda make: make.__name__)
def test_limit_with_bets_for_another_level_fails_no_more_often(make, log_target):
    mean, runs = make(50, np.random.default_rng(1))
    failures = sum(betting_upper(losses, LEVEL, log_target) < mean for losses in runs)
    assert failures <= 0.05 * RUNS + 3.5 * math.sqrt(0.95 * 0.05 * RUNS)


def test_the_worlds_are_hard():
    """The limit by a normal approximation fails in them several times as often as it may."""
    rng = np.random.default_rng(0)
    mean, runs = seldom(100, rng)
    limits = runs.mean(axis=1) + 1.645 * runs.std(axis=1, ddof=1) / 10.0
    assert np.sum(limits < mean) > 0.15 * RUNS


def test_equal_rows_are_counted_once():
    """A hundred patients with ten equal rows each: the bound is that of a hundred cases, not of a thousand."""
    wrong = np.arange(100) % 10 == 0
    limit = betting_upper(wrong.astype(float), LEVEL, LEVEL)
    assert limit > float(kl_inverse_upper(0.1, 3.0 / 1000))


# What is asked of the arguments, and how much is done.


@pytest.mark.parametrize("losses", [[], [[0.0, 1.0]], [-1e-9], [1.0 + 1e-9], [0.5, math.nan], 0.5])
def test_losses_must_be_numbers_between_0_and_1(losses):
    with pytest.raises(ValueError, match="losses must be one or more numbers between 0 and 1"):
        betting_upper(losses, LEVEL, LEVEL)


@pytest.mark.parametrize("log_target", [0.0, 1.0, -math.inf, math.nan])
def test_the_target_must_be_a_level(log_target):
    with pytest.raises(ValueError, match="log_target must be a negative number"):
        betting_upper([0.5], LEVEL, log_target)


def test_a_level_that_is_no_number_is_refused():
    with pytest.raises(ValueError, match="log_level must be a number"):
        betting_upper([0.5], math.nan, LEVEL)


def test_an_impossible_level_gives_one():
    assert betting_upper([0.0] * 10, -math.inf, LEVEL) == 1.0


def test_many_losses_take_as_few_looks_as_few(monkeypatch):
    """Every look is one pass over the losses, so their number tells how the time grows."""
    looks = []
    monkeypatch.setattr(betting, "_log_wealth", lambda *given, of=betting._log_wealth: looks.append(0) or of(*given))
    losses = np.random.default_rng(0).binomial(10, 0.1, 100_000) / 10
    counts = []
    for m in (100, 100_000):
        looks.clear()
        betting_upper(losses[:m], LEVEL, LEVEL)
        counts.append(len(looks))
    assert counts[1] <= 2 * counts[0]
    assert max(counts) < 60
