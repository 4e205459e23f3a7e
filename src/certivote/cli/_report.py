"""``certivote report``."""

from pathlib import Path
from typing import Annotated

import typer

from certivote.cli._shared import fail, read_certificate, rows_for

__all__ = ["report"]


def report(
    source: Annotated[Path, typer.Argument(help="A model, or a certificate as JSON.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Where to write the page.")] = Path("report.html"),
    data: Annotated[
        Path | None,
        typer.Option(help="Test rows, used neither for training nor for certification; needs a model and --target."),
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
        certificate, model = read_certificate(source)
        command = f"certivote verify {source.name}"
        if model is not None:
            command += " --data TRAINING_DATA --target TARGET"
        if data is not None and target is not None:
            if model is None:
                fail("--data: test rows need the model to answer them; give the model in place of its certificate.")
            rows, truth = rows_for(model, data, target)
            answers = model.predict(rows)
        certificate.report(
            out, truth=truth, answers=answers, title=title if title is not None else source.stem, command=command
        )
    except (OSError, UnicodeDecodeError, ValueError, ImportError) as error:
        fail(f"{source}: {error}")
    typer.echo(f"Report written to {out}.")
