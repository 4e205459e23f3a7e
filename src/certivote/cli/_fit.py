"""``certivote fit``."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from certivote.cli._engine import Engine, Scheduler, check_engine, in_pieces
from certivote.cli._inputs import (
    Data,
    DecimalMark,
    Drop,
    Encoding,
    Group,
    Separator,
    Target,
    Time,
    check_group_or_time,
    columns_beside,
    on_table,
    table_file,
)
from certivote.cli._outputs import check_files, is_standard_output, show_certificate, write_certificate, writing
from certivote.cli._promises import (
    Abstain,
    AbstainCurve,
    By,
    CostsFile,
    Positive,
    PrecisionOfAnswers,
    SensitivityAtLeast,
    Sets,
    Together,
    asked_promises,
    check_classes,
    columns_by,
    costs_file,
)
from certivote.cli._shared import (
    AsJson,
    Delta,
    Family,
    Loss,
    MethodName,
    Prior,
    Quiet,
    Seed,
    Solver,
    Split,
    TrainShare,
    Voters,
    fail,
    table_voters,
)
from certivote.io import Table, read_table
from certivote.promises import Promise

__all__ = ["fit"]


def fit(
    data: Data,
    target: Target,
    drop: Drop = None,
    group: Group = None,
    time: Time = None,
    sep: Separator = None,
    decimal: DecimalMark = None,
    encoding: Encoding = None,
    out: Annotated[Path | None, typer.Option(help="Where to write the certificate as JSON; - prints it.")] = None,
    model: Annotated[Path | None, typer.Option(help="Where to write the classifier with its certificate.")] = None,
    method: MethodName = "auto",
    voters: Voters = "auto",
    split: Split = "auto",
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
    abstain: Abstain = None,
    abstain_curve: AbstainCurve = None,
    precision: PrecisionOfAnswers = False,
    sensitivity: SensitivityAtLeast = None,
    positive: Positive = None,
    by: By = None,
    costs: CostsFile = None,
    sets: Sets = None,
    together: Together = False,
    engine: Engine = "memory",
    scheduler: Scheduler = None,
    seed: Seed = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Learn a vote from a table and print its certificate.

    The training rows alone decide what a column holds (numbers, dates or categories), which categories there are and
    what fills missing values, so that the certification rows stay unseen. All this is saved with the model.

    With --engine dask the table may be larger than memory, and several files. The voters are then fitted on at most
    100,000 training rows, the weights are learned from at most a million certification rows, and all are counted.
    """
    file = table_file(data, sep, decimal, encoding)
    check_group_or_time(group, time)
    if is_standard_output(model):
        fail("--model: a classifier is no text to print; give the name of a file.")
    pieces = check_engine(
        engine,
        scheduler,
        {
            "--group": group,
            "--time": time,
            "--split": split not in ("auto", "single"),
            "--tau": tau != 0.5,
            "--abstain": abstain is not None,
            "--abstain-curve": abstain_curve is not None,
            "--sensitivity": sensitivity is not None,
            "--positive": positive,
            "--by": by,
            "--costs": costs,
            "--sets": sets is not None,
        },
    )
    if not pieces:
        check_files({"DATA": data, "--costs": costs}, {"--out": out, "--model": model})
    promises = asked_promises(
        abstain=abstain,
        abstain_curve=abstain_curve,
        precision=precision,
        sensitivity=sensitivity,
        positive=positive,
        by=columns_by(by, file, _no_features(target, drop, group, time)),
        costs=costs_file(costs, data, sep, decimal, encoding),
        sets=sets,
    )
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
        "promises": list(promises.values()),
        "together": together,
        "random_state": seed,
        "verbose": not quiet,
    }
    if pieces:
        clf, source = _fitted_in_pieces(
            data, target, drop or (), (sep, decimal, encoding), {"--out": out, "--model": model}, scheduler, parameters
        )
    else:
        clf, digest = on_table(
            file,
            quiet,
            lambda: read_table(file, target, drop or (), group=group, time=time),
            lambda read: _fitted(read, columns_beside(file, target, drop or ()), promises, parameters),
        )
        source = file.name, digest
    clf.certificate_ = clf.certificate_.with_source(*source)
    write_certificate(clf.certificate_, out)
    if model is not None:
        with writing("--model", model):
            clf.save(model)
    show_certificate(clf.certificate_, as_json, quiet, {"Certificate": out, "Classifier": model})


def _fitted(read: Table, beside: Any, promises: Mapping[str, Promise], parameters: dict[str, Any]) -> Any:
    from certivote.estimator import CertifiedVoteClassifier

    check_classes(promises, read.y)
    return CertifiedVoteClassifier(**parameters).fit(read.X, read.y, groups=read.groups, order=read.order, table=beside)


def _fitted_in_pieces(
    data: Path,
    target: str,
    drop: Sequence[str],
    written: tuple[str | None, str | None, str | None],
    outputs: Mapping[str, Path | None],
    scheduler: str | None,
    parameters: dict[str, Any],
) -> tuple[Any, tuple[str, str]]:
    """The classifier, and what its certificate records of the files."""
    with in_pieces(data, written, outputs, scheduler, not parameters["verbose"]) as work:
        from certivote.dask import DaskCertifiedVoteClassifier, frame_of

        table, source = work.table(target, drop=drop), work.source()
        rows = frame_of(table)
        own = {name: value for name, value in parameters.items() if name not in ("split", "tau")}
        clf = DaskCertifiedVoteClassifier(work.client, **own).fit(rows[list(table.layout.kept)], rows[target])
        return clf.to_local(), source


def _no_features(target: str, drop: list[str] | None, group: str | None, time: str | None) -> dict[str, str]:
    """Columns that the model does not read, and why: groups are of columns that it reads."""
    besides = dict.fromkeys(drop or (), "is dropped, and groups are of columns that the model reads")
    for name in (group, time):
        if name is not None:
            besides[name] = "is no feature, and groups are of columns that the model reads"
    return {**besides, target: "holds the classes, which have bounds of their own in every certificate"}
