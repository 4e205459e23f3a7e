"""Columns of text: what counts as a missing value, as a number and as a date.

:class:`~certivote.voters.ColumnEncoder` reads columns by these rules, and so does all else that reads tables. What
a value counts as must not depend on the other values: columns may be read before the rows are split, and nothing about
the certification rows may reach the voters.
"""

import itertools
import math
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["MISSING", "as_days", "as_number", "coded", "is_missing", "read_texts"]

_WORDS = ("", "na", "nan", "null", "none", "?")
MISSING = frozenset("".join(form) for word in _WORDS for form in itertools.product(*({c, c.upper()} for c in word)))
"""The texts that stand for a missing value: these words in upper, lower or mixed case."""


def is_missing(text: str) -> bool:
    """Whether the text stands for a missing value.

    Examples
    --------
    >>> is_missing(" NaN "), is_missing("0")
    (True, False)
    """
    return text.strip() in MISSING


def as_number(text: str) -> float:
    """The number, as Python's ``float`` reads it; NaN if the text is not a number, or not a finite one.

    Examples
    --------
    >>> as_number(" 1e3"), as_number("red")
    (1000.0, nan)
    """
    try:
        value = float(text)
    except ValueError:
        return math.nan
    return value if math.isfinite(value) else math.nan


def as_days(text: str) -> float:
    """Days from 1970-01-01 to an ISO date, with or without a time (UTC, if no zone is given); NaN if it is none.

    Examples
    --------
    >>> as_days("1970-01-03T12:00"), as_days("yesterday")
    (2.5, nan)
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return math.nan
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() / 86_400.0


def coded(column: Any) -> tuple[NDArray[np.intp], list[str]]:
    """A pandas column as codes and the texts that they stand for; missing values have the code -1.

    Texts are stripped. Values that are not text become it as ``str`` does, whole numbers without a decimal point: a
    column of whole numbers turns into one of floats where a value is missing.

    Examples
    --------
    >>> import pandas as pd
    >>> codes, texts = coded(pd.Series(["a", " b", "NA", "b"]))
    >>> codes.tolist(), texts
    ([0, 1, -1, 1], ['a', 'b'])
    """
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):
        codes, values = column.cat.codes.to_numpy(), column.cat.categories.tolist()
    else:
        codes, values = pd.factorize(column)
        values = values.tolist()
    places: dict[str, int] = {}
    # One place more than there are values: the code -1 finds it, and stays -1.
    renamed = np.full(len(values) + 1, -1, dtype=np.intp)
    for code, value in enumerate(values):
        text = _text(value)
        if not is_missing(text):
            renamed[code] = places.setdefault(text, len(places))
    return renamed[codes], list(places)


def read_texts(column: Any, read: Callable[[str], float]) -> NDArray[np.float64]:
    """What a reader such as :func:`as_number` makes of each value of a pandas column; NaN where it is missing.

    Examples
    --------
    >>> import pandas as pd
    >>> read_texts(pd.Series(["1", "NA", "2.5", "red"]), as_number).tolist()
    [1.0, nan, 2.5, nan]
    """
    import pandas as pd

    if read is as_number and pd.api.types.is_string_dtype(column.dtype):
        texts = column.to_numpy(dtype=object, copy=True)
        texts[column.isin(MISSING).to_numpy() | column.isna().to_numpy()] = "nan"
        if all(type(text) is str for text in texts):
            try:
                values = texts.astype(float)
            except ValueError:
                pass  # some text is not a number: look at each
            else:
                return np.where(np.isfinite(values), values, np.nan)
    codes, different = coded(column)
    # The code -1 finds the last place.
    return np.array([*map(read, different), math.nan])[codes]


def _text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()
