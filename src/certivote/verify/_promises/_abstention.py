"""Abstention: thresholds tested one after another for a target, or a curve of which all points hold at once."""

import sys
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from certivote.certificate import Certificate, PromiseRecord, Statement
from certivote.verify._promises._rule import (
    Agreement,
    Counted,
    Expected,
    PromiseRows,
    Rule,
    counted_rows,
    number,
    plurality_errors,
    threshold_of,
)

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

    def is_guided(self, c: Certificate, promise: PromiseRecord, asked: dict[str, Any]) -> bool | None:
        return True

    def is_fixed(self, c: Certificate, promise: PromiseRecord, asked: dict[str, Any]) -> str:
        named = [fixed.what for fixed in promise.fixed]
        if named != (["thresholds"] if asked["curve"] else ["thresholds", _NEEDED]):
            return f"{', '.join(named)[:200] or 'nothing'}, where thresholds are to be fixed"
        if any(fixed.words for fixed in promise.fixed) or any(len(fixed.numbers) > 1 for fixed in promise.fixed[1:]):
            return "words, or more numbers than there can be"
        if any(needed < 1.0 or not needed.is_integer() for fixed in promise.fixed[1:] for needed in fixed.numbers):
            return "rows needed that are no number of rows"
        sequence = promise.fixed[0].numbers
        if not sequence or not all(one > other for one, other in pairwise(sequence)):
            return "thresholds that do not descend"
        if sequence[-1] not in (0.0, -sys.float_info.max):
            return "a last threshold that does not answer everything"
        if asked["curve"] and len(sequence) > asked["curve"]:
            return f"{len(sequence)} thresholds for a curve of {asked['curve']}"
        return ""

    def statements(self, c: Certificate, promise: PromiseRecord, asked: dict[str, Any]) -> list[Expected]:
        sequence = promise.fixed[0].numbers
        if asked["curve"]:
            of = Fraction(2 * len(sequence))
            return [Expected(kind, "", threshold, of) for threshold in sequence for kind in (_WRONG, _SILENT)]
        tests = [Expected(_WRONG, "", threshold, _REST) for threshold in sequence[: _tested(promise, asked)]]
        chosen = self.decides(c, promise, asked)[0]
        if chosen is not None:
            tests.append(Expected(_SILENT, "", sequence[chosen], _FIFTIETH * len(sequence)))
        return tests

    def decides(
        self, c: Certificate, promise: PromiseRecord, asked: dict[str, Any]
    ) -> tuple[int | None, tuple[float, ...], float | None]:
        if asked["curve"]:
            return None, (), None
        last = _tested(promise, asked) - 1
        if last < len(promise.statements) and promise.statements[last].bound > asked["max_error"]:
            last -= 1
        return (last, (promise.fixed[0].numbers[last],), asked["max_error"]) if last >= 0 else (None, (), None)

    def agreements(self, c: Certificate, promise: PromiseRecord, asked: dict[str, Any]) -> Iterator[Agreement]:
        n, (_, most) = counted_rows(c, promise), plurality_errors(c, promise)
        tests = [entry for entry in promise.statements if entry.kind == _WRONG]
        right = all(map(_is_within, tests, tests[1:]))
        right = right and all(entry.n <= n and (entry.errors or 0) <= most for entry in tests)
        right = right and all(entry.n == n for entry in tests if entry.threshold == promise.fixed[0].numbers[-1])
        yield "rows", right, f"the lower the threshold the more are answered, of {n:,} up to {tests[-1].n:,}"
        answered = {entry.threshold: entry.n for entry in tests}
        silent = [entry for entry in promise.statements if entry.kind == _SILENT]
        right = all(entry.n == n and entry.errors == n - answered[entry.threshold] for entry in silent)
        yield "coverage", right, "what is not answered are all the other rows"
        if c.groups and not promise.set_aside:
            entities = c.deployed_part.entities
            right = all(entry.entities == entities for entry in silent)
            yield "entities", right, f"{entities:,} have rows that may be unanswered"

    def count(
        self, c: Certificate, promise: PromiseRecord, asked: dict[str, Any], rows: PromiseRows
    ) -> Sequence[Counted]:
        assert rows.scores is not None
        return [
            Counted(rows.scores >= threshold_of(entry), rows.wrong)
            if entry.kind == _WRONG
            else Counted(rows.everything(), rows.scores < threshold_of(entry))
            for entry in promise.statements
        ]


def _tested(promise: PromiseRecord, asked: dict[str, Any]) -> int:
    """How many thresholds were to be tested: up to and including the first that fails."""
    bounds = [entry.bound for entry in promise.statements[: len(promise.fixed[0].numbers)]]
    failed = [place for place, bound in enumerate(bounds) if bound > asked["max_error"]]
    return failed[0] + 1 if failed else len(promise.fixed[0].numbers)


def _is_within(one: Statement, other: Statement) -> bool:
    """Whether the rows of one statement can be among those of another, with their events."""
    wrong, more = one.errors or 0, other.errors or 0
    return wrong <= more and one.n - wrong <= other.n - more and one.entities <= other.entities
