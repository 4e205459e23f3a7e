"""Rows are matched by position: pandas objects whose indexes say something else are refused."""

import sys
from typing import Any

import numpy as np


def check_aligned(**given: Any) -> None:
    """Refuse pandas objects that carry the same index labels in different orders.

    Objects without an index, and those with other labels altogether, are matched by position as they come. So are
    labels that occur several times, if they stand in the same places.

    Parameters
    ----------
    **given
        What belongs to the same rows, by the names of the arguments; a dictionary holds several.

    Examples
    --------
    >>> import pandas as pd
    >>> y = pd.Series(["ill", "well"], index=[7, 8])
    >>> check_aligned(X=pd.DataFrame({"age": [50, 60]}, index=[7, 8]), y=y, groups=["ann", "bob"])
    >>> check_aligned(y=y, groups=pd.Series(["bob", "ann"], index=[8, 7]))
    Traceback (most recent call last):
    ...
    ValueError: groups has the index labels of y in another order, and rows are matched by position: give \
groups.loc[y.index], or groups.to_numpy() if its rows are in the order of those of y.
    """
    pandas = sys.modules.get("pandas")
    if pandas is None:  # then nothing is of pandas
        return
    seen: list[tuple[str, Any]] = []
    for name, each in _each(given):
        index = getattr(each, "index", None)
        if not isinstance(index, pandas.Index):
            continue
        for other, own in seen:
            if _is_rearranged(pandas, own, index):
                raise ValueError(
                    f"{name} has the index labels of {other} in another order, and rows are matched by position: give "
                    f"{name}.loc[{other}.index], or {name}.to_numpy() if its rows are in the order of those of {other}."
                )
        if not any(own is index for _, own in seen):
            seen.append((name, index))


def _each(given: dict[str, Any]) -> list[tuple[str, Any]]:
    """All objects by what they are called, those in dictionaries and lists too."""
    found: list[tuple[str, Any]] = []
    for name, each in given.items():
        if isinstance(each, dict):
            found += [(f"{name}[{key!r}]", own) for key, own in each.items()]
        elif isinstance(each, list | tuple):
            found += [(f"{name}[{key}]", own) for key, own in enumerate(each) if hasattr(own, "iloc")]
        else:
            found.append((name, each))
    return found


def _is_rearranged(pandas: Any, one: Any, other: Any) -> bool:
    """Whether two indexes have the same labels, as often as each other, but not in the same places."""
    if len(one) != len(other) or one.equals(other):
        return False
    codes, labels = pandas.factorize(one.append(other), use_na_sentinel=False)
    first, second = codes[: len(one)], codes[len(one) :]
    counts = (np.bincount(own, minlength=len(labels)) for own in (first, second))
    return not np.array_equal(first, second) and np.array_equal(next(counts), next(counts))
