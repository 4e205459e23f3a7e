"""The audit of a certificate: what a user calls."""

from collections.abc import Iterable, Iterator
from typing import Any

from numpy.typing import ArrayLike

from certivote.certificate import CarriedCertificate, Certificate, Record, StoppedCertificate, check_aligned
from certivote.verify._check import Check


def verify(
    certificate: Certificate | Record,
    model: Any = None,
    X: Any = None,
    y: ArrayLike | None = None,
    refit: bool = False,
    source_digest: str | None = None,
    *,
    groups: ArrayLike | None = None,
    order: ArrayLike | None = None,
    predictions: Any = None,
    training: Any = None,
    scores: ArrayLike | None = None,
    table: Any = None,
    earlier: Certificate | None = None,
    blocks: Iterable[tuple[Any, Any]] | None = None,
) -> list[Check]:
    """Check a certificate: from its record alone, and against the model, the data and a new fit as far as they go.

    Everything that a certificate says is recomputed, or compared, or named as taken on trust with the reason. The more
    is given, the less is taken on trust; :doc:`auditing` says what each level shows, and what none can.

    Parameters
    ----------
    certificate : Certificate
        Or a record of another kind: of :class:`certivote.LabelPlan`, with ``X``, the pool, and ``y`` and
        ``predictions`` of its rows, or, without it, of those that were labelled; or of :func:`certivote.carry`, with
        ``X``, and in ``predictions`` or ``model`` what the old and the new model say, in this order.
    model : CertifiedVoteClassifier, optional
        The classifier that it is said to be about. For certificates of :func:`certivote.certify`, the model that was
        given to it, or the function, or the list or dictionary of several.
    X, y : array-like, optional
        All rows that the model was fitted to, in the same order; for certificates of :func:`certivote.certify`, those
        that it was certified on.
    refit : bool, default=False
        Whether to train again, from the data, the recorded seed and the parameters, and compare what comes out: all
        parts, voters, hyper-priors, draws and bounds. It takes as long as fitting did.
    source_digest : str, optional
        SHA-256 of the file that the rows were read from, to compare with the one that is recorded.
    groups, order : array-like, optional
        Of all rows, what each belongs to, or when it was taken, if the certificate was made with it.
    predictions : array-like, or dictionary, data frame or list of several, optional
        In place of given models, their answers to all rows; goes with ``y``.
    training : rows, optional
        Those that given models were trained on, if the certificate was made with them; goes with ``X``.
    scores : array-like, optional
        How sure a given model is of each answer, if promises of the certificate were made with it.
    table : data frame, optional
        Columns of the rows that given models were certified on, for promises about columns, where ``X`` is not given.
        With ``refit``, those that ``fit`` was given as its ``table``.
    earlier : Certificate, optional
        For certificates of :func:`certivote.recertify`, the one that they say they follow, to compare with.
    blocks : iterable of (rows, labels), optional
        In place of ``X`` and ``y``: all rows in their order, some at a time, of which one is in memory. For votes whose
        bound starts from a count of errors, without ``groups`` and ``order``.

    Returns
    -------
    list of Check
        One line per check, and one for everything that is taken on trust (``on_trust``). The certificate stands if all
        have ``passed``, as far as what is taken on trust is true.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from certivote import CertifiedVoteClassifier, verify
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = CertifiedVoteClassifier("dis-b", "forest", random_state=0).fit(X, y)
    >>> all(check.passed for check in verify(clf.certificate_, clf, X, y))
    True
    >>> checks = verify(clf.certificate_, clf, X, y, refit=True)
    >>> all(check.passed for check in checks), sum(check.on_trust for check in checks)
    (True, 2)

    The certificate of a model that was given is held against its answers:

    >>> from certivote import certify_predictions
    >>> answers = clf.predict(X)
    >>> all(check.passed for check in verify(certify_predictions(y, answers), y=y, predictions=answers))
    True
    """
    try:
        from certivote.verify._levels import AuditInput, audit, check_evidence
    except ImportError as error:
        raise ImportError("Verifying needs the package python-flint: install certivote[verify].") from error
    if not isinstance(certificate, Certificate):
        return list(_of_other_kinds(certificate, model, X, y, predictions, groups, earlier))
    check_aligned(X=X, y=y, groups=groups, order=order, predictions=predictions, scores=scores, table=table)
    given = AuditInput(
        model, X, y, refit, source_digest, groups, order, predictions, training, scores, table, earlier, blocks
    )
    check_evidence(certificate, given)
    return list(audit(certificate, given))


def _of_other_kinds(
    record: Record, model: Any, X: Any, y: Any, predictions: Any, groups: Any, earlier: Certificate | None
) -> Iterator[Check]:
    """The checks of records that are no certificates of a vote."""
    from certivote.verify._carried import audit_carried
    from certivote.verify._stopped import audit_stopped

    if isinstance(record, StoppedCertificate):
        yield from audit_stopped(record, X, y, predictions)
    elif isinstance(record, CarriedCertificate):
        yield from audit_carried(record, model, X, predictions, groups, earlier)
    else:
        raise TypeError(f"certificate must be a certificate; got {record!r:.80}.")
