"""Tables: the options that name one and its columns, and what verbs do with its rows."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from certivote._warn import warn
from certivote.cli._messages import fail, reason, warnings_as_lines
from certivote.cli._options import Options
from certivote.io import TableError, TableFile, column_names, is_parquet, read_table, side_columns


def complete_column(ctx: typer.Context, incomplete: str) -> list[str]:
    """Names of columns of the file that the line names already."""
    # Before an option that still lacks its value, the file is a word that is not yet assigned to its parameter.
    path = next((Path(word) for word in (ctx.params.get("data"), *ctx.args) if word), Path())
    if not path.is_file():
        return []  # a pipe is for the command itself
    try:
        file = TableFile(path, ctx.params.get("sep"), encoding=ctx.params.get("encoding"))
        return [name for name in column_names(file) if name.startswith(incomplete) and name.isprintable()]
    except ValueError:
        return []


Data = Annotated[
    Path,
    typer.Argument(
        help="CSV file with a header line (.csv, .csv.gz), Excel workbook (.xlsx), or parquet file; - is standard "
        "input. Columns may hold numbers, dates, categories and missing values.",
    ),
]
Target = Annotated[str, typer.Option(help="Column that holds the classes.", autocompletion=complete_column)]
Drop = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="Column to leave out, such as an identifier; repeat for several. It is still looked at for rows that "
        "belong together, such as those of a patient: for these, give --group.",
        autocompletion=complete_column,
    ),
]


def column(*names: str, help: str | None = None) -> Any:  # noqa: A002  # typer's word
    """An option that names a column."""
    return typer.Option(*names, metavar="COLUMN", help=help, autocompletion=complete_column)


Column = Annotated[str | None, column()]


@dataclass(frozen=True, kw_only=True)
class Grouping(Options):
    """Which rows belong together, or when they were taken.

    Attributes
    ----------
    group
        Column that says what each row belongs to, such as a patient. Not a feature. Rows of one are kept together, and
        the certificate is about a random row of a new one.
    time
        Column that says when each row was taken, by numbers or dates. Not a feature. The earliest rows train, the
        latest certify, and the certificate is about their time.
    """

    group: Column = None
    time: Column = None

    def __post_init__(self) -> None:
        check_group_or_time(self.group, self.time)

    def columns(self) -> dict[str, str | None]:
        """As the readers of tables take them."""
        return {"group": self.group, "time": self.time}


Truth = Annotated[str, column("--truth", "--target", help="Column that holds the true classes.")]
Training = Annotated[
    Path | None,
    typer.Option(
        help="For given models: the table that they were trained on, to count how many of the rows are among its own."
    ),
]


@dataclass(frozen=True, kw_only=True)
class TableFormat(Options):
    """How tables are written.

    Attributes
    ----------
    sep
        What separates the columns of a CSV file, such as ';' or tab. [default: found in the first lines]
    decimal
        Decimal mark of the numbers. [default: each column of features shows its own]
    encoding
        Encoding of a CSV file, such as latin-1, cp1252 or utf-16. [default: utf-8, or what its mark says]
    sheet
        Sheet of an Excel workbook. [default: the only one that holds something]
    """

    sep: Annotated[str | None, typer.Option(metavar="CHARACTER")] = None
    decimal: Annotated[str | None, typer.Option(metavar=".|,")] = None
    encoding: Annotated[str | None, typer.Option(metavar="NAME")] = None
    sheet: Annotated[str | None, typer.Option(metavar="NAME")] = None

    def file(self, path: Path) -> TableFile:
        """The table that a line names; a wrong option is wrong usage."""
        try:
            return TableFile(path, self.sep, self.decimal, self.encoding, self.sheet)
        except ValueError as error:
            name, _, rest = str(error).partition(" ")
            raise typer.BadParameter(rest, param_hint=f"'--{name}'") from None

    def other(self, path: Path | None) -> TableFile | None:
        """Another table, in the same format or in parquet."""
        if path is None:
            return None
        return TableFormat(decimal=self.decimal).file(path) if is_parquet(path) else self.file(path)


def check_group_or_time(group: str | None, time: str | None) -> None:
    """End if both are given."""
    if group is not None and time is not None:
        fail(
            "--group, --time: give one of them: groups are divided among the parts at random, rows with a time by "
            "their time. Give --group if new groups will come, --time if later times will."
        )


@contextmanager
def work_on(file: TableFile, quiet: bool, what: str = "") -> Iterator[None]:
    """Work on a table by all processors; what is wrong with it or with a parameter ends in one line.

    ``what`` is shown if the work takes long; empty where the work itself shows how far it is.
    """
    try:
        with warnings_as_lines(quiet), all_processors(), doing(what, quiet=quiet or not what):
            yield
    except TableError as error:
        fail(reason(error))
    except ValueError as error:
        from certivote.voters import ColumnError

        if isinstance(error, ColumnError):
            column = side_columns(file, [error.column])[error.column]
            fail(error.told(column.where_first(error.value)))
        fail(f"{file}: {error}")


@contextmanager
def doing(what: str, quiet: bool) -> Iterator[Callable[[str], object]]:
    """Say what is done in this block if it takes long, and how far it is, by calling what it gives."""
    from certivote.pipeline import progress

    with progress(not quiet) as stage:
        stage.begin(what)
        yield stage.begin


def all_processors() -> AbstractContextManager[Any]:
    """What is done in this block may use all processors."""
    from joblib import parallel_config

    return parallel_config("threading", n_jobs=-1)


def columns_beside(file: TableFile, target: str, names: Sequence[str]) -> Any:
    """Columns that the model does not read, to look for rows that belong together; None if none can be read.

    Rows are not refused for what these hold: it may be why they were left out.
    """
    names = list(dict.fromkeys(names))
    if not names:
        return None
    try:
        return read_table(file, target, features=names).X
    except TableError as error:
        said, readable = error, []
    for name in names if len(names) > 1 else ():
        with suppress(TableError):
            readable += read_table(file, target, features=[name]).X.columns.tolist()
    warn(f"Whether rows belong together was not looked for in all that is left out: {said}")
    return read_table(file, target, features=readable).X if readable else None
