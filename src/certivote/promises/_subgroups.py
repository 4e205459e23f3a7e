r"""Subgroups: the error within groups of rows, from above and from below, and how far groups are apart.

*What is said.* A group is a value of a column, a range of its numbers, or a combination of these. For each, ``error``
bounds P[the vote errs | the group] by ``U``, and ``right`` bounds P[the vote is right | the group], so that the error
is at least ``L``, one minus it. Within one column, or one combination, the largest error of a group exceeds the
smallest by at most ``max U - min L`` and, as ``L_g - U_h`` is a lower limit for each pair of groups, by at least the
largest of these. Both follow from the statements and cost nothing. Columns are not compared with one another, since
their groups overlap: ``value`` is the largest of their gaps. Groups without rows have no part in it.

*What is fixed beforehand.* Training rows tell the values of a column, or the edges of its ranges; where there are none,
rows that were set aside do. Only if every column has few values (as the rows that would be set aside show) are they
those of the certification rows themselves, none set aside: such a list of values counts as known beforehand, as that of
the classes does. Where rows are by themselves, for one column or one combination, even that is not needed: given the
values in all rows, the events in those of a group are still independent with probability P[event | the group]. (For
ranges this would be wrong: given the numbers themselves, the events have the probabilities of these numbers, not of the
range. For several columns too: given the values of all, the events of a group have the probabilities of the other
values. So each statement conditions on its own column alone, and the number of statements is taken for a constant.)
Rows with values that are not in the list belong to no group.

*Proof.* The condition is a function of the case: see :mod:`certivote.promises._ledger`.

*Entities.* An entity may have rows of several groups. For a group ``v`` condition on which entities have rows of it,
and on nothing else: these are independent draws from the entities that have such rows, and the loss of one is the share
of *these* rows that are wrong. So what is bounded is the error on a random row of group ``v`` of a new entity that has
one. Given all values, the means of these losses would differ from entity to entity. Nor is it P[the vote errs | the
group] for a random row of a new entity, in which entities with many such rows count more.
"""

import json
import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from datetime import date, time, timedelta
from fractions import Fraction
from itertools import pairwise, product
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certivote.certificate import Fixed, PromiseRecord, Statement, missing_places, names_of, percent_down, percent_up
from certivote.maths.rounding import float_above
from certivote.promises._base import Guide, Promise
from certivote.promises._ledger import Ledger
from certivote.promises._rows import Columns
from certivote.promises._words import limits, over_groups, seen

_FEW = 10
"""Numbers of a column with more different ones are grouped by ranges."""
_MOST = 50
"""Different values that a column may have."""
_MOST_COMBINED = 250
"""Groups that a combination of columns may have."""
_MISSING = "missing"

Pair = tuple[Statement, Statement]


