"""The kernel machine with landmarks."""

import numpy as np
import pytest

from certivote.voters._landmarks import LandmarkMachine

pytestmark = pytest.mark.filterwarnings("error")


def rng(seed=0):
    return np.random.default_rng(seed)


def learnable(n=80, seed=0):
    source = rng(seed)
    X = source.normal(size=(n, 4))
    return X, (X[:, 0] + 0.3 * source.normal(size=n) > 0).astype(int)


def test_landmarks_solve_the_regularised_least_squares():
    """Beside the closed form in the kernel's space: all rows are landmarks, so it is plain kernel ridge regression."""
    X, y = learnable(60)
    machine = LandmarkMachine(60, random_state=0).fit(X, y)
    kernel = np.exp(-machine.gamma_ * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    scores = kernel @ np.linalg.solve(kernel + machine.ridge_ * np.eye(60), 2.0 * y - 1.0)
    assert machine.gamma_ == pytest.approx(1 / (4 * X.var()))
    order = np.random.default_rng(0).permutation(60)
    assert np.array_equal(machine.landmarks_, X[order])
    own = kernel[:, order] @ machine.coefficients_
    assert np.allclose(own[:, 1], scores, atol=1e-4)
    assert np.allclose(own[:, 0], -scores, atol=1e-4)
    assert np.array_equal(machine.predict(X), scores > 0)


def test_landmarks_do_not_mind_equal_rows_and_constant_columns():
    X, y = learnable(40)
    twice, labels = np.vstack([X, X, 0 * X]), np.concatenate([y, y, y])
    machine = LandmarkMachine(120, random_state=1).fit(twice, np.array(["no", "yes"])[labels])
    assert np.mean(machine.predict(X) == np.array(["no", "yes"])[y]) > 0.8
    constant = LandmarkMachine(5, random_state=1).fit(np.ones((6, 2)), np.array([0, 1, 1, 1, 1, 1]))
    assert constant.predict(np.ones((2, 2))).tolist() == [1, 1]


def test_noise_gets_a_large_ridge_and_a_pattern_a_small_one():
    source = rng()
    X = source.normal(size=(1500, 2))
    pattern = (np.sin(4 * X[:, 0]) * np.sin(4 * X[:, 1]) > 0).astype(int)
    noisy = np.where(source.random(1500) < 0.4, 1 - (X[:, 0] > 0), X[:, 0] > 0).astype(int)
    assert LandmarkMachine(300, random_state=0).fit(X, pattern).ridge_ <= 0.1
    assert LandmarkMachine(300, random_state=0).fit(X, noisy).ridge_ >= 1.0
