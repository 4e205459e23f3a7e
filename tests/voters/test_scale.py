"""Scales of columns."""

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from certivote.voters._encoding import KindScaler

pytestmark = pytest.mark.filterwarnings("error")


def rng(seed=0):
    return np.random.default_rng(seed)


def test_columns_of_one_kind_keep_their_proportions():
    X = rng().uniform(size=(50, 8)) ** np.arange(1, 9)  # all between 0 and 1, the last mostly near 0
    X[:, 3] = 0.5
    scaled = KindScaler().fit_transform(X)
    assert np.allclose(scaled.mean(axis=0), 0)
    assert np.allclose((scaled**2).mean(), 1)
    assert np.allclose(scaled, (X - X.mean(axis=0)) / np.sqrt(X.var(axis=0).mean()))


@pytest.mark.parametrize("scales", [[1, 1, 1, 1, 1, 1, 9, 9], [1, 10, 100, 1000, 1, 10, 100, 1000], [0] * 8])
def test_columns_of_different_kinds_are_standardised(scales):
    X = rng().uniform(size=(50, 8)) * scales
    assert np.array_equal(KindScaler().fit_transform(X), StandardScaler().fit_transform(X))
