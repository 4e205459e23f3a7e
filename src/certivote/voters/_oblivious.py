"""Trees that ask one question on each level, as CatBoost grows them, as plain arrays."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Single = NDArray[np.float32]

_CHUNK = 1 << 13
"""Rows that go down one tree after another."""
_FEW, _CELLS = 64, 1 << 20
"""Rows that go down all trees at once, and what they may then take in memory: leaf values of all trees and rows."""
_DEEPEST, _MOST_TREES = 8, 1 << 14
"""Questions of a tree, whose answers are the bits of a byte; and trees that a file may hold."""


@dataclass(frozen=True)
class ObliviousTrees:
    """Scores to which every tree adds the values of the leaf that a row reaches; the largest score wins.

    A tree asks of every row the same few questions: whether a column is above a border. The answers are the bits of the
    number of the leaf, that of the first question the lowest. A missing value is above no border.

    Attributes
    ----------
    columns : array of int, of shape (n_trees, depth)
        What the questions of each tree are about.
    borders : array of float in single precision, of the same shape
        Rows are rounded to single precision too.
    values : array of float in single precision, of shape (n_trees, 2**depth, n_scores)
        What each leaf adds to the scores.
    baseline : array of float
        The scores before the first tree: one for two classes, else one per class.
    stages : array of int
        Numbers of trees after which to take a vote.
    classes : array of int
        Codes of the classes.
    """

    columns: NDArray[np.int32]
    borders: Single
    values: Single
    baseline: Array
    stages: NDArray[np.int64]
    classes: NDArray[np.int64]

    @classmethod
    def read(cls, model: dict[str, Any], stages: Sequence[int], classes: NDArray[np.int64]) -> "ObliviousTrees":
        """From the JSON of a CatBoost model whose columns are all numbers.

        Trees of fewer levels ask their last question, or the only one that there is, again.
        """
        trees, (scale, baseline) = model["oblivious_trees"], model["scale_and_bias"]
        n_scores, depth = len(baseline), max(len(tree["splits"] or ()) for tree in trees)
        columns = np.zeros((len(trees), depth), dtype=np.int32)
        borders = np.zeros((len(trees), depth), dtype=np.float32)
        values = np.empty((len(trees), 1 << depth, n_scores), dtype=np.float32)
        for number, tree in enumerate(trees):
            own = tree["splits"] or ()
            columns[number, : len(own)] = [split["float_feature_index"] for split in own]
            borders[number, : len(own)] = [split["border"] for split in own]
            leaves = scale * np.array(tree["leaf_values"]).reshape(1 << len(own), n_scores)
            values[number] = np.tile(leaves, (1 << (depth - len(own)), 1))  # whatever the further answers are
        ends = np.minimum(np.array(stages, dtype=np.int64), len(trees))
        return cls(columns, borders, values, np.array(baseline, dtype=np.float64), ends, classes)

    def check(self, width: int, n_classes: int, n_stages: int) -> None:
        """Raise a ValueError unless it can vote this often on rows with this many columns, for this many classes."""
        shape, n_scores = self.columns.shape, self.baseline.size
        if self.columns.ndim != 2 or not (1 <= shape[0] <= _MOST_TREES and shape[1] <= _DEEPEST):
            raise ValueError("there are other trees than boosting grows")
        if self.borders.shape != shape or self.values.shape != (shape[0], 1 << shape[1], n_scores):
            raise ValueError("the arrays of boosting differ in length")
        if np.any((self.columns < 0) | (self.columns >= width)):
            raise ValueError("a tree asks for a column that there is not")
        if np.any(np.isnan(self.borders)) or not np.all(np.isfinite(self.values)):
            raise ValueError("a tree has values that are no numbers")
        if self.baseline.ndim != 1 or not np.all(np.isfinite(self.baseline)) or self.classes.ndim != 1:
            raise ValueError("boosting begins with scores that are no numbers")
        if n_scores != (1 if len(self.classes) == 2 else len(self.classes)) or len(self.classes) < 2:
            raise ValueError("boosting has another number of scores than classes")
        if self.classes[0] < 0 or self.classes[-1] >= n_classes or np.any(np.diff(self.classes) < 1):
            raise ValueError("boosting votes for a class that there is not")
        if self.stages.shape != (n_stages,) or np.any((self.stages < 1) | (self.stages > shape[0])):
            raise ValueError("boosting has stages that there are not")

    def only(self, stages: NDArray[np.intp]) -> "ObliviousTrees":
        """Some of the votes, by their numbers, without the trees after the last of them."""
        last = int(self.stages[stages].max())
        return replace(
            self,
            columns=self.columns[:last],
            borders=self.borders[:last],
            values=self.values[:last],
            stages=self.stages[stages],
        )

    def answers(self, X: Array) -> NDArray[np.intp]:
        """Codes of shape (n_rows, n_stages)."""
        found = np.empty((len(X), len(self.stages)), dtype=np.intp)
        for rows, stage, scores in self.scores(X):
            best = scores.argmax(axis=1) if scores.shape[1] > 1 else (scores[:, 0] > 0).astype(np.intp)
            found[rows, self.stages == stage] = self.classes[best][:, None]
        return found

    def scores(self, X: Array) -> Iterator[tuple[slice, int, Array]]:
        """Some rows, a stage and the scores then, of shape (n_rows, n_scores), until all rows and stages had a turn.

        One tree after the other is added, so that the sums are the same everywhere.
        """
        many = len(X) > _FEW
        step = _CHUNK if many else max(_CELLS // (self.values.shape[0] * self.values.shape[2]), 1)
        with np.errstate(over="ignore"):  # a number that is too large for single precision is above all borders
            single = np.ascontiguousarray(X.T, dtype=np.float32)
        for start in range(0, len(X), step):
            rows = slice(start, min(start + step, len(X)))
            for stage, scores in (self._by_tree if many else self._at_once)(single[:, rows]):
                yield rows, stage, scores

    def _by_tree(self, X: Single) -> Iterator[tuple[int, Array]]:
        """By one tree after the other, for many rows; ``X`` has a line for each column."""
        scores = np.repeat(self.baseline[None, :], X.shape[1], axis=0)
        leaf, above = np.empty(X.shape[1], dtype=np.uint8), np.empty(X.shape[1], dtype=bool)
        ends = set(self.stages.tolist())
        for number in range(max(ends)):
            leaf.fill(0)
            for column, border in zip(self.columns[number, ::-1], self.borders[number, ::-1], strict=True):
                leaf += leaf
                leaf |= np.greater(X[column], border, out=above).view(np.uint8)
            scores += self.values[number].take(leaf, axis=0)
            if number + 1 in ends:
                yield number + 1, scores

    def _at_once(self, X: Single) -> Iterator[tuple[int, Array]]:
        """By all trees side by side, for few rows."""
        above = X[self.columns] > self.borders[:, :, None]  # of shape (n_trees, depth, n_rows)
        bits = 1 << np.arange(self.columns.shape[1])
        leaf = np.einsum("tdr,d->rt", above, bits)
        terms = self.values[np.arange(len(self.values)), leaf].astype(np.float64)
        terms[:, 0] += self.baseline
        sums = np.add.accumulate(terms, axis=1)
        for stage in np.unique(self.stages).tolist():
            yield stage, sums[:, stage - 1]
