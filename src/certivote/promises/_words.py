"""What statements have in common when they are put into words."""

from collections.abc import Callable, Sequence
from decimal import Decimal

from certivote.certificate import PromiseRecord, Statement, counted, plain_percent


def as_asked(share: float) -> str:
    """A share that was asked for, as it was written: 95.00 %, though the number 0.95 is a little less.

    Examples
    --------
    >>> as_asked(0.95), as_asked(0.99999)
    ('95.00 %', '99.999 %')
    """
    asked = (Decimal(repr(share)) * 100).normalize()
    return f"{asked:f} %" if asked != round(asked, 2) else f"{asked:.2f} %"


_FEW = 3
"""Labels whose limits are listed one by one."""


def over_groups(record: PromiseRecord) -> list[str]:
    """What bounds are means over, where rows belong to groups: a line, or nothing."""
    if not any(each.entities for each in record.statements):
        return []
    return ["these are means over new groups that have such cases, of a random case of each"]


def limits(said: str, each: Sequence[tuple[str, float]], shown: Callable[[float], str]) -> str:
    """Limits by label in one line: each of a few, or the smallest and the largest of many.

    Examples
    --------
    >>> limits("at most", [("ill", 0.07), ("well", 0.02)], "{:.0%}".format)
    'at most 7% (ill), 2% (well)'
    >>> limits("at most", [(str(digit), digit / 100) for digit in range(10)], "{:.0%}".format)
    'at most 0% (0) to 9% (9)'
    """
    if len(each) <= _FEW:
        return f"{said} {', '.join(f'{shown(limit)} ({label})' for label, limit in each)}"
    (low, lowest), (high, highest) = (pick(each, key=lambda pair: pair[1]) for pick in (min, max))
    return f"{said} {shown(lowest)} ({low}) to {shown(highest)} ({high})"


def seen(entry: Statement) -> str:
    """What was counted."""
    if not entry.entities:
        return f"{entry.n:,} rows" if entry.errors is None else f"{entry.errors:,} of {entry.n:,}"
    rows = f"{entry.errors or 0:,} of {counted(entry.n, 'row')}" if entry.losses else counted(entry.n, "row")
    mean = f"{plain_percent(entry.risks[0])} seen, " if entry.losses else ""
    return f"{mean}{rows}, {counted(entry.entities, 'group')}"
