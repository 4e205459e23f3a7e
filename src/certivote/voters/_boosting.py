"""Boosted trees as plain arrays."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certivote.voters._trees import FEW, MOST_LEAVES, LeafTables, Trees

Array = NDArray[np.float64]

_CHUNK = 1 << 13
"""Rows whose places are in memory at a time."""
_CELLS = 1 << 20
"""Rows times trees that are in memory at a time where trees are walked."""
_MOST_EDGES = 1 << 16
"""Thresholds of one column: places among them are whole numbers in single precision."""
_MOST_TREES = 1 << 20
"""Trees that a file may hold, since a row takes memory for all at once: many times those that are trained."""
_BINS = 255
"""Different values of a column beyond which scikit-learn puts them into bins, as many as these."""


def fit_boosting(model: Any, X: Array, y: NDArray[np.intp], weights: Array | None, stages: Sequence[int]) -> "Boosting":
    """From an unfitted histogram gradient boosting, which is fitted on these rows.

    With weights, the columns are put into bins here: some versions of scikit-learn take many times as long for that as
    for all the rest. A bin holds about the same weight as any other, and its number is what the model gets.

    Parameters
    ----------
    model : HistGradientBoostingClassifier
        With the default number of bins.
    X, y : arrays
        The training rows, NaN where a value is missing, and the codes of their classes.
    weights : array of float or None
        Positive weights of the rows.
    stages : sequence of int
        Iterations after which to take a vote.
    """
    if weights is None:
        return Boosting.grown(model.fit(X, y), stages)
    edges = [_bin_edges(X[:, column], weights) for column in range(X.shape[1])]
    places = np.stack([np.searchsorted(own, X[:, column]) for column, own in enumerate(edges)], axis=1)
    binned = np.where(np.isnan(X), np.nan, places)
    return Boosting.grown(model.fit(binned, y, sample_weight=weights), stages, edges)


def _bin_edges(values: Array, weights: Array) -> Array:
    """Ascending numbers that divide the values into bins of about the same weight, or else into all different ones."""
    present = ~np.isnan(values)
    distinct, inverse = np.unique(values[present].astype(np.float64), return_inverse=True)
    last = np.arange(len(distinct) - 1)
    if len(distinct) > _BINS:
        masses = np.cumsum(np.bincount(inverse, weights[present]))
        last = np.unique(np.searchsorted(masses, masses[-1] * np.arange(1, _BINS) / _BINS))
        last = last[last < len(distinct) - 1]
    middle = distinct[last] / 2.0 + distinct[last + 1] / 2.0
    # Between neighbouring numbers there may be none.
    return np.where(middle < distinct[last + 1], middle, distinct[last])


@dataclass(frozen=True)
class Boosting:
    """Scores to which every iteration adds the values of the leaves that a row reaches; the largest score wins.

    Rows are compared with all thresholds of a column once: a value becomes the number of thresholds below it, and the
    trees then compare whole numbers.

    Attributes
    ----------
    edges : array of float
        The thresholds, column after column and ascending.
    edge_starts : array of int, of shape (n_columns + 1,)
        Where those of each column begin.
    trees : Trees
        Iteration after iteration, one tree per score; their thresholds are places among the edges of the column.
    values : array of float
        Of each leaf, what it adds.
    baseline : array of float
        The scores before the first iteration: one for two classes, else one per class.
    stages : array of int
        Iterations after which to take a vote.
    classes : array of int
        Codes of the classes.
    """

    edges: Array
    edge_starts: NDArray[np.int64]
    trees: Trees
    values: Array
    baseline: Array
    stages: NDArray[np.int64]
    classes: NDArray[np.int64]

    @classmethod
    def grown(cls, model: Any, stages: Sequence[int], bins: Sequence[Array] | None = None) -> "Boosting":
        """From a fitted histogram gradient boosting of scikit-learn, whose features must all be numbers.

        If it was fitted on numbers of bins instead of values, the edges between the bins of each column tell which.
        """
        nodes = [tree.nodes for iteration in model._predictors[: max(stages)] for tree in iteration]
        leaf = [own["is_leaf"].astype(bool) for own in nodes]
        pairs = list(zip(nodes, leaf, strict=True))
        feature = np.concatenate([np.where(stop, -1, own["feature_idx"]) for own, stop in pairs])
        threshold = np.concatenate([own["num_threshold"] for own in nodes])
        for column, own in enumerate(bins or ()):
            asks = (feature == column) & (threshold < len(own))  # others part missing values from all that are present
            threshold[asks] = own[threshold[asks].astype(np.intp)]
        ends = np.cumsum(list(map(len, nodes)))[:-1]
        return cls.of_nodes(
            np.split(feature, ends),
            np.split(threshold, ends),
            [np.where(stop, -1, own["left"].astype(np.int64)) for own, stop in pairs],
            [np.where(stop, -1, own["right"].astype(np.int64)) for own, stop in pairs],
            [own["missing_go_to_left"] for own in nodes],
            [own["value"] for own in nodes],
            n_columns=model.n_features_in_,
            baseline=np.asarray(model._baseline_prediction, dtype=np.float64).ravel(),
            stages=stages,
            classes=model.classes_,
        )

    @classmethod
    def of_nodes(
        cls,
        features: Sequence[NDArray[Any]],
        thresholds: Sequence[Array],
        left: Sequence[NDArray[Any]],
        right: Sequence[NDArray[Any]],
        missing_left: Sequence[NDArray[Any]],
        values: Sequence[Array],
        *,
        n_columns: int,
        baseline: Array,
        stages: Sequence[int],
        classes: NDArray[Any],
    ) -> "Boosting":
        """From the nodes of each tree, as :meth:`Trees.joined` takes them, with what each adds if it is a leaf."""
        feature, threshold = np.concatenate(features), np.concatenate(thresholds)
        edges = [np.unique(threshold[feature == column]) for column in range(n_columns)]
        places = np.zeros(len(feature))
        for column, own in enumerate(edges):
            asks = feature == column
            places[asks] = np.searchsorted(own, threshold[asks])
        ends = np.cumsum(list(map(len, features)))[:-1]
        trees, leaves = Trees.joined(features, np.split(places, ends), left, right, missing_left)
        return cls(
            np.concatenate(edges),
            np.cumsum([0, *map(len, edges)]),
            trees,
            np.concatenate(values)[leaves],
            baseline,
            np.array(stages, dtype=np.int64),
            classes.astype(np.int64),
        )

    def check(self, width: int, n_classes: int, n_stages: int) -> None:
        """Raise a ValueError unless it can vote this often on rows with this many columns, for this many classes."""
        starts, n_scores = self.edge_starts, len(self.baseline)
        if starts.shape != (width + 1,) or starts[0] != 0 or np.any(np.diff(starts) < 0):
            raise ValueError("boosting asks for columns that there are not")
        if np.diff(starts).max(initial=0) > _MOST_EDGES:
            raise ValueError("boosting has more thresholds in a column than boosting finds")
        if self.edges.shape != (starts[-1],) or np.any(np.isnan(self.edges)) or not self._ascending():
            raise ValueError("the thresholds of boosting do not divide")
        self.trees.check(width)
        column, place = self.trees.feature[self.trees.feature >= 0], self.trees.threshold
        if np.any((place != np.floor(place)) | (place < 0) | (place >= np.diff(starts)[column])):
            raise ValueError("a tree of boosting has no threshold")
        n_leaves = len(self.trees.feature) - len(self.trees.threshold)
        if self.values.shape != (n_leaves,) or self.baseline.ndim != 1 or self.classes.ndim != 1:
            raise ValueError("the arrays of boosting differ in length")
        if np.diff(self.trees.starts).max() >= 2 * MOST_LEAVES:
            raise ValueError("a tree of boosting is larger than boosting grows them")
        if n_scores != (1 if len(self.classes) == 2 else len(self.classes)) or len(self.classes) < 2:
            raise ValueError("boosting has another number of scores than classes")
        if self.classes[0] < 0 or self.classes[-1] >= n_classes or np.any(np.diff(self.classes) < 1):
            raise ValueError("boosting votes for a class that there is not")
        iterations, rest = divmod(self.trees.n_trees, n_scores)
        if self.trees.n_trees > _MOST_TREES:
            raise ValueError("boosting has more trees than boosting grows")
        right = self.stages.shape == (n_stages,) and np.all((self.stages >= 1) & (self.stages <= iterations))
        if rest or not right:
            raise ValueError("boosting has stages that there are not")

    def _ascending(self) -> bool:
        """Whether the thresholds of each column are."""
        rises, ends = self.edges[1:] > self.edges[:-1], self.edge_starts[1:-1]
        rises[ends[(ends > 0) & (ends < len(self.edges))] - 1] = True
        return bool(np.all(rises))

    def only(self, stages: NDArray[np.intp]) -> "Boosting":
        """Some of the votes, by their numbers, without the trees after the last of them."""
        last = int(self.stages[stages].max()) * len(self.baseline)
        trees, leaves = self.trees.only(np.arange(last))
        return replace(self, trees=trees, values=self.values[leaves], stages=self.stages[stages])

    def answers(self, X: Array) -> NDArray[np.intp]:
        """Codes of shape (n_rows, n_stages)."""
        found = np.empty((len(X), len(self.stages)), dtype=np.intp)
        for rows, stage, scores in self.scores(X):
            best = scores.argmax(axis=1) if scores.shape[1] > 1 else (scores[:, 0] > 0).astype(np.intp)
            found[rows, self.stages == stage] = self.classes[best][:, None]
        return found

    def scores(self, X: Array) -> Iterator[tuple[slice, int, Array]]:
        """Some rows, a stage and the scores then, of shape (n_rows, n_scores), until all rows and stages had a turn."""
        n_scores = len(self.baseline)
        for rows, values in self._leaf_values(X):
            scores, done = np.repeat(self.baseline[None, :], len(values), axis=0), 0
            for stage in np.unique(self.stages).tolist():
                for first in range(done * n_scores, stage * n_scores, n_scores):
                    # One after the other, so that the sums are the same everywhere.
                    scores += values[:, first : first + n_scores]
                yield rows, stage, scores
                done = stage

    def _leaf_values(self, X: Array) -> Iterator[tuple[slice, Array]]:
        """Some rows, and what each tree adds to their scores, of shape (n_rows, n_trees), until all had their turn."""
        limits = np.diff(self.edge_starts)
        if len(X) > FEW and LeafTables.suit(self.trees, limits):
            tables = LeafTables(self.trees, self.values, limits, len(X), bool(np.isnan(X).any()))
            for start in range(0, len(X), _CHUNK):
                for rows, values in tables.leaf_values(self._places(X[start : start + _CHUNK])):
                    yield slice(start + rows.start, start + rows.stop), values
            return
        values, thresholds = self._by_node
        step = max(_CELLS // self.trees.n_trees, 1)
        for start in range(0, len(X), step):
            rows = slice(start, start + step)
            if len(X) <= FEW:
                yield rows, values[self.trees.reached(X[rows], thresholds)]
                continue
            places = self._places(X[rows]).T.astype(np.float32)  # in which whole numbers are exact
            places[np.isnan(X[rows])] = np.nan
            yield rows, values[self.trees.reached(places)]

    @cached_property
    def _by_node(self) -> tuple[Array, Array]:
        """What a leaf adds, and the threshold of an inner node, in the places of the nodes."""
        values, inner = self.trees.over_nodes(self.values), self.trees.feature >= 0
        thresholds = np.zeros(len(inner))
        first = self.edge_starts[self.trees.feature[inner]]
        thresholds[inner] = self.edges[first + self.trees.threshold.astype(np.int64)]
        return values, thresholds

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)

    def _places(self, X: Array) -> NDArray[np.intp]:
        """How many thresholds of its column are below each value, of shape (n_columns, n_rows).

        A missing value has one place more than there are thresholds.
        """
        places = np.zeros(X.shape[::-1], dtype=np.intp)
        for column in np.flatnonzero(np.diff(self.edge_starts)):
            own = self.edges[self.edge_starts[column] : self.edge_starts[column + 1]]
            values = np.ascontiguousarray(X[:, column])
            places[column] = values > own if len(own) == 1 else np.searchsorted(own, values)
            gaps = np.isnan(values)
            if gaps.any():
                places[column, gaps] = len(own) + 1
        return places
