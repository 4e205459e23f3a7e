"""What the auditor asks of the model that a certificate is about: its public names only."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from certivote.certificate import Certificate, Witnesses


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
