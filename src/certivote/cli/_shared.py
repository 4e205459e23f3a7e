"""What several verbs share: options of the learning verbs, names to choose from, and how a command ends."""

import difflib
import errno
import importlib
import math
import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

import typer

from certivote.paper import DATASETS
from certivote.present import plain_text
from certivote.theory.families import FAMILIES
from certivote.theory.methods import METHODS
from certivote.voters import VOTERS

if TYPE_CHECKING:
    from certivote.voters import Preprocessed

__all__ = [
    "AsJson",
    "ComparedPrior",
    "ComparedSplit",
    "ComparedVoters",
    "DataFolder",
    "Delta",
    "Family",
    "Loss",
    "MethodName",
    "Prior",
    "Quiet",
    "Seed",
    "Solver",
    "Split",
    "TrainShare",
    "Voters",
    "check_dataset",
    "complain",
    "fail",
    "name_option",
    "quieten_pooch",
    "reason",
    "say",
    "share",
    "suggestion",
    "table_voters",
]


def _number_or(kind: Callable[[str], Any], *names: str, least: float = -math.inf) -> Callable[[str], Any]:
    """A parser for an option that is a number, at least so large, or one of some names."""

    def parse(text: Any) -> Any:
        if text in names or not isinstance(text, str):
            return text
        try:
            number = kind(text)
        except ValueError:
            number = None
        if number is None or not number >= least:
            wanted = "a whole number" if kind is int else "a number"
            wanted += f" from {least} on" if math.isfinite(least) else ""
            raise typer.BadParameter(f"{text!r} is neither {' nor '.join(names)} nor {wanted}.")
        return number

    return parse


def share(text: Any) -> float:
    """A parser for an option that is a number between 0 and 1."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.0 < value < 1.0:
        raise typer.BadParameter(f"{text!r} is no number between 0 and 1, such as 0.02 or 0.95.")
    return value


def name_option(metavar: str, names: Callable[[], Iterable[str]], help: str) -> Any:  # noqa: A002  # typer's word
    """An option that takes a name from a table, which is read anew whenever the option is.

    ``{names}`` in the help stands for all of them.
    """

    def parse(text: str) -> str:
        if text not in names():
            raise typer.BadParameter(f"{text!r} is not one of {', '.join(names())}.{suggestion(text, names())}")
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


def _split_option(*names: str, automatic: str = "") -> Any:
    names = (*names, "single", "cross")
    return typer.Option(
        parser=_number_or(int, *names, least=2),
        metavar="|".join([*names, "FOLDS"]),
        help="single: train the voters on one part of the rows and certify on the other. cross: both ways round. A "
        f"number of folds: certify on each fold, with voters trained on the others.{automatic}",
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


Voters = Annotated[str, _voters_option("mixed with --method auto, otherwise forest")]
ComparedVoters = Annotated[str, _voters_option("forest")]
Split = Annotated[
    str, _split_option("auto", automatic=" auto: with --method auto, what a learning curve suggests, otherwise single.")
]
ComparedSplit = Annotated[str, _split_option()]
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
    int | None,
    typer.Option(
        min=0,
        help="Seed of all randomness. By default a fresh one from the system, which is printed. Keeping the best of "
        "several seeds voids the certificate.",
    ),
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
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Print nothing but errors and what is asked for by --json or by - as a file."),
]


def table_voters(voters: str, method: str) -> "Preprocessed":
    """Voters that read the columns of a table, whatever these hold; which is decided by the training rows."""
    from certivote.pipeline import usual_voters
    from certivote.voters import ColumnEncoder, Preprocessed

    name = usual_voters(method) if voters == "auto" else voters
    return Preprocessed(ColumnEncoder(fill=name == "stumps"), name)  # a stump needs a value


def check_dataset(name: str, option: str = "NAME") -> None:
    """End with the near names and all names, if there is no dataset of that name."""
    if name in DATASETS:
        return
    near = suggestion(name, DATASETS)
    fail(f"{option}: there is no dataset {name!r}.{near} There are {', '.join(sorted(DATASETS))}.")


def suggestion(name: str, known: Iterable[str]) -> str:
    """A sentence with the names that may be meant; empty if none is near."""
    close = difflib.get_close_matches(name.lower(), list(known), cutoff=0.5)
    return f" Did you mean {' or '.join(close)}?" if close else ""


def quieten_pooch() -> None:
    """No lines of pooch between ours: they name folders that are gone when the download is done."""
    with suppress(ImportError):
        importlib.import_module("pooch").get_logger().setLevel("ERROR")


def say(message: str, err: bool = False) -> None:
    """A line; what cannot be printed, such as a file may bring, is written as an escape."""
    typer.echo(plain_text(message), err=err)


def complain(message: str) -> None:
    """A line on standard error."""
    say(f"certivote: {message}", err=True)


def reason(error: Exception) -> str:
    """What went wrong, in one line that names the file if it is about one."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{os.fsdecode(error.filename)}: {error.strerror}."
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:  # files have names
        return f"standard output: {error.strerror}."
    return str(error)


def fail(message: str) -> NoReturn:
    """A line on standard error, and the end."""
    complain(message)
    sys.exit(1)
