"""The levels of an audit, one after another: the record, the model, the data, a new fit; and what is left to trust."""

from collections.abc import Iterator
from typing import Any

from certivote.certificate import Certificate
from certivote.verify._against import against_data, against_model
from certivote.verify._audit import AuditedModel
from certivote.verify._check import Check, trusted
from certivote.verify._methods import METHODS
from certivote.verify._origin import check_origin, check_source
from certivote.verify._payments import check_payments
from certivote.verify._recompute import verify_record
from certivote.verify._refit import against_refit, can_be_refitted
from certivote.verify._settings import check_settings, read_parameters
from certivote.verify._sizes import check_sizes
from certivote.verify._trust import Level, Seen, on_trust
from certivote.verify._weights import check_recorded_weights
from certivote.verify._words import check_words

__all__ = ["audit"]


def audit(
    c: Certificate, model: AuditedModel | None, X: Any, y: Any, refit: bool, source_digest: str | None
) -> Iterator[Check]:
    """All checks that what is given allows, as :func:`~certivote.verify.verify` takes them."""
    yield from verify_record(c)
    yield from check_origin(c)
    if not _is_whole(c):
        yield Check("record", False, "its parts are not such as a method has: nothing more can be computed")
        return
    parameters = read_parameters(c)
    yield from check_payments(c)
    yield from check_recorded_weights(c)
    yield from check_settings(c)
    yield from check_sizes(c, parameters)
    yield from check_words(c, parameters)
    yield from check_source(c, source_digest)
    level = Level.RECORD
    all_voters, came_fitted, target = True, False, False
    if model is not None:
        level = Level.MODEL
        yield from against_model(c, model)
        all_voters = len(model.kept_voters_) >= c.deployed_part.n_voters
        came_fitted = bool(model.voter_set_.known_classes())
    if model is not None and X is not None:
        level, name = Level.DATA, getattr(y, "name", None)
        target = name is not None and bool(c.provenance.target)
        if target:
            same = str(name) == c.provenance.target
            yield Check("target", same, f"{name!s:.80} given, {c.provenance.target:.80} recorded")
        yield from against_data(c, model, X, y)
    if model is not None and refit:
        if can_be_refitted(c):
            level = Level.REFIT
            yield from against_refit(c, model, X, y)
        else:
            yield trusted("refit", f"not possible: a record of schema {c.made_in_schema} has no seed and no parameters")
    file = source_digest is not None and bool(c.provenance.source_digest)
    yield from on_trust(c, parameters, Seen(level, all_voters, came_fitted, file, target))


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
