"""Several votes of one model on every row, divided among the classes as its scores divide them."""

from collections.abc import Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

BALLOTS = 9
"""Votes of a model that knows how sure it is: an odd number, so that two classes are never equal."""
_STEPS, _FARTHEST = 64, 14
"""Steps of the table in a unit of the scores, and how far it reaches: there a class has less than a millionth."""
_UNITS = float(1 << 20)
_MASSES = np.rint(_UNITS * np.exp(-np.arange(_FARTHEST * _STEPS + 1) / _STEPS)).astype(np.int64)
"""What a class has that is so many steps behind the first one. Whole numbers make shares the same on every machine."""


def ballots(scores: NDArray[np.float64], count: int) -> NDArray[np.intp]:
    """Places of classes, of shape (n_rows, count): as many for each class as its probability asks for, rounded.

    Probabilities are those of logistic regression: proportional to the exponential of the score. The votes are at
    equal distances in the cumulative probabilities, in the order of the classes.

    Parameters
    ----------
    scores : array of shape (n_rows, n_scores)
        Logarithms of odds of the second of two classes, or else a score for each class.
    count : int
        Votes on each row.

    Examples
    --------
    >>> import numpy as np
    >>> from certivote.voters._ballots import ballots
    >>> ballots(np.array([[0.0], [1.0], [5.0]]), 5).tolist()
    [[0, 0, 1, 1, 1], [0, 1, 1, 1, 1], [1, 1, 1, 1, 1]]
    >>> ballots(np.array([[0.0, 0.0, 1.0]]), 5).tolist()
    [[0, 1, 2, 2, 2]]
    """
    each = scores if scores.shape[1] > 1 else np.column_stack([np.zeros(len(scores)), scores[:, 0]])
    with np.errstate(invalid="ignore", over="ignore"):
        behind = (each.max(axis=1, keepdims=True) - each) * _STEPS
    # Of a model from a file, scores may be no numbers: the smaller one is then the other.
    masses = _MASSES[np.fmin(behind, float(len(_MASSES) - 1)).astype(np.intp)]
    reached = np.cumsum(masses, axis=1)
    marks = reached[:, -1:] * np.arange(1, 2 * count, 2)
    found = np.zeros((len(scores), count), dtype=np.intp)
    for place in range(each.shape[1] - 1):
        found += 2 * count * reached[:, place, None] <= marks
    return found


class Staged(Protocol):
    """A model with scores after some of its iterations."""

    @property
    def stages(self) -> NDArray[np.int64]:
        """Iterations after which to take votes."""

    @property
    def classes(self) -> NDArray[np.int64]:
        """Codes of the classes."""

    def scores(self, X: NDArray[np.float64]) -> Iterator[tuple[slice, int, NDArray[np.float64]]]:
        """Some rows, a stage and the scores then, until all rows and stages had a turn."""


def staged_ballots(model: Staged, X: NDArray[np.float64], count: int) -> NDArray[np.intp]:
    """Codes of shape (n_rows, n_stages * count): stage by stage, and ballot by ballot in each."""
    found = np.empty((len(X), len(model.stages), count), dtype=np.intp)
    for rows, stage, scores in model.scores(X):
        found[rows, model.stages == stage] = model.classes[ballots(scores, count)][:, None]
    return found.reshape(len(X), -1)
