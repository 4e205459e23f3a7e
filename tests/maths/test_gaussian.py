import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf
from scipy import special, stats

from certivote.maths import gaussian

SIZES = [1, 2, 5, 50, 2000]
KINDS = ["wide", "ends", "near", "close", "equal", "same means", "same precisions", "prior at zero"]
ORDERS = [1 + 1e-9, 1.1, 1.5, 2.0, 10.0]
LEAST, MOST = math.log10(0.04), 6.0
VOTER = st.tuples(st.floats(-60, 60), st.floats(-60, 60), st.floats(LEAST, MOST), st.floats(-0.3, 1.0))


def pair(kind, size, seed=0):
    """Parameters and a prior, of precisions from about 0.04 to 1e6 and means from -60 to 60."""
    rng = np.random.default_rng([seed, size, KINDS.index(kind)])
    means, means0 = rng.uniform(-60, 60, (2, size))
    precisions, precisions0 = 10 ** rng.uniform(LEAST, MOST, (2, size))
    if kind == "ends":
        means, means0 = rng.choice([-60.0, 60.0], (2, size))
        precisions, precisions0 = rng.choice([0.04, 1e6], (2, size))
    elif kind == "near":
        means = means0 + rng.standard_normal(size) / np.sqrt(precisions0)
        precisions = precisions0 * rng.uniform(0.7, 2.0, size)
    elif kind in ("close", "equal"):
        step = 1e-9 * rng.standard_normal((2, size)) if kind == "close" else np.zeros((2, size))
        means, precisions = means0 * (1 + step[0]), precisions0 * (1 + step[1])
    elif kind == "same means":
        means, precisions = means0, precisions0 * 10 ** rng.uniform(-1.2, 1.2, size) ** 3
    elif kind == "same precisions":
        precisions = precisions0
    elif kind == "prior at zero":
        means, means0 = rng.uniform(-3, 3, size), np.zeros(size)
        precisions, precisions0 = rng.uniform(0.7, 50, size), np.ones(size)
    return np.concatenate([means, precisions]), np.concatenate([means0, precisions0])


def exact(values):
    return [mpf(float(value)) for value in values]


