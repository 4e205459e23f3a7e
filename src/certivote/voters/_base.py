"""The interface of a voter family, and what all families share."""

from abc import abstractmethod
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Protocol

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from certivote.voters._reach import learned_in
from certivote.votes import Votes

NOT_STORED = {"stored": False}
"""Metadata of a field that fitted voters have in memory only: a model file does not hold it."""


@dataclass(frozen=True)
class OutOfSampleVotes:
    """Votes on training rows as if these had not been used for training.

    Attributes
    ----------
    votes : Votes
        On those rows: one vote per voter, or one per group of voters whose members were trained without different rows.
    groups : array of int
        Of each voter, its number among ``votes``.
    rows : array of int or None
        The numbers of the rows voted on, where these are some of those that were asked for; None if all are.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import numpy as np
    >>> from certivote.voters import Forest
    >>> X, y = load_iris(return_X_y=True)
    >>> fitted = Forest().fit(X, y, np.arange(3), np.random.default_rng(0))
    >>> out_of_bag = fitted.out_of_sample(X, y, rows=np.arange(20))
    >>> out_of_bag.votes.n_voters, out_of_bag.groups.tolist() == [0] * 100  # the forest is one group of 100 trees
    (1, True)
    """

    votes: Votes
    groups: NDArray[np.intp]
    rows: NDArray[np.intp] | None = None


class FittedVoters(Protocol):
    """Voters that are ready to vote: what :meth:`VoterSet.fit` returns.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import numpy as np
    >>> from certivote.voters import Forest
    >>> X, y = load_iris(return_X_y=True)
    >>> fitted = Forest().fit(X, y, np.arange(3), np.random.default_rng(0))
    >>> fitted.n_voters, fitted.votes(X).n_rows
    (100, 150)
    """

    @property
    def n_voters(self) -> int:
        """How many there are."""

    def votes(self, X: Any) -> Votes:
        """The votes on the rows of ``X``."""

    def out_of_sample(self, X: Any, y: NDArray[Any], rows: NDArray[np.intp]) -> OutOfSampleVotes:
        """The votes on some of the training rows, as if the voters had been trained without them.

        And without all rows of the same entity, where ``fit`` was given entities. Voters that can say so of a part of
        the rows only leave out the others, and say which they have voted on.

        Parameters
        ----------
        X : array or data frame
            All training rows.
        y : array of int
            Their labels, as codes of the classes.
        rows : array of int
            The numbers of the rows to vote on.
        """

    def check(self, width: int, n_classes: int) -> None:
        """Raise a ValueError unless they can vote on rows with this many columns, for this many classes.

        Voters that come from a file are asked before their first vote.
        """

    def only(self, voters: NDArray[np.intp]) -> "tuple[FittedVoters, NDArray[np.intp]]":
        """Some of the voters, and their numbers: those asked for, and those whose absence would save nothing."""


