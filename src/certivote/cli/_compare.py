"""``certivote compare``."""

import json
from typing import Annotated, Any

import typer

from certivote.cli._columns import ColumnOptions
from certivote.cli._groups import grouped
from certivote.cli._inputs import Data, Drop, TableFormat, Target, Units, on_table
from certivote.cli._learning import ComparedLearning
from certivote.cli._outputs import AsJson, check_files
from certivote.io import Table, read_table
from certivote.present import comparison_text


@grouped
def compare(
    *,
    data: Data,
    target: Target,
    drop: Drop = None,
    units: Units,
    form: TableFormat,
    columns: ColumnOptions,
    learning: ComparedLearning,
    as_json: AsJson = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print nothing but errors and the comparison: no warnings.")
    ] = False,
) -> None:
    """Fit several methods to one split of a table and print their certificates side by side."""
    file = form.file(data)
    check_files({"DATA": data}, {})
    from certivote.pipeline import compare as compare_methods

    def work(read: Table) -> Any:
        methods, parameters = learning.methods(len(set(read.y))), learning.parameters(columns, form.decimal)
        rows = {"groups": read.groups, "order": read.order}
        return compare_methods(read.X, read.y, methods, **rows, **parameters, verbose=not quiet)

    table, _ = on_table(file, quiet, lambda: read_table(file, target, drop or (), **units.columns()), work)
    if not as_json:
        typer.echo(comparison_text(table))
        return
    rows = table.reset_index().to_dict("records")
    said = {name: table.attrs[name] for name in ("note", "entropy", "fresh")}
    typer.echo(json.dumps({"methods": rows, **said}, indent=2))
