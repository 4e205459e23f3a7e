"""``certivote verify``."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from joblib import parallel_config

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
from certivote.cli._outputs import check_files
from certivote.cli._shared import AsJson, Quiet, complain, fail, say
from certivote.estimator import load
from certivote.present import percent_up
from certivote.verify import verify as audit

__all__ = ["verify"]


def verify(
    certificate: Annotated[
        Path, typer.Argument(help="The certificate as JSON, - for standard input; or a model, which holds its own.")
    ],
    model: Annotated[Path | None, typer.Option(help="The model that the certificate is said to be about.")] = None,
    data: Annotated[
        Path | None,
        typer.Option(help="The file that the model was fitted to, in the same format; needs a model and --target."),
    ] = None,
    target: Annotated[str | None, typer.Option(help="Column that holds the classes.")] = None,
    refit: Annotated[
        bool,
        typer.Option("--refit", help="Fit again from the data, and compare all that came of it; needs --data."),
    ] = False,
    sep: Separator = None,
    decimal: DecimalMark = None,
    encoding: Encoding = None,
    trust: Trust = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Recompute a certificate and print one line per check; the exit code is 0 only if every check has passed.

    From the JSON alone, everything that the bound is made of is recomputed in ball arithmetic. With the model and the
    data, the voters vote again and the errors are counted again; with --refit, all is learned again. Columns that the
    model does not know are ignored, so there is no need to name those that were dropped when it was fitted.

    What nothing that was given can show is marked by TRUST, with the reason.
    """
    if (data is None) != (target is None):
        fail("--data, --target: give both, or neither.")
    if refit and data is None:
        fail("--refit: give --data and --target with it: what is fitted again is fitted to them.")
    if str(certificate) == str(data) == "-":
        fail("--data: standard input is the certificate already.")
    file = None if data is None else table_file(data, sep, decimal, encoding)
    check_files({"CERTIFICATE": certificate, "--model": model, "--data": data}, {})
    try:
        with warnings_as_lines(quiet):
            record, classifier = read_certificate(certificate, trust)
            if model is not None:
                classifier = load(model, trusted=trust or ())
            if file is None or target is None:
                checks = audit(record, classifier)
            elif classifier is None:
                fail(
                    "--data: give --model with it; without the model, nothing says which rows are the certification "
                    "rows."
                )
            else:
                read = rows_for(classifier, file, target)
                with parallel_config("threading", n_jobs=-1):
                    checks = audit(record, classifier, read.X, read.y, refit=refit, source_digest=read.digest)
    except (OSError, ValueError, ImportError) as error:
        fail(str(error))
    trusted = sum(check.on_trust for check in checks)
    failed, made = sum(not check.passed for check in checks), len(checks) - trusted
    verdict = f"{failed} of {made} checks FAILED: do not rely on this certificate."
    if as_json:
        found = {"verified": not failed, "taken_on_trust": trusted, "checks": [asdict(check) for check in checks]}
        typer.echo(json.dumps(found, indent=2))
    elif quiet:
        if failed:
            complain(verdict)
    else:
        for check in checks:
            say(str(check))
        if not failed:
            rest = f"; {trusted} thing{'s are' if trusted > 1 else ' is'} taken on trust" if trusted else ""
            verdict = (
                f"All {made} checks passed{rest}. The bound of {percent_up(record.bound)} is proved for these numbers."
            )
        typer.echo(f"\n{verdict}")
    raise typer.Exit(1 if failed else 0)
