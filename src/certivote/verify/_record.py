"""The record alone: every bound proved at the recorded numbers, and facts that must fit together.

Whether the recorded numbers are those of the data takes the data.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from flint import arb, ctx, fmpq, fmpz

from certivote.certificate import Certificate, Drift, PartRecord, Statement
from certivote.verify._balls import BITS
from certivote.verify._check import Check, trusted
from certivote.verify._families import are_fixed_point, could_be_weights, hardly_counts, is_certified_vote
from certivote.verify._methods import DRAWN, FIXED, GIVEN, MEAN, METHODS, RANDOM, method_of, n_candidates
from certivote.verify._promises import check_promises
from certivote.verify._proof import SLACK, bound_share, check_penalty, is_share, part_of_vote, prove, statistics
from certivote.verify._rows import divided, n_parts
from certivote.verify._theorems import average_holds, fixed_terms, terms_of


def verify_record(certificate: Certificate) -> list[Check]:
    """Prove every bound of a record at the recorded numbers: each is the value of its theorem, or hardly above it."""
    with ctx.workprec(BITS):
        return list(_checks(certificate))


def _checks(c: Certificate) -> Iterator[Check]:
    first = list(_consistency(c))
    yield from first
    if not all(check.passed for check in first):
        return
    for part, where in _named(c):
        yield from _part(c, part, where)
    bounds = [part.bound for part in c.parts]
    right = c.deployed == bounds.index(min(bounds))
    yield Check("deployed vote", right, f"its bound {c.bound!r} is the smallest of the parts ({min(bounds)!r})")
    if (c.average_bound is None) == (len(c.parts) > 1):
        yield Check("average", False, f"{c.average_bound!r} with {len(c.parts)} parts")
    elif c.average_bound is not None:
        yield from _average(c, c.average_bound)
    yield from check_promises(c)


def _named(c: Certificate) -> list[tuple[PartRecord, str]]:
    """All parts, and what each is called."""
    if len(c.parts) == 1:
        return [(c.parts[0], "part")]
    return [(part, f"part {number}") for number, part in enumerate(c.parts, start=1)]


def _consistency(c: Certificate) -> Iterator[Check]:
    """Whether the record as a whole is one that a method of this name can have made."""
    method = method_of(c) if c.method in METHODS else None
    right = method is not None and (method.predictor in (DRAWN, GIVEN) or not c.is_given)
    yield Check("method", right, f"{c.method} certifies {method.predictor if method else 'nothing known'}")
    there = 0 <= c.deployed < len(c.parts)
    yield Check("parts", there, f"{len(c.parts)} of them; number {c.deployed + 1} is deployed")
    yield Check("delta", 0.0 < c.delta < 1.0, f"{c.delta!r} lies strictly between 0 and 1")
    yield Check("loss", c.loss in ("plurality", "half-weight"), f"{c.loss!r}")
    yield Check("constant", c.constant in ("paper", "exact"), f"{c.constant!r}")
    weights = c.average_weights
    right = len(weights) == len(c.parts) and min(weights, default=-1.0) >= 0 and abs(_sum(weights) - 1) < arb("1e-12")
    yield Check("average weights", right, f"{len(weights)} of {len(c.parts)} parts, non-negative with sum 1")
    drawn = method is not None and method.predictor == DRAWN
    yield Check("draws", c.n_draws >= 1 and (drawn or c.n_draws == 1), f"{c.n_draws} draws are paid for")
    uses_orders = method is not None and method.theorem == "renyi"
    right = all(order > 1 for order in c.renyi_orders) and uses_orders == bool(c.renyi_orders)
    yield Check("orders", right, f"{len(c.renyi_orders)} are paid for")
    yield _price_list(c, method is not None and method.has_prices)


def _price_list(c: Certificate, is_used: bool) -> Check:
    entries = (*c.price_atoms, *c.price_scales)
    if not is_used:
        return Check("price list", not entries, f"{len(entries)} entries, for a theorem without one")
    right = all(len(entry) == 2 and entry[1] > 0 for entry in entries) and bool(c.price_scales)
    right = right and all(scale[0] > 0 for scale in c.price_scales)
    right = right and bool(0 < _sum(tuple(entry[1] for entry in entries)) < 1 + arb("1e-12"))
    return Check("price list", right, "scales and weights are positive, and the weights sum to at most 1")


def _sum(numbers: tuple[float, ...]) -> arb:
    return sum(map(arb, numbers), arb(0))


def _part(c: Certificate, part: PartRecord, where: str) -> Iterator[Check]:
    """One part of the rows: its share of delta, its counts, its bound and what it pays."""
    said, due = part.statement, part_of_vote(c, bound_share(c))
    yield Check(f"{where}, delta", is_share(said.delta, due), f"{said.delta!r} is its part of {c.delta!r}")
    sound = (
        part.n >= 1
        and 0 <= part.draw < c.n_draws
        and 0.0 < part.prior_weight <= 1.0
        and 0.0 <= said.risk_delta < said.delta
        and (said.kind, said.label, said.threshold) == ("error", "", None)
        and part.n_voters >= 1
        and (1 <= part.entities <= part.n if c.groups else part.entities == 0)
    )
    entities = f" of {part.entities} entities" if part.entities else ""
    detail = f"{part.n} rows{entities}, draw {part.draw + 1} of {c.n_draws}, prior of weight {part.prior_weight!r}"
    yield Check(f"{where}, counts", sound, detail)
    if not sound:
        return
    try:
        terms = terms_of(c, part)
    except (ValueError, ZeroDivisionError) as error:
        yield Check(f"{where}, penalty", False, f"it cannot be computed: {error}")
        return
    yield check_penalty(part, terms, where)
    yield from prove(terms, said, statistics(c, part, terms, said, where), where)


def _average(c: Certificate, bound: float) -> Iterator[Check]:
    """The bound on the average: the mean of the parts' bounds, or the paper's inverse of the means."""
    try:
        terms = [terms_of(c, part) for part in c.parts]
        proved = average_holds(c, terms, arb(bound))
        same = bound == 0.0 or not average_holds(c, terms, arb(bound) * (1 - SLACK))
    except (AssertionError, IndexError, ValueError, ZeroDivisionError) as error:
        yield Check("average", False, f"it cannot be computed: {error}")
        return
    yield Check("average", proved, f"the theorem's value is {'' if proved else 'not '}at most {bound!r}")
    yield Check("average, numbers", same, f"they give {'this bound' if same else 'a smaller one'}")


# --- Other classifiers on the same rows, each at a delta of its own.


def _is_proved(c: Certificate, part: PartRecord, said: Statement, kind: str, label: str, due: arb) -> bool:
    """Whether a statement is about the errors of a classifier that was fixed beforehand, on all rows, and is true."""
    about = (said.kind, said.label, said.threshold, said.n, said.entities)
    if about != (kind, label, None, part.n, part.entities) or not is_share(said.delta, due):
        return False
    terms = fixed_terms(c)
    return all(check.passed for check in prove(terms, said, statistics(c, part, terms, said, kind), kind))


def _comparisons(c: Certificate, part: PartRecord, where: str) -> Iterator[Check]:
    """The vote with the prior's mean weights, and always answering the most frequent class."""
    shared, said = arb(c.delta) / len(c.parts), part.holdout
    right = _is_proved(c, part, said, "hold-out", "", shared / n_candidates(c))
    if method_of(c).predictor in (FIXED, GIVEN):
        right = right and (said.errors, said.losses) == (part.errors, part.losses)
    yield Check(f"{where}prior vote", right, f"{said.errors or 0:,} errors, at most {said.bound!r}")
    due, said = shared if part.training_rows and not c.is_given else shared / len(c.classes), part.majority
    right = said.label in c.classes and _is_proved(c, part, said, "majority", said.label, due)
    yield Check(f"{where}majority", right, f"{said.errors or 0:,} errors, at most {said.bound!r}")


