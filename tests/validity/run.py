"""Run the study of validity: simulate, count, write the page and the figure, and fail if a promise is not kept.

What is finished is kept in a CSV file and not repeated as long as the code is the same: an interrupted run goes on
where it stopped. When the code has changed, a tenth of every case is repeated. Where it is as recorded, digit for
digit, the other counts of the case stand for the new code as well. Where not, the case is counted anew, and if that is
so of more than a few cases, all of them are.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from counting import Difference, DifferentCountsError, Progress, confirm, forecast, missing, run_study, to_repeat
from digest import source_digest
from figure import write_figure
from page import complaints, write_page
from plan import plan
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars
from store import CountStore, totals
from study import Case

from certivote.io import write_atomically


def main(
    scale: Annotated[float, typer.Option(help="Share of the planned repetitions to do, in tenths.")] = 1.0,
    jobs: Annotated[int, typer.Option(help="Processes, one thread each.")] = 2,
    counts: Annotated[Path, typer.Option(help="Where the counts are kept.")] = Path("benchmarks/results/validity.csv"),
    docs: Annotated[Path, typer.Option(help="Where the page and the figure go.")] = Path("docs"),
    page_only: Annotated[
        bool, typer.Option("--page-only", help="Run nothing; only write the page and the figure.")
    ] = False,
    anew: Annotated[
        bool, typer.Option("--anew", help="Count all with exactly this code: what other code has counted is dropped.")
    ] = False,
) -> None:
    store, cases = CountStore(counts), plan()
    if not page_only:
        count(cases, store, scale, jobs, anew)
    records = store.read()
    if page_only and records.source != source_digest():
        typer.echo(f"The counts in {counts} are of other code than this; see make validity.", err=True)
    sums = totals(records.counts)
    if not sums:
        typer.echo(f"There are no counts in {counts}.", err=True)
        raise typer.Exit(1)
    planned = [row for case in cases for row in case.rows if row in sums]
    sums = {row: sums[row] for row in dict.fromkeys([*planned, *sums])}
    (docs / "img").mkdir(parents=True, exist_ok=True)
    runs = sum(len(case.rows) * case.runs for case in cases)
    write_atomically(docs / "validity.md", write_page(records.source, sums, runs, records.runs_by_code()).encode())
    write_figure(sums, docs / "img")
    typer.echo(f"{sum(count.runs for count in sums.values()):,} runs in {len(sums)} rows: see {docs / 'validity.md'}")
    problems = [] if page_only else complaints(sums, complete=not missing(cases, 1.0, records.counts))
    for problem in problems:
        typer.echo(problem, err=True)
    if problems:
        raise typer.Exit(1)


def count(cases: Sequence[Case], store: CountStore, scale: float, jobs: int, anew: bool) -> None:
    """Confirm the counts of other code, and simulate what is missing.

    One part of each case is simulated first, by which the time of the rest is told.
    """
    source = source_digest()
    if not anew and store.read().source not in ("", source):
        confirm_counts(cases, store, jobs)
    store.begin(source, anew)
    show(run_study(cases, store, 0.0, jobs, plan), "measuring")
    counts = store.read().counts
    seconds = forecast(cases, missing(cases, scale, counts), counts)
    typer.echo(f"To do: {duration(seconds, jobs)}.")
    show(run_study(cases, store, scale, jobs, plan), "simulating")


def confirm_counts(cases: Sequence[Case], store: CountStore, jobs: int) -> None:
    """Repeat a tenth of every case, and say whether the other counts stand."""
    recorded = store.read()
    todo = to_repeat(cases, recorded)
    seconds = forecast(cases, todo, recorded.counts)
    typer.echo(f"The counts are of other code ({recorded.source}) than this ({source_digest()}).")
    typer.echo(f"One part of each of {len(todo)} cases is repeated: {duration(seconds, jobs)} at most.")
    different: list[Difference] = []
    try:
        show(confirm(cases, store, jobs, plan, different.append), "confirming")
    except DifferentCountsError as error:
        typer.echo(f"Not as recorded: {error}")
        typer.echo("All is counted anew.")
    else:
        for difference in different:
            typer.echo(f"Not as recorded, and counted anew: {difference}")
        which = "The rest of it" if different else "All of it"
        typer.echo(f"{which} is as recorded, digit for digit: the other counts stand.")


def duration(seconds: float, jobs: int) -> str:
    return f"{seconds / 60:.0f} minutes of one processor, about {seconds / 60 / jobs:.0f} with {jobs} jobs"


def show(progress: Progress, doing: str) -> None:
    """Do it, with a bar on a terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bars(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task(doing, total=None)
        for done, total in progress:
            bar.update(task, completed=done, total=total)


if __name__ == "__main__":
    typer.run(main)
