"""From counts to a statement: the one way in which anything said of a fixed vote becomes a record."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from certivote.certificate import Statement
from certivote.maths.betting import betting_upper, order_free_upper
from certivote.promises._count import Repeats, how_many
from certivote.theory.bounds import holdout
from certivote.theory.entities import Entities
from certivote.theory.predictors import Evidence
from certivote.theory.theorems import Setting, Theorem


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
