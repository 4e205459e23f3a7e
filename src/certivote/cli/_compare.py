"""``certivote compare``."""

import json
from typing import Annotated

import typer

from certivote.cli._columns import ColumnOptions
from certivote.cli._learning import ComparedLearning
from certivote.cli._options import verb
from certivote.cli._outputs import AsJson, check_files
from certivote.cli._tables import Data, Drop, Grouping, TableFormat, Target, work_on
from certivote.io import read_table
from certivote.present import comparison_text


@verb
def compare(
    *,
    data: Data,
    target: Target,
    drop: Drop = None,
    units: Grouping,
    form: TableFormat,
    columns: ColumnOptions,
    learning: ComparedLearning,
    as_json: AsJson = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q")] = False,
) -> None:
    """Fit several methods to one split of a table and print their certificates side by side.

    Parameters
    ----------
    quiet
        Print nothing but errors and the comparison: no warnings.
    """
    file = form.file(data)
    check_files({"DATA": data}, {})
    from certivote.pipeline import compare as compare_methods

    with work_on(file, quiet):
        read = read_table(file, target, drop or (), **units.columns())
        methods, parameters = learning.methods(len(set(read.y))), learning.parameters(columns, form.decimal)
        rows = {"groups": read.groups, "order": read.order}
        table = compare_methods(read.X, read.y, methods, **rows, **parameters, verbose=not quiet)
    if not as_json:
        typer.echo(comparison_text(table))
        return
    rows = table.reset_index().to_dict("records")
    said = {name: table.attrs[name] for name in ("note", "entropy", "fresh")}
    typer.echo(json.dumps({"methods": rows, **said}, indent=2))
