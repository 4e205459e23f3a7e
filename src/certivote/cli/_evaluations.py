"""Options about logs of evaluations, which ``certify`` reads as tables."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer

from certivote.cli._messages import ending_in_a_line, fail
from certivote.cli._options import Options
from certivote.io import EvaluationTable, TableFile, is_evaluation, read_evaluations, write_atomically


@dataclass(frozen=True, kw_only=True)
class EvaluationOptions(Options):
    """Which score counts in the log of an evaluation.

    Attributes
    ----------
    metric
        The scorer or metric that says whether an answer is right. [default: the only one]
    threshold
        From which score on an answer is right. [default: scores must be right or wrong, 1 or 0]
    rows
        Where to write the table that was certified, as CSV: a row for each item, for verify to read.
    """

    panel: ClassVar[str] = "Logs of evaluations"
    metric: Annotated[str | None, typer.Option(metavar="NAME")] = None
    threshold: Annotated[float | None, typer.Option(metavar="SCORE")] = None
    rows: Annotated[Path | None, typer.Option(metavar="FILE")] = None

    def __post_init__(self) -> None:
        if self.threshold is not None and not math.isfinite(self.threshold):
            fail("--threshold: give a finite number, such as 0.5.")

    def read(
        self, data: Path, other: Path | None, group: str | None, tables: Mapping[str, Any]
    ) -> EvaluationTable | None:
        """The runs, or None where the data is a table; end if something was given that belongs to the other.

        ``tables`` are the values of options that are about tables.
        """
        logs = [data] if other is None else [data, other]
        if not all(map(is_evaluation, logs)):
            if other is not None:
                fail("OTHER: two files are compared if both are logs of evaluations (.eval, .json, .jsonl).")
            for option in self.given():
                fail(f"{option}: this is for logs of evaluations (.eval, .json, .jsonl), and {data} is a table.")
            return None
        for option, value in tables.items():
            if value:
                fail(f"{option}: this is for tables, and {data} is the log of an evaluation; leave it out.")
        if self.rows is not None and self.rows.suffix.lower() != ".csv":
            fail("--rows: give the name of a CSV file, such as rows.csv.")
        with ending_in_a_line():
            return read_evaluations(logs, self.metric, self.threshold, group)

    def table(self, read: EvaluationTable, data: Path) -> TableFile:
        """What was read as a table, written if that is asked for."""
        if self.rows is not None:
            with ending_in_a_line():
                write_atomically(self.rows, read.content)
        return read.file(self.rows or data.with_suffix(".csv"))
