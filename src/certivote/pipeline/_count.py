"""What the certification rows say about one vote: of all of them, or of those of one class, by the same code."""

from dataclasses import dataclass

import numpy as np

from certivote.theory.methods import Method
from certivote.theory.predictors import CountedRows, Evidence, Tally, Vote
from certivote.theory.risks import Labels, Loss
from certivote.votes import Votes

__all__ = ["CountedVote", "count_votes"]


@dataclass(frozen=True)
class CountedVote:
    """A vote and what was counted of it in one pass over the certification rows."""

    method: Method
    loss: Loss
    votes: Votes
    labels: Labels
    vote: Vote
    tally: Tally

    def evidence(self, delta: float, label: int | None = None) -> Evidence:
        """What a bound starts from: of all rows, or of those of one class, of which there must be some."""
        among = slice(None) if label is None else label
        rows = CountedRows(
            n=int(np.sum(self.tally.sizes[among])),
            errors=int(np.sum(self.tally.errors[among])),
            rounds=self.tally.rounds,
            take=lambda: self._rows(label),
            risk=lambda votes, labels: self.method.risk.smooth(self.vote.family, votes, labels, self.loss),
        )
        return self.method.predictor.evidence(self.vote, rows, delta)

    def _rows(self, label: int | None) -> tuple[Votes, Labels]:
        if label is None:
            return self.votes, self.labels
        rows = np.flatnonzero(self.labels == label)
        return self.votes.take(rows), self.labels[rows]


def count_votes(
    method: Method, loss: Loss, votes: Votes, labels: Labels, vote: Vote, rng: np.random.Generator
) -> CountedVote:
    """Count, class by class, what a vote does on the certification rows."""
    tally = method.predictor.tally(vote, votes, labels, loss, rng)
    return CountedVote(method, loss, votes, labels, vote, tally)
