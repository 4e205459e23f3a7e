"""The six tables of the paper, the published figure beside each measured one."""

import csv
import functools
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from certivote.paper._catalogue import DATASETS
from certivote.paper._protocol import DELTA, PAPER_METHODS, PRIOR, PROTOCOLS, task
from certivote.paper._runs import Run
from certivote.present import text_table

QUANTITIES = {"bound": "Bound in %", "test_error": "Test error in %", "train_seconds": "Training time in seconds"}
TASKS = {
    "binary": "decision stumps, 10 thresholds per feature on declared ranges; certified on all training rows",
    "multiclass": "two forests of 100 trees, each certified on the half that trained the other; the bound is on the "
    "average of both votes",
}


@dataclass(frozen=True)
class Cell:
    """Mean and standard deviation of one quantity, as measured and as published; in % or seconds."""

    dataset: str
    method: str
    runs: int
    mean: float | None
    std: float | None
    published_mean: float | None
    published_std: float | None

    def markdown(self) -> str:
        """``measured ± deviation (published ± deviation)``, as far as there are any."""
        published = "" if self.published_mean is None else f" ({_shown(self.published_mean, self.published_std)})"
        return f"{_shown(self.mean, self.std)}{published}"


def _shown(mean: float | None, std: float | None) -> str:
    return "–" if mean is None else f"{mean:.2f}" if std is None else f"{mean:.2f} ± {std:.2f}"


@functools.cache
def published() -> dict[tuple[str, str, str], tuple[float, float]]:
    """What the paper's tables show.

    Returns
    -------
    dict
        Mean and standard deviation, by quantity (``"bound"`` and ``"test_error"`` in %, ``"train_seconds"``), dataset
        and method.

    Examples
    --------
    >>> from certivote.paper import published
    >>> published()["bound", "tictactoe", "dis-r"]
    (45.58, 2.63)
    """
    text = resources.files("certivote.paper").joinpath("published.csv").read_text(encoding="utf-8")
    return {
        (row["quantity"], row["dataset"], row["method"]): (float(row["mean"]), float(row["std"]))
        for row in csv.DictReader(text.splitlines())
    }


def cells(runs: Iterable[Run], protocol: str, quantity: str, dataset: str) -> list[Cell]:
    """One row of a table, one cell per method."""
    scale = 1.0 if quantity == "train_seconds" else 100.0
    values: dict[str, list[float]] = {method: [] for method in PAPER_METHODS}
    for run in runs:
        if (run.protocol, run.dataset) == (protocol, dataset) and run.method in values:
            values[run.method].append(scale * getattr(run, quantity))
    return [
        Cell(
            dataset,
            method,
            len(found),
            statistics.fmean(found) if found else None,
            statistics.stdev(found) if len(found) > 1 else None,
            *published().get((quantity, dataset, method), (None, None)),
        )
        for method, found in values.items()
    ]


