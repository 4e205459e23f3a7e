"""The promises of a record: the statements that each must make, what each has of delta, and every bound proved."""

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

from flint import arb, fmpq

from certivote.certificate import Certificate, PartRecord, PromiseRecord, Statement, counted
from certivote.verify._account import as_part, check_account, check_delta
from certivote.verify._check import Check
from certivote.verify._methods import method_of, n_candidates
from certivote.verify._promises._costs import check_mean
from certivote.verify._promises._rule import Rule, is_trained
from certivote.verify._promises._rules import RULES, place_of
from certivote.verify._theorems import confidence, learned, penalty

_MOST_GUIDES = 20_000
"""Training rows whose votes guide a promise, at most."""


def bound_share(c: Certificate) -> arb:
    """What the bound has of delta: four fifths where promises hold together with it."""
    return arb(c.delta) * 4 / 5 if c.together else arb(c.delta)


def promise_share(c: Certificate) -> arb:
    """What each promise has: a delta of its own, or its part of the fifth that the bound leaves."""
    return arb(c.delta) / 5 / len(c.promises) if c.together else arb(c.delta)


def check_promises(c: Certificate) -> Iterator[Check]:
    """All promises of a record."""
    if not c.promises:
        return  # that there are some, is checked with the origin
    names = [promise.name for promise in c.promises]
    right = names[0] == "by class" and names.count("by class") == 1
    right = right and (len(names) == 1 or method_of(c).counts_errors)
    told = f"{', '.join(names[:9]):.200}; {'with the bound' if c.together else 'each by itself'}"
    yield Check("promises", right, told)
    part = c.deployed_part
    try:
        cost = learned(c, part)
    except (ValueError, ZeroDivisionError):
        return  # the part's own checks have said so
    for number, promise in enumerate(c.promises):
        where, rule = place_of(c, number), RULES.get(promise.name)
        if rule is None:
            yield Check(f"promise {number + 1}", False, f"nothing is known of one that is called {promise.name!r:.80}")
            continue
        yield from _check_promise(c, promise, rule, where, cost)


def _check_promise(c: Certificate, promise: PromiseRecord, rule: Rule, where: str, cost: arb) -> Iterator[Check]:
    try:
        asked = rule.asked(promise)
    except ValueError as error:
        yield Check(f"{where}, parameters", False, f"{error}")
        return
    problem = rule.is_fixed(c, promise, asked)
    told = f"{', '.join(fixed.what for fixed in promise.fixed)[:200] or 'nothing'} fixed beforehand"
    if problem:
        yield Check(f"{where}, fixed", False, problem)
        return
    if promise.fixed:
        yield Check(f"{where}, fixed", True, told)
    guide = _check_guide(c, promise, rule, asked, where)
    if promise.guide_rows or not guide.passed:
        yield guide
    wanted = rule.statements(c, promise, asked)
    found = [(entry.kind, entry.label, entry.threshold) for entry in promise.statements]
    right = found == [(each.kind, each.label, each.threshold) for each in wanted]
    kinds = " and ".join(dict.fromkeys(each.kind for each in wanted))
    yield Check(where, right, f"{counted(len(found), 'statement')}, {len(wanted)} to be made: {kinds}")
    if not right or not found:
        return
    yield _check_ledger(c, promise, [each.of for each in wanted], where, cost)
    agreements = list(rule.agreements(c, promise, asked))
    if all(passed for _, passed, _ in agreements):
        yield Check(f"{where}, counts", True, "; ".join(f"{what}: {detail}" for what, _, detail in agreements))
    for what, passed, detail in agreements:
        if not passed:
            yield Check(f"{where}, {what}", passed, detail)
    yield from _check_decision(c, promise, rule, asked, where)
    yield from _check_bounds(c, promise, where, cost)


def _check_decision(
    c: Certificate, promise: PromiseRecord, rule: Rule, asked: dict[str, Any], where: str
) -> Iterator[Check]:
    """What follows for new cases, and from which target; one line where something does, or should."""
    found, decided = (promise.chosen, promise.thresholds, promise.value), rule.decides(c, promise, asked)
    if rule.rounds_value:
        found = (promise.chosen, promise.thresholds, None)  # what is rounded, the agreements compare
    told = f"thresholds {', '.join(map(repr, promise.thresholds[:5])) or 'none'}, for {promise.value!r}"
    if found != decided or decided != (None, (), None):
        yield Check(f"{where}, decision", found == decided, told)


