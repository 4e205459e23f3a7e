"""What certified thresholds decide about new cases: which are answered, which are flagged, which classes are in a set.

Thresholds are compared with scores and masses exactly as they were when the certification rows were counted: in double
precision, to which numbers of less are widened first, and with margins that are computed in it too. (NumPy rounds the
threshold where it compares scores of single precision with it.) Vote masses of this library are multiples of
``2**-52``, the same wherever they are computed.
"""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certivote.certificate import Certificate, PromiseRecord, check_aligned, class_place, plain_percent
from certivote.promises._abstention import Abstention
from certivote.promises._base import Promise
from certivote.promises._rows import margins
from certivote.promises._sensitivity import Sensitivity
from certivote.promises._sets import PredictionSets
from certivote.theory.predictors import GIVEN
from certivote.votes import plurality

Mask = NDArray[np.bool_]
Array = NDArray[np.float64]


def answered(certificate: Certificate, scores: ArrayLike, max_error: float | None = None) -> Mask:
    """Where the vote is sure enough to answer, as :class:`Abstention` has certified it.

    Parameters
    ----------
    certificate : Certificate
    scores : array-like of shape (n_samples,)
        How sure the vote is of each answer, as when it was certified: the scores that were given with the answers, with
        as many digits, or :func:`margins` of what ``predict_proba`` says.
    max_error : float, optional
        With ``Abstention(curve=...)``, the share of answers that may be wrong: of all thresholds whose bound is at most
        this, the one that answers most. With ``Abstention(max_error=...)`` it may be left out, unless there are
        several of these.

    Returns
    -------
    array of bool of shape (n_samples,)
        All False if nothing could be certified: no answer is given without a certificate.

    Examples
    --------
    >>> import numpy as np
    >>> from certivote import certify_predictions
    >>> from certivote.promises import Abstention, answered
    >>> rng = np.random.default_rng(0)
    >>> score, y = rng.random(2000), rng.integers(0, 2, 2000)
    >>> said = np.where(rng.random(2000) < 0.3 * (1 - score), 1 - y, y)
    >>> certificate = certify_predictions(y, said, scores=score, promises=[Abstention(curve=10)], random_state=0)
    >>> answered(certificate, [0.1, 0.5, 0.9], max_error=0.1).tolist()
    [False, True, True]
    """
    numbers = np.asarray(scores, dtype=float)
    if numbers.ndim != 1 or np.any(np.isnan(numbers)):
        raise ValueError(
            "scores must hold one number for each case, how sure its answer is; got an array of shape "
            f"{numbers.shape}{' with missing numbers' if np.any(np.isnan(numbers)) else ''}."
        )
    threshold = _answered_from(certificate, max_error)
    return np.zeros(len(numbers), dtype=bool) if threshold is None else numbers >= threshold


def flagged(certificate: Certificate, masses: ArrayLike, promise: Sensitivity | None = None) -> Mask:
    """Which cases are flagged, as :class:`Sensitivity` has certified it.

    Parameters
    ----------
    certificate : Certificate
    masses : array-like of shape (n_samples, 2)
        What stands behind each class, in the order of ``certificate.classes``: what ``predict_proba`` says.
    promise : Sensitivity, optional
        Which one, if the certificate has several.

    Returns
    -------
    array of bool of shape (n_samples,)
        All True if nothing could be certified: then none is missed.

    Examples
    --------
    See :class:`Sensitivity`.
    """
    record, found = _record(certificate, Sensitivity, promise), _masses(certificate, masses)
    labels = [word for fixed in record.fixed if fixed.what == "label" for word in fixed.words]
    if len(labels) != 1 or labels[0] not in certificate.classes:
        raise ValueError("The certificate does not say which class is flagged: it is damaged.")
    threshold = _only(record)
    if threshold is None:
        raise ValueError("The certificate does not say from which mass on cases are flagged: it is damaged.")
    return np.asarray(found[:, certificate.classes.index(labels[0])] >= threshold)


