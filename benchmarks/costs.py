"""The two forms of a bound on the expected cost, side by side: exact tails of the levels, or bets on the costs.

For classifiers that are fixed beforehand, and populations whose expected cost is known. The gap is what a bound has
above it; below 1, its ratio says that levels are tighter. ``certivote.promises.Costs`` chooses by training rows, and by
the number of different costs where there are none.
"""

import math
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from certivote.maths.betting import betting_upper
from certivote.maths.binomial import binomial_upper

POPULATIONS: dict[str, dict[float, float]] = {
    "20:1, rarely missed": {1: 0.04, 20: 0.004},
    "20:1, often missed": {1: 0.10, 20: 0.02},
    "100:1": {1: 0.10, 100: 0.005},
    "5:1": {1: 0.05, 5: 0.02},
    "2:1": {1: 0.05, 2: 0.05},
    "1, 2, 3": {1: 0.05, 2: 0.05, 3: 0.05},
    "1 to 6": dict.fromkeys(range(1, 7), 0.03),
    "1 to 10": dict.fromkeys(range(1, 11), 0.03),
    "1 to 50, the dear ones rare": {1: 0.05, 2: 0.03, 5: 0.01, 10: 0.005, 20: 0.002, 50: 0.001},
}
"""Costs and how often they occur; the other cases cost nothing."""


def main(
    repeats: int = 50, delta: float = 0.05, n: Annotated[list[int] | None, typer.Option(help="Rows.")] = None
) -> None:
    rng = np.random.default_rng(0)
    table = Table(title=f"Mean bounds of {repeats} samples, delta = {delta:g}", title_justify="left")
    for column in ("costs", "rows", "expected cost", "levels", "bets", "gap of levels / gap of bets"):
        table.add_column(column, justify="left" if column == "costs" else "right")
    for name, population in POPULATIONS.items():
        values, shares = np.array([0.0, *population]), np.array(list(population.values()))
        expected = float(values[1:] @ shares)
        for size in n or (200, 1000, 5000, 20_000):
            samples = rng.choice(values, (repeats, size), p=[1.0 - shares.sum(), *shares])
            levels = np.mean([by_levels(costs, values[1:], delta) for costs in samples])
            bets = np.mean([by_bets(costs, values[-1], delta) for costs in samples])
            ratio = (levels - expected) / (bets - expected)
            table.add_row(name, f"{size:,}", *(f"{value:.4f}" for value in (expected, levels, bets)), f"{ratio:.2f}")
    Console(width=120).print(table)


def by_levels(costs: NDArray[np.float64], levels: NDArray[np.float64], delta: float) -> float:
    counts = [int(np.count_nonzero(costs >= level)) for level in levels]
    bounds = binomial_upper(counts, len(costs), math.log(delta / len(levels)))
    return float(np.diff(levels, prepend=0.0) @ bounds)


def by_bets(costs: NDArray[np.float64], largest: float, delta: float) -> float:
    return largest * betting_upper(costs / largest, math.log(delta), math.log(delta))


if __name__ == "__main__":
    typer.run(main)
