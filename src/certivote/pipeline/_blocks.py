"""Learning from rows that are never in one place: what it needs of them are sums over blocks.

Rows are divided into blocks by their places among all certification rows, whatever partitions they come from. A block
gives a few numbers for each voter, always the same, and these are added in the order of the blocks: so what is learned
does not depend on where rows lie. The starts by AdaBoost need no memory of a row either: after some rounds with weights
``w`` the logarithm of what a row counts for is twice its wrong mass under ``w``.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from certivote.theory.families import FAMILIES
from certivote.theory.methods import METHODS
from certivote.theory.risks import Labels, Loss, SmoothRisk
from certivote.votes import LinearMap, Votes, stack_votes

Array = NDArray[np.float64]

BLOCK_ROWS = 1 << 18
"""Rows of a block."""


@dataclass(frozen=True)
class Block:
    """Votes on consecutive certification rows; what was made of them for an evaluation is kept for the next."""

    votes: Votes
    labels: Labels
    _made: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    def risk(self, method: str, family: str, loss: Loss, n_rows: int) -> SmoothRisk:
        """What these rows add to the risk of so many."""
        key = (method, family, loss, n_rows)
        if key not in self._made:
            shares = np.full(len(self.labels), 1.0 / n_rows)
            smooth = METHODS[method].risk.smooth
            self._made.clear()  # another evaluation has maps of its own
            self._made[key] = smooth(FAMILIES[family], self.votes, self.labels, loss, shares)
        risk: SmoothRisk = self._made[key]
        return risk

    def wrong(self) -> LinearMap:
        """From weights to wrong masses."""
        if "wrong" not in self._made:
            self._made.clear()
            self._made["wrong"] = self.votes.against(self.labels)
        wrong: LinearMap = self._made["wrong"]
        return wrong

    def __reduce__(self) -> Any:
        return Block, (self.votes, self.labels)


class Blocks(Protocol):
    """All blocks, wherever they are."""

    @property
    def n_rows(self) -> int:
        """How many rows they have."""

    @property
    def n_voters(self) -> int:
        """Who votes on them."""

    def each(self, function: Callable[..., Any], *arguments: Any) -> Sequence[Any]:
        """What a function of a block, and of these arguments, returns for each, in their order."""


@dataclass(frozen=True)
class LocalBlocks:
    """Blocks that are in memory."""

    blocks: Sequence[Block]

    @classmethod
    def divided(cls, votes: Votes, labels: Labels, size: int = BLOCK_ROWS) -> "LocalBlocks":
        """Of all certification rows."""
        rows = [np.arange(first, min(first + size, len(labels))) for first in range(0, len(labels), size)]
        return cls([Block(stack_votes([votes.take(own)]), labels[own]) for own in rows])

    @property
    def n_rows(self) -> int:
        return sum(len(block.labels) for block in self.blocks)

    @property
    def n_voters(self) -> int:
        return self.blocks[0].votes.n_voters

    def each(self, function: Callable[..., Any], *arguments: Any) -> Sequence[Any]:
        return [function(block, *arguments) for block in self.blocks]


def block_risk(
    block: Block, method: str, family: str, loss: Loss, n_rows: int, parameters: Array
) -> tuple[float, Array]:
    """What a block adds to the risk of so many rows, and to its gradient."""
    return block.risk(method, family, loss, n_rows)(parameters)


def block_focus(block: Block, weights: Array) -> tuple[float, Array]:
    """What the rows of a block count for after rounds of boosting with these weights, and each voter's part of it."""
    wrong = block.wrong()
    focus = np.exp(2.0 * (wrong.forward(weights) - weights.sum()))
    return float(focus.sum()), wrong.adjoint(focus)


def blocked_risk(blocks: Blocks, method: str, family: str, loss: Loss) -> SmoothRisk:
    """The smooth risk of all rows."""

    def risk(parameters: Array) -> tuple[float, Array]:
        return _added(blocks.each(block_risk, method, family, loss, blocks.n_rows, parameters))

    return risk


def blocked_boosting(blocks: Blocks, rounds: tuple[int, ...] = (8, 64)) -> list[Array]:
    """Normalised weights after some rounds of AdaBoost on the votes themselves."""
    path, weights = [], np.zeros(blocks.n_voters)
    for round_number in range(1, max(rounds) + 1):
        total, errors = _added(blocks.each(block_focus, weights))
        best = int(np.argmin(errors))
        error = float(np.clip(errors[best] / total, 1e-6, 1 - 1e-6))
        if error >= 0.5:
            break
        weights[best] += 0.5 * math.log((1.0 - error) / error)
        if round_number in rounds:
            path.append(weights / weights.sum())
    return path


def _added(parts: Sequence[tuple[float, Array]]) -> tuple[float, Array]:
    """Sums, taken in the order of the parts."""
    gradient = np.zeros_like(parts[0][1])
    for _, own in parts:
        gradient += own
    return math.fsum(value for value, _ in parts), gradient
