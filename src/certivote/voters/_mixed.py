"""Classifiers of several kinds in one vote."""

import warnings
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from certivote.voters._base import OutOfSampleVotes, VoterSet
from certivote.voters._boosting import Boosting, fit_boosting
from certivote.voters._encoding import Encoding, coded_columns
from certivote.voters._entities import checked_entities, row_weights, shuffled_entities, shuffled_rows
from certivote.voters._forest import FittedForest, Forest
from certivote.voters._landmarks import fit_landmarks
from certivote.voters._machines import KernelPairs, KernelScores, Linear
from certivote.voters._members import FoldedMember, NeighbourMember, fit_folds
from certivote.votes import Votes, build_votes, join_votes

__all__ = ["FittedMixed", "Mixed"]

Array = NDArray[np.float64]
Codes = NDArray[np.intp]

_MANY = 10_000
"""Rows from which on the kernel machine has landmarks; at most twice as many are remembered as neighbours."""
_LANDMARKS = 3_000
"""The largest number of landmarks."""
_SMALL, _HUGE = 1_000_000, 5_000_000
"""Entries of ``X`` below which boosting runs on one thread, and from which on there is one boosting, not two."""
_STAGES = (33, 100)
"""Iterations of boosting after which to take a vote."""
_WIDE = 100
"""Columns beyond which boosting looks at only a part of them."""


_NEIGHBOUR_FOLDS = 20
"""Parts of the entities, in one of which out of sample a row has no neighbours: so many that hardly any are missed."""


