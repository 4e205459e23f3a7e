"""Worlds in which the truth of every statement of a promise is known: what is said of a vote, and what is so.

A world is finite: it has cases, and the chance of every case and class. A condition and an event are functions of both
and of the vote, so the probability of one given the other is a sum, over new entities where rows belong to them. What
each kind of statement is about is written here anew, from its description alone.
"""

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from grouped_worlds import GroupedWorld
from worlds import World

FEATURES = ("case", "age", "site")


@dataclass(frozen=True)
class PromisedWorld:
    """A world whose cases have columns, and fixed answers of voters, one column a voter.

    ``grouped`` has one row an entity where ``alone``.
    """

    grouped: GroupedWorld
    answers: np.ndarray
    alone: bool

    @property
    def n_classes(self):
        return self.grouped.rows.shape[2]

    @cached_property
    def columns(self):
        """Of every case, the values of its columns."""
        return dict(zip(FEATURES, self.grouped.X.T.tolist(), strict=True))

    def sample(self, m, rng):
        """Cases by their numbers, classes, and entities, of which there are ``m``; None where rows are alone."""
        cases, labels, groups = self.grouped.sample(m, rng)
        return cases[:, 0].astype(int), labels, None if self.alone else groups

    def column_of(self, cases):
        """The columns of these rows, by name."""
        return lambda name: [self.columns[name][case] for case in cases.tolist()]

    def share(self, among, event):
        """P[event | among], both of shape (cases, classes): the mean over new entities with such rows; or None."""
        rows = self.grouped.rows * among
        of_them = rows.sum(axis=(1, 2))
        having = self.grouped.chances * (1.0 - ((1.0 - np.minimum(of_them, 1.0)[:, None]) ** self.grouped.sizes)).mean(
            axis=1
        )
        if not having.sum() > 0.0:
            return None
        happening = (rows * event).sum(axis=(1, 2)) / np.where(of_them > 0.0, of_them, 1.0)
        return float(having @ happening / having.sum())

    def mean(self, values):
        """The mean of something that every case and class has."""
        return float(self.grouped.chances @ (self.grouped.rows * values).sum(axis=(1, 2)))


@dataclass(frozen=True)
class Said:
    """What one vote says of every case."""

    answers: np.ndarray
    masses: np.ndarray | None
    scores: np.ndarray | None


def truths(record, said, world):
    """All that a promise says is at most something: pairs of that and of what is so; without cases there is none."""
    return [(bound, truth) for bound, truth in _PAIRS[record.name](record, said, world) if truth is not None]


def _codes(world):
    """Of every case and class, the class."""
    return np.broadcast_to(np.arange(world.n_classes), (len(world.answers), world.n_classes))


def _everywhere(of_case, world):
    return np.broadcast_to(np.asarray(of_case)[:, None], (len(world.answers), world.n_classes))


def _by_class(record, said, world):
    codes, answers = _codes(world), _everywhere(said.answers, world)
    for entry in record.statements:
        own = int(entry.label)
        if entry.kind == "error":
            yield entry.bound, world.share(codes == own, answers != own)
        else:
            yield entry.bound, world.share(codes != own, answers == own)


def _precision(record, said, world):
    codes, answers = _codes(world), _everywhere(said.answers, world)
    for entry in record.statements:
        own = int(entry.label)
        if entry.kind == "imprecision":
            yield entry.bound, world.share(answers == own, codes != own)
        else:
            yield entry.bound, world.share(answers != own, codes == own)


def _abstention(record, said, world):
    wrong, scores = _codes(world) != said.answers[:, None], _everywhere(said.scores, world)
    everybody = np.ones_like(wrong)
    if dict(record.parameters)["curve"] == "null":
        if record.chosen is None:
            return
        (threshold,) = record.thresholds
        assert record.statements[-1].kind == "unanswered"
        yield record.value, world.share(scores >= threshold, wrong)
        yield record.statements[-1].bound, world.share(everybody, scores < threshold)
        return
    for entry in record.statements:
        if entry.kind == "unanswered":
            yield entry.bound, world.share(everybody, scores < entry.threshold)
        else:
            yield entry.bound, world.share(scores >= entry.threshold, wrong)


