"""The command line: one verb a file, and a line for it here."""

from typing import Annotated

import typer

from certivote._version import __version__
from certivote.cli._compare import compare
from certivote.cli._datasets import datasets
from certivote.cli._fit import fit
from certivote.cli._report import report
from certivote.cli._reproduce import reproduce
from certivote.cli._verify import verify

__all__ = ["app"]

app = typer.Typer(
    help="A weighted majority vote with a certificate of its own error.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"certivote {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """A weighted majority vote with a certificate of its own error."""


app.command(epilog="Example: `certivote fit patients.csv --target outcome --out certificate.json`")(fit)
app.command(epilog="Example: `certivote compare patients.csv --target outcome --method dis-r --method holdout`")(
    compare
)
app.add_typer(datasets, name="datasets")
app.command(epilog="Example: `certivote reproduce --protocol fast --dataset haberman --repeats 3`")(reproduce)
app.command(epilog="Example: `certivote report patients.certivote -o report.html --data test.csv --target outcome`")(
    report
)
app.command(epilog="Example: `certivote verify certificate.json --model patients.certivote --data patients.csv`")(
    verify
)
