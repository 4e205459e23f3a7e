"""``certivote fit``."""

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from certivote.cli._shared import (
    AsJson,
    Data,
    Delta,
    Drop,
    Family,
    Loss,
    MethodName,
    Prior,
    Seed,
    Solver,
    Split,
    Target,
    TrainShare,
    Voters,
    check_folder,
    fail,
    on_table,
    table_voters,
)
from certivote.estimator import CertifiedVoteClassifier
from certivote.io import write_atomically

__all__ = ["fit"]


def fit(
    data: Data,
    target: Target,
    drop: Drop = None,
    out: Annotated[Path | None, typer.Option(help="Where to write the certificate as JSON.")] = None,
    model: Annotated[Path | None, typer.Option(help="Where to write the classifier with its certificate.")] = None,
    method: MethodName = "auto",
    voters: Voters = "auto",
    split: Split = "single",
    loss: Loss = "plurality",
    delta: Delta = 0.05,
    family: Family = "dirichlet",
    prior: Prior = "auto",
    solver: Solver = "lbfgs",
    train_share: TrainShare = "auto",
    tau: Annotated[float, typer.Option(help="With --split cross: weight of the first vote in the average.")] = 0.5,
    renyi_order: Annotated[
        list[float] | None,
        typer.Option(
            metavar="NUMBER",
            help="Order of the Rényi divergence of dis-v; repeat to choose among several.  [default: 1.5]",
        ),
    ] = None,
    n_draws: Annotated[int, typer.Option(help="Votes to draw. The best is kept, and all are paid for.")] = 1,
    constant: Annotated[
        Literal["exact", "paper"],
        typer.Option(help="In the bound: Maurer's constant itself, or 2 sqrt(n) as in the paper, which is larger."),
    ] = "exact",
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Learn a vote from a table and print its certificate.

    The training rows alone decide what a column holds (numbers, dates or categories), which categories there are and
    what fills missing values, so that the certification rows stay unseen. All this is saved with the model.
    """
    check_folder("--out", out)
    check_folder("--model", model)
    if model is not None and find_spec("skops") is None:
        fail("--model: saving needs the package skops: install certivote[persist].")
    parameters: dict[str, Any] = {
        "method": method,
        "voters": table_voters(voters, method),
        "split": split,
        "loss": loss,
        "delta": delta,
        "family": family,
        "prior": prior,
        "solver": solver,
        "train_share": train_share,
        "tau": tau,
        "renyi_order": renyi_order or 1.5,
        "n_draws": n_draws,
        "constant": constant,
        "random_state": seed,
        "verbose": True,
    }
    clf = on_table(data, target, drop, lambda X, y: CertifiedVoteClassifier(**parameters).fit(X, y))
    try:
        if out is not None:
            write_atomically(out, f"{clf.certificate_.to_json()}\n".encode())
        if model is not None:
            clf.save(model)
    except OSError as error:
        fail(str(error))
    typer.echo(clf.certificate_.to_json() if as_json else f"{clf.certificate_}\n")
    for what, path in (("Certificate", out), ("Classifier", model)):
        if path is not None:
            typer.echo(f"{what} written to {path}.", err=as_json)
