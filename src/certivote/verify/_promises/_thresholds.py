"""Promises about thresholds: tested one after another, all at once, or chosen by the rows that are counted."""

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from flint import arb

from certivote.certificate import Certificate, Statement
from certivote.verify._methods import DRAWN, method_of
from certivote.verify._promises._rule import (
    Agreement,
    Expected,
    Promised,
    PromiseRows,
    Rule,
    StatementRows,
    number,
    threshold_of,
)
from certivote.verify._proof import SLACK
from certivote.verify._simulation import Array

_WRONG, _SILENT = "error when answered", "unanswered"
_NEEDED = "rows needed"
"""An estimate for readers, on which nothing depends."""
_FIFTIETH, _REST = Fraction(50), Fraction(50, 49)
"""The coverage has a fiftieth of what the promise has, and the sequence the rest."""


class Abstention(Rule):
    """Rows are answered where the score is at least the threshold."""

    name = "abstention"
    called = "Abstention"
    names = ("max_error", "curve")
    needs = "scores"
    looks_at_votes = True

    def check(self, asked: dict[str, Any]) -> None:
        target, curve = asked["max_error"], asked["curve"]
        if (target is None) == (curve is None):
            raise ValueError("either a target or a curve is asked for, and not both")
        if target is not None:
            number(target, 0.0, 1.0, "max_error")
        elif type(curve) is not int or curve < 1:
            raise ValueError("curve is no number of thresholds")

    def is_guided(self, p: Promised) -> bool | None:
        return True

    def is_fixed(self, p: Promised) -> str:
        named = [fixed.what for fixed in p.fixed]
        if named != (["thresholds"] if p.asked["curve"] else ["thresholds", _NEEDED]):
            return f"{', '.join(named)[:200] or 'nothing'}, where thresholds are to be fixed"
        if any(fixed.words for fixed in p.fixed) or any(len(fixed.numbers) > 1 for fixed in p.fixed[1:]):
            return "words, or more numbers than there can be"
        if any(needed < 1.0 or not needed.is_integer() for fixed in p.fixed[1:] for needed in fixed.numbers):
            return "rows needed that are no number of rows"
        sequence = p.fixed[0].numbers
        if not sequence or not all(one > other for one, other in pairwise(sequence)):
            return "thresholds that do not descend"
        if sequence[-1] not in (0.0, -sys.float_info.max):
            return "a last threshold that does not answer everything"
        if p.asked["curve"] and len(sequence) > p.asked["curve"]:
            return f"{len(sequence)} thresholds for a curve of {p.asked['curve']}"
        return ""

    def statements(self, p: Promised) -> list[Expected]:
        sequence = p.fixed[0].numbers
        if p.asked["curve"]:
            of = Fraction(2 * len(sequence))
            return [Expected(kind, "", threshold, of) for threshold in sequence for kind in (_WRONG, _SILENT)]
        tests = [Expected(_WRONG, "", threshold, _REST) for threshold in sequence[: _tested(p)]]
        chosen = self.decides(p)[0]
        if chosen is not None:
            tests.append(Expected(_SILENT, "", sequence[chosen], _FIFTIETH * len(sequence)))
        return tests

    def decides(self, p: Promised) -> tuple[int | None, tuple[float, ...], float | None]:
        if p.asked["curve"]:
            return None, (), None
        last = _tested(p) - 1
        if last < len(p.statements) and p.statements[last].bound > p.asked["max_error"]:
            last -= 1
        return (last, (p.fixed[0].numbers[last],), p.asked["max_error"]) if last >= 0 else (None, (), None)

    def agreements(self, p: Promised) -> Iterator[Agreement]:
        n, (_, most) = p.n_counted, p.wrong_answers
        tests = [entry for entry in p.statements if entry.kind == _WRONG]
        right = all(map(_is_within, tests, tests[1:]))
        right = right and all(entry.n <= n and (entry.errors or 0) <= most for entry in tests)
        right = right and all(entry.n == n for entry in tests if entry.threshold == p.fixed[0].numbers[-1])
        yield "rows", right, f"the lower the threshold the more are answered, of {n:,} up to {tests[-1].n:,}"
        answered = {entry.threshold: entry.n for entry in tests}
        silent = [entry for entry in p.statements if entry.kind == _SILENT]
        right = all(entry.n == n and entry.errors == n - answered[entry.threshold] for entry in silent)
        yield "coverage", right, "what is not answered are all the other rows"
        if p.c.groups and not p.record.set_aside:
            entities = p.part.entities
            right = all(entry.entities == entities for entry in silent)
            yield "entities", right, f"{entities:,} have rows that may be unanswered"

    def count(self, p: Promised, rows: PromiseRows) -> Sequence[StatementRows]:
        assert rows.scores is not None
        return [
            StatementRows(rows.scores >= threshold_of(entry), rows.wrong)
            if entry.kind == _WRONG
            else StatementRows(rows.everything(), rows.scores < threshold_of(entry))
            for entry in p.statements
        ]


