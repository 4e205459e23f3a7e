r"""What one vote has paid, and what a promise about it has of delta: all that turns counts into statements.

*The lemma that all promises share.* The proof of Occam's hammer uses of the binomial tail only this: for each fixed
weight vector there is a p-value, uniform or larger, such that failure at level ``u`` implies ``p <= u``. So whatever
can be tested of a fixed vote at every level holds for the drawn vote at the level of its own draw: the same draw, the
same price ``delta b(1/theta)``. Without learning it is the plain test. The theorems of the ratio and of the Rényi
divergence need of the statistic only that ``E exp(n_A kl(k_A/n_A, p_A)) <= xi(n_A)`` for each fixed vote, given which
rows satisfy the condition: they hold with ``n_A`` in place of ``n``.

*Conditions and events.* A condition ``A`` and an event ``L`` are functions of the case, its class and the vote. Given
which rows satisfy ``A``, the events on them are independent with probability ``P[L | A]``, so the tail of the binomial
distribution on ``(k_A, n_A)`` is the test. Without rows the bound is 1. Which statements are made, and their
thresholds, groups and costs, are fixed before the rows are counted.

*Several statements at once.* Each of ``K`` has ``1/K`` of what the promise has (the union bound). Statements that are
tested one after another until one fails each have all of it: see :mod:`certivote.promises._sequence`.
"""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certivote.certificate import Fixed, PromiseRecord, Statement
from certivote.maths.betting import betting_upper, order_free_upper
from certivote.promises._rows import CountedVote, PromiseRows, Repeats, how_many
from certivote.theory.bets import by_entity
from certivote.theory.bounds import holdout
from certivote.theory.entities import Entities, mean_loss
from certivote.theory.predictors import Evidence
from certivote.theory.theorems import Setting, Theorem

Mask = NDArray[np.bool_]
_NOTHING = Evidence(n=0, entities=0, errors=None)


@dataclass(frozen=True)
class Ledger:
    """The account of the deployed vote, for one promise.

    Attributes
    ----------
    counted : CountedVote
    classes : tuple of str
    rows : PromiseRows or None
        The certification rows that are counted; None for votes without fixed answers.
    guide : PromiseRows or None
        Rows that are not counted, by which a promise fixes thresholds and groups: training rows with out-of-sample
        votes, or certification rows that were set aside. None where no promise needs any.
    kept : array of int
        Numbers of ``rows`` among the rows of ``counted``.
    setting : Setting
        Of the promise: its delta is what one draw and one order have.
    delta : float
        What the promise has, of which its part of the split has ``part_delta``.
    part_delta : float
    penalty : float
        Nats for what was learned, as in the part's own bound.
    in_order : bool
        Whether bets are placed one after another, in a random order; otherwise they need none.
    """

    counted: CountedVote
    classes: tuple[str, ...]
    rows: PromiseRows | None
    guide: PromiseRows | None
    kept: NDArray[np.intp]
    setting: Setting
    delta: float
    part_delta: float
    penalty: float
    in_order: bool = True

    @property
    def theorem(self) -> Theorem:
        """The theorem of the vote."""
        return self.counted.method.theorem

    @property
    def set_aside(self) -> int:
        """Certification rows that are not counted, since they guide."""
        return len(self.counted.labels) - len(self.kept)

    def errors(self, kind: str, label: str, among: Mask, of: float) -> Statement:
        """A bound on the vote's error, as its loss says, among some of all certification rows: one of ``of``."""
        rows = np.flatnonzero(among)
        evidence = self.counted.evidence(self.setting.delta / of, rows) if len(rows) else _NOTHING
        return self._statement(evidence, self.theorem, of, kind, label)

    def events(
        self, kind: str, label: str, among: Mask, event: Mask, of: float = 1, threshold: float | None = None
    ) -> Statement:
        """A bound on the probability of an event given a condition, both masks over ``rows``: one of ``of``."""
        places = np.flatnonzero(among)
        rows = self.kept[places]
        happened = np.zeros(len(self.counted.labels), dtype=bool)
        happened[self.kept] = event
        evidence = self.counted.events(happened, rows) if len(rows) else _NOTHING
        return self._statement(evidence, self.theorem, of, kind, label, threshold)

    def mean(self, kind: str, label: str, losses: NDArray[np.float64], of: float = 1) -> Statement:
        """A bound on the mean of losses in [0, 1], one per row of ``rows``, by bets: one of ``of``.

        Theorems that invert the kl hold for such means as they are. Losses that are no floats should be given rounded
        up, by some units in the last place; their means over the rows of an entity are rounded up here.
        """
        assert self.rows is not None
        entities, theorem = self.rows.entities, by_entity(self.theorem, in_order=self.in_order)
        if entities is None:
            each = losses[self.rows.order()]
        else:
            # A sum of k numbers in floating point is off by less than k 2^-52 of itself.
            each = np.minimum(entities.losses(losses) * (1.0 + 2.0**-52 * (entities.sizes + 2)), 1.0)
        bets = theorem is not self.theorem or entities is not None
        evidence = Evidence(
            n=len(losses),
            entities=0 if entities is None else entities.count,
            errors=int(np.count_nonzero(losses)),
            losses=tuple(each.tolist()) if bets else (),
            means=() if bets else (mean_loss(each),),
        )
        return self._statement(evidence, theorem, of, kind, label)

    def _statement(
        self, evidence: Evidence, theorem: Theorem, of: float, kind: str, label: str, threshold: float | None = None
    ) -> Statement:
        bound = by_theorem(theorem, replace(self.setting, delta=self.setting.delta / of), self.penalty)
        return stated(evidence, self.part_delta / of, bound, kind, label, threshold)

    def record(
        self,
        name: str,
        statements: list[Statement],
        parameters: dict[str, Any] | None = None,
        *,
        fixed: tuple[Fixed, ...] = (),
        guide_rows: int = 0,
        chosen: int | None = None,
        thresholds: tuple[float, ...] = (),
        value: float | None = None,
    ) -> PromiseRecord:
        """The record of a promise; ``guide_rows``: how many of the guide's rows have fixed something."""
        return PromiseRecord(
            name=name,
            parameters=tuple((key, json.dumps(value, ensure_ascii=False)) for key, value in (parameters or {}).items()),
            delta=self.delta,
            fixed=fixed,
            guide_rows=guide_rows,
            set_aside=self.set_aside,
            statements=tuple(statements),
            chosen=chosen,
            thresholds=thresholds,
            value=value,
        )


