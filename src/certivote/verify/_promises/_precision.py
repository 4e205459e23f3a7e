"""Precision: how often an answer of each class is wrong, and how often a class is missed among the other answers."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from certivote.certificate import Certificate, PromiseRecord
from certivote.verify._promises._rule import (
    Agreement,
    Counted,
    Expected,
    PromiseRows,
    Rule,
    class_rows,
    counted_rows,
    plurality_errors,
)


class Precision(Rule):
    """Statements about the answers: of two classes, one each; of more, two each."""

    name = "precision"
    called = "Precision"

    def statements(self, c: Certificate, promise: PromiseRecord, asked: dict[str, Any]) -> list[Expected]:
        kinds = ("imprecision", "omission") if len(c.classes) > 2 else ("imprecision",)
        of = Fraction(len(kinds) * len(c.classes))
        return [Expected(kind, label, None, of) for label in c.classes for kind in kinds]

    def agreements(self, c: Certificate, promise: PromiseRecord, asked: dict[str, Any]) -> Iterator[Agreement]:
        said = {entry.label: entry for entry in promise.statements if entry.kind == "imprecision"}
        rest = {entry.label: entry for entry in promise.statements if entry.kind == "omission"}
        n, own, (least, most) = counted_rows(c, promise), class_rows(c), plurality_errors(c, promise)
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

    def count(
        self, c: Certificate, promise: PromiseRecord, asked: dict[str, Any], rows: PromiseRows
    ) -> Sequence[Counted]:
        found = []
        for entry in promise.statements:
            code = c.classes.index(entry.label)
            said, true = rows.answers == code, rows.labels == code
            found.append(Counted(said, ~true) if entry.kind == "imprecision" else Counted(~said, true))
        return found