def _tested(p: Promised) -> int:
    """How many thresholds were to be tested: up to and including the first that fails."""
    bounds = [entry.bound for entry in p.statements[: len(p.fixed[0].numbers)]]
    failed = [place for place, bound in enumerate(bounds) if bound > p.asked["max_error"]]
    return failed[0] + 1 if failed else len(p.fixed[0].numbers)


def _is_within(one: Statement, other: Statement) -> bool:
    """Whether the rows of one statement can be among those of another, with their events."""
    wrong, more = one.errors or 0, other.errors or 0
    return wrong <= more and one.n - wrong <= other.n - more and one.entities <= other.entities


_STEPS = 256
"""With entities, thresholds are 0 and the squares of (k - 1/3) over this."""
_BETWEEN, _BELOW = 0.499999, 1e-9
"""Otherwise they lie so far from one mass of a row to the next, or so little below it."""
_SECOND = (("0", "1"), ("False", "True"), ("-1", "1"), ("0.0", "1.0"), ("-1.0", "1.0"))
"""Classes of which the second is what is looked for."""
_MISSED, _ALARM, _LEFT_OUT = "missed", "false alarm when flagged", "left out"
_CLOSE = 1e-12
"""How far masses may be off."""
_SINGLE = 2.0**-23
"""How far apart numbers of single precision are, at most: between masses that are so, thresholds are such numbers."""


def _meets(entry: Statement, least: float) -> bool:
    """Whether the event is bounded by what is left of 1, exactly."""
    return Fraction(entry.bound) + Fraction(least) <= 1


def _allowed(least: float) -> float:
    """What is left of 1 for the event, rounded down."""
    rest = 1.0 - least
    return rest if Fraction(rest) + Fraction(least) <= 1 else math.nextafter(rest, 0.0)


def _on_grid(c: Certificate, threshold: float | None) -> bool:
    """Whether this may be a threshold: a sum of weights, and with entities one of the grid."""
    if threshold is None or not 0.0 <= threshold <= 1.0 + _CLOSE:
        return False
    return not c.groups or any(threshold == _step(step) for step in range(_STEPS + 1))


def _step(step: int) -> float:
    """A threshold of the fixed sequence."""
    return (max(step - 1 / 3, 0.0) / _STEPS) ** 2


