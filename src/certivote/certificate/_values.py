"""Labels and values of columns as text, and which class a label means, however it is written."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-][0-9]{1,4})?")
"""An exponent has a sign, as programs write it: 12e5 is taken for a name, of digits and letters."""
_HALF = re.compile("[\ud800-\udfff]")


def missing_places(values: list[Any]) -> list[int]:
    """Where values are missing: None, NaN, NaT, NA.

    Examples
    --------
    >>> missing_places(["f", None, 1.5, float("nan")])
    [1, 3]
    """
    import pandas as pd

    return np.flatnonzero(pd.isna(pd.Series(values, dtype=object))).tolist()


def names_of(values: list[Any]) -> list[str]:
    """Values as text: 7, 7.0 and "7" are one name, and a moment is the same in whichever unit it is stored.

    Examples
    --------
    >>> import pandas as pd
    >>> names_of([7, 7.0, "7", float("inf"), pd.Timestamp("2026-01-31")])
    ['7', '7', '7', 'inf', '2026-01-31T00:00:00']
    """
    return [_name(value) for value in values]


def _name(value: Any) -> str:
    if isinstance(value, date):  # datetimes and timestamps are dates too
        return value.isoformat()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def one_spelling(text: str) -> str:
    """What all spellings of a value have in common: blanks around it make no difference, nor how a number is written.

    Examples
    --------
    >>> [one_spelling(text) for text in ("7", " 07", "7.0", "+7e+00", "1e+16", "0.70", "A07 ", "1e5")]
    ['7', '7', '7', '7', '1e+16', '7e-1', 'A07', '1e5']
    """
    text = text.strip()
    if not _NUMBER.fullmatch(text):
        return text
    sign, digits, power = Decimal(text).as_tuple()
    assert isinstance(power, int)
    kept = "".join(map(str, digits)).rstrip("0")
    power += len(digits) - len(kept)
    if not kept:
        return "0"
    return f"{'-' * sign}{kept}{f'e{power:+d}' * bool(power)}"


def unwritable_text(record: Any) -> str | None:
    r"""A text in a record that UTF-8 cannot write, since it has half of a surrogate pair by itself; None without such.

    Examples
    --------
    >>> unwritable_text(("ill", (1, 2), ("well", "\ud800"))) == "\ud800"
    True
    """
    if isinstance(record, str):
        return record if _HALF.search(record) else None
    inside: Iterable[Any] = ()
    if is_dataclass(record):
        inside = (getattr(record, field.name) for field in fields(record))
    elif (
        isinstance(record, tuple) and record and not isinstance(record[0], int | float)
    ):  # there are long ones of numbers
        inside = record
    return next((text for each in inside if (text := unwritable_text(each)) is not None), None)


def check_text(record: Any) -> None:
    """Refuse a record with a text that no file could hold."""
    text = unwritable_text(record)
    if text is not None:
        raise ValueError(
            f"No file could hold the text {text!r:.100} of a certificate: half of a surrogate pair is no character "
            "of its own. Rename the class, the column or the model that has it, or read it in its real encoding."
        )


def class_place(label: Any, classes: Sequence[str]) -> int | None:
    """The number of a class, which may be written in another way: 1, 1.0 or True. None if there is no such class.

    Examples
    --------
    >>> class_place("ill", ("ill", "well")), class_place(1, ("0.0", "1.0")), class_place(1, ("False", "True"))
    (0, 1, 1)
    """
    for place, name in enumerate(classes):
        if str(label) == name or (isinstance(label, int | float) and label == _number(name)):
            return place
    return None


def _number(text: str) -> float | None:
    """The number that a class is, if it is one."""
    try:
        return {"True": 1.0, "False": 0.0}[text] if text in ("True", "False") else float(text)
    except ValueError:
        return None
