"""Quadratic discriminant analysis as plain arrays."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular

from certivote.voters._encoding import Encoding
from certivote.voters._machines import check_classes

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
    >>> from certivote.voters._gaussian import fit_gaussian
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
