"""Labels, groups and times as plain Python values, whatever holds them."""

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from certivote.certificate import counted


def check_held(**given: Any) -> None:
    """Refuse what would be read as something else: masked values, and columns of which two have one name.

    Parameters
    ----------
    **given : object
        What was given, by the name of the argument.
    """
    for name, held in given.items():
        listed = isinstance(held, list | tuple)
        masks = [each.mask for each in (held if listed else [held]) if isinstance(each, np.ma.MaskedArray)]
        masked = sum(int(np.count_nonzero(mask)) for mask in masks)
        if masked:
            what = "holds masked arrays" if listed else "is a masked array"
            raise ValueError(
                f"{name} {what} with {counted(masked, 'masked value')}; give an array with NaN in their "
                f"place, {name}.astype(float).filled(numpy.nan), or leave these rows out."
            )
        names = list(held.columns) if isinstance(held, pd.DataFrame) else []
        twice = next((each for each, count in Counter(names).items() if count > 1), None)
        if twice is not None:
            raise ValueError(
                f"{name} has {names.count(twice)} columns of the name {twice!r}; give each column a name of its own."
            )


def as_floats(name: str, given: Any) -> NDArray[np.float64]:
    """What was given as an array of numbers, if it is that."""
    check_held(**{name: given})
    try:
        return np.asarray(given, dtype=float)
    except (OverflowError, TypeError, ValueError) as error:
        raise ValueError(f"{name} must hold numbers; got {given!r:.200}.") from error


def column_name(given: Any) -> str:
    """The name of a column or of a frame of one column; empty if it has none."""
    name = given.columns[0] if isinstance(given, pd.DataFrame) else getattr(given, "name", None)
    return "" if name is None else str(name)


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
