"""The counts of a record against one another: rows of the parts and of the classes, duplicates, and comparisons."""

from collections.abc import Iterator
from typing import Any

from flint import ctx

from certivote.certificate import Certificate, PartRecord
from certivote.verify._balls import BITS
from certivote.verify._check import Check
from certivote.verify._drift import check_drift
from certivote.verify._fixed import is_fixed_bound
from certivote.verify._methods import FIXED, GIVEN, method_of
from certivote.verify._rows import divided, n_parts


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


def _part(c: Certificate, part: PartRecord, where: str) -> Iterator[Check]:
    losses = part.holdout_losses
    shared = c.delta / len(c.parts)
    level = shared / (len(c.candidates) + 1 if c.candidates else 1)
    right = is_fixed_bound(part.holdout_errors, part.n, losses, part.entities, level, part.holdout_bound, c.bets)
    fixed = method_of(c).predictor in (FIXED, GIVEN)
    right = right and (not fixed or (part.holdout_errors, losses) == (part.errors, part.losses))
    yield Check(f"{where}prior vote", right, f"{part.holdout_errors:,} errors, at most {part.holdout_bound!r}")
    delta = shared if part.training_rows and not c.is_given else shared / len(c.classes)
    errors, losses = part.majority_errors, part.majority_losses
    right = part.majority_class in c.classes
    right = right and is_fixed_bound(errors, part.n, losses, part.entities, delta, part.majority_bound, c.bets)
    yield Check(f"{where}majority", right, f"{part.majority_errors:,} errors, at most {part.majority_bound!r}")
    yield from check_drift(c, part, where)


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
