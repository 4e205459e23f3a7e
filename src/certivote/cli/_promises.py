"""What else shall be said of a model: the options of ``fit`` and ``certify``, and the promises that they stand for."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer

from certivote.cli._messages import fail, naming
from certivote.cli._options import Options, share
from certivote.cli._tables import TableFormat, complete_column
from certivote.io import TableFile, check_columns, column_names, read_costs
from certivote.promises import Abstention, Costs, Precision, PredictionSets, Promise, Sensitivity, Subgroups


@dataclass(frozen=True, kw_only=True)
class PromiseOptions(Options):
    """What else is promised.

    Attributes
    ----------
    abstain
        Answer only where the model is sure enough for its answers to be wrong at most this often, such as 0.02.
    abstain_curve
        Certify this many levels of sureness at once, such as 20, and choose one afterwards.
    precision
        How often an answer of each class is right.
    sensitivity
        Of two classes: flag cases so that at least this share of one class is found, such as 0.95, with as few false
        alarms as possible.
    positive
        The class that --sensitivity finds. [default: 1 of 0 and 1, and such]
    by
        Errors within each group of a column, such as sex, and the largest gap; repeat for several columns. Columns with
        a comma between them make groups together: sex,site.
    costs
        The expected cost per case, by a table with the columns true, answered and cost; right answers cost nothing
        unless it says so.
    sets
        Give the classes that cannot be excluded, so that the true one is among them for at least this share of cases,
        such as 0.95.
    together
        Let the bound and all promises hold at once with probability 1 - delta; otherwise each holds with its own delta.
    """

    panel: ClassVar[str] = "Further promises"
    abstain: Annotated[float | None, typer.Option(metavar="ERROR", parser=share)] = None
    abstain_curve: Annotated[int | None, typer.Option(metavar="POINTS", min=2, max=1000)] = None
    precision: bool = False
    sensitivity: Annotated[float | None, typer.Option(metavar="SHARE", parser=share)] = None
    positive: Annotated[str | None, typer.Option(metavar="CLASS")] = None
    by: Annotated[list[str] | None, typer.Option(metavar="COLUMN[,COLUMN]", autocompletion=complete_column)] = None
    costs: Annotated[Path | None, typer.Option(metavar="FILE")] = None
    sets: Annotated[float | None, typer.Option(metavar="SHARE", parser=share)] = None
    together: bool = False

    def asked(self, file: TableFile, form: TableFormat, others: Mapping[str, str]) -> dict[str, Promise]:
        """The promises that options ask for, by the options; what is wrong with one ends in a line that names it.

        ``others`` are columns of the file that make no groups, and why.
        """
        groups, costs = columns_by(self.by, file, others), form.other(self.costs)
        if self.positive is not None and self.sensitivity is None:
            fail("--positive: give --sensitivity with it, the share of this class that is to be found.")
        makers: dict[str, Callable[[Any], Promise]] = {
            "--abstain": lambda share: Abstention(max_error=share),
            "--abstain-curve": lambda points: Abstention(curve=points),
            "--precision": lambda _: Precision(),
            "--sensitivity": lambda share: Sensitivity(share, self.positive),
            "--by": lambda _: Subgroups(*groups),
            "--costs": lambda path: Costs(read_costs(costs or path)),
            "--sets": PredictionSets,
        }
        given, found = self.given(), {}
        for option, make in makers.items():
            if option in given:
                with naming(option):
                    found[option] = make(given[option])
        return found

    def of_all_rows(self) -> dict[str, Any]:
        """What was given by options that need all rows at once."""
        return {option: value for option, value in self.given().items() if option not in ("--precision", "--together")}


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
        with naming("--by"):
            check_columns(file, parts, names)
        named = parts[0] if len(parts) == 1 else tuple(parts)
        if named in found or len(set(parts)) < len(parts):
            fail(f"--by: {text!r} has a column twice, or is given twice.")
        found.append(named)
    return found


def columns_of(promises: Mapping[str, Promise]) -> list[str]:
    """The columns by which promises make groups."""
    by = promises.get("--by")
    entries = by.columns if isinstance(by, Subgroups) else ()
    return [name for entry in entries for name in ([entry] if isinstance(entry, str) else entry)]
