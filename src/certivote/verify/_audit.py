"""The audit of a certificate, and what it asks of the model that the certificate is about."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certivote.certificate import Certificate
from certivote.verify._check import Check

__all__ = ["AuditedModel", "verify"]


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

    def doubt(self, X: Any) -> str:
        """Why the voters seem to know these rows; empty if nothing speaks for it."""


class AuditedVoters(Protocol):
    """The fitted voters."""

    def votes(self, X: Any) -> Any:
        """Their votes on some rows, as :class:`certivote.verify._simulation.AuditedVotes`."""


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
    def voter_set_(self) -> AuditedVoterSet:
        """The recipe of its voters."""

    @property
    def voters_(self) -> AuditedVoters:
        """Its voters."""

    def check_rows(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        """Rows and labels, validated as ``fit`` does."""


def verify(
    certificate: Certificate, model: AuditedModel | None = None, X: Any = None, y: ArrayLike | None = None
) -> list[Check]:
    """Check a certificate: from its record alone, and against the model and the data as far as they are given.

    Parameters
    ----------
    certificate : Certificate
    model : CertifiedVoteClassifier, optional
        The classifier that it is said to be about.
    X, y : array-like, optional
        All rows that the model was fitted to, in the same order.

    Returns
    -------
    list of Check
        One line per check; the certificate stands if all have passed.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from certivote import CertifiedVoteClassifier, verify
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = CertifiedVoteClassifier("dis-b", "forest", random_state=0).fit(X, y)
    >>> all(check.passed for check in verify(clf.certificate_, clf, X, y))
    True
    """
    try:
        from certivote.verify._against import against_data, against_model
        from certivote.verify._recompute import verify_record
    except ImportError as error:
        raise ImportError("Verifying needs the package python-flint: install certivote[verify].") from error
    checks = verify_record(certificate)
    if (X is None) != (y is None) or (X is not None and model is None):
        raise ValueError(
            "X and y come together, and with the model: without it nothing says which rows were certified."
        )
    if model is not None:
        checks.extend(against_model(certificate, model))
        if X is not None:
            checks.extend(against_data(certificate, model, X, y))
    return checks
