"""``certivote compare``."""

import json
from typing import Annotated, Any

import typer

from certivote.cli._shared import (
    AsJson,
    Data,
    Delta,
    Drop,
    Loss,
    Prior,
    Seed,
    Solver,
    Split,
    Target,
    Voters,
    on_table,
    table_voters,
)
from certivote.compare import run_comparison

__all__ = ["compare"]


def compare(
    data: Data,
    target: Target,
    drop: Drop = None,
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
    as_json: AsJson = False,
) -> None:
    """Fit several methods to one split of a table and print their certificates side by side."""
    parameters: dict[str, Any] = {
        "voters": table_voters(voters, "dis-r"),
        "split": split,
        "loss": loss,
        "delta": delta,
        "prior": prior,
        "solver": solver,
        "random_state": seed,
        "verbose": True,
    }
    rows = on_table(data, target, drop, lambda X, y: run_comparison(X, y, method or None, joint=joint, **parameters))
    typer.echo(json.dumps({"methods": list(rows), "note": rows.note}, indent=2) if as_json else str(rows))
