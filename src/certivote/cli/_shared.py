"""What several verbs share: options, how work on a file ends, and how a result is written."""

import difflib
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

import typer

from certivote.csv_table import TableError, read_csv
from certivote.datasets import DATASETS

__all__ = [
    "AsJson",
    "Data",
    "DataFolder",
    "Delta",
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
    "complain",
    "fail",
    "on_table",
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

Data = Annotated[Path, typer.Argument(help="CSV file with a header line; all columns but the target numeric.")]
Target = Annotated[str, typer.Option(help="Column that holds the classes.")]
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


def on_table(path: Path, target: str, work: Callable[[Any, Any], Any]) -> Any:
    """Read the file and do the work; bad data and bad parameters end in one line, warnings are shown plainly."""
    try:
        table = read_csv(path, target)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            result = work(table.X, table.y)
    except TableError as error:
        fail(str(error))
    except ValueError as error:
        fail(f"{path}: {error}")
    for warning in caught:
        complain(f"warning: {warning.message}")
    return result


def check_dataset(name: str) -> None:
    """End with the near names and all names, if there is no dataset of that name."""
    if name in DATASETS:
        return
    close = difflib.get_close_matches(name.lower(), DATASETS, cutoff=0.5)
    hint = f" Did you mean {' or '.join(close)}?" if close else ""
    fail(f"NAME: there is no dataset {name!r}.{hint} There are {', '.join(sorted(DATASETS))}.")


def complain(message: str) -> None:
    """A line on standard error."""
    typer.echo(f"certivote: {message}", err=True)


def fail(message: str) -> NoReturn:
    """A line on standard error, and the end."""
    complain(message)
    sys.exit(1)
