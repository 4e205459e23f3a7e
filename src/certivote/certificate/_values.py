"""Labels and values of columns as text, and which class a label means, however it is written."""

from collections.abc import Sequence
from datetime import date
from typing import Any

import numpy as np

__all__ = ["class_place", "missing_places", "names_of"]


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
