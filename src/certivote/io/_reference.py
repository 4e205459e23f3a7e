"""What new rows can be compared with, in a model file."""

from typing import Any

import numpy as np

from certivote.io._plain import PlainReader, PlainWriter, labels_from
from certivote.pipeline import ColumnShares, Reference

__all__ = ["reference_from", "reference_of"]


def reference_of(reference: Reference, writer: PlainWriter) -> dict[str, Any]:
    """As plain data: the numbers of all columns are in one array, one column after another."""
    columns = reference.columns
    return {
        "masses": writer.value(reference.masses),
        "columns": [[c.name, None if c.edges is None else len(c.edges), list(c.words)] for c in columns],
        "edges": writer.value(np.concatenate([np.empty(0), *(c.edges for c in columns if c.edges is not None)])),
        "seen": writer.value(np.concatenate([np.empty(0, dtype=np.int64), *(c.seen for c in columns)])),
    }


def reference_from(plain: Any, reader: PlainReader) -> Reference:
    """What :func:`reference_of` has written; its ``check`` tells whether it makes sense."""
    if not isinstance(plain, dict) or set(plain) != {"masses", "columns", "edges", "seen"}:
        raise ValueError("what new rows are compared with is incomplete")
    masses, edges, seen = (reader.array(plain[name]) for name in ("masses", "edges", "seen"))
    if edges.ndim != 1 or seen.ndim != 1 or not isinstance(plain["columns"], list):
        raise ValueError("what new rows are compared with is no list of columns")
    columns, edge, place = [], 0, 0
    for name, n_edges, words in plain["columns"]:
        labels_from(["object", [name, *words]])
        if n_edges is not None and (type(n_edges) is not int or not 0 <= n_edges <= len(edges) - edge):
            raise ValueError("what new rows are compared with has other ranges than edges")
        length = 2 + (len(words) if n_edges is None else n_edges)
        own = None if n_edges is None else edges[edge : edge + n_edges]
        columns.append(ColumnShares(name, own, tuple(words), seen[place : place + length]))
        edge, place = edge + (n_edges or 0), place + length
    if edge != len(edges) or place != len(seen):
        raise ValueError("what new rows are compared with has numbers of other columns")
    return Reference(masses, tuple(columns))
