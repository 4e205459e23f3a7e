"""Rows as promises see them: what is true, what the vote says and how surely, and the columns."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certivote.theory.entities import Entities
from certivote.theory.risks import Labels

Array = NDArray[np.float64]
Columns = Callable[[str], list[Any]]
"""A name to the values of that column in all rows, as Python has them."""


@dataclass(frozen=True)
class PromiseRows:
    """Some rows, and what one vote says of them.

    Attributes
    ----------
    labels, answers : array of int
        Codes of the true classes, and of those that the vote gives.
    masses : array of shape (n_rows, n_classes) or None
        What stands behind each class, from 0 to 1; None where only answers are known.
    scores : array or None
        How sure the vote is of its answer, larger for surer: the winner's mass minus the runner-up's, or what was given
        with the answers. None where neither is known.
    columns : Columns or None
        None where there is no table.
    entities : Entities or None
        Which rows belong together.
    order : function without arguments
        A random order of the rows, fixed beforehand, in which bets are placed where rows are by themselves. Only where
        it is asked for has anything random been used.
    """

    labels: Labels
    answers: Labels
    masses: Array | None
    scores: Array | None
    columns: Columns | None
    entities: Entities | None
    order: Callable[[], NDArray[np.intp]]

    @property
    def wrong(self) -> NDArray[np.bool_]:
        """Where the answer is not the true class."""
        return self.answers != self.labels

    def take(self, rows: NDArray[np.intp]) -> "PromiseRows":
        """Some of them."""

        def order() -> NDArray[np.intp]:
            places = np.full(len(self.labels), -1)
            places[rows] = np.arange(len(rows))
            chosen = places[self.order()]
            return np.asarray(chosen[chosen >= 0])

        return replace(
            self,
            labels=self.labels[rows],
            answers=self.answers[rows],
            masses=None if self.masses is None else self.masses[rows],
            scores=None if self.scores is None else self.scores[rows],
            columns=None if self.columns is None else _some(self.columns, rows),
            entities=None if self.entities is None else self.entities.among(rows),
            order=order,
        )


def _some(columns: Columns, rows: NDArray[np.intp]) -> Columns:
    def chosen(name: str) -> list[Any]:
        values = columns(name)
        return [values[row] for row in rows.tolist()]

    return chosen


def margins(masses: ArrayLike) -> Array:
    """By how much the largest mass of each row exceeds the second: 0 where they are tied.

    In double precision, also of masses in single precision: as when they were certified.

    Examples
    --------
    >>> margins(np.array([[0.5, 0.25, 0.25], [0.5, 0.5, 0.0]])).tolist()
    [0.25, 0.0]
    """
    top = np.partition(np.asarray(masses, dtype=float), -2, axis=1)[:, -2:]
    return np.asarray(top[:, 1] - top[:, 0])