class Sensitivity(Rule):
    """Cases are flagged where the mass of the class is at least the threshold."""

    name = "sensitivity"
    called = "Sensitivity"
    names = ("at_least", "label")
    needs = "masses"

    def check(self, asked: dict[str, Any]) -> None:
        number(asked["at_least"], 0.0, 1.0, "at_least")
        if asked["label"] is not None and not isinstance(asked["label"], str):
            raise ValueError("label is no class")

    def is_fixed(self, p: Promised) -> str:
        if len(p.c.classes) != 2:
            return f"{len(p.c.classes)} classes, where there must be two"
        label = p.fixed[0] if p.fixed else None
        if label is None or (label.what, label.numbers, len(label.words)) != ("label", (), 1):
            return "something other than the class that is looked for"
        if [fixed.what for fixed in p.fixed[1:]] not in ([], [_NEEDED]):
            return "more than the class that is looked for, and the rows that would be needed"
        name, wanted = label.words[0], p.asked["label"]
        if wanted is None and p.c.classes not in _SECOND:
            return "nothing says which class is looked for"
        if name != (p.c.classes[1] if wanted is None else wanted) or name not in p.c.classes:
            return f"{name:.80} is not the class that is looked for"
        return ""

    def statements(self, p: Promised) -> list[Expected]:
        label, threshold = p.fixed[0].words[0], 0.0
        found = [Expected(_MISSED, label, threshold, Fraction(10, 9))]
        if p.statements and _meets(p.statements[0], p.asked["at_least"]):
            threshold = p.statements[0].threshold or 0.0
            of = Fraction(10 * self._thresholds(p, p.statements[0]))
            found = [Expected(_MISSED, label, threshold, Fraction(10, 9)), Expected(_ALARM, label, threshold, of)]
        return found

    def _thresholds(self, p: Promised, missed: Statement) -> int:
        """How many thresholds it may have been, whatever the rows of the other class are.

        What a vote that was learned pays depends on all rows. But it is one of the smallest masses of the rows of the
        class, since of these no more may be missed than the target allows.
        """
        if p.c.groups:
            return _STEPS
        return 1 + math.floor(_allowed(p.asked["at_least"]) * missed.n) if method_of(p.c).predictor == DRAWN else 1

    def decides(self, p: Promised) -> tuple[int | None, tuple[float, ...], float | None]:
        if not p.statements or not _meets(p.statements[0], p.asked["at_least"]):
            return None, (0.0,), None
        return 0, (p.statements[0].threshold or 0.0,), p.asked["at_least"]

    def agreements(self, p: Promised) -> Iterator[Agreement]:
        own, missed = p.class_rows, p.statements[0]
        others = sum(own.values()) - own.get(missed.label, 0)
        right = missed.n == own.get(missed.label) and all(entry.n == others for entry in p.statements[1:])
        yield "rows", right, f"{missed.n:,} of class {missed.label:.80}, {others:,} of the other"
        right = _on_grid(p.c, missed.threshold) and (bool(missed.threshold) or not missed.errors)
        right = right and (bool(p.c.groups) or (missed.errors or 0) <= _allowed(p.asked["at_least"]) * missed.n)
        yield "threshold", right, f"{missed.threshold!r}"
        if p.c.groups:
            entities = {entry.label: entry.entities for entry in p.c.by_class if entry.kind == "error"}
            found = [entities.get(missed.label)], [n for label, n in entities.items() if label != missed.label]
            right = [[missed.entities], [entry.entities for entry in p.statements[1:]] or found[1]] == [*found]
            yield "entities", right, f"{missed.entities:,} have rows of the class"

    def count(self, p: Promised, rows: PromiseRows) -> Sequence[StatementRows]:
        assert rows.masses is not None
        code = p.c.classes.index(p.fixed[0].words[0])
        true, mass = rows.labels == code, rows.masses[:, code]
        return [
            StatementRows(true, mass < threshold_of(entry))
            if entry.kind == _MISSED
            else StatementRows(~true, mass >= threshold_of(entry))
            for entry in p.statements
        ]

    def chosen_well(self, p: Promised, rows: PromiseRows) -> Iterator[Agreement]:
        assert rows.masses is not None
        code = p.c.classes.index(p.fixed[0].words[0])
        true, mass = rows.labels == code, rows.masses[:, code]
        entry = p.statements[0]
        yield _is_largest(
            p.c,
            entry,
            p.asked["at_least"],
            mass[true],
            lambda t: StatementRows(true, mass < t),
            rows,
            p.record.chosen is not None,
        )


