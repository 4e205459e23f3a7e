"""The record of what is promised: a certificate, its JSON, and the digests that tie it to rows.

A certificate is frozen data: numbers and words that an auditor can recompute. How it is made is the pipeline's affair,
how it is checked that of :mod:`certivote.verify`, and how it is shown that of :mod:`certivote.present`, which its
methods import when they are called.
"""

from certivote.certificate._alignment import check_aligned
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
from certivote.certificate._reading import SCHEMA_VERSION
from certivote.certificate._statements import Fixed, PromiseRecord, Statement
from certivote.certificate._theory import Payment, confidence_nats, method_of, payments_of, setting_of
from certivote.certificate._used_rows import UsedRows, are_own_rows, used_rows, witnessed
from certivote.certificate._values import class_place, missing_places, names_of, one_spelling
from certivote.certificate._witnesses import MOST_WITNESSES, Witnesses, value_digests
from certivote.maths.tree_digest import Piece, join_pieces, together

__all__ = [
    "FINDINGS",
    "MOST_WITNESSES",
    "SCHEMA_VERSION",
    "AlarmRecord",
    "Candidate",
    "Certificate",
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
    "Statement",
    "Subject",
    "UsedRows",
    "WatchRecord",
    "Witnesses",
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
