"""From counts to a certificate: the bound of every vote, the record of its part, and the record of all."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from certivote._version import __version__
from certivote.certificate import SCHEMA_VERSION, Certificate, Drift, PartRecord, PriorKind, PromiseRecord, Statement
from certivote.pipeline._grouping import drift_of
from certivote.pipeline._learn import Learned
from certivote.pipeline._majority import certified_majority
from certivote.pipeline._plan import Plan
from certivote.pipeline._provenance import provenance
from certivote.pipeline._rows import Count, Prepared, PreparedPart
from certivote.promises import CountedVote, by_theorem, fixed_statement, stated
from certivote.theory.bounds import average_of_bounds
from certivote.theory.predictors import GIVEN, Vote
from certivote.theory.theorems import Account, Setting


@dataclass(frozen=True)
class Attempt:
    """One vote and its bound."""

    number: int
    counted: CountedVote
    statement: Statement
    penalty: float

    @property
    def vote(self) -> Vote:
        return self.counted.vote


def attempt(plan: Plan, learned: Learned, counted: CountedVote, number: int) -> Attempt:
    """One vote, drawn where the method draws, and its bound."""
    theorem, setting, vote = plan.method.theorem, learned.setting, counted.vote
    evidence = counted.evidence(setting.delta)
    penalty = theorem.charge(plan.family, vote.parameters, learned.prior, vote.point, setting)
    statement = stated(evidence, plan.part_delta, by_theorem(theorem, setting, penalty), "error")
    return Attempt(number, counted, statement, penalty)


def part_record(
    plan: Plan, part: PreparedPart, classes: NDArray[Any], learned: Learned, attempt: Attempt, count: Count
) -> PartRecord:
    """The record of the attempt that is kept."""
    vote, counted, rows = attempt.vote, attempt.counted, part.certification
    # Bounds to compare with: of several parts the vote with the smallest bound is deployed, so these too hold together.
    holdout = fixed_statement(
        "hold-out", "", count.wrong, plan.of_part(plan.delta), rows.entities, count.repeats, plan.in_order
    )
    majority = certified_majority(
        part.training_labels,
        counted.labels,
        classes,
        plan.delta / plan.n_parts,
        rows.entities,
        counted.repeats,
        plan.in_order,
    )
    return PartRecord(
        statement=attempt.statement,
        holdout=holdout,
        majority=majority,
        penalty=attempt.penalty,
        family=plan.family.name,
        n_voters=rows.votes.n_voters,
        alpha=tuple(vote.parameters.tolist()),
        beta=tuple(learned.prior.tolist()),
        prior_weight=learned.prior_weight,
        renyi_order=learned.setting.renyi_order if plan.paid_orders else None,
        log_weights=tuple(vote.point.tolist()),
        draw=attempt.number,
        certification_digest=count.digests[0],
        training_digest=count.digests[1],
        votes_digest=count.votes_digest,
        training_rows=part.n_train,
        duplicates=count.duplicates[0],
        duplicates_of_training_rows=count.duplicates[1],
        drift=_drift(counted, rows.times),
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


def assemble(
    plan: Plan,
    prepared: Prepared,
    certified: Sequence[tuple[PartRecord, Learned, Attempt]],
    deployed: int,
    promises: tuple[PromiseRecord, ...],
) -> Certificate:
    """The certificate, from the records of its parts and promises."""
    method, records, average = plan.method, [record for record, _, _ in certified], None
    grouping, part = prepared.grouping, prepared.parts[0]
    if len(records) > 1 and plan.constant == "paper":
        accounts = [_account(record, learned.setting) for record, learned, _ in certified]
        average = method.theorem.average(accounts, plan.average_weights)
    elif len(records) > 1:
        average = average_of_bounds([record.bound for record in records], plan.average_weights)
    prices = plan.price_list if method.theorem.uses_prices else None
    # Losses of entities, or of rows that cost more or less; of what is counted there are none.
    placed = bool(grouping.groups) or any(entry.losses for promise in promises for entry in promise.statements)
    sample_rows, learned_rows = (
        (None, None) if plan.by_number is None else plan.by_number.looked_at(part.n_train, part.certification.n_rows)
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
        groups=grouping.groups,
        order=grouping.order,
        division="shuffled" if plan.by_number is None else "by row number",
        first_rows=prepared.first_rows,
        sample_rows=sample_rows,
        learned_rows=learned_rows,
        bets="in order" if plan.in_order or not placed else "at once",
        candidates=(),
        provenance=provenance(prepared.table, prepared.streams, plan.parameters),
    )
