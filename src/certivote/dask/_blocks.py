"""Votes that stay on the workers, as bytes, in blocks that do not depend on partitions; evaluations go to them."""

import itertools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certivote.dask._cluster import Passes, dask_package
from certivote.dask._partition import Part, read, working_on
from certivote.pipeline import Block
from certivote.theory.risks import Labels
from certivote.voters import FittedVoters
from certivote.votes import Votes, stack_votes

_CHUNK = 1 << 16
"""Rows that vote at a time."""
_ASKED_AGAIN = 16
"""Evaluations after which it is asked anew who holds which blocks: workers may have been lost."""
Piece = tuple[Votes, Labels]


class ClusterBlocks:
    """All blocks of certification rows; see :class:`certivote.pipeline.Blocks`.

    Every evaluation is one task for each worker, which goes through the blocks that it holds. A lost worker's blocks
    are made again from the table.

    Attributes
    ----------
    n_rows, n_voters : int
    evaluations : int
        How many there were.
    bytes_moved : int
        What they sent to workers and had back, in arrays.
    """

    def __init__(self, passes: Passes, parts: Sequence[Part], firsts: NDArray[np.int64], voters: Any, size: int):
        self.n_rows, self.n_voters = int(firsts[-1]), 0
        self.evaluations = self.bytes_moved = 0
        self._client, self._groups = passes.client, dict[str, list[int]]()
        call = dask_package().delayed
        pieces: list[list[Any]] = [[] for _ in range(-(-self.n_rows // size))]
        for part, pair, first, stop in zip(parts, passes.table.pairs, firsts[:-1], firsts[1:], strict=True):
            if stop > first:
                blocks = range(int(first) // size, -(-int(stop) // size))
                found = call(votes_by_block, pure=False)(part, *pair, voters, int(first), size)
                for place, block in enumerate(blocks):
                    pieces[block].append(call(operator.getitem)(found, place))
        tasks = [call(assembled, pure=False)(own) for own in pieces]
        self._futures = passes.hold(f"votes on {self.n_rows:,} rows stay where they are", tasks)
        self.n_voters = self._client.submit(_n_voters, self._futures[0], pure=False).result()

    def each(self, function: Callable[..., Any], *arguments: Any) -> Sequence[Any]:
        if self.evaluations % _ASKED_AGAIN == 0:
            self._groups = self._by_holder()
        groups = self._groups
        tasks = [
            self._client.submit(
                at_all,
                function,
                [self._futures[place] for place in places],
                arguments,
                workers=[holder] if holder else None,
                allow_other_workers=bool(holder),
                pure=False,
            )
            for holder, places in groups.items()
        ]
        found: list[Any] = [None] * len(self._futures)
        for places, results in zip(groups.values(), self._client.gather(tasks), strict=True):
            for place, result in zip(places, results, strict=True):
                found[place] = result
        self.evaluations += 1
        own = sum(argument.nbytes for argument in arguments if isinstance(argument, np.ndarray))
        self.bytes_moved += own * len(groups) + sum(8 + gradient.nbytes for _, gradient in found)
        return found

    def _by_holder(self) -> dict[str, list[int]]:
        """Which blocks each worker holds."""
        holders = self._client.who_has(self._futures)
        groups: dict[str, list[int]] = {}
        for place, future in enumerate(self._futures):
            holder = next(iter(holders.get(future.key, ())), "")
            groups.setdefault(holder, []).append(place)
        return groups

    def release(self) -> None:
        """Let workers forget the votes."""
        self._client.cancel(self._futures)


def votes_by_block(part: Part, X: Any, y: Any, voters: FittedVoters, first: int, size: int) -> list[Piece]:
    """Votes on the certification rows of a partition, whose first has this place, cut where blocks end."""
    with working_on(part.place):
        rows = read(part, X, y)
        assert rows is not None
        stop = first + len(rows.certify)
        cuts = [first, *range((first // size + 1) * size, stop, size), stop]
        found = []
        for start, end in itertools.pairwise(cuts):
            chosen = rows.certify[start - first : end - first]
            chunks = [chosen[at : at + _CHUNK] for at in range(0, len(chosen), _CHUNK)]
            votes = stack_votes([voters.votes(rows.take(chunk)[0]) for chunk in chunks])
            found.append((votes, rows.codes[chosen]))
        return found


def assembled(pieces: Sequence[Piece]) -> Block:
    """A block from the pieces of the partitions that it lies in."""
    return Block(stack_votes([votes for votes, _ in pieces]), np.concatenate([labels for _, labels in pieces]))


def at_all(function: Callable[..., Any], blocks: Sequence[Block], arguments: Sequence[Any]) -> list[Any]:
    """What a function returns for each of the blocks that a worker holds."""
    return [function(block, *arguments) for block in blocks]


def _n_voters(block: Block) -> int:
    return block.votes.n_voters
