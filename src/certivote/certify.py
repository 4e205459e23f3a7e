"""From votes to a certificate: learn the posterior, draw once, count the errors, compute the bound."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certivote._version import __version__
from certivote.bounds import holdout, sample_bound
from certivote.certificate import SCHEMA_VERSION, Certificate, Sample
from certivote.learn import SOLVERS, Problem, Tick
from certivote.maths import dirichlet
from certivote.maths.beta_tail import half_tail
from certivote.methods import METHODS, Method, Setting
from certivote.risks import Labels, Loss, count_errors
from certivote.split import Split
from certivote.votes import Votes, fixed_point, plurality

__all__ = ["Ballot", "Plan", "certify"]

Array = NDArray[np.float64]

_SIMULATED = 200_000
"""Votes drawn, over all examples, to bound an expected risk without a closed form."""


@dataclass(frozen=True)
class Plan:
    """Everything that must be fixed before the certified rows are looked at."""

    method: str
    loss: Loss
    split: Split
    setting: Setting
    shares: tuple[float, ...]
    solver: str

    @property
    def sample_setting(self) -> Setting:
        """The setting of one sample: delta is divided among them."""
        return replace(self.setting, delta=self.setting.delta / len(self.shares))


@dataclass(frozen=True)
class Ballot:
    """The votes on one certified sample, and all else that its certificate states about it."""

    votes: Votes
    labels: Labels
    beta: Array
    teaching_rows: int
    copies: tuple[int, int]


@dataclass(frozen=True)
class _Evidence:
    """What the sample says about the certified predictor."""

    errors: int | None
    risks: tuple[float, ...]
    risk_draws: int = 0
    risk_delta: float = 0.0


def certify(
    plan: Plan,
    ballots: Sequence[Ballot],
    streams: Sequence[tuple[np.random.Generator, np.random.Generator]],
    classes: NDArray[Any],
    provisos: Sequence[str],
    tick: Tick,
) -> tuple[Certificate, tuple[Array, ...]]:
    """Learn from each ballot, certify, and deploy the vote with the smallest bound of its own.

    Parameters
    ----------
    streams : sequence of (training, draw)
        Random streams of each ballot, used nowhere else.
    classes : array
    provisos : sequence of str
        Assumptions that depend on the voters.

    Returns
    -------
    certificate : Certificate
    weights : tuple of arrays
        Of each ballot's vote; ``certificate.deployed`` says which of them is deployed.
    """
    outcomes = [_certify_one(plan, ballot, *pair, tick) for ballot, pair in zip(ballots, streams, strict=True)]
    certificate = _assemble(plan, [sample for sample, _ in outcomes], classes, provisos)
    return certificate, tuple(weights for _, weights in outcomes)


def _certify_one(
    plan: Plan, ballot: Ballot, training_rng: np.random.Generator, draw_rng: np.random.Generator, tick: Tick
) -> tuple[Sample, Array]:
    """Learn from one sample, draw its vote where the method draws one, and certify it.

    ``draw_rng`` must be used nowhere else: the draw has to be independent of the sample and of every number used in
    training.

    Returns
    -------
    sample : Sample
    weights : array
        The fixed-point weights of the certified vote; for the random vote, the Dirichlet parameters it draws with.
    """
    method, setting = METHODS[plan.method], plan.sample_setting
    votes, labels, beta, n = ballot.votes, ballot.labels, ballot.beta, ballot.votes.n_rows
    prior = beta if method.distribution == "dirichlet" else beta / beta.sum()
    problem = Problem(votes, labels, plan.loss, prior, method, setting)
    learned = SOLVERS[plan.solver](problem, training_rng, tick) if method.learns else prior
    log_weights: Array = np.empty(0)
    if method.certified == "the drawn vote":
        log_weights, _, _ = dirichlet.draw(learned, draw_rng)
        weights = fixed_point(log_weights)
    elif method.certified == "the random vote":
        weights = learned
    else:
        # The bounds of the mean vote hold for all weights at once, so also for those that are deployed.
        learned = weights = fixed_point(np.log(learned))
    evidence = _evidence(method, plan.loss, setting, votes, labels, weights, draw_rng)
    paid = replace(setting, delta=setting.delta - evidence.risk_delta)
    if method.drawn_penalty is not None:
        penalty = method.drawn_penalty(learned, prior, log_weights)[0]
    else:
        penalty = method.penalty(learned, prior, paid)[0]
    confidence = method.confidence(n, paid)
    prior_errors = count_errors(votes.masses(fixed_point(np.log(beta / beta.sum()))), labels, plan.loss)
    sample = Sample(
        n=n,
        errors=evidence.errors,
        risks=evidence.risks,
        delta=setting.delta,
        risk_draws=evidence.risk_draws,
        risk_delta=evidence.risk_delta,
        penalty=penalty,
        confidence=confidence,
        bound=method.form.bound(evidence.risks, penalty, confidence, n),
        distribution=method.distribution,
        alpha=tuple(learned.tolist()),
        beta=tuple(prior.tolist()),
        log_weights=tuple(log_weights.tolist()),
        teaching_rows=ballot.teaching_rows,
        copies=ballot.copies[0],
        copies_of_teaching_rows=ballot.copies[1],
        holdout_errors=prior_errors,
        holdout_bound=holdout(prior_errors, n, plan.setting.delta),
    )
    return sample, weights


def _evidence(
    method: Method,
    loss: Loss,
    setting: Setting,
    votes: Votes,
    labels: Labels,
    weights: Array,
    draw_rng: np.random.Generator,
) -> _Evidence:
    if method.certified == "the random vote":
        if loss == "half-weight" or votes.n_classes == 2:
            return _Evidence(None, (_exact_risk(votes, labels, weights),))
        return _simulated_risk(votes, labels, weights, 0.01 * setting.delta, draw_rng)
    errors = count_errors(votes.masses(weights), labels, loss)
    if method.certified != "the mean vote":
        return _Evidence(errors, (errors / votes.n_rows,))
    statistics, _ = method.risk(votes, labels, loss)(weights)
    # A mean of numbers in [0, 1] is off by less than 1e-13 of itself. Bounds increase in the first statistic and, if
    # there is a second, decrease in that.
    outward = [
        min(float(value) * margin, 1.0) for value, margin in zip(statistics, (1 + 1e-13, 1 - 1e-13), strict=False)
    ]
    return _Evidence(errors, tuple(outward))


def _exact_risk(votes: Votes, labels: Labels, alpha: Array) -> float:
    """Mean error of votes drawn from ``Dir(alpha)``: the mean of ``I_{1/2}(A - b_i, b_i)``, rounded up."""
    total = math.fsum(alpha)
    wrong = np.clip(votes.against(labels).forward(alpha), 0.0, total)
    return min(float(half_tail(wrong, total).mean()) * (1 + 1e-12) + 1e-12, 1.0)


def _simulated_risk(votes: Votes, labels: Labels, alpha: Array, delta: float, rng: np.random.Generator) -> _Evidence:
    """Upper limit of the mean plurality error of votes drawn from ``Dir(alpha)``, where it has no closed form.

    Votes are drawn independently for every example, so the errors are independent Bernoulli variables whose mean
    expectation is the risk: by Chernoff's bound, ``kl^{-1}(their mean || ln(1/delta) / their number)`` is above it with
    probability ``1 - delta``.
    """
    parameters = votes.masses(alpha)
    rounds = math.ceil(_SIMULATED / votes.n_rows)
    errors = 0
    for _ in range(rounds):
        errors += int(np.count_nonzero(plurality(dirichlet.draw_rows(parameters, rng)) != labels))
    draws = rounds * votes.n_rows
    return _Evidence(None, (sample_bound(errors / draws, -math.log(delta), draws),), draws, delta)


def _assemble(plan: Plan, samples: list[Sample], classes: NDArray[Any], provisos: Sequence[str]) -> Certificate:
    # With several samples every bound holds at once (each pays for its share of delta), so the choice is free.
    method = METHODS[plan.method]
    deployed = int(np.argmin([sample.bound for sample in samples]))
    average, theorem = None, method.theorem
    if len(samples) > 1:
        theorem = f"{method.theorem} at delta/{len(samples)} on its own part (the average: {method.cross_theorem})"
        accounts = [(sample.risks, sample.penalty, sample.confidence, sample.n) for sample in samples]
        average = method.form.average(accounts, plan.shares)
    bound = samples[deployed].bound
    return Certificate(
        schema_version=SCHEMA_VERSION,
        library_version=__version__,
        method=method.name,
        certified=method.certified,
        theorem=theorem,
        loss=plan.loss,
        split=plan.split,
        delta=plan.setting.delta,
        bound=bound,
        vacuous=bound >= 1.0,
        average_bound=average,
        deployed=deployed,
        shares=plan.shares,
        order=plan.setting.order if method.uses_order else None,
        constant=plan.setting.constant,
        solver=plan.solver,
        classes=tuple(str(label) for label in classes),
        parts=tuple(samples),
        remarks=_remarks(method, samples[deployed]),
        assumptions=(*_ASSUMPTIONS, *provisos),
    )


def _remarks(method: Method, sample: Sample) -> tuple[str, ...]:
    if method.two_classes and sample.bound >= 1.0:
        return (
            "the C-bound does not apply: it needs a mean wrong mass below one half, and the sample's "
            f"{sample.risks[0]:.4f} is only certified to be below a limit of one half or more",
        )
    return ()


_ASSUMPTIONS = (
    "The certified rows are independent draws from the population that the classifier will meet: no time order, "
    "groups, repeated entities, oversampling or augmentation reach across the parts, and no rows were dropped for "
    "their values.",
    "Preprocessing, feature selection and the hyper-prior were fixed without looking at the certified rows.",
    "The method, loss, delta, split, hyper-prior, voters and seed were fixed before fitting. If this is the best of G "
    "fits to the same rows, or chosen among several certificates, it may fail with probability up to G times delta: "
    "fit each with delta/G instead.",
    "The data were not collected until the certificate looked good.",
    "A case whose class the voters never saw counts as an error.",
)