def _sensitivity(record, said, world):
    if record.chosen is None:
        return
    (threshold,), own = record.thresholds, int(record.statements[0].label)
    flagged = _everywhere(said.masses[:, own] >= threshold, world)
    yield 1.0 - record.value, world.share(_codes(world) == own, ~flagged)
    yield record.statements[1].bound, world.share(_codes(world) != own, flagged)


def _sets(record, said, world):
    codes = _codes(world)
    limits = np.broadcast_to(np.array(record.thresholds), said.masses.shape[1])
    out = ~((said.masses >= limits) | (codes == said.answers[:, None]))
    for entry in record.statements:
        among = codes == int(entry.label) if entry.label else np.ones_like(out)
        yield 1.0 - record.value, world.share(among, out)


def _costs(record, said, world):
    (numbers,) = [np.array(fixed.numbers) for fixed in record.fixed if fixed.what == "costs"]
    cost = numbers.reshape(world.n_classes, -1)[_codes(world), said.answers[:, None]]
    yield record.value / cost.max(), world.mean(cost) / cost.max()


_GROUP = re.compile(r"(?:(?P<low>[\d.]+) <= )?(?P<name>\w+) (?P<sign>=|<|>=) (?P<value>[\w.]+)")


def _members(label, world):
    """Whether each case belongs to the group that a label names."""
    inside = np.ones(len(world.answers), dtype=bool)
    for part in label.split(", "):
        found = _GROUP.fullmatch(part)
        values = np.array(world.columns[found["name"]])
        if found["sign"] == "=":
            inside &= values == float(found["value"])
            continue
        inside &= values >= float(found["value"]) if found["sign"] == ">=" else values < float(found["value"])
        if found["low"]:
            inside &= values >= float(found["low"])
    return inside


def _subgroups(record, said, world):
    wrong = _codes(world) != said.answers[:, None]
    by_column = {}
    for entry in record.statements:
        inside = _everywhere(_members(entry.label, world), world)
        truth = world.share(inside, wrong if entry.kind == "error" else ~wrong)
        yield entry.bound, truth
        if entry.kind == "error" and entry.n and truth is not None:
            names = tuple(_GROUP.fullmatch(part)["name"] for part in entry.label.split(", "))
            by_column.setdefault(names, []).append(truth)
    gaps = [max(errors) - min(errors) for errors in by_column.values() if len(errors) > 1]
    if gaps:
        yield record.value, max(gaps)


_PAIRS = {
    "by class": _by_class,
    "precision": _precision,
    "abstention": _abstention,
    "sensitivity": _sensitivity,
    "sets": _sets,
    "subgroups": _subgroups,
    "costs": _costs,
}


# Worlds


def scattered(n_cases, n_voters, knowledge, noise, classes=2, seed=3):
    """Cases of equal chance; voters that know the rule of a case with chance ``knowledge``, and otherwise guess.

    The class is another than the rule says with chance ``noise``. Without knowledge, and with a noise of ``1 -
    1/classes``, all votes are equally bad.
    """
    rng = np.random.default_rng(seed)
    rule = rng.permutation(np.arange(n_cases) % classes)
    chances = np.full((n_cases, classes), noise / (classes - 1))
    chances[np.arange(n_cases), rule] = 1.0 - noise
    guesses = rng.integers(classes, size=(n_cases, n_voters))
    knows = rng.random((n_cases, n_voters)) < knowledge
    cases = np.arange(n_cases)
    X = np.column_stack([cases, 20.0 + cases // 2, cases % 3]).astype(float)
    return World(X, np.full(n_cases, 1.0 / n_cases), chances), np.where(knows, rule[:, None], guesses)


def rows_alone(world, answers):
    """Every row by itself: an entity of one row."""
    joint = world.p[:, None] * world.chances
    grouped = GroupedWorld(world.X, np.ones(1), joint[None], np.ones((1, 1), dtype=int))
    return PromisedWorld(grouped, answers, alone=True)
