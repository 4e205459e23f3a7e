"""The progress of many runs, shown on a terminal only."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from certivote.paper import DATASETS, Unit


@contextmanager
def run_bar(units: Sequence[Unit], quiet: bool) -> Iterator[Callable[[Unit, int], None]]:
    """A bar with the time left on a terminal, weighted by the rows of each unit; nothing elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield lambda unit, runs: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn(), _TimeLeft())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        total = sum(DATASETS[unit.dataset].shape[0] for unit in units)
        whole = bar.add_task(f"{len(units)} splits", total=total, end=None)

        def done(unit: Unit, runs: int) -> None:
            task, rows = bar.tasks[0], DATASETS[unit.dataset].shape[0]
            if runs:
                bar.update(whole, advance=rows, description=f"{unit.dataset}, seed {unit.seed} done")
            else:  # done before: it must not count as speed
                bar.update(whole, total=(task.total or 0) - rows)
            if task.completed:
                bar.update(whole, end=task.get_time() + (task.elapsed or 0) * (task.remaining or 0) / task.completed)

        yield done


class _TimeLeft(ProgressColumn):
    """The time left by the mean speed since the start, counting down from one finished unit to the next."""

    def render(self, task: Task) -> Text:
        end = task.fields["end"]
        left = "-:--:--" if end is None else str(timedelta(seconds=max(0, round(end - task.get_time()))))
        return Text(f"{left} left", style="progress.remaining")
