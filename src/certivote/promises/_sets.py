r"""Prediction sets: the classes that cannot be excluded, which hold the true one with a certified probability.

*What is said.* A class is in the set of a case where its vote mass is at least ``t``, or where it is the answer.
``left out`` bounds P[the true class is not in the set], of all cases or, with a threshold for each class, of the cases
of that class: at most ``1 - coverage``.

*What is promised.* With probability at least ``1 - delta``, the sets hold the true class in at least ``coverage`` of
new cases (of each class). This is about this vote and these thresholds, given the certification rows, and not only in
the mean over rows that might have been drawn instead, as the usual guarantee of conformal prediction is.

*Proof.* The true class of a case is left out where its mass is below ``t`` and the answer is wrong. So take for ``z``
in :mod:`certivote.promises._cutoff` the mass of the true class, and infinity where the answer is right. The statements
about single classes have a part each. At ``t = 0`` every class is in every set, and nothing need be shown.
"""

import numpy as np

from certivote.certificate import PromiseRecord, Statement, number_down
from certivote.maths.rounding import all_but
from certivote.promises._base import Promise
from certivote.promises._cutoff import checked_share, lacking, largest_threshold, rows_needed
from certivote.promises._ledger import Ledger, Mask
from certivote.promises._words import as_asked, over_groups, seen


class PredictionSets(Promise):
    """Sets of classes, small where the vote is sure, that hold the true class with a certified probability.

    The thresholds are the largest that can be certified. The sets are those of :meth:`certivote.\
CertifiedVoteClassifier.predict_sets`, or of :func:`certivote.promises.prediction_sets`. If nothing can be certified,
    they hold all classes, and the record says how many rows would be needed.

    Parameters
    ----------
    coverage : float in (0, 1), default=0.95
        The share of cases whose set must hold the true class.
    by_class : bool, default=False
        Whether this shall hold of each class by itself, with a threshold for each.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from certivote import certify
    >>> from certivote.promises import PredictionSets, prediction_sets
    >>> X, X_new, y, y_new = train_test_split(*load_wine(return_X_y=True), test_size=0.6, random_state=0)
    >>> model = GaussianNB().fit(X[:, :2], y)
    >>> certificate = certify(model, X_new[:, :2], y_new, promises=[PredictionSets(0.9)], random_state=0)
    >>> print(certificate.promises[1])
    With 95 % confidence, all at once: the true class is in the set for at least 90.00 % of cases.
      a set holds the classes whose mass is at least 0.0293, and the answer
      at least 90.00 % of cases have their class in the set (left out: 5 of 107)
    >>> prediction_sets(certificate, model.predict_proba(X_new[:3, :2]), model.predict(X_new[:3, :2]))
    array([[ True, False,  True],
           [ True,  True,  True],
           [False,  True,  True]])
    """

    name = "sets"
    needs = "masses"

    def __init__(self, coverage: float = 0.95, by_class: bool = False):
        if not isinstance(by_class, bool | np.bool_):
            raise ValueError(f"by_class of PredictionSets must be True or False; got {by_class!r:.100}.")
        self.coverage = checked_share("coverage of PredictionSets", coverage)
        self.by_class = bool(by_class)

    def make(self, ledger: Ledger) -> PromiseRecord:
        rows = ledger.rows
        assert rows is not None
        among: dict[str, Mask] = {"": np.ones(len(rows.labels), dtype=bool)}
        if self.by_class:
            among = {label: rows.labels == code for code, label in enumerate(ledger.classes)}
        most, of = all_but(self.coverage), len(among)
        statements = [self._statement(ledger, label, mask, most, of) for label, mask in among.items()]
        lacks = any(entry.bound > most for entry in statements)
        return ledger.record(
            self.name,
            statements,
            self.parameters,
            fixed=rows_needed(ledger, most, of) if lacks else (),
            thresholds=tuple(entry.threshold or 0.0 for entry in statements),
            value=self.coverage,
        )

    @staticmethod
    def _statement(ledger: Ledger, label: str, among: Mask, most: float, of: int) -> Statement:
        """That of the largest threshold that holds, or of 0."""
        rows = ledger.rows
        assert rows is not None
        assert rows.masses is not None
        masses = rows.masses[np.arange(len(rows.labels)), rows.labels]

        def left_out(threshold: float) -> Statement:
            return ledger.events("left out", label, among, rows.wrong & (masses < threshold), of, threshold)

        events_below = np.where(rows.wrong, masses, np.inf)
        found = largest_threshold(left_out, masses[among], events_below[among], rows.entities is not None, most)
        return left_out(0.0) if found is None else found

    @staticmethod
    def sentences(record: PromiseRecord) -> list[str]:
        coverage, each = as_asked(record.value or 0.0), len(record.statements) > 1
        where = "reaches the threshold of that class" if each else f"is at least {_threshold(record.statements[0])}"
        cases = "cases of each class" if each else "cases"
        lines = [
            f"the true class is in the set for at least {coverage} of {cases}",
            *over_groups(record),
            f"a set holds the classes whose mass {where}, and the answer",
        ]
        for entry in record.statements:
            cases = f"{entry.label}: at least {coverage} of such cases" if each else f"at least {coverage} of cases"
            from_on = f"threshold {_threshold(entry)}, " if each else ""
            lines.append(f"{cases} have their class in the set ({from_on}left out: {seen(entry)})")
        if record.fixed:
            lines.append(f"where the threshold is 0 nothing larger is certified: {lacking(record)}")
        return lines


def _threshold(entry: Statement) -> str:
    return number_down(entry.threshold or 0.0)
