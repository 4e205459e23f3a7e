"""What else shall be said of a model: the options of ``fit`` and ``certify``, and the promises that they stand for."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from certivote.cli._inputs import complete_column, training_file
from certivote.cli._shared import fail, share
from certivote.io import TableError, TableFile, check_columns, column_names, read_costs
from certivote.promises import Abstention, Costs, Precision, PredictionSets, Promise, Sensitivity, Subgroups

__all__ = [
    "Abstain",
    "AbstainCurve",
    "By",
    "CostsFile",
    "Positive",
    "PrecisionOfAnswers",
    "SensitivityAtLeast",
    "Sets",
    "Together",
    "asked_promises",
    "check_classes",
    "columns_by",
    "costs_file",
]


_PANEL = "Promises beside the bound"


def _option(name: str, metavar: str, help: str, **settings: Any) -> Any:  # noqa: A002  # typer's word
    return typer.Option(name, metavar=metavar, help=help, show_default=False, rich_help_panel=_PANEL, **settings)


Abstain = Annotated[
    float | None,
    _option(
        "--abstain",
        metavar="ERROR",
        help="Answer only where the model is sure enough for its answers to be wrong at most this often, such as 0.02.",
        parser=share,
    ),
]
AbstainCurve = Annotated[
    int | None,
    _option(
        "--abstain-curve",
        metavar="POINTS",
        help="Certify so many levels of sureness at once, such as 20, and choose one afterwards.",
        min=2,
        max=1000,
    ),
]
PrecisionOfAnswers = Annotated[
    bool,
    typer.Option("--precision", help="How often an answer of each class is right.", rich_help_panel=_PANEL),
]
SensitivityAtLeast = Annotated[
    float | None,
    _option(
        "--sensitivity",
        metavar="SHARE",
        help="Of two classes: flag cases so that at least this share of one class is found, such as 0.95, with as few "
        "false alarms as can be.",
        parser=share,
    ),
]
Positive = Annotated[
    str | None,
    _option(
        "--positive",
        metavar="CLASS",
        help="The class that --sensitivity is to find.  [default: 1 of 0 and 1, and such]",
    ),
]
By = Annotated[
    list[str] | None,
    _option(
        "--by",
        metavar="COLUMN[,COLUMN]",
        help="Errors within each group of a column, such as sex, and the largest gap; repeat for several columns. "
        "Columns with a comma between them make groups together: sex,site.",
        autocompletion=complete_column,
    ),
]
CostsFile = Annotated[
    Path | None,
    _option(
        "--costs",
        metavar="FILE",
        help="The expected cost per case, by a table with the columns true, answered and cost; right answers cost "
        "nothing unless it says so.",
    ),
]
Sets = Annotated[
    float | None,
    _option(
        "--sets",
        metavar="SHARE",
        help="Give the classes that cannot be excluded, so that the true one is among them for at least this share of "
        "cases, such as 0.95.",
        parser=share,
    ),
]
Together = Annotated[
    bool,
    typer.Option(
        "--together",
        help="Let the bound and all promises hold at once with probability 1 - delta; otherwise each holds with its "
        "own delta.",
        rich_help_panel=_PANEL,
    ),
]


def asked_promises(
    *,
    abstain: float | None,
    abstain_curve: int | None,
    precision: bool,
    sensitivity: float | None,
    positive: str | None,
    by: Sequence[str | tuple[str, ...]],
    costs: TableFile | None,
    sets: float | None,
) -> dict[str, Promise]:
    """The promises that options ask for, by the options; what is wrong with one ends in a line that names it."""
    if positive is not None and sensitivity is None:
        fail("--positive: give --sensitivity with it, the share of this class that is to be found.")
    asked: dict[str, Callable[[], Promise] | None] = {
        "--abstain": None if abstain is None else lambda: Abstention(max_error=abstain),
        "--abstain-curve": None if abstain_curve is None else lambda: Abstention(curve=abstain_curve),
        "--precision": Precision if precision else None,
        "--sensitivity": None if sensitivity is None else lambda: Sensitivity(sensitivity, positive),
        "--by": (lambda: Subgroups(*by)) if by else None,
        "--costs": None if costs is None else lambda: Costs(read_costs(costs)),
        "--sets": None if sets is None else lambda: PredictionSets(sets),
    }
    found = {}
    for option, make in asked.items():
        if make is not None:
            try:
                found[option] = make()
            except ValueError as error:
                fail(f"{option}: {error}")
    return found


def check_classes(promises: Mapping[str, Promise], labels: Iterable[Any]) -> None:
    """End if a promise cannot be made about these classes, in words of the options."""
    classes = tuple(sorted({str(label) for label in labels}))
    for option, promise in promises.items():
        if option == "--by":  # it is about columns, whatever the classes
            continue
        try:
            promise.check(classes, None)
        except ValueError as error:
            if option == "--sensitivity" and len(classes) == 2:
                fail(f"--positive: name the class that is to be found, {classes[0]!r} or {classes[1]!r}.")
            if option == "--sensitivity":
                fail(f"--sensitivity: this is for two classes, and there are {len(classes)}.")
            fail(f"{option}: {error}")


def costs_file(
    path: Path | None, data: Path, sep: str | None, decimal: str | None, encoding: str | None
) -> TableFile | None:
    """The table of costs, in the same format as the data, or in parquet."""
    if str(path) == str(data) == "-":
        fail("--costs: standard input is the table already.")
    return None if path is None else training_file(path, sep, decimal, encoding)


def columns_by(by: Sequence[str] | None, file: TableFile, others: Mapping[str, str]) -> list[str | tuple[str, ...]]:
    """What ``--by`` names: columns of the file, and combinations of them.

    Parameters
    ----------
    by : sequence of str or None
        As given. What is a column's name is that column, whether it has commas or not.
    file : TableFile
    others : mapping of str to str
        Columns that cannot be meant, and why.
    """
    names = column_names(file) if by else []
    found: list[str | tuple[str, ...]] = []
    for text in by or ():
        parts = [text] if text in names else [part.strip() for part in text.split(",")]
        for part in parts:
            if part in others:
                fail(f"--by: {part!r} {others[part]}.")
        try:
            check_columns(file, parts, names)
        except TableError as error:
            fail(f"--by: {error}")
        named = parts[0] if len(parts) == 1 else tuple(parts)
        if named in found or len(set(parts)) < len(parts):
            fail(f"--by: {text!r} has a column twice, or is given twice.")
        found.append(named)
    return found
