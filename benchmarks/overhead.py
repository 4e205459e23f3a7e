"""What certification adds to two forests: votes, learning and certificate on MNIST, as a share of fitting the forests.

Method dis-r, split cross, 100 trees per forest, 80 % of the rows; seconds of the processor, both measured in this run.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.ensemble import RandomForestClassifier

from certivote.methods import DisR
from certivote.paper import load
from certivote.pipeline import make_plan, run
from certivote.voters import Forest


def main(
    data: Annotated[Path | None, typer.Option(envvar="CERTIVOTE_DATA", help="Data directory.")] = None,
    name: Annotated[str, typer.Option("--dataset", help="Dataset.")] = "mnist",
    jobs: Annotated[int, typer.Option(help="Threads of the forests.")] = 2,
) -> None:
    content = load(name, data)
    rows = np.random.default_rng(0).permutation(len(content.y))[: len(content.y) * 4 // 5]
    X, y = content.X[rows], content.y[rows]
    voters = Forest(RandomForestClassifier(n_jobs=jobs))
    plan = make_plan(DisR(constant="paper"), voters, "cross", prior=0.5, random_state=0)
    outcome, *whole = timed(lambda: run(plan, X, y))
    halves = (outcome.deployed.rows.train, outcome.deployed.rows.certify)
    _, *forests = timed(
        lambda: [RandomForestClassifier(n_jobs=jobs, random_state=0).fit(X[half], y[half]) for half in halves]
    )
    for clock, total, part in zip(("wall", "processor"), whole, forests, strict=True):
        typer.echo(f"{clock}: forests {part:.1f} s, with certification {total:.1f} s: {total / part - 1:+.1%}")


def timed(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """What it yields, and its seconds: by the clock, and of the processor."""
    wall, processor = time.perf_counter(), time.process_time()
    found = work()
    return found, time.perf_counter() - wall, time.process_time() - processor


if __name__ == "__main__":
    typer.run(main)
