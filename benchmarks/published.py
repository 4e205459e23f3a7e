"""TicTacToe, Haberman and MNIST beside the published figures: paper protocol, the same with L-BFGS, two forests.

Loss, voters, delta and repetitions stand above each table. Set CERTIVOTE_DATA, or give the data directory.
"""

import time
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table
from sklearn.ensemble import RandomForestClassifier

from certivote import CertifiedVoteClassifier
from certivote.datasets import Dataset, load
from certivote.voters import Forest, Stumps

PAPER = {"prior": 0.5, "constant": "paper"}
PUBLISHED = {
    "tictactoe": {
        "fo": "76.47 ± 1.45",
        "so": "100.20 ± 1.02",
        "bin": "79.50 ± 0.88",
        "smv-exact": "42.74 ± 0.63",
        "smv-mc": "43.36 ± 0.70",
        "dis-v": "48.69 ± 1.32",
        "dis-r": "45.58 ± 2.63",
    },
    "haberman": {
        "fo": "75.73 ± 1.73",
        "so": "110.58 ± 1.42",
        "bin": "80.36 ± 0.73",
        "smv-exact": "42.17 ± 0.84",
        "smv-mc": "44.26 ± 1.52",
        "dis-v": "54.77 ± 4.79",
        "dis-r": "51.45 ± 7.68",
    },
    "mnist": {"dis-r": "16.04 ± 0.15"},
}


def main(data: Annotated[Path | None, typer.Option(help="Data directory.")] = None, repeats: int = 10) -> None:
    console = Console(width=120)
    for name in ("tictactoe", "haberman"):
        console.print(stumps(load(name, data), repeats))
    console.print(mnist(load("mnist", data)))


def stumps(data: Dataset, repeats: int) -> Table:
    table = Table(
        title=f"{data.name}: stumps on declared ranges, split none, half-weight loss, beta 0.5, delta 0.05, 2 sqrt(n), "
        f"80/20 split, {repeats} repetitions",
        title_justify="left",
    )
    for column in ("method", "solver", "bound %", "published %", "test error %", "seconds a fit", "adam / this"):
        table.add_column(column)
    for method, published in PUBLISHED[data.name].items():
        reference = None
        for solver in ("adam", "lbfgs"):
            runs = np.array([one_run(data, method, solver, seed) for seed in range(repeats)])
            bound, error, seconds = runs.mean(axis=0)
            reference = reference or seconds
            table.add_row(
                method,
                solver,
                f"{100 * bound:.2f} ± {100 * runs[:, 0].std(ddof=1):.2f}",
                published,
                f"{100 * error:.2f}",
                f"{seconds:.3f}",
                f"{reference / seconds:.1f}",
            )
    return table


def one_run(data: Dataset, method: str, solver: str, seed: int) -> tuple[float, float, float]:
    train, test = split(len(data.y), seed)
    clf = CertifiedVoteClassifier(
        method, Stumps(ranges=data.ranges), "none", "half-weight", solver=solver, random_state=seed, **PAPER
    )
    start = time.perf_counter()
    clf.fit(data.X[train], data.y[train])
    seconds = time.perf_counter() - start
    return clf.certificate_.bound, 1.0 - clf.score(data.X[test], data.y[test]), seconds


def mnist(data: Dataset) -> Table:
    table = Table(
        title="MNIST: dis-r, two forests of 100 trees, split cross, beta 0.5, delta 0.05, 2 sqrt(n), L-BFGS, "
        "80/20 split, 1 repetition",
        title_justify="left",
    )
    for column in (
        "bootstrap",
        "loss",
        "average bound %",
        "published %",
        "deployed vote's own %",
        "test error %",
        "seconds",
    ):
        table.add_column(column)
    train, test = split(len(data.y), 0)
    for bootstrap, share in (("full sample", None), ("half sample", 0.5)):
        forest = Forest(RandomForestClassifier(n_estimators=100, max_samples=share, n_jobs=2))
        for loss in ("half-weight", "plurality"):
            clf = CertifiedVoteClassifier("dis-r", forest, "cross", loss, random_state=0, **PAPER)
            start = time.perf_counter()
            clf.fit(data.X[train], data.y[train])
            seconds = time.perf_counter() - start
            table.add_row(
                bootstrap,
                loss,
                f"{100 * clf.certificate_.average_bound:.2f}",
                PUBLISHED["mnist"]["dis-r"] if loss == "half-weight" else "",
                f"{100 * clf.certificate_.bound:.2f}",
                f"{100 * (1 - clf.score(data.X[test], data.y[test])):.2f}",
                f"{seconds:.1f}",
            )
    return table


def split(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    order = np.random.default_rng(seed).permutation(n)
    return order[: n * 4 // 5], order[n * 4 // 5 :]


if __name__ == "__main__":
    typer.run(main)
