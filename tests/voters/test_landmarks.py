"""The kernel machine with landmarks."""

import numpy as np
import pytest

from certivote.voters import _landmarks
from certivote.voters._encoding import Encoding
from certivote.voters._landmarks import fit_landmarks

pytestmark = pytest.mark.filterwarnings("error")


def rng(seed=0):
    return np.random.default_rng(seed)


def learnable(n=80, seed=0):
    source = rng(seed)
    X = source.normal(size=(n, 4))
    return X, (X[:, 0] + 0.3 * source.normal(size=n) > 0).astype(int)


def machine(X, y, n_landmarks, seed=0):
    return fit_landmarks(Encoding.fitted(X, np.arange(0)), X, y, n_landmarks, seed)


@pytest.mark.parametrize("ridge", [0.1, 10.0])
def test_landmarks_solve_the_regularised_least_squares(ridge, monkeypatch):
    """Beside the closed form in the kernel's space: all rows are landmarks, so it is plain kernel ridge regression."""
    monkeypatch.setattr(_landmarks, "_RIDGES", (ridge,))
    X, y = learnable(60)
    fitted = machine(X, y, 60)
    rows = fitted.encoding.transform(X)
    kernel = np.exp(-fitted.gamma * ((rows[:, None] - rows[None]) ** 2).sum(axis=2))
    scores = kernel @ np.linalg.solve(kernel + ridge * np.eye(60), 2.0 * y - 1.0)
    assert fitted.gamma == pytest.approx(1 / (4 * rows.var()))
    order = np.random.default_rng(0).permutation(60)
    assert np.array_equal(fitted.points, rows[order])
    own = kernel[:, order] @ fitted.coefficients
    assert np.allclose(own[:, 1], scores, atol=1e-4)
    assert np.allclose(own[:, 0], -scores, atol=1e-4)
    assert np.array_equal(fitted.answers(X)[:, 0], scores > 0)


def test_landmarks_do_not_mind_equal_rows_and_constant_columns():
    X, y = learnable(40)
    fitted = machine(np.vstack([X, X, 0 * X]), np.concatenate([y, y, y]) * 2 + 1, 120, seed=1)
    assert np.mean(fitted.answers(X)[:, 0] == 2 * y + 1) > 0.8
    constant = machine(np.ones((6, 2)), np.array([0, 1, 1, 1, 1, 1]), 5, seed=1)
    assert constant.answers(np.ones((2, 2)))[:, 0].tolist() == [1, 1]


def test_noise_gets_a_large_ridge_and_a_pattern_a_small_one(monkeypatch):
    source = rng()
    X = source.normal(size=(1500, 2))
    pattern = (np.sin(4 * X[:, 0]) * np.sin(4 * X[:, 1]) > 0).astype(int)
    noisy = np.where(source.random(1500) < 0.4, 1 - (X[:, 0] > 0), X[:, 0] > 0).astype(int)

    def ridge(y):
        """The one of the four whose coefficients it has."""
        chosen = machine(X, y, 300).coefficients
        found = []
        for candidate in (0.01, 0.1, 1.0, 10.0):
            with monkeypatch.context() as patch:
                patch.setattr(_landmarks, "_RIDGES", (candidate,))
                found += [candidate] if np.array_equal(machine(X, y, 300).coefficients, chosen) else []
        (only,) = found
        return only

    assert ridge(pattern) <= 0.1
    assert ridge(noisy) >= 1.0
