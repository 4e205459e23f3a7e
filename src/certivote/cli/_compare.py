"""``certivote compare``."""

from typing import Annotated, Any

import typer

from certivote.cli._shared import Data, Delta, Loss, Prior, Seed, Solver, Split, Target, Voters, on_table
from certivote.compare import run_comparison

__all__ = ["compare"]


def compare(
    data: Data,
    target: Target,
    method: Annotated[
        list[str] | None, typer.Option(help="Method to compare; repeat for several. All, if none is given.")
    ] = None,
    joint: Annotated[
        bool, typer.Option("--joint", help="Divide delta among the methods, so that the best may be picked.")
    ] = False,
    voters: Voters = "auto",
    split: Split = "single",
    loss: Loss = "plurality",
    delta: Delta = 0.05,
    prior: Prior = "auto",
    solver: Solver = "lbfgs",
    seed: Seed = 0,
) -> None:
    """Fit several methods to one split of a CSV file and print their certificates side by side."""
    parameters: dict[str, Any] = {
        "voters": voters,
        "split": split,
        "loss": loss,
        "delta": delta,
        "prior": prior,
        "solver": solver,
        "random_state": seed,
        "verbose": True,
    }
    typer.echo(
        str(on_table(data, target, lambda X, y: run_comparison(X, y, method or None, joint=joint, **parameters)))
    )
