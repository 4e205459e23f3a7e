"""Bounds under a shift against mpmath, brute force over small populations, and exact sums."""

import math
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest

from certivote.maths.rounding import float_above
from certivote.maths.shift import kl_ball_upper, shifted_bound


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(60):
        yield


def exact_kl(q, p):
    q, p = mpmath.mpf(q), mpmath.mpf(p)
    rest = (1 - q) * (mpmath.log1p(-q) - mpmath.log1p(-p)) if q < 1 else 0
    return q * mpmath.log(q / p) + rest


def exact_ball(p, rho):
    """By bisection in sixty digits."""
    low, high = mpmath.mpf(p), mpmath.mpf(1)
    if exact_kl(high, p) <= rho:
        return high
    for _ in range(1300):
        middle = (low + high) / 2
        low, high = (middle, high) if exact_kl(middle, p) <= rho else (low, middle)
        if high - low < mpmath.mpf(10) ** -40 * (high - p):
            break
    return high


PROBABILITIES = [1e-300, 1e-100, 1e-17, 1e-9, 0.001, 0.03, 0.05, 1 / 3, 0.5, 0.9, 0.999999, 1 - 2**-53]
DIVERGENCES = [1e-300, 1e-30, 1e-17, 1e-9, 1e-4, 0.01, 0.1, 0.5, 1.0, 3.0, 30.0, 690.0]


@pytest.mark.parametrize("p", PROBABILITIES)
def test_the_ball_is_never_below_the_exact_value_and_close(p):
    for rho in DIVERGENCES:
        got, exact = kl_ball_upper(p, rho), exact_ball(p, rho)
        assert mpmath.mpf(got) >= exact, rho
        assert mpmath.mpf(got) - exact <= mpmath.mpf(1e-10) * (exact - p) + 2 * math.ulp(got), rho


@pytest.mark.parametrize("p", [0.05, 0.3, 1e-9])
def test_from_minus_the_logarithm_on_nothing_is_left(p):
    assert kl_ball_upper(p, -math.log(p) * (1 + 1e-9)) == 1.0
    assert kl_ball_upper(p, -math.log(p) * (1 - 1e-6)) < 1.0


def test_the_ends_of_the_ball():
    assert [kl_ball_upper(p, 0.0) for p in (0.0, 0.2, 1.0)] == [0.0, 0.2, 1.0]
    assert kl_ball_upper(0.0, 5.0) == 0.0  # what never happens does not happen at a finite divergence
    assert kl_ball_upper(0.0, math.inf) == kl_ball_upper(0.2, math.inf) == kl_ball_upper(1.0, 0.1) == 1.0
    assert exact_ball(5e-324, 0.1) < kl_ball_upper(5e-324, 0.1) < 2e-4


def test_the_ball_grows_with_both():
    grid = [[kl_ball_upper(p, rho) for rho in (0.0, 1e-6, 0.01, 0.2)] for p in (0.0, 0.01, 0.2, 0.7)]
    assert np.all(np.diff(grid, axis=0) > 0)
    assert np.all(np.diff(grid[1:], axis=1) > 0)


def test_no_population_within_the_divergence_errs_more_often():
    """Populations of five cases, some of which are errors, against many others."""
    rng = np.random.default_rng(0)
    wrong = np.array([True, False, False, True, False])
    nearest = 0.0
    for _ in range(300):
        here = rng.dirichlet(np.ones(5))
        tilt = np.where(wrong, rng.uniform(0.5, 4.0), 1.0) * rng.uniform(0.9, 1.1, 5)
        there = here * tilt / np.sum(here * tilt)
        divergence, variation = float(np.sum(there * np.log(there / here))), float(np.abs(there - here).sum() / 2)
        error = float(there[wrong].sum())
        limit = shifted_bound(float(here[wrong].sum()), kl=max(divergence, 0.0))
        assert error <= limit * (1 + 1e-9)
        assert error <= shifted_bound(float(here[wrong].sum()), total_variation=variation) * (1 + 1e-12)
        nearest = max(nearest, error / limit)
    assert nearest > 0.98  # and the limit is nearly reached