class Mixed(VoterSet):
    """Forests, boosting, linear, kernel and nearest-neighbour models in one vote.

    Random forests with leaves of 1 and of 5 rows and extremely randomised trees (100 trees each, one vote per tree);
    two histogram gradient boostings, each after 33 and after 100 iterations (one where rows times columns exceed 5
    million; of more than 100 columns, each model sees a random third but not less than 100); a logistic regression;
    a kernel machine, approximated from 10,000 rows on; and the 1, 5 and 15 nearest of up to 20,000 neighbours.
    Boosting, linear and kernel models come once for each of 5 folds of the training rows (3 from 5,000 rows on),
    each fitted on the other folds: so every training row has models that have not seen it, whose votes tell how far
    to trust each kind (``prior="informed"``), and nothing is fitted just for that.
    With groups, folds and bootstrap samples are of entities, and all entities count the same in training.

    Missing values are handled. Columns of 3 to 12 distinct whole numbers are understood as codes of categories by the
    linear and kernel models, as numbers by the others. For linear and kernel models and for neighbours, columns are
    standardised; columns of one kind, such as pixels, are scaled together.

    Parameters
    ----------
    n_jobs : int or None, default=None
        Number of jobs of the forests, as in scikit-learn.

    Examples
    --------
    >>> from certivote.voters import Mixed
    >>> Mixed().needs_training
    True
    """

    input_checks: ClassVar[dict[str, Any]] = {"ensure_all_finite": "allow-nan"}
    needs_training = True

    def __init__(self, n_jobs: int | None = None):
        self.n_jobs = n_jobs

    def pilot(self) -> Forest:
        return Forest().pilot()

    def fit(
        self,
        X: Any,
        y: NDArray[Any],
        classes: NDArray[Any],
        rng: np.random.Generator,
        entities: NDArray[np.intp] | None = None,
    ) -> "FittedMixed":
        codes = np.searchsorted(classes, y)
        if len(codes) < 2:
            raise ValueError(f"Mixed voters need at least 2 training rows; got {len(codes)}. Give more rows.")
        entities = checked_entities(entities, len(codes))
        forests = [
            Forest(estimator).fit(X, codes, np.arange(len(classes)), rng, entities)
            for estimator in (
                RandomForestClassifier(n_jobs=self.n_jobs),
                RandomForestClassifier(min_samples_leaf=5, n_jobs=self.n_jobs),
                ExtraTreesClassifier(bootstrap=True, n_jobs=self.n_jobs),
            )
        ]
        n = len(codes)
        places = shuffled_entities(entities, n, rng)
        folds = places % min(5 if n < 5_000 else 3, places.max() + 1)
        coded = coded_columns(X)
        seed = int(rng.integers(2**31))
        # On few rows, the threads of boosting would spend their time waiting for one another.
        with threadpool_limits(1 if X.size < _SMALL else None, user_api="openmp"):
            boosted = [
                fit_folds(
                    partial(_boosting, leaves, seed), X, codes, folds, len(_STAGES), _views(X, folds, rng), entities
                )
                for leaves in ({}, {"max_leaf_nodes": 8, "max_features": 0.5})[: 2 if X.size < _HUGE else 1]
            ]
        machine = _support_vectors if n < _MANY else partial(_landmarks, min(n // 5, _LANDMARKS), seed)
        remembered = np.sort(shuffled_rows(entities, n, rng)[: 2 * _MANY])
        apart = None if entities is None else places % _NEIGHBOUR_FOLDS
        members: tuple[FoldedMember | NeighbourMember, ...] = (
            *boosted,
            fit_folds(partial(_linear, coded), X, codes, folds, entities=entities),
            fit_folds(partial(machine, coded), X, codes, folds, entities=entities),
            NeighbourMember.fitted(Encoding.fitted(X, np.arange(0)), X, codes, remembered, apart),
        )
        return FittedMixed(tuple(forests), members, len(classes))


def _boosting(leaves: dict[str, Any], seed: int, X: Array, y: Codes, entities: Codes | None) -> Boosting:
    model = HistGradientBoostingClassifier(**leaves, early_stopping=False, random_state=seed)
    return fit_boosting(model, X, y, row_weights(entities), _STAGES)


def _linear(coded: Codes, X: Array, y: Codes, entities: Codes | None) -> Linear:
    encoding = Encoding.fitted(X, coded)
    with warnings.catch_warnings():
        # A linear model that is nearly there votes nearly as well; how well, the certificate says.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LogisticRegression(max_iter=200).fit(encoding.transform(X), y, sample_weight=row_weights(entities))
    return Linear.fitted(encoding, model)


def _support_vectors(coded: Codes, X: Array, y: Codes, entities: Codes | None) -> KernelPairs:
    encoding = Encoding.fitted(X, coded)
    rows = encoding.transform(X)
    gamma = float(1.0 / (rows.shape[1] * (rows.var() or 1.0)))
    model = SVC(C=3.0, gamma=gamma).fit(rows, y, sample_weight=row_weights(entities))
    return KernelPairs.fitted(encoding, model, gamma)


def _landmarks(n_landmarks: int, seed: int, coded: Codes, X: Array, y: Codes, entities: Codes | None) -> KernelScores:
    return fit_landmarks(Encoding.fitted(X, coded), X, y, n_landmarks, seed, entities)


def _views(X: Any, folds: NDArray[np.intp], rng: np.random.Generator) -> list[NDArray[np.intp]]:
    """The columns that each fold's boosting sees: all of them, or a random third if there are many."""
    width = X.shape[1]
    seen = width if width <= _WIDE else max(_WIDE, width // 3)
    return [np.sort(rng.permutation(width)[:seen]) for _ in range(folds.max() + 1)]


@dataclass(frozen=True)
class FittedMixed:
    """Forests, and members of other kinds, as :meth:`Mixed.fit` makes them."""

    forests: tuple[FittedForest, ...]
    members: tuple[FoldedMember | NeighbourMember, ...]
    n_classes: int

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
        """Raise a ValueError unless these voters can vote on rows of so many columns, for so many classes."""
        if self.n_classes != n_classes or not (*self.forests, *self.members):
            raise ValueError("its voters vote among other classes")
        for voters in (*self.forests, *self.members):
            voters.check(width, n_classes)

    def votes(self, X: Any) -> Votes:
        parts = [forest.votes(X) for forest in self.forests]
        parts += [build_votes(codes=member.votes(X), n_classes=self.n_classes) for member in self.members]
        return join_votes(parts)

    def only(self, voters: NDArray[np.intp]) -> "tuple[FittedMixed, NDArray[np.intp]]":
        """Without the trees that are not asked for, and without the other models none of whose votes is asked for."""
        wanted = np.zeros(self.n_voters, dtype=bool)
        wanted[voters] = True
        forests, members, kept, first = [], [], [], 0
        for forest in self.forests:
            own = np.flatnonzero(wanted[first : first + forest.n_voters])
            if len(own):
                forests.append(forest.only(own)[0])
                kept.append(first + own)
            first += forest.n_voters
        for member in self.members:
            own = np.arange(first, first + len(member.groups))
            if wanted[own].any():
                members.append(member)
                kept.append(own)
            first += len(own)
        return FittedMixed(tuple(forests), tuple(members), self.n_classes), np.concatenate(kept)

    def out_of_sample(self, X: Any, y: NDArray[Any], rows: NDArray[np.intp]) -> OutOfSampleVotes:
        """Out-of-bag votes of the forests, and those of the models that have not seen the row."""
        parts = [forest.out_of_sample(X, y, rows).votes for forest in self.forests]
        parts += [build_votes(fractions=m.out_of_sample(X, rows, self.n_classes)) for m in self.members]
        return OutOfSampleVotes(join_votes(parts), self._groups)
