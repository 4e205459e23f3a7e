"""From votes to a certificate: learn the posterior, draw once, count the errors, compute the bound."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certivote._version import __version__
from certivote.bounds import holdout, log_constant
from certivote.by_class import class_bounds
from certivote.certificate import SCHEMA_VERSION, Certificate, ClassBound, Payment, Sample
from certivote.evidence import Evidence, Hearing, hear
from certivote.forms import BinomialForm, average_of_bounds
from certivote.learn import SOLVERS, Problem, Tick, expected_bound
from certivote.maths import dirichlet
from certivote.methods import METHODS, Method, Setting
from certivote.risks import Labels, Loss, count_errors
from certivote.split import Split
from certivote.votes import Votes, fixed_point

__all__ = ["Ballot", "HyperPrior", "Plan", "certify"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class HyperPrior:
    """Dirichlet parameters, and the weight of this hyper-prior among those that the learner may choose from."""

    beta: Array
    weight: float = 1.0


@dataclass(frozen=True)
class Plan:
    """Everything that must be fixed before the certified rows are looked at.

    Attributes
    ----------
    setting : Setting
        Of the whole certificate; its order and its prior_nats are set for each candidate.
    shares : tuple of float
        One a sample: its weight in the average.
    orders : tuple of float
        Orders of the Rényi divergence that the learner may choose from; each has its part of delta.
    n_draws : int
        Votes drawn, each at its part of delta, of which the one with the smallest bound is kept.
    prior, choices : str and tuple of str
        How the hyper-prior came about, and what was chosen automatically, for the record.
    """

    method: str
    loss: Loss
    split: Split | int
    setting: Setting
    shares: tuple[float, ...]
    solver: str
    orders: tuple[float, ...] = (1.5,)
    n_draws: int = 1
    prior: str = "given"
    choices: tuple[str, ...] = ()

    @property
    def sample_delta(self) -> float:
        """What one sample may spend: delta is divided among them."""
        return self.setting.delta / len(self.shares)

    def candidates(self) -> list[Setting]:
        """The settings that the learner may choose from, each with what is left of delta for one draw."""
        method = METHODS[self.method]
        orders = self.orders if method.uses_order else self.orders[:1]
        draws = self.n_draws if method.certified == "the drawn vote" else 1
        delta = self.sample_delta / (draws * len(orders))
        return [replace(self.setting, delta=delta, order=order) for order in orders]


@dataclass(frozen=True)
class Ballot:
    """The votes on one certified sample, and all else that its certificate states about it."""

    votes: Votes
    labels: Labels
    priors: tuple[HyperPrior, ...]
    teaching_rows: int
    copies: tuple[int, int]
    digests: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class _Learned:
    """What was chosen before the draw."""

    parameters: Array
    prior: Array
    prior_weight: float
    setting: Setting


@dataclass(frozen=True)
class _Attempt:
    """One vote and its bound."""

    number: int
    parameters: Array
    log_weights: Array
    hearing: Hearing
    evidence: Evidence
    paid: Setting
    penalty: float
    confidence: float
    bound: float


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
    if METHODS[plan.method].distribution == "categorical" and len(ballots[0].priors) > 1:
        plan = replace(plan, prior="equal weights")
    outcomes = [_certify_one(plan, ballot, *pair, tick) for ballot, pair in zip(ballots, streams, strict=True)]
    samples = [sample for sample, _, _ in outcomes]
    # With several samples every bound holds at once (each pays for its share of delta), so the choice is free.
    deployed = int(np.argmin([sample.bound for sample in samples]))
    _, learned, kept = outcomes[deployed]
    by_class = class_bounds(kept.hearing, learned.setting, plan.sample_delta, kept.penalty, classes)
    certificate = _assemble(plan, samples, deployed, by_class, classes, provisos)
    return certificate, tuple(attempt.hearing.weights for _, _, attempt in outcomes)


def _certify_one(
    plan: Plan, ballot: Ballot, training_rng: np.random.Generator, draw_rng: np.random.Generator, tick: Tick
) -> tuple[Sample, _Learned, _Attempt]:
    """Learn from one sample, draw its vote where the method draws one, and certify it.

    ``draw_rng`` must be used nowhere else: the draw has to be independent of the sample and of every number used in
    training.

    The weights of the vote are fixed-point numbers; for the random vote, the Dirichlet parameters it draws with.
    """
    learned = _learn(plan, ballot, training_rng, tick)
    drawn = METHODS[plan.method].certified == "the drawn vote"
    attempts = (_attempt(plan, ballot, learned, draw_rng, k) for k in range(plan.n_draws if drawn else 1))
    best = min(attempts, key=lambda attempt: attempt.bound)
    return _sample(plan, ballot, learned, best), learned, best


def _learn(plan: Plan, ballot: Ballot, rng: np.random.Generator, tick: Tick) -> _Learned:
    """The best of all candidates, by the expected bound: hyper-priors, and orders of the Rényi divergence."""
    method = METHODS[plan.method]
    priors = ballot.priors
    if method.distribution == "categorical":
        # Its prior is over voters: the concentration does not enter, and there is nothing to choose.
        priors = (HyperPrior(priors[0].beta / priors[0].beta.sum()),)
    options = []
    for prior in priors:
        for candidate in plan.candidates():
            setting = replace(candidate, prior_nats=-math.log(prior.weight))
            problem = Problem(ballot.votes, ballot.labels, plan.loss, prior.beta, method, setting)
            found = SOLVERS[plan.solver](problem, rng, tick) if method.learns else prior.beta
            options.append((problem, _Learned(found, prior.beta, prior.weight, setting)))
    if len(options) == 1:
        return options[0][1]
    return min(options, key=lambda option: expected_bound(option[0], option[1].parameters))[1]


def _attempt(plan: Plan, ballot: Ballot, learned: _Learned, draw_rng: np.random.Generator, number: int) -> _Attempt:
    """One draw, where the method draws, and its bound."""
    method, setting = METHODS[plan.method], learned.setting
    n = ballot.votes.n_rows
    parameters = learned.parameters
    log_weights: Array = np.empty(0)
    if method.certified == "the drawn vote":
        log_weights, _, _ = dirichlet.draw(parameters, draw_rng)
        weights = fixed_point(log_weights)
    elif method.certified == "the random vote":
        weights = parameters
    else:
        # The bounds of the mean vote hold for all weights at once, so also for those that are deployed.
        parameters = weights = fixed_point(np.log(parameters))
    hearing = hear(method, plan.loss, ballot.votes, ballot.labels, weights, draw_rng)
    evidence = hearing.evidence(setting.delta)
    paid = replace(setting, delta=setting.delta - evidence.risk_delta)
    penalty = _penalty(method, parameters, learned.prior, log_weights, paid)
    confidence = method.confidence(n, paid)
    bound = method.form.bound(evidence.risks, penalty, confidence, n)
    return _Attempt(number, parameters, log_weights, hearing, evidence, paid, penalty, confidence, bound)


def _sample(plan: Plan, ballot: Ballot, learned: _Learned, attempt: _Attempt) -> Sample:
    """The record of the attempt that is kept."""
    method, evidence = METHODS[plan.method], attempt.evidence
    votes, n = ballot.votes, ballot.votes.n_rows
    central = ballot.priors[0].beta
    prior_errors = count_errors(votes.masses(fixed_point(np.log(central / central.sum()))), ballot.labels, plan.loss)
    return Sample(
        n=n,
        errors=evidence.errors,
        risks=evidence.risks,
        delta=plan.sample_delta,
        risk_draws=evidence.risk_draws,
        risk_delta=evidence.risk_delta,
        penalty=attempt.penalty,
        confidence=attempt.confidence,
        payments=_payments(plan, learned, attempt, n),
        bound=attempt.bound,
        distribution=method.distribution,
        alpha=tuple(attempt.parameters.tolist()),
        beta=tuple(learned.prior.tolist()),
        prior_weight=learned.prior_weight,
        order=learned.setting.order if method.uses_order else None,
        log_weights=tuple(attempt.log_weights.tolist()),
        draw=attempt.number,
        certified_digest=ballot.digests[0],
        teaching_digest=ballot.digests[1],
        votes_digest=votes.digest(),
        teaching_rows=ballot.teaching_rows,
        copies=ballot.copies[0],
        copies_of_teaching_rows=ballot.copies[1],
        holdout_errors=prior_errors,
        holdout_bound=holdout(prior_errors, n, plan.setting.delta),
    )


def _penalty(method: Method, parameters: Array, prior: Array, log_weights: Array, setting: Setting) -> float:
    if method.drawn_penalty is not None:
        return method.drawn_penalty(parameters, prior, log_weights, setting)[0]
    return method.penalty(parameters, prior, setting)[0]


def _payments(plan: Plan, learned: _Learned, attempt: _Attempt, n: int) -> tuple[Payment, ...]:
    """Penalty and confidence, item by item. For reading: rounded like any sum of floats."""
    method, paid, log_weights = METHODS[plan.method], attempt.paid, attempt.log_weights
    alone = replace(paid, prior_nats=0.0)
    weights = _penalty(method, attempt.parameters, learned.prior, log_weights, alone)
    items = {"draw" if len(log_weights) else "weights": weights}
    if method.name == "dis-b":
        ratio = dirichlet.log_ratio(attempt.parameters, learned.prior, log_weights)
        items = {"draw": ratio, "occam": weights - ratio}
    items["prior"] = attempt.penalty - weights
    undivided = method.confidence(n, replace(alone, delta=paid.delta * plan.sample_delta / learned.setting.delta))
    items["grid"] = attempt.confidence - undivided
    constant = 0.0 if isinstance(method.form, BinomialForm) else log_constant(n, paid.constant)
    items["constant"] = constant
    items["confidence"] = undivided - constant
    return tuple(Payment(what, nats) for what, nats in items.items())


def _assemble(
    plan: Plan,
    samples: list[Sample],
    deployed: int,
    by_class: tuple[ClassBound, ...],
    classes: NDArray[Any],
    provisos: Sequence[str],
) -> Certificate:
    method = METHODS[plan.method]
    average, theorem = None, method.theorem
    if len(samples) > 1:
        accounts = [(sample.risks, sample.penalty, sample.confidence, sample.n) for sample in samples]
        if plan.setting.constant == "paper":
            average, how = method.form.average(accounts, plan.shares), method.cross_theorem
        else:
            average, how = average_of_bounds(method.form, accounts, plan.shares), "the mean of the bounds of the parts"
        theorem = f"{method.theorem} at delta/{len(samples)} on its own part (the average: {how})"
    bound = samples[deployed].bound
    return Certificate(
        schema_version=SCHEMA_VERSION,
        library_version=__version__,
        method=method.name,
        certified=method.certified,
        theorem=theorem,
        loss=plan.loss,
        split=str(plan.split),
        delta=plan.setting.delta,
        bound=bound,
        vacuous=bound >= 1.0,
        average_bound=average,
        deployed=deployed,
        shares=plan.shares,
        order=samples[deployed].order,
        orders=plan.orders if method.uses_order else (),
        n_draws=plan.n_draws if method.certified == "the drawn vote" else 1,
        gamma_atoms=plan.setting.gamma.atoms if method.name == "dis-b" else (),
        gamma_scales=plan.setting.gamma.scales if method.name == "dis-b" else (),
        constant=plan.setting.constant,
        prior=plan.prior,
        choices=plan.choices,
        solver=plan.solver,
        classes=tuple(str(label) for label in classes),
        parts=tuple(samples),
        by_class=by_class,
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
    "For the bounds by class: which classes there are was known beforehand.",
)