# From counts to a statement: the one way in which anything said of a fixed vote becomes a record


def stated(
    evidence: Evidence,
    delta: float,
    bound: Callable[[Statement], float],
    kind: str,
    label: str = "",
    threshold: float | None = None,
) -> Statement:
    """What some rows say of an event: ``bound`` makes the bound from the counts; without rows it is 1."""
    counts = Statement(kind=kind, label=label, threshold=threshold, **vars(evidence), delta=delta, bound=1.0)
    return replace(counts, bound=bound(counts)) if counts.n else counts


def by_theorem(theorem: Theorem, setting: Setting, penalty: float) -> Callable[[Statement], float]:
    """The bound of a vote that has paid a penalty for what was learned; the setting has the delta of one draw."""

    def bound(counts: Statement) -> float:
        left = replace(setting, delta=setting.delta - counts.risk_delta)
        return theorem.bound(counts.statistics, penalty, counts.size, left)

    return bound


def fixed_statement(
    kind: str,
    label: str,
    wrong: NDArray[np.bool_],
    delta: float,
    entities: Entities | None = None,
    repeats: Repeats | None = None,
    in_order: bool = True,
) -> Statement:
    """A bound on the error of a classifier that was fixed beforehand, by Clopper and Pearson or by bets on entities.

    Examples
    --------
    >>> found = fixed_statement("hold-out", "", np.array([True, False, False, False]), 0.05)
    >>> found.errors, found.n, round(found.bound, 4)
    (1, 4, 0.7514)
    """
    n = len(wrong) if repeats is None else int(repeats.sum())
    losses = () if entities is None else tuple(entities.losses(wrong).tolist())
    evidence = Evidence(n, 0 if entities is None else entities.count, how_many(wrong, repeats), losses=losses)

    def bound(counts: Statement) -> float:
        level = math.log(delta)
        if entities is None:
            return holdout(counts.errors or 0, counts.n, delta)
        return betting_upper(losses, level, level) if in_order else order_free_upper(losses, level)

    return stated(evidence, delta, bound, kind, label)
