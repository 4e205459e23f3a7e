"""Fitted voters as model files of format version 3 hold them, and what these are today."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from certivote.voters._boosting import Boosting
from certivote.voters._forest import FittedForest
from certivote.voters._trees import NODE_BYTES, Trees

__all__ = ["EarlierBoosting", "EarlierForest"]

_LEAF = -1
_TREE_BYTES = 1_000
Array = NDArray[np.float64]
Nodes = NDArray[np.int32]


@dataclass(frozen=True)
class EarlierTrees:
    """Trees whose nodes come in any order, and say where they lead, counted from the root of the same tree."""

    stored_as: ClassVar[str] = "Trees"
    starts: NDArray[np.int64]
    feature: Nodes
    threshold: Array
    left: Nodes
    right: Nodes
    missing_left: NDArray[np.bool_]

    @property
    def memory(self) -> int:
        """Bytes that they take when they vote, and as arrays of their own before."""
        return NODE_BYTES * self.feature.size + _TREE_BYTES * self.starts.size

    def current(self) -> tuple[Trees, NDArray[np.intp]]:
        """The trees, and the numbers of their leaves among the nodes here; a ValueError if these are no trees."""
        starts, count = self.starts, len(self.feature)
        nodes = (self.feature, self.threshold, self.left, self.right, self.missing_left)
        if any(column.shape != (count,) for column in nodes) or count >= np.iinfo(np.int32).max:
            raise ValueError("the arrays of its trees differ in length")
        if starts.ndim != 1 or len(starts) < 2 or starts[0] != 0 or starts[-1] != count or np.any(np.diff(starts) < 1):
            raise ValueError("its trees do not divide their nodes")
        first = np.repeat(starts[:-1], np.diff(starts))
        place, size = np.arange(count) - first, np.repeat(np.diff(starts), np.diff(starts))
        inner = self.left != _LEAF
        ahead = (np.minimum(self.left, self.right) > place) & (np.maximum(self.left, self.right) < size)
        ends = (self.feature == _LEAF) & (self.right == _LEAF)
        if not np.all(np.where(inner, ahead & (self.feature >= 0), ends)):
            raise ValueError("the nodes of a tree lead nowhere, or ask for a column that there is not")
        led_to = np.concatenate([(first + side)[inner] for side in (self.left, self.right)])
        if np.any(np.bincount(led_to, minlength=count) != (place > 0)):
            raise ValueError("a tree has nodes that no row can reach")
        cuts = starts[1:-1]
        return Trees.joined(*(np.split(column, cuts) for column in nodes))


@dataclass(frozen=True)
class EarlierForest:
    """A forest with a vote for every node."""

    trees: EarlierTrees
    leaf_votes: Nodes
    n_classes: int

    def current(self) -> FittedForest:
        trees, leaves = self.trees.current()
        return FittedForest(trees, _at(self.leaf_votes, leaves, self.trees), self.n_classes)


@dataclass(frozen=True)
class EarlierBoosting:
    """Boosting with a value for every node."""

    edges: Array
    edge_starts: NDArray[np.int64]
    trees: EarlierTrees
    values: Array
    baseline: Array
    stages: NDArray[np.int64]
    classes: NDArray[np.int64]

    def current(self) -> Boosting:
        trees, leaves = self.trees.current()
        values = _at(self.values, leaves, self.trees)
        return Boosting(self.edges, self.edge_starts, trees, values, self.baseline, self.stages, self.classes)


def _at(values: NDArray[Any], leaves: NDArray[np.intp], trees: EarlierTrees) -> NDArray[Any]:
    if values.shape != trees.feature.shape:
        raise ValueError("the arrays of its trees differ in length")
    return values[leaves]
