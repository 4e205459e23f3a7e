"""The same vote, certified on new rows: a certificate of its own, which names the one before it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from certivote.certificate import AlarmRecord, Certificate, Earlier, WatchRecord, counted
from certivote.monitor._drift import DriftMonitor
from certivote.monitor._monitor import Monitor
from certivote.pipeline import certify, certify_predictions, required_grouping
from certivote.promises import Promise, Subgroups, promises_of

_FEW = 5
"""Columns that a record names."""


def recertify(
    model: Any,
    X: Any = None,
    y: ArrayLike | None = None,
    delta: float | None = None,
    groups: ArrayLike | Literal[False] | None = None,
    *,
    predictions: ArrayLike | None = None,
    order: ArrayLike | Literal[False] | None = None,
    table: Any = None,
    scores: ArrayLike | None = None,
    monitor: Any = None,
    promises: Sequence[Promise] | None = None,
    together: bool | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> Certificate:
    """Certify a vote again, as it is, on labelled rows that came after its certificate.

    Nothing is learned, so nothing is paid for learning: the bound is that of Clopper and Pearson, or that of bets on
    entities with ``groups``; it is on wrong answers, for any loss before. The new certificate names the one
    before it by its digest, and says what has happened since.

    It holds if the rows were chosen without regard to how they came out. If a look at some outcomes, such as an alarm
    of a :class:`Monitor`, decided when to certify again, certify only rows that came after that.

    Parameters
    ----------
    model : CertifiedVoteClassifier or Certificate
        The vote as it was fitted or loaded, or a dictionary of one, with the name that is recorded. Or the certificate
        of any model, and ``predictions`` in place of ``X``.
    X : rows
        New ones, as the model takes them. Those that trained its voters or certified it are refused.
    y : array-like
        Their true labels.
    delta : float in (0, 1), optional
        Probability with which the new certificate may fail; by default, that of the one before.
    groups, order : array-like or False, optional
        What each row belongs to, or when it was taken: see :func:`certivote.certify`. Where the certificate before was
        made with groups or order, this one is too, unless they are False: rows are then certified as independent.
    predictions : array-like, optional
        With a certificate: the answers of its model to the new rows. Of several models,
        :meth:`Certificate.combine <certivote.Certificate.combine>` makes one of theirs.
    table, scores : optional
        With predictions, for promises that ask for columns, or how sure each answer is: see
        :func:`certivote.certify_predictions`.
    monitor : Monitor, DriftMonitor or list of them, optional
        What has watched the vote meanwhile: its alarms and its counts are recorded.
    promises, together : optional
        As for :func:`certivote.certify`; by default those of the certificate before, with the same parameters, whose
        thresholds are chosen anew. An empty list: none but the bounds by class.
    random_state
        As for :func:`certivote.certify`.

    Returns
    -------
    Certificate

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from certivote import CertifiedVoteClassifier, recertify
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = CertifiedVoteClassifier("dis-b", "forest", random_state=0).fit(X[:300], y[:300])
    >>> again = recertify(clf, X[300:], y[300:])
    >>> again.deployed_part.n, again.provenance.follows == clf.certificate_.digest
    (269, True)
    >>> bool(again.bound < clf.certificate_.bound)
    True
    """
    name, source = _named(model)
    earlier = source if isinstance(source, Certificate) else getattr(source, "certificate_", None)
    if not isinstance(earlier, Certificate):
        raise TypeError(
            "model must be a fitted CertifiedVoteClassifier, or the certificate of a model, with predictions; got "
            f"{source!r:.80}. Use certivote.certify for a model that has no certificate yet."
        )
    if y is None:
        raise ValueError("y is missing: a certificate needs the true labels of the rows.")
    settings: dict[str, Any] = {
        "delta": earlier.delta if delta is None else delta,
        "promises": promises_of(earlier) if promises is None else promises,
        "together": earlier.together if together is None else together,
        "random_state": random_state,
    }
    if isinstance(source, Certificate):
        if predictions is None or X is not None:
            raise ValueError("With a certificate, give predictions, the answers of its model to the rows, and no X.")
        answers: Any = predictions if name is None else {name: predictions}
        _check_answered(settings["promises"], table, scores)
        groups, order = required_grouping([earlier], groups, order)
        made = certify_predictions(y, answers, groups=groups, order=order, table=table, scores=scores, **settings)
    else:
        if X is None or predictions is not None:
            raise ValueError("With a model, give the rows X, and no predictions: it answers them by itself.")
        if not (table is None and scores is None):
            raise ValueError("table and scores go with predictions; the model itself has them of the rows X.")
        made = certify(source if name is None else {name: source}, X, y, groups=groups, order=order, **settings)
    return follow(made, earlier, monitor)


def _check_answered(promises: Sequence[Promise], table: Any, scores: Any) -> None:
    """Refuse promises that ask for more than there is with answers."""
    for promise in promises:
        lacks = ""
        if isinstance(promise, Subgroups) and table is None:
            lacks = "table="
        elif isinstance(promise, Promise) and promise.needs == "scores" and scores is None:
            lacks = "scores="
        elif isinstance(promise, Promise) and promise.needs == "masses":
            lacks = "a certivote model in place of its certificate"
        if lacks:
            raise ValueError(
                f"{promise!r} needs more than answers: give {lacks}, or promises= without it. Promises of the "
                "certificate before are made again by default."
            )


def follow(made: Certificate, earlier: Certificate, monitor: Any = None) -> Certificate:
    """A new certificate of given answers, as one that follows an earlier certificate of the same vote.

    Parameters
    ----------
    made, earlier : Certificate
    monitor : Monitor, DriftMonitor or list of them, optional

    Raises
    ------
    ValueError
        If both are about the same rows.
    """
    used = {digest for part in earlier.parts for digest in (part.certification_digest, part.training_digest)} - {""}
    if used & {part.certification_digest for part in made.parts}:
        raise ValueError(
            f"These {counted(made.deployed_part.n, 'row')} have made the certificate before. Another one needs rows "
            "that came later."
        )
    before = Earlier(
        digest=earlier.digest,
        created=earlier.provenance.created,
        loss=earlier.loss,
        groups=earlier.groups,
        delta=earlier.delta,
        bound=earlier.bound,
        n=earlier.deployed_part.n,
    )
    watched = tuple(_watched(earlier, monitor))
    return replace(made, provenance=replace(made.provenance, earlier=before, watched=watched))


def _named(model: Any) -> tuple[str | None, Any]:
    """The name that a dictionary gives, and the one model or certificate in it."""
    if not isinstance(model, Mapping):
        return None, model
    if len(model) != 1:
        raise ValueError(f"model must be one model or one certificate; got a dictionary of {len(model)}.")
    ((name, source),) = model.items()
    return str(name), source


def _watched(earlier: Certificate, monitor: Any) -> Iterator[WatchRecord]:
    """What monitors of a certificate have seen."""
    for each in monitor if isinstance(monitor, list | tuple) else [] if monitor is None else [monitor]:
        if not isinstance(each, Monitor | DriftMonitor):
            raise TypeError(f"monitor must be a Monitor or a DriftMonitor, or a list of them; got {each!r:.80}.")
        if each.certificate_digest != earlier.digest:
            raise ValueError(
                f"The monitor has watched another certificate ({each.certificate_digest:.16}...) than the one before "
                f"({earlier.digest:.16}...)."
            )
        first, last = (each.calls[0][1], each.calls[-1][1]) if each.calls else ("", "")
        seen = WatchRecord(isinstance(each, Monitor), each.alpha, first, last, each.n)
        yield _with_outcomes(seen, each) if isinstance(each, Monitor) else _with_rows(seen, each)


def _with_outcomes(seen: WatchRecord, monitor: Monitor) -> WatchRecord:
    alarms = tuple(
        AlarmRecord(alarm.name, alarm.bound, alarm.alarm_at or 0, alarm.alarm_when or "") for alarm in monitor.alarms
    )
    return replace(seen, errors=monitor.streams[0].errors, error_limit=monitor.error_limit, alarms=alarms)


def _with_rows(seen: WatchRecord, monitor: DriftMonitor) -> WatchRecord:
    if not monitor.alarm:
        return seen
    alarm = AlarmRecord("", None, monitor.alarm_at or 0, monitor.alarm_when or "")
    return replace(seen, alarms=(alarm,), moved=tuple(each.column for each in monitor.moved[:_FEW]))
