"""Lists of classifiers, fitted and not."""

import numpy as np
import pytest
from ballots import votes_matrix
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from certivote.voters import Classifiers

CLASSES = np.array([0, 1])


def rng(seed=0):
    return np.random.default_rng(seed)


def test_fitted_classifiers_vote_as_they_are_and_others_are_fitted():
    X, y = load_iris(return_X_y=True)
    fitted = DecisionTreeClassifier(max_depth=1).fit(X, y)
    fresh = LogisticRegression(max_iter=1000)
    voters = Classifiers([fitted, fresh])
    assert voters.needs_training
    fitted_voters = voters.fit(X[::2], y[::2], np.arange(3), rng())
    assert fitted_voters.classifiers[0] is fitted
    again = LogisticRegression(max_iter=1000).fit(X[::2], y[::2])
    assert np.array_equal(votes_matrix(fitted_voters, X, 3), np.stack([fitted.predict(X), again.predict(X)], axis=1))
    assert not hasattr(fresh, "coef_")


def test_cloning_keeps_what_fitted_classifiers_have_learned():
    X, y = load_iris(return_X_y=True)
    voters = Classifiers([DecisionTreeClassifier().fit(X, y)])
    assert not clone(voters).needs_training


def test_bad_lists_are_refused():
    with pytest.raises(ValueError, match="empty list"):
        Classifiers([]).fit(None, None, CLASSES, rng())
    with pytest.raises(TypeError, match="must be a classifier with a predict method"):
        Classifiers([3]).fit(None, None, CLASSES, rng())
