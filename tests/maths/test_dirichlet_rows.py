import math
import warnings

import numpy as np
import pytest
from scipy import special, stats

from certivote.maths import dirichlet
from certivote.votes import DenseVotes

ALPHAS = [np.full(8, 0.5), np.array([0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4]), np.linspace(5.0, 40.0, 8)]


def sample(n_rows=12, n_voters=8, n_classes=3):
    codes = np.random.default_rng(0).integers(0, n_classes, (n_rows, n_voters)).astype(np.uint8)
    return DenseVotes(codes, n_classes)


def drawn_masses(votes, alpha, count, rng):
    """Class masses of votes drawn one by one, of shape (count, rows, classes)."""
    by_class = votes.by_class()
    return np.stack([by_class.forward(np.exp(dirichlet.draw(alpha, rng)[0])) for _ in range(count)])


def assert_same_mean_and_variance(first, second):
    """Both samples along axis 0; differences within five standard errors."""
    count = len(first)
    error = np.sqrt((first.var(axis=0) + second.var(axis=0)) / count)
    assert np.all(np.abs(first.mean(axis=0) - second.mean(axis=0)) <= 5 * error)
    centre = 0.5 * (first.mean(axis=0) + second.mean(axis=0))
    squares, others = (first - centre) ** 2, (second - centre) ** 2
    error = np.sqrt((squares.var(axis=0) + others.var(axis=0)) / count)
    assert np.all(np.abs(squares.mean(axis=0) - others.mean(axis=0)) <= 5 * error + 1e-15)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_rows_have_the_distribution_of_the_masses_of_drawn_votes(alpha):
    votes, count = sample(), 4000
    rng = np.random.default_rng(1)
    one_by_one = drawn_masses(votes, alpha, count, rng)
    parameters = votes.masses(alpha)
    rows = np.exp(dirichlet.draw_rows(np.tile(parameters, (count, 1)), rng)).reshape(count, *parameters.shape)
    assert_same_mean_and_variance(rows, one_by_one)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_votes_of_rows_are_as_frequent_as_those_of_drawn_votes(alpha):
    votes, count = sample(), 4000
    rng = np.random.default_rng(2)
    parameters = votes.masses(alpha)
    first = drawn_masses(votes, alpha, count, rng).argmax(axis=2)
    second = dirichlet.draw_rows(np.tile(parameters, (count, 1)), rng).reshape(count, *parameters.shape).argmax(axis=2)
    for c in range(3):
        one, other = (first == c).mean(axis=0), (second == c).mean(axis=0)
        assert np.all(np.abs(one - other) <= 5 * np.sqrt(0.5 / count))
    assert any(len(np.unique(column)) > 1 for column in second.T)


@pytest.mark.parametrize("parameters", [[0.5, 0.5], [0.01, 0.2, 3.0], [400.0, 100.0], [1.0, 1.0, 1.0, 1.0]])
def test_rows_have_the_mean_and_variance_of_the_dirichlet(parameters):
    parameters, count = np.array(parameters), 20_000
    weights = np.exp(dirichlet.draw_rows(np.tile(parameters, (count, 1)), np.random.default_rng(3)))
    total = parameters.sum()
    mean = parameters / total
    variance = mean * (1 - mean) / (total + 1)
    assert np.all(np.abs(weights.mean(axis=0) - mean) <= 5 * np.sqrt(variance / count))
    squares = (weights - mean) ** 2
    assert np.all(np.abs(squares.mean(axis=0) - variance) <= 5 * squares.std(axis=0) / math.sqrt(count))


def test_each_entry_of_a_row_is_beta_distributed():
    parameters = np.array([0.3, 2.0, 5.0])
    weights = np.exp(dirichlet.draw_rows(np.tile(parameters, (4000, 1)), np.random.default_rng(4)))
    for j in range(3):
        assert stats.kstest(weights[:, j], stats.beta(parameters[j], 7.3 - parameters[j]).cdf).pvalue > 1e-3


def test_rows_are_independent():
    weights = np.exp(dirichlet.draw_rows(np.tile([1.0, 1.0], (20_000, 1)), np.random.default_rng(5)))[:, 0]
    correlation = np.corrcoef(weights[:-1], weights[1:])[0, 1]
    assert abs(correlation) < 5 / math.sqrt(20_000)


