"""Certificates of models that were given: what their records say of the table that the answers came from."""

import json
import shlex
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from certivote.certificate import Certificate, UsedRows, part_digest, row_keys
from certivote.cli._shared import fail
from certivote.io import Table, TableError, TableFile, column_names, read_predictions, same_labels
from certivote.promises import Abstention, Subgroups

_MODEL_FILE = ".certivote"


@dataclass(frozen=True)
class GivenModels:
    """The models that a certificate is about.

    Attributes
    ----------
    names : tuple of str
        Of the models; where their answers came from a table, of its columns.
    only_answers : bool
        Whether nothing but the answers was known.
    """

    names: tuple[str, ...]
    only_answers: bool


def given_models(certificate: Certificate) -> GivenModels | None:
    """The models that were given; None if the certificate is of a vote that was fitted."""
    if not certificate.is_given:
        return None
    with suppress(KeyError, ValueError, RecursionError):
        names = json.loads(dict(certificate.provenance.parameters)["models"])
        if isinstance(names, list) and names and all(isinstance(name, str) for name in names):
            return GivenModels(tuple(names), certificate.subject == "answers")
    return None


@dataclass(frozen=True)
class RecordedColumns:
    """Columns of a table by what they are for."""

    truth: str
    group: str | None
    time: str | None


def recorded_columns(
    certificate: Certificate, file: TableFile, truth: str | None, group: str | None, time: str | None
) -> RecordedColumns:
    """The columns that were asked for, or else those that the certificate names, where the table has them."""
    names = column_names(file)
    truth = truth or certificate.provenance.target
    if not truth:
        fail("--target: the certificate does not name the column of the true classes; give it.")
    if group is None and time is None:
        group, time = (name if name and name in names else None for name in (certificate.groups, certificate.order))
    return RecordedColumns(truth, group, time)


def units_again(
    earlier: Certificate | None, file: TableFile, group: str | None, time: str | None, no_groups: bool, no_time: bool
) -> tuple[str | None, str | None]:
    """The columns of groups and of times with which a vote is certified again: as before, unless it is said otherwise.

    ``earlier`` is None where answers are all that is known.
    """
    for name, column, left_out in (("group", group, no_groups), ("time", time, no_time)):
        option = "--no-groups" if name == "group" else "--no-time"
        if left_out and (column is not None or earlier is None):
            fail(f"{option}: {f'--{name} is given' if column is not None else 'there is no certificate before'}.")
    if earlier is None:
        return group, time
    names = column_names(file)
    if earlier.groups and group is None and not no_groups:
        if time is not None or earlier.groups not in names:
            fail(
                f"--group: the model was certified with groups, by {earlier.groups!r:.80}; name the column of {file} "
                "that says what each row belongs to, or give --no-groups to certify rows as if they were independent."
            )
        group = earlier.groups
    if earlier.order and group is None and time is None and not no_time:
        if earlier.order not in names:
            fail(
                f"--time: the model was certified for a time, by {earlier.order!r:.80}; name the column of {file} that "
                "says when each row was taken, or give --no-time for a certificate that says nothing of time."
            )
        time = earlier.order
    return group, time


def rows_of_answers(
    certificate: Certificate,
    given: GivenModels,
    file: TableFile,
    columns: RecordedColumns,
    predicted: list[str] | None,
    score: str | None = None,
) -> tuple[Table, Any]:
    """True classes and answers as certified, by the names of the models; features if the record is about them.

    Where no columns of answers are named, those that are called as the models are. Beside it, the columns of a record
    about nothing but answers by which its promises make groups, or None.
    """
    names = column_names(file)
    absent = [name for name in given.names if name not in names]
    if not predicted and absent:
        fail(f"--predicted: {file} has no column {absent[0]!r:.80}; name the column with the answers of that model.")
    chosen = predicted or list(given.names)
    if len(chosen) != len(given.names):
        fail(
            f"--predicted: {len(chosen)} {'column is' if len(chosen) == 1 else 'columns are'} given, and the "
            f"certificate is about {len(given.names)} models; name a column for each, in this order: "
            f"{', '.join(given.names):.400}."
        )
    recorded = certificate.provenance
    known = recorded.source and not given.only_answers and set(recorded.columns) <= set(names)
    features = recorded.columns if known else ()
    beside = [] if features else [name for name in columns_of_groups(certificate) if name in names]
    units: dict[str, Any] = {"group": columns.group, "time": columns.time, "score": score}
    read = read_predictions(file, columns.truth, chosen, features or beside, **units)
    answers = {name: read.predicted[column] for name, column in zip(given.names, chosen, strict=True)}
    return replace(read, X=read.X if features else None, predicted=answers), read.X if beside else None


