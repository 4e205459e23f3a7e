"""A kernel machine for many rows."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from certivote.voters._encoding import Encoding
from certivote.voters._entities import row_weights, shuffled_rows
from certivote.voters._machines import KernelScores, gaussian_kernel

Array = NDArray[np.float64]
Codes = NDArray[np.intp]

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
    >>> from certivote.voters._landmarks import fit_landmarks
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
