"""``certivote report``."""

import zipfile
from pathlib import Path
from typing import Annotated

import typer

from certivote.certificate import Certificate
from certivote.cli._shared import fail, on_table
from certivote.persist import load

__all__ = ["report"]


def report(
    source: Annotated[Path, typer.Argument(help="A model, or a certificate as JSON.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Where to write the page.")] = Path("report.html"),
    data: Annotated[
        Path | None,
        typer.Option(help="Test rows, which neither taught nor certified; needs a model and --target."),
    ] = None,
    target: Annotated[str | None, typer.Option(help="Column that holds the classes.")] = None,
    title: Annotated[str | None, typer.Option(help="Heading of the page.  [default: the name of the file]")] = None,
) -> None:
    """Write a certificate as one web page that works offline: the promise, where it comes from, how to verify it."""
    if (data is None) != (target is None):
        fail("--data, --target: give both, or neither.")
    if not out.parent.is_dir():
        fail(f"--out: the folder {out.parent} does not exist.")
    answers = truth = None
    try:
        if zipfile.is_zipfile(source):
            model = load(source)
            certificate = model.certificate_
            command = (
                f"unzip -p {source.name} certificate.json > certificate.json\n"
                f"certivote verify certificate.json --model {source.name} --data TRAINING_DATA --target TARGET"
            )
            if data is not None and target is not None:
                truth, answers = on_table(data, target, lambda X, y: (y, model.predict(X)))
        else:
            certificate = Certificate.from_json(source.read_text(encoding="utf-8"))
            command = f"certivote verify {source.name}"
            if data is not None:
                fail("--data: test rows need the model to answer them; give the model in place of its certificate.")
        certificate.report(
            out, truth=truth, answers=answers, title=title if title is not None else source.stem, command=command
        )
    except (OSError, UnicodeDecodeError, ValueError, ImportError) as error:
        fail(f"{source}: {error}")
    typer.echo(f"Report written to {out}.")
