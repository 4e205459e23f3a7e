"""The promises of a record: the statements that each must make, what each has of delta, and every bound proved."""

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from flint import arb, fmpq

from certivote.certificate import Certificate, PromiseRecord, Statement, counted
from certivote.verify._check import Check
from certivote.verify._methods import method_of
from certivote.verify._promises._costs import Costs
from certivote.verify._promises._events import ByClass, Precision, Subgroups
from certivote.verify._promises._rule import Promised, Rule
from certivote.verify._promises._thresholds import Abstention, PredictionSets, Sensitivity
from certivote.verify._proof import is_share, part_of_vote, promise_share, prove
from certivote.verify._theorems import Terms, terms_of

RULES: dict[str, Rule] = {
    rule.name: rule
    for rule in (ByClass(), Precision(), Abstention(), Sensitivity(), PredictionSets(), Subgroups(), Costs())
}
"""All of them."""


def place_of(c: Certificate, number: int) -> str:
    """What a promise is called: by its name, and where there are several of one name by its number among these."""
    name = c.promises[number].name
    same = [place for place, promise in enumerate(c.promises) if promise.name == name]
    return name if len(same) == 1 else f"{name} ({same.index(number) + 1})"


def shown_promises(c: Certificate) -> str | None:
    """What Python shows of the list of promises that were asked for, by their records; None if these make no sense."""
    shown = []
    for promise in c.promises[1:]:
        rule = RULES.get(promise.name)
        if rule is None:
            return None
        try:
            shown.append(rule.shown(rule.asked(promise)))
        except ValueError:
            return None
    return f"[{', '.join(shown)}]"


_MOST_GUIDES = 20_000
"""Training rows whose votes guide a promise, at most."""


def check_promises(c: Certificate) -> Iterator[Check]:
    """All promises of a record."""
    if not c.promises:
        return  # that there are some, is checked with the origin
    names = [promise.name for promise in c.promises]
    right = names[0] == "by class" and names.count("by class") == 1
    right = right and (len(names) == 1 or method_of(c).counts_errors)
    detail = f"{', '.join(names[:9]):.200}; {'with the bound' if c.together else 'each by itself'}"
    yield Check("promises", right, detail)
    try:
        terms = terms_of(c, c.deployed_part)
    except (ValueError, ZeroDivisionError):
        return  # the part's own checks have said so
    for number, promise in enumerate(c.promises):
        where, rule = place_of(c, number), RULES.get(promise.name)
        if rule is None:
            detail = f"no verifier for it: {promise.name!r:.80} is not certivote's own"
            yield Check(f"promise {number + 1}", False, detail, unknown=True)
            continue
        yield from _check_promise(c, promise, rule, where, terms)


def _check_promise(c: Certificate, promise: PromiseRecord, rule: Rule, where: str, terms: Terms) -> Iterator[Check]:
    try:
        p = Promised(c, promise, rule.asked(promise))
    except ValueError as error:
        yield Check(f"{where}, parameters", False, f"{error}")
        return
    problem = rule.is_fixed(p)
    detail = f"{', '.join(fixed.what for fixed in promise.fixed)[:200] or 'nothing'} fixed beforehand"
    if problem:
        yield Check(f"{where}, fixed", False, problem)
        return
    if promise.fixed:
        yield Check(f"{where}, fixed", True, detail)
    guide = _check_guide(p, rule, where)
    if promise.guide_rows or not guide.passed:
        yield guide
    wanted = rule.statements(p)
    found = [(entry.kind, entry.label, entry.threshold) for entry in promise.statements]
    right = found == [(each.kind, each.label, each.threshold) for each in wanted]
    kinds = " and ".join(dict.fromkeys(each.kind for each in wanted))
    yield Check(where, right, f"{counted(len(found), 'statement')}, {len(wanted)} to be made: {kinds}")
    if not right or not found:
        return
    yield _check_ledger(p, [each.of for each in wanted], where, terms)
    agreements = list(rule.agreements(p))
    if all(passed for _, passed, _ in agreements):
        yield Check(f"{where}, counts", True, "; ".join(f"{what}: {detail}" for what, _, detail in agreements))
    for what, passed, detail in agreements:
        if not passed:
            yield Check(f"{where}, {what}", passed, detail)
    yield from _check_decision(p, rule, where)
    yield from _check_bounds(p, rule, where, terms)


