r"""Sensitivity: cases of one class are found, with a threshold that is certified to miss few of them.

*What is said.* There are two classes, and a case is flagged where the vote mass of ``label`` is at least ``t``.
``missed`` bounds P[mass < t | the class is label], which is at most ``1 - at_least``. ``false alarm when flagged``
bounds P[mass >= t | the class is the other].

*What is promised.* With probability at least ``1 - delta``, the share of cases of the class that are flagged is at
least ``at_least``, and the false alarms are at most their bound. The choice of ``t`` has nine tenths of delta, see
:mod:`certivote.promises._cutoff`: of the missed it shows the target, and not the bound of the statement where this is
smaller. The false alarms have the rest.

*The false alarms.* Fix the vote. Given which rows are of the class, and given these rows, the others are independent
of them, and so of any ``t`` that is computed from them.

- A vote that was fixed beforehand pays nothing for learning, so that the level, and with it ``t``, is a function of
  the rows of the class alone: one test.
- The level of a vote that was learned depends on its draw and so on all rows, and ``t`` depends on the level. But
  whatever the level, ``t`` is one of the ``m`` smallest masses of the rows of the class, ``m`` being one more than the
  whole part of ``1 - at_least`` times their number: no more than that may be missed among the rows themselves. Each
  of these ``m`` tests has its part of the level, and one p-value that does not depend on the level (``m`` times the
  smallest) serves the lemma of :mod:`certivote.promises._ledger`.
- Where rows belong to entities, an entity may have rows of both classes. Then ``t`` is one of the thresholds of the
  fixed sequence; at 0 every case is flagged and nothing is said; the 256 others have their part each.
"""

import math
from typing import Any

import numpy as np

from certivote.certificate import Fixed, PromiseRecord, Statement, class_place, number_down, percent_up
from certivote.maths.rounding import all_but
from certivote.promises._base import Promise
from certivote.promises._cutoff import GRID, checked_share, lacking, largest_threshold, rows_needed
from certivote.promises._ledger import Ledger
from certivote.promises._rows import Columns
from certivote.promises._words import as_asked, over_groups, seen

_MISSED_OF, _ALARMS_OF = 10.0 / 9.0, 10.0
"""Nine tenths of the level choose the threshold, one tenth bounds the false alarms."""
_SECOND = {("0", "1"), ("False", "True"), ("-1", "1")}
"""Classes of which the second is by custom the one that is looked for."""


class Sensitivity(Promise):
    """Flag cases of one of two classes so that at least a share of them is found, with as few false alarms as possible.

    The threshold is the largest that can be certified. What it does is decided by :meth:`certivote.\
CertifiedVoteClassifier.flags`, or :func:`certivote.promises.flagged`; ``predict`` stays as it is. If nothing can be
    certified, the record says how many rows of the class would be needed, and every case is flagged.

    Parameters
    ----------
    at_least : float in (0, 1), default=0.95
        The share of the cases of the class that must be flagged.
    label : str or number, optional
        The class that is looked for. It need not be named if the classes are 0 and 1, -1 and 1 or False and True: then
        it is the second.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from certivote import certify
    >>> from certivote.promises import Sensitivity, flagged
    >>> X, X_new, y, y_new = train_test_split(*load_breast_cancer(return_X_y=True), test_size=0.5, random_state=0)
    >>> model = GaussianNB().fit(X, y)
    >>> certificate = certify(model, X_new, y_new, promises=[Sensitivity(0.9, label=0)], random_state=0)
    >>> print(certificate.promises[1])
    With 95 % confidence, all at once: finds at least 90.00 % of '0', and flags at most 14.08 % of the others.
      a case is flagged where the mass of 0 is at least 0.00111
      0: at least 90.00 % of such cases are flagged (missed: 4 of 101)
      other cases: at most 14.08 % of them are flagged (14 of 184)
    >>> flagged(certificate, model.predict_proba(X_new[:5])).tolist()
    [True, False, False, False, False]
    """

    name = "sensitivity"
    needs = "masses"

    def __init__(self, at_least: float = 0.95, label: Any = None):
        self.at_least = checked_share("at_least of Sensitivity", at_least)
        plain = label.item() if isinstance(label, np.generic) else label
        if plain is not None and (not isinstance(plain, str | int | float) or plain != plain):
            raise ValueError(f"label of Sensitivity must be one of the two classes; got {label!r:.100}.")
        self.label = plain

    def check(self, classes: tuple[str, ...], columns: Columns | None) -> None:
        self._looked_for(classes)

    def _looked_for(self, classes: tuple[str, ...]) -> str:
        """The class that is flagged."""
        if len(classes) != 2:
            raise ValueError(
                f"{self!r} is for two classes, and there are {len(classes)}; PredictionSets(by_class=True) bounds what "
                "is missed of each class."
            )
        if self.label is None and classes in _SECOND:
            return classes[1]
        place = None if self.label is None else class_place(self.label, classes)
        if place is None:
            raise ValueError(
                f"{self!r} must be told which class is looked for: label={classes[0]!r} or label={classes[1]!r}."
            )
        return classes[place]

    def make(self, ledger: Ledger) -> PromiseRecord:
        rows, label = ledger.rows, self._looked_for(ledger.classes)
        assert rows is not None
        assert rows.masses is not None
        code, most = ledger.classes.index(label), all_but(self.at_least)
        masses, own, grid = rows.masses[:, code], rows.labels == code, rows.entities is not None

        def missed(threshold: float) -> Statement:
            return ledger.events("missed", label, own, masses < threshold, _MISSED_OF, threshold)

        found, fixed = largest_threshold(missed, masses[own], masses[own], grid, most), (Fixed("label", (), (label,)),)
        if found is None or found.threshold is None:
            needed = rows_needed(ledger, most, _MISSED_OF)
            # Where every case is flagged none is missed, and nothing need be shown.
            return ledger.record(self.name, [missed(0.0)], self.parameters, fixed=(*fixed, *needed), thresholds=(0.0,))
        tests = GRID if grid else 1 + math.floor(most * found.n) if ledger.counted.method.predictor.learns else 1
        threshold, of = found.threshold, _ALARMS_OF * tests
        alarms = ledger.events("false alarm when flagged", label, ~own, masses >= threshold, of, threshold)
        return ledger.record(
            self.name,
            [found, alarms],
            self.parameters,
            fixed=fixed,
            chosen=0,
            thresholds=(threshold,),
            value=self.at_least,
        )

    @staticmethod
    def sentences(record: PromiseRecord) -> list[str]:
        missed, *alarms = record.statements
        target, label = as_asked(record.value or 0.0), missed.label
        if record.chosen is None or not alarms:
            return [
                f"not promised: no threshold is certified to find {label}, so every case is flagged",
                *over_groups(record),
                f"{label}: {lacking(record)}",
            ]
        flagged = f"a case is flagged where the mass of {label} is at least {number_down(record.thresholds[0])}"
        if not record.thresholds[0]:
            flagged = "every case is flagged, so that nothing is told apart"
        return [
            f"finds at least {target} of '{label}', and flags at most {percent_up(alarms[0].bound)} of the others",
            *over_groups(record),
            flagged,
            f"{label}: at least {target} of such cases are flagged (missed: {seen(missed)})",
            f"other cases: at most {percent_up(alarms[0].bound)} of them are flagged ({seen(alarms[0])})",
        ]
