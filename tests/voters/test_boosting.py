"""Boosting with weights: the bins are made here, and the trees ask for values all the same."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from certivote.voters._boosting import Boosting, _bin_edges, fit_boosting

pytestmark = pytest.mark.filterwarnings("error")


def data(n, seed=0, n_classes=2):
    source = np.random.default_rng(seed)
    X = source.normal(size=(n, 5))
    X[:, 3] = source.integers(4, size=n)
    score = X[:, 0] + X[:, 1] ** 2 + (X[:, 3] == 2) + 0.5 * source.normal(size=n)
    X[source.random(X.shape) < 0.1] = np.nan
    X[:, 4] = np.where(score > source.normal(size=n), np.nan, 1.0)  # missing, or one value
    return X, np.digitize(score, np.linspace(0, 2, n_classes - 1)), source.exponential(size=n) + 0.01


def unfitted(**parameters):
    return HistGradientBoostingClassifier(max_iter=20, early_stopping=False, random_state=0, **parameters)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_of_few_values_the_trees_are_those_of_the_library(n_classes):
    X, y, weights = data(250, n_classes=n_classes)
    ours = fit_boosting(unfitted(), X, y, weights, (5, 20))
    theirs = Boosting.grown(unfitted().fit(X, y, sample_weight=weights), (5, 20))
    ours.check(5, n_classes, 2)
    assert np.array_equal(ours.trees.feature, theirs.trees.feature)
    np.testing.assert_allclose(ours.edges, theirs.edges, rtol=1e-12)
    fresh, _, _ = data(1000, seed=1)
    assert np.array_equal(ours.answers(fresh), theirs.answers(fresh))


def test_of_many_values_the_trees_see_bins_and_ask_for_values():
    X, y, weights = data(1500)
    model = unfitted()
    boosting = fit_boosting(model, X, y, weights, (5, 20))
    boosting.check(5, 2, 2)
    fresh, truth, heavy = data(1500, seed=1)
    edges = [_bin_edges(X[:, column], weights) for column in range(5)]
    binned = np.stack([np.searchsorted(own, fresh[:, column]) for column, own in enumerate(edges)], axis=1)
    answers = boosting.answers(fresh)
    assert np.array_equal(answers[:, 1], model.predict(np.where(np.isnan(fresh), np.nan, binned)))
    library = unfitted().fit(X, y, sample_weight=weights).predict(fresh)
    wrong = [np.average(given != truth, weights=heavy) for given in (answers[:, 1], library)]
    assert wrong[0] < wrong[1] + 0.01


def test_without_weights_the_library_makes_the_bins():
    X, y, _ = data(600)
    ours = fit_boosting(unfitted(), X, y, None, (5, 20))
    theirs = Boosting.grown(unfitted().fit(X, y), (5, 20))
    assert np.array_equal(ours.edges, theirs.edges)
    assert np.array_equal(ours.values, theirs.values)


def test_bins_hold_about_the_same_weight():
    source = np.random.default_rng(2)
    values, weights = source.normal(size=20_000), source.exponential(size=20_000)
    weights[values > 1.0] *= 20.0
    edges = _bin_edges(values, weights)
    assert len(edges) == 254
    masses = np.bincount(np.searchsorted(edges, values), weights)
    assert np.abs(masses - masses.mean()).max() <= weights.max()  # a row is in one bin
    assert np.ptp(np.bincount(np.searchsorted(edges, values))) > 50


@pytest.mark.parametrize(
    ("values", "count"),
    [
        ([1.0, np.nan, 1.0], 0),
        ([1.0, np.nextafter(1.0, 2.0), np.nextafter(1.0, 0.0)], 2),
        ([1e308, -1e308, 1.7e308], 2),
        ([5e-324, 0.0], 1),
        (np.arange(255.0), 254),
        (np.r_[np.zeros(5000), np.arange(5000.0)], 254),
    ],
)
def test_every_bin_has_a_value(values, count):
    values = np.array(values)
    edges = _bin_edges(values, np.ones(len(values)))
    assert len(edges) <= count
    assert np.all(np.isfinite(edges))
    used = np.unique(np.searchsorted(edges, values[~np.isnan(values)]))
    assert np.array_equal(used, np.arange(len(edges) + 1))
    if count < 254:
        assert len(edges) == count
