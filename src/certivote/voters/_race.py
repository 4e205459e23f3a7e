"""The kinds of models in a mixed vote: how each is trained, and which earn their place."""

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls
from threadpoolctl import threadpool_limits

from certivote.voters._ballots import BALLOTS
from certivote.voters._boosters import BOOSTERS, N_STAGES, fit_booster
from certivote.voters._boosting import fit_boosting
from certivote.voters._encoding import Encoding, coded_columns
from certivote.voters._entities import row_weights, shuffled_entities, shuffled_rows
from certivote.voters._forest import FittedForest, Forest
from certivote.voters._machines import Always, KernelPairs, Linear, fit_gaussian, fit_landmarks
from certivote.voters._members import FoldedMember, Model, NeighbourMember, model_votes

# The kinds of models in a mixed vote, and how each is trained.


Array = NDArray[np.float64]
Codes = NDArray[np.intp]
Member = FittedForest | FoldedMember | NeighbourMember

KINDS = ("random forest", "extra trees", "boosting", "linear", "kernel", "gaussian", "neighbours")
"""Those that need no other library, in the order in which they vote."""
ALL_KINDS = (*KINDS, *BOOSTERS)
_STAGED = ("boosting", *BOOSTERS)
"""Those that vote after several of their iterations."""
_FOLDED = ("boosting", "linear", "kernel", "gaussian", *BOOSTERS)
"""Those that have to be trained without a row to vote on it as if they had not seen it."""
_PACES = {"quick": (0.2, (17, 50, 100)), "long": (0.1, (33, 100, 300))}
"""Learning rates of boosting, with the iterations after which to take a vote. The long way is for many rows of two
classes: more classes have a tree each."""
_RARE = 0.01
"""Share of the rows below which a class is so rare that boosting's steps for it are held back: they would run away."""

_TREES, _MANY_TREES = 60, 100
"""Trees of a forest on few rows, and on many."""
_FEW = 5_000
"""Training rows below which models for out-of-sample votes are trained in addition to the one that votes."""
_FOLDS = 3
"""As many of them: each leaves out a part of the rows."""
_LEFT_OUT, _MOST_LEFT_OUT = 0.2, 4_000
"""Of more rows, the share and the number that all but forests and neighbours are trained without."""
_AGAIN_BELOW = 50_000
"""Rows below which they are trained again on all."""
_LANDMARKS_FROM, _LANDMARKS, _LANDMARK_ROWS = 10_000, 3_000, 30_000
"""Rows from which on the kernel machine has landmarks; their largest number; and that of the rows that train it."""
_CHEAP, _DEAR = 0.05, 0.35
"""Weight that a kind has to earn, and one with landmarks, which takes longer than all others."""
_REMEMBERED = 20_000
"""Rows that may be neighbours."""
_NEIGHBOUR_FOLDS = 20
"""Parts of the entities: out of sample, a row has no neighbours in its own part, which is a small one."""
_SMALL = 1_000_000
"""Entries of ``X`` below which boosting runs on one thread."""
_WIDE = 100
"""Columns beyond which boosting looks at a random half of them, and beyond which there are no normal distributions."""
_MANY_CLASSES = 100
"""Classes of the training rows beyond which boosting, a tree for each, and machines for all pairs take too long."""


