"""``certivote certify``."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer

from certivote._warn import warn
from certivote.certificate import Certificate
from certivote.cli._differences import DifferenceOptions
from certivote.cli._engine import Engine, Pieces
from certivote.cli._evaluations import EvaluationOptions
from certivote.cli._given import RecordedGrouping, write_and_show
from certivote.cli._messages import ending_in_a_line, fail, say
from certivote.cli._models import Trust, complain_of_unread, load_model, rows_for
from certivote.cli._options import Delta, Seed, verb
from certivote.cli._outputs import Out, Page, Wording, check_files, is_standard_output
from certivote.cli._promises import PromiseOptions, check_classes, columns_of
from certivote.cli._tables import Column, TableFormat, Training, column, work_on
from certivote.io import Table, TableError, TableFile, column_names, read_alike, read_predictions
from certivote.promises import Promise


@verb
def certify(
    *,
    data: Path,
    other: Annotated[Path | None, typer.Argument()] = None,
    truth: Annotated[str | None, column("--truth", "--target", help="Column that holds the true classes.")] = None,
    predicted: Annotated[list[str] | None, column()] = None,
    model: Path | None = None,
    units: RecordedGrouping,
    score: Column = None,
    training: Training = None,
    differences: DifferenceOptions,
    evaluations: EvaluationOptions,
    delta: Delta = 0.05,
    out: Out = None,
    page: Page,
    promises: PromiseOptions,
    engine: Engine,
    seed: Seed = None,
    form: TableFormat,
    trust: Trust = None,
    printing: Wording,
) -> None:
    """Certify a model that you have already, by its answers to rows that it has never seen.

    The table has a column of true classes and one of answers, whatever program they come from. Classes are compared by
    value: 1 and 1.0 are one, and so are TRUE and True. Or the answers are those of a certivote model to new rows.

    The certificate holds if these rows had no part in training the model, in tuning it or in choosing its threshold.
    Nothing can check that.

    Promises that must choose levels of sureness or ranges of numbers set a fifth of the rows aside to do so.

    With several columns of answers, delta is divided among the models and a weighted vote of them, so that the best may
    be chosen afterwards. With --difference, they are compared with one another on the same rows.

    Logs of evaluations by Inspect, lm-evaluation-harness (samples_*.jsonl) and promptfoo, and JSON lines with an id and
    a score, need neither --truth nor --predicted: an item is answered right or wrong. Several answers to an item make a
    group, and so do items with the same value of the field that --group names.

    With --engine dask the table may be larger than memory, and several files. Other columns are not looked at then.

    Parameters
    ----------
    data
        CSV file with a header line (.csv, .csv.gz), or parquet file, of rows that the model has never seen; - is
        standard input. Or the log of an evaluation (.eval, .json, .jsonl).
    other
        The log of another run on the same items, to compare by --difference.
    predicted
        Column that holds the answers of a model; repeat for several models.
    score
        Column that says how sure the model is of each answer, higher where it is more sure (not the probability of one
        class): for --abstain and --abstain-curve.
    model
        In place of --predicted: a classifier that `certivote fit --model` wrote, to answer them.
    """
    tables: dict[str, Any] = {"--truth": truth, "--predicted": predicted, "--model": model, "--training": training}
    tables |= {"--score": score, "--time": units.time, "--precision": promises.precision, **promises.of_all_rows()}
    runs = evaluations.read(data, other, units.group, {**tables, **form.given(), **engine.given()})
    if runs is not None:
        truth, predicted, units = "truth", runs.runs, replace(units, group=runs.group)
    if bool(predicted) == (model is not None):
        both = "both are given" if predicted else "neither is given"
        fail(f"--predicted, --model: {both}; name the columns that hold answers, or a model to answer the rows.")
    if truth is None:
        fail("--truth: name the column that holds the true classes.")
    answers = list(predicted or ())
    differences.check(answers)
    others = {"--model": model, "--predicted (several)": len(answers) > 1, "--score": score, "--training": training}
    pieces = engine.in_pieces({**others, **units.given(), **promises.of_all_rows(), "--seed": seed is not None})
    outputs = {"--out": out, "--report": page.report, "--rows": evaluations.rows}
    inputs = {"DATA": data, "OTHER": other, "--model": model, "--training": training, "--costs": promises.costs}
    if not pieces:
        check_files(inputs, outputs)
    file = form.file(data) if runs is None else evaluations.table(runs, data)
    before = form.other(training)
    asked = promises.asked(file, form, _not_by(truth, answers))
    _check_score(asked, score, answers, before)
    settings: dict[str, Any] = {"delta": delta, "promises": [*asked.values()], "together": promises.together}
    if not pieces:
        settings |= {"random_state": seed, "margin": differences.margin}
    with ending_in_a_line():
        if pieces:
            with engine.pieces(data, form, outputs, printing.quiet) as work:
                certificate = _of_pieces(work, truth, answers[0], settings)
        elif model is None:
            columns = {**units.columns(None, file), "score": score}
            certificate = _of_answers(file, before, truth, answers, columns, asked, settings, printing.quiet)
        else:
            classifier = load_model(model, trust)
            certificate = _of_model(classifier, model.name, file, before, truth, units, asked, settings, printing.quiet)
    write_and_show(certificate, out, page, printing, score)
    differences.show(certificate, printing.quiet or printing.as_json or is_standard_output(out))
    differences.end(certificate)


def _of_pieces(work: Pieces, truth: str, predicted: str, settings: dict[str, Any]) -> Certificate:
    """The certificate of answers that are counted piece by piece."""
    from certivote.dask import count_pieces
    from certivote.pipeline import certify_counts

    table, source = work.table(truth, predicted=[predicted]), work.source()
    counts = count_pieces(work.client, table, truth, predicted)
    return certify_counts(counts, n_rows=sum(table.rows), **settings).with_source(*source)


def _of_answers(
    file: TableFile,
    training: TableFile | None,
    truth: str,
    predicted: Sequence[str],
    columns: dict[str, str | None],
    promises: Mapping[str, Promise],
    settings: dict[str, Any],
    quiet: bool,
) -> Certificate:
    """The certificate of answers in a table; ``columns`` are those of groups, times and scores."""
    features = [] if training is None else _common_columns(file, training, [truth, *predicted, *columns.values()])
    if features:
        _check_by(
            promises,
            features,
            f"is not in {training}; with --training, this option takes columns that both tables have",
        )
        if not quiet:
            say(f"Rows are compared with those of {training} by {', '.join(features)}.", err=True)
    with work_on(file, quiet, f"certifying on {file}"):
        if features:
            read = read_predictions(file, truth, predicted, features, **columns)
        else:
            read = read_beside_others(file, truth, predicted, columns_of(promises), **columns)
        check_classes(promises, chain(read.y, *read.predicted.values()))
        return certify_answers(read, training, settings).with_source(file.name, read.digest)


def _of_model(
    classifier: Any,
    name: str,
    file: TableFile,
    training: TableFile | None,
    truth: str,
    units: RecordedGrouping,
    promises: Mapping[str, Promise],
    settings: dict[str, Any],
    quiet: bool,
) -> Certificate:
    """The certificate of a model, in a file of this name, by its answers to the rows of a table."""
    columns = units.columns(classifier.certificate_, file)
    check_classes(promises, classifier.classes_)
    known = list(getattr(classifier, "feature_names_in_", []))
    _check_by(promises, known, f"is not a column that {name} reads")
    with work_on(file, quiet, f"certifying on {file}"):
        read = rows_for(classifier, file, truth, **columns)
        certificate = certify_model(classifier, name, read, file, training, settings, quiet)
    return certificate.with_source(file.name, read.digest)


def _not_by(truth: str, predicted: Sequence[str]) -> dict[str, str]:
    """Columns that make no groups, and why."""
    answers = dict.fromkeys(predicted, "holds answers; --precision is about those of each class")
    return {**answers, truth: "holds the true classes, which have bounds of their own in every certificate"}


def _check_score(
    promises: Mapping[str, Promise], score: str | None, predicted: Sequence[str], training: TableFile | None
) -> None:
    """End if promises ask how sure the model is and nothing says so, or if it is said and no promise asks."""
    asking = [option for option, promise in promises.items() if promise.needs == "scores"]
    if score is not None:
        if not predicted:
            fail("--score: the model itself says how sure it is; leave it out.")
        if len(predicted) > 1:
            fail(f"--score: it belongs to the answers of one model, and --predicted names {len(predicted)}.")
        if not asking:
            fail("--score: give --abstain or --abstain-curve with it, which ask how sure the model is.")
        if training is not None:
            fail("--score, --training: give one of them: rows are compared for answers without scores only.")
    for option, promise in promises.items() if predicted else ():
        if promise.needs == "masses":
            fail(
                f"{option}: answers alone do not say what stands behind each class; this takes a model, by --model, or "
                "the function certify in Python."
            )
        if promise.needs == "scores" and score is None:
            fail(f"{option}: give --score with it, the column that says how sure the model is of each answer.")


def _check_by(promises: Mapping[str, Promise], known: Sequence[str], why: str) -> None:
    """End if groups are of a column that cannot be had."""
    for name in columns_of(promises):
        if name not in known:
            fail(f"--by: {name!r} {why}.")


def _common_columns(file: TableFile, training: TableFile, others: Sequence[str | None]) -> list[str]:
    """Columns that both files have, except for some."""
    there = set(column_names(training)) - {"", *others}
    found = [name for name in column_names(file) if name in there]
    if not found:
        fail(
            f"--training: {training} and {file} share no columns other than those of classes, answers, groups and "
            "times, so their rows cannot be compared."
        )
    return found


def read_beside_others(
    file: TableFile, truth: str, predicted: Sequence[str], needed: Sequence[str], **sides: str | None
) -> Table:
    """True classes and answers, with all other columns, in which one may see that rows belong together.

    The answers are not refused for what these hold: where they cannot be read, a warning says so, and only those
    that are needed are taken. ``sides`` are the columns of groups, times and scores.
    """
    others = [name for name in column_names(file) if name not in ("", truth, *predicted, *sides.values())]
    try:
        return read_predictions(file, truth, predicted, list(dict.fromkeys([*others, *needed])), **sides)
    except TableError as error:
        read = read_predictions(file, truth, predicted, needed, **sides)
        warn(f"Whether rows belong together was not looked for in the other columns: {error}")
        return read


def certify_answers(read: Table, training: TableFile | None, settings: dict[str, Any]) -> Certificate:
    """The certificate of answers that were read from a table."""
    from certivote.pipeline import certify, certify_predictions

    units = {"groups": read.groups, "order": read.order}
    if training is None:
        table = read.X if len(read.X.columns) else None
        return certify_predictions(read.y, read.predicted, table=table, scores=read.scores, **units, **settings)
    models = {name: lambda _, answers=answers: answers for name, answers in read.predicted.items()}
    return certify(models, read.X, read.y, training=read_alike(training, read.X), **units, **settings)


def certify_model(
    classifier: Any,
    name: str,
    read: Table,
    file: TableFile,
    training: TableFile | None,
    settings: dict[str, Any],
    quiet: bool,
) -> Certificate:
    """The certificate of a model, in a file of this name, by its answers to rows that were read from a table."""
    from certivote.pipeline import certify

    complain_of_unread(classifier, read.X, file, quiet)
    if training is not None and not hasattr(read.X, "columns"):
        fail(f"--training: {name} was fitted to columns without names, so rows of another table cannot be compared.")
    shown = None if training is None else read_alike(training, read.X)
    # Rows without groups or times are meant to have none.
    groups, order = (False if given is None else given for given in (read.groups, read.order))
    return certify({name: classifier}, read.X, read.y, groups=groups, order=order, training=shown, **settings)
