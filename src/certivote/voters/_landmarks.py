"""A kernel machine for many rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics.pairwise import rbf_kernel

__all__ = ["LandmarkMachine"]

Array = NDArray[np.float64]

_RIDGES = (0.01, 0.1, 1.0, 10.0)
_CHUNK = 4_000
"""Rows whose kernel is in memory at a time."""


class LandmarkMachine(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Least squares on a Gaussian kernel's values at random training rows, the landmarks.

    The coefficients minimise the squared error of scores that are 1 for the class and -1 for the others, plus a ridge
    times the squared norm in the kernel's space: with ``K`` the kernel of rows and landmarks and ``L`` that of the
    landmarks, ``(K'K + ridge L)^-1 K'Y`` (Rudi, Camoriano and Rosasco, "Less is more: Nyström computational
    regularization", 2015). The ridge is the best of four on a fifth of the rows, which are added afterwards.
    The same as scikit-learn's ``Nystroem`` before ``RidgeClassifier``, but nothing is decomposed: with thousands of
    landmarks, which images and letters reward, it takes a fraction of the time.

    Parameters
    ----------
    n_landmarks : int
        How many rows become landmarks, if there are as many.
    random_state : int
        Seed of the choice of the landmarks, and of the rows on which the ridges are tried.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from certivote.voters._landmarks import LandmarkMachine
    >>> X, y = load_digits(return_X_y=True)
    >>> LandmarkMachine(300, random_state=0).fit(X[:1000], y[:1000]).score(X[1000:], y[1000:]) > 0.95
    True
    """

    def __init__(self, n_landmarks: int, random_state: int):
        self.n_landmarks = n_landmarks
        self.random_state = random_state

    def fit(self, X: Array, y: NDArray[Any]) -> "LandmarkMachine":
        self.classes_, codes = np.unique(y, return_inverse=True)
        shuffled = np.random.default_rng(self.random_state).permutation(len(X))
        first, last = np.split(shuffled, [max(len(shuffled) * 4 // 5, 1)])
        self.gamma_ = 1.0 / (X.shape[1] * (X.var() or 1.0))
        self.landmarks_ = X[shuffled[: self.n_landmarks]]
        among = rbf_kernel(self.landmarks_, gamma=self.gamma_)
        gram, targets, _ = self._sums(X[first], codes[first])
        tried = [_solved(gram + ridge * among, targets) for ridge in _RIDGES]
        more, more_targets, errors = self._sums(X[last], codes[last], tried)
        self.ridge_ = _RIDGES[int(np.argmin(errors))]
        self.coefficients_ = _solved(gram + more + self.ridge_ * among, targets + more_targets)
        return self

    def predict(self, X: Array) -> NDArray[Any]:
        answers = np.empty(len(X), dtype=np.intp)
        for start in range(0, len(X), _CHUNK):
            rows = slice(start, start + _CHUNK)
            answers[rows] = (self._likeness(X[rows]) @ self.coefficients_).argmax(axis=1)
        return self.classes_[answers]

    def _likeness(self, X: Array) -> Array:
        return rbf_kernel(X, self.landmarks_, gamma=self.gamma_)

    def _sums(self, X: Array, codes: NDArray[np.intp], tried: Sequence[Array] = ()) -> tuple[Array, Array, Array]:
        """Products of the landmarks' columns with one another and with the scores wanted; errors of coefficients."""
        size, classes = len(self.landmarks_), np.arange(len(self.classes_))
        gram, targets, errors = np.zeros((size, size)), np.zeros((size, len(classes))), np.zeros(len(tried))
        for start in range(0, len(X), _CHUNK):
            likeness, wanted = self._likeness(X[start : start + _CHUNK]), codes[start : start + _CHUNK]
            gram += likeness.T @ likeness
            targets += likeness.T @ (2.0 * (wanted[:, None] == classes) - 1.0)
            errors += [np.count_nonzero((likeness @ given).argmax(axis=1) != wanted) for given in tried]
        return gram, targets, errors


def _solved(matrix: Array, targets: Array) -> Array:
    """Overwrites the matrix; landmarks that are nearly equal make it nearly singular, so its diagonal is raised."""
    matrix[np.diag_indices_from(matrix)] += 1e-11 * np.trace(matrix)
    return cho_solve(cho_factor(matrix, overwrite_a=True), targets)
