"""What happened and what to do, in a sentence; and what else has changed since the certificate was made."""

import math
from dataclasses import dataclass

from certivote.certificate import percent_up, plain_percent
from certivote.monitor import DriftMonitor, Monitor
from certivote.present._plain import plain_text

_DEVIATIONS = 3.0
"""Standard deviations that chance hardly exceeds."""
_NAMED = 3
"""Columns that the hint names."""
_SHARES = {
    ("by class", "error"): "class {}",
    ("precision", "imprecision"): "answers {}",
    ("subgroups", "error"): "{}",
}
"""The statements that are about a share of all cases, and what that is a share of."""


@dataclass(frozen=True)
class Change:
    """The share of a class, of an answer or of a group, then and now.

    Attributes
    ----------
    name : str
    before, now : float
        Among what certified, and among the outcomes.
    by_chance : float
        The difference that chance hardly exceeds.
    """

    name: str
    before: float
    now: float
    by_chance: float

    @property
    def is_large(self) -> bool:
        """Whether chance alone hardly explains it."""
        return abs(self.now - self.before) > self.by_chance

    @property
    def words(self) -> str:
        """The change in a sentence."""
        return f"{self.name}: {plain_percent(self.before, 1)} when it was certified, {plain_percent(self.now, 1)} now"


def changes(monitor: Monitor) -> list[Change]:
    """How frequent classes, answers and groups are now, and were among what certified; the largest changes first."""
    first, found = monitor.streams[0], []
    certified, seen = first.statement.rows, first.n
    for stream in monitor.streams if certified and seen else ():
        about = _SHARES.get((stream.promise, stream.statement.kind))
        if about is not None:
            both = min((stream.statement.rows + stream.n) / (certified + seen), 1.0)
            by_chance = _DEVIATIONS * math.sqrt(both * (1.0 - both) * (1.0 / certified + 1.0 / seen))
            name = about.format(plain_text(stream.statement.label))
            found.append(Change(name, stream.statement.rows / certified, stream.n / seen, by_chance))
    return sorted(found, key=lambda each: (not each.is_large, -abs(each.now - each.before)))


def outcomes_sentence(monitor: Monitor) -> str:
    """What outcomes have shown, and what to do."""
    first, unit = monitor.streams[0], "groups" if monitor.groups else "outcomes"
    if first.error_so_far is None:
        return f"No {unit} were counted yet: give the true classes as they become known."
    if monitor.alarm:
        worst, broken = monitor.alarms[0], len(monitor.alarms)
        which = "The certificate no longer holds" if broken == 1 else f"{broken} of its promises no longer hold"
        return (
            f"{which}: {plain_text(worst.name)}, promised for at most {percent_up(worst.bound)}, came in "
            f"{plain_percent(worst.error_so_far or 0.0)} of {worst.n:,} {unit}. Do not rely on the certificate, look "
            "for what has changed, and certify the model again."
        )
    seen = f"{plain_percent(first.error_so_far)} of {first.n:,} {unit} were wrong"
    if not first.is_watched:
        return f"{seen}: the certificate promises nothing about errors, so certify the model with more rows."
    return (
        f"{seen}, and at most {percent_up(first.bound)} was promised: nothing shows that a promise has stopped "
        "holding, and nothing needs to be done."
    )


def rows_sentence(monitor: DriftMonitor) -> str:
    """What rows without labels have shown, and what to do."""
    unit = "groups" if monitor.groups else "rows"
    if not monitor.n:
        return f"No {unit} were counted yet: give the new rows as they come."
    if monitor.alarm:
        return (
            f"The new {unit} look different from {monitor.compared_with}, which does not mean that errors have grown: "
            "let a random sample of them be labelled, and watch these outcomes."
        )
    return (
        f"Nothing shows that the {monitor.n:,} new {unit} look different from {monitor.compared_with}, and nothing "
        "needs to be done."
    )


def outcomes_hint(found: list[Change]) -> str:
    """The largest change, which may explain the errors; empty if chance explains all of them."""
    return f"Also changed: {found[0].words}." if found and found[0].is_large else ""


def rows_hint(monitor: DriftMonitor) -> str:
    """The columns that have moved most; empty if none has."""
    names = [plain_text(each.column) for each in monitor.moved[:_NAMED]]
    return f"Columns that have moved most: {', '.join(names)}." if names else ""
