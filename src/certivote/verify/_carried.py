"""A changed model: the bound of the old one at its part of delta, how often the two differ, and their sum."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from flint import arb, ctx

from certivote.certificate import (
    SCHEMA_VERSION,
    CarriedCertificate,
    CarriedClass,
    Certificate,
    Statement,
    as_rows,
    class_place,
    data_digest,
    names_of,
    part_digest,
    row_keys,
    used_rows,
)
from certivote.verify._balls import BITS, binomial_limit_holds, order_free_limit_holds
from certivote.verify._check import Check, trusted
from certivote.verify._given import asked
from certivote.verify._levels import AuditInput, audit
from certivote.verify._origin import CREATED, DIGEST
from certivote.verify._proof import SLACK, bound_share, prove, statistics
from certivote.verify._theorems import Terms, exact_losses, terms_of
from certivote.verify._units import entity_losses, entity_numbers, name_of, values_of

_BELOW = 1.0 - 2.0**-50
"""What parts of delta are multiplied by, so that they do not add up to more than it."""
_ROUNDING = arb("1e-14")


def audit_carried(
    c: CarriedCertificate, model: Any, X: Any, predictions: Any, groups: Any, earlier: Certificate | None
) -> Iterator[Check]:
    """All checks that what is given allows."""
    found = list(audit(c.old, AuditInput()))
    taken = [check for check in found if check.on_trust]
    yield from (replace(check, what=f"old model, {check.what}") for check in found if not check.on_trust)
    if taken:
        what = ", ".join(check.what for check in taken)
        yield trusted("the certificate of the old model", f"verify it by itself with its data: {what:.300}", "old")
    if not all(check.passed for check in found):
        return
    if earlier is not None:
        same = earlier.digest == c.follows
        yield Check("follows", same, f"{c.follows:.16}... held, {earlier.digest:.16}... given")
    yield from _facts(c)
    with ctx.workprec(BITS):
        yield from _bounds(c)
    yield from _rows(c, model, X, predictions, groups)


def _facts(c: CarriedCertificate) -> Iterator[Check]:
    yield Check("schema", c.schema_version == SCHEMA_VERSION, f"{c.schema_version}")
    made = c.provenance
    right = bool(CREATED.fullmatch(made.created)) and c.old.provenance.created <= made.created
    yield Check("created", right, f"{made.created!r}, after {c.old.provenance.created!r}")
    right = all(
        DIGEST.fullmatch(digest.removeprefix("data:")) for digest in (c.answers_digest, c.rows_digest) if digest
    )
    yield Check(
        "digests", right and bool(c.answers_digest), f"of the answers{' and the rows' if c.rows_digest else ''}"
    )
    right = c.delta == c.old.delta and _is_part(c.disagreement.delta, arb(c.delta_share) * bound_share(c.old))
    yield Check("delta", right, f"{c.delta!r}, of which the comparison has {c.disagreement.delta!r}")
    right = c.disagreement.n == made.n_rows and bool(c.disagreement.entities) == bool(c.old.groups)
    yield Check("rows without labels", right, f"{c.disagreement.n:,}")


def _bounds(c: CarriedCertificate) -> Iterator[Check]:
    part = c.old.deployed_part
    terms = terms_of(c.old, part)
    yield from _old(c, terms, part.statement, c.old_bound, "error of the old model")
    yield from _difference(c, c.disagreement, "disagreement")
    yield _is("bound", c.bound, arb(c.old_bound) + arb(c.disagreement.bound))
    yield from _by_class(c, terms)


def _old(c: CarriedCertificate, terms: Terms, said: Statement, bound: float, where: str) -> Iterator[Check]:
    """The bound of the old model at the part of its delta that is left."""
    less = replace(said, delta=said.delta * (1.0 - c.delta_share) * _BELOW, bound=bound)
    if not said.n or bound == 1.0:  # no probability is larger
        same = bound == 1.0 and (not said.n or not terms.holds(less, arb(1) - SLACK))
        yield Check(where, same, f"{bound!r} from {said.n:,} rows, which give {'no' if same else 'a'} smaller one")
        return
    yield from prove(terms, less, statistics(c.old, c.old.deployed_part, terms, less, where), where)


def _difference(c: CarriedCertificate, said: Statement, where: str) -> Iterator[Check]:
    """How often the two differ, by Clopper and Pearson, or by bets that need no order."""
    errors, level = said.errors or 0, arb(said.delta)
    right = 0 <= errors <= said.n and len(said.losses) == said.entities

    def holds(bound: arb) -> bool:
        if said.entities:
            return order_free_limit_holds(exact_losses(said.losses, said.n), level, bound)
        return binomial_limit_holds(errors, said.n, bound, level)

    proved = right and holds(arb(said.bound))
    yield Check(
        f"{where}, bound", proved, f"{errors:,} in {said.n:,} {'prove' if proved else 'do NOT prove'} {said.bound!r}"
    )
    same = not right or said.bound == 0.0 or not holds(arb(said.bound) * (1 - SLACK))
    yield Check(f"{where}, numbers", same, f"they give {'this bound' if same else 'a smaller bound: one was changed'}")


def _is_part(stated: float, due: arb) -> bool:
    """Whether a number is the part of delta that it should be, but for rounding, and hardly above it."""
    return bool(due * (1 - _ROUNDING) <= arb(stated)) and bool(arb(stated) <= due * (1 + arb("1e-15")))


def _is(where: str, stated: float, exact: arb) -> Check:
    """Whether a number is a sum, at most 1, and not below it."""
    exact = exact.min(arb(1))
    right = bool(exact <= arb(stated)) and bool(arb(stated) <= exact * (1 + _ROUNDING))
    return Check(where, right, f"{stated!r} recorded, {float(exact.upper())!r} proved")


def _by_class(c: CarriedCertificate, terms: Terms) -> Iterator[Check]:
    """Class by class, the same divided by the probability of the condition."""
    made = next((each for each in c.old.promises if each.name == "by class"), None)
    said = () if made is None or c.old.groups else made.statements
    right = [(entry.kind, entry.label) for entry in c.by_class] == [(entry.kind, entry.label) for entry in said]
    yield Check("classes", right, f"{len(c.by_class)} statements carried of {len(said)}")
    if not right or made is None:
        return
    counts = {entry.label: entry.n for entry in said if entry.kind == "error"}
    total = sum(counts.values())
    moved = sum(entry.differ.errors or 0 for entry in c.by_class if entry.kind == "error")
    if said:
        yield Check("differences by class", moved == c.disagreement.errors, f"{moved:,} in all classes")
    for entry, own in zip(c.by_class, said, strict=True):
        where = f"{entry.kind} of {entry.label}"
        part = arb(made.delta) / len(said)
        half = arb(c.delta_share) * part / 2
        right = _is_part(entry.delta, part) and _is_part(entry.differ.delta, half)
        yield Check(f"{where}, delta", right and entry.differ.n == c.disagreement.n, f"{entry.delta!r}")
        yield from _old(c, terms, own, entry.old, f"{where}, old model")
        yield from _difference(c, entry.differ, f"{where}, difference")
        among = counts[entry.label] if entry.kind == "error" else total - counts[entry.label]
        yield from _share(entry, total - among, total, where)


def _share(entry: CarriedClass, others: int, total: int, where: str) -> Iterator[Check]:
    """A lower limit of the probability of the condition, and the sum that is divided by it."""
    level, least = arb(entry.differ.delta), arb(entry.share)
    right = binomial_limit_holds(others, total, 1 - least, level)
    right = right and (entry.share == 0.0 or not binomial_limit_holds(others, total, 1 - least * (1 + SLACK), level))
    yield Check(f"{where}, share of such rows", right, f"at least {entry.share!r}: {total - others:,} of {total:,}")
    exact = arb(entry.old) + arb(entry.differ.bound) / least if entry.share else arb(1)
    yield _is(f"{where}, bound", entry.bound, exact)


# --- Against the rows.


def _rows(c: CarriedCertificate, model: Any, X: Any, predictions: Any, groups: Any) -> Iterator[Check]:
    try:
        if X is not None and c.rows_digest:
            same = _digest(row_keys(as_rows(X)), {}) == c.rows_digest
            yield Check("rows", same, f"{np.shape(as_rows(X))[0]:,}, {'as' if same else 'OTHER than'} recorded")
            for each in _two(model) or ():
                used = used_rows(each, as_rows(X))
                if used is not None and used.found:
                    yield Check("rows of its own", False, str(used))
        elif c.rows_digest:
            yield trusted("rows", "give X=, the rows without labels", "rows_digest")
        given = _two(predictions) or (None if X is None else [asked(each, X) for each in _two(model) or ()])
        if not given or (c.old.groups and groups is None):
            wanted = "groups=, what each row belongs to, and " if c.old.groups else ""
            why = f"give {wanted}predictions=, the answers of the old and of the new model"
            yield trusted("disagreement", why, "disagreement", "answers_digest")
            return
        old, new = (values_of(each, name) for each, name in zip(given, ("old", "new"), strict=True))
        named = [name_of(value) for value in values_of(groups, "groups")] if c.old.groups else None
        yield from _recount(c, old, new, named)
    except ValueError as error:
        yield Check("answers", False, str(error))


def _two(given: Any) -> list[Any] | None:
    """The old and the new one, in this order or by these names."""
    if given is None:
        return None
    several = [given[name] for name in ("old", "new")] if isinstance(given, Mapping) else list(given)
    if len(several) != 2:
        raise ValueError(f"the old and the new model are needed; got {len(several)}")
    return several


def _recount(c: CarriedCertificate, old: list[Any], new: list[Any], groups: list[str] | None) -> Iterator[Check]:
    right = len(old) == len(new) == c.disagreement.n and (groups is None or len(groups) == len(old))
    yield Check("answers", right, f"{len(old):,} and {len(new):,} given, {c.disagreement.n:,} recorded")
    if not right:
        return
    texts = [_classes(values, c.old.classes) for values in (old, new)]
    beside: dict[str, Any] = {"old": texts[0], "new": texts[1]} | ({} if groups is None else {"groups": groups})
    same = _digest(row_keys(np.arange(len(old))), beside) == c.answers_digest
    yield Check("digest of the answers", same, f"{'as' if same else 'OTHER than'} recorded")
    before, after = (np.array(each, dtype=object) for each in texts)
    differ = np.asarray(before != after, dtype=bool)
    count, losses = (
        int(np.count_nonzero(differ)),
        () if groups is None else entity_losses(differ, entity_numbers(groups)),
    )
    right = count == c.disagreement.errors and losses == c.disagreement.losses
    yield Check("disagreement counted", right, f"{count:,} counted, {c.disagreement.errors:,} recorded")
    for entry in c.by_class:
        first, second = (before, after) if entry.kind == "error" else (after, before)
        moved = int(np.count_nonzero((first == entry.label) & (second != entry.label)))
        where = f"{entry.kind} of {entry.label}, difference counted"
        yield Check(where, moved == entry.differ.errors, f"{moved:,} counted, {entry.differ.errors:,} recorded")


def _classes(values: list[Any], classes: tuple[str, ...]) -> list[str]:
    """Labels as the certificate writes them; others as they are."""
    places = [class_place(value, classes) for value in values]
    return [name if place is None else classes[place] for place, name in zip(places, names_of(values), strict=True)]


def _digest(keys: list[bytes], beside: dict[str, Any]) -> str:
    return data_digest(part_digest(keys, np.full(len(keys), "", dtype=object), np.arange(len(keys))), beside)
