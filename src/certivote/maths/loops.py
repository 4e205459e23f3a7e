"""Loops over bytes and rows, compiled by numba where it is installed (the extra ``fast``).

They add in the same order as the numpy code that does without them, along the columns of a row and row by row, so that
sums differ only where that code says so. Nothing is compiled, and numba is not imported, before it is asked for, which
only tables of many votes do.
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from certivote._warn import warn

__all__ = ["Loops", "compiled_loops"]

Loop = Callable[..., None]


@dataclass(frozen=True)
class Loops:
    """The loops that are worth compiling. The last argument of each is an array that results are written to.

    Attributes
    ----------
    look_up : (cells, tables, total)
        To ``total[i]`` is added the sum over ``g`` of ``tables[g, cells[i, g]]``.
    histograms : (cells, gradient, sums)
        To ``sums[g, c]`` is added the sum of ``gradient`` over the rows whose cell ``g`` is ``c``.
    class_masses : (codes, weights, masses)
        To ``masses[i, c]`` is added the sum of the weights of the voters that give ``c`` on row ``i``.
    class_gradient : (codes, gradient, total)
        The transpose: to ``total[j]`` is added the sum over the rows of ``gradient[i, codes[i, j]]``.
    rivals : (masses, labels, rival)
        The class other than the label with the largest mass, the smallest of such classes.
    splines : (places, coefficients, scale, values)
        Cubic splines, as :class:`certivote.maths.beta_tail.BetaTailTable` evaluates them.
    plurality : (labels, shares, total, first, scale, coefficients, masses, values)
        Row by row, what :func:`certivote.theory.risks.dirichlet_risk` expects of a plurality vote: the risk and its
        slope in the total. The class masses become the gradient in them.
    """

    look_up: Loop
    histograms: Loop
    class_masses: Loop
    class_gradient: Loop
    rivals: Loop
    splines: Loop
    plurality: Loop


@functools.cache
def compiled_loops() -> Loops | None:
    """The loops as compiled functions that let other threads run; None without numba."""
    try:
        import numba
    except ImportError as error:
        if error.name != "numba":  # it is installed, and refuses for instance a numpy that is newer than itself
            told = f"numba cannot be used, and loops run without it, more slowly: {error!s:.200}"
            warn(told)
        return None

    def compiled(function: Loop) -> Loop:
        try:
            faster: Loop = numba.njit(nogil=True, cache=True)(function)
        except RuntimeError:  # there is no folder to keep machine code in
            faster = numba.njit(nogil=True)(function)
        return faster

    return Loops(
        compiled(_look_up),
        compiled(_histograms),
        compiled(_class_masses),
        compiled(_class_gradient),
        compiled(_rivals),
        compiled(_splines),
        compiled(_plurality),
    )


def _look_up(cells: Any, tables: Any, total: Any) -> None:
    n_rows, n_columns = cells.shape
    for i in range(n_rows):
        own = total[i]
        for g in range(n_columns):
            own += tables[g, cells[i, g]]
        total[i] = own


def _histograms(cells: Any, gradient: Any, sums: Any) -> None:
    n_rows, n_columns = cells.shape
    for i in range(n_rows):
        for g in range(n_columns):
            sums[g, cells[i, g]] += gradient[i]


def _class_masses(codes: Any, weights: Any, masses: Any) -> None:
    n_rows, n_voters = codes.shape
    # Eight rows at a time: an addition need not wait for the one before it, which is often to the same class.
    whole = n_rows - n_rows % 8
    for i in range(0, whole, 8):
        for j in range(n_voters):
            weight = weights[j]
            masses[i, codes[i, j]] += weight
            masses[i + 1, codes[i + 1, j]] += weight
            masses[i + 2, codes[i + 2, j]] += weight
            masses[i + 3, codes[i + 3, j]] += weight
            masses[i + 4, codes[i + 4, j]] += weight
            masses[i + 5, codes[i + 5, j]] += weight
            masses[i + 6, codes[i + 6, j]] += weight
            masses[i + 7, codes[i + 7, j]] += weight
    for i in range(whole, n_rows):
        for j in range(n_voters):
            masses[i, codes[i, j]] += weights[j]


def _class_gradient(codes: Any, gradient: Any, total: Any) -> None:
    n_rows, n_voters = codes.shape
    # Four rows at a time, so that each sum is fetched and put back a quarter as often.
    whole = n_rows - n_rows % 4
    for i in range(0, whole, 4):
        for j in range(n_voters):
            own = total[j] + gradient[i, codes[i, j]]
            own += gradient[i + 1, codes[i + 1, j]]
            own += gradient[i + 2, codes[i + 2, j]]
            total[j] = own + gradient[i + 3, codes[i + 3, j]]
    for i in range(whole, n_rows):
        for j in range(n_voters):
            total[j] += gradient[i, codes[i, j]]


def _rivals(masses: Any, labels: Any, rival: Any) -> None:
    n_rows, n_classes = masses.shape
    for i in range(n_rows):
        largest, found = -1.0, 0
        for c in range(n_classes):
            # Without a branch, which would often be mispredicted.
            better = (masses[i, c] > largest) & (c != labels[i])
            largest = masses[i, c] if better else largest
            found = c if better else found
        rival[i] = found


def _splines(places: Any, coefficients: Any, scale: float, values: Any) -> None:
    n_cells = coefficients.shape[1]
    for i in range(len(places)):
        place = min(max(places[i], 0.0), float(n_cells))
        cell = min(math.floor(place), n_cells - 1)
        x = place - cell
        c = coefficients[:, cell]
        values[0, i] = ((c[0] * x + c[1]) * x + c[2]) * x + c[3]
        values[1, i] = ((3.0 * c[0] * x + 2.0 * c[1]) * x + c[2]) / scale
        values[2, i] = ((c[4] * x + c[5]) * x + c[6]) * x + c[7]


def _plurality(
    labels: Any, shares: Any, total: float, first: float, scale: float, coefficients: Any, masses: Any, values: Any
) -> None:
    n_rows, n_classes = masses.shape
    n_cells = coefficients.shape[1]
    root = math.sqrt(total)
    for i in range(n_rows):
        label = labels[i]
        own, rival, found = masses[i, label], -1.0, 0
        masses[i, label] = -1.0
        for c in range(n_classes):
            mass = masses[i, c]
            found = c if mass > rival else found
            rival = mass if mass > rival else rival
        for c in range(n_classes):
            masses[i, c] = 0.0
        pair = own + rival
        rooted = math.sqrt(pair)
        z = (rival - own) / rooted if pair > 0.0 else 0.0
        place = min(max((0.5 * (total + root * z) - first) / scale, 0.0), float(n_cells))
        cell = min(math.floor(place), n_cells - 1)
        x = place - cell
        k = coefficients[:, cell]
        slope = ((3.0 * k[0] * x + 2.0 * k[1]) * x + k[2]) / scale
        values[0, i] = ((k[0] * x + k[1]) * x + k[2]) * x + k[3]
        values[1, i] = ((k[4] * x + k[5]) * x + k[6]) * x + k[7] + slope * (0.5 + 0.25 * z / root)
        steep = 0.25 * root * slope / (pair * rooted) * shares[i] if pair > 0.0 else 0.0
        masses[i, found] = steep * (rival + 3.0 * own)
        masses[i, label] = -steep * (own + 3.0 * rival)
