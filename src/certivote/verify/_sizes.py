"""The counts of a record against one another: rows of the parts and of the classes, duplicates, and comparisons."""

from collections.abc import Iterator
from typing import Any

from flint import arb, ctx

from certivote.certificate import Certificate, PartRecord
from certivote.verify._ball_maths import BITS
from certivote.verify._check import Check
from certivote.verify._drift import check_drift
from certivote.verify._families import FAMILIES
from certivote.verify._fixed import is_fixed_bound
from certivote.verify._look import is_folded, looks_first, n_first
from certivote.verify._methods import FIXED, GIVEN, RANDOM, method_of, n_candidates

_COUNTED = 20_000_000
"""Rows among which duplicates are counted, at most."""


def n_parts(split: str) -> int | None:
    """Parts that a split has; None if there is no such split."""
    if split in ("none", "single", "cross"):
        return 2 if split == "cross" else 1
    is_number = split.isascii() and split.isdecimal() and not split.startswith("0")
    return int(split) if is_number and len(split) < 8 and int(split) >= 2 else None


def check_sizes(c: Certificate, parameters: dict[str, Any] | None) -> Iterator[Check]:
    """Whether the counts of the record fit together, and what is compared with the vote is certified as it says."""
    wanted = n_parts(c.split)
    yield Check("split", wanted == len(c.parts), f"{len(c.parts)} parts with split {c.split!r}")
    if wanted != len(c.parts):
        return
    if c.groups or c.order:
        right = not (c.groups and c.order) and (not c.order or c.split in ("none", "single"))
        what = "entities" if c.groups else "an order in time"
        yield Check("groups or order", right, f"rows come in {what}, with split {c.split!r}")
    yield _rows(c, parameters)
    with ctx.workprec(BITS):
        for number, part in enumerate(c.parts):
            yield from _part(c, part, f"part {number + 1}, " if len(c.parts) > 1 else "")
    yield from _classes(c)


def _rows(c: Certificate, parameters: dict[str, Any] | None) -> Check:
    """Every row trains or certifies, once each, in parts as large as the split makes them."""
    found = [(part.training_rows, part.n) for part in c.parts]
    n_rows = c.provenance.n_rows
    if c.is_given:
        # Its training rows, if they were shown, are none of these.
        right = [part.n for part in c.parts] == [n_rows]
    elif c.groups:
        right = _parts_of_entities(c, n_rows, parameters)
    else:
        right = divided(c, n_rows, parameters, found[0][0]) == found
    shown = ", ".join(f"{train:,} + {certify:,}" for train, certify in found)
    return Check("rows of the parts", right, f"{shown} of {n_rows:,}, split {c.split}")


def _parts_of_entities(c: Certificate, n_rows: int, parameters: dict[str, Any] | None) -> bool:
    """Entities are divided, whatever rows they have; how many train is known where all of them certify in some part."""
    right = all(part.training_rows + part.n == n_rows for part in c.parts)
    right = right and all((part.training_rows > 0) == (c.split != "none") for part in c.parts)
    if c.split in ("none", "single"):
        return right
    total = sum(part.entities for part in c.parts)
    found = [(total - part.entities, part.entities) for part in c.parts]
    return right and sum(part.n for part in c.parts) == n_rows and divided(c, total, parameters, found[0][0]) == found


