"""``certivote fit``."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from certivote.cli._columns import ColumnOptions, show_columns
from certivote.cli._engine import Engine
from certivote.cli._learning import Learning
from certivote.cli._messages import fail
from certivote.cli._options import verb
from certivote.cli._outputs import (
    Out,
    Wording,
    check_files,
    is_standard_output,
    show_certificate,
    write_certificate,
    writing,
)
from certivote.cli._promises import PromiseOptions, check_classes
from certivote.cli._tables import Data, Drop, Grouping, TableFormat, Target, columns_beside, work_on
from certivote.io import read_table


@verb
def fit(
    *,
    data: Data,
    target: Target,
    drop: Drop = None,
    units: Grouping,
    form: TableFormat,
    columns: ColumnOptions,
    out: Out = None,
    model: Path | None = None,
    learning: Learning,
    promises: PromiseOptions,
    engine: Engine,
    printing: Wording,
) -> None:
    """Learn a vote from a table and print its certificate.

    The training rows alone decide what a column holds (numbers, dates or categories), how it is written, which
    categories there are and what fills missing values, so that the certification rows stay unseen. All this is saved
    with the model, and printed if it is not obvious.

    With --engine dask the table may be larger than memory, and several files. The voters are then fitted on at most
    100,000 training rows, the weights are learned from at most a million certification rows, and all are counted.

    Parameters
    ----------
    model
        Where to write the classifier with its certificate.
    """
    file = form.file(data)
    if is_standard_output(model):
        fail("--model: this writes a binary file; give a file name.")
    outputs = {"--out": out, "--model": model}
    pieces = engine.in_pieces({**units.given(), **learning.of_all_rows(), **promises.of_all_rows()})
    if not pieces:
        check_files({"DATA": data, "--costs": promises.costs}, outputs)
    asked = promises.asked(file, form, _no_features(target, drop, units))
    parameters = {
        **learning.parameters(columns, form.decimal),
        "promises": list(asked.values()),
        "together": promises.together,
        "verbose": not printing.quiet,
    }
    if pieces:
        clf, source = _fitted_in_pieces(data, target, drop or (), form, outputs, engine, parameters)
    else:
        from certivote.estimator import CertifiedVoteClassifier

        with work_on(file, printing.quiet):
            read = read_table(file, target, drop or (), **units.columns())
            rows = {"groups": read.groups, "order": read.order, "table": columns_beside(file, target, drop or ())}
            check_classes(asked, read.y)
            clf = CertifiedVoteClassifier(**parameters).fit(read.X, read.y, **rows)
            if not printing.quiet:
                show_columns(clf, read.X)
        source = file.name, read.digest
    clf.certificate_ = clf.certificate_.with_source(*source)
    write_certificate(clf.certificate_, out)
    if model is not None:
        with writing("--model", model):
            clf.save(model)
    show_certificate(clf.certificate_, printing, {"Certificate": out, "Classifier": model})


def _fitted_in_pieces(
    data: Path,
    target: str,
    drop: Sequence[str],
    form: TableFormat,
    outputs: Mapping[str, Path | None],
    engine: Engine,
    parameters: dict[str, Any],
) -> tuple[Any, tuple[str, str]]:
    """The classifier, and what its certificate records of the files."""
    with engine.pieces(data, form, outputs, quiet=not parameters["verbose"]) as work:
        from certivote.dask import DaskCertifiedVoteClassifier, frame_of

        table, source = work.table(target, drop=drop), work.source()
        rows = frame_of(table)
        clf = DaskCertifiedVoteClassifier(work.client, **parameters).fit(rows[list(table.layout.kept)], rows[target])
        return clf.to_local(), source


def _no_features(target: str, drop: list[str] | None, units: Grouping) -> dict[str, str]:
    """Columns that the model does not read, and why: groups are of columns that it reads."""
    others = dict.fromkeys(drop or (), "is dropped, and this option takes columns that the model reads")
    for name in units.columns().values():
        if name is not None:
            others[name] = "is not a feature, and this option takes columns that the model reads"
    return {**others, target: "holds the classes, which have bounds of their own in every certificate"}
