"""What always answering the most frequent class would achieve, certified on the same rows."""

from dataclasses import dataclass

import numpy as np

from certivote.theory.bounds import holdout
from certivote.theory.risks import Labels

__all__ = ["Majority", "certified_majority"]


@dataclass(frozen=True)
class Majority:
    """A class, the certification rows of other classes, and the bound on the error of always answering it."""

    code: int
    errors: int
    bound: float


def certified_majority(train: Labels, certify: Labels, n_classes: int, delta: float) -> Majority:
    """The most frequent class of the training rows, certified like a vote that no certification row has influenced.

    Without training rows the certification rows choose it, and the bound holds for all classes at once. Of several
    that are equally frequent it is the first.

    Examples
    --------
    >>> majority = certified_majority(np.array([0, 1, 1]), np.array([1, 1, 0, 1]), n_classes=2, delta=0.05)
    >>> majority.code, majority.errors, round(majority.bound, 3)
    (1, 1, 0.751)
    """
    chosen_from, level = (train, delta) if len(train) else (certify, delta / n_classes)
    code = int(np.bincount(chosen_from, minlength=n_classes).argmax())
    errors = int(np.count_nonzero(certify != code))
    return Majority(code, errors, holdout(errors, len(certify), level))