class Subgroups(Promise):
    """The error within groups of rows, from above and from below, and the largest gap between groups.

    Parameters
    ----------
    *columns : str, int, or tuple of these
        Columns by name, or by number where they have no names; a tuple stands for all combinations of the values of its
        columns. 7, 7.0 and "7" are one value, and missing values are a group of their own.
    bins : int, default=4
        A column with more than ten different numbers is divided into so many ranges, with about as many training rows
        in each.

    Examples
    --------
    >>> import pandas as pd
    >>> from certivote import certify_predictions
    >>> from certivote.promises import Subgroups
    >>> table = pd.DataFrame({"sex": ["f", "m"] * 200})
    >>> said = ["ill", "well"] * 180 + ["well"] * 40
    >>> certificate = certify_predictions(["ill", "well"] * 200, said, table=table, promises=[Subgroups("sex")])
    >>> print(certificate.promises[1])
    With 95 % confidence, all at once: errors at most 15.78 % (sex = f), 2.17 % (sex = m).
      sex: the errors of its subgroups differ by 3.61 to 15.78 percentage points
      sex = f: errors between 5.78 % and 15.78 % (20 of 200)
      sex = m: errors between 0.00 % and 2.17 % (0 of 200)
    """

    name = "subgroups"

    def __init__(self, *columns: str | int | Sequence[str | int], bins: int = 4) -> None:
        if not columns:
            raise ValueError("Subgroups needs the name of a column, or several, such as Subgroups('sex', 'site').")
        self.columns: tuple[str | tuple[str, ...], ...] = tuple(map(_checked, columns))
        if len(set(self.columns)) < len(self.columns):
            raise ValueError(f"Subgroups has a column or combination twice: {', '.join(map(repr, self.columns))}.")
        if not isinstance(bins, Integral) or isinstance(bins, bool) or not 2 <= bins <= _MOST:
            raise ValueError(f"bins of Subgroups must be a whole number from 2 to {_MOST}; got {bins!r}.")
        self.bins: int = int(bins)

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> "Subgroups":
        columns = parameters["columns"]
        if parameters.keys() != {"columns", "bins"} or not isinstance(columns, list | tuple):
            raise ValueError(f"Subgroups has columns, a list, and bins; got {parameters!r:.200}.")
        return cls(*columns, bins=parameters["bins"])

    def __repr__(self) -> str:
        return f"Subgroups({', '.join(map(repr, self.columns))}, bins={self.bins})"

    @property
    def _each(self) -> tuple[tuple[str, ...], ...]:
        """The columns of each entry."""
        return tuple((entry,) if isinstance(entry, str) else entry for entry in self.columns)

    @property
    def column_names(self) -> tuple[str, ...]:
        """Single columns in order of first mention."""
        return tuple(dict.fromkeys(name for entry in self._each for name in entry))

    def check(self, classes: tuple[str, ...], columns: Columns | None) -> None:
        if columns is None:
            raise ValueError(
                f"{self!r} is about columns, and there is no table of rows: give X with columns, or table=."
            )
        for name in self.column_names:
            values = columns(name)
            if any(isinstance(value, date | time | timedelta) for value in _there(values)):
                raise ValueError(
                    f"{self!r}: the column {name!r} holds dates or times; make a column of what matters about them, "
                    "such as the year, and name that."
                )
            if _numbers(values) is None:
                _words(name, values)
        for entry in self._each:
            groups = math.prod(len(_labels(_fix(name, columns(name), self.bins))) for name in entry)
            if len(entry) > 1 and groups > _MOST_COMBINED:
                raise ValueError(
                    f"{self!r}: {' and '.join(map(repr, entry))} together make {groups:,} groups; at most "
                    f"{_MOST_COMBINED} can be told apart. Name fewer columns together, or such with fewer values."
                )

    def guide(self, columns: Columns | None, trained: bool) -> Guide:
        if trained:
            return "columns"
        return (
            "columns" if columns is not None and any(_by_range(columns(name)) for name in self.column_names) else "none"
        )

    def make(self, ledger: Ledger) -> PromiseRecord:
        rows, guide = ledger.rows, ledger.guide
        assert rows is not None
        assert rows.columns is not None
        source = rows if guide is None else guide
        assert source.columns is not None
        looked = {name: source.columns(name) for name in self.column_names}
        # Of rows that are counted, values may be looked at, but no ranges be made.
        fixed = {
            name: Fixed(name, (), _words(name, values)) if guide is None else _fix(name, values, self.bins)
            for name, values in looked.items()
        }
        places = {name: group_places(own, rows.columns(name)) for name, own in fixed.items()}
        divided = [_groups([fixed[name] for name in entry]) for entry in self._each]
        of = 2 * sum(map(len, divided))
        blocks = []
        for entry, groups in zip(self._each, divided, strict=True):
            pairs = []
            for label, numbers in groups:
                among = np.all([places[name] == number for name, number in zip(entry, numbers, strict=True)], axis=0)
                error = ledger.events("error", label, among, rows.wrong, of)
                pairs.append((error, ledger.events("right", label, among, ~rows.wrong, of)))
            blocks.append(pairs)
        gaps = [gap for gap in map(_gap, blocks) if gap is not None]
        return ledger.record(
            self.name,
            [statement for pairs in blocks for pair in pairs for statement in pair],
            self.parameters,
            fixed=tuple(fixed.values()),
            guide_rows=0 if guide is None else len(looked[self.column_names[0]]),
            value=max(gaps, default=None),
        )

    @staticmethod
    def groups_of(record: PromiseRecord) -> list[tuple[tuple[Fixed, ...], tuple[int, ...]]]:
        """Of each pair of statements in a record, the columns of its group, and its number in each of them."""
        return [
            (columns, numbers)
            for entry in _entries(record)
            for columns in [tuple(record.fixed[number] for number in entry)]
            for _, numbers in _groups(columns)
        ]

    @staticmethod
    def sentences(record: PromiseRecord) -> list[str]:
        known = [(error.label, min(error.bound, 1.0)) for _, pairs in _blocks(record) for error, _ in pairs if error.n]
        lines = [limits("errors at most", known, percent_up) if known else "no subgroup has rows", *over_groups(record)]
        for title, pairs in _blocks(record):
            gap = _gap(pairs)
            if gap is not None:
                most, least = percent_up(gap).removesuffix(" %"), percent_down(_least_gap(pairs)).removesuffix(" %")
                lines.append(f"{title}: the errors of its subgroups differ by {least} to {most} percentage points")
            for error, right in pairs:
                width = f"errors between {percent_down(_lower(right))} and {percent_up(error.bound)} ({seen(error)})"
                lines.append(f"{error.label}: {width if error.n else 'no rows, so nothing is known'}")
        return lines


