"""What is watched: a certificate, wherever it is."""

import os
from typing import Any

from certivote.certificate import Certificate
from certivote.io import read_certificate


def certificate_of(source: Any) -> Certificate:
    """The certificate itself, that of a fitted classifier, or that in a file."""
    if isinstance(source, Certificate):
        return source
    if isinstance(source, str | os.PathLike):
        return read_certificate(source)
    found = getattr(source, "certificate_", None)
    if isinstance(found, Certificate):
        return found
    raise TypeError(
        "source must be a certificate, a fitted CertifiedVoteClassifier, or the path of a certificate or a model; got "
        f"{type(source).__name__}."
    )
