"""False alarms and delays of the evidence that a bound does not hold any more, in streams whose error is known.

- False alarms *ever* within 20,000 outcomes, of streams whose error is exactly the bound, with 99 % limits.
- Outcomes until a false alarm of *change*, the Shiryaev-Roberts form: the mean, streams without an alarm counted with
  all of their outcomes, and the lower end of a 99 % interval for it. It must be at least 1/alpha.
- Median delays where the error is larger from the first outcome on, exactly (by the distribution of the sum), divided
  by ln(1/alpha) / kl: about what the best bet for this very error takes, were it known.
- Coverage of the upper limit for the mean error so far, where errors drift: streams in which it is ever exceeded.

Nothing but a seed is needed: the figures are in a CSV file, and ``--tables`` makes the tables of it again.
"""

import csv
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from scipy.stats import beta

from certivote.maths import evidence
from certivote.maths.binary_kl import kl
from certivote.maths.evidence import ErrorBets

BOUND = 0.05
ALPHAS = (0.01, 0.1)
TIMES = (1.25, 1.5, 2.0, 4.0)
FIELDS = ("what", "alpha", "error", "streams", "outcomes", "count", "value", "low", "high")
CHUNK = 500
"""Streams at a time."""
Row = dict[str, object]


def main(
    streams: int = 10_000,
    outcomes: int = 20_000,
    seed: int = 0,
    out: Annotated[Path, typer.Option(help="Where the figures and the tables are kept.")] = Path("benchmarks/results"),
    tables: Annotated[bool, typer.Option("--tables", help="Simulate nothing, only write the tables.")] = False,
) -> None:
    path = out / "monitoring.csv"
    if not tables:
        found = list(simulate(streams, outcomes, seed))
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(found)
    with path.open(newline="", encoding="utf-8") as file:
        text = as_tables(list(csv.DictReader(file)))
    path.with_suffix(".md").write_text(text, encoding="utf-8")
    typer.echo(text)


