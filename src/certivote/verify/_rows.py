"""The row numbers of a model: each part trains and certifies on the rows that its split gives it, every row once."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certivote.certificate import Certificate
from certivote.verify._check import Check

__all__ = ["check_part_rows"]

Rows = NDArray[Any]


def check_part_rows(c: Certificate, model: Any) -> Iterator[Check]:
    """Whether the row numbers of all parts are such as the split makes them, and as many as recorded."""
    parts = [(np.asarray(rows.train), np.asarray(rows.certify)) for rows in model.parts_]
    own = (np.asarray(model.part_.train), np.asarray(model.part_.certify))
    problem = _problem(c, parts, own)
    n_rows = sum(map(len, own))
    yield Check("parts", not problem, problem or f"every row trains or certifies, once each, of {n_rows:,}")
    n, train = c.deployed_part.n, c.deployed_part.training_rows
    right = (len(own[1]), len(own[0])) == (n, train)
    told = f"{len(own[1]):,} certification and {len(own[0]):,} training rows, the certificate says {n:,} and {train:,}"
    yield Check("size", right, told)
    sizes = [(len(certify), len(train)) for train, certify in parts]
    if len(parts) > 1:
        right = sizes == [(part.n, part.training_rows) for part in c.parts]
        yield Check("sizes of the parts", right, ", ".join(f"{certify:,} + {train:,}" for certify, train in sizes))


def _problem(c: Certificate, parts: Sequence[tuple[Rows, Rows]], own: tuple[Rows, Rows]) -> str:
    """What is wrong with the row numbers; empty if nothing is."""
    if len(parts) != len(c.parts):
        return f"the model has {len(parts)} parts, the certificate {len(c.parts)}"
    if not all(map(np.array_equal, own, parts[c.deployed])):
        return "the rows of the deployed vote are not those of its part"
    n_rows = c.provenance.n_rows or sum(map(len, own))
    everything = np.arange(n_rows)
    for train, certify in parts:
        for rows in (train, certify):
            if rows.ndim != 1 or (len(rows) and rows.dtype.kind not in "iu"):
                return "row numbers are no whole numbers"
            if np.any(rows < 0) or np.any(rows >= n_rows):
                return f"row numbers below 0, or above the {n_rows:,} rows that were given"
        together = np.concatenate([train, certify])
        if len(np.unique(together)) != len(together):
            return "rows for training AND certification, or twice in a part"
        if not np.array_equal(np.sort(together), everything):
            return f"{n_rows - len(together):,} of {n_rows:,} rows neither train nor certify"
        if np.any(np.diff(train) < 0) or np.any(np.diff(certify) < 0):
            return "row numbers that do not ascend"
    if c.split == "none" and len(parts[0][0]):
        return "split none trains on no row"
    certified = np.concatenate([certify for _, certify in parts])
    if c.split not in ("none", "single") and not np.array_equal(np.sort(certified), everything):
        return "the parts do not certify every row once"
    return ""
