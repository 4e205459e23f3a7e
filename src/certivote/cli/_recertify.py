"""``certivote recertify``."""

from pathlib import Path
from typing import Annotated, Any

import typer

from certivote.certificate import Certificate
from certivote.cli._certify import of_answers, of_model
from certivote.cli._given import read_beside_others, verify_command
from certivote.cli._inputs import (
    DecimalMark,
    Encoding,
    GroupOfRows,
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
from certivote.cli._shared import AsJson, Quiet, Seed, fail
from certivote.cli._states import read_monitor

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
    delta: Annotated[
        float | None,
        typer.Option(
            help="Probability with which the new certificate may fail.  [default: that of the one before]",
            show_default=False,
        ),
    ] = None,
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
    """Certify a vote again, as it is, on labelled rows that came after its certificate.

    Nothing is learned, so nothing is paid for learning. The new certificate names the one before it, and `certivote
    verify --earlier` compares the two. Rows that trained the vote or certified it before are refused.

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
        seen = [read_monitor(path, earlier, classifier) for path in watched]
        settings: dict[str, Any] = {"delta": earlier.delta if delta is None else delta, "random_state": seed}
        settings |= {"promises": [], "together": False}

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
                read_beside_others(file, truth, [str(predicted)], [], group=group, time=time, score=None)
                if classifier is None
                else rows_for(classifier, file, truth, group, time)
            ),
            work,
        )
    except (OSError, ValueError, ImportError) as error:
        fail(str(error))
    certificate = certificate.with_source(file.name, digest)
    write_certificate(certificate, out)
    if report is not None:
        name = "certificate.json" if is_standard_output(out) else out.name
        try:
            with writing("--report", report):
                certificate.report(report, title=title, command=verify_command(certificate, name))
        except ImportError as error:
            fail(f"--report: {error}")
    show_certificate(certificate, as_json, quiet, {"Certificate": out, "Report": report})
