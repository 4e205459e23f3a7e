"""What a model decides about new rows besides its answers: columns of ``predict``, one for each promise that does."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from certivote.certificate import Certificate
from certivote.cli._messages import fail
from certivote.promises import Abstention, PredictionSets, Sensitivity, answered, flagged, margins, prediction_sets

Column = Callable[[Any], Any]
"""Vote masses, a row for each case, to the values of a column."""


def decisions(certificate: Certificate, max_error: float | None) -> tuple[list[tuple[str, Column]], list[str]]:
    """The columns by name, and what there is to say about them.

    Parameters
    ----------
    certificate : Certificate
    max_error : float or None
        For a curve of abstention: how many of the answers may be wrong.
    """
    columns: list[tuple[str, Column]] = []
    remarks: list[str] = []
    curve = False
    for record in certificate.promises:
        given = {name: json.loads(value) for name, value in record.parameters}
        if record.name == Abstention.name:
            target = given.get("max_error")
            curve = curve or target is None
            if target is not None and max_error not in (None, target):
                continue  # another target decides
            if target is None and max_error is None:
                remarks.append("a curve of abstention is certified: give --max-error to see which rows are answered")
                continue
            columns.append(("certivote_answers", _answers(certificate, max_error if target is None else target)))
            if not columns[-1][1](np.eye(len(certificate.classes))).any():
                remarks.append(
                    "no answers are certified to be wrong so rarely, so certivote_answers is False everywhere"
                )
        elif record.name == Sensitivity.name:
            columns.append(("certivote_flagged", _flags(certificate, given)))
            if record.chosen is None:
                remarks.append("no threshold is certified to find so many, so certivote_flagged is True everywhere")
            elif record.thresholds == (0.0,):
                remarks.append("the threshold is 0, so certivote_flagged is True everywhere: nothing is told apart")
        elif record.name == PredictionSets.name:
            columns.append(("certivote_set", _sets(certificate, given)))
    if max_error is not None and not curve:
        fail("--max-error: this is for a model that was fitted with --abstain-curve.")
    return columns, remarks


def _answers(certificate: Certificate, max_error: float | None) -> Column:
    return lambda masses: answered(certificate, margins(masses), max_error)


def _flags(certificate: Certificate, given: dict[str, Any]) -> Column:
    promise = Sensitivity(**given)
    return lambda masses: flagged(certificate, masses, promise)


def _sets(certificate: Certificate, given: dict[str, Any]) -> Column:
    promise = PredictionSets(**given)
    classes = np.array(certificate.classes, dtype=object)

    def texts(masses: Any) -> list[str]:
        return ["|".join(classes[row]) for row in prediction_sets(certificate, masses, promise=promise)]

    return texts
