"""The bounds by class: errors within each class, and its false alarms."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from certivote.certificate import Certificate, PromiseRecord
from certivote.verify._methods import method_of
from certivote.verify._promises._rule import Agreement, Expected, Rule


class ByClass(Rule):
    """Every certificate has it. It is counted with the vote as a whole, since random votes have it too."""

    name = "by class"
    called = "ByClass"

    def statements(self, c: Certificate, promise: PromiseRecord, asked: dict[str, Any]) -> list[Expected]:
        kinds = ("error", "false alarm") if method_of(c).counts_errors and len(c.classes) > 2 else ("error",)
        of = Fraction(len(kinds) * len(c.classes))
        return [Expected(kind, label, None, of) for label in c.classes for kind in kinds]

    def agreements(self, c: Certificate, promise: PromiseRecord, asked: dict[str, Any]) -> Iterator[Agreement]:
        part, errors = c.deployed_part, [entry for entry in promise.statements if entry.kind == "error"]
        alarms = [entry for entry in promise.statements if entry.kind == "false alarm"]
        rows, others = [entry.n for entry in errors], [part.n - entry.n for entry in alarms]
        right = sum(rows) == part.n and others in ([], rows)
        yield "rows", right, f"those of the classes are {sum(rows):,} of {part.n:,}"
        if part.errors is not None:
            wrong, false = sum(entry.errors or 0 for entry in errors), sum(entry.errors or 0 for entry in alarms)
            # An error of the plurality is one class's false alarm; the half-weight loss counts no fewer.
            right = wrong == part.errors and (
                not alarms or false == wrong or (c.loss == "half-weight" and false < wrong)
            )
            yield "errors", right, f"those of the classes are {wrong:,} of {part.errors:,}"
        if c.groups:
            yield self._entities(part.entities, promise)

    def _entities(self, entities: int, promise: PromiseRecord) -> Agreement:
        """Every entity has rows of some class, and as many as have rows of one have rows of another than the others."""
        own = {entry.label: entry.entities for entry in promise.statements if entry.kind == "error"}
        others = {entry.label: entry.entities for entry in promise.statements if entry.kind == "false alarm"}
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
