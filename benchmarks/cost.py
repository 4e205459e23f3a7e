"""Cost of one full-batch value and gradient of each method's objective on Adult with stumps, as ratios to fo."""

import time
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from certivote.paper import PAPER_SETTING, load
from certivote.pipeline import Problem, training_objective
from certivote.theory.methods import METHODS
from certivote.theory.theorems import Setting
from certivote.voters import Stumps


def main(data: Annotated[Path | None, typer.Option(help="Data directory.")] = None, repeats: int = 40) -> None:
    adult = load("adult", data)
    classes, labels = np.unique(adult.y, return_inverse=True)
    rng = np.random.default_rng(0)
    votes = Stumps(ranges=adult.ranges).fit(None, np.empty(0), classes, rng).votes(adult.X)
    setting = Setting(PAPER_SETTING["delta"], 1.5, "paper")
    evaluations = {}
    for name, method in METHODS.items():
        if not method.predictor.learns:
            continue
        prior = method.family.prior(np.full(votes.n_voters, PAPER_SETTING["prior"]))
        problem = Problem(votes, labels, PAPER_SETTING["loss"], prior, method.family, method, setting)
        x = np.log(prior) + 0.1 * rng.standard_normal(votes.n_voters)
        evaluations[name] = (training_objective(problem, rng), x)
    # Methods take turns, so that a slow moment of the machine falls on all alike.
    seconds = {name: [] for name in evaluations}
    for _ in range(repeats):
        for name, (objective, x) in evaluations.items():
            start = time.perf_counter()
            objective(x)
            seconds[name].append(time.perf_counter() - start)
    table = Table(
        title=f"Adult ({len(labels):,} rows, {votes.n_voters:,} stumps): one value and gradient, median of {repeats}",
        title_justify="left",
    )
    for column in ("method", "ms", "ratio to fo"):
        table.add_column(column, justify="right")
    reference = np.median(seconds["fo"])
    for name, times in seconds.items():
        table.add_row(name, f"{1000 * np.median(times):.2f}", f"{np.median(times) / reference:.2f}")
    Console(width=120).print(table)


if __name__ == "__main__":
    typer.run(main)
