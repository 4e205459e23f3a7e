"""Worlds in which the truth is known: finitely many cases with known probabilities, so any vote's risk is exact."""

from dataclasses import dataclass

import numpy as np
from scipy import special, stats

from certivote.maths.beta_tail import half_tail


@dataclass(frozen=True)
class World:
    """Cases ``X`` with probabilities ``p``, and the chance of every class in each, a column a class."""

    X: np.ndarray
    p: np.ndarray
    chances: np.ndarray

    def sample(self, n, rng):
        cases = rng.choice(len(self.p), size=n, p=self.p)
        return self.X[cases], (rng.random(n)[:, None] >= self.chances[cases].cumsum(axis=1)[:, :-1]).sum(axis=1)

    def risk_of(self, right):
        """True error of a predictor that is right about class ``c`` in a case with probability ``right[case, c]``."""
        return float(self.p @ (1.0 - (right * self.chances).sum(axis=1)))

    def risk_of_answers(self, answers):
        """True error of a predictor with one answer a case."""
        return self.risk_of(np.eye(self.chances.shape[1])[answers])

    def risk(self, outcome):
        """True error, in the certificate's loss, of what a run deploys."""
        return self.risk_of_part(outcome, outcome.certificate.deployed)

    def risk_of_part(self, outcome, number):
        """The same for any part of its certificate."""
        return self.risk_of(self.right_of_part(outcome, number))

    def worst_statement(self, outcome):
        """Bound and truth of the statement about a class that is the furthest from being true."""
        right, answers = self.right_of_part(outcome, outcome.certificate.deployed), self.answers(outcome)
        joint = self.p[:, None] * self.chances
        pairs = []
        for entry in outcome.certificate.by_class:
            own = int(entry.label)
            among = joint[:, own] if entry.kind == "error" else joint.sum(axis=1) - joint[:, own]
            wrong = 1.0 - right[:, own] if entry.kind == "error" else answers == own
            pairs.append((entry.bound, float(among @ wrong / among.sum())))
        return furthest(pairs)

    def answers(self, outcome):
        """What the deployed vote says in each case."""
        own_part = outcome.deployed
        masses = own_part.voters.votes(self.X).masses(own_part.vote.weights)
        return outcome.classes[masses.argmax(axis=1)]

    def right_of_part(self, outcome, number):
        """Probability of being right in each case, if the truth is the class of the column."""
        certificate, part = outcome.certificate, outcome.parts[number]
        votes, vote, loss = part.voters.votes(self.X), part.vote, certificate.loss
        if certificate.certified != "the random vote":
            found = right_or_wrong(votes.masses(vote.weights), loss)
        elif vote.family.name == "dirichlet":
            found = right_in_the_mean(votes.masses(vote.parameters), loss)
        else:
            found = right_among_draws(votes, vote.parameters, loss)
        right = np.zeros_like(self.chances)
        right[:, outcome.classes] = found  # a class that the voters never saw is an error
        return right


def furthest(pairs):
    """Of bounds and truths, the pair that is the furthest from being true."""
    return max(pairs, key=lambda pair: pair[1] - pair[0])


def right_or_wrong(masses, loss):
    """Whether one vote is right, if the truth is the class of the column."""
    if loss == "half-weight":
        return 2.0 * masses > masses.sum(axis=1, keepdims=True)
    return np.eye(masses.shape[1])[masses.argmax(axis=1)]


def right_in_the_mean(masses, loss):
    """The same in the mean over votes drawn from the Dirichlet that has these masses as its parameters."""
    if loss == "half-weight" or masses.shape[1] == 2:
        total = masses.sum(axis=1, keepdims=True)
        return 1.0 - half_tail(np.clip(total - masses, 0.0, total), total)
    return np.stack([_on_top(masses, c) for c in range(masses.shape[1])], axis=1)


_NODES, _SHARES = np.polynomial.legendre.leggauss(100)


def _on_top(masses, c):
    """Probability that a gamma variate with the parameter of column ``c`` exceeds all others; a mass of 0 never does.

    An integral over its quantiles, good to about 1e-4 where a parameter is small.
    """
    own, others = np.maximum(masses[:, [c]], 1e-9), np.delete(masses, c, axis=1)
    heights = special.gammaincinv(own, 0.5 * (_NODES + 1.0))
    below = [special.gammainc(np.maximum(other, 1e-9), heights) ** (other > 0) for other in others.T[:, :, None]]
    return np.where(masses[:, c] > 0, 0.5 * np.prod(below, axis=0) @ _SHARES, 0.0)


def right_among_draws(votes, parameters, loss, draws=4000):
    """The same for votes whose weights are the softmax of independent Gaussians, of these means and precisions.

    There is no formula: a share of draws with random numbers that are always the same, good to about 0.01 in a case.
    """
    means, precisions = np.split(parameters, 2)
    normals = np.random.default_rng(0).standard_normal((draws, len(means)))
    weights = special.softmax(means + normals / np.sqrt(precisions), axis=1)
    of_each = np.stack([votes.masses(one) for one in np.eye(len(means))])
    masses = np.tensordot(weights, of_each, 1)
    flat = masses.reshape(-1, masses.shape[-1])
    return np.reshape(right_or_wrong(flat, loss), masses.shape).mean(axis=0)


def grid_world(noise, rng, classes=2):
    """27 cases of three features in {0, 1, 2}; the class depends on their sum, and is another with chance ``noise``.

    With a noise of ``1 - 1/classes`` no predictor is better than any other: the true plurality error is the noise.
    """
    X = np.array(np.meshgrid([0, 1, 2], [0, 1, 2], [0, 1, 2])).reshape(3, -1).T.astype(float)
    clean = np.digitize(X.sum(axis=1), [3] if classes == 2 else [3, 4])
    chances = np.full((len(X), classes), noise / (classes - 1))
    chances[np.arange(len(X)), clean] = 1.0 - noise
    return World(X, rng.dirichlet(np.full(len(X), 5.0)), chances)


RANGES = [(0.0, 2.0)] * 3


def is_at_most(violations, runs, delta, significance=1e-3):
    """Whether this many violations are no evidence against a rate of at most ``delta``."""
    return bool(stats.binomtest(violations, runs, delta, alternative="greater").pvalue >= significance)


def count_violations(runs, n, noise, seed, fit):
    """Runs in which the true risk exceeds the certificate's bound."""
    rng = np.random.default_rng(seed)
    world = grid_world(noise, rng)
    violations = 0
    for _ in range(runs):
        X, y = world.sample(n, rng)
        while len(np.unique(y)) < 2:  # cannot be fitted at all
            X, y = world.sample(n, rng)
        outcome = fit(X, y, int(rng.integers(2**31)))
        violations += world.risk(outcome) > outcome.certificate.bound
    return violations
