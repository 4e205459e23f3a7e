"""``certivote verify``."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from certivote.cli._shared import AsJson, fail, read_certificate, rows_for
from certivote.io import load
from certivote.present import percent_up
from certivote.verify import verify as audit

__all__ = ["verify"]


def verify(
    certificate: Annotated[Path, typer.Argument(help="The certificate as JSON; or a model, which holds its own.")],
    model: Annotated[Path | None, typer.Option(help="The model that the certificate is said to be about.")] = None,
    data: Annotated[
        Path | None,
        typer.Option(help="The file that the model was fitted to, in the same format; needs a model and --target."),
    ] = None,
    target: Annotated[str | None, typer.Option(help="Column that holds the classes.")] = None,
    as_json: AsJson = False,
) -> None:
    """Recompute a certificate and print one line per check; the exit code is 0 only if every check has passed.

    From the JSON alone, everything that the bound is made of is recomputed in ball arithmetic. With the model and the
    data, the voters vote again and the errors are counted again. Columns that the model does not know are ignored, so
    there is no need to name those that were dropped when it was fitted.
    """
    if (data is None) != (target is None):
        fail("--data, --target: give both, or neither.")
    try:
        record, classifier = read_certificate(certificate)
        if model is not None:
            classifier = load(model)
        if data is not None and classifier is None:
            fail("--data: give --model with it; without the model, nothing says which rows are the certification rows.")
        rows = () if data is None or target is None else rows_for(classifier, data, target)
        checks = audit(record, classifier, *rows)
    except (OSError, ValueError, ImportError) as error:
        fail(str(error))
    failed = sum(not check.passed for check in checks)
    if as_json:
        typer.echo(json.dumps({"verified": not failed, "checks": [asdict(check) for check in checks]}, indent=2))
        raise typer.Exit(1 if failed else 0)
    for check in checks:
        typer.echo(str(check))
    if failed:
        typer.echo(f"\n{failed} of {len(checks)} checks FAILED: do not rely on this certificate.")
        raise typer.Exit(1)
    typer.echo(
        f"\nAll {len(checks)} checks passed: the bound of {percent_up(record.bound)} is proved for these numbers."
    )
