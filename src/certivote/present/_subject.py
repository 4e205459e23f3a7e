"""What a certificate is about: a vote of voters that were trained for it, or models that somebody brought."""

import json

from certivote.certificate import Certificate
from certivote.theory.predictors import GIVEN


def is_one_model(certificate: Certificate) -> bool:
    """Whether it is about one model that somebody brought, so that nothing votes."""
    return certificate.certified == GIVEN.name


def noun(certificate: Certificate) -> str:
    """What to call it."""
    return "model" if is_one_model(certificate) else "vote"


def model_names(certificate: Certificate) -> list[str]:
    """The names of the models that were brought, as far as the record has them."""
    if certificate.candidates:
        return [candidate.name for candidate in certificate.candidates]
    names = recorded(certificate, "models")
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def recorded(certificate: Certificate, name: str) -> object:
    """The value of a recorded parameter; None if there is none that can be read."""
    try:
        return json.loads(dict(certificate.provenance.parameters).get(name, "null"))
    except (RecursionError, ValueError):  # a record may come from anywhere
        return None
