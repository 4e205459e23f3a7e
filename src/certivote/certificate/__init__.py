"""The record of what is promised: a certificate, its JSON, and the digests that tie it to rows.

Beside the :class:`Certificate` of a vote there are two other records: :class:`StoppedCertificate`, of labels until a
target is proven, and :class:`CarriedCertificate`, of a changed model; :func:`any_certificate` reads all three.

A certificate is frozen data: numbers and words that an auditor can recompute. How it is made is the pipeline's affair,
how it is checked that of :mod:`certivote.verify`, and how it is shown that of :mod:`certivote.present`, which its
methods import when they are called.
"""

from certivote.certificate._alignment import check_aligned
from certivote.certificate._carried import CarriedCertificate, CarriedClass
from certivote.certificate._certificate import Certificate, PriorKind, Subject
from certivote.certificate._differences import Difference
from certivote.certificate._digests import (
    as_rows,
    data_digest,
    part_digest,
    row_keys,
    row_piece,
    rows_digest,
)
from certivote.certificate._findings import FINDINGS, Finding, FirstRows
from certivote.certificate._in_words import (
    called,
    confidence,
    counted,
    number_down,
    number_up,
    percent_down,
    percent_up,
    plain_percent,
    unit,
    units,
)
from certivote.certificate._parts import Candidate, Drift, PartRecord
from certivote.certificate._provenance import AlarmRecord, Earlier, Provenance, WatchRecord, recorded_parameters
from certivote.certificate._reading import SCHEMA_VERSION, certificate_from
from certivote.certificate._records import Record
from certivote.certificate._statements import Fixed, PromiseRecord, Statement
from certivote.certificate._stopped import MOST_LABELLED, MOST_LABELS, Certified, StoppedCertificate
from certivote.certificate._theory import Payment, confidence_nats, method_of, payments_of, setting_of
from certivote.certificate._used_rows import UsedRows, are_own_rows, used_rows, witnessed
from certivote.certificate._values import class_place, missing_places, names_of, one_spelling
from certivote.certificate._witnesses import MOST_WITNESSES, Witnesses, value_digests
from certivote.maths.tree_digest import Piece, join_pieces, together


def any_certificate(text: str) -> Certificate | Record:
    """The certificate of a JSON text, of whichever kind; a ValueError if it is none."""
    kinds = {"carried": CarriedCertificate, "stopped": StoppedCertificate}
    return certificate_from(Certificate, text, kinds)


__all__ = [
    "FINDINGS",
    "MOST_LABELLED",
    "MOST_LABELS",
    "MOST_WITNESSES",
    "SCHEMA_VERSION",
    "AlarmRecord",
    "Candidate",
    "CarriedCertificate",
    "CarriedClass",
    "Certificate",
    "Certified",
    "Difference",
    "Drift",
    "Earlier",
    "Finding",
    "FirstRows",
    "Fixed",
    "PartRecord",
    "Payment",
    "Piece",
    "PriorKind",
    "PromiseRecord",
    "Provenance",
    "Record",
    "Statement",
    "StoppedCertificate",
    "Subject",
    "UsedRows",
    "WatchRecord",
    "Witnesses",
    "any_certificate",
    "are_own_rows",
    "as_rows",
    "called",
    "check_aligned",
    "class_place",
    "confidence",
    "confidence_nats",
    "counted",
    "data_digest",
    "join_pieces",
    "method_of",
    "missing_places",
    "names_of",
    "number_down",
    "number_up",
    "one_spelling",
    "part_digest",
    "payments_of",
    "percent_down",
    "percent_up",
    "plain_percent",
    "recorded_parameters",
    "row_keys",
    "row_piece",
    "rows_digest",
    "setting_of",
    "together",
    "unit",
    "units",
    "used_rows",
    "value_digests",
    "witnessed",
]
