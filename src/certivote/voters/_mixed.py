"""Classifiers of several kinds in one vote."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from certivote.voters._base import OutOfSampleVotes, VoterSet
from certivote.voters._forest import Forest
from certivote.voters._landmarks import LandmarkMachine
from certivote.voters._members import FoldedMember, NeighbourMember
from certivote.voters._scale import KindScaler
from certivote.votes import Votes, build_votes, join_votes

__all__ = ["Mixed"]

_MANY = 10_000
"""Rows from which on the kernel machine has landmarks; at most twice as many are remembered as neighbours."""
_LANDMARKS = 3_000
"""The largest number of landmarks."""
_SMALL, _HUGE = 1_000_000, 5_000_000
"""Entries of ``X`` below which boosting runs on one thread, and from which on there is one boosting, not two."""
_WIDE = 100
"""Columns beyond which boosting looks at only a part of them."""


class Mixed(VoterSet):
    """Forests, boosting, linear, kernel and nearest-neighbour models in one vote.

    Random forests with leaves of 1 and of 5 rows and extremely randomised trees (100 trees each, one vote per tree);
    two histogram gradient boostings, each after 33 and after 100 iterations (one where rows times columns exceed 5
    million; of more than 100 columns, each model sees a random third but not less than 100); a logistic regression;
    a kernel machine, approximated from 10,000 rows on; and the 1, 5 and 15 nearest of up to 20,000 neighbours.
    Boosting, linear and kernel models come once for each of 5 folds of the training rows (3 from 5,000 rows on),
    each fitted on the other folds: so every training row has models that have not seen it, whose votes tell how far
    to trust each kind (``prior="informed"``), and nothing is fitted just for that.

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

    def fit(self, X: Any, y: NDArray[Any], classes: NDArray[Any], rng: np.random.Generator) -> "_FittedMixed":
        codes = np.searchsorted(classes, y)
        if len(codes) < 2:
            raise ValueError(f"Mixed voters need at least 2 training rows; got {len(codes)}. Give more rows.")
        forests = [
            Forest(estimator).fit(X, codes, np.arange(len(classes)), rng)
            for estimator in (
                RandomForestClassifier(n_jobs=self.n_jobs),
                RandomForestClassifier(min_samples_leaf=5, n_jobs=self.n_jobs),
                ExtraTreesClassifier(bootstrap=True, n_jobs=self.n_jobs),
            )
        ]
        n = len(codes)
        folds = rng.permutation(n) % min(5 if n < 5_000 else 3, n)
        encoder = _encoder(X)
        seed = int(rng.integers(2**31))
        machine = SVC(C=3.0) if n < _MANY else LandmarkMachine(min(n // 5, _LANDMARKS), seed)
        boosting = {"early_stopping": False, "random_state": seed}
        # On few rows, the threads of boosting would spend their time waiting for one another.
        with threadpool_limits(1 if X.size < _SMALL else None, user_api="openmp"):
            boosted = [
                FoldedMember(
                    HistGradientBoostingClassifier(**leaves, **boosting),
                    X,
                    codes,
                    folds,
                    (33, 100),
                    _views(X, folds, rng),
                )
                for leaves in ({}, {"max_leaf_nodes": 8, "max_features": 0.5})[: 2 if X.size < _HUGE else 1]
            ]
        members = [
            *boosted,
            FoldedMember(make_pipeline(encoder, LogisticRegression(max_iter=200)), X, codes, folds),
            FoldedMember(make_pipeline(encoder, machine), X, codes, folds),
            NeighbourMember(_numbers().fit(X), X, codes, np.sort(rng.permutation(n)[: 2 * _MANY])),
        ]
        return _FittedMixed(forests, members, len(classes))


def _views(X: Any, folds: NDArray[np.intp], rng: np.random.Generator) -> list[NDArray[np.intp]]:
    """The columns that each fold's boosting sees: all of them, or a random third if there are many."""
    width = X.shape[1]
    seen = width if width <= _WIDE else max(_WIDE, width // 3)
    return [np.sort(rng.permutation(width)[:seen]) for _ in range(folds.max() + 1)]


def _encoder(X: NDArray[np.float64]) -> Any:
    """Encodes columns with few distinct whole numbers as one-hot, scales the others, and fills missing values."""
    coded = []
    for column in range(X.shape[1]):
        levels = np.unique(X[:, column])
        levels = levels[~np.isnan(levels)]
        if 3 <= len(levels) <= 12 and np.all(levels == np.floor(levels)):
            coded.append(column)
    if len(coded) > 200:  # as many pixels would be
        coded = []
    numbers = [column for column in range(X.shape[1]) if column not in set(coded)]
    return ColumnTransformer(
        [
            ("codes", OneHotEncoder(handle_unknown="ignore", sparse_output=False), coded),
            ("numbers", _numbers(), numbers),
        ]
    )


def _numbers() -> Any:
    """Fills missing values by the mean, then centres and scales the columns."""
    return make_pipeline(SimpleImputer(keep_empty_features=True), KindScaler())


class _FittedMixed:
    def __init__(self, forests: list[Any], members: list[Any], n_classes: int):
        self.forests, self.members = forests, members
        self._n_classes = n_classes
        self._groups = np.concatenate(_numbered([np.zeros(f.n_voters, dtype=np.intp) for f in forests], members))
        self.n_voters = len(self._groups)

    def votes(self, X: Any) -> Votes:
        parts = [forest.votes(X) for forest in self.forests]
        parts += [build_votes(codes=member.votes(X), n_classes=self._n_classes) for member in self.members]
        return join_votes(parts)

    def only(self, voters: NDArray[np.intp]) -> "tuple[_FittedMixed, NDArray[np.intp]]":
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
        return _FittedMixed(forests, members, self._n_classes), np.concatenate(kept)

    def out_of_sample(self, X: Any, y: NDArray[Any], rows: NDArray[np.intp]) -> OutOfSampleVotes:
        """Out-of-bag votes of the forests, and those of the models that have not seen the row."""
        parts = [forest.out_of_sample(X, y, rows).votes for forest in self.forests]
        parts += [build_votes(fractions=m.out_of_sample(X, rows, self._n_classes)) for m in self.members]
        return OutOfSampleVotes(join_votes(parts), self._groups)


def _numbered(forests: list[NDArray[np.intp]], members: list[Any]) -> list[NDArray[np.intp]]:
    """The group of each voter, numbered through all members."""
    groups, first = [], 0
    for own, count in [*((f, 1) for f in forests), *((m.groups, m.n_groups) for m in members)]:
        groups.append(own + first)
        first += count
    return groups
