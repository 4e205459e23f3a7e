"""What verbs read: tables, certificates and models, and the options that say how."""

import io
import warnings
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from certivote.certificate import Certificate
from certivote.cli._groups import Options
from certivote.cli._shared import complain, fail, reason
from certivote.io import (
    Table,
    TableError,
    TableFile,
    column_names,
    is_parquet,
    read_standard_input,
    read_table,
    same_labels,
    side_columns,
)

_LONGEST = 1 << 28
"""Bytes of the longest certificate that is read."""


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
        help="CSV file with a header line (.csv, .csv.gz), parquet file, or Excel workbook (.xlsx); - is standard "
        "input. Columns may hold numbers, dates, categories and missing values.",
    ),
]
Model = Annotated[
    Path,
    typer.Argument(help="The classifier that `certivote fit --model` wrote; or a certificate, with --predicted."),
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
GROUP = "Column that says what each row belongs to, such as a patient. No feature."
TIME = "Column that says when each row was taken, by numbers or dates. No feature."


def column(text: str, *names: str) -> Any:
    """An option that names a column."""
    return typer.Option(*names, metavar="COLUMN", help=text, show_default=False, autocompletion=complete_column)


@dataclass(frozen=True, kw_only=True)
class Units(Options):
    """Which rows belong together, or when they were taken."""

    group: Annotated[
        str | None,
        column(f"{GROUP} Rows of one are kept together, and the certificate is about a random row of a new one."),
    ] = None
    time: Annotated[
        str | None,
        column(f"{TIME} The earliest rows train, the latest certify, and the certificate is about their time."),
    ] = None

    def __post_init__(self) -> None:
        check_group_or_time(self.group, self.time)

    def columns(self) -> dict[str, str | None]:
        """As the readers of tables take them."""
        return {"group": self.group, "time": self.time}


Truth = Annotated[str, column("Column that holds the true classes.", "--truth", "--target")]
Predicted = Annotated[list[str] | None, column("Column that holds the answers of a model; repeat for several models.")]
Score = Annotated[
    str | None,
    column(
        "Column that says how sure the model is of each answer, larger for surer (not the probability of one class): "
        "for --abstain and --abstain-curve."
    ),
]
Training = Annotated[
    Path | None,
    typer.Option(
        help="For given models: the table that they were trained on, to count how many of the rows are among its own."
    ),
]


@dataclass(frozen=True, kw_only=True)
class TableFormat(Options):
    """How tables are written."""

    sep: Annotated[
        str | None,
        typer.Option(
            metavar="CHARACTER",
            help="What separates the columns of a CSV file, such as ';' or tab.  [default: found in the first lines]",
            show_default=False,
        ),
    ] = None
    decimal: Annotated[
        str | None,
        typer.Option(
            metavar=".|,",
            help="Decimal mark of the numbers.  [default: each column shows its own]",
            show_default=False,
        ),
    ] = None
    encoding: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Encoding of a CSV file, such as latin-1, cp1252 or utf-16.  [default: utf-8, or what its mark says]",
            show_default=False,
        ),
    ] = None

    sheet: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Sheet of an Excel workbook.  [default: the only one that holds something]",
            show_default=False,
        ),
    ] = None

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


Trust = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TYPE",
        help="Type of a classifier or transformer that the model may bring, such as lightgbm.sklearn.LGBMClassifier; "
        "repeat for several. Only for models of which you know where they are from.",
        show_default=False,
    ),
]


def check_group_or_time(group: str | None, time: str | None) -> None:
    """End if both are given."""
    if group is not None and time is not None:
        fail(
            "--group, --time: give one of them: groups are divided among the parts at random, rows with a time by "
            "their time. Give --group if new groups will come, --time if later times will."
        )


def on_table(file: TableFile, quiet: bool, read: Callable[[], Table], work: Callable[[Table], Any]) -> tuple[Any, str]:
    """Read the file and do the work on all processors; what came of it, and the digest of what was read.

    Bad data and bad parameters end in one line; warnings are shown as lines too.
    """
    try:
        with warnings_as_lines(quiet), all_processors():
            table = read()
            return work(table), table.digest
    except TableError as error:
        fail(reason(error))
    except ValueError as error:
        from certivote.voters import ColumnError

        if isinstance(error, ColumnError):
            column = side_columns(file, [error.column])[error.column]
            fail(error.told(column.where_first(error.value)))
        fail(f"{file}: {error}")


def all_processors() -> AbstractContextManager[Any]:
    """What is done in this block may use all processors."""
    from joblib import parallel_config

    return parallel_config("threading", n_jobs=-1)


@contextmanager
def warnings_as_lines(quiet: bool) -> Iterator[None]:
    """Show warnings as lines when the block is done, each once; or none at all."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    if not quiet:
        for message in dict.fromkeys(str(warning.message) for warning in caught):
            complain(f"warning: {message}")


def load_model(path: Path, trusted: Sequence[str] | None) -> Any:
    """The classifier in a file."""
    from certivote.estimator import load

    return load(path, trusted=trusted or ())


def read_certificate(path: Path, trusted: Sequence[str] | None) -> tuple[Certificate, Any]:
    """The certificate in a file, and the model that comes with it, or None."""
    if path.is_file() and zipfile.is_zipfile(path):
        model = load_model(path, trusted)
        return model.certificate_, model
    if str(path) == "-":
        content = read_standard_input()
    else:
        with open(path, "rb") as file:
            content = file.read(_LONGEST + 1)  # a device may have no end
    if zipfile.is_zipfile(io.BytesIO(content)):
        raise ValueError(f"{path}: a model cannot come through a pipe; give the file itself.")
    try:
        return Certificate.from_json(content.decode()), None
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is neither a certificate nor a model.") from error


def rows_for(model: Any, file: TableFile, target: str, group: str | None = None, time: str | None = None) -> Table:
    """The columns of a file that a model knows, and the classes as the model knows them."""
    names = getattr(model, "feature_names_in_", None)
    read = read_table(file, target, features=None if names is None else names.tolist(), group=group, time=time)
    rows = read.X.to_numpy() if names is None else read.X
    return replace(read, X=rows, y=as_classes(model, read.y))


def columns_beside(file: TableFile, target: str, names: Sequence[str]) -> Any:
    """Columns that no model reads, to look for rows that belong together; None if there are none that can be read.

    What they hold is no reason to refuse the rows: it may be why they were left out.
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
    warnings.warn(f"Whether rows belong together was not looked for in all that is left out: {said}", stacklevel=2)
    return read_table(file, target, features=readable).X if readable else None


def as_classes(model: Any, texts: Any) -> Any:
    """The classes of a model whose texts these are; a file has texts, where Python may have had numbers."""
    known = {str(label): label for label in model.classes_.tolist()}
    texts = texts.map(same_labels(set(texts), known))
    are_texts, are_alike = set(known.values()) == known.keys(), len(known) < len(model.classes_)
    if are_texts or are_alike or not known.keys() >= set(texts):
        return texts
    return texts.map(known).astype(model.classes_.dtype)
