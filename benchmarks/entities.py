"""Upper limits for the mean loss of entities, by several forms, in worlds whose mean is known.

An entity (a patient, say) has one or more rows, and its loss is the share of them that are wrong. The forms:

- betting: what certificates use, with bets for the level itself, or for 0.05 where a draw is paid beside it;
- kl: the inverse of the kl with the number of entities for ``n``, which holds for any numbers in [0, 1] (Hoeffding);
- Hoeffding-Bentkus: the smaller of that and of ``e`` times the binomial tail, the mean rounded up;
- one row: the binomial tail of one row of every entity, taken at random.

The worlds: all rows of an entity equal; 10 independent rows; 10 rows with an error rate of the entity's own, from a
beta distribution; the same with entities of unequal sizes, 6.7 rows in the mean. Nothing but a seed is needed: the
means over all samples are in a CSV file, and ``--tables`` makes the tables of it again.
"""

import csv
import math
import statistics
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.progress import track

from certivote.maths.betting import betting_upper
from certivote.maths.binary_kl import kl_inverse_upper
from certivote.maths.binomial import binomial_upper

ENTITIES = (20, 50, 100, 300, 1000, 2000)
ERRORS = (0.0, 0.01, 0.02, 0.1, 0.25)
TARGET = math.log(0.05)
LEVELS = {
    "0.05": (TARGET, TARGET),
    "0.05/10": (TARGET - math.log(10), TARGET - math.log(10)),
    "0.05/40": (TARGET - math.log(40), TARGET - math.log(40)),
    "0.05, a draw of 15 nats": (TARGET - 15.0, TARGET),
}
"""Logarithms of the level that is tested and of the one that bets are made for."""
FORMS = ("betting", "kl", "Hoeffding-Bentkus", "one row")
FIELDS = ("world", "entities", "error", "level", "samples", "below", *FORMS)
Losses = np.ndarray
Rows = list[dict[str, str]]


def equal_rows(error: float, m: int, rng: np.random.Generator) -> Losses:
    return (rng.random(m) < error).astype(float)


def independent_rows(error: float, m: int, rng: np.random.Generator) -> Losses:
    return rng.binomial(10, error, m) / 10


def own_rates(error: float, m: int, rng: np.random.Generator) -> Losses:
    return rng.binomial(10, rng.beta(2.0 * error, 2.0 * (1.0 - error), m)) / 10


def unequal_sizes(error: float, m: int, rng: np.random.Generator) -> Losses:
    sizes = rng.geometric(0.15, m)
    return rng.binomial(sizes, rng.beta(4.0 * error, 4.0 * (1.0 - error), m)) / sizes


WORLDS: dict[str, Callable[[float, int, np.random.Generator], Losses]] = {
    "equal rows": equal_rows,
    "independent rows": independent_rows,
    "rates of their own": own_rates,
    "unequal sizes": unequal_sizes,
}
NO_ERROR = "no error"


def main(
    samples: Annotated[int, typer.Option(help="Samples of each kind.")] = 60,
    seed: int = 0,
    out: Annotated[Path, typer.Option(help="Where the means and the tables are kept.")] = Path("benchmarks/results"),
    tables: Annotated[bool, typer.Option("--tables", help="Simulate nothing, only write the tables.")] = False,
) -> None:
    path = out / "entities.csv"
    if not tables:
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(simulate(samples, seed))
    with path.open(newline="", encoding="utf-8") as file:
        text = as_tables(list(csv.DictReader(file)))
    path.with_suffix(".md").write_text(text, encoding="utf-8")
    typer.echo(text)


def simulate(samples: int, seed: int) -> Iterable[dict[str, object]]:
    """The means of every form over the samples, and how often that of betting is below the true mean."""
    kinds = [
        (world, m, error) for m in ENTITIES for error in ERRORS for world in (WORLDS if error > 0.0 else [NO_ERROR])
    ]
    for number, (world, m, error) in enumerate(track(kinds, "simulating", transient=True)):
        rng = np.random.default_rng([seed, number])
        make = WORLDS.get(world, equal_rows)
        drawn = [make(error, m, rng) for _ in range(samples if error > 0.0 else 1)]
        rows = [int(np.count_nonzero(rng.random(m) < losses)) for losses in drawn]
        for name, (log_level, log_target) in LEVELS.items():
            limits = np.array(
                [limits_of(losses, wrong, log_level, log_target) for losses, wrong in zip(drawn, rows, strict=True)]
            )
            means = {form: f"{mean:.6f}" for form, mean in zip(FORMS, limits.mean(axis=0), strict=True)}
            below = int(np.count_nonzero(limits[:, 0] < error))
            yield dict(zip(FIELDS, (world, m, error, name, len(drawn), below), strict=False)) | means


def limits_of(losses: Losses, wrong: int, log_level: float, log_target: float) -> tuple[float, float, float, float]:
    m = len(losses)
    total = round(math.fsum(losses), 9)
    by_kl = float(kl_inverse_upper(min(total / m, 1.0), -log_level / m))
    bentkus = float(binomial_upper(math.ceil(total), m, log_level - 1.0))
    one_row = float(binomial_upper(wrong, m, log_level))
    return betting_upper(losses, log_level, log_target), by_kl, min(by_kl, bentkus), one_row


def as_tables(rows: Rows) -> str:
    levels = [level for level, (tested, target) in LEVELS.items() if tested == target]
    matched = [row for row in rows if row["level"] in levels]
    paid = [row for row in rows if row["level"] not in levels and row["world"] != NO_ERROR]
    sizes = " | ".join(map(str, ENTITIES))
    lines = [
        "Mean limits by betting, divided by those of another form, for 20 to 2000 entities: geometric means over error "
        f"rates of 1, 2, 10 and 25 % and levels {', '.join(levels)}, "
        f"{max(int(row['samples']) for row in rows)} samples of each kind.",
        "",
        f"| rows of an entity | divided by | {sizes} |",
        f"|---|---|{'--:|' * len(ENTITIES)}",
        *(
            _ratios([row for row in matched if row["world"] == world], world, form)
            for form in FORMS[1:]
            for world in (*WORLDS, NO_ERROR)
        ),
        _ratios(paid, "all, where a draw cost 15 nats", "kl"),
        "",
        "Mean limits in % at level 0.05 with 100 entities:",
        "",
        f"| rows of an entity | error rate | {' | '.join(FORMS)} |",
        f"|---|--:|{'--:|' * len(FORMS)}",
        *(_limits(row) for row in rows if (row["entities"], row["level"]) == ("100", "0.05")),
        "",
        _failures([row for row in rows if row["level"] == "0.05" and row["world"] != NO_ERROR]),
    ]
    return "\n".join(lines) + "\n"


def _ratios(rows: Rows, world: str, form: str) -> str:
    cells = []
    for m in ENTITIES:
        ratios = [float(row["betting"]) / float(row[form]) for row in rows if row["entities"] == str(m)]
        cells.append(f"{statistics.geometric_mean(ratios):.2f}")
    return f"| {world} | {form} | {' | '.join(cells)} |"


def _limits(row: dict[str, str]) -> str:
    figures = " | ".join(f"{100 * float(row[form]):.2f}" for form in FORMS)
    return f"| {row['world']} | {100 * float(row['error']):g} | {figures} |"


def _failures(rows: Rows) -> str:
    below, samples = (sum(int(row[field]) for row in rows) for field in ("below", "samples"))
    return f"At level 0.05, the limit by betting was below the true mean in {below:,} of {samples:,} samples."


if __name__ == "__main__":
    typer.run(main)
