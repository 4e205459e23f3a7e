"""What the certification rows say about one vote: of all of them, or of those of one class, by the same code."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certivote.theory.entities import Entities, mean_loss
from certivote.theory.methods import Method
from certivote.theory.predictors import CountedRows, Evidence, Tally, Vote
from certivote.theory.risks import Labels, Loss
from certivote.votes import Votes

__all__ = ["CountedVote", "count_votes"]


@dataclass(frozen=True)
class CountedVote:
    """A vote and what was counted of it in one pass over the certification rows, which may belong to entities."""

    method: Method
    loss: Loss
    votes: Votes
    labels: Labels
    entities: Entities | None
    vote: Vote
    tally: Tally

    def evidence(self, delta: float, label: int | None = None) -> Evidence:
        """What a bound starts from: of all rows, or of those of one class, of which there must be some."""
        among = slice(None) if label is None else label
        entities, rows = self.entities, None if label is None else np.flatnonzero(self.labels == label)
        if entities is not None and rows is not None:
            entities = entities.among(rows)
        shares = None if entities is None else entities.shares
        counted = CountedRows(
            n=int(np.sum(self.tally.sizes[among])),
            errors=int(np.sum(self.tally.errors[among])),
            rounds=self.tally.rounds,
            take=lambda: (self.votes, self.labels) if rows is None else (self.votes.take(rows), self.labels[rows]),
            risk=lambda votes, labels: self.method.risk.smooth(self.vote.family, votes, labels, self.loss, shares),
            entities=entities,
            losses=np.empty(0) if entities is None else self._losses(entities, rows),
        )
        return self.method.predictor.evidence(self.vote, counted, delta)

    def false_alarms(self, label: int) -> Evidence:
        """The same for the answer ``label`` to rows of other classes, of which there must be some."""
        others = np.flatnonzero(self.labels != label)
        errors = int(self.tally.alarms[label])
        if self.entities is None:
            return Evidence(errors, (errors / len(others),))
        losses = self.entities.among(others).losses(self.tally.answers[others] == label)
        return Evidence(errors, (mean_loss(losses),), losses=tuple(losses.tolist()))

    def count(self, label: int | None = None, others: bool = False) -> int:
        """Entities that have rows: any, of one class, or of all others; 0 where rows are by themselves."""
        if self.entities is None:
            return 0
        if label is None:
            return self.entities.count
        chosen = self.labels != label if others else self.labels == label
        return len(np.unique(self.entities.codes[chosen]))

    def _losses(self, entities: Entities, rows: NDArray[np.intp] | None) -> NDArray[np.float64]:
        """Of each entity, the share of its rows that are wrong, over all rounds; of nothing where none is counted."""
        if not self.tally.rounds:
            return np.empty(0)
        wrong = self.tally.wrong if rows is None else self.tally.wrong[:, rows]
        return entities.losses(wrong.mean(axis=0) if self.tally.rounds > 1 else wrong[0])


def count_votes(
    method: Method,
    loss: Loss,
    votes: Votes,
    labels: Labels,
    vote: Vote,
    rng: np.random.Generator,
    entities: Entities | None = None,
) -> CountedVote:
    """Count, class by class, what a vote does on the certification rows."""
    tally = method.predictor.tally(vote, votes, labels, loss, rng)
    return CountedVote(method, loss, votes, labels, entities, vote, tally)
