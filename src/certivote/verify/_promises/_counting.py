"""Every statement of every promise, counted again from the rows, the votes on them and their columns."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from flint import arb, ctx

from certivote.certificate import Certificate, PromiseRecord, Statement
from certivote.certificate import counted as in_number
from certivote.verify._balls import BITS
from certivote.verify._check import Check, trusted
from certivote.verify._promises._record import RULES, place_of
from certivote.verify._promises._rule import Promised, PromiseRows, Rule, StatementRows
from certivote.verify._rows import random_numbers
from certivote.verify._simulation import Array, Labels
from certivote.verify._theorems import Terms, terms_of
from certivote.verify._units import entity_losses, renumbered

_CLOSE = 1e-12
"""How far masses, and means of costs, may be off: sums of floats are rounded otherwise on another processor."""
_SET_ASIDE = 0.2
_STREAM = "promises"
"""What sets rows aside, and puts the others in the order of bets."""
_LACKS = {
    "masses": "what stands behind each class is not known: give X and the model that has predict_proba",
    "scores": "how sure the answers are is not known: give scores=, or X and the model that has predict_proba",
    "columns": "columns are not known: give X or table= with their names",
}
FIELDS = ("statements[].n", "statements[].errors", "statements[].means", "statements[].losses", "statements[].entities")


@dataclass(frozen=True)
class PromiseData:
    """What is known of the certification rows besides their classes and the answers to them.

    Attributes
    ----------
    masses, scores : array or None
        What stands behind each class, and how sure each answer is: the largest mass minus the second, or given.
    column : function or None
        A name to the values of that column.
    """

    masses: Array | None = None
    scores: Array | None = None
    column: Callable[[str], list[Any]] | None = None

    def scored(self) -> Array | None:
        """How sure each answer is."""
        if self.scores is not None or self.masses is None:
            return self.scores
        ordered = np.sort(self.masses, axis=1)
        return np.asarray(ordered[:, -1] - ordered[:, -2])


def recount_promises(
    c: Certificate, labels: Labels, answers: Labels, data: PromiseData, entities: Labels | None
) -> Iterator[Check]:
    """Hold the statements of all promises but the bounds by class against the rows."""
    try:
        with ctx.workprec(BITS):
            terms = terms_of(c, c.deployed_part)
    except (ValueError, ZeroDivisionError):
        return  # the part's own checks have said so
    order, holds = np.arange(len(labels)), _prover(terms, entities)
    everything = PromiseRows(labels, answers, data.masses, data.scored(), data.column, entities, order, holds)
    for number, promise in enumerate(c.promises):
        rule, where = RULES.get(promise.name), place_of(c, number)
        if rule is None or promise.name == "by class":
            continue
        fields = tuple(f"promises[{number}].{name}" for name in (*FIELDS, "thresholds", "value"))
        known = {"answers": True, "masses": everything.masses, "scores": everything.scores, "columns": data.column}
        if known[rule.needs] is None:
            yield trusted(f"{where}, counted", _LACKS[rule.needs], *fields)
            continue
        rows = _kept(c, promise, terms, everything)
        if rows is None:
            yield trusted(f"{where}, counted", "which rows were set aside is known with groups=", *fields)
            continue
        try:
            with ctx.workprec(BITS):
                yield from _recount(c, promise, rule, rows, where)
        except (ArithmeticError, AssertionError, LookupError, TypeError, ValueError) as error:
            yield Check(f"{where}, counted", False, f"it cannot be counted: {error}")


def _kept(c: Certificate, promise: PromiseRecord, terms: Terms, rows: PromiseRows) -> PromiseRows | None:
    """The rows that are counted, without those that the recorded seed sets aside; None if that takes entities."""
    if c.groups and rows.entities is None and promise.set_aside:
        return None
    total = len(rows.labels) if rows.entities is None else int(rows.entities.max()) + 1
    units = random_numbers(c, _STREAM).permutation(total)
    aside = np.zeros(total, dtype=bool)
    if promise.set_aside:
        aside[units[: int(_SET_ASIDE * total)]] = True
    kept = np.flatnonzero(~(aside if rows.entities is None else aside[rows.entities]))
    places = np.cumsum(~aside) - 1
    column = rows.column

    def some(name: str) -> list[Any]:
        assert column is not None
        values = column(name)
        return [values[row] for row in kept.tolist()]

    return replace(
        rows,
        labels=rows.labels[kept],
        answers=rows.answers[kept],
        masses=None if rows.masses is None else rows.masses[kept],
        scores=None if rows.scores is None else rows.scores[kept],
        column=None if column is None else some,
        entities=None if rows.entities is None else renumbered(rows.entities[kept]),
        order=places[units[~aside[units]]] if _is_ordered(c, rows.entities) else np.arange(len(kept)),
        holds=_prover(terms, rows.entities[kept] if rows.entities is not None else None),
    )


def _is_ordered(c: Certificate, entities: Labels | None) -> bool:
    """Whether bets on rows are placed in a random order: those on entities have that of the entities."""
    return entities is None and c.bets == "in order"


def _prover(terms: Terms, entities: Labels | None) -> Callable[[StatementRows, Statement, arb], bool]:
    """Of rows, events and what the statement has of delta: whether its bound is proved to be at most a number."""

    def holds(counted: StatementRows, entry: Statement, bound: arb) -> bool:
        n, errors = int(np.count_nonzero(counted.among)), int(np.count_nonzero(counted.event & counted.among))
        if not n:
            return bool(bound >= 1)
        losses = _losses(counted, entities)
        return terms.holds(replace(entry, n=n, entities=len(losses), errors=errors, losses=losses, means=()), bound)

    return holds


def _losses(counted: StatementRows, entities: Labels | None) -> tuple[float, ...]:
    """Of each entity that has rows, the share of these at which the event happens."""
    if entities is None or not np.any(counted.among):
        return ()
    return entity_losses(counted.event[counted.among], renumbered(entities[counted.among]))


def _recount(c: Certificate, promise: PromiseRecord, rule: Rule, rows: PromiseRows, where: str) -> Iterator[Check]:
    n, recorded = len(rows.labels), c.deployed_part.n - promise.set_aside
    if n != recorded:
        yield Check(f"{where}, set aside", False, f"{recorded:,} rows are left by the record, {n:,} by the seed")
        return
    p = Promised(c, promise, rule.asked(promise))
    if problem := rule.is_fixed(p):
        yield Check(f"{where}, counted", False, f"it cannot be counted: {problem}")
        return
    found = rule.count(p, rows)
    problems = _differences(c, promise, found, rows)
    if problems:
        # A mass that is a threshold may be rounded otherwise here.
        raised = replace(
            rows,
            masses=None if rows.masses is None else rows.masses + _CLOSE,
            scores=None if rows.scores is None else rows.scores + _CLOSE,
        )
        problems = problems if _differences(c, promise, rule.count(p, raised), rows) else []
    for problem in problems:
        yield Check(f"{where}, counted", False, problem)
    if problems:
        return
    detail = f"{in_number(len(found), 'statement')} on {n:,} rows: rows and events as recorded"
    yield Check(f"{where}, counted", True, detail)
    for what, passed, detail in rule.chosen_well(p, rows):
        yield Check(f"{where}, {what} counted", passed, detail)


def _differences(c: Certificate, promise: PromiseRecord, found: Any, rows: PromiseRows) -> list[str]:
    """What is recorded of statements other than it is counted."""
    if len(found) != len(promise.statements):
        return [f"{len(promise.statements)} statements recorded, {len(found)} counted"]
    problems = []
    for entry, counted in zip(promise.statements, found, strict=True):
        n, happened = int(np.count_nonzero(counted.among)), int(np.count_nonzero(counted.among & counted.event))
        what = f"{entry.kind} {entry.label:.80}".rstrip()
        if (n, happened if n else None) != (entry.n, entry.errors):
            problems.append(f"{what}: {happened:,} of {n:,} counted, {entry.errors} of {entry.n:,} recorded")
        elif not _same_losses(entry, counted, rows, bool(c.groups)):
            problems.append(f"{what}: losses OTHER than recorded, or in another order")
    return problems


def _same_losses(entry: Statement, counted: StatementRows, rows: PromiseRows, grouped: bool) -> bool:
    """Whether the losses of entities, or of rows where these are not just 0 or 1, are those recorded."""
    if grouped and rows.entities is None:
        return True  # the line about groups says that nothing shows it
    if counted.losses is None:
        own = _losses(counted, rows.entities)
        return own == entry.losses and len(own) == entry.entities
    if rows.entities is None:
        if not entry.losses:
            return abs(float(np.mean(counted.losses)) - entry.means[0]) <= _CLOSE
        means = counted.losses[rows.order]
    else:
        means = np.bincount(rows.entities, weights=counted.losses) / np.bincount(rows.entities)
    return len(means) == len(entry.losses) and bool(np.all(np.abs(means - entry.losses) <= _CLOSE))
