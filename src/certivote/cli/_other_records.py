"""Rows that `certivote verify` compares records of `certivote label` and `certivote carry` with."""

from typing import Any

from certivote.certificate import CarriedCertificate, Record, StoppedCertificate
from certivote.cli._carry import two_answers
from certivote.cli._label import labelled
from certivote.cli._messages import fail
from certivote.cli._tables import TableFormat
from certivote.io import TableFile


def rows_of_record(
    record: Record, classifier: Any, file: TableFile | None, against: Any, form: TableFormat, trust: Any
) -> dict[str, Any]:
    """What the audit is given, as far as files show it."""
    if against.refit or against.score or against.training or against.time:
        fail("--refit, --score, --training, --time: not for this kind of certificate.")
    predicted = against.predicted[0] if against.predicted else None
    if isinstance(record, StoppedCertificate):
        if file is None and against.labels is None:
            return {}
        if file is None or against.labels is None or (classifier is None) == (predicted is None):
            fail("--data, --labels: give both, the table and the file of labels, and --model or --predicted.")
        return labelled(record, file, classifier, predicted, against.labels, against.target or "label")
    assert isinstance(record, CarriedCertificate)
    if file is None and against.new is None:
        return {}
    if file is None or against.new is None:
        fail("--data, --new: give both, the rows and the answers of the new model.")
    given = two_answers(
        file, record.old, classifier, predicted, against.new, None, against.group, form, trust, quiet=True
    )
    return {"predictions": {"old": given["old"], "new": given["new"]}, "groups": given["groups"]}
