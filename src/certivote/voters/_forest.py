"""The trees of a forest."""

from copy import copy
from typing import Any, ClassVar

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from certivote.voters._base import OutOfSampleVotes, VoterSet
from certivote.votes import Votes, build_votes, code_type

__all__ = ["Forest"]

_CHUNK = 1 << 12
"""Rows sent down all trees before the next ones: so few that they stay in the processor's cache meanwhile."""


class Forest(VoterSet):
    """The trees of a forest, one vote per tree.

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
    needs_training = True

    def __init__(self, estimator: Any = None):
        self.estimator = estimator

    def pilot(self) -> "Forest":
        return Forest(RandomForestClassifier(n_estimators=50))

    def fit(self, X: Any, y: NDArray[Any], classes: NDArray[Any], rng: np.random.Generator) -> "_FittedForest":
        forest = RandomForestClassifier() if self.estimator is None else self.estimator
        if not isinstance(forest, RandomForestClassifier | ExtraTreesClassifier):
            raise TypeError(f"Forest takes a RandomForestClassifier or an ExtraTreesClassifier; got {forest!r}.")
        forest = clone(forest)
        if forest.random_state is None:
            forest.set_params(random_state=int(rng.integers(2**31)))
        return _FittedForest(forest.fit(X, y), classes)


class _FittedForest:
    def __init__(self, forest: Any, classes: NDArray[Any]):
        self.forest = forest
        self.n_voters = len(forest.estimators_)
        self._n_classes = len(classes)
        codes = np.searchsorted(classes, forest.classes_).astype(code_type(len(classes)))
        # A tree votes for the most frequent class of the leaf.
        self._leaf_votes = [codes[tree.tree_.value[:, 0, :].argmax(axis=1)] for tree in forest.estimators_]

    def votes(self, X: Any) -> Votes:
        return build_votes(codes=self._codes(X), n_classes=self._n_classes)

    def _codes(self, X: Any) -> NDArray[np.unsignedinteger]:
        n_rows = X.shape[0]
        codes = np.empty((n_rows, self.n_voters), dtype=code_type(self._n_classes), order="F")

        def vote(rows: slice) -> None:
            part = _single_precision(X[rows])
            for j, (tree, leaf_votes) in enumerate(zip(self.forest.estimators_, self._leaf_votes, strict=True)):
                codes[rows, j] = leaf_votes[tree.apply(part, check_input=False)]

        chunks = (slice(start, start + _CHUNK) for start in range(0, n_rows, _CHUNK))
        joblib.Parallel(n_jobs=self.forest.n_jobs, require="sharedmem")(joblib.delayed(vote)(rows) for rows in chunks)
        return codes

    def only(self, voters: NDArray[np.intp]) -> "tuple[_FittedForest, NDArray[np.intp]]":
        forest, few = copy(self.forest), copy(self)
        forest.estimators_ = [forest.estimators_[j] for j in voters]
        few.forest, few.n_voters = forest, len(voters)
        few._leaf_votes = [self._leaf_votes[j] for j in voters]
        return few, voters

    def out_of_sample(self, X: Any, y: NDArray[Any], rows: NDArray[np.intp]) -> OutOfSampleVotes:
        """Out-of-bag votes: each row is voted on by the trees whose bootstrap sample missed it, as one group."""
        if not self.forest.bootstrap:
            raise ValueError(
                "prior='informed' asks each tree for its votes on rows it has not seen, and trees without bootstrap "
                "have seen all: set bootstrap=True on the forest, or choose another prior."
            )
        codes = self._codes(X[rows])
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
        fractions = counts / counts.sum(axis=1, keepdims=True)
        votes = build_votes(fractions=fractions[:, None, :])
        return OutOfSampleVotes(votes, np.zeros(self.n_voters, dtype=np.intp))


def _single_precision(X: Any) -> Any:
    """Rows as the trees of scikit-learn want them."""
    with np.errstate(over="ignore"):
        rows = X.astype(np.float32)
    if np.isinf(rows.data if sparse.issparse(rows) else rows).any():
        raise ValueError("X contains infinity or a value too large for dtype('float32'), which trees cannot use.")
    return rows
