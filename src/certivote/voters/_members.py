"""Members of a mixed vote that are not forests: models fitted on folds, and nearest neighbours."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import NearestNeighbors

__all__ = ["FoldedMember", "NeighbourMember"]

Codes = NDArray[np.intp]


class FoldedMember:
    """One model per fold, fitted on the other folds: so each training row has a model that has not seen it.

    A model that can be read at several stages (boosting) has one voter per stage.

    Parameters
    ----------
    template : classifier
        Unfitted; a copy of it is fitted for each fold.
    X, y : arrays
        The training rows and the codes of their classes.
    folds : array of int
        The fold of each training row.
    stages : sequence of int, optional
        Iterations of boosting after which to take a vote.
    columns : sequence of arrays of int, optional
        For each fold, the columns that its model sees; by default all.
    """

    def __init__(
        self,
        template: Any,
        X: Any,
        y: Codes,
        folds: Codes,
        stages: Sequence[int] = (),
        columns: Sequence[NDArray[np.intp]] | None = None,
    ):
        self._stages = tuple(stages)
        self._folds = folds
        self._columns = columns or [np.arange(X.shape[1])] * (folds.max() + 1)
        self.models = [_fitted(template, X[folds != k][:, seen], y[folds != k]) for k, seen in enumerate(self._columns)]
        self.n_groups = max(len(self._stages), 1)
        self.groups = np.tile(np.arange(self.n_groups), len(self.models))

    def votes(self, X: Any) -> Codes:
        """Codes of shape (n_rows, n_voters): model by model, and stage by stage in each."""
        return np.concatenate([self._answers(k, X) for k in range(len(self.models))], axis=1)

    def out_of_sample(self, X: Any, rows: NDArray[np.intp], n_classes: int) -> NDArray[np.float64]:
        """Fractions of shape (len(rows), n_groups, n_classes), from the model that has not seen the row."""
        fractions = np.zeros((len(rows), self.n_groups, n_classes))
        for k in range(len(self.models)):
            mine = np.flatnonzero(self._folds[rows] == k)
            if len(mine):
                answers = self._answers(k, X[rows[mine]])
                fractions[mine[:, None], np.arange(self.n_groups), answers] = 1.0
        return fractions

    def _answers(self, k: int, X: Any) -> Codes:
        model, X = self.models[k], X[:, self._columns[k]]
        if not self._stages or isinstance(model, DummyClassifier):
            return np.repeat(model.predict(X).astype(np.intp)[:, None], self.n_groups, axis=1)
        answers = np.empty((X.shape[0], self.n_groups), dtype=np.intp)
        for iteration, prediction in enumerate(model.staged_predict(X), 1):
            if iteration in self._stages:
                answers[:, self._stages.index(iteration)] = prediction
        return answers


class NeighbourMember:
    """Votes of the 1, 5 and 15 nearest training rows, found once; out of sample, a row is no neighbour of itself.

    Parameters
    ----------
    encoder : transformer
        Fitted; distances are those between the rows it returns.
    X, y : arrays
        The training rows and the codes of their classes.
    remembered : array of int
        The numbers of the training rows that are kept as neighbours.
    """

    sizes = (1, 5, 15)

    def __init__(self, encoder: Any, X: Any, y: Codes, remembered: NDArray[np.intp]):
        self._encoder, self._remembered = encoder, remembered
        self._labels = y[remembered]
        self._points = encoder.transform(X[remembered])
        self._search = NearestNeighbors().fit(self._points)
        self.n_groups = len(self.sizes)
        self.groups = np.arange(self.n_groups)

    def __getstate__(self) -> dict[str, Any]:
        # The search tree is made anew from the points: a file need not be trusted with one.
        return {name: value for name, value in vars(self).items() if name != "_search"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _search=NearestNeighbors().fit(state["_points"]))

    def votes(self, X: Any) -> Codes:
        """Codes of shape (n_rows, n_voters)."""
        count = min(max(self.sizes), len(self._remembered))
        return self._poll(self._search.kneighbors(self._encoder.transform(X), count, return_distance=False))

    def out_of_sample(self, X: Any, rows: NDArray[np.intp], n_classes: int) -> NDArray[np.float64]:
        """Fractions of shape (len(rows), n_groups, n_classes)."""
        count = min(max(self.sizes) + 1, len(self._remembered))
        found = self._search.kneighbors(self._encoder.transform(X[rows]), count, return_distance=False)
        # Push the row itself to the end; where it is not among its neighbours, the farthest goes.
        itself = self._remembered[found] == rows[:, None]
        order = np.argsort(itself, axis=1, kind="stable")
        answers = self._poll(np.take_along_axis(found, order, axis=1)[:, :-1])
        return np.eye(n_classes)[answers]

    def _poll(self, found: NDArray[np.intp]) -> Codes:
        labels = self._labels[found]
        counts = np.zeros((len(labels), int(self._labels.max()) + 1))
        answers, rows = [], np.arange(len(labels))
        for k in range(max(self.sizes)):
            if k < labels.shape[1]:
                counts[rows, labels[:, k]] += 1.0
            if k + 1 in self.sizes:
                answers.append(counts.argmax(axis=1))
        return np.stack(answers, axis=1)


def _fitted(template: Any, X: Any, y: Codes) -> Any:
    if len(np.unique(y)) == 1:
        return DummyClassifier(strategy="most_frequent").fit(X, y)
    # Boosting has no bins for a column without values; one that is constant is never asked.
    empty = np.isnan(X).all(axis=0)
    with warnings.catch_warnings():
        # A linear model that is nearly there votes nearly as well; how well, the certificate says.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return clone(template).fit(np.where(empty, 0.0, X) if empty.any() else X, y)
