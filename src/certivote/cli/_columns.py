"""How the columns of a table are read: the options that say so, and the table that is printed of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from certivote.cli._messages import say
from certivote.cli._options import Options
from certivote.cli._tables import column

if TYPE_CHECKING:
    from certivote.voters import Preprocessed, Reading

_MOST = 60
"""Columns of the longest table that is printed whole."""


@dataclass(frozen=True, kw_only=True)
class ColumnOptions(Options):
    """What the training rows do not tell of the columns.

    Attributes
    ----------
    na
        Another text that stands for a missing value; repeat for several. Among numbers and dates, words such as n/a,
        k.A., #NV, - and unknown do so by themselves.
    category
        Column that holds categories though it looks like numbers; repeat for several.
    """

    na: Annotated[list[str] | None, typer.Option(metavar="TEXT")] = None
    category: Annotated[list[str] | None, column()] = None

    def voters(self, name: str, decimal: str | None) -> "Preprocessed":
        """Voters that read the columns of a table, whatever these hold; which is decided by the training rows."""
        from certivote.voters import ColumnEncoder, Preprocessed

        # A stump needs a value.
        encoder = ColumnEncoder(fill=name == "stumps", na=self.na or (), category=self.category or (), decimal=decimal)
        return Preprocessed(encoder, name)


def show_columns(classifier: Any, X: Any) -> None:
    """Print on standard error what each column became, if they are not all numbers that are read as they stand."""
    readings = classifier.voters_.encoder.readings(X)
    if all(each.kind == "number" and not each.words and each.unread is None for each in readings):
        return
    rows = [("column", "read as", "missing", "not read"), *map(_row, readings[:_MOST])]
    widths = [max(len(row[place]) for row in rows) for place in range(3)]
    say("Columns, as the training rows show them:", err=True)
    for row in rows:
        cells = [*(text.ljust(width) for text, width in zip(row, widths, strict=False)), row[3]]
        say(f"  {'  '.join(cells).rstrip()}", err=True)
    if len(readings) > _MOST:
        say(f"  and {len(readings) - _MOST:,} more", err=True)
    if any(each.kind == "left out: free text" for each in readings):
        say("Free text can be used in Python, with skrub's TextEncoder or a pipeline in Preprocessed.", err=True)


def _row(reading: "Reading") -> Sequence[str]:
    unread, words = reading.unread, ", ".join(reading.words)
    return (
        f"{reading.column:.40}",
        reading.kind,
        f"{reading.missing:,}" + f" ({words:.60})" * bool(words),
        "" if unread is None else f"{unread.count:,}, such as {unread.example!r:.40}",
    )
