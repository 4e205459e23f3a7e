"""From what voters know to votes: the one place that chooses a storage, or puts several side by side."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from certivote.maths.tree_digest import Piece, together
from certivote.votes._base import Array, LinearMap, Votes
from certivote.votes._binned import BinnedVotes
from certivote.votes._dense import DenseVotes
from certivote.votes._soft import SoftVotes


class Storage(Votes, Protocol):
    """What :func:`build_votes` and :func:`join_votes` ask of a storage beyond the votes themselves."""

    def __init__(self, **table: Any):
        """The table comes by the keyword under which the storage is registered."""

    @classmethod
    def join(cls, parts: Sequence[Any]) -> Votes | None:
        """Votes that are all stored this way side by side; None if they cannot become one table."""

    @classmethod
    def stack(cls, parts: Sequence[Any]) -> Votes:
        """Votes of the same voters, all stored this way, one below another."""


STORAGES: dict[str, type[Storage]] = {"codes": DenseVotes, "fractions": SoftVotes, "bins": BinnedVotes}
"""The storage of each kind of table, by the keyword that brings the table: a new storage is a file and a line here."""


def build_votes(**table: Any) -> Votes:
    """Votes from a table of what the voters say. Voters need no other way to build votes.

    Parameters
    ----------
    codes : array of shape (n_rows, n_voters) of integers
        The class of each vote, from 0 to ``n_classes - 1``; goes with ``n_classes``. See :class:`DenseVotes`.
    fractions : array of shape (n_rows, n_voters, n_classes)
        How each vote is divided among the classes. See :class:`SoftVotes`.
    bins : array of shape (n_rows, n_features) of integers
        The bin of each feature, for two classes; goes with ``n_thresholds``. See :class:`BinnedVotes`.
    n_classes : int
        With ``codes``.
    n_thresholds : int
        With ``bins``: thresholds per feature.

    Returns
    -------
    Votes

    Examples
    --------
    >>> import numpy as np
    >>> from certivote.votes import build_votes
    >>> build_votes(codes=np.array([[0, 1, 1]]), n_classes=2).masses(np.array([0.5, 0.25, 0.25])).tolist()
    [[0.5, 0.5]]
    >>> build_votes(fractions=np.array([[[0.25, 0.75]]])).masses(np.array([1.0])).tolist()
    [[0.25, 0.75]]
    >>> build_votes(bins=np.array([[0], [2]]), n_thresholds=2).n_voters  # two thresholds, two polarities
    4
    """
    kinds = [kind for kind in STORAGES if kind in table]
    if len(kinds) != 1:
        raise TypeError(f"build_votes takes one table of {', '.join(STORAGES)}; got {', '.join(kinds) or 'none'}.")
    return STORAGES[kinds[0]](**table)


def join_votes(parts: Sequence[Votes]) -> Votes:
    """The votes of several groups of voters on the same rows, side by side.

    Parameters
    ----------
    parts : sequence of Votes
        On the same rows, among the same classes. Parts of one storage become one table of it.

    Returns
    -------
    Votes
        Voters are numbered through, part by part.

    Examples
    --------
    >>> import numpy as np
    >>> from certivote.votes import build_votes, join_votes
    >>> trees = build_votes(codes=np.array([[0, 1]]), n_classes=2)
    >>> stumps = build_votes(bins=np.array([[1]]), n_thresholds=1)
    >>> join_votes([trees, stumps]).masses(np.array([0.5, 0.25, 0.125, 0.125])).tolist()
    [[0.625, 0.375]]
    """
    shapes = {(part.n_rows, part.n_classes) for part in parts}
    if len(shapes) != 1:
        found = ", ".join(f"{rows} rows and {classes} classes" for rows, classes in sorted(shapes)) or "no parts"
        raise ValueError(f"join_votes takes votes on the same rows among the same classes; got {found}.")
    for storage in STORAGES.values():
        if all(type(part) is storage for part in parts):
            joined = storage.join(parts)
            if joined is not None:
                return joined
    return JoinedVotes(parts)


def stack_votes(parts: Sequence[Votes]) -> Votes:
    """The votes of the same voters on several pieces of a table, one below another.

    Parameters
    ----------
    parts : sequence of Votes
        As the same voters have made them.

    Examples
    --------
    >>> import numpy as np
    >>> from certivote.votes import build_votes, stack_votes
    >>> above, below = (build_votes(codes=np.array([row]), n_classes=2) for row in ([0, 1], [1, 1]))
    >>> stack_votes([above, below]).masses(np.array([0.25, 0.75])).tolist()
    [[0.25, 0.75], [0.0, 1.0]]
    """
    first: Any = parts[0]
    votes: Votes = first.stack(parts)
    return votes


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
