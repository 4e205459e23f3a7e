"""What a certificate is about: a vote of voters that were trained for it, or models that somebody brought."""

import json
from dataclasses import replace

from certivote.certificate import Certificate
from certivote.theory.methods import METHODS, Method
from certivote.theory.predictors import GIVEN, PREDICTORS

__all__ = ["is_given", "is_one_model", "method_of", "model_names", "noun", "only_answers"]


def method_of(certificate: Certificate) -> Method:
    """The method as this certificate used it: about this predictor, and with the theorem for entities if it has any."""
    method = replace(METHODS[certificate.method], predictor=PREDICTORS[certificate.certified])
    return method.by_entity(certificate.bets == "in order") if certificate.groups else method


def is_one_model(certificate: Certificate) -> bool:
    """Whether it is about one model that somebody brought, so that nothing votes."""
    return PREDICTORS[certificate.certified] is GIVEN


def is_given(certificate: Certificate) -> bool:
    """Whether models were brought: it is about one of them, or about a vote of them."""
    return is_one_model(certificate) or bool(certificate.candidates)


def noun(certificate: Certificate) -> str:
    """What to call it."""
    return "model" if is_one_model(certificate) else "vote"


def model_names(certificate: Certificate) -> list[str]:
    """The names of the models that were brought, as far as the record has them."""
    if certificate.candidates:
        return [candidate.name for candidate in certificate.candidates]
    names = _parameter(certificate, "models")
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def only_answers(certificate: Certificate) -> bool:
    """Whether only the answers of the models were there, and not the rows that they answer."""
    return is_given(certificate) and _parameter(certificate, "answers_only") is True


def _parameter(certificate: Certificate, name: str) -> object:
    try:
        return json.loads(dict(certificate.provenance.parameters).get(name, "null"))
    except (RecursionError, ValueError):  # a record may come from anywhere
        return None
