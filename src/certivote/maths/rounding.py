"""Exact numbers as floats that err to the safe side."""

import math
from fractions import Fraction

__all__ = ["all_but", "float_above"]


def all_but(share: float) -> float:
    """One minus a share, rounded down, and at least 0.

    Examples
    --------
    >>> all_but(0.75), all_but(1.5), Fraction(all_but(0.1)) <= 1 - Fraction(0.1)
    (0.25, 0.0, True)
    """
    rest = 1.0 - share
    return max(rest if Fraction(rest) <= 1 - Fraction(share) else math.nextafter(rest, -1.0), 0.0)


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
