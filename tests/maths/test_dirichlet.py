import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from scipy import special, stats

from certivote.maths import dirichlet

SIZES = [1, 2, 5, 50]
KINDS = ["wide", "ends", "large", "small", "close", "equal", "tenfold", "prior one half"]
ORDERS = [1.1, 1.5, 2.0, 10.0]


def parameters(kind, size, seed):
    """A pair ``alpha``, ``beta`` of parameters between 1e-6 and 1e6."""
    rng = np.random.default_rng([seed, size, KINDS.index(kind)])
    if kind == "wide":
        return 10 ** rng.uniform(-6, 6, size), 10 ** rng.uniform(-6, 6, size)
    if kind == "ends":
        return rng.choice([1e-6, 1e6], size), rng.choice([1e-6, 1e6], size)
    if kind == "large":
        return 10 ** rng.uniform(4, 6, size), 10 ** rng.uniform(4, 6, size)
    if kind == "small":
        return 10 ** rng.uniform(-6, -3, size), 10 ** rng.uniform(-6, -3, size)
    if kind == "tenfold":
        beta = 10 ** rng.uniform(4, 5, size)
        return 10 * beta * (1 + 1e-3 * rng.standard_normal(size)), beta
    if kind == "prior one half":
        return rng.uniform(0.17, 200.0, size), np.full(size, 0.5)
    beta = 10 ** rng.uniform(-6, 6, size)
    return beta * (1 + (1e-9 if kind == "close" else 0.0) * rng.standard_normal(size)), beta


def exact(values):
    return [mpf(float(value)) for value in values]


def log_beta(x):
    return mp.fsum(mp.loggamma(value) for value in x) - mp.loggamma(mp.fsum(x))


def exact_log_ratio(alpha, beta, log_weights):
    terms = ((a - b) * w for a, b, w in zip(alpha, beta, log_weights, strict=True))
    return log_beta(beta) - log_beta(alpha) + mp.fsum(terms)


def exact_kl(alpha, beta):
    centre = mp.psi(0, mp.fsum(alpha))
    return exact_log_ratio(alpha, beta, [mp.psi(0, a) - centre for a in alpha])


def exact_renyi(alpha, beta, order):
    gamma = [order * a + (1 - order) * b for a, b in zip(alpha, beta, strict=True)]
    if min(gamma) <= 0:
        return mp.inf
    return log_beta(beta) - log_beta(alpha) + (log_beta(gamma) - log_beta(alpha)) / (order - 1)


