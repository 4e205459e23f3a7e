"""``certivote predict``."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from certivote.cli._decisions import Column, decisions
from certivote.cli._groups import grouped
from certivote.cli._inputs import TableFormat, Trust, load_model, warnings_as_lines
from certivote.cli._outputs import Quiet, check_files, is_standard_output, print_result, writing
from certivote.cli._shared import complain, fail, reason, share
from certivote.cli._unread import UnreadValues, reads_columns
from certivote.io import (
    TableError,
    TableFile,
    atomic_file,
    check_columns,
    column_names,
    is_parquet,
    readable_columns,
    stream_text,
)
from certivote.voters.text_columns import as_number, coded
from certivote.votes import plurality

_CHUNK = 50_000
"""Rows in memory at a time."""


@grouped
def predict(
    *,
    model: Annotated[Path, typer.Argument(help="The classifier that `certivote fit --model` wrote.")],
    data: Annotated[
        Path,
        typer.Argument(help="CSV (.csv, .csv.gz) or parquet file with the model's columns; - is standard input."),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="CSV file to write.  [default: standard output]")
    ] = None,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Refuse a table with values that the model cannot read; nothing is written."),
    ] = False,
    max_unread: Annotated[
        float,
        typer.Option(
            metavar="SHARE",
            min=0.0,
            max=1.0,
            help="Share of the columns of a row, beyond one, up to which values that the model cannot read count as "
            "missing; with more of them, the table is refused.",
        ),
    ] = 0.2,
    max_error: Annotated[
        float | None,
        typer.Option(
            metavar="ERROR",
            parser=share,
            help="For a model that was fitted with --abstain-curve: answer only where the answers are certified to be "
            "wrong at most this often.",
            show_default=False,
        ),
    ] = None,
    form: TableFormat,
    trust: Trust = None,
    quiet: Quiet = False,
) -> None:
    """Label the rows of a table, and write it as CSV with more columns.

    **certivote_label** is the answer, **certivote_mass** the share of the voters' weight behind it, from 0 to 1, which
    is not a probability. Promises of the model add what they decide: **certivote_answers** (of `fit --abstain`) is True
    where the model is sure enough to answer, **certivote_flagged** (of `--sensitivity`) where a case is flagged, and
    **certivote_set** (of `--sets`) has the classes that cannot be excluded, such as `ill|well`.

    If the table has columns of these names already, the new ones get a number. All columns of the table are kept as
    they are written, with the same separator and decimal mark, in UTF-8. The model ignores columns that it does not
    know, and the order of the columns.

    Values that the model cannot read become missing values: text in a column of numbers, dates in another order,
    categories that were not seen in training. How many there are in each column is said on standard error. If a row
    has too many of them, or numbers are written with another decimal mark, the table is refused.

    Rows are read in chunks, so the table may be larger than memory, unless it comes through a pipe. The output file
    appears only when it is complete.
    """
    file = form.file(data)
    check_files({"MODEL": model, "DATA": data}, {"--out": out})
    if out is not None and (is_parquet(out) or out.suffix == ".gz"):
        fail(f"--out: the answers are written as plain CSV, so {out.name} would have a misleading name.")
    try:
        with warnings_as_lines(quiet):
            classifier = load_model(model, trust)
            if classifier.hyper_posterior_ is not None:
                fail(
                    f"{model}: {classifier.certificate_.method} certifies a random vote, which answers anew in every "
                    "call, so a file has no fixed answers; use the classifier in Python, or fit a method that "
                    "certifies one vote."
                )
            decided, remarks = decisions(classifier.certificate_, max_error)
            if strict:
                _check_all(classifier, file)
            unread = UnreadValues(classifier)
            if reads_columns(classifier):
                classifier.voters_.encoder.set_params(max_unread=max_unread)
            _write(_answers(classifier, file, unread, decided), out, quiet)
    except BrokenPipeError:
        raise  # who reads the answers has read enough: no message
    except (ImportError, OSError, ValueError) as error:
        fail(reason(error))
    if not quiet:
        for remark in remarks:
            complain(f"{model}: {remark}.")
        unread.complain(file)


def _check_all(classifier: Any, file: TableFile) -> None:
    """End with one line, if there is anything in the table that the model cannot read."""
    unread = UnreadValues(classifier)
    for _, rows in _rows(classifier, file):
        unread.look_at(rows)
    if found := unread.sentences():
        fail(f"--strict: {file}: {'; '.join(found)}.")


def _write(answers: Iterable[str], out: Path | None, quiet: bool) -> None:
    from certivote.pipeline import progress

    if out is not None and not is_standard_output(out):
        with writing("--out", out), progress(not quiet) as stage, atomic_file(out) as written:
            tick = stage.begin(f"labelling, {_CHUNK:,} rows per step")
            for text in answers:
                written.write(text.encode())
                tick()
        return
    for text in answers:
        print_result(text)


def _rows(classifier: Any, file: TableFile) -> Iterator[tuple[Any, Any]]:
    """The table as it is written, some rows at a time, and their columns that the model knows."""
    names = column_names(file)
    features = _features(classifier, file, names)
    for chunk in stream_text(file, _CHUNK):
        yield chunk, readable_columns(file, chunk.set_axis(names, axis=1)[features])


def _answers(
    classifier: Any, file: TableFile, unread: UnreadValues, decided: Sequence[tuple[str, Column]]
) -> Iterator[str]:
    """The lines of the answer, some rows at a time; what cannot be read is counted on the way."""
    added: list[str] = []
    for chunk, rows in _rows(classifier, file):
        first = not added
        if first:
            taken = [column.strip() for column in chunk.columns]
            for name in ("certivote_label", "certivote_mass", *(name for name, _ in decided)):
                added.append(_free(name, [*taken, *added]))
        if not reads_columns(classifier):
            rows = _numbers(rows, file)
            if not hasattr(classifier, "feature_names_in_"):
                rows = rows.to_numpy()
        else:
            unread.look_at(rows)
        masses = classifier.predict_proba(rows) if len(rows) else np.empty((0, len(classifier.classes_)))
        chunk[added[0]] = classifier.classes_[plurality(masses)]
        chunk[added[1]] = np.round(masses.max(axis=1), 6)
        for name, (_, column) in zip(added[2:], decided, strict=True):
            chunk[name] = column(masses)
        style = {} if file.has_types else {"sep": file.separator, "decimal": file.decimal or "."}
        yield chunk.to_csv(index=False, header=first, lineterminator="\n", **style)


def _features(classifier: Any, file: TableFile, names: list[str]) -> list[str]:
    known = getattr(classifier, "feature_names_in_", None)
    if known is not None:
        check_columns(file, known.tolist(), names)
        return known.tolist()
    units = (classifier.certificate_.groups, classifier.certificate_.order)
    features = names if len(names) == classifier.n_features_in_ else [name for name in names if name not in units]
    if len(features) != classifier.n_features_in_:
        raise TableError(
            f"{file}: {len(names)} columns, but the model takes {classifier.n_features_in_}, and was fitted to columns "
            "without names: give just these, in the same order."
        )
    return features


def _free(name: str, taken: Sequence[str]) -> str:
    number = 2
    free = name
    while free in taken:
        free, number = f"{name}_{number}", number + 1
    return free


def _numbers(rows: Any, file: TableFile) -> Any:
    """Columns of numbers, for models that were fitted to numbers in Python."""
    columns = {}
    for name in rows.columns:
        codes, texts = coded(rows[name])
        values = [as_number(text) for text in texts]
        wrong = next((text for text, value in zip(texts, values, strict=True) if np.isnan(value)), None)
        if wrong is not None:
            raise TableError(
                f"{file}: column {name!r} holds {wrong!r}, and this model was fitted to numbers; where it has "
                "preprocessing of its own, use it in Python."
            )
        columns[name] = np.append(values, np.nan)[codes]
    return type(rows)(columns)