def columns_of_groups(certificate: Certificate) -> list[str]:
    """The columns by which promises make groups."""
    made = [each for each in certificate.promises if each.name == Subgroups.name]
    return list(dict.fromkeys(fixed.what for each in made for fixed in each.fixed))


def as_test(certificate: Certificate, given: GivenModels, read: Table) -> dict[str, Any]:
    """True classes and answers as the certificate calls them, and how many of the rows it was made from."""
    answers = [series.tolist() for series in read.predicted.values()]
    rows = np.array([[str(label) for label in row] for row in zip(*answers, strict=True)], dtype=object)
    labels = np.array([str(label) for label in read.y], dtype=object)
    used = None
    if given.only_answers or read.X is not None:
        keys, part = row_keys(rows if given.only_answers else read.X), certificate.deployed_part
        if part_digest(keys, labels, np.arange(len(labels))) == part.certification_digest:
            used = UsedRows(len(labels), len(labels), found=True, trained=None, certified=len(labels))
    names = same_labels({*labels, *rows.ravel()}, certificate.classes)
    said = [[names[label] for label in column] for column in rows.T]
    truth = [names[label] for label in labels]
    return {"truth": truth, "answers": said[0] if len(said) == 1 else certificate.combine(said), "used": used}


def common_columns(file: TableFile, training: TableFile, besides: Sequence[str | None]) -> list[str]:
    """Columns that both files have, besides some."""
    there = set(column_names(training)) - {"", *besides}
    found = [name for name in column_names(file) if name in there]
    if not found:
        fail(
            f"--training: {training} and {file} have no other column in common than those of classes, answers, groups "
            "and times, so their rows cannot be compared."
        )
    return found


def read_beside_others(
    file: TableFile, truth: str, predicted: Sequence[str], needed: Sequence[str], **sides: str | None
) -> Table:
    """True classes and answers, with all other columns, in which one may see that rows belong together.

    What these hold is no reason to refuse the answers: where they cannot be read, a warning says so, and only those
    that are needed are taken. ``sides`` are the columns of groups, times and scores.
    """
    others = [name for name in column_names(file) if name not in ("", truth, *predicted, *sides.values())]
    try:
        return read_predictions(file, truth, predicted, list(dict.fromkeys([*others, *needed])), **sides)
    except TableError as error:
        read = read_predictions(file, truth, predicted, needed, **sides)
        warnings.warn(f"Whether rows belong together was not looked for in the other columns: {error}", stacklevel=2)
        return read


def verify_command(certificate: Certificate, name: str, score: str | None = None) -> str:
    """How to verify a certificate that is in a file of this name, with the options that its record tells.

    Which column says how sure the answers are, it does not tell.
    """
    given = given_models(certificate)
    words = ["certivote", "verify", name]
    if given is None:
        return shlex.join(words)
    words += ["--data", certificate.provenance.source or "ROWS.csv"]
    if certificate.provenance.target:
        words += ["--truth", certificate.provenance.target]
    if len(given.names) == 1 and Path(given.names[0]).suffix == _MODEL_FILE:
        words += ["--model", given.names[0]]
    elif certificate.provenance.source:
        words += [word for model in given.names for word in ("--predicted", model)]
    if given.only_answers and any(promise.name == Abstention.name for promise in certificate.promises):
        score = score or "SCORE"
    for option, column in (("--group", certificate.groups), ("--time", certificate.order), ("--score", score)):
        words += [option, column] if column else []
    return shlex.join(words)
