"""Numbers as linear models, kernel machines and neighbours want them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

# A scaler for columns of one kind and of several.


_ALIKE = 0.75
"""Fraction of the columns that must have at least half the widest range for all to be of one kind."""


class KindScaler(StandardScaler):  # type: ignore[misc]  # scikit-learn has no types
    """Standardises columns; those of one kind, such as pixels, keep their proportions and get one common scale.

    Distances between images are worse when a pixel that is hardly ever lit counts as much as the others. Columns are
    taken to be of one kind if at least three quarters of those that vary have a range of at least half of the widest.

    Examples
    --------
    >>> import numpy as np
    >>> from certivote.voters._encoding import KindScaler
    >>> pixels = np.array([[0.0, 8.0], [0.0, 0.0], [0.0, 8.0], [8.0, 0.0]])
    >>> KindScaler().fit(pixels).scale_.round(3).tolist()
    [3.742, 3.742]
    >>> KindScaler().fit(pixels * [1, 100]).scale_.round(3).tolist()
    [3.464, 400.0]
    """

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "KindScaler":
        super().fit(X, y, sample_weight)
        ranges = np.ptp(X, axis=0)
        if ranges.any() and np.mean(ranges[ranges > 0] >= ranges.max() / 2) >= _ALIKE:
            self.scale_ = np.full(self.n_features_in_, np.sqrt(self.var_.mean()) or 1.0)
        return self


Array = NDArray[np.float64]
Columns = NDArray[np.int64]

_MOST_CODED = 200
"""Columns of few whole numbers beyond which they are no codes: as many pixels would be."""
_MOST_LEVELS = 12
"""Distinct values of such a column, without a missing one."""


def coded_columns(X: Array) -> Columns:
    """Columns of 3 to 12 distinct whole numbers, which may be codes of categories."""
    coded = []
    for column in range(X.shape[1]):
        levels = np.unique(X[:, column])
        levels = levels[~np.isnan(levels)]
        if 3 <= len(levels) <= _MOST_LEVELS and np.all(levels == np.floor(levels)):
            coded.append(column)
    return np.array(coded if len(coded) <= _MOST_CODED else [], dtype=np.int64)


@dataclass(frozen=True)
class Encoding:
    """One column per code of the coded columns, then the other columns without gaps, centred and scaled.

    Attributes
    ----------
    coded : array of int
        Columns that hold codes.
    levels : array of float
        Their values in training, column after column; NaN stands for a missing one. Other values have no column.
    level_starts : array of int, of shape (n_coded + 1,)
        Where the values of each begin.
    numbers : array of int
        The other columns.
    fill, mean, scale : arrays of float, one number each
        What a missing value becomes; what is subtracted then, and what it is divided by.

    Examples
    --------
    >>> import numpy as np
    >>> from certivote.voters._encoding import Encoding
    >>> X = np.array([[1.0, -5.0], [2.0, np.nan], [3.0, 5.0]])
    >>> Encoding.fitted(X, coded=np.array([0])).transform(X).round(2).tolist()
    [[1.0, 0.0, 0.0, -1.22], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.22]]
    """

    coded: Columns
    levels: Array
    level_starts: Columns
    numbers: Columns
    fill: Array
    mean: Array
    scale: Array

    @classmethod
    def fitted(cls, X: Array, coded: Columns) -> "Encoding":
        """Learned from training rows."""
        levels = [np.unique(X[:, column]) for column in coded]
        numbers = np.setdiff1d(np.arange(X.shape[1]), coded)
        values = X[:, numbers]
        present = ~np.isnan(values)
        counts = present.sum(axis=0)
        fill = np.where(present, values, 0.0).sum(axis=0) / np.maximum(counts, 1)
        mean, scale = np.zeros(len(numbers)), np.ones(len(numbers))
        if len(numbers):
            scaler = KindScaler().fit(np.where(present, values, fill))
            mean, scale = scaler.mean_, scaler.scale_
        return cls(
            coded,
            np.concatenate([np.empty(0), *levels]),
            np.cumsum([0, *map(len, levels)]),
            numbers,
            fill,
            mean,
            scale,
        )

    @property
    def width(self) -> int:
        """Columns that come out."""
        return len(self.levels) + len(self.numbers)

    def check(self, width: int) -> None:
        """Raise a ValueError unless it can be applied to rows with this many columns."""
        starts, count = self.level_starts, len(self.numbers)
        lists = (self.coded, self.levels, starts, self.numbers, self.fill, self.mean, self.scale)
        if any(values.ndim != 1 for values in lists) or {len(self.fill), len(self.mean), len(self.scale)} != {count}:
            raise ValueError("the arrays of an encoding differ in length")
        divided = len(starts) == len(self.coded) + 1 and starts[0] == 0 and starts[-1] == len(self.levels)
        if not divided or np.any((np.diff(starts) < 0) | (np.diff(starts) > _MOST_LEVELS + 1)):
            raise ValueError("the codes of an encoding do not divide")
        if len(self.coded) > _MOST_CODED or not self.width:
            raise ValueError("an encoding gives another number of columns")
        for columns in (self.coded, self.numbers):
            if np.any((columns < 0) | (columns >= width)) or np.any(np.diff(columns) < 1):
                raise ValueError("an encoding asks for a column that there is not")
        if not all(np.isfinite(values).all() for values in (self.fill, self.mean, self.scale)) or 0.0 in self.scale:
            raise ValueError("an encoding divides by zero")

    def transform(self, X: Array) -> Array:
        out = np.empty((len(X), self.width))
        for k, column in enumerate(self.coded):
            values = X[:, column, None]
            own = slice(self.level_starts[k], self.level_starts[k + 1])
            levels = self.levels[own]
            out[:, own] = (values == levels) | (np.isnan(values) & np.isnan(levels))
        values = X[:, self.numbers]
        out[:, len(self.levels) :] = (np.where(np.isnan(values), self.fill, values) - self.mean) / self.scale
        return out
