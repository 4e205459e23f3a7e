"""Models that say how sure they are, made of nothing but columns, and the exact limits to compare with."""

import numpy as np
from scipy.stats import beta

from certivote.promises import Ledger, PromiseRows, count_votes
from certivote.theory.methods import GIVEN_MODEL
from certivote.theory.theorems import Setting
from certivote.votes import build_votes


class Says:
    """A model whose probabilities are the columns of its rows; its answer is the last of the most probable."""

    def __init__(self, classes):
        self.classes_ = np.array(classes)

    def predict_proba(self, X):
        return np.asarray(X, dtype=float)

    def predict(self, X):
        return self.classes_[len(self.classes_) - 1 - np.argmax(np.asarray(X)[:, ::-1], axis=1)]


def two(mass):
    """Rows whose second class has this probability."""
    mass = np.asarray(mass, dtype=float)
    return np.column_stack([1.0 - mass, mass])


def clopper_pearson(errors, n, level):
    """The upper limit, by another library."""
    return 1.0 if errors >= n else float(beta.isf(level, errors + 1, n - errors))


def account(masses, codes, classes, delta):
    """The ledger of such a model, without the rest of a certificate: for many of them."""
    masses, nobody = np.asarray(masses, dtype=float), np.empty(0)
    answers = masses.shape[1] - 1 - np.argmax(masses[:, ::-1], axis=1)
    votes = build_votes(codes=answers[:, None], n_classes=len(classes))
    vote = GIVEN_MODEL.predictor.deploy(GIVEN_MODEL.family, np.ones(1), np.random.default_rng(0))
    counted = count_votes(GIVEN_MODEL, "plurality", votes, codes, vote, np.random.default_rng(0))
    everything = np.arange(len(codes))
    rows = PromiseRows(codes, answers, masses, nobody, None, None, lambda: everything)
    return Ledger(counted, tuple(classes), rows, None, everything, Setting(delta, 1.5, "exact"), delta, delta, 0.0)
