"""Trees that are grown where training rows lie, a few in each partition of a table, and vote together."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier

from certivote.voters._base import FittedVoters, VoterSet
from certivote.voters._forest import FittedForest, Forest
from certivote.voters._mixed import FittedMixed, Mixed, QuickMixed
from certivote.voters._trees import Trees

Bits = NDArray[np.bool_]

_MOST_ROWS = 100_000
"""Rows that a tree is grown on, at most: it has a leaf for every few of them, and a model file holds them all."""


@dataclass(frozen=True)
class GrownApart:
    """Trees of one partition, and which of the rows that will weigh them each has seen.

    Attributes
    ----------
    forest : FittedForest
    seen : array of bool of shape (n_trees, n_shown)
    """

    forest: FittedForest
    seen: Bits


def grow_apart(
    X: Any, y: NDArray[Any], classes: NDArray[Any], n_trees: int, seed: int, shown: NDArray[np.intp]
) -> GrownApart | None:
    """Grow ``n_trees`` trees on these training rows, each on a bootstrap sample; None without rows.

    Parameters
    ----------
    X, y : rows and labels
    classes : array
        All classes; the rows need not have examples of each.
    n_trees, seed : int
    shown : array of int
        Numbers of the rows that will weigh the trees.
    """
    if not n_trees or not len(y):
        return None
    most = _MOST_ROWS / len(y) if len(y) > _MOST_ROWS else None
    recipe = RandomForestClassifier(n_trees, random_state=seed, max_samples=most, n_jobs=1)
    forest = Forest(recipe).fit(X, y, classes, np.random.default_rng(seed))
    assert forest.seen is not None
    seen = np.stack([np.unpackbits(tree, count=len(y))[shown] for tree in forest.seen]).astype(bool)
    return GrownApart(replace(forest, seen=None), seen)


def fit_sample(
    voters: VoterSet, X: Any, y: NDArray[Any], classes: NDArray[Any], rng: np.random.Generator
) -> FittedVoters:
    """Voters of a sample of many more rows; of mixed voters, those that are quick to vote on all of these."""
    return (QuickMixed(voters.n_jobs) if type(voters) is Mixed else voters).fit(X, y, classes, rng)


def with_grown(own: FittedVoters, apart: Sequence[GrownApart | None], shown: Sequence[int]) -> FittedVoters:
    """Voters of the sample together with the trees that were grown apart.

    Parameters
    ----------
    own : FittedForest or FittedMixed
        Fitted on the sample, the rows that weigh the trees.
    apart : sequence of GrownApart or None
        By partition, in the order of the sample.
    shown : sequence of int
        Rows of the sample in each partition.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> own = Forest().fit(X[::15], y[::15], np.arange(3), np.random.default_rng(0))
    >>> halves = [slice(0, 75), slice(75, 150)]
    >>> few = [grow_apart(X[own], y[own], np.arange(3), 5, 0, np.arange(0, 75, 15)) for own in halves]
    >>> with_grown(own, few, [5, 5]).n_voters
    110
    """
    ends = np.cumsum([0, *shown])
    grown, rows = [], []
    for each, first in zip(apart, ends, strict=False):
        if each is not None:
            bits = np.zeros((each.forest.n_voters, ends[-1]), dtype=bool)
            bits[:, first : first + each.seen.shape[1]] = each.seen
            grown.append(each.forest)
            rows.append(np.packbits(bits, axis=1))
    if not grown:
        return own
    if isinstance(own, FittedForest):
        assert own.seen is not None
        return _joined([*grown, own], [*rows, own.seen])
    if isinstance(own, FittedMixed):
        return replace(own, forests=(_joined(grown, rows), *own.forests))
    raise TypeError(f"Trees that were grown apart vote with a forest or with mixed voters; got {type(own).__name__}.")


def _joined(forests: Sequence[FittedForest], seen: Sequence[NDArray[np.uint8]]) -> FittedForest:
    trees = Trees(
        np.concatenate([forest.trees.feature for forest in forests]),
        np.concatenate([forest.trees.threshold for forest in forests]),
        np.concatenate([forest.trees.missing_left for forest in forests]),
    )
    votes = np.concatenate([forest.leaf_votes for forest in forests])
    return FittedForest(trees, votes, forests[0].n_classes, None, np.concatenate(seen))
