"""Run the study of validity: simulate, count, write the page and the figure, and fail if a promise is not kept.

What is finished is kept in a CSV file and never repeated, as long as the code is the same: an interrupted run goes on
where it stopped.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from digest import source_digest
from figure import write_figure
from page import complaints, write_page
from plan import plan
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from study import Case, CountStore, forecast, missing, run_study, totals

from certivote.io import write_atomically


def main(
    scale: Annotated[float, typer.Option(help="Share of the planned repetitions to do, in tenths.")] = 1.0,
    jobs: Annotated[int, typer.Option(help="Processes, one thread each.")] = 2,
    counts: Annotated[Path, typer.Option(help="Where the counts are kept.")] = Path("benchmarks/results/validity.csv"),
    docs: Annotated[Path, typer.Option(help="Where the page and the figure go.")] = Path("docs"),
    page_only: Annotated[
        bool, typer.Option("--page-only", help="Run nothing; only write the page and the figure.")
    ] = False,
) -> None:
    store, cases = CountStore(counts), plan()
    if not page_only:
        count(cases, store, scale, jobs)
    source, found = store.read()
    if page_only and source != source_digest():
        typer.echo(f"The counts in {counts} are of other code than this: make validity counts anew.", err=True)
    sums = totals(found)
    if not sums:
        typer.echo(f"There are no counts in {counts}.", err=True)
        raise typer.Exit(1)
    planned = [row for case in cases for row in case.rows if row in sums]
    sums = {row: sums[row] for row in dict.fromkeys([*planned, *sums])}
    (docs / "img").mkdir(parents=True, exist_ok=True)
    runs = sum(len(case.rows) * case.runs for case in cases)
    write_atomically(docs / "validity.md", write_page(source, sums, runs).encode())
    write_figure(sums, docs / "img")
    typer.echo(f"{sum(count.runs for count in sums.values()):,} runs in {len(sums)} rows: see {docs / 'validity.md'}")
    problems = [] if page_only else complaints(sums, complete=not missing(cases, 1.0, found))
    for problem in problems:
        typer.echo(problem, err=True)
    if problems:
        raise typer.Exit(1)


def count(cases: Sequence[Case], store: CountStore, scale: float, jobs: int) -> None:
    """Simulate what is missing: one part of each case first, by which the time of the rest is told."""
    if store.read()[0] not in ("", source_digest()):
        typer.echo("The counts in the file are of other code: they are dropped, and all is counted anew.")
    simulate(cases, store, 0.0, jobs, "measuring")
    seconds = forecast(cases, scale, store.read()[1])
    typer.echo(f"To do: {seconds / 60:.0f} minutes of one processor, about {seconds / 60 / jobs:.0f} with {jobs} jobs.")
    simulate(cases, store, scale, jobs, "simulating")


def simulate(cases: Sequence[Case], store: CountStore, scale: float, jobs: int, doing: str) -> None:
    """Do what is missing, with a bar on a terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task(doing, total=None)
        for done, total in run_study(cases, store, scale, jobs, plan):
            bar.update(task, completed=done, total=total)


if __name__ == "__main__":
    typer.run(main)
