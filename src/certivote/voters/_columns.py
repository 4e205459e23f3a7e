"""From the columns of a table to numbers: what each column is, decided by the training rows."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import OrdinalEncoder
from sklearn.utils.validation import check_is_fitted, validate_data

from certivote.voters.text_columns import as_days, as_number, coded, read_texts

__all__ = ["ColumnEncoder"]

Array = NDArray[np.float64]

_READ: dict[str, Callable[[str], float]] = {"number": as_number, "date": as_days}


class ColumnEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A table of numbers, dates and categories as an array of numbers, NaN where a value is missing.

    ``fit`` decides what each column is by the values that are present. Numbers, if all of them can be read as such;
    otherwise dates, if all are ISO dates: they become days since 1970; otherwise categories, which become their places
    in alphabetical order. Truth values are categories. A column without any value stays missing for good.

    What ``transform`` meets that does not fit becomes a missing value: text in a column of numbers or dates, a category
    that ``fit`` has not seen.

    Parameters
    ----------
    max_categories : int, default=250
        Categories per column. If there are more, the rarest ones get one number in common.

    Attributes
    ----------
    kinds_ : list of {"number", "date", "category", "empty"}
        What each column is.

    Examples
    --------
    >>> import pandas as pd
    >>> from certivote.voters import ColumnEncoder
    >>> table = pd.DataFrame({"age": ["31", "NA"], "since": ["2024-01-01", "2024-01-03"], "state": ["well", "ill"]})
    >>> encoder = ColumnEncoder().fit(table)
    >>> encoder.kinds_
    ['number', 'date', 'category']
    >>> encoder.transform(table).tolist()
    [[31.0, 19723.0, 1.0], [nan, 19725.0, 0.0]]
    """

    def __init__(self, max_categories: int = 250):
        self.max_categories = max_categories

    def fit(self, X: Any, y: Any = None) -> "ColumnEncoder":
        """Decide what each column is.

        Parameters
        ----------
        X : data frame, or array
        y : ignored

        Returns
        -------
        self
        """
        validate_data(self, X, reset=True, skip_check_array=True)
        self.kinds_, self.encoders_ = [], []
        for column in _columns(X):
            kind = _kind(column)
            self.kinds_.append(kind)
            self.encoders_.append(self._encoder(column) if kind == "category" else None)
        return self

    def transform(self, X: Any) -> Array:
        """The numbers, of shape (n_rows, n_columns)."""
        check_is_fitted(self)
        validate_data(self, X, reset=False, skip_check_array=True)
        out = np.empty((len(X), len(self.kinds_)))
        for place, column in enumerate(_columns(X)):
            out[:, place] = _numbers(column, self.kinds_[place], self.encoders_[place])
        return out

    def _encoder(self, column: Any) -> OrdinalEncoder:
        codes, texts = coded(column)
        present = np.array(texts, dtype=object)[codes[codes >= 0]]
        encoder = OrdinalEncoder(
            handle_unknown="use_encoded_value", unknown_value=np.nan, max_categories=self.max_categories
        )
        return encoder.fit(present[:, None])


def _columns(X: Any) -> Any:
    import pandas as pd

    frame = X if isinstance(X, pd.DataFrame) else pd.DataFrame(X)
    return (frame.iloc[:, place] for place in range(frame.shape[1]))


def _native(column: Any) -> tuple[str, Array] | None:
    """What a column is that the frame itself holds as numbers or moments, and its values; None for others."""
    import pandas as pd

    if pd.api.types.is_bool_dtype(column.dtype):
        return None
    if pd.api.types.is_numeric_dtype(column.dtype):
        return "number", column.to_numpy(dtype=float, na_value=np.nan)
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        moments = pd.to_datetime(column, utc=True)
        return "date", ((moments - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(days=1)).to_numpy(dtype=float)
    return None


def _kind(column: Any) -> str:
    native = _native(column)
    if native is not None:
        return "empty" if np.isnan(native[1]).all() else native[0]
    codes, texts = coded(column)
    seen = [texts[code] for code in np.unique(codes[codes >= 0])]
    if not seen:
        return "empty"
    for kind, read in _READ.items():
        if not any(np.isnan(read(text)) for text in seen):
            return kind
    return "category"


def _numbers(column: Any, kind: str, encoder: Any) -> Array | float:
    if kind == "empty":
        return np.nan
    native = None if kind == "category" else _native(column)
    if native is not None:
        return native[1] if native[0] == kind else np.nan
    if kind != "category":
        return read_texts(column, _READ[kind])
    codes, texts = coded(column)
    places = encoder.transform(np.array(texts, dtype=object)[:, None])[:, 0] if texts else []
    # The code -1 finds the last place.
    return np.append(places, np.nan)[codes]