@dataclass(frozen=True)
class Training:
    """The training rows, and all that is random about a training.

    Attributes
    ----------
    X, y : arrays
        The rows, and the codes of their classes.
    n_classes : int
    entities : array of int or None
        The entity of each row.
    places : array of int
        Of each row, the place of its entity in a random order of them.
    seeds : array of int
        One for each of :data:`KINDS`: what is trained does not depend on which others are. Those that take other
        libraries share that of boosting.
    n_jobs : int or None
        As in scikit-learn.
    wanted : tuple of str
        Kinds that may be trained, in the order of :data:`ALL_KINDS`.
    """

    X: Array
    y: Codes
    n_classes: int
    entities: Codes | None
    places: Codes
    seeds: NDArray[np.int64]
    n_jobs: int | None = None
    wanted: tuple[str, ...] = KINDS

    @classmethod
    def planned(
        cls,
        X: Array,
        y: Codes,
        n_classes: int,
        entities: Codes | None,
        rng: np.random.Generator,
        n_jobs: int | None,
        wanted: tuple[str, ...] = KINDS,
    ) -> "Training":
        places = shuffled_entities(entities, len(y), rng)
        return cls(X, y, n_classes, entities, places, rng.integers(2**31, size=len(KINDS)), n_jobs, wanted)

    def some(self, n_rows: int) -> "Training":
        """About ``n_rows`` of the rows, with all of their entities."""
        # Two entities at least: one is left out.
        last = max(np.sort(self.places)[min(n_rows, len(self.y)) - 1], 1)
        chosen = np.flatnonzero(self.places <= last)
        whose = None
        if self.entities is not None:
            whose = np.unique(self.entities[chosen], return_inverse=True)[1]
        return Training(
            self.X[chosen],
            self.y[chosen],
            self.n_classes,
            whose,
            self.places[chosen],
            self.seeds,
            self.n_jobs,
            self.wanted,
        )

    def kinds(self) -> tuple[str, ...]:
        """Those that can be trained on such rows."""
        too_large = {"gaussian"} if self.X.shape[1] > _WIDE else set[str]()
        if len(np.unique(self.y)) > _MANY_CLASSES:
            too_large |= {"kernel", *_STAGED}
        return tuple(kind for kind in self.wanted if kind not in too_large)

    def price(self, kind: str) -> float:
        """The weight that a kind has to earn to be trained to vote."""
        return _DEAR if kind == "kernel" and len(self.y) >= _LANDMARKS_FROM else _CHEAP

    @property
    def is_long(self) -> bool:
        """Whether there are too many rows to train models just for their out-of-sample votes."""
        return len(self.y) >= _FEW

    def trial(self, n_folds: int, n_trees: int = _TREES) -> dict[str, Member]:
        """All kinds, each with out-of-sample votes on the same rows; of most, the model that votes is still missing.

        Parameters
        ----------
        n_folds : int
            Of three parts of the rows, how many are left out in turn and voted on.
        n_trees : int
            Trees of each forest.
        """
        folds = self.places % min(_FOLDS, int(self.places.max()) + 1)
        kinds = self.kinds()
        tasks = [
            (kind, fold) for kind in kinds if kind in _FOLDED for fold in range(min(n_folds, int(folds.max()) + 1))
        ]
        found = self._all(joblib.delayed(self._answers)(kind, folds != fold) for kind, fold in tasks)
        members: dict[str, Member] = {}
        for kind in kinds:
            if kind in _FOLDED:
                own = [answers for (other, _), answers in zip(tasks, found, strict=True) if other == kind]
                members[kind] = FoldedMember((), (), _n_stages(kind), np.max(own, axis=0), _n_ballots(kind))
            else:
                members[kind] = self._neighbours() if kind == "neighbours" else self._forest(kind, n_trees)
        return members

    def members(self, tried: Mapping[str, Member | None]) -> dict[str, Member]:
        """Some kinds, trained to vote: those that have been tried, and those that have not."""
        found = self._all(joblib.delayed(self.member)(kind, tried=member) for kind, member in tried.items())
        return dict(zip(tried, found, strict=True))

    def _all(self, tasks: Iterable[Any]) -> list[Any]:
        """What these return, on as many cores as there may be."""
        # Threads share the limit below: if each had its own only, the first to end would lift that of the others.
        with threadpool_limits(1, user_api="blas"):
            return list(joblib.Parallel(n_jobs=self.n_jobs)(tasks))

    def member(self, kind: str, tried: Member | None = None) -> Member:
        """One kind, trained on all rows.

        A model that has not been tried is trained without some of the rows, for its out-of-sample votes on these; and
        where that does not take long, again on all rows to vote.
        """
        if kind == "neighbours":
            return tried or self._neighbours()
        if kind not in _FOLDED:
            return tried or self._forest(kind, _MANY_TREES)
        inside = np.ones(len(self.y), dtype=bool) if tried else self._kept()
        model = self._trained(kind, inside)
        unseen = tried.unseen if isinstance(tried, FoldedMember) else self._unseen(kind, model, inside)
        if not inside.all() and len(self.y) < _AGAIN_BELOW and self.price(kind) < _DEAR:
            model = self._trained(kind, np.ones(len(self.y), dtype=bool))
        columns = self._columns(kind).astype(np.int64)
        return FoldedMember((model,), (columns,), _n_stages(kind), unseen, _n_ballots(kind))

    def _kept(self) -> NDArray[np.bool_]:
        """All rows but those of some entities."""
        wanted = round(min(_LEFT_OUT * len(self.y), _MOST_LEFT_OUT))
        left_out = np.searchsorted(np.cumsum(np.bincount(self.places)), wanted, side="right")
        return self.places >= max(int(left_out), 1)

    def _answers(self, kind: str, inside: NDArray[np.bool_]) -> NDArray[np.int32]:
        """Of a model that is trained on some rows, on the others."""
        return self._unseen(kind, self._trained(kind, inside), inside)

    def _unseen(self, kind: str, model: Model, inside: NDArray[np.bool_]) -> NDArray[np.int32]:
        votes = np.full((len(self.y), _n_stages(kind) * _n_ballots(kind)), -1, dtype=np.int32)
        votes[~inside] = model_votes(model, self.X[~inside][:, self._columns(kind)], _n_ballots(kind))
        return votes

    def _neighbours(self) -> NeighbourMember:
        rng = np.random.default_rng(self._seed("neighbours"))
        remembered = np.sort(shuffled_rows(self.entities, len(self.y), rng)[:_REMEMBERED])
        apart = None if self.entities is None else self.places % _NEIGHBOUR_FOLDS
        return NeighbourMember.fitted(Encoding.fitted(self.X, np.arange(0)), self.X, self.y, remembered, apart)

    def _seed(self, kind: str) -> int:
        return int(self.seeds[KINDS.index("boosting" if kind in BOOSTERS else kind)])

    def _columns(self, kind: str) -> Codes:
        """Those that a model of the kind sees."""
        width = self.X.shape[1]
        if kind not in _STAGED or width <= _WIDE:
            return np.arange(width)
        rng = np.random.default_rng(self._seed(kind))
        return np.sort(rng.permutation(width)[: max(_WIDE, width // 2)])

    def _forest(self, kind: str, n_trees: int) -> FittedForest:
        from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

        seed = self._seed(kind)
        forest = (
            RandomForestClassifier(n_trees, random_state=seed, n_jobs=self.n_jobs)
            if kind == "random forest"
            else ExtraTreesClassifier(n_trees, bootstrap=True, random_state=seed, n_jobs=self.n_jobs)
        )
        return Forest(forest).fit(self.X, self.y, np.arange(self.n_classes), np.random.default_rng(seed), self.entities)

    def _trained(self, kind: str, inside: NDArray[np.bool_]) -> Model:
        """A model from some of the rows."""
        rows, labels = self.X[inside][:, self._columns(kind)], self.y[inside]
        if len(np.unique(labels)) == 1:
            return Always(int(labels[0]), _n_stages(kind))
        # Boosting has no bins for a column without values; one that is constant is never asked.
        empty = np.isnan(rows).all(axis=0)
        rows = np.where(empty, 0.0, rows) if empty.any() else rows
        # By the classes of the training rows: a label among the certification rows may decide nothing.
        pace = "long" if self.is_long and len(np.unique(self.y)) == 2 else "quick"
        whose = None if self.entities is None else self.entities[inside]
        return _fit(kind, rows, labels, whose, self._seed(kind), pace)


def _n_stages(kind: str) -> int:
    return N_STAGES if kind in _STAGED else 1


def _n_ballots(kind: str) -> int:
    return BALLOTS if kind in _STAGED else 1


def _fit(kind: str, X: Array, y: Codes, entities: Codes | None, seed: int, pace: str) -> Model:
    weights = row_weights(entities)
    if kind == "boosting":
        return _boosting(X, y, weights, seed, *_PACES[pace])
    if kind in BOOSTERS:
        return fit_booster(kind, X, y, weights, seed, pace)
    # Sums in one order, for any number of cores.
    with threadpool_limits(1, user_api="blas"):
        if kind == "gaussian":
            return fit_gaussian(Encoding.fitted(X, np.arange(0)), X, y, weights)
        encoding = Encoding.fitted(X, coded_columns(X))
        if kind == "linear":
            return _linear(encoding, X, y, weights)
        if len(y) < _LANDMARKS_FROM:
            return _support_vectors(encoding, X, y, weights)
        chosen = np.sort(shuffled_rows(entities, len(y), np.random.default_rng(seed))[:_LANDMARK_ROWS])
        whose = None if entities is None else entities[chosen]
        return fit_landmarks(encoding, X[chosen], y[chosen], min(len(chosen) // 5, _LANDMARKS), seed, whose)


def _boosting(X: Array, y: Codes, weights: Array | None, seed: int, rate: float, stages: tuple[int, ...]) -> Model:
    from sklearn.ensemble import HistGradientBoostingClassifier

    rare = bool(np.unique(y, return_counts=True)[1].min() < _RARE * len(y))
    model = HistGradientBoostingClassifier(
        learning_rate=rate,
        max_iter=max(stages),
        max_features=0.5,
        l2_regularization=1.0 if rare else 0.0,
        early_stopping=False,
        random_state=seed,
    )
    # On few rows, the threads of boosting would spend their time waiting for one another.
    with threadpool_limits(1 if X.size < _SMALL else None, user_api="openmp"):
        return fit_boosting(model, X, y, weights, stages)


def _linear(encoding: Encoding, X: Array, y: Codes, weights: Array | None) -> Linear:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    with warnings.catch_warnings():
        # A linear model that is nearly there votes nearly as well; how well, the certificate says.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LogisticRegression(max_iter=200).fit(encoding.transform(X), y, sample_weight=weights)
    return Linear.fitted(encoding, model)


def _support_vectors(encoding: Encoding, X: Array, y: Codes, weights: Array | None) -> KernelPairs:
    from sklearn.svm import SVC

    rows = encoding.transform(X)
    gamma = float(1.0 / (rows.shape[1] * (rows.var() or 1.0)))
    model: Any = SVC(C=3.0, gamma=gamma).fit(rows, y, sample_weight=weights)
    return KernelPairs.fitted(encoding, model, gamma)


Rows = NDArray[np.intp]

_ROWS, _TREES = 4_500, 34
"""Training rows on which the kinds are tried where there are many, and trees of a forest in that trial."""
_ENOUGH = 2_000
"""Rows whose two thirds are enough to try the kinds on."""
_CAUTION = 20.0
"""How much a squared deviation of the weights from equal ones counts, against one of a vote from the truth."""


def trained(training: Training) -> dict[str, Member]:
    """The members of a mixed vote: of all kinds, those that earn weight by their votes on rows they have not seen.

    Where rows are many, a few thousand of them decide which kinds are trained in full. Where they are few, each kind
    is tried on all of them, and what the trial has trained is not trained again.
    """
    if training.is_long:
        few = training.some(_ROWS)
        earned = _earned(few, few.trial(n_folds=1, n_trees=_TREES))
        return training.members({kind: None for kind in earned if earned[kind] >= training.price(kind)})
    tried = training.trial(n_folds=3 if len(training.y) < _ENOUGH else 2)
    earned = _earned(training, tried)
    return training.members({kind: tried[kind] for kind in earned if earned[kind] >= training.price(kind)})


def _earned(training: Training, tried: dict[str, Member]) -> dict[str, float]:
    """The weights of kinds by what they add to what the others say; the weights have sum 1.

    Non-negative least squares of the classes on the votes (Breiman, "Stacked regressions", 1996), with weights kept
    near equal ones: where rows are few, chance would choose.
    """
    rows = np.flatnonzero(left_out(tried.values(), len(training.y)))
    votes = [unseen_votes(member, training.X, rows, training.n_classes) for member in tried.values()]
    heavy = row_weights(None if training.entities is None else training.entities[rows])
    roots = np.ones(len(rows)) if heavy is None else np.sqrt(heavy)
    columns = (np.concatenate(votes, axis=1) * roots[:, None, None]).transpose(0, 2, 1)
    wanted = np.eye(training.n_classes)[training.y[rows]] * roots[:, None]
    sizes = [own.shape[1] for own in votes]
    equal = np.repeat(1.0 / np.multiply(sizes, len(sizes)), sizes)
    near = np.sqrt(_CAUTION) * np.eye(len(equal))
    found, _ = nnls(np.vstack([columns.reshape(-1, len(equal)), near]), np.append(wanted, near @ equal))
    sums = np.add.reduceat(found, np.cumsum([0, *sizes[:-1]]))
    return dict(zip(tried, (sums / sums.sum()).tolist(), strict=True))


def left_out(members: Iterable[Member], n_rows: int) -> NDArray[np.bool_]:
    """Which of ``n_rows`` training rows all members have out-of-sample votes on."""
    every = np.ones(n_rows, dtype=bool)
    for member in members:
        if isinstance(member, FoldedMember):
            every &= member.left_out
    return every


def unseen_votes(member: Member, X: Array, rows: Rows, n_classes: int) -> Array:
    """Out-of-sample votes of shape (len(rows), n_groups, n_classes)."""
    if isinstance(member, FoldedMember):
        return member.out_of_sample(rows, n_classes)
    if isinstance(member, NeighbourMember):
        return member.out_of_sample(X, rows, n_classes)
    return member.unseen_fractions(X, rows)[:, None, :]
