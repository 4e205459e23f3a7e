"""Hold a certificate against the model and the data that it is about: let the voters vote again, and count again."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from certivote.certificate import Certificate, PartRecord, part_digest, row_keys
from certivote.verify._audit import AuditedModel
from certivote.verify._check import Check
from certivote.verify._families import FAMILIES
from certivote.verify._methods import DRAWN, METHODS, RANDOM
from certivote.verify._recount import recount

__all__ = ["against_data", "against_model"]

_UNIT = 2.0**52
"""Deployed weights are multiples of 1/_UNIT."""


def against_model(certificate: Certificate, model: AuditedModel) -> Iterator[Check]:
    """Whether the certificate is this model's, and the model's vote the one that was certified."""
    same = model.certificate_ == certificate
    yield Check("model", same, f"its own certificate is {'this one' if same else 'another one'}")
    part = certificate.deployed_part
    exact = _has_certified_weights(certificate, part, model)
    yield Check("weights", exact, f"those of the model are {'' if exact else 'not '}the ones that were certified")
    rows, own = np.concatenate([model.part_.train, model.part_.certify]), len(model.part_.certify)
    apart = len(np.unique(rows)) == len(rows)
    yield Check(
        "parts",
        apart,
        f"no row for both training and certification, of {len(rows):,}"
        if apart
        else "rows for training AND certification",
    )
    yield Check("size", own == part.n, f"{own:,} certification rows, the certificate says {part.n:,}")


def _has_certified_weights(certificate: Certificate, part: PartRecord, model: AuditedModel) -> bool:
    """Whether the model votes with what the record stands for: drawn weights, parameters to draw from, or weights."""
    method, family = METHODS.get(certificate.method), FAMILIES.get(part.family)
    if method is None or family is None:
        return False
    if method.predictor == RANDOM:
        return model.hyper_posterior_ is not None and np.array_equal(model.hyper_posterior_, np.array(part.alpha))
    if method.predictor != DRAWN:
        return np.array_equal(_all_weights(model, part.n_voters), np.array(part.alpha))
    if not part.log_weights or part.family not in method.families:
        return False
    drawn = _fixed_point(family.log_weights(np.array(part.log_weights)))
    return np.array_equal(_all_weights(model, part.n_voters), drawn)


def _all_weights(model: AuditedModel, n_voters: int) -> NDArray[np.float64]:
    """The weights of all voters that were certified: zero for those that a slim model lacks."""
    kept = model.kept_voters_
    weights = np.zeros(max(n_voters, int(kept.max()) + 1))
    weights[kept] = model.weights_
    return weights


def _fixed_point(log_weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The deployed weights: multiples of 2**-52, the largest taking the rest."""
    units = np.floor(np.exp(log_weights) * _UNIT)
    units[np.argmax(units)] += _UNIT - units.sum()
    return units / _UNIT


def against_data(certificate: Certificate, model: AuditedModel, X: Any, y: Any) -> Iterator[Check]:
    """Whether these are the rows, the voters vote on them as they did, and the counts are those recorded."""
    part, rows = certificate.deployed_part, model.part_
    X, y = model.check_rows(X, y)
    used = np.concatenate([rows.train, rows.certify])
    if used.min() < 0 or used.max() >= len(y):
        yield Check("rows", False, f"the data have {len(y):,} rows, and row number {used.max():,} was used")
        return
    keys = row_keys(X)
    for name, chosen, digest in (
        ("certification rows", rows.certify, part.certification_digest),
        ("training rows", rows.train, part.training_digest),
    ):
        same = part_digest(keys, y, chosen) == digest
        yield Check(
            name, same, f"{len(chosen):,} rows and labels, digest {'as recorded' if same else 'OTHER than recorded'}"
        )
    own = _safe_indexing(X, rows.certify)
    doubt = model.voter_set_.doubt(own)
    yield Check("voters fixed beforehand", not doubt, doubt or "nothing in the certification rows speaks against it")
    votes = model.voters_.votes(own)
    gone = part.n_voters - votes.n_voters
    if gone > 0:
        yield Check("voters", True, f"the model is slim, {gone:,} of weight 0 are gone: their votes cannot be compared")
    else:
        same = votes.digest() == part.votes_digest
        yield Check("voters", same, f"{votes.n_voters:,} vote {'as they did' if same else 'OTHER than they did'}")
    unknown = sorted({str(label) for label in y[rows.certify].tolist()} - set(certificate.classes))
    if unknown:
        yield Check("classes", False, f"rows of classes that the certificate does not know: {', '.join(unknown)}")
        return
    method = METHODS.get(certificate.method)
    weights = model.hyper_posterior_ if method and method.predictor == RANDOM else model.weights_
    if weights is None:
        yield Check("vote", False, "the certificate is about a random vote, and the model draws none")
        return
    yield from recount(certificate, votes, weights, np.searchsorted(model.classes_, y[rows.certify]))
