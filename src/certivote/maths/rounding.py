"""Exact numbers as floats that are never below them."""

import math
from fractions import Fraction

__all__ = ["float_above"]


def float_above(exact: Fraction) -> float:
    """The smallest float that is not below an exact number.

    Examples
    --------
    >>> float_above(Fraction(1, 2)), float_above(Fraction(1, 10)) >= Fraction(1, 10)
    (0.5, True)
    >>> 0.1 + 0.7 < Fraction(0.1) + Fraction(0.7)  # a sum of floats may be below what it is the sum of
    True
    >>> float_above(Fraction(0.1) + Fraction(0.7)) >= Fraction(0.1) + Fraction(0.7)
    True
    """
    nearest = float(exact)
    return nearest if Fraction(nearest) >= exact else math.nextafter(nearest, math.inf)
