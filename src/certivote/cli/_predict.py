"""``certivote predict``."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from certivote.certificate import Certificate
from certivote.cli._messages import complain, ending_in_a_line, fail, warnings_as_lines
from certivote.cli._models import Trust, UnreadValues, load_model, reads_columns
from certivote.cli._options import share, verb
from certivote.cli._outputs import Quiet, check_files, is_standard_output, print_result, writing
from certivote.cli._tables import TableFormat
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
from certivote.promises import Abstention, PredictionSets, Sensitivity, answered, flagged, margins, prediction_sets
from certivote.voters.text_columns import as_number, coded
from certivote.votes import plurality

Column = Callable[[Any], Any]
"""Vote masses, a row for each case, to the values of a column."""
_CHUNK = 50_000
"""Rows in memory at a time."""


@verb
def predict(
    *,
    model: Path,
    data: Path,
    out: Annotated[Path | None, typer.Option("--out", "-o")] = None,
    masses: bool = False,
    strict: bool = False,
    max_unread: Annotated[float, typer.Option(metavar="SHARE", min=0.0, max=1.0)] = 0.2,
    max_error: Annotated[float | None, typer.Option(metavar="ERROR", parser=share)] = None,
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

    Parameters
    ----------
    model
        The classifier that `certivote fit --model` wrote.
    data
        CSV (.csv, .csv.gz), .xlsx or parquet file with the model's columns; - is standard input.
    out
        CSV file to write. [default: standard output]
    masses
        Add a column for each class with its share of the voters' weight, such as certivote_mass_ill.
    strict
        Refuse a table with values that the model cannot read; nothing is written.
    max_unread
        Share of the columns of a row, beyond one, up to which values that the model cannot read count as missing. With
        more of them, the table is refused.
    max_error
        For a model that was fitted with --abstain-curve: answer only where the answers are certified to be wrong at
        most this often.
    """
    file = form.file(data)
    check_files({"MODEL": model, "DATA": data}, {"--out": out})
    if out is not None and (is_parquet(out) or out.suffix == ".gz"):
        fail(f"--out: the answers are written as plain CSV, so {out.name} would have a misleading name.")
    with ending_in_a_line(), warnings_as_lines(quiet):
        classifier = load_model(model, trust)
        if classifier.certificate_.is_random:
            fail(
                f"{model}: {classifier.certificate_.method} certifies a random vote, which answers anew in every "
                "call, so a file has no fixed answers; use the classifier in Python, or fit a method that "
                "certifies one vote."
            )
        decided, remarks = _decisions(classifier.certificate_, max_error)
        if masses:
            decided = [*_masses(classifier.classes_), *decided]
        if strict:
            _check_all(classifier, file)
        unread = UnreadValues(classifier)
        if reads_columns(classifier):
            classifier.voters_.encoder.set_params(max_unread=max_unread)
        _write(_answers(classifier, file, unread, decided), out, quiet)
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


def _masses(classes: Iterable[Any]) -> list[tuple[str, Column]]:
    """A column for each class: the share of the voters' weight behind it."""

    def share_of(place: int) -> Column:
        return lambda masses: np.round(masses[:, place], 6)

    return [(f"certivote_mass_{label}", share_of(place)) for place, label in enumerate(classes)]


def _decisions(certificate: Certificate, max_error: float | None) -> tuple[list[tuple[str, Column]], list[str]]:
    """What the model decides beyond its answers: a column for each promise that does, and what there is to say.

    Parameters
    ----------
    certificate : Certificate
    max_error : float or None
        For a curve of abstention: how many of the answers may be wrong.
    """
    columns: list[tuple[str, Column]] = []
    remarks: list[str] = []
    curve = False
    for record in certificate.promises:
        given = {name: json.loads(value) for name, value in record.parameters}
        if record.name == Abstention.name:
            target = given.get("max_error")
            curve = curve or target is None
            if target is not None and max_error not in (None, target):
                continue  # another target decides
            if target is None and max_error is None:
                remarks.append("a curve of abstention is certified: give --max-error to see which rows are answered")
                continue
            columns.append(("certivote_answers", _answered(certificate, max_error if target is None else target)))
            if not columns[-1][1](np.eye(len(certificate.classes))).any():
                remarks.append(
                    "no answers are certified to be wrong that rarely, so certivote_answers is False everywhere"
                )
        elif record.name == Sensitivity.name:
            columns.append(("certivote_flagged", _flags(certificate, given)))
            if record.chosen is None:
                remarks.append(
                    "no threshold is certified to find that many cases, so certivote_flagged is True everywhere"
                )
            elif record.thresholds == (0.0,):
                remarks.append("the threshold is 0, so certivote_flagged is True everywhere: nothing is told apart")
        elif record.name == PredictionSets.name:
            columns.append(("certivote_set", _sets(certificate, given)))
    if max_error is not None and not curve:
        fail("--max-error: this is for a model that was fitted with --abstain-curve.")
    return columns, remarks


def _answered(certificate: Certificate, max_error: float | None) -> Column:
    return lambda masses: answered(certificate, margins(masses), max_error)


def _flags(certificate: Certificate, given: dict[str, Any]) -> Column:
    promise = Sensitivity(**given)
    return lambda masses: flagged(certificate, masses, promise)


def _sets(certificate: Certificate, given: dict[str, Any]) -> Column:
    promise = PredictionSets(**given)
    classes = np.array(certificate.classes, dtype=object)

    def texts(masses: Any) -> list[str]:
        return ["|".join(classes[row]) for row in prediction_sets(certificate, masses, promise=promise)]

    return texts
