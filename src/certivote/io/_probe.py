"""Probe rows in a model file: rows of any kind as values that plain data can hold."""

from typing import Any

import numpy as np
from scipy import sparse

_MOST_ROWS = 1 << 8
"""Rows that a file may have voted on when it is opened; each takes memory for all voters."""
_PER_COLUMN = 16
"""Bytes for each column that trees take to look at a sparse row."""


def probe_of(rows: Any) -> dict[str, Any] | None:
    """The rows in values that plain data can hold; None for columns of types that it has no word for."""
    if sparse.issparse(rows):
        return {"sparse": (rows.data, rows.indices, rows.indptr), "shape": list(rows.shape)}
    if not hasattr(rows, "iloc"):
        return {"rows": rows} if rows.dtype.kind in "biuf" else None
    columns = []
    for place in range(rows.shape[1]):
        column = rows.iloc[:, place]
        if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biuf":
            columns.append(column.to_numpy())
            continue
        values = [None if missing else value for value, missing in zip(column, column.isna(), strict=True)]
        if str(column.dtype) not in ("object", "str", "string") or not all(
            value is None or type(value) is str for value in values
        ):
            return None
        columns.append(values)
    return {"columns": columns, "names": [str(name) for name in rows.columns]}


def check_probe(rows: Any, width: int, most: int) -> None:
    """Raise a ValueError unless these are a few rows with ``width`` columns, and memory for them is warranted."""
    if len(rows.shape) != 2 or rows.shape[0] > _MOST_ROWS or rows.shape[1] != width:
        raise ValueError("its probe rows are of another shape")
    if sparse.issparse(rows) and width * _PER_COLUMN > most:
        raise ValueError(f"it has {width:,} columns, more than its size warrants")


def probe_from(known: dict[str, Any]) -> Any:
    """The rows that :func:`probe_of` took apart."""
    if "rows" in known:
        return known["rows"]
    if "sparse" in known:
        matrix = sparse.csr_array(tuple(known["sparse"]), shape=tuple(known["shape"]))
        matrix.check_format(full_check=True)
        return matrix
    import pandas as pd

    names, columns = known["names"], known["columns"]
    if len(names) != len(columns):
        raise ValueError("its probe rows have other names than columns")
    series = [
        column if isinstance(column, np.ndarray) else np.array([*column, None], object)[:-1] for column in columns
    ]
    return pd.DataFrame(dict(enumerate(series))).set_axis(names, axis=1)
