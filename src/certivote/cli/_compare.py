"""``certivote compare``."""

import json
from typing import Annotated, Any

import typer

from certivote.cli._inputs import (
    Data,
    DecimalMark,
    Drop,
    Encoding,
    Group,
    Separator,
    Target,
    Time,
    check_group_or_time,
    on_table,
    table_file,
)
from certivote.cli._outputs import check_files
from certivote.cli._shared import (
    AsJson,
    ComparedPrior,
    ComparedSplit,
    ComparedVoters,
    Delta,
    Family,
    Loss,
    Seed,
    Solver,
    name_option,
    table_voters,
)
from certivote.io import read_table
from certivote.present import comparison_text
from certivote.theory.methods import METHODS

__all__ = ["compare"]


def compare(
    data: Data,
    target: Target,
    drop: Drop = None,
    group: Group = None,
    time: Time = None,
    sep: Separator = None,
    decimal: DecimalMark = None,
    encoding: Encoding = None,
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
    split: ComparedSplit = "single",
    loss: Loss = "plurality",
    delta: Delta = 0.05,
    family: Family = "dirichlet",
    prior: ComparedPrior = "auto",
    solver: Solver = "lbfgs",
    seed: Seed = None,
    as_json: AsJson = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print nothing but errors and the comparison: no warnings.")
    ] = False,
) -> None:
    """Fit several methods to one split of a table and print their certificates side by side."""
    file = table_file(data, sep, decimal, encoding)
    check_group_or_time(group, time)
    check_files({"DATA": data}, {})
    from certivote.pipeline import compare as compare_methods

    parameters: dict[str, Any] = {
        "voters": table_voters(voters, "dis-r"),
        "split": split,
        "loss": loss,
        "delta": delta,
        "family": family,
        "prior": prior,
        "solver": solver,
        "random_state": seed,
        "verbose": not quiet,
    }
    table, _ = on_table(
        file,
        quiet,
        lambda: read_table(file, target, drop or (), group=group, time=time),
        lambda read: compare_methods(
            read.X, read.y, method or None, groups=read.groups, order=read.order, joint=joint, **parameters
        ),
    )
    if not as_json:
        typer.echo(comparison_text(table))
        return
    rows = table.reset_index().to_dict("records")
    said = {name: table.attrs[name] for name in ("note", "entropy", "fresh")}
    typer.echo(json.dumps({"methods": rows, **said}, indent=2))
