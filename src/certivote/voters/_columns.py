"""From the columns of a table to numbers: what each column is, decided by the training rows."""

import difflib
import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from certivote.frames import as_frame
from certivote.voters._column_kinds import ColumnError, DoubtfulValueError, is_free_text, kind_of
from certivote.voters.text_columns import as_number, as_text, distinct, plain_numbers, stands_for_missing
from certivote.voters.text_dates import ORDERS, as_days
from certivote.voters.text_numbers import NumberForm

Array = NDArray[np.float64]

_LEFT_OUT = ("empty", "text")
_KINDS = ("number", "date", "category", *_LEFT_OUT)


class ColumnEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A table of numbers, dates and categories as an array of numbers, NaN where a value is missing.

    ``fit`` decides what each column is by the values that are present:

    - numbers, if all of them can be read as such in one form: with decimal points or commas, thousands, a unit, per
      cent (which is a fraction then), or as limits such as ``<0.1``;
    - otherwise dates, if all are ISO dates, or all have the day first, or all the month: days since 1970;
    - otherwise free text, if most values are different sentences: left out. To use it, put skrub's ``TextEncoder`` or a
      pipeline of your own in the place of this encoder;
    - otherwise categories, which become their places in alphabetical order. Truth values are categories.

    Among numbers and dates, words such as ``n/a``, ``k.A.``, ``#NV``, ``-`` or ``unknown`` are missing values. If
    another word stands among values that are mostly numbers or dates, a :class:`ColumnError` says where; name it in
    ``na``, or the column in ``category``. A column without any value stays missing for good.

    What ``transform`` meets that does not fit becomes a missing value: text in a column of numbers or dates, a category
    that ``fit`` has not seen. :meth:`unread` tells how much of that there is.

    Parameters
    ----------
    max_categories : int, default=250
        Categories per column. If there are more, the rarest ones get one number in common.
    fill : bool, default=False
        Whether missing values become the median of their column, for voters that need a value.
    na : sequence of str, default=()
        More texts that stand for missing values, in all columns.
    category : sequence of str, default=()
        Names of columns that hold categories, whatever they look like; numbers, if columns have none.
    decimal : {".", ","}, optional
        The decimal mark of numbers in text. By default each column must show its own.
    strict : bool, default=False
        Whether a classifier refuses to answer where it cannot read a value.
    max_unread : float, default=0.2
        The share of the columns of a row, beyond one, up to which values that cannot be read count as missing when a
        classifier answers. Beyond it, it refuses: this may be another table.

    Attributes
    ----------
    kinds_ : list of {"number", "date", "category", "text", "empty"}
        What each column is.
    forms_ : list of tuple of str
        How it is written: of numbers the decimal mark, the mark between thousands and the unit; of dates the order of
        day, month and year.
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
    >>> table = pd.DataFrame({"age": ["31", "n/a"], "since": ["31.1.2024", "1.2.2024"], "state": ["well", "ill"]})
    >>> encoder = ColumnEncoder().fit(table)
    >>> encoder.kinds_
    ['number', 'date', 'category']
    >>> encoder.transform(table).tolist()
    [[31.0, 19753.0, 1.0], [nan, 19754.0, 0.0]]
    """

    def __init__(
        self,
        max_categories: int = 250,
        fill: bool = False,
        *,
        na: Sequence[str] = (),
        category: Sequence[Any] = (),
        decimal: str | None = None,
        strict: bool = False,
        max_unread: float = 0.2,
    ):
        self.max_categories = max_categories
        self.fill = fill
        self.na = na
        self.category = category
        self.decimal = decimal
        self.strict = strict
        self.max_unread = max_unread

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
        if self.decimal not in (None, ".", ","):
            raise ValueError(f"decimal must be '.' or ','; got {self.decimal!r}.")
        names = self._names()
        if unknown := [name for name in self.category if name not in names]:
            raise ValueError(f"category names {unknown[0]!r}, and there is no such column.")
        self.kinds_: list[str] = []
        self.forms_: list[tuple[str, ...]] = []
        self.categories_: list[NDArray[Any] | None] = []
        self.places_: list[Array | None] = []
        for name, column in zip(names, _columns(X), strict=True):
            kind, form = self._kind(name, column)
            categories, places = self._numbered(column) if kind == "category" else (None, None)
            self.kinds_.append(kind)
            self.forms_.append(form)
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
        return [entry for entry, _ in self._unread(X)]

    def check_read(self, X: Any) -> "list[Unread]":
        """As :meth:`unread`, but refuse what ``strict`` and ``max_unread`` do not allow.

        Examples
        --------
        >>> import pandas as pd
        >>> from certivote.voters import ColumnEncoder
        >>> encoder = ColumnEncoder().fit(pd.DataFrame({"age": [31, 40], "state": ["well", "ill"]}))
        >>> encoder.check_read(pd.DataFrame({"age": ["m"], "state": ["31"]}))
        Traceback (most recent call last):
        ...
        ValueError: 2 of 2 columns of row 0 hold values that cannot be read, such as 'm' in the column 'age'; more \
