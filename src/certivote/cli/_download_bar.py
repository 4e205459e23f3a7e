"""The progress of a download, shown on a terminal only."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from certivote.paper import ProgressBar

if TYPE_CHECKING:
    from rich.progress import Progress


@contextmanager
def download_bar(description: str) -> Iterator[ProgressBar | None]:
    """A bar on standard error; None if that is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        yield _Bar(shown, description)


class _Bar:
    """A bar that begins anew with every file, which announces itself by its total."""

    def __init__(self, shown: "Progress", description: str) -> None:
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
