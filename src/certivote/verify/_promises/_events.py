"""Promises about events: errors within each class, of each answer and within groups of rows."""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np
import pandas as pd

from certivote.certificate import Fixed
from certivote.verify._methods import method_of
from certivote.verify._promises._rule import (
    Agreement,
    Expected,
    Promised,
    PromiseRows,
    Rule,
    StatementRows,
)
from certivote.verify._simulation import Labels
from certivote.verify._theorems import exact_losses
from certivote.verify._units import name_of


class ByClass(Rule):
    """Every certificate has it. It is counted with the vote as a whole, since random votes have it too."""

    name = "by class"
    called = "ByClass"

    def statements(self, p: Promised) -> list[Expected]:
        kinds = ("error", "false alarm") if method_of(p.c).counts_errors and len(p.c.classes) > 2 else ("error",)
        of = Fraction(len(kinds) * len(p.c.classes))
        return [Expected(kind, label, None, of) for label in p.c.classes for kind in kinds]

    def agreements(self, p: Promised) -> Iterator[Agreement]:
        part, errors = p.part, [entry for entry in p.statements if entry.kind == "error"]
        alarms = [entry for entry in p.statements if entry.kind == "false alarm"]
        rows, others = [entry.n for entry in errors], [part.n - entry.n for entry in alarms]
        right = sum(rows) == part.n and others in ([], rows)
        yield "rows", right, f"those of the classes are {sum(rows):,} of {part.n:,}"
        if part.errors is not None:
            wrong, false = sum(entry.errors or 0 for entry in errors), sum(entry.errors or 0 for entry in alarms)
            # An error of the plurality is one class's false alarm; the half-weight loss counts no fewer.
            right = wrong == part.errors and (
                not alarms or false == wrong or (p.c.loss == "half-weight" and false < wrong)
            )
            yield "errors", right, f"those of the classes are {wrong:,} of {part.errors:,}"
        if p.c.groups:
            yield self._entities(p)

    def _entities(self, p: Promised) -> Agreement:
        """Every entity has rows of some class, and as many as have rows of one have rows of another than the others."""
        entities = p.part.entities
        own = {entry.label: entry.entities for entry in p.statements if entry.kind == "error"}
        others = {entry.label: entry.entities for entry in p.statements if entry.kind == "false alarm"}
        right = max(own.values(), default=0) <= entities <= sum(own.values())
        for label, found in others.items():
            rest = [count for name, count in own.items() if name != label]
            # An entity without rows of this class has others.
            right = (
                right
                and max(rest, default=0) <= found <= min(sum(rest), entities)
                and found >= entities - own.get(label, 0)
            )
        return "entities", right, f"{', '.join(map(str, list(own.values())[:9]))} of {entities:,}"


class Precision(Rule):
    """Statements about the answers: of two classes, one each; of more, two each."""

    name = "precision"
    called = "Precision"

    def statements(self, p: Promised) -> list[Expected]:
        kinds = ("imprecision", "omission") if len(p.c.classes) > 2 else ("imprecision",)
        of = Fraction(len(kinds) * len(p.c.classes))
        return [Expected(kind, label, None, of) for label in p.c.classes for kind in kinds]

    def agreements(self, p: Promised) -> Iterator[Agreement]:
        said = {entry.label: entry for entry in p.statements if entry.kind == "imprecision"}
        rest = {entry.label: entry for entry in p.statements if entry.kind == "omission"}
        n, own, (least, most) = p.n_counted, p.class_rows, p.wrong_answers
        rows = sum(entry.n for entry in said.values())
        right = rows == n and all(entry.n == n - said[label].n for label, entry in rest.items())
        yield "rows", right, f"{rows:,} answers to {n:,} rows"
        wrong = sum(entry.errors or 0 for entry in said.values())
        right = least <= wrong <= most
        yield "errors", right, f"{wrong:,} of them wrong, where {most:,} errors are recorded"
        missed = {label: entry.errors or 0 for label, entry in rest.items()}
        if not missed and len(said) == 2:
            # Whoever is wrongly called one of two classes belongs to the other.
            (one, first), (other, second) = said.items()
            missed = {one: second.errors or 0, other: first.errors or 0}
        right = all(
            own.get(label) == entry.n - (entry.errors or 0) + missed.get(label, 0) for label, entry in said.items()
        )
        yield "rows of the classes", right, "right answers and what was missed of each class are its rows"

    def count(self, p: Promised, rows: PromiseRows) -> Sequence[StatementRows]:
        found = []
        for entry in p.statements:
            code = p.c.classes.index(entry.label)
            said, true = rows.answers == code, rows.labels == code
            found.append(StatementRows(said, ~true) if entry.kind == "imprecision" else StatementRows(~said, true))
        return found