def _check_decision(p: Promised, rule: Rule, where: str) -> Iterator[Check]:
    """What follows for new cases, and from which target; one line where something does, or should."""
    found, decided = (p.record.chosen, p.record.thresholds, p.record.value), rule.decides(p)
    if rule.rounds_value:
        found = (p.record.chosen, p.record.thresholds, None)  # what is rounded, the agreements compare
    detail = f"thresholds {', '.join(map(repr, p.record.thresholds[:5])) or 'none'}, for {p.record.value!r}"
    if found != decided or decided != (None, (), None):
        yield Check(f"{where}, decision", found == decided, detail)


def _check_guide(p: Promised, rule: Rule, where: str) -> Check:
    """Rows that have fixed something: training rows, or else a fifth of the certification rows, which do not count."""
    part, guided = p.part, rule.is_guided(p)
    aside, guides = p.record.set_aside, p.record.guide_rows
    detail = f"{guides:,} rows have fixed something, {aside:,} of them set aside"
    if guided is None:
        guided = bool(aside)
    if not guided:
        return Check(f"{where}, guide", (aside, guides) == (0, 0), detail)
    if p.is_trained:
        most = min(part.training_rows, _MOST_GUIDES) if rule.looks_at_votes else part.training_rows
        return Check(f"{where}, guide", (aside, guides) == (0, most), detail)
    fifth = int(0.2 * part.size)
    right = guides == aside and (aside == fifth if not part.entities else fifth <= aside <= part.n - part.size + fifth)
    return Check(f"{where}, guide", right, detail)


def _check_ledger(p: Promised, parts: list[Fraction], where: str, terms: Terms) -> Check:
    """What the promise has of delta, and each of its statements of that; detail with what this costs in rows."""
    c, whole = p.c, promise_share(p.c)
    right = is_share(p.record.delta, whole)
    own = part_of_vote(c, whole)
    for entry, of in zip(p.statements, parts, strict=True):
        right = right and is_share(entry.delta, own / arb(fmpq(of.numerator, of.denominator)))
    shares = sorted({entry.delta for entry in p.statements})
    each = f"{shares[0]:.4g}" + (f" to {shares[-1]:.4g}" if len(shares) > 1 else " each")
    # Deltas that are none would give no logarithm.
    lost = f": as if {_rows_lost(c, shares[0], terms)} of the rows were missing" if right else ""
    detail = f"{p.record.delta:.6g} of {c.delta:.6g}, {counted(len(p.statements), 'statement')} with {each}{lost}"
    return Check(f"{where}, delta", right, detail)


def _rows_lost(c: Certificate, delta: float, terms: Terms) -> str:
    """The share of rows that a bound with all of delta could do without and be as wide as one with a part of it."""
    said = replace(c.deployed_part.statement, risk_delta=0.0)
    nats = [float(terms.nats(replace(said, delta=each)).mid()) for each in (c.delta, delta)]
    return f"{100.0 * (1.0 - nats[0] / nats[1]):.0f} %" if 0.0 < nats[0] <= nats[1] < math.inf else "some"


def _check_bounds(p: Promised, rule: Rule, where: str, terms: Terms) -> Iterator[Check]:
    """Every statement proved; one line if all are, and those that are not by themselves."""
    checks = [check for said in p.statements for check in _statement(p, rule, said, terms)]
    yield from (check for check in checks if not check.passed)
    if all(check.passed for check in checks):
        highest = max(said.bound for said in p.statements)
        detail = f"{len(p.statements)} proved, each hardly above its theorem's value, the largest {highest!r}"
        yield Check(f"{where}, bounds", True, detail)


def _statement(p: Promised, rule: Rule, said: Statement, terms: Terms) -> Iterator[Check]:
    where, part = _about(p.record, said), p.part
    if not said.n:
        nothing = (said.errors, said.means, said.losses, said.entities, said.risk_draws, said.risk_delta, said.bound)
        yield Check(f"{where}, bound", nothing == (None, (), (), 0, 0, 0.0, 1.0), f"{said.bound!r} without a row")
    elif not (1 <= said.entities <= min(said.n, part.entities) if p.c.groups else said.entities == 0):
        yield Check(f"{where}, entities", False, f"{said.entities:,}, of {said.n:,} rows and {part.entities:,} in all")
    elif not 0.0 <= said.risk_delta < said.delta:
        yield Check(f"{where}, risk", False, f"{said.risk_delta!r} of {said.delta!r} was spent on it")
    else:
        own, statistics = rule.proved_by(p, terms, said, where)
        yield from prove(own, said, statistics, where)


def _about(promise: PromiseRecord, entry: Statement) -> str:
    """What a statement is called."""
    if promise.name == "by class":
        return f"{entry.kind}s, class {entry.label}"
    label = f" of {entry.label}" if entry.label else ""
    return f"{promise.name}, {entry.kind}{label}" + ("" if entry.threshold is None else f" at {entry.threshold:.6g}")
