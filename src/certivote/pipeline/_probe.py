"""Rows that a model file will carry, to see whether its voters still vote as they did when it was written."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import _safe_indexing

from certivote.pipeline._split import PartRows

_ROWS, _FROM = 64, 200
"""Probe rows, and the rows that their values are taken from."""


def probe_rows(X: Any, part: PartRows, rng: np.random.Generator) -> Any:
    """Rows that are none of the data: each value comes from the same column of another row.

    Parameters
    ----------
    X : array, CSR matrix or data frame
        All rows, as voters get them.
    part : PartRows
        Values are those of some of its training rows; if it has none, of its certification rows.
    rng : numpy Generator
    """
    known = part.train if len(part.train) else part.certify
    some = _safe_indexing(X, np.sort(rng.permutation(known)[:_FROM]))
    return _shuffled_sparse(some, rng) if sparse.issparse(some) else _shuffled(some, rng)


def _shuffled(X: Any, rng: np.random.Generator) -> Any:
    picks = rng.integers(X.shape[0], size=(_ROWS, X.shape[1]))
    if not hasattr(X, "iloc"):
        array: NDArray[Any] = np.take_along_axis(np.asarray(X), picks, axis=0)
        return array
    columns = {place: X.iloc[picks[:, place], place].reset_index(drop=True) for place in range(X.shape[1])}
    return type(X)(columns).set_axis(X.columns, axis=1)


def _shuffled_sparse(X: Any, rng: np.random.Generator) -> Any:
    few = sparse.coo_array(X[rng.integers(X.shape[0], size=_ROWS)])
    return sparse.csr_array((few.data, (rng.integers(_ROWS, size=few.nnz), few.coords[1])), shape=few.shape)
