"""How tight one deterministic certificate is: beside the paper's figures, and beside plain hold-out.

Random splits of 80 % training rows, delta 0.05. A table for each question:

1. The paper's voters (stumps on declared ranges, certified on all rows; two forests of 100 trees, the deployed vote's
   own certificate), method dis-b: below the best of the paper's seven methods?
2. ``method="auto"`` beside the better of two hold-outs of the same rows: RandomForest and HistGradientBoosting with
   default parameters, each fitted on half of them and certified by Clopper-Pearson on the other half. (Where early
   stopping of the boosting fails for lack of rows of a class, it is switched off.)
3. The test error of auto's vote beside that of a RandomForest on the same teaching rows, and the time of auto beside
   that of teaching its voters on those rows.

Finished runs are kept in a CSV file and never repeated. Set CERTIVOTE_DATA, or give the data directory.
"""

import csv
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

from certivote import CertifiedVoteClassifier
from certivote.bounds import holdout
from certivote.datasets import DATASETS, Dataset, load
from certivote.experiments import METHODS, published
from certivote.voters import Forest, Mixed, Stumps

DELTA = 0.05
FIELDS = (
    "dataset",
    "seed",
    "what",
    "bound",
    "test_error",
    "seconds",
    "teaching_share",
    "forest_error",
    "teaching_seconds",
)
UNAVAILABLE = ("protein", "sensorless")
Result = dict[str, float]