def columns(*vectors):
    """The entries of each voter in vectors of means and precisions."""
    return zip(*(part for x in vectors for part in (x[: len(x) // 2], x[len(x) // 2 :])), strict=True)


def exact_log_ratio(parameters, prior, point):
    voters = zip(columns(parameters, prior), point, strict=True)
    return sum(mp.log(p / p0) - p * (z - m) ** 2 + p0 * (z - m0) ** 2 for (m, p, m0, p0), z in voters) / 2


def exact_kl(parameters, prior):
    return sum(p0 * (m - m0) ** 2 + p0 / p - 1 - mp.log(p0 / p) for m, p, m0, p0 in columns(parameters, prior)) / 2


def exact_renyi(parameters, prior, order):
    total = mpf(0)
    for m, p, m0, p0 in columns(parameters, prior):
        mixed = order / p0 + (1 - order) / p
        if mixed <= 0:
            return mp.inf
        logs = mp.log(mixed) + (1 - order) * mp.log(p) + order * mp.log(p0)
        total += order * (m - m0) ** 2 / mixed / 2 + logs / (1 - order) / 2
    return total


def exact_gradient(function, x):
    """Central differences, in the working precision of mpmath."""
    gradient = []
    for j, centre in enumerate(x):
        h = (abs(centre) + mpf("1e-3")) * mpf(10) ** (-mp.dps // 3)
        ahead, behind = ([*x[:j], centre + shift, *x[j + 1 :]] for shift in (h, -h))
        gradient.append(float((function(ahead) - function(behind)) / (2 * h)))
    return np.array(gradient)


def differences(function, x, step=1e-6):
    """Central differences of a function of a float vector, one column an entry."""
    return np.stack([(function(x + h) - function(x - h)) / (2 * step) for h in step * np.eye(len(x))], axis=-1)


def assert_close_above(got, true, allowed):
    assert got >= true, f"below by {mp.nstr(true - got, 3)}"
    assert got - true <= allowed, f"above by {mp.nstr(got - true, 3)} of {mp.nstr(true, 6)}"


def magnitude(parameters, prior, point):
    """Sum of the sizes of the terms of the log-ratio."""
    (m, p), (m0, p0) = np.split(parameters, 2), np.split(prior, 2)
    return float(np.sum(np.abs(np.log(p / p0)) + p * (point - m) ** 2 + p0 * (point - m0) ** 2))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_values_against_mpmath(kind, size):
    rng = np.random.default_rng(size)
    for seed in range({1: 50, 2000: 1}.get(size, 6)):
        parameters, prior = pair(kind, size, seed)
        q, p = exact(parameters), exact(prior)
        with mp.workdps(40):
            assert_close_above(gaussian.kl_divergence(parameters, prior)[0], exact_kl(q, p), 1e-13 * exact_kl(q, p))
            for centre in (parameters, prior):
                point, _ = gaussian.draw(centre, rng)
                true = exact_log_ratio(q, p, exact(point))
                allowed = 3e-15 * magnitude(parameters, prior, point)
                assert_close_above(gaussian.log_ratio(parameters, prior, point), true, allowed)
        for order in ORDERS[:: 1 if size < 2000 else 3]:
            with mp.workdps(60):
                true = exact_renyi(q, p, mpf(order)) if kind != "equal" else mpf(0)
                if mp.isinf(true):
                    with pytest.raises(ValueError, match="finite only where"):
                        gaussian.renyi_divergence(parameters, prior, order)
                else:
                    assert_close_above(gaussian.renyi_divergence(parameters, prior, order)[0], true, 1e-13 * true)


@pytest.mark.parametrize("size", SIZES)
def test_log_ratio_of_close_distributions_keeps_its_digits(size):
    parameters, prior = pair("close", size)
    point, _ = gaussian.draw(parameters, np.random.default_rng(size))
    shift, gain = np.split(np.abs(parameters - prior), 2)
    away, precisions0 = np.abs(point - prior[:size]), prior[size:]
    terms = 2 * precisions0 * shift * (away + shift) + gain * (1 / precisions0 + (away + shift) ** 2)
    allowed = 3e-15 * 1.01 * float(np.sum(terms))  # and not of the squares, which agree to nine digits
    assert allowed < 1e-17 * magnitude(parameters, prior, point)
    with mp.workdps(40):
        true = exact_log_ratio(exact(parameters), exact(prior), exact(point))
        assert_close_above(gaussian.log_ratio(parameters, prior, point), true, allowed)


def test_log_ratio_against_normal_densities():
    parameters, prior = pair("prior at zero", 7)
    point, _ = gaussian.draw(parameters, np.random.default_rng(0))
    own, old = (stats.norm(x[:7], x[7:] ** -0.5).logpdf(point) for x in (parameters, prior))
    assert gaussian.log_ratio(parameters, prior, point) == pytest.approx(np.sum(own - old), rel=1e-12)


def test_all_is_zero_at_the_prior():
    _, prior = pair("wide", 5000)
    point, _ = gaussian.draw(prior, np.random.default_rng(0))
    value, gradient = gaussian.kl_divergence(prior.copy(), prior)
    renyi, renyi_gradient = gaussian.renyi_divergence(prior.copy(), prior, 1.5)
    assert gaussian.log_ratio(prior.copy(), prior, point) == value == renyi == 0
    assert not np.any([gradient, renyi_gradient])


@pytest.mark.parametrize("shift", [1e-100, 1e-162, 1e-200, 5e-324])
def test_values_that_underflow_are_not_below(shift):
    parameters, prior, point = np.array([shift, 1.0]), np.array([0.0, 1.0]), np.array([shift])
    with mp.workdps(800):
        q, p = exact(parameters), exact(prior)
        for got, true in (
            (gaussian.log_ratio(parameters, prior, point), exact_log_ratio(q, p, exact(point))),
            (gaussian.kl_divergence(parameters, prior)[0], exact_kl(q, p)),
            (gaussian.renyi_divergence(parameters, prior, 2.0)[0], exact_renyi(q, p, mpf(2))),
        ):
            assert_close_above(got, true, 1e-280 + 1e-13 * true)


@pytest.mark.parametrize("kind", ["wide", "near", "close", "same precisions", "prior at zero"])
def test_gradients_against_mpmath(kind):
    parameters, prior = pair(kind, 4)
    point, _ = gaussian.draw(parameters, np.random.default_rng(1))
    with mp.workdps(60):
        q, p, z = exact(parameters), exact(prior), exact(point)
        in_parameters, in_point = gaussian.log_ratio_gradients(parameters, prior, point)
        pairs = [
            (in_parameters, exact_gradient(lambda x: exact_log_ratio(x, p, z), q)),
            (in_point, exact_gradient(lambda x: exact_log_ratio(q, p, x), z)),
            (gaussian.kl_divergence(parameters, prior)[1], exact_gradient(lambda x: exact_kl(x, p), q)),
        ]
        for order in (1.1, 1.5, 2.0, 3.0) if kind != "wide" else ():
            expected = exact_gradient(lambda x: exact_renyi(x, p, mpf(order)), q)  # noqa: B023
            pairs.append((gaussian.renyi_divergence(parameters, prior, order)[1], expected))
    for got, expected in pairs:
        np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-25)


@pytest.mark.parametrize("order", [1.2, 2.0, 3.5])
@pytest.mark.parametrize(("m", "p", "m0", "p0"), [(1.0, 2.0, 0.0, 1.0), (-2.0, 0.95, 0.5, 1.1), (0.0, 5.0, 0.0, 1.0)])
def test_renyi_is_its_integral(m, p, m0, p0, order):
    def integrand(z):
        return mp.npdf(z, m, mpf(p) ** -0.5) ** order * mp.npdf(z, m0, mpf(p0) ** -0.5) ** (1 - order)

    with mp.workdps(25):
        expected = float(mp.log(mp.quad(integrand, [-mp.inf, -5, 0, 5, mp.inf])) / (order - 1))
    got, _ = gaussian.renyi_divergence(np.array([m, p]), np.array([m0, p0]), order)
    assert got == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("kind", ["near", "close", "prior at zero"])
def test_renyi_tends_to_kl_as_the_order_tends_to_one(kind):
    parameters, prior = pair(kind, 5)
    kl, _ = gaussian.kl_divergence(parameters, prior)
    excess = [gaussian.renyi_divergence(parameters, prior, 1 + h)[0] / kl - 1 for h in (1e-2, 1e-4, 1e-6)]
    assert 1e-4 < excess[0] < 0.1
    assert excess[1:] == pytest.approx([1e-2 * excess[0], 1e-4 * excess[0]], rel=0.1)


@given(st.lists(VOTER, min_size=1, max_size=6), st.floats(1.01, 1.9), st.floats(1.01, 1.9))
def test_divergences_are_non_negative_and_grow_with_the_order(voters, first, second):
    means, means0, powers, gains = np.array(voters).T  # 10^-0.3 is above 0.9 / 1.9, the floor of order 1.9
    parameters = np.concatenate([means, 10 ** (powers + gains)])
    prior = np.concatenate([means0, 10**powers])
    low, high = sorted((first, second))
    kl, _ = gaussian.kl_divergence(parameters, prior)
    lower, _ = gaussian.renyi_divergence(parameters, prior, low)
    higher, _ = gaussian.renyi_divergence(parameters, prior, high)
    assert 0 <= kl <= lower * (1 + 1e-13)
    assert lower <= higher * (1 + 1e-13)


@pytest.mark.parametrize("order", [1.1, 1.5, 1.7, 2.0, 10.0])
def test_renyi_is_refused_at_and_below_the_floor_and_right_just_above(order):
    prior = np.array([0.0, 1.0, 2.0, 0.5, 3.0, 0.1])
    parameters = prior.copy()
    floor = Fraction(3) * (Fraction(order) - 1) / Fraction(order)
    for share in (0.0, 0.5, 1 - 1e-12, 1.0):
        parameters[4] = max(float(floor) * share, 1e-300)
        while Fraction(parameters[4]) > floor:
            parameters[4] = math.nextafter(parameters[4], 0.0)
        with pytest.raises(ValueError, match=r"precision is above .* where the prior has 3"):
            gaussian.renyi_divergence(parameters, prior, order)
    for excess in (0.0, *np.geomspace(1e-15, 1.0, 100)):
        parameters[4] = float(floor) * (1 + excess)
        while Fraction(parameters[4]) <= floor:
            parameters[4] = math.nextafter(parameters[4], 9.0)
        for parameters[1] in (1.0, 7.0):
            with mp.workdps(60):
                true = exact_renyi(exact(parameters), exact(prior), mpf(order))
                assert_close_above(gaussian.renyi_divergence(parameters, prior, order)[0], true, 1e-13 * true)


def test_renyi_floor():
    prior = np.array([1.0, -2.0, 4.0, 0.3])
    floor = gaussian.renyi_floor(prior, 3.0)
    np.testing.assert_allclose(floor, [-np.inf, -np.inf, 8 / 3, 0.2], rtol=1e-15)
    assert math.isfinite(gaussian.renyi_divergence(np.append(prior[:2], floor[2:] * (1 + 1e-9)), prior, 3.0)[0])
    with pytest.raises(ValueError, match="finite only where"):
        gaussian.renyi_divergence(np.append(prior[:2], floor[2:] * (1 - 1e-9)), prior, 3.0)
    with pytest.raises(ValueError, match="order must be greater than 1"):
        gaussian.renyi_divergence(prior, prior, 1.0)


def test_split_gives_views():
    parameters = np.arange(6.0)
    means, precisions = gaussian.split(parameters)
    means[0], precisions[0] = 10.0, 20.0
    np.testing.assert_array_equal(parameters, [10, 1, 2, 20, 4, 5])


@pytest.mark.parametrize("kind", ["near", "prior at zero"])
def test_kl_is_the_mean_of_the_log_ratio(kind):
    parameters, prior = pair(kind, 3)
    rng = np.random.default_rng(5)
    ratios = [gaussian.log_ratio(parameters, prior, gaussian.draw(parameters, rng)[0]) for _ in range(5000)]
    tolerance = 5 * np.std(ratios) / math.sqrt(len(ratios))
    kl, _ = gaussian.kl_divergence(parameters, prior)
    assert tolerance < 0.3 * kl
    assert abs(np.mean(ratios) - kl) < tolerance


@pytest.mark.parametrize(("mean", "precision"), [(0.0, 1.0), (-3.0, 0.04), (40.0, 1e4)])
def test_draws_have_their_distribution(mean, precision):
    parameters = np.repeat([mean, precision], 20_000)
    point, normals = gaussian.draw(parameters, np.random.default_rng(1))
    assert stats.kstest(point, stats.norm(mean, precision**-0.5).cdf).pvalue > 1e-3
    np.testing.assert_array_equal(point, gaussian.draw_at(parameters, normals))


def test_chain_from_log_weights_to_parameters_against_finite_differences():
    parameters, _ = pair("prior at zero", 4)
    normals, in_logs = np.random.default_rng(2).standard_normal((2, 4))
    expected = differences(lambda x: in_logs @ gaussian.log_softmax(gaussian.draw_at(x, normals)), parameters)
    in_point = gaussian.log_softmax_chain(gaussian.log_softmax(gaussian.draw_at(parameters, normals)), in_logs)
    np.testing.assert_allclose(gaussian.pull_back(parameters, normals, in_point), expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 60.0, 1e4])
@pytest.mark.parametrize("size", [1, 2, 500])
def test_log_softmax_is_finite_and_its_weights_sum_to_one(size, scale):
    point = scale * np.random.default_rng(size).standard_normal(size) + 7 * scale
    log_weights = gaussian.log_softmax(point)
    assert np.all(np.isfinite(log_weights) & (log_weights <= 0))
    assert math.fsum(np.exp(log_weights)) == pytest.approx(1.0, abs=1e-14)
    np.testing.assert_allclose(log_weights, special.log_softmax(point), rtol=1e-13, atol=1e-14)


def test_lognormal_moments_are_those_of_the_log_normal():
    parameters = np.array([0.3, -1.0, 2.0, 0.0, 1.0, 0.2, 1e6, 50.0])
    mean, var, _ = gaussian.lognormal_moments(parameters)
    true_mean, true_var = stats.lognorm(parameters[4:] ** -0.5, scale=np.exp(parameters[:4])).stats("mv")
    assert mean.max() == 1
    np.testing.assert_allclose(mean, true_mean / true_mean.max(), rtol=1e-13)
    # SciPy's variance is of exp(1/p) - 1, and has nine digits at a precision of 1e6.
    np.testing.assert_allclose(var, true_var / true_mean.max() ** 2, rtol=1e-9)
    np.testing.assert_allclose(var[2] / mean[2] ** 2, 1e-6 + 1e-12 / 2 + 1e-18 / 6, rtol=1e-14)


def test_lognormal_moments_neither_overflow_nor_warn():
    parameters = np.array([60.0, -60.0, 800.0, 0.0, 0.04, 0.04, 1e-3, 1e-200])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        moments = gaussian.lognormal_moments(parameters)
        gradient = gaussian.lognormal_pull_back(parameters, *moments[:2], np.ones(4), np.ones(4))
    assert all(np.all(np.isfinite(x)) for x in (*moments, gradient))


def test_jacobians_of_the_moments_against_finite_differences():
    # The last voter has the largest mean and stays, so the scale does.
    parameters = np.array([0.3, -1.0, 0.5, 5.0, 1.0, 0.4, 30.0, 0.5])
    _, _, jacobians = gaussian.lognormal_moments(parameters)
    for row, jacobian in enumerate(jacobians):
        slopes = differences(lambda x: gaussian.lognormal_moments(x)[row][:3], parameters)  # noqa: B023
        np.testing.assert_allclose(jacobian[:3], np.diagonal(slopes), rtol=1e-6)
        np.testing.assert_allclose(jacobian[4:7], np.diagonal(slopes, 4), rtol=1e-6)


def test_gradient_of_the_chance_of_a_rival_in_the_parameters_against_finite_differences():
    parameters = np.array([0.3, -1.0, 0.5, 0.9, 0.1, 1.0, 0.6, 30.0, 2.5, 9.0])
    own = np.array([[1, 0, 1, 0, 0], [0, 1, 0, 1, 0], [0, 0, 0, 0, 1]], dtype=float)
    rival = np.array([[0, 1, 0, 1, 1], [1, 0, 0, 0, 0], [1, 1, 1, 1, 0]], dtype=float)
    scores = np.array([1.0, -2.0, 0.5])

    def chance(x):
        mean, var, _ = gaussian.lognormal_moments(x)
        return scores @ gaussian.rival_probability(own @ mean, own @ var, rival @ mean, rival @ var)[0]

    mean, var, _ = gaussian.lognormal_moments(parameters)
    _, *slopes = gaussian.rival_probability(own @ mean, own @ var, rival @ mean, rival @ var)
    own_mean, own_var, rival_mean, rival_var = (scores * slope for slope in slopes)
    in_mean, in_var = own_mean @ own + rival_mean @ rival, own_var @ own + rival_var @ rival
    got = gaussian.lognormal_pull_back(parameters, mean, var, in_mean, in_var)
    np.testing.assert_allclose(got, differences(chance, parameters), rtol=1e-6, atol=1e-9)


def test_derivatives_of_the_chance_of_a_rival_against_finite_differences():
    arguments = np.random.default_rng(8).uniform(0.2, 3.0, (4, 30))
    value, *slopes = gaussian.rival_probability(*arguments)
    assert value.min() < 0.2 < 0.8 < value.max()
    for slope, h in zip(slopes, 1e-6 * np.eye(4)[:, :, None], strict=True):
        ahead, behind = (gaussian.rival_probability(*(arguments + shift))[0] for shift in (h, -h))
        np.testing.assert_allclose(slope, (ahead - behind) / 2e-6, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("precisions", [(1.0, 4.0), (0.04, 0.1), (1e6, 30.0)])
def test_chance_of_one_voter_against_one_is_exact(precisions):
    for gap in (-3.0, -0.1, 0.0, 0.5, 4.0):
        mean, var, _ = gaussian.lognormal_moments(np.array([0.2, 0.2 + gap, *precisions]))
        value, *_ = gaussian.rival_probability(mean[:1], var[:1], mean[1:], var[1:])
        expected = stats.norm.cdf(gap / math.sqrt(1 / precisions[0] + 1 / precisions[1]))
        np.testing.assert_allclose(value, [expected], rtol=1e-9)


@pytest.mark.parametrize(("precision", "within"), [(2.0, 0.03), (10.0, 0.01), (100.0, 0.01)])
def test_chance_of_a_rival_against_simulated_sums(precision, within):
    rng = np.random.default_rng(9)
    means = rng.normal(0.0, 0.5, 12)
    parameters = np.concatenate([means, precision * rng.uniform(0.5, 2.0, 12)])
    mean, var, _ = gaussian.lognormal_moments(parameters)
    weights = np.exp(means + rng.standard_normal((100_000, 12)) / np.sqrt(parameters[12:]))
    seen = []
    for count in (3, 5, 6, 7, 9):
        own, rival = (mean[:count].sum(), var[:count].sum()), (mean[count:].sum(), var[count:].sum())
        value, *_ = gaussian.rival_probability(*own, *rival)
        simulated = np.mean(weights[:, count:].sum(axis=1) >= weights[:, :count].sum(axis=1))
        assert abs(value - simulated) < within
        seen.append(simulated)
    assert min(seen) < 0.4 < 0.6 < max(seen)


def test_chance_of_a_rival_at_the_edges():
    rows = [
        (0.0, 0.0, 1.0, 1.0, 1.0),  # nobody for the label
        (1.0, 1.0, 0.0, 0.0, 0.0),  # nobody for the rival
        (0.0, 0.0, 0.0, 0.0, 1.0),
        (2.0, 0.0, 1.0, 0.0, 0.0),  # certain weights
        (1.0, 0.0, 2.0, 0.0, 1.0),
        (1.0, 0.0, 1.0, 0.0, 1.0),
        (1.0, 1e-40, 2.0, 1e-40, 1.0),
        (1e-310, 1e-310, 1e-310, 1e-310, 1.0),
        (1.0, 1.0, 5e-324, 5e-324, 0.0),
        (2.0, 1e-8, 1.0, 1e-8, 0.0),  # thousands of standard deviations
    ]
    *arguments, expected = np.transpose(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        value, *slopes = gaussian.rival_probability(*arguments)
        huge = gaussian.rival_probability(np.array([1e-99]), np.array([1e200]), np.array([1e200]), np.array([1e-300]))
    np.testing.assert_array_equal(value, expected)
    assert not np.any(slopes)
    assert np.all(np.isfinite(huge))