def check_candidates(c: Certificate, parameters: dict[str, Any] | None) -> Iterator[Check]:
    """Whether all models that were given are there, each with its bound, and the certificate is about the smallest."""
    if not c.is_given:
        if c.candidates:
            yield Check("candidates", False, f"{len(c.candidates)} of them, and no models were given")
        return
    names = list(parameters["voters"]) if parameters else []
    found = [candidate.name for candidate in c.candidates]
    right = bool(names) and found == (names if len(names) > 1 else [])
    detail = "one model was given" if len(names) == 1 and not found else f"{len(found)} of {len(names)} given models"
    yield Check("candidates", right, detail)
    predictor, part = method_of(c).predictor, c.deployed_part
    if not c.candidates:
        yield Check("certified model", predictor == GIVEN, f"one was given, and {predictor} is certified")
        return
    with ctx.workprec(BITS):
        due = bound_share(c) / n_candidates(c)
        for candidate in c.candidates:
            said = candidate.statement
            detail = f"{said.errors or 0:,} errors in {said.n:,} rows, at most {said.bound!r} at {said.delta:.6g}"
            yield Check(f"candidate {candidate.name}", _is_proved(c, part, said, "candidate", "", due), detail)
    chosen = [candidate for candidate in c.candidates if candidate.chosen]
    smallest = min(candidate.bound for candidate in c.candidates)
    if chosen:
        own = chosen[0]
        first = next(candidate for candidate in c.candidates if candidate.bound == smallest)
        right = len(chosen) == 1 and predictor == GIVEN and own is first
        right = right and replace(own.statement, kind=part.statement.kind) == part.statement
        detail = f"{own.name}, with {own.bound!r}; the smallest is {smallest!r}"
    else:
        right = predictor == DRAWN and c.bound < smallest and part.n_voters == len(c.candidates)
        detail = f"the vote of all, with {c.bound!r}; the smallest of one model is {smallest!r}"
    yield Check("chosen candidate", right, detail)
    weights = np.array([candidate.weight for candidate in c.candidates])
    if chosen:
        right = weights.tolist() == [float(candidate.chosen) for candidate in c.candidates]
    else:
        right = predictor == DRAWN and is_certified_vote(c, part, weights)
    yield Check("weights of the candidates", right, f"{'those' if right else 'OTHER than those'} of what is certified")


