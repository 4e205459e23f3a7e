"""The command line: one file per verb, and a line for it here.

A verb reads files, calls the library and prints; it decides nothing about certificates. What is wrong with the input
ends in one line on standard error and exit code 1.
"""

import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from certivote._version import __version__
from certivote.cli._bound import bound
from certivote.cli._carry import carry
from certivote.cli._certify import certify
from certivote.cli._compare import compare
from certivote.cli._datasets import datasets
from certivote.cli._fit import fit
from certivote.cli._label import label
from certivote.cli._messages import fail
from certivote.cli._monitor import monitor
from certivote.cli._predict import predict
from certivote.cli._recertify import recertify
from certivote.cli._report import report
from certivote.cli._reproduce import reproduce
from certivote.cli._verify import verify

__all__ = ["app"]


class _Verbs(TyperGroup):
    """All verbs; where the disk or the memory is full, these too end in one line."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise  # who reads it has read enough: no message
        except OSError as error:  # verbs say by themselves what is wrong with files
            fail(f"standard output: {error.strerror}." if error.strerror else str(error))
        except MemoryError:
            fail("there is not enough memory for this: give fewer rows, columns, classes or voters.")


app = typer.Typer(
    cls=_Verbs,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"certivote {__version__}")
        raise typer.Exit


def _extend(modules: list[str]) -> None:
    """Import what adds to the library, by the name of a module or the path of a file."""
    for name in modules:
        path = Path(name)
        try:
            if path.suffix != ".py":
                import_module(name)
                continue
            spec = spec_from_file_location(path.stem, path)
            assert spec is not None
            assert spec.loader is not None
            sys.path.insert(0, str(path.parent))  # as Python does for a script
            sys.modules[path.stem] = module = module_from_spec(spec)
            spec.loader.exec_module(module)
        except Exception as error:  # whatever a module may raise
            fail(f"--extension {name}: {type(error).__name__}: {error}")


@app.callback()
def main(
    extension: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODULE",
            help="Run this module, or this .py file, first: your own methods, families, voters or promises, which it "
            "registers. Repeat for several.",
        ),
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """A weighted majority vote with a certificate of its own error.

    To complete verbs, options and the columns of your file with Tab, run `certivote --install-completion` once and open
    a new shell. Exit codes: 0, done; 1, the input cannot be used, and one line says why; 2, the command line is wrong;
    3, `certivote monitor` has raised an alarm.
    """
    _extend(extension or [])


def _examples(*lines: str) -> str:
    """An epilogue of the help, one paragraph per example."""
    return "\n\n".join([f"Example{'s' if len(lines) > 1 else ''}:", *(f"`certivote {line}`" for line in lines)])


app.command(
    epilog=_examples(
        "fit patients.csv --target outcome",
        "fit patients.parquet --target outcome --drop note --out certificate.json --model patients.certivote",
        "fit patients.csv --target outcome --method dis-b --voters forest --delta 0.01 --json",
        "fit visits.csv --target outcome --group patient_id",
        "fit sensor.csv --target state --time taken_at",
        "fit patients.csv --target outcome --abstain 0.02 --precision --by sex --by sex,site --together",
        "fit patients.csv --target outcome --sensitivity 0.95 --positive ill --costs costs.csv",
        "fit patienten.csv --target befund --sep ';' --decimal , --encoding latin-1",
        "fit 'rows/*.parquet' --target outcome --engine dask --model patients.certivote",
    )
)(fit)
app.command(
    epilog=_examples(
        "predict patients.certivote new.csv -o answers.csv",
        "predict patients.certivote new.csv -o answers.csv --strict",
        "predict patients.certivote new.csv -o answers.csv --max-error 0.02",
        "predict patients.certivote - < new.csv | head",
    )
)(predict)
app.command(
    epilog=_examples(
        "certify predictions.csv --truth outcome --predicted label",
        "certify predictions.csv --truth outcome --predicted label --group patient_id --out certificate.json "
        "--report report.html",
        "certify predictions.csv --truth outcome --predicted forest --predicted boosting",
        "certify predictions.csv --truth outcome --predicted label --score sureness --abstain 0.02 --by sex",
        "certify new.csv --truth outcome --model patients.certivote --training patients.csv",
        "certify 'predictions/*.parquet' --truth outcome --predicted label --engine dask",
    )
)(certify)
app.command(
    epilog=_examples(
        "monitor patients.certivote outcomes.csv --truth outcome --state monitor.json",
        "monitor patients.certivote outcomes.csv --truth outcome --id patient_id --state monitor.json "
        "--report monitor.html --metrics certivote.prom",
        "monitor certificate.json outcomes.csv --truth outcome --predicted label --state monitor.json",
        "monitor patients.certivote new.csv --state drift.json",
    )
)(monitor)
app.command(
    epilog=_examples(
        "recertify patients.certivote outcomes.csv --truth outcome --out new_certificate.json",
        "recertify patients.certivote outcomes.csv --truth outcome --monitor monitor.json --out new_certificate.json",
        "recertify certificate.json outcomes.csv --truth outcome --predicted label --out new_certificate.json",
    )
)(recertify)
app.command(
    epilog=_examples(
        "carry patients.certivote new.csv --new answers.csv --out new_certificate.json",
        "carry certificate.json new.csv --predicted label --new answers.csv --answers label --out new_certificate.json",
    )
)(carry)
app.command(
    epilog=_examples(
        "label new.csv --model patients.certivote --target 0.1 --state labels.json --labels to_label.csv",
        "label new.csv --model patients.certivote --state labels.json --labels to_label.csv --out proven.json",
        "label new.csv --predicted label --target 0.1 --expected 0.04 --state s.json --labels l.csv --truth outcome",
    )
)(label)
app.command(
    epilog=_examples(
        "compare patients.csv --target outcome", "compare patients.csv --target outcome --method dis-r --method holdout"
    )
)(compare)
app.command(
    epilog=_examples(
        "verify certificate.json",
        "verify patients.certivote --data patients.csv --target outcome",
        "verify certificate.json --model patients.certivote --data patients.csv --target outcome",
        "verify patients.certivote --data patients.csv --target outcome --refit",
        "verify certificate.json --data predictions.csv --truth outcome --predicted label",
        "verify patients.certivote --data 'rows/*.parquet' --engine dask",
        "verify new_certificate.json --earlier patients.certivote",
        "verify proven.json --data new.csv --model patients.certivote --labels to_label.csv",
    )
)(verify)
app.command(
    epilog=_examples(
        "bound --errors 12 --n 500",
        "bound --errors 12 --n 500 --penalty 8 --target 0.04",
        "bound --rate 0.02 --target 0.03 --json",
    )
)(bound)
app.add_typer(datasets, name="datasets")
app.command(
    epilog=_examples(
        "report patients.certivote -o report.html",
        "report patients.certivote -o report.html --data test.csv --target outcome",
    )
)(report)
app.command(epilog=_examples("reproduce --protocol fast --dataset haberman --repeats 3"))(reproduce)
