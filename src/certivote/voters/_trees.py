"""Decision trees as plain arrays: what a vote needs of them, whichever library grew them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cache, cached_property, lru_cache
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier

from certivote._warn import warn

_LEAF = -1
_KEPT = 1 << 14
"""Trees that are kept as objects of the library, which take a thousand bytes each beyond their nodes."""
_CELLS = 1 << 17
"""Rows times trees that are sent down side by side."""
_FEWEST, FEW = 12, 64
"""Rows that go down all trees side by side, where these are compiled and where they are not, or have to be tables."""
_SIDE_BY_SIDE = 1 << 16
"""Trees that may: they take memory for every row."""
NODE_BYTES = 150
"""Memory of a node where it votes: in arrays of several widths, and as one of the library."""
_DEEPEST = 1 << 12
"""Levels of a tree that a file may have: many times those of trees that are grown."""
_LEVELS = 64
"""Levels that rows go down side by side; where trees are deeper, the rest of the way is taken tree by tree."""
Nodes = NDArray[np.int32]


@dataclass(frozen=True)
class Trees:
    """Some trees, node after node: an inner node sends a row to the left if its feature is at most the threshold.

    The nodes of a tree come in this order: the root, all nodes to its left, all nodes to its right, and in each of
    these parts again so. Then which nodes are leaves tells where every tree ends, and where every node leads.

    Attributes
    ----------
    feature : array of int
        Of each node, the column that it asks for; -1 for a leaf.
    threshold : array of float, in single precision
        Of each inner node. Rows are of single precision too: a threshold between two such numbers is rounded down.
    missing_left : array of bool
        Of each inner node, whether a row without the value goes to the left.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from certivote.voters._trees import Trees
    >>> X = np.array([[0.0], [1.0], [2.0]], dtype=np.float32)
    >>> trees, leaves = Trees.grown([DecisionTreeClassifier(random_state=0).fit(X, [0, 1, 1]).tree_])
    >>> trees.reached(X)[:, 0].tolist()
    [1, 2, 2]
    """

    feature: Nodes
    threshold: NDArray[np.float32]
    missing_left: NDArray[np.bool_]

    @classmethod
    def grown(cls, trees: Sequence[Any]) -> "tuple[Trees, NDArray[np.intp]]":
        """Those that scikit-learn has grown, given as the ``tree_`` of its estimators; and as :meth:`joined`."""
        return cls.joined(
            [np.where(tree.children_left == _LEAF, _LEAF, tree.feature) for tree in trees],
            [tree.threshold for tree in trees],
            [tree.children_left for tree in trees],
            [tree.children_right for tree in trees],
            [tree.missing_go_to_left.astype(bool) for tree in trees],
        )

    @classmethod
    def joined(
        cls,
        feature: Sequence[NDArray[Any]],
        threshold: Sequence[NDArray[Any]],
        left: Sequence[NDArray[Any]],
        right: Sequence[NDArray[Any]],
        missing_left: Sequence[NDArray[Any]],
    ) -> "tuple[Trees, NDArray[np.intp]]":
        """From the nodes of each tree, in any order in which they come after the nodes that lead to them.

        Returns
        -------
        trees : Trees
        leaves : array of int
            Of each leaf, its number among all nodes that were given.
        """
        starts = np.cumsum([0, *map(len, feature)])
        first = np.repeat(starts[:-1], np.diff(starts))
        order = _in_order(starts[:-1], np.concatenate(left) + first, np.concatenate(right) + first, len(first))
        asked = np.concatenate(feature)[order].astype(np.int32)
        inner = order[asked != _LEAF]
        exact = np.concatenate(threshold)[inner].astype(np.float64)
        missing = np.concatenate(missing_left)[inner].astype(bool)
        return cls(asked, _rounded_down(exact), missing), order[asked == _LEAF]

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where the nodes of each tree begin, and where those of the last one end."""
        balance = np.cumsum(np.where(self.feature == _LEAF, np.int8(-1), np.int8(1)), dtype=np.int32)
        lowest = np.minimum(np.minimum.accumulate(balance, out=balance), 0, out=balance)
        # A tree has one leaf more than inner nodes, and no beginning of it has.
        ends = np.flatnonzero(np.diff(lowest, prepend=np.int32(0)))
        return np.concatenate([[0], ends + 1]).astype(np.int64)

    @property
    def n_trees(self) -> int:
        return len(self.starts) - 1

    @property
    def tree(self) -> Nodes:
        """Of each node, the number of its tree."""
        return np.repeat(np.arange(self.n_trees, dtype=np.int32), np.diff(self.starts))

    @cached_property
    def right(self) -> Nodes:
        """Of each inner node, where its right side begins; its left one begins with the next node. Of a leaf, 0."""
        inner = self.feature != _LEAF
        open_sides = np.zeros(len(inner), dtype=np.int32)
        np.cumsum(np.where(inner[:-1], np.int8(1), np.int8(-1)), out=open_sides[1:])
        open_sides += self.tree
        if open_sides.max(initial=0) < np.iinfo(np.int16).max:
            open_sides = open_sides.astype(np.int16)  # which are sorted faster
        # The left side is done when the number of sides that wait is again what it was at the node.
        order = np.argsort(open_sides, kind="stable").astype(np.int32)
        found = np.zeros(len(order), dtype=np.int32)
        found[order[:-1]] = order[1:]
        found[~inner] = 0
        return found

    def over_nodes(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values of the leaves, each in the place of its node."""
        found = np.zeros(len(self.feature), dtype=values.dtype)
        found[self.feature == _LEAF] = values
        return found

    def only(self, chosen: NDArray[np.intp]) -> "tuple[Trees, NDArray[np.bool_]]":
        """Some of the trees, in the order that they have here; and which leaves are theirs."""
        wanted = np.zeros(self.n_trees, dtype=bool)
        wanted[chosen] = True
        kept, inner = wanted[self.tree], self.feature != _LEAF
        few = Trees(self.feature[kept], self.threshold[kept[inner]], self.missing_left[kept[inner]])
        return few, kept[~inner]

    @property
    def memory(self) -> int:
        """Bytes that they take when they vote."""
        return NODE_BYTES * self.feature.size

    def check(self, width: int) -> None:
        """Raise a ValueError unless every row with this many columns reaches a leaf in finitely many steps."""
        if self.feature.ndim != 1 or not 0 < len(self.feature) < np.iinfo(np.int32).max:
            raise ValueError("its trees have no nodes")
        if self.starts[-1] != len(self.feature):
            raise ValueError("the nodes of a tree lead nowhere")
        if self.feature.min() < _LEAF or self.feature.max() >= width:
            raise ValueError("a tree asks for a column that there is not")
        count = np.count_nonzero(self.feature != _LEAF)
        if self.threshold.shape != (count,) or self.missing_left.shape != (count,):
            raise ValueError("the arrays of its trees differ in length")
        if np.any(np.isnan(self.threshold)):
            raise ValueError("a tree has no threshold")
        level = self.starts[:-1]
        for _ in range(_DEEPEST):
            level = level[self.feature[level] != _LEAF]
            level = np.concatenate([level + 1, self.right[level]])
            if not len(level):
                return
        raise ValueError("a tree is deeper than trees grow")

    def reached(self, X: Any, thresholds: NDArray[np.float64] | None = None) -> NDArray[np.intp]:
        """The places of the leaves that rows reach in all trees, of shape (n_rows, n_trees).

        Few rows go down all trees side by side. ``X`` is an array or a CSR matrix of single precision; with other
        thresholds, one for each node, it is an array of few rows.
        """
        self._check_width(X)
        nodes = np.empty((X.shape[0], self.n_trees), dtype=np.intp, order="F")
        if X.shape[0] > FEW and self._compiled is not None:
            for tree in range(self.n_trees):
                nodes[:, tree] = self.reached_in(tree, X)
            return nodes
        packed = sparse.issparse(X)
        step = max(_CELLS // max(self.n_trees, X.shape[1] if packed else 1), 1)
        for start in range(0, X.shape[0], step):
            rows = X[start : start + step]
            rows = rows.toarray() if packed else np.ascontiguousarray(rows)
            nodes[start : start + step] = self._walk_all(rows, thresholds)
        return nodes

    def walks_best(self, n_rows: int) -> bool:
        """Whether so few rows are best sent down all trees side by side; at first some more, with no tree compiled."""
        if self.n_trees > _SIDE_BY_SIDE:
            return False
        if n_rows <= FEW and "_compiled" not in vars(self):
            _ = self._compiled  # from the second time on compiling pays
            return True
        return n_rows <= _FEWEST

    def _walk_all(self, X: NDArray[Any], thresholds: NDArray[np.float64] | None) -> NDArray[np.intp]:
        feature, threshold, missing_left, right = self._by_node
        limits: NDArray[Any] = threshold if thresholds is None else thresholds
        reached = np.tile(self.starts[:-1], len(X))
        first = np.repeat(np.arange(len(X)) * X.shape[1], self.n_trees)
        values, with_gaps = X.ravel(), bool(np.isnan(X).any())
        going = np.flatnonzero(feature[reached] != _LEAF)
        for _ in range(_LEVELS):
            if not len(going):
                break
            at = reached[going]
            asked = values[first[going] + feature[at]]
            goes_left = asked <= limits[at]
            if with_gaps:
                goes_left |= np.isnan(asked) & missing_left[at]
            at = np.where(goes_left, at + 1, right[at])
            reached[going] = at
            going = going[feature[at] != _LEAF]
        nodes = reached.reshape(len(X), self.n_trees)
        for tree in np.unique(going % self.n_trees):
            nodes[:, tree] = self.reached_in(int(tree), X)
        return nodes

    @cached_property
    def _by_node(self) -> tuple[Nodes, NDArray[np.float32], NDArray[np.bool_], Nodes]:
        inner = self.feature != _LEAF
        threshold, missing_left = np.zeros(len(inner), dtype=np.float32), np.zeros(len(inner), dtype=bool)
        threshold[inner], missing_left[inner] = self.threshold, self.missing_left
        return self.feature, threshold, missing_left, self.right

    def reached_in(self, tree: int, X: Any) -> NDArray[np.intp]:
        """The places of the leaves that rows reach in one tree; for many rows."""
        self._check_width(X)
        if self._compiled is None:
            return self._walk(tree, X.toarray() if sparse.issparse(X) else X)
        compiled = self._compiled.get(tree) or self._as_library_tree(tree)
        if tree < _KEPT:
            # From the second time on: a model that was just opened has voted once, and would take memory for nothing.
            self._compiled[tree] = compiled if tree in self._compiled else None
        return compiled.apply(X) + self.starts[tree]

    def _walk(self, tree: int, X: NDArray[np.float32]) -> NDArray[np.intp]:
        """The same without a compiled library: all rows go down a level at a time."""
        feature, threshold, missing_left, right = self._by_node
        reached = np.full(X.shape[0], self.starts[tree], dtype=np.intp)
        going = np.arange(X.shape[0])
        while len(going := going[feature[reached[going]] != _LEAF]):
            at = reached[going]
            values = X[going, feature[at]]
            goes_left = np.where(np.isnan(values), missing_left[at], values <= threshold[at])
            reached[going] = np.where(goes_left, at + 1, right[at])
        return reached

    def _check_width(self, X: Any) -> None:
        if X.shape[1] < self._width:
            raise ValueError(f"The trees ask for {self._width} columns, and X has {X.shape[1]}.")

    @cached_property
    def _width(self) -> int:
        return int(self.feature.max(initial=0)) + 1

    @cached_property
    def _compiled(self) -> dict[int, Any] | None:
        """Trees as objects of scikit-learn, which sends rows down faster; None where it would not do the same."""
        return {} if _library_agrees() else None

    def _as_library_tree(self, tree: int) -> Any:
        kind, arguments, state = _library_tree(self._width)
        first = int(self.starts[tree])
        feature, threshold, missing_left, right = (column[first : self.starts[tree + 1]] for column in self._by_node)
        inner = feature != _LEAF
        nodes = np.zeros(len(inner), dtype=state["nodes"].dtype)
        nodes["left_child"] = np.where(inner, np.arange(1, len(inner) + 1), _LEAF)
        nodes["right_child"] = np.where(inner, right - first, _LEAF)
        nodes["feature"], nodes["threshold"], nodes["missing_go_to_left"] = feature, threshold, missing_left
        values = np.zeros((len(nodes), *state["values"].shape[1:]))
        compiled = kind(*arguments)
        compiled.__setstate__({**state, "node_count": len(nodes), "nodes": nodes, "values": values})
        return compiled

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)


def _in_order(
    roots: NDArray[np.int64], left: NDArray[np.int64], right: NDArray[np.int64], count: int
) -> NDArray[np.intp]:
    """The nodes of trees in the order that :class:`Trees` has; children of leaves are before the leaves."""
    levels, level = [], roots
    while len(level):
        level = level[left[level] > level]
        levels.append(level)
        level = np.concatenate([left[level], right[level]])
    sizes = np.ones(count, dtype=np.int64)
    for level in reversed(levels):
        sizes[level] += sizes[left[level]] + sizes[right[level]]
    places = np.empty(count, dtype=np.int64)
    places[roots] = np.cumsum([0, *sizes[roots[:-1]]])
    for level in levels:
        places[left[level]] = places[level] + 1
        places[right[level]] = places[level] + 1 + sizes[left[level]]
    order = np.empty(count, dtype=np.intp)
    order[places] = np.arange(count)
    return order


def _rounded_down(numbers: NDArray[np.float64]) -> NDArray[np.float32]:
    """The largest numbers of single precision that are not above."""
    with np.errstate(over="ignore"):
        single = numbers.astype(np.float32)
    return np.where(single > numbers, np.nextafter(single, np.float32(-np.inf)), single)


@lru_cache
def _library_tree(width: int) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """The class of compiled trees in scikit-learn, its arguments for ``width`` columns, and the state of a tree."""
    made: tuple[Any, tuple[Any, ...], dict[str, Any]] = (
        DecisionTreeClassifier(random_state=0).fit(np.zeros((1, width), dtype=np.float32), [0]).tree_.__reduce__()
    )
    return made


@cache
def _library_agrees() -> bool:
    """Whether trees that are handed to this scikit-learn send rows where the arrays say; if not, a warning says so."""
    sample = Trees(
        np.array([1, 0, -1, -1, 1, -1, -1], dtype=np.int32),
        np.array([0.5, 0.1, np.inf], dtype=np.float32),
        np.array([False, True, False]),
    )
    values = np.array([-1.0, np.float32(0.1), 0.1000001, 0.5, 0.500001, 3e38, np.nan], dtype=np.float32)
    rows = np.array([(first, second) for first in values for second in values], dtype=np.float32)
    try:
        if np.array_equal(sample._as_library_tree(0).apply(rows), sample._walk(0, rows)):
            return True
        reason = "it sends rows elsewhere"
    except Exception as error:  # private to scikit-learn: a later one may raise anything
        reason = f"{type(error).__name__}: {error!s:.200}"
    told = f"This scikit-learn, {sklearn.__version__}, does not take certivote's trees ({reason}). They vote the same"
    warn(f"{told} without it, but more slowly: look for a newer certivote.")
    return False


# Which leaves of many small trees rows reach, by looking up what each value excludes instead of walking.
#
# A row starts with all leaves of a tree, one bit each, the leftmost leaf highest. An inner node that sends the row to
# the right excludes the leaves on its left. Of those that nothing excludes the leftmost is the one that the row
# reaches. What a value of a column excludes in all trees together is a line of a table; a row takes one line for each
# column.


MOST_LEAVES = 32
"""Leaves of a tree that one number can hold exactly when it becomes a float."""
_LARGEST = 1 << 25
"""Bytes of all tables, beyond which walking takes less."""
_MOST_COLUMNS = 128
"""Columns that are asked for, beyond which it does too."""
_LARGEST_JOINT = 1 << 20
"""Bytes of a table for several columns."""
_CACHED = 1 << 18
"""Bytes of excluded leaves that stay in the processor's cache."""
_EXPONENT = 1023
"""What is added to the exponent of a float, and the place of its exponent."""
_EXPONENT_PLACE = 52

Table = NDArray[np.unsignedinteger]


class LeafTables:
    """Tables for some trees whose rows are places: whole numbers from 0 to a limit for each column.

    Parameters
    ----------
    trees : Trees
        With at most 32 leaves each.
    values : array of float
        Of each leaf.
    limits : array of int
        Of each column, the largest place.
    n_rows : int
        How many rows there will be: the more, the larger tables pay.
    with_gaps : bool
        Whether values may be missing: a place one beyond the largest stands for these.
    """

    def __init__(
        self, trees: Trees, values: NDArray[np.float64], limits: NDArray[np.int64], n_rows: int, with_gaps: bool
    ):
        self._n_trees = trees.n_trees
        self._lengths = limits + (2 if with_gaps else 1)
        is_leaf, tree = trees.feature < 0, trees.tree
        leaves = np.concatenate([[0], np.cumsum(is_leaf)])
        n_leaves = np.diff(leaves[trees.starts])
        number = leaves[:-1] - leaves[trees.starts[:-1]][tree]  # of the leaves of the same tree before a node
        self._kind = next(kind for kind in (np.uint8, np.uint16, np.uint32) if n_leaves.max() <= np.iinfo(kind).bits)
        self._all = np.iinfo(self._kind).max
        bits = np.iinfo(self._kind).bits
        # The number of a leaf's bit is what is left of the exponent of a float.
        self._base = np.arange(self._n_trees) * bits - _EXPONENT
        self._values = np.zeros(self._n_trees * bits)
        self._values[tree[is_leaf] * bits + bits - 1 - number[is_leaf]] = values
        inner, one = np.flatnonzero(~is_leaf), np.uint64(1)
        first, end = (bits - number[inner]).astype(np.uint64), (bits - number[trees.right[inner]]).astype(np.uint64)
        stays = ~((one << first) - (one << end)).astype(self._kind)
        lines = self._lines_of_all(trees, tree[inner], stays, limits, with_gaps)
        self._groups = list(self._joint(lines, np.unique(trees.feature[inner]), n_rows))

    def _lines_of_all(
        self,
        trees: Trees,
        tree: NDArray[np.int32],
        stays: Table,
        limits: NDArray[np.int64],
        with_gaps: bool,
    ) -> Table:
        """What a value leaves, of shape (n_lines, n_trees): column after column, and place after place in each."""
        column = trees.feature[trees.feature >= 0]
        starts = np.cumsum(self._lengths) - self._lengths
        table = np.full((int(self._lengths.sum()), self._n_trees), self._all, dtype=self._kind)
        flat = table.reshape(-1)
        # From which place on the node sends rows to the right.
        begins = np.clip(np.floor(trees.threshold) + 1, 0, limits[column] + 1).astype(np.int64)
        some = begins <= limits[column]
        np.bitwise_and.at(flat, ((starts[column] + begins) * self._n_trees + tree)[some], stays[some])
        for start, limit in zip(starts[limits > 0], limits[limits > 0], strict=True):
            own = table[start : start + limit + 1]
            np.bitwise_and.accumulate(own, axis=0, out=own)
        if with_gaps:
            away = ~trees.missing_left
            np.bitwise_and.at(flat, ((starts + limits + 1)[column] * self._n_trees + tree)[away], stays[away])
        return table

    def _joint(self, lines: Table, asked: NDArray[np.int32], n_rows: int) -> Iterator[tuple[list[int], Table]]:
        """Columns that are asked for, and the table of what values of these leave together."""
        most = min(max(n_rows // 8, 1), _LARGEST_JOINT // (self._n_trees * lines.itemsize))
        starts = np.cumsum(self._lengths) - self._lengths
        columns: list[int] = []
        table = lines[:0]
        for column, start, length in zip(
            asked.tolist(), starts[asked].tolist(), self._lengths[asked].tolist(), strict=True
        ):
            own = lines[start : start + length]
            if columns and len(table) * length <= most:
                columns.append(column)
                table = (table[:, None, :] & own[None, :, :]).reshape(-1, self._n_trees)
                continue
            if columns:
                yield columns, table
            columns, table = [column], own
        if columns:
            yield columns, table

    @staticmethod
    def suit(trees: Trees, limits: NDArray[np.int64]) -> bool:
        """Whether the tables would be so small that looking up takes less time than walking."""
        size = int((limits + 2).sum()) * trees.n_trees * np.dtype(np.uint32).itemsize
        return size <= _LARGEST and int(np.count_nonzero(limits)) <= _MOST_COLUMNS

    def leaf_values(self, places: NDArray[np.intp]) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """Some rows, and the values of the leaves that they reach, of shape (n_rows, n_trees), until all had a turn.

        ``places`` is of shape (n_columns, n_rows).
        """
        n_rows = places.shape[1]
        lines = [(self._lines(columns, places), table) for columns, table in self._groups]
        step = max(_CACHED // (self._n_trees * np.dtype(self._kind).itemsize), 16)
        left = np.empty((step, self._n_trees), dtype=self._kind)
        taken = np.empty_like(left)
        for start in range(0, n_rows, step):
            rows = slice(start, min(start + step, n_rows))
            stay, more = left[: rows.stop - start], taken[: rows.stop - start]
            stay.fill(self._all)
            for line, table in lines:
                np.take(table, line[rows], axis=0, out=more, mode="clip")
                stay &= more
            bit = stay.astype(np.float64).view(np.int64)
            bit >>= _EXPONENT_PLACE
            bit += self._base
            yield rows, self._values.take(bit)

    def _lines(self, columns: list[int], places: NDArray[np.intp]) -> NDArray[np.intp]:
        line = places[columns[0]]
        for column in columns[1:]:
            line = line * self._lengths[column] + places[column]
        return line