def test_a_zero_parameter_gives_a_class_without_mass():
    parameters = np.array([[0.0, 1.0, 2.0], [3.0, 0.0, 0.0], [0.5, 0.5, 0.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        logs = dirichlet.draw_rows(parameters, np.random.default_rng(6))
    np.testing.assert_array_equal(np.isneginf(logs), parameters == 0)
    assert logs[1, 0] == pytest.approx(0.0, abs=1e-15)
    np.testing.assert_allclose(np.exp(logs).sum(axis=1), 1.0, rtol=1e-14)


@pytest.mark.parametrize(
    "row",
    [[1e-6, 1e-6], [1e-6, 0.0, 1e-6], [1e-300, 1e-300], [1e-300, 1.0], [1e-16, 50.0], [1e6, 1e-6, 0.0], [1e6, 1e6]],
)
def test_rows_are_never_nan(row):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        logs = dirichlet.draw_rows(np.tile(row, (500, 1)), np.random.default_rng(7))
    assert not np.any(np.isnan(logs))
    assert np.all(logs <= 0)
    np.testing.assert_allclose(np.exp(logs).sum(axis=1), 1.0, rtol=1e-12)


def test_tiny_equal_parameters_choose_a_class_by_a_fair_coin():
    logs = dirichlet.draw_rows(np.full((20_000, 2), 1e-6), np.random.default_rng(8))
    assert np.all(logs.min(axis=1) < -0.01)
    assert abs((logs[:, 0] > logs[:, 1]).mean() - 0.5) < 5 * 0.5 / math.sqrt(20_000)


def uniforms(size, seed):
    rng = np.random.default_rng(seed)
    return rng.uniform(0.01, 0.99, size), np.log(rng.uniform(0.01, 0.99, size))


@pytest.mark.parametrize("alpha", [[1e-6, 1e-3], [0.1, 0.5, 2.0], [30.0, 1e3, 1e5], [0.5]])
def test_a_draw_at_fixed_uniforms_is_made_of_gamma_quantiles(alpha):
    alpha = np.array(alpha)
    ranks, log_uniforms = uniforms(len(alpha), 0)
    log_weights, gammas, same = dirichlet.draw_at(alpha, ranks, log_uniforms)
    np.testing.assert_allclose(gammas, stats.gamma.ppf(ranks, alpha + 1), rtol=1e-10)
    np.testing.assert_array_equal(same, log_uniforms)
    log_gammas = np.log(stats.gamma.ppf(ranks, alpha + 1)) + log_uniforms / alpha
    np.testing.assert_allclose(log_weights, log_gammas - special.logsumexp(log_gammas), rtol=1e-9, atol=1e-10)
    assert np.exp(log_weights).sum() == pytest.approx(1.0, abs=1e-12)


def test_draws_at_random_uniforms_are_dirichlet():
    alpha, rng = np.array([0.3, 2.0, 5.0]), np.random.default_rng(9)
    logs = np.stack([dirichlet.draw_at(alpha, rng.random(3), -rng.standard_exponential(3))[0] for _ in range(3000)])
    for j in range(3):
        assert stats.kstest(np.exp(logs[:, j]), stats.beta(alpha[j], 7.3 - alpha[j]).cdf).pvalue > 1e-3


FUNCTIONS = {
    "sum of logarithms": lambda logs, c: (c @ logs, c),
    "linear in the weights": lambda logs, c: (c @ np.exp(logs), c * np.exp(logs)),
    "squares": lambda logs, c: (c @ np.exp(2 * logs), 2 * c * np.exp(2 * logs)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0, 1000.0])
def test_derivative_of_a_function_of_the_draw_against_differences(name, scale):
    rng = np.random.default_rng(10)
    alpha, coefficients = scale * rng.uniform(0.5, 2.0, 5), rng.standard_normal(5)
    ranks, log_uniforms = uniforms(5, 1)

    def value(alpha):
        return FUNCTIONS[name](dirichlet.draw_at(alpha, ranks, log_uniforms)[0], coefficients)[0]

    log_weights, gammas, _ = dirichlet.draw_at(alpha, ranks, log_uniforms)
    _, in_logs = FUNCTIONS[name](log_weights, coefficients)
    in_log_gammas = in_logs - np.exp(log_weights) * in_logs.sum()
    gradient = in_log_gammas * dirichlet.draw_derivative(alpha, gammas, log_uniforms)
    steps = 1e-4 * alpha * np.eye(5)
    expected = np.array([(value(alpha + h) - value(alpha - h)) / (2 * h.sum()) for h in steps])
    assert np.max(np.abs(expected)) > 0
    np.testing.assert_allclose(gradient, expected, rtol=0, atol=1e-5 * np.max(np.abs(expected)))
