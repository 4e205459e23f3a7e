"""From votes to a certificate: learn the posterior, draw once, count the errors, compute the bound."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certivote._version import __version__
from certivote.certificate import (
    SCHEMA_VERSION,
    Certificate,
    Drift,
    PartRecord,
    PriorKind,
    PromiseRecord,
    Statement,
    Witnesses,
)
from certivote.pipeline._by_number import NumberedRows
from certivote.pipeline._hyper_priors import HyperPrior
from certivote.pipeline._learn import SOLVERS, Problem, expected_bound
from certivote.pipeline._majority import certified_majority
from certivote.pipeline._plan import Plan
from certivote.pipeline._prepared import CountedRows, Prepared, PreparedPart
from certivote.pipeline._progress import Stage, Tick
from certivote.pipeline._promises import make_promises
from certivote.pipeline._provenance import provenance
from certivote.pipeline._reference import Reference
from certivote.pipeline._seeds import Streams
from certivote.pipeline._split import PartRows
from certivote.pipeline._units import drift_of
from certivote.promises import CountedVote, Repeats, by_theorem, count_votes, fixed_statement, stated
from certivote.theory.bounds import average_of_bounds
from certivote.theory.predictors import GIVEN, Vote
from certivote.theory.risks import answers_and_mistakes
from certivote.theory.theorems import Account, Setting
from certivote.voters import FittedVoters
from certivote.votes import fixed_point

Array = NDArray[np.float64]
_Wrong = tuple[NDArray[np.bool_], Repeats | None]
"""On which rows a vote errs, and how many rows each of them stands for."""


@dataclass(frozen=True)
class CertifiedPart:
    """The vote of one part, who casts it, and rows to see later whether they still vote so.

    ``reference`` is what new rows can be compared with, and ``witnesses`` what own rows are recognised by; None for
    given models, and for parts that are not deployed.
    """

    rows: PartRows | NumberedRows
    voters: FittedVoters
    vote: Vote
    probe: Any
    reference: Reference | None = None
    witnesses: Witnesses | None = None


@dataclass(frozen=True)
class Outcome:
    """What a run yields.

    Attributes
    ----------
    certificate : Certificate
    classes : array
    parts : tuple of CertifiedPart
        In the order of ``certificate.parts``.
    prediction_seed : int
        Of the votes that a random predictor draws; 0 for others.
    """

    certificate: Certificate
    classes: NDArray[Any]
    parts: tuple[CertifiedPart, ...]
    prediction_seed: int

    @property
    def deployed(self) -> CertifiedPart:
        """The part of the deployed vote."""
        return self.parts[self.certificate.deployed]


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
    counted: CountedVote
    statement: Statement
    penalty: float

    @property
    def vote(self) -> Vote:
        return self.counted.vote


def certify_votes(plan: Plan, prepared: Prepared, stage: Stage | None = None) -> Outcome:
    """Learn from each part, certify, and deploy the vote with the smallest bound of its own."""
    plan = replace(plan, split=prepared.split)
    if prepared.units.entities is not None:
        plan = plan.by_entity()
    tick = (stage or Stage()).begin(f"learning the weights by {plan.solver}")
    streams = prepared.streams
    outcomes = [
        _certify_part(plan, part, prepared.classes, streams, number, tick) for number, part in enumerate(prepared.parts)
    ]
    records = [record for record, _, _ in outcomes]
    # With several parts every bound holds at once (each pays for its share of delta), so the choice is free.
    deployed = int(np.argmin([record.bound for record in records]))
    _, learned, kept = outcomes[deployed]
    promises = make_promises(
        plan,
        kept.counted,
        prepared.parts[deployed].sight,
        prepared.classes,
        learned.setting,
        kept.penalty,
        streams,
    )
    accounts = [_account(record, learned.setting) for record, learned, _ in outcomes]
    certificate = _assemble(plan, prepared, records, accounts, deployed, promises)
    own, chosen = prepared.parts[deployed], kept.vote.weights
    reference = None if own.reference is None else own.reference.of(own.votes, chosen)
    kept_rows = {True: (reference, own.witnesses), False: (None, None)}
    parts = tuple(
        CertifiedPart(part.rows, part.voters, attempt.vote, part.probe, *kept_rows[part is own])
        for part, (_, _, attempt) in zip(prepared.parts, outcomes, strict=True)
    )
    seed = int(streams.of("prediction").integers(2**63)) if plan.method.predictor.is_random else 0
    return Outcome(certificate, prepared.classes, parts, seed)


def _certify_part(
    plan: Plan,
    part: PreparedPart,
    classes: NDArray[Any],
    streams: Streams,
    number: int,
    tick: Tick,
) -> tuple[PartRecord, _Learned, _Attempt]:
    """Learn from one part, draw its vote where the method draws one, and certify it.

    Each draw has a stream that is used nowhere else: it has to be independent of every number used in training and,
    given the sample, of the sample. What was learned is no part of its key: the draw of one distribution and the draw
    of another differ by these alone.
    """
    learned = _learn(plan, part, streams, number, tick)
    method = plan.method
    votes = [_deployed(plan, learned, streams, number, draw) for draw in range(plan.paid_draws)]
    simulation = streams.of("random vote", number) if method.predictor.is_random else None
    central = part.hyper_priors[0].beta
    prior_vote = fixed_point(np.log(central / central.sum()))
    counted: Iterable[CountedVote]
    if part.elsewhere is not None:
        part, counted, prior = _counted_elsewhere(plan, part, votes, prior_vote)
    else:
        repeats = None if part.counted is None else part.counted.repeats
        counted = (
            count_votes(method, plan.loss, part.votes, part.labels, vote, simulation, part.entities, repeats)
            for vote in votes
        )
        prior = answers_and_mistakes(part.votes, prior_vote, part.labels, plan.loss)[1], repeats
    attempts = (_attempt(plan, learned, each, number) for number, each in enumerate(counted))
    best = min(attempts, key=lambda attempt: attempt.statement.bound)
    return _record(plan, part, classes, learned, best, prior), learned, best


def _deployed(plan: Plan, learned: _Learned, streams: Streams, number: int, draw: int) -> Vote:
    """The vote that was learned from a part, or one that is drawn."""
    predictor = plan.method.predictor
    rng = streams.of("draw", number, draw) if predictor.draws else None
    return predictor.deploy(plan.family, learned.parameters, rng)


def _counted_elsewhere(
    plan: Plan, part: PreparedPart, votes: Sequence[Vote], prior_vote: Array
) -> tuple[PreparedPart, list[CountedVote], _Wrong]:
    """The same where rows lie elsewhere: all is counted in one pass, which also gives the digests of the rows."""
    assert part.elsewhere is not None
    found = part.elsewhere.count([*(vote.weights for vote in votes), prior_vote], plan.loss)
    part = replace(
        part,
        digests=found.digests,
        duplicates=found.duplicates,
        counted=CountedRows(found.counts[-1].repeats, found.votes_digest),
    )
    counted = [
        CountedVote(plan.method, plan.loss, part.votes, own.labels, None, vote, own.tally, own.repeats)
        for vote, own in zip(votes, found.counts, strict=False)
    ]
    prior = found.counts[-1]
    return part, counted, (prior.tally.wrong[0], prior.repeats)


def _learn(plan: Plan, part: PreparedPart, streams: Streams, number: int, tick: Tick) -> _Learned:
    """The best of all candidates, by the expected bound: hyper-priors, and orders of the Rényi divergence."""
    hyper_priors = part.hyper_priors
    if not plan.family.over_weights:
        # Its prior is over voters: the concentration does not enter, and there is nothing to choose.
        hyper_priors = (HyperPrior(hyper_priors[0].beta),)
    options: list[tuple[Problem, _Learned]] = []
    for hyper_prior in hyper_priors:
        prior = plan.family.prior(hyper_prior.beta)
        for candidate in plan.settings():
            setting = replace(candidate, prior_nats=-math.log(hyper_prior.weight))
            problem = Problem(
                *part.to_learn,
                plan.loss,
                prior,
                plan.family,
                plan.method,
                setting,
                part.entities,
                part.n_rows,
                part.blocks,
            )
            found = prior
            if plan.method.predictor.learns:
                found = SOLVERS[plan.solver](problem, streams.of("learning", number, len(options)), tick)
            options.append((problem, _Learned(found, prior, hyper_prior.weight, setting)))
    if len(options) == 1:
        return options[0][1]
    return min(options, key=lambda option: expected_bound(option[0], option[1].parameters))[1]


def _attempt(plan: Plan, learned: _Learned, counted: CountedVote, number: int) -> _Attempt:
    """One vote, drawn where the method draws, and its bound."""
    theorem, setting, vote = plan.method.theorem, learned.setting, counted.vote
    evidence = counted.evidence(setting.delta)
    penalty = theorem.charge(plan.family, vote.parameters, learned.prior, vote.point, setting)
    statement = stated(evidence, plan.part_delta, by_theorem(theorem, setting, penalty), "error")
    return _Attempt(number, counted, statement, penalty)


def _record(
    plan: Plan, part: PreparedPart, classes: NDArray[Any], learned: _Learned, attempt: _Attempt, prior: _Wrong
) -> PartRecord:
    """The record of the attempt that is kept; ``prior``: what the vote with the prior's mean weights gets wrong."""
    vote, counted, (prior_wrong, repeats) = attempt.vote, attempt.counted, prior
    # Bounds to compare with: of several parts the vote with the smallest bound is deployed, so these too hold together.
    holdout = fixed_statement(
        "hold-out", "", prior_wrong, plan.of_part(plan.delta), part.entities, repeats, plan.in_order
    )
    majority = certified_majority(
        part.training_labels,
        counted.labels,
        classes,
        plan.delta / plan.n_parts,
        part.entities,
        counted.repeats,
        plan.in_order,
    )
    return PartRecord(
        statement=attempt.statement,
        holdout=holdout,
        majority=majority,
        penalty=attempt.penalty,
        family=plan.family.name,
        n_voters=part.votes.n_voters,
        alpha=tuple(vote.parameters.tolist()),
        beta=tuple(learned.prior.tolist()),
        prior_weight=learned.prior_weight,
        renyi_order=learned.setting.renyi_order if plan.paid_orders else None,
        log_weights=tuple(vote.point.tolist()),
        draw=attempt.number,
        certification_digest=part.digests[0],
        training_digest=part.digests[1],
        votes_digest=part.counted.votes_digest if part.counted else part.votes.digest(),
        training_rows=part.rows.n_train,
        duplicates=part.duplicates[0],
        duplicates_of_training_rows=part.duplicates[1],
        drift=_drift(attempt.counted, part.times),
    )


