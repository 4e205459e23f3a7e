"""``certivote certify``."""

from pathlib import Path
from typing import Annotated, Any

import typer

from certivote.certificate import Certificate
from certivote.cli._given import common_columns, read_beside_others, verify_command
from certivote.cli._inputs import (
    DecimalMark,
    Encoding,
    GroupOfRows,
    Predicted,
    Separator,
    TimeOfRows,
    Training,
    Trust,
    Truth,
    check_group_or_time,
    on_table,
    rows_for,
    table_file,
    training_file,
)
from certivote.cli._outputs import check_files, is_standard_output, show_certificate, write_certificate, writing
from certivote.cli._shared import AsJson, Delta, Quiet, Seed, fail, say
from certivote.cli._unread import UnreadValues
from certivote.estimator import load
from certivote.io import Table, TableFile, read_alike, read_predictions
from certivote.pipeline import certify as certify_models
from certivote.pipeline import certify_predictions

__all__ = ["certify"]


def certify(
    data: Annotated[
        Path,
        typer.Argument(
            help="CSV file with a header line (.csv, .csv.gz), or parquet file, of rows that the model has never seen; "
            "- is standard input."
        ),
    ],
    truth: Truth,
    predicted: Predicted = None,
    model: Annotated[
        Path | None,
        typer.Option(help="In place of --predicted: a classifier that `certivote fit --model` wrote, to answer them."),
    ] = None,
    group: GroupOfRows = None,
    time: TimeOfRows = None,
    training: Training = None,
    delta: Delta = 0.05,
    out: Annotated[Path | None, typer.Option(help="Where to write the certificate as JSON; - prints it.")] = None,
    report: Annotated[Path | None, typer.Option(help="Where to write the certificate as a web page.")] = None,
    title: Annotated[str | None, typer.Option(help="Heading of the web page.  [default: A certified model]")] = None,
    seed: Seed = 0,
    sep: Separator = None,
    decimal: DecimalMark = None,
    encoding: Encoding = None,
    trust: Trust = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Certify a model that you have already, by its answers to rows that it has never seen.

    The table has a column of true classes and one of answers, whatever program they come from. Classes are compared by
    value: 1 and 1.0 are one, and so are TRUE and True. Or the answers are those of a certivote model to new rows.

    The certificate holds if these rows had no part in training the model, in tuning it or in choosing its threshold.
    Nothing can check that.

    With several columns of answers, delta is divided among the models and a weighted vote of them, so that the best may
    be chosen afterwards.
    """
    if bool(predicted) == (model is not None):
        given = "both are given" if predicted else "neither is given"
        fail(f"--predicted, --model: {given}; name the columns that hold answers, or a model to answer the rows.")
    check_group_or_time(group, time)
    if is_standard_output(report):
        fail("--report: give the name of a file; `certivote report` prints a page.")
    if title is not None and report is None:
        fail("--title: give --report with it, the page that has this heading.")
    file = table_file(data, sep, decimal, encoding)
    other = None if training is None else training_file(training, sep, decimal, encoding)
    if str(data) == str(training) == "-":
        fail("--training: standard input is the table already.")
    check_files({"DATA": data, "--model": model, "--training": training}, {"--out": out, "--report": report})
    settings: dict[str, Any] = {"delta": delta, "random_state": seed}
    try:
        if model is None:
            named = list(predicted or ())
            sides = [truth, *named, group, time]
            features = [] if other is None else common_columns(file, other, sides)
            if features and not quiet:
                say(f"Rows are compared with those of {other} by {', '.join(features)}.", err=True)
            certificate, digest = on_table(
                file,
                quiet,
                lambda: (
                    read_predictions(file, truth, named, features, group=group, time=time)
                    if features
                    else read_beside_others(file, truth, named, group, time)
                ),
                lambda read: _of_answers(read, other, settings),
            )
        else:
            classifier = load(model, trusted=trust or ())
            certificate, digest = on_table(
                file,
                quiet,
                lambda: rows_for(classifier, file, truth, group, time),
                lambda read: _of_model(model.name, classifier, read, file, other, quiet, settings),
            )
    except (OSError, ValueError, ImportError) as error:
        fail(str(error))
    certificate = certificate.with_source(file.name, digest)
    write_certificate(certificate, out)
    if report is not None:
        name = "certificate.json" if out is None or is_standard_output(out) else out.name
        try:
            with writing("--report", report):
                certificate.report(report, title=title, command=verify_command(certificate, name))
        except ImportError as error:
            fail(f"--report: {error}")
    show_certificate(certificate, as_json, quiet, {"Certificate": out, "Report": report})


def _of_answers(read: Table, training: TableFile | None, settings: dict[str, Any]) -> Certificate:
    units = {"groups": read.groups, "order": read.order}
    if training is None:
        table = read.X if len(read.X.columns) else None
        return certify_predictions(read.y, read.predicted, table=table, **units, **settings)
    models = {name: lambda _, answers=answers: answers for name, answers in read.predicted.items()}
    return certify_models(models, read.X, read.y, training=read_alike(training, read.X), **units, **settings)


def _of_model(
    name: str,
    classifier: Any,
    read: Table,
    file: TableFile,
    training: TableFile | None,
    quiet: bool,
    settings: dict[str, Any],
) -> Certificate:
    unread = UnreadValues(classifier)
    unread.look_at(read.X)
    if not quiet:
        unread.complain(file)
    if training is not None and not hasattr(read.X, "columns"):
        fail(f"--training: {name} was fitted to columns without names, so rows of another table cannot be compared.")
    shown = None if training is None else read_alike(training, read.X)
    units = {"groups": read.groups, "order": read.order}
    return certify_models({name: classifier}, read.X, read.y, training=shown, **units, **settings)