_MISSING = "missing"
_MOST_BINS = 50
_CLOSE = Fraction(1, 10**12)
"""How far above its value the largest gap may be."""
_ERROR, _RIGHT = "error", "right"


class Subgroups(Rule):
    """A group is a value of a column, a range of its numbers, or a combination of such groups."""

    name = "subgroups"
    called = "Subgroups"
    names = ("columns", "bins")
    needs = "columns"
    rounds_value = True

    def check(self, asked: dict[str, Any]) -> None:
        columns, bins = asked["columns"], asked["bins"]
        if not isinstance(columns, list) or not columns:
            raise ValueError("columns is no list of names")
        for names in columns:
            several = isinstance(names, list) and len(names) > 1 and all(isinstance(name, str) for name in names)
            if not (isinstance(names, str) or (several and len(set(names)) == len(names))):
                raise ValueError("columns holds something other than names and combinations of these")
        if len({repr(names) for names in columns}) < len(columns):
            raise ValueError("columns holds something twice")
        if type(bins) is not int or not 2 <= bins <= _MOST_BINS:
            raise ValueError("bins is no number of ranges")

    def shown(self, asked: dict[str, Any]) -> str:
        columns = [names if isinstance(names, str) else tuple(names) for names in asked["columns"]]
        return f"{self.called}({', '.join(map(repr, columns))}, bins={asked['bins']!r})"

    def is_guided(self, p: Promised) -> bool | None:
        # Ranges are never made of the rows that are counted; whether values are, depends on all values.
        return True if p.is_trained or any(fixed.numbers for fixed in p.fixed) else None

    def is_fixed(self, p: Promised) -> str:
        if [fixed.what for fixed in p.fixed] != _columns(p.asked):
            return "groups of other columns than those that are asked for"
        for fixed in p.fixed:
            if not fixed.numbers and not fixed.words:
                return f"no groups of {fixed.what:.80}"
            if not all(one < other for one, other in pairwise(fixed.numbers)) or len(fixed.numbers) >= p.asked["bins"]:
                return f"edges of {fixed.what:.80} that do not ascend, or too many"
            if fixed.numbers and fixed.words not in ((), (_MISSING,)):
                return f"values and ranges of {fixed.what:.80}"
            if len(set(fixed.words)) < len(fixed.words) or _MISSING in fixed.words[:-1]:
                return f"values of {fixed.what:.80} that occur twice, or are not in their order"
        # Before they are listed: a record may name more combinations than there is room for.
        sizes = {fixed.what: len(_called(fixed)) for fixed in p.fixed}
        groups = sum(math.prod(sizes[name] for name in names) for names in _entries(p.asked))
        return "" if 2 * groups == len(p.statements) else f"{groups:,} groups, with two statements each"

    def statements(self, p: Promised) -> list[Expected]:
        labels = [label for block in _blocks(p) for label, _ in block]
        of = Fraction(2 * len(labels))
        return [Expected(kind, label, None, of) for label in labels for kind in (_ERROR, _RIGHT)]

    def agreements(self, p: Promised) -> Iterator[Agreement]:
        n, (_, most) = p.n_counted, p.wrong_answers
        pairs = list(zip(p.statements[::2], p.statements[1::2], strict=True))
        right = all(
            (error.n, error.entities) == (other.n, other.entities)
            and (error.errors is None if not error.n else (error.errors or 0) + (other.errors or 0) == error.n)
            for error, other in pairs
        )
        yield "rows", right, "what is not wrong is right, in each group"
        if p.c.groups:
            yield "losses", all(_are_complements(e.losses, r.losses, e.n) for e, r in pairs), "as the rows"
        start, right, gaps = 0, True, []
        for block in _blocks(p):
            own = pairs[start : start + len(block)]
            start += len(block)
            right = right and sum(error.n for error, _ in own) <= n
            right = right and sum(error.errors or 0 for error, _ in own) <= most
            there = [(Fraction(error.bound), 1 - Fraction(other.bound)) for error, other in own if error.n]
            if len(there) > 1:
                gaps.append(max(high for high, _ in there) - min(low for _, low in there))
        yield "groups", right, f"no column has more than {n:,} rows in its groups"
        exact, value = max(gaps, default=None), p.record.value
        right = (exact is None) == (value is None)
        if exact is not None and value is not None:
            right = exact <= Fraction(value) <= exact + _CLOSE
        yield "largest gap", right, f"{value!r}"

    def count(self, p: Promised, rows: PromiseRows) -> Sequence[StatementRows]:
        assert rows.column is not None
        places = {fixed.what: _places(fixed, rows.column(fixed.what)) for fixed in p.fixed}
        found = []
        for names, block in zip(_entries(p.asked), _blocks(p), strict=True):
            for _, numbers in block:
                among = np.all([places[name] == place for name, place in zip(names, numbers, strict=True)], axis=0)
                found += [StatementRows(among, rows.wrong), StatementRows(among, ~rows.wrong)]
        return found


