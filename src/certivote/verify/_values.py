"""Labels, groups and times as the auditor reads them: the same values, whatever holds them."""

from collections.abc import Callable, Sequence
from datetime import date, timedelta
from typing import Any

import numpy as np
import pandas as pd

from certivote.verify._simulation import Labels


def values_of(given: Any, what: str) -> list[Any]:
    """One value for each row, as Python has it; what stands in a list is not made one type.

    Raises
    ------
    ValueError
        If it is no single column, or some rows have no value.
    """
    if isinstance(given, list | tuple) and not any(map(np.ndim, given)):
        values = [_plain(value) for value in given]
    else:
        held = given if hasattr(given, "shape") else np.asarray(given)
        if len(held.shape) == 2 and held.shape[1] == 1:
            held = held.iloc[:, 0] if hasattr(held, "iloc") else held[:, 0]
        if len(held.shape) != 1:
            raise ValueError(f"{what}: one value for each row needed, got shape {tuple(held.shape)}")
        values = pd.Series(held).tolist()
    if pd.Series(values, dtype=object).isna().any():
        raise ValueError(f"{what}: some rows have no value")
    return values


def columns_of(table: Any, names: Sequence[str] = ()) -> Callable[[str], list[Any]] | None:
    """The columns of a table by their names, or by number where they have none; None if it is no table.

    What is returned raises a ValueError where there is no such column.
    """
    if len(np.shape(table)) != 2:
        return None
    known = list(names) or [str(name) for name in getattr(table, "columns", range(np.shape(table)[1]))]

    def values(name: str) -> list[Any]:
        if name not in known:
            raise ValueError(f"there is no column {name:.80}")
        place = known.index(name)
        if hasattr(table, "iloc"):
            return list(table.iloc[:, place].tolist())
        column = table.tocsc()[:, [place]].toarray() if hasattr(table, "tocsc") else table
        return list(pd.Series(column[:, 0 if column.shape[1] == 1 else place]).tolist())

    return values


def _plain(value: Any) -> Any:
    """A number or a moment of numpy as one of Python; a moment would become a count of its unit."""
    if isinstance(value, np.datetime64):
        return pd.Timestamp(value)
    if isinstance(value, np.timedelta64):
        return pd.Timedelta(value)
    return value.item() if isinstance(value, np.generic) else value


def entity_numbers(names: list[str]) -> Labels:
    """Entities by their names, numbered as they come."""
    return _places(names, list(dict.fromkeys(names)))


def name_of(value: Any) -> str:
    """A value as text: 7, 7.0 and "7" are one."""
    if isinstance(value, date):  # moments are dates too
        return value.isoformat()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def moment_numbers(values: list[Any]) -> Labels | None:
    """Moments numbered from the earliest on, equal ones alike; None if the values are no times.

    Dates with a time zone are compared in UTC, and those without are taken to be in it.
    """
    if all(isinstance(value, date) for value in values):
        values = [_in_utc(pd.Timestamp(value)) for value in values]
    elif not all(isinstance(value, int | float) for value in values) and not all(
        isinstance(value, timedelta) for value in values
    ):
        return None
    return _places(values, sorted(set(values)))


def _in_utc(moment: Any) -> Any:
    return moment.tz_localize("UTC") if moment.tzinfo is None else moment.tz_convert("UTC")


def _places(values: list[Any], ordered: list[Any]) -> Labels:
    places = {value: place for place, value in enumerate(ordered)}
    return np.array([places[value] for value in values], dtype=np.intp)
