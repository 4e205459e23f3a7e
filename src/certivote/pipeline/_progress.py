"""Progress of long work: a bar on a terminal, and elsewhere a line now and then."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from itertools import count
from typing import Any

Tick = Callable[..., None]
"""Called after each step of a stage; with the value that is minimised, if one is."""
_PATIENCE = 2.0
"""Seconds of work before a terminal shows anything."""
_EVERY = 10.0
"""Seconds between two lines where there is no terminal."""
_LOOKS = 0.2
"""Seconds between two looks at the clock."""


class Stage:
    """What the work is doing now; silent by default."""

    def begin(self, description: str) -> Tick:
        """Start a stage and return what to call after each of its steps."""
        return lambda value=0.0: None


@contextmanager
def progress(enabled: bool) -> Iterator[Stage]:
    """Show stages, their steps and the time on standard error, if the work takes longer than two seconds."""
    if not enabled:
        yield Stage()
        return
    shown, over = Shown(), threading.Event()

    def watch() -> None:
        with suppress(OSError, ValueError):  # standard error is closed or full: the work goes on
            while not over.wait(_LOOKS):
                shown.look()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield shown
    finally:
        over.set()
        watcher.join()
        shown.end()


class Shown(Stage):
    """Stages that somebody sees: a bar on a terminal, elsewhere a plain line every ten seconds.

    Parameters
    ----------
    clock : callable
        The time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._start, self._stream = clock, clock(), sys.stderr
        self._doing, self._next_line = "working", _EVERY
        self._bar: Any = None

    def begin(self, description: str) -> Tick:
        """Start a stage; after a step of an earlier one, that is shown again."""
        steps, self._doing = count(1), description

        def tick(value: float = 0.0) -> None:
            self._doing = f"{description}, step {next(steps):,}"

        return tick

    def look(self) -> None:
        """Show what should be seen by now."""
        seconds = self._clock() - self._start
        words = f"{self._doing}, {timedelta(seconds=int(seconds))}"
        if self._stream.isatty():
            if seconds >= _PATIENCE:
                self._draw(words)
        elif seconds >= self._next_line:
            self._next_line += _EVERY
            print(f"certivote: {words}", file=self._stream, flush=True)

    def end(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.stop()

    def _draw(self, words: str) -> None:
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn

            columns = BarColumn(bar_width=20), TextColumn("{task.description}", markup=False)
            self._bar = Progress(*columns, console=Console(file=self._stream), transient=True, auto_refresh=False)
            self._bar.start()
            self._bar.add_task(words, total=None)  # how many steps there will be is not known
        self._bar.update(self._bar.task_ids[0], description=words, refresh=True)
