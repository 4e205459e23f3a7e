"""Costs: the expected cost of a case, from the probabilities of its levels or by bets on the costs themselves."""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from flint import arb

from certivote.certificate import Certificate, PartRecord, PromiseRecord
from certivote.verify._account import SLACK, check_penalty
from certivote.verify._ball_maths import kl_limit_holds
from certivote.verify._betting import bets_hold
from certivote.verify._check import Check
from certivote.verify._methods import method_of
from certivote.verify._promises._rule import (
    Agreement,
    Counted,
    Expected,
    PromiseRows,
    Rule,
    counted_rows,
    is_trained,
    number,
    threshold_of,
)
from certivote.verify._theorems import confidence, delta_of_one, nats, penalty

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

    def is_guided(self, c: Certificate, promise: PromiseRecord, asked: dict[str, Any]) -> bool | None:
        return is_trained(c) and len(_positive(promise)) > 1

    def is_fixed(self, c: Certificate, promise: PromiseRecord, asked: dict[str, Any]) -> str:
        if [fixed.what for fixed in promise.fixed] != ["costs", "form"]:
            return "something other than the costs and the form"
        costs, form = promise.fixed
        if costs.words != c.classes or len(costs.numbers) != len(c.classes) ** 2:
            return "not one cost for each true class and each answer"
        if min(costs.numbers) < 0.0 or not all(map(math.isfinite, costs.numbers)) or not max(costs.numbers) > 0.0:
            return "costs below 0, or none above it"
        if costs.numbers != _matrix(c, asked):
            return "other costs than those that are asked for"
        if form.numbers or form.words not in ((_LEVELS,), (_BETS,)):
            return "neither levels nor bets"
        simple = len(_positive(promise)) == 1 or c.deployed_part.size > _MOST_BETS
        untrained = _LEVELS if len(_positive(promise)) == 2 and not c.groups else _BETS
        wanted = _LEVELS if simple else form.words[0] if is_trained(c) else untrained
        return "" if form.words == (wanted,) else f"{form.words[0]}, where it must be {wanted}"

    def statements(self, c: Certificate, promise: PromiseRecord, asked: dict[str, Any]) -> list[Expected]:
        if promise.fixed[1].words == (_BETS,):
            return [Expected(_MEAN, "", None, Fraction(1))]
        levels = _positive(promise)
        return [Expected(_LEVEL, repr(level), level, Fraction(len(levels))) for level in levels]

    def agreements(self, c: Certificate, promise: PromiseRecord, asked: dict[str, Any]) -> Iterator[Agreement]:
        n, entries, levels = counted_rows(c, promise), promise.statements, _positive(promise)
        right = all(entry.n == n for entry in entries)
        right = right and all((one.errors or 0) >= (two.errors or 0) for one, two in pairwise(entries))
        if c.groups:
            right = right and all(entry.entities == c.deployed_part.entities for entry in entries)
        yield "rows", right, f"all {n:,}, and the higher the cost the fewer"
        if promise.fixed[1].words == (_BETS,):
            exact = Fraction(levels[-1]) * Fraction(entries[0].bound)
        else:
            steps = [high - low for low, high in pairwise([Fraction(0), *map(Fraction, levels)])]
            exact = sum((step * Fraction(entry.bound) for step, entry in zip(steps, entries, strict=True)), Fraction())
        value = promise.value
        right = value is not None and exact <= Fraction(value) <= exact * (1 + _CLOSE)
        yield "expected cost", right, f"{value!r}"

    def count(
        self, c: Certificate, promise: PromiseRecord, asked: dict[str, Any], rows: PromiseRows
    ) -> Sequence[Counted]:
        matrix = np.array(promise.fixed[0].numbers).reshape(len(c.classes), len(c.classes))
        own = matrix[rows.labels, rows.answers]
        return [
            Counted(rows.everything(), own > 0.0, own / matrix.max())
            if entry.kind == _MEAN
            else Counted(rows.everything(), own >= threshold_of(entry))
            for entry in promise.statements
        ]


def _matrix(c: Certificate, asked: dict[str, Any]) -> tuple[float, ...]:
    """The cost of each answer to each class, row by row of the true class; right answers cost nothing if unsaid."""
    given = {(_place(c, true), _place(c, said)): float(cost) for true, said, cost in asked["costs"]}
    pairs = [(true, said) for true in range(len(c.classes)) for said in range(len(c.classes))]
    complete = all(pair in given for pair in pairs if pair[0] != pair[1]) and set(given) <= set(pairs)
    return tuple(given.get(pair, 0.0) for pair in pairs) if complete and len(given) == len(asked["costs"]) else ()


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


def _positive(promise: PromiseRecord) -> list[float]:
    """The different costs above 0, ascending."""
    return sorted({cost for cost in promise.fixed[0].numbers if cost > 0.0})


def check_mean(c: Certificate, promise: PromiseRecord, part: PartRecord, cost: arb, where: str) -> Iterator[Check]:
    """The bound on a mean of costs, as shares of the largest: by bets, or by the theorems that invert the kl."""
    bets = method_of(c).theorem in ("occam", "clopper-pearson", "occam-bets", "bets")
    losses, means = part.losses, part.statement.means
    right = part.errors is not None and (part.statement.risk_draws, part.statement.risk_delta) == (0, 0.0)
    if bets or c.groups:
        right = right and len(losses) == part.size and not means
        if not c.groups:
            right = right and sum(loss > 0.0 for loss in losses) == part.errors and _are_costs(promise, losses)
    else:
        right = right and not losses and len(means) == 1
    right = right and (part.errors == 0) == (not any(losses or means))
    told = f"{part.errors} of {part.n} rows cost something, {', '.join(map(repr, part.risks))} of the largest cost"
    yield Check(f"{where}, risk", right, told)
    if not right:
        return
    paid, sure = penalty(c, part, cost), confidence(c, part)
    yield check_penalty(c, part, cost, where)

    def holds(bound: arb) -> bool:
        if bets:
            return bets_hold(c.bets, losses, (-(paid + sure)).exp(), delta_of_one(c, part), bound)
        risk = sum(map(arb, losses), arb(0)) / len(losses) if losses else arb(means[0])
        return kl_limit_holds(risk, nats(c, part, cost) / part.size, bound)

    proved = part.bound <= 1.0 and holds(arb(part.bound))
    yield Check(f"{where}, bound", proved, f"the theorem's value is {'' if proved else 'not '}at most {part.bound!r}")
    same = part.bound == 0.0 or not holds(arb(part.bound) * (1 - SLACK))
    yield Check(f"{where}, numbers", same, f"they give {'this bound' if same else 'a smaller bound: one was changed'}")


def _are_costs(promise: PromiseRecord, losses: tuple[float, ...]) -> bool:
    """Whether each loss is one of the costs in parts of the largest, rounded up by hardly anything."""
    costs = [Fraction(each) / Fraction(max(promise.fixed[0].numbers)) for each in promise.fixed[0].numbers]
    return all(any(share <= loss <= share * (1 + _CLOSE) for share in costs) for loss in map(Fraction, set(losses)))
