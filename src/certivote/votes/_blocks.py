"""Tables of many votes, block by block of their rows.

A map between all votes of a large table and floats would be many times as large as the table. So large tables are gone
through in blocks of rows, each so small that what is computed of it stays in the processor's cache. Small tables are
one block.
"""

import itertools
from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np

from certivote.votes._base import Array, LinearMap, Votes

MANY = 4_000_000
"""Entries of a table from which on it is gone through in blocks."""
BLOCK = 1 << 19
"""Entries of a block, about."""
_PER_CLASS = 4
"""Entries that a class mass counts for, which takes more bytes than a vote."""


class _Table(Protocol):
    n_rows: int
    n_classes: int

    @property
    def width(self) -> int:
        """Entries of a row."""


def is_many(table: _Table) -> bool:
    """Whether a table has enough entries to be processed in blocks."""
    return table.n_rows * table.width >= MANY


def row_blocks(votes: Votes) -> tuple[tuple[slice, Votes], ...]:
    """The rows of some votes in consecutive blocks; one block, the votes themselves, if they are not many.

    A mean over all rows is a mean over blocks of means over their rows, each weighted by its number of rows. So nothing
    that is made for a block, such as masses, need ever exist for all rows at once.

    Parameters
    ----------
    votes : Votes

    Returns
    -------
    tuple of (slice, Votes)
        The rows of each block, and the votes on them, which are not copied.

    Examples
    --------
    >>> import numpy as np
    >>> from certivote.votes import build_votes, row_blocks
    >>> few = build_votes(codes=np.array([[0, 1, 1]]), n_classes=2)
    >>> [rows for rows, _ in row_blocks(few)]
    [slice(0, 1, None)]
    >>> many = build_votes(codes=np.zeros((50_000, 100), dtype=np.uint8), n_classes=2)
    >>> [block.n_rows for _, block in row_blocks(many)][:2]
    [4854, 4854]
    """
    if not is_many(votes):
        return ((slice(0, votes.n_rows), votes),)
    step = max(BLOCK // (votes.width + _PER_CLASS * votes.n_classes), 1)
    cuts = [*range(0, votes.n_rows, step), votes.n_rows]
    return tuple((slice(a, b), votes.block(slice(a, b))) for a, b in itertools.pairwise(cuts))


class StackedMap:
    """Linear maps to consecutive rows, one below another.

    Parameters
    ----------
    blocks : sequence of (slice, LinearMap)
        The rows of each map, and the map.
    """

    def __init__(self, blocks: Sequence[tuple[slice, LinearMap]]):
        self._blocks = blocks

    def forward(self, weights: Array) -> Array:
        return self._stacked(block.forward(weights) for _, block in self._blocks)

    def adjoint(self, gradient: Array) -> Array:
        total = np.zeros(1)
        for rows, block in self._blocks:
            total = total + block.adjoint(gradient[rows])
        return total

    def column(self, voter: int) -> Array:
        return self._stacked(block.column(voter) for _, block in self._blocks)

    def _stacked(self, images: Iterable[Array]) -> Array:
        """Images one below another; only one at a time is in memory with the result."""
        out = np.empty(0)
        for (rows, _), image in zip(self._blocks, images, strict=True):
            if not rows.start:
                out = np.empty((self._blocks[-1][0].stop, *image.shape[1:]))
            out[rows] = image
        return out
