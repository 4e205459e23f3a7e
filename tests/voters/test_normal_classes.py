"""Normal distributions of the classes, beside those of scikit-learn."""

import dataclasses
import functools

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

from certivote.voters._encoding import Encoding
from certivote.voters._machines import Gaussian, fit_gaussian


def encoded(X):
    return Encoding.fitted(X, np.arange(0))


def made(n_classes=3, seed=0):
    """Classes of several shapes and places."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=200)
    shapes, places = rng.normal(size=(n_classes, 5, 5)), rng.normal(size=(n_classes, 5))
    return np.einsum("ni,nij->nj", rng.normal(size=(200, 5)), shapes[y]) + 0.5 * places[y], y


ROWS = {
    "iris": functools.partial(load_iris, return_X_y=True),
    "wine": functools.partial(load_wine, return_X_y=True),
    "three classes": made,
    "two classes": functools.partial(made, 2, 1),
}


@pytest.mark.parametrize("name", ROWS)
def test_the_answers_are_those_of_the_library(name):
    X, y = ROWS[name]()
    encoding = encoded(X)
    model = fit_gaussian(encoding, X, y, None)
    model.check(X.shape[1], int(y.max()) + 1, 1)
    fresh = np.concatenate([X, X + np.random.default_rng(2).normal(size=X.shape) * X.std(axis=0)])
    # The library divides by one row less: of many copies of each row, that makes no difference.
    rows, labels = np.repeat(encoding.transform(X), 100, axis=0), np.repeat(y, 100)
    library = QuadraticDiscriminantAnalysis(reg_param=0.03).fit(rows, labels)
    answers = model.answers(fresh)
    assert answers.shape == (len(fresh), 1)
    assert np.array_equal(answers[:, 0], library.predict(encoding.transform(fresh)))


def test_weights_are_as_so_many_copies_of_a_row():
    X, y = made()
    weights = np.random.default_rng(3).integers(1, 4, size=len(y))
    encoding = encoded(X)
    weighted = fit_gaussian(encoding, X, y, weights.astype(float))
    copied = fit_gaussian(encoding, np.repeat(X, weights, axis=0), np.repeat(y, weights), None)
    for name in ("means", "whiteners", "offsets"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(copied, name), rtol=1e-9, atol=1e-9)
    assert np.array_equal(weighted.answers(X), copied.answers(X))


def test_a_class_of_one_row_and_flat_classes_have_a_distribution_too():
    X, _ = made()
    X[:, 4] = X[:, 3]
    y = np.where(np.arange(200) == 7, 1, 3)
    encoding = encoded(X)
    model = fit_gaussian(encoding, X, y, None)
    model.check(5, 4, 1)
    rows = encoding.transform(X)
    assert model.classes.tolist() == [1, 3]
    scores = []
    for code, share in ((1, 0.005), (3, 0.995)):
        own = rows[y == code]
        covariance = 0.97 * np.cov(own.T, bias=True) if len(own) > 1 else np.zeros((5, 5))
        density = multivariate_normal(own.mean(axis=0), covariance + 0.03 * np.eye(5))
        scores.append(np.log(share) + density.logpdf(rows))
    assert np.array_equal(model.answers(X)[:, 0], np.array([1, 3])[np.argmax(scores, axis=0)])
    assert model.answers(X)[7, 0] == 1


def test_rows_far_away_and_missing_values_get_an_answer():
    X, y = made()
    model = fit_gaussian(encoded(X), X, y, None)
    far = np.array([[1e200] * 5, [-1e300] * 5, [np.nan] * 5, [0.0, np.nan, 1e9, -1e9, 0.0]])
    with np.errstate(all="ignore"):
        assert set(model.answers(far)[:, 0].tolist()) <= {0, 1, 2}
    assert model.answers(X[:0]).shape == (0, 1)


@pytest.fixture(scope="module")
def honest():
    X, y = made()
    return fit_gaussian(encoded(X), X, y, None)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"classes": np.array([0, 1])}, "another width"),
        ({"classes": np.array([0, 1, 7])}, "a class that there is not"),
        ({"classes": np.array([-1, 1, 2])}, "a class that there is not"),
        ({"classes": np.array([0, 2, 1])}, "a class that there is not"),
        ({"classes": np.array([0, 1, 1])}, "a class that there is not"),
        ({"classes": np.array([[0, 1, 2]])}, "a class that there is not"),
        ({"classes": np.array([1])}, "a class that there is not"),
        ({"classes": np.array([], dtype=np.int64)}, "a class that there is not"),
        ({"means": np.zeros((3, 4))}, "another width"),
        ({"means": np.zeros(15)}, "another width"),
        ({"whiteners": np.zeros((3, 5, 4))}, "another width"),
        ({"whiteners": np.zeros((2, 5, 5))}, "another width"),
        ({"whiteners": np.zeros((3, 25))}, "another width"),
        ({"offsets": np.zeros((3, 1))}, "another width"),
        ({"offsets": np.zeros(4)}, "another width"),
    ],
    ids=lambda value: next(iter(value)) + str(next(iter(value.values())).shape) if isinstance(value, dict) else "",
)
def test_hostile_arrays_are_refused(changes, message, honest):
    honest.check(5, 3, 1)
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(honest, **changes).check(5, 3, 1)


def test_other_rows_classes_and_stages_are_refused(honest):
    assert isinstance(honest, Gaussian)
    for width, n_classes, n_stages in ((4, 3, 1), (5, 2, 1), (5, 3, 2)):
        with pytest.raises(ValueError, match=r"(column|class) that there is not"):
            honest.check(width, n_classes, n_stages)


@pytest.mark.parametrize("evil", [np.nan, np.inf, -np.inf, 1e308])
def test_numbers_that_are_none_end_in_an_answer(evil, honest):
    """Whatever it is, it is a class that there is."""
    for name in ("means", "whiteners", "offsets"):
        model = dataclasses.replace(honest, **{name: np.full_like(getattr(honest, name), evil)})
        model.check(5, 3, 1)
        with np.errstate(all="ignore"):
            assert set(model.answers(made()[0])[:, 0].tolist()) <= {0, 1, 2}
