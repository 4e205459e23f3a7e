"""The estimator on a cluster of two processes: how fast each stage is, what workers hold, and what Dask costs.

Rows are made when they are read, by a function of the number of their partition: 20 columns of random numbers, and a
label of two classes of which 5 % are wrong. So a table can have any number of rows, and nothing is stored. A run
appends one line to the CSV file when it has ended: ``--rows 1000000``, with ``--learn-rows 0`` to learn from all
certification rows, and with ``--latency 20`` for what a network adds on which every message takes 20 ms (it may be
given several times). ``--tables`` makes the table again.

What Dask costs is measured in the same run, in turns with what it is compared with: the pass that counts, against plain
loops over the same partitions, one in each worker at the same time; and an evaluation of the objective, against what
the workers themselves took for their blocks. The seconds of other processes on the machine are in all of them.
"""

import asyncio
import csv
import itertools
import os
import pickle
import resource
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any
from unittest import mock

import numpy as np
import pandas as pd
import typer
from sklearn.ensemble import RandomForestClassifier

from certivote.dask import DaskCertifiedVoteClassifier
from certivote.dask._blocks import ClusterBlocks
from certivote.dask._cluster import Passes, Table, sent
from certivote.dask._partition import Part, Target
from certivote.dask._passes import count
from certivote.dask._rows import CertificationRowsOnCluster, ClusterRows, PartOnCluster
from certivote.methods import make_method
from certivote.pipeline import ByNumber, Seed, Stage, Streams, make_plan
from certivote.pipeline._blocks import BLOCK_ROWS, block_risk
from certivote.theory.predictors import Vote
from certivote.voters import Forest

WORKERS = 2
COLUMNS = [f"x{place}" for place in range(20)]
STAGES = {
    "reading the labels": "split",
    "gathering training rows": "training",
    "vote on": "votes",
    "votes on": "votes",
    "learning the weights": "learning",
    "counting on": "count",
}
"""By what a stage says: what it belongs to. Others belong to the one before."""
SPANS = tuple(dict.fromkeys(STAGES.values()))
MANY, NETWORK = 64, 125e6
"""Workers of the extrapolation, and the bytes a second that its client takes: 1 Gbit/s."""
ASKED = ("rows", "leaves", "learn_rows", "latency_ms")
TIMES = ("seconds", *(f"{span}_s" for span in SPANS), "passes_s", "task_ms", "load")
SLOWED = ("evaluation_ms", "pass_ms")
MEASURED = ("partitions", "voters", "voters_kb", "bound", "worker_mb", "client_mb")
EVALUATED = ("evaluations", "bytes_per_evaluation", "evaluation_ratio")
COMPARED = ("count_ratio", "pass_ratio", "work_ratio", "count_partitions")
FIELDS = (*ASKED, *TIMES, *MEASURED, *EVALUATED, *SLOWED, *COMPARED)
Record = dict[str, Any]


def main(
    rows: Annotated[int, typer.Option(help="Rows of the table.")] = 1_000_000,
    partition: Annotated[int, typer.Option(help="Rows of a partition.")] = 250_000,
    learn_rows: Annotated[int, typer.Option(help="Rows to learn from; 0 for all.")] = 1_000_000,
    trees: int = 20,
    leaves: int = 32,
    latency: Annotated[list[float] | None, typer.Option(help="Milliseconds that each message takes.")] = None,
    turns: Annotated[int, typer.Option(help="Of Dask and of plain loops; 0 to compare nothing.")] = 3,
    compared: Annotated[int, typer.Option(help="Partitions that are counted in a turn, at most.")] = 40,
    out: Annotated[Path, typer.Option(help="Where the records and the table are kept.")] = Path("benchmarks/results"),
    tables: Annotated[bool, typer.Option("--tables", help="Run nothing, only write the table.")] = False,
) -> None:
    path = out / "scale.csv"
    if not tables:
        voters = Forest(RandomForestClassifier(trees, max_leaf_nodes=leaves, max_samples=0.5))
        with cluster() as client:
            found = run(client, voters, rows, partition, learn_rows or None, turns, compared, latency or [])
        asked = {"rows": rows, "leaves": leaves, "learn_rows": learn_rows}
        lines = pd.DataFrame([asked | record for record in found], columns=FIELDS, dtype=object)
        lines.to_csv(path, mode="a", header=not path.exists(), index=False, lineterminator="\n")
    with path.open(newline="", encoding="utf-8") as file:
        text = as_tables(list(csv.DictReader(file)))
    path.with_suffix(".md").write_text(text, encoding="utf-8")
    typer.echo(text)