def main(
    data: Annotated[Path | None, typer.Option(envvar="CERTIVOTE_DATA", help="Data directory.")] = None,
    repeats: int = 5,
    dataset: Annotated[list[str] | None, typer.Option(help="Only these.")] = None,
    out: Annotated[Path, typer.Option(help="Where the runs and the tables are kept.")] = Path("benchmarks/results"),
    tables: Annotated[bool, typer.Option("--tables", help="Run nothing, only write the tables.")] = False,
) -> None:
    out.mkdir(parents=True, exist_ok=True)
    path = out / "tightness.csv"
    for seed in range(0 if tables else repeats):
        for name in dataset or [name for name in DATASETS if name not in UNAVAILABLE]:
            finished = {row["what"] for row in read(path) if (row["dataset"], row["seed"]) == (name, str(seed))}
            content = load(name, data) if set(RUNS) - finished else None
            for what in RUNS:
                if content is not None and what not in finished:
                    train, test = np.split(
                        np.random.default_rng(seed).permutation(len(content.y)), [len(content.y) * 4 // 5]
                    )
                    record(
                        path, {"dataset": name, "seed": seed, "what": what, **RUNS[what](content, train, test, seed)}
                    )
    text = report(read(path))
    (out / "tightness.md").write_text(text, encoding="utf-8")
    typer.echo(text)


def same_voters(content: Dataset, train: np.ndarray, test: np.ndarray, seed: int) -> Result:
    if content.ranges is None:
        # As in the research code, each tree sees half of its forest's rows.
        voters, split = Forest(RandomForestClassifier(max_samples=0.5, n_jobs=2)), "cross"
    else:
        voters, split = Stumps(ranges=content.ranges), "none"
    return fitted(
        CertifiedVoteClassifier("dis-b", voters, split, delta=DELTA, random_state=seed), content, train, test
    )[1]


def auto(content: Dataset, train: np.ndarray, test: np.ndarray, seed: int) -> Result:
    """The default method; then a RandomForest on its teaching rows, and its voters taught on them once more."""
    voters = Mixed(n_jobs=2)
    clf, result = fitted(CertifiedVoteClassifier(voters=voters, delta=DELTA, random_state=seed), content, train, test)
    teach = train[clf.fold_.teach]
    X, y = content.X[teach], content.y[teach]
    forest = RandomForestClassifier(random_state=seed, n_jobs=2).fit(X, y)
    start = time.process_time()
    voters.teach(X, y, clf.classes_, np.random.default_rng(seed))
    return {
        **result,
        "teaching_share": len(teach) / len(train),
        "forest_error": error(forest, content, test),
        "teaching_seconds": time.process_time() - start,
    }


def fitted(clf: Any, content: Dataset, train: np.ndarray, test: np.ndarray) -> tuple[Any, Result]:
    start = time.process_time()
    clf.fit(content.X[train], content.y[train])
    seconds = time.process_time() - start
    return clf, {"bound": clf.certificate_.bound, "test_error": error(clf, content, test), "seconds": seconds}


def error(classifier: Any, content: Dataset, rows: np.ndarray) -> float:
    return float(np.mean(classifier.predict(content.X[rows]) != content.y[rows]))


def held_out(model: Callable[[int], Any]) -> Callable[[Dataset, np.ndarray, np.ndarray, int], Result]:
    def run(content: Dataset, train: np.ndarray, test: np.ndarray, seed: int) -> Result:
        teach, certify = np.array_split(train, 2)
        X, y = content.X[teach], content.y[teach]
        classifier = model(seed)
        start = time.process_time()
        try:
            classifier.fit(X, y)
        except ValueError:
            classifier.set_params(early_stopping=False).fit(X, y)
        seconds = time.process_time() - start
        errors = round(error(classifier, content, certify) * len(certify))
        return {
            "bound": holdout(errors, len(certify), DELTA),
            "test_error": error(classifier, content, test),
            "seconds": seconds,
        }

    return run


RUNS: dict[str, Callable[[Dataset, np.ndarray, np.ndarray, int], Result]] = {
    "same voters": same_voters,
    "hold-out forest": held_out(lambda seed: RandomForestClassifier(random_state=seed, n_jobs=2)),
    "hold-out boosting": held_out(lambda seed: HistGradientBoostingClassifier(random_state=seed)),
    "auto": auto,
}


def read(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def record(path: Path, row: dict[str, Any]) -> None:
    new = not path.exists()
    with open(path, "a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerow(row)


def report(rows: list[dict[str, str]]) -> str:
    def mean(name: str, what: str, field: str = "bound") -> float:
        return statistics.fmean(float(row[field]) for row in rows if (row["dataset"], row["what"]) == (name, what))

    runs = {
        name: [sum((row["dataset"], row["what"]) == (name, what) for row in rows) for what in RUNS] for name in DATASETS
    }
    paired = [name for name, counts in runs.items() if counts[0] > 0]
    names = [name for name, counts in runs.items() if min(counts) > 0]
    if not names:
        return "No dataset has all its runs.\n"
    paper = {name: {method: published()["bound", name, method][0] / 100.0 for method in METHODS} for name in paired}
    same = [
        (
            name,
            mean(name, "same voters"),
            min(paper[name].values()),
            paper[name]["dis-r"],
            mean(name, "same voters", "test_error"),
        )
        for name in paired
    ]
    held = []
    for name in names:
        forest, boosting = mean(name, "hold-out forest"), mean(name, "hold-out boosting")
        held.append((name, mean(name, "auto"), forest, boosting, mean(name, "auto") / min(forest, boosting)))
    cost = [
        (
            name,
            mean(name, "auto", "teaching_share"),
            mean(name, "auto", "test_error"),
            mean(name, "auto", "forest_error"),
            mean(name, "auto", "seconds") / mean(name, "auto", "teaching_seconds"),
        )
        for name in names
    ]
    lines = [
        "### The paper's voters, one deterministic vote",
        "",
        'Plurality loss, dis-b with `prior="auto"`, constant exact, δ = 0.05, mean over the splits; bounds in %. '
        "Paper: half-weight loss, mean of 10 splits.",
        "",
        "| dataset | splits | bound | paper, best of seven | paper, dis-r | ratio to dis-r | test error |",
        "|---|--:|--:|--:|--:|--:|--:|",
        *(
            f"| {name} | {runs[name][0]} | {100 * bound:.2f} | {100 * best:.2f} | {100 * ratio:.2f} | "
            f"{bound / ratio:.2f} | {100 * test:.2f} |"
            for name, bound, best, ratio, test in same
        ),
        "",
        f"Below the paper's best on {sum(row[1] < row[2] for row in same)} of {len(same)}; mean ratio to the paper's "
        f"dis-r {statistics.fmean(row[1] / row[3] for row in same):.3f}.",
        "",
        '### `method="auto"` beside plain hold-out',
        "",
        "Plurality loss, δ = 0.05, mean over the splits; bounds in %. Hold-outs: fitted on one half of the training "
        "rows, Clopper–Pearson on the other.",
        "",
        "| dataset | splits | auto | forest, held out | boosting, held out | ratio to the better |",
        "|---|--:|--:|--:|--:|--:|",
        *(
            f"| {name} | {runs[name][3]} | {100 * bound:.2f} | {100 * forest:.2f} | {100 * boosting:.2f} | "
            f"{ratio:.3f} |"
            for name, bound, forest, boosting, ratio in held
        ),
        "",
        f"Mean ratio {statistics.fmean(row[4] for row in held):.3f}; largest {max(row[4] for row in held):.3f}.",
        "",
        "### What the vote of auto is worth, and what it takes",
        "",
        "Test errors in %; time in seconds of the processor, as a ratio to teaching the same voters on the same rows "
        "once.",
        "",
        "| dataset | share that teaches | test error | RandomForest on the same rows | ratio | time ratio |",
        "|---|--:|--:|--:|--:|--:|",
        *(
            f"| {name} | {share:.2f} | {100 * own:.2f} | {100 * forest:.2f} | "
            f"{own / forest if forest else float(own > 0):.2f} | {ratio:.2f} |"
            for name, share, own, forest, ratio in cost
        ),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    typer.run(main)
