"""The trees of a forest, on bootstrap samples of rows or of groups."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.utils import check_random_state, compute_sample_weight

from certivote.voters._base import NOT_STORED, OutOfSampleVotes, VoterSet, cores
from certivote.voters._entities import at_least_two, checked_entities, row_weights
from certivote.voters._trees import Trees
from certivote.votes import Votes, build_votes, code_type

# Trees without what scikit-learn keeps for every class, and trees on bootstrap samples of entities.


Array = NDArray[np.float64]
Codes = NDArray[np.intp]


@dataclass(frozen=True)
class Grown:
    """What a vote needs of a tree of scikit-learn, which itself has a number for every class in each node."""

    children_left: NDArray[np.int64]
    children_right: NDArray[np.int64]
    feature: NDArray[np.int64]
    threshold: Array
    missing_go_to_left: NDArray[Any]
    best: Codes

    @classmethod
    def of(cls, estimator: Any) -> "Grown":
        tree = estimator.tree_
        return cls(  # copies, since a view would keep all of the tree in memory
            tree.children_left.copy(),
            tree.children_right.copy(),
            tree.feature.copy(),
            tree.threshold.copy(),
            tree.missing_go_to_left.copy(),
            tree.value[:, 0, :].argmax(axis=1),
        )


def grow_in_turn(forest: Any, X: Any, y: NDArray[Any], weights: Array | None) -> list[Grown]:
    """The trees that a fit of this forest grows, a few at a time; fitted, it knows their seeds, but not the trees."""
    wanted, step = forest.n_estimators, joblib.effective_n_jobs(forest.n_jobs)
    grown: list[Grown] = []
    forest.set_params(warm_start=True, oob_score=False)
    while len(grown) < wanted:
        with warnings.catch_warnings():
            if grown:  # what there is to warn about has been said
                warnings.simplefilter("ignore")
            forest.set_params(n_estimators=min(len(grown) + step, wanted)).fit(X, y, sample_weight=weights)
        grown += [Grown.of(estimator) for estimator in forest.estimators_[len(grown) :]]
        forest.estimators_ = [clone(estimator) for estimator in forest.estimators_]
    return grown


def grow_on_entities(
    forest: Any, X: Any, y: NDArray[Any], entities: Codes, kept: Callable[[Any], Any] = Grown.of
) -> tuple[list[Any], NDArray[np.uint8]]:
    """The trees of a forest, each on entities that are drawn with replacement, with all their rows.

    A row weighs as often as its entity was drawn, divided by the number of rows of the entity.

    Parameters
    ----------
    forest : RandomForestClassifier or ExtraTreesClassifier
        Unfitted; it stays so. Of its parameters, ``max_samples`` is a share of the entities: a whole number of rows
        stands for the share that it is of all rows. Classes are balanced by their weights, not by their rows.
    X : array or sparse matrix
        The training rows.
    y : array
        Their labels.
    entities : array of int
        Their entities, as codes from 0 on without gaps.
    kept : callable, default=Grown.of
        What is kept of a tree of scikit-learn.

    Returns
    -------
    trees : list
        Their classes are codes: places in the ascending order of the labels.
    seen : array
        For each tree, whether each of the rows was in its sample, eight rows to a byte.
    """
    forest._validate_params()
    count, n_rows = at_least_two(entities), X.shape[0]
    share = 1.0 if forest.max_samples is None else forest.max_samples
    n_draws = max(round(count * (share / n_rows if isinstance(share, int | np.integer) else share)), 1)
    rows = single_precision(sparse.csc_array(X) if sparse.issparse(X) else X)
    if sparse.issparse(rows):
        rows.sort_indices()  # once, not in each tree
    codes = np.unique(y, return_inverse=True)[1]
    weights = row_weights(entities)
    own = np.ones(n_rows) if weights is None else weights
    by_sample = forest.class_weight == "balanced_subsample"
    if not by_sample:
        own = own * _class_factors(forest.class_weight, y, codes, own)
    parameters = {name: getattr(forest, name) for name in forest.estimator_params}

    def grow(draw: int, seed: int) -> tuple[Any, NDArray[np.uint8]]:
        drawn = np.bincount(np.random.default_rng(draw).integers(count, size=n_draws), minlength=count)[entities]
        sample: Array = own * drawn
        if by_sample:
            sample = sample * _class_factors("balanced", y, codes, sample)
        tree = clone(forest.estimator).set_params(**{**parameters, "random_state": seed})
        # Trees leave out rows of weight 0.
        return kept(tree.fit(rows, codes, sample_weight=sample)), np.packbits(drawn > 0)

    seeds = check_random_state(forest.random_state).randint(np.iinfo(np.int32).max, size=(forest.n_estimators, 2))
    grown = joblib.Parallel(n_jobs=forest.n_jobs, verbose=forest.verbose, require="sharedmem")(
        joblib.delayed(grow)(draw, seed) for draw, seed in seeds.tolist()
    )
    trees, seen = zip(*grown, strict=True)
    return list(trees), np.stack(seen)


def _class_factors(class_weight: Any, y: NDArray[Any], codes: Codes, weights: Array) -> Array:
    """What the weight of each row is multiplied by for the sake of its class, as scikit-learn's ``class_weight``."""
    if class_weight != "balanced":
        return np.asarray(compute_sample_weight(class_weight, y), dtype=np.float64)
    masses = np.bincount(codes, weights)
    factors = np.zeros(len(masses))
    factors[masses > 0.0] = masses.sum() / (np.count_nonzero(masses) * masses[masses > 0.0])
    return factors[codes]


