"""Rows that given models were trained on, beside those that certify them: which of these occur among those."""

from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from certivote.certificate import row_keys


def rows_among(X: Any, training: Any) -> int:
    """How many rows of ``X`` are training rows too, by their values: columns by name, numbers whatever their type.

    Raises
    ------
    ValueError
        If the training rows have not the columns of ``X``.
    """
    if hasattr(X, "columns") and hasattr(training, "columns"):
        absent = [str(name) for name in X.columns if name not in training.columns]
        if absent:
            raise ValueError(f"they have no column {', '.join(absent):.200}")
        tables = _frames(X, training[list(X.columns)])
    else:
        tables = _arrays(X, training)
    certify, trained = (row_keys(table) for table in tables)
    known = set(trained)
    return sum(key in known for key in certify)


def _frames(X: Any, training: Any) -> tuple[Any, Any]:
    """Two frames of the same columns, each of which has numbers of one type in both."""
    columns: tuple[dict[int, Any], dict[int, Any]] = ({}, {})
    for place in range(X.shape[1]):
        pair = (X.iloc[:, place], training.iloc[:, place])
        single = any(column.dtype == np.float32 for column in pair)
        for found, column in zip(columns, pair, strict=True):
            is_number = pd.api.types.is_numeric_dtype(column.dtype)
            found[place] = (_numbers(column, single) if is_number else column).reset_index(drop=True)
    return pd.DataFrame(columns[0]), pd.DataFrame(columns[1])


def _arrays(X: Any, training: Any) -> tuple[Any, Any]:
    """Two arrays, or an array and a frame, as arrays; sparse ones stay so if both are."""
    if np.shape(X)[1:] != np.shape(training)[1:]:
        raise ValueError(f"they have the shape {np.shape(training)}, and the rows {np.shape(X)}")
    if sparse.issparse(X) != sparse.issparse(training):
        X, training = (table.toarray() if sparse.issparse(table) else table for table in (X, training))
    single = any(kind == np.float32 for table in (X, training) for kind in _types(table))
    found = []
    for table in (X, training):
        values = table if sparse.issparse(table) else np.asarray(table)
        found.append(_numbers(values, single) if all(map(pd.api.types.is_numeric_dtype, _types(table))) else values)
    return found[0], found[1]


def _types(table: Any) -> list[Any]:
    return list(table.dtypes) if hasattr(table, "columns") else [table.dtype]


def _numbers(values: Any, single: bool) -> Any:
    """In double precision; rounded to single precision if some of them were, since that cannot be undone."""
    return (values.astype(np.float32) if single else values).astype(np.float64)