# --- Facts that must fit together.


def check_facts(c: Certificate, parameters: dict[str, Any] | None) -> Iterator[Check]:
    """Whether weights, rows and classes fit together, and what is compared with the vote is certified as it says."""
    yield from _recorded_weights(c)
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
        for part, where in _named(c):
            where = f"{where}, " if len(c.parts) > 1 else ""
            yield from _comparisons(c, part, where)
            yield from check_drift(c, part, where)
    yield from _classes(c)


def _recorded_weights(c: Certificate) -> Iterator[Check]:
    """Whether weights that are recorded as such can be deployed, and the fixed vote has the prior's."""
    predictor = method_of(c).predictor
    if predictor not in (MEAN, FIXED, GIVEN):
        return
    for part, where in _named(c):
        where = f"{where}, weights" if len(c.parts) > 1 else "recorded weights"
        weights, mean = np.array(part.alpha), np.array(part.beta)
        if predictor == MEAN:
            yield Check(where, are_fixed_point(weights), "multiples of 2**-52 with sum 1")
            continue
        with ctx.workprec(BITS):
            asked = ~hardly_counts(mean)
            same = len(weights) == len(asked) and not weights[~asked].any()
            logs = [arb(number).log() for number in mean[asked]]
            same = same and could_be_weights(weights[asked], logs, rounded=True)
        yield Check(where, same, f"those of the prior, {'as' if same else 'OTHER than'} the fixed vote has them")


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


