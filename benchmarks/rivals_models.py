"""The models of ``rivals.py``: each is fitted and measured here, in a process of its own.

    python rivals_models.py WHAT

takes names of files from the standard input, each with the rows of one split, and answers each with a line of JSON.
certivote is that of this process, which may be the package of commit ``BEFORE``.
"""

import json
import pickle
import sys
import tempfile
import time
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

BEFORE = "f76bad9"
RIVALS = "rivals"
"""The four together."""
FOUR = {"forest": "scikit-learn", "boosting": "scikit-learn", "lightgbm": "lightgbm", "catboost": "catboost"}
"""Of which packages they are."""
OURS = (BEFORE, "now", "boosted")
DELTA = 0.05
FOLDS = 3


def work(what: str) -> None:
    """Begin with a small fit, whose time does not count."""
    warnings.simplefilter("ignore")
    measured = four if what == RIVALS else own
    rng = np.random.default_rng(0)
    X, y = pd.DataFrame(rng.normal(size=(300, 3))), rng.choice(["a", "b"], 300)
    measured(what, X[:200], y[:200], X[200:], y[200:], 0)
    for line in sys.stdin:
        content = pickle.loads(Path(line.strip()).read_bytes())
        print(json.dumps(measured(what, *content)), flush=True)


def words_of(X: pd.DataFrame) -> list[Any]:
    """The columns that do not hold numbers."""
    return [column for column in X if X[column].dtype.kind not in "if"]


def own(what: str, X: pd.DataFrame, y: Any, X_test: pd.DataFrame, y_test: Any, seed: int) -> list[dict[str, Any]]:
    """One fit by the certivote that this process imports."""
    from certivote import CertifiedVoteClassifier

    voters: Any = what if what == "boosted" else "auto"
    rows: tuple[Any, Any] = X, X_test
    if not words_of(X):
        rows = X.to_numpy(), X_test.to_numpy()
    elif what == BEFORE:
        from certivote.voters import ColumnEncoder, Mixed, Preprocessed

        voters = Preprocessed(ColumnEncoder(), Mixed())
    clf = CertifiedVoteClassifier(voters=voters, delta=DELTA, random_state=seed)
    found = fitted(clf, *rows, y, y_test)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.certivote"
        clf.save(file)
        size = file.stat().st_size
    return [{"what": what, "rows": len(y), "bound": clf.certificate_.bound, "size": size, **found}]


def fitted(model: Any, X: Any, X_test: Any, y: Any, y_test: Any) -> dict[str, Any]:
    """Fit the model; its test error, and its seconds of the processor: to fit, and to predict a million rows."""
    start = time.process_time()
    model.fit(X, y)
    trained = time.process_time()
    answered = np.ravel(model.predict(X_test))
    predicted = time.process_time()
    return {
        "test_error": float(np.mean(answered != y_test)),
        "fit": trained - start,
        "predict": 1e6 * (predicted - trained) / len(y_test),
    }


def taken(X: Any, rows: Any) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def four(_: str, X: pd.DataFrame, y: Any, X_test: pd.DataFrame, y_test: Any, seed: int) -> list[dict[str, Any]]:
    """The others on the same rows."""
    from sklearn.model_selection import StratifiedKFold

    from certivote.theory.bounds import holdout

    labels = np.unique(np.concatenate([y, y_test]))
    y, y_test = np.searchsorted(labels, y), np.searchsorted(labels, y_test)
    seen, unseen = np.array_split(np.random.default_rng([seed, 1]).permutation(len(y)), 2)
    folds = list(StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(X, y))
    found = []
    for name, package in FOUR.items():
        rows, rows_test = prepared(name, X, X), prepared(name, X, X_test)

        def errors(train: Any, others: Any, name: str = name, rows: Any = rows) -> int:
            model = made(name, rows, seed)
            share = fitted(model, taken(rows, train), taken(rows, others), y[train], y[others])["test_error"]
            return round(share * len(others))

        model = made(name, rows, seed)
        whole = fitted(model, rows, rows_test, y, y_test)
        found.append(
            {
                "what": name,
                "version": f"{package} {version(package)}",
                "rows": len(y),
                "bound": holdout(errors(seen, unseen), len(unseen), DELTA),
                "cv_error": sum(errors(*fold) for fold in folds) / len(y),
                "size": len(pickle.dumps(model)),
                **whole,
            }
        )
    return found


def prepared(name: str, known: pd.DataFrame, X: pd.DataFrame) -> Any:
    """The columns of words as the model wants them, by those that training rows know."""
    words = words_of(known)
    if not words:
        return X.to_numpy()
    if name == "catboost":
        return X.assign(**{column: X[column].astype(str).where(X[column].notna(), "missing") for column in words})
    columns = {column: pd.Categorical(X[column], sorted(known[column].dropna().unique())) for column in words}
    if name == "forest":
        codes = {column: np.where(content.codes < 0, np.nan, content.codes) for column, content in columns.items()}
        return X.assign(**codes).to_numpy(dtype=float)
    return X.assign(**columns)


def made(name: str, X: Any, seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

    if name == "forest":
        return RandomForestClassifier(100, random_state=seed)
    if name == "boosting":
        return HistGradientBoostingClassifier(random_state=seed)
    if name == "lightgbm":
        from lightgbm import LGBMClassifier

        return LGBMClassifier(n_estimators=300, learning_rate=0.05, random_state=seed, n_jobs=1, verbose=-1)
    from catboost import CatBoostClassifier

    words = words_of(X) if hasattr(X, "iloc") else None
    return CatBoostClassifier(
        random_seed=seed, thread_count=1, verbose=0, allow_writing_files=False, cat_features=words
    )


if __name__ == "__main__":
    work(sys.argv[1])
