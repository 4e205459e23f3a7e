"""The record of what is promised: a certificate, its JSON and its schema versions, and the digests that tie it to rows.

A certificate is frozen data: numbers and words that an auditor can recompute. How it is made is the pipeline's affair,
how it is checked that of :mod:`certivote.verify`, and how it is shown that of :mod:`certivote.present`, which its
methods import when they are called.
"""

from certivote.certificate._certificate import Certificate
from certivote.certificate._digests import part_digest, row_keys, rows_digest
from certivote.certificate._json import SCHEMA_VERSION
from certivote.certificate._parts import Candidate, ClassBound, Drift, PartRecord, Payment
from certivote.certificate._provenance import Provenance, recorded_parameters
from certivote.certificate._used_rows import used_rows

__all__ = [
    "SCHEMA_VERSION",
    "Candidate",
    "Certificate",
    "ClassBound",
    "Drift",
    "PartRecord",
    "Payment",
    "Provenance",
    "part_digest",
    "recorded_parameters",
    "row_keys",
    "rows_digest",
    "used_rows",
]