def exact_gradient(function, alpha):
    """Central differences, in the working precision of mpmath."""
    gradient = []
    for j, a in enumerate(alpha):
        h = a * mpf(10) ** (-mp.dps // 3)
        ahead, behind = ([*alpha[:j], a + shift, *alpha[j + 1 :]] for shift in (h, -h))
        gradient.append(float((function(ahead) - function(behind)) / (2 * h)))
    return np.array(gradient)


def assert_close_above(got, true, rounding=0.0):
    assert got >= true, f"below by {mp.nstr(true - got, 3)}"
    allowed = mpf("1e-9") * (1 + abs(true)) + rounding
    assert got - true <= allowed, f"above by {mp.nstr(got - true, 3)} of {mp.nstr(true, 6)}"


def draws(alpha, count, rng):
    return np.stack([dirichlet.draw(alpha, rng)[0] for _ in range(count)])


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_log_ratio_against_mpmath(kind, size):
    rng = np.random.default_rng(size)
    with mp.workdps(45):
        for seed in range(4):
            alpha, beta = parameters(kind, size, seed)
            log_weights, _, _ = dirichlet.draw(alpha, rng)
            true = exact_log_ratio(exact(alpha), exact(beta), exact(log_weights))
            # The logarithms of the mean weights are rounded, and multiplied by parameters of up to 1e6.
            sizes = np.abs(log_weights) + np.abs(np.log(alpha / alpha.sum())) + 1
            rounding = 1e-15 * float(np.sum(np.abs(alpha - beta) * sizes + 4 * beta))
            assert_close_above(dirichlet.log_ratio(alpha, beta, log_weights), true, rounding)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_kl_against_mpmath(kind, size):
    with mp.workdps(45):
        for seed in range(4):
            alpha, beta = parameters(kind, size, seed)
            assert_close_above(dirichlet.kl_divergence(alpha, beta)[0], exact_kl(exact(alpha), exact(beta)))


@pytest.mark.parametrize(
    ("alpha", "beta"),
    [
        ([92012.68256441213, 44690.84931712409], [929215.2800870852, 447642.7586657463]),
        ([1e6, 0.99e6], [1e5, 1.01e5]),
        ([0.9e6, 1e6, 1.1e6], [1e6, 1e6, 1e6]),
    ],
)
def test_kl_of_nearly_proportional_large_parameters_against_mpmath(alpha, beta):
    with mp.workdps(45):
        true = exact_kl(exact(alpha), exact(beta))
        assert_close_above(dirichlet.kl_divergence(np.array(alpha), np.array(beta))[0], true)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_renyi_against_mpmath(kind, size):
    with mp.workdps(45):
        for seed in range(4):
            alpha, beta = parameters(kind, size, seed)
            for order in ORDERS:
                true = exact_renyi(exact(alpha), exact(beta), mpf(order))
                got, _ = dirichlet.renyi_divergence(alpha, beta, order)
                if mp.isinf(true):
                    assert got == math.inf
                else:
                    assert_close_above(got, true)


def test_values_of_ten_thousand_voters_against_mpmath():
    rng = np.random.default_rng(0)
    alpha, beta = rng.uniform(0.2, 30.0, 10_000), np.full(10_000, 0.5)
    log_weights, _, _ = dirichlet.draw(alpha, rng)
    with mp.workdps(40):
        a, b = exact(alpha), exact(beta)
        assert_close_above(dirichlet.log_ratio(alpha, beta, log_weights), exact_log_ratio(a, b, exact(log_weights)))
        assert_close_above(dirichlet.kl_divergence(alpha, beta)[0], exact_kl(a, b))
        assert_close_above(dirichlet.renyi_divergence(alpha, beta, 1.5)[0], exact_renyi(a, b, mpf(1.5)))


@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize("kind", ["wide", "large", "small", "close", "prior one half"])
def test_gradient_of_kl_against_mpmath(kind, size):
    alpha, beta = parameters(kind, size, 0)
    _, gradient = dirichlet.kl_divergence(alpha, beta)
    with mp.workdps(60):
        expected = exact_gradient(lambda a: exact_kl(a, exact(beta)), exact(alpha))
    gap = np.abs(alpha - beta)
    scale = gap * special.polygamma(1, alpha) + gap.sum() * special.polygamma(1, alpha.sum())
    assert np.all(np.abs(gradient - expected) <= 1e-9 * np.abs(expected) + 1e-13 * scale)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("size", [1, 2, 5])
def test_gradient_of_renyi_against_mpmath(size, order):
    rng = np.random.default_rng(size)
    for power in (-5, 0, 5):
        beta = 10 ** (power + rng.uniform(-1, 1, size))
        alpha = (order - 1) / order * beta + 10 ** (power + rng.uniform(-1, 1, size))
        _, gradient = dirichlet.renyi_divergence(alpha, beta, order)
        with mp.workdps(60):
            expected = exact_gradient(lambda a: exact_renyi(a, exact(beta), mpf(order)), exact(alpha))  # noqa: B023
        gamma = order * alpha + (1 - order) * beta
        scale = sum(np.abs(special.psi(x)) for x in (gamma, gamma.sum(), alpha, alpha.sum())) * order / (order - 1)
        assert np.all(np.abs(gradient - expected) <= 1e-9 * np.abs(expected) + 1e-13 * scale)


@pytest.mark.parametrize("kind", ["wide", "large", "small", "prior one half"])
def test_gradient_of_log_ratio_against_mpmath(kind):
    alpha, beta = parameters(kind, 5, 1)
    log_weights, _, _ = dirichlet.draw(alpha, np.random.default_rng(0))
    with mp.workdps(60):
        b, w = exact(beta), exact(log_weights)
        expected = exact_gradient(lambda a: exact_log_ratio(a, b, w), exact(alpha))
    scale = np.abs(special.psi(alpha)) + np.abs(special.psi(alpha.sum())) + np.abs(log_weights)
    gradient = dirichlet.log_ratio_gradient(alpha, log_weights)
    assert np.all(np.abs(gradient - expected) <= 1e-9 * np.abs(expected) + 1e-14 * scale)


def test_gradient_of_log_ratio_against_finite_differences():
    alpha, beta = np.array([0.3, 2.0, 7.5]), np.array([0.5, 0.5, 1.0])
    log_weights, _, _ = dirichlet.draw(alpha, np.random.default_rng(1))
    step = 1e-5 * np.eye(3)
    expected = [
        (dirichlet.log_ratio(alpha + h, beta, log_weights) - dirichlet.log_ratio(alpha - h, beta, log_weights)) / 2e-5
        for h in step
    ]
    np.testing.assert_allclose(dirichlet.log_ratio_gradient(alpha, log_weights), expected, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("order", [1.1, 1.5, 2.0, 3.0, 10.0])
@pytest.mark.parametrize("share", [0.0, 0.5, 1 - 1e-12, 1.0])
def test_renyi_is_infinite_at_and_below_the_floor(order, share):
    beta = np.array([0.5, 3.0, 0.1])
    alpha = beta.copy()
    floor = Fraction(beta[1]) * (Fraction(order) - 1) / Fraction(order)
    alpha[1] = max(float(floor) * share, 1e-300)
    while Fraction(alpha[1]) > floor:
        alpha[1] = math.nextafter(alpha[1], 0.0)
    value, gradient = dirichlet.renyi_divergence(alpha, beta, order)
    assert value == math.inf
    assert np.all(np.isnan(gradient))


@pytest.mark.parametrize("order", [1.1, 1.5, 1.7, 2.0, 10.0])
def test_renyi_just_above_the_floor_is_never_below_the_true_value(order):
    beta = np.array([0.5, 3.0, 0.1])
    with mp.workdps(45):
        for excess in (1e-15, 1e-12, 1e-9, 1e-6, 1e-3):
            alpha = beta.copy()
            alpha[1] = (order - 1) / order * beta[1] * (1 + excess)
            true = exact_renyi(exact(alpha), exact(beta), mpf(order))
            got, _ = dirichlet.renyi_divergence(alpha, beta, order)
            assert got >= true
            if excess >= 1e-3:
                assert_close_above(got, true)


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.floats(-6, 6), st.floats(-6, 6)), min_size=1, max_size=6),
    st.floats(1.05, 5.0),
    st.floats(1.05, 5.0),
)
def test_divergences_are_non_negative_and_grow_with_the_order(powers, first, second):
    alpha, beta = 10.0 ** np.array(powers).T
    low, high = sorted((first, second))
    kl, _ = dirichlet.kl_divergence(alpha, beta)
    lower, _ = dirichlet.renyi_divergence(alpha, beta, low)
    higher, _ = dirichlet.renyi_divergence(alpha, beta, high)
    assert 0 <= kl <= lower + 1e-9 * (1 + abs(kl))
    assert lower == math.inf or lower <= higher + 1e-9 * (1 + lower)


