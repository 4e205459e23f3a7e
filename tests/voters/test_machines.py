"""Models as plain arrays answer as the models of scikit-learn that they were taken from."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from certivote.voters import _trees
from certivote.voters._boosting import Boosting
from certivote.voters._encoding import Encoding, coded_columns
from certivote.voters._machines import Always, KernelPairs, KernelScores, Linear, gaussian_kernel

NOTHING = np.arange(0)


def data(n_classes=2, n=300, seed=0, missing=False):
    source = np.random.default_rng(seed)
    X = source.normal(size=(n, 4))
    X[:, 3] = source.integers(4, size=n)
    y = np.digitize(X[:, 0] + X[:, 1] ** 2 + 0.5 * source.normal(size=n), np.linspace(0, 2, n_classes - 1))
    if missing:
        X[source.random(X.shape) < 0.15] = np.nan
    return X, y


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("agrees", [True, False])
def test_boosting_answers_as_the_library_does_at_every_stage(n_classes, missing, agrees, monkeypatch):
    monkeypatch.setattr(_trees, "_library_agrees", lambda: agrees)
    X, y = data(n_classes, missing=missing)
    model = HistGradientBoostingClassifier(max_iter=12, early_stopping=False, random_state=0).fit(X, y)
    boosting = Boosting.grown(model, (3, 12))
    boosting.check(4, n_classes, 2)
    fresh, _ = data(n_classes, seed=1, missing=missing)
    fresh[:40, 0] = np.resize(boosting.edges[: boosting.edge_starts[1]], 40)  # values on the thresholds themselves
    staged = list(model.staged_predict(fresh))
    assert np.array_equal(boosting.answers(fresh), np.stack([staged[2], staged[11]], axis=1))


def test_boosting_knows_the_classes_of_its_training_rows_only():
    X, y = data(3)
    model = HistGradientBoostingClassifier(max_iter=3, early_stopping=False).fit(X, y * 2)
    assert set(np.unique(Boosting.grown(model, (3,)).answers(X))) <= {0, 2, 4}


@pytest.mark.parametrize("n_classes", [2, 4])
def test_linear_models_answer_as_the_library_does(n_classes):
    X, y = data(n_classes)
    encoding = Encoding.fitted(X, coded_columns(X))
    model = LogisticRegression().fit(encoding.transform(X), y)
    linear = Linear.fitted(encoding, model)
    linear.check(4, n_classes, 1)
    assert np.array_equal(linear.answers(X)[:, 0], model.predict(encoding.transform(X)))


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_support_vectors_answer_as_the_library_does(n_classes):
    X, y = data(n_classes)
    encoding = Encoding.fitted(X, NOTHING)
    rows = encoding.transform(X)
    model = SVC(C=3.0, gamma=0.3).fit(rows, y)
    pairs = KernelPairs.fitted(encoding, model, 0.3)
    pairs.check(4, n_classes, 1)
    fresh, _ = data(n_classes, seed=3)
    assert np.array_equal(pairs.answers(fresh)[:, 0], model.predict(encoding.transform(fresh)))


def test_the_kernel_is_the_gaussian_one():
    source = np.random.default_rng(0)
    X, points = source.normal(size=(7, 3)), source.normal(size=(4, 3))
    expected = np.exp(-0.7 * np.square(X[:, None] - points[None]).sum(axis=2))
    np.testing.assert_allclose(gaussian_kernel(X, points, 0.7), expected, rtol=1e-13)
    assert np.all(gaussian_kernel(X, X, 0.7) <= 1.0)


def test_a_model_of_one_class_always_says_it():
    assert Always(2, 3).answers(np.zeros((4, 1))).tolist() == [[2, 2, 2]] * 4


@cache
def fitted():
    X, y = data(3)
    encoding = Encoding.fitted(X, coded_columns(X))
    rows = encoding.transform(X)
    boosting = HistGradientBoostingClassifier(max_iter=3, early_stopping=False).fit(X, y)
    return {
        "boosting": Boosting.grown(boosting, (3,)),
        "linear": Linear.fitted(encoding, LogisticRegression().fit(rows, y)),
        "pairs": KernelPairs.fitted(encoding, SVC(gamma=1.0).fit(rows, y), 1.0),
        "scores": KernelScores(encoding, rows[:9], 1.0, np.ones((9, 3)), np.arange(3)),
        "always": Always(1, 1),
    }


DAMAGES = {
    "classes": lambda m: replace(m, classes=m.classes + 1),
    "negative classes": lambda m: replace(m, classes=m.classes - 1),
    "few classes": lambda m: replace(m, classes=m.classes[:1]),
    "two dimensions": lambda m: replace(m, classes=m.classes[None]),
    "coefficients": lambda m: replace(m, coefficients=m.coefficients[:-1]),
    "points": lambda m: replace(m, points=m.points[:, :-1]),
    "gamma": lambda m: replace(m, gamma=-1.0),
    "counts": lambda m: replace(m, counts=m.counts + 1),
    "intercepts": lambda m: replace(m, intercepts=m.intercepts[:-1]),
    "encoding": lambda m: replace(m, encoding=replace(m.encoding, numbers=m.encoding.numbers + 9)),
    "levels": lambda m: replace(m, encoding=replace(m.encoding, level_starts=m.encoding.level_starts + 1)),
    "scale": lambda m: replace(m, encoding=replace(m.encoding, scale=0 * m.encoding.scale)),
    "fill": lambda m: replace(m, encoding=replace(m.encoding, fill=m.encoding.fill * np.nan)),
    "means": lambda m: replace(m, encoding=replace(m.encoding, mean=m.encoding.mean[:-1])),
    "stages": lambda m: replace(m, stages=np.array([4])),
    "stage zero": lambda m: replace(m, stages=np.array([0])),
    "edges": lambda m: replace(m, edges=m.edges[:-1]),
    "edge starts": lambda m: replace(m, edge_starts=m.edge_starts[::-1]),
    "baseline": lambda m: replace(m, baseline=m.baseline[:-1]),
    "values": lambda m: replace(m, values=m.values[:-1]),
    "code": lambda m: replace(m, code=3),
}
OF = {
    "boosting": "classes, few classes, two dimensions, stages, stage zero, edges, edge starts, baseline, values",
    "linear": "classes, negative classes, few classes, coefficients, intercepts, encoding, levels, scale, fill, means",
    "pairs": "classes, coefficients, points, gamma, counts, intercepts, encoding",
    "scores": "classes, coefficients, points, gamma, encoding",
    "always": "code",
}


@pytest.mark.parametrize(
    ("kind", "damage"), [(kind, damage) for kind, damages in OF.items() for damage in damages.split(", ")]
)
def test_arrays_that_do_not_fit_together_are_refused(kind, damage):
    model = fitted()[kind]
    model.check(4, 3, 1)
    with pytest.raises(ValueError):  # noqa: PT011 - each has words of its own
        DAMAGES[damage](model).check(4, 3, 1)


def test_codes_get_columns_of_their_own_and_numbers_are_scaled():
    X = np.array([[1.0, 10.0, np.nan], [2.0, np.nan, np.nan], [np.nan, 30.0, np.nan], [7.0, 20.0, np.nan]])
    encoding = Encoding.fitted(X, np.array([0]))
    encoding.check(3)
    out = encoding.transform(np.array([[7.0, 20.0, 5.0], [np.nan, np.nan, np.nan], [9.0, 30.0, 0.0]]))
    assert out[:, :4].tolist() == [[0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]]
    assert out[1, 4] == 0.0  # the mean takes the place of what is missing
    assert out[2, 4] == pytest.approx(2.0)  # columns of one kind have one scale, also where one is constant
    assert np.all(np.isfinite(out))
