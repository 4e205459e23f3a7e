"""Boosters of xgboost as plain arrays, read after some of their rounds."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certivote.voters._ballots import BALLOTS, staged_ballots
from certivote.voters._base import FittedVoters
from certivote.voters._boosting import Boosting
from certivote.voters._members import FoldedMember
from certivote.voters._mixed import FittedMixed

_STAGES = (20, 60, 150)
"""Rounds after which the booster votes."""
BOOSTER_ROUNDS = max(_STAGES)
_LEAVES = 31


def booster_parameters(n_classes: int, seed: int) -> dict[str, Any]:
    """How to train a booster that :func:`read_booster` can read."""
    kind: dict[str, Any] = {"objective": "binary:logistic"}
    if n_classes > 2:
        kind = {"objective": "multi:softprob", "num_class": n_classes}
    return {
        **kind,
        "tree_method": "hist",
        "grow_policy": "lossguide",
        "max_leaves": _LEAVES,
        "max_depth": 0,
        "learning_rate": 0.15,
        "seed": seed,
        "verbosity": 0,
    }


def read_booster(model: bytes, n_columns: int, n_classes: int, stages: Sequence[int] = _STAGES) -> Boosting:
    """The trees of a booster, from its own JSON.

    A node of xgboost sends a row to the left if its value is below the threshold, one of a :class:`Boosting` if it is
    not above: so thresholds become the next smaller number of single precision.

    Parameters
    ----------
    model : bytes
        What ``save_raw("json")`` returns.
    n_columns, n_classes : int
    stages : sequence of int
        Rounds after which to take a vote.
    """
    learner = json.loads(model)["learner"]
    trees, given = learner["gradient_booster"]["model"]["trees"], learner["learner_model_param"]["base_score"]
    base = np.atleast_1d(np.array(json.loads(given), dtype=np.float64))
    n_scores = n_classes if n_classes > 2 else 1
    # The base of two classes is a probability.
    baseline = np.log(base / (1.0 - base)) if n_scores == 1 else np.broadcast_to(base, n_scores)
    left = [np.array(tree["left_children"]) for tree in trees[: max(stages) * n_scores]]
    few = trees[: len(left)]
    conditions = [np.array(tree["split_conditions"], dtype=np.float32) for tree in few]
    return Boosting.of_nodes(
        [np.where(own < 0, -1, tree["split_indices"]) for own, tree in zip(left, few, strict=True)],
        [np.nextafter(own, np.float32(-np.inf)).astype(np.float64) for own in conditions],
        left,
        [np.array(tree["right_children"]) for tree in few],
        [np.array(tree["default_left"]).astype(bool) for tree in few],
        [own.astype(np.float64) for own in conditions],
        n_columns=n_columns,
        baseline=np.array(baseline),
        stages=stages,
        classes=np.arange(n_classes),
    )


def with_booster(own: FittedVoters, model: bytes, X: NDArray[Any], n_classes: int) -> FittedVoters:
    """Mixed voters and the stages of a booster that has seen none of the rows that weigh them, ``X``."""
    if not isinstance(own, FittedMixed):
        raise TypeError(f"A booster votes with mixed voters; got {type(own).__name__}.")
    boosting = read_booster(model, X.shape[1], n_classes)
    unseen = staged_ballots(boosting, X, BALLOTS).astype(np.int32)
    columns = np.arange(X.shape[1], dtype=np.int64)
    member = FoldedMember((boosting,), (columns,), len(boosting.stages), unseen, BALLOTS)
    raced, kept = (*own.raced, "xgboost"), (*own.kept, "xgboost")
    return replace(own, members=(*own.members, member), raced=raced, kept=kept)
