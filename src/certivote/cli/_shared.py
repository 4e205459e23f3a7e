"""What several verbs share: options, how work on a file ends, and how a result is written."""

import difflib
import importlib
import sys
import warnings
import zipfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

import typer
from joblib import parallel_config
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

from certivote.certificate import Certificate
from certivote.datasets import DATASETS
from certivote.io import TableError, column_names, load, read_table
from certivote.pipeline import usual_voters
from certivote.present import plain_text
from certivote.theory.families import FAMILIES
from certivote.theory.methods import METHODS
from certivote.voters import VOTERS, ColumnEncoder, Preprocessed

__all__ = [
    "AsJson",
    "ComparedPrior",
    "ComparedVoters",
    "Data",
    "DataFolder",
    "Delta",
    "Drop",
    "Family",
    "Loss",
    "MethodName",
    "Prior",
    "Seed",
    "Solver",
    "Split",
    "Target",
    "TrainShare",
    "Voters",
    "check_dataset",
    "check_folder",
    "complain",
    "fail",
    "name_option",
    "on_table",
    "quieten_pooch",
    "read_certificate",
    "rows_for",
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


def name_option(metavar: str, names: Callable[[], Iterable[str]], help: str) -> Any:  # noqa: A002  # typer's word
    """An option that takes a name from a table, which is read anew whenever the option is.

    ``{names}`` in the help stands for all of them.
    """

    def parse(text: str) -> str:
        if text not in names():
            raise typer.BadParameter(f"{text!r} is not one of {', '.join(names())}.")
        return text

    def complete(incomplete: str) -> list[str]:
        return [name for name in names() if name.startswith(incomplete)]

    return typer.Option(
        metavar=metavar, parser=parse, autocompletion=complete, help=help.format(names=", ".join(names()))
    )


def _voters_option(automatic: str) -> Any:
    return name_option("VOTERS", lambda: ["auto", *VOTERS], f"Who votes: {{names}}. auto: {automatic}.")


def _prior_option(automatic: str) -> Any:
    return typer.Option(
        parser=_number_or(float, "auto", "informed"),
        metavar="auto|informed|NUMBER",
        help="Hyper-prior: learned from training rows (informed), or the Dirichlet parameter of every voter (a "
        f"number). auto: {automatic}.",
    )


MethodName = Annotated[
    str, name_option("METHOD", lambda: ["auto", *METHODS], "Bound to minimise and to certify by: {names}.")
]
Family = Annotated[
    str,
    name_option(
        "FAMILY",
        lambda: [name for name, family in FAMILIES.items() if family.over_weights],
        "Distributions that the weights of a drawn or random vote come from: {names}.",
    ),
]


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
        "dates and missing values (an empty cell, NA, NaN, null, none or ?)."
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
Voters = Annotated[str, _voters_option("mixed with --method auto, otherwise forest")]
ComparedVoters = Annotated[str, _voters_option("forest")]
Split = Annotated[
    str,
    typer.Option(
        parser=_number_or(int, "single", "cross"),
        metavar="single|cross|FOLDS",
        help="single: train the voters on one part of the rows and certify on the other. cross: both ways round. A "
        "number of folds: certify on each fold, with voters trained on the others.",
    ),
]
Loss = Annotated[
    Literal["plurality", "half-weight"],
    typer.Option(
        help="What counts as an error: a wrong answer; or, as in the paper, half of the weight on wrong answers."
    ),
]
Delta = Annotated[float, typer.Option(help="Probability with which a certificate may fail.")]
Prior = Annotated[
    str, _prior_option("informed with --method auto, otherwise the best of three, and the choice is paid for")
]
ComparedPrior = Annotated[str, _prior_option("the best of three, and the choice is paid for")]
TrainShare = Annotated[
    str,
    typer.Option(
        parser=_number_or(float, "auto"),
        metavar="auto|SHARE",
        help="Share of the rows that train the voters. auto: chosen by a learning curve with --method auto, otherwise "
        "one half.",
    ),
]
Solver = Annotated[
    Literal["lbfgs", "adam"], typer.Option(help="How the bound is minimised: by L-BFGS, or by Adam as in the paper.")
]
Seed = Annotated[
    int,
    typer.Option(min=0, help="Seed of all randomness. Keeping the best of several seeds voids the certificate."),
]
DataFolder = Annotated[
    Path | None,
    typer.Option(
        "--data",
        envvar="CERTIVOTE_DATA",
        exists=True,
        file_okay=False,
        help="Folder of the data files. Files that it lacks are looked for in the cache folder, and downloaded to it.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs to read.")]


def table_voters(voters: str, method: str) -> Preprocessed:
    """Voters that read the columns of a table, whatever these hold; which is decided by the training rows."""
    name = usual_voters(method) if voters == "auto" else voters
    encoder: Any = ColumnEncoder()
    if name == "stumps":
        # A stump needs a value.
        encoder = make_pipeline(encoder, SimpleImputer(strategy="median", keep_empty_features=True))
    return Preprocessed(encoder, name)


def on_table(path: Path, target: str, drop: list[str] | None, work: Callable[[Any, Any], Any]) -> Any:
    """Read the file and do the work on all processors.

    Bad data and bad parameters end in one line; warnings are shown as lines too.
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


def quieten_pooch() -> None:
    """No lines of pooch between ours: they name folders that are gone when the download is done."""
    with suppress(ImportError):
        importlib.import_module("pooch").get_logger().setLevel("ERROR")


def complain(message: str) -> None:
    """A line on standard error; what cannot be printed, such as a file may bring, is written as an escape."""
    typer.echo(f"certivote: {plain_text(message)}", err=True)


def fail(message: str) -> NoReturn:
    """A line on standard error, and the end."""
    complain(message)
    sys.exit(1)
