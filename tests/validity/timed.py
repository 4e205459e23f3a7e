"""Rows in the order of time: the promise is about the time of the certified rows, and errors are tested for drift."""

import numpy as np
from honest import DELTA, ON_STUMPS, TREES, world
from study import Case, Row

from certivote import certify_predictions
from certivote.pipeline import make_plan, run


def two_times(before, after, n, rng):
    """Rows of two times in any order, so many of each, and when each was taken."""
    early, late = world(before).sample(n // 2, rng), world(after).sample(n - n // 2, rng)
    X, y = (np.concatenate(pair) for pair in zip(early, late, strict=True))
    mixed = rng.permutation(n)
    return X[mixed], y[mixed], mixed


def timed(before, after, n, method, with_order):
    """Half of the rows are early and train, half are late and certify; what is promised is about the later time."""

    def trial(rng):
        X, y, times = two_times(before, after, n, rng)
        plan = make_plan(method, TREES, split="single", prior=0.5, delta=DELTA, random_state=int(rng.integers(2**31)))
        if len(np.unique(y)) < 2:
            return []
        outcome = run(plan, X, y, order=times if with_order else None)
        return [(outcome.certificate.bound, world(after).risk(outcome))]

    return trial


def p_values(early, late, n, levels):
    """Of a fixed vote with such errors; a p-value below a level counts as a violation of it."""

    def trial(rng):
        times, labels = rng.permutation(n), rng.integers(2, size=n)
        wrong = rng.random(n) < np.where(times < n // 2, early, late)
        (drift,) = certify_predictions(labels, np.where(wrong, 1 - labels, labels), order=times).deployed_part.drift
        return [(drift.p_value, level) for level in levels]

    return trial


def p_values_of_learned(n, level):
    """Of a vote that was learned on the rows whose errors are tested."""

    def trial(rng):
        X, y = world(0.5).sample(n, rng)
        plan = make_plan("dis-b", **ON_STUMPS, prior=0.5, delta=DELTA, random_state=int(rng.integers(2**31)))
        if len(np.unique(y)) < 2:
            return []
        (drift,) = run(plan, X, y, order=rng.permutation(n)).certificate.deployed_part.drift
        return [(drift.p_value, level)]

    return trial


LEVELS = (0.05, 0.2)


def timed_cases():
    changed = "label noise 0.1, later pure noise"
    for method, runs in (("holdout", 600), ("dis-b", 200)):
        row = Row("time", method, "the latest rows certify", changed, 46, DELTA)
        yield Case((row,), runs, timed(0.1, 0.5, 46, method, with_order=True))
    for errors, n in ((0.1, 100), (0.5, 50)):
        where = f"true error {errors:g} at all times"
        rows = tuple(Row("time", "drift test", "p-value below delta", where, n, level) for level in LEVELS)
        yield Case(rows, 1500, p_values(errors, errors, n, LEVELS))
    row = Row("time", "drift test", "p-value below delta, learned vote", "2 classes, pure noise", 50, 0.2)
    yield Case((row,), 400, p_values_of_learned(50, 0.2))


def timed_breaches():
    changed = "label noise 0.1, later pure noise"
    row = Row("broken", "holdout", "order in time not given", changed, 200, DELTA)
    yield Case((row,), 60, timed(0.1, 0.5, 200, "holdout", with_order=False))
    row = Row("broken", "drift test", "p-value below delta, with drift", "true error 0.1, later 0.3", 200, 0.05)
    yield Case((row,), 200, p_values(0.1, 0.3, 200, (0.05,)))
