"""What statements have in common when they are put into words."""

from decimal import Decimal

from certivote.certificate import PromiseRecord, Statement, counted, entities, plain_percent


def as_asked(share: float) -> str:
    """A share that was asked for, as it was written: 95.00 %, though the number 0.95 is a little less.

    Examples
    --------
    >>> as_asked(0.95), as_asked(0.99999)
    ('95.00 %', '99.999 %')
    """
    asked = (Decimal(repr(share)) * 100).normalize()
    return f"{asked:f} %" if asked != round(asked, 2) else f"{asked:.2f} %"


def over_entities(record: PromiseRecord) -> str:
    """What bounds are means over, where rows belong to entities."""
    if not any(each.entities for each in record.statements):
        return ""
    return "; means over new entities that have such cases, of a random one of these"


def seen(entry: Statement) -> str:
    """What was counted."""
    if not entry.entities:
        return f"{entry.n:,} rows" if entry.errors is None else f"{entry.errors:,} of {entry.n:,}"
    rows = f"{entry.errors or 0:,} of {counted(entry.n, 'row')}" if entry.losses else counted(entry.n, "row")
    mean = f"{plain_percent(entry.risks[0])} seen, " if entry.losses else ""
    return f"{mean}{rows}, {entities(entry.entities)}"