@pytest.mark.parametrize("alpha", [np.full(1000, 1e-6), np.array([1e-6, 1e6]), np.full(3, 1e6), np.full(1, 0.5)])
def test_draws_are_finite_in_log_space_and_sum_to_one(alpha):
    rng = np.random.default_rng(0)
    for _ in range(50):
        log_weights, gammas, log_uniforms = dirichlet.draw(alpha, rng)
        assert np.all(np.isfinite(log_weights))
        assert np.all(log_weights <= 0)
        assert math.fsum(np.exp(log_weights)) == pytest.approx(1.0, abs=1e-12)
        assert np.all(gammas > 0)
        assert np.all(log_uniforms <= 0)


@pytest.mark.parametrize("alpha", [[0.5, 0.5], [1e-3, 2e-3, 5e-3], [0.2, 1.0, 4.0, 30.0], [1e4, 3e4]])
def test_draws_have_the_mean_and_variance_of_the_dirichlet(alpha):
    alpha = np.array(alpha)
    count = 4000
    weights = np.exp(draws(alpha, count, np.random.default_rng(3)))
    mean = alpha / alpha.sum()
    variance = mean * (1 - mean) / (alpha.sum() + 1)
    assert np.all(np.abs(weights.mean(axis=0) - mean) < 5 * np.sqrt(variance / count))
    square = (weights - mean) ** 2
    assert np.all(np.abs(square.mean(axis=0) - variance) < 5 * square.std(axis=0) / math.sqrt(count))


