"""``certivote fit --voters forest --method dis-b`` on a large CSV file against scikit-learn's forest on the same rows.

The file is made in a temporary folder: 20 columns of normal numbers and two classes, one in ten labels noise. The fit
(reading, splitting, fitting 100 trees on half of the rows, voting on the others, learning, certificate on disk)
and ``RandomForestClassifier(n_jobs=-1).fit`` on all rows, read beforehand, run one after the other, both on all
processors, each in a process of its own whose peak memory is its own. To be read: a ratio of at most 1.25.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

COLUMNS = 20
BATCH = 50_000


def main(
    rows: Annotated[int, typer.Option(help="Rows of the file.")] = 1_000_000,
    only: Annotated[str, typer.Option(help="Measure one of fit and forest on this file, and print JSON.")] = "",
    file: Annotated[Path, typer.Option(help="The file of --only.")] = Path("made.csv"),
) -> None:
    if only:
        print(json.dumps(fit(file) if only == "fit" else forest(file)))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made.csv"
        make(path, rows)
        size = path.stat().st_size / 2**20
        ours, theirs = (measured(path, kind) for kind in ("fit", "forest"))
    table = Table(title=f"{rows:,} rows, {COLUMNS} columns, {size:,.0f} MB of CSV, 1 run", title_justify="left")
    for column in ("what", "seconds", "ratio", "peak MB"):
        table.add_column(column, justify="left" if column == "what" else "right")
    for what, line in (("certivote fit, all of it", ours), ("RandomForestClassifier.fit, without reading", theirs)):
        ratio = line["seconds"] / theirs["seconds"]
        table.add_row(what, f"{line['seconds']:.1f}", f"{ratio:.2f}", f"{line['megabytes']:,.0f}")
    Console(width=120).print(table)


def make(path: Path, rows: int) -> None:
    rng = np.random.default_rng(0)
    with path.open("w") as file:
        file.write(",".join([*(f"x{k}" for k in range(COLUMNS)), "label"]) + "\n")
        for start in range(0, rows, BATCH):
            X = rng.normal(size=(min(BATCH, rows - start), COLUMNS))
            noise = rng.random(len(X)) < 0.1
            labels = np.where((X[:, 0] + X[:, 1] * X[:, 2] + X[:, 3] > 0) ^ noise, "yes", "no")
            file.writelines(
                ",".join([*map(repr, x), label]) + "\n" for x, label in zip(X.tolist(), labels.tolist(), strict=True)
            )


def measured(path: Path, kind: str) -> dict[str, float]:
    command = [sys.executable, __file__, "--only", kind, "--file", str(path)]
    return json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)


def fit(path: Path) -> dict[str, float]:
    start = time.perf_counter()
    command = [sys.executable, "-m", "certivote", "fit", str(path), "--target", "label"]
    options = ["--voters", "forest", "--method", "dis-b", "--out", str(path.with_suffix(".json"))]
    subprocess.run([*command, *options], capture_output=True, check=True)
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "megabytes": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024}


def forest(path: Path) -> dict[str, float]:
    import pandas as pd
    from sklearn.ensemble import RandomForestClassifier

    frame = pd.read_csv(path)
    X, y = frame.drop(columns="label").to_numpy(), frame["label"].to_numpy()
    start = time.perf_counter()
    RandomForestClassifier(random_state=0, n_jobs=-1).fit(X, y)
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


if __name__ == "__main__":
    typer.run(main)
