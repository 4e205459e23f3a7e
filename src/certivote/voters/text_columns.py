"""Columns of text: their different values, and what counts as a missing one.

:class:`~certivote.voters.ColumnEncoder` reads columns by these rules, and so does all else that reads tables. What
counts as missing everywhere must not depend on the other values: columns may be read before the rows are split, and
nothing about the certification rows may reach the voters. What counts as missing among numbers and dates only is a
matter of columns that the training rows show to be of such.
"""

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["MISSING", "as_number", "as_text", "coded", "distinct", "is_missing", "plain_numbers", "stands_for_missing"]

_WORDS = ("", "na", "nan", "null", "none", "?")
MISSING = frozenset("".join(form) for word in _WORDS for form in itertools.product(*({c, c.upper()} for c in word)))
"""The texts that stand for a missing value: these words in upper, lower or mixed case."""


_NO_CATEGORY = frozenset(
    (
        *("n/a", "n.a.", "n.a", "#n/a", "#n/a#n/a", "#na", "#nv", "<na>", "(null)", "k.a.", "k.a", "-nan", "\\n"),
        *("#null!", "#div/0!", "#value!", "#wert!", "#ref!", "#bezug!", "#num!", "#zahl!", "#name?"),
        *("1.#qnan", "-1.#qnan", "1.#ind", "-1.#ind", "notavailable", "keineangabe"),
    )
)
"""What stands for a missing value, in any case and without blanks: what pandas and skrub take for one, and spreadsheet
programs write, in English and German."""
_NO_NUMBER = frozenset(
    (
        *("nil", "nd", "n.d.", "missing", "fehlt", "fehlend", "unknown", "unk", "unbekannt", "notapplicable"),
        *("notdone", "notknown", "entfällt", "inconnu", "desconocido"),
    )
)
"""What does so in a column of numbers or dates, and may be a category in another."""
_LONGEST = 40
"""Characters of the longest word for a missing value."""
_EXACT = 1 << 53
"""Whole numbers below it are floats; larger ones may lie between two."""


def is_missing(text: str) -> bool:
    """Whether the text stands for a missing value.

    Examples
    --------
    >>> is_missing(" NaN "), is_missing("0")
    (True, False)
    """
    return text.strip() in MISSING


def as_number(text: str) -> float:
    """The number, as Python's ``float`` reads it; NaN if the text is no number, or no finite one.

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


def stands_for_missing(text: str, kind: str = "number") -> bool:
    """Whether the text says, in a column of numbers, dates or categories, that there is no value.

    Examples
    --------
    >>> [stands_for_missing(text) for text in ("k.A.", "#NV", "--", "unknown", "0")]
    [True, True, True, True, False]
    >>> [stands_for_missing(text, "category") for text in ("k.A.", "#NV", "--", "unknown", "0")]
    [True, True, False, False, False]
    """
    word = "".join(text.split()).casefold() if len(text) <= _LONGEST else text
    if kind == "category":
        return word in _NO_CATEGORY
    return word in _NO_CATEGORY or word in _NO_NUMBER or not word.strip("-–—.?*_/")


def distinct(column: Any) -> tuple[NDArray[np.intp], list[str | float]]:
    """A pandas column as codes and the different values that they stand for; missing values have the code -1.

    Numbers stay numbers, whole ones without a decimal point. All else is text, as ``str`` makes it, and stripped.

    Examples
    --------
    >>> import pandas as pd
    >>> codes, values = distinct(pd.Series(["1", " b", "NA", 1.5, 1.5]))
    >>> codes.tolist(), values
    ([0, 1, -1, 2, 2], ['1', 'b', 1.5])
    """
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):
        codes, values = column.cat.codes.to_numpy(), column.cat.categories.tolist()
    else:
        codes, values = pd.factorize(column)
        values = values.tolist()
    return _renumbered(codes, [_value(value) for value in values])


def plain_numbers(column: Any) -> NDArray[np.float64] | None:
    """A pandas column of text that ``float`` reads, as numbers, NaN where one is missing; None for any other.

    It is much faster than to look at each different value.

    Examples
    --------
    >>> import pandas as pd
    >>> plain_numbers(pd.Series(["1", "NA", "2.5"])).tolist(), plain_numbers(pd.Series(["1", "red"])) is None
    ([1.0, nan, 2.5], True)
    """
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype) or not pd.api.types.is_string_dtype(column.dtype):
        return None
    texts = column.to_numpy(dtype=object, copy=True)
    texts[column.isin(MISSING).to_numpy() | column.isna().to_numpy()] = "nan"
    if not all(type(text) is str for text in texts):
        return None
    try:
        values = texts.astype(float)
    except ValueError:
        return None
    return np.where(np.isfinite(values), values, np.nan)


def coded(column: Any) -> tuple[NDArray[np.intp], list[str]]:
    """As :func:`distinct`, numbers as text: a number and its text are one value.

    Whole numbers have no decimal point: a column of them turns into one of floats where a value is missing.

    Examples
    --------
    >>> import pandas as pd
    >>> codes, texts = coded(pd.Series(["a", " b", "NA", "b", 1.0]))
    >>> codes.tolist(), texts
    ([0, 1, -1, 1, 2], ['a', 'b', '1'])
    """
    codes, values = distinct(column)
    return _renumbered(codes, [as_text(value) for value in values])


def as_text(value: str | float) -> str:
    """A value as text, whole numbers without a decimal point.

    Examples
    --------
    >>> as_text(2.0), as_text(2.5), as_text("2.0")
    ('2', '2.5', '2.0')
    """
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _value(value: Any) -> str | float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _EXACT
    return float(value) if is_number else as_text(value).strip()


def _renumbered(codes: NDArray[np.integer], values: Sequence[Any]) -> tuple[NDArray[np.intp], list[Any]]:
    """Codes of the different values, in the order of their first places."""
    places: dict[Any, int] = {}
    # One place more than there are values: the code -1 finds it, and stays -1.
    renamed = np.full(len(values) + 1, -1, dtype=np.intp)
    for code, value in enumerate(values):
        if isinstance(value, float) or not is_missing(value):
            renamed[code] = places.setdefault(value, len(places))
    return renamed[codes], list(places)
