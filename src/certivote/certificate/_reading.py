"""Reading a certificate that may come from anywhere: which text it is, and whether its numbers fit together."""

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from certivote.certificate._parts import PartRecord
from certivote.certificate._statements import COMPARISONS, Statement
from certivote.certificate._theory import payments_of
from certivote.codec import CodecError, Within, any_value, at, parse, read, shown
from certivote.theory.families import FAMILIES
from certivote.theory.methods import METHODS
from certivote.theory.predictors import FIXED, Predictor

if TYPE_CHECKING:
    from certivote.certificate._certificate import Certificate

SCHEMA_VERSION = 1
T = TypeVar("T")

_INFINITY = float("inf")
_WEIGHTS = {
    "alpha": Within(0.0, _INFINITY),
    "beta": Within(0.0, _INFINITY, closed="neither"),
    "log_weights": Within(-_INFINITY, 1e-9),
}
"""Of a family with one parameter per voter, which is then positive, and draws logarithms of weights. With more
parameters per voter, they may be any numbers."""


def certificate_from(kind: type[T], text: str, others: Mapping[str, type[T]] = MappingProxyType({})) -> T:
    """The certificate of a JSON text, which may be of other kinds; a ValueError if it is none."""
    try:
        record = parse(text)
        if not isinstance(record, dict) or "schema_version" not in record:
            raise CodecError("has no schema_version")
        version = record["schema_version"]
        if type(version) is not int or version != SCHEMA_VERSION:
            raise ValueError(
                f"The certificate has schema version {shown(version)}; this certivote reads version {SCHEMA_VERSION}. "
                "Open it with the certivote that wrote it, or certify again."
            )
        return read(others.get(str(record.get("kind")), kind), record)
    except CodecError as error:
        raise ValueError(f"Not a certificate: {error}.") from error


def check_certificate(certificate: "Certificate") -> None:
    """Refuse numbers that contradict one another, before anything divides by them or makes arrays of them."""
    if not certificate.parts:
        raise CodecError("must have at least one of its parts")
    if certificate.deployed >= len(certificate.parts):
        raise CodecError(f"has {certificate.deployed} as the deployed one of {len(certificate.parts)} parts")
    for i, part in enumerate(certificate.parts):
        with at(f".parts[{i}]"):
            if part.n < 1:
                raise CodecError("must have an n of at least 1; got 0")
            if not METHODS[certificate.method].accepts(FAMILIES[part.family]):
                raise CodecError(f"has the family {part.family}, which {certificate.method} does not learn")
            _check_parameters(part)
            _check_payments(certificate, part)
    predictor, grouped = METHODS[certificate.method].predictor, bool(certificate.groups)
    for place, statement in certificate.statements():
        with at(f".{place}"):
            _check_counts(statement, FIXED if statement.kind in COMPARISONS else predictor, grouped)
    for i, finding in enumerate(certificate.findings):
        with at(f".findings[{i}]"):
            finding.check()
    for i, difference in enumerate(certificate.differences):
        with at(f".differences[{i}]"):
            difference.check()
            if bool(difference.entities) != grouped:
                raise CodecError(f"has {difference.entities} entities in {difference.n} rows")
    with at(".provenance"):
        _check_recorded(certificate.provenance.parameters)
    seen = set()
    for i, promise in enumerate(certificate.promises):
        with at(f".promises[{i}]"):
            _check_recorded(promise.parameters)
            if (promise.name, promise.parameters) in seen:
                raise CodecError("is there twice")
            seen.add((promise.name, promise.parameters))


def _check_counts(part: Statement, predictor: Predictor, grouped: bool) -> None:
    if (part.errors is not None) != (part.n > 0 and not predictor.is_random):
        must = "null: nothing is counted of a vote without fixed answers, or without rows"
        if part.errors is None:
            must = "a number"
        with at(".errors"):
            raise CodecError(f"must be {must}")
    if part.errors is not None and part.errors > part.n:
        raise CodecError(f"has {part.errors} errors in {part.n} rows")
    if part.entities > part.n or bool(part.entities) != (grouped and part.n > 0):
        raise CodecError(f"has {part.entities} entities in {part.n} rows")
    if len(part.losses) not in (0, part.size):
        raise CodecError(f"has {len(part.losses)} losses of {part.size} cases")
    if part.risk_delta >= part.delta:
        raise CodecError(f"spends {part.risk_delta} of its delta {part.delta} on a simulation")
    if part.n and not part.means and not predictor.counts_errors:
        raise CodecError("has no means")


def _check_parameters(part: PartRecord) -> None:
    """Of the hyper-posterior and the hyper-prior."""
    if len(FAMILIES[part.family].limits(1)[0]) == 1:
        for name, within in _WEIGHTS.items():
            if values := getattr(part, name):
                with at(f".{name}"):
                    within(min(values))
                    within(max(values))
    # Readers make arrays of one entry per voter: there are no more than the record itself has room for.
    if part.n_voters > max(len(part.alpha), len(part.beta)):
        raise CodecError("has more voters than parameters")
    if not sum(map(abs, part.alpha)) > 0:
        raise CodecError("must have a number other than 0 in alpha")


def _check_payments(certificate: "Certificate", part: PartRecord) -> None:
    """Whether what the bound pays can be computed, as whoever shows the certificate will do."""
    try:
        with np.errstate(all="ignore"):
            nats = [payment.nats for payment in payments_of(certificate, part)]
    except (ArithmeticError, ValueError) as error:
        raise CodecError(f"has numbers for which its theorem cannot be paid: {error}") from error
    if not all(map(math.isfinite, nats)):
        raise CodecError("pays endlessly many nats")


def _check_recorded(parameters: tuple[tuple[str, str], ...]) -> None:
    """Refuse recorded parameters that others cannot work with: no JSON, too deep, or numbers beyond the floats."""
    for name, text in parameters:
        with at(f".parameters: {shown(name)}"):
            any_value(parse(text))
