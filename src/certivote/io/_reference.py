"""What new rows can be compared with, in a model file."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certivote.codec import Count
from certivote.io._plain import PlainWriter
from certivote.pipeline import ColumnShares, Reference


def reference_of(reference: Reference, writer: PlainWriter) -> dict[str, Any]:
    """As plain data: the numbers of all columns are in one array, one column after another."""
    columns = reference.columns
    return {
        "masses": writer.value(reference.masses),
        "columns": [[c.name, None if c.edges is None else len(c.edges), list(c.words)] for c in columns],
        "edges": writer.value(np.concatenate([np.empty(0), *(c.edges for c in columns if c.edges is not None)])),
        "seen": writer.value(np.concatenate([np.empty(0, dtype=np.int64), *(c.seen for c in columns)])),
    }


@dataclass(frozen=True)
class StoredReference:
    """What :func:`reference_of` has written: of each column the name, how many edges it has if any, and the words."""

    masses: NDArray[np.uint16]
    columns: tuple[tuple[str, Count | None, tuple[str, ...]], ...]
    edges: NDArray[np.float64]
    seen: NDArray[np.int64]

    def reference(self) -> Reference:
        """The same with the numbers of each column beside it; its ``check`` tells whether it makes sense."""
        if self.edges.ndim != 1 or self.seen.ndim != 1:
            raise ValueError("what new rows are compared with is no list of columns")
        columns, edge, place = [], 0, 0
        for name, n_edges, words in self.columns:
            length = 2 + (len(words) if n_edges is None else n_edges)
            own = None if n_edges is None else self.edges[edge : edge + n_edges]
            columns.append(ColumnShares(name, own, words, self.seen[place : place + length]))
            edge, place = edge + (n_edges or 0), place + length
        if edge != len(self.edges) or place != len(self.seen):
            raise ValueError("what new rows are compared with has numbers of other columns")
        return Reference(self.masses, tuple(columns))
