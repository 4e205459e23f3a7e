"""What pictures of the report are made of: bars, curves, axes, and figures on them."""

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Bar:
    """A labelled length from ``start`` to ``end``, as shares of the axis."""

    name: str
    figure: str
    note: str
    kind: str
    start: float
    end: float


Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Curve:
    """Points as shares of both axes, with the labels of the axes: (share, text); and what was seen beside them.

    ``lines`` are more curves, each with the class of its style.
    """

    points: Points
    across: tuple[tuple[float, str], ...]
    up: tuple[tuple[float, str], ...]
    seen: Points = ()
    lines: tuple[tuple[str, Points], ...] = ()

    @property
    def path(self) -> str:
        """The curve in an SVG view box of 1000 by 1000."""
        return _path(self.points)

    @property
    def line_paths(self) -> list[tuple[str, str]]:
        """The classes of more curves, and the curves."""
        return [(kind, _path(points)) for kind, points in self.lines]

    @property
    def seen_path(self) -> str:
        """What was seen, the same."""
        return _path(self.seen)


def _path(points: Iterable[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{1000 * x:.1f} {1000 * (1 - y):.1f}" for x, y in points)


_ENDS = {1.0: 4, 1.5: 3, 2.0: 4, 3.0: 3, 4.0: 4, 5.0: 5, 6.0: 3, 8.0: 4, 10.0: 4}
"""Round ends of an axis, up to powers of ten, and into how many parts each is divided."""


def axis(values: Iterable[float]) -> tuple[float, tuple[tuple[float, str], ...]]:
    """The end of an axis of probabilities for these values, at most 1, and its ticks."""
    top = min(max(*values, 1e-6), 1.0)
    unit = 10.0 ** math.floor(math.log10(top))
    end = next(end for end in _ENDS if end * unit >= top * (1 - 1e-9))
    parts = _ENDS[end]
    return end * unit, tuple((k / parts, f"{100 * end * unit * k / parts:.3g} %") for k in range(parts + 1))


def power(exponent: int) -> str:
    """A power of ten, in digits where these are few.

    Examples
    --------
    >>> power(-2), power(3), power(12)
    ('0.01', '1,000', '10¹²')
    """
    if -3 <= exponent <= 5:
        return f"{10**exponent:,}" if exponent >= 0 else f"{10.0**exponent:.{-exponent}f}"
    return f"10{_raised(exponent)}"


def small(value: float) -> str:
    """A probability, by a power of ten where it is small."""
    if value >= 1e-3:
        return f"{value:.2g}"
    digits, exponent = f"{value:.1e}".split("e")
    raised = _raised(int(exponent))
    return f"10{raised}" if digits == "1.0" else f"{digits}·10{raised}"


def _raised(exponent: int) -> str:
    return str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
