"""What the pages of promises are made of: a card each, with figures, tables, bars and a curve."""

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from certivote.certificate import (
    PromiseRecord,
    Statement,
    counted,
    percent_down,
    percent_up,
    plain_percent,
)
from certivote.maths.rounding import all_but
from certivote.present._statements import rate
from certivote.present.page import Curve


@dataclass(frozen=True)
class Tile:
    """One number of a promise, as large as it deserves: what it is, the number, and what was seen."""

    name: str
    limit: str
    figure: str
    note: str = ""


@dataclass(frozen=True)
class Cell:
    """One statement in a table: its limit, what was seen, and both as shares of the axis."""

    limit: str
    figure: str
    seen: str
    start: float
    end: float
    rate: float | None


@dataclass(frozen=True)
class Row:
    """A class, or what else has a row of its own, and the statements about it."""

    name: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Interval:
    """A group, between which limits its error is, and what was seen; numbers are shares of the axis."""

    name: str
    figure: str
    note: str
    start: float
    end: float
    rate: float | None


@dataclass(frozen=True)
class Choice:
    """Points that all hold at once, of which one may choose: a curve, what the slider shows, and a table."""

    curve: Curve
    lookup: dict[str, Any]
    table: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Card:
    """A promise on the page.

    Attributes
    ----------
    key : str
        Its anchor.
    title : str
    summary : str
        The promise in one sentence, for the list of all.
    words : list of str
        What it is about, for people who read of it for the first time.
    tiles : list of Tile
    choice : Choice or None
    head, rows
        A table of statements.
    intervals, axis
        Bars of groups.
    matrix : tuple of tuple of str
        Costs, with the names of rows and columns.
    lines : list of str
        Statements in words, where there is nothing better.
    notes : list of str
    sure : str
        With which confidence; empty where there are only words.
    """

    key: str
    title: str
    summary: str
    words: list[str]
    tiles: list[Tile] = field(default_factory=list)
    choice: Choice | None = None
    head: tuple[str, ...] = ()
    rows: list[Row] = field(default_factory=list)
    intervals: list[Interval] = field(default_factory=list)
    axis: tuple[tuple[float, str], ...] = ()
    matrix: tuple[tuple[str, ...], ...] = ()
    lines: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    sure: str = ""


def seen(entry: Statement, *, not_so: bool = False) -> str:
    """What was counted of the event, or of its opposite."""
    share = rate(entry)
    if share is None:
        return "no certification rows"
    share = 1.0 - share if not_so else share
    of_entities = f" rows of {counted(entry.entities, 'group')}" if entry.entities else ""
    if entry.errors is None:
        return f"seen: {plain_percent(share)} of {entry.n:,}{of_entities}"
    count = entry.n - entry.errors if not_so else entry.errors
    if entry.losses and entry.entities:
        mean = f"{plain_percent(share)} in the mean over {counted(entry.entities, 'group')}"
        return f"seen: {mean} ({count:,} of {counted(entry.n, 'row')})"
    return f"seen: {count:,} of {entry.n:,}{of_entities} ({plain_percent(share)})"


def happened(entry: Statement, *, not_so: bool = False) -> str:
    """How often the event was seen, or its opposite, in short."""
    share = rate(entry)
    return "no rows" if share is None else plain_percent(1.0 - share if not_so else share)


def at_most(entry: Statement, top: float = 1.0, more: str = "") -> Cell:
    """A statement as it is: the event at most so often, on an axis that ends at ``top``."""
    share = rate(entry)
    place = None if share is None else min(share / top, 1.0)
    return Cell(
        "at most", percent_up(min(entry.bound, 1.0)), seen(entry) + more, 0.0, min(entry.bound / top, 1.0), place
    )


def at_least(entry: Statement, more: str = "") -> Cell:
    """The same seen from the other side: that it does not happen, at least so often."""
    share, least = rate(entry), all_but(entry.bound)
    place = None if share is None else 1.0 - share
    return Cell("at least", percent_down(least), seen(entry, not_so=True) + more, 0.0, least, place)


def asked(share: float) -> str:
    """A share that somebody has asked for, as it was written.

    Examples
    --------
    >>> asked(0.95), asked(0.07)
    ('95 %', '7 %')
    """
    return f"{(100 * Decimal(repr(share))).normalize():f} %"


def guide_note(record: PromiseRecord, what: str) -> list[str]:
    """By which rows thresholds or groups were fixed."""
    if record.set_aside:
        return [
            f"{what} fixed by {counted(record.set_aside, 'certification row')}, taken at random and set aside for "
            "that: these are not counted here."
        ]
    if record.guide_rows:
        return [f"{what} fixed by {counted(record.guide_rows, 'training row')}, none of which is counted here."]
    return []
