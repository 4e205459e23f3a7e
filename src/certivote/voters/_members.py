"""Members of a mixed vote that are not forests: models of one kind, and exact nearest neighbours."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from certivote.voters._ballots import staged_ballots
from certivote.voters._base import NOT_STORED
from certivote.voters._boosting import Boosting
from certivote.voters._encoding import Encoding
from certivote.voters._machines import Always, Gaussian, KernelPairs, KernelScores, Linear
from certivote.voters._oblivious import ObliviousTrees

# The nearest of some points whose coordinates are whole numbers, exactly.


Array = NDArray[np.float64]

_BLOCKS = 128
"""Parts of the points, which take turns; at most as many neighbours are found."""
_CELLS = 1 << 20
"""Distances that are in memory at a time."""
_NOWHERE = 2.0**52
"""A square that is larger than all others."""
_NARROW, _MANY_ROWS, _MANY_POINTS = 6, 500, 1_000
"""Columns up to which a tree of the points finds neighbours sooner, and from how many rows and points on."""
_BEYOND, _FAR_BEYOND = 1, 48
"""Points that are looked at after the neighbours, to see whether the distance grows; and more where it does not."""


class NearestPoints:
    """Finds the nearest points by looking at all, or by a tree; of several at one distance the first ones count.

    Both give the same: where the tree cannot tell which of several points at one distance are first, all are looked at.

    Parameters
    ----------
    points : array of int, of shape (n_points, n_columns)
        So small that floats hold all sums of products of coordinates exactly: then distances are the same on every
        machine, in any order of addition.

    Examples
    --------
    >>> import numpy as np
    >>> from certivote.voters._members import NearestPoints
    >>> NearestPoints(np.array([[5], [1], [3], [1]])).find(np.array([[0.0], [4.0]]), 3).tolist()
    [[1, 3, 2], [0, 2, 1]]
    """

    def __init__(self, points: NDArray[np.int32]):
        whole, self._n_points = points.astype(np.float64), len(points)
        # A last column for the squares, and whole blocks: points that fill up the last one are never neighbours.
        self._table = np.zeros((len(points) + -len(points) % _BLOCKS, points.shape[1] + 1))
        self._table[: len(points), :-1] = whole
        self._table[: len(points), -1] = np.einsum("ij,ij->i", whole, whole)
        self._table[len(points) :, -1] = _NOWHERE

    def find(self, Z: Array, count: int) -> NDArray[np.intp]:
        """Numbers of the ``count`` nearest points (there must be as many), nearest first; of shape (n_rows, count)."""
        suits = self._table.shape[1] - 1 <= _NARROW and self._n_points >= _MANY_POINTS and len(Z) >= _MANY_ROWS
        if not suits:
            return self._among_all(Z, count)
        found = np.empty((len(Z), count), dtype=np.intp)
        left = np.arange(len(Z))
        for beyond in (_BEYOND, _FAR_BEYOND):
            found[left], sure = self._by_tree(Z[left], count, beyond)
            left = left[~sure]
        found[left] = self._among_all(Z[left], count)
        return found

    def _by_tree(self, Z: Array, count: int, beyond: int) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """What the tree finds, and whether no other point is as near as the last one."""
        numbers = self._tree.query(Z, count + beyond)[1]
        # Its roots of distances hide ties; the squares are exact, as those are by which it searches.
        far = np.square(self._table[numbers, :-1] - Z[:, None, :]).sum(axis=2)
        order = np.lexsort((numbers, far))
        far, numbers = np.take_along_axis(far, order, axis=1), np.take_along_axis(numbers, order, axis=1)
        return numbers[:, :count], far[:, count - 1] < far[:, -1]

    @cached_property
    def _tree(self) -> cKDTree:
        return cKDTree(self._table[: self._n_points, :-1], leafsize=32)

    def _among_all(self, Z: Array, count: int) -> NDArray[np.intp]:
        found = np.empty((len(Z), count), dtype=np.intp)
        step = max(_CELLS // len(self._table), 1)
        room = np.empty((min(step, len(Z)), len(self._table)))
        for start in range(0, len(Z), step):
            rows = Z[start : start + step]
            # Squared distances but for the squares of the rows, which change no order.
            far = np.matmul(np.column_stack([-2.0 * rows, np.ones(len(rows))]), self._table.T, out=room[: len(rows)])
            found[start : start + step] = _smallest(far, count)
        return found


def _smallest(far: Array, count: int) -> NDArray[np.intp]:
    """The places of the smallest numbers in each row, in ascending order; of equal ones the first."""
    n_rows, width = far.shape
    # ``count`` of the blocks have a number that is not above this one: the smallest are not above it either.
    least = far.reshape(n_rows, width // _BLOCKS, _BLOCKS).min(axis=1)
    limit = np.partition(least, count - 1, axis=1)[:, count - 1, None]
    near = np.flatnonzero(far <= limit)
    row, place = np.divmod(near, width)
    order = np.lexsort((far.ravel()[near], row))  # equal ones stay in their order
    begins = np.searchsorted(row, np.arange(n_rows))
    return place[order][begins[:, None] + np.arange(count)]


Codes = NDArray[np.intp]
Model = Always | Boosting | ObliviousTrees | Gaussian | Linear | KernelScores | KernelPairs

_SIZES = (1, 5, 15)
"""Neighbourhoods that vote."""
_CLIP = 32.0
"""Encoded values beyond this are as far as this."""
_BITS = 47
"""Squared distances between points of the grid are whole numbers of at most this many bits: exact in any order."""
_MOST_STAGES, _MOST_BALLOTS, _MOST_POINTS = 1 << 8, 1 << 6, 1 << 17
"""Stages of a model, votes at each, and neighbours, that a file may hold: many times those that are trained."""


@dataclass(frozen=True)
class FoldedMember:
    """Models of one kind, and what such models answered on training rows that they had not seen.

    A model that can be read at several stages (boosting) votes at each, several times if it knows how sure it is: the
    ballots of a stage are divided among the classes as their probabilities are.

    Attributes
    ----------
    models : tuple of models
        None where only ``unseen`` is asked for.
    columns : tuple of arrays of int
        Those that each model sees.
    n_groups : int
        Stages at which each is read.
    unseen : array of int or None
        For each training row, the votes of a model that was trained without the row; -1 where there is none. None if
        the models come from a file.
    n_ballots : int
        Votes at each stage.
    """

    models: tuple[Model, ...]
    columns: tuple[NDArray[np.int64], ...]
    n_groups: int
    unseen: NDArray[np.int32] | None = field(default=None, metadata=NOT_STORED)
    n_ballots: int = 1

    @property
    def left_out(self) -> NDArray[np.bool_]:
        """Of each training row, whether a model that was trained without it has answered."""
        if self.unseen is None:
            raise ValueError("Models from a file do not know which rows trained them.")
        return self.unseen[:, 0] >= 0

    @property
    def groups(self) -> Codes:
        return np.tile(np.repeat(np.arange(self.n_groups), self.n_ballots), len(self.models))

    @property
    def n_voters(self) -> int:
        return self.n_groups * self.n_ballots * len(self.models)

    def check(self, width: int, n_classes: int) -> None:
        """Raise a ValueError unless the models can vote on rows with this many columns, for this many classes."""
        if not self.models or len(self.columns) != len(self.models) or not 1 <= self.n_groups <= _MOST_STAGES:
            raise ValueError("a member has another number of models")
        if not 1 <= self.n_ballots <= _MOST_BALLOTS:
            raise ValueError("a member has another number of votes")
        for model, seen in zip(self.models, self.columns, strict=True):
            if seen.ndim != 1 or np.any((seen < 0) | (seen >= width)) or np.any(np.diff(seen) < 1):
                raise ValueError("a model asks for a column that there is not")
            model.check(len(seen), n_classes, self.n_groups)

    def votes(self, X: Array) -> Codes:
        """Codes of shape (n_rows, n_voters): model by model, stage by stage in each, and ballot by ballot."""
        pairs = zip(self.models, self.columns, strict=True)
        return np.concatenate([model_votes(model, X[:, seen], self.n_ballots) for model, seen in pairs], axis=1)

    def only(self, voters: NDArray[np.intp]) -> "tuple[FoldedMember, NDArray[np.intp]]":
        """Only the models and the stages whose votes are asked for."""
        wanted = np.zeros((len(self.models), self.n_groups, self.n_ballots), dtype=bool)
        wanted.flat[voters] = True
        models, stages = np.flatnonzero(wanted.any(axis=(1, 2))), np.flatnonzero(wanted.any(axis=(0, 2)))
        few = [self.models[k] for k in models]
        if len(stages) < self.n_groups:
            few = [model.only(stages) for model in few if isinstance(model, Always | Boosting | ObliviousTrees)]
        kept = np.arange(wanted.size).reshape(wanted.shape)[models[:, None], stages].ravel()
        return FoldedMember(
            tuple(few), tuple(self.columns[k] for k in models), len(stages), n_ballots=self.n_ballots
        ), kept

    def out_of_sample(self, rows: NDArray[np.intp], n_classes: int) -> Array:
        """Fractions of shape (len(rows), n_groups, n_classes), on rows that have been left out."""
        if self.unseen is None or not self.left_out[rows].all():
            raise ValueError("There are out-of-sample votes only on rows that some training has left out.")
        votes = self.unseen[rows].reshape(len(rows), self.n_groups, self.n_ballots)
        return np.stack([np.mean(votes == code, axis=2) for code in range(n_classes)], axis=2)


def model_votes(model: Model, X: Array, count: int) -> Codes:
    """Codes of shape (n_rows, n_stages * count): so many votes of the model at each of its stages."""
    if count > 1 and isinstance(model, Boosting | ObliviousTrees):
        return staged_ballots(model, X, count)
    return np.repeat(model.answers(X), count, axis=1)


@dataclass(frozen=True)
class NeighbourMember:
    """Votes of the 1, 5 and 15 nearest training rows, found once; out of sample, a row is not its own neighbour.

    Where training rows belong to entities, these are in folds, and out of sample a row has no neighbours in its fold.

    Encoded rows are rounded to a grid so fine that it hardly moves them, and so coarse that squared distances are whole
    numbers that a float holds exactly. So distances are the same on every machine, and of several points at one
    distance the first ones count.

    Attributes
    ----------
    encoding : Encoding
        Distances are those between the rows it returns.
    points : array of int
        Training rows, encoded, on the grid.
    labels : array of int
        Codes of their classes.
    remembered : array of int or None
        Their numbers among the training rows; None if they come from a file.
    folds : array of int or None
        The fold of each training row, where rows of one entity are in one fold; None if every row is by itself.
    """

    encoding: Encoding
    points: NDArray[np.int32]
    labels: NDArray[np.int64]
    remembered: NDArray[np.intp] | None = field(default=None, metadata=NOT_STORED)
    folds: Codes | None = field(default=None, metadata=NOT_STORED)

    n_groups = len(_SIZES)

    @classmethod
    def fitted(
        cls,
        encoding: Encoding,
        X: Array,
        y: Codes,
        remembered: NDArray[np.intp],
        folds: Codes | None = None,
    ) -> "NeighbourMember":
        """Some of the training rows, by their numbers."""
        points = _on_grid(encoding, X[remembered]).astype(np.int32)
        return cls(encoding, points, y[remembered].astype(np.int64), remembered, folds)

    @property
    def groups(self) -> Codes:
        return np.arange(self.n_groups)

    @property
    def n_voters(self) -> int:
        return self.n_groups

    def check(self, width: int, n_classes: int) -> None:
        """Raise a ValueError unless they can vote on rows with this many columns, for this many classes."""
        self.encoding.check(width)
        count = len(self.labels)
        if self.points.shape != (count, self.encoding.width) or not 1 <= count <= _MOST_POINTS or self.labels.ndim != 1:
            raise ValueError("neighbours are of another width")
        if np.any((self.labels < 0) | (self.labels >= n_classes)):
            raise ValueError("a neighbour is of a class that there is not")
        farthest = _CLIP * _steps(self.encoding.width)
        if self.points.min() < -farthest or self.points.max() > farthest:
            raise ValueError("a neighbour is off the grid")

    def votes(self, X: Array) -> Codes:
        """Codes of shape (n_rows, n_voters)."""
        return self._poll(self._nearest(_on_grid(self.encoding, X), max(_SIZES)))

    def only(self, voters: NDArray[np.intp]) -> "tuple[NeighbourMember, NDArray[np.intp]]":
        """All of them: neighbours are searched once for all sizes."""
        return self, np.arange(self.n_groups)

    def out_of_sample(self, X: Array, rows: NDArray[np.intp], n_classes: int) -> Array:
        """Fractions of shape (len(rows), n_groups, n_classes)."""
        if self.remembered is None:
            raise ValueError("Neighbours from a file do not know which rows they were.")
        if self.folds is not None:
            return self._from_other_folds(X, rows, n_classes, self.folds[rows], self.folds[self.remembered])
        found = self._nearest(_on_grid(self.encoding, X[rows]), max(_SIZES) + 1)
        # Push the row itself to the end; where it is not among its neighbours, the farthest goes.
        itself = self.remembered[found] == rows[:, None]
        order = np.argsort(itself, axis=1, kind="stable")
        answers = self._poll(np.take_along_axis(found, order, axis=1)[:, :-1])
        return np.eye(n_classes)[answers]

    def _from_other_folds(self, X: Array, rows: NDArray[np.intp], n_classes: int, asked: Codes, known: Codes) -> Array:
        """Out-of-sample votes on rows of these folds, by points of those; a row without any gets no opinion."""
        fractions = np.full((len(rows), self.n_groups, n_classes), 1.0 / n_classes)
        for fold in np.unique(asked):
            mine, others = np.flatnonzero(asked == fold), np.flatnonzero(known != fold)
            if len(others):
                near = NeighbourMember(self.encoding, self.points[others], self.labels[others])
                fractions[mine] = np.eye(n_classes)[near.votes(X[rows[mine]])]
        return fractions

    @cached_property
    def _search(self) -> NearestPoints:
        return NearestPoints(self.points)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_search"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)

    def _nearest(self, Z: Array, count: int) -> NDArray[np.intp]:
        """The numbers of the nearest points, nearest first and, at one distance, in their order."""
        return self._search.find(Z, min(count, len(self.points)))

    def _poll(self, found: NDArray[np.intp]) -> Codes:
        labels = self.labels[found]
        counts = np.zeros((len(labels), int(self.labels.max()) + 1))
        answers, rows = [], np.arange(len(labels))
        for k in range(max(_SIZES)):
            if k < labels.shape[1]:
                counts[rows, labels[:, k]] += 1.0
            if k + 1 in _SIZES:
                answers.append(counts.argmax(axis=1))
        return np.stack(answers, axis=1)


def _steps(width: int) -> float:
    """Steps of the grid in a unit, a power of two."""
    return float(2.0 ** ((_BITS - 2 - int(np.ceil(np.log2(max(width, 1))))) // 2 - int(np.log2(_CLIP))))


def _on_grid(encoding: Encoding, X: Array) -> Array:
    return np.rint(np.clip(encoding.transform(X), -_CLIP, _CLIP) * _steps(encoding.width))
