"""Any classifiers of the user's own, fitted or not."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GroupKFold, KFold
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from certivote.voters._base import NOT_STORED, OutOfSampleVotes, VoterSet
from certivote.voters._entities import at_least_two, checked_entities, row_weights
from certivote.votes import Votes, build_votes


class Classifiers(VoterSet):
    """A list of classifiers, one vote each.

    Those that are fitted already vote as they are, and so do fitted ones that others are made of, such as a
    ``FrozenEstimator``: they must not have seen the certification rows, which nothing can check. The others are cloned,
    and the clones are fitted on the training rows.

    Parameters
    ----------
    classifiers : list of scikit-learn classifiers
        Pipelines included. They get the rows as they are given, data frames as data frames.

    Notes
    -----
    With groups, every entity counts the same in the training of those classifiers whose ``fit`` takes
    ``sample_weight``, and whose parts do, if they are made of others. Pipelines, searches over parameters and the like
    are fitted without weights. What a classifier does in its own ``fit`` to choose parameters, or to stop early, goes
    by rows: choose a rule that needs no rows to be set aside, if entities have several.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from certivote.voters import Classifiers
    >>> Classifiers([LogisticRegression(), DecisionTreeClassifier()]).needs_training
    True
    >>> Classifiers([LogisticRegression().fit([[0.0], [1.0]], [0, 1])]).needs_training
    False
    """

    keeps_frames = True

    def __init__(self, classifiers: list[Any]):
        self.classifiers = classifiers

    @property
    def input_checks(self) -> dict[str, Any]:
        self._check()
        tags = [get_tags(classifier).input_tags for classifier in self.classifiers]
        return {
            "dtype": None,
            "accept_sparse": "csr" if all(tag.sparse for tag in tags) else False,
            "ensure_all_finite": "allow-nan" if all(tag.allow_nan for tag in tags) else True,
        }

    def __sklearn_clone__(self) -> "Classifiers":
        # A copy that forgot what the classifiers had learned would be another voter set.
        return self

    @property
    def needs_training(self) -> bool:
        return not all(_is_fitted(classifier) for classifier in self.classifiers)

    def known_classes(self) -> list[Any]:
        return [label for c in self.classifiers if _is_fitted(c) for label in c.classes_]

    def _check(self) -> None:
        if not isinstance(self.classifiers, Sequence) or isinstance(self.classifiers, str):
            raise TypeError(f"Classifiers takes a list of classifiers; got {self.classifiers!r}.")
        if not self.classifiers:
            raise ValueError("voters is an empty list; give at least one classifier.")
        for classifier in self.classifiers:
            # Some, such as StackingClassifier, have predict only when they are fitted.
            able = hasattr(classifier, "predict") or (hasattr(classifier, "get_params") and is_classifier(classifier))
            if isinstance(classifier, type) or not able:
                raise TypeError(f"Every voter must be a classifier with a predict method; got {classifier!r}.")

    def fit(
        self,
        X: Any,
        y: NDArray[Any],
        classes: NDArray[Any],
        rng: np.random.Generator,
        entities: NDArray[np.intp] | None = None,
    ) -> "FittedClassifiers":
        self._check()
        entities = None if entities is None else checked_entities(entities, len(y))
        ready = [_is_fitted(classifier) for classifier in self.classifiers]
        fitted = [
            c if done else _fitted(seeded(c, rng), X, y, entities)
            for c, done in zip(self.classifiers, ready, strict=True)
        ]
        return FittedClassifiers(tuple(fitted), tuple(ready), classes, entities)


@dataclass(frozen=True)
class FittedClassifiers:
    """Classifiers, whether each came fitted, and all classes; in memory, the entities of the training rows too."""

    classifiers: tuple[Any, ...]
    came_fitted: tuple[bool, ...]
    classes: NDArray[Any]
    entities: NDArray[np.intp] | None = field(default=None, metadata=NOT_STORED)

    @property
    def n_voters(self) -> int:
        return len(self.classifiers)

    def check(self, width: int, n_classes: int) -> None:
        """Raise a ValueError unless they vote for this many classes."""
        ordered = self.classes.shape == (n_classes,) and np.array_equal(np.unique(self.classes), self.classes)
        if not ordered or not len(self.classifiers) == len(self.came_fitted) >= 1:
            raise ValueError("its classifiers vote among other classes")

    def votes(self, X: Any) -> Votes:
        return self._ballot([classifier.predict(X) for classifier in self.classifiers])

    def only(self, voters: NDArray[np.intp]) -> "tuple[FittedClassifiers, NDArray[np.intp]]":
        kept = tuple(self.classifiers[j] for j in voters), tuple(self.came_fitted[j] for j in voters)
        return replace(self, classifiers=kept[0], came_fitted=kept[1]), voters

    def out_of_sample(self, X: Any, y: NDArray[Any], rows: NDArray[np.intp]) -> OutOfSampleVotes:
        """Classifiers that came fitted just vote; of the others, copies are fitted without a third of the rows each.

        Or of the entities, where there are some.
        """
        answers = [
            c.predict(_safe_indexing(X, rows)) if done else _answers_unseen(c, X, self.classes[y], self.entities)[rows]
            for c, done in zip(self.classifiers, self.came_fitted, strict=True)
        ]
        return OutOfSampleVotes(self._ballot(answers), np.arange(self.n_voters))

    def _ballot(self, answers: list[Any]) -> Votes:
        codes = np.stack([np.searchsorted(self.classes, answer) for answer in answers], axis=1)
        # An answer that is not a class would be counted beyond the last one.
        known = self.classes[np.minimum(codes, len(self.classes) - 1)] == np.stack(answers, axis=1)
        if not np.all(known):
            raise ValueError("A classifier gives an answer that is none of the classes.")
        return build_votes(codes=codes, n_classes=len(self.classes))


def _is_fitted(classifier: Any) -> bool:
    try:
        check_is_fitted(classifier)
    except NotFittedError:
        return False
    return True


def seeded(classifier: Any, rng: np.random.Generator) -> Any:
    """A fresh copy, with a seed of its own wherever the user left one open."""
    copy = clone(classifier)
    seeds = {
        name: int(rng.integers(2**31))
        for name, value in sorted(copy.get_params(deep=True).items())
        if (name == "random_state" or name.endswith("__random_state")) and value is None
    }
    if seeds:  # what is frozen has none to set
        copy.set_params(**seeds)
    return copy


def _fitted(classifier: Any, X: Any, y: NDArray[Any], entities: NDArray[np.intp] | None) -> Any:
    """It, fitted on these rows; all entities count the same, if it takes weights."""
    weights = row_weights(entities)
    if weights is None or not _takes_weights(classifier):
        return classifier.fit(X, y)
    return classifier.fit(X, y, sample_weight=weights)


def _takes_weights(classifier: Any) -> bool:
    """Whether rows can be weighted, by it and by all that it is made of: others would refuse."""
    parts = [part for part in classifier.get_params(deep=True).values() if hasattr(part, "fit")]
    return all(has_fit_parameter(part, "sample_weight") for part in (classifier, *parts))


def _answers_unseen(classifier: Any, X: Any, y: NDArray[Any], entities: NDArray[np.intp] | None) -> NDArray[Any]:
    """The answer on every row of a copy that was fitted without it; where it would see one class only, that class."""
    answers = y.copy()
    if entities is None:
        folds = KFold(min(3, len(y)), shuffle=True, random_state=0).split(y)
    else:
        folds = GroupKFold(min(3, at_least_two(entities)), shuffle=True, random_state=0).split(y, groups=entities)
    for train, ask in folds:
        answers[ask] = y[train[0]]
        if len(np.unique(y[train])) > 1:
            seen = None if entities is None else entities[train]
            copy = _fitted(clone(classifier), _safe_indexing(X, train), y[train], seen)
            answers[ask] = copy.predict(_safe_indexing(X, ask))
    return answers
