"""Prediction of ``auto`` per row, now and at an earlier commit, beside a random forest and boosting on the same rows.

For one row, for 1,000 rows and for all others up to 20,000, in microseconds of the processor per row; the size of the
model file, and the seconds to save and to load it. Each package runs in a process of its own, on one thread, and gets
the rows in a file: only this one reads the data.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import earlier
import numpy as np
import typer
from rich.console import Console
from rich.table import Table
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

from certivote import CertifiedVoteClassifier
from certivote import load as load_model

BEFORE = "6a9b7c7"
DATASETS = (
    *("haberman", "tictactoe", "svmguide", "mushrooms", "phishing", "adult"),
    *("codrna", "splice", "australian", "pendigits", "shuttle"),
)
SIZES = {1: 10, 1_000: 2, 20_000: 1}
"""Rows of a call, and calls that are measured together."""
REPEATS = 2
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def main(
    data: Annotated[Path | None, typer.Option(envvar="CERTIVOTE_DATA", help="Data directory.")] = None,
    datasets: Annotated[str, typer.Option(help="Their names, with commas.")] = ",".join(DATASETS),
    rows: Annotated[int, typer.Option(help="Fit to at most so many rows.")] = 30_000,
    before: Annotated[str, typer.Option(help="The earlier commit.")] = BEFORE,
    measure_one: Annotated[Path | None, typer.Option(help="Measure this file of rows here, and print JSON.")] = None,
) -> None:
    if measure_one:
        print(json.dumps(measure(measure_one, rows)))
        return
    from certivote.paper import load

    here = {**os.environ, **ONE_THREAD}
    there = {**earlier.environment(before), **ONE_THREAD}
    found = {}
    for name in datasets.split(","):
        content = load(name, data)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f"{name}.npz")
            np.savez(path, X=content.X, y=content.y)
            command = [sys.executable, __file__, "--measure-one", str(path), "--rows", str(rows)]
            found[name] = [
                json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, env=env).stdout)
                for env in (there, here)
            ]
        print(name, *found[name], file=sys.stderr, flush=True)
    Console(width=200).print(table(found, before))


def measure(path: Path, rows: int) -> dict[str, Any]:
    """What each classifier takes per row, and the file of ours."""
    with np.load(path) as content:
        X, y = np.asarray(content["X"], dtype=float), content["y"]
    order = np.random.default_rng(0).permutation(len(y))
    train = order[: min(rows, len(order) * 3 // 4)]
    rest = X[np.resize(order[len(train) :], max(SIZES))]
    models = {
        "auto": CertifiedVoteClassifier(random_state=0),
        "forest": RandomForestClassifier(random_state=0),
        "boosting": HistGradientBoostingClassifier(random_state=0),
    }
    for model in models.values():
        model.fit(X[train], y[train])
    found: dict[str, Any] = {kind: [] for kind in models}
    for size, calls in SIZES.items():
        parts = [rest[start : start + size] for start in range(0, size * calls, size)]
        seconds: dict[str, list[float]] = {kind: [] for kind in models}
        for _ in range(REPEATS):  # they take turns, so that a slow moment of the machine falls on all alike
            for kind, model in models.items():
                seconds[kind].append(processor(partial(predict, model, parts)))
        for kind in models:
            found[kind].append(min(seconds[kind]) / (size * calls) * 1e6)
    with tempfile.TemporaryDirectory() as folder:
        saved = Path(folder, "model.certivote")
        found["save"] = processor(lambda: models["auto"].save(saved))
        found["megabytes"] = saved.stat().st_size / 1e6
        found["load"] = processor(lambda: load_model(saved))
    return found


def predict(model: Any, parts: list[Any]) -> None:
    for part in parts:
        model.predict(part)


def processor(work: Callable[[], Any]) -> float:
    """Seconds of the processor."""
    start = time.process_time()
    work()
    return time.process_time() - start


def table(found: dict[str, list[dict[str, Any]]], before: str) -> Table:
    shown = Table(title=f"Microseconds per row ({before} / now), and what they are of others", title_justify="left")
    shown.add_column("dataset")
    for size in SIZES:
        for column in (f"{size:,} rows", "of before", "of forest", "of boosting"):
            shown.add_column(column, justify="right")
    for column in ("MB", "save s", "load s"):
        shown.add_column(column, justify="right")
    ratios = []
    for name, (old, new) in found.items():
        cells, own = [], []
        for place in range(len(SIZES)):
            own += [new["auto"][place] / known for known in (old["auto"][place], new["forest"][place])]
            own.append(new["auto"][place] / new["boosting"][place])
            cells += [f"{old['auto'][place]:,.0f} / {new['auto'][place]:,.0f}", *(f"{one:.2f}" for one in own[-3:])]
        ratios.append(own)
        files = [f"{old[key]:.2f} / {new[key]:.2f}" for key in ("megabytes", "save", "load")]
        shown.add_row(name, *cells, *files)
    for title, summary in (("mean", np.mean), ("median", np.median)):
        values = summary(np.array(ratios), axis=0).reshape(len(SIZES), 3)
        shown.add_row(title, *(text for row in values for text in ("", *(f"{one:.2f}" for one in row))), "", "", "")
    return shown


if __name__ == "__main__":
    typer.run(main)
