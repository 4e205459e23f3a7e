"""Which kinds of models earn their place in a mixed vote."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from certivote.voters._entities import row_weights
from certivote.voters._kinds import Member, Training
from certivote.voters._members import FoldedMember, NeighbourMember

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

_ROWS, _TREES = 4_500, 34
"""Training rows on which the kinds are tried where there are many, and trees of a forest in that trial."""
_ENOUGH = 2_000
"""Rows whose two thirds are enough to try the kinds on."""
_CAUTION = 20.0
"""How much a squared deviation of the weights from equal ones counts, against one of a vote from the truth."""


def trained(training: Training) -> tuple[Member, ...]:
    """The members of a mixed vote: of all kinds, those that earn weight by their votes on rows they have not seen.

    Where rows are many, a few thousand of them decide which kinds are trained in full. Where they are few, each kind
    is tried on all of them, and what the trial has trained is not trained again.
    """
    if training.is_long:
        few = training.some(_ROWS)
        earned = _earned(few, few.trial(n_folds=1, n_trees=_TREES))
        return training.members({kind: None for kind in earned if earned[kind] >= training.price(kind)})
    tried = training.trial(n_folds=3 if len(training.y) < _ENOUGH else 2)
    earned = _earned(training, tried)
    return training.members({kind: tried[kind] for kind in earned if earned[kind] >= training.price(kind)})


def _earned(training: Training, tried: dict[str, Member]) -> dict[str, float]:
    """The weights of kinds by what they add to what the others say; the weights have sum 1.

    Non-negative least squares of the classes on the votes (Breiman, "Stacked regressions", 1996), with weights kept
    near equal ones: where rows are few, chance would choose.
    """
    rows = np.flatnonzero(left_out(tried.values(), len(training.y)))
    votes = [unseen_votes(member, training.X, rows, training.n_classes) for member in tried.values()]
    heavy = row_weights(None if training.entities is None else training.entities[rows])
    roots = np.ones(len(rows)) if heavy is None else np.sqrt(heavy)
    columns = (np.concatenate(votes, axis=1) * roots[:, None, None]).transpose(0, 2, 1)
    wanted = np.eye(training.n_classes)[training.y[rows]] * roots[:, None]
    sizes = [own.shape[1] for own in votes]
    equal = np.repeat(1.0 / np.multiply(sizes, len(sizes)), sizes)
    near = np.sqrt(_CAUTION) * np.eye(len(equal))
    found, _ = nnls(np.vstack([columns.reshape(-1, len(equal)), near]), np.append(wanted, near @ equal))
    sums = np.add.reduceat(found, np.cumsum([0, *sizes[:-1]]))
    return dict(zip(tried, (sums / sums.sum()).tolist(), strict=True))


def left_out(members: Iterable[Member], n_rows: int) -> NDArray[np.bool_]:
    """Which of ``n_rows`` training rows all members have out-of-sample votes on."""
    every = np.ones(n_rows, dtype=bool)
    for member in members:
        if isinstance(member, FoldedMember):
            every &= member.left_out
    return every


def unseen_votes(member: Member, X: Array, rows: Rows, n_classes: int) -> Array:
    """Out-of-sample votes of shape (len(rows), n_groups, n_classes)."""
    if isinstance(member, FoldedMember):
        return member.out_of_sample(rows, n_classes)
    if isinstance(member, NeighbourMember):
        return member.out_of_sample(X, rows, n_classes)
    return member.unseen_fractions(X, rows)[:, None, :]
