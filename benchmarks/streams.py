"""Alarms on real streams that change: a subgroup of Adult takes over, and Fashion-MNIST takes the place of MNIST.

Adult, with labels: a vote is fitted to half of the rows. Of the others, the first 5,000 come in random order; then only
those of the group with the largest error come. Which group that is, the certification rows say: of the columns that at
least a fifth of them have, the one with the largest share of errors where they have it. Once more without the change,
as a control.

MNIST, without labels: a vote is fitted to 20,000 images. Then 3,000 others come, and after them those of Fashion-MNIST;
once more without the change.

Every stream is repeated in so many random orders, at alpha = 0.01. Set CERTIVOTE_DATA, or give the data directory.
"""

import csv
import statistics
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray

from certivote import CertifiedVoteClassifier, DriftMonitor, Monitor
from certivote.monitor import Stream
from certivote.paper import load

ALPHA = 0.01
FIELDS = (
    "stream",
    "order",
    "bound",
    "change_at",
    "rows",
    "alarm_at",
    "change_alarms_before",
    "change_alarm_at",
)
Rows = NDArray[np.intp]
Record = dict[str, object]


def main(
    data: Annotated[Path | None, typer.Option(help="Data directory.")] = None,
    orders: Annotated[int, typer.Option(help="Random orders of every stream.")] = 20,
    out: Annotated[Path, typer.Option(help="Where the records and the table are kept.")] = Path("benchmarks/results"),
    tables: Annotated[bool, typer.Option("--tables", help="Run nothing, only write the table.")] = False,
) -> None:
    path = out / "streams.csv"
    if not tables:
        records = [*adult(data, orders), *digits(data, orders)]
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(records)
    with path.open(newline="", encoding="utf-8") as file:
        text = as_table(list(csv.DictReader(file)))
    path.with_suffix(".md").write_text(text, encoding="utf-8")
    typer.echo(text)


def adult(data: Path | None, orders: int) -> Iterator[Record]:
    """With labels, against the certified bound."""
    table = load("adult", data)
    X, y = np.asarray(table.X, dtype=float), table.y
    first, later = np.array_split(np.random.default_rng(0).permutation(len(y)), 2)
    clf = CertifiedVoteClassifier(random_state=0).fit(X[first], y[first])
    answers = clf.predict(X)
    seen = first[clf.part_.certify]
    wrong = answers[seen] != y[seen]
    common = np.flatnonzero(X[seen].mean(axis=0) >= 0.2)
    group = max(common, key=lambda column: wrong[X[seen, column] > 0].mean())
    for order in range(orders):
        shuffled = np.random.default_rng(order + 1).permutation(later)
        before, rest = shuffled[:5000], shuffled[5000:]
        for name, after in (("Adult, a group takes over", rest[X[rest, group] > 0]), ("Adult, no change", rest)):
            monitor = Monitor(clf.certificate_, ALPHA, watch=())
            steps = (monitor.update(y[rows], answers[rows]) for rows in in_steps(before, after))
            yield record(name, order, clf, (len(before), len(after)), steps, monitor.streams[0])


def digits(data: Path | None, orders: int) -> Iterator[Record]:
    """Without labels, against the certification rows."""
    mnist, fashion = load("mnist", data), load("fashion-mnist", data)
    first, later = np.split(np.random.default_rng(0).permutation(len(mnist.y)), [20_000])
    clf = CertifiedVoteClassifier("dis-b", "forest", random_state=0).fit(mnist.X[first], mnist.y[first])
    for order in range(orders):
        rng = np.random.default_rng(order + 1)
        before, same = np.split(rng.permutation(later)[:6000], 2)
        others = rng.permutation(len(fashion.y))[:3000]
        for name, source, after in (("MNIST, then Fashion-MNIST", fashion, others), ("MNIST, no change", mnist, same)):
            monitor = DriftMonitor(clf, ALPHA, random_state=order)
            images = [mnist.X[rows] for rows in in_steps(before)] + [source.X[rows] for rows in in_steps(after)]
            yield record(name, order, clf, (3000, 3000), map(monitor.update, images), monitor)


def in_steps(*parts: Rows) -> Iterator[Rows]:
    """A hundred rows at a time."""
    for rows in parts:
        yield from np.array_split(rows, len(rows) // 100)


def record(
    name: str,
    order: int,
    clf: CertifiedVoteClassifier,
    lengths: tuple[int, int],
    steps: Iterable[object],
    judged: Stream | DriftMonitor,
) -> Record:
    """Go through a stream, and record after how many rows either form raised an alarm."""
    change, alarms = lengths[0], []
    for _ in steps:
        if judged.change_at is not None and judged.change_at not in alarms:
            alarms.append(judged.change_at)
    late = [place for place in alarms if place > change]
    return {
        "stream": name,
        "order": order,
        "bound": f"{clf.certificate_.bound:.6f}",
        "change_at": change,
        "rows": sum(lengths),
        "alarm_at": judged.alarm_at or "",
        "change_alarms_before": len(alarms) - len(late),
        "change_alarm_at": late[0] if late else "",
    }


def as_table(records: list[dict[str, str]]) -> str:
    """Alarms before and after the change, and the median number of rows from it to the first alarm after it."""
    lines = [
        f"alpha = {ALPHA:g}: with the first form, false alarms ever have at most this probability; with the form for "
        "changes, 1/alpha rows or more pass between false alarms in the mean. Rows until the alarm are counted from "
        "the change; the median of the orders with an alarm.",
        "",
        "| stream | orders | bound | alarm before the change | after it | rows until the alarm "
        "| form for changes: alarms before the change, all orders | alarm after it | rows until the alarm |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for name in dict.fromkeys(line["stream"] for line in records):
        own = [line for line in records if line["stream"] == name]
        change = int(own[0]["change_at"])
        late = [int(line["alarm_at"] or 0) - change for line in own]
        early = sum(-change < place <= 0 for place in late)
        changes = [int(line["change_alarm_at"]) - change for line in own if line["change_alarm_at"]]
        before = sum(int(line["change_alarms_before"]) for line in own)
        late = [place for place in late if place > 0]
        lines.append(
            f"| {name} | {len(own)} | {100 * float(own[0]['bound']):.2f} % | {early} | {len(late)} | {median(late)} | "
            f"{before} | {len(changes)} | {median(changes)} |"
        )
    return "\n".join(lines) + "\n"


def median(values: list[int]) -> str:
    return f"{statistics.median(values):,.0f}" if values else "–"


if __name__ == "__main__":
    typer.run(main)
