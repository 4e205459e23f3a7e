"""What always answering the most frequent class would achieve, certified on the same rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certivote.certificate import Statement
from certivote.promises import Repeats, fixed_statement
from certivote.theory.entities import Entities
from certivote.theory.risks import Labels


def certified_majority(
    train: Labels,
    certify: Labels,
    classes: Sequence[Any] | NDArray[Any],
    delta: float,
    entities: Entities | None = None,
    repeats: Repeats | None = None,
    in_order: bool = True,
) -> Statement:
    """The most frequent class of the training rows, certified like a vote that no certification row has influenced.

    Without training rows the certification rows choose it, and the bound holds for all classes at once. Of several
    that are equally frequent it is the first.

    Examples
    --------
    >>> majority = certified_majority(np.array([0, 1, 1]), np.array([1, 1, 0, 1]), ["no", "yes"], delta=0.05)
    >>> majority.label, majority.errors, round(majority.bound, 3)
    ('yes', 1, 0.751)
    """
    if len(train):
        counts = np.bincount(train, minlength=len(classes))
    else:
        counts, delta = class_counts(certify, len(classes), repeats), delta / len(classes)
    code = int(counts.argmax())
    return fixed_statement("majority", str(classes[code]), certify != code, delta, entities, repeats, in_order)


def class_counts(labels: Labels, n_classes: int, repeats: Repeats | None = None) -> NDArray[np.int64]:
    """How many rows have each class, where each row stands for so many."""
    if repeats is None:
        return np.bincount(labels, minlength=n_classes)
    counts = np.zeros(n_classes, dtype=np.int64)
    np.add.at(counts, labels, repeats)
    return counts
