"""Labels, groups and times as plain Python values, whatever holds them."""

from datetime import date
from typing import Any

import numpy as np
import pandas as pd

__all__ = ["missing_places", "names_of", "plain_values"]


def plain_values(given: Any, name: str) -> list[Any]:
    """The values of a list, an array or a column, one by one.

    Lists keep each value as it is: numpy would make text of numbers that stand beside text.

    Examples
    --------
    >>> plain_values([7, "7"], "groups"), plain_values(np.array([[1.0], [2.0]]), "y")
    ([7, '7'], [1.0, 2.0])
    """
    if isinstance(given, list | tuple) and all(np.ndim(value) == 0 for value in given):
        return [_plain(value) for value in given]
    held = given if hasattr(given, "dtype") or hasattr(given, "columns") else np.asarray(given)
    if len(held.shape) == 2 and held.shape[1] == 1:
        held = held.iloc[:, 0] if hasattr(held, "iloc") else held[:, 0]
    if len(held.shape) != 1:
        raise ValueError(f"{name} must have one value for each row; got an array of shape {tuple(held.shape)}.")
    return list(pd.Series(held).tolist())


def _plain(value: Any) -> Any:
    """A scalar of numpy as Python has it, and moments as pandas has them."""
    if isinstance(value, np.datetime64 | np.timedelta64):
        return pd.Timestamp(value) if isinstance(value, np.datetime64) else pd.Timedelta(value)
    return value.item() if isinstance(value, np.generic) else value


def missing_places(values: list[Any]) -> list[int]:
    """Where values are missing: None, NaN, NaT, NA."""
    return np.flatnonzero(pd.isna(pd.Series(values, dtype=object))).tolist()


def names_of(values: list[Any]) -> list[str]:
    """Values as text: 7, 7.0 and "7" are one name, and a moment is the same in whichever unit it is stored.

    Examples
    --------
    >>> names_of(plain_values([7, 7.0, "7", float("inf"), np.datetime64("2026-01-31")], "groups"))
    ['7', '7', '7', 'inf', '2026-01-31T00:00:00']
    """
    return [_name(value) for value in values]


def _name(value: Any) -> str:
    if isinstance(value, date):  # datetimes and timestamps are dates too
        return value.isoformat()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
