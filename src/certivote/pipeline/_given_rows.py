"""Labelled rows that given models have answered, as codes: what is certified of them, however they were read."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import validate_parameter_constraints

from certivote.certificate import Finding, Subject
from certivote.pipeline._certify import Outcome, certify_votes
from certivote.pipeline._division import PartRows
from certivote.pipeline._duplicates import Duplicates
from certivote.pipeline._grouping import Grouping
from certivote.pipeline._majority import class_counts
from certivote.pipeline._plan import PARAMETER_CONSTRAINTS, Plan, make_plan
from certivote.pipeline._prepared import CountedRows, Prepared, PreparedPart
from certivote.pipeline._priors import HyperPrior, given_hyper_priors
from certivote.pipeline._promises import PromiseData
from certivote.pipeline._provenance import Table
from certivote.pipeline._streams import Seed, Streams
from certivote.promises import Promise
from certivote.theory.methods import GIVEN_MODEL
from certivote.voters import FittedVoters
from certivote.votes import build_votes

Codes = NDArray[np.intp]


@dataclass(frozen=True)
class GivenRows:
    """What is known of the rows besides the answers to them.

    Attributes
    ----------
    classes : list
        All of them, in ascending order.
    labels : array of int
        The true class of each row, by its place among them.
    target, columns, n_columns
        As they are recorded.
    streams : Streams
        What is random depends on these rows.
    digests : (str, str)
        Of these rows with their labels as text, and of the training rows.
    training_rows : int
        How many were shown to compare.
    duplicates, findings
        As for :class:`~certivote.pipeline._prepare.PreparedPart`.
    counted : CountedRows or None
        Where only one row of each kind is at hand.
    subject : {"models", "answers"}
        Whether the rows were there, or only the answers to them.
    """

    classes: list[Any]
    labels: Codes
    target: str
    columns: tuple[str, ...]
    n_columns: int
    units: Grouping
    streams: Streams
    digests: tuple[str, str]
    training_rows: int = 0
    duplicates: Duplicates = (0, 0)
    findings: tuple[Finding, ...] = ()
    counted: CountedRows | None = None
    subject: Subject = "models"


def checked_plan(delta: float, promises: Sequence[Promise], together: bool, random_state: Any) -> Plan:
    """What is done with the answers of given models, the parameters checked."""
    given: dict[str, Any] = {
        "delta": delta,
        "promises": promises,
        "together": together,
        "random_state": random_state,
    }
    validate_parameter_constraints({name: PARAMETER_CONSTRAINTS[name] for name in given}, given, "certify")
    return make_plan(split="none", **given)


def for_models(plan: Plan, names: Sequence[str], subject: Subject, seed: Seed) -> Plan:
    """The plan for so many models: of several, delta is divided among them and their vote.

    Where answers are all that there is, an enemy who knows the seed could arrange them for bets in order.
    """
    given = {
        "models": list(names),
        "delta": plan.delta,
        "promises": plan.given["promises"],
        "together": plan.together,
    }
    in_order = seed.fresh or subject == "models"
    return replace(plan, n_candidates=len(names) + (len(names) > 1), given=given, in_order=in_order)


def alone(plan: Plan) -> Plan:
    """The plan for one of them."""
    return replace(plan, method=GIVEN_MODEL, family=GIVEN_MODEL.family)


def certified(plan: Plan, codes: Codes, rows: GivenRows, sight: PromiseData) -> Outcome:
    """What is certified of one model, or of a vote of several, whose answers are columns of ``codes``."""
    outcome = certify_votes(plan, _prepared(plan, codes, rows, sight))
    found = outcome.certificate
    parts = tuple(replace(part, training_rows=rows.training_rows) for part in found.parts)
    return replace(outcome, certificate=replace(found, parts=parts))


def _prepared(plan: Plan, codes: Codes, rows: GivenRows, sight: PromiseData) -> Prepared:
    """What the pipeline would have made of voters that are given."""
    units, everything = rows.units, np.arange(len(rows.labels))
    learns = plan.method.predictor.learns
    part = PreparedPart(
        rows=PartRows(np.arange(0), everything),
        voters=cast(FittedVoters, None),  # their votes are here, and nobody asks for others
        votes=build_votes(codes=codes, n_classes=len(rows.classes)),
        labels=rows.labels,
        training_labels=rows.labels[:0],
        entities=units.of(everything),
        times=units.times,
        hyper_priors=given_hyper_priors(plan.prior, codes.shape[1]) if learns else (HyperPrior(np.ones(1)),),
        duplicates=rows.duplicates,
        digests=rows.digests,
        findings=rows.findings,
        probe=None,
        sight=sight,
        counted=rows.counted,
    )
    counts = class_counts(rows.labels, len(rows.classes), None if rows.counted is None else rows.counted.repeats)
    return Prepared(
        classes=np.array([str(label) for label in rows.classes], dtype=object),
        parts=(part,),
        split="none",
        streams=rows.streams,
        table=Table(rows.target, rows.columns, rows.n_columns, tuple(counts.tolist())),
        units=units,
        subject=rows.subject,
    )
