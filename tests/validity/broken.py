"""Assumptions broken on purpose: what the guarantee does not cover, and how badly it fails then.

Each breach has the same voters and rows as an honest control beside it, where there is one.
"""

import numpy as np
from honest import DELTA, STUMPS, TREES, fit, world
from scipy import stats
from sklearn.tree import DecisionTreeClassifier
from study import Case, Row

from certivote.pipeline import SOLVERS, Problem
from certivote.theory.bounds import dis_r, holdout
from certivote.theory.families import DIRICHLET
from certivote.theory.methods import METHODS
from certivote.theory.risks import count_errors
from certivote.theory.theorems import Setting
from certivote.voters import Stumps
from certivote.votes import fixed_point

OVERFIT = [DecisionTreeClassifier(max_features=1, random_state=k) for k in range(5)]


def fitted(X, y, seed, **options):
    return fit(X, y, seed, **{"delta": DELTA, "prior": 0.5, **options})


def seed_from(rng):
    return int(rng.integers(2**31))


def both_classes(truth, n, rng):
    X, y = truth.sample(n, rng)
    return None if len(np.unique(y)) < 2 else (X, y)


def drifted(before, after, method):
    """The truth changes between the sample and the deployment: label noise of so much, then of so much."""

    def trial(rng):
        drawn = both_classes(world(before), 100, rng)
        if drawn is None:
            return []
        found = fitted(*drawn, seed_from(rng), method=method, voters=TREES, split="single")
        return [(found.certificate.bound, world(after).risk(found))]

    return trial


def copied(copies):
    """Every row is in the data so many times before they are split: training rows come back to be certified."""

    def trial(rng):
        cases = rng.random((40, 3))  # continuous: no two are equal by nature
        X, y = np.repeat(cases, copies, axis=0), np.repeat(rng.integers(2, size=40), copies)
        found = fitted(X, y, seed_from(rng), method="holdout", voters=OVERFIT, split="single")
        return [(found.certificate.bound, 0.5)]

    return trial


def best_of_draws(draws, paid, delta=0.05):
    """Draw again and again from one learned posterior, and keep the best certificate."""
    voters = STUMPS.fit(None, None, np.array([0, 1]), None)
    beta = np.full(voters.n_voters, 0.5)

    def trial(rng):
        n, each = 20, delta / draws if paid else delta
        X, y = world(0.5).sample(n, rng)
        votes = voters.votes(X)
        problem = Problem(votes, y, "plurality", beta, DIRICHLET, METHODS["dis-r"], Setting(each, 1.5, "exact"))
        alpha = SOLVERS["lbfgs"](problem, rng, lambda *_: None)
        bounds = []
        for _ in range(draws):
            draw = DIRICHLET.draw(alpha, rng)
            errors = count_errors(votes.masses(fixed_point(draw.log_weights)), y, "plurality")
            bounds.append(dis_r(errors / n, DIRICHLET.log_ratio(alpha, beta, draw.point), n, each, "exact"))
        return [(min(bounds), 0.5)]

    return trial


def best_of_seeds(seeds, paid, method):
    """Fit with one seed after another, which splits and trains anew, and keep the best certificate."""

    def trial(rng):
        drawn = both_classes(world(0.5), 40, rng)
        if drawn is None:
            return []
        delta = DELTA / seeds if paid else DELTA
        fits = [
            fitted(*drawn, seed_from(rng), method=method, voters=TREES, split="single", delta=delta)
            for _ in range(seeds)
        ]
        return [(min(found.certificate.bound for found in fits), 0.5)]

    return trial


def trained_on_them(method):
    """Trees fitted on the rows that certify them, handed over as if they had been fitted on others."""

    def trial(rng):
        drawn = both_classes(world(0.5), 40, rng)
        if drawn is None:
            return []
        voters = [DecisionTreeClassifier(max_features=1, random_state=k).fit(*drawn) for k in range(3)]
        found = fitted(*drawn, seed_from(rng), method=method, voters=voters, split="none")
        return [(found.certificate.bound, 0.5)]

    return trial


def thresholds_from_them(choose):
    """Stumps whose ranges are read off the certification rows: the extremes only, or chosen with the labels in view."""

    def trial(rng):
        X, y = rng.random((20, 10)), rng.integers(2, size=20)
        if len(np.unique(y)) < 2:
            return []
        ranges = [(column.min() - 1e-9, column.max()) for column in X.T]
        if choose:
            # The one threshold of each feature is put where the labels part best.
            ranges = [(best_threshold(column, y), 2.0) for column in X.T]
        voters = Stumps(1 if choose else 3, ranges)
        found = fitted(X, y, seed_from(rng), method="dis-b", voters=voters, split="none", prior=5.0)
        return [(found.certificate.bound, 0.5)]

    return trial


def best_threshold(column, y):
    wrong = [np.count_nonzero((column > place) != y) for place in column]
    return float(column[int(np.argmin(wrong))])


LEVELS = (0.001, 0.01, 0.05, 0.1, 0.2)


def level_afterwards(n):
    """The smallest delta at which the bound is better than guessing is the one that is stated; else the smallest."""

    def trial(rng):
        errors = int(rng.binomial(n, 0.5))
        return [(holdout(errors, n, level_stated(errors, n)), 0.5)]

    return trial


def level_stated(errors, n):
    return next((level for level in LEVELS if holdout(errors, n, level) < 0.5), LEVELS[0])


def mean_level_stated(n):
    """What is promised in the mean, by enumeration."""
    return round(float(sum(stats.binom.pmf(k, n, 0.5) * level_stated(k, n) for k in range(n + 1))), 4)


