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

from certivote.certificate import Certificate
from certivote.paper import (
    PAPER_METHODS,
    PAPER_SETTING,
    Dataset,
    load,
    paper_method,
    paper_voters,
    published,
)
from certivote.pipeline import Plan, make_plan, run
from certivote.voters import Forest


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
    voters, split = paper_voters(data.name)
    for method in PAPER_METHODS:
        reference = None
        for solver in ("adam", "lbfgs"):
            plans = [
                make_plan(paper_method(method, solver), voters, split, random_state=seed, **PAPER_SETTING)
                for seed in range(repeats)
            ]
            runs = [one_run(data, plan, seed) for seed, plan in enumerate(plans)]
            bounds = [certificate.bound for certificate, _, _ in runs]
            errors, seconds = np.transpose([measured for _, *measured in runs])
            reference = reference or seconds.mean()
            table.add_row(
                method,
                solver,
                f"{100 * np.mean(bounds):.2f} ± {100 * np.std(bounds, ddof=1):.2f}",
                published_bound(data.name, method),
                f"{100 * errors.mean():.2f}",
                f"{seconds.mean():.3f}",
                f"{reference / seconds.mean():.1f}",
            )
    return table


def one_run(data: Dataset, plan: Plan, seed: int) -> tuple[Certificate, float, float]:
    """The certificate, the test error of what is deployed (of a random vote in expectation), and the seconds."""
    order = np.random.default_rng(seed).permutation(len(data.y))
    train, test = np.split(order, [len(order) * 4 // 5])
    start = time.perf_counter()
    outcome = run(plan, data.X[train], data.y[train])
    seconds = time.perf_counter() - start
    votes = outcome.deployed.voters.votes(data.X[test])
    labels = np.searchsorted(outcome.classes, data.y[test])
    error = plan.method.predictor.error_rate(outcome.deployed.vote, votes, labels, "plurality")
    return outcome.certificate, error, seconds


def published_bound(dataset: str, method: str) -> str:
    mean, deviation = published()["bound", dataset, method]
    return f"{mean:.2f} ± {deviation:.2f}"


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
    paper, split = paper_voters(data.name, threads=2)
    whole = Forest(RandomForestClassifier(n_estimators=100, n_jobs=2))
    for bootstrap, voters in (("full sample", whole), ("half sample", paper)):
        for loss in ("half-weight", "plurality"):
            plan = make_plan(
                paper_method("dis-r", "lbfgs"), voters, split, random_state=0, **{**PAPER_SETTING, "loss": loss}
            )
            certificate, error, seconds = one_run(data, plan, 0)
            table.add_row(
                bootstrap,
                loss,
                f"{100 * certificate.average_bound:.2f}",
                published_bound(data.name, "dis-r") if loss == PAPER_SETTING["loss"] else "",
                f"{100 * certificate.bound:.2f}",
                f"{100 * error:.2f}",
                f"{seconds:.1f}",
            )
    return table


if __name__ == "__main__":
    typer.run(main)