def _classes(c: Certificate) -> Iterator[Check]:
    """The rows of each class: of all rows, of the certification rows and so of the training rows."""
    right = 2 <= len(c.classes) == len(set(c.classes)) and (c.method != "c-bound" or len(c.classes) == 2)
    yield Check("classes", right, f"{len(c.classes)}, no two alike")
    if not right:
        return
    counts = c.provenance.class_counts
    right = len(counts) == len(c.classes) and sum(counts) == c.provenance.n_rows
    yield Check("class counts", right, f"those of {len(counts)} classes are {sum(counts):,} rows")
    own = [entry.n for entry in c.by_class if entry.kind == "error"]
    if not right or len(own) != len(counts):
        return
    rest = [count - mine for count, mine in zip(counts, own, strict=True)]
    trained = 0 if c.is_given else c.deployed_part.training_rows
    right = min(rest) >= 0 and sum(rest) == trained
    yield Check("class counts of the parts", right, f"{sum(rest):,} are left for {trained:,} training rows")


# --- Whether errors drift.

_RELATIVE = 1e-7
"""How far a p-value may be off, of itself: the maker sums up floats."""
_MOST_WORK = 5e11
"""Bits that are counted with: those of some million rows, in seconds."""


def check_drift(c: Certificate, part: PartRecord, where: str) -> Iterator[Check]:
    """One test, where rows have an order in time and the vote fixed answers: its counts and its p-value."""
    wanted = int(bool(c.order) and method_of(c).predictor != RANDOM)
    if not wanted and not part.drift:
        return
    if wanted and not part.drift and part.training_rows and not c.is_given:
        # All times together are of several moments; those of some rows need not be.
        yield Check(f"{where}drift", True, "not tested, as if all certification rows were of one moment")
        return
    if len(part.drift) != wanted:
        yield Check(f"{where}drift", False, f"{len(part.drift)} tests of it, where there must be {wanted}")
        return
    (drift,) = part.drift
    right = min(drift.early_rows, drift.late_rows) >= 1 and drift.early_rows + drift.late_rows == part.n
    right = right and drift.early_errors + drift.late_errors == part.errors
    right = right and drift.early_errors <= drift.early_rows and drift.late_errors <= drift.late_rows
    detail = f"{drift.early_errors:,} errors in {drift.early_rows:,} early rows, "
    detail += f"{drift.late_errors:,} in {drift.late_rows:,} late ones"
    if right and _work(drift) > _MOST_WORK:
        why = f"{detail}; exact counting of so many would take too long"
        yield trusted(f"{where}drift", why, "parts[].drift")
        return
    if right:
        exact = fisher_p_value(drift)
        right = abs(drift.p_value - exact) <= _RELATIVE * exact
        detail += f"; p = {exact:.6g}, {'as' if right else 'OTHER than'} recorded"
    yield Check(f"{where}drift", right, detail)


def _work(drift: Drift) -> float:
    """Numbers that must be summed up, times the bits that they have at most."""
    errors = drift.early_errors + drift.late_errors
    return float(min(errors, drift.early_rows)) * float(drift.early_rows + drift.late_rows)


def fisher_p_value(drift: Drift) -> float:
    """The probability that a random order divides the errors at least as unevenly, by exact counting.

    Of all orders, ``C(early, x) C(late, errors - x)`` have ``x`` errors in the early part. These numbers rise and then
    fall, so those that are no larger than the one that was seen are at both ends.
    """
    early, late, errors = drift.early_rows, drift.late_rows, drift.early_errors + drift.late_errors

    def ways(x: int) -> fmpz:
        return fmpz.bin_uiui(early, x) * fmpz.bin_uiui(late, errors - x)

    first, last, seen = max(0, errors - late), min(early, errors), ways(drift.early_errors)
    tails, x, count = fmpz(0), first, ways(first)
    while x <= last and count <= seen:
        tails += count
        count = count * ((early - x) * (errors - x)) // ((x + 1) * (late - errors + x + 1))
        x += 1
    from_left, x, count = x, last, ways(last)
    while x >= from_left and count <= seen:
        tails += count
        count = count * (x * (late - errors + x)) // ((early - x + 1) * (errors - x + 1))
        x -= 1
    share = fmpq(tails, fmpz.bin_uiui(early + late, errors))
    return int(share.p) / int(share.q)
