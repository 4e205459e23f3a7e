"""``certivote verify``."""

import json
import textwrap
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import typer

from certivote.certificate import Certificate, Record, counted, percent_up
from certivote.cli._engine import Engine
from certivote.cli._given import KnownColumns, RecordedScore, model_names, rows_of_answers
from certivote.cli._messages import complain, ending_in_a_line, fail, say, warnings_as_lines
from certivote.cli._models import Trust, load_model, read_any_certificate, read_certificate, rows_for
from certivote.cli._options import verb
from certivote.cli._other_records import rows_of_record
from certivote.cli._outputs import Printing, check_files
from certivote.cli._tables import TableFormat, Training, all_processors, columns_beside, doing
from certivote.io import Table, TableFile, column_names, read_alike
from certivote.verify import Check
from certivote.verify import verify as audit

_WIDTH = 100
_NO_COLUMNS = ("--earlier", "--refit", "--labels", "--new")
_OPTIONS = {
    "groups=": "--group",
    "order=": "--time",
    "scores=": "--score",
    "training=": "--training",
    "earlier=": "--earlier",
    "X=": "--data",
    "y= and predictions=": "--labels, --data, and --model or --predicted",
    "predictions=": "--data and --new",
}
"""What the library calls things that would show more, and the options that give them."""


@dataclass(frozen=True, kw_only=True)
class Against(KnownColumns):
    """What a certificate is compared with, in addition to a model and a table.

    Attributes
    ----------
    earlier
        For certificates of `certivote recertify`: the certificate, or model, that it follows.
    refit
        Fit again from the data, and compare all results; needs --data.
    labels
        For certificates of `certivote label`: its file of labels.
    new
        For certificates of `certivote carry`: the new model's answers, or the new model.
    """

    score: RecordedScore = None
    training: Training = None
    earlier: Path | None = None
    refit: bool = False
    labels: Path | None = None
    new: Path | None = None

    def about_rows(self) -> dict[str, Any]:
        return {option: value for option, value in self.given().items() if option not in _NO_COLUMNS}


@verb
def verify(
    *,
    certificate: Path,
    model: Path | None = None,
    data: Path | None = None,
    against: Against,
    form: TableFormat,
    trust: Trust = None,
    engine: Engine,
    printing: Printing,
) -> None:
    """Recompute a certificate; the exit code is 0 only if every check has passed.

    Printed are the checks that failed, and what is taken on trust; with --details, one line per check.

    From the JSON alone, everything that the bound is made of is recomputed in ball arithmetic. With the model and the
    data, the voters vote again and the errors are counted again; with --refit, all is learned again. Columns that the
    model does not know are ignored, so there is no need to name those that were dropped when it was fitted.

    Of a certificate that `certivote certify` made of answers, the answers are counted again from their table.

    What cannot be checked with the files that you give is marked by TRUST, with the reason.

    Parameters
    ----------
    certificate
        The certificate as JSON, - for standard input; or a model, which holds its own.
    model
        The model that the certificate is said to be about.
    data
        The file that the model was fitted to, in the same format, which needs the model; or, for certificates of given
        models, the file of their answers.
    """
    against.check(data)
    if against.refit and data is None:
        fail("--refit: give --data with it: the rows to fit again.")
    if engine.engine != "memory" and data is None:
        fail("--engine: give --data with it, the rows that it reads in pieces.")
    files = {"--data": data, "--training": against.training, "--earlier": against.earlier}
    whole = {option: value for option, value in against.given().items() if option != "--target"}
    pieces = engine.in_pieces(whole)
    if not pieces:
        check_files({"CERTIFICATE": certificate, "--model": model, **files}, {})
    file, training = None if data is None else form.file(data), form.other(against.training)
    with ending_in_a_line(), warnings_as_lines(printing.quiet):
        record, classifier = read_any_certificate(certificate, trust)
        if model is not None:
            classifier = load_model(model, trust)
        earlier = None if against.earlier is None else read_certificate(against.earlier, trust)[0]
        if not isinstance(record, Certificate):
            rows = rows_of_record(record, classifier, file, against, form, trust)
            checks = audit(record, earlier=earlier, **rows)
        elif data is None or file is None:
            checks = audit(record, classifier, earlier=earlier)
        elif pieces:
            _check_in_pieces(record, classifier)
            truth = against.truth(record)
            with engine.pieces(data, form, {}, printing.quiet) as work:
                checks = work.audited(record, classifier, truth)
        else:
            with doing(f"verifying against {file}", printing.quiet):
                checks = _audit_of_rows(record, classifier, file, training, earlier, against)
    _show(record, checks, printing, counted_again=data is not None)
    raise typer.Exit(0 if all(check.passed for check in checks) else 1)


