"""A scaler for columns of one kind and of several."""

from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

_ALIKE = 0.75
"""Fraction of the columns that must have at least half the widest range for all to be of one kind."""


class KindScaler(StandardScaler):  # type: ignore[misc]  # scikit-learn has no types
    """Standardises columns; those of one kind, such as pixels, keep their proportions and get one common scale.

    Distances between images are worse when a pixel that is hardly ever lit counts as much as the others. Columns are
    taken to be of one kind if at least three quarters of those that vary have a range of at least half of the widest.

    Examples
    --------
    >>> import numpy as np
    >>> from certivote.voters._scale import KindScaler
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
