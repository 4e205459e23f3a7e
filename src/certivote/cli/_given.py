"""Certificates of models that were given: what their records say of the table that the answers came from."""

import json
import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from certivote.certificate import Certificate, UsedRows, part_digest, row_keys
from certivote.cli._messages import fail
from certivote.cli._options import Options
from certivote.cli._outputs import Page, Wording, is_standard_output, show_certificate, write_certificate
from certivote.cli._tables import Column, check_group_or_time, column
from certivote.io import Table, TableFile, column_names, read_predictions, same_labels
from certivote.promises import Abstention, Subgroups

_MODEL_FILE = ".certivote"


def model_names(certificate: Certificate) -> tuple[str, ...]:
    """Names of the models that were given, or of the columns of their answers; none for a vote that was fitted."""
    if not certificate.is_given:
        return ()
    try:
        names = json.loads(dict(certificate.provenance.parameters)["models"])
    except (KeyError, ValueError, RecursionError):  # a record may come from anywhere
        return ()
    return tuple(names) if isinstance(names, list) and all(isinstance(name, str) for name in names) else ()


Columns = tuple[str, str | None, str | None]
"""Those of the true classes, of groups and of times."""


RecordedScore = Annotated[
    str | None,
    column(help="For certificates of answers with promises about how sure they are: the column that says so."),
]


@dataclass(frozen=True, kw_only=True)
class KnownColumns(Options):
    """Columns of the rows that a certificate is about, or of others like them: mostly named by the certificate.

    Attributes
    ----------
    target
        Column that holds the true classes. [default: the one that the certificate names, if the table has it]
    predicted
        For certificates of given models: column that holds the answers of one; repeat for several, in their order.
        [default: columns of the models' names]
    group
        Column that says what each row belongs to, such as a patient. Not a feature. [default: the one that the
        certificate names, if the table has it]
    time
        Column that says when each row was taken, by numbers or dates. Not a feature. [default: the one that the
        certificate names, if the table has it]
    """

    target: Annotated[str | None, column("--target", "--truth")] = None
    predicted: Annotated[list[str] | None, column()] = None
    group: Column = None
    time: Column = None

    def check(self, data: Path | None) -> None:
        """End if columns are named of a table that is not given, or two that exclude one another."""
        check_group_or_time(self.group, self.time)
        for option in self.about_rows() if data is None else ():
            fail(f"{option}: give --data with it, the table that has this column.")

    def about_rows(self) -> dict[str, Any]:
        """What was given that says something about the rows of a table."""
        return self.given()

    def truth(self, certificate: Certificate) -> str:
        """The column of the true classes, which the certificate may name."""
        truth = self.target or certificate.provenance.target
        if not truth:
            fail("--target: the certificate does not name the column of the true classes; give it.")
        return truth

    def columns(self, certificate: Certificate, file: TableFile) -> Columns:
        """The columns that were asked for, or else those that the certificate names, where the table has them."""
        names, truth = column_names(file), self.truth(certificate)
        if self.group is not None or self.time is not None:
            return truth, self.group, self.time
        group, time = (name if name and name in names else None for name in (certificate.groups, certificate.order))
        return truth, group, time


@dataclass(frozen=True, kw_only=True)
class RecordedGrouping(Options):
    """Groups or times of rows by which a model is certified again: as before, unless it is said otherwise.

    Attributes
    ----------
    group
        Column that says what each row belongs to, such as a patient. Not a feature. The certificate is about a random
        row of a new one. [default: the one that the certificate of the model names]
    time
        Column that says when each row was taken, by numbers or dates. Not a feature. The certificate then shows whether
        errors grew in that time. [default: the one that the certificate of the model names]
    no_groups
        Certify rows as if they were independent, though the model was certified with groups.
    no_time
        Say nothing of time, though the model was certified for a time.
    """

    group: Column = None
    time: Column = None
    no_groups: bool = False
    no_time: bool = False

    def __post_init__(self) -> None:
        check_group_or_time(self.group, self.time)

    def columns(self, earlier: Certificate | None, file: TableFile) -> dict[str, str | None]:
        """As the readers of tables take them; ``earlier`` is None where answers are all that is known."""
        group, time = self.group, self.time
        for name, named, left_out in (("group", group, self.no_groups), ("time", time, self.no_time)):
            option = "--no-groups" if name == "group" else "--no-time"
            if left_out and (named is not None or earlier is None):
                fail(f"{option}: {f'--{name} is given' if named is not None else 'there is no certificate before'}.")
        if earlier is None:
            return {"group": group, "time": time}
        names = column_names(file)
        if earlier.groups and group is None and not self.no_groups:
            if time is not None or earlier.groups not in names:
                fail(
                    f"--group: the model was certified with groups, by {earlier.groups!r:.80}; name the column of "
                    f"{file} that says what each row belongs to, or give --no-groups to certify rows as if they were "
                    "independent."
                )
            group = earlier.groups
        if earlier.order and group is None and time is None and not self.no_time:
            if earlier.order not in names:
                fail(
                    f"--time: the model was certified for a time, by {earlier.order!r:.80}; name the column of {file} "
                    "that says when each row was taken, or give --no-time for a certificate that says nothing of time."
                )
            time = earlier.order
        return {"group": group, "time": time}