def some_rows(place: int, size: int) -> pd.DataFrame:
    """The rows of a partition."""
    rng = np.random.default_rng([18, place])
    X = rng.random((size, len(COLUMNS)), dtype=np.float32)
    noise = rng.random(size, dtype=np.float32) < 0.05
    label = (X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] > 1.0) ^ noise
    return pd.DataFrame(X, columns=COLUMNS).assign(y=label.astype(np.int64))


def table_of(n_partitions: int, size: int) -> Any:
    from dask.dataframe import from_map

    return from_map(some_rows, range(n_partitions), size=size, meta=some_rows(0, 2).iloc[:0])


@contextmanager
def cluster() -> Iterator[Any]:
    from distributed import Client, LocalCluster

    size = {"n_workers": WORKERS, "threads_per_worker": 1, "processes": True}
    closed = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0", "scheduler_kwargs": {"dashboard": False}}
    with LocalCluster(**size, **closed) as own, Client(own) as client:
        client.wait_for_workers(WORKERS)
        yield client


@contextmanager
def slow_messages(client: Any, seconds: float) -> Iterator[None]:
    """Every message of workers, scheduler and client takes so long, as on a network; the next one waits for it."""
    if seconds:
        client.run(be_slow, seconds)
        be_slow(seconds)
    yield
    if seconds:
        client.run(be_slow, 0.0)
        be_slow(0.0)


def be_slow(seconds: float) -> None:
    from distributed.comm.tcp import TCP

    fast = getattr(TCP.write, "fast", TCP.write)

    async def write(self: Any, *message: Any, **options: Any) -> Any:
        await asyncio.sleep(seconds)
        return await fast(self, *message, **options)

    write.fast = fast  # type: ignore[attr-defined]
    TCP.write = write  # type: ignore[method-assign]


class Timed(Stage):
    """Adds up the seconds of each span."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(SPANS, 0.0)
        self.span, self.since = SPANS[0], time.perf_counter()

    def begin(self, description: str) -> Callable[[], None]:
        self.end()
        self.span = next((span for said, span in STAGES.items() if said in description), self.span)
        typer.echo(f"{time.strftime('%H:%M:%S')} {description}")
        return super().begin(description)

    def end(self) -> None:
        now = time.perf_counter()
        self.seconds[self.span] += now - self.since
        self.since = now


def run(
    client: Any, voters: Any, n_rows: int, size: int, learn: int | None, turns: int, compared: int, slow: list[float]
) -> list[Record]:
    """Fit once, then compare."""
    n_partitions, load = n_rows // size, os.getloadavg()[0]
    table = table_of(n_partitions, size)
    stage = Timed()
    with mock.patch("certivote.dask._classifier.progress", return_value=nullcontext(stage)):
        clf = DaskCertifiedVoteClassifier(client, voters=voters, learn_rows=learn, random_state=0)
        clf.fit(table[COLUMNS], table["y"])
    stage.end()
    peaks = client.run(peak)
    fitted = clf.to_local().voters_
    evaluations, n_bytes = clf.evaluations_
    found = {
        "partitions": n_partitions,
        "voters": fitted.n_voters,
        "bound": f"{clf.certificate_.bound:.5f}",
        "seconds": f"{sum(stage.seconds.values()):.2f}",
        **{f"{span}_s": f"{seconds:.2f}" for span, seconds in stage.seconds.items()},
        "passes_s": f"{sum(clf.seconds_.values()):.2f}",
        "worker_mb": f"{max(peaks.values()):.0f}",
        "client_mb": f"{peak():.0f}",
        "evaluations": evaluations,
        "bytes_per_evaluation": round(n_bytes / evaluations) if evaluations else 0,
        "task_ms": f"{1000 * seconds_of_a_task(client):.2f}",
        "voters_kb": round(len(pickle.dumps(fitted, protocol=pickle.HIGHEST_PROTOCOL)) / 1000),
    }
    if turns:
        kept = min(compared, n_partitions)
        part = some_of_them(client, table.partitions[:kept], voters, clf)
        found |= zip(COMPARED, (*counting(client, part, clf, size, turns), kept), strict=True)
        if evaluations:
            ratio, milliseconds = evaluating(table, client, voters, clf, turns)
            found |= {"evaluation_ratio": f"{ratio:.3f}", "evaluation_ms": f"{milliseconds:.0f}"}
    found |= {"latency_ms": 0, "load": f"{max(load, os.getloadavg()[0]):.1f}"}
    return [found, *(slowed(table, client, voters, clf, turns, [0.0, *slow]) if slow else ())]


def peak() -> float:
    """The most memory that this process ever had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def seconds_of_a_task(client: Any, n_tasks: int = 400) -> float:
    start = time.perf_counter()
    client.gather(client.map(abs, range(n_tasks), pure=False))
    return (time.perf_counter() - start) / n_tasks


