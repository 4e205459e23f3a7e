"""Errors and statistics of a vote, counted again from its voters' votes by code that makes no certificates."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from certivote.certificate import Certificate, ClassBound, PartRecord
from certivote.verify._check import Check
from certivote.verify._families import FAMILIES, Family
from certivote.verify._methods import METHODS, RANDOM, Method
from certivote.verify._simulation import Array, AuditedVotes, Labels, least_rate, mistakes

__all__ = ["check_prior_vote", "recount"]

_RELATIVE, _ABSOLUTE = 1e-9, 1e-11
"""How far a recorded statistic may be from the one computed again."""
_NUMBERS = 50_000_000
"""Random numbers that all simulations of one certificate may take: half for the whole, half for the classes."""

_STATISTICS: dict[str, Callable[[Array], list[float]]] = {
    "fo": lambda wrong: [float(wrong.mean())],
    "so": lambda wrong: [float(np.mean(wrong**2))],
    # P[Bin(100, w) >= 50].
    "bin": lambda wrong: [float(np.mean(special.bdtrc(49, 100, wrong)))],
    "c-bound": lambda wrong: [float(wrong.mean()), float(np.mean(2.0 * wrong * (1.0 - wrong)))],
}
"""What the theorems of the mean vote are about, from its wrong masses."""


@dataclass(frozen=True)
class _Count:
    """Counts of one vote on the certification rows, or on some of them.

    Attributes
    ----------
    loss, method, statistics
        What counts as an error, the method's row, and what its theorem is about if that is the mean vote.
    family : Family
    votes, weights, labels
        As :func:`recount` takes them.
    masses : array or None
        Weight behind each class; None where the weights are drawn anew for every row.
    """

    loss: str
    method: Method
    statistics: Callable[[Array], list[float]] | None
    family: Family
    votes: AuditedVotes
    weights: Array
    labels: Labels
    masses: Array | None

    def take(self, rows: Labels) -> "_Count":
        """On some of the rows."""
        if self.masses is None:
            return replace(self, votes=self.votes.take(rows), labels=self.labels[rows])
        return replace(self, masses=self.masses[rows], labels=self.labels[rows])

    def compare(
        self, record: PartRecord | ClassBound, where: str, numbers: int, alarm: int | None = None
    ) -> Iterator[Check]:
        """What is recorded of these rows against what is counted; ``alarm``: the class whose false alarms these are."""
        if self.masses is None:
            yield self._simulated(record, where, numbers)
            return
        if self.method.predictor != RANDOM:
            answers = self.masses.argmax(axis=1)
            wrong = answers == alarm if alarm is not None else mistakes(self.masses, self.labels, self.loss)
            errors = int(np.count_nonzero(wrong))
            told = "none" if record.errors is None else f"{record.errors:,}"
            yield Check(f"{where}errors", errors == record.errors, f"{errors:,} counted, {told} recorded")
        total = self.masses.sum(axis=1)
        wrong_mass = np.clip(total - self.masses[np.arange(len(self.labels)), self.labels], 0.0, total)
        if self.method.predictor == RANDOM and self.family.half_tail is not None:
            yield _equal([self.family.half_tail(wrong_mass, total)], record, where)
        elif self.statistics is not None:
            yield _equal(self.statistics(wrong_mass), record, where)

    def _simulated(self, record: PartRecord | ClassBound, where: str, numbers: int) -> Check:
        """Whether the recorded limit of the expected error rate is one that votes drawn anew allow."""
        assert self.family.simulate is not None
        errors, answers = self.family.simulate(self.votes, self.weights, self.labels, self.loss, numbers)
        right = bool(record.risks) and record.risks[0] >= least_rate(errors, answers)
        recorded = ", ".join(map(repr, record.risks))
        return Check(f"{where}risk", right, f"at most {recorded} recorded, {errors / answers:.6f} in a new simulation")


def recount(certificate: Certificate, votes: AuditedVotes, weights: Array, labels: Labels) -> Iterator[Check]:
    """Hold what is recorded of the deployed vote, as a whole and by class, against its votes.

    Parameters
    ----------
    certificate : Certificate
    votes : AuditedVotes
        On the certification rows.
    weights : array
        Those of the vote; for the random vote, the parameters of the distribution that it draws them from.
    labels : array of int
        Numbers of the true classes.
    """
    c, part = certificate, certificate.deployed_part
    method, family = METHODS.get(c.method), FAMILIES.get(part.family)
    if method is None or family is None or part.family not in method.families:
        yield Check("vote", False, f"nothing is known of {c.method} with a {part.family} distribution")
        return
    is_random = method.predictor == RANDOM
    if len(weights) != votes.n_voters * (family.parameters_each if is_random else 1):
        yield Check("vote", False, f"the model has {len(weights):,} numbers for {votes.n_voters:,} voters")
        return
    masses = votes.masses(weights) if not is_random or family.has_closed_form(c.loss, len(c.classes)) else None
    vote = _Count(c.loss, method, _STATISTICS.get(c.method), family, votes, weights, labels, masses)
    yield from vote.compare(part, "", _NUMBERS // 2)
    for entry in c.by_class:
        if entry.label not in c.classes:
            yield Check("by class", False, f"there is no class {entry.label}")
            continue
        code, where = c.classes.index(entry.label), f"{entry.kind}s, class {entry.label}, "
        among = np.flatnonzero(labels == code if entry.kind == "error" else labels != code)
        yield Check(f"{where}rows", len(among) == entry.n, f"{len(among):,} counted, {entry.n:,} recorded")
        if len(among):
            alarm = None if entry.kind == "error" else code
            yield from vote.take(among).compare(entry, where, _NUMBERS // 2 // len(c.by_class), alarm)


def check_prior_vote(certificate: Certificate, part: PartRecord, votes: AuditedVotes, labels: Labels) -> Check:
    """Hold the errors of the vote with the prior's mean weights against the votes of all voters.

    Where weights are equal the fixed-point rounding breaks ties, and processors differ in the last bit of that: the
    count must be one of those that a float exponential can give.
    """
    if part.n_voters != votes.n_voters or len(part.beta) != part.n_voters * FAMILIES[part.family].parameters_each:
        return Check("prior vote counted", False, f"{votes.n_voters:,} voters, and {len(part.beta):,} parameters")
    centre = FAMILIES[part.family].centre(np.array(part.beta))
    logs = np.log(centre / centre.sum())
    found = []
    for direction in (0.0, -1.0, 1.0):
        exact = np.exp(logs)
        units = np.floor((np.nextafter(exact, exact + direction) if direction else exact) * 2.0**52)
        units[np.argmax(units)] += 2.0**52 - units.sum()
        wrong = mistakes(votes.masses(units / 2.0**52), labels, certificate.loss)
        found.append(int(np.count_nonzero(wrong)))
    right = part.holdout_errors in found
    return Check("prior vote counted", right, f"{found[0]:,} errors counted, {part.holdout_errors:,} recorded")


def _equal(found: list[float], record: PartRecord | ClassBound, where: str) -> Check:
    right = len(found) == len(record.risks) and np.allclose(record.risks, found, rtol=_RELATIVE, atol=_ABSOLUTE)
    detail = f"{', '.join(f'{risk:.12f}' for risk in found)} computed, {', '.join(map(repr, record.risks))} recorded"
    return Check(f"{where}risk", right, detail)
