import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from certivote.maths.categorical import kl_divergence, softmax, softmax_chain
from certivote.votes import fixed_point

SIZES = [1, 2, 3, 20, 1000]
KINDS = ["flat", "sparse", "close", "needle", "wide"]


def pair(kind, size, seed):
    """Fixed-point weights, and a prior that is not uniform."""
    rng = np.random.default_rng([size, seed])
    prior = rng.uniform(0.1, 2.0, size)
    prior /= prior.sum()
    raw = {
        "flat": lambda: rng.uniform(0.5, 1.0, size),
        "sparse": lambda: rng.random(size) * (rng.random(size) < 0.3) + 1e-300,
        "close": lambda: prior * np.exp(1e-9 * rng.standard_normal(size)),
        "needle": lambda: np.where(np.arange(size) == seed % size, 1.0, 1e-14),
        "wide": lambda: 10.0 ** rng.uniform(-12, 0, size),
    }[kind]()
    return fixed_point(np.log(raw / raw.sum())), prior


def exact_kl(weights, prior):
    """The definition, in the working precision of mpmath; the prior is taken as if it summed to 1."""
    terms = (mpf(w) * mp.log(mpf(w) / mpf(p)) for w, p in zip(weights.tolist(), prior.tolist(), strict=True) if w > 0)
    return mp.fsum(terms) + mp.log(mp.fsum(prior.tolist()))


def differences(function, point, step):
    """Central differences, one a coordinate in the last axis."""
    moves = step * np.eye(len(point))
    return np.stack([(function(point + h) - function(point - h)) / (2 * step) for h in moves], axis=-1)


def assert_close_above(got, true):
    assert got >= true, f"below by {mp.nstr(true - got, 3)}"
    assert got - true <= mpf("1e-12") * (1 + true), f"above by {mp.nstr(got - true, 3)} of {mp.nstr(true, 6)}"


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_kl_against_mpmath(kind, size):
    with mp.workdps(40):
        for seed in range(5):
            weights, prior = pair(kind, size, seed)
            assert_close_above(kl_divergence(weights, prior)[0], exact_kl(weights, prior))


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 1000), st.integers(1, 1000)), min_size=1, max_size=12))
def test_kl_of_small_counts_against_mpmath(counts):
    raw, prior = np.array(counts, dtype=float).T
    raw[0] += 1.0
    weights, prior = fixed_point(np.log(np.maximum(raw / raw.sum(), 1e-300))), prior / prior.sum()
    with mp.workdps(40):
        assert_close_above(kl_divergence(weights, prior)[0], exact_kl(weights, prior))


@pytest.mark.parametrize(("weights", "expected"), [([1, 0, 0, 0], 2), ([0.5, 0.5, 0, 0], 1), ([0, 0, 0.5, 0.5], 1)])
def test_zero_weights_add_nothing(weights, expected):
    value, gradient = kl_divergence(np.array(weights, dtype=float), np.full(4, 0.25))
    assert 0 <= value - expected * math.log(2) <= 1e-12
    assert np.all(np.isfinite(gradient))
    assert np.argmin(gradient) in np.flatnonzero(np.array(weights) == 0)


@pytest.mark.parametrize("size", SIZES)
def test_kl_of_weights_equal_to_the_prior_is_zero(size):
    weights, _ = pair("flat", size, 7)
    value, gradient = kl_divergence(weights, weights)
    assert 0 <= value <= 1e-12
    np.testing.assert_allclose(gradient, 1.0, rtol=1e-12)


@pytest.mark.parametrize("size", [1, 2, 10])
def test_gradient_of_kl_against_differences(size):
    # Off the simplex the value is sum rho ln(rho/pi) - sum rho + sum pi, whose gradient is ln(rho/pi): the same up to a
    # constant, which softmax_chain and every step along the simplex ignore.
    weights, prior = pair("flat", size, 0)
    _, gradient = kl_divergence(weights, prior)
    expected = differences(lambda w: kl_divergence(w, prior)[0], weights, 1e-6)
    np.testing.assert_allclose(gradient, expected + 1.0, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(gradient, np.log(weights / prior) + 1.0, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("kind", ["flat", "close", "wide"])
def test_gradient_of_kl_through_softmax_against_differences(kind):
    weights, prior = pair(kind, 6, 1)
    x = np.log(weights)

    def value(x):
        return kl_divergence(softmax(x), prior)[0]

    gradient = softmax_chain(softmax(x), kl_divergence(softmax(x), prior)[1])
    np.testing.assert_allclose(gradient, differences(value, x, 1e-5), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("shift", [0.0, 700.0, -700.0, 1e6])
def test_softmax_against_its_definition(shift):
    x = np.array([-3.0, 0.0, 0.5, 2.0])
    powers = np.exp(x)
    weights = softmax(x + shift)
    np.testing.assert_allclose(weights, powers / powers.sum(), rtol=1e-9)
    assert weights.sum() == pytest.approx(1.0, abs=1e-15)


def test_softmax_of_one_number_is_one():
    assert softmax(np.array([-40.0])).tolist() == [1.0]


@pytest.mark.parametrize("scale", [0.1, 1.0, 5.0])
def test_softmax_chain_against_differences(scale):
    rng = np.random.default_rng(0)
    x, direction = scale * rng.standard_normal(7), rng.standard_normal(7)
    jacobian = differences(softmax, x, 1e-5)
    expected = direction @ jacobian
    assert np.max(np.abs(expected)) > 1e-3
    np.testing.assert_allclose(softmax_chain(softmax(x), direction), expected, rtol=0, atol=1e-9)


def test_softmax_chain_ignores_a_constant():
    weights, gradient = softmax(np.array([0.0, 1.0, 2.0])), np.array([3.0, -1.0, 0.5])
    chained = softmax_chain(weights, gradient)
    np.testing.assert_allclose(softmax_chain(weights, gradient + 1e3), chained, atol=1e-12)
    assert chained.sum() == pytest.approx(0.0, abs=1e-15)
