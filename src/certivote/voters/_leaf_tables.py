"""Which leaves of many small trees rows reach, by looking up what each value excludes instead of walking.

A row starts with all leaves of a tree, one bit each, the leftmost leaf highest. An inner node that sends the row to the
right excludes the leaves on its left. Of those that nothing excludes the leftmost is the one that the row reaches. What
a value of a column excludes in all trees together is a line of a table; a row takes one line for each column.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from certivote.voters._trees import Trees

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
