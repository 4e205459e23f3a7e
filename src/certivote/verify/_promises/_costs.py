"""Costs: the expected cost of a case, from the probabilities of its levels or by bets on the costs themselves."""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from certivote.certificate import Certificate, Statement
from certivote.verify._check import Check
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
from certivote.verify._theorems import Terms, mean_terms

_LEVEL, _MEAN = "cost at least", "cost"
_LEVELS, _BETS = "levels", "bets"
_MOST_BETS = 100_000
"""Cases up to which bets are placed."""
_CLOSE = Fraction(1, 10**12)
"""How far above its value an expected cost, or a loss that is rounded up, may be, of itself."""


class Costs(Rule):
    """What a case costs depends on its true class and on the answer."""

    name = "costs"
    called = "Costs"
    names = ("costs",)
    looks_at_votes = True
    rounds_value = True

    def check(self, asked: dict[str, Any]) -> None:
        costs = asked["costs"]
        if not isinstance(costs, list) or not costs:
            raise ValueError("costs is no list of a true class, an answer and a cost each")
        for entry in costs:
            if not isinstance(entry, list) or len(entry) != 3:
                raise ValueError("costs has an entry that is not a true class, an answer and a cost")
            for label in entry[:2]:
                if not isinstance(label, str | bool):
                    number(label, -math.inf, math.inf, "a class")
            if number(entry[2], -math.inf, math.inf, "a cost") < 0.0:
                raise ValueError("a cost is below 0")

    def shown(self, asked: dict[str, Any]) -> str:
        pairs = ", ".join(f"({true!r}, {said!r}): {cost!r}" for true, said, cost in asked["costs"])
        return f"{self.called}({{{pairs}}})"

    def is_guided(self, p: Promised) -> bool | None:
        return p.is_trained and len(_positive(p)) > 1

    def is_fixed(self, p: Promised) -> str:
        if [fixed.what for fixed in p.fixed] != ["costs", "form"]:
            return "something other than the costs and the form"
        costs, form = p.fixed
        if costs.words != p.c.classes or len(costs.numbers) != len(p.c.classes) ** 2:
            return "not one cost for each true class and each answer"
        if min(costs.numbers) < 0.0 or not all(map(math.isfinite, costs.numbers)) or not max(costs.numbers) > 0.0:
            return "costs below 0, or none above it"
        if costs.numbers != _matrix(p):
            return "other costs than those that are asked for"
        if form.numbers or form.words not in ((_LEVELS,), (_BETS,)):
            return "neither levels nor bets"
        simple = len(_positive(p)) == 1 or p.part.size > _MOST_BETS
        untrained = _LEVELS if len(_positive(p)) == 2 and not p.c.groups else _BETS
        wanted = _LEVELS if simple else form.words[0] if p.is_trained else untrained
        return "" if form.words == (wanted,) else f"{form.words[0]}, where it must be {wanted}"

    def statements(self, p: Promised) -> list[Expected]:
        if p.fixed[1].words == (_BETS,):
            return [Expected(_MEAN, "", None, Fraction(1))]
        levels = _positive(p)
        return [Expected(_LEVEL, repr(level), level, Fraction(len(levels))) for level in levels]

    def agreements(self, p: Promised) -> Iterator[Agreement]:
        n, entries, levels = p.n_counted, p.statements, _positive(p)
        right = all(entry.n == n for entry in entries)
        right = right and all((one.errors or 0) >= (two.errors or 0) for one, two in pairwise(entries))
        if p.c.groups:
            right = right and all(entry.entities == p.part.entities for entry in entries)
        yield "rows", right, f"all {n:,}, and the higher the cost the fewer"
        if p.fixed[1].words == (_BETS,):
            exact = Fraction(levels[-1]) * Fraction(entries[0].bound)
        else:
            steps = [high - low for low, high in pairwise([Fraction(0), *map(Fraction, levels)])]
            exact = sum((step * Fraction(entry.bound) for step, entry in zip(steps, entries, strict=True)), Fraction())
        value = p.record.value
        right = value is not None and exact <= Fraction(value) <= exact * (1 + _CLOSE)
        yield "expected cost", right, f"{value!r}"

    def proved_by(self, p: Promised, terms: Terms, said: Statement, where: str) -> tuple[Terms, Check]:
        if said.kind != _MEAN:
            return super().proved_by(p, terms, said, where)
        own = mean_terms(p.c, terms)
        right = said.errors is not None and (said.risk_draws, said.risk_delta) == (0, 0.0)
        if own.places_bets or p.c.groups:
            right = right and len(said.losses) == said.size and not said.means
        else:
            right = right and len(said.means) == 1 and not said.losses
        if said.losses and not p.c.groups:
            right = right and sum(loss > 0.0 for loss in said.losses) == said.errors
            right = right and _are_costs(p, said.losses)
        right = right and (said.errors == 0) == (not any(said.losses or said.means))
        detail = (
            f"{said.errors} of {said.n} rows cost something, {', '.join(map(repr, said.risks))} of the largest cost"
        )
        return own, Check(f"{where}, risk", right, detail)

    def count(self, p: Promised, rows: PromiseRows) -> Sequence[StatementRows]:
        matrix = np.array(p.fixed[0].numbers).reshape(len(p.c.classes), len(p.c.classes))
        own = matrix[rows.labels, rows.answers]
        return [
            StatementRows(rows.everything(), own > 0.0, own / matrix.max())
            if entry.kind == _MEAN
            else StatementRows(rows.everything(), own >= threshold_of(entry))
            for entry in p.statements
        ]


def _matrix(p: Promised) -> tuple[float, ...]:
    """The cost of each answer to each class, row by row of the true class; right answers cost nothing if unsaid."""
    given = {(_place(p.c, true), _place(p.c, said)): float(cost) for true, said, cost in p.asked["costs"]}
    pairs = [(true, said) for true in range(len(p.c.classes)) for said in range(len(p.c.classes))]
    complete = all(pair in given for pair in pairs if pair[0] != pair[1]) and set(given) <= set(pairs)
    return tuple(given.get(pair, 0.0) for pair in pairs) if complete and len(given) == len(p.asked["costs"]) else ()


def _place(c: Certificate, label: Any) -> int | None:
    """The number of a class that may be written in another way: 1, 1.0 or True."""
    for place, name in enumerate(c.classes):
        if str(label) == name or (not isinstance(label, str) and _number(name) == float(label)):
            return place
    return None


def _number(name: str) -> float | None:
    try:
        return float({"True": "1", "False": "0"}.get(name, name))
    except ValueError:
        return None


def _positive(p: Promised) -> list[float]:
    """The different costs above 0, ascending."""
    return sorted({cost for cost in p.fixed[0].numbers if cost > 0.0})


def _are_costs(p: Promised, losses: tuple[float, ...]) -> bool:
    """Whether each loss is one of the costs in parts of the largest, rounded up by hardly anything."""
    costs = [Fraction(each) / Fraction(max(p.fixed[0].numbers)) for each in p.fixed[0].numbers]
    return all(any(share <= loss <= share * (1 + _CLOSE) for share in costs) for loss in map(Fraction, set(losses)))
