"""The command line: one verb a function."""

import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

import typer

from certivote._version import __version__
from certivote.compare import run_comparison
from certivote.csv_table import TableError, read_csv
from certivote.estimator import CertifiedVoteClassifier

__all__ = ["app"]

MethodName = Literal["dis-r", "dis-v", "smv-exact", "smv-mc", "fo", "so", "bin", "c-bound", "holdout"]

# Options that several verbs share.
Data = Annotated[Path, typer.Argument(help="CSV file with a header line; all columns but the target numeric.")]
Target = Annotated[str, typer.Option(help="Column that holds the classes.")]
Voters = Annotated[Literal["forest", "stumps"], typer.Option(help="Who votes.")]
Split = Annotated[
    Literal["single", "cross"], typer.Option(help="Voters from one part and certificate on the other, or both ways.")
]
Loss = Annotated[Literal["plurality", "half-weight"], typer.Option(help="What counts as an error.")]
Delta = Annotated[float, typer.Option(help="Probability with which a certificate may fail.")]
Prior = Annotated[float, typer.Option(help="Concentration of the hyper-prior, the same for every voter.")]
Solver = Annotated[Literal["lbfgs", "adam"], typer.Option(help="Optimiser of the bound.")]
Seed = Annotated[
    int, typer.Option(min=0, help="Seed. Fitting with several and keeping the best voids the certificate.")
]

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


@app.command(epilog="Example: `certivote fit patients.csv --target outcome --out certificate.json`")
def fit(
    data: Data,
    target: Target,
    out: Annotated[Path | None, typer.Option(help="Where to write the certificate as JSON.")] = None,
    method: Annotated[MethodName, typer.Option(help="Bound to minimise and certify by.")] = "dis-r",
    voters: Voters = "forest",
    split: Split = "single",
    loss: Loss = "plurality",
    delta: Delta = 0.05,
    prior: Prior = 0.5,
    solver: Solver = "lbfgs",
    teach_share: Annotated[float, typer.Option(help="Share of the rows that teach the voters.")] = 0.5,
    tau: Annotated[float, typer.Option(help="Weight of the first vote in the average of a cross split.")] = 0.5,
    renyi_order: Annotated[float, typer.Option(help="Order of the Rényi divergence of dis-v.")] = 1.5,
    constant: Annotated[
        Literal["paper", "exact"], typer.Option(help="2 sqrt(n) as in the theorems, or Maurer's smaller constant.")
    ] = "paper",
    seed: Seed = 0,
) -> None:
    """Learn a vote from a CSV file and print its certificate."""
    if out is not None and not out.parent.is_dir():
        _fail(f"--out: the folder {out.parent} does not exist.")
    parameters: dict[str, Any] = {
        "method": method,
        "voters": voters,
        "split": split,
        "loss": loss,
        "delta": delta,
        "prior": prior,
        "solver": solver,
        "teach_share": teach_share,
        "tau": tau,
        "renyi_order": renyi_order,
        "constant": constant,
        "random_state": seed,
        "verbose": True,
    }
    clf = _on_table(data, target, lambda X, y: CertifiedVoteClassifier(**parameters).fit(X, y))
    typer.echo(str(clf.certificate_))
    if out is not None:
        _write_whole(out, clf.certificate_.to_json() + "\n")
        typer.echo(f"\nCertificate written to {out}.")


@app.command(epilog="Example: `certivote compare patients.csv --target outcome --method dis-r --method holdout`")
def compare(
    data: Data,
    target: Target,
    method: Annotated[
        list[str] | None, typer.Option(help="Method to compare; repeat for several. All, if none is given.")
    ] = None,
    joint: Annotated[
        bool, typer.Option("--joint", help="Divide delta among the methods, so that the best may be picked.")
    ] = False,
    voters: Voters = "forest",
    split: Split = "single",
    loss: Loss = "plurality",
    delta: Delta = 0.05,
    prior: Prior = 0.5,
    solver: Solver = "lbfgs",
    seed: Seed = 0,
) -> None:
    """Fit several methods to one split of a CSV file and print their certificates side by side."""
    parameters: dict[str, Any] = {
        "voters": voters,
        "split": split,
        "loss": loss,
        "delta": delta,
        "prior": prior,
        "solver": solver,
        "random_state": seed,
        "verbose": True,
    }
    typer.echo(
        str(_on_table(data, target, lambda X, y: run_comparison(X, y, method or None, joint=joint, **parameters)))
    )


def _on_table(path: Path, target: str, work: Callable[[Any, Any], Any]) -> Any:
    """Read the file and do the work; bad data and bad parameters end in one line, warnings are shown plainly."""
    try:
        table = read_csv(path, target)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            result = work(table.X, table.y)
    except TableError as error:
        _fail(str(error))
    except ValueError as error:
        _fail(f"{path}: {error}")
    for warning in caught:
        typer.echo(f"certivote: warning: {warning.message}", err=True)
    return result


def _fail(message: str) -> NoReturn:
    typer.echo(f"certivote: {message}", err=True)
    sys.exit(1)


def _write_whole(path: Path, text: str) -> None:
    """Write a file at once: readers see the old content or the new, never a part."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
