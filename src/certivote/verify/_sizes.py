"""The counts of a record against one another: rows of the parts and of the classes, duplicates, and comparisons."""

from collections.abc import Iterator
from typing import Any

from flint import arb, ctx

from certivote.certificate import Certificate, PartRecord
from certivote.verify._ball_maths import BITS, binomial_limit_holds
from certivote.verify._check import Check
from certivote.verify._families import FAMILIES
from certivote.verify._methods import FIXED, METHODS, RANDOM
from certivote.verify._recompute import SLACK

__all__ = ["check_sizes", "n_parts"]


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
    yield _rows(c, parameters)
    with ctx.workprec(BITS):
        for number, part in enumerate(c.parts):
            yield from _part(c, part, f"part {number + 1}, " if len(c.parts) > 1 else "")
    yield from _classes(c)


def _rows(c: Certificate, parameters: dict[str, Any] | None) -> Check:
    """Every row trains or certifies, once each, in parts as large as the split makes them."""
    found = [(part.training_rows, part.n) for part in c.parts]
    n_rows = c.provenance.n_rows if c.made_in_schema >= 5 else sum(found[0])
    right = found in _divided(c, n_rows, parameters)
    shown = ", ".join(f"{train:,} + {certify:,}" for train, certify in found)
    return Check("rows of the parts", right, f"{shown} of {n_rows:,}, split {c.split}")


def _divided(c: Certificate, n_rows: int, parameters: dict[str, Any] | None) -> list[list[tuple[int, int]]]:
    """Training and certification rows of each part: all ways in which the split can divide the rows."""
    if c.split == "none":
        return [[(0, n_rows)]]
    if c.split not in ("single", "cross"):
        folds = len(c.parts)
        sizes = [n_rows // folds + (number < n_rows % folds) for number in range(folds)]
        return [[(n_rows - size, size) for size in sizes]]
    first = c.parts[0].training_rows
    share = parameters["train_share"] if parameters else None
    if parameters and not _looks_first(c, parameters):
        share = 0.5 if share in (None, "auto") else share
        if not isinstance(share, float) or not 0.0 < share < 1.0:
            return []
        first = round(share * n_rows)
    pair = [(first, n_rows - first), (n_rows - first, first)]
    return [pair[: len(c.parts)]] if 0 < first < n_rows else []


def _looks_first(c: Certificate, parameters: dict[str, Any]) -> bool:
    """Whether the first rows have decided how many train the voters."""
    is_open = parameters["train_share"] is None or (
        parameters["train_share"] == "auto" and parameters["method"] == "auto"
    )
    return is_open and c.split == "single" and bool(c.choices)


def _part(c: Certificate, part: PartRecord, where: str) -> Iterator[Check]:
    least, most = part.duplicates < max(part.n, 1), part.duplicates_of_training_rows <= part.n
    right = least and most and (part.training_rows > 0 or part.duplicates_of_training_rows == 0)
    counts = f"{part.duplicates:,} of {part.n:,}, and {part.duplicates_of_training_rows:,} of training rows"
    yield Check(f"{where}duplicates", right, counts)
    right = _limit(part.holdout_errors, part.n, c.delta, part.holdout_bound)
    right = right and (METHODS[c.method].predictor != FIXED or part.holdout_errors == part.errors)
    yield Check(f"{where}prior vote", right, f"{part.holdout_errors:,} errors, at most {part.holdout_bound!r}")
    if METHODS[c.method].predictor == RANDOM:
        yield _simulated(c, part, where)
    if c.made_in_schema >= 5:
        delta = c.delta if part.training_rows else c.delta / len(c.classes)
        right = part.majority_class in c.classes and _limit(part.majority_errors, part.n, delta, part.majority_bound)
        yield Check(f"{where}majority", right, f"{part.majority_errors:,} errors, at most {part.majority_bound!r}")


def _limit(errors: int, n: int, delta: float, bound: float) -> bool:
    """Whether this is the Clopper-Pearson bound, from above."""
    if not 0 <= errors <= n or not 0.0 < bound <= 1.0 or not 0.0 < delta < 1.0:
        return False
    below = binomial_limit_holds(errors, n, arb(bound) * (1 - SLACK), arb(delta))
    return binomial_limit_holds(errors, n, arb(bound), arb(delta)) and not below


def _simulated(c: Certificate, part: PartRecord, where: str) -> Check:
    """The votes that were drawn to bound the error of the random vote: so many for every row, of all classes alike."""
    family, rounds = FAMILIES[part.family], 0
    if not family.has_closed_form(c.loss, len(c.classes)):
        rounds = -(-family.simulated_votes(part.n_voters) // part.n)
        if c.made_in_schema < 5:  # how many was not always the same
            rounds = part.risk_draws // part.n
    right = part.risk_draws == rounds * part.n
    if part is c.deployed_part:
        right = right and all(entry.risk_draws == rounds * entry.n for entry in c.by_class)
    return Check(f"{where}simulation", right, f"{part.risk_draws:,} votes drawn, {rounds:,} for each row")


def _classes(c: Certificate) -> Iterator[Check]:
    """The rows of each class: of all rows, of the certification rows and so of the training rows."""
    right = 2 <= len(c.classes) == len(set(c.classes)) and (c.method != "c-bound" or len(c.classes) == 2)
    yield Check("classes", right, f"{len(c.classes)}, no two alike")
    if c.made_in_schema < 5 or not right:
        return
    counts, part = c.provenance.class_counts, c.deployed_part
    right = len(counts) == len(c.classes) and sum(counts) == c.provenance.n_rows
    yield Check("class counts", right, f"those of {len(counts)} classes are {sum(counts):,} rows")
    own = [entry.n for entry in c.by_class if entry.kind == "error"]
    if not right or len(own) != len(counts):
        return
    rest = [count - mine for count, mine in zip(counts, own, strict=True)]
    right = min(rest) >= 0 and sum(rest) == part.training_rows
    yield Check("class counts of the parts", right, f"{sum(rest):,} are left for {part.training_rows:,} training rows")
    parts = [(part, own, rest)]
    if c.split == "cross":
        parts.append((c.parts[1 - c.deployed], rest, own))
    for each, certify, train in parts:
        choose = train if sum(train) else certify
        label = c.classes[choose.index(max(choose))]
        errors = sum(certify) - certify[c.classes.index(label)]
        right = (each.majority_class, each.majority_errors) == (label, errors)
        yield Check("majority class", right, f"{label}, and {errors:,} certification rows of other classes")
