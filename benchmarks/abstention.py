"""How many cases are answered where at most so many answers may be wrong: beside an oracle, and beside MAPIE.

The target is half of the vote's own error, delta is 0.05, and 5,000 rows are certified on, in random splits. Errors and
coverage are those on all rows that are neither trained nor certified on; the oracle knows them, and answers as many of
these as it can. What is compared:

- drawn vote: a forest whose weights are learned and drawn on the certified rows (dis-b), with training rows as guide;
- fixed vote: the same with all weights equal (holdout);
- given model: a RandomForest by way of ``certify``, which sets a fifth of the certified rows aside as guide;
- for the last two, MAPIE's controller for several classes with the same model, the same 5,000 rows and the same target:
  its default (Bonferroni-Holm over 100 thresholds), and its fixed sequence of the same thresholds from the surest down.
  MAPIE bounds the error among the answers; certivote also bounds the coverage, from the same delta. Of the thresholds
  that MAPIE admits, the one with the largest coverage is taken. Its thresholds are of the largest mass, those of
  certivote of the margin between the two largest: with two classes, both order the cases in the same way.

Finished runs are kept in a CSV file and never repeated. Set CERTIVOTE_DATA, or give the data directory; ``--tables``
makes the tables of that file again. Install mapie for the comparison with it; without it these runs are left out.
"""

import statistics
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from finished import read, record
from sklearn.ensemble import RandomForestClassifier

from certivote import CertifiedVoteClassifier, certify
from certivote.certificate import PromiseRecord
from certivote.paper import Dataset, load
from certivote.promises import Abstention, margins
from certivote.splits import Single

try:
    from mapie.risk_control import BinaryRisk, MultiClassificationLTTController
except ImportError:
    MultiClassificationLTTController = None

DELTA, CERTIFIED = 0.05, 5_000
TRAINED = {"pendigits": 2_500, "codrna": 5_000, "adult": 5_000}
VOTES = {"drawn vote": "dis-b", "fixed vote": "holdout"}
GIVEN = "given model"
MAPIE = {"MAPIE": "bonferroni_holm", "MAPIE, fixed sequence": "fixed_sequence"}
FIELDS = ("dataset", "seed", "model", "by", "own_error", "max_error", "oracle", "coverage", "at_least", "error")
Masses = np.ndarray
Rows = list[dict[str, str]]


def main(
    data: Annotated[Path | None, typer.Option(envvar="CERTIVOTE_DATA", help="Data directory.")] = None,
    splits: int = 20,
    dataset: Annotated[list[str] | None, typer.Option(help="Only these.")] = None,
    out: Annotated[Path, typer.Option(help="Where the runs and the tables are kept.")] = Path("benchmarks/results"),
    tables: Annotated[bool, typer.Option("--tables", help="Run nothing, only write the tables.")] = False,
) -> None:
    out.mkdir(parents=True, exist_ok=True)
    path = out / "abstention.csv"
    if not tables and MultiClassificationLTTController is None:
        typer.echo("mapie is not installed: runs with it are left out (pip install mapie).", err=True)
    for seed in range(0 if tables else splits):
        for name in dataset or TRAINED:
            finished = {row["model"] for row in read(path) if (row["dataset"], row["seed"]) == (name, str(seed))}
            missing = [model for model in (*VOTES, GIVEN) if model not in finished]
            content = load(name, data) if missing else None
            for model in missing:
                found = compared(content, model, seed)
                record(path, FIELDS, *({"dataset": name, "seed": seed, "model": model} | short(row) for row in found))
    text = as_tables(read(path))
    path.with_suffix(".md").write_text(text, encoding="utf-8")
    typer.echo(text)


def compared(content: Dataset, model: str, seed: int) -> list[dict[str, object]]:
    """The same model and rows, with every way to a threshold."""
    trained = TRAINED[content.name]
    order = np.random.default_rng(seed).permutation(len(content.y))
    own, rest = np.split(order, [trained + CERTIFIED])
    X, y = content.X[own], content.y[own]
    fit = voted(VOTES[model], trained / len(own), seed) if model in VOTES else forest(trained, seed)
    predict, certified, promise = fit(X, y)
    masses = predict(content.X[rest])
    scores, wrong = margins(masses), np.unique(content.y)[masses.argmax(axis=1)] != content.y[rest]
    max_error = float(wrong.mean()) / 2.0
    common = {"own_error": 2.0 * max_error, "max_error": max_error, "oracle": oracle(scores, wrong, max_error)}

    def measured(by: str, sureness: np.ndarray, threshold: float | None, at_least: float | None) -> dict[str, object]:
        answered = np.zeros(len(wrong), dtype=bool) if threshold is None else sureness >= threshold
        error = float(wrong[answered].mean()) if answered.any() else 0.0
        return {"by": by, **common, "coverage": float(answered.mean()), "at_least": at_least, "error": error}

    made = promise(max_error)
    threshold = made.thresholds[0] if made.thresholds else None
    found = [measured("certivote", scores, threshold, 0.0 if threshold is None else 1.0 - made.statements[-1].bound)]
    if MultiClassificationLTTController is not None and model != "drawn vote":
        labels = np.searchsorted(np.unique(content.y), y[certified])
        for by, method in MAPIE.items():
            admitted = by_mapie(predict, X[certified], labels, max_error, method)
            found.append(measured(by, masses.max(axis=1), admitted, None))
    return found


