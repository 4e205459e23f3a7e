"""``certivote label``."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from certivote.certificate import StoppedCertificate, counted
from certivote.cli._messages import complain, ending_in_a_line, fail, say, warnings_as_lines
from certivote.cli._models import Trust, load_model
from certivote.cli._monitor import features_of, rows_of_model
from certivote.cli._options import Seed, share, verb
from certivote.cli._outputs import (
    Output,
    Page,
    check_files,
    is_standard_output,
    print_result,
    write_certificate,
    writing,
)
from certivote.cli._tables import Column, TableFormat, all_processors, column, doing
from certivote.io import TableFile, read_outcomes, stream_text, write_atomically

if TYPE_CHECKING:
    from certivote.monitor import LabelPlan

Share = Annotated[float | None, typer.Option(metavar="SHARE", parser=share)]
ROW = "pool_row"
"""Column of the numbers of rows in the pool, counted from 1."""
_ANSWER = "answer of the model"
_CHUNK = 50_000


@dataclass(frozen=True)
class Pool:
    """Rows that may be labelled, as text, with the answers to them; and how many columns they have without these."""

    frame: Any
    answers: list[Any]
    columns: list[str]


@verb
def label(
    *,
    data: Path,
    state: Annotated[Path, typer.Option()],
    labels: Annotated[Path, typer.Option()],
    target: Share = None,
    model: Path | None = None,
    predicted: Column = None,
    truth: Annotated[str, column()] = "label",
    delta: Share = None,
    expected: Share = None,
    max_labels: int | None = None,
    pool: bool = False,
    batch: int = 25,
    missing_wrong: bool = False,
    out: Annotated[Path | None, typer.Option(help="Where to write the certificate as JSON, at the end.")] = None,
    page: Page,
    seed: Seed = None,
    form: TableFormat,
    trust: Trust = None,
    printing: Output,
) -> None:
    """Say which rows to label, and stop as soon as it is proven that the model is seldom enough wrong.

    Run it once: it writes the first rows to label, in random order, to --labels. Fill in the column of their true
    classes, and run it again: it counts them, and adds more rows, or says that the target is proven. You may look as
    often as you like. Labels are counted in the order of the file; those after an empty one wait until that is filled.

    Which rows become known must have nothing to do with what they are: leave none out. A row that cannot be labelled
    counts as wrong, with --missing-wrong.

    Parameters
    ----------
    data
        CSV file with a header line (.csv, .csv.gz), or parquet file: the rows that may be labelled.
    state
        File that remembers what was counted; it is created if there is none.
    labels
        CSV file with the rows to label: it is created, and grows. Keep it: it shows what was certified.
    target
        What is to be proven: that the error is at most this, such as 0.05. Fixed when the state is created.
    model
        The classifier that `certivote fit --model` wrote, which answers the rows.
    predicted
        Column of the table with the answers of any other model.
    truth
        Name of the column of true classes in --labels.
    delta
        Probability with which it is ever said to be proven although it is not true. [default: 0.05]
    expected
        A guess of the error, fixed before any label is seen: a good one saves labels.
    max_labels
        Label no more than this. The target is then proven sooner, but if it is not, nothing is.
    pool
        Certify the rows of the table themselves, and not new rows of which they are a sample.
    batch
        Rows to label at a time.
    missing_wrong
        Count rows that have no label in the file as wrong.
    """
    if (model is None) == (predicted is None):
        fail("--model, --predicted: give one of them: the model that answers the rows, or the column of the answers.")
    if batch < 1:
        fail("--batch: give a whole number from 1 on.")
    for option, named in {"--state": state, "--labels": labels}.items():
        if is_standard_output(named):
            fail(f"{option}: give the name of a file.")
    if labels.suffix.lower() not in (".csv", ".txt", ""):
        fail(f"--labels: {labels}: it is written as CSV; give a name that ends with .csv.")
    file = form.file(data)
    outputs = {"--state": state, "--labels": labels, "--out": out, "--report": page.report}
    check_files({"DATA": data, "--model": model}, outputs)
    asked: dict[str, Any] = {"target": target, "delta": delta, "expected": expected, "max_labels": max_labels}
    asked |= {"certified": "pool" if pool else None, "random_state": seed}
    reading = doing(f"reading {file}", printing.quiet)
    with ending_in_a_line(), warnings_as_lines(printing.quiet), all_processors(), reading:
        from certivote.monitor import LabelPlan

        rows = read_pool(file, None if model is None else load_model(model, trust), predicted, truth, printing.quiet)
        with LabelPlan.open(state, **asked) as plan:
            now, waiting = _count(plan, rows, labels, truth, missing_wrong)
            wanted = _ask(plan, rows, labels, truth, batch)
        made = plan.certificate() if plan.ended and plan.n else None
    if made is not None:
        write_certificate(made, out)
        page.write_record(made, f"certivote verify {'certificate.json' if out is None else out.name}")
    if printing.as_json:
        print_result(_as_json(plan, now, waiting, wanted))
    elif not printing.quiet:
        _say(plan, now, waiting, wanted, labels)
        for what, path in {"Certificate": out, "Report": page.report}.items():
            if made is not None and path is not None and not is_standard_output(path):
                say(f"{what} written to {path}.")


def read_pool(file: TableFile, classifier: Any, predicted: str | None, truth: str, quiet: bool) -> Pool:
    """The rows that may be labelled, and the answers to them."""
    frame = _texts(file)
    columns = [name for name in frame.columns if name != predicted]
    taken = {ROW, truth} & set(columns)
    if taken:
        fail(f"{file}: there is a column {min(taken)!r:.80} already; leave it out, or choose another name by --truth.")
    if predicted is not None:
        read = read_outcomes(file, None, predicted)
        assert read.answers is not None
        return Pool(frame, read.answers.tolist(), columns)
    read = read_outcomes(file, None, None, features_of(classifier.certificate_, classifier, file, []))
    answers = [str(label) for label in classifier.predict(rows_of_model(classifier, read, file, quiet)).tolist()]
    return Pool(frame.assign(**{_ANSWER: answers}), answers, columns)


def read_labels(path: TableFile, truth: str, n_rows: int) -> tuple[Any, dict[int, str]]:
    """What is in a file of labels: the whole as text, and the label of each row of the pool, which may be empty."""
    frame = _texts(path)
    for name in (ROW, truth):
        if name not in frame.columns:
            fail(f"{path}: there is no column {name!r:.80}; give the file that `certivote label` has written.")
    found: dict[int, str] = {}
    empty = frame[truth].isna()
    for text, said in zip(frame[ROW].astype(str), frame[truth].astype(str).where(~empty, ""), strict=True):
        row = int(text) - 1 if text.isdecimal() and len(text) < 16 else -1
        if not 0 <= row < n_rows or row in found:
            fail(f"{path}: the column {ROW!r} holds {text!r:.40}, which is no row of the table, or is there twice.")
        found[row] = said.strip()
    return frame, found


def _texts(file: TableFile) -> Any:
    """The whole table as text."""
    import pandas as pd

    frames = list(stream_text(file, _CHUNK))
    frame = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
    return frame.set_axis([str(name).strip() for name in frame.columns], axis=1)


def _count(plan: "LabelPlan", rows: Pool, labels: Path, truth: str, missing_wrong: bool) -> tuple[list[int], int]:
    """Count the labels that are there, in the order of the plan; and how many others wait for those before them."""
    rest = plan.next(rows.frame, len(rows.answers)).tolist()
    if not labels.exists():
        if plan.n:
            complain(f"warning: {labels} is not there; {counted(plan.n, 'label')} of it had been counted.")
        return [], 0
    _, known = read_labels(TableFile(labels), truth, len(rows.answers))
    taken = []
    for row in rest:
        if row not in known or not (known[row] or missing_wrong):
            break
        taken.append(row)
    found: Any = [known[row] or None for row in taken]
    plan.update(found, [rows.answers[row] for row in taken])
    return taken, sum(bool(known.get(row)) for row in rest) - sum(bool(known[row]) for row in taken)


def _ask(plan: "LabelPlan", rows: Pool, labels: Path, truth: str, batch: int) -> int:
    """Write the rows to label next behind those that are in the file; how many of them wait for a label."""
    import pandas as pd

    wanted = plan.next(rows.frame, batch).tolist()
    before, known = None, dict[int, str]()
    if labels.exists():
        before, known = read_labels(TableFile(labels), truth, len(rows.answers))
    new = [row for row in wanted if row not in known]
    if new or before is None:
        more = rows.frame.iloc[new][rows.columns].astype(str)
        more.insert(0, ROW, [str(row + 1) for row in new])
        whole = pd.concat([before, more.assign(**{truth: ""})], ignore_index=True).fillna("")
        with writing("--labels", labels):
            write_atomically(labels, whole.to_csv(index=False, lineterminator="\n").encode())
    return len(wanted)


def _say(plan: "LabelPlan", now: Sequence[int], waiting: int, wanted: int, labels: Path) -> None:
    rest = f"; {counted(waiting, 'label')} after an empty one, which must be filled first" if waiting else ""
    say(f"{counted(len(now), 'label')} counted{rest}.")
    typer.echo()
    for line in str(plan).splitlines():
        say(line)
    if wanted:
        say(f"To label: {counted(wanted, 'row')} without a label in {labels}. Then run this command again.")


def _as_json(plan: "LabelPlan", now: Sequence[int], waiting: int, wanted: int) -> str:
    found = {
        "proven": plan.proven,
        "ended": plan.ended,
        "bound": plan.bound,
        "target": plan.target,
        "delta": plan.delta,
        "certified": plan.certified,
        "n": plan.n,
        "errors": len(plan.wrong),
        "missing": plan.missing,
        "counted": len(now),
        "waiting": waiting,
        "to_label": wanted,
    }
    return json.dumps(found, indent=2) + "\n"


def labelled(
    record: StoppedCertificate, file: TableFile, classifier: Any, predicted: str | None, labels: Path, truth: str
) -> dict[str, Any]:
    """The pool, true labels and answers, as the audit takes them."""
    rows = read_pool(file, classifier, predicted, truth, quiet=True)
    _, known = read_labels(TableFile(labels), truth, len(rows.answers))
    return {
        "X": rows.frame if record.rows_digest else None,
        "y": [known.get(row) or None for row in range(len(rows.answers))],
        "predictions": rows.answers,
    }
