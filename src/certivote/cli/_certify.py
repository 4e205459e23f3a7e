"""``certivote certify``."""

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer

from certivote.certificate import Certificate
from certivote.cli._engine import Engine, Scheduler, check_engine, in_pieces
from certivote.cli._given import common_columns, read_beside_others, units_again, verify_command
from certivote.cli._inputs import (
    DecimalMark,
    Encoding,
    GroupOfRows,
    NoGroups,
    NoTime,
    Predicted,
    Score,
    Separator,
    TimeOfRows,
    Training,
    Trust,
    Truth,
    check_group_or_time,
    load_model,
    on_table,
    rows_for,
    table_file,
    training_file,
)
from certivote.cli._outputs import check_files, is_standard_output, show_certificate, write_certificate, writing
from certivote.cli._promises import (
    Abstain,
    AbstainCurve,
    By,
    CostsFile,
    Positive,
    PrecisionOfAnswers,
    SensitivityAtLeast,
    Sets,
    Together,
    asked_promises,
    check_classes,
    columns_by,
    costs_file,
)
from certivote.cli._shared import AsJson, Delta, Quiet, Seed, fail, reason, say
from certivote.cli._unread import UnreadValues
from certivote.io import Table, TableFile, read_alike, read_predictions
from certivote.promises import Promise

__all__ = ["certify", "of_answers", "of_model"]


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
    no_groups: NoGroups = False,
    no_time: NoTime = False,
    score: Score = None,
    training: Training = None,
    delta: Delta = 0.05,
    out: Annotated[Path | None, typer.Option(help="Where to write the certificate as JSON; - prints it.")] = None,
    report: Annotated[Path | None, typer.Option(help="Where to write the certificate as a web page.")] = None,
    title: Annotated[str | None, typer.Option(help="Heading of the web page.  [default: A certified model]")] = None,
    abstain: Abstain = None,
    abstain_curve: AbstainCurve = None,
    precision: PrecisionOfAnswers = False,
    sensitivity: SensitivityAtLeast = None,
    positive: Positive = None,
    by: By = None,
    costs: CostsFile = None,
    sets: Sets = None,
    together: Together = False,
    engine: Engine = "memory",
    scheduler: Scheduler = None,
    seed: Seed = None,
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

    Promises that must choose levels of sureness or ranges of numbers set a fifth of the rows aside to do so.

    With several columns of answers, delta is divided among the models and a weighted vote of them, so that the best may
    be chosen afterwards.

    With --engine dask the table may be larger than memory, and several files. Other columns are not looked at then.
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
    pieces = check_engine(
        engine,
        scheduler,
        {
            "--model": model,
            "--predicted (several)": len(predicted or ()) > 1,
            "--group": group,
            "--time": time,
            "--score": score,
            "--training": training,
            "--abstain": abstain is not None,
            "--abstain-curve": abstain_curve is not None,
            "--sensitivity": sensitivity is not None,
            "--positive": positive,
            "--by": by,
            "--costs": costs,
            "--sets": sets is not None,
            "--seed": seed is not None,
        },
    )
    outputs = {"--out": out, "--report": report}
    if not pieces:
        check_files({"DATA": data, "--model": model, "--training": training, "--costs": costs}, outputs)
    groups = columns_by(by, file, _not_by(truth, predicted or ()))
    promises = asked_promises(
        abstain=abstain,
        abstain_curve=abstain_curve,
        precision=precision,
        sensitivity=sensitivity,
        positive=positive,
        by=groups,
        costs=costs_file(costs, data, sep, decimal, encoding),
        sets=sets,
    )
    _check_score(promises, score, predicted or (), other)
    needed = [name for names in groups for name in ([names] if isinstance(names, str) else names)]
    settings: dict[str, Any] = {
        "delta": delta,
        "promises": list(promises.values()),
        "together": together,
        "random_state": seed,
    }
    try:
        if pieces and predicted:
            written = sep, decimal, encoding
            certificate, source = _in_pieces(data, truth, predicted[0], written, outputs, scheduler, quiet, settings)
        elif model is None:
            group, time = units_again(None, file, group, time, no_groups, no_time)
            named = list(predicted or ())
            sides = {"group": group, "time": time, "score": score}
            features = [] if other is None else common_columns(file, other, [truth, *named, *sides.values()])
            if features:
                _check_read(needed, features, f"is not in {other}, and with --training groups are of columns of both")
            if features and not quiet:
                say(f"Rows are compared with those of {other} by {', '.join(features)}.", err=True)
            certificate, digest = on_table(
                file,
                quiet,
                lambda: (
                    read_predictions(file, truth, named, features, **sides)
                    if features
                    else read_beside_others(file, truth, named, needed, **sides)
                ),
                lambda read: of_answers(read, other, promises, settings),
            )
        else:
            classifier = load_model(model, trust)
            group, time = units_again(classifier.certificate_, file, group, time, no_groups, no_time)
            known = getattr(classifier, "feature_names_in_", [])
            check_classes(promises, classifier.classes_)
            _check_read(needed, list(known), f"is no column that {model.name} reads")
            certificate, digest = on_table(
                file,
                quiet,
                lambda: rows_for(classifier, file, truth, group, time),
                lambda read: of_model(model.name, classifier, read, file, other, quiet, settings),
            )
        if not pieces:
            source = file.name, digest
    except (OSError, ValueError, ImportError) as error:
        fail(reason(error))
    certificate = certificate.with_source(*source)
    write_certificate(certificate, out)
    if report is not None:
        name = "certificate.json" if out is None or is_standard_output(out) else out.name
        try:
            with writing("--report", report):
                certificate.report(report, title=title, command=verify_command(certificate, name, score))
        except ImportError as error:
            fail(f"--report: {error}")
    show_certificate(certificate, as_json, quiet, {"Certificate": out, "Report": report})


