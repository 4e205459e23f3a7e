"""Worlds in which the truth is known: finitely many cases with known probabilities, so any vote's risk is exact."""

from dataclasses import dataclass

import numpy as np
from scipy import special, stats

from certivote.maths.beta_tail import half_tail
from certivote.votes import fixed_point


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

    def risk(self, clf):
        """True error, in the certificate's loss, of what a fitted estimator certifies."""
        certificate = clf.certificate_
        return self.risk_of_part(certificate, certificate.deployed, clf.voters_, clf.classes_)

    def risk_of_part(self, certificate, number, voters, classes):
        """The same for any part of a certificate, from the weights that it records."""
        part = certificate.parts[number]
        drawn = certificate.certified == "the drawn vote"
        weights = fixed_point(np.array(part.log_weights)) if drawn else np.array(part.alpha)
        return self.risk_of(self._right(certificate, voters.votes(self.X).masses(weights), classes))

    def worst_statement(self, clf):
        """Bound and truth of the statement about a class that is the furthest from being true."""
        certificate = clf.certificate_
        masses = clf.voters_.votes(self.X).masses(clf.weights_)
        right, answers = self._right(certificate, masses, clf.classes_), clf.classes_[masses.argmax(axis=1)]
        joint = self.p[:, None] * self.chances
        pairs = []
        for entry in certificate.by_class:
            own = int(entry.label)
            among = joint[:, own] if entry.kind == "error" else joint.sum(axis=1) - joint[:, own]
            wrong = 1.0 - right[:, own] if entry.kind == "error" else answers == own
            pairs.append((entry.bound, float(among @ wrong / among.sum())))
        return max(pairs, key=lambda pair: pair[1] - pair[0])

    def _right(self, certificate, masses, classes):
        """Probability of being right in each case, if the truth is the class of the column."""
        rule = right_in_the_mean if certificate.certified == "the random vote" else right_or_wrong
        right = np.zeros_like(self.chances)
        right[:, classes] = rule(masses, certificate.loss)  # a class that the voters never saw is an error
        return right


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
        clf = fit(X, y, int(rng.integers(2**31)))
        violations += world.risk(clf) > clf.certificate_.bound
    return violations