def simulate(streams: int, outcomes: int, seed: int) -> Iterable[Row]:
    bets = ErrorBets(BOUND)
    bounds = {alpha: alarm_counts(bets, outcomes, alpha) for alpha in ALPHAS}
    counts, rng = dict.fromkeys(ALPHAS, 0), np.random.default_rng([seed, 0])
    for _ in range(0, streams, CHUNK):
        sums = np.cumsum(rng.random((CHUNK, outcomes)) < BOUND, axis=1, dtype=np.int32)
        for alpha, least in bounds.items():
            counts[alpha] += int(np.any(sums >= least, axis=1).sum())
    n = streams // CHUNK * CHUNK
    for alpha, count in counts.items():
        yield proportion("false alarms ever", alpha, BOUND, n, outcomes, count)
    for alpha in ALPHAS:
        yield change_times(bets, alpha, streams, outcomes, np.random.default_rng([seed, 1, int(1 / alpha)]))
    for alpha in ALPHAS:
        for times in TIMES:
            yield delay(bets, alpha, times * BOUND)
    for alpha in ALPHAS:
        yield exceeded(alpha, streams // 5, outcomes // 10, np.random.default_rng([seed, 2]))


def proportion(what: str, alpha: float, error: float, n: int, outcomes: int, count: int) -> Row:
    """A count with its 99 % limits, by Clopper and Pearson."""
    low = float(beta.ppf(0.005, count, n - count + 1)) if count else 0.0
    high = float(beta.ppf(0.995, count + 1, n - count))
    figures = {"value": f"{count / n:.5f}", "low": f"{low:.5f}", "high": f"{high:.5f}"}
    return {"what": what, "alpha": alpha, "error": error, "streams": n, "outcomes": outcomes, "count": count} | figures


def alarm_counts(bets: ErrorBets, n_max: int, alpha: float) -> np.ndarray:
    """For each number of outcomes, the fewest errors with which there is an alarm."""
    n = np.arange(1, n_max + 1)
    low, high = np.zeros(n_max, dtype=np.int64), n + 1
    while np.any(high - low > 1):
        middle = (low + high) // 2
        over = bets.log_evidence(n, np.minimum(middle, n)) >= -math.log(alpha)
        low, high = np.where(over, low, middle), np.where(over, middle, high)
    return high


def change_times(bets: ErrorBets, alpha: float, streams: int, outcomes: int, rng: np.random.Generator) -> Row:
    """Outcomes until the first alarm of change where the error is the bound."""
    wrong, right, weights = np.exp(bets.wrong), np.exp(bets.right), np.exp(bets.log_weights)
    values, times, alive = np.zeros((streams, bets.count)), np.full(streams, outcomes), np.arange(streams)
    for n in range(1, outcomes + 1):
        is_error = rng.random(len(alive)) < BOUND
        values = (values + 1.0) * np.where(is_error[:, None], wrong, right)
        over = values @ weights >= 1.0 / alpha
        times[alive[over]] = n
        alive, values = alive[~over], values[~over]
        if not len(alive):
            break
    half = 2.576 * times.std(ddof=1) / math.sqrt(streams)
    mean = times.mean()
    figures = {"value": f"{mean:.1f}", "low": f"{mean - half:.1f}", "high": f"{mean + half:.1f}"}
    return {
        "what": "outcomes until a false alarm of change",
        "alpha": alpha,
        "error": BOUND,
        "streams": streams,
        "outcomes": outcomes,
        "count": int(np.count_nonzero(times < outcomes)),
    } | figures


def delay(bets: ErrorBets, alpha: float, error: float) -> Row:
    """The median number of outcomes until an alarm, and what it is divided by."""
    shortest = math.log(1.0 / alpha) / float(kl(error, BOUND))
    bounds = alarm_counts(bets, math.ceil(2.0 * shortest) + 10, alpha)
    waiting, alarmed, median = np.zeros(len(bounds) + 2), 0.0, math.nan
    waiting[0] = 1.0
    for n, least in enumerate(bounds.tolist(), 1):
        waiting[1:] = waiting[1:] * (1.0 - error) + waiting[:-1] * error
        waiting[0] *= 1.0 - error
        alarmed += float(waiting[least:].sum())
        waiting[least:] = 0.0
        if alarmed >= 0.5:
            median = n
            break
    figures = {"value": f"{median / shortest:.3f}", "low": f"{shortest:.1f}", "high": str(median)}
    return {
        "what": "median delay",
        "alpha": alpha,
        "error": error,
        "streams": "",
        "outcomes": "",
        "count": "",
    } | figures


def exceeded(alpha: float, streams: int, outcomes: int, rng: np.random.Generator) -> Row:
    """Streams in which the limit is ever below the mean of errors that come, go and depend on the past."""
    means, sums, failed = np.zeros(streams), np.zeros(streams), np.zeros(streams, dtype=bool)
    p = np.full(streams, BOUND)
    for n in range(1, outcomes + 1):
        loss = (rng.random(streams) < p).astype(float)
        means, sums = means + p, sums + loss
        p = np.clip(p * np.where(loss > 0.0, 0.5, 1.02) + 0.001 * math.sin(n / 50), 0.01, 0.6)
        failed |= evidence._log_against(means / n, np.full(streams, float(n)), sums) >= -math.log(alpha)
    return proportion("limit exceeded", alpha, math.nan, streams, outcomes, int(np.count_nonzero(failed)))


def as_tables(rows: list[dict[str, str]]) -> str:
    def of(what: str) -> list[dict[str, str]]:
        return [row for row in rows if row["what"] == what]

    ever, change = of("false alarms ever"), of("outcomes until a false alarm of change")
    lines = [
        f"Streams whose error is exactly the bound of 5 %: {int(ever[0]['streams']):,} of {int(ever[0]['outcomes']):,} "
        "outcomes, with 99 % limits.",
        "",
        "| α | false alarms ever | at most | mean outcomes until a false alarm of change | at least |",
        "|--:|--:|--:|--:|--:|",
    ]
    for one, other in zip(ever, change, strict=True):
        alpha, rate, low, high = (float(one[name]) for name in ("alpha", "value", "low", "high"))
        mean, least, most = (float(other[name]) for name in ("value", "low", "high"))
        lines.append(
            f"| {alpha:g} | {100 * rate:.2f} % ({100 * low:.2f} to {100 * high:.2f} %) | {100 * alpha:g} % "
            f"| {mean:,.0f} ({least:,.0f} to {most:,.0f}) | {1 / alpha:,.0f} |"
        )
    lines += [
        "",
        "Median outcomes until an alarm where the error is larger from the start, and divided by ln(1/α) / kl(R' ‖ B):",
        "",
        "| α | error | median | divided |",
        "|--:|--:|--:|--:|",
        *(_delay(row) for row in of("median delay")),
        "",
    ]
    lines += [_exceeded(row) for row in of("limit exceeded")]
    return "\n".join(lines) + "\n"


def _delay(row: dict[str, str]) -> str:
    alpha, error, ratio = (float(row[name]) for name in ("alpha", "error", "value"))
    return f"| {alpha:g} | {100 * error:g} % | {int(row['high']):,} | {ratio:.2f} |"


def _exceeded(row: dict[str, str]) -> str:
    streams, outcomes, count = (int(row[name]) for name in ("streams", "outcomes", "count"))
    return (
        "With errors that drift and depend on the past, the limit for their mean at "
        f"{100 - 100 * float(row['alpha']):g} % confidence was ever exceeded in {count:,} of {streams:,} streams of "
        f"{outcomes:,} outcomes."
    )


if __name__ == "__main__":
    typer.run(main)
