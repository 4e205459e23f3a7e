r"""Costs: the expected cost of a case, from a cost for every kind of error.

*What is said.* Of ``c(y, a)``, what it costs to answer ``a`` where the class is ``y``, the mean over new cases is at
most ``value``. Two forms can say so, and which one does is fixed before the rows are counted.

``levels``: with ``c_1 < ... < c_L`` the different costs that are not 0, and ``c_0 = 0``,

.. math:: E[c] = \sum_l (c_l - c_{l-1}) P[c \ge c_l],

and each probability has the exact tail of its count, at a part of delta. For two classes with costs of their own these
are two statements: about all errors, and about the dear ones.

``bets``: the losses ``c / c_L`` lie between 0 and 1, and their mean is bounded as that of entities is, by bets
(:mod:`certivote.maths.betting`), at all of delta; by theorems that invert the kl, as they are. Losses are rounded up.

*Why both hold for drawn votes.* Each is a test of a fixed vote at every level: the tail of the binomial distribution,
and the wealth of bets, which are placed in a random order that was fixed beforehand and for a target that does not
depend on the rows (Ville's inequality). The theorems of the ratio and of the Rényi divergence need ``E exp(m kl(mean,
mu)) <= xi(m)``, which is true of independent losses in [0, 1] (Maurer 2004). See :mod:`certivote.promises._ledger`.

*How the form is chosen.* By what both would give with as many rows, if costs came as they do for the vote on training
rows out of sample. That is a function of the vote and of the training rows: for each fixed vote, the form is fixed.
What was paid for learning depends on the certification rows and has no part in it. One level is always better by its
exact tail, and more than ten never are; beyond 100,000 cases a record would have to hold too many losses, so there it
is levels too. Without training rows it is levels for two different costs of rows by themselves, and bets otherwise: see
``benchmarks/costs.py`` for what either is worth.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certivote.certificate import Fixed, PromiseRecord, class_place, names_of, number_up, percent_up
from certivote.maths.rounding import float_above
from certivote.promises._base import Guide, Promise
from certivote.promises._ledger import Ledger
from certivote.promises._rows import Columns, PromiseRows
from certivote.promises._words import over_groups, seen
from certivote.theory.bets import by_entity
from certivote.theory.entities import mean_loss

Array = NDArray[np.float64]

_MOST_BETS = 100_000
"""Cases whose losses a record may hold one by one."""
_MOST_LEVELS = 10
"""Different costs up to which levels can be better."""
_FEW, _ORDERS = 10_000, 8
"""Up to so many cases bets are rehearsed in so many orders, and in one beyond."""
_MOST_TOLD = 6
"""Costs that are put into words one by one."""


class Costs(Promise):
    """The expected cost of a case.

    Parameters
    ----------
    costs : dictionary of (true class, answer) to cost
        What it costs to give this answer to a case of this class, in any unit: numbers from 0 on, for every pair of
        different classes. Right answers cost 0 unless they are given too.

    Examples
    --------
    >>> from certivote import certify_predictions
    >>> from certivote.promises import Costs
    >>> said = ["ill"] * 98 + ["well"] * 2 + ["ill"] * 10 + ["well"] * 390
    >>> costs = Costs({("ill", "well"): 20, ("well", "ill"): 1})
    >>> certificate = certify_predictions(["ill"] * 100 + ["well"] * 400, said, promises=[costs])
    >>> print(certificate.promises[1])
    With 95 % confidence, all at once: the mean cost of a case is at most 0.3147.
      a cost of 1 or more: at most 4.16 % of cases (12 of 500)
      a cost of 20 or more: at most 1.44 % of cases (2 of 500)
      costs: 20 for well where it is ill, 1 for ill where it is well
    """

    name = "costs"

    def __init__(self, costs: Mapping[tuple[Any, Any], float]) -> None:
        if not isinstance(costs, Mapping) or not costs:
            raise ValueError(
                "costs must be a dictionary such as {('ill', 'well'): 20, ('well', 'ill'): 1}, from (true class, "
                f"answer) to a cost; got {costs!r:.200}."
            )
        found = {_pair(pair): _cost(pair, cost) for pair, cost in costs.items()}
        if not any(found.values()):
            raise ValueError("costs must hold a cost that is not 0.")
        self.costs = {pair: found[pair] for pair in sorted(found, key=repr)}

    @property
    def parameters(self) -> dict[str, Any]:
        return {"costs": [[true, answer, cost] for (true, answer), cost in self.costs.items()]}

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> "Costs":
        rows = parameters["costs"]
        if parameters.keys() != {"costs"} or not isinstance(rows, list | tuple):
            raise ValueError(f"Costs has costs, a list of (true class, answer, cost); got {parameters!r:.200}.")
        if not all(isinstance(row, list | tuple) and len(row) == 3 for row in rows):
            raise ValueError(f"Costs has costs, a list of (true class, answer, cost); got {rows!r:.200}.")
        return cls({(_label(true), _label(answer)): cost for true, answer, cost in rows})

    def __repr__(self) -> str:
        return f"Costs({self.costs!r})"

    @property
    def _levels(self) -> list[float]:
        """The different costs that are not 0, in ascending order."""
        return sorted({cost for cost in self.costs.values() if cost})

    def check(self, classes: tuple[str, ...], columns: Columns | None) -> None:
        self._matrix(classes)

    def _matrix(self, classes: Sequence[str]) -> Array:
        """Costs by the numbers of the true class and of the answer."""
        matrix = np.full((len(classes), len(classes)), np.nan)
        np.fill_diagonal(matrix, 0.0)
        given: dict[tuple[int, int], tuple[Any, Any]] = {}
        for pair, cost in self.costs.items():
            true, answer = (class_place(label, classes) for label in pair)
            if true is None or answer is None:
                unknown = pair[0] if true is None else pair[1]
                raise ValueError(f"costs has the label {unknown!r}, which is none of the classes {', '.join(classes)}.")
            if (true, answer) in given:
                raise ValueError(f"costs has two costs for one pair: {given[true, answer]!r} and {pair!r}.")
            given[true, answer] = pair
            matrix[true, answer] = cost
        lacking = [f"({classes[true]}, {classes[answer]})" for true, answer in np.argwhere(np.isnan(matrix)).tolist()]
        if lacking:
            raise ValueError(
                f"costs has no cost for {', '.join(lacking[:10])}{' and others' if len(lacking) > 10 else ''}: give "
                "one for every (true class, answer) of different classes, 0 where it costs nothing."
            )
        return matrix

    def guide(self, columns: Columns | None, trained: bool) -> Guide:
        return "votes" if trained and 1 < len(self._levels) <= _MOST_LEVELS else "none"

    def make(self, ledger: Ledger) -> PromiseRecord:
        rows, matrix, levels = ledger.rows, self._matrix(ledger.classes), self._levels
        assert rows is not None
        costs, steps = matrix[rows.labels, rows.answers], _steps(levels)
        form = self._form(ledger, matrix)
        if form == "levels":
            everywhere, of = np.ones(len(costs), dtype=bool), len(levels)
            statements = [
                ledger.events("cost at least", repr(level), everywhere, costs >= level, of, threshold=level)
                for level in levels
            ]
            exact = sum(
                (step * Fraction(entry.bound) for step, entry in zip(steps, statements, strict=True)), Fraction()
            )
        else:
            statements = [ledger.mean("cost", "", _losses(costs, levels[-1]))]
            exact = Fraction(levels[-1]) * Fraction(statements[0].bound)
        return ledger.record(
            self.name,
            statements,
            self.parameters,
            fixed=(Fixed("costs", tuple(matrix.ravel().tolist()), ledger.classes), Fixed("form", (), (form,))),
            guide_rows=0 if ledger.guide is None else len(ledger.guide.labels),
            value=float_above(exact),
        )

    def _form(self, ledger: Ledger, matrix: Array) -> str:
        """The form that promises less, as far as can be told without the rows that are counted."""
        assert ledger.rows is not None
        entities, guide, levels = ledger.rows.entities, ledger.guide, self._levels
        size = len(ledger.rows.labels) if entities is None else entities.count
        if len(levels) == 1 or size > _MOST_BETS:
            return "levels"
        if len(levels) > _MOST_LEVELS:
            return "bets"
        if guide is None or not len(guide.labels):
            return "levels" if len(levels) == 2 and entities is None else "bets"
        theorem, setting = ledger.theorem, ledger.setting
        betting, price = by_entity(theorem, in_order=ledger.in_order), theorem.price(0.0, setting)
        costs = matrix[guide.labels, guide.answers]

        def bet(losses: Array, delta: float) -> float:
            found = []
            for each in _repeated(losses, guide, size):
                statistics = (mean_loss(each), *(each.tolist() if betting is not theorem else ()))
                found.append(betting.bound(statistics, price, size, replace(setting, delta=delta)))
            return math.fsum(found) / len(found)

        def counts(happened: NDArray[np.bool_], delta: float) -> float:
            if entities is not None:
                return bet(happened.astype(float), delta)
            return theorem.of_errors(float(happened.mean()) * size, price, size, replace(setting, delta=delta))

        share = setting.delta / len(levels)
        by_levels = sum(
            float(step) * counts(costs >= level, share) for step, level in zip(_steps(levels), levels, strict=True)
        )
        by_bets = levels[-1] * bet(_losses(costs, levels[-1]), setting.delta)
        return "levels" if by_levels <= by_bets else "bets"

    @staticmethod
    def sentences(record: PromiseRecord) -> list[str]:
        value = "not known" if record.value is None else f"at most {number_up(record.value)}"
        lines = [f"the mean cost of a case is {value}", *over_groups(record)]
        for entry in record.statements:
            if entry.threshold is not None:
                dear = f"a cost of {number_up(entry.threshold)} or more"
                lines.append(f"{dear}: at most {percent_up(entry.bound)} of cases ({seen(entry)})")
            elif entry.risks:
                largest = max((cost for fixed in record.fixed for cost in fixed.numbers), default=1.0)
                mean = f"{largest * entry.risks[0]:.4g}"
                lines.append(f"the mean cost seen is {mean}, with a cost in {entry.errors or 0:,} of {entry.n:,} rows")
        return [*lines, *_told(record)]


def _pair(pair: Any) -> tuple[Any, Any]:
    """A true class and an answer."""
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise ValueError(f"costs must have keys (true class, answer); got {pair!r:.200}.")
    return _label(pair[0]), _label(pair[1])


def _label(label: Any) -> Any:
    """A label that can be recorded."""
    plain = label.item() if isinstance(label, np.generic) else label
    if not isinstance(plain, str | int | float) or (isinstance(plain, float) and not math.isfinite(plain)):
        raise ValueError(f"costs must have labels that are text, numbers or booleans; got {label!r:.200}.")
    return plain


def _cost(pair: Any, cost: Any) -> float:
    """A cost as a number."""
    try:
        number = float(cost) if isinstance(cost, Real) and not isinstance(cost, bool) else math.nan
    except OverflowError:
        number = math.inf
    if not 0.0 <= number < math.inf:
        raise ValueError(f"costs must be finite numbers from 0 on; got {cost!r:.100} for {pair!r:.100}.")
    return number


def _steps(levels: Sequence[float]) -> list[Fraction]:
    """By how much each level exceeds the one before."""
    return [Fraction(high) - Fraction(low) for low, high in pairwise([0.0, *levels])]


def _losses(costs: Array, largest: float) -> Array:
    """Costs in parts of the largest, rounded up."""
    return np.where(costs > 0.0, np.clip(costs / largest * (1.0 + 2.0**-50), 1e-300, 1.0), 0.0)


def _repeated(losses: Array, guide: PromiseRows, size: int) -> Iterator[Array]:
    """The losses of so many rows, or entities, that are as those of the guide, in some orders: bets depend on it.

    Which orders depends on which losses there are, and not on where the rows stand.
    """
    each = np.sort(losses if guide.entities is None else guide.entities.losses(losses))
    rng = np.random.default_rng(0)
    for _ in range(_ORDERS if size <= _FEW else 1):
        yield np.resize(each[rng.permutation(len(each))], size)


def _told(record: PromiseRecord) -> list[str]:
    """The costs that were given, if there are few."""
    costs = next((fixed for fixed in record.fixed if fixed.what == "costs"), None)
    if costs is None or len(costs.numbers) != len(costs.words) ** 2:
        return []
    told = [
        f"{name} for {costs.words[place % len(costs.words)]} where it is {costs.words[place // len(costs.words)]}"
        for place, name in enumerate(names_of(list(costs.numbers)))
        if costs.numbers[place]
    ]
    if len(told) > _MOST_TOLD:
        return [f"costs of {len(told):,} kinds of answers, up to {number_up(max(costs.numbers))}"]
    return [f"costs: {', '.join(told)}"]