def some_of_them(client: Any, table: Any, voters: Any, clf: DaskCertifiedVoteClassifier) -> PartOnCluster:
    """Rows of a table that are divided and have been read."""
    plan = replace(make_plan(voters=voters, split="single", random_state=0), by_number=ByNumber(2, 1))
    rows = ClusterRows(Passes(client, Table(table[COLUMNS], table["y"]), Stage()), plan, False)
    made = clf.certificate_.provenance
    streams = Streams(Seed(made.entropy, made.fresh), made.data_digest)
    return PartOnCluster(rows, plan, rows.rule_of(plan, streams), streams)


def count_all(part: PartOnCluster, clf: DaskCertifiedVoteClassifier, n_votes: int) -> float:
    """Seconds of the pass that counts so many votes."""
    own, method = clf.to_local(), make_method(clf.certificate_.method).row
    vote = Vote(method.family, own.weights_, own.weights_, own.weights_)
    part.whole.seconds.clear()
    every: Any = CertificationRowsOnCluster(part, own.voters_, None, None, None)  # type: ignore[arg-type]
    every.count(method, clf.loss, [vote] * (n_votes - 1), own.weights_)
    return part.whole.seconds["count"]


def counting(
    client: Any, part: PartOnCluster, clf: DaskCertifiedVoteClassifier, size: int, turns: int
) -> tuple[str, ...]:
    """The pass that counts, divided by plain loops over the same partitions in all workers at once.

    By the clock, with what the client does afterwards, and without; and by work. This is what all processes compute,
    with the scheduler and the client: it hardly depends on who else computes.
    """
    own = clf.to_local()
    weights, ratios = [own.weights_, own.weights_], []
    workers = list(client.scheduler_info()["workers"])
    jobs = list(zip(part.whole.parts, part.train.tolist(), part.certify.tolist(), strict=False))
    for _ in range(turns):
        start, before = time.perf_counter(), work(client)
        seconds = count_all(part, clf, len(weights))
        by_dask = np.array([time.perf_counter() - start, seconds, work(client) - before])
        loops = [
            client.submit(plain_loop, jobs[place::WORKERS], size, own.voters_, weights, clf.loss, workers=[worker])
            for place, worker in enumerate(workers)
        ]
        clock, worked = np.sum(client.gather(loops), axis=0).tolist()
        by_loops = np.array([clock / WORKERS, clock / WORKERS, worked])
        ratios.append(by_dask / by_loops)
        typer.echo(f"counting in all, its pass, its work: {by_dask.round(2)} s, plain loops {by_loops.round(2)} s")
        client.cancel(loops)
    return tuple(f"{ratio:.3f}" for ratio in np.median(ratios, axis=0))


