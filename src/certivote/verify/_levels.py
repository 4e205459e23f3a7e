"""The levels of an audit, one after another: the record, the model, the data, a new fit; and what is left to trust."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from certivote.certificate import Certificate
from certivote.verify._check import Check, trusted
from certivote.verify._data import against_data
from certivote.verify._differences import check_differences
from certivote.verify._families import FAMILIES
from certivote.verify._given import against_answers, check_names, listed
from certivote.verify._methods import METHODS
from certivote.verify._model import against_model
from certivote.verify._origin import check_earlier, check_origin, check_randomness, check_source
from certivote.verify._record import check_candidates, check_facts, verify_record
from certivote.verify._refit import against_refit, check_encoder
from certivote.verify._rows import check_first_rows, other_libraries
from certivote.verify._settings import check_settings, read_parameters
from certivote.verify._trust import AuditScope, Level, on_trust
from certivote.verify._units import Grouping, read_units


@dataclass(frozen=True)
class AuditInput:
    """What an audit is given besides the certificate, as :func:`~certivote.verify.verify` takes it."""

    model: Any = None
    X: Any = None
    y: Any = None
    refit: bool = False
    source_digest: str | None = None
    groups: Any = None
    order: Any = None
    predictions: Any = None
    training: Any = None
    scores: Any = None
    table: Any = None
    earlier: Certificate | None = None
    blocks: Any = None

    @property
    def has_rows(self) -> bool:
        """Whether there are rows to count on."""
        return self.y is not None or self.blocks is not None


def check_evidence(c: Certificate, given: AuditInput) -> None:
    """Refuse what cannot be held against this certificate.

    Raises
    ------
    ValueError
        If something is missing, or goes with certificates of another kind.
    """
    wrong = (
        *(_wrong_blocks(c, given) if given.blocks is not None else ()),
        *(_wrong_answers(given) if c.is_given else _wrong_rows(c, given)),
        (
            given.y is None and not (given.groups is None and given.order is None),
            "groups and order are about the rows: give these, and their labels y, with them.",
        ),
        (
            given.training is not None and (given.X is None or not c.is_given),
            "training is compared with the rows X that given models were certified on: give both.",
        ),
        (
            given.scores is not None and not c.is_given,
            "scores belong to the certificate of a given model, and this one is of a vote that was fitted.",
        ),
        (
            given.scores is not None and given.y is None,
            "scores are about the rows that a given model was certified on: give y with them.",
        ),
        (
            given.table is not None and not (given.refit or c.is_given),
            "table is about the rows of given models, or of a new fit: give it with refit=True.",
        ),
        (given.table is not None and given.y is None, "table is about the rows: give their labels y with it."),
    )
    for is_wrong, why in wrong:
        if is_wrong:
            raise ValueError(why)


def _wrong_blocks(c: Certificate, given: AuditInput) -> Iterator[tuple[bool, str]]:
    """Blocks of rows where all are needed at once."""
    yield (
        not (given.X is None and given.y is None),
        "blocks stand in place of X and y: give one or the other.",
    )
    yield (
        bool(given.model is None or c.is_given or given.refit or c.groups or c.order),
        "blocks are for a vote that was fitted, with its model, without groups or order, and without a new fit: "
        "give X and y for others.",
    )
    yield (
        c.method in METHODS and not METHODS[c.method].counts_errors,
        f"method {c.method} is about more than the number of errors: give X and y, all at once.",
    )


def _wrong_rows(c: Certificate, given: AuditInput) -> Iterator[tuple[bool, str]]:
    """Rows without the model that says which of them were certified, or a new fit that cannot be."""
    yield (
        (given.X is None) != (given.y is None) or (given.X is not None and given.model is None),
        "X and y come together, and with the model: without it nothing says which rows were certified.",
    )
    yield (
        given.refit and c.division != "shuffled",
        "refit=True trains again, and the vote was trained on a cluster, which cannot be repeated: other "
        "partitions or workers train other voters. Verify it without a new fit.",
    )
    yield (
        given.refit and given.X is None,
        "refit=True trains again, and that needs the model and the data: give model, X and y.",
    )


def _wrong_answers(given: AuditInput) -> Iterator[tuple[bool, str]]:
    """Labels without answers, and answers without labels."""
    answers = given.predictions is not None or (given.model is not None and given.X is not None)
    yield (
        given.y is None and (given.X is not None or given.predictions is not None),
        "The certificate is of given models: X or predictions come with y, the true labels.",
    )
    yield (
        given.y is not None and not answers,
        "The certificate is of given models, so their answers are needed: give predictions, or the model and X, "
        "with the labels y.",
    )


def audit(c: Certificate, given: AuditInput) -> Iterator[Check]:
    """All checks that what is given allows."""
    unknown = [*_without_verifier(c)]
    if unknown:
        yield from unknown
        return
    yield from verify_record(c)
    yield from check_origin(c)
    if not _is_whole(c):
        yield Check("record", False, "its parts are not such as a method has: nothing more can be computed")
        return
    parameters = read_parameters(c)
    yield from check_randomness(c, parameters)
    yield from check_settings(c)
    yield from check_facts(c, parameters)
    yield from check_candidates(c, parameters)
    yield from check_differences(c, parameters)
    yield check_first_rows(c, parameters)
    yield from check_source(c, given.source_digest)
    yield from check_earlier(c, given.earlier)
    units = Grouping() if given.y is None else read_units(c, len(given.y), given.groups, given.order)
    yield from _check_target(c, given.y)
    yield from _of_given_models(c, parameters, given, units) if c.is_given else _of_a_fit(c, parameters, given, units)
    yield from on_trust(c, parameters, _seen(c, parameters, given, units))


def _without_verifier(c: Certificate) -> Iterator[Check]:
    """Methods and families of distributions that somebody has registered: nothing here could prove their bounds."""
    names = {"method": {c.method} - set(METHODS), "family": {part.family for part in c.parts} - set(FAMILIES)}
    for kind, own in names.items():
        for name in sorted(own):
            detail = f"no verifier for it: {name!r:.80} is not certivote's own, so nothing here was proved or refuted"
            yield Check(kind, False, detail, unknown=True)


def _of_a_fit(c: Certificate, parameters: dict[str, Any] | None, given: AuditInput, units: Grouping) -> Iterator[Check]:
    """The certificate of a vote that was fitted: against its model, the data and a new fit."""
    model = given.model
    if given.predictions is not None:
        yield Check("predictions", False, "the certificate is about a vote that was fitted, and not about given models")
    if model is None:
        return
    if not hasattr(model, "certificate_"):
        yield Check("model", False, "it carries no certificate, and this one is about a vote that was fitted")
        return
    yield from against_model(c, parameters, model)
    if not given.has_rows:
        return
    blocks = iter([(given.X, given.y)]) if given.blocks is None else given.blocks
    yield from against_data(c, parameters, model, blocks, units)
    yield from check_encoder(model, given.X, given.y)
    if not given.refit:
        return
    if missing := _lacks(c, given):
        yield Check("refit", False, f"training again needs {missing}=, as the first fit had it")
    elif other := other_libraries(c, model.voter_set_.libraries):
        yield Check("refit", False, f"not comparable: {other}. Verify it with the recorded versions")
    else:
        yield from against_refit(c, model, given.X, given.y, given.groups, given.order, given.table)


def _of_given_models(
    c: Certificate, parameters: dict[str, Any] | None, given: AuditInput, units: Grouping
) -> Iterator[Check]:
    """The certificate of models that somebody else has trained: against their answers."""
    for models in (given.model, given.predictions):
        if models is not None:
            yield check_names(parameters, models)
    if given.y is not None:
        yield from against_answers(
            c,
            parameters,
            given.model,
            given.X,
            given.y,
            given.predictions,
            given.training,
            units,
            given.scores,
            given.table,
        )
    if given.refit:
        yield trusted("refit", "there was no fit to repeat: the models were given")


def _check_target(c: Certificate, y: Any) -> Iterator[Check]:
    name = _name(y)
    if name is not None and c.provenance.target:
        same = name == c.provenance.target
        yield Check("target", same, f"{name:.80} given, {c.provenance.target:.80} recorded")


def _name(y: Any) -> str | None:
    name = getattr(y, "name", None)
    return None if name is None else str(name)


def _lacks(c: Certificate, given: AuditInput) -> str:
    """What should have been given with the rows; empty if nothing is missing."""
    if c.groups and given.groups is None:
        return "groups"
    return "order" if c.order and given.order is None else ""


def _seen(c: Certificate, parameters: dict[str, Any] | None, given: AuditInput, units: Grouping) -> AuditScope:
    """What the audit has seen when it is through."""
    model, fitted = given.model, hasattr(given.model, "certificate_") and not c.is_given
    answered = c.is_given and not (model is None and given.predictions is None)
    level = Level.MODEL if fitted or answered else Level.RECORD
    if given.has_rows and (fitted or c.is_given):
        level = Level.DATA
        other = fitted and other_libraries(c, model.voter_set_.libraries)
        if given.refit and fitted and not _lacks(c, given) and not other:
            level = Level.REFIT
    return AuditScope(
        level=level,
        all_voters=not fitted or len(model.kept_voters_) >= c.deployed_part.n_voters,
        came_fitted=fitted and bool(model.voter_set_.learned_before()),
        file=given.source_digest is not None and bool(c.provenance.source_digest),
        target=level >= Level.DATA and _name(given.y) is not None and bool(c.provenance.target),
        units=level >= Level.DATA and not _lacks(c, given),
        named=units.named,
        called=any(listed(models)[1] for models in (model, given.predictions) if models is not None),
        rows=level >= Level.DATA and (given.blocks is not None or given.X is not None or c.subject == "answers"),
        training=given.training is not None,
        earlier=given.earlier is not None,
    )


def _is_whole(c: Certificate) -> bool:
    """Whether the record can be read any further: classes, and parts of families that the method has, with rows."""
    method = METHODS.get(c.method)
    return (
        method is not None
        and 0 <= c.deployed < len(c.parts)
        and 0.0 < c.delta < 1.0
        and len(c.classes) >= 2
        and all(
            part.family in method.families and part.n >= 1 and part.n_voters >= 1 and 0.0 < part.prior_weight <= 1.0
            for part in c.parts
        )
    )
