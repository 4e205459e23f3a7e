"""``certivote verify``."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from certivote.audit import verify as audit
from certivote.certificate import Certificate, percent_up
from certivote.cli._shared import AsJson, fail
from certivote.persist import load
from certivote.tables import read_table

__all__ = ["verify"]


def verify(
    certificate: Annotated[Path, typer.Argument(help="The certificate, as JSON.")],
    model: Annotated[Path | None, typer.Option(help="The model that it is said to be about.")] = None,
    data: Annotated[
        Path | None,
        typer.Option(help="The file that the model was fitted to, in the same format; needs --model and --target."),
    ] = None,
    target: Annotated[str | None, typer.Option(help="Column that holds the classes.")] = None,
    as_json: AsJson = False,
) -> None:
    """Recompute a certificate, a line a check; the exit code is 0 only if every check has passed.

    From the JSON alone, everything that the bound is made of is recomputed in ball arithmetic. With the model and the
    data, the voters vote again and the errors are counted again. Columns that the model does not know are ignored, so
    what was dropped when it was fitted need not be named.
    """
    if (data is None) != (target is None) or (data is not None and model is None):
        fail("--data, --target: give both, and --model with them.")
    try:
        record = Certificate.from_json(certificate.read_text(encoding="utf-8"))
        classifier = None if model is None else load(model)
        rows = () if data is None or target is None else _rows(data, target, classifier)
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


def _rows(data: Path, target: str, classifier: Any) -> tuple[Any, Any]:
    names = getattr(classifier, "feature_names_in_", None)
    if names is None:
        table = read_table(data, target)
        return table.X.to_numpy(), table.y
    table = read_table(data, target, features=names.tolist())
    return table.X, table.y
