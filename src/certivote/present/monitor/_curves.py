"""Curves of what was watched: evidence on a scale of powers of ten, and errors beside their limit and the bound."""

import math
from collections.abc import Iterable, Sequence

from certivote.monitor import Point
from certivote.present.page import Curve, axis, power

_LOWEST = -3
"""Evidence below this power of ten is drawn there."""
_ROOM = 1.6
"""How many times the largest number that matters is shown of errors: limits begin at 100 %."""
_MATTERS = 0.1
"""Share of all outcomes after which rates matter for the height."""

Line = Sequence[tuple[float, float]]


def evidence_curve(lines: Sequence[tuple[str, Line]], log_threshold: float, last: int) -> Curve:
    """Natural logarithms of evidence over outcomes, as a curve of powers of ten with the line of the alarm.

    Parameters
    ----------
    lines : sequence of (class of style, points)
        The first is the curve itself.
    log_threshold : float
        Logarithm of the evidence that raises an alarm.
    last : int
        The last outcome.
    """
    low, high = exponents([value for _, line in lines for _, value in line], log_threshold)

    def up(log: float) -> float:
        return (min(max(log / math.log(10), low), high) - low) / (high - low)

    step = math.ceil((high - low) / 8)
    ticks = tuple(((k - low) / (high - low), power(k)) for k in range(high, low - 1, -step))
    drawn = [(kind, tuple((n / last, up(log)) for n, log in line if log > -math.inf)) for kind, line in lines]
    level = ("level", ((0.0, up(log_threshold)), (1.0, up(log_threshold))))
    return Curve(drawn[0][1], count_ticks(last), ticks, lines=(level, *drawn[1:]))


def exponents(logs: Iterable[float], log_threshold: float) -> tuple[int, int]:
    """The powers of ten between which evidence, given by natural logarithms, is drawn."""
    tens = [log / math.log(10) for log in (*logs, log_threshold, 0.0) if math.isfinite(log)]
    return math.floor(max(min(tens), _LOWEST)), math.ceil(max(tens) + 0.2)


def error_curve(points: Sequence[Point], bound: float) -> Curve:
    """Errors so far, their limit, and the bound that was certified."""
    last = points[-1].n
    settled = [point for point in points if point.n >= _MATTERS * last]
    rates = [point.errors / point.n for point in settled]
    top, ticks = axis([min(_ROOM * max(bound, points[-1].error_limit, *rates), 1.0)])

    def line(values: Iterable[float]) -> tuple[tuple[float, float], ...]:
        return tuple((point.n / last, min(value / top, 1.0)) for point, value in zip(points, values, strict=True))

    level = ("level", ((0.0, min(bound / top, 1.0)), (1.0, min(bound / top, 1.0))))
    limits = ("limit", line(point.error_limit for point in points))
    return Curve((), count_ticks(last), ticks, line(point.errors / point.n for point in points), (level, limits))


def count_ticks(last: int) -> tuple[tuple[float, str], ...]:
    """Round numbers of outcomes up to the last, at most five of them."""
    unit = 10.0 ** math.floor(math.log10(last))
    step = next((part * unit for part in (0.2, 0.25, 0.5, 1.0) if last <= 5 * part * unit), 2 * unit)
    step = max(round(step), 1)
    return tuple((n / last, f"{n:,}") for n in range(0, last + 1, step))