def best_of_models(models, paid, method):
    """Several sets of voters trained on the same rows, certified on the same rows; the best certificate is reported."""

    def trial(rng):
        truth, delta = world(0.5), DELTA / models if paid else DELTA
        train, certify = both_classes(truth, 40, rng), both_classes(truth, 20, rng)
        if train is None or certify is None:
            return []
        bounds = []
        for _ in range(models):
            kept = rng.random(40) < 0.5
            tree = DecisionTreeClassifier(max_features=1, random_state=seed_from(rng))
            voters = [tree.fit(train[0][kept], train[1][kept])]
            found = fitted(*certify, seed_from(rng), method=method, voters=voters, split="none", delta=delta)
            bounds.append(found.certificate.bound)
        return [(min(bounds), 0.5)]

    return trial


def best_of_methods(rng):
    """All ten methods on the same rows, and the smallest of their certificates."""
    drawn = both_classes(world(0.5), 20, rng)
    if drawn is None:
        return []
    fits = [fitted(*drawn, seed_from(rng), method=name, voters=STUMPS, split="none") for name in METHODS]
    return [(min(found.certificate.bound for found in fits), 0.5)]


def collected_until_good(rows, step):
    """A fixed classifier is certified after every ``step`` rows, and the best of these certificates is kept."""

    def trial(rng):
        errors = np.cumsum(rng.binomial(step, 0.5, size=rows // step))
        return [(min(holdout(int(k), step * (i + 1), DELTA) for i, k in enumerate(errors)), 0.5)]

    return trial


def stratified(rng):
    """Training and certification rows with the same share of each class: one in ten trains."""
    n = 200
    y = rng.random(n) < 0.5
    certified = np.concatenate([rows[len(rows) // 10 :] for rows in (np.flatnonzero(y), np.flatnonzero(~y))])
    train = np.setdiff1d(np.arange(n), certified)
    errors = int(np.count_nonzero(y[certified] != (y[train].mean() > 0.5)))  # the common class is the answer
    return [(holdout(errors, len(certified), DELTA), 0.5)]


def dropped_rows(share):
    """Of the certification rows on which the classifier errs, this share is dropped: as if values were missing."""

    def trial(rng):
        errors = rng.binomial(50, 0.3)
        left = errors - rng.binomial(errors, share)
        return [(holdout(int(left), 50 - int(errors - left), DELTA), 0.3)]

    return trial


def grouped(size):
    """Rows come in families of equal answers and labels: fewer independent rows than are counted."""

    def trial(rng):
        families = rng.binomial(60 // size, 0.3)
        return [(holdout(int(families) * size, 60, DELTA), 0.3)]

    return trial


def broken_cases():
    def pair(method, breach, world, n, runs, trial, control=None, delta=DELTA):
        yield Case((Row("broken", method, breach, world, n, delta),), runs, trial)
        if control is not None:
            yield Case((Row("control", method, control[0], world, n, delta),), control[1], control[2])

    noise = "2 classes, pure noise"
    for method in ("dis-b", "holdout"):
        for before, after, words in ((0.1, 0.4, "time drift"), (0.1, 0.15, "slight time drift")):
            runs = 3000 if method == "holdout" else 300
            control = ("no drift", runs, drifted(before, before, method)) if after == 0.4 else None
            drift = f"label noise {before:g}, later {after:g}"
            yield from pair(method, words, drift, 100, 200, drifted(before, after, method), control)
    control = ("40 different rows", 2000, copied(1))
    yield from pair("holdout", "40 different rows, three times each", noise, 120, 100, copied(3), control)
    control = ("best of 200 draws, paid", 120, best_of_draws(200, True))
    yield from pair("dis-r", "best of 200 draws", noise, 20, 120, best_of_draws(200, False), control, 0.05)
    for method, runs in (("holdout", 100), ("dis-b", 60)):
        control = ("best of 10 seeds, paid", runs, best_of_seeds(10, True, method))
        yield from pair(method, "best of 10 seeds", noise, 40, runs, best_of_seeds(10, False, method), control)
    for method in ("dis-b", "dis-r", "so", "holdout"):
        yield from pair(method, "voters trained on the certification rows", noise, 40, 100, trained_on_them(method))
    for words, choose in (("extremes", False), ("best thresholds", True)):
        setting = f"stumps with {words} of the certification rows"
        yield from pair("dis-b", setting, noise, 20, 200, thresholds_from_them(choose))
    setting = "delta chosen afterwards (its mean is shown)"
    yield from pair("holdout", setting, noise, 20, 4000, level_afterwards(20), delta=mean_level_stated(20))
    control = ("best of 20 models, paid", 500, best_of_models(20, True, "holdout"))
    yield from pair("holdout", "best of 20 models", noise, 20, 100, best_of_models(20, False, "holdout"), control)
    yield from pair("all ten", "best of ten methods", noise, 20, 60, best_of_methods)
    control = ("one look at the bound", 20_000, collected_until_good(200, 200))
    setting = "rows collected until the bound looks good"
    yield from pair("holdout", setting, noise, 200, 1000, collected_until_good(200, 10), control)
    yield from pair("holdout", "stratified split, one row in ten for training", noise, 200, 4000, stratified)
    yield from pair("holdout", "half of the errors dropped", "true error 0.3", 50, 2000, dropped_rows(0.5))
    yield from pair("holdout", "rows in families of six", "true error 0.3", 60, 2000, grouped(6))