def voted(method: str, train_share: float, seed: int) -> Callable[..., Any]:
    """A fit of a vote: what it predicts, the rows that it is certified on, and what it promises."""

    def fit(X: np.ndarray, y: np.ndarray) -> tuple[Callable[..., Masses], np.ndarray, Callable[..., PromiseRecord]]:
        settings = {
            "method": method,
            "voters": "forest",
            "split": Single(train_share),
            "delta": DELTA,
            "random_state": seed,
        }
        vote = CertifiedVoteClassifier(**settings).fit(X, y)

        def promise(max_error: float) -> PromiseRecord:
            promises = [Abstention(max_error=max_error)]
            again = CertifiedVoteClassifier(promises=promises, **settings).fit(X, y)
            assert again.certificate_.bound == vote.certificate_.bound
            return again.certificate_.promises[1]

        return vote.predict_proba, vote.part_.certify, promise

    return fit


def forest(trained: int, seed: int) -> Callable[..., Any]:
    """The same of a RandomForest, which is certified as it is."""

    def fit(X: np.ndarray, y: np.ndarray) -> tuple[Callable[..., Masses], np.ndarray, Callable[..., PromiseRecord]]:
        model = RandomForestClassifier(random_state=seed).fit(X[:trained], y[:trained])

        def promise(max_error: float) -> PromiseRecord:
            promises = [Abstention(max_error=max_error)]
            return certify(model, X[trained:], y[trained:], delta=DELTA, promises=promises, random_state=seed).promises[
                1
            ]

        return model.predict_proba, np.arange(trained, len(y)), promise

    return fit


def oracle(scores: np.ndarray, wrong: np.ndarray, max_error: float) -> float:
    """The largest coverage of any threshold with so few errors on these rows themselves."""
    order = np.argsort(-scores)
    answered = np.arange(1, len(order) + 1)
    errors = np.cumsum(wrong[order])
    last = np.append(np.diff(scores[order]) != 0.0, True)  # of rows with one score, all are answered or none
    good = answered[last & (errors <= max_error * answered)]
    return float(good.max(initial=0)) / len(order)


def by_mapie(
    predict: Callable[..., Masses], X: np.ndarray, labels: np.ndarray, max_error: float, method: str
) -> float | None:
    """The threshold of the largest mass at which MAPIE answers most."""
    wrong = BinaryRisk(lambda true, said: said != true, lambda true, said: said == said, higher_is_better=False)
    controller = MultiClassificationLTTController(
        predict, [wrong], [max_error], confidence_level=1.0 - DELTA, classes=np.unique(labels), fwer_method=method
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that nothing is admitted, or that errors do not only fall
        controller.calibrate(X, labels)
    admitted = np.asarray(controller.valid_predict_params, dtype=float)
    # A little less: rounding must not make it answer fewer cases.
    return float(admitted.min()) - 1e-9 if len(admitted) else None


def short(row: dict[str, object]) -> dict[str, object]:
    """With six digits of its numbers."""
    return {key: f"{value:.6g}" if isinstance(value, float) else value for key, value in row.items()}


def as_tables(rows: Rows) -> str:
    lines = [
        f"Half of the own error as a target, delta {DELTA}, {CERTIFIED:,} certified rows; means over "
        f"{len({row['seed'] for row in rows})} splits, in %. *Of the oracle's*: the mean coverage divided by the mean "
        "of the oracle's. *Above target*: splits in which the error on the remaining rows, itself an estimate, is "
        "above the target.",
        "",
        "| dataset | model | by | own error | target | error | coverage | certified | oracle | of the oracle's | "
        "nothing answered | above target |",
        f"|---|---|---|{'--:|' * 9}",
    ]
    for dataset in TRAINED:
        for model in (*VOTES, GIVEN):
            for by in ("certivote", *MAPIE):
                own = [row for row in rows if (row["dataset"], row["model"], row["by"]) == (dataset, model, by)]
                if own:
                    lines.append(f"| {dataset} | {model} | {by} | {_cells(own)} |")
    return "\n".join([*lines, "", *_beside(rows)]) + "\n"


def _cells(rows: Rows) -> str:
    def mean(field: str) -> float:
        return 100.0 * statistics.fmean(float(row[field]) for row in rows)

    certified = f"{mean('at_least'):.1f}" if all(row["at_least"] for row in rows) else ""
    nothing = sum(float(row["coverage"]) == 0.0 for row in rows)
    above = sum(float(row["error"]) > float(row["max_error"]) for row in rows)
    figures = [f"{mean(field):.2f}" for field in ("own_error", "max_error", "error")]
    share = f"{100.0 * mean('coverage') / mean('oracle'):.1f}"
    figures += [f"{mean('coverage'):.1f}", certified, f"{mean('oracle'):.1f}", share]
    return " | ".join([*figures, f"{nothing} of {len(rows)}", f"{above} of {len(rows)}"])


def _beside(rows: Rows) -> list[str]:
    """Split by split, beside MAPIE."""
    found = {(row["dataset"], row["seed"], row["model"], row["by"]): float(row["coverage"]) for row in rows}
    lines = []
    for dataset in TRAINED:
        for model in (*VOTES, GIVEN):
            for by in MAPIE:
                pairs = [
                    (found[dataset, seed, model, "certivote"], coverage)
                    for (other, seed, same, way), coverage in found.items()
                    if (other, same, way) == (dataset, model, by)
                ]
                if pairs:
                    more, less = sum(a > b for a, b in pairs), sum(a < b for a, b in pairs)
                    lines.append(f"- {dataset}, {model}, beside {by}: more coverage in {more} splits, less in {less}.")
    return lines


if __name__ == "__main__":
    typer.run(main)
