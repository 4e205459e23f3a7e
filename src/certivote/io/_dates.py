"""Dates in text, read only where there is no doubt which is the day and which the month."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certivote.io._table_files import TableError

_DATE = re.compile(
    r"(?P<a>\d{1,4})(?P<mark>[./-])(?P<b>\d{1,2})(?P=mark)(?P<c>\d{4}|\d{1,2})"
    r"(?:(?:,? +|T)(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?P<fraction>\.\d+)?)?"
    r"(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?)?",
    re.ASCII,
)
_ORDERS = {"the year first": "abc", "the day first": "cba", "the month first": "cab"}
"""Which of the three numbers are the year, the month and the day."""


def moments(texts: Sequence[str], what: str) -> NDArray[Any]:
    """The moments that texts stand for, in UTC where they have a time zone.

    Parameters
    ----------
    texts : sequence of str
        All different texts of a column: ISO dates, or dates with the day or the month first, where the column must
        show which of the two it is. A time of day may follow.
    what : str
        What the column is called in messages.

    Examples
    --------
    >>> moments(["31.01.2024", "01.02.2024 12:30"], "when").tolist()
    [datetime.datetime(2024, 1, 31, 0, 0), datetime.datetime(2024, 2, 1, 12, 30)]
    """
    whole = [_iso(text) for text in texts]
    if all(moment is not None for moment in whole):
        zoned = [moment is not None and moment.tzinfo is not None for moment in whole]
        if len(set(zoned)) == 2:
            raise TableError(
                f"{what} holds {texts[zoned.index(True)]!r} with a time zone and {texts[zoned.index(False)]!r} "
                "without; give all or none."
            )
        return np.array([_in_utc(moment) for moment in whole if moment is not None], dtype="datetime64[us]")
    matches = [_DATE.fullmatch(text) for text in texts]
    wrong = next((text for text, match in zip(texts, matches, strict=True) if match is None), None)
    if wrong is not None:
        raise TableError(
            f"{what} holds {wrong!r}, which is neither a number nor a date that can be read; write dates such as "
            "2024-01-31 or 2024-01-31 12:30."
        )
    readings = {order: [_moment(match, places) for match in matches if match] for order, places in _ORDERS.items()}
    complete = {order: found for order, found in readings.items() if None not in found}
    if len(complete) == 1:
        (found,) = complete.values()
        return np.array(found, dtype="datetime64[us]")
    if complete:
        raise TableError(
            f"{what} holds dates such as {texts[0]!r}, of which none shows whether the day or the month comes first; "
            "write dates such as 2024-01-31."
        )
    raise TableError(
        f"{what} holds dates such as {_misfit(texts, readings)}, which are not all written in one order of day, month "
        "and year (of four digits); write dates such as 2024-01-31."
    )


def _iso(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _in_utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment


def _moment(match: re.Match[str], places: str) -> datetime | None:
    """The moment, if the numbers in this order are a date."""
    year, month, day = (match[place] for place in places)
    hour = int(match["hour"] or 0)
    if match["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (match["half"] in "Pp")
    microseconds = round(float(match["fraction"] or 0) * 1e6)
    try:
        found = datetime(int(year), int(month), int(day), hour, int(match["minute"] or 0), int(match["second"] or 0))
    except ValueError:
        return None
    return found.replace(microsecond=min(microseconds, 999_999)) if len(year) == 4 else None


def _misfit(texts: Sequence[str], readings: dict[str, list[datetime | None]]) -> str:
    """One text, or two that cannot be read in one order."""
    best = max(readings.values(), key=lambda found: sum(moment is not None for moment in found))
    read = next((text for text, moment in zip(texts, best, strict=True) if moment is not None), None)
    unread = next(text for text, moment in zip(texts, best, strict=True) if moment is None)
    return repr(unread) if read is None else f"{read!r} and {unread!r}"
