"""Whose error is certified: how learned parameters become a vote, what is counted of it, and how it is worded."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from certivote.theory.bounds import sample_bound
from certivote.theory.entities import Entities, mean_loss
from certivote.theory.families import Family
from certivote.theory.risks import Labels, Loss, SmoothRisk, answers_and_mistakes, mistakes
from certivote.votes import Votes, fixed_point, plurality, row_blocks

__all__ = [
    "DRAWN",
    "FIXED",
    "GIVEN",
    "MEAN",
    "PREDICTORS",
    "RANDOM",
    "CountedRows",
    "Evidence",
    "Predictor",
    "Tally",
    "Vote",
    "fixed_weights",
]

Array = NDArray[np.float64]

_RISK_SHARE = 0.01
"""The part of delta that bounding a risk by simulation takes."""
_HARDLY = 1e-6
"""Of the largest weight that was fixed beforehand, the part below which a weight is 0: such a voter is not asked."""
_ONE = "It is one fixed classifier: the same case always gets the same answer."


@dataclass(frozen=True)
class Vote:
    """A vote that can be deployed.

    Attributes
    ----------
    family : Family
    parameters : array
        Of the posterior, as they are recorded.
    point : array
        What was drawn; empty where nothing is.
    weights : array of shape (n_voters,)
        Fixed-point numbers with sum 1; of the random vote, its mean weights.
    """

    family: Family
    parameters: Array
    point: Array
    weights: Array


@dataclass(frozen=True)
class Tally:
    """What was counted in one pass over the certification rows.

    Attributes
    ----------
    rounds : int
        Votes drawn for each row to simulate the random vote; 1 for a vote that is fixed; 0 where nothing need be
        counted.
    wrong : array of bool of shape (rounds, n_rows)
        On which rows it errs.
    answers : array of int
        Codes of the answers; empty for the random vote.
    """

    rounds: int
    wrong: NDArray[np.bool_]
    answers: Labels


@dataclass(frozen=True)
class CountedRows:
    """Some certification rows: how many, the errors on them in all rounds, and, where a bound asks, the rows.

    Attributes
    ----------
    take : () -> (votes, labels)
    risk : (votes, labels) -> smooth risk
        What the method's theorem is about.
    entities : Entities or None
        Which of the rows belong together.
    losses : array
        Of each entity, the share of its rows that are wrong, over all rounds.
    """

    n: int
    errors: int
    rounds: int
    take: Callable[[], tuple[Votes, Labels]]
    risk: Callable[[Votes, Labels], SmoothRisk]
    entities: Entities | None = None
    losses: Array = field(default_factory=lambda: np.empty(0))

    @property
    def size(self) -> int:
        """Independent cases: entities, or rows."""
        return self.n if self.entities is None else self.entities.count

    def evidence(self, errors: int | None, **rest: Any) -> "Evidence":
        """What a bound on these rows starts from."""
        return Evidence(self.n, 0 if self.entities is None else self.entities.count, errors, **rest)


@dataclass(frozen=True)
class Evidence:
    """What a bound on some rows starts from; the fields are those of :class:`certivote.certificate.Statement`."""

    n: int
    entities: int
    errors: int | None
    losses: tuple[float, ...] = ()
    means: tuple[float, ...] = ()
    risk_draws: int = 0
    risk_delta: float = 0.0


class Predictor(ABC):
    """What a method certifies.

    Attributes
    ----------
    name : str
        As it is recorded.
    who, how : str
        The subject of the promise, and a sentence on what kind of classifier it is.
    short : str
        The same in a table.
    draws : bool
        Whether weights are drawn once, so that several draws may be paid for.
    learns : bool
        Whether anything is learned from the certification rows.
    is_random : bool
        Whether every answer is drawn anew: such a predictor has no fixed answers.
    counts_errors : bool
        Whether the bound starts from the number of its errors, and not from a surrogate or an expectation.
    """

    name: ClassVar[str]
    who: ClassVar[str] = "this classifier"
    how: ClassVar[str]
    short: ClassVar[str]
    draws: ClassVar[bool] = False
    learns: ClassVar[bool] = True
    is_random: ClassVar[bool] = False
    counts_errors: ClassVar[bool] = True

    @abstractmethod
    def deploy(self, family: Family, parameters: Array, rng: np.random.Generator | None) -> Vote:
        """The vote that learned parameters become; ``rng`` is for draws, and None where nothing is drawn."""

    def tally(self, vote: Vote, votes: Votes, labels: Labels, loss: Loss, rng: np.random.Generator | None) -> Tally:
        """Count what the vote does on the certification rows; ``rng`` is for a vote that is random, otherwise None."""
        answers, wrong = answers_and_mistakes(votes, vote.weights, labels, loss)
        return Tally(1, wrong[None, :], answers)

    def evidence(self, vote: Vote, rows: CountedRows, delta: float) -> Evidence:
        """What a bound on the error of these rows starts from."""
        return rows.evidence(rows.errors, losses=tuple(rows.losses.tolist()))

    def error_rate(self, vote: Vote, votes: Votes, labels: Labels, loss: Loss) -> float:
        """Share of errors on some rows; of the random vote, in expectation."""
        return int(np.count_nonzero(answers_and_mistakes(votes, vote.weights, labels, loss)[1])) / votes.n_rows

    def log_masses(self, vote: Vote, votes: Votes, rng: np.random.Generator) -> Array | None:
        """Logarithms of the class masses that answer each row, where these are drawn anew; otherwise None."""
        return None


class _Drawn(Predictor):
    name = "the drawn vote"
    how = f"{_ONE} (A majority vote whose weights were drawn once.)"
    short = "one vote, drawn once"
    draws = True

    def deploy(self, family: Family, parameters: Array, rng: np.random.Generator | None) -> Vote:
        assert rng is not None
        draw = family.draw(parameters, rng)
        return Vote(family, parameters, draw.point, fixed_point(draw.log_weights))


class _Random(Predictor):
    name = "the random vote"
    who = "this randomised predictor, averaged over its draws,"
    how = (
        "It is not one fixed classifier: it draws a new vote for every case, and the same case may get different "
        "answers. No single vote is certified."
    )
    short = "a vote drawn for every case"
    is_random = True
    counts_errors = False

    def deploy(self, family: Family, parameters: Array, rng: np.random.Generator | None) -> Vote:
        return Vote(family, parameters, np.empty(0), family.mean_weights(parameters))

    def tally(self, vote: Vote, votes: Votes, labels: Labels, loss: Loss, rng: np.random.Generator | None) -> Tally:
        nothing = np.empty(0, dtype=np.intp)
        if vote.family.exact and (loss == "half-weight" or votes.n_classes == 2):
            return Tally(0, np.zeros((0, votes.n_rows), dtype=bool), nothing)
        assert rng is not None
        rounds = math.ceil(vote.family.simulated_votes(votes.n_voters) / votes.n_rows)
        # Draws follow one another, so blocks do too.
        wrong = [_drawn_mistakes(vote, own, labels[rows], loss, rng, rounds) for rows, own in row_blocks(votes)]
        return Tally(rounds, np.concatenate(wrong, axis=1), nothing)

    def evidence(self, vote: Vote, rows: CountedRows, delta: float) -> Evidence:
        shares = None if rows.entities is None else rows.entities.shares
        if not rows.rounds:
            return rows.evidence(None, means=(vote.family.exact_risk(*rows.take(), vote.parameters, shares),))
        # Independent variables in [0, 1], one for every case and round, whose mean expectation is the risk: Chernoff's
        # bound, in the form of Hoeffding.
        draws, share = rows.rounds * rows.size, _RISK_SHARE * delta
        rate = rows.errors / draws if rows.entities is None else mean_loss(rows.losses)
        limit = sample_bound(rate, -math.log(share), draws)
        return rows.evidence(None, means=(limit,), risk_draws=draws, risk_delta=share)

    def error_rate(self, vote: Vote, votes: Votes, labels: Labels, loss: Loss) -> float:
        return float(vote.family.expected_risk(votes, labels, loss)(vote.parameters)[0])

    def log_masses(self, vote: Vote, votes: Votes, rng: np.random.Generator) -> Array | None:
        return vote.family.draw_log_masses(votes, vote.parameters, rng)


class _Mean(Predictor):
    name = "the mean vote"
    how = f"{_ONE} (The majority vote with the learned weights themselves.)"
    short = "the vote of the mean weights"
    counts_errors = False

    def deploy(self, family: Family, parameters: Array, rng: np.random.Generator | None) -> Vote:
        # The bounds of the mean vote hold for all weights at once, so also for those that are deployed.
        weights = fixed_point(np.log(parameters))
        return Vote(family, weights, np.empty(0), weights)

    def evidence(self, vote: Vote, rows: CountedRows, delta: float) -> Evidence:
        statistics, _ = rows.risk(*rows.take())(vote.weights)
        return rows.evidence(rows.errors, means=_outward(statistics))


class _Fixed(Predictor):
    name = "the fixed vote"
    how = f"{_ONE} (A majority vote with weights fixed before the certification rows were looked at.)"
    short = "a classifier fixed beforehand"
    learns = False

    def deploy(self, family: Family, parameters: Array, rng: np.random.Generator | None) -> Vote:
        weights = fixed_weights(parameters)
        return Vote(family, weights, np.empty(0), weights)


class _Given(_Fixed):
    """One model that someone else has trained, or the answers of one: the certificate is about these alone."""

    name = "the given model"
    who = "this model"
    how = _ONE
    short = "a model fixed beforehand"


def fixed_weights(mean: Array) -> Array:
    """The weights that are fixed beforehand, from the mean of a hyper-prior: the same without what hardly counts.

    Examples
    --------
    >>> fixed_weights(np.array([0.75, 0.25 - 1e-9, 1e-9])).round(6).tolist()
    [0.75, 0.25, 0.0]
    """
    with np.errstate(divide="ignore"):
        return fixed_point(np.log(np.where(mean < _HARDLY * mean.max(), 0.0, mean)))


def _drawn_mistakes(
    vote: Vote, votes: Votes, labels: Labels, loss: Loss, rng: np.random.Generator, rounds: int
) -> NDArray[np.bool_]:
    """On which rows the random vote errs, round by round."""
    log_masses = vote.family.draw_log_masses(votes, vote.parameters, rng, rounds)
    repeated = np.tile(labels, rounds)
    wrong = plurality(log_masses) != repeated if loss == "plurality" else mistakes(np.exp(log_masses), repeated, loss)
    return wrong.reshape(rounds, -1)


def _outward(statistics: Sequence[float]) -> tuple[float, ...]:
    """Statistics of the mean vote, rounded so that a bound can only grow.

    A mean of numbers in [0, 1] is off by less than 1e-13 of itself. Bounds increase in the first statistic and, if
    there is a second, decrease in that.
    """
    return tuple(
        min(float(value) * margin, 1.0) for value, margin in zip(statistics, (1 + 1e-13, 1 - 1e-13), strict=False)
    )


DRAWN, RANDOM, MEAN, FIXED, GIVEN = _Drawn(), _Random(), _Mean(), _Fixed(), _Given()

PREDICTORS: dict[str, Predictor] = {predictor.name: predictor for predictor in (DRAWN, RANDOM, MEAN, FIXED, GIVEN)}
"""All predictors by name."""
