"""Voters that are quick to fit on the cases of a grid, and pilots that foresee what they are told to."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from certivote.voters import OutOfSampleVotes, VoterSet
from certivote.votes import build_votes

SEEN = ([0, 1], [0, 2], [0, 1, 2])
"""Columns that each voter sees, of three with values 0, 1 and 2."""


class Tallies(VoterSet):
    """Voters that answer as most training rows with the same values; their own pilot, if none is given."""

    input_checks: ClassVar = {"dtype": float}
    needs_training = True

    def __init__(self, sketch=None):
        self.sketch = sketch

    def pilot(self, n_rows):
        return self if self.sketch is None else self.sketch

    def fit(self, X, y, classes, rng):
        counts = np.zeros((len(SEEN), 27, len(classes)))
        np.add.at(counts, (np.arange(len(SEEN)), cells(X), np.searchsorted(classes, y)[:, None]), 1.0)
        return FittedTallies(counts)


@dataclass(frozen=True)
class FittedTallies:
    """How many training rows of each class are in each cell, a table a voter."""

    counts: np.ndarray

    @property
    def n_voters(self):
        return len(self.counts)

    def votes(self, X):
        return self._most(self._alike(X))

    def out_of_sample(self, X, y, rows):
        others = self._alike(X[rows])
        others[np.arange(len(rows)), :, y[rows]] -= 1.0
        return OutOfSampleVotes(self._most(others), np.arange(self.n_voters))

    def _alike(self, X):
        return self.counts[np.arange(self.n_voters), cells(X)]

    def _most(self, counts):
        return build_votes(codes=counts.argmax(axis=2), n_classes=self.counts.shape[2])


def cells(X):
    """The cell of each row for each voter."""
    return np.stack([X[:, seen].astype(int) @ 3 ** np.arange(len(seen)) for seen in SEEN], axis=1)


class Foreseen(VoterSet):
    """A pilot that errs on a given share of the rows: on one of few rows, on another of many."""

    input_checks: ClassVar = {"dtype": float}
    needs_training = True

    def __init__(self, few, many, least=30):
        self.few, self.many, self.least = few, many, least

    def fit(self, X, y, classes, rng):
        codes = np.searchsorted(classes, y)
        errors = round((self.few if len(y) < self.least else self.many) * len(y))
        wrong = np.arange(len(y)) < errors
        return Answers(
            build_votes(codes=np.where(wrong, (codes + 1) % len(classes), codes)[:, None], n_classes=len(classes))
        )


@dataclass(frozen=True)
class Answers:
    """What was answered on the training rows."""

    known: object

    @property
    def n_voters(self):
        return 1

    def out_of_sample(self, X, y, rows):
        return OutOfSampleVotes(self.known, np.zeros(1, dtype=np.intp))