def work(client: Any) -> float:
    """Seconds that the processors worked for the cluster and the client so far."""
    return sum(client.run(time.process_time).values()) + time.process_time()


def plain_loop(
    jobs: list[tuple[Part, int, int]], size: int, voters: Any, weights: Any, loss: Any
) -> tuple[float, float]:
    start, before = time.perf_counter(), time.process_time()
    for part, train, certify in jobs:
        count(part, some_rows(part.place, size), Target("y"), voters, weights, loss, (train, certify), True)
    return time.perf_counter() - start, time.process_time() - before


def evaluating(
    table: Any, client: Any, voters: Any, clf: DaskCertifiedVoteClassifier, turns: int
) -> tuple[float, float]:
    """Seconds of an evaluation, divided by what workers took for it in the mean; and in milliseconds."""
    blocks = blocks_of(some_of_them(client, table, voters, clf), clf)
    evaluate = evaluation(blocks, clf)
    found = np.array([evaluate() for _ in range(5 * turns)])
    blocks.release()
    return float(np.median(found[:, 0] / found[:, 1])), 1000 * float(np.median(found[:, 0]))


def blocks_of(part: PartOnCluster, clf: DaskCertifiedVoteClassifier) -> ClusterBlocks:
    """Votes on all certification rows, which stay where they are."""
    return ClusterBlocks(part.whole.passes, part.whole.parts, part.certify, sent(clf.to_local().voters_), BLOCK_ROWS)


def evaluation(blocks: ClusterBlocks, clf: DaskCertifiedVoteClassifier) -> Callable[[], tuple[float, float]]:
    """What evaluates the objective once, and tells the seconds that it took, and that workers took in the mean."""
    asked = (clf.certificate_.method, clf.certificate_.deployed_part.family, clf.loss, blocks.n_rows)
    parameters = np.ones(blocks.n_voters)

    def evaluate() -> tuple[float, float]:
        start = time.perf_counter()
        found = blocks.each(timed, block_risk, *asked, parameters)
        return time.perf_counter() - start, sum(seconds for seconds, _ in found) / WORKERS

    evaluate()  # the first makes what the others use again
    return evaluate


def slowed(
    table: Any, client: Any, voters: Any, clf: DaskCertifiedVoteClassifier, turns: int, latencies: list[float]
) -> list[Record]:
    """Milliseconds of an evaluation and of the pass that counts, in turns where messages take so long and so long."""
    part = some_of_them(client, table, voters, clf)
    blocks = blocks_of(part, clf)
    evaluate = evaluation(blocks, clf)
    took: dict[float, list[tuple[float, float]]] = {latency: [] for latency in latencies}
    for _, latency in itertools.product(range(max(turns, 1)), latencies):
        with slow_messages(client, latency / 1000):
            seconds = statistics.median(evaluate()[0] for _ in range(5))
            counted = count_all(part, clf, 1)
        took[latency].append((seconds, counted))
    blocks.release()
    return [
        {"latency_ms": f"{latency:g}", "partitions": table.npartitions}
        | {name: f"{1000 * seconds:.0f}" for name, seconds in zip(SLOWED, np.median(each, axis=0), strict=True)}
        for latency, each in took.items()
    ]


def timed(block: Any, function: Callable[..., tuple[float, Any]], *arguments: Any) -> tuple[float, Any]:
    """Seconds in place of the value."""
    start = time.perf_counter()
    _, gradient = function(block, *arguments)
    return time.perf_counter() - start, gradient


