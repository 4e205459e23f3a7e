"""Answers, errors and statistics of a vote, counted again from its voters' votes by code that makes no certificates."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from certivote.certificate import Certificate, Drift, PartRecord, Statement
from certivote.verify._check import Check
from certivote.verify._families import FAMILIES, Family, hardly_counts
from certivote.verify._methods import GIVEN, METHODS, RANDOM, Method, method_of
from certivote.verify._promises import PromiseData, recount_promises
from certivote.verify._simulation import Array, AuditedVotes, Labels, least_rate, mean_over, mistakes
from certivote.verify._units import OTHER_LOSSES, entity_losses, renumbered, row_shares


@dataclass(frozen=True)
class Tally:
    """Answers, and where they are errors.

    Attributes
    ----------
    labels : array of int
        Numbers of the true classes.
    answers : array of int or None
        Numbers of the classes that the vote gives; None where the weights are drawn anew for every row.
    wrong : array of bool or None
        Where it errs, as the certificate's loss says.
    masses : array or None
        Weight behind each class; None also where blocks were counted, of which no more is kept.
    votes : AuditedVotes or None
        The votes themselves, if they are at hand.
    """

    labels: Labels
    answers: Labels | None = None
    wrong: NDArray[np.bool_] | None = None
    masses: Array | None = None
    votes: AuditedVotes | None = None

    def take(self, rows: Labels) -> "Tally":
        """Of some of the rows."""
        if self.answers is None or self.wrong is None:
            assert self.votes is not None
            return replace(self, labels=self.labels[rows], votes=self.votes.take(rows))
        masses = None if self.masses is None else self.masses[rows]
        return Tally(self.labels[rows], self.answers[rows], self.wrong[rows], masses)

    def brief(self, n_classes: int) -> "Tally":
        """The same without masses and votes, in few bytes a row."""
        if self.answers is None or self.wrong is None:
            return self
        return Tally(short(self.labels, n_classes), short(self.answers, n_classes), self.wrong)


def short(codes: Labels, n_classes: int) -> Labels:
    """Numbers of classes in few bytes each, for very many rows."""
    return codes.astype(np.min_scalar_type(-n_classes))


def tally(c: Certificate, votes: Any, weights: Array, labels: Labels) -> Tally:
    """What these votes say with these weights; of a random vote, the parameters that its weights are drawn from."""
    family = FAMILIES[c.deployed_part.family]
    if method_of(c).predictor == RANDOM and not family.has_closed_form(c.loss, len(c.classes)):
        return Tally(labels, votes=votes)
    masses = votes.masses(weights)
    return Tally(labels, masses.argmax(axis=1), mistakes(masses, labels, c.loss), masses, votes)


def joined(blocks: Sequence[Tally]) -> Tally:
    """Of the rows of all blocks: of several, only answers and errors, in few bytes each."""
    if len(blocks) == 1:
        return blocks[0]
    answers = [each.answers for each in blocks if each.answers is not None]
    wrong = [each.wrong for each in blocks if each.wrong is not None]
    return Tally(np.concatenate([each.labels for each in blocks]), np.concatenate(answers), np.concatenate(wrong))


def unknown_vote(c: Certificate, n_voters: int, n_weights: int) -> str:
    """Why a vote cannot be counted; empty if it can."""
    part, method = c.deployed_part, method_of(c) if c.method in METHODS else None
    family = FAMILIES.get(part.family)
    if method is None or family is None or part.family not in method.families:
        return f"nothing is known of {c.method} with a {part.family} distribution"
    if n_weights != n_voters * (family.parameters_each if method.predictor == RANDOM else 1):
        return f"the model has {n_weights:,} numbers for {n_voters:,} voters"
    return ""


def prior_votes(part: PartRecord, n_voters: int) -> list[Array]:
    """The weights of the vote with the prior's mean; none if the record is about another number of voters.

    Where weights are equal the fixed-point rounding breaks ties, and processors differ in the last bit of that: there
    is one vote for each float exponential that there can be.
    """
    if part.n_voters != n_voters or len(part.beta) != part.n_voters * FAMILIES[part.family].parameters_each:
        return []
    centre = FAMILIES[part.family].centre(np.array(part.beta))
    mean = centre / centre.sum()
    nobody, logs = hardly_counts(mean), np.log(mean)
    found = []
    for direction in (0.0, -1.0, 1.0):
        exact = np.exp(logs)
        units = np.floor((np.nextafter(exact, exact + direction) if direction else exact) * 2.0**52)
        units[nobody] = 0.0
        units[np.argmax(units)] += 2.0**52 - units.sum()
        found.append(units / 2.0**52)
    return found


_RELATIVE, _ABSOLUTE = 1e-9, 1e-13
"""How far a recorded statistic may be from the one computed again."""
_NUMBERS = 50_000_000
"""Random numbers that all simulations of one certificate may take: half for the whole, half for the classes."""

_STATISTICS: dict[str, Callable[[Array], list[Array]]] = {
    "fo": lambda wrong: [wrong],
    "so": lambda wrong: [wrong**2],
    # P[Bin(100, w) >= 50].
    "bin": lambda wrong: [special.bdtrc(49, 100, wrong)],
    "c-bound": lambda wrong: [wrong, 2.0 * wrong * (1.0 - wrong)],
}
"""What the theorems of the mean vote take the means of, from its wrong masses."""


@dataclass(frozen=True)
class _Count:
    """Counts of one vote on the certification rows, or on some of them.

    Attributes
    ----------
    loss, method, statistics
        What counts as an error, the method's row, and what its theorem is about if that is the mean vote.
    family : Family
    tally : Tally
    weights : array
        As :func:`recount` takes them.
    entities : array of int or None
        Which rows belong together.
    whole : bool
        Whether all is known that the statistics are made of: not if rows belong together and nothing says which.
    """

    loss: str
    method: Method
    statistics: Callable[[Array], list[Array]] | None
    family: Family
    tally: Tally
    weights: Array
    entities: Labels | None
    whole: bool

    def take(self, rows: Labels) -> "_Count":
        """On some of the rows."""
        entities = None if self.entities is None else renumbered(self.entities[rows])
        return replace(self, tally=self.tally.take(rows), entities=entities)

    def wrong(self, alarm: int | None = None) -> NDArray[np.bool_]:
        """On which rows the vote errs, or gives this class."""
        assert self.tally.wrong is not None
        return self.tally.wrong if alarm is None else np.asarray(self.tally.answers == alarm)

    def compare(self, record: Statement, where: str, numbers: int, alarm: int | None = None) -> Iterator[Check]:
        """What is recorded of these rows against what is counted; ``alarm``: the class whose false alarms these are."""
        if self.entities is not None:
            count = int(self.entities.max()) + 1
            right = count == record.entities
            yield Check(f"{where}entities", right, f"{count:,} counted, {record.entities:,} recorded")
        if self.tally.answers is None:
            if self.whole:
                yield self._simulated(record, where, numbers)
            return
        if self.method.predictor != RANDOM:
            wrong = self.wrong(alarm)
            errors = int(np.count_nonzero(wrong))
            detail = "none" if record.errors is None else f"{record.errors:,}"
            yield Check(f"{where}errors", errors == record.errors, f"{errors:,} counted, {detail} recorded")
            if self.entities is not None and self.method.counts_errors:
                same = entity_losses(wrong, self.entities) == record.losses
                detail = "each as recorded, in the order of the bets" if same else "OTHER than recorded"
                yield Check(f"{where}losses", same, f"{count:,} entities, {detail}")
        masses, shares = self.tally.masses, row_shares(self.entities)
        if not self.whole or masses is None:
            return
        total = masses.sum(axis=1)
        wrong_mass = np.clip(total - masses[np.arange(len(masses)), self.tally.labels], 0.0, total)
        if self.method.predictor == RANDOM and self.family.half_tail is not None:
            yield _equal([self.family.half_tail(wrong_mass, total, shares)], record, where)
        elif self.statistics is not None:
            yield _equal([mean_over(values, shares) for values in self.statistics(wrong_mass)], record, where)

    def _simulated(self, record: Statement, where: str, numbers: int) -> Check:
        """Whether the recorded limit of the expected error rate is one that votes drawn anew allow."""
        votes, labels, shares = self.tally.votes, self.tally.labels, row_shares(self.entities)
        assert self.family.simulate is not None
        assert votes is not None
        errors, answers = self.family.simulate(votes, self.weights, labels, self.loss, numbers, shares)
        right = bool(record.means) and record.means[0] >= least_rate(errors, answers)
        recorded = ", ".join(map(repr, record.means))
        return Check(f"{where}risk", right, f"at most {recorded} recorded, {errors / answers:.6f} in a new simulation")


def recount(
    certificate: Certificate,
    tally: Tally,
    weights: Array,
    entities: Labels | None = None,
    times: Labels | None = None,
    data: PromiseData | None = None,
) -> Iterator[Check]:
    """Hold what is recorded of the deployed vote, as a whole and by its promises, against its votes.

    Parameters
    ----------
    certificate : Certificate
        Of a vote that is known: see :func:`~certivote.verify._recount.unknown_vote`.
    tally : Tally
        On the certification rows.
    weights : array
        Those of the vote; for the random vote, the parameters of the distribution that it draws them from.
    entities : array of int, optional
        Which rows belong together, by number in the order of the bets.
    times : array of int, optional
        When the rows were taken, by number from the earliest moment on.
    data : PromiseData, optional
        What else is known of the rows; of a vote that was learned, its masses take the place of what is said there.
    """
    c, part, labels = certificate, certificate.deployed_part, tally.labels
    method, family = method_of(c), FAMILIES[part.family]
    whole = entities is not None or not c.groups
    vote = _Count(c.loss, method, _STATISTICS.get(c.method), family, tally, weights, entities, whole)
    yield from vote.compare(part.statement, "", _NUMBERS // 2)
    if times is not None and method.predictor != RANDOM:
        yield _drift(vote.wrong(), times, part.drift)
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
    if method.counts_errors and tally.answers is not None:
        data = data or PromiseData()
        if method.predictor != GIVEN:
            data = replace(data, masses=tally.masses, scores=None)
        yield from recount_promises(c, labels, tally.answers, data, entities)


def _drift(wrong: NDArray[np.bool_], times: Labels, recorded: tuple[Drift, ...]) -> Check:
    """Errors before a moment and from it on: the one that is nearest to the middle of the rows."""
    ordered = np.sort(times)
    cuts = (np.flatnonzero(np.diff(ordered)) + 1).tolist()
    stated = [(one.early_rows, one.early_errors, one.late_rows, one.late_errors) for one in recorded]
    if not cuts:
        return Check("drift counted", not stated, f"all rows are of one moment, {len(stated)} tests recorded")
    first = min(cuts, key=lambda cut: (abs(cut - len(ordered) // 2), cut))
    late = times >= ordered[first]
    counts = (first, int(np.count_nonzero(wrong & ~late)), len(wrong) - first, int(np.count_nonzero(wrong & late)))
    detail = f"{counts[1]:,} errors in {counts[0]:,} early rows and {counts[3]:,} in {counts[2]:,} late ones counted"
    return Check(
        "drift counted", stated == [counts], f"{detail}, {'as' if stated == [counts] else 'OTHER than'} recorded"
    )


def check_prior_vote(
    part: PartRecord, n_voters: int, wrong: Sequence[NDArray[np.bool_]], entities: Labels | None = None
) -> Check:
    """Hold the errors of the vote with the prior's mean weights against what :func:`prior_votes` get wrong.

    The count must be that of one of them.
    """
    if not wrong:
        return Check("prior vote counted", False, f"{n_voters:,} voters, and {len(part.beta):,} parameters")
    found = [(int(np.count_nonzero(each)), entity_losses(each, entities)) for each in wrong]
    said = part.holdout
    detail = f"{found[0][0]:,} errors counted, {said.errors or 0:,} recorded"
    right = said.errors in [errors for errors, _ in found]
    if right and entities is not None:  # without them nothing says which rows the losses are of
        right = (said.errors, said.losses) in found
        detail += "" if right else OTHER_LOSSES
    return Check("prior vote counted", right, detail)


def _equal(found: list[float], record: Statement, where: str) -> Check:
    right = len(found) == len(record.means) and np.allclose(record.means, found, rtol=_RELATIVE, atol=_ABSOLUTE)
    detail = f"{', '.join(f'{risk:.12f}' for risk in found)} computed, {', '.join(map(repr, record.means))} recorded"
    return Check(f"{where}risk", right, detail)
