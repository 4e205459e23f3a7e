"""How many labels prove a target: with a number that is fixed beforehand, and when labelling stops as soon as it can.

- Labels in the mean, exactly, by the law of their number row by row, divided by the fixed number that proves the target
  by Clopper and Pearson with probability 90 %: without a guess, with the right one, with one guess throughout, in
  batches of 25, and with a cap of 1.5 times the fixed number and the exact threshold that belongs to it.
- False proofs *ever*, where the error is the target itself, in streams with 99 % limits.

Nothing but a seed is needed: the figures are in a CSV file, and ``--tables`` makes the tables of it again.
"""

import csv
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from scipy.stats import beta

from certivote.maths.stopping import StoppingBets, capped_threshold, first_reached, fixed_number

TARGETS = ((0.05, 0.05), (0.01, 0.05), (0.1, 0.05), (0.05, 0.01))
"""Targets and deltas."""
SHARES = (0.2, 0.3, 0.4, 0.5, 0.6)
"""The error, as shares of the target."""
PLANS = (
    "no guess",
    "the right guess",
    "guess of 0.4 target",
    "no guess, batches of 25",
    "capped, no guess",
    "capped, right guess",
)
FIELDS = ("what", "plan", "target", "delta", "error", "fixed", "value", "proven", "low", "high")
HORIZON = 3000
CHUNK = 500
"""Streams at a time."""
Row = dict[str, object]


def main(
    streams: int = 10_000,
    seed: int = 0,
    out: Annotated[Path, typer.Option(help="Where the figures and the tables are kept.")] = Path("benchmarks/results"),
    tables: Annotated[bool, typer.Option("--tables", help="Compute nothing, only write the tables.")] = False,
) -> None:
    path = out / "labels.csv"
    if not tables:
        found = [*means(), *false_proofs(streams, seed)]
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(found)
    with path.open(newline="", encoding="utf-8") as file:
        text = as_tables(list(csv.DictReader(file)))
    path.with_suffix(".md").write_text(text, encoding="utf-8")
    typer.echo(text)


def means() -> Iterator[Row]:
    for target, delta in TARGETS:
        for share in SHARES:
            error = share * target
            fixed = fixed_number(target, delta, error)
            for plan in PLANS:
                mean, proven = labels(plan, target, delta, error, fixed)
                yield {
                    "what": "labels",
                    "plan": plan,
                    "target": target,
                    "delta": delta,
                    "error": f"{error:.6g}",
                    "fixed": fixed,
                    "value": f"{mean / fixed:.4f}",
                    "proven": f"{proven:.4f}",
                }


def labels(plan: str, target: float, delta: float, error: float, fixed: int) -> tuple[float, float]:
    """Labels in the mean, and how often the target is proven within the horizon."""
    capped = plan.startswith("capped")
    guess = {"the right guess": error, "capped, right guess": error, "guess of 0.4 target": 0.4 * target}.get(plan)
    horizon = math.floor(1.5 * fixed) if capped else 12 * fixed
    threshold = capped_threshold(target, guess, delta, horizon) if capped else -math.log(delta)
    boundary = StoppingBets(target, guess).boundary(horizon, threshold)
    law, counts = first_reached(boundary, error), np.arange(horizon + 1)
    if "batches" in plan:
        counts = -(-counts // 25) * 25
    proven = float(law.sum())
    return float(law @ counts + (1.0 - proven) * horizon), proven


def false_proofs(streams: int, seed: int) -> Iterator[Row]:
    target = delta = 0.05
    for number, (plan, guess, cap) in enumerate(
        (("no guess", None, None), ("guess of 0.4 target", 0.02, None), ("capped, guess of 0.4 target", 0.02, 466))
    ):
        horizon = cap or HORIZON
        threshold = capped_threshold(target, guess, delta, cap) if cap else -math.log(delta)
        boundary = StoppingBets(target, guess).boundary(horizon, threshold)[1:]
        rng, count = np.random.default_rng([seed, number]), 0
        for _ in range(0, streams, CHUNK):
            errors = np.cumsum(rng.random((CHUNK, horizon)) < target, axis=1, dtype=np.int32)
            count += int(np.any(errors <= boundary, axis=1).sum())
        n = streams // CHUNK * CHUNK
        low = float(beta.ppf(0.005, count, n - count + 1)) if count else 0.0
        yield {
            "what": "false proofs",
            "plan": plan,
            "target": target,
            "delta": delta,
            "error": target,
            "fixed": horizon,
            "value": f"{count / n:.5f}",
            "low": f"{low:.5f}",
            "high": f"{float(beta.ppf(0.995, count + 1, n - count)):.5f}",
        }


def as_tables(found: list[dict[str, str]]) -> str:
    rows = [row for row in found if row["what"] == "labels"]
    lines = [
        "Labels in the mean, divided by the number that would have been fixed for a power of 90 %:",
        "",
        f"| target | δ | error | fixed number | {' | '.join(PLANS)} |",
        f"|--:|--:|--:|--:|{'--:|' * len(PLANS)}",
    ]
    for key in dict.fromkeys((row["target"], row["delta"], row["error"], row["fixed"]) for row in rows):
        own = {row["plan"]: row for row in rows if (row["target"], row["delta"], row["error"], row["fixed"]) == key}
        target, delta, error, fixed = key
        shown = [f"{float(own[plan]['value']):.2f}" for plan in PLANS]
        lines.append(
            f"| {100 * float(target):g} % | {float(delta):g} | {100 * float(error):g} % | {int(fixed):,} | "
            f"{' | '.join(shown)} |"
        )
    capped = [float(row["proven"]) for row in rows if row["plan"].startswith("capped")]
    lines += ["", f"With the cap, the target is proven with probability {min(capped):.2f} to {max(capped):.2f}.", ""]
    lines += [
        "| false proofs ever, at an error of the target | labels until | share | 99 % limits |",
        "|---|--:|--:|--:|",
    ]
    lines += [
        f"| {row['plan']} | {int(row['fixed']):,} | {100 * float(row['value']):.2f} % | "
        f"{100 * float(row['low']):.2f} to {100 * float(row['high']):.2f} % |"
        for row in found
        if row["what"] == "false proofs"
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    typer.run(main)