class PredictionSets(Rule):
    """A class is in the set where its mass is at least its threshold, or where it is the answer."""

    name = "sets"
    called = "PredictionSets"
    names = ("coverage", "by_class")
    needs = "masses"

    def check(self, asked: dict[str, Any]) -> None:
        number(asked["coverage"], 0.0, 1.0, "coverage")
        if not isinstance(asked["by_class"], bool):
            raise ValueError("by_class is neither true nor false")

    def is_fixed(self, p: Promised) -> str:
        return "" if [fixed.what for fixed in p.fixed] in ([], [_NEEDED]) else "something is fixed beforehand"

    def statements(self, p: Promised) -> list[Expected]:
        labels = p.c.classes if p.asked["by_class"] else ("",)
        thresholds = [entry.threshold for entry in p.statements] + [None] * len(labels)
        of = Fraction(len(labels))
        return [Expected(_LEFT_OUT, label, t, of) for label, t in zip(labels, thresholds, strict=False)]

    def decides(self, p: Promised) -> tuple[int | None, tuple[float, ...], float | None]:
        return None, tuple(entry.threshold or 0.0 for entry in p.statements), p.asked["coverage"]

    def agreements(self, p: Promised) -> Iterator[Agreement]:
        own, part = p.class_rows, p.part
        right = all(entry.n == (own.get(entry.label) if entry.label else part.n) for entry in p.statements)
        wrong = sum(entry.errors or 0 for entry in p.statements)
        right = right and wrong <= (part.errors or 0)
        yield "rows", right, f"{wrong:,} left out, of {sum(entry.n for entry in p.statements):,}"
        least = p.asked["coverage"]
        # At the threshold 0 every class is in every set, and none can be left out.
        right = all(
            _on_grid(p.c, entry.threshold) and (_meets(entry, least) if entry.threshold else not entry.errors)
            for entry in p.statements
        )
        yield "thresholds", right, f"{', '.join(repr(entry.threshold) for entry in p.statements[:5])}"
        if p.c.groups:
            known = {entry.label: entry.entities for entry in p.c.by_class if entry.kind == "error"}
            right = all(
                entry.entities == (known.get(entry.label) if entry.label else part.entities) for entry in p.statements
            )
            yield "entities", right, f"{', '.join(str(entry.entities) for entry in p.statements[:9])}"

    def count(self, p: Promised, rows: PromiseRows) -> Sequence[StatementRows]:
        return [_left_out(p.c, entry, entry.threshold or 0.0, rows) for entry in p.statements]

    def chosen_well(self, p: Promised, rows: PromiseRows) -> Iterator[Agreement]:
        own = _own_masses(rows)
        for entry in p.statements:
            among = _left_out(p.c, entry, 0.0, rows).among
            yield _is_largest(
                p.c,
                entry,
                p.asked["coverage"],
                own[among],
                lambda t, entry=entry: _left_out(p.c, entry, t, rows),  # type: ignore[misc]
                rows,
                _meets(entry, p.asked["coverage"]),
            )


def _own_masses(rows: PromiseRows) -> Array:
    assert rows.masses is not None
    return rows.masses[np.arange(len(rows.labels)), rows.labels]


def _left_out(c: Certificate, entry: Statement, threshold: float, rows: PromiseRows) -> StatementRows:
    among = rows.labels == c.classes.index(entry.label) if entry.label else rows.everything()
    return StatementRows(among, rows.wrong & (_own_masses(rows) < threshold))


def _is_largest(
    c: Certificate,
    entry: Statement,
    least: float,
    masses: Array,
    count: Callable[[float], StatementRows],
    rows: PromiseRows,
    chosen: bool,
) -> Agreement:
    """Whether a threshold is the last that meets the target: of the masses of the rows, or with entities of a grid.

    Another that meets it would be no less true of the event itself; but what else is said at the threshold is free only
    if these rows alone have chosen it.
    """
    threshold, most = entry.threshold or 0.0, _allowed(least)
    where = f"threshold of {entry.label:.80}" if entry.label else "threshold"
    known = np.unique(masses)
    own = int(np.searchsorted(known, threshold - _CLOSE))
    if chosen and threshold and not c.groups:
        high, low = known[own] if own < len(known) else math.inf, known[own - 1] if own else 0.0
        near = abs(max(low + _BETWEEN * (high - low), high - _BELOW) - threshold) <= _SINGLE
        if not (near and low - _CLOSE <= threshold <= high + _CLOSE):
            return where, False, f"{threshold!r} is not where it must be between two masses of these rows"

    def met(at: float, target: arb) -> bool:
        counted = count(at)
        few = c.groups or np.count_nonzero(counted.event & counted.among) <= most * np.count_nonzero(counted.among)
        return bool(few) and rows.holds(counted, entry, target)

    if c.groups:
        steps = range(round(_STEPS * math.sqrt(threshold) + 1 / 3) + 1 if threshold else 1) if chosen else ()
        seen: dict[int, bool] = {}
        for step in steps:
            events = int(np.count_nonzero(count(_step(step)).event))
            seen.setdefault(events, events in seen or met(_step(step), arb(most)))
        if not all(seen.values()):
            return where, False, f"a threshold before {threshold!r} does not meet the target"
        above = [_step(len(steps))]
    else:
        above = known[known > (known[own] if own < len(known) else 1.0) + _CLOSE if chosen else known >= 0.0][
            :1
        ].tolist()
    more = [at for at in above if at <= 1.0 + _CLOSE and met(at, arb(most) * (1 - SLACK))]
    return where, not more, f"{threshold!r}, " + (f"but {more[0]!r} meets it too" if more else "the last to meet it")