def _checked(column: Any) -> str | tuple[str, ...]:
    """The name of a column, or those of a combination of several."""
    if isinstance(column, str | Integral) and not isinstance(column, bool):
        return str(column)
    names = tuple(column) if isinstance(column, list | tuple) else ()
    if not names or not all(isinstance(name, str | Integral) and not isinstance(name, bool) for name in names):
        raise ValueError(
            "Subgroups takes names of columns, their numbers where they have no names, and tuples of these for "
            f"combinations; got {column!r:.200}."
        )
    if len(set(map(str, names))) < len(names):
        raise ValueError(f"Subgroups has a combination of a column with itself: {names!r:.200}.")
    return str(names[0]) if len(names) == 1 else tuple(map(str, names))


# Groups of one column


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _there(values: list[Any]) -> list[Any]:
    """Those that are not missing."""
    missing = set(missing_places(values))
    return [value for place, value in enumerate(values) if place not in missing]


def _numbers(values: list[Any]) -> list[float] | None:
    """Those that are there, if there are any and all are numbers."""
    there = _there(values)
    if not there or not all(map(_is_number, there)):
        return None
    try:
        return [float(value) for value in there]
    except OverflowError:  # identifiers with hundreds of digits
        return None


def _by_range(values: list[Any]) -> bool:
    """Whether they are numbers, so many different ones that each by itself would have few rows."""
    numbers = _numbers(values)
    if numbers is None:
        return False
    return len({number for number in numbers if math.isfinite(number)}) > max(1.0, min(_FEW, len(values) / 2))


def _fix(name: str, values: list[Any], bins: int) -> Fixed:
    """The groups that some rows tell."""
    numbers = _numbers(values)
    if numbers is None or not _by_range(values):
        return Fixed(name, (), _words(name, values))
    finite = np.unique([number for number in numbers if math.isfinite(number)])
    edges = np.unique(np.quantile(numbers, np.arange(1, bins) / bins, method="inverted_cdf"))
    # Where one number is that of most rows, it is a group of its own.
    inner = [float(edge) for edge in edges if finite[0] < edge < math.inf] or [float(finite[1])]
    return Fixed(name, tuple(inner), (_MISSING,) if missing_places(values) else ())


def _words(name: str, values: list[Any]) -> tuple[str, ...]:
    """The different values as text, numbers in their own order, and those that are missing last."""
    there, numeric = _there(values), _numbers(values) is not None
    names = dict.fromkeys(names_of(sorted(there) if numeric else there))
    words = list(names) if numeric else sorted(names)
    if len(words) > _MOST:
        raise ValueError(
            f"Subgroups: the column {name!r} has {len(words):,} different values; at most {_MOST} can be told apart. "
            "Make a column with fewer, such as regions in place of cities, and name that."
        )
    return (
        *(word for word in words if word != _MISSING),
        *([_MISSING] if len(there) < len(values) or _MISSING in words else []),
    )


