"""What one vote says of the certification rows, of all at once or block by block."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from certivote.certificate import Certificate, PartRecord
from certivote.verify._families import FAMILIES
from certivote.verify._methods import METHODS, RANDOM, method_of
from certivote.verify._simulation import Array, AuditedVotes, Labels, mistakes


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


def tally(c: Certificate, votes: AuditedVotes, weights: Array, labels: Labels) -> Tally:
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
    logs = np.log(centre / centre.sum())
    found = []
    for direction in (0.0, -1.0, 1.0):
        exact = np.exp(logs)
        units = np.floor((np.nextafter(exact, exact + direction) if direction else exact) * 2.0**52)
        units[np.argmax(units)] += 2.0**52 - units.sum()
        found.append(units / 2.0**52)
    return found
