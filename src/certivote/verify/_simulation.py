"""The random vote, drawn anew: errors among simulated answers, and what they say about its expected error rate."""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import special

Array = NDArray[np.float64]
Labels = NDArray[np.intp]

_ANSWERS = 200_000
"""Answers that are simulated, unless that takes too many random numbers."""
_CHUNK = 500_000
"""Random numbers at a time: 4 MB, and the votes on these rows, which may be several times as large."""
_SURE = 20.0
"""Nats: a simulation speaks against a recorded limit if it would do so by chance once in exp of this."""


class AuditedVotes(Protocol):
    """What the auditor asks of the votes on some rows."""

    @property
    def n_voters(self) -> int:
        """How many voters there are."""

    def masses(self, weights: Array) -> Array:
        """Weight behind each class at each row."""

    def row_masses(self, weights: Array) -> Array:
        """The same where each row has weights of its own, of shape (n_rows, n_voters)."""

    def take(self, rows: NDArray[np.intp]) -> Any:
        """The votes on some of the rows, again as :class:`AuditedVotes`."""

    def digest(self) -> str:
        """What tells these votes from others."""


Simulation = Callable[[AuditedVotes, Array, Labels, str, int, Array | None], tuple[int, int]]
"""Votes, parameters, labels, loss, the most random numbers to draw and what each row counts for (None: all the same),
to errors and answers."""


def mistakes(masses: Array, labels: Labels, loss: str) -> NDArray[np.bool_]:
    """Which rows count as errors: a wrong answer (ties to the smallest class), or half of the weight or more wrong."""
    if loss == "plurality":
        return np.asarray(masses.argmax(axis=1) != labels)
    own = masses[np.arange(len(labels)), labels]
    return np.asarray(2.0 * own <= masses.sum(axis=1))


def dirichlet_half_tail(wrong: Array, total: Array, shares: Array | None = None) -> float:
    """Mean probability that votes drawn from a Dirichlet have half of their weight wrong or more.

    ``I_{1/2}(total - wrong, wrong)``, from the sums of the parameters of the voters that are wrong, and of all.
    """
    inside = (wrong > 0) & (wrong < total)
    tail = np.where(inside, 0.0, wrong > 0)
    tail[inside] = special.betainc(total[inside] - wrong[inside], wrong[inside], 0.5)
    return mean_over(tail, shares)


def mean_over(values: Array, shares: Array | None) -> float:
    """The mean over rows; or over entities, from what each row counts for."""
    return float(values.mean()) if shares is None else float((values * shares).sum())


def simulate_dirichlet(
    votes: AuditedVotes, parameters: Array, labels: Labels, loss: str, numbers: int, shares: Array | None = None
) -> tuple[int, int]:
    """Errors and answers of votes drawn from a Dirichlet: class masses are Dirichlet too, of sums of the parameters."""
    rng = np.random.default_rng(0)
    sums = votes.masses(parameters)
    errors, answers = 0, min(_ANSWERS, max(numbers // sums.shape[1], 1))
    with np.errstate(divide="ignore"):
        for chunk in _chunks(answers, sums.shape[1]):
            rows = _drawn_rows(rng, len(labels), chunk, shares)
            # Logarithms of gamma variables, which underflow themselves where the parameter is small.
            logs = np.log(rng.gamma(sums[rows] + 1.0)) + np.log(rng.random((chunk, sums.shape[1]))) / sums[rows]
            masses = np.exp(logs - logs.max(axis=1, keepdims=True)) if loss != "plurality" else logs
            errors += int(np.count_nonzero(mistakes(masses, labels[rows], loss)))
    return errors, answers


def simulate_logistic_normal(
    votes: AuditedVotes, parameters: Array, labels: Labels, loss: str, numbers: int, shares: Array | None = None
) -> tuple[int, int]:
    """Errors and answers of votes whose weights are the softmax of Gaussians, drawn anew for every answer."""
    rng = np.random.default_rng(0)
    means, precisions = np.split(parameters, 2)
    errors, answers = 0, min(_ANSWERS, max(numbers // votes.n_voters, 1))
    for chunk in _chunks(answers, votes.n_voters):
        rows = _drawn_rows(rng, len(labels), chunk, shares)
        points = means + rng.standard_normal((chunk, votes.n_voters)) / np.sqrt(precisions)
        weights = special.softmax(points, axis=1)
        errors += int(np.count_nonzero(mistakes(votes.take(rows).row_masses(weights), labels[rows], loss)))
    return errors, answers


def _drawn_rows(rng: np.random.Generator, n_rows: int, size: int, shares: Array | None) -> Labels:
    """Rows at random: any, or a random row of a random entity."""
    return rng.integers(n_rows, size=size) if shares is None else rng.choice(n_rows, size=size, p=shares)


def _chunks(answers: int, numbers_each: int) -> list[int]:
    """Sizes of the portions in which answers are simulated."""
    size = max(_CHUNK // numbers_each, 1)
    return [min(size, answers - start) for start in range(0, answers, size)]


def least_rate(errors: int, answers: int) -> float:
    """A lower limit of the expected error rate: ``min{p : kl(errors/answers || p) <= _SURE/answers}``, by bisection.

    The rows of the answers are drawn at random, so that these are independent and each is wrong with the mean
    probability: Chernoff's bound.
    """
    rate, low, high = errors / answers, 0.0, errors / answers
    while low < (middle := 0.5 * (low + high)) < high:
        gap = special.rel_entr(rate, middle) + special.rel_entr(1.0 - rate, 1.0 - middle)
        low, high = (middle, high) if gap > _SURE / answers else (low, middle)
    return low
