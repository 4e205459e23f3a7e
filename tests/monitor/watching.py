"""Certificates to watch, made of answers alone, outcomes for them, and state files that somebody has changed."""

import hashlib
import json
from functools import cache

import numpy as np
import pandas as pd

from certivote import certify_predictions
from certivote.promises import Abstention, Costs, Precision, PredictionSets, Sensitivity, Subgroups

COSTS = {(a, b): 1.0 + abs(a - b) for a in range(3) for b in range(3) if a != b}


def outcomes(n, error, classes=2, seed=0):
    """True classes and answers of which about so many are wrong."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, classes, n)
    return truth, np.where(rng.random(n) < error, (truth + 1) % classes, truth)


@cache
def plain(error=0.04, n=1000, seed=7):
    """A certificate of two classes."""
    truth, said = outcomes(n, error, seed=seed)
    return certify_predictions(truth, said)


@cache
def rich():
    """One of three classes with promises that need no more than answers, and two that do."""
    truth, said = outcomes(3000, 0.05, classes=3)
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"sex": rng.choice(["f", "m"], 3000), "age": rng.integers(20, 90, 3000)})
    promises = [Precision(), Subgroups("sex", "age"), Abstention(max_error=0.2), Costs(COSTS)]
    return certify_predictions(truth, said, table=table, scores=rng.random(3000), promises=promises)


@cache
def of_entities(n=300):
    """One about entities."""
    truth, said = outcomes(4 * n, 0.05)
    return certify_predictions(truth, said, groups=np.repeat(np.arange(n), 4))


class Sure:
    """A model that says its column, and how sure it is."""

    classes_ = np.array([0, 1])

    def predict(self, X):
        return (np.asarray(X)[:, 0] >= 0.5).astype(int)

    def predict_proba(self, X):
        return np.stack([1.0 - np.asarray(X)[:, 0], np.asarray(X)[:, 0]], axis=1)


@cache
def of_masses():
    """One with thresholds on masses."""
    from certivote import certify

    X, y = sure_rows(4000, 0)
    return certify(Sure(), X, y, promises=[Sensitivity(0.9), PredictionSets(0.9, by_class=True)])


def sure_rows(n, seed):
    """Rows of :class:`Sure` whose class is 1 with the probability that it says."""
    rng = np.random.default_rng(seed)
    X = rng.beta(0.4, 0.4, (n, 1))
    return X, (rng.random(n) < X[:, 0]).astype(int)


def batch(number, rows=25):
    """True classes, answers and ids of one of many updates."""
    truth, said = outcomes(rows, 0.05, seed=number)
    return truth, said, [f"row {number * rows + row}" for row in range(rows)]


def with_content(path, content):
    """Change what a state file says, with the digest of what it says now, as anybody can."""
    record = json.loads(path.read_text())
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    record |= {"content": content, "digest": hashlib.sha256(text.encode()).hexdigest()}
    path.write_text(json.dumps(record))
