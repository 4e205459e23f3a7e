"""Digests of rows: what ties a certificate to the data it was made from."""

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from certivote.maths.tree_digest import Piece, join_pieces, make_piece

__all__ = ["part_digest", "row_keys", "row_piece", "rows_digest"]

_CHUNK = 1 << 16
"""Rows that are laid out for digests at a time."""


def part_digest(keys: Sequence[bytes], y: NDArray[Any], rows: NDArray[np.intp]) -> str:
    """A digest of some rows with their labels, in the order given; ``keys`` are the :func:`row_keys` of all rows."""
    return join_pieces([row_piece([keys[row] for row in rows.tolist()], y[rows])])


def row_piece(keys: Sequence[bytes], y: NDArray[Any], first: int = 0) -> Piece:
    """What rows with these keys and labels contribute to their digest, if the first of them has this number.

    Rows of one part are numbered from 0 in the order of the table. Pieces of consecutive rows are joined by
    :func:`~certivote.maths.tree_digest.join_pieces`.
    """
    if y.dtype.kind == "O":
        texts = list(map(repr, y.tolist()))
        places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        codes = np.array([places[text] for text in texts], dtype=np.intp)
    else:
        distinct, codes = np.unique(y, return_inverse=True)
        places = {repr(label): place for place, label in enumerate(distinct.tolist())}
    labels = np.frombuffer(b"".join([_digest(text.encode()) for text in places]), np.uint8).reshape(-1, 16)
    contents = np.frombuffer(b"".join(keys), np.uint8).reshape(-1, 16)
    return make_piece(b"rows", np.concatenate([contents, labels[codes]], axis=1), first)


def rows_digest(X: Any) -> int:
    """A number that stands for these rows in this order."""
    return int.from_bytes(_digest(b"".join(row_keys(X))), "big")


def row_keys(X: Any) -> list[bytes]:
    """A digest of each row: equal rows have equal keys, and others in practice never.

    Of a pandas frame that is not all numbers, keys depend on the values and the types of the columns, not on how they
    are stored: dates have the same keys in nanoseconds as in other units, and in whichever time zone. Text that was
    read from one file and numbers from another, such as a CSV and a parquet file of the same table, have other keys.
    """
    if scipy.sparse.issparse(X):
        matrix = scipy.sparse.csr_array(X)
        matrix.sum_duplicates()
        # Column numbers of as few bytes as the width allows: scipy takes more or fewer from version to version.
        columns = matrix.indices.astype(np.int32 if matrix.shape[1] <= 1 << 31 else np.int64)
        bounds = zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)
        return [_digest(columns[a:b].tobytes() + matrix.data[a:b].tobytes()) for a, b in bounds]
    if _is_mixed(X):
        return _frame_keys(X)
    keys: list[bytes] = []
    places = getattr(X, "iloc", X)
    for start in range(0, len(X), _CHUNK):
        keys.extend(_array_keys(np.asarray(places[start : start + _CHUNK])))
    return keys


def _array_keys(values: NDArray[Any]) -> list[bytes]:
    if values.dtype.kind in "OUS":
        return [_digest(repr(row).encode()) for row in values.tolist()]
    values = np.ascontiguousarray(values.reshape(len(values), -1) + np.zeros(1, dtype=values.dtype))  # -0.0 becomes 0.0
    return [_digest(row) for row in values]


def _is_mixed(X: Any) -> bool:
    """Whether this is a pandas frame whose columns are not all plain numbers."""
    if not type(X).__module__.startswith("pandas") or getattr(X, "ndim", 1) != 2:
        return False
    return not all(isinstance(dtype, np.dtype) and dtype.kind in "biuf" for dtype in X.dtypes)


def _frame_keys(X: Any) -> list[bytes]:
    """Keys of rows that would be too large as objects: a column at a time, and some rows at a time."""
    columns = [_stored(X.iloc[:, place]) for place in range(X.shape[1])]
    keys: list[bytes] = []
    for start in range(0, len(X), _CHUNK):
        rows = slice(start, start + _CHUNK)
        parts = [values[rows] if table is None else table[values[rows]] for values, table in columns]
        block = np.concatenate([part.view(np.uint8).reshape(len(part), -1) for part in parts], axis=1)
        keys.extend(map(_digest, block))
    return keys


def _stored(column: Any) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """The values of a column; or codes, and of each code a digest of its value."""
    import pandas as pd

    kind = column.dtype.kind if isinstance(column.dtype, np.dtype) else "O"
    if kind == "f":
        values = column.to_numpy(dtype=float)
        return np.where(np.isnan(values), np.nan, values + 0.0), None
    if kind in "biu":
        return np.ascontiguousarray(column.to_numpy()), None
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return _moments(column if kind == "M" else column.dt.tz_convert("UTC").dt.tz_localize(None)), None
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes, kept = column.cat.codes.to_numpy(), column.cat.categories
    else:
        try:
            codes, kept = pd.factorize(column)
        except TypeError:  # lists and other values that cannot be compared
            codes, kept = pd.factorize(column.map(repr))
    digests = [_digest(repr(value).encode()) for value in kept.tolist()]
    # The code -1 of a missing value finds the last place.
    return codes, np.array([*digests, bytes(16)], dtype="V16")


def _moments(column: Any) -> NDArray[np.int64]:
    """Days since 1970 and nanoseconds of the day: pandas keeps moments in other units from version to version."""
    values = column.to_numpy()
    days = values.astype("datetime64[D]")
    return np.stack([days.view(np.int64), (values - days).astype("timedelta64[ns]").view(np.int64)], axis=1)


def _digest(row: Any) -> bytes:
    return hashlib.blake2b(row, digest_size=16).digest()
