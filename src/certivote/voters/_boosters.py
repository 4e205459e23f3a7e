"""Boosters of other libraries, CatBoost and LightGBM: trained with these, stored and voting as plain arrays."""

import json
import tempfile
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certivote.voters._boosting import Boosting
from certivote.voters._machines import Always
from certivote.voters._oblivious import ObliviousTrees

Array = NDArray[np.float64]
Codes = NDArray[np.intp]

BOOSTERS = ("catboost", "lightgbm")
"""The libraries, which are the names of the kinds too."""
N_STAGES = 3
"""Numbers of iterations after which boosting votes."""
_CATBOOST = {"quick": (50, 100, 200), "long": (75, 150, 300)}
_LIGHTGBM = {"quick": (0.1, (25, 50, 100)), "long": (0.05, (75, 150, 300))}
"""Iterations after which to take a vote, and the learning rates of LightGBM. CatBoost chooses its own by the numbers of
rows and iterations. The long way is for many rows of two classes."""
_DEFAULT_LEFT, _MISSING_SHIFT, _NAN = 2, 2, 2
"""In what LightGBM writes of a node: the bit for missing values that go to the left, and how it knows them."""


def check_installed(libraries: Sequence[str]) -> None:
    """Raise an ImportError unless they can be imported."""
    for name in libraries:
        try:
            import_module(name)
        except ImportError as error:
            why = f"pip install 'certivote[boost]' ({error!s:.200})."
            raise ImportError(f"Voters of the kind {name!r} need the package {name}: {why}") from error


def fit_booster(
    library: str, X: Array, y: Codes, weights: Array | None, seed: int, pace: str
) -> Boosting | ObliviousTrees | Always:
    """A booster of the library, trained on these rows on one thread.

    Parameters
    ----------
    library : str
        One of :data:`BOOSTERS`.
    X, y : arrays
        The training rows, NaN where a value is missing, and the codes of their classes, two at least.
    weights : array of float or None
        Positive weights of the rows.
    seed : int
    pace : {"quick", "long"}
    """
    classes, labels, counts = np.unique(y, return_inverse=True, return_counts=True)
    most_frequent = Always(int(classes[counts.argmax()]), N_STAGES)
    if library == "lightgbm":
        return _lightgbm(X, labels, weights, seed, classes, *_LIGHTGBM[pace]) or most_frequent
    return _catboost(X, labels, weights, seed, classes, _CATBOOST[pace]) or most_frequent


def _catboost(
    X: Array, y: Codes, weights: Array | None, seed: int, classes: Codes, stages: Sequence[int]
) -> ObliviousTrees | None:
    """None where no column tells anything."""
    from catboost import CatBoostClassifier

    rows = np.ascontiguousarray(X, dtype=np.float32)
    if not np.any(np.nanmin(rows, axis=0) < np.nanmax(rows, axis=0)) and not _some_missing(rows):
        return None
    model = CatBoostClassifier(
        iterations=max(stages),
        loss_function="Logloss" if len(classes) == 2 else "MultiClass",
        random_seed=seed,
        thread_count=1,
        allow_writing_files=False,
        logging_level="Silent",
    )
    model.fit(rows, y, sample_weight=weights)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        written = json.loads(path.read_text(encoding="utf-8"))
    return ObliviousTrees.read(written, stages, classes.astype(np.int64))


def _some_missing(rows: NDArray[np.float32]) -> bool:
    missing = np.isnan(rows).mean(axis=0)
    return bool(np.any((missing > 0.0) & (missing < 1.0)))


def _lightgbm(
    X: Array,
    y: Codes,
    weights: Array | None,
    seed: int,
    classes: Codes,
    rate: float,
    stages: Sequence[int],
) -> Boosting | None:
    """None where no column tells anything."""
    import lightgbm

    parameters: dict[str, Any] = {"objective": "binary"}
    if len(classes) > 2:
        parameters = {"objective": "multiclass", "num_class": len(classes)}
    parameters |= {
        "learning_rate": rate,
        "seed": seed,
        "deterministic": True,
        "force_row_wise": True,
        "num_threads": 1,
        "verbosity": -1,
    }
    rows = lightgbm.Dataset(np.ascontiguousarray(X, dtype=np.float64), y, weight=weights)
    written = lightgbm.train(parameters, rows, max(stages)).model_to_string(num_iteration=-1)
    trees = list(_lightgbm_trees(written))
    n_scores = 1 if len(classes) == 2 else len(classes)
    done = len(trees) // n_scores  # it ends where no split is left
    if not done:
        return None
    return Boosting.of_nodes(
        *zip(*trees, strict=True),
        n_columns=X.shape[1],
        baseline=np.zeros(n_scores),
        stages=[min(stage, done) for stage in stages],
        classes=classes,
    )


def _lightgbm_trees(written: str) -> Iterator[tuple[NDArray[Any], ...]]:
    """Of each tree, its inner nodes and then its leaves, as :meth:`Boosting.of_nodes` takes them."""
    for block in written.split("end of trees")[0].split("\nTree=")[1:]:
        lines = dict(line.split("=", 1) for line in block.splitlines() if "=" in line)

        def numbers(name: str, kind: Any, lines: dict[str, str] = lines) -> NDArray[Any]:
            return np.array(lines.get(name, "").split(), dtype=kind)

        leaves, threshold = numbers("leaf_value", np.float64), numbers("threshold", np.float64)
        inner, none = len(leaves) - 1, np.full(len(leaves), -1)
        sides = [numbers(name, np.int64) for name in ("left_child", "right_child")]
        # A child that is a leaf is the complement of its number.
        left, right = (np.append(np.where(side < 0, inner + ~side, side), none) for side in sides)
        kinds = numbers("decision_type", np.int64)
        # In a column without missing values in training, a missing one counts as 0.
        known = (kinds >> _MISSING_SHIFT) & 3 == _NAN
        missing_left = np.where(known, kinds & _DEFAULT_LEFT != 0, threshold >= 0.0)
        padding = np.zeros(len(leaves))
        yield (
            np.append(numbers("split_feature", np.int64), none),
            np.append(threshold, padding),
            left,
            right,
            np.append(missing_left, padding.astype(bool)),
            np.append(np.zeros(inner), leaves),
        )
