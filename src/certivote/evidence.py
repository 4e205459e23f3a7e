"""What the certified rows say about one vote: of all of them, or of those of one class, by the same code."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certivote.bounds import sample_bound
from certivote.maths import dirichlet
from certivote.maths.beta_tail import half_tail
from certivote.methods import Method
from certivote.risks import Labels, Loss, mistakes
from certivote.votes import Votes, plurality

__all__ = ["Evidence", "Hearing", "hear"]

Array = NDArray[np.float64]

_SIMULATED = 200_000
"""Votes drawn, over all examples, to bound an expected risk without a closed form."""
_RISK_SHARE = 0.01
"""The part of delta that such a bound takes."""


@dataclass(frozen=True)
class Evidence:
    """The statistics that a bound starts from; the fields are those of :class:`certivote.records.Sample`."""

    errors: int | None
    risks: tuple[float, ...]
    risk_draws: int = 0
    risk_delta: float = 0.0


@dataclass(frozen=True)
class Hearing:
    """One vote before the certified rows, and what was counted in one pass over them.

    Attributes
    ----------
    sizes, errors, alarms : arrays of int, one entry a class
        Rows of the class, errors on them in all rounds, and rows of other classes that the vote gives to it.
    rounds : int
        Votes drawn a row to simulate the random vote; 1 for a vote that is fixed; 0 where nothing need be counted.
    """

    method: Method
    loss: Loss
    votes: Votes
    labels: Labels
    weights: Array
    sizes: NDArray[np.intp]
    errors: NDArray[np.intp]
    alarms: NDArray[np.intp]
    rounds: int

    def evidence(self, delta: float, label: int | None = None) -> Evidence:
        """Of all rows, or of those of one class, of which there must be some."""
        among = slice(None) if label is None else label
        errors, n = int(np.sum(self.errors[among])), int(np.sum(self.sizes[among]))
        if self.method.certified == "the random vote":
            if not self.rounds:
                return Evidence(None, (_exact_risk(*self._rows(label), self.weights),))
            # Independent Bernoulli variables whose mean expectation is the risk: Chernoff's bound.
            draws, share = self.rounds * n, _RISK_SHARE * delta
            return Evidence(None, (sample_bound(errors / draws, -math.log(share), draws),), draws, share)
        if self.method.certified != "the mean vote":
            return Evidence(errors, (errors / n,))
        votes, labels = self._rows(label)
        statistics, _ = self.method.risk(votes, labels, self.loss)(self.weights)
        # A mean of numbers in [0, 1] is off by less than 1e-13 of itself. Bounds increase in the first statistic and,
        # if there is a second, decrease in that.
        outward = [
            min(float(value) * margin, 1.0) for value, margin in zip(statistics, (1 + 1e-13, 1 - 1e-13), strict=False)
        ]
        return Evidence(errors, tuple(outward))

    def _rows(self, label: int | None) -> tuple[Votes, Labels]:
        if label is None:
            return self.votes, self.labels
        rows = np.flatnonzero(self.labels == label)
        return self.votes.take(rows), self.labels[rows]


def hear(
    method: Method, loss: Loss, votes: Votes, labels: Labels, weights: Array, draw_rng: np.random.Generator
) -> Hearing:
    """Count, class by class, what a vote with these weights does on the certified rows."""
    n_classes = votes.n_classes
    sizes = np.bincount(labels, minlength=n_classes)
    errors = alarms = np.zeros(n_classes, dtype=np.intp)
    if method.certified != "the random vote":
        masses = votes.masses(weights)
        errors = np.bincount(labels[mistakes(masses, labels, loss)], minlength=n_classes)
        said = plurality(masses)
        alarms = np.bincount(said[said != labels], minlength=n_classes)
        rounds = 1
    elif loss == "half-weight" or n_classes == 2:
        rounds = 0
    else:
        # Votes are drawn independently for every example and every round.
        rounds = math.ceil(_SIMULATED / votes.n_rows)
        parameters, repeated = np.tile(votes.masses(weights), (rounds, 1)), np.tile(labels, rounds)
        wrong = plurality(dirichlet.draw_rows(parameters, draw_rng)) != repeated
        errors = np.bincount(repeated[wrong], minlength=n_classes)
    return Hearing(method, loss, votes, labels, weights, sizes, errors, alarms, rounds)


def _exact_risk(votes: Votes, labels: Labels, alpha: Array) -> float:
    """Mean error of votes drawn from ``Dir(alpha)``: the mean of ``I_{1/2}(A - b_i, b_i)``, rounded up."""
    total = math.fsum(alpha)
    wrong = np.clip(votes.against(labels).forward(alpha), 0.0, total)
    return min(float(half_tail(wrong, total).mean()) * (1 + 1e-12) + 1e-12, 1.0)
