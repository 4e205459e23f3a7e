"""The progress of downloads and of runs, shown on a terminal only."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TransferSpeedColumn,
)
from rich.text import Text

from certivote.paper import DATASETS, ProgressBar, Unit


@contextmanager
def download_bar(description: str) -> Iterator[ProgressBar | None]:
    """A bar on standard error; None if that is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        yield _DownloadBar(shown, description)


class _DownloadBar:
    """A bar that begins anew with every file, which announces itself by its total."""

    def __init__(self, shown: Progress, description: str) -> None:
        self._shown = shown
        self._description = description
        self._task = shown.add_task(description, total=None)
        self._total = 0

    @property
    def total(self) -> int:
        return self._total

    @total.setter
    def total(self, total: int) -> None:
        self._total = total
        self._shown.remove_task(self._task)
        self._task = self._shown.add_task(self._description, total=total or None)  # 0 where the server does not say

    def update(self, n: int) -> None:
        self._shown.advance(self._task, n)

    def reset(self) -> None:
        self._shown.reset(self._task)

    def close(self) -> None:
        pass


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
