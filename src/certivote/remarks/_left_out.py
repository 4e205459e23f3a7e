"""What is lost without columns that give the answer away: an estimate on training rows, on which no bound rests."""

from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GroupKFold, KFold

from certivote.theory.risks import Labels

_ROWS, _COLUMNS = 2000, 60
"""Most training rows, evenly spaced, and most columns, those that tell most, that a forest is fitted to."""
_TREES, _FOLDS = 30, 5


def errors_with_and_without(
    table: Mapping[int, NDArray[np.float64]],
    left_out: Collection[int],
    labels: Labels,
    entities: NDArray[np.intp] | None,
    rng: np.random.Generator,
) -> tuple[float, float] | None:
    """How often small forests err on rows that they were not fitted to: with all columns, and with these left out.

    None if the rows are of one entity. What belongs together is in one fold.
    """
    rows = np.unique(np.linspace(0, len(labels) - 1, min(len(labels), _ROWS)).round().astype(np.intp))
    labels, groups = labels[rows], None if entities is None else entities[rows]
    n_folds = min(_FOLDS, len(rows if groups is None else np.unique(groups)))
    if n_folds < 2:
        return None
    seed = int(rng.integers(2**31))
    cv = KFold(n_folds, shuffle=True, random_state=seed) if groups is None else GroupKFold(n_folds)
    X = np.column_stack([_ranks(values[rows]) for values in table.values()])

    def error(places: NDArray[np.intp]) -> float:
        wrong = 0
        for train, test in cv.split(X, labels, groups):
            chosen = places[_most_telling(X[np.ix_(train, places)], labels[train])]
            forest = RandomForestClassifier(_TREES, max_features=0.5, random_state=seed)
            forest.fit(X[np.ix_(train, chosen)], labels[train])
            wrong += int(np.count_nonzero(forest.predict(X[np.ix_(test, chosen)]) != labels[test]))
        return float(wrong / len(labels))

    others = np.flatnonzero([place not in left_out for place in table])
    usual = 1.0 - float(np.bincount(labels).max() / len(labels))
    return error(np.arange(len(table))), error(others) if len(others) else usual


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The values by their order, which is all that trees ask for; missing ones below all others."""
    return np.where(np.isnan(values), -1.0, np.unique(values, return_inverse=True)[1])


def _most_telling(X: NDArray[np.float64], labels: Labels) -> NDArray[np.intp]:
    """The columns of which most of the variance is between the classes."""
    X = X - X.mean(axis=0)
    own = np.eye(int(labels.max()) + 1)[labels]
    between = ((own.T @ X) ** 2 / np.maximum(own.sum(axis=0), 1.0)[:, None]).sum(axis=0)
    return np.argsort(-between / np.maximum((X**2).sum(axis=0), 1e-9), kind="stable")[:_COLUMNS]
