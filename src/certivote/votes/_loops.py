"""Loops over bytes, compiled by numba where it is installed (the extra ``fast``).

They take sums in the same order as the numpy code that does without them: along the columns of a row, and row by row.
Nothing is compiled, and numba is not imported, before a table of many votes is used.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Loops", "compiled_loops"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Loops:
    """The loops that are worth compiling.

    Attributes
    ----------
    look_up : (cells, tables) -> array of shape (n_rows,)
    histograms : (cells, gradient, width) -> array of shape (n_columns, width)
    class_masses : (codes, weights, n_classes) -> array of shape (n_rows, n_classes)
    class_gradient : (codes, gradient) -> array of shape (n_voters,)
    """

    look_up: Callable[[Any, Array], Array]
    histograms: Callable[[Any, Array, int], Array]
    class_masses: Callable[[Any, Array, int], Array]
    class_gradient: Callable[[Any, Array], Array]


@functools.cache
def compiled_loops() -> Loops | None:
    """The loops as compiled functions that let other threads run; None without numba."""
    try:
        import numba
    except ImportError:
        return None

    def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
        try:
            return numba.njit(function, nogil=True, cache=True)
        except RuntimeError:  # there is no folder to keep machine code in
            return numba.njit(function, nogil=True)

    return Loops(compiled(_look_up), compiled(_histograms), compiled(_class_masses), compiled(_class_gradient))


def _look_up(cells: Any, tables: Any) -> Any:
    n_rows, n_columns = cells.shape
    total = np.zeros(n_rows)
    for i in range(n_rows):
        for g in range(n_columns):
            total[i] += tables[g, cells[i, g]]
    return total


def _histograms(cells: Any, gradient: Any, width: int) -> Any:
    n_rows, n_columns = cells.shape
    sums = np.zeros((n_columns, width))
    for i in range(n_rows):
        for g in range(n_columns):
            sums[g, cells[i, g]] += gradient[i]
    return sums


def _class_masses(codes: Any, weights: Any, n_classes: int) -> Any:
    n_rows, n_voters = codes.shape
    masses = np.zeros((n_rows, n_classes))
    # Four rows at a time: an addition need not wait for the one before it, which is often to the same class.
    whole = n_rows - n_rows % 4
    for i in range(0, whole, 4):
        for j in range(n_voters):
            weight = weights[j]
            masses[i, codes[i, j]] += weight
            masses[i + 1, codes[i + 1, j]] += weight
            masses[i + 2, codes[i + 2, j]] += weight
            masses[i + 3, codes[i + 3, j]] += weight
    for i in range(whole, n_rows):
        for j in range(n_voters):
            masses[i, codes[i, j]] += weights[j]
    return masses


def _class_gradient(codes: Any, gradient: Any) -> Any:
    n_rows, n_voters = codes.shape
    total = np.zeros(n_voters)
    for i in range(n_rows):
        for j in range(n_voters):
            total[j] += gradient[i, codes[i, j]]
    return total
