"""``certivote compare``."""

import json
from typing import Annotated, Any

import typer

from certivote.cli._shared import (
    AsJson,
    ComparedPrior,
    ComparedVoters,
    Data,
    Delta,
    Drop,
    Family,
    Loss,
    Seed,
    Solver,
    Split,
    Target,
    name_option,
    on_table,
    table_voters,
)
from certivote.pipeline import compare as compare_methods
from certivote.present import comparison_text
from certivote.theory.methods import METHODS

__all__ = ["compare"]


def compare(
    data: Data,
    target: Target,
    drop: Drop = None,
    method: Annotated[
        list[str] | None,
        name_option(
            "METHOD",
            lambda: METHODS,
            "Method to compare, one of {names}; repeat for several.  [default: all that suit the data]",
        ),
    ] = None,
    joint: Annotated[
        bool,
        typer.Option("--joint", help="Divide delta among the methods, so that the best certificate may be picked."),
    ] = False,
    voters: ComparedVoters = "auto",
    split: Split = "single",
    loss: Loss = "plurality",
    delta: Delta = 0.05,
    family: Family = "dirichlet",
    prior: ComparedPrior = "auto",
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
        "family": family,
        "prior": prior,
        "solver": solver,
        "random_state": seed,
        "verbose": True,
    }
    table = on_table(data, target, drop, lambda X, y: compare_methods(X, y, method or None, joint=joint, **parameters))
    if not as_json:
        typer.echo(comparison_text(table))
        return
    rows = table.reset_index().to_dict("records")
    typer.echo(json.dumps({"methods": rows, "note": table.attrs["note"]}, indent=2))