def group_places(fixed: Fixed, values: list[Any]) -> NDArray[np.intp]:
    """Of each value the number of its group; -1 if it belongs to none."""
    first = len(fixed.numbers) + 1 if fixed.numbers else 0
    known = {word: first + place for place, word in enumerate(fixed.words)}
    missing = set(missing_places(values))
    names = [_MISSING if place in missing else name for place, name in enumerate(names_of(values))]
    return np.array(
        [
            bisect_right(fixed.numbers, value)
            if fixed.numbers and place not in missing and _is_number(value)
            else known.get(names[place], -1)
            for place, value in enumerate(values)
        ],
        dtype=np.intp,
    )


def _labels(fixed: Fixed) -> list[str]:
    """What the groups of a column are called, in their order."""
    name, edges = fixed.what, names_of(list(fixed.numbers))
    ranges = []
    if edges:
        between = [f"{low} <= {name} < {high}" for low, high in pairwise(edges)]
        ranges = [f"{name} < {edges[0]}", *between, f"{name} >= {edges[-1]}"]
    return [*ranges, *(f"{name} = {word}" for word in fixed.words)]


def _groups(fixed: Sequence[Fixed]) -> list[tuple[str, tuple[int, ...]]]:
    """All combinations of the groups of some columns: what they are called, and their numbers in each column."""
    labels = [_labels(own) for own in fixed]
    return [
        (", ".join(own[number] for own, number in zip(labels, numbers, strict=True)), numbers)
        for numbers in product(*(range(len(own)) for own in labels))
    ]


# What follows from the statements


def _gap(pairs: Sequence[Pair]) -> float | None:
    """By how much the errors of groups differ at most; None if fewer than two of them have rows."""
    with_rows = [(error, right) for error, right in pairs if error.n]
    if len(with_rows) < 2:
        return None
    largest = max(Fraction(error.bound) for error, _ in with_rows)
    smallest = min(1 - Fraction(right.bound) for _, right in with_rows)
    return float_above(largest - smallest)


def _least_gap(pairs: Sequence[Pair]) -> float:
    """By how much they differ at least."""
    with_rows = [(error, right) for error, right in pairs if error.n]
    largest = max(1 - Fraction(right.bound) for _, right in with_rows)
    return max(0.0, -float_above(min(Fraction(error.bound) for error, _ in with_rows) - largest))


def _lower(right: Statement) -> float:
    """The lower limit of the error of a group."""
    return max(0.0, -float_above(Fraction(right.bound) - 1))


def _blocks(record: PromiseRecord) -> Iterator[tuple[str, list[Pair]]]:
    """Of each column or combination its name and the pairs of statements; of a record that is not in order, one."""
    statements = record.statements
    pairs = list(zip(statements[::2], statements[1::2], strict=False))
    sizes = [len(_labels(fixed)) for fixed in record.fixed]
    entries = _entries(record)
    counts = [math.prod(sizes[number] for number in entry) for entry in entries]
    if sum(counts) != len(pairs):
        entries, counts = [range(len(sizes))], [len(pairs)]
    start = 0
    for entry, count in zip(entries, counts, strict=True):
        yield ", ".join(record.fixed[number].what for number in entry), pairs[start : start + count]
        start += count


def _entries(record: PromiseRecord) -> list[Sequence[int]]:
    """The columns of each entry by their numbers in ``fixed``; empty if the record does not tell."""
    try:
        promise = Subgroups.from_parameters({name: json.loads(text) for name, text in record.parameters})
    except (KeyError, TypeError, ValueError):
        return []
    numbers = {name: number for number, name in enumerate(promise.column_names)}
    known = len(numbers) == len(record.fixed)
    return [[numbers[name] for name in entry] for entry in promise._each] if known else []
