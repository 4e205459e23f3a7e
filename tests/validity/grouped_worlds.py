"""Worlds of entities with several rows each, in which the truth is known.

An entity is of one of finitely many kinds. Given its kind, its rows are independent draws of a case and a class, and
their number is independent of them. So the share of its rows that are wrong has the mean of a row of that kind, however
many rows it has, and a random row of a new entity is drawn from the mixture of the kinds: every truth is an exact sum.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from worlds import World, furthest


@dataclass(frozen=True)
class GroupedWorld:
    """Kinds of entities with the chance of each; of each kind, the chances of cases and classes, and the sizes.

    Attributes
    ----------
    X : array
        The cases.
    chances : array of shape (kinds,)
    rows : array of shape (kinds, cases, classes)
        The chance that a row is of this case and class.
    sizes : array of int of shape (kinds, any)
        Numbers of rows, all equally likely.
    """

    X: np.ndarray
    chances: np.ndarray
    rows: np.ndarray
    sizes: np.ndarray

    @cached_property
    def everyone(self) -> World:
        """A random row of a random entity."""
        joint = np.tensordot(self.chances, self.rows, 1)
        p = joint.sum(axis=1)
        return World(self.X, p, joint / p[:, None])

    @cached_property
    def _limits(self):
        return self.rows.reshape(len(self.chances), -1).cumsum(axis=1)[:, :-1]

    def _entities(self, m, rng):
        """Kinds and sizes."""
        kinds = rng.choice(len(self.chances), size=m, p=self.chances)
        return kinds, self.sizes[kinds, rng.integers(self.sizes.shape[1], size=m)]

    def sample(self, m, rng):
        """All rows of ``m`` entities: cases, classes, and which entity each belongs to."""
        kinds, sizes = self._entities(m, rng)
        groups = np.repeat(np.arange(m), sizes)
        cells = (rng.random(len(groups))[:, None] >= self._limits[kinds[groups]]).sum(axis=1)
        return self.X[cells // self.rows.shape[2]], cells % self.rows.shape[2], groups

    def losses(self, answers, m, rng):
        """Of ``m`` entities, the share of rows that a predictor with one answer a case gets wrong."""
        kinds, sizes = self._entities(m, rng)
        wrong = 1.0 - self.rows[:, np.arange(len(self.X)), answers].sum(axis=1)
        return rng.binomial(sizes, np.clip(wrong[kinds], 0.0, 1.0)) / sizes

    def risk_of_answers(self, answers):
        return self.everyone.risk_of_answers(answers)

    def risk_of_part(self, outcome, number):
        return self.everyone.risk_of_part(outcome, number)

    def worst_statement(self, outcome):
        """Bound and truth of the statement about a class that is the furthest from being true."""
        right = self.everyone.right_of_part(outcome, outcome.certificate.deployed)
        return self.worst_of(outcome.certificate, right, self.everyone.answers(outcome))

    def worst_statement_of_answers(self, certificate, answers):
        """The same for a predictor with one answer a case."""
        return self.worst_of(certificate, np.eye(self.rows.shape[2])[answers], answers)

    def worst_of(self, certificate, right, answers):
        """What is bounded is a mean over the entities that have rows of the class, or of others than the class."""
        pairs = []
        for entry in certificate.by_class:
            own = int(entry.label)
            chosen = np.arange(self.rows.shape[2]) == own
            wrong = 1.0 - right
            if entry.kind == "false alarm":
                chosen, wrong = ~chosen, np.repeat((answers == own)[:, None], len(chosen), axis=1)
            among = self.rows * chosen
            of_them = among.sum(axis=(1, 2))
            mistaken = (among * wrong).sum(axis=(1, 2)) / np.where(of_them > 0, of_them, 1.0)
            having = self.chances * (1.0 - ((1.0 - of_them[:, None]) ** self.sizes).mean(axis=1))
            pairs.append((entry.bound, float(having @ mistaken / having.sum())))
        return furthest(pairs)


def clean_answers(world):
    """The more likely class of each case, in a world of noise: 1 where the features add up to three or more."""
    return (world.X.sum(axis=1) >= 3).astype(int)


def one_fate(world, sizes, clean_sizes=None):
    """All rows of an entity are the same case with the same class, drawn once.

    ``clean_sizes`` are those of entities with the class that is the rule.
    """
    cases, classes = world.chances.shape
    chances = (world.p[:, None] * world.chances).ravel()
    rows = np.eye(cases * classes).reshape(-1, cases, classes)
    is_clean = np.eye(classes, dtype=bool)[clean_answers(world)].reshape(-1, 1)
    return GroupedWorld(
        world.X, chances, rows, np.where(is_clean, sizes if clean_sizes is None else clean_sizes, sizes)
    )


def own_noise(worlds, sizes):
    """Entities with label noise of their own: each has that of one of some worlds with the same cases.

    ``sizes`` are those of each of these worlds.
    """
    rows = np.stack([world.p[:, None] * world.chances for world in worlds])
    return GroupedWorld(worlds[0].X, np.full(len(worlds), 1.0 / len(worlds)), rows, np.array(sizes))


def mixture(first, second):
    """Half of the entities are of one world, half of another."""
    width = np.lcm(first.sizes.shape[1], second.sizes.shape[1])
    sizes = [np.repeat(each.sizes, width // each.sizes.shape[1], axis=1) for each in (first, second)]
    chances = 0.5 * np.concatenate([first.chances, second.chances])
    return GroupedWorld(first.X, chances, np.concatenate([first.rows, second.rows]), np.concatenate(sizes))