def _entries(asked: dict[str, Any]) -> list[list[str]]:
    """The columns of each entry: one, or those of a combination."""
    return [[names] if isinstance(names, str) else names for names in asked["columns"]]


def _columns(asked: dict[str, Any]) -> list[str]:
    """Single columns in order of first mention."""
    return list(dict.fromkeys(name for names in _entries(asked) for name in names))


def _blocks(p: Promised) -> Iterator[list[tuple[str, tuple[int, ...]]]]:
    """Of each column or combination, its groups: what they are called, and their numbers in each column."""
    called = {fixed.what: _called(fixed) for fixed in p.fixed}
    for names in _entries(p.asked):
        choices = [list(enumerate(called[name])) for name in names]
        yield [(", ".join(label for _, label in each), tuple(place for place, _ in each)) for each in product(*choices)]


def _called(fixed: Fixed) -> list[str]:
    """What the groups of a column are called: ranges in ascending order, then values."""
    ends = [name_of(edge) for edge in fixed.numbers]
    ranges = [f"{low} <= {fixed.what} < {high}" for low, high in pairwise(ends)]
    if ends:
        ranges = [f"{fixed.what} < {ends[0]}", *ranges, f"{fixed.what} >= {ends[-1]}"]
    return ranges + [f"{fixed.what} = {word}" for word in fixed.words]


def _places(fixed: Fixed, values: list[Any]) -> Labels:
    """Of each row the number of its group; -1 if it belongs to none."""
    first = len(fixed.numbers) + 1 if fixed.numbers else 0
    known = {word: first + place for place, word in enumerate(fixed.words)}
    absent = pd.isna(pd.Series(values, dtype=object)).tolist()
    found = []
    for value, gone in zip(values, absent, strict=True):
        is_number = isinstance(value, int | float) and not isinstance(value, bool) and not gone
        if fixed.numbers and is_number:
            found.append(sum(edge <= value for edge in fixed.numbers))
        else:
            found.append(known.get(_MISSING if gone else name_of(value), -1))
    return np.array(found, dtype=np.intp)


def _are_complements(wrong: tuple[float, ...], right: tuple[float, ...], n: int) -> bool:
    """Whether the shares of wrong rows and of right rows of each entity add up to all of its rows."""
    if len(wrong) != len(right):
        return False
    try:
        pairs = zip(exact_losses(wrong, max(n, 1)), exact_losses(right, max(n, 1)), strict=True)
        return all(one + other == 1 for one, other in pairs)
    except ValueError:
        return False
