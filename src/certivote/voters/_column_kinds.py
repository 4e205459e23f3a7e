"""What a column of a table is, decided by its different values: numbers, dates, categories or free text."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from certivote.voters.text_columns import as_number, stands_for_missing
from certivote.voters.text_dates import as_days, date_order, looks_like_date
from certivote.voters.text_numbers import NumberForm, has_units, is_limit, looks_like_number, number_form

_FEW = 10
"""Numbers or dates up to which a column may hold codes, if something else stands beside them."""
_WORDS, _LONG, _DIFFERENT = 5, 200, 20
"""Free text has so many words or characters in the mean, and so many different values at least."""


class ColumnError(ValueError):
    """A column of which it is not certain what it holds; the message says where, and what to say about it.

    Attributes
    ----------
    column, value : str
    """

    def __init__(self, column: str, value: str, row: Any, why: str) -> None:
        self.column, self.value, self._why = column, value, why
        super().__init__(self.told(f"row {row}"))

    def told(self, where: str) -> str:
        """The message, with the place as somebody would look for it."""
        if self._why.startswith("where"):
            advice = (
                f"if this stands for a missing value, give --na {self.value!r:.80} (in Python, ColumnEncoder(na=[...]))"
                f"; if the column holds categories, --category {self.column} (category=[...])."
            )
        else:
            advice = (
                f"give --decimal , or --decimal . (in Python, ColumnEncoder(decimal=...)); if the column holds "
                f"categories, --category {self.column} (category=[...])."
            )
        return f"{where}: column {self.column!r} holds {self.value!r:.80}, {self._why}; {advice}"


class DoubtfulValueError(ValueError):
    """A value of a column, and why it is not certain how it is read."""


def kind_of(values: Sequence[str | float], decimal: str | None) -> tuple[str, tuple[str, ...]]:
    """What a column with these different values is, and how they are written.

    Raises
    ------
    DoubtfulValueError
        With the value that does not fit where most others are numbers or dates, and the reason.
    """
    texts = [value for value in values if isinstance(value, str) and not stands_for_missing(value)]
    n_numbers = sum(isinstance(value, float) for value in values)
    if not texts and not n_numbers:
        return "category", ()
    if decimal != "," and all(as_number(text) == as_number(text) for text in texts):
        return "number", (".", "", "")
    form = _numbers(texts, n_numbers, decimal)
    if form is not None:
        return "number", (form.decimal, form.thousands, form.unit)
    order = None if n_numbers else _dates(texts)
    return ("category", ()) if order is None else ("date", (order,))


def _numbers(texts: Sequence[str], n_numbers: int, decimal: str | None) -> NumberForm | None:
    """The form of a column of numbers; None if it is another one."""
    like = [text for text in texts if looks_like_number(text)]
    if not has_units(like):
        like = [text for text in like if not text[-1:].isalpha()]
    every, most = len(like) == len(texts), _most(len(like) + n_numbers, len(texts) + n_numbers)
    form = number_form(like, decimal)
    if form is None:
        if every or most:
            wrong = next(text for text in like if "," in text)
            raise DoubtfulValueError(wrong, "in which the comma may be the decimal mark or separate thousands")
        return None
    read = [form.read(text) for text in texts]
    unread = [text for text, value in zip(texts, read, strict=True) if np.isnan(value)]
    if form.unit and len(texts) <= _FEW and len(set(read)) < len(texts):
        return None  # 3 and 3b are two codes
    if not unread:
        limits = sum(map(is_limit, texts))
        return form if limits < len(texts) - limits + n_numbers else None
    if most or (every and decimal is not None):
        raise DoubtfulValueError(unread[0], "where most values are numbers")
    return None


def _dates(texts: Sequence[str]) -> str | None:
    """The order of a column of dates; None if it is another one."""
    like = [text for text in texts if looks_like_date(text)]
    if not _most(len(like), len(texts)) and len(like) < len(texts):
        return None
    if len(like) < len(texts):
        wrong = next(text for text in texts if not looks_like_date(text))
        raise DoubtfulValueError(wrong, "where most values are dates")
    try:
        return date_order(texts)
    except ValueError as error:
        if len(texts) <= _FEW:
            return None
        wrong = next((text for text in texts if np.isnan(as_days(text))), texts[0])
        raise DoubtfulValueError(
            wrong, f"where most values are dates, but the column {str(error).rstrip('.')}"
        ) from None


def _most(n_like: int, n_all: int) -> bool:
    return n_like > _FEW and 2 * n_like > n_all


def is_free_text(texts: Sequence[str], n_rows: int) -> bool:
    """Whether different texts of a column are prose, of which categories would say nothing.

    Examples
    --------
    >>> notes = [f"the patient was seen for the {number}th time" for number in range(50)]
    >>> is_free_text(notes, 60), is_free_text(["well", "ill"], 60)
    (True, False)
    """
    if not texts or max(map(len, texts)) > 1 << 15:
        return bool(texts)
    if len(texts) < _DIFFERENT or 2 * len(texts) < n_rows:
        return False
    words = np.mean([len(text.split()) for text in texts])
    return bool(words >= _WORDS or np.mean([len(text) for text in texts]) >= _LONG)