than max_unread=0.2 allows. Is this a table of another kind?
        """
        found = self._unread(X)
        if found and self.strict:
            raise ValueError(f"strict=True: {found[0][0]}.")
        for entry, lost in found:
            place = [*map(str, self._names())].index(entry.column)
            if (
                entry.kind == "number"
                and 2 * np.count_nonzero(lost) > len(X)
                and self._other_mark(place, entry.example)
            ):
                raise ValueError(
                    f"column {entry.column!r} writes numbers with other marks than the training rows, such as "
                    f"{entry.example!r:.80}; give --decimal , or --decimal . (in Python, numbers)."
                )
        counts = np.zeros(max(len(X), 1), dtype=np.intp)
        for _, lost in found:
            counts += lost
        row = int(np.argmax(counts))
        if counts[row] > max(1, self.max_unread * len(self.kinds_)):
            first = next(entry.column for entry, lost in found if lost[row])
            place = [*map(str, self._names())].index(first)
            value = next(itertools.islice(_columns(X), place, None)).iloc[row]
            raise ValueError(
                f"{counts[row]} of {len(self.kinds_)} columns of row {row} hold values that cannot be read, such as "
                f"{str(value)!r:.80} in the column {first!r}; more than max_unread={self.max_unread:g} allows. Is "
                "this a table of another kind?"
            )
        return [entry for entry, _ in found]

    def readings(self, X: Any) -> "list[Reading]":
        """How each column of a table is read, with what is missing in it and what cannot be read.

        Examples
        --------
        >>> import pandas as pd
        >>> from certivote.voters import ColumnEncoder
        >>> table = pd.DataFrame({"dose": ["1,5 mg", "n/a", "2,0 mg"], "state": ["well", "ill", "ill"]})
        >>> for reading in ColumnEncoder().fit(table).readings(table):
        ...     print(reading.column, "|", reading.kind, "|", reading.missing, reading.words)
        dose | number, decimal comma, in mg | 1 ('n/a',)
        state | category of 2 | 0 ()
        """
        unread = {entry.column: entry for entry in self.unread(X)}
        found = []
        for place, (name, column) in enumerate(zip(self._names(), _columns(X), strict=True)):
            words: Counter[str] = Counter()
            native = self._native(column)
            n_missing = 0 if native is None else int(np.count_nonzero(np.isnan(native[1])))
            if native is None:
                codes, values = self._distinct(column)
                n_missing = int(np.count_nonzero(codes < 0))
                counts = np.bincount(codes[codes >= 0], minlength=len(values))
                told = zip(values, counts.tolist(), strict=True)
                words.update({as_text(value): n for value, n in told if n and _is_word(value, self.kinds_[place])})
            missing = n_missing + words.total()
            found.append(Reading(str(name), self._told(place), missing, tuple(words), unread.get(str(name))))
        return found

    def check(self) -> None:
        """Raise a ValueError unless what was fitted fits together: an encoder from a file is asked before its use."""
        lists = (self.kinds_, self.forms_, self.categories_, self.places_, self.medians_)
        names = getattr(self, "feature_names_in_", self.kinds_)
        if {len(entry) for entry in (*lists, names)} != {self.n_features_in_} or self.medians_.dtype != np.float64:
            raise ValueError("an encoder of columns has lists of several lengths")
        if type(self.fill) is not bool or not np.all(np.abs(self.medians_) <= np.finfo(np.float32).max):
            raise ValueError("an encoder of columns does not say what missing values become")
        if type(self.strict) is not bool or not isinstance(self.max_unread, int | float):
            raise ValueError("an encoder of columns does not say what it refuses")
        if not all(isinstance(word, str) for word in (*self.na, *self.category)):
            raise ValueError("an encoder of columns has words that are none")
        for kind, form, texts, places in zip(self.kinds_, self.forms_, self.categories_, self.places_, strict=True):
            if kind not in _KINDS or (kind == "category") != (texts is not None):
                raise ValueError("an encoder of columns has a column of an unknown kind")
            if len(form) != {"number": 3, "date": 1}.get(kind, 0) or (kind == "date" and form[0] not in ORDERS):
                raise ValueError("an encoder of columns has a column of an unknown form")
            if kind == "number":
                NumberForm(*form).check()
            shapes = (None if texts is None else texts.shape, None if places is None else places.shape)
            if shapes[0] != shapes[1] or (places is not None and places.dtype != np.float64):
                raise ValueError("an encoder of columns has other categories than numbers")
            if places is not None and not np.all((places >= 0.0) & (places <= len(places))):
                raise ValueError("an encoder of columns has categories without a number")

    def _names(self) -> list[Any]:
        names = getattr(self, "feature_names_in_", None)
        return [*range(self.n_features_in_)] if names is None else names.tolist()

    def _distinct(self, column: Any) -> tuple[NDArray[np.intp], list[str | float]]:
        """Codes and different values, without those that stand for missing ones in all columns."""
        codes, values = distinct(column)
        if not self.na:
            return codes, values
        words = {word.strip() for word in self.na}
        missing = np.array([*(as_text(value) in words for value in values), True])
        return np.where(missing[codes], -1, codes), values

    def _native(self, column: Any) -> tuple[str, Array] | None:
        """As the frame holds it, without numbers that stand for missing values in all columns."""
        native = _native(column)
        if native is None or native[0] != "number" or not self.na:
            return native
        return "number", np.where(np.isin(native[1], [as_number(word) for word in self.na]), np.nan, native[1])

    def _kind(self, name: Any, column: Any) -> tuple[str, tuple[str, ...]]:
        """What a column is, and how it is written."""
        native = None if name in self.category else self._native(column)
        if native is not None:
            forms = {"number": (self.decimal or ".", "", ""), "date": ("the year first",)}
            return ("empty", ()) if np.isnan(native[1]).all() else (native[0], forms[native[0]])
        codes, values = self._distinct(column)
        present, first = np.unique(codes, return_index=True)
        seen = {values[code]: place for code, place in zip(present.tolist(), first.tolist(), strict=True) if code >= 0}
        if not seen:
            return "empty", ()
        if name in self.category:
            return "category", ()
        try:
            kind, form = kind_of(list(seen), self.decimal)
        except DoubtfulValueError as doubt:
            value, why = doubt.args
            raise ColumnError(str(name), value, column.index[seen[value]], why) from None
        if kind == "category" and is_free_text([as_text(value) for value in seen], int(np.count_nonzero(codes >= 0))):
            return "text", ()
        return kind, form

    def _numbers(self, X: Any) -> Array:
        out = np.empty((len(X), len(self.kinds_)))
        for place, column in enumerate(_columns(X)):
            out[:, place] = self._column(place, column)
        return out

    def _column(self, place: int, column: Any) -> Array | float:
        """The numbers of a column, or the one of all its rows."""
        kind = self.kinds_[place]
        if kind in _LEFT_OUT:
            return np.nan
        native = None if kind == "category" else self._native(column)
        if native is not None:
            return native[1] if native[0] == kind else np.nan
        if kind == "number" and self.forms_[place][0] == "." and not self.na:
            plain = plain_numbers(column)
            if plain is not None:
                return plain
        codes, values = self._distinct(column)
        read = self._reader(place)
        # The code -1 finds the last place.
        return np.array([*map(read, values), np.nan])[codes]

    def _reader(self, place: int) -> Callable[[str | float], float]:
        """What a value of a column becomes."""
        kind, form = self.kinds_[place], self.forms_[place]
        if kind == "category":
            texts, places = self._categories(place)
            known = dict(zip(texts.tolist(), places.tolist(), strict=True))
            return lambda value: known.get(as_text(value), np.nan)
        read = partial(as_days, order=form[0]) if kind == "date" else NumberForm(*form).read
        as_it_is = kind == "number"
        return lambda value: read(as_text(value)) if isinstance(value, str) else value if as_it_is else np.nan

    def _unread(self, X: Any) -> "list[tuple[Unread, NDArray[np.bool_]]]":
        check_is_fitted(self)
        found = []
        for place, (name, column) in enumerate(zip(self._names(), _columns(X), strict=True)):
            kind, native = self.kinds_[place], self._native(column)
            if kind in _LEFT_OUT or (native and native[0] == kind):
                continue
            missing = np.broadcast_to(np.isnan(self._column(place, column)), len(column))
            if not missing.any():
                continue
            codes, values = self._distinct(column)
            is_word = np.array([*(_is_word(value, kind) for value in values), True])
            lost = missing & ~is_word[codes]
            if lost.any():
                example = as_text(values[codes[np.argmax(lost)]])
                found.append((Unread(str(name), kind, int(np.count_nonzero(lost)), example), lost))
        return found

    def _numbered(self, column: Any) -> tuple[NDArray[Any], Array]:
        """All categories in alphabetical order, and their numbers."""
        codes, values = self._distinct(column)
        texts = np.array([*map(as_text, values), None], dtype=object)
        is_one = np.array([*(not _is_word(value, "category") for value in values), False])
        categories, counts = np.unique(texts[codes[is_one[codes]]], return_counts=True)
        rare = np.zeros(len(categories), dtype=bool)
        if len(categories) > self.max_categories:
            rare[np.argsort(counts, kind="stable")[: len(categories) - self.max_categories + 1]] = True
        places = np.cumsum(~rare) - 1.0
        places[rare] = np.count_nonzero(~rare)
        return categories, places

    def _categories(self, place: int) -> tuple[NDArray[Any], Array]:
        texts, places = self.categories_[place], self.places_[place]
        assert texts is not None
        assert places is not None
        return texts, places

    def _other_mark(self, place: int, text: str) -> bool:
        decimal, _, unit = self.forms_[place]
        other = NumberForm(",", ".", unit) if decimal == "." else NumberForm(".", ",", unit)
        return not np.isnan(other.read(text))

    def _told(self, place: int) -> str:
        """What a column is, in words."""
        kind, form = self.kinds_[place], self.forms_[place]
        if kind == "number":
            decimal, thousands, unit = form
            parts = ["decimal comma" * (decimal == ","), "with thousands" * bool(thousands), f"in {unit}" * bool(unit)]
            return ", ".join(["number", *filter(None, parts)])
        if kind == "date":
            return "date" if form[0] == "the year first" else f"date, {form[0]}"
        if kind == "category":
            texts, places = self._categories(place)
            n_texts, n_numbers = len(texts), len(np.unique(places))
            return f"category of {n_texts:,}" + (
                f", {n_texts - n_numbers + 1:,} rare ones as one" * (n_texts > n_numbers)
            )
        return "left out: free text" if kind == "text" else "left out: no values"


_WRONG = {
    "number": ("is not a number", "are not numbers"),
    "date": ("is not a date as in training", "are not dates as in training"),
    "category": ("was not seen in training", "were not seen in training"),
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


@dataclass(frozen=True)
class Reading:
    """How a column is read: what it is, how many values are missing, which words say so, and what cannot be read."""

    column: str
    kind: str
    missing: int
    words: tuple[str, ...]
    unread: Unread | None


class UnreadWarning(UserWarning):
    """Values that a classifier cannot read count as missing."""


def arranged(X: Any, names: Sequence[str]) -> Any:
    """Columns of a data frame by their names, in this order; the first that is missing is named.

    Examples
    --------
    >>> import pandas as pd
    >>> from certivote.voters import arranged
    >>> arranged(pd.DataFrame({"state": ["ill"], "note": ["-"], "age": [50]}), ["age", "state"]).columns.tolist()
    ['age', 'state']
    """
    have = [str(name) for name in X.columns]
    if have == list(names):
        return X
    absent = [name for name in names if name not in have]
    if absent:
        near = difflib.get_close_matches(absent[0], have, n=1, cutoff=0.5)
        meant = f" (did you mean {near[0]!r}?)" if near else ""
        more = f", and {len(absent) - 1} more are missing" if len(absent) > 1 else ""
        raise ValueError(f"X has no column {absent[0]!r}{meant}{more}; the model was fitted to it.")
    return X.iloc[:, [have.index(name) for name in names]]


def _is_word(value: str | float, kind: str) -> bool:
    return isinstance(value, str) and stands_for_missing(value, kind)


def _columns(X: Any) -> Any:
    import pandas as pd

    X = as_frame(X)
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
    if pd.api.types.is_timedelta64_dtype(column.dtype):
        return "number", (column / pd.Timedelta(days=1)).to_numpy(dtype=float)
    return None
