"""Run the study of validity: simulate, count, write the page and the figure, and fail if a promise is not kept.

What is finished is kept in a CSV file and never repeated, as long as the code is the same: an interrupted run goes on
where it stopped.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from figure import write_figure
from page import complaints, write_page
from plan import plan
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from study import Case, CountStore, forecast, missing, run_study, source_digest, totals

from certivote.files import write_whole


def main(
    scale: Annotated[float, typer.Option(help="Share of the planned repetitions to do, in tenths.")] = 1.0,
    jobs: Annotated[int, typer.Option(help="Processes, one thread each.")] = 2,
    counts: Annotated[Path, typer.Option(help="Where the counts are kept.")] = Path("benchmarks/results/validity.csv"),
    docs: Annotated[Path, typer.Option(help="Where the page and the figure go.")] = Path("docs"),
) -> None:
    store, source, cases = CountStore(counts), source_digest(), plan()
    if store.read()[0] not in ("", source):
        typer.echo("The counts in the file are of other code: they are dropped, and all is counted anew.")
    simulate(cases, store, 0.0, jobs, "measuring")
    seconds = forecast(cases, scale, store.read()[1])
    typer.echo(f"To do: {seconds / 60:.0f} minutes of one processor, about {seconds / 60 / jobs:.0f} with {jobs} jobs.")
    simulate(cases, store, scale, jobs, "simulating")
    found = store.read()[1]
    sums = totals(found)
    sums = {row: sums[row] for case in cases for row in case.rows}
    (docs / "img").mkdir(parents=True, exist_ok=True)
    planned = sum(len(case.rows) * case.runs for case in cases)
    write_whole(docs / "validity.md", write_page(source, sums, planned).encode())
    write_figure(sums, docs / "img")
    typer.echo(f"{sum(count.runs for count in sums.values()):,} runs in {len(sums)} rows: see {docs / 'validity.md'}")
    problems = complaints(sums, complete=not missing(cases, 1.0, found))
    for problem in problems:
        typer.echo(problem, err=True)
    if problems:
        raise typer.Exit(1)


def simulate(cases: Sequence[Case], store: CountStore, scale: float, jobs: int, doing: str) -> None:
    """Do what is missing, with a bar on a terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task(doing, total=None)
        for done, total in run_study(cases, store, scale, jobs, plan):
            bar.update(task, completed=done, total=total)


if __name__ == "__main__":
    typer.run(main)
