"""The trees of a forest."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier

from certivote.voters._base import Rehearsal, VoterSet, code_type
from certivote.votes import DenseVotes, SoftVotes

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

    def pilot(self) -> "Forest":
        return Forest(RandomForestClassifier(n_estimators=50))

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

    def rehearse(self, X: Any, y: NDArray[Any], rows: NDArray[np.intp]) -> Rehearsal:
        """Out-of-bag votes: each row is voted on by the trees whose bootstrap sample missed it, as one group."""
        if not self.forest.bootstrap:
            raise ValueError(
                "prior='informed' asks each tree for its votes on rows it has not seen, and trees without bootstrap "
                "have seen all: set bootstrap=True on the forest, or choose another prior."
            )
        codes = self.votes(X[rows]).codes
        counts = np.zeros((len(rows), self._n_classes))
        place = np.full(X.shape[0], -1)
        place[rows] = np.arange(len(rows))
        for j, sample in enumerate(self.forest.estimators_samples_):
            unseen = np.ones(len(rows), dtype=bool)
            seen = place[sample]
            unseen[seen[seen >= 0]] = False
            counts[np.flatnonzero(unseen), codes[unseen, j]] += 1.0
        # A row that every tree has seen gets no opinion.
        counts[counts.sum(axis=1) == 0.0] = 1.0
        shares = counts / counts.sum(axis=1, keepdims=True)
        return Rehearsal(SoftVotes(shares[:, None, :]), np.zeros(self.n_voters, dtype=np.intp))