def prediction_sets(
    certificate: Certificate,
    masses: ArrayLike,
    answers: ArrayLike | None = None,
    promise: PredictionSets | None = None,
) -> Mask:
    """Which classes cannot be excluded, as :class:`PredictionSets` has certified it.

    Parameters
    ----------
    certificate : Certificate
    masses : array-like of shape (n_samples, n_classes)
        What stands behind each class, in the order of ``certificate.classes``: what ``predict_proba`` says.
    answers : array-like of shape (n_samples,), optional
        What ``predict`` says: the answer is in every set. It must be given for a model that was certified by
        :func:`certivote.certify`, which need not answer with the class that it finds most probable.
    promise : PredictionSets, optional
        Which one, if the certificate has several.

    Returns
    -------
    array of bool of shape (n_samples, n_classes)
        Columns as ``certificate.classes``; True where the class is in the set. All True if nothing could be certified.

    Examples
    --------
    See :class:`PredictionSets`.
    """
    check_aligned(masses=masses, answers=answers)
    record, found = _record(certificate, PredictionSets, promise), _masses(certificate, masses)
    if record.thresholds != tuple(entry.threshold for entry in record.statements) or len(record.thresholds) not in (
        1,
        len(certificate.classes),
    ):
        raise ValueError("The certificate has other thresholds for sets than those that were counted: it is damaged.")
    if answers is None and certificate.certified == GIVEN.name:
        raise ValueError("answers must be given for a model that need not answer with the class of largest mass.")
    said = plurality(found) if answers is None else _codes(certificate, answers, len(found))
    sets = np.asarray(found >= np.array(record.thresholds))
    sets[np.arange(len(found)), said] = True
    return sets


class Decisions:
    """What a fitted classifier with a certificate decides about new cases, besides its answers."""

    certificate_: Certificate

    def answers(self, X: Any, max_error: float | None = None) -> Mask:
        """Where the vote is sure enough to answer: what it says elsewhere has no certificate.

        Needs ``promises=[Abstention(...)]``.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        max_error : float, optional
            With ``Abstention(curve=...)``, the share of answers that may be wrong: the threshold with the largest
            coverage at which this is certified decides.

        Returns
        -------
        array of bool of shape (n_samples,)
            All False if nothing could be certified.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from certivote import CertifiedVoteClassifier
        >>> from certivote.promises import Abstention
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> clf = CertifiedVoteClassifier("holdout", "forest", promises=[Abstention(0.05)], random_state=0).fit(X, y)
        >>> clf.answers(X[:5]).tolist()
        [True, True, True, False, True]
        """
        masses = self._masses(X)
        return answered(self.certificate_, margins(masses), max_error)

    def flags(self, X: Any, promise: Sensitivity | None = None) -> Mask:
        """Which cases are flagged, since they may be of the class that is looked for.

        Needs ``promises=[Sensitivity(...)]``.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        promise : Sensitivity, optional
            Which one, if there are several.

        Returns
        -------
        array of bool of shape (n_samples,)
            All True if nothing could be certified: then none is missed.
        """
        masses = self._masses(X)
        return flagged(self.certificate_, masses, promise)

    def predict_sets(self, X: Any, promise: PredictionSets | None = None) -> Mask:
        """The classes that cannot be excluded: a set for each case, which always holds the answer.

        Needs ``promises=[PredictionSets(...)]``.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        promise : PredictionSets, optional
            Which one, if there are several.

        Returns
        -------
        array of bool of shape (n_samples, n_classes)
            Columns as ``classes_``; True where the class is in the set, as conformal libraries have it. All True if
            nothing could be certified.
        """
        masses = self._masses(X)
        return prediction_sets(self.certificate_, masses, promise=promise)

    def _masses(self, X: Any) -> Array:
        masses: Array = self.predict_proba(X)  # type: ignore[attr-defined]  # of the estimator
        return masses


