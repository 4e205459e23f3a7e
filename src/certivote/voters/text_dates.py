"""Dates in text, read only where there is no doubt which is the day and which the month."""

import math
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["ORDERS", "as_days", "as_moment", "date_order", "looks_like_date", "moments"]

_DATE = re.compile(
    r"(?P<a>\d{1,4})(?P<mark>[./-])(?P<b>\d{1,2})(?P=mark)(?P<c>\d{4}|\d{1,2})"
    r"(?:(?:,? +|T)(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?P<fraction>\.\d+)?)?"
    r"(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?)?",
    re.ASCII,
)
_LONGEST = 60
"""Characters of the longest text that may be a date."""
ORDERS = {"the year first": "abc", "the day first": "cba", "the month first": "cab"}
"""Which of the three numbers are the year, the month and the day. ISO dates are read in each."""


def as_moment(text: str, order: str) -> datetime | None:
    """The moment that a text stands for, an ISO date or one in this order; None if it is none.

    Examples
    --------
    >>> as_moment("31.01.2024 8:30", "the day first")
    datetime.datetime(2024, 1, 31, 8, 30)
    """
    whole = _iso(text)
    if whole is not None:
        return whole
    match = _DATE.fullmatch(text)
    return None if match is None else _moment(match, ORDERS[order])


def as_days(text: str, order: str = "the year first") -> float:
    """Days from 1970-01-01 to a date, with or without a time (UTC, if no zone is given); NaN if it is none.

    Examples
    --------
    >>> as_days("1970-01-03T12:00"), as_days("3.1.1970", "the day first"), as_days("yesterday")
    (2.5, 2.0, nan)
    """
    moment = as_moment(text, order)
    if moment is None:
        return math.nan
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() / 86_400.0


def looks_like_date(text: str) -> bool:
    """Whether the text is a date in some order.

    Examples
    --------
    >>> looks_like_date("31.01.24"), looks_like_date("2024-01-31T10:00Z"), looks_like_date("31")
    (True, True, False)
    """
    match = _DATE.fullmatch(text) if len(text) <= _LONGEST else None
    return _iso(text) is not None if match is None else any(_moment(match, order, True) for order in ORDERS.values())


def date_order(texts: Sequence[str]) -> str:
    """The order of day, month and year in which all texts are dates.

    Raises
    ------
    ValueError
        If there is none, or more than one, with the end of a sentence that says so.

    Examples
    --------
    >>> date_order(["31.01.2024", "01.02.2024 12:30"]), date_order(["1/31/2024", "2/1/2024"])
    ('the day first', 'the month first')
    """
    others = [text for text in texts if _iso(text) is None]
    if not others:
        return "the year first"
    readings = {order: [as_moment(text, order) for text in others] for order in ORDERS}
    complete = [order for order, found in readings.items() if None not in found]
    if len(complete) > 1 and "." in others[0]:  # with points, the month is never written first
        return "the day first"
    if len(complete) == 1:
        return complete[0]
    if complete:
        raise ValueError(
            f"holds dates such as {others[0]!r}, of which none shows whether the day or the month comes first; "
            "write dates such as 2024-01-31."
        )
    raise ValueError(
        f"holds dates such as {_misfit(others, readings)}, which are not all written in one order of day, month "
        "and year (of four digits); write dates such as 2024-01-31."
    )


def moments(texts: Sequence[str]) -> NDArray[Any]:
    """The moments that all different texts of a column stand for, in UTC where they have a time zone.

    Raises
    ------
    ValueError
        If one is not a date, or the order is not certain, with the end of a sentence that says so.

    Examples
    --------
    >>> moments(["31.01.2024", "01.02.2024 12:30"]).tolist()
    [datetime.datetime(2024, 1, 31, 0, 0), datetime.datetime(2024, 2, 1, 12, 30)]
    """
    wrong = next((text for text in texts if _iso(text) is None and not _DATE.fullmatch(text)), None)
    mixed = wrong is None and any(map(_iso, texts)) and not all(map(_iso, texts))
    if wrong is not None or mixed:
        wrong = wrong or next(text for text in texts if _iso(text) is None)
        raise ValueError(
            f"holds {wrong!r}, which is neither a number nor a date that can be read; write dates such as "
            "2024-01-31 or 2024-01-31 12:30."
        )
    order = date_order(texts)
    found = [moment for text in texts if (moment := as_moment(text, order)) is not None]
    zoned = [moment.tzinfo is not None for moment in found]
    if len(set(zoned)) == 2:
        raise ValueError(
            f"holds {texts[zoned.index(True)]!r} with a time zone and {texts[zoned.index(False)]!r} without; give all "
            "or none."
        )
    utc = [moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment for moment in found]
    return np.array(utc, dtype="datetime64[us]")


def _iso(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _moment(match: re.Match[str], places: str, short: bool = False) -> datetime | None:
    """The moment, if the numbers in this order are a date; with ``short``, years may have two digits."""
    year, month, day = (match[place] for place in places)
    hour = int(match["hour"] or 0)
    if match["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (match["half"] in "Pp")
    microseconds = round(float(match["fraction"] or 0) * 1e6)
    if len(year) != 4 and not (short and len(year) == 2):
        return None
    try:
        found = datetime(
            int(year) or 2000, int(month), int(day), hour, int(match["minute"] or 0), int(match["second"] or 0)
        )
    except ValueError:
        return None
    return found.replace(microsecond=min(microseconds, 999_999))


def _misfit(texts: Sequence[str], readings: dict[str, list[datetime | None]]) -> str:
    """One text, or two of which no order reads both."""
    best = max(readings.values(), key=lambda found: sum(moment is not None for moment in found))
    read = next((text for text, moment in zip(texts, best, strict=True) if moment is not None), None)
    unread = next(text for text, moment in zip(texts, best, strict=True) if moment is None)
    return repr(unread) if read is None else f"{read!r} and {unread!r}"
