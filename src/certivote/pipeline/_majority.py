"""What always answering the most frequent class would achieve, certified on the same rows."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certivote.maths.betting import betting_upper, order_free_upper
from certivote.promises import Repeats, how_many
from certivote.theory.bounds import holdout
from certivote.theory.entities import Entities
from certivote.theory.risks import Labels


@dataclass(frozen=True)
class Majority:
    """A class, the certification rows of other classes, and the bound on the error of always answering it."""

    code: int
    errors: int
    losses: tuple[float, ...]
    bound: float


def certified_majority(
    train: Labels,
    certify: Labels,
    n_classes: int,
    delta: float,
    entities: Entities | None = None,
    repeats: Repeats | None = None,
    in_order: bool = True,
) -> Majority:
    """The most frequent class of the training rows, certified like a vote that no certification row has influenced.

    Without training rows the certification rows choose it, and the bound holds for all classes at once. Of several
    that are equally frequent it is the first.

    Examples
    --------
    >>> majority = certified_majority(np.array([0, 1, 1]), np.array([1, 1, 0, 1]), n_classes=2, delta=0.05)
    >>> majority.code, majority.errors, round(majority.bound, 3)
    (1, 1, 0.751)
    """
    if len(train):
        counts, level = np.bincount(train, minlength=n_classes), delta
    else:
        counts, level = class_counts(certify, n_classes, repeats), delta / n_classes
    code = int(counts.argmax())
    return Majority(code, *fixed_bound(certify != code, level, entities, repeats, in_order))


def class_counts(labels: Labels, n_classes: int, repeats: Repeats | None = None) -> NDArray[np.int64]:
    """How many rows have each class, where each row stands for so many."""
    if repeats is None:
        return np.bincount(labels, minlength=n_classes)
    counts = np.zeros(n_classes, dtype=np.int64)
    np.add.at(counts, labels, repeats)
    return counts


def fixed_bound(
    wrong: NDArray[np.bool_],
    delta: float,
    entities: Entities | None = None,
    repeats: Repeats | None = None,
    in_order: bool = True,
) -> tuple[int, tuple[float, ...], float]:
    """Errors, losses of the entities if there are any, and bound of a classifier that was fixed beforehand.

    Examples
    --------
    >>> fixed_bound(np.array([True, False, False, False]), 0.05)[::2]
    (1, 0.7513953...)
    """
    errors = how_many(wrong, repeats)
    if entities is None:
        return errors, (), holdout(errors, len(wrong) if repeats is None else int(repeats.sum()), delta)
    losses = tuple(entities.losses(wrong).tolist())
    level = math.log(delta)
    return errors, losses, betting_upper(losses, level, level) if in_order else order_free_upper(losses, level)
