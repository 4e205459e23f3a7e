"""Classifiers of several kinds in one vote."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from certivote.voters._base import NOT_STORED, OutOfSampleVotes, VoterSet, cores
from certivote.voters._boosters import BOOSTERS, check_installed
from certivote.voters._boosting import Boosting
from certivote.voters._entities import checked_entities
from certivote.voters._forest import _MANY_CLASSES, _MOST_GIGABYTES, FittedForest, Forest
from certivote.voters._machines import KernelPairs, KernelScores
from certivote.voters._members import FoldedMember, NeighbourMember
from certivote.voters._oblivious import ObliviousTrees
from certivote.voters._race import ALL_KINDS, KINDS, Member, Training, left_out, trained, unseen_votes
from certivote.votes import Votes, build_votes, join_votes

Codes = NDArray[np.intp]

_MOST_COLUMNS = 50_000
"""Columns beyond which boosting takes minutes even for a few hundred rows."""
_NUMBERS = 20
"""Numbers that out-of-sample votes of all kinds take for every row and class, about."""
_MANY = 10_000
"""Rows from which on the learning curve of a forest stands for that of all kinds."""


class Mixed(VoterSet):
    """Forests, boosting, linear, kernel, Gaussian and nearest-neighbour models in one vote, as far as they earn weight.

    A random forest and extremely randomised trees (60 trees each, or 100, one vote per tree); a histogram gradient
    boosting after 17, 50 and 100 iterations, or 33, 100 and 300 slower ones for many rows of two classes, with nine
    votes each time, divided among the classes as its probabilities are (of more than 100 columns it sees a random half,
    but not less than 100); a logistic regression; a kernel machine, approximated from 10,000 rows on; a normal
    distribution for each class, for up to 100 columns; and the 1, 5 and 15 nearest of up to 20,000 neighbours. Of more
    than 100 classes, there are no boosting and no kernel machines. More than 50,000 columns are refused.

    Each kind is first tried on training rows that it has not seen, and a kind that adds nothing to what the others say
    is left out. From 5,000 training rows on, 4,500 of them decide that, and all models but forests and neighbours are
    then trained without a fifth of the rows, or 4,000, and below 50,000 rows again on all, but for the approximated
    kernel machine. With fewer, models trained without a third of the rows, each third in turn (from 2,000 rows on, two
    of the thirds), are tried, and one more is trained on all rows to vote. The votes on rows that were left out tell
    how far to trust each kind (``prior="informed"``).
    With groups, the rows of an entity are left out together, bootstrap samples are of entities, and all entities count
    the same in training.

    Boosters of CatBoost and LightGBM race where ``kinds`` names them, as ``voters="boosted"`` does, which is all nine:
    200 iterations of CatBoost, which chooses its own learning rate, and 100 of LightGBM at 0.1; for many rows of two
    classes 300 of each, those of LightGBM at 0.05. They take the packages of ``pip install 'certivote[boost]'`` to be
    trained, and none to vote. Unnamed they do not race, installed or not: what a fit gives depends on what it was asked
    for. They are trained on one thread; with another version of its package a booster may be another one.

    Missing values are handled. Columns of 3 to 12 distinct whole numbers are understood as codes of categories by the
    linear and kernel models, as numbers by the others. For linear and kernel models and for neighbours, columns are
    standardised; columns of one kind, such as pixels, are scaled together.

    Parameters
    ----------
    n_jobs : int or None, default=None
        Number of jobs, as in scikit-learn, but never more than there are cores. The voters are the same for any number.
    kinds : list or tuple of str, or None, default=None
        Which kinds race: some of "random forest", "extra trees", "boosting", "linear", "kernel", "gaussian",
        "neighbours", "catboost", "lightgbm". None means all but the last two.

    Examples
    --------
    >>> from certivote.voters import Mixed
    >>> Mixed().needs_training
    True
    >>> Mixed(kinds=["linear", "random forest"])
    Mixed(kinds=['linear', 'random forest'])
    """

    input_checks: ClassVar[dict[str, Any]] = {"ensure_all_finite": "allow-nan"}
    needs_training = True

    def __init__(self, n_jobs: int | None = None, kinds: list[str] | tuple[str, ...] | None = None):
        self.n_jobs = n_jobs
        self.kinds = kinds

    @property
    def libraries(self) -> tuple[str, ...]:
        return tuple(kind for kind in self._wanted() if kind in BOOSTERS)

    def _wanted(self) -> tuple[str, ...]:
        """The kinds, in the order in which they vote."""
        if self.kinds is None:
            return KINDS
        known = isinstance(self.kinds, list | tuple) and self.kinds and all(kind in ALL_KINDS for kind in self.kinds)
        if not known:
            some = ", ".join(map(repr, ALL_KINDS))
            raise ValueError(f"kinds must be None, or a list or tuple of some of {some}; got {self.kinds!r:.200}.")
        return tuple(kind for kind in ALL_KINDS if kind in self.kinds)

    def check_room(self, n_rows: int, n_classes: int) -> None:
        check_installed(self.libraries)
        Forest().check_room(n_rows, n_classes)
        gigabytes = _NUMBERS * n_rows * n_classes / 2**27
        if n_classes > _MANY_CLASSES and gigabytes > _MOST_GIGABYTES:
            raise ValueError(
                f"Mixed voters for {n_classes:,} classes and {n_rows:,} rows may take {gigabytes:,.0f} GB, since each "
                f"kind has a number for every row and class; the limit is {_MOST_GIGABYTES} GB. Give voters='forest', "
                "or put rare classes together."
            )

    def pilot(self, n_rows: int) -> VoterSet:
        """Without the boosters of other libraries, whose learning curve is much that of the others."""
        quick = tuple(kind for kind in self._wanted() if kind not in BOOSTERS)
        return TriedMixed(self.n_jobs, quick) if n_rows < _MANY and quick else Forest().pilot(n_rows)

    def fit(
        self,
        X: Any,
        y: NDArray[Any],
        classes: NDArray[Any],
        rng: np.random.Generator,
        entities: NDArray[np.intp] | None = None,
    ) -> "FittedMixed":
        check_installed(self.libraries)
        codes = np.searchsorted(classes, y)
        if len(codes) < 2:
            raise ValueError(f"Mixed voters need at least 2 training rows; got {len(codes)}. Give more rows.")
        if X.shape[1] > _MOST_COLUMNS:
            raise ValueError(
                f"X has {X.shape[1]:,} columns; mixed voters are trained on up to {_MOST_COLUMNS:,}, since more take "
                "many minutes. Give voters='forest', which takes seconds, or leave columns out."
            )
        entities = checked_entities(entities, len(codes))
        training = Training.planned(X, codes, len(classes), entities, rng, cores(self.n_jobs), self._wanted())
        found = self._members(training)
        forests = tuple(member for member in found.values() if isinstance(member, FittedForest))
        others = tuple(member for member in found.values() if not isinstance(member, FittedForest))
        return FittedMixed(forests, others, len(classes), training.kinds(), tuple(found))

    def _members(self, training: Training) -> dict[str, Member]:
        return trained(training)


def boosted() -> Mixed:
    """Mixed voters of all kinds, with the boosters of CatBoost and LightGBM: what ``voters="boosted"`` stands for.

    Examples
    --------
    >>> from certivote.voters import boosted
    >>> boosted().libraries
    ('catboost', 'lightgbm')
    """
    return Mixed(kinds=ALL_KINDS)


class TriedMixed(Mixed):
    """All kinds of mixed voters, tried on training rows but not trained to vote on others."""

    def _members(self, training: Training) -> dict[str, Member]:
        return training.trial(n_folds=3, n_trees=25)


class QuickMixed(Mixed):
    """The mixed voters but for those that take long to vote on many rows."""

    def _wanted(self) -> tuple[str, ...]:
        return tuple(kind for kind in super()._wanted() if kind not in ("kernel", "neighbours"))


def _cost(member: Member) -> float:
    """About how many nanoseconds its votes on one of many rows take."""
    if isinstance(member, FittedForest):
        return 40.0 * member.n_voters
    if isinstance(member, NeighbourMember):
        return len(member.points) + member.points.size / 20.0
    cost = 500.0
    for model in member.models:
        if isinstance(model, Boosting):
            cost += 8.0 * model.trees.n_trees
        elif isinstance(model, ObliviousTrees):
            cost += 4.0 * len(model.columns)
        elif isinstance(model, KernelPairs | KernelScores):
            cost += 3.0 * len(model.points) + model.points.size / 25.0
    return cost


@dataclass(frozen=True)
class FittedMixed:
    """Forests, and members of other kinds, as :meth:`Mixed.fit` makes them.

    Attributes
    ----------
    forests : tuple of FittedForest
    members : tuple of FoldedMember and NeighbourMember
    n_classes : int
    raced, kept : tuple of str
        The kinds that were tried, and those among them that vote; empty where they come from a file.
    """

    forests: tuple[FittedForest, ...]
    members: tuple[FoldedMember | NeighbourMember, ...]
    n_classes: int
    raced: tuple[str, ...] = field(default=(), metadata=NOT_STORED)
    kept: tuple[str, ...] = field(default=(), metadata=NOT_STORED)

    @cached_property
    def _groups(self) -> Codes:
        """The group of each voter, numbered through all members."""
        groups, first = [], 0
        forests = [(np.zeros(forest.n_voters, dtype=np.intp), 1) for forest in self.forests]
        for own, count in [*forests, *((member.groups, member.n_groups) for member in self.members)]:
            groups.append(own + first)
            first += count
        return np.concatenate(groups)

    @property
    def n_voters(self) -> int:
        return sum(voters.n_voters for voters in (*self.forests, *self.members))

    def check(self, width: int, n_classes: int) -> None:
        """Raise a ValueError unless these voters can vote on rows with this many columns, for this many classes."""
        if self.n_classes != n_classes or not (*self.forests, *self.members):
            raise ValueError("its voters vote among other classes")
        for voters in (*self.forests, *self.members):
            voters.check(width, n_classes)

    def votes(self, X: Any) -> Votes:
        return join_votes([self._votes_of(part, X) for part in (*self.forests, *self.members)])

    def _votes_of(self, part: Member, X: Any) -> Votes:
        if isinstance(part, FittedForest):
            return part.votes(X)
        return build_votes(codes=part.votes(X), n_classes=self.n_classes)

    def decided(self, X: Any, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Masses of which the largest is that of the class with the largest mass: the vote, without all of the voters.

        Members are asked one after the other, first those that decide much in little time, and only on rows whose vote
        the weight of those that were not asked yet could still change.
        """
        parts = (*self.forests, *self.members)
        own = np.split(weights, np.cumsum([part.n_voters for part in parts])[:-1])
        sums = [float(each.sum()) for each in own]
        masses, left, unasked = np.zeros((X.shape[0], self.n_classes)), np.arange(X.shape[0]), sum(sums)
        for number in sorted(np.flatnonzero(sums), key=lambda number: _cost(parts[number]) / sums[number]):
            votes = self._votes_of(parts[number], X if len(left) == len(masses) else X[left])
            masses[left] += votes.masses(own[number])
            unasked -= sums[number]
            second, first = np.partition(masses[left], -2, axis=1)[:, -2:].T
            left = left[first - second <= unasked]
            if not len(left):
                break
        return masses

    def only(self, voters: NDArray[np.intp]) -> "tuple[FittedMixed, NDArray[np.intp]]":
        """Only the trees, models, and stages of models whose votes are asked for."""
        wanted = np.zeros(self.n_voters, dtype=bool)
        wanted[voters] = True
        forests: list[FittedForest] = []
        members: list[FoldedMember | NeighbourMember] = []
        kept, first = [], 0
        for part in (*self.forests, *self.members):
            own = np.flatnonzero(wanted[first : first + part.n_voters])
            if len(own):
                few, places = part.only(own)
                if isinstance(few, FittedForest):
                    forests.append(few)
                else:
                    members.append(few)
                kept.append(first + places)
            first += part.n_voters
        return FittedMixed(tuple(forests), tuple(members), self.n_classes), np.concatenate(kept)

    def out_of_sample(self, X: Any, y: NDArray[Any], rows: NDArray[np.intp]) -> OutOfSampleVotes:
        """Out-of-bag votes of the forests, and those of models that have not seen the row.

        On rows that some model has seen, there are none, unless such a model was also trained without them.
        """
        members = (*self.forests, *self.members)
        rows = rows[left_out(members, len(y))[rows]]
        parts = [build_votes(fractions=unseen_votes(member, X, rows, self.n_classes)) for member in members]
        return OutOfSampleVotes(join_votes(parts), self._groups, rows)
