"""The auditor's proof of limits by betting, against the limits that are made and against the definition."""

import math
from fractions import Fraction

import numpy as np
import pytest
from bets import exact_mean, log_wealths, order_free_log_wealth
from mpmath import mp, mpf

pytest.importorskip("flint", reason="proofs need python-flint: install certivote[verify]")

from flint import arb, ctx, fmpq

from certivote.maths.betting import betting_upper, order_free_upper
from certivote.verify._balls import BITS, betting_limit_holds, order_free_limit_holds

LOG_LEVEL = math.log(0.05)


@pytest.fixture(autouse=True)
def _precise():
    with ctx.workprec(BITS), mp.workdps(60):
        yield


def holds(losses, bound, log_level=LOG_LEVEL, log_target=LOG_LEVEL):
    exact = [fmpq(loss.numerator, loss.denominator) if isinstance(loss, Fraction) else loss for loss in losses]
    return betting_limit_holds(exact, arb(log_level).exp(), arb(log_target).exp(), arb(bound))


def shares(rng, m):
    """Of entities of many sizes, the shares of wrong rows."""
    sizes = rng.geometric(0.15, m).tolist()
    return [Fraction(int(rng.binomial(n, rate)), n) for n, rate in zip(sizes, rng.beta(0.3, 2.0, m), strict=True)]


CASES = {
    "shares": lambda rng: shares(rng, int(rng.integers(2, 200))),
    "floats": lambda rng: rng.random(int(rng.integers(2, 200))).tolist(),
    "0 or 1": lambda rng: (rng.random(int(rng.integers(20, 200))) < 0.05).astype(float).tolist(),
    "no error": lambda rng: [0.0] * int(rng.integers(5, 200)),
}


@pytest.fixture(params=[(case, seed) for case in CASES for seed in range(6)], ids=lambda p: f"{p[0]}, {p[1]}")
def made(request):
    """Losses, levels, and the limit that the library makes of them."""
    case, seed = request.param
    rng = np.random.default_rng(seed)
    losses = CASES[case](rng)
    log_target = float(-np.exp(rng.uniform(-1.0, 3.0)))
    log_level = log_target * float(rng.choice([1.0, 1.0, 2.0, 10.0]))
    return losses, log_level, log_target, betting_upper([float(loss) for loss in losses], log_level, log_target)


def test_what_is_made_is_proved_and_hardly_less_is(made):
    losses, log_level, log_target, limit = made
    assert holds(losses, limit, log_level, log_target)
    assert not holds(losses, limit * (1.0 - 1e-8), log_level, log_target)


def test_proofs_are_those_of_the_definition(made):
    losses, log_level, log_target, limit = made
    mean = float(exact_mean(losses))
    proved = 0
    for bound in (0.5 * mean, mean + 1e-9, 0.5 * (mean + limit), limit - 1e-7, limit + 1e-7, 0.5 * (limit + 1.0)):
        if bound >= 1.0:
            continue
        true = mean <= bound and max(log_wealths(losses, log_target, bound)) >= -mpf(log_level)
        assert holds(losses, bound, log_level, log_target) == true
        proved += true
    assert proved or limit == 1.0


def test_levels_far_below_floats():
    losses, log_level = [0.0, 0.1] * 500, -800.0
    limit = betting_upper(losses, log_level, log_level)
    assert limit < 1.0
    assert holds(losses, limit, log_level, log_level)
    assert not holds(losses, limit - 1e-8, log_level, log_level)


def test_many_losses_leave_enough_digits():
    losses = (np.random.default_rng(0).binomial(10, 0.1, 20_000) / 10).tolist()
    limit = betting_upper(losses, LOG_LEVEL, LOG_LEVEL)
    assert holds(losses, limit)
    assert not holds(losses, limit - 1e-9)


def test_the_order_of_the_losses_counts():
    losses = [1.0] * 3 + [0.0] * 97
    limit = betting_upper(losses, LOG_LEVEL, LOG_LEVEL)
    other = betting_upper(losses[::-1], LOG_LEVEL, LOG_LEVEL)
    assert holds(losses, limit)
    assert holds(losses[::-1], other)
    assert not holds(losses[::-1] if other > limit else losses, min(limit, other))


