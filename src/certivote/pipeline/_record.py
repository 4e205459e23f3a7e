"""From what was counted to the record: of each part with its comparisons, and of all parts as a certificate."""

import platform
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd
import scipy
import sklearn
from numpy.typing import NDArray

from certivote._version import __version__
from certivote.certificate import (
    SCHEMA_VERSION,
    Certificate,
    Drift,
    PartRecord,
    PriorKind,
    PromiseRecord,
    Provenance,
    Statement,
    Witnesses,
)
from certivote.pipeline._division import NumberedRows, PartRows
from certivote.pipeline._grouping import drift_of
from certivote.pipeline._learn import Learned
from certivote.pipeline._plan import Plan
from certivote.pipeline._reference import Reference
from certivote.pipeline._rows import Count, Prepared, PreparedPart, Table
from certivote.pipeline._streams import Streams
from certivote.promises import CountedVote, Repeats, fixed_statement
from certivote.theory.bounds import average_of_bounds
from certivote.theory.entities import Entities
from certivote.theory.predictors import GIVEN, Vote
from certivote.theory.risks import Labels
from certivote.theory.theorems import Account, Setting
from certivote.voters import FittedVoters


@dataclass(frozen=True)
class CertifiedPart:
    """The vote of one part, who casts it, and what a model keeps of its rows.

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
class Attempt:
    """One vote and its bound."""

    number: int
    counted: CountedVote
    statement: Statement
    penalty: float

    @property
    def vote(self) -> Vote:
        return self.counted.vote


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
        part.source.training_labels,
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
        raced=getattr(part.voters, "raced", ()),
        kept=getattr(part.voters, "kept", ()),
        alpha=tuple(vote.parameters.tolist()),
        beta=tuple(learned.prior.tolist()),
        prior_weight=learned.prior_weight,
        renyi_order=learned.setting.renyi_order if plan.paid_orders else None,
        log_weights=tuple(vote.point.tolist()),
        draw=attempt.number,
        certification_digest=count.digests[0],
        training_digest=count.digests[1],
        votes_digest=count.votes_digest,
        training_rows=part.source.n_train,
        duplicates=count.duplicates[0],
        duplicates_of_training_rows=count.duplicates[1],
        drift=_drift(counted, rows.times),
    )


def certified_majority(
    train: Labels,
    certify: Labels,
    classes: Sequence[Any] | NDArray[Any],
    delta: float,
    entities: Entities | None = None,
    repeats: Repeats | None = None,
    in_order: bool = True,
) -> Statement:
    """The most frequent class of the training rows, certified like a vote that no certification row has influenced.

    Without training rows the certification rows choose it, and the bound holds for all classes at once. Of several
    that are equally frequent it is the first.

    Examples
    --------
    >>> majority = certified_majority(np.array([0, 1, 1]), np.array([1, 1, 0, 1]), ["no", "yes"], delta=0.05)
    >>> majority.label, majority.errors, round(majority.bound, 3)
    ('yes', 1, 0.751)
    """
    if len(train):
        counts = np.bincount(train, minlength=len(classes))
    else:
        counts, delta = np.zeros(len(classes), dtype=np.int64), delta / len(classes)
        np.add.at(counts, certify, 1 if repeats is None else repeats)
    code = int(counts.argmax())
    return fixed_statement("majority", str(classes[code]), certify != code, delta, entities, repeats, in_order)


def _average(plan: Plan, certified: Sequence[tuple[PartRecord, Learned, Attempt]]) -> float | None:
    """The bound on the average of the errors of several votes."""
    if len(certified) == 1:
        return None
    if plan.constant != "paper":
        return average_of_bounds([record.bound for record, _, _ in certified], plan.average_weights)
    accounts = [_account(record, learned.setting) for record, learned, _ in certified]
    return plan.method.theorem.average(accounts, plan.average_weights)


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
    method, records = plan.method, [record for record, _, _ in certified]
    rows, grouping, part = prepared.rows, prepared.rows.grouping, prepared.parts[0]
    prices = plan.price_list if method.theorem.uses_prices else None
    # Losses of entities, or of rows that cost more or less; of what is counted there are none.
    placed = bool(grouping.groups) or any(entry.losses for promise in promises for entry in promise.statements)
    sample_rows, learned_rows = (
        (None, None)
        if plan.by_number is None
        else plan.by_number.looked_at(part.source.n_train, part.certification.n_rows)
    )
    return Certificate(
        schema_version=SCHEMA_VERSION,
        library_version=__version__,
        subject=rows.subject,
        method=method.name,
        loss=plan.loss,
        split=str(plan.split),
        delta=plan.delta,
        average_bound=_average(plan, certified),
        deployed=deployed,
        average_weights=plan.average_weights,
        renyi_orders=plan.paid_orders,
        share=plan.share,
        n_draws=plan.paid_draws,
        price_atoms=prices.atoms if prices else (),
        price_scales=prices.scales if prices else (),
        constant=plan.constant,
        prior=_prior(plan),
        solver=plan.solver,
        classes=tuple(str(label) for label in rows.classes),
        parts=tuple(records),
        promises=promises,
        together=plan.together,
        findings=prepared.parts[deployed].findings,
        came_fitted=plan.split != "none" and bool(plan.voters.learned_before()),
        groups=grouping.groups,
        order=grouping.order,
        division="shuffled" if plan.by_number is None else "by row number",
        first_rows=prepared.division.first_rows,
        sample_rows=sample_rows,
        learned_rows=learned_rows,
        bets="in order" if plan.in_order or not placed else "at once",
        candidates=(),
        differences=(),
        provenance=provenance_now(rows.table, prepared.streams, plan.parameters, plan.voters.libraries),
    )


def provenance_now(
    table: Table, streams: Streams, parameters: tuple[tuple[str, str], ...] = (), libraries: Sequence[str] = ()
) -> Provenance:
    """The record of a certificate that is made now, from rows that are not known to come from a file."""
    return Provenance(
        created=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        entropy=streams.seed.words if streams.used else (),
        fresh=streams.used and streams.seed.fresh,
        data_digest=streams.digest if streams.used else "",
        versions=(
            ("certivote", __version__),
            ("python", platform.python_version()),
            ("numpy", np.__version__),
            ("scipy", scipy.__version__),
            ("scikit-learn", sklearn.__version__),
            ("pandas", pd.__version__),
            *((name, version(name)) for name in libraries),
        ),
        source="",
        source_digest="",
        target=table.target,
        columns=table.columns,
        n_columns=table.n_columns,
        n_rows=sum(table.class_counts),
        class_counts=table.class_counts,
        parameters=parameters,
    )
