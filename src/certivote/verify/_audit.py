"""The audit of a certificate, and what it asks of the model that the certificate is about."""

from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certivote.certificate import Certificate, Witnesses, check_aligned
from certivote.verify._check import Check
from certivote.verify._methods import METHODS


class AuditedPart(Protocol):
    """Row numbers of the deployed vote."""

    @property
    def train(self) -> NDArray[np.intp]:
        """The training rows of its voters."""

    @property
    def certify(self) -> NDArray[np.intp]:
        """The certification rows."""


class AuditedVoterSet(Protocol):
    """The recipe of the voters."""

    def known_classes(self) -> list[Any]:
        """Classes of classifiers that came fitted; empty if none did."""

    def learned_before(self) -> tuple[str, ...]:
        """Names of what came fitted, or may know something that no fit has taught it; empty if nothing did."""

    def doubt(self, X: Any) -> str:
        """Why the voters seem to know these rows; empty if nothing speaks for it."""


class AuditedVoters(Protocol):
    """The fitted voters."""

    @property
    def n_voters(self) -> int:
        """How many there are."""

    def votes(self, X: Any) -> Any:
        """Their votes on some rows, as :class:`certivote.verify._simulation.AuditedVotes`."""

    def only(self, voters: NDArray[np.intp]) -> tuple[Any, NDArray[np.intp]]:
        """Some of them, as a slim model has them, and their numbers."""


class AuditedModel(Protocol):
    """A fitted classifier as the auditor sees it: by its public names only."""

    @property
    def certificate_(self) -> Certificate:
        """Its own certificate."""

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes, sorted."""

    @property
    def weights_(self) -> NDArray[np.float64]:
        """Weights of the kept voters; for the random vote, its mean weights."""

    @property
    def hyper_posterior_(self) -> NDArray[np.float64] | None:
        """For the random vote, the parameters of the distribution that it draws weights from; otherwise None."""

    @property
    def kept_voters_(self) -> NDArray[np.intp]:
        """Numbers of its voters among those that were certified: all, but in a slim model."""

    @property
    def part_(self) -> AuditedPart:
        """The rows of the deployed vote."""

    @property
    def parts_(self) -> tuple[AuditedPart, ...]:
        """The rows of all votes that were certified, in the order of the certificate."""

    @property
    def n_features_in_(self) -> int:
        """Columns that it was fitted to."""

    @property
    def voter_set_(self) -> AuditedVoterSet:
        """The recipe of its voters."""

    @property
    def voters_(self) -> AuditedVoters:
        """Its voters."""

    @property
    def witnesses_(self) -> Witnesses | None:
        """By which rows that it was made from are recognised."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Its parameters."""

    def check_rows(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        """Rows and labels, validated as ``fit`` does."""

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Vote masses."""

    def contents(self, slim: bool = False) -> dict[str, Any]:
        """All that a file holds of it, but for the certificate, as plain data with arrays."""

    def refit(self, X: Any, y: Any, *, groups: Any = None, order: Any = None, table: Any = None) -> "AuditedModel":
        """A new classifier with the same parameters and the recorded seed, fitted to these rows."""


def verify(
    certificate: Certificate,
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
        from certivote.verify._levels import Evidence, audit
    except ImportError as error:
        raise ImportError("Verifying needs the package python-flint: install certivote[verify].") from error
    check_aligned(X=X, y=y, groups=groups, order=order, predictions=predictions, scores=scores, table=table)
    given = Evidence(
        model, X, y, refit, source_digest, groups, order, predictions, training, scores, table, earlier, blocks
    )
    if blocks is not None:
        _check_blocks(certificate, given)
    if certificate.is_given:
        _check_answers(given)
    elif (X is None) != (y is None) or (X is not None and model is None):
        raise ValueError(
            "X and y come together, and with the model: without it nothing says which rows were certified."
        )
    elif refit and certificate.division != "shuffled":
        raise ValueError(
            "refit=True trains again, and the vote was trained on a cluster, which cannot be repeated: other "
            "partitions or workers train other voters. Verify it without a new fit."
        )
    elif refit and X is None:
        raise ValueError("refit=True trains again, and that needs the model and the data: give model, X and y.")
    if y is None and not (groups is None and order is None):
        raise ValueError("groups and order are about the rows: give these, and their labels y, with them.")
    if training is not None and (X is None or not certificate.is_given):
        raise ValueError("training is compared with the rows X that given models were certified on: give both.")
    if scores is not None and not certificate.is_given:
        raise ValueError(
            "scores belong to the certificate of a given model, and this one is of a vote that was fitted."
        )
    if scores is not None and y is None:
        raise ValueError("scores are about the rows that a given model was certified on: give y with them.")
    if table is not None and not (refit or certificate.is_given):
        raise ValueError("table is about the rows of given models, or of a new fit: give it with refit=True.")
    if table is not None and y is None:
        raise ValueError("table is about the rows: give their labels y with it.")
    return list(audit(certificate, given))


def _check_blocks(c: Certificate, given: Any) -> None:
    """Refuse blocks of rows where all are needed at once."""
    if not (given.X is None and given.y is None):
        raise ValueError("blocks stand in place of X and y: give one or the other.")
    if given.model is None or c.is_given or given.refit or c.groups or c.order:
        raise ValueError(
            "blocks are for a vote that was fitted, with its model, without groups or order, and without a new fit: "
            "give X and y for others."
        )
    if c.method in METHODS and not METHODS[c.method].counts_errors:
        raise ValueError(f"method {c.method} is about more than the number of errors: give X and y, all at once.")


def _check_answers(given: Any) -> None:
    """Refuse labels without answers, and answers without labels."""
    answers = given.predictions is not None or (given.model is not None and given.X is not None)
    if given.y is None and (given.X is not None or given.predictions is not None):
        raise ValueError("The certificate is of given models: X or predictions come with y, the true labels.")
    if given.y is not None and not answers:
        raise ValueError(
            "The certificate is of given models, so their answers are needed: give predictions, or the model and X, "
            "with the labels y."
        )
