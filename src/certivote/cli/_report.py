"""``certivote report``."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from certivote.certificate import Certificate, Record, used_rows
from certivote.cli._given import KnownColumns, as_test, model_names, rows_of_answers, verify_command
from certivote.cli._messages import complain, fail, reason, say, warnings_as_lines
from certivote.cli._models import Trust, complain_of_unread, read_any_certificate, rows_for
from certivote.cli._options import verb
from certivote.cli._outputs import Quiet, check_files, check_unit, is_standard_output, print_result
from certivote.cli._tables import TableFormat
from certivote.io import TableError, TableFile
from certivote.verify import verify


@verb
def report(
    *,
    source: Path,
    out: Annotated[Path, typer.Option("--out", "-o")] = Path("report.html"),
    data: Path | None = None,
    known: KnownColumns,
    title: str | None = None,
    unit: str | None = None,
    form: TableFormat,
    trust: Trust = None,
    quiet: Quiet = False,
) -> None:
    """Write a certificate as one web page that works offline: the promise, where it comes from, how to verify it.

    The record is checked first, as by `certivote verify` without a model or data; if a check fails, no page is written.

    Parameters
    ----------
    source
        A model; or a certificate as JSON, - for standard input.
    out
        Where to write the page; - prints it.
    data
        Test rows, used neither for training nor for certification. They need the model; or, for certificates of given
        models, its answers.
    title
        Heading of the page. [default: the name of the file]
    unit
        What the groups of rows are called on the page: patients, or person/people where the plural does not end with
        s. [default: groups]
    """
    known.check(data)
    check_unit(unit)
    file = None if data is None else form.file(data)
    check_files({"SOURCE": source, "--data": data}, {"--out": out})
    name = source.name if source.is_file() else "certificate.json"
    try:
        with warnings_as_lines(quiet):
            certificate, model = read_any_certificate(source, trust)
            _check_record(certificate, source, quiet)
            title = title or Path(name).stem
            if isinstance(certificate, Certificate):
                command = verify_command(certificate, name)
                if model is not None:
                    command += " --data TRAINING_DATA --target TARGET"
                test = {} if file is None else _test(certificate, model, file, known, quiet)
                _write(certificate, out, title=title, command=command, unit=unit, **test)
            else:
                if file is not None or unit is not None:
                    fail("--data, --unit: not for this kind of certificate; leave them out.")
                _write(certificate, out, title=title, command=f"certivote verify {name}")
    except TableError as error:
        fail(reason(error))
    except (OSError, ValueError, ImportError) as error:
        fail(reason(error) if isinstance(error, OSError) else f"{source}: {error}")
    if not quiet and not is_standard_output(out):
        say(f"Report written to {out}.")


def _check_record(certificate: Certificate | Record, source: Path, quiet: bool) -> None:
    """End if the numbers of the record do not prove its bound."""
    try:
        checks = verify(certificate)
    except ImportError as error:
        if not quiet:
            complain(f"note: the record is shown unchecked. {error}")
        return
    failed = [check for check in checks if not (check.passed or check.unknown)]
    if not quiet:
        for check in checks:
            if check.unknown:
                complain(f"note: the record is shown unchecked. {check}")
    if failed:
        fail(f"{source}: the record fails {len(failed)} of its checks, so no page is written: {failed[0]}")


def _test(certificate: Certificate, model: Any, file: TableFile, known: KnownColumns, quiet: bool) -> dict[str, Any]:
    """True classes and answers of test rows, and how many of these the model was made from."""
    given = bool(model_names(certificate))
    if model is None and not given:
        fail("--data: test rows need the model to answer them; give the model in place of its certificate.")
    if known.predicted and not given:
        fail("--predicted: this certificate is about a vote that was fitted, which answers by itself.")
    columns = known.columns(certificate, file)
    if given:
        return as_test(certificate, rows_of_answers(certificate, file, columns, known.predicted)[0])
    read = rows_for(model, file, *columns)
    complain_of_unread(model, read.X, file, quiet)
    return {"truth": read.y, "answers": model.predict(read.X), "used": used_rows(model, read.X)}


def _write(certificate: Certificate | Record, out: Path, **content: Any) -> None:
    if not is_standard_output(out):
        certificate.report(out, **content)
        return
    with TemporaryDirectory() as folder:
        page = Path(folder, "report.html")
        certificate.report(page, **content)
        print_result(page.read_text(encoding="utf-8"))