def _audit_of_rows(
    record: Certificate,
    classifier: Any,
    file: TableFile,
    training: TableFile | None,
    earlier: Certificate | None,
    against: Against,
) -> list[Check]:
    """The checks against the rows of a table in memory."""
    read, table = _read(record, classifier, file, against)
    with all_processors():
        return audit(
            record,
            classifier,
            read.X,
            read.y,
            refit=against.refit,
            source_digest=read.digest,
            groups=read.groups,
            order=read.order,
            predictions=read.predicted or None,
            training=None if training is None else _training(record, training, read),
            scores=read.scores,
            table=table,
            earlier=earlier,
        )


def _show(record: Certificate | Record, checks: Sequence[Check], printing: Printing, counted_again: bool) -> None:
    """Print the checks that failed, what is taken on trust, and the verdict; all checks, if details are asked for."""
    trusted = sum(check.on_trust for check in checks)
    failed, made = sum(not check.passed for check in checks), len(checks) - trusted
    unknown = sum(check.unknown for check in checks)
    verdict = f"{failed - unknown} of {made} checks FAILED: do not rely on this certificate."
    if failed == unknown:
        verdict = "There is no verifier for this certificate, or for a part of it: that was neither proved nor refuted."
    if printing.as_json:
        found: dict[str, Any] = {"verified": not failed, "taken_on_trust": trusted, "unknown": unknown}
        found["checks"] = [asdict(check) for check in checks]
        typer.echo(json.dumps(found, indent=2))
        return
    if printing.quiet:
        if failed:
            complain(verdict)
        return
    for check in checks:
        if printing.details:
            say(_in_options(str(check)) if check.on_trust else str(check))
        elif check.on_trust or not check.passed:
            say(textwrap.shorten(_in_options(str(check)), _WIDTH, placeholder=" ...") if check.passed else str(check))
    if not failed:
        rest = f"; {trusted} thing{'s are' if trusted > 1 else ' is'} taken on trust" if trusted else ""
        promises = record.promises if isinstance(record, Certificate) else ()
        more = f" and {counted(len(promises), 'promise')}" if promises else ""
        bound: float = getattr(record, "bound", 1.0)
        verdict = (
            f"All {made} checks passed{rest}. The bound of {percent_up(bound)}{more} "
            f"{'are' if more else 'is'} proved for these numbers"
            f"{'.' if counted_again else '; nothing was counted again: give --data with the rows.'}"
            f"{'' if printing.details else ' (--details shows each check.)'}"
        )
    typer.echo(f"\n{verdict}")


def _in_options(line: str) -> str:
    """A line that names what would show more, in words of the command line."""
    for word, option in _OPTIONS.items():
        line = line.replace(word, option)
    return line


def _read(
    record: Certificate,
    classifier: Any,
    file: TableFile,
    against: Against,
) -> tuple[Table, Any]:
    """The rows that the certificate is said to come from; with answers, the columns that its promises are about."""
    given = bool(model_names(record))
    if not given and classifier is None:
        fail("--data: give --model with it; without the model, nothing says which rows are the certification rows.")
    if not given and against.predicted:
        fail("--predicted: this certificate is about a vote that was fitted; give --model, which answers by itself.")
    if given and against.refit:
        fail("--refit: this certificate is about a model that was given, so there is no fit to repeat.")
    columns = against.columns(record, file)
    if given and (classifier is None or against.predicted):
        return rows_of_answers(record, file, columns, against.predicted, against.score)
    if against.score is not None:
        fail("--score: the model itself says how sure it is; leave it out.")
    read = rows_for(classifier, file, *columns)
    if not against.refit or not hasattr(read.X, "columns"):
        return read, None
    named = {*map(str, read.X.columns), *columns, ""}
    return read, columns_beside(file, columns[0], [name for name in column_names(file) if name not in named])


def _check_in_pieces(record: Certificate, classifier: Any) -> None:
    """End if the certificate cannot be compared with rows that are read in pieces."""
    if model_names(record):
        fail("--engine: this certificate is about a model that was given; verify it with --engine memory.")
    if classifier is None:
        fail("--data: give --model with it; without the model, nothing says which rows are the certification rows.")
    if not hasattr(classifier, "feature_names_in_"):
        fail("--engine: the model was fitted to columns without names; verify it with --engine memory.")


def _training(record: Certificate, shown: TableFile, read: Table) -> Any:
    """The rows that the given models were trained on."""
    if not model_names(record):
        fail("--training: this certificate is about a vote that was fitted; its training rows are in --data.")
    if not hasattr(read.X, "columns"):
        fail("--training: this certificate is about answers only, so there are no columns to compare rows by.")
    return read_alike(shown, read.X)
