"""Bounds with logistic-normal weights beside those with Dirichlet weights, on the paper's nine datasets for stumps.

The paper's voters (stumps on declared ranges, split none), 80 % of the rows, plurality loss, prior "auto" (the best of
three hyper-priors, paid for), L-BFGS, constant exact, delta 0.05; mean over the splits.
"""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from certivote.methods import make_method
from certivote.paper import DATASETS, load, paper_voters
from certivote.pipeline import RowsInMemory, certify_votes, make_plan, prepare
from certivote.theory.methods import METHODS

FAMILIES = ("dirichlet", "logistic-normal")


def main(
    data: Annotated[Path | None, typer.Option(envvar="CERTIVOTE_DATA", help="Data directory.")] = None,
    repeats: int = 3,
    method: Annotated[list[str] | None, typer.Option(help="Only these.")] = None,
    dataset: Annotated[list[str] | None, typer.Option(help="Only these.")] = None,
) -> None:
    methods = method or [name for name, row in METHODS.items() if FAMILIES[1] in row.families()]
    names = dataset or [name for name, entry in DATASETS.items() if entry.ranges is not None]
    table = Table(
        title=f"Mean bound in % of {repeats} splits, Dirichlet and logistic-normal weights, and their ratio",
        title_justify="left",
    )
    table.add_column("dataset")
    for name in methods:
        for column in (f"{name}, Dirichlet", "logistic-normal", "ratio"):
            table.add_column(column, justify="right")
    ratios: dict[str, list[float]] = {name: [] for name in methods}
    for name in names:
        runs = np.array([one_split(name, data, methods, seed) for seed in range(repeats)])
        cells = []
        for row, (dirichlet, normal) in zip(methods, runs.mean(axis=0), strict=True):
            ratios[row].append(normal / dirichlet)
            cells += [f"{100 * dirichlet:.2f}", f"{100 * normal:.2f}", f"{normal / dirichlet:.2f}"]
        table.add_row(name, *cells)
    table.add_row("geometric mean", *(cell for row in methods for cell in ("", "", f"{mean(ratios[row]):.2f}")))
    Console(width=160).print(table)


def one_split(name: str, data: Path | None, methods: list[str], seed: int) -> list[list[float]]:
    """The bounds of each method, one per family, all from the same votes."""
    content = load(name, data)
    rows = np.random.default_rng(seed).permutation(len(content.y))[: len(content.y) * 4 // 5]
    voters, split = paper_voters(name)
    plan = make_plan("dis-r", voters, split, random_state=seed)
    prepared = prepare(plan, RowsInMemory(plan.voters, content.X[rows], content.y[rows]))

    def bound(method: str, family: str) -> float:
        chosen = plan.with_method(make_method(method, family=family), plan.delta)
        return certify_votes(chosen, prepared).certificate.bound

    return [[bound(method, family) for family in FAMILIES] for method in methods]


def mean(ratios: list[float]) -> float:
    return float(np.exp(np.mean(np.log(ratios))))


if __name__ == "__main__":
    typer.run(main)