def _account(record: PartRecord, setting: Setting) -> Account:
    """What the bound of a part starts from and pays."""
    paid = replace(setting, delta=setting.delta - record.statement.risk_delta)
    return Account(record.statement.statistics, record.penalty, record.size, paid)


def _drift(counted: CountedVote, times: NDArray[Any] | None) -> tuple[Drift, ...]:
    """A test of whether errors were more frequent late than early, where rows have times and the vote fixed answers."""
    if times is None or counted.method.predictor.is_random:
        return ()
    return drift_of(counted.tally.wrong[0], times)


def _prior(plan: Plan) -> PriorKind:
    """Where the hyper-prior comes from, as a certificate says it."""
    if plan.method.predictor is GIVEN:
        return "none"
    if not isinstance(plan.prior, str):
        return "given"
    if plan.prior == "informed":
        return "informed"
    return "grid" if plan.family.over_weights else "equal"


def _assemble(
    plan: Plan,
    prepared: Prepared,
    records: list[PartRecord],
    accounts: Sequence[Account],
    deployed: int,
    promises: tuple[PromiseRecord, ...],
) -> Certificate:
    method = plan.method
    average = None
    if len(records) > 1:
        if plan.constant == "paper":
            average = method.theorem.average(accounts, plan.average_weights)
        else:
            average = average_of_bounds([record.bound for record in records], plan.average_weights)
    units, rows = prepared.units, prepared.parts[0]
    prices = plan.price_list if method.theorem.uses_prices else None
    # Losses of entities, or of rows that cost more or less; of what is counted there are none.
    placed = bool(units.groups) or any(entry.losses for promise in promises for entry in promise.statements)
    sample_rows, learned_rows = (
        (None, None) if plan.by_number is None else plan.by_number.looked_at(rows.rows.n_train, rows.n_rows)
    )
    return Certificate(
        schema_version=SCHEMA_VERSION,
        library_version=__version__,
        subject=prepared.subject,
        method=method.name,
        loss=plan.loss,
        split=str(plan.split),
        delta=plan.delta,
        average_bound=average,
        deployed=deployed,
        average_weights=plan.average_weights,
        renyi_orders=plan.paid_orders,
        n_draws=plan.paid_draws,
        price_atoms=prices.atoms if prices else (),
        price_scales=prices.scales if prices else (),
        constant=plan.constant,
        prior=_prior(plan),
        solver=plan.solver,
        classes=tuple(str(label) for label in prepared.classes),
        parts=tuple(records),
        promises=promises,
        together=plan.together,
        findings=prepared.parts[deployed].findings,
        came_fitted=prepared.came_fitted,
        groups=units.groups,
        order=units.order,
        division="shuffled" if plan.by_number is None else "by row number",
        first_rows=prepared.first_rows,
        sample_rows=sample_rows,
        learned_rows=learned_rows,
        bets="in order" if plan.in_order or not placed else "at once",
        candidates=(),
        provenance=provenance(prepared.table, prepared.streams, plan.parameters),
    )
