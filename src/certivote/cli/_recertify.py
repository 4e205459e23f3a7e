"""``certivote recertify``."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from certivote.cli._certify import certify_answers, certify_model, read_beside_others
from certivote.cli._given import RecordedGrouping, RecordedScore, columns_of_groups, write_and_show
from certivote.cli._messages import ending_in_a_line, fail
from certivote.cli._models import Model, Trust, read_certificate, rows_for
from certivote.cli._monitor import read_monitor
from certivote.cli._options import Seed, verb
from certivote.cli._outputs import Page, Wording, check_files
from certivote.cli._tables import Column, TableFormat, Truth, work_on
from certivote.promises import Promise, promises_of


@verb
def recertify(
    *,
    model: Model,
    data: Path,
    truth: Truth,
    out: Annotated[Path, typer.Option()],
    predicted: Column = None,
    monitor: Annotated[list[Path] | None, typer.Option(metavar="FILE")] = None,
    units: RecordedGrouping,
    score: RecordedScore = None,
    no_promises: bool = False,
    delta: float | None = None,
    page: Page,
    seed: Seed = None,
    form: TableFormat,
    trust: Trust = None,
    printing: Wording,
) -> None:
    """Certify a vote again, as it is, on labelled rows that came after its certificate.

    Nothing is learned, so nothing is paid for learning. Groups, delta and promises are those of the certificate before,
    unless options say otherwise; thresholds of promises are chosen anew. The new certificate names the one before it,
    and `certivote verify --earlier` compares the two. Rows that trained the vote or certified it before are refused.

    It holds if the rows were chosen without regard to how they came out: if an alarm, or the lack of one, decided when
    to certify again, use only rows that came after that moment.

    Parameters
    ----------
    data
        CSV file with a header line (.csv, .csv.gz), or parquet file, of rows that came after the certificate; - is
        standard input.
    out
        Where to write the new certificate as JSON; - prints it.
    predicted
        With a certificate: column that holds the answers of its model.
    monitor
        What `certivote monitor --state` has kept since: the new certificate says what it has seen. Repeat for several.
    no_promises
        Make none of the promises of the certificate before. By default all are made again, with the same parameters.
    delta
        Probability with which the new certificate may fail. [default: that of the one before]
    """
    file = form.file(data)
    watched = list(monitor or ())
    kept = {f"--monitor {path}": path for path in watched}
    check_files({"MODEL": model, "DATA": data, **kept}, {"--out": out, "--report": page.report})
    with ending_in_a_line():
        earlier, classifier = read_certificate(model, trust)
        if (classifier is None) != (predicted is not None):
            fail(
                "--predicted: a certificate cannot answer the rows; name the column with the answers of its model."
                if classifier is None
                else "--predicted: the model itself answers the rows; leave it out."
            )
        columns = units.columns(earlier, file)
        promises = [] if no_promises else promises_of(earlier)
        _check_score(promises, score, classifier is None)
        seen = [read_monitor(path, earlier, classifier) for path in watched]
        settings: dict[str, Any] = {"delta": earlier.delta if delta is None else delta, "random_state": seed}
        settings |= {"promises": promises, "together": earlier.together}
        with work_on(file, printing.quiet, f"certifying on {file}"):
            from certivote.monitor import follow

            if predicted is not None:
                needed = [] if no_promises else columns_of_groups(earlier)
                read = read_beside_others(file, truth, [predicted], needed, **columns, score=score)
                made = certify_answers(read, None, settings)
            else:
                read = rows_for(classifier, file, truth, **columns)
                made = certify_model(classifier, model.name, read, file, None, settings, printing.quiet)
            certificate = follow(made, earlier, seen).with_source(file.name, read.digest)
    write_and_show(certificate, out, page, printing, score)


def _check_score(promises: Sequence[Promise], score: str | None, only_answers: bool) -> None:
    """End if promises ask for what is not known of answers, or if a score is given and no promise asks for it."""
    asking = [promise for promise in promises if promise.needs == "scores"]
    if score is not None and not (asking and only_answers):
        fail("--score: it is for a certificate of answers with a promise that asks how sure they are; leave it out.")
    for promise in promises if only_answers else ():
        if promise.needs == "masses":
            fail(f"{promise!r}: answers alone are not enough; give the model itself, or --no-promises.")
        if promise.needs == "scores" and score is None:
            fail(f"{promise!r}: give --score, the column that says how sure each answer is, or --no-promises.")