def as_tables(records: list[dict[str, str]]) -> str:
    """The last run of every kind."""
    kept = {(int(row["rows"]), int(row["learn_rows"])): row for row in records if row["seconds"]}
    fast = [kept[key] for key in sorted(kept)]
    slow = [row for row in records if not row["seconds"]]
    lines = [
        "Thousands of rows of the table per second (in learning, of those that it looks at) on two cores of a machine "
        "that others used too, and the most memory that a worker and the client ever had:",
        "",
        f"| rows | voters | learned from | {' | '.join(SPANS)} | in all | a worker | client | bound |",
        f"|--:|--:|--:|{'--:|' * len(SPANS)}--:|--:|--:|--:|",
        *(_speed(row) for row in fast),
        "",
        "Seconds of counting divided by those of plain loops: in all, of the pass alone without what the client does "
        "with the counts, and of the work of all processors. And an evaluation of the objective: its seconds divided "
        "by those that workers took for their blocks, and what it moves:",
        "",
        "| rows | learned from | counting | pass | work | partitions | evaluation | ms | evaluations | bytes of one |",
        "|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
        *(_ratios(row) for row in fast if row["count_ratio"]),
    ]
    if slow:
        lines += [
            "",
            "Where every message takes so long (evaluations and passes took turns), milliseconds:",
            "",
            "| rows | partitions | ms a message | an evaluation | the pass that counts |",
            "|--:|--:|--:|--:|--:|",
            *(f"| {' | '.join(row[name] for name in ('rows', 'partitions', 'latency_ms', *SLOWED))} |" for row in slow),
        ]
    if any(int(row["learn_rows"]) for row in fast):
        lines += [
            "",
            extrapolated(max((row for row in fast if int(row["learn_rows"])), key=lambda row: int(row["rows"]))),
        ]
    return "\n".join(lines) + "\n"


def _learned(row: dict[str, str]) -> str:
    return f"{int(row['learn_rows']):,}" if int(row["learn_rows"]) else "all"


def _speed(row: dict[str, str]) -> str:
    n_rows = int(row["rows"])
    looked_at = {"learning_s": min(int(row["learn_rows"]) or n_rows, n_rows // 2)}
    times = {name: float(row[name]) for name in [*(f"{span}_s" for span in SPANS), "seconds"]}
    speeds = [f"{looked_at.get(name, n_rows) / 1000 / max(took, 0.01):,.0f}" for name, took in times.items()]
    memory = f"{float(row['worker_mb']):,.0f} MB | {float(row['client_mb']):,.0f} MB"
    cells = (f"{n_rows:,}", row["voters"], _learned(row), *speeds, memory, f"{float(row['bound']):.4f}")
    return f"| {' | '.join(cells)} |"


def _ratios(row: dict[str, str]) -> str:
    evaluation = ("evaluation_ratio", "evaluation_ms", "evaluations", "bytes_per_evaluation")
    cells = [row[name] or "–" for name in (*COMPARED, *evaluation)]
    return f"| {int(row['rows']):,} | {_learned(row)} | {' | '.join(cells)} |"


def extrapolated(row: dict[str, str]) -> str:
    """What the last run would take with more workers, term by term."""
    n_rows, n_tasks = int(row["rows"]), 4 * int(row["partitions"])
    passes, scheduling = float(row["passes_s"]), n_tasks * float(row["task_ms"]) / 1000
    serial = float(row["seconds"]) - passes
    n_bytes = 2 * MANY * 1000 * int(row["voters_kb"]) + int(row["learn_rows"]) * int(row["voters"]) + 100_000 * 88
    moving = n_bytes / NETWORK
    shared = passes * WORKERS / MANY
    total = serial + shared + scheduling + moving
    return (
        f"With {MANY} workers, {n_rows:,} rows would take {total:,.0f} s instead of {float(row['seconds']):,.0f} s: "
        f"{shared:,.0f} s for the four passes over the table, if they divide evenly as they do between {WORKERS} "
        f"workers (reading, voting and digests need nothing of other partitions); {serial:,.0f} s on the client, which "
        f"stay (training on the sample, learning from {_learned(row)} rows); {scheduling:.1f} s for {n_tasks:,} tasks "
        f"of {float(row['task_ms']):.1f} ms, as if no worker did anything meanwhile; and {moving:.1f} s for "
        f"{n_bytes / 1e6:,.0f} MB through the client at 1 Gbit/s (voters to each worker in two passes, votes to learn "
        "from, the sample). Rows must come as fast as here, where they are made when they are read: storage that many "
        "workers read at once is not in it, nor are workers that are slow or lost."
    )


if __name__ == "__main__":
    typer.run(main)
