"""What several verbs share: options, how work on a file ends, and how a result is written."""

import difflib
import sys
import warnings
import zipfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

import typer
from joblib import parallel_config
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

from certivote.certificate import Certificate
from certivote.datasets import DATASETS
from certivote.estimator import usual_voters
from certivote.persist import load
from certivote.tables import TableError, column_names, read_table
from certivote.voters import ColumnEncoder, Preprocessed

__all__ = [
    "AsJson",
    "Data",
    "DataFolder",
    "Delta",
    "Drop",
    "Loss",
    "MethodName",
    "Prior",
    "Seed",
    "Solver",
    "Split",
    "Target",
    "TeachShare",
    "Voters",
    "check_dataset",
    "check_folder",
    "complain",
    "fail",
    "on_table",
    "read_certificate",
    "rows_for",
    "table",
    "table_voters",
]


def _number_or(kind: Callable[[str], Any], *names: str) -> Callable[[str], Any]:
    """A parser for an option that is a number or one of some names."""

    def parse(text: Any) -> Any:
        if text in names or not isinstance(text, str):
            return text
        try:
            return kind(text)
        except ValueError:
            wanted = "a whole number" if kind is int else "a number"
            raise typer.BadParameter(f"{text!r} is neither {' nor '.join(names)} nor {wanted}.") from None

    return parse


MethodName = Literal["auto", "dis-b", "dis-r", "dis-v", "smv-exact", "smv-mc", "fo", "so", "bin", "c-bound", "holdout"]


def _complete_column(ctx: typer.Context, incomplete: str) -> list[str]:
    """Names of columns of the file that the line names already."""
    # Before an option that still lacks its value, the file is a word that is not yet assigned to its parameter.
    path = next((Path(word) for word in (ctx.params.get("data"), *ctx.args) if word), Path())
    try:
        return [name for name in column_names(path) if name.startswith(incomplete)]
    except TableError:
        return []


Data = Annotated[
    Path,
    typer.Argument(
        help="CSV file with a header line (.csv, .csv.gz), or parquet file. Columns may hold numbers, categories, ISO "
        "dates and gaps (nothing, NA, NaN, null, none, ?)."
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
Voters = Annotated[
    Literal["auto", "mixed", "forest", "stumps"],
    typer.Option(help="Who votes. auto: mixed with --method auto, otherwise a forest."),
]
Split = Annotated[
    str,
    typer.Option(
        parser=_number_or(int, "single", "cross"),
        metavar="single|cross|FOLDS",
        help="Voters from one part and certificate on the other, or both ways, or on each of so many folds.",
    ),
]
Loss = Annotated[Literal["plurality", "half-weight"], typer.Option(help="What counts as an error.")]
Delta = Annotated[float, typer.Option(help="Probability with which a certificate may fail.")]
Prior = Annotated[
    str,
    typer.Option(
        parser=_number_or(float, "auto", "informed"),
        metavar="auto|informed|NUMBER",
        help="Hyper-prior: learned on the voters' rows, or the Dirichlet parameter of every voter. auto: informed with "
        "--method auto, otherwise the best of three, which is paid for.",
    ),
]
TeachShare = Annotated[
    str,
    typer.Option(
        parser=_number_or(float, "auto"),
        metavar="auto|SHARE",
        help="Share of the rows that teach the voters. auto: by the learning curve with --method auto, otherwise half.",
    ),
]
Solver = Annotated[Literal["lbfgs", "adam"], typer.Option(help="Optimiser of the bound.")]
Seed = Annotated[
    int, typer.Option(min=0, help="Seed. Fitting with several and keeping the best voids the certificate.")
]
DataFolder = Annotated[
    Path | None,
    typer.Option(
        "--data",
        envvar="CERTIVOTE_DATA",
        exists=True,
        file_okay=False,
        help="Folder of the data files. What it lacks is looked for in the cache folder, and downloaded into that.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs to read.")]


def table_voters(voters: str, method: str) -> Preprocessed:
    """Voters that read the columns of a table, whatever these hold; which is decided by the teaching rows."""
    name = usual_voters(method) if voters == "auto" else voters
    encoder: Any = ColumnEncoder()
    if name == "stumps":
        # A stump needs a value.
        encoder = make_pipeline(encoder, SimpleImputer(strategy="median", keep_empty_features=True))
    return Preprocessed(encoder, name)


def on_table(path: Path, target: str, drop: list[str] | None, work: Callable[[Any, Any], Any]) -> Any:
    """Read the file and do the work on all processors; bad data and bad parameters end in one line, warnings are shown
    plainly.
    """
    try:
        read = read_table(path, target, drop or ())
        with parallel_config("threading", n_jobs=-1), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            result = work(read.X, read.y)
    except TableError as error:
        fail(str(error))
    except ValueError as error:
        fail(f"{path}: {error}")
    for warning in caught:
        complain(f"warning: {warning.message}")
    return result


def read_certificate(path: Path) -> tuple[Certificate, Any]:
    """The certificate in a file, and the model that comes with it, or None."""
    if zipfile.is_zipfile(path):
        model = load(path)
        return model.certificate_, model
    try:
        return Certificate.from_json(path.read_text(encoding="utf-8")), None
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is neither a certificate nor a model.") from error


def rows_for(model: Any, data: Path, target: str) -> tuple[Any, Any]:
    """The columns of a file that a model knows, and the classes."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        read = read_table(data, target)
        return read.X.to_numpy(), read.y
    read = read_table(data, target, features=names.tolist())
    return read.X, read.y


def check_folder(option: str, path: Path | None) -> None:
    """End before the work, if its result could not be written."""
    if path is not None and not path.parent.is_dir():
        fail(f"{option}: the folder {path.parent} does not exist.")


def check_dataset(name: str, option: str = "NAME") -> None:
    """End with the near names and all names, if there is no dataset of that name."""
    if name in DATASETS:
        return
    close = difflib.get_close_matches(name.lower(), DATASETS, cutoff=0.5)
    hint = f" Did you mean {' or '.join(close)}?" if close else ""
    fail(f"{option}: there is no dataset {name!r}.{hint} There are {', '.join(sorted(DATASETS))}.")


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Columns as wide as need be, numbers to the right."""
    lines = [head, *([f"{cell:,}" if isinstance(cell, int) else cell for cell in row] for row in rows)]
    columns = []
    for column in zip(*lines, strict=True):
        width = max(map(len, column))
        number = column[-1].replace(",", "").isdigit()
        columns.append([cell.rjust(width) if number else cell.ljust(width) for cell in column])
    return "\n".join("  ".join(line).rstrip() for line in zip(*columns, strict=True))


def complain(message: str) -> None:
    """A line on standard error; what cannot be printed, such as a file may bring, is written as an escape."""
    plain = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in message)
    typer.echo(f"certivote: {plain}", err=True)


def fail(message: str) -> NoReturn:
    """A line on standard error, and the end."""
    complain(message)
    sys.exit(1)
