"""``certivote report``."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from certivote.certificate import Certificate, used_rows
from certivote.cli._inputs import (
    DecimalMark,
    Encoding,
    Separator,
    Trust,
    read_certificate,
    rows_for,
    table_file,
    warnings_as_lines,
)
from certivote.cli._outputs import check_files, is_standard_output, print_result
from certivote.cli._shared import Quiet, fail, say
from certivote.cli._unread import UnreadValues

__all__ = ["report"]


def report(
    source: Annotated[Path, typer.Argument(help="A model; or a certificate as JSON, - for standard input.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Where to write the page; - prints it.")] = Path(
        "report.html"
    ),
    data: Annotated[
        Path | None,
        typer.Option(help="Test rows, used neither for training nor for certification; needs a model and --target."),
    ] = None,
    target: Annotated[str | None, typer.Option(help="Column that holds the classes.")] = None,
    title: Annotated[str | None, typer.Option(help="Heading of the page.  [default: the name of the file]")] = None,
    sep: Separator = None,
    decimal: DecimalMark = None,
    encoding: Encoding = None,
    trust: Trust = None,
    quiet: Quiet = False,
) -> None:
    """Write a certificate as one web page that works offline: the promise, where it comes from, how to verify it."""
    if (data is None) != (target is None):
        fail("--data, --target: give both, or neither.")
    if str(source) == str(data) == "-":
        fail("--data: standard input is the certificate already.")
    file = None if data is None else table_file(data, sep, decimal, encoding)
    check_files({"SOURCE": source, "--data": data}, {"--out": out})
    name = source.name if source.is_file() else "certificate.json"
    answers, truth, used = None, None, (0, 0)
    try:
        with warnings_as_lines(quiet):
            certificate, model = read_certificate(source, trust)
            command = f"certivote verify {name}"
            if model is not None:
                command += " --data TRAINING_DATA --target TARGET"
            if file is not None and target is not None:
                if model is None:
                    fail("--data: test rows need the model to answer them; give the model in place of its certificate.")
                read = rows_for(model, file, target)
                truth, answers = read.y, model.predict(read.X)
                rows = model.check_rows(read.X, read.y)
                used = used_rows(certificate.deployed_part, model.part_.train, model.part_.certify, *rows)
                unread = UnreadValues(model)
                unread.look_at(read.X)
                if not quiet:
                    unread.complain(file)
            page = {"title": title or Path(name).stem, "command": command}
            _write(certificate, out, truth=truth, answers=answers, used=used, **page)
    except (OSError, ValueError, ImportError) as error:
        fail(f"{source}: {error}")
    if not quiet and not is_standard_output(out):
        say(f"Report written to {out}.")


def _write(certificate: Certificate, out: Path, **content: Any) -> None:
    if not is_standard_output(out):
        certificate.report(out, **content)
        return
    with TemporaryDirectory() as folder:
        page = Path(folder, "report.html")
        certificate.report(page, **content)
        print_result(page.read_text(encoding="utf-8"))
