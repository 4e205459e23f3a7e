"""Linear models, kernel machines and quadratic discriminants as plain arrays."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, cholesky, solve_triangular

from certivote.voters._encoding import Encoding
from certivote.voters._entities import row_weights, shuffled_rows

# Quadratic discriminant analysis as plain arrays.


Array = NDArray[np.float64]
Codes = NDArray[np.intp]

_ROUND = 0.03
"""Share of the identity in each covariance: a class of few rows is nearly round instead of flat."""


@dataclass(frozen=True)
class Gaussian:
    """A normal distribution for each class; the largest density, times the frequency of the class, wins.

    Attributes
    ----------
    encoding : Encoding
    means : array of float, of shape (n_known, width)
    whiteners : array of float, of shape (n_known, width, width)
        What turns a deviation from the mean of the class into one with independent parts of variance 1.
    offsets : array of float, of shape (n_known,)
        Logarithms of frequency and volume.
    classes : array of int
        Codes of the classes.
    """

    encoding: Encoding
    means: Array
    whiteners: Array
    offsets: Array
    classes: NDArray[np.int64]

    def check(self, width: int, n_classes: int, n_stages: int) -> None:
        """Raise a ValueError unless it can vote on rows with this many columns, for this many classes."""
        self.encoding.check(width)
        check_classes(self.classes, n_classes, n_stages)
        own, wide = len(self.classes), self.encoding.width
        if self.means.shape != (own, wide) or self.whiteners.shape != (own, wide, wide) or self.offsets.shape != (own,):
            raise ValueError("normal distributions are of another width")

    def answers(self, X: Array) -> Codes:
        """Codes of shape (n_rows, 1)."""
        rows = self.encoding.transform(X)
        scores = [
            offset - 0.5 * np.square((rows - mean) @ whitener).sum(axis=1)
            for mean, whitener, offset in zip(self.means, self.whiteners, self.offsets, strict=True)
        ]
        return self.classes[np.argmax(scores, axis=0)].astype(np.intp)[:, None]


def fit_gaussian(encoding: Encoding, X: Array, y: Codes, weights: Array | None) -> Gaussian:
    """Means and covariances of the classes, these with 3 % of the identity.

    Parameters
    ----------
    encoding : Encoding
        Of the rows, which it standardises.
    X, y : arrays
        The training rows and the codes of their classes.
    weights : array of float or None
        Positive weights of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from certivote.voters._encoding import Encoding
    >>> from certivote.voters._machines import fit_gaussian
    >>> X, y = load_iris(return_X_y=True)
    >>> model = fit_gaussian(Encoding.fitted(X, coded=np.arange(0)), X, y, weights=None)
    >>> bool(np.mean(model.answers(X)[:, 0] == y) > 0.95)
    True
    """
    rows = encoding.transform(X)
    heavy = np.ones(len(y)) if weights is None else weights
    classes = np.unique(y)
    means, whiteners, offsets = [], [], []
    for code in classes:
        own, mass = rows[y == code], heavy[y == code]
        mean = mass @ own / mass.sum()
        covariance = (own - mean).T @ ((own - mean) * mass[:, None]) / mass.sum()
        covariance = (1.0 - _ROUND) * covariance + _ROUND * np.eye(rows.shape[1])
        whitener = solve_triangular(cholesky(covariance, lower=True), np.eye(rows.shape[1]), lower=True).T
        means.append(mean)
        whiteners.append(whitener)
        offsets.append(np.log(mass.sum() / heavy.sum()) + np.log(np.diag(whitener)).sum())
    return Gaussian(encoding, np.array(means), np.array(whiteners), np.array(offsets), classes.astype(np.int64))


StoredCodes = NDArray[np.int64]

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
    classes: StoredCodes

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
    classes: StoredCodes

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
    counts: StoredCodes
    coefficients: Array
    intercepts: Array
    classes: StoredCodes

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


def check_classes(classes: StoredCodes, n_classes: int, n_stages: int) -> int:
    """How many scores such classes need."""
    known = classes.ndim == 1 and len(classes) >= 2 and classes[0] >= 0 and classes[-1] < n_classes
    if not known or np.any(np.diff(classes) < 1) or n_stages != 1:
        raise ValueError("a model votes for a class that there is not")
    return 1 if len(classes) == 2 else len(classes)


def _check_kernel(encoding: Encoding, points: Array, gamma: float, width: int) -> None:
    encoding.check(width)
    if points.ndim != 2 or points.shape[1] != encoding.width or not 0.0 < gamma < np.inf:
        raise ValueError("a kernel machine has points of another width")


# A kernel machine for many rows.


_RIDGES = (0.01, 0.1, 1.0, 10.0)
_CHUNK = 4_000
"""Rows whose kernel is in memory at a time."""


def fit_landmarks(
    encoding: Encoding, X: Array, y: Codes, n_landmarks: int, seed: int, entities: Codes | None = None
) -> KernelScores:
    """Least squares on a Gaussian kernel's values at random training rows, the landmarks.

    The coefficients minimise the squared error of scores that are 1 for the class and -1 for the others, plus a ridge
    times the squared norm in the kernel's space: with ``K`` the kernel of rows and landmarks and ``L`` that of the
    landmarks, ``(K'K + ridge L)^-1 K'Y`` (Rudi, Camoriano and Rosasco, "Less is more: Nyström computational
    regularization", 2015). The ridge is the best of four on a fifth of the rows, which are added afterwards.
    The same as scikit-learn's ``Nystroem`` before ``RidgeClassifier``, but nothing is decomposed: with thousands of
    landmarks, which images and letters reward, it takes a fraction of the time.

    Parameters
    ----------
    encoding : Encoding
        Of the rows.
    X, y : arrays
        The training rows and the codes of their classes.
    n_landmarks : int
        How many rows become landmarks, if there are as many.
    seed : int
        Of the choice of the landmarks, and of the rows on which the ridges are tried.
    entities : array of int or None
        The entity of each row. Then all entities count the same in the squared error and among the landmarks, and the
        ridges are tried on a fifth of the entities.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from certivote.voters._encoding import Encoding
    >>> from certivote.voters._machines import fit_landmarks
    >>> X, y = load_digits(return_X_y=True)
    >>> encoding = Encoding.fitted(X[:1000], coded=np.arange(0))
    >>> machine = fit_landmarks(encoding, X[:1000], y[:1000], 300, seed=0)
    >>> bool(np.mean(machine.answers(X[1000:])[:, 0] == y[1000:]) > 0.9)
    True
    """
    classes, codes = np.unique(y, return_inverse=True)
    rows = encoding.transform(X)
    weights = row_weights(entities)
    if weights is None:
        weights = np.ones(len(rows))
    first, last = _divided(len(rows), entities, np.random.default_rng(seed))
    gamma = float(1.0 / (rows.shape[1] * (rows.var() or 1.0)))
    landmarks = rows[np.concatenate([first, last])[:n_landmarks]]
    among = gaussian_kernel(landmarks, landmarks, gamma)
    normal = _Normal(landmarks, gamma, len(classes))
    gram, targets, _ = normal.sums(rows[first], codes[first], weights[first])
    tried = [_solved(gram + ridge * among, targets) for ridge in _RIDGES]
    more, more_targets, errors = normal.sums(rows[last], codes[last], weights[last], tried)
    ridge = _RIDGES[int(np.argmin(errors))]
    coefficients = _solved(gram + more + ridge * among, targets + more_targets)
    return KernelScores(encoding, landmarks, gamma, coefficients, classes.astype(np.int64))


def _divided(n_rows: int, entities: Codes | None, rng: np.random.Generator) -> tuple[Codes, Codes]:
    """Four fifths of the rows in random order, and the others; or of the entities, with all their rows."""
    if entities is None:
        shuffled = rng.permutation(n_rows)
        first, last = np.split(shuffled, [max(n_rows * 4 // 5, 1)])
        return first, last
    names = rng.permutation(np.unique(entities))
    shuffled = shuffled_rows(entities, n_rows, rng)
    late = np.isin(entities[shuffled], names[max(len(names) * 4 // 5, 1) :])
    return shuffled[~late], shuffled[late]


class _Normal:
    """What the normal equations need of the rows, some of them at a time."""

    def __init__(self, landmarks: Array, gamma: float, n_classes: int):
        self._landmarks, self._gamma, self._classes = landmarks, gamma, np.arange(n_classes)

    def sums(self, X: Array, codes: Codes, weights: Array, tried: Sequence[Array] = ()) -> tuple[Array, Array, Array]:
        """Products of the landmarks' columns with one another and with the scores wanted; errors of coefficients."""
        size = len(self._landmarks)
        gram, targets, errors = np.zeros((size, size)), np.zeros((size, len(self._classes))), np.zeros(len(tried))
        for start in range(0, len(X), _CHUNK):
            likeness = gaussian_kernel(X[start : start + _CHUNK], self._landmarks, self._gamma)
            wanted, heavy = codes[start : start + _CHUNK], weights[start : start + _CHUNK]
            errors += [heavy[(likeness @ given).argmax(axis=1) != wanted].sum() for given in tried]
            roots = np.sqrt(heavy)[:, None]
            likeness *= roots
            gram += likeness.T @ likeness
            targets += likeness.T @ (roots * (2.0 * (wanted[:, None] == self._classes) - 1.0))
        return gram, targets, errors


def _solved(matrix: Array, targets: Array) -> Array:
    """Overwrites the matrix; landmarks that are nearly equal make it nearly singular, so its diagonal is raised."""
    matrix[np.diag_indices_from(matrix)] += 1e-11 * np.trace(matrix)
    return cho_solve(cho_factor(matrix, overwrite_a=True), targets)
