"""A vote that is fixed beforehand or one that is learned: ``auto`` lets the certified rows choose, each at its share.

Voters are functions that were made up long ago, and the hyper-prior knows nothing, so that learning pays where there is
something to learn: the worlds are such that it never does, always does, or does in some runs.
"""

from dataclasses import replace
from functools import cache

import numpy as np
from honest import DELTA
from study import Case, Row

from certivote.pipeline import (
    Division,
    Grouping,
    KeptRows,
    Prepared,
    PreparedPart,
    PromiseData,
    RowsWithVotes,
    Seed,
    Streams,
    Table,
    certify_votes,
    make_plan,
)
from certivote.pipeline._answers import AnsweredRows
from certivote.pipeline._priors import HyperPrior
from certivote.theory.bounds import holdout
from certivote.votes import build_votes

CASES, VOTERS = 27, 8
WORLDS = {"pure noise": 0.5, "told by one voter": 0.02, "half told by one voter": 0.33}
"""How often the first voter errs, who is the only one that knows anything."""
SIZES = {"pure noise": 50, "told by one voter": 60, "half told by one voter": 150}
"""Rows: in pure noise the limit of Clopper and Pearson at 0.95 of delta fails with probability 0.16."""


@cache
def made_up():
    """What so many voters say of each case."""
    return np.random.default_rng(12).integers(2, size=(CASES, VOTERS)).astype(np.uint8)


def sample(where, n, rng):
    """Numbers of cases, and labels."""
    cases = rng.integers(CASES, size=n)
    wrong = rng.random(n) < WORLDS[where]
    return cases, np.where(wrong, 1 - made_up()[cases, 0], made_up()[cases, 0]).astype(np.intp)


def risk(where, weights):
    """The true error of the vote with these weights."""
    differs = build_votes(codes=made_up(), n_classes=2).masses(weights).argmax(axis=1) != made_up()[:, 0]
    noise = WORLDS[where]
    return float(np.where(differs, 1.0 - noise, noise).mean())


def certified(way, cases, labels, seed):
    """The outcome of a plan on votes that are given."""
    facts = Table("", (), 1, (1, 1)), Grouping(), None
    rows = AnsweredRows(np.array(["0", "1"]), labels, *facts, digests=("", ""), subject="vote")
    votes = RowsWithVotes(build_votes(codes=made_up()[cases], n_classes=2), labels, ("", ""), (0, 0))
    vague = (HyperPrior(np.full(VOTERS, 0.5)),)
    part = PreparedPart(rows, None, vague, votes, (), PromiseData(), KeptRows())
    streams = Streams(Seed((seed,), fresh=False), "data:" + 64 * "0")
    return certify_votes(way, Prepared(rows, Division((rows,), "single"), (part,), streams))


def plan():
    """As ``auto`` resolves it where there are training rows: 95 % for the fixed vote, and 5 % for learning."""
    return make_plan("auto", "forest", "single", delta=DELTA)


def told(outcome, where):
    """The bound, and the truth."""
    return outcome.certificate.bound, risk(where, outcome.deployed.vote.weights)


def as_intended(where, n):
    """The choice is made before the draw."""

    def trial(rng):
        return [told(certified(plan(), *sample(where, n, rng), int(rng.integers(2**31))), where)]

    return trial


def smaller_of_both(where, n):
    """The vote is drawn in any case, and the smaller of the two bounds is shown: both hold at once."""

    def trial(rng):
        drawn, seed = sample(where, n, rng), int(rng.integers(2**31))
        ways = (replace(way, fixed_share=None) for way in plan().ways())
        return [min(told(certified(way, *drawn, seed), where) for way in ways)]

    return trial


def better_of_two_fixed(n, share):
    """Of two fixed votes that have nothing in common, the one with the smaller bound, each at such a share."""

    def trial(rng):
        errors = rng.binomial(n, 0.5, size=2)
        return [(min(holdout(int(count), n, share * DELTA) for count in errors), 0.5)]

    return trial


def row(setting, where, n, part="automatic", method="auto"):
    return (Row(part, method, setting, where, n, DELTA),)


def chosen_cases():
    for where, n in SIZES.items():
        # A promise that is nearly spent takes many to show that it holds.
        runs = 3_000 if where == "pure noise" else 600
        yield Case(row("fixed or learned, as the certified rows say", where, n), runs, as_intended(where, n))
        yield Case(row("fixed and learned, the smaller bound", where, n), runs, smaller_of_both(where, n))


def chosen_breaches():
    """Shares that add up to more than 1, beside a control."""
    n = SIZES["pure noise"]
    for part, setting, share in (("broken", "at 0.95 of delta each", 0.95), ("control", "at half of delta each", 0.5)):
        setting = f"two fixed votes {setting}, the smaller bound"
        yield Case(row(setting, "pure noise", n, part, "holdout"), 600, better_of_two_fixed(n, share))
