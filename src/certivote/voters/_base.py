"""The interface of a voter family."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from certivote.votes import Votes

__all__ = ["Rehearsal", "TaughtVoters", "VoterSet", "honest_rehearsal"]


@dataclass(frozen=True)
class Rehearsal:
    """How the voters would have voted on teaching rows that had not taught them.

    Attributes
    ----------
    votes : Votes
        On those rows: of each voter, or of groups of voters whose members were not all taught without the same rows.
    groups : array of int
        Of each voter, its number among ``votes``.
    """

    votes: Votes
    groups: NDArray[np.intp]


class TaughtVoters(Protocol):
    """Voters that are ready to vote."""

    @property
    def n_voters(self) -> int:
        """How many there are."""

    def votes(self, X: Any) -> Votes:
        """The votes on the rows of ``X``."""

    def rehearse(self, X: Any, y: NDArray[Any], rows: NDArray[np.intp]) -> Rehearsal:
        """The votes on some rows of all that taught them, as if those had not; ``y`` are the codes of the classes."""

    def only(self, voters: NDArray[np.intp]) -> "tuple[TaughtVoters, NDArray[np.intp]]":
        """Some of the voters, and their numbers: those asked for, and those that leaving out would save nothing."""


def honest_rehearsal(voters: TaughtVoters, X: Any) -> Rehearsal:
    """The rehearsal of voters that no row has taught: they just vote."""
    return Rehearsal(voters.votes(X), np.arange(voters.n_voters))


class VoterSet(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A family of voters, before any data. To add one, define the members below.

    Attributes
    ----------
    keeps_frames : bool
        Whether a data frame reaches the voters as it is, unchecked. Other input always becomes an array.
    """

    keeps_frames: ClassVar[bool] = False

    @property
    def multi_class(self) -> bool:
        """Whether the voters can choose among more than two classes."""
        return True

    @property
    @abstractmethod
    def input_checks(self) -> dict[str, Any]:
        """Arguments for scikit-learn's ``validate_data``."""

    @property
    @abstractmethod
    def needs_rows(self) -> bool:
        """Whether the voters must be taught. If not, they can be certified on all rows."""

    def known_classes(self) -> list[Any]:
        """Classes that the voters may vote for whatever they are taught."""
        return []

    def doubt(self, X: Any) -> str:
        """What in the certified rows speaks against voters that are said to be fixed without them; empty if nothing."""
        return ""

    def pilot(self) -> "VoterSet | None":
        """Voters whose errors fall with the number of rows much as theirs do, and that are quick to teach."""
        return None

    @abstractmethod
    def teach(self, X: Any, y: NDArray[Any], classes: NDArray[Any], rng: np.random.Generator) -> TaughtVoters:
        """Make the voters from the teaching rows (none, where :attr:`needs_rows` is False)."""


def code_type(n_classes: int) -> type[np.unsignedinteger]:
    """Smallest integers that hold the class codes."""
    return np.uint8 if n_classes <= 256 else np.uint32