def decided_masses(voters: FittedVoters, X: Any, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """As :meth:`DecisiveVoters.decided`, of voters that all have weight."""
    decided = getattr(voters, "decided", None)
    masses: NDArray[np.float64] = voters.votes(X).masses(weights) if decided is None else decided(X, weights)
    return masses


def out_of_sample_by_voting(voters: FittedVoters, X: Any) -> OutOfSampleVotes:
    """The out-of-sample votes of voters that no row has trained: their votes as they are."""
    return OutOfSampleVotes(voters.votes(X), np.arange(voters.n_voters))


class VoterSet(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A family of voters, before any data. To add one, define the members below.

    Attributes
    ----------
    keeps_frames : bool
        Whether a data frame reaches the voters as it is, unchecked. Other input always becomes an array.

    Examples
    --------
    A family whose two voters are the signs of the first two features, and need no training:

    >>> import numpy as np
    >>> from certivote.voters import OutOfSampleVotes, VoterSet
    >>> from certivote.votes import build_votes
    >>> class Signs(VoterSet):
    ...     input_checks = {"dtype": float}
    ...     needs_training = False
    ...
    ...     def fit(self, X, y, classes, rng):
    ...         return FittedSigns()
    >>> class FittedSigns:
    ...     n_voters = 2
    ...
    ...     def votes(self, X):
    ...         return build_votes(codes=(X[:, :2] > 0).astype(int), n_classes=2)
    ...
    ...     def out_of_sample(self, X, y, rows):
    ...         return OutOfSampleVotes(self.votes(X[rows]), groups=np.arange(2))
    ...
    ...     def only(self, voters):
    ...         return self, np.arange(2)
    ...
    ...     def check(self, width, n_classes):
    ...         if width < 2 or n_classes != 2:
    ...             raise ValueError("the signs of two columns choose between two classes")
    >>> fitted = Signs().fit(None, None, np.array(["no", "yes"]), np.random.default_rng(0))
    >>> fitted.votes(np.array([[3.0, -1.0]])).masses(np.array([0.75, 0.25])).tolist()
    [[0.25, 0.75]]
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
    def needs_training(self) -> bool:
        """Whether the voters need training rows. If not, they can be certified on all rows."""

    def known_classes(self) -> list[Any]:
        """Classes that the voters may vote for, for any training rows."""
        return []

    def learned_before(self) -> tuple[str, ...]:
        """Names of what these voters were given that has learned something already, or may have; empty if nothing has.

        Fitted classifiers and transformers, however deep inside of others; functions and objects that are not those of
        well-known libraries, since it is unknown which rows they know.

        Examples
        --------
        >>> from sklearn.linear_model import LogisticRegression
        >>> from certivote.voters import Classifiers
        >>> Classifiers([LogisticRegression()]).learned_before()
        ()
        >>> Classifiers([LogisticRegression().fit([[0.0], [1.0]], [0, 1])]).learned_before()
        ('LogisticRegression',)
        """
        return learned_in(self)

    @property
    def libraries(self) -> tuple[str, ...]:
        """Packages besides those that certivote requires whose versions decide what ``fit`` makes."""
        return ()

    def doubt(self, X: Any) -> str:
        """What in the certification rows speaks against the claim that the voters were fixed without them.

        A sentence that warns the user; empty if nothing does.
        """
        return ""

    def check_room(self, n_rows: int, n_classes: int) -> None:
        """Raise a ValueError if memory is too small to learn this many rows and classes; asked before ``fit``."""

    def pilot(self, n_rows: int) -> "VoterSet | None":
        """Voters that are quick to fit, and whose errors fall with the number of rows much as those of these do.

        They are asked for their out-of-sample votes only, on all rows. None if there are no such voters.

        Parameters
        ----------
        n_rows : int
            How many rows there are in all; the pilot sees some of them.
        """
        return None

    @abstractmethod
    def fit(
        self,
        X: Any,
        y: NDArray[Any],
        classes: NDArray[Any],
        rng: np.random.Generator,
        entities: NDArray[np.intp] | None = None,
    ) -> FittedVoters:
        """Make the voters from the training rows. Unlike an estimator, the set itself stays as it is.

        Parameters
        ----------
        X : array or data frame
            The training rows; unused where :attr:`needs_training` is False.
        y : array of shape (n_rows,)
            Their labels.
        classes : array
            All classes, in ascending order. The training rows need not have examples of each.
        rng : numpy.random.Generator
            The only source of chance.
        entities : array of int or None
            Whose each training row is (patient, machine, document), as codes from 0 on without gaps. Rows of one
            entity may be much alike. Then all entities shall count the same, each row by one over the number of rows
            of its entity, and out-of-sample votes on a row shall come from voters that have seen no row of its entity.
            None, or an entity for each row: every row is by itself. It is given by name, and only where users give
            groups: a family that leaves it out works as long as none are given.

        Returns
        -------
        FittedVoters
        """


# How many cores may work at a time.


def cores(n_jobs: int | None) -> int | None:
    """As many as are asked for, at most those of the machine; None leaves it to joblib's configuration.

    Each may be a process of its own, and a number may come from a record that someone else has written.

    Examples
    --------
    >>> cores(10**9) == cores(-1) and cores(1) == 1
    True
    """
    if n_jobs is None:
        return None
    if not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise ValueError(f"n_jobs must be a whole number other than 0, or None; got {n_jobs!r}. -1 means all cores.")
    return min(int(joblib.effective_n_jobs(n_jobs)), int(joblib.cpu_count()))


# The voters that decide a vote: those of some weight.


Array = NDArray[np.float64]


class DecisiveVoters:
    """Finds the voters that need to be asked, and remembers them; a copy has to find them again.

    A mass is a sum of multiples of ``2**-52``, which is exact in any order: without terms that are 0 it is the same to
    the bit.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from certivote.voters import DecisiveVoters
    >>> from certivote.voters import Forest
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = Forest().fit(X, y, np.arange(3), np.random.default_rng(0))
    >>> weights = np.zeros(100)
    >>> weights[[3, 7]] = 0.5
    >>> few, own = DecisiveVoters().among(forest, weights)
    >>> few.n_voters, own.tolist()
    (2, [0.5, 0.5])
    >>> bool(np.all(few.votes(X).masses(own) == forest.votes(X).masses(weights)))
    True
    """

    def __init__(self) -> None:
        self._known: tuple[FittedVoters, Array, FittedVoters, Array] | None = None

    def among(self, voters: FittedVoters, weights: Array) -> tuple[FittedVoters, Array]:
        """Those without which the vote would be another one, perhaps with a few more; and their weights."""
        some = weights != 0.0
        if some.all() or not some.any():
            return voters, weights
        if self._known is None or self._known[0] is not voters or not np.array_equal(self._known[1], weights):
            few, kept = voters.only(np.flatnonzero(some))
            self._known = voters, weights.copy(), few, weights[kept]
        return self._known[2], self._known[3]

    def decided(self, voters: FittedVoters, weights: Array, X: Any) -> Array:
        """Masses of which the largest is that of the class with the largest mass: enough to answer, and sooner there.

        Voters with a method ``decided`` need not all be asked where some of them outweigh the others.
        """
        few, own = self.among(voters, weights)
        return decided_masses(few, X, own)

    def __reduce__(self) -> Any:
        return DecisiveVoters, ()