def rows_of_answers(
    certificate: Certificate, file: TableFile, columns: Columns, predicted: list[str] | None, score: str | None = None
) -> tuple[Table, Any]:
    """True classes and answers as certified, by the names of the models; features if the record is about them.

    Where no columns of answers are named, those that are called as the models are. The second value is the columns by
    which promises make groups, if the record is about answers only; or None.
    """
    names, models = column_names(file), model_names(certificate)
    absent = [name for name in models if name not in names]
    if not predicted and absent:
        fail(f"--predicted: {file} has no column {absent[0]!r:.80}; name the column with the answers of that model.")
    chosen = predicted or list(models)
    if len(chosen) != len(models):
        fail(
            f"--predicted: {len(chosen)} {'column is' if len(chosen) == 1 else 'columns are'} given, and the "
            f"certificate is about {len(models)} models; name a column for each, in this order: "
            f"{', '.join(models):.400}."
        )
    recorded = certificate.provenance
    known = recorded.source and certificate.subject == "models" and set(recorded.columns) <= set(names)
    features = recorded.columns if known else ()
    beside = [] if features else [name for name in columns_of_groups(certificate) if name in names]
    truth, group, time = columns
    read = read_predictions(file, truth, chosen, features or beside, group=group, time=time, score=score)
    answers = {name: read.predicted[column] for name, column in zip(models, chosen, strict=True)}
    return replace(read, X=read.X if features else None, predicted=answers), read.X if beside else None


def columns_of_groups(certificate: Certificate) -> list[str]:
    """The columns by which promises make groups."""
    made = [each for each in certificate.promises if each.name == Subgroups.name]
    return list(dict.fromkeys(fixed.what for each in made for fixed in each.fixed))


def as_test(certificate: Certificate, read: Table) -> dict[str, Any]:
    """True classes and answers as the certificate calls them, and how many of the rows it was made from."""
    answers = [series.tolist() for series in read.predicted.values()]
    rows = np.array([[str(label) for label in row] for row in zip(*answers, strict=True)], dtype=object)
    labels = np.array([str(label) for label in read.y], dtype=object)
    used, only_answers = None, certificate.subject == "answers"
    if only_answers or read.X is not None:
        keys, part = row_keys(rows if only_answers else read.X), certificate.deployed_part
        if part_digest(keys, labels, np.arange(len(labels))) == part.certification_digest:
            used = UsedRows(len(labels), len(labels), found=True, trained=None, certified=len(labels))
    names = same_labels({*labels, *rows.ravel()}, certificate.classes)
    said = [[names[label] for label in column] for column in rows.T]
    truth = [names[label] for label in labels]
    return {"truth": truth, "answers": said[0] if len(said) == 1 else certificate.combine(said), "used": used}


def verify_command(certificate: Certificate, name: str, score: str | None = None) -> str:
    """How to verify a certificate that is in a file of this name, with the options that its record tells.

    Which column says how sure the answers are, it does not tell.
    """
    models = model_names(certificate)
    words = ["certivote", "verify", name]
    if not models:
        return shlex.join(words)
    words += ["--data", certificate.provenance.source or "ROWS.csv"]
    if certificate.provenance.target:
        words += ["--truth", certificate.provenance.target]
    if len(models) == 1 and Path(models[0]).suffix == _MODEL_FILE:
        words += ["--model", models[0]]
    elif certificate.provenance.source:
        words += [word for model in models for word in ("--predicted", model)]
    if certificate.subject == "answers" and any(promise.name == Abstention.name for promise in certificate.promises):
        score = score or "SCORE"
    units = {"--group": certificate.groups, "--time": certificate.order, "--score": score}
    words += [word for option, named in units.items() if named for word in (option, named)]
    return shlex.join(words)


def write_and_show(
    certificate: Certificate, out: Path | None, page: Page, printing: Wording, score: str | None = None
) -> None:
    """Write a certificate, its page, and say so."""
    write_certificate(certificate, out)
    name = "certificate.json" if out is None or is_standard_output(out) else out.name
    page.write(certificate, verify_command(certificate, name, score), printing.unit)
    show_certificate(certificate, printing, {"Certificate": out, "Report": page.report})
