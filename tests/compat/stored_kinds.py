"""Models of every kind, each with rows to ask it about: written under one set of libraries, opened under another."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from certivote import CertifiedVoteClassifier
from certivote.voters import ColumnEncoder, Forest, Mixed, Preprocessed, Stumps, _mixed

Columns = dict[str, list[Any]]
"""A table in values that JSON can hold, so that every library reads the same numbers and texts."""


@dataclass(frozen=True)
class Kind:
    """How a model is fitted, and to what.

    Attributes
    ----------
    parameters : function without arguments
        Gives those of the classifier.
    table : function without arguments
        Gives columns and labels.
    rows : function of columns
        Gives rows as the classifier wants them.
    patched : dict
        Names in ``certivote.voters._mixed`` that are other numbers meanwhile, so that few rows count as many.
    slim : bool
        Whether voters of weight zero are left out of the file.
    brought : bool
        Whether its voters are objects of another library, which the file holds as they are.
    """

    parameters: Callable[[], dict[str, Any]]
    table: Callable[[], tuple[Columns, list[Any]]]
    rows: Callable[[Columns], Any]
    patched: dict[str, int] = field(default_factory=dict)
    slim: bool = False
    brought: bool = False

    def fit(self, columns: Columns, labels: list[Any]) -> CertifiedVoteClassifier:
        with mock.patch.multiple(_mixed, **self.patched) if self.patched else mock.MagicMock():
            return CertifiedVoteClassifier(random_state=0, **self.parameters()).fit(self.rows(columns), labels)


def as_array(columns: Columns) -> Any:
    return np.array(list(columns.values()), dtype=float).T


def as_sparse(columns: Columns) -> Any:
    return sparse.csr_array(as_array(columns))


def as_frame(columns: Columns) -> Any:
    """As a user makes it, in the types that this pandas prefers."""
    frame = pd.DataFrame(columns)
    return frame.assign(seen=pd.to_datetime(frame["seen"]), ward=frame["ward"].astype("category"))


def mingled(columns: Columns, n_rows: int, rng: np.random.Generator) -> Columns:
    """Rows that are none of these: each value comes from the same column of another row."""
    return {name: [values[row] for row in rng.integers(len(values), size=n_rows)] for name, values in columns.items()}


def cancer(missing: float = 0.0) -> tuple[Columns, list[Any]]:
    X, y = load_breast_cancer(return_X_y=True)
    absent = np.random.default_rng(0).random(X.shape) < missing
    return _columns(np.where(absent, np.nan, X)), y.tolist()


def digits() -> tuple[Columns, list[Any]]:
    X, y = load_digits(return_X_y=True)
    return _columns(X[:600]), y[:600].tolist()


def patients() -> tuple[Columns, list[Any]]:
    """Numbers with gaps, texts, dates, categories and truth values; labels are texts."""
    rng, n = np.random.default_rng(0), 500
    age, days = rng.integers(20, 90, n), rng.integers(0, 2000, n)
    pressure = [None if rng.random() < 0.1 else float(value) for value in rng.normal(130, 15, n).round(1)]
    ward, town = rng.choice(["A", "B", "C"], n), rng.choice(["Köln", "Łódź", "Paris", "Rome"], n)
    smokes = rng.random(n) < 0.3
    risk = age / 10 + 2.0 * (ward == "A") + days / 1000 + 2.0 * smokes + rng.normal(0, 0.5, n)
    columns = {
        "age": age.tolist(),
        "pressure": pressure,
        "seen": (np.datetime64("2020-01-01") + days).astype(str).tolist(),
        "ward": ward.tolist(),
        "town": [None if rng.random() < 0.05 else str(name) for name in town],
        "smokes": smokes.tolist(),
    }
    return columns, np.where(risk > np.median(risk), "ill", "well").tolist()


def _columns(X: Any) -> Columns:
    """Missing values are None, which JSON has a word for."""
    columns = enumerate(X.T.tolist())
    return {str(place): [None if np.isnan(value) else value for value in column] for place, column in columns}


def _forest(kind: Any, **parameters: Any) -> Forest:
    return Forest(kind(n_estimators=30, **parameters))


_BOOSTERS = Mixed(kinds=["catboost", "lightgbm"])
KINDS = {
    "auto": Kind(dict, lambda: cancer(missing=0.05), as_array),
    "mixed, ten classes": Kind(lambda: {"method": "dis-b", "voters": "mixed"}, digits, as_array),
    "mixed with landmarks": Kind(
        lambda: {"method": "dis-b", "voters": "mixed"}, digits, as_array, patched={"_MANY": 100}
    ),
    "mixed, random vote": Kind(lambda: {"method": "smv-mc", "voters": "mixed"}, cancer, as_array),
    "table": Kind(lambda: {"method": "dis-b", "voters": Preprocessed(ColumnEncoder(), "mixed")}, patients, as_frame),
    "table, CatBoost and LightGBM": Kind(
        lambda: {"method": "dis-b", "voters": Preprocessed(ColumnEncoder(), _BOOSTERS)}, patients, as_frame
    ),
    "CatBoost and LightGBM, ten classes": Kind(lambda: {"method": "dis-b", "voters": _BOOSTERS}, digits, as_array),
    "random forest": Kind(
        lambda: {"method": "dis-r", "voters": _forest(RandomForestClassifier)}, lambda: cancer(missing=0.05), as_array
    ),
    "random forest, slim": Kind(
        lambda: {"method": "dis-b", "voters": _forest(RandomForestClassifier), "split": "cross"},
        digits,
        as_array,
        slim=True,
    ),
    "extra trees, sparse rows": Kind(
        lambda: {"method": "dis-b", "voters": _forest(ExtraTreesClassifier)}, digits, as_sparse
    ),
    "stumps": Kind(lambda: {"method": "dis-b", "voters": Stumps(n_thresholds=3)}, cancer, as_array),
    "classifiers of one's own": Kind(
        lambda: {
            "method": "dis-b",
            "voters": [
                LogisticRegression(max_iter=5000),
                RandomForestClassifier(n_estimators=10),
                HistGradientBoostingClassifier(max_iter=20),
            ],
        },
        cancer,
        as_array,
        brought=True,
    ),
}
