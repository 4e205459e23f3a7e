"""Rows used neither for training nor for certification, and what they say beside a certificate."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from certivote.certificate import Certificate, UsedRows, percent_up
from certivote.present._plain import plain_text
from certivote.theory.bounds import holdout


class TestRows:
    """Rows used neither for training nor for certification: their true classes and the answers they got.

    Parameters
    ----------
    truth, answers : sequences of the same length
    used : UsedRows, optional
        How many of them trained the voters or certified the vote after all, and are no test; None if nobody has looked.
    """

    __test__ = False
    """It is no test, though pytest would take it for one by its name."""

    def __init__(self, truth: Sequence[Any], answers: Sequence[Any], used: UsedRows | None = None):
        if len(truth) != len(answers) or not len(truth):
            raise ValueError(
                f"truth and answers must have the same length and not be empty; got {len(truth)} and {len(answers)}."
            )
        self.n, self.used = len(truth), used
        pairs = zip(truth, answers, strict=True)
        self.counts = Counter((plain_text(str(true)), plain_text(str(said))) for true, said in pairs)
        self.errors = sum(count for (true, said), count in self.counts.items() if true != said)

    @property
    def is_test(self) -> bool:
        """Whether none of the rows is known to have been used before."""
        return self.used is None or not self.used.found

    def of_class(self, label: str, kind: str) -> tuple[int, int]:
        """Errors and rows of a class, or false alarms and rows of the others."""
        wrong = rows = 0
        for (true, said), count in self.counts.items():
            if (true == label) == (kind == "error"):
                rows += count
                wrong += count * ((said == label) == (kind != "error"))
        return wrong, rows


def use(test: TestRows) -> str:
    """What is known of whether rows that were given as a test are one."""
    if not test.is_test:
        return str(test.used)
    said = "said to have been used neither for training nor for certification"
    return said if test.used is None else f"{said} ({test.used})"


def comparison_note(certificate: Certificate, test: TestRows) -> str:
    """What a test on its own would certify; of rows that were used before, that they are none."""
    if not test.is_test:
        return (
            f"Some of the {test.n:,} rows that were given as a test are those that this certificate was made from: "
            f"{test.used}. These say nothing about new cases beyond the certificate itself."
        )
    if certificate.groups:
        return (
            "The test rows alone would certify nothing: which of them belong to the same group was not given, and "
            "rows of one group are not independent."
        )
    alone = holdout(test.errors, test.n, certificate.delta)
    return (
        f"The test rows alone, had they been set aside for this before anything was looked at, would certify at most "
        f"{percent_up(alone)} with the same confidence."
    )
