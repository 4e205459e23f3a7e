"""Votes of several storages side by side."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certivote.maths.tree_digest import Piece, together
from certivote.votes._base import Array, LinearMap, Votes


class JoinedVotes:
    """Votes on the same rows that no one storage can hold, such as those of trees and of stumps: parts side by side.

    Parameters
    ----------
    parts : sequence of Votes
        Their voters are numbered through, part by part.
    """

    def __init__(self, parts: Sequence[Votes]):
        self._parts = list(parts)
        self._cuts = np.cumsum([part.n_voters for part in parts])[:-1]
        self.n_rows, self.n_classes = parts[0].n_rows, parts[0].n_classes
        self.n_voters = sum(part.n_voters for part in parts)

    @classmethod
    def stack(cls, parts: "Sequence[JoinedVotes]") -> "JoinedVotes":
        columns: Any = zip(*(part._parts for part in parts), strict=True)
        return cls([own[0].stack(own) for own in columns])

    @property
    def width(self) -> int:
        return sum(part.width for part in self._parts)

    def masses(self, weights: Array) -> Array:
        pieces = zip(self._parts, np.split(weights, self._cuts), strict=True)
        return np.sum([part.masses(own) for part, own in pieces], axis=0)

    def row_masses(self, weights: Array) -> Array:
        pieces = zip(self._parts, np.split(weights, self._cuts, axis=1), strict=True)
        return np.sum([part.row_masses(own) for part, own in pieces], axis=0)

    def by_class(self) -> LinearMap:
        return _Sum([part.by_class() for part in self._parts], self._cuts)

    def against(self, labels: NDArray[np.intp]) -> LinearMap:
        return _Sum([part.against(labels) for part in self._parts], self._cuts)

    def take(self, rows: NDArray[np.intp]) -> "JoinedVotes":
        return JoinedVotes([part.take(rows) for part in self._parts])

    def block(self, rows: slice) -> "JoinedVotes":
        return JoinedVotes([part.block(rows) for part in self._parts])

    def digest(self) -> str:
        return together([part.digest() for part in self._parts])

    def pieces(self, first: int) -> tuple[Piece, ...]:
        return tuple(piece for part in self._parts for piece in part.pieces(first))


class _Sum:
    """The sum of linear maps, each of a piece of the weights."""

    def __init__(self, maps: list[LinearMap], cuts: NDArray[np.intp]):
        self._maps, self._cuts = maps, cuts

    def forward(self, weights: Array) -> Array:
        pieces = zip(self._maps, np.split(weights, self._cuts), strict=True)
        return np.sum([one.forward(own) for one, own in pieces], axis=0)

    def adjoint(self, gradient: Array) -> Array:
        return np.concatenate([one.adjoint(gradient) for one in self._maps])

    def column(self, voter: int) -> Array:
        part = int(np.searchsorted(self._cuts, voter, side="right"))
        return self._maps[part].column(voter - (int(self._cuts[part - 1]) if part else 0))