def single_precision(X: Any) -> Any:
    """Rows as the trees of scikit-learn want them."""
    with np.errstate(over="ignore"):
        rows = X.astype(np.float32)
    if sparse.issparse(rows):
        # Compiled trees take no longer numbers, which some versions of scipy give to few columns too.
        rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
        if np.isnan(rows.data).any():
            # Compiled trees would send them to the right, and walked ones where the node says.
            raise ValueError(
                "X is sparse and has missing values, which trees cannot use. Fill them, or give an array: X.toarray()."
            )
    if np.isinf(rows.data if sparse.issparse(rows) else rows).any():
        raise ValueError("X contains infinity or a value too large for dtype('float32'), which trees cannot use.")
    return rows


_CHUNK = 1 << 12
"""Rows sent down all trees before the next ones: so few that they stay in the processor's cache meanwhile."""

_MANY_CLASSES, _MOST_GIGABYTES = 100, 16
"""Classes beyond which trees grow a few at a time, and their size is estimated before; and the largest that may be."""


_COPIES = 3
"""Numbers that out-of-sample votes take for every row and class, about."""


class Forest(VoterSet):
    """The trees of a forest, one vote per tree.

    Parameters
    ----------
    estimator : RandomForestClassifier, ExtraTreesClassifier or None
        An unfitted forest of scikit-learn. None stands for ``RandomForestClassifier()``: 100 trees, the square root of
        the number of features tried at each node, unlimited depth.

    Notes
    -----
    With groups, each bootstrap sample is one of entities, with all their rows: so a row's out-of-bag votes come from
    trees that have seen no row of its entity. ``max_samples`` is then a share of the entities.

    Examples
    --------
    >>> from sklearn.ensemble import ExtraTreesClassifier
    >>> from certivote.voters import Forest
    >>> Forest(ExtraTreesClassifier(n_estimators=50))
    Forest(estimator=ExtraTreesClassifier(n_estimators=50))
    """

    input_checks: ClassVar[dict[str, Any]] = {"accept_sparse": "csr", "ensure_all_finite": "allow-nan"}
    needs_training = True

    def __init__(self, estimator: Any = None):
        self.estimator = estimator

    def check_room(self, n_rows: int, n_classes: int) -> None:
        forest = RandomForestClassifier() if self.estimator is None else self.estimator
        leaves = min(n_rows, getattr(forest, "max_leaf_nodes", None) or n_rows)
        if getattr(forest, "max_depth", None) is not None:
            leaves = min(leaves, 2 ** min(forest.max_depth, 60))
        n_trees = getattr(forest, "n_estimators", 1)
        if _in_turn(forest):
            n_trees = min(joblib.effective_n_jobs(cores(forest.n_jobs)), n_trees)
        gigabytes = (n_trees * 2 * leaves + _COPIES * n_rows) * n_classes / 2**27
        if n_classes > _MANY_CLASSES and gigabytes > _MOST_GIGABYTES:
            raise ValueError(
                f"A forest for {n_classes:,} classes and {n_rows:,} rows may take {gigabytes:,.0f} GB, since each node "
                f"of a tree has a number for every class; the limit is {_MOST_GIGABYTES} GB. Put rare classes "
                "together, or take fewer or smaller trees, such as "
                "voters=Forest(RandomForestClassifier(50, max_leaf_nodes=500))."
            )

    def pilot(self, n_rows: int) -> "Forest":
        return Forest(RandomForestClassifier(n_estimators=25))

    def fit(
        self,
        X: Any,
        y: NDArray[Any],
        classes: NDArray[Any],
        rng: np.random.Generator,
        entities: NDArray[np.intp] | None = None,
    ) -> "FittedForest":
        forest = RandomForestClassifier() if self.estimator is None else self.estimator
        if not isinstance(forest, RandomForestClassifier | ExtraTreesClassifier):
            raise TypeError(f"Forest takes a RandomForestClassifier or an ExtraTreesClassifier; got {forest!r}.")
        # A parameter of scikit-learn 1.10.
        if (named := getattr(forest, "categorical_features", None)) is not None:
            raise ValueError(
                f"Forest takes trees that compare numbers; got a forest with categorical_features={named!r}. Leave it "
                "out, and let Preprocessed(ColumnEncoder(), ...) turn categories into numbers."
            )
        forest = clone(forest).set_params(n_jobs=cores(forest.n_jobs))
        if forest.random_state is None:
            forest.set_params(random_state=int(rng.integers(2**31)))
        entities = checked_entities(entities, X.shape[0])
        if entities is not None and forest.bootstrap:
            trees, seen = grow_on_entities(forest, X, y, entities)
            return FittedForest.grown(trees, np.unique(y), classes, forest.n_jobs, seen)
        if len(classes) > _MANY_CLASSES and _in_turn(forest):
            trees = grow_in_turn(forest, X, y, row_weights(entities))
        else:
            forest.fit(X, y, sample_weight=row_weights(entities))
            trees = list(map(Grown.of, forest.estimators_))
        seen_rows = _seen(forest.estimators_samples_, X.shape[0]) if forest.bootstrap else None
        return FittedForest.grown(trees, forest.classes_, classes, forest.n_jobs, seen_rows)


