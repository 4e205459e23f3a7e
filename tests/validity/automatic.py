"""What ``auto`` decides by rows that it does not certify: how they are divided, and which kinds of models vote.

The first rows are looked at, and certify nothing. They say whether one vote is certified on a part of the others, or
each of two or three votes on a fold of them, at its part of delta. Of the kinds of models in a mixed vote, those are
kept that add something on training rows that they have not seen.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from chosen import chosen_breaches, chosen_cases
from honest import DELTA, PURE, fit, world
from study import Case, Row
from tallies import Foreseen, Tallies
from worlds import World

from certivote.pipeline import RowsInMemory, certify_votes, make_plan, prepare
from certivote.pipeline._priors import unseen_weights
from certivote.theory.bounds import holdout
from certivote.voters import Mixed
from certivote.voters._members import FoldedMember
from certivote.voters._mixed import TriedMixed
from certivote.voters._race import Training, trained
from certivote.votes import build_votes


class Light(Mixed):
    """Mixed voters with few trees and without boosting, which take most of the time; raced as all kinds are."""

    def __init__(self, sketch=None):
        super().__init__()
        self.sketch = sketch

    def pilot(self, n_rows):
        return LightTried() if self.sketch is None else self.sketch

    def _members(self, training):
        return super()._members(Hasty(**vars(training)))


class LightTried(TriedMixed):
    """Their pilot."""

    def _members(self, training):
        return super()._members(Hasty(**vars(training)))


class Hasty(Training):
    """Training of what is quickly trained; trees that have been tried are not grown again."""

    def kinds(self):
        return tuple(kind for kind in super().kinds() if kind != "boosting")

    def trial(self, n_folds, n_trees=5):
        return super().trial(n_folds, n_trees=5)


def told_by(rule, noise):
    """The cases of a grid, with the class that a rule tells from their features."""
    grid = world(noise)
    return World(grid.X, grid.p, np.where(rule(grid.X)[:, None], [noise, 1.0 - noise], [1.0 - noise, noise]))


ODD = "odd or even sums, label noise 0.15"
EASY = "told by one feature"
RARE = "pure noise, one in ten of class 1"
NOISE, NOISE_3 = "2 classes, pure noise", "3 classes, pure noise"
WORLDS = {
    NOISE: lambda: world(0.5),
    NOISE_3: lambda: world(PURE[3], 3),
    # No feature tells anything without the two others: every row helps, and folds pay.
    ODD: lambda: told_by(lambda X: X.sum(axis=1) % 2 == 1, 0.15),
    # Hardly ever an error: folds do not pay.
    EASY: lambda: told_by(lambda X: X[:, 0] > 0, 0.0),
    RARE: lambda: told_by(lambda X: np.zeros(len(X), dtype=bool), 0.1),
}


@cache
def truth_of(where):
    return WORLDS[where]()


def sampled(where, n, rng):
    """Rows with all classes, and a seed; None where a class is missing."""
    truth = truth_of(where)
    X, y = truth.sample(n, rng)
    seed = int(rng.integers(2**31))
    return None if len(np.unique(y)) < truth.chances.shape[1] else (X, y, seed)


# As intended


def fitted(where, n, voters, **options):
    """A whole fit: everything is left to ``auto``, but for these options."""

    def trial(rng):
        drawn = sampled(where, n, rng)
        if drawn is None:
            return []
        outcome = fit(*drawn, **{"method": "auto", "split": "auto", "voters": voters, "delta": DELTA, **options})
        return [(outcome.certificate.bound, truth_of(where).risk(outcome))]

    return trial


def divided(where, n, voters):
    """Divided as ``auto`` does it; each part's vote of the informed weights is held out, which saves the learning.

    The deployed vote; the average of several, or once more the only one; the worst of the statements about classes; and
    the bound for always answering one class, which is shown beside that of the deployed vote.
    """

    def trial(rng):
        drawn, truth = sampled(where, n, rng), truth_of(where)
        if drawn is None:
            return []
        X, y, seed = drawn
        plan = make_plan("auto", voters, "auto", delta=DELTA, random_state=seed)
        outcome = certify_votes(plan.with_method("holdout", DELTA), prepare(plan, RowsInMemory(plan.voters, X, y)))
        certificate = outcome.certificate
        risks = [truth.risk_of_part(outcome, number) for number in range(len(outcome.parts))]
        own = average = (certificate.bound, risks[certificate.deployed])
        if certificate.average_bound is not None:
            average = (certificate.average_bound, float(np.dot(certificate.average_weights, risks)))
        part = certificate.parts[certificate.deployed]
        majority = certificate.classes.index(part.majority.label)
        always = (part.majority.bound, 1.0 - float(truth.p @ truth.chances[:, majority]))
        return [own, average, truth.worst_statement(outcome), always]

    return trial


# The race alone, and the adversary who runs it on the certified rows


@cache
def strange_kinds(count):
    """What so many models say of each of 27 cases: fixed long ago, at random."""
    return np.random.default_rng(11).integers(2, size=(27, count)).astype(np.int32)


@dataclass(frozen=True)
class Strange(Training):
    """Training rows on which such models have answered; there is nothing to train."""

    answers: Any = None

    def trial(self, *how, **ever):
        columns = enumerate(self.answers.T)
        return {str(kind): FoldedMember((), (), 1, column[:, None]) for kind, column in columns}

    def members(self, tried):
        return tuple(tried)


def race(answers, labels):
    """The weight of each kind: none for those that do not earn their place."""
    n, count = answers.shape
    training = Strange(np.zeros((n, 1)), labels, 2, None, np.arange(n), (), answers=answers)
    kept = [int(kind) for kind in trained(training)]
    weights = np.zeros(count)
    weights[kept] = unseen_weights(build_votes(codes=answers[:, kept], n_classes=2), labels, "plurality", None)
    return weights


def race_alone(count, n, on_certified):
    """Certified on ``n`` rows; the race is on as many others, or on the very same ones."""

    def trial(rng):
        answers = strange_kinds(count)
        cases, labels = rng.integers(27, size=(2, n)), rng.integers(2, size=(2, n))
        weights = race(answers[cases[0]], labels[0])
        own = 0 if on_certified else 1
        masses = build_votes(codes=answers[cases[own]], n_classes=2).masses(weights)
        return [(holdout(int(np.count_nonzero(masses.argmax(axis=1) != labels[own])), n, DELTA), 0.5)]

    return trial


# Adversaries of the division

DIVISIONS = ("single", 2, 3, 5)


def divided_as(split, X, y, seed, delta):
    """Bound of the vote that is deployed from this division, held out."""
    options = {"method": "holdout", "voters": Tallies(), "prior": "informed"}
    return fit(X, y, seed, **options, split=split, delta=delta).certificate.bound


def best_division(paid):
    """Every number of parts is tried, and the smallest certificate is shown, whether delta is divided or not."""

    def trial(rng):
        drawn = sampled(NOISE, 96, rng)
        delta = DELTA / len(DIVISIONS) if paid else DELTA
        return drawn and [(min(divided_as(split, *drawn, delta) for split in DIVISIONS), 0.5)]

    return trial


def best_fold(paid):
    """The smallest of three bounds, each at its part of delta; or each at the whole of it."""

    def trial(rng):
        drawn = sampled(NOISE, 63, rng)
        return drawn and [(divided_as(3, *drawn, DELTA if paid else 3 * DELTA), 0.5)]

    return trial


# What is run

STEEP = Foreseen(few=0.95, many=0.6)
"""A pilot whose learning curve speaks for three folds, whatever the rows are."""


def row(method, setting, where, n, *others, part="automatic"):
    return tuple(Row(part, method, f"{setting}{other}", where, n, DELTA) for other in ("", *others))


def automatic_cases():
    yield from division_cases()
    yield from mixed_cases()
    yield from chosen_cases()
    for n, runs in ((23, 1000), (40, 1000)):
        trial = race_alone(20, n, on_certified=False)
        yield Case(row("holdout", "20 kinds, raced on as many other rows", NOISE, n), runs, trial)


def division_cases():
    """Quick voters, so that many runs can be made of what the first rows decide.

    Sizes are such that the limits of Clopper and Pearson fail less often than with most others, here and below: in pure
    noise with probability 0.17 for any number of parts with 211 rows, or 225 if there are three classes; 0.11 for three
    folds of 202.
    """
    others, words = (": average", ": by class", ": one class always"), "as a look at few rows says"
    for setting, where, n, voters, runs in (
        (f"quick voters, parts {words}", NOISE, 211, Tallies(), 2500),
        (f"quick voters, parts {words}", NOISE_3, 225, Tallies(), 2000),
        (f"quick voters, mostly folds, {words}", ODD, 244, Tallies(), 500),
        (f"quick voters, 3 folds, {words}", NOISE, 202, Tallies(STEEP), 600),
    ):
        yield Case(row("holdout", setting, where, n, *others), runs, divided(where, n, voters))


def mixed_cases():
    """Kinds that are raced: by training rows alone, and in whole fits."""
    raced = {"method": "holdout", "split": "single", "prior": "informed"}
    yield Case(row("holdout", "mixed voters", NOISE, 46), 400, fitted(NOISE, 46, Mixed(), **raced))
    for setting, where, n, voters, runs in (
        ("mixed voters, folds in some runs", ODD, 284, Mixed(), 300),
        ("mixed voters, no folds", EASY, 206, Mixed(), 60),
        ("light mixed voters", RARE, 245, Light(), 500),
        ("light mixed voters, 3 folds", NOISE, 181, Light(STEEP), 400),
    ):
        yield Case(row("auto", setting, where, n), runs, fitted(where, n, voters))


def automatic_breaches():
    """Decided by the certified rows, beside controls."""
    yield from chosen_breaches()
    for breach, control, n, runs, make in (
        ("best of 1, 2, 3 and 5 parts", "best of 1, 2, 3 and 5 parts, paid", 96, 400, best_division),
        ("best of 3 folds, each at the whole of delta", "best of 3 folds", 63, 600, best_fold),
    ):
        yield Case(row("holdout", breach, NOISE, n, part="broken"), runs, make(False))
        yield Case(row("holdout", control, NOISE, n, part="control"), runs, make(True))
    n, breach, control = 40, "20 kinds raced on the certified rows", "20 kinds raced on other rows"
    yield Case(row("holdout", breach, NOISE, n, part="broken"), 200, race_alone(20, n, on_certified=True))
    yield Case(row("holdout", control, NOISE, n, part="control"), 1000, race_alone(20, n, on_certified=False))
