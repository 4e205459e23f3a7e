"""A run, from rows to a certified vote: divide, train, weigh, vote, learn, draw, count, certify.

No step reaches back. The certification rows of a part reach neither its voters nor its hyper-prior nor the choice of
the bound. Its weights may be learned from them, since the bound pays for that, and the draw has a random stream of its
own.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from certivote._warn import warn
from certivote.certificate import Finding, PartRecord
from certivote.pipeline._learn import Learned, choose
from certivote.pipeline._memory import RowsInMemory
from certivote.pipeline._plan import Plan, check_plan
from certivote.pipeline._priors import given_hyper_priors, informed_hyper_prior, informed_weights
from certivote.pipeline._progress import Stage
from certivote.pipeline._promises import check_promises, make_promises
from certivote.pipeline._record import Attempt, CertifiedPart, Outcome, assemble, part_record
from certivote.pipeline._rows import Prepared, PreparedPart, Rows, RowsOfPart
from certivote.pipeline._streams import Streams, seed_of
from certivote.promises import CountedVote, by_theorem, stated
from certivote.remarks import column_findings
from certivote.theory.methods import Method
from certivote.theory.predictors import fixed_weights

__all__ = ["certify_votes", "prepare", "run"]


def run(
    plan: Plan,
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    order: Any = None,
    table: Any = None,
    stage: Stage | None = None,
) -> Outcome:
    """Fit the voters, learn their weights, draw the vote and certify it.

    To learn several methods from the same votes, call :func:`prepare` once and :func:`certify_votes` for each.

    Parameters
    ----------
    plan : Plan
    X, y : array-like
    groups, order : array-like, optional
        For each row, the entity that it belongs to; or when it was taken.
    table : data frame, optional
        Other columns of the rows, to look for such that belong together.
    stage : Stage, optional
        Shows progress.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from certivote.pipeline import make_plan, run
    >>> outcome = run(make_plan("dis-r", "forest", random_state=0), *load_iris(return_X_y=True))
    >>> outcome.certificate.parts[0].n, outcome.deployed.voters.n_voters
    (75, 100)
    """
    rows = RowsInMemory(plan.voters, X, y, groups=groups, order=order, table=table)
    return certify_votes(plan, prepare(plan, rows, stage=stage), stage)


def prepare(
    plan: Plan,
    rows: Rows,
    *,
    methods: Sequence[Method] = (),
    streams: Streams | None = None,
    stage: Stage | None = None,
) -> Prepared:
    """Divide the rows; of every part, let some train voters, and let these vote on the others.

    Streams of the division and of what follows depend on the seed and on all rows; those of the voters and of what is
    learned from training rows depend on the seed and on these rows alone.

    Parameters
    ----------
    plan : Plan
    rows : Rows
        Wherever they lie.
    methods : sequence of Method
        Those that will learn from the votes; by default the plan's.
    streams : Streams, optional
        Where several runs share them.
    stage : Stage, optional
        Shows progress.
    """
    stage = stage or Stage()
    check_plan(plan, methods or (plan.method,), rows.classes, rows.grouping, given=rows.subject != "vote")
    check_promises(plan.promises, rows.classes, rows.columns)
    streams = streams or Streams(seed_of(plan.random_state), rows.digest())
    division = rows.divide(plan, streams, stage)
    for worry in division.worries:
        warn(worry)
    parts = tuple(_prepared(plan, part, number, rows, stage) for number, part in enumerate(division.parts))
    return Prepared(rows, division, parts, streams)


def _prepared(plan: Plan, part: RowsOfPart, number: int, rows: Rows, stage: Stage) -> PreparedPart:
    """One part: voters that some of its rows have trained, and their votes on the others."""
    training = part.training()
    if training is None:  # given models are what they are
        voters, findings = part.fit(None, None), tuple[Finding, ...]()
        hyper_priors = given_hyper_priors(plan.prior, voters.n_voters)
    else:
        rng = training.streams.of("voters", number)
        stage.begin(f"fitting the voters on {len(training.y):,} rows")
        voters = part.fit(training, rng)
        entities = None if training.entities is None else training.entities.codes
        digest = training.streams.digest
        findings = column_findings(training.X, training.codes, rows.table.columns, entities, digest)
        if plan.is_informed:
            stage.begin("weighing the voters by their out-of-sample votes")
            weights = informed_weights(voters, training.X, training.codes, plan.loss, rng, training.entities)
            hyper_priors = (informed_hyper_prior(weights),)
        else:
            hyper_priors = given_hyper_priors(plan.prior, voters.n_voters)
    stage.begin(f"{voters.n_voters:,} voters vote on the certification rows")
    certification = part.vote(voters)
    return PreparedPart(
        source=part,
        voters=voters,
        hyper_priors=hyper_priors,
        certification=certification,
        findings=(*findings, *part.findings()),
        promise_data=part.promise_data(voters),
        kept=part.kept(certification),
    )


def certify_votes(plan: Plan, prepared: Prepared, stage: Stage | None = None) -> Outcome:
    """Learn from each part, certify, and deploy the vote with the smallest bound of its own."""
    rows, streams = prepared.rows, prepared.streams
    ways = replace(plan, split=prepared.division.split).ways()
    if rows.grouping.entities is not None:
        ways = tuple(way.by_entity() for way in ways)
    tick = (stage or Stage()).begin(f"learning the weights by {plan.solver}")
    plan, learned = choose(ways, prepared.parts, streams, tick)
    certified = [_certified(plan, prepared, number, each) for number, each in enumerate(learned)]
    # With several parts every bound holds at once (each pays for its share of delta), so the choice is free.
    deployed = int(np.argmin([record.bound for record, _, _ in certified]))
    own, setting, (_, _, kept) = prepared.parts[deployed], learned[deployed].setting, certified[deployed]
    promises = make_promises(plan, kept.counted, own.promise_data, rows.classes, setting, kept.penalty, streams)
    certificate = assemble(plan, prepared, certified, deployed, promises)
    parts = [
        CertifiedPart(part.rows, part.voters, best.vote, part.kept.probe)
        for part, (_, _, best) in zip(prepared.parts, certified, strict=True)
    ]
    if own.kept.reference is not None:
        reference = own.kept.reference.of(own.certification.votes, kept.vote.weights)
        parts[deployed] = replace(parts[deployed], reference=reference, witnesses=own.kept.witnesses)
    seed = int(streams.of("prediction").integers(2**63)) if plan.method.predictor.is_random else 0
    return Outcome(certificate, rows.classes, tuple(parts), seed)


def _certified(plan: Plan, prepared: Prepared, number: int, learned: Learned) -> tuple[PartRecord, Learned, Attempt]:
    """Draw the vote of a part where the method draws one, and certify it.

    Each draw has a stream that is used nowhere else: it has to be independent of every number used in training and,
    given the sample, of the sample. What was learned is no part of its key: the draw of one distribution and the draw
    of another differ by these alone.
    """
    part, streams, predictor = prepared.parts[number], prepared.streams, plan.method.predictor
    draws = [streams.of("draw", number, draw) if predictor.draws else None for draw in range(plan.paid_draws)]
    votes = [predictor.deploy(plan.family, learned.parameters, rng) for rng in draws]
    central = part.hyper_priors[0].beta
    simulation = streams.of("random vote", number) if predictor.is_random else None
    fixed = fixed_weights(central / central.sum())
    count = part.certification.count(plan.method, plan.loss, votes, fixed, simulation)
    attempts = (_attempt(plan, learned, counted, draw) for draw, counted in enumerate(count.votes))
    best = min(attempts, key=lambda each: each.statement.bound)
    return part_record(plan, part, prepared.rows.classes, learned, best, count), learned, best


def _attempt(plan: Plan, learned: Learned, counted: CountedVote, draw: int) -> Attempt:
    """One vote, what it pays for having been learned, and the bound on its error."""
    theorem, setting, vote = plan.method.theorem, learned.setting, counted.vote
    evidence = counted.evidence(setting.delta)
    penalty = theorem.charge(plan.family, vote.parameters, learned.prior, vote.point, setting)
    statement = stated(evidence, plan.part_delta, by_theorem(theorem, setting, penalty), "error")
    return Attempt(draw, counted, statement, penalty)
