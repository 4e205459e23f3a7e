"""Data frames of other libraries as those of pandas, with the same values."""

from typing import Any

__all__ = ["as_frame"]

_FRAMES = "schema", "__narwhals_dataframe__"
"""One of these a frame has, and no array."""


def as_frame(X: Any) -> Any:
    """A pandas data frame of the same values, if this is a frame of another library; anything else as it is.

    Frames of polars, pyarrow and others are read by narwhals. Missing values become NaN, NaT or None.

    Parameters
    ----------
    X : object

    Raises
    ------
    ValueError
        If the rows of a frame have not been computed yet.

    Examples
    --------
    >>> import numpy as np
    >>> from certivote.frames import as_frame
    >>> as_frame(np.eye(2)).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    if hasattr(X, "iloc") or hasattr(X, "tocsr") or not any(hasattr(type(X), each) for each in _FRAMES):
        return X
    import narwhals.stable.v2 as nw
    import pandas as pd

    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        raise ValueError("X is a frame whose rows have not been computed yet; collect them first: X.collect().")
    if not isinstance(frame, nw.DataFrame):
        return X
    return pd.DataFrame({column.name: _values(column) for column in frame.iter_columns()}, copy=False)


def _values(column: Any) -> Any:
    """The values of a column as pandas keeps them."""
    import narwhals.stable.v2 as nw
    import pandas as pd

    kind = column.dtype
    if (kind.is_numeric() and kind != nw.Decimal) or (kind == nw.Boolean and not column.null_count()):
        return (column.cast(nw.Float64) if column.null_count() else column).to_numpy()
    if kind in (nw.Datetime, nw.Date, nw.Duration):
        return column.to_numpy()
    return pd.Series(column.to_list(), dtype=object)
