"""The trees of a forest."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier

from certivote.voters._base import VoterSet, code_type
from certivote.votes import DenseVotes

__all__ = ["Forest"]

_CHUNK = 1 << 15
"""Rows sent down the trees at a time; the leaf numbers of a chunk take 8 bytes a row and tree."""


class Forest(VoterSet):
    """The trees of a forest, each with one vote.

    Parameters
    ----------
    estimator : RandomForestClassifier, ExtraTreesClassifier or None
        An unfitted forest of scikit-learn. None stands for ``RandomForestClassifier()``: 100 trees, the square root of
        the number of features tried at each node, unlimited depth.

    Examples
    --------
    >>> from sklearn.ensemble import ExtraTreesClassifier
    >>> from certivote.voters import Forest
    >>> Forest(ExtraTreesClassifier(n_estimators=50))
    Forest(estimator=ExtraTreesClassifier(n_estimators=50))
    """

    input_checks: ClassVar[dict[str, Any]] = {"accept_sparse": "csr", "ensure_all_finite": "allow-nan"}
    needs_rows = True

    def __init__(self, estimator: Any = None):
        self.estimator = estimator

    def teach(self, X: Any, y: NDArray[Any], classes: NDArray[Any], rng: np.random.Generator) -> "_TaughtForest":
        forest = clone(RandomForestClassifier() if self.estimator is None else self.estimator)
        if forest.random_state is None:
            forest.set_params(random_state=int(rng.integers(2**31)))
        return _TaughtForest(forest.fit(X, y), classes)


class _TaughtForest:
    def __init__(self, forest: Any, classes: NDArray[Any]):
        self.forest = forest
        self.n_voters = len(forest.estimators_)
        self._n_classes = len(classes)
        codes = np.searchsorted(classes, forest.classes_).astype(code_type(len(classes)))
        # A tree votes for the most frequent class of the leaf.
        self._leaf_votes = [codes[tree.tree_.value[:, 0, :].argmax(axis=1)] for tree in forest.estimators_]

    def votes(self, X: Any) -> DenseVotes:
        n_rows = X.shape[0]
        codes = np.empty((n_rows, self.n_voters), dtype=code_type(self._n_classes), order="F")
        for start in range(0, n_rows, _CHUNK):
            rows = slice(start, start + _CHUNK)
            leaves = self.forest.apply(X[rows])
            for j, leaf_votes in enumerate(self._leaf_votes):
                codes[rows, j] = leaf_votes[leaves[:, j]]
        return DenseVotes(codes, self._n_classes)
