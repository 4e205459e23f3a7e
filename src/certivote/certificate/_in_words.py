"""Numbers in words, rounded so that nothing looks better than it is."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

_MANY_DIGITS = 15
"""Numbers with more digits before the point are written with a power of ten."""


def percent_up(value: float, places: int = 2) -> str:
    """A probability as a percentage, rounded up.

    Examples
    --------
    >>> percent_up(0.04930001)
    '4.94 %'
    """
    return f"{(Decimal(value) * 100).quantize(Decimal(1).scaleb(-places), rounding=ROUND_CEILING)} %"


def percent_down(value: float, places: int = 2) -> str:
    """A probability as a percentage, rounded down.

    Examples
    --------
    >>> percent_down(0.04939999)
    '4.93 %'
    """
    return f"{(Decimal(value) * 100).quantize(Decimal(1).scaleb(-places), rounding=ROUND_FLOOR)} %"


def plain_percent(value: float, places: int = 2) -> str:
    """A rate that was observed.

    Examples
    --------
    >>> plain_percent(0.0733)
    '7.33 %'
    """
    return f"{100 * value:.{places}f} %"


def confidence(delta: float) -> str:
    """The confidence that delta leaves, rounded down: never 100 %.

    Examples
    --------
    >>> confidence(0.05), confidence(1e-7), confidence(1 / 60)
    ('95 %', '99.99999 %', '98.333 %')
    """
    fails = Context(prec=4, rounding=ROUND_CEILING).create_decimal(f"{max(delta, 1e-9):.12g}")
    return f"{(100 * (1 - fails)).normalize():f} %"


def number_up(value: float) -> str:
    """A number with at least four digits that count and two places, rounded up.

    Examples
    --------
    >>> number_up(0.8312341), number_up(20.0), number_up(12345.671), number_up(1e30), number_up(-0.12345)
    ('0.8313', '20', '12345.68', '1.001E+30', '-0.1234')
    """
    return _rounded(value, ROUND_CEILING)


def number_down(value: float) -> str:
    """The same, rounded down.

    Examples
    --------
    >>> number_down(0.4342861), number_down(0.0)
    ('0.4342', '0')
    """
    return _rounded(value, ROUND_FLOOR)


def _rounded(value: float, rounding: str) -> str:
    exact = Decimal(value)
    if exact.adjusted() > _MANY_DIGITS:
        return str(Context(prec=4, rounding=rounding).create_decimal(exact))
    places = Decimal(1).scaleb(min(-2, exact.adjusted() - 3))
    text = f"{exact.quantize(places, rounding, Context(prec=1000)):f}"
    return text.rstrip("0").rstrip(".")


_UNIT: ContextVar[tuple[str, str]] = ContextVar("unit", default=("group", "groups"))


@contextmanager
def called(name: str | None) -> Iterator[None]:
    """What rows belong to is called so in this block: ``patients``, or ``person/people``; None for groups.

    Examples
    --------
    >>> with called("patients"):
    ...     unit(), units(), units(1), units(20)
    ('patient', 'patients', '1 patient', '20 patients')
    >>> units(20)
    '20 groups'
    """
    if name is None:
        yield
        return
    if not isinstance(name, str) or not name.isprintable():
        raise ValueError(f"Give a text that can be printed, such as 'patients'; got {name!r:.80}.")
    one, _, many = name.rpartition("/")
    if not many.strip() or not (one or many.endswith("s")):
        raise ValueError(f"Give a plural such as 'patients', or both forms such as 'person/people'; got {name!r:.80}.")
    before = _UNIT.set((one or (f"{many[:-3]}y" if many.endswith("ies") else many[:-1]), many))
    try:
        yield
    finally:
        _UNIT.reset(before)


def unit() -> str:
    """One of what rows belong to."""
    return _UNIT.get()[0]


def units(number: int | None = None) -> str:
    """Several of what rows belong to, or this number of them."""
    one, many = _UNIT.get()
    return many if number is None else f"{number:,} {one if number == 1 else many}"


def counted(number: int, what: str) -> str:
    """A number of things: ``1 error``, ``2 errors``."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"
