r"""The probability that a Dirichlet vote errs, ``I_{1/2}(A - b, b)``, its derivatives, and a table of it over ``b``.

If the weights are Dirichlet with parameters of sum ``A`` and the voters that are wrong on an example hold ``b`` of it,
their weight is Beta(b, A - b) and reaches one half with probability ``I_{1/2}(A - b, b)``. With ``A`` fixed this is a
function of the one number ``b``: a few hundred nodes serve any number of examples.
"""

import math

import numpy as np
import scipy
from numpy.typing import NDArray

from certivote.maths.loops import Loops

__all__ = ["BetaTailTable", "half_tail", "half_tail_derivative"]

Array = NDArray[np.float64]

_STEP = 0.05
_GRID = np.arange(-3.4, 2.75, _STEP)
# Double-exponential (exp-sinh) quadrature on (0, oo), in units of the integrand's width: doubly dense at both ends.
_NODES = np.exp(0.5 * math.pi * np.sinh(_GRID))
_MEASURE = _STEP * 0.5 * math.pi * np.cosh(_GRID) * _NODES

_REACH = 9.0
"""Beyond this many standard deviations from one half, the tail is below 1e-18."""
_SPACING = 0.07
"""Distance of the table's nodes, in standard deviations."""


def half_tail(wrong: Array, total: float) -> Array:
    """``I_{1/2}(total - wrong, wrong)``: 0 where no voter is wrong, 1 where none is right.

    Examples
    --------
    >>> import numpy as np
    >>> half_tail(np.array([0.0, 1.0, 2.0]), 2.0).tolist()
    [0.0, 0.5, 1.0]
    """
    right = total - wrong
    inside = (wrong > 0) & (right > 0)
    value = scipy.special.betainc(np.where(inside, right, 1.0), np.where(inside, wrong, 1.0), 0.5)
    return np.where(inside, value, np.where(wrong > 0, 1.0, 0.0))


def half_tail_derivative(a: Array, b: Array) -> Array:
    r"""``d/da I_{1/2}(a, b)`` for positive ``a`` and ``b``, to about 1e-10 relative from 1e-3 to 1e5.

    With ``f`` the density of Beta(a, b) and ``c = psi(a) - psi(a+b)``, the derivative is
    :math:`\int_0^{1/2} (\ln t - c) f(t)\,dt = -\int_{1/2}^1 (\ln t - c) f(t)\,dt`. Where ``c >= -ln 2`` the first
    integrand has one sign, otherwise the second: nothing cancels. With ``t = exp(-v)/2`` and ``1 - t = exp(-v)/2``
    both become integrals over ``v > 0`` of a function that falls off at least as ``exp(-a v)`` or ``exp(-b v)``.
    """
    a, b = np.broadcast_arrays(np.asarray(a, dtype=float), np.asarray(b, dtype=float))
    shape = a.shape
    a, b = a.ravel()[:, None], b.ravel()[:, None]
    centre = scipy.special.psi(a) - scipy.special.psi(a + b)
    low = centre >= -math.log(2.0)
    near = np.where(low, a, b)  # the exponent of exp(-v)/2
    far = np.where(low, b, a)  # the exponent of 1 - exp(-v)/2
    # The integrand is about exp(-(near - far) v - (near + far) v^2): its width sets the scale of the nodes.
    width = 1.0 / (np.maximum(near - far, 0.0) + np.sqrt(near + far))
    v = width * _NODES
    half = 0.5 * np.exp(-v)
    log_density = near * (-math.log(2.0) - v) + (far - 1.0) * np.log1p(-half) - scipy.special.betaln(a, b)
    factor = np.where(low, -math.log(2.0) - v, np.log1p(-half)) - centre
    integral = np.sum(np.exp(log_density) * factor * (width * _MEASURE), axis=1)
    return np.where(low[:, 0], integral, -integral).reshape(shape)


class BetaTailTable:
    """``I_{1/2}(A - b, b)`` and its derivatives over ``b``, for one ``A``: a cubic spline through a few hundred nodes.

    The nodes are evenly spaced in ``z = (b - A/2) / (sqrt(A)/2)``, standard deviations of the wrong weight, so that the
    error does not grow with ``A``; it stays below 1e-7. For training: a certificate calls :func:`half_tail` itself.

    Parameters
    ----------
    total : float
        ``A``.
    low, high : float
        Range of the ``b`` to be asked for, ``0 <= low <= high <= A``.
    loops : Loops, optional
        Compiled loops to evaluate it by, with the same result.

    Examples
    --------
    >>> table = BetaTailTable(10.0, 0.0, 10.0)
    >>> value, slope, in_total = table(np.array([5.0]))
    >>> float(round(value[0], 6))
    0.5
    """

    def __init__(self, total: float, low: float, high: float, loops: Loops | None = None):
        self._loops = loops
        deviation = 0.5 * math.sqrt(total)
        edge = 1e-12 * total
        # A range of no width would leave nothing to take slopes from.
        low, high = low - 0.1 * deviation, high + 0.1 * deviation
        self._first = min(max(low, 0.5 * total - _REACH * deviation, edge), total - 2 * edge)
        last = max(min(high, 0.5 * total + _REACH * deviation, total - edge), self._first + edge)
        # A small total has few standard deviations, but its curve is not simpler.
        cells = max(math.ceil((last - self._first) / (_SPACING * deviation)), 64)
        self._spacing = (last - self._first) / cells
        nodes = self._first + self._spacing * np.arange(cells + 1, dtype=float)
        columns = np.stack([half_tail(nodes, total), half_tail_derivative(total - nodes, nodes)], axis=1)
        # One row a coefficient, in units of a cell: four of the value, four of the derivative in A.
        scale = self._spacing ** np.arange(3, -1, -1)
        spline = scipy.interpolate.CubicSpline(nodes, columns).c * scale[:, None, None]
        self._coefficients = np.ascontiguousarray(spline.transpose(2, 0, 1).reshape(8, cells))
        self._last_cell = cells - 1

    @property
    def parts(self) -> tuple[float, float, Array]:
        """The first node, the distance of nodes, and the coefficients, a column for each cell."""
        return self._first, self._spacing, self._coefficients

    def __call__(self, wrong: Array) -> tuple[Array, Array, Array]:
        """Value, derivative in ``b``, and derivative in ``A`` at fixed ``b``, for each ``b`` of ``wrong``."""
        if self._loops is not None:
            values = np.empty((3, len(wrong)))
            self._loops.splines((wrong - self._first) / self._spacing, self._coefficients, self._spacing, values)
            return values[0], values[1], values[2]
        place = np.clip((wrong - self._first) / self._spacing, 0.0, self._last_cell + 1.0)
        cell = np.minimum(place.astype(np.intp), self._last_cell)
        x = place - cell
        c3, c2, c1, c0, d3, d2, d1, d0 = np.take(self._coefficients, cell, axis=1)
        value = ((c3 * x + c2) * x + c1) * x + c0
        slope = ((3.0 * c3 * x + 2.0 * c2) * x + c1) / self._spacing
        return value, slope, ((d3 * x + d2) * x + d1) * x + d0
