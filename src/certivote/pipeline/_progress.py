"""Progress of long work, shown on a terminal only."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Tick = Callable[[], None]
"""Called after each step of a stage."""


class Stage:
    """What the work is doing now; silent by default."""

    def begin(self, description: str) -> Tick:
        """Start a stage and return what to call after each of its steps."""
        return lambda: None


@contextmanager
def progress(enabled: bool) -> Iterator[Stage]:
    """Show stages with a spinner, their steps and the time on standard error, if that is a terminal."""
    if not enabled or not sys.stderr.isatty():
        yield Stage()
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TextColumn("{task.fields[steps]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:

        class Spinner(Stage):
            def begin(self, description: str) -> Tick:
                for task in bar.tasks:
                    bar.stop_task(task.id)
                task_id = bar.add_task(description, total=None, steps="")
                count = 0

                def tick() -> None:
                    nonlocal count
                    count += 1
                    bar.update(task_id, steps=f"step {count}")

                return tick

        yield Spinner()
