"""Time and memory of learning from many votes: maps of floats, blocks with numpy alone, blocks with compiled loops.

Each measurement is a process of its own. Seconds are those of the processor, for one fit by L-BFGS on votes that are
there already and one count of errors, by one thread; the ratio is to maps of floats in the same run; numba has compiled
its loops before.
Memory is the largest that arrays and objects take beyond the votes, as a multiple of these, a byte each, in a fit of a
few steps. Votes are of 100 voters, who are more often right than wrong, and on some rows more often than on others.
"""

import contextlib
import csv
import json
import math
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any
from unittest import mock

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from certivote.maths.loops import compiled_loops
from certivote.pipeline import _learn
from certivote.theory.families import FAMILIES
from certivote.theory.methods import METHODS
from certivote.theory.predictors import Vote
from certivote.theory.theorems import Setting
from certivote.votes import _blocks, build_votes, fixed_point

RESULTS = Path(__file__).parent / "results" / "learning.csv"
N_VOTERS = 100
COLUMNS = (
    "rows",
    "classes",
    "method",
    "family",
    "path",
    "seconds",
    "ratio",
    "evaluations",
    "memory",
    "errors",
)
PATHS = ("floats", "numpy", "numba")
MEAN = ("fo", "so", "bin", "c-bound")


def main(
    one: Annotated[str, typer.Option(help="Measure this only, and print JSON.")] = "",
    rows: Annotated[str, typer.Option(help="Numbers of rows, for dis-r.")] = "100000,1000000",
    methods: Annotated[bool, typer.Option(help="All other methods too, on 100,000 rows.")] = True,
    out: Annotated[Path, typer.Option(help="Where results are written.")] = RESULTS,
    tables: Annotated[bool, typer.Option("--tables", help="Measure nothing, only write the table.")] = False,
) -> None:
    if one:
        print(json.dumps(measure(**json.loads(one))))
        return
    if tables:
        out.with_suffix(".md").write_text(as_table(out), encoding="utf-8")
        return
    cases = [
        {"rows": int(n), "classes": classes, "method": "dis-r", "family": "dirichlet"}
        for n in rows.split(",")
        for classes in (2, 10)
    ]
    if methods:
        cases += [
            {
                "rows": 100_000,
                "classes": classes,
                "method": method,
                "family": "categorical" if method in MEAN else family,
            }
            for classes in (2, 10)
            for method, family in [
                *((method, "dirichlet") for method in ("dis-b", "dis-v", "smv-exact", "smv-mc", *MEAN)),
                ("dis-r", "logistic-normal"),
            ]
            if classes == 2 or method != "c-bound"
        ]
    table = Table(title="Learning from 100 voters", title_justify="left")
    for column in COLUMNS:
        table.add_column(column, justify="right")
    found = []
    for case in cases:
        floats = math.nan
        for path in PATHS:
            command = [sys.executable, __file__, "--one", json.dumps({**case, "path": path})]
            result = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            floats = result["seconds"] if path == "floats" else floats
            result = {**case, "path": path, **result, "ratio": floats / result["seconds"]}
            result = {name: round(value, 3) if isinstance(value, float) else value for name, value in result.items()}
            found.append({name: result[name] for name in COLUMNS})
            table.add_row(*(str(result[name]) for name in COLUMNS))
            print(json.dumps(found[-1]), file=sys.stderr, flush=True)
    Console(width=150).print(table)
    with out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(found)
    out.with_suffix(".md").write_text(as_table(out), encoding="utf-8")


def as_table(path: Path) -> str:
    """Seconds with maps of floats; then how many times faster the others are, and memory as a multiple of the votes."""
    with path.open(newline="", encoding="utf-8") as file:
        results = list(csv.DictReader(file))
    lines = [
        "| rows | classes | method | floats, s | memory | numpy: times faster | memory | numba: times faster "
        "| memory |",
        "|--:|--:|---|--:|--:|--:|--:|--:|--:|",
    ]
    for case in dict.fromkeys(tuple(row[name] for name in ("rows", "classes", "method", "family")) for row in results):
        own = {row["path"]: row for row in results if tuple(row[name] for name in COLUMNS[:4]) == case}
        floats, numpy, numba = (own[name] for name in PATHS)
        rows, classes, method, family = case
        lines.append(
            f"| {int(rows):,} | {classes} | {method}, {family} | {float(floats['seconds']):.1f} | "
            f"{float(floats['memory']):.1f} | {float(numpy['ratio']):.1f} | {float(numpy['memory']):.2f} | "
            f"{float(numba['ratio']):.1f} | {float(numba['memory']):.2f} |"
        )
    return "\n".join(lines) + "\n"


def measure(rows: int, classes: int, method: str, family: str, path: str) -> dict[str, Any]:
    with (
        mock.patch.object(_blocks, "MANY", 1 << 62 if path == "floats" else _blocks.MANY),
        compiled(path == "numba"),
    ):
        learn(*sample(50_000, classes), method, family, steps=1)  # whatever is imported and compiled is there now
        votes, labels = sample(rows, classes)
        start = time.process_time()
        evaluations, errors = learn(votes, labels, method, family)
        seconds = time.process_time() - start
        tracemalloc.start()
        learn(votes, labels, method, family, steps=2)
        peak = tracemalloc.get_traced_memory()[1]
    return {
        "seconds": seconds,
        "evaluations": evaluations,
        "memory": peak / rows / N_VOTERS,
        "errors": errors,
    }


@contextlib.contextmanager
def compiled(allowed: bool) -> Iterator[None]:
    """With compiled loops, or as if numba were not installed."""
    with contextlib.nullcontext() if allowed else mock.patch.dict(sys.modules, {"numba": None}):
        compiled_loops.cache_clear()
        yield


def learn(votes: Any, labels: Any, method: str, family: str, steps: int = 150) -> tuple[int, int]:
    """Learn and count; how often the objective was evaluated, and the errors of the prior vote."""
    chosen = METHODS[method]
    prior = FAMILIES[family].prior(np.full(N_VOTERS, 0.5))
    problem = _learn.Problem(votes, labels, "plurality", prior, FAMILIES[family], chosen, Setting(0.05, 2.0, "paper"))
    with (
        mock.patch.object(_learn, "_MAX_STEPS", steps),
        mock.patch.object(_learn.Objective, "at", autospec=True, side_effect=_learn.Objective.at) as counted,
    ):
        _learn.lbfgs(problem, np.random.default_rng(0), lambda *_: None)
    weights = fixed_point(np.log(np.full(N_VOTERS, 1.0 / N_VOTERS)))
    vote = Vote(FAMILIES[family], prior, np.empty(0), weights)
    tally = METHODS["holdout"].predictor.tally(vote, votes, labels, "plurality", np.random.default_rng(0))
    return counted.call_count, int(np.count_nonzero(tally.wrong))


def sample(rows: int, classes: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, classes, rows)
    ease, skill = rng.normal(1.5, 1.5, rows), rng.normal(0.0, 0.5, N_VOTERS)
    codes = np.empty((rows, N_VOTERS), dtype=np.uint8)
    for start in range(0, rows, 10_000):  # a large table of floats would be part of the peak
        part = slice(start, start + 10_000)
        own = codes[part]
        own[:] = labels[part, None]
        wrong = rng.logistic(size=own.shape) > ease[part, None] + skill
        own += wrong.astype(np.uint8) * rng.integers(1, classes, own.shape, dtype=np.uint8)
        own %= classes
    return build_votes(codes=codes, n_classes=classes), labels


if __name__ == "__main__":
    typer.run(main)
