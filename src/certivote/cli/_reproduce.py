"""``certivote reproduce``: the paper's experiments, tables and figures."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from certivote.cli._shared import DataFolder, check_dataset, complain, fail
from certivote.datasets import DATASETS, DatasetUnavailable, fetch

if TYPE_CHECKING:
    from certivote.experiments import Unit

__all__ = ["reproduce"]


def reproduce(
    protocol: Annotated[
        list[str] | None,
        typer.Option(
            help="paper: Algorithm 1 (adam), as published; fast: the same voters, priors and loss, by L-BFGS. Repeat "
            "for both.  [default: fast]",
            show_default=False,
        ),
    ] = None,
    dataset: Annotated[
        list[str] | None,
        typer.Option(help="Only this dataset; repeat for several.  [default: all that can be had]", show_default=False),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            help="Only this of the paper's seven methods; repeat for several.  [default: all]", show_default=False
        ),
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Random splits of each dataset.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the first split; the next have the next numbers.")] = 0,
    jobs: Annotated[int, typer.Option(min=1, help="Splits worked on at a time, in processes of their own.")] = 1,
    data: DataFolder = None,
    out: Annotated[Path, typer.Option(file_okay=False, help="Folder of runs.csv, the tables and the figures.")] = Path(
        "results"
    ),
    tables: Annotated[
        bool, typer.Option("--tables", help="Run nothing; only write tables and figures of the finished runs.")
    ] = False,
    certificates: Annotated[
        bool, typer.Option("--certificates", help="Keep the certificate of every run, as JSON.")
    ] = False,
) -> None:
    """Run the paper's experiments, and set the published figures beside the measured ones.

    Finished runs are kept in runs.csv and never repeated: interrupt it as you like and start it again, or let several
    processes work on one folder.
    """
    try:
        from certivote import experiments
    except ImportError as error:
        fail(f"reproduce needs the package {error.name}: install certivote[reproduce].")
    _check("--protocol", protocol, experiments.PROTOCOLS)
    _check("--method", method, experiments.METHODS)
    try:
        if not tables:
            names = _available(dataset, data)
            units = experiments.plan_units(protocol or ["fast"], names, repeats, seed)
            with _progress(units) as done:
                missing = experiments.reproduce(
                    units,
                    method or experiments.METHODS,
                    out,
                    data_dir=data,
                    jobs=jobs,
                    certificates=certificates,
                    done=done,
                )
            if missing:
                complain(f"{missing} runs are left to another process that works on {out}.")
        written = experiments.write_results(out)
    except (ValueError, OSError) as error:
        fail(str(error))
    except KeyboardInterrupt:
        fail(f"interrupted; finished runs are in {out / 'runs.csv'}, and the same command goes on from there.")
    if not written:
        fail(f"--tables: there are no finished runs in {out}.")
    for path in written:
        typer.echo(path)


def _check(option: str, given: Iterable[str] | None, allowed: Iterable[str]) -> None:
    for name in given or ():
        if name not in allowed:
            fail(f"{option}: there is no {name!r}; there are {', '.join(allowed)}.")


def _available(chosen: Sequence[str] | None, data: Path | None) -> list[str]:
    """The datasets to run; one that was asked for must be there, others are left out with a line."""
    for name in chosen or ():
        check_dataset(name)
    found = []
    for name in dict.fromkeys(chosen or DATASETS):
        try:
            fetch(name, data)
            found.append(name)
        except DatasetUnavailable as error:
            (fail if chosen else complain)(str(error))
    return found


@contextmanager
def _progress(units: Sequence["Unit"]) -> Iterator[Any]:
    """A bar with the time left on a terminal, weighted by the rows of each unit; nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda unit, runs: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), speed_estimate_period=86_400) as bar:
        total = sum(DATASETS[unit.dataset].shape[0] for unit in units)
        task = bar.add_task(f"{len(units)} splits", total=total)

        def done(unit: "Unit", runs: int) -> None:
            rows = DATASETS[unit.dataset].shape[0]
            if runs:
                bar.update(task, advance=rows, description=f"{unit.dataset}, seed {unit.seed} done")
            else:  # done before: it must not count as speed
                bar.update(task, total=(bar.tasks[0].total or 0) - rows)

        yield done
