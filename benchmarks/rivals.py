"""certivote beside the four models that people would otherwise use, and beside itself at an earlier commit.

RandomForest, HistGradientBoosting, LightGBM (300 trees, learning rate 0.05) and CatBoost, all else as by default. On
the same training rows of each split, delta 0.05, one thread:

- each of the four is fitted on a random half and certified on the other by Clopper and Pearson; it is fitted on all
  rows, and its errors are counted on the test rows; and three folds of the training rows tell which of the four one
  would choose;
- certivote, ``method="auto"``: bound and test error at the earlier commit, by this code, and by this code with the
  boosters of other packages (``voters="boosted"``), if it knows these.

Columns of words go to certivote as they are, at the earlier commit by ``ColumnEncoder``. LightGBM, CatBoost and
HistGradientBoosting are told which columns are categories; the forest gets numbers in alphabetical order.

A run is one model on one split, kept in a CSV file and never repeated; runs of certivote are repeated when its source
has changed. Each model has a process for a split of all datasets, which begins with a small fit that is not timed.
Times are those of the processor. Datasets, splits, and who may look at them: ``rivals_data.py``. ``make rivals`` puts
the packages beside the environment. Set CERTIVOTE_DATA, or give the data directory.
"""

import json
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import earlier
import typer
from finished import read, record
from rivals_data import DECIDE, JUDGE, SEEDS, load, split
from rivals_models import BEFORE, FOUR, OURS, RIVALS
from rivals_tables import tables as made_tables

FIELDS = ("dataset", "seed", "what", "version", "rows", "bound", "test_error", "cv_error", "fit", "predict", "size")
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
WHATS = (RIVALS, *OURS)


def main(
    data: Annotated[Path | None, typer.Option(envvar="CERTIVOTE_DATA", help="Data directory.")] = None,
    seeds: Annotated[int, typer.Option(help="Splits of each dataset: the first so many of ten.")] = len(SEEDS),
    dataset: Annotated[list[str] | None, typer.Option(help="Only these; decide, judge: the halves.")] = None,
    what: Annotated[list[str] | None, typer.Option(help=f"Only these of {', '.join(WHATS)}.")] = None,
    out: Annotated[Path, typer.Option(help="Where the runs and the table are kept.")] = Path("benchmarks/results"),
    tables: Annotated[bool, typer.Option("--tables", help="Run nothing, only write the table.")] = False,
) -> None:
    path = out / "rivals.csv"
    out.mkdir(parents=True, exist_ok=True)
    if not tables:
        run(path, data, range(min(seeds, len(SEEDS))), chosen(dataset), what or WHATS)
    text = made_tables(read(path))
    path.with_suffix(".md").write_text(text, encoding="utf-8")
    typer.echo(text)


def chosen(names: Sequence[str] | None) -> list[str]:
    """Those that judge first, unless told otherwise."""
    halves = {"decide": DECIDE, "judge": JUDGE}
    return [name for given in names or ("judge", "decide") for name in halves.get(given, (given,))]


def run(path: Path, data: Path | None, seeds: Sequence[int], names: Sequence[str], whats: Sequence[str]) -> None:
    """Measure what is missing, a split of all datasets after the other."""
    versions = {what: version(what) for what in whats}
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            for what, its_version in versions.items():
                finished = {
                    (row["dataset"], row["what"])
                    for row in read(path)
                    if row["seed"] == str(seed) and (what == RIVALS or row["version"] == its_version)
                }
                members = FOUR if what == RIVALS else (what,)
                missing = [name for name in names if any((name, member) not in finished for member in members)]
                if missing and its_version:
                    for name, found in zip(missing, answers(what, missing, seed, data, Path(folder)), strict=True):
                        same = {"dataset": name, "seed": seed, "version": its_version}
                        record(path, FIELDS, *(same | one for one in found if (name, one["what"]) not in finished))


def version(what: str) -> str:
    """Of the code that is measured; empty if this code has no such voters."""
    if what in (RIVALS, BEFORE):
        return what
    from certivote.voters import VOTERS

    if what == "boosted" and what not in VOTERS:
        return ""
    git = {"cwd": earlier.ROOT, "check": True, "capture_output": True, "text": True}
    commit = subprocess.run(["git", "log", "-1", "--format=%h", "--", "src"], **git).stdout.strip()
    changed = subprocess.run(["git", "status", "--porcelain", "--", "src"], **git).stdout
    return f"{commit} and changes" if changed else commit


def answers(
    what: str, names: Sequence[str], seed: int, data: Path | None, folder: Path
) -> Iterator[list[dict[str, Any]]]:
    """What a process of its own measures on one dataset after the other."""
    environment = {**os.environ, **(earlier.environment(BEFORE) if what == BEFORE else {}), **ONE_THREAD}
    command = [sys.executable, str(Path(__file__).with_name("rivals_models.py")), what]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        for name in names:
            rows = load(name, data)
            train, test = split(name, len(rows.y), seed)
            content = rows.X.iloc[train], rows.y[train], rows.X.iloc[test], rows.y[test], seed
            file = folder / f"{name}.pickle"
            file.write_bytes(pickle.dumps(content))
            print(file, file=process.stdin, flush=True)
            line = process.stdout.readline() if process.stdout else ""
            if not line:
                raise SystemExit(f"The process of {what} ended at {name}, split {seed}.")
            yield json.loads(line)


if __name__ == "__main__":
    typer.run(main)
