"""``certivote fit``."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from certivote.cli._shared import (
    Data,
    Delta,
    Loss,
    MethodName,
    Prior,
    Seed,
    Solver,
    Split,
    Target,
    TeachShare,
    Voters,
    fail,
    on_table,
)
from certivote.estimator import CertifiedVoteClassifier
from certivote.files import write_whole

__all__ = ["fit"]


def fit(
    data: Data,
    target: Target,
    out: Annotated[Path | None, typer.Option(help="Where to write the certificate as JSON.")] = None,
    model: Annotated[Path | None, typer.Option(help="Where to write the classifier with its certificate.")] = None,
    method: Annotated[MethodName, typer.Option(help="Bound to minimise and certify by.")] = "auto",
    voters: Voters = "auto",
    split: Split = "single",
    loss: Loss = "plurality",
    delta: Delta = 0.05,
    prior: Prior = "auto",
    solver: Solver = "lbfgs",
    teach_share: TeachShare = "auto",
    tau: Annotated[float, typer.Option(help="Weight of the first vote in the average of a cross split.")] = 0.5,
    renyi_order: Annotated[
        list[float] | None,
        typer.Option(help="Order of the Rényi divergence of dis-v; repeat to choose among several.  [default: 1.5]"),
    ] = None,
    n_draws: Annotated[int, typer.Option(help="Votes to draw; the best is kept, and all are paid for.")] = 1,
    constant: Annotated[
        Literal["paper", "exact"], typer.Option(help="2 sqrt(n) as in the theorems, or Maurer's smaller constant.")
    ] = "exact",
    seed: Seed = 0,
) -> None:
    """Learn a vote from a CSV file and print its certificate."""
    for option, path in (("--out", out), ("--model", model)):
        if path is not None and not path.parent.is_dir():
            fail(f"{option}: the folder {path.parent} does not exist.")
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
        "renyi_order": renyi_order or 1.5,
        "n_draws": n_draws,
        "constant": constant,
        "random_state": seed,
        "verbose": True,
    }
    clf = on_table(data, target, lambda X, y: CertifiedVoteClassifier(**parameters).fit(X, y))
    typer.echo(str(clf.certificate_))
    if out is not None:
        write_whole(out, f"{clf.certificate_.to_json()}\n".encode())
        typer.echo(f"\nCertificate written to {out}.")
    if model is not None:
        clf.save(model)
        typer.echo(f"Classifier written to {model}.")
