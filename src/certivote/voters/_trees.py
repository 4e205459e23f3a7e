"""Decision trees as plain arrays: what a vote needs of them, whichever library grew them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier

__all__ = ["Trees"]

_LEAF = -1
_CHUNK = 1 << 18
"""Nodes that are checked at a time."""
_KEPT = 1 << 14
"""Trees that are kept as objects of the library, which take a thousand bytes each beyond their nodes."""
Nodes = NDArray[np.int32]


@dataclass(frozen=True)
class Trees:
    """Some trees, node after node: an inner node sends a row to the left if its feature is at most the threshold.

    Attributes
    ----------
    starts : array of int, of shape (n_trees + 1,)
        Where in the other arrays the nodes of each tree begin; its first node is the root.
    feature : array of int
        Of each node, the column that it asks for; -1 for a leaf.
    threshold : array of float
    left, right : array of int
        Where a row goes next, counted from the root of the same tree; -1 for a leaf.
    missing_left : array of bool
        Whether a row without the value goes to the left.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from certivote.voters._trees import Trees
    >>> X = np.array([[0.0], [1.0], [2.0]], dtype=np.float32)
    >>> trees = Trees.grown([DecisionTreeClassifier(random_state=0).fit(X, [0, 1, 1]).tree_])
    >>> trees.leaf(0, X).tolist()
    [1, 2, 2]
    """

    starts: NDArray[np.int64]
    feature: Nodes
    threshold: NDArray[np.float64]
    left: Nodes
    right: Nodes
    missing_left: NDArray[np.bool_]

    @classmethod
    def grown(cls, trees: Sequence[Any]) -> "Trees":
        """Those that scikit-learn has grown, given as the ``tree_`` of its estimators."""
        inner = [tree.children_left != _LEAF for tree in trees]
        columns = (
            [np.where(asks, tree.feature, _LEAF) for tree, asks in zip(trees, inner, strict=True)],
            [np.where(asks, tree.threshold, 0.0) for tree, asks in zip(trees, inner, strict=True)],
            [tree.children_left for tree in trees],
            [tree.children_right for tree in trees],
            [tree.missing_go_to_left.astype(bool) for tree in trees],
        )
        return cls.joined(*columns)

    @classmethod
    def joined(
        cls,
        feature: Sequence[NDArray[Any]],
        threshold: Sequence[NDArray[Any]],
        left: Sequence[NDArray[Any]],
        right: Sequence[NDArray[Any]],
        missing_left: Sequence[NDArray[Any]],
    ) -> "Trees":
        """From the nodes of each tree."""
        return cls(
            np.cumsum([0, *map(len, feature)]),
            np.concatenate(feature).astype(np.int32),
            np.concatenate(threshold).astype(np.float64),
            np.concatenate(left).astype(np.int32),
            np.concatenate(right).astype(np.int32),
            np.concatenate(missing_left).astype(bool),
        )

    @property
    def n_trees(self) -> int:
        return len(self.starts) - 1

    def nodes(self, tree: int) -> slice:
        """Where its nodes are in the arrays."""
        return slice(int(self.starts[tree]), int(self.starts[tree + 1]))

    def only(self, chosen: NDArray[np.intp]) -> "tuple[Trees, NDArray[np.intp]]":
        """Some of the trees, and the numbers of their nodes in the arrays."""
        spans = [np.arange(self.starts[tree], self.starts[tree + 1]) for tree in chosen]
        kept = np.concatenate(spans)
        columns = (self.feature, self.threshold, self.left, self.right, self.missing_left)
        return Trees(np.cumsum([0, *map(len, spans)]), *(column[kept] for column in columns)), kept

    def check(self, width: int) -> None:
        """Raise a ValueError unless every row of so many columns reaches a leaf in finitely many steps."""
        starts, count = self.starts, len(self.feature)
        nodes = (self.feature, self.threshold, self.left, self.right, self.missing_left)
        if any(column.shape != (count,) for column in nodes) or count >= np.iinfo(np.int32).max:
            raise ValueError("the arrays of its trees differ in length")
        if starts.ndim != 1 or len(starts) < 2 or starts[0] != 0 or starts[-1] != count or np.any(np.diff(starts) < 1):
            raise ValueError("its trees do not divide their nodes")
        inner = np.add.reduceat(self.left != _LEAF, starts[:-1], dtype=np.int64)
        if np.any(2 * inner + 1 != np.diff(starts)):
            raise ValueError("a tree has nodes that no row can reach")
        if not all(self._leads_on(slice(start, start + _CHUNK), width) for start in range(0, count, _CHUNK)):
            raise ValueError("the nodes of a tree lead nowhere, or ask for a column that there is not")

    def _leads_on(self, span: slice, width: int) -> bool:
        """Whether these nodes are leaves, or ask for a column that there is and lead to later nodes of their tree."""
        feature, left, right = self.feature[span], self.left[span], self.right[span]
        nodes = np.arange(span.start, span.start + len(feature))
        tree = np.searchsorted(self.starts, nodes, side="right") - 1
        places, sizes = nodes - self.starts[tree], np.diff(self.starts)[tree]
        ahead = (np.minimum(left, right) > places) & (np.maximum(left, right) < sizes)
        known = (feature >= 0) & (feature < width) & ~np.isnan(self.threshold[span])
        ends = (feature == _LEAF) & (left == _LEAF) & (right == _LEAF)
        return bool(np.all(np.where(left == _LEAF, ends, ahead & known)))

    def leaf(self, tree: int, X: Any) -> NDArray[np.intp]:
        """The leaf that each row reaches, counted from the root.

        ``X`` is an array or a CSR matrix of single precision, as scikit-learn's trees take it.
        """
        if X.shape[1] < self._width:
            raise ValueError(f"The trees ask for {self._width} columns, and X has {X.shape[1]}.")
        if self._compiled is None:
            return self._walk(tree, X.toarray() if sparse.issparse(X) else X)
        compiled = self._compiled.get(tree) or self._as_library_tree(tree)
        if tree < _KEPT:
            # From the second time on: a model that was just opened has voted once, and would take memory for nothing.
            self._compiled[tree] = compiled if tree in self._compiled else None
        return compiled.apply(X)

    def _walk(self, tree: int, X: NDArray[np.float32]) -> NDArray[np.intp]:
        """The same without a compiled library: all rows go down a level at a time."""
        own = self.nodes(tree)
        feature, threshold, missing_left = self.feature[own], self.threshold[own], self.missing_left[own]
        left, right = self.left[own], self.right[own]
        reached = np.zeros(X.shape[0], dtype=np.intp)
        going = np.arange(X.shape[0])
        while len(going := going[left[reached[going]] != _LEAF]):
            at = reached[going]
            values = X[going, feature[at]]
            goes_left = np.where(np.isnan(values), missing_left[at], values <= threshold[at])
            reached[going] = np.where(goes_left, left[at], right[at])
        return reached

    @cached_property
    def _width(self) -> int:
        return int(self.feature.max(initial=0)) + 1

    @cached_property
    def _compiled(self) -> dict[int, Any] | None:
        """Trees as objects of scikit-learn, which sends rows down faster; None where it would not do the same."""
        return {} if _library_agrees() else None

    def _as_library_tree(self, tree: int) -> Any:
        kind, layout = _library_tree()
        own = self.nodes(tree)
        nodes = np.zeros(own.stop - own.start, dtype=layout)
        nodes["left_child"], nodes["right_child"] = self.left[own], self.right[own]
        nodes["feature"], nodes["threshold"] = self.feature[own], self.threshold[own]
        nodes["missing_go_to_left"] = self.missing_left[own]
        compiled = kind(self._width, np.ones(1, dtype=np.intp), 1)
        state = {"max_depth": 0, "node_count": len(nodes), "nodes": nodes, "values": np.zeros((len(nodes), 1, 1))}
        compiled.__setstate__(state)
        return compiled

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_compiled"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)


@cache
def _library_tree() -> tuple[Any, np.dtype[Any]]:
    """The class of compiled trees in this scikit-learn, and how it lays out a node."""
    grown = DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1]).tree_
    return type(grown), grown.__getstate__()["nodes"].dtype


@cache
def _library_agrees() -> bool:
    """Whether trees that are handed to this scikit-learn send rows where the arrays say."""
    sample = Trees.joined(
        [np.array([1, 0, -1, -1, 1, -1, -1])],
        [np.array([0.5, 0.1, 0.0, 0.0, np.inf, 0.0, 0.0])],
        [np.array([1, 2, -1, -1, 5, -1, -1])],
        [np.array([4, 3, -1, -1, 6, -1, -1])],
        [np.array([False, True, False, False, False, False, False])],
    )
    values = np.array([-1.0, np.float32(0.1), 0.1000001, 0.5, 0.500001, 3e38, np.nan], dtype=np.float32)
    rows = np.array([(first, second) for first in values for second in values], dtype=np.float32)
    try:
        compiled = sample._as_library_tree(0)
        return np.array_equal(compiled.apply(rows), sample._walk(0, rows))
    except Exception:  # private to scikit-learn, so whatever a later one may say
        return False