def test_bets_that_win_early_prove_nothing_below_the_mean():
    losses = [0.0] * 100 + [1.0] * 100
    assert not holds(losses, 0.4999)
    assert holds(losses, 0.5)


def test_one_is_always_proved():
    assert holds([1.0, 1.0], 1.0)
    assert holds([0.0], 1.0)
    assert not holds([1.0, 1.0], 0.999)


def test_a_level_of_one_proves_the_mean():
    assert holds([0.25, 0.75], 0.5, log_level=0.0)
    assert not holds([0.25, 0.75], 0.499, log_level=0.0)


@pytest.mark.parametrize("losses", [[], [-0.1, 0.5], [0.5, 1.1], [math.nan], [math.inf]])
def test_nothing_is_proved_of_what_are_no_losses(losses):
    assert not holds(losses, 0.9)
    assert not holds(losses, 1.0)


@pytest.mark.parametrize("log_target", [0.0, 1.0, math.nan])
def test_nothing_is_proved_by_bets_for_no_level(log_target):
    assert not holds([0.0] * 100, 0.5, log_target=log_target)


@pytest.mark.parametrize("log_level", [math.nan, -math.inf])
def test_nothing_is_proved_at_no_level(log_level):
    assert not holds([0.0] * 100, 0.5, log_level=log_level)


@pytest.mark.parametrize("bound", [math.nan, -0.1, 0.0, -math.inf])
def test_impossible_bounds_are_not_proved(bound):
    assert not holds([0.0, 0.5], bound)


def test_losses_that_are_just_the_mean_so_far_are_no_obstacle():
    """Their deviation is a ball around 0, of which powers are not to be taken."""
    losses = [0.5, Fraction(1, 3), Fraction(4, 9), *[0.0] * 40]
    assert holds(losses, betting_upper([float(loss) for loss in losses], LOG_LEVEL, LOG_LEVEL))


# Bets on all losses at once.


def holds_in_any_order(losses, bound, log_level=LOG_LEVEL):
    exact = [fmpq(loss.numerator, loss.denominator) if isinstance(loss, Fraction) else loss for loss in losses]
    return order_free_limit_holds(exact, arb(log_level).exp(), arb(bound))


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("seed", range(6))
def test_what_needs_no_order_is_proved_and_hardly_less_is(case, seed):
    rng = np.random.default_rng(seed)
    losses, log_level = CASES[case](rng), float(-np.exp(rng.uniform(-1.0, 4.0)))
    limit = order_free_upper([float(loss) for loss in losses], log_level)
    assert holds_in_any_order(losses, limit, log_level)
    assert holds_in_any_order(losses[::-1], limit, log_level)
    assert not holds_in_any_order(losses, limit * (1.0 - 1e-8), log_level)
    mean = float(exact_mean(losses))
    for bound in (0.5 * mean, mean, 0.5 * (mean + limit), limit - 1e-7, limit + 1e-7, 0.5 * (limit + 1.0)):
        if 0.0 < bound < 1.0:
            true = order_free_log_wealth(losses, bound) >= -mpf(log_level)
            assert holds_in_any_order(losses, bound, log_level) == true


def test_many_losses_at_once_leave_enough_digits():
    losses = (np.random.default_rng(0).binomial(10, 0.1, 200_000) / 10).tolist()
    limit = order_free_upper(losses, LOG_LEVEL)
    assert holds_in_any_order(losses, limit)
    assert not holds_in_any_order(losses, limit - 1e-9)


@pytest.mark.parametrize("losses", [[], [-0.1, 0.5], [0.5, 1.1], [math.nan], [math.inf]])
def test_nothing_is_proved_in_any_order_of_what_are_no_losses(losses):
    assert not holds_in_any_order(losses, 0.9)
    assert not holds_in_any_order(losses, 1.0)


@pytest.mark.parametrize("bound", [math.nan, -0.1, 0.0, 0.2, -math.inf])
def test_impossible_bounds_are_not_proved_in_any_order(bound):
    assert not holds_in_any_order([0.0, 0.5], bound)
    assert not holds_in_any_order([1.0, 1.0], 0.999)
    assert holds_in_any_order([1.0, 1.0], 1.0)
    assert not holds_in_any_order([0.0] * 100, 0.5, log_level=math.nan)