def _in_turn(forest: Any) -> bool:
    """Whether its trees can be grown a few at a time and be the same."""
    seed = getattr(forest, "random_state", None)
    return getattr(forest, "class_weight", "") is None and not isinstance(seed, np.random.RandomState)


@dataclass(frozen=True)
class FittedForest:
    """Trees that vote for the most frequent class of the leaf that a row reaches.

    Attributes
    ----------
    trees : Trees
    leaf_votes : array of int
        Of each leaf, tree after tree, the code of the class that it votes for.
    n_classes : int
    n_jobs : int or None
        As in scikit-learn.
    seen : array or None
        For each tree, which training rows were in its bootstrap sample, eight rows to a byte; None if all were, or if
        the forest comes from a file.
    """

    trees: Trees
    leaf_votes: NDArray[np.int32]
    n_classes: int
    n_jobs: int | None = field(default=None, metadata=NOT_STORED)
    seen: NDArray[np.uint8] | None = field(default=None, metadata=NOT_STORED)

    @classmethod
    def grown(
        cls,
        grown: Sequence[Grown],
        known: NDArray[Any],
        classes: NDArray[Any],
        n_jobs: int | None,
        seen: NDArray[np.uint8] | None,
    ) -> "FittedForest":
        """From trees that tell the known classes apart, some of all classes."""
        codes = np.searchsorted(classes, known).astype(np.int32)
        trees, leaves = Trees.grown(grown)
        votes = np.concatenate([codes[tree.best] for tree in grown])
        return cls(trees, votes[leaves], len(classes), n_jobs, seen)

    @property
    def n_voters(self) -> int:
        return self.trees.n_trees

    def check(self, width: int, n_classes: int) -> None:
        """Raise a ValueError unless these trees can vote on rows with this many columns, for this many classes."""
        self.trees.check(width)
        n_leaves = len(self.trees.feature) - len(self.trees.threshold)
        if self.n_classes != n_classes or self.leaf_votes.shape != (n_leaves,):
            raise ValueError("its trees vote among other classes")
        if np.any((self.leaf_votes < 0) | (self.leaf_votes >= n_classes)):
            raise ValueError("a tree votes for a class that there is not")

    def votes(self, X: Any) -> Votes:
        return build_votes(codes=self._codes(X), n_classes=self.n_classes)

    def _codes(self, X: Any) -> NDArray[np.unsignedinteger]:
        n_rows = X.shape[0]
        if self.trees.walks_best(n_rows):
            return self._node_votes[self.trees.reached(single_precision(X))]
        codes = np.empty((n_rows, self.n_voters), dtype=code_type(self.n_classes), order="F")

        def vote(rows: slice) -> None:
            part = single_precision(X[rows])
            for tree in range(self.n_voters):
                codes[rows, tree] = self._node_votes[self.trees.reached_in(tree, part)]

        chunks = (slice(start, start + _CHUNK) for start in range(0, n_rows, _CHUNK))
        joblib.Parallel(n_jobs=self.n_jobs, require="sharedmem")(joblib.delayed(vote)(rows) for rows in chunks)
        return codes

    @cached_property
    def _node_votes(self) -> NDArray[np.unsignedinteger]:
        return self.trees.over_nodes(self.leaf_votes.astype(code_type(self.n_classes)))

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)

    def only(self, voters: NDArray[np.intp]) -> "tuple[FittedForest, NDArray[np.intp]]":
        kept = np.unique(voters)
        trees, leaves = self.trees.only(kept)
        seen = None if self.seen is None else self.seen[kept]
        return replace(self, trees=trees, leaf_votes=self.leaf_votes[leaves], seen=seen), kept

    def out_of_sample(self, X: Any, y: NDArray[Any], rows: NDArray[np.intp]) -> OutOfSampleVotes:
        """Out-of-bag votes: each row is voted on by the trees whose bootstrap sample missed it, as one group."""
        votes = build_votes(fractions=self.unseen_fractions(X, rows)[:, None, :])
        return OutOfSampleVotes(votes, np.zeros(self.n_voters, dtype=np.intp))

    def unseen_fractions(self, X: Any, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Of each class, the share of the out-of-bag votes on each row."""
        if self.seen is None:
            raise ValueError(
                "prior='informed' asks each tree for its votes on rows it has not seen, and trees without bootstrap "
                "have seen all: set bootstrap=True on the forest, or choose another prior."
            )
        codes = self._codes(X[rows])
        counts = np.zeros((len(rows), self.n_classes))
        for j, sample in enumerate(self.seen):
            unseen = np.unpackbits(sample)[rows] == 0
            counts[np.flatnonzero(unseen), codes[unseen, j]] += 1.0
        # A row that every tree has seen gets no opinion.
        counts[counts.sum(axis=1) == 0.0] = 1.0
        return counts / counts.sum(axis=1, keepdims=True)


def _seen(samples: list[NDArray[np.intp]], n_rows: int) -> NDArray[np.uint8]:
    """For each bootstrap sample, whether each of the rows is in it, eight rows to a byte."""
    packed = []
    for sample in samples:
        member = np.zeros(n_rows, dtype=bool)
        member[sample] = True
        packed.append(np.packbits(member))
    return np.stack(packed)
