"""From the columns of a table to numbers: what each column is, decided by the training rows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from certivote.voters.text_columns import as_days, as_number, coded, read_texts

Array = NDArray[np.float64]

_READ: dict[str, Callable[[str], float]] = {"number": as_number, "date": as_days}


class ColumnEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A table of numbers, dates and categories as an array of numbers, NaN where a value is missing.

    ``fit`` decides what each column is by the values that are present. Numbers, if all of them can be read as such;
    otherwise dates, if all are ISO dates: they become days since 1970; otherwise categories, which become their places
    in alphabetical order. Truth values are categories. A column without any value stays missing for good.

    What ``transform`` meets that does not fit becomes a missing value: text in a column of numbers or dates, a category
    that ``fit`` has not seen. :meth:`unread` tells how much of that there is.

    Parameters
    ----------
    max_categories : int, default=250
        Categories per column. If there are more, the rarest ones get one number in common.
    fill : bool, default=False
        Whether missing values become the median of their column, for voters that need a value.

    Attributes
    ----------
    kinds_ : list of {"number", "date", "category", "empty"}
        What each column is.
    categories_ : list of (array of str, or None)
        Of each column of categories, all of them in alphabetical order.
    places_ : list of (array of float, or None)
        Their numbers.
    medians_ : array of float
        What missing values become with ``fill``.

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

    def __init__(self, max_categories: int = 250, fill: bool = False):
        self.max_categories = max_categories
        self.fill = fill

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
        self.kinds_, self.categories_, self.places_ = [], [], []
        for column in _columns(X):
            kind = _kind(column)
            categories, places = self._numbered(column) if kind == "category" else (None, None)
            self.kinds_.append(kind)
            self.categories_.append(categories)
            self.places_.append(places)
        self.medians_ = np.zeros(len(self.kinds_))
        if self.fill:
            values = self._numbers(X)
            present = ~np.isnan(values).all(axis=0)
            self.medians_[present] = np.nanmedian(values[:, present], axis=0)
        return self

    def transform(self, X: Any) -> Array:
        """The numbers, of shape (n_rows, n_columns)."""
        check_is_fitted(self)
        validate_data(self, X, reset=False, skip_check_array=True)
        values = self._numbers(X)
        return np.where(np.isnan(values), self.medians_, values) if self.fill else values

    def unread(self, X: Any) -> "list[Unread]":
        """The columns that hold values which become missing because they do not fit.

        Examples
        --------
        >>> import pandas as pd
        >>> from certivote.voters import ColumnEncoder
        >>> encoder = ColumnEncoder().fit(pd.DataFrame({"age": ["31", "40"], "state": ["well", "ill"]}))
        >>> found = encoder.unread(pd.DataFrame({"age": ["31 y", "NA"], "state": ["ill", "Ill"]}))
        >>> [(entry.column, entry.kind, entry.count, entry.example) for entry in found]
        [('age', 'number', 1, '31 y'), ('state', 'category', 1, 'Ill')]
        """
        check_is_fitted(self)
        found = []
        names = getattr(self, "feature_names_in_", range(len(self.kinds_)))
        for place, (name, column) in enumerate(zip(names, _columns(X), strict=True)):
            native, missing = _native(column), np.isnan(self._column(place, column))
            if self.kinds_[place] == "empty" or not missing.any() or (native and native[0] == self.kinds_[place]):
                continue
            codes, texts = coded(column)
            lost = (codes >= 0) & missing
            if lost.any():
                example = texts[codes[np.argmax(lost)]]
                found.append(Unread(str(name), self.kinds_[place], int(np.count_nonzero(lost)), example))
        return found

    def check(self) -> None:
        """Raise a ValueError unless what was fitted fits together: an encoder from a file is asked before its use."""
        lists = (self.kinds_, self.categories_, self.places_, self.medians_)
        names = getattr(self, "feature_names_in_", self.kinds_)
        if {len(entry) for entry in (*lists, names)} != {self.n_features_in_} or self.medians_.dtype != np.float64:
            raise ValueError("an encoder of columns has lists of several lengths")
        if type(self.fill) is not bool or not np.all(np.abs(self.medians_) <= np.finfo(np.float32).max):
            raise ValueError("an encoder of columns does not say what missing values become")
        for kind, texts, places in zip(self.kinds_, self.categories_, self.places_, strict=True):
            if kind not in (*_READ, "category", "empty") or (kind == "category") != (texts is not None):
                raise ValueError("an encoder of columns has a column of an unknown kind")
            shapes = (None if texts is None else texts.shape, None if places is None else places.shape)
            if shapes[0] != shapes[1] or (places is not None and places.dtype != np.float64):
                raise ValueError("an encoder of columns has other categories than numbers")
            if places is not None and not np.all((places >= 0.0) & (places <= len(places))):
                raise ValueError("an encoder of columns has categories without a number")

    def _numbers(self, X: Any) -> Array:
        out = np.empty((len(X), len(self.kinds_)))
        for place, column in enumerate(_columns(X)):
            out[:, place] = self._column(place, column)
        return out

    def _column(self, place: int, column: Any) -> Array:
        return np.broadcast_to(
            _numbers(column, self.kinds_[place], self.categories_[place], self.places_[place]), len(column)
        )

    def _numbered(self, column: Any) -> tuple[NDArray[Any], Array]:
        """All categories in alphabetical order, and their numbers."""
        codes, texts = coded(column)
        categories, counts = np.unique(np.array(texts, dtype=object)[codes[codes >= 0]], return_counts=True)
        rare = np.zeros(len(categories), dtype=bool)
        if len(categories) > self.max_categories:
            rare[np.argsort(counts, kind="stable")[: len(categories) - self.max_categories + 1]] = True
        places = np.cumsum(~rare) - 1.0
        places[rare] = np.count_nonzero(~rare)
        return categories, places


_WRONG = {
    "number": ("is no number", "are no numbers"),
    "date": ("is no ISO date", "are no ISO dates"),
    "category": ("is no category that was seen in training", "are no categories that were seen in training"),
}


@dataclass(frozen=True)
class Unread:
    """Values of a column that do not fit: the column's name, what it is, how many there are, and one of them."""

    column: str
    kind: str
    count: int
    example: str

    def __str__(self) -> str:
        one, several = _WRONG[self.kind]
        if self.count == 1:
            return f"column {self.column!r}: 1 value {one}: {self.example!r:.80}"
        return f"column {self.column!r}: {self.count:,} values {several}, such as {self.example!r:.80}"


class UnreadWarning(UserWarning):
    """Values that a classifier cannot read count as missing."""


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


def _numbers(column: Any, kind: str, categories: NDArray[Any] | None, places: Array | None) -> Array | float:
    if kind == "empty":
        return np.nan
    native = None if kind == "category" else _native(column)
    if native is not None:
        return native[1] if native[0] == kind else np.nan
    if kind != "category":
        return read_texts(column, _READ[kind])
    assert categories is not None
    assert places is not None
    known = dict(zip(categories.tolist(), places.tolist(), strict=True))
    codes, texts = coded(column)
    # The code -1 finds the last place.
    return np.array([*(known.get(text, np.nan) for text in texts), np.nan])[codes]