def _check_guide(c: Certificate, promise: PromiseRecord, rule: Rule, asked: dict[str, Any], where: str) -> Check:
    """Rows that have fixed something: training rows, or else a fifth of the certification rows, which do not count."""
    part, guided = c.deployed_part, rule.is_guided(c, promise, asked)
    aside, guides = promise.set_aside, promise.guide_rows
    told = f"{guides:,} rows have fixed something, {aside:,} of them set aside"
    if guided is None:
        guided = bool(aside)
    if not guided:
        return Check(f"{where}, guide", (aside, guides) == (0, 0), told)
    if is_trained(c):
        most = min(part.training_rows, _MOST_GUIDES) if rule.looks_at_votes else part.training_rows
        return Check(f"{where}, guide", (aside, guides) == (0, most), told)
    fifth = int(0.2 * part.size)
    right = guides == aside and (aside == fifth if not part.entities else fifth <= aside <= part.n - part.size + fifth)
    return Check(f"{where}, guide", right, told)


def _check_ledger(c: Certificate, promise: PromiseRecord, parts: list[Fraction], where: str, cost: arb) -> Check:
    """What the promise has of delta, and each of its statements of that; told with what this costs in rows."""
    whole = promise_share(c)
    right = check_delta(promise.delta, whole, c.delta, where).passed
    own = whole / len(c.parts) / n_candidates(c)
    for entry, of in zip(promise.statements, parts, strict=True):
        expected = own / arb(fmpq(of.numerator, of.denominator))
        right = right and check_delta(entry.delta, expected, c.delta, where).passed
    shares = sorted({entry.delta for entry in promise.statements})
    each = f"{shares[0]:.4g}" + (f" to {shares[-1]:.4g}" if len(shares) > 1 else " each")
    # Deltas that are none would give no logarithm.
    lost = f": as if {_rows_lost(c, shares[0], cost)} of the rows were missing" if right else ""
    told = f"{promise.delta:.6g} of {c.delta:.6g}, {counted(len(promise.statements), 'statement')} with {each}{lost}"
    return Check(f"{where}, delta", right, told)


def _rows_lost(c: Certificate, delta: float, cost: arb) -> str:
    """The share of rows that a bound with all of delta could do without and be as wide as one with a part of it."""
    part, paid = c.deployed_part, penalty(c, c.deployed_part, cost)
    whole = [as_part(part, replace(part.statement, delta=each, risk_delta=0.0)) for each in (c.delta, delta)]
    nats = [float((paid + confidence(c, each)).mid()) for each in whole]
    return f"{100.0 * (1.0 - nats[0] / nats[1]):.0f} %" if 0.0 < nats[0] <= nats[1] < math.inf else "some"


def _check_bounds(c: Certificate, promise: PromiseRecord, where: str, cost: arb) -> Iterator[Check]:
    """Every statement proved; one line if all are, and those that are not by themselves."""
    part, failed = c.deployed_part, False
    for entry in promise.statements:
        for check in _statement(c, part, promise, entry, cost):
            if not check.passed:
                yield check
                failed = True
    if not failed:
        highest = max(entry.bound for entry in promise.statements)
        told = f"{len(promise.statements)} proved, each hardly above its theorem's value, the largest {highest!r}"
        yield Check(f"{where}, bounds", True, told)


def _statement(
    c: Certificate, part: PartRecord, promise: PromiseRecord, entry: Statement, cost: arb
) -> Iterator[Check]:
    where = _about(promise, entry)
    if not entry.n:
        nothing = (entry.errors, entry.means, entry.risk_draws, entry.risk_delta, entry.bound)
        right = nothing == (None, (), 0, 0.0, 1.0) and not entry.entities and not entry.losses
        yield Check(f"{where}, bound", right, f"{entry.bound!r} without a row")
    elif not (1 <= entry.entities <= min(entry.n, part.entities) if c.groups else entry.entities == 0):
        yield Check(
            f"{where}, entities", False, f"{entry.entities:,}, of {entry.n:,} rows and {part.entities:,} in all"
        )
    elif not 0.0 <= entry.risk_delta < entry.delta:
        yield Check(f"{where}, risk", False, f"{entry.risk_delta!r} of {entry.delta!r} was spent on it")
    elif promise.name == "costs" and entry.kind == "cost":
        yield from check_mean(c, promise, as_part(part, entry), cost, where)
    else:
        yield from check_account(c, as_part(part, entry), cost, where)


def _about(promise: PromiseRecord, entry: Statement) -> str:
    """What a statement is called."""
    if promise.name == "by class":
        return f"{entry.kind}s, class {entry.label}"
    label = f" of {entry.label}" if entry.label else ""
    return f"{promise.name}, {entry.kind}{label}" + ("" if entry.threshold is None else f" at {entry.threshold:.6g}")
