"""What else is promised: a card for each promise, what each has of delta, and what a change of the cases would do."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from certivote.certificate import Certificate, PromiseRecord, confidence, percent_up, plain_percent
from certivote.present._ledger import LedgerLine, ledger
from certivote.present._promises import is_known, promise_lines
from certivote.present.report._cards import Card
from certivote.present.report._class_cards import by_class, precision
from certivote.present.report._group_cards import costs, subgroups
from certivote.present.report._test_rows import TestRows
from certivote.present.report._threshold_cards import abstention, prediction_sets, sensitivity

_CARDS: dict[str, Callable[[Certificate, PromiseRecord, TestRows | None], Card]] = {
    "by class": by_class,
    "precision": precision,
    "abstention": abstention,
    "sensitivity": sensitivity,
    "sets": prediction_sets,
    "subgroups": subgroups,
    "costs": costs,
}
"""How the promises that have more than lines of text are shown."""


def cards(certificate: Certificate, test: TestRows | None) -> list[Card]:
    """One card per promise: what was asked for first, the bounds by class last."""
    found = [_card(certificate, record, test, number) for number, record in enumerate(certificate.promises)]
    return found[1:] + found[:1]


def _card(certificate: Certificate, record: PromiseRecord, test: TestRows | None, number: int) -> Card:
    summary, *lines = promise_lines(record)
    card = Card("promise", record.name, summary, [], lines=lines)
    if is_known(record) and record.name in _CARDS:
        # A record may come from anywhere, and not be what its promise makes.
        with suppress(ArithmeticError, LookupError, RecursionError, StopIteration, TypeError, ValueError):
            card = _CARDS[record.name](certificate, record, test)
    shown = bool(card.tiles or card.choice or card.rows or card.intervals)
    sure = f"{confidence(certificate.delta)} confidence{' in all at once' if certificate.together else ''}"
    return replace(
        card,
        key=f"{card.key}-{number}",
        summary=summary,
        lines=[] if shown else lines,
        sure=sure if shown else "",
    )


@dataclass(frozen=True)
class LedgerRow:
    """A line of the ledger in words."""

    name: str
    about: str
    statements: str
    promise_delta: str
    delta: str
    cost: str


def ledger_rows(certificate: Certificate) -> list[LedgerRow]:
    """What each statement has of delta, and what that costs."""
    return [_ledger_row(line) for line in ledger(certificate)]


def _ledger_row(line: LedgerLine) -> LedgerRow:
    cost = "nothing"
    if line.cost:
        span = f"{line.most:,}" if line.fewest == line.most else f"{line.fewest:,} to {line.most:,}"
        cost = f"{span} {line.cases} ({plain_percent(line.cost, 0)})"
    return LedgerRow(
        name=line.promise,
        about=", ".join(line.kinds),
        statements=f"{line.statements:,}",
        promise_delta=f"{line.promise_delta:.3g}",
        delta=f"{line.delta:.3g}",
        cost=cost,
    )


_SHIFTS: tuple[tuple[str, str, float, str], ...] = (
    ("kl", "KL divergence up to 0.001", 0.001, "the share of any kind of {cases} changes by at most 2.3 points"),
    ("kl", "KL divergence up to 0.01", 0.01, "... by at most 7.1 points"),
    ("kl", "KL divergence up to 0.1", 0.1, "... by at most 22.4 points"),
    ("total_variation", "Total variation up to 0.01", 0.01, "... by at most 1 point, of whatever kind"),
    ("total_variation", "Total variation up to 0.05", 0.05, "... by at most 5 points, of whatever kind"),
    ("label_noise", "Wrong labels, up to 1 %", 0.01, "so many of the recorded classes are not the true ones"),
)
"""Arguments of ``under_shift``, their names, and what follows from them: by Pinsker's inequality, of a divergence."""


def shifts(certificate: Certificate) -> list[tuple[str, str, str]]:
    """What the bound becomes if the cases change so much; nothing where there is no bound."""
    if certificate.vacuous:
        return []
    cases = "groups" if certificate.groups else "cases"
    return [
        (name, means.format(cases=cases), percent_up(certificate.under_shift(**{what: size})))
        for what, name, size, means in _SHIFTS
    ]