def _in_pieces(
    data: Path,
    truth: str,
    predicted: str,
    written: tuple[str | None, str | None, str | None],
    outputs: Mapping[str, Path | None],
    scheduler: str | None,
    quiet: bool,
    settings: dict[str, Any],
) -> tuple[Certificate, tuple[str, str]]:
    """The certificate of answers that are counted piece by piece, and what it records of the files."""
    with in_pieces(data, written, outputs, scheduler, quiet) as work:
        from certivote.dask import count_pieces
        from certivote.pipeline import certify_counts

        table, source = work.table(truth, predicted=[predicted]), work.source()
        counts = count_pieces(work.client, table, truth, predicted)
        own = {name: value for name, value in settings.items() if name != "random_state"}
        return certify_counts(counts, n_rows=sum(table.rows), **own), source


def _not_by(truth: str, predicted: Sequence[str]) -> dict[str, str]:
    """Columns that make no groups, and why."""
    answers = dict.fromkeys(predicted, "holds answers; --precision is about those of each class")
    return {**answers, truth: "holds the true classes, which have bounds of their own in every certificate"}


def _check_score(
    promises: Mapping[str, Promise], score: str | None, predicted: Sequence[str], training: TableFile | None
) -> None:
    """End if promises ask how sure the model is and nothing says so, or it is said in vain."""
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


def _check_read(needed: Sequence[str], known: Sequence[str], why: str) -> None:
    for name in needed:
        if name not in known:
            fail(f"--by: {name!r} {why}.")


def of_answers(
    read: Table, training: TableFile | None, promises: Mapping[str, Promise], settings: dict[str, Any]
) -> Certificate:
    from certivote.pipeline import certify as certify_models
    from certivote.pipeline import certify_predictions

    check_classes(promises, chain(read.y, *read.predicted.values()))
    units = {"groups": read.groups, "order": read.order}
    if training is None:
        table = read.X if len(read.X.columns) else None
        return certify_predictions(read.y, read.predicted, table=table, scores=read.scores, **units, **settings)
    models = {name: lambda _, answers=answers: answers for name, answers in read.predicted.items()}
    return certify_models(models, read.X, read.y, training=read_alike(training, read.X), **units, **settings)


def of_model(
    name: str,
    classifier: Any,
    read: Table,
    file: TableFile,
    training: TableFile | None,
    quiet: bool,
    settings: dict[str, Any],
) -> Certificate:
    from certivote.pipeline import certify as certify_models

    unread = UnreadValues(classifier)
    unread.look_at(read.X)
    if not quiet:
        unread.complain(file)
    if training is not None and not hasattr(read.X, "columns"):
        fail(f"--training: {name} was fitted to columns without names, so rows of another table cannot be compared.")
    shown = None if training is None else read_alike(training, read.X)
    # Where there are none, this was asked for.
    groups, order = (False if given is None else given for given in (read.groups, read.order))
    return certify_models({name: classifier}, read.X, read.y, groups=groups, order=order, training=shown, **settings)
