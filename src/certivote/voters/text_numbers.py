"""Numbers as people and spreadsheets write them: with decimal commas, thousands, units, per cent and limits.

``12.5``, ``2 092,40``, ``1.234,5``, ``12,3 mg``, ``€ 12``, ``45 %`` and ``<0.1`` are numbers. How they are to be read
is a matter of the whole column: ``1,234`` is one number where another value is ``12,5``, and another number where
one is ``1,234,567``. Where no value shows which, the column is not read.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from certivote.voters.text_columns import as_number

__all__ = ["NumberForm", "looks_like_number", "number_form"]

_LONGEST = 60
"""Characters of the longest text that may be a number."""
_UNITS = 5
"""Different units beyond which what follows a number is no unit."""
_SIGN = {"−": "-"}
_NUMBER = re.compile(
    r"(?P<limit>[<>]=?|[≤≥])?\s*(?P<money>[€$£¥])?\s*(?P<sign>[+−-])?"
    r"(?P<body>\d+(?:[.,'’\s]\d+)*[.,]?|[.,]\d+)(?P<exponent>[eE][+-]?\d+)?"
    r"\s*(?P<unit>[%‰€$£¥]|[/°]?[^\W\d_][\w°/%^.·*²³ -]*)?"
)
_OPEN = re.compile(r"[1-9]\d{0,2}[.,]\d{3}")
"""Thousands, or a number with three decimals."""
_OTHER = {".": ",", ",": "."}
_SCALES = {"%": 100.0, "‰": 1000.0}


@dataclass(frozen=True)
class NumberForm:
    """How the numbers of a column are written.

    Attributes
    ----------
    decimal : {".", ","}
    thousands : {"", ".", ","}
        The mark that was seen to separate thousands. Spaces and apostrophes may always do.
    unit : str
        What may follow a number, or stand before it. Per cent and per mille are fractions, as spreadsheets store them.
    """

    decimal: str = "."
    thousands: str = ""
    unit: str = ""

    def check(self) -> None:
        """Raise a ValueError if no column has this form."""
        if self.decimal not in _OTHER or self.thousands not in ("", _OTHER[self.decimal]) or len(self.unit) > _LONGEST:
            raise ValueError("a form of numbers has other marks than a point and a comma")

    def read(self, text: str) -> float:
        """The number that a text is; NaN if it is none in this form.

        A limit such as ``<0.1`` is the next number below or above, in single precision, as trees compare them.

        Examples
        --------
        >>> NumberForm(",", ".", "mg").read("1.234,5 mg"), NumberForm().read("1,5"), NumberForm(unit="%").read("12 %")
        (1234.5, nan, 0.12)
        """
        if self.decimal == ".":
            plain = as_number(text)
            if plain == plain:
                return plain
        found = _match(text)
        if found is None or _unit(found) not in ("", self.unit):
            return math.nan
        parts = _bodies(self.decimal, self.thousands).fullmatch(found["body"])
        if parts is None:
            return math.nan
        whole = re.sub(r"\D", "", parts["whole"] or "0")
        sign = _SIGN.get(found["sign"] or "", found["sign"] or "")
        value = as_number(f"{sign}{whole}.{parts['rest'] or '0'}{found['exponent'] or ''}")
        value /= _SCALES.get(_unit(found), 1.0)
        if (found["limit"] or "=") in "<>":
            return float(np.nextafter(np.float32(value), np.float32(math.inf if found["limit"] == ">" else -math.inf)))
        return value


def looks_like_number(text: str) -> bool:
    """Whether the text is a number in some form.

    Examples
    --------
    >>> [looks_like_number(text) for text in ("1.234,5 mg", "<5", "5a", "a5", "12-13", "31.1.2024")]
    [True, True, True, False, False, False]
    """
    return as_number(text) == as_number(text) or _match(text) is not None


def is_limit(text: str) -> bool:
    """Whether the text tells only what a number lies below or above."""
    return text.startswith(("<", ">", "≤", "≥"))


def number_form(texts: Sequence[str], decimal: str | None = None) -> NumberForm | None:
    """The form in which most of the different texts are numbers; None if they do not show which decimal mark is meant.

    Parameters
    ----------
    texts : sequence of str
    decimal : {".", ","}, optional
        The decimal mark, where it is known.

    Examples
    --------
    >>> number_form(["2 092,40", "7 mg"])
    NumberForm(decimal=',', thousands='', unit='mg')
    >>> number_form(["1,234", "5,678"]) is None
    True
    """
    found = [match for text in texts if (match := _match(text)) is not None]
    bodies = [match["body"] for match in found]
    shown = Counter(mark for body in bodies if (mark := _shown(body)) in _OTHER)
    if decimal is None and not shown and any("," in body for body in bodies):
        return None
    mark = decimal or (shown.most_common(1)[0][0] if shown else ".")
    pattern = _bodies(mark, _OTHER[mark])
    grouped = any(_OTHER[mark] in body and pattern.fullmatch(body) for body in bodies)
    units = Counter(_unit(match) for match in found if _unit(match))
    return NumberForm(mark, _OTHER[mark] if grouped else "", units.most_common(1)[0][0] if units else "")


def has_units(texts: Iterable[str]) -> bool:
    """Whether what follows the numbers is a unit: there are few of them."""
    return len({_unit(match) for text in texts if (match := _match(text)) is not None}) <= _UNITS


def _match(text: str) -> re.Match[str] | None:
    match = _NUMBER.fullmatch(text) if len(text) <= _LONGEST else None
    return match if match and any(_bodies(*marks).fullmatch(match["body"]) for marks in _OTHER.items()) else None


def _unit(match: re.Match[str]) -> str:
    return (match["unit"] or match["money"] or "").strip()


def _shown(body: str) -> str:
    """The decimal mark that a number shows; empty, or a question mark, if it shows none."""
    marks = [mark for mark in body if mark in _OTHER]
    if not marks:
        return ""
    if len(set(marks)) == 2:
        return marks[-1] if marks.count(marks[-1]) == 1 else ""
    if len(marks) > 1:
        return _OTHER[marks[0]]
    return "?" if _OPEN.fullmatch(body) else marks[0]


@lru_cache(maxsize=8)
def _bodies(decimal: str, thousands: str) -> re.Pattern[str]:
    group = rf"['’\s{re.escape(thousands)}]"
    return re.compile(rf"(?P<whole>\d+|\d{{1,3}}(?:{group}\d{{3}})+)?(?:{re.escape(decimal)}(?P<rest>\d*))?")
