"""The rows that promises are about: what a vote says of them, what is counted, and the columns."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certivote.theory.entities import Entities
from certivote.theory.methods import Method
from certivote.theory.predictors import CountedRows, Evidence, Tally, Vote
from certivote.theory.risks import Labels, Loss
from certivote.votes import Votes

Array = NDArray[np.float64]
Columns = Callable[[str], list[Any]]
"""A name to the values of that column in all rows, as Python has them."""


@dataclass(frozen=True)
class PromiseRows:
    """Some rows, and what one vote says of them.

    Attributes
    ----------
    labels, answers : array of int
        Codes of the true classes, and of those that the vote gives.
    masses : array of shape (n_rows, n_classes) or None
        What stands behind each class, from 0 to 1; None where only answers are known.
    scores : array or None
        How sure the vote is of its answer, larger for surer: the winner's mass minus the runner-up's, or what was given
        with the answers. None where neither is known.
    columns : Columns or None
        None where there is no table.
    entities : Entities or None
        Which rows belong together.
    order : function without arguments
        A random order of the rows, fixed beforehand, in which bets are placed where rows are by themselves. Only where
        it is asked for has anything random been used.
    """

    labels: Labels
    answers: Labels
    masses: Array | None
    scores: Array | None
    columns: Columns | None
    entities: Entities | None
    order: Callable[[], NDArray[np.intp]]

    @property
    def wrong(self) -> NDArray[np.bool_]:
        """Where the answer is not the true class."""
        return self.answers != self.labels

    def take(self, rows: NDArray[np.intp]) -> "PromiseRows":
        """Some of them."""

        def order() -> NDArray[np.intp]:
            places = np.full(len(self.labels), -1)
            places[rows] = np.arange(len(rows))
            chosen = places[self.order()]
            return np.asarray(chosen[chosen >= 0])

        return replace(
            self,
            labels=self.labels[rows],
            answers=self.answers[rows],
            masses=None if self.masses is None else self.masses[rows],
            scores=None if self.scores is None else self.scores[rows],
            columns=None if self.columns is None else _some(self.columns, rows),
            entities=None if self.entities is None else self.entities.among(rows),
            order=order,
        )


def _some(columns: Columns, rows: NDArray[np.intp]) -> Columns:
    def chosen(name: str) -> list[Any]:
        values = columns(name)
        return [values[row] for row in rows.tolist()]

    return chosen


def margins(masses: ArrayLike) -> Array:
    """By how much the largest mass of each row exceeds the second: 0 where they are tied.

    In double precision, also of masses in single precision: as when they were certified.

    Examples
    --------
    >>> margins(np.array([[0.5, 0.25, 0.25], [0.5, 0.5, 0.0]])).tolist()
    [0.25, 0.0]
    """
    top = np.partition(np.asarray(masses, dtype=float), -2, axis=1)[:, -2:]
    return np.asarray(top[:, 1] - top[:, 0])


Places = NDArray[np.intp]
Repeats = NDArray[np.int64]


@dataclass(frozen=True)
class CountedVote:
    """A vote and what was counted of it in one pass over the certification rows, which may belong to entities.

    Rows may stand for others like them: of row ``i`` there are then ``repeats[i]``, which belong to no entities.
    """

    method: Method
    loss: Loss
    votes: Votes
    labels: Labels
    entities: Entities | None
    vote: Vote
    tally: Tally
    repeats: Repeats | None = None

    def evidence(self, delta: float, rows: Places | None = None) -> Evidence:
        """What a bound on the error starts from: of all rows, or of some, of which there must be at least one."""
        entities, wrong = self.entities, self.tally.wrong
        if rows is not None:
            entities = None if entities is None else entities.among(rows)
            wrong = wrong[:, rows]
        repeats = None if self.repeats is None else self.repeats[rows] if rows is not None else self.repeats
        shares = None if entities is None else entities.shares
        counted = CountedRows(
            n=self.n_rows(rows),
            errors=how_many(wrong, repeats),
            rounds=self.tally.rounds,
            take=lambda: (self.votes, self.labels) if rows is None else (self.votes.take(rows), self.labels[rows]),
            risk=lambda votes, labels: self.method.risk.smooth(self.vote.family, votes, labels, self.loss, shares),
            entities=entities,
            losses=np.empty(0) if entities is None else self._losses(entities, wrong),
        )
        return self.method.predictor.evidence(self.vote, counted, delta)

    def events(self, happened: NDArray[np.bool_], rows: Places) -> Evidence:
        """The same for something else that happens at some of the rows and not at others."""
        among = happened[rows]
        errors = how_many(among, None if self.repeats is None else self.repeats[rows])
        losses = [] if self.entities is None else self.entities.among(rows).losses(among).tolist()
        return Evidence(self.n_rows(rows), self.count(rows), errors, losses=tuple(losses))

    def n_rows(self, rows: Places | None = None) -> int:
        """How many certification rows there are, or how many these are."""
        if self.repeats is None:
            return len(self.labels) if rows is None else len(rows)
        return int(self.repeats.sum() if rows is None else self.repeats[rows].sum())

    def count(self, rows: Places | None = None) -> int:
        """Entities that have rows, any or these; 0 where rows are by themselves."""
        if self.entities is None:
            return 0
        return self.entities.count if rows is None else len(np.unique(self.entities.codes[rows]))

    def _losses(self, entities: Entities, wrong: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Of each entity, the share of its rows that are wrong, over all rounds; of nothing where none is counted."""
        if not self.tally.rounds:
            return np.empty(0)
        return entities.losses(wrong.mean(axis=0) if self.tally.rounds > 1 else wrong[0])


def how_many(happened: NDArray[np.bool_], repeats: Repeats | None = None) -> int:
    """At how many rows something happened, where each stands for so many.

    Examples
    --------
    >>> how_many(np.array([True, False, True])), how_many(np.array([True, False, True]), np.array([2, 5, 1]))
    (2, 3)
    """
    return int(np.count_nonzero(happened)) if repeats is None else int((happened * repeats).sum())


def count_votes(
    method: Method,
    loss: Loss,
    votes: Votes,
    labels: Labels,
    vote: Vote,
    rng: np.random.Generator | None,
    entities: Entities | None = None,
    repeats: Repeats | None = None,
) -> CountedVote:
    """Count, class by class, what a vote does on the certification rows; ``rng`` is for a vote that is random."""
    tally = method.predictor.tally(vote, votes, labels, loss, rng)
    return CountedVote(method, loss, votes, labels, entities, vote, tally, repeats)