def write_tables(runs: Sequence[Run], protocol: str, folder: Path) -> list[Path]:
    """Write a table for each quantity and each task that has runs, as Markdown and as CSV; the files."""
    kinds = {task(run.dataset) for run in runs if run.protocol == protocol}
    written = []
    for quantity in QUANTITIES:
        for kind in (kind for kind in TASKS if kind in kinds):
            table = [cells(runs, protocol, quantity, name) for name in DATASETS if task(name) == kind]
            stem = folder / f"{quantity}-{kind}"
            text = _markdown(table, protocol, quantity, kind) + _fewer(table, runs, protocol)
            stem.with_suffix(".md").write_text(text, encoding="utf-8")
            with open(stem.with_suffix(".csv"), "w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(Cell.__dataclass_fields__)
                writer.writerows(vars(cell).values() for row in table for cell in row)
            written += [stem.with_suffix(".md"), stem.with_suffix(".csv")]
    return written


def table_text(runs: Sequence[Run], protocol: str) -> str:
    """Bounds and test errors of the datasets and methods that have runs, as text."""
    own = [run for run in runs if run.protocol == protocol]
    names = [name for name in DATASETS if any(run.dataset == name for run in own)]
    methods = [method for method in PAPER_METHODS if any(run.method == method for run in own)]
    found = []
    for quantity in ("bound", "test_error"):
        rows: list[list[str | int]] = []
        for name in names:
            means = [cell for cell in cells(own, protocol, quantity, name) if cell.method in methods]
            rows.append([name, max(cell.runs for cell in means), *map(_short, means)])
        found.append(f"{QUANTITIES[quantity]}, protocol {protocol}: mean over random splits (published)\n")
        found.append(f"{text_table(['dataset', 'splits', *methods], rows)}\n")
    return "\n".join(found)


def _short(cell: Cell) -> str:
    measured = "–" if cell.mean is None else f"{cell.mean:.1f}"
    return measured if cell.published_mean is None else f"{measured} ({cell.published_mean:.1f})"


def _markdown(table: list[list[Cell]], protocol: str, quantity: str, kind: str) -> str:
    lines = [
        f"### {QUANTITIES[quantity]}, {kind} datasets, protocol `{protocol}`",
        "",
        f"Mean ± standard deviation over random splits of 80 % training rows; published figures in brackets. "
        f"Voters: {TASKS[kind]}. {_setting(protocol)}, δ = {DELTA}, solver `{PROTOCOLS[protocol]}`." + _EXTRA[quantity],
        "",
        "| dataset | runs | " + " | ".join(PAPER_METHODS) + " |",
        "|---|--:|" + "--:|" * len(PAPER_METHODS),
    ]
    notes = []
    for row in table:
        name, counts = row[0].dataset, sorted({cell.runs for cell in row})
        runs = "–".join(str(count) for count in (counts[0], counts[-1])[: len(counts)])
        lines.append(f"| {name} | {runs} | " + " | ".join(cell.markdown() for cell in row) + " |")
        notes.append(f"- {name}: {DATASETS[name].note}")
    lines += ["", "What to know of the data:", "", *notes]
    return "\n".join(lines) + "\n"


def _setting(protocol: str) -> str:
    """What is certified, with which prior and constant."""
    if protocol == "own":
        return "Plurality loss, the best of three hyper-priors, Maurer's constant itself"
    return f"Half-weight loss, hyper-prior Dir({PRIOR}, …), constant 2√n"


def beside_text(runs: Sequence[Run]) -> str:
    """Of datasets that have runs by the paper's setting and by the library's own, the bounds of both, as text."""
    found = []
    for name in DATASETS:
        theirs = next((of for of in ("paper", "fast") if _has(runs, of, name)), None)
        if theirs is None or not _has(runs, "own", name):
            continue
        columns = [cells(runs, of, "bound", name) for of in (theirs, "own")]
        rows: list[list[str | int]] = [
            [each.method, _percent(each.published_mean), _percent(each.mean), _percent(own.mean)]
            for each, own in zip(*columns, strict=True)
            if each.runs and own.runs
        ]
        found.append(f"Bound in %, {name}: as published, by the paper's setting here, by that of this library\n")
        found.append(f"{text_table(['method', 'published', theirs, 'own'], rows)}\n")
    return "\n".join(found)


def _has(runs: Sequence[Run], protocol: str, dataset: str) -> bool:
    return any((run.protocol, run.dataset) == (protocol, dataset) for run in runs)


def _percent(mean: float | None) -> str:
    return "–" if mean is None else f"{mean:.2f}"


def _fewer(table: list[list[Cell]], runs: Sequence[Run], protocol: str) -> str:
    """Which methods have fewer runs than the rest of their row, and how long a single one takes."""
    lines = []
    for row in table:
        for cell in row:
            most = max(other.runs for other in row)
            if 0 < cell.runs < most:
                seconds = cells(runs, protocol, "train_seconds", cell.dataset)[PAPER_METHODS.index(cell.method)].mean
                lines.append(
                    f"- {cell.dataset}, {cell.method}: {cell.runs} of {most} runs; a single one takes {seconds:.0f} s."
                )
    return "\n".join(["", "Fewer runs:", "", *lines, ""]) if lines else ""


_EXTRA = {
    "bound": "",
    "test_error": " The random votes (smv) err by their expectation.",
    "train_seconds": " Seconds of one processor core; the published ones are from another machine, so only their "
    "ratios compare.",
}
