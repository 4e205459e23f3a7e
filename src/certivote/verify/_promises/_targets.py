"""Thresholds that the counted rows themselves choose: a sensitivity that is met, and sets of possible classes."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb

from certivote.certificate import Certificate, Fixed, PromiseRecord, Statement
from certivote.verify._account import SLACK, as_part
from certivote.verify._methods import DRAWN, method_of
from certivote.verify._promises._rule import (
    Agreement,
    Counted,
    Expected,
    PromiseRows,
    Rule,
    class_rows,
    number,
    threshold_of,
)
from certivote.verify._simulation import Array
from certivote.verify._theorems import bound_holds, learned

_STEPS = 256
"""With entities, thresholds are 0 and the squares of (k - 1/3) over this."""
_BETWEEN, _BELOW = 0.499999, 1e-9
"""Otherwise they lie so far from one mass of a row to the next, or so little below it."""
_SECOND = (("0", "1"), ("False", "True"), ("-1", "1"), ("0.0", "1.0"), ("-1.0", "1.0"))
"""Classes of which the second is what is looked for."""
_MISSED, _ALARM, _LEFT_OUT = "missed", "false alarm when flagged", "left out"
_NEEDED = "rows needed"
"""Cases from which on a bound on no event would meet the target, told where none is met."""
_MOST_NEEDED = 1 << 20
"""It is not told where half of this does not do."""
_MOST_BETS = 10_000
"""Entities up to which it is computed again."""
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


def _is_needed(c: Certificate, entry: Statement, least: float, fixed: tuple[Fixed, ...]) -> bool:
    """Whether the number of cases that would be needed is told where the target is not met, unless it is too large."""
    if _meets(entry, least):
        return not fixed

    def enough(cases: int, most: arb) -> bool:
        zeros = (0.0,) * cases if c.groups else ()
        none = replace(entry, n=cases, entities=len(zeros), errors=0, losses=zeros, means=())
        part = as_part(c.deployed_part, none)
        return cases > 0 and bound_holds(c, part, learned(c, part), most)

    above, below = (arb(_allowed(least)) * (1 + sign * SLACK) for sign in (1, -1))
    if not fixed:
        return not enough(_MOST_BETS if c.groups else _MOST_NEEDED // 2, below)
    if len(fixed) > 1 or (fixed[0].what, fixed[0].words, len(fixed[0].numbers)) != (_NEEDED, (), 1):
        return False
    needed = fixed[0].numbers[0]
    if not 1.0 <= needed <= _MOST_NEEDED or not needed.is_integer():
        return False
    if c.groups and needed > _MOST_BETS:
        return True
    return enough(int(needed), above) and not enough(int(needed) - 1, below)


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

    def is_fixed(self, c: Certificate, promise: PromiseRecord, asked: dict[str, Any]) -> str:
        if len(c.classes) != 2:
            return f"{len(c.classes)} classes, where there must be two"
        found = [(fixed.what, fixed.numbers) for fixed in promise.fixed[:1]]
        if found != [("label", ())] or len(promise.fixed[0].words) != 1:
            return "something other than the class that is looked for"
        if not promise.statements or not _is_needed(c, promise.statements[0], asked["at_least"], promise.fixed[1:]):
            return "another number of rows than would be needed"
        label, wanted = promise.fixed[0].words[0], asked["label"]
        if wanted is None and c.classes not in _SECOND:
            return "nothing says which class is looked for"
        if label != (c.classes[1] if wanted is None else wanted) or label not in c.classes:
            return f"{label:.80} is not the class that is looked for"
        return ""

    def statements(self, c: Certificate, promise: PromiseRecord, asked: dict[str, Any]) -> list[Expected]:
        label, threshold = promise.fixed[0].words[0], 0.0
        found = [Expected(_MISSED, label, threshold, Fraction(10, 9))]
        if promise.statements and _meets(promise.statements[0], asked["at_least"]):
            threshold = promise.statements[0].threshold or 0.0
            of = Fraction(10 * self._thresholds(c, promise.statements[0], asked))
            found = [Expected(_MISSED, label, threshold, Fraction(10, 9)), Expected(_ALARM, label, threshold, of)]
        return found

    def _thresholds(self, c: Certificate, missed: Statement, asked: dict[str, Any]) -> int:
        """How many thresholds it may have been, whatever the rows of the other class are.

        What a vote that was learned pays depends on all rows. But it is one of the smallest masses of the rows of the
        class, since of these no more may be missed than the target allows.
        """
        if c.groups:
            return _STEPS
        return 1 + math.floor(_allowed(asked["at_least"]) * missed.n) if method_of(c).predictor == DRAWN else 1

    def decides(
        self, c: Certificate, promise: PromiseRecord, asked: dict[str, Any]
    ) -> tuple[int | None, tuple[float, ...], float | None]:
        if not promise.statements or not _meets(promise.statements[0], asked["at_least"]):
            return None, (0.0,), None
        return 0, (promise.statements[0].threshold or 0.0,), asked["at_least"]

    def agreements(self, c: Certificate, promise: PromiseRecord, asked: dict[str, Any]) -> Iterator[Agreement]:
        own, missed = class_rows(c), promise.statements[0]
        others = sum(own.values()) - own.get(missed.label, 0)
        right = missed.n == own.get(missed.label) and all(entry.n == others for entry in promise.statements[1:])
        yield "rows", right, f"{missed.n:,} of class {missed.label:.80}, {others:,} of the other"
        right = _on_grid(c, missed.threshold) and (bool(missed.threshold) or not missed.errors)
        right = right and (bool(c.groups) or (missed.errors or 0) <= _allowed(asked["at_least"]) * missed.n)
        yield "threshold", right, f"{missed.threshold!r}"
        if c.groups:
            entities = {entry.label: entry.entities for entry in c.by_class if entry.kind == "error"}
            found = [entities.get(missed.label)], [n for label, n in entities.items() if label != missed.label]
            right = [[missed.entities], [entry.entities for entry in promise.statements[1:]] or found[1]] == [*found]
            yield "entities", right, f"{missed.entities:,} have rows of the class"

    def count(
        self, c: Certificate, promise: PromiseRecord, asked: dict[str, Any], rows: PromiseRows
    ) -> Sequence[Counted]:
        assert rows.masses is not None
        code = c.classes.index(promise.fixed[0].words[0])
        true, mass = rows.labels == code, rows.masses[:, code]
        return [
            Counted(true, mass < threshold_of(entry))
            if entry.kind == _MISSED
            else Counted(~true, mass >= threshold_of(entry))
            for entry in promise.statements
        ]

    def chosen_well(
        self, c: Certificate, promise: PromiseRecord, asked: dict[str, Any], rows: PromiseRows
    ) -> Iterator[Agreement]:
        assert rows.masses is not None
        code = c.classes.index(promise.fixed[0].words[0])
        true, mass = rows.labels == code, rows.masses[:, code]
        entry = promise.statements[0]
        yield _is_largest(
            c, entry, asked["at_least"], mass[true], lambda t: Counted(true, mass < t), rows, promise.chosen is not None
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

    def is_fixed(self, c: Certificate, promise: PromiseRecord, asked: dict[str, Any]) -> str:
        lacking = [entry for entry in promise.statements if not _meets(entry, asked["coverage"])]
        right = _is_needed(c, lacking[0], asked["coverage"], promise.fixed) if lacking else not promise.fixed
        return "" if right else "another number of rows than would be needed"

    def statements(self, c: Certificate, promise: PromiseRecord, asked: dict[str, Any]) -> list[Expected]:
        labels = c.classes if asked["by_class"] else ("",)
        thresholds = [entry.threshold for entry in promise.statements] + [None] * len(labels)
        of = Fraction(len(labels))
        return [Expected(_LEFT_OUT, label, t, of) for label, t in zip(labels, thresholds, strict=False)]

    def decides(
        self, c: Certificate, promise: PromiseRecord, asked: dict[str, Any]
    ) -> tuple[int | None, tuple[float, ...], float | None]:
        return None, tuple(entry.threshold or 0.0 for entry in promise.statements), asked["coverage"]

    def agreements(self, c: Certificate, promise: PromiseRecord, asked: dict[str, Any]) -> Iterator[Agreement]:
        own, part = class_rows(c), c.deployed_part
        right = all(entry.n == (own.get(entry.label) if entry.label else part.n) for entry in promise.statements)
        wrong = sum(entry.errors or 0 for entry in promise.statements)
        right = right and wrong <= (part.errors or 0)
        yield "rows", right, f"{wrong:,} left out, of {sum(entry.n for entry in promise.statements):,}"
        # At the threshold 0 every class is in every set, and none can be left out.
        right = all(
            _on_grid(c, entry.threshold) and (_meets(entry, asked["coverage"]) if entry.threshold else not entry.errors)
            for entry in promise.statements
        )
        yield "thresholds", right, f"{', '.join(repr(entry.threshold) for entry in promise.statements[:5])}"
        if c.groups:
            known = {entry.label: entry.entities for entry in c.by_class if entry.kind == "error"}
            right = all(
                entry.entities == (known.get(entry.label) if entry.label else part.entities)
                for entry in promise.statements
            )
            yield "entities", right, f"{', '.join(str(entry.entities) for entry in promise.statements[:9])}"

    def count(
        self, c: Certificate, promise: PromiseRecord, asked: dict[str, Any], rows: PromiseRows
    ) -> Sequence[Counted]:
        return [_left_out(c, entry, entry.threshold or 0.0, rows) for entry in promise.statements]

    def chosen_well(
        self, c: Certificate, promise: PromiseRecord, asked: dict[str, Any], rows: PromiseRows
    ) -> Iterator[Agreement]:
        own = _own_masses(rows)
        for entry in promise.statements:
            among = _left_out(c, entry, 0.0, rows).among
            yield _is_largest(
                c,
                entry,
                asked["coverage"],
                own[among],
                lambda t, entry=entry: _left_out(c, entry, t, rows),  # type: ignore[misc]
                rows,
                _meets(entry, asked["coverage"]),
            )


def _own_masses(rows: PromiseRows) -> Array:
    assert rows.masses is not None
    return rows.masses[np.arange(len(rows.labels)), rows.labels]


def _left_out(c: Certificate, entry: Statement, threshold: float, rows: PromiseRows) -> Counted:
    among = rows.labels == c.classes.index(entry.label) if entry.label else rows.everything()
    return Counted(among, rows.wrong & (_own_masses(rows) < threshold))


def _is_largest(
    c: Certificate,
    entry: Statement,
    least: float,
    masses: Array,
    count: Callable[[float], Counted],
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
