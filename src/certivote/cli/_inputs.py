"""What verbs read: tables, certificates and models, and the options that say how."""

import io
import warnings
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from joblib import parallel_config

from certivote.certificate import Certificate
from certivote.cli._shared import complain, fail
from certivote.estimator import load
from certivote.io import Table, TableError, TableFile, column_names, read_standard_input, read_table

__all__ = [
    "Data",
    "DecimalMark",
    "Drop",
    "Encoding",
    "Separator",
    "Target",
    "Trust",
    "on_table",
    "read_certificate",
    "rows_for",
    "table_file",
    "warnings_as_lines",
]


_LONGEST = 1 << 28
"""Bytes of the longest certificate that is read."""


def _complete_column(ctx: typer.Context, incomplete: str) -> list[str]:
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
        help="CSV file with a header line (.csv, .csv.gz), or parquet file; - is standard input. Columns may hold "
        "numbers, categories, ISO dates and missing values (an empty cell, NA, NaN, null, none or ?).",
    ),
]
Target = Annotated[str, typer.Option(help="Column that holds the classes.", autocompletion=_complete_column)]
Drop = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="Column to leave out, such as an identifier; repeat for several.",
        autocompletion=_complete_column,
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(
        metavar="CHARACTER",
        help="What separates the columns of a CSV file, such as ';' or tab.  [default: found in the first lines]",
        show_default=False,
    ),
]
DecimalMark = Annotated[
    str | None,
    typer.Option(
        metavar=".|,",
        help="Decimal mark of the numbers.  [default: . and columns of numbers with commas are refused]",
        show_default=False,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Encoding of a CSV file, such as latin-1, cp1252 or utf-16.  [default: utf-8, or what its mark says]",
        show_default=False,
    ),
]
Trust = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TYPE",
        help="Type of a classifier or transformer that the model may bring, such as lightgbm.sklearn.LGBMClassifier; "
        "repeat for several. Only for models of which you know where they are from.",
        show_default=False,
    ),
]


def table_file(path: Path, sep: str | None, decimal: str | None, encoding: str | None) -> TableFile:
    """The table that a line names, and how it is written; a wrong option is wrong usage."""
    try:
        return TableFile(path, sep, decimal, encoding)
    except ValueError as error:
        name, _, rest = str(error).partition(" ")
        raise typer.BadParameter(rest, param_hint=f"'--{name}'") from None


def on_table(
    file: TableFile, target: str, drop: list[str] | None, quiet: bool, work: Callable[[Any, Any], Any]
) -> tuple[Any, str]:
    """Read the file and do the work on all processors; what came of it, and the digest of what was read.

    Bad data and bad parameters end in one line; warnings are shown as lines too.
    """
    try:
        read = read_table(file, target, drop or ())
        with warnings_as_lines(quiet), parallel_config("threading", n_jobs=-1):
            return work(read.X, read.y), read.digest
    except TableError as error:
        fail(str(error))
    except ValueError as error:
        fail(f"{file}: {error}")


@contextmanager
def warnings_as_lines(quiet: bool) -> Iterator[None]:
    """Show warnings as lines when the block is done, each once; or none at all."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    if not quiet:
        for message in dict.fromkeys(str(warning.message) for warning in caught):
            complain(f"warning: {message}")


def read_certificate(path: Path, trusted: Sequence[str] | None) -> tuple[Certificate, Any]:
    """The certificate in a file, and the model that comes with it, or None."""
    if path.is_file() and zipfile.is_zipfile(path):
        model = load(path, trusted=trusted or ())
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


def rows_for(model: Any, file: TableFile, target: str) -> Table:
    """The columns of a file that a model knows, and the classes as the model knows them."""
    names = getattr(model, "feature_names_in_", None)
    read = read_table(file, target, features=None if names is None else names.tolist())
    rows = read.X.to_numpy() if names is None else read.X
    return Table(rows, _as_classes(model, read.y), read.digest)


def _as_classes(model: Any, texts: Any) -> Any:
    """The classes of a model whose texts these are; a file has texts, where Python may have had numbers."""
    known = {str(label): label for label in model.classes_.tolist()}
    are_texts, are_alike = set(known.values()) == known.keys(), len(known) < len(model.classes_)
    if are_texts or are_alike or not known.keys() >= set(texts):
        return texts
    return texts.map(known).astype(model.classes_.dtype)
