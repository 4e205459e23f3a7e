"""Linear models and kernel machines as plain arrays."""

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certivote.voters._encoding import Encoding

Array = NDArray[np.float64]
Codes = NDArray[np.int64]

_CELLS = 1 << 19
"""Kernels that are in memory at a time: so few that they stay near the processor."""


def gaussian_kernel(X: Array, points: Array, gamma: float) -> Array:
    """``exp(-gamma |x - p|^2)`` for every row and every point."""
    likeness = X @ points.T
    likeness *= -2.0
    likeness += np.square(X).sum(axis=1)[:, None]
    likeness += np.square(points).sum(axis=1)
    np.maximum(likeness, 0.0, out=likeness)
    likeness *= -gamma
    return np.exp(likeness, out=likeness)


@dataclass(frozen=True)
class Always:
    """One answer, for want of training rows of another class; as often as a model in its place would have voted."""

    code: int
    n_stages: int

    def check(self, width: int, n_classes: int, n_stages: int) -> None:
        if not 0 <= self.code < n_classes or self.n_stages != n_stages:
            raise ValueError("a constant model votes for a class that there is not")

    def only(self, stages: NDArray[np.intp]) -> "Always":
        return Always(self.code, len(stages))

    def answers(self, X: Array) -> NDArray[np.intp]:
        return np.full((len(X), self.n_stages), self.code, dtype=np.intp)


@dataclass(frozen=True)
class Linear:
    """The class with the largest score; for two classes, the second if the only score is positive."""

    encoding: Encoding
    coefficients: Array
    intercepts: Array
    classes: Codes

    @classmethod
    def fitted(cls, encoding: Encoding, model: Any) -> "Linear":
        """From a fitted linear classifier of scikit-learn."""
        return cls(encoding, model.coef_.T.copy(), model.intercept_, model.classes_.astype(np.int64))

    def check(self, width: int, n_classes: int, n_stages: int) -> None:
        self.encoding.check(width)
        n_scores = check_classes(self.classes, n_classes, n_stages)
        if self.coefficients.shape != (self.encoding.width, n_scores) or self.intercepts.shape != (n_scores,):
            raise ValueError("a linear model has another number of coefficients")

    def answers(self, X: Array) -> NDArray[np.intp]:
        scores = self.encoding.transform(X) @ self.coefficients + self.intercepts
        return self.classes[_largest(scores)].astype(np.intp)[:, None]


@dataclass(frozen=True)
class KernelScores:
    """Scores that are sums of Gaussian kernels around points; the largest wins."""

    encoding: Encoding
    points: Array
    gamma: float
    coefficients: Array
    classes: Codes

    def check(self, width: int, n_classes: int, n_stages: int) -> None:
        _check_kernel(self.encoding, self.points, self.gamma, width)
        check_classes(self.classes, n_classes, n_stages)
        if self.coefficients.shape != (len(self.points), len(self.classes)):
            raise ValueError("a kernel machine has another number of coefficients")

    def answers(self, X: Array) -> NDArray[np.intp]:
        found = np.empty((len(X), 1), dtype=np.intp)
        step = max(_CELLS // max(len(self.points), 1), 1)
        for start in range(0, len(X), step):
            rows = slice(start, start + step)
            kernel = gaussian_kernel(self.encoding.transform(X[rows]), self.points, self.gamma)
            found[rows, 0] = self.classes[(kernel @ self.coefficients).argmax(axis=1)]
        return found


@dataclass(frozen=True)
class KernelPairs:
    """A support vector machine: for each pair of classes a sum of Gaussian kernels decides, and most decisions win.

    Attributes
    ----------
    encoding : Encoding
    points : array of float
        The support vectors, class after class.
    gamma : float
    counts : array of int
        Support vectors of each class.
    coefficients : array of float, of shape (n_classes - 1, n_points)
        Of each support vector, for the pairs of its class with each of the others.
    intercepts : array of float
        Of each pair of classes, in the order of ``itertools.combinations``.
    classes : array of int
        Codes of the classes.
    """

    encoding: Encoding
    points: Array
    gamma: float
    counts: Codes
    coefficients: Array
    intercepts: Array
    classes: Codes

    @classmethod
    def fitted(cls, encoding: Encoding, model: Any, gamma: float) -> "KernelPairs":
        """From a fitted ``SVC`` of scikit-learn, whose signs are turned round for two classes."""
        sign = -1.0 if len(model.classes_) == 2 else 1.0
        return cls(
            encoding,
            model.support_vectors_,
            gamma,
            model.n_support_.astype(np.int64),
            sign * model.dual_coef_,
            sign * model.intercept_,
            model.classes_.astype(np.int64),
        )

    def check(self, width: int, n_classes: int, n_stages: int) -> None:
        _check_kernel(self.encoding, self.points, self.gamma, width)
        check_classes(self.classes, n_classes, n_stages)
        own, count = len(self.classes), len(self.points)
        if self.coefficients.shape != (own - 1, count) or self.intercepts.shape != (own * (own - 1) // 2,):
            raise ValueError("a support vector machine has another number of coefficients")
        if self.counts.shape != (own,) or np.any(self.counts < 0) or self.counts.sum() != count:
            raise ValueError("a support vector machine does not divide its points")

    def answers(self, X: Array) -> NDArray[np.intp]:
        found = np.empty((len(X), 1), dtype=np.intp)
        ends = np.cumsum(self.counts)
        spans = [slice(end - count, end) for end, count in zip(ends, self.counts, strict=True)]
        step = max(_CELLS // max(len(self.points), 1), 1)
        for start in range(0, len(X), step):
            rows = slice(start, start + step)
            kernel = gaussian_kernel(self.encoding.transform(X[rows]), self.points, self.gamma)
            sums = [kernel[:, span] @ self.coefficients[:, span].T for span in spans]
            won = np.zeros((len(kernel), len(self.classes)), dtype=np.intp)
            for intercept, (i, j) in zip(self.intercepts, combinations(range(len(spans)), 2), strict=True):
                first = sums[i][:, j - 1] + sums[j][:, i] + intercept > 0
                won[:, i] += first
                won[:, j] += ~first
            found[rows, 0] = self.classes[won.argmax(axis=1)]
        return found


def _largest(scores: Array) -> NDArray[np.intp]:
    return scores.argmax(axis=1) if scores.shape[1] > 1 else (scores[:, 0] > 0).astype(np.intp)


def check_classes(classes: Codes, n_classes: int, n_stages: int) -> int:
    """How many scores such classes need."""
    known = classes.ndim == 1 and len(classes) >= 2 and classes[0] >= 0 and classes[-1] < n_classes
    if not known or np.any(np.diff(classes) < 1) or n_stages != 1:
        raise ValueError("a model votes for a class that there is not")
    return 1 if len(classes) == 2 else len(classes)


def _check_kernel(encoding: Encoding, points: Array, gamma: float, width: int) -> None:
    encoding.check(width)
    if points.ndim != 2 or points.shape[1] != encoding.width or not 0.0 < gamma < np.inf:
        raise ValueError("a kernel machine has points of another width")
