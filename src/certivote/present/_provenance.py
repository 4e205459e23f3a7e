"""Where a certificate comes from, in words: when, from which rows and columns, with which seed and libraries."""

import json

from certivote.certificate import Certificate, Provenance, counted
from certivote.present._subject import model_names, noun

_COLUMNS, _CLASSES = 5, 10
"""Names that are shown of each."""
_SHORT = 16
"""Digits of a digest that tell files apart at a glance."""


def seed_words(made: Provenance) -> str:
    """The seed, and whether it was fresh; empty where nothing was random."""
    kind = "fresh seed" if made.fresh else "seed"
    return f"{kind} {', '.join(map(str, made.entropy))}" if made.entropy else ""


def provenance_facts(certificate: Certificate, whole: bool = False) -> list[tuple[str, str]]:
    """What is known, each with its name.

    Parameters
    ----------
    certificate : Certificate
    whole : bool
        With the versions of all libraries, the parameters and all digits of the digest.
    """
    made = certificate.provenance
    moment = made.created.replace("T", " ").replace("Z", " UTC")
    by = ", ".join(filter(None, [f"certivote {certificate.library_version}", seed_words(made)]))
    rows = [("made", f"{moment} by {by}"), ("data", _data(certificate))]
    if made.source:
        digest = made.source_digest if whole else made.source_digest[:_SHORT] + "..."
        rows.append(("file", f"{made.source} (SHA-256 {digest})"))
    if made.follows:
        digest = made.follows if whole else made.follows[:_SHORT] + "..."
        rows.append(("follows", f"the certificate with SHA-256 {digest}, of the same {noun(certificate)}"))
        rows += [("since then" if number == 0 else "", text) for number, text in enumerate(made.since)]
    if whole:
        rows.append(("libraries", ", ".join(f"{name} {version}" for name, version in made.versions)))
        rows.append(("parameters", ", ".join(f"{name}={_value(text)}" for name, text in made.parameters)))
    return rows


def data_line(certificate: Certificate) -> str:
    """The file and its rows in short, and how many of them trained and certified."""
    made, part = certificate.provenance, certificate.deployed_part
    named = f"{made.source}: " if made.source else ""
    groups = f" in {counted(part.entities, 'group')} ({certificate.groups})" if part.entities else ""
    if certificate.subject == "answers":
        return f"{named}{counted(part.n, 'row')}{groups} with the answers to them"
    used = "" if certificate.is_given else f" ({part.training_rows:,} train, {part.n:,} certify)"
    return f"{named}{counted(made.n_rows, 'row')}{used}{groups}, {counted(made.n_columns, 'column')}"


def _data(certificate: Certificate) -> str:
    made = certificate.provenance
    columns = counted(made.n_columns, "column")
    if certificate.subject == "answers":
        names = model_names(certificate)
        columns = f"with the answers of {counted(len(names), 'model')} ({_listed(list(map(repr, names)), _COLUMNS)})"
    elif made.columns:
        columns += f" ({_listed(list(map(repr, made.columns)), _COLUMNS)})"
    counts = [f"{label} {n:,}" for label, n in zip(certificate.classes, made.class_counts, strict=False)]
    target = f"target {made.target!r}" if made.target else "classes"
    return f"{counted(made.n_rows, 'row')}, {columns}; {target}: {_listed(counts, _CLASSES)}"


def _listed(names: list[str], most: int) -> str:
    rest = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + rest


def _value(text: str) -> str:
    """A parameter as one would write it, of methods and splits with their options; long ones are cut."""
    try:
        value = json.loads(text)
    except (RecursionError, ValueError):  # a record may come from anywhere
        value = text
    shown = str(value)
    if isinstance(value, dict) and "name" in value:
        options = ", ".join(f"{name}={option!r}" for name, option in value.items() if name != "name")
        shown = f"{value['name']}({options})"
    return shown if len(shown) <= 200 else f"{shown[:200]} ..."