def divided(c: Certificate, total: int, parameters: dict[str, Any] | None, first: int) -> list[tuple[int, int]]:
    """Rows, or entities, that train and that certify each part, as the split divides them; empty if it cannot.

    ``first`` is how many are said to train the first part, which is taken over where something else decided it.
    """
    if c.split == "none":
        return [(0, total)]
    if c.split not in ("single", "cross"):
        folds, rest = len(c.parts), total - (n_first(total) if is_folded(c, parameters) else 0)
        sizes = [rest // folds + (number < rest % folds) for number in range(folds)]
        return [(total - size, size) for size in sizes]
    share, drawn = parameters["train_share"] if parameters else None, c.division != "shuffled"
    if parameters and not drawn and not (c.split == "single" and c.first_rows and looks_first(parameters)):
        share = 0.5 if share == "auto" else share
        if not isinstance(share, float) or not 0.0 < share < 1.0:
            return []
        first = round(share * total)
    pair = [(first, total - first), (total - first, first)]
    return pair[: len(c.parts)] if 0 < first < total else []


def _duplicates(part: PartRecord, where: str) -> Check:
    """Duplicates are no more than rows, and counted unless these are very many."""
    own, training = part.duplicates, part.duplicates_of_training_rows
    if own is None or training is None:
        right = own is training and part.n + part.training_rows > _COUNTED
        return Check(f"{where}duplicates", right, f"not counted among {part.n + part.training_rows:,} rows")
    right = own < max(part.n, 1) and training <= part.n and (part.training_rows > 0 or training == 0)
    return Check(f"{where}duplicates", right, f"{own:,} of {part.n:,}, and {training:,} of training rows")


def _part(c: Certificate, part: PartRecord, where: str) -> Iterator[Check]:
    yield _duplicates(part, where)
    shared, said = arb(c.delta) / len(c.parts), part.holdout
    right = is_fixed_bound(c, part, said, "hold-out", "", shared / n_candidates(c))
    fixed = method_of(c).predictor in (FIXED, GIVEN)
    right = right and (not fixed or (said.errors, said.losses) == (part.errors, part.losses))
    yield Check(f"{where}prior vote", right, f"{said.errors or 0:,} errors, at most {said.bound!r}")
    if method_of(c).predictor == RANDOM:
        yield _simulated(c, part, where)
    delta = shared if part.training_rows and not c.is_given else shared / len(c.classes)
    said = part.majority
    right = said.label in c.classes and is_fixed_bound(c, part, said, "majority", said.label, delta)
    yield Check(f"{where}majority", right, f"{said.errors or 0:,} errors, at most {said.bound!r}")
    yield from check_drift(c, part, where)


def _simulated(c: Certificate, part: PartRecord, where: str) -> Check:
    """The votes that were drawn to bound the error of the random vote: so many for every row, of all classes alike."""
    family, rounds = FAMILIES[part.family], 0
    if not family.has_closed_form(c.loss, len(c.classes)):
        rounds = -(-family.simulated_votes(part.n_voters) // part.n)
    # What is drawn for the rows of an entity counts once for the entity.
    right = part.statement.risk_draws == rounds * part.size
    if part is c.deployed_part:
        right = right and all(entry.risk_draws == rounds * entry.size for entry in c.by_class)
    what = "entity" if part.entities else "row"
    return Check(f"{where}simulation", right, f"{part.statement.risk_draws:,} votes drawn, {rounds:,} for each {what}")


def _classes(c: Certificate) -> Iterator[Check]:
    """The rows of each class: of all rows, of the certification rows and so of the training rows."""
    right = 2 <= len(c.classes) == len(set(c.classes)) and (c.method != "c-bound" or len(c.classes) == 2)
    yield Check("classes", right, f"{len(c.classes)}, no two alike")
    if not right:
        return
    counts, part = c.provenance.class_counts, c.deployed_part
    right = len(counts) == len(c.classes) and sum(counts) == c.provenance.n_rows
    yield Check("class counts", right, f"those of {len(counts)} classes are {sum(counts):,} rows")
    own = [entry.n for entry in c.by_class if entry.kind == "error"]
    if not right or len(own) != len(counts):
        return
    rest = [count - mine for count, mine in zip(counts, own, strict=True)]
    trained = 0 if c.is_given else part.training_rows
    right = min(rest) >= 0 and sum(rest) == trained
    yield Check("class counts of the parts", right, f"{sum(rest):,} are left for {trained:,} training rows")
    parts = [(part, own, rest)]
    if c.split == "cross":
        parts.append((c.parts[1 - c.deployed], rest, own))
    for each, certify, train in parts:
        choose = train if sum(train) else certify
        label = c.classes[choose.index(max(choose))]
        errors = sum(certify) - certify[c.classes.index(label)]
        right = (each.majority.label, each.majority.errors) == (label, errors)
        yield Check("majority class", right, f"{label}, and {errors:,} certification rows of other classes")