def _answered_from(certificate: Certificate, max_error: float | None) -> float | None:
    """The score from which on the vote answers; None if it never does."""
    records = _records(certificate, Abstention)
    asked = [json.loads(dict(record.parameters).get("max_error", "null")) for record in records]
    if not all(own is None or isinstance(own, float) for own in asked):
        raise ValueError("The certificate does not say how many answers may be wrong: it is damaged.")
    targets = [record for record, own in zip(records, asked, strict=True) if own is not None]
    if max_error is None and len(targets) == 1:
        return _only(targets[0])
    known = ", ".join(f"max_error={own!r}" for own in asked if own is not None)
    if max_error is None:
        raise ValueError(
            f"max_error must be given, one of {known}."
            if targets
            else "max_error must be given, such as 0.02: a curve is certified, and it says where on it to answer."
        )
    for record, own in zip(records, asked, strict=True):
        if own == max_error:
            return _only(record)
    curves = [record for record, own in zip(records, asked, strict=True) if own is None]
    if len(curves) != 1:
        raise ValueError(
            f"{plain_percent(max_error)} wrong among the answers is not what was certified: that is {known}. Leave "
            "max_error out, or certify Abstention(curve=20) to choose it afterwards."
            if not curves
            else f"max_error={max_error!r} may be meant for any of {len(curves)} curves: certify one of them."
        )
    return min(
        (
            entry.threshold
            for entry in curves[0].statements
            if entry.kind == "error when answered" and entry.bound <= max_error and entry.threshold is not None
        ),
        default=None,
    )


def _only(record: PromiseRecord) -> float | None:
    """The threshold of a record that has one, or none."""
    if len(record.thresholds) > 1 or not set(record.thresholds) <= {entry.threshold for entry in record.statements}:
        raise ValueError("The certificate has another threshold than the one that was counted: it is damaged.")
    return record.thresholds[0] if record.thresholds else None


def _records(certificate: Certificate, kind: type[Promise]) -> Sequence[PromiseRecord]:
    """Those of one kind, of which there must be one."""
    records = [record for record in certificate.promises if record.name == kind.name]
    if not records:
        raise ValueError(
            f"The certificate has no promise {kind.__name__}, which decides this: ask for it before certifying, by "
            f"promises=[certivote.promises.{kind.__name__}(...)]."
        )
    return records


def _record(certificate: Certificate, kind: type[Promise], promise: Promise | None) -> PromiseRecord:
    """The one of a kind, or of several the one that is meant."""
    records = _records(certificate, kind)
    if promise is None and len(records) == 1:
        return records[0]
    made = [kind.from_parameters({name: json.loads(value) for name, value in record.parameters}) for record in records]
    if promise not in made:
        known = " or ".join(map(repr, made))
        raise ValueError(f"promise must be {known}, which the certificate has; got {promise!r:.200}.")
    return records[made.index(promise)]


def _masses(certificate: Certificate, masses: ArrayLike) -> Array:
    found = np.asarray(masses, dtype=float)
    classes = certificate.classes
    if found.ndim != 2 or found.shape[1] != len(classes) or not np.all(np.isfinite(found)):
        raise ValueError(
            f"masses must hold one row of {len(classes)} numbers for each case, none missing, in the order of the "
            f"classes {', '.join(classes[:10])}; got an array of shape {found.shape}."
        )
    return found


def _codes(certificate: Certificate, answers: ArrayLike, n: int) -> NDArray[np.intp]:
    labels = np.asarray(answers).ravel().tolist()
    places = {label: class_place(label, certificate.classes) for label in set(labels)}
    strange = [label for label, place in places.items() if place is None]
    if len(labels) != n or strange:
        got = repr(strange[0]) if strange else f"{len(labels):,}"
        known = ", ".join(certificate.classes[:10])
        raise ValueError(f"answers must hold one of {known} for each of the {n:,} cases; got {got:.100}.")
    return np.array([places[label] for label in labels], dtype=np.intp)
