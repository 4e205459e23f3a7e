"""``certivote recertify``."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from certivote.certificate import Certificate
from certivote.cli._certify import of_answers, of_model
from certivote.cli._given import columns_of_groups, read_beside_others, units_again, verify_command
from certivote.cli._inputs import (
    DecimalMark,
    Encoding,
    GroupOfRows,
    NoGroups,
    NoTime,
    RecordedScore,
    Separator,
    TimeOfRows,
    Trust,
    Truth,
    check_group_or_time,
    complete_column,
    on_table,
    read_certificate,
    rows_for,
    table_file,
)
from certivote.cli._outputs import check_files, is_standard_output, show_certificate, write_certificate, writing
from certivote.cli._shared import AsJson, Quiet, Seed, fail, reason
from certivote.cli._states import read_monitor
from certivote.promises import Promise, promises_of

__all__ = ["recertify"]


def recertify(
    model: Annotated[
        Path,
        typer.Argument(help="The classifier that `certivote fit --model` wrote; or a certificate, with --predicted."),
    ],
    data: Annotated[
        Path,
        typer.Argument(
            help="CSV file with a header line (.csv, .csv.gz), or parquet file, of rows that came after the "
            "certificate; - is standard input."
        ),
    ],
    truth: Truth,
    out: Annotated[Path, typer.Option(help="Where to write the new certificate as JSON; - prints it.")],
    predicted: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="With a certificate: column that holds the answers of its model.",
            show_default=False,
            autocompletion=complete_column,
        ),
    ] = None,
    monitor: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="What `certivote monitor --state` has kept since: the new certificate says what it has seen. Repeat "
            "for several.",
            show_default=False,
        ),
    ] = None,
    group: GroupOfRows = None,
    time: TimeOfRows = None,
    no_groups: NoGroups = False,
    no_time: NoTime = False,
    score: RecordedScore = None,
    no_promises: Annotated[
        bool,
        typer.Option(
            "--no-promises",
            help="Make none of the promises of the certificate before. By default all are made again, with the same "
            "parameters.",
        ),
    ] = False,
    delta: Annotated[
        float | None,
        typer.Option(
            help="Probability with which the new certificate may fail.  [default: that of the one before]",
            show_default=False,
        ),
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Where to write the certificate as a web page.")] = None,
    title: Annotated[str | None, typer.Option(help="Heading of the web page.  [default: A certified model]")] = None,
    seed: Seed = None,
    sep: Separator = None,
    decimal: DecimalMark = None,
    encoding: Encoding = None,
    trust: Trust = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Certify a vote again, as it is, on labelled rows that came after its certificate.

    Nothing is learned, so nothing is paid for learning. Groups, delta and promises are those of the certificate before,
    unless options say otherwise; thresholds of promises are chosen anew. The new certificate names the one before it,
    and `certivote verify --earlier` compares the two. Rows that trained the vote or certified it before are refused.

    It holds if the rows were chosen without regard to how they came out: if an alarm, or the lack of one, decided when
    to certify again, use only rows that came after that moment.
    """
    check_group_or_time(group, time)
    if is_standard_output(report):
        fail("--report: give the name of a file; `certivote report` prints a page.")
    if title is not None and report is None:
        fail("--title: give --report with it, the page that has this heading.")
    file = table_file(data, sep, decimal, encoding)
    watched = list(monitor or ())
    kept = {f"--monitor {path}": path for path in watched}
    check_files({"MODEL": model, "DATA": data, **kept}, {"--out": out, "--report": report})
    try:
        earlier, classifier = read_certificate(model, trust)
        if (classifier is None) != (predicted is not None):
            fail(
                "--predicted: a certificate cannot answer the rows; name the column with the answers of its model."
                if classifier is None
                else "--predicted: the model itself answers the rows; leave it out."
            )
        group, time = units_again(earlier, file, group, time, no_groups, no_time)
        promises = [] if no_promises else promises_of(earlier)
        _check_score(promises, score, classifier is None)
        seen = [read_monitor(path, earlier, classifier) for path in watched]
        settings: dict[str, Any] = {"delta": earlier.delta if delta is None else delta, "random_state": seed}
        settings |= {"promises": promises, "together": earlier.together}
        needed = [] if no_promises else columns_of_groups(earlier)

        def work(read: Any) -> Certificate:
            from certivote.monitor import follow

            if classifier is None:
                made = of_answers(read, None, {}, settings)
            else:
                made = of_model(model.name, classifier, read, file, None, quiet, settings)
            return follow(made, earlier, seen)

        certificate, digest = on_table(
            file,
            quiet,
            lambda: (
                read_beside_others(file, truth, [str(predicted)], needed, group=group, time=time, score=score)
                if classifier is None
                else rows_for(classifier, file, truth, group, time)
            ),
            work,
        )
    except (OSError, ValueError, ImportError) as error:
        fail(reason(error))
    certificate = certificate.with_source(file.name, digest)
    write_certificate(certificate, out)
    if report is not None:
        name = "certificate.json" if is_standard_output(out) else out.name
        try:
            with writing("--report", report):
                certificate.report(report, title=title, command=verify_command(certificate, name, score))
        except ImportError as error:
            fail(f"--report: {error}")
    show_certificate(certificate, as_json, quiet, {"Certificate": out, "Report": report})


def _check_score(promises: Sequence[Promise], score: str | None, only_answers: bool) -> None:
    """End if promises ask for what is not known of answers, or a score is given in vain."""
    asking = [promise for promise in promises if promise.needs == "scores"]
    if score is not None and not (asking and only_answers):
        fail("--score: it is for a certificate of answers with a promise that asks how sure they are; leave it out.")
    for promise in promises if only_answers else ():
        if promise.needs == "masses":
            fail(f"{promise!r}: answers alone are not enough; give the model itself, or --no-promises.")
        if promise.needs == "scores" and score is None:
            fail(f"{promise!r}: give --score, the column that says how sure each answer is, or --no-promises.")
