"""The ledger: what each statement of a certificate has of delta, and what it costs in rows not to have all of it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from certivote.certificate import Certificate, PartRecord, Statement, counted, plain_percent, units


@dataclass(frozen=True)
class LedgerLine:
    """Statements of a promise that have the same part of delta.

    Attributes
    ----------
    number : int
        Of the promise, from 1; 0 for the bound itself.
    promise : str
        Its name.
    kinds : tuple of str
        What the statements are about.
    statements : int
    promise_delta, delta : float
        What the promise has, and each of these statements.
    cost : float
        Share of its rows that a statement would need less for the same bound if it had the certificate's delta alone.
    fewest, most : int
        The same in rows, or groups, from one statement to another.
    cases : str
        Rows or groups.
    """

    number: int
    promise: str
    kinds: tuple[str, ...]
    statements: int
    promise_delta: float
    delta: float
    cost: float
    fewest: int
    most: int
    cases: str


def ledger(certificate: Certificate) -> list[LedgerLine]:
    """The bound, then the promises, each with its statements."""
    part = certificate.deployed_part
    own = [*(record.delta for record in certificate.promises), *(each.delta for each in certificate.differences)]
    spent = sum(own) if certificate.together else 0.0
    lines = [_line(certificate, 0, ("error",), certificate.delta - spent, [part])]
    for number, record in enumerate(certificate.promises, 1):
        by_delta = sorted(record.statements, key=lambda entry: -entry.delta)
        for _, found in groupby(by_delta, key=lambda entry: entry.delta):
            alike = list(found)
            kinds = tuple(dict.fromkeys(entry.kind for entry in alike))
            lines.append(_line(certificate, number, kinds, record.delta, alike))
    return lines


def _line(
    certificate: Certificate,
    number: int,
    kinds: tuple[str, ...],
    promise_delta: float,
    alike: Sequence[PartRecord | Statement],
) -> LedgerLine:
    delta, penalty = alike[0].delta, max(certificate.deployed_part.penalty, 0.0)
    # A bound depends nearly on what is paid, divided by the rows.
    cost = 1.0 - (penalty - math.log(certificate.delta)) / (penalty - math.log(delta))
    cost = max(cost, 0.0)
    rows = [math.ceil(cost * entry.size) for entry in alike]
    return LedgerLine(
        number=number,
        promise=certificate.promises[number - 1].name if number else "bound",
        kinds=kinds,
        statements=len(alike),
        promise_delta=promise_delta,
        delta=delta,
        cost=cost,
        fewest=min(rows),
        most=max(rows),
        cases=units() if certificate.groups else "rows",
    )


def ledger_text(lines: Sequence[LedgerLine]) -> list[str]:
    """One line per promise; where its statements have different parts of delta, these one after another."""
    found = []
    for _, group in groupby(lines, key=lambda line: line.number):
        alike = list(group)
        parts = [_part(line, with_kinds=len(alike) > 1) for line in alike]
        found.append(f"{alike[0].promise}: {alike[0].promise_delta:.3g}; {'; '.join(parts)}")
    return found


def _part(line: LedgerLine, with_kinds: bool) -> str:
    about = f" ({', '.join(line.kinds)})" if with_kinds else ""
    has = "has" if line.statements == 1 else "have"
    each = "" if line.statements == 1 else " each"
    return f"{counted(line.statements, 'statement')}{about} {has} {line.delta:.3g}{each}, {cost_text(line)}"


def cost_text(line: LedgerLine) -> str:
    """What it costs not to have all of delta."""
    if not line.cost:
        return "all of delta"
    span = f"{line.most:,}" if line.fewest == line.most else f"{line.fewest:,} to {line.most:,}"
    return f"at a cost of about {plain_percent(line.cost, 0)} of its {line.cases} ({span})"
