"""Time and memory of one fit on Adult with stumps, for n, 2n and 4n rows, as ratios measured in one run.

Each fit runs in a process of its own, so that its peak memory is its own. A step is one of L-BFGS. The last line is the
paper's Algorithm 1, whose step is an epoch.
"""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from certivote.paper import PAPER_SETTING, load, paper_method, paper_voters
from certivote.pipeline import Stage, make_plan, run


def main(
    data: Annotated[Path | None, typer.Option(help="Data directory.")] = None,
    rows: Annotated[int, typer.Option(help="Measure one fit to this number of rows only, and print JSON.")] = 0,
    solver: Annotated[str, typer.Option(help="Solver of that fit.")] = "lbfgs",
) -> None:
    if rows:
        print(json.dumps(measure(rows, solver, data)))
        return
    n = 8140
    table = Table(
        title="Adult, dis-r, 2,460 stumps on declared ranges, split none, half-weight loss, beta 0.5, delta 0.05, "
        "2 sqrt(n), 1 run",
        title_justify="left",
    )
    for column in ("rows", "solver", "seconds", "ratio", "steps", "ms each", "ratio", "MB above data", "bound %"):
        table.add_column(column, justify="right")
    first: dict[str, float] = {}
    for size, name in ((n, "lbfgs"), (2 * n, "lbfgs"), (4 * n, "lbfgs"), (4 * n, "adam")):
        where = ["--data", str(data)] if data else []
        command = [sys.executable, __file__, "--rows", str(size), "--solver", name, *where]
        result = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        each = result["seconds"] / result["steps"]
        first = first or {"seconds": result["seconds"], "each": each}
        table.add_row(
            f"{size:,}",
            name,
            f"{result['seconds']:.2f}",
            f"{result['seconds'] / first['seconds']:.2f}",
            str(result["steps"]),
            f"{1000 * each:.1f}",
            f"{each / first['each']:.2f}",
            f"{result['megabytes']:.0f}",
            f"{100 * result['bound']:.2f}",
        )
    Console(width=120).print(table)


def measure(rows: int, solver: str, data: Path | None) -> dict[str, float]:
    adult = load("adult", data)
    chosen = np.random.default_rng(0).permutation(len(adult.y))[:rows]
    X, y = adult.X[chosen], adult.y[chosen]
    voters, split = paper_voters(adult.name)
    plan = make_plan(paper_method("dis-r", solver), voters, split, random_state=0, **PAPER_SETTING)
    counted = Counted()
    before = peak()
    start = time.perf_counter()
    outcome = run(plan, X, y, stage=counted)
    seconds = time.perf_counter() - start
    return {
        "seconds": seconds,
        "steps": counted.steps,
        "megabytes": (peak() - before) / 1024,
        "bound": outcome.certificate.bound,
    }


class Counted(Stage):
    """Counts the steps of the optimiser."""

    def __init__(self) -> None:
        self.steps = 0

    def begin(self, description: str) -> Callable[[], None]:
        return self.count

    def count(self) -> None:
        """One more."""
        self.steps += 1


def peak() -> int:
    """Peak memory of this process, in KB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    typer.run(main)
