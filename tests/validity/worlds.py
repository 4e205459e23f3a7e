"""Worlds in which the truth is known: finitely many cases with known probabilities, so any vote's risk is exact."""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from certivote.maths.beta_tail import half_tail


@dataclass(frozen=True)
class World:
    """Cases ``X`` with probabilities ``p``, and the probability of class 1 in each."""

    X: np.ndarray
    p: np.ndarray
    positive: np.ndarray

    def sample(self, n, rng):
        cases = rng.choice(len(self.p), size=n, p=self.p)
        return self.X[cases], (rng.random(n) < self.positive[cases]).astype(int)

    def risk_of(self, ones):
        """True error of a predictor that says class 1 with these probabilities."""
        return float(self.p @ (ones * (1.0 - self.positive) + (1.0 - ones) * self.positive))

    def risk(self, clf):
        """True error of what a fitted estimator certifies; of the random vote, in the mean over its draws."""
        if clf.certificate_.certified != "the random vote":
            return self.risk_of(clf.predict(self.X) == 1)
        parameters = clf.voters_.votes(self.X).masses(clf.weights_)
        return self.risk_of(half_tail(parameters[:, 1], clf.weights_.sum()))


def grid_world(noise, rng):
    """27 cases of three features in {0, 1, 2}; class 1 where the sum exceeds 2, flipped with probability ``noise``."""
    X = np.array(np.meshgrid([0, 1, 2], [0, 1, 2], [0, 1, 2])).reshape(3, -1).T.astype(float)
    clean = X.sum(axis=1) > 2
    return World(X, rng.dirichlet(np.full(len(X), 5.0)), np.where(clean, 1.0 - noise, noise))


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
