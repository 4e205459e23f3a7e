"""From counts to a certificate: the bound of every vote, the record of its part, and the record of all."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from certivote._version import __version__
from certivote.certificate import SCHEMA_VERSION, Certificate, Drift, PartRecord, Payment, PriorKind, PromiseRecord
from certivote.pipeline._grouping import drift_of
from certivote.pipeline._learn import Learned
from certivote.pipeline._majority import certified_majority, fixed_bound
from certivote.pipeline._plan import Plan
from certivote.pipeline._provenance import provenance
from certivote.pipeline._rows import Count, Prepared, PreparedPart
from certivote.promises import CountedVote
from certivote.theory.bounds import average_of_bounds
from certivote.theory.predictors import GIVEN, Evidence, Vote
from certivote.theory.theorems import Account, Setting


@dataclass(frozen=True)
class Attempt:
    """One vote and its bound."""

    number: int
    counted: CountedVote
    evidence: Evidence
    paid: Setting
    penalty: float
    bound: float

    @property
    def vote(self) -> Vote:
        return self.counted.vote


def attempt(plan: Plan, learned: Learned, counted: CountedVote, number: int) -> Attempt:
    """One vote, drawn where the method draws, and its bound."""
    method, setting, vote = plan.method, learned.setting, counted.vote
    evidence = counted.evidence(setting.delta)
    paid = replace(setting, delta=setting.delta - evidence.risk_delta)
    penalty = method.theorem.charge(plan.family, vote.parameters, learned.prior, vote.point, paid)
    bound = method.theorem.bound(evidence.statistics, penalty, counted.count() or counted.n_rows(), paid)
    return Attempt(number, counted, evidence, paid, penalty, bound)


def part_record(
    plan: Plan, part: PreparedPart, classes: NDArray[Any], learned: Learned, attempt: Attempt, count: Count
) -> PartRecord:
    """The record of the attempt that is kept."""
    evidence, vote, counted, rows = attempt.evidence, attempt.vote, attempt.counted, part.certification
    n, entities = rows.n_rows, counted.count()
    # Bounds to compare with: of several parts the vote with the smallest bound is deployed, so these too hold together.
    prior_errors, prior_losses, prior_bound = fixed_bound(
        count.wrong, plan.of_part(plan.delta), rows.entities, count.repeats, plan.in_order
    )
    majority = certified_majority(
        part.training_labels,
        counted.labels,
        len(classes),
        plan.delta / plan.n_parts,
        rows.entities,
        counted.repeats,
        plan.in_order,
    )
    return PartRecord(
        n=n,
        entities=entities,
        errors=evidence.errors,
        losses=evidence.losses,
        risks=evidence.risks,
        delta=plan.part_delta,
        risk_draws=evidence.risk_draws,
        risk_delta=evidence.risk_delta,
        penalty=attempt.penalty,
        confidence=plan.method.theorem.confidence(entities or n, attempt.paid),
        payments=_payments(plan, learned, attempt, entities or n),
        bound=attempt.bound,
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
        holdout_errors=prior_errors,
        holdout_bound=prior_bound,
        majority_class=str(classes[majority.code]),
        majority_errors=majority.errors,
        majority_bound=majority.bound,
        holdout_losses=prior_losses,
        majority_losses=majority.losses,
        drift=_drift(counted, rows.times),
    )


def _drift(counted: CountedVote, times: NDArray[Any] | None) -> tuple[Drift, ...]:
    """A test of whether errors were more frequent late than early, where rows have times and the vote fixed answers."""
    if times is None or counted.method.predictor.is_random:
        return ()
    return drift_of(counted.tally.wrong[0], times)


def _payments(plan: Plan, learned: Learned, attempt: Attempt, n: int) -> tuple[Payment, ...]:
    """Penalty and confidence, item by item. For reading: rounded like any sum of floats."""
    theorem, paid, vote = plan.method.theorem, attempt.paid, attempt.vote
    alone = replace(paid, prior_nats=0.0)
    charged = (plan.family, vote.parameters, learned.prior, vote.point, alone)
    items = theorem.items(*charged)
    items["prior"] = attempt.penalty - theorem.charge(*charged)
    undivided = theorem.confidence(n, replace(alone, delta=paid.delta * plan.part_delta / learned.setting.delta))
    items["grid"] = theorem.confidence(n, paid) - undivided
    items["constant"] = theorem.constant_nats(n, paid)
    items["confidence"] = undivided - items["constant"]
    return tuple(Payment(what, nats) for what, nats in items.items())


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
    own, grouping, part = records[deployed], prepared.grouping, prepared.parts[0]
    if len(records) > 1 and plan.constant == "paper":
        accounts = [
            Account(record.statistics, record.penalty, record.size, attempt.paid) for record, _, attempt in certified
        ]
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
        bound=own.bound,
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
