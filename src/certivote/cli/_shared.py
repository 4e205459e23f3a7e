"""What several verbs share: single options, names to choose from, and how a command ends."""

import difflib
import errno
import importlib
import math
import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from certivote.paper import DATASETS
from certivote.present import plain_text


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


Delta = Annotated[float, typer.Option(help="Probability with which a certificate may fail.")]
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
