"""``certivote verify``."""

from pathlib import Path
from typing import Annotated

import typer

from certivote.audit import verify as audit
from certivote.certificate import Certificate, percent_up
from certivote.cli._shared import fail
from certivote.csv_table import TableError, read_csv
from certivote.persist import load

__all__ = ["verify"]


def verify(
    certificate: Annotated[Path, typer.Argument(help="The certificate, as JSON.")],
    model: Annotated[Path | None, typer.Option(help="The model that it is said to be about.")] = None,
    data: Annotated[
        Path | None, typer.Option(help="The CSV file that the model was fitted to; needs --model and --target.")
    ] = None,
    target: Annotated[str | None, typer.Option(help="Column that holds the classes.")] = None,
) -> None:
    """Recompute a certificate, a line a check; the exit code is 0 only if every check has passed.

    From the JSON alone, everything that the bound is made of is recomputed in ball arithmetic. With the model and the
    data, the voters vote again and the errors are counted again.
    """
    if (data is None) != (target is None) or (data is not None and model is None):
        fail("--data, --target: give both, and --model with them.")
    try:
        record = Certificate.from_json(certificate.read_text(encoding="utf-8"))
        classifier = None if model is None else load(model)
        table = None if data is None or target is None else read_csv(data, target)
        checks = audit(record, classifier, *(() if table is None else (table.X, table.y)))
    except (OSError, UnicodeDecodeError, ValueError, ImportError, TableError) as error:
        fail(str(error))
    for check in checks:
        typer.echo(str(check))
    failed = sum(not check.passed for check in checks)
    if failed:
        typer.echo(f"\n{failed} of {len(checks)} checks FAILED: do not rely on this certificate.")
        raise typer.Exit(1)
    typer.echo(
        f"\nAll {len(checks)} checks passed: the bound of {percent_up(record.bound)} is proved for these numbers."
    )