def test_means_of_losses_are_errors_too():
    """Losses between 0 and 1, where an error is no event of the case itself."""
    rng = np.random.default_rng(1)
    for _ in range(100):
        losses, here = rng.random(6), rng.dirichlet(np.ones(6))
        there = here * np.exp(rng.uniform(0, 3) * losses)
        there /= there.sum()
        divergence = float(np.sum(there * np.log(there / here)))
        assert float(there @ losses) <= shifted_bound(float(here @ losses), kl=divergence) * (1 + 1e-9)


def test_noise_by_counting_all_cases():
    """Of (answer, recorded, true) in all distributions on eight outcomes: the error counts by the true class."""
    outcomes = list(product((0, 1), repeat=3))
    for weights in np.random.default_rng(2).dirichlet(np.full(8, 0.5), 500):
        seen = sum(w for w, (answer, recorded, _) in zip(weights, outcomes, strict=True) if answer != recorded)
        noise = sum(w for w, (_, recorded, true) in zip(weights, outcomes, strict=True) if recorded != true)
        error = sum(w for w, (answer, _, true) in zip(weights, outcomes, strict=True) if answer != true)
        assert error <= shifted_bound(seen, label_noise=min(noise, 1.0)) * (1 + 1e-12)


@pytest.mark.parametrize("bound", [0.0, 1e-17, 0.1, 0.3, 0.7, 0.95])
def test_sums_are_rounded_up_and_stop_at_one(bound):
    for variation, noise in product((0.0, 1e-17, 0.1, 0.7), repeat=2):
        exact = min(Fraction(bound) + Fraction(variation) + Fraction(noise), Fraction(1))
        got = shifted_bound(bound, total_variation=variation, label_noise=noise)
        assert Fraction(got) >= exact
        assert got <= float(exact) * (1 + 2**-50)


@pytest.mark.parametrize(("bound", "rho", "eps", "eta"), [(0.05, 0.1, 0.02, 0.01), (0.9, 0.05, 0.02, 0.03)])
def test_several_differences_hold_in_every_order(bound, rho, eps, eta):
    steps = {
        "kl": lambda value: exact_ball(value, rho),
        "eps": lambda value: min(value + mpmath.mpf(eps), mpmath.mpf(1)),
        "eta": lambda value: min(value + mpmath.mpf(eta), mpmath.mpf(1)),
    }
    reached = []
    for order in (("kl", "eps", "eta"), ("eps", "kl", "eta"), ("eta", "kl", "eps"), ("eps", "eta", "kl")):
        value = mpmath.mpf(bound)
        for name in order:
            value = steps[name](value)
        reached.append(value)
    got = shifted_bound(bound, kl=rho, total_variation=eps, label_noise=eta)
    assert max(reached) <= got <= max(reached) * (1 + 1e-9)
    # The orders do differ, and which is the worst is not always the same.
    assert (reached[0] < reached[3]) == (bound < 0.5)


def test_vacuous_bounds_stay_at_one():
    assert shifted_bound(1.0, kl=0.1) == shifted_bound(1.7) == 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"bound": -0.1}, "bound must be a number from 0 on; got -0.1"),
        ({"bound": math.nan}, "bound must be a number from 0 on"),
        ({"bound": 0.1, "kl": -0.1}, "kl must be a finite number of nats from 0 on; got -0.1"),
        ({"bound": 0.1, "kl": math.inf}, "kl must be a finite number"),
        ({"bound": 0.1, "kl": math.nan}, "kl must be a finite number"),
        ({"bound": 0.1, "total_variation": 1.5}, "total_variation must lie between 0 and 1; got 1.5"),
        ({"bound": 0.1, "label_noise": -1.0}, "label_noise must lie between 0 and 1"),
        ({"bound": 1.0, "label_noise": math.nan}, "label_noise must lie between 0 and 1"),
    ],
)
def test_what_cannot_be_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        shifted_bound(**arguments)


def test_the_ball_refuses_what_cannot_be():
    with pytest.raises(ValueError, match="p must lie between 0 and 1"):
        kl_ball_upper(1.1, 0.1)
    with pytest.raises(ValueError, match="rho must be a number of nats"):
        kl_ball_upper(0.5, math.nan)


@pytest.mark.parametrize(
    "exact", [Fraction(1, 3), Fraction(-1, 3), Fraction(2**60 + 1), Fraction(1, 10**400), Fraction(7, 8)]
)
def test_floats_are_the_smallest_that_are_not_below(exact):
    got = float_above(exact)
    assert Fraction(got) >= exact > Fraction(math.nextafter(got, -math.inf))
