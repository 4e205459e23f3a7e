"""Records of other kinds than a certificate of a vote, in words: labels until it is proven, and a changed model."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from certivote.certificate import (
    CarriedCertificate,
    Record,
    StoppedCertificate,
    confidence,
    counted,
    percent_down,
    percent_up,
    plain_percent,
    units,
)
from certivote.present._plain import plain
from certivote.present._provenance import seed_words
from certivote.present._terminal import fact_lines, filled
from certivote.present.page import write_page

Rows = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class RecordFacts:
    """What is said of a record.

    Attributes
    ----------
    bound : str
        The number that everybody reads.
    promise : str
    rows : tuple of (str, str)
    assumptions : tuple of str
    """

    bound: str
    promise: str
    rows: Rows
    assumptions: tuple[str, ...]


def record_facts(record: Record) -> RecordFacts:
    """What is said of it; texts that came from anywhere made plain."""
    found: RecordFacts = plain(_VIEWS[type(record)](record))
    return found


def record_text(record: Record) -> str:
    """For a terminal."""
    said = record_facts(record)
    return "\n\n".join([filled(said.promise), fact_lines(said.rows)])


def write_record(record: Record, path: str | os.PathLike[str], *, title: str, command: str) -> None:
    """Write a record as one HTML file, which replaces an existing one when it is complete."""
    given = {
        "what": "Certificate",
        "title": plain(title),
        "said": record_facts(record),
        "command": plain(command).split(" "),
        "digest": record.digest,
    }
    write_page(path, "page/record.html.jinja", given)


def _stopped(c: StoppedCertificate) -> RecordFacts:
    about = "on the rows of this pool" if c.certified == "pool" else "on new rows"
    seen = f"{counted(c.errors, 'wrong answer')} in {counted(c.n, 'label')}"
    limit = f"the error of this model {about} is at most {percent_up(c.bound)}"
    if c.proven:
        promise = f"With {confidence(c.delta)} confidence, {limit}: labelling went on until that was proven, {seen}."
    elif c.bound < 1.0:
        promise = (
            f"The target of {100 * c.target:.10g} % is not proven. With {confidence(c.delta)} confidence, {limit}."
        )
    else:
        promise = f"Nothing is proven of the error of this model {about}: {seen} do not show that it is at most "
        promise += f"{100 * c.target:.10g} %."
    order = f"in random order from {counted(c.provenance.n_rows, 'row')} ({seed_words(c.provenance)})"
    rows = [
        ("observed error", f"{plain_percent(c.errors / c.n)} ({seen})"),
        ("target", f"{100 * c.target:.10g} %, {'proven' if c.proven else 'not proven'}"),
        ("labelled", order if c.rows_digest else "in the order in which rows came"),
        ("guess", "none" if c.expected is None else f"an error of {plain_percent(c.expected)}"),
        ("valid", "at every look, however many there were" if c.max_labels is None else f"for {c.max_labels:,} labels"),
        ("made", f"{c.provenance.created} by certivote {c.library_version}"),
    ]
    if c.missing:
        rows.insert(1, ("without a label", f"{counted(c.missing, 'row')}, counted as wrong"))
    premises = [
        "The rows to label were chosen at random, and labelled in that order, none left out."
        if c.rows_digest
        else "The labelled rows are a random sample, in the order in which they came.",
        "The target, delta and the guess were fixed before the first label was seen.",
        "The model was fixed before: no labelled row served to train or to choose it.",
    ]
    if c.certified == "population":
        premises.append("New rows come from the same source as the labelled ones, each by itself.")
    return RecordFacts(percent_up(c.bound), promise, tuple(rows), tuple(premises))


def _carried(c: CarriedCertificate) -> RecordFacts:
    differ, of = c.disagreement, c.old.groups
    cases = f"the rows of a new group ({of}), in the mean" if of else "new cases"
    promise = (
        f"With {confidence(c.delta)} confidence, the new model is wrong on at most {percent_up(c.bound)} of {cases}: "
        f"the old one on at most {percent_up(c.old_bound)}, and they differ on at most {percent_up(differ.bound)}."
    )
    belong = f" of {units(differ.entities)}" if differ.entities else ""
    rows = [
        ("old model", f"wrong on at most {percent_up(c.old_bound)}, from {counted(c.old.deployed_part.n, 'row')}"),
        ("", f"its certificate: at most {percent_up(c.old.bound)} with {confidence(c.old.delta)} confidence"),
        ("differ", f"in {differ.errors or 0:,} of {counted(differ.n, 'row')}{belong} without labels"),
    ]
    for entry in c.by_class:
        what = "errors within class" if entry.kind == "error" else "false alarms of"
        rows.append((f"{what} {entry.label}", f"at most {percent_up(entry.bound)} (old: {percent_up(entry.old)})"))
    rows.append(("delta", f"{c.delta:g}, of which {percent_down(c.delta_share)} for the comparison"))
    rows.append(("follows", f"the certificate with SHA-256 {c.follows[:16]}..., of the old model"))
    rows.append(("made", f"{c.provenance.created} by certivote {c.library_version}"))
    premises = (
        "The rows without labels are new: they had no part in training or choosing either model, with or without "
        "labels, and did not certify the old one.",
        "They and later cases come from the source of the rows that certified the old model.",
        "The old model that answered them is the one that was certified.",
        "The new model is one: of several candidates that were compared on these rows, each needs its part of delta.",
        *c.old.assumptions,
    )
    return RecordFacts(percent_up(c.bound), promise, tuple(rows), premises)


_VIEWS: dict[type[Record], Callable[[Any], RecordFacts]] = {
    StoppedCertificate: _stopped,
    CarriedCertificate: _carried,
}
