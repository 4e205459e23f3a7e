"""The kernel machine with landmarks."""

import numpy as np
import pytest

from certivote.voters import _machines
from certivote.voters._encoding import Encoding
from certivote.voters._machines import fit_landmarks

pytestmark = pytest.mark.filterwarnings("error")


def rng(seed=0):
    return np.random.default_rng(seed)


def learnable(n=80, seed=0):
    source = rng(seed)
    X = source.normal(size=(n, 4))
    return X, (X[:, 0] + 0.3 * source.normal(size=n) > 0).astype(int)


def machine(X, y, n_landmarks, seed=0, entities=None):
    return fit_landmarks(Encoding.fitted(X, np.arange(0)), X, y, n_landmarks, seed, entities)


def chosen_ridge(monkeypatch, X, y, n_landmarks, entities=None):
    """The one of the four whose coefficients it has."""
    chosen = machine(X, y, n_landmarks, entities=entities).coefficients
    found = []
    for candidate in (0.01, 0.1, 1.0, 10.0):
        with monkeypatch.context() as patch:
            patch.setattr(_machines, "_RIDGES", (candidate,))
            alone = machine(X, y, n_landmarks, entities=entities).coefficients
            found += [candidate] if np.array_equal(alone, chosen) else []
    (only,) = found
    return only


@pytest.mark.parametrize("ridge", [0.1, 10.0])
def test_landmarks_solve_the_regularised_least_squares(ridge, monkeypatch):
    """Beside the closed form in the kernel's space: all rows are landmarks, so it is plain kernel ridge regression."""
    monkeypatch.setattr(_machines, "_RIDGES", (ridge,))
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

    assert chosen_ridge(monkeypatch, X, pattern, 300) <= 0.1
    assert chosen_ridge(monkeypatch, X, noisy, 300) >= 1.0


def test_landmarks_weigh_rows_by_their_entities(monkeypatch):
    """Beside the closed form of weighted kernel ridge regression."""
    monkeypatch.setattr(_machines, "_RIDGES", (0.5,))
    X, y = learnable(60)
    entities = np.concatenate([np.zeros(20, dtype=int), 1 + np.arange(40) // 2])
    fitted = machine(X, y, 60, entities=entities)
    rows = fitted.encoding.transform(X)
    kernel = np.exp(-fitted.gamma * ((rows[:, None] - rows[None]) ** 2).sum(axis=2))
    weights = np.concatenate([np.full(20, 1 / 20), np.full(40, 1 / 2)])
    weights *= 60 / weights.sum()
    scores = kernel @ np.linalg.solve(kernel + 0.5 * np.diag(1 / weights), 2.0 * y - 1.0)
    own = np.exp(-fitted.gamma * ((rows[:, None] - fitted.points[None]) ** 2).sum(axis=2)) @ fitted.coefficients
    assert np.allclose(own[:, 1], scores, atol=1e-4)


def test_the_ridge_is_chosen_on_other_entities(monkeypatch):
    """Labels of many entities are noise, which is known by heart on their other rows: that must not decide."""
    source = rng(0)
    centres = source.normal(size=(400, 6))
    labels = np.where(source.random(400) < 0.4, source.integers(2, size=400), centres[:, 0] > 0)
    entities = source.permutation(np.repeat(np.arange(400), 3))
    X, y = centres[entities] + 0.001 * source.normal(size=(1200, 6)), labels[entities]
    assert chosen_ridge(monkeypatch, X, y, 400) <= 0.1
    assert chosen_ridge(monkeypatch, X, y, 400, entities) >= 1.0


@pytest.mark.parametrize("sizes", [np.full(20, 6), np.arange(1, 21)])
def test_ridges_are_tried_on_a_fifth_of_the_entities(sizes):
    entities = rng().permutation(np.repeat(np.arange(20), sizes))
    first, last = _machines._divided(len(entities), entities, rng())
    assert len(set(entities[last])) == 4
    assert not set(entities[first]) & set(entities[last])
    assert sorted([*first, *last]) == list(range(len(entities)))


def test_one_entity_has_no_other_to_try_ridges_on():
    X, y = learnable(40)
    assert np.mean(machine(X, y, 20, entities=np.zeros(40, dtype=int)).answers(X)[:, 0] == y) > 0.8