@pytest.mark.parametrize("alpha", [1e-3, 0.3, 2.0, 50.0])
def test_variates_of_a_draw_have_their_distributions(alpha):
    log_weights, gammas, log_uniforms = dirichlet.draw(np.full(50_000, alpha), np.random.default_rng(6))
    assert stats.kstest(gammas, stats.gamma(alpha + 1).cdf).pvalue > 1e-3
    assert stats.kstest(-log_uniforms, stats.expon.cdf).pvalue > 1e-3
    log_gammas = np.log(gammas) + log_uniforms / alpha
    assert stats.kstest(log_gammas, stats.loggamma(alpha).cdf).pvalue > 1e-3
    np.testing.assert_allclose(log_weights, log_gammas - special.logsumexp(log_gammas), rtol=1e-12, atol=1e-12)


def test_each_drawn_weight_is_beta_distributed():
    alpha = np.array([0.3, 2.0, 5.0])
    weights = np.exp(draws(alpha, 4000, np.random.default_rng(4)))
    for j in range(3):
        assert stats.kstest(weights[:, j], stats.beta(alpha[j], alpha.sum() - alpha[j]).cdf).pvalue > 1e-3


@pytest.mark.parametrize(
    ("alpha", "beta"), [([0.5, 2.0, 8.0], [0.5, 0.5, 0.5]), ([0.01, 0.02], [1.0, 3.0]), ([300.0, 100.0], [5.0, 5.0])]
)
def test_kl_is_the_mean_of_the_log_ratio(alpha, beta):
    alpha, beta = np.array(alpha), np.array(beta)
    ratios = [dirichlet.log_ratio(alpha, beta, row) for row in draws(alpha, 3000, np.random.default_rng(5))]
    tolerance = 5 * np.std(ratios) / math.sqrt(len(ratios))
    assert abs(np.mean(ratios) - dirichlet.kl_divergence(alpha, beta)[0]) < tolerance


@pytest.mark.parametrize("alpha", [1e-6, 1e-2, 0.5, 3.0, 50.0, 1e4, 1e6])
def test_draw_derivative_against_the_gamma_quantile(alpha):
    log_uniforms = np.log([0.9, 0.5, 0.1, 0.3, 0.7, 0.99, 1e-4])
    below = np.array([1e-6, 1e-3, 0.1, 0.3, 0.45])
    above = np.array([0.2, 1e-4])

    def log_gamma(alpha):
        quantiles = [special.gammaincinv(alpha + 1, below), special.gammainccinv(alpha + 1, above)]
        return np.log(np.concatenate(quantiles)) + log_uniforms / alpha

    step = 1e-4 * alpha if alpha < 1 else 1e-3 * math.sqrt(alpha)
    near = (log_gamma(alpha + step) - log_gamma(alpha - step)) / (2 * step)
    far = (log_gamma(alpha + 2 * step) - log_gamma(alpha - 2 * step)) / (4 * step)
    expected = (4 * near - far) / 3
    gammas = np.concatenate([special.gammaincinv(alpha + 1, below), special.gammainccinv(alpha + 1, above)])
    got = dirichlet.draw_derivative(np.full(7, alpha), gammas, log_uniforms)
    # SciPy's incomplete gamma function itself has fewer digits far out in the tails of a large shape.
    np.testing.assert_allclose(got, expected, rtol=1e-6 if alpha <= 1e4 else 1e-4)


def test_draw_derivative_of_the_gamma_part_alone():
    # At alpha = 1e-3 the uniform's part is a million times larger and would hide this one.
    shape, u = 1.001, np.array([1e-4, 0.05, 0.5, 0.95])
    step = 1e-4
    near = np.log(special.gammaincinv(shape + step, u) / special.gammaincinv(shape - step, u)) / (2 * step)
    got = dirichlet.draw_derivative(np.full(4, shape - 1), special.gammaincinv(shape, u), np.zeros(4))
    np.testing.assert_allclose(got, near, rtol=1e-6)
