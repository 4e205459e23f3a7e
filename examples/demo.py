"""Fit a certified vote to two datasets that ship with scikit-learn, and put plain hold-out beside it.

The hold-out figure is what one gets by hand: fit scikit-learn's random forest on half of the rows, count its errors on
the other half, and take the Clopper-Pearson limit.
"""

import csv
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import RandomForestClassifier

from certivote import Certificate
from certivote.certificate import percent_up
from certivote.theory.bounds import holdout

DELTA = 0.05


def main() -> None:
    console = Console()
    table = Table(
        title=f"Upper bounds on the error of one fixed classifier, delta = {DELTA}, one split", title_justify="left"
    )
    for column in ("data", "certified vote: bound", "its errors", "hold-out forest: bound", "its errors"):
        table.add_column(column, justify="left" if column == "data" else "right")
    with tempfile.TemporaryDirectory() as folder:
        for name, loader in (("breast cancer", load_breast_cancer), ("digits", load_digits)):
            data = loader()
            path = Path(folder, f"{name.replace(' ', '-')}.csv")
            write_csv(path, data.feature_names, data.data, data.target_names[data.target])
            out = path.with_suffix(".json")
            console.rule(f"certivote fit {path.name} --target class")
            subprocess.run(
                [sys.executable, "-m", "certivote", "fit", str(path), "--target", "class", "--out", str(out)],
                check=True,
            )
            certificate = Certificate.from_json(out.read_text())
            sample = certificate.parts[certificate.deployed]
            errors, n = forest_holdout(data.data, data.target)
            table.add_row(
                name,
                percent_up(certificate.bound),
                f"{sample.errors} of {sample.n}",
                percent_up(holdout(errors, n, DELTA)),
                f"{errors} of {n}",
            )
    console.print()
    console.print(table)


def write_csv(path: Path, names: list[str], X: np.ndarray, labels: np.ndarray) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*names, "class"])
        writer.writerows([*row, label] for row, label in zip(X.tolist(), labels.tolist(), strict=True))


def forest_holdout(X: np.ndarray, y: np.ndarray) -> tuple[int, int]:
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[: len(y) // 2], order[len(y) // 2 :]
    forest = RandomForestClassifier(random_state=0).fit(X[train], y[train])
    return int(np.sum(forest.predict(X[test]) != y[test])), len(test)


if __name__ == "__main__":
    main()
