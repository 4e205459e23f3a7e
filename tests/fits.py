"""Fits that several tests look at, made once a process: the paper's hyper-prior and constants unless told otherwise."""

import math
from functools import cache

import numpy as np
from options import as_objects
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import RandomForestClassifier
from thorough import placed

from certivote import CertifiedVoteClassifier
from certivote.maths.streams import stream
from certivote.pipeline._division import split_rows
from certivote.splits import make_split
from certivote.voters import Forest, Stumps

DELTA = 0.05
LOSSES = ["plurality", "half-weight"]
CERTIFIED = {
    "dis-b": "the drawn vote",
    "dis-r": "the drawn vote",
    "dis-v": "the drawn vote",
    "smv-exact": "the random vote",
    "smv-mc": "the random vote",
    "fo": "the mean vote",
    "so": "the mean vote",
    "bin": "the mean vote",
    "c-bound": "the mean vote",
    "holdout": "the fixed vote",
}
DRAWN = [name for name, who in CERTIFIED.items() if who == "the drawn vote"]
RANDOM = [name for name, who in CERTIFIED.items() if who == "the random vote"]
MEAN = [name for name, who in CERTIFIED.items() if who == "the mean vote"]
FIXED = [name for name, who in CERTIFIED.items() if who != "the random vote"]
PAPER = {"prior": 0.5, "constant": "paper"}


@cache
def cancer():
    return load_breast_cancer(return_X_y=True)


def noise():
    X, _ = cancer()
    return X, np.random.default_rng(0).integers(0, 2, len(X))


def stumps():
    X, _ = cancer()
    return Stumps(n_thresholds=2, ranges=[(0.0, 10.0 ** math.ceil(math.log10(high))) for high in X.max(axis=0)])


def forest(n_estimators=15, **parameters):
    return Forest(RandomForestClassifier(n_estimators=n_estimators, **parameters))


SETTINGS = {
    "stumps": lambda: {"voters": stumps(), "split": "none"},
    "single": lambda: {"voters": forest(), "split": "single", "train_share": 0.4},
    "cross": lambda: {"voters": forest(), "split": "cross", "tau": 0.3},
    "three": lambda: {"voters": forest(), "split": 3},
}
PLACED = placed(CERTIFIED, SETTINGS, DRAWN)
"""Methods in settings: those that draw in all of them, in every run each of the others in one."""


@cache
def fitted(method, setting="single", solver="lbfgs", loss="plurality", seed=0, **parameters):
    known = {"delta": DELTA, "solver": solver, "loss": loss, "random_state": seed, **PAPER, **SETTINGS[setting]()}
    return CertifiedVoteClassifier(**as_objects(method, **{**known, **parameters})).fit(*cancer())


def iris_fit(method="smv-exact", seed=0, **parameters):
    parameters = {"voters": forest(5, max_depth=1), "random_state": seed, **PAPER, **parameters}
    return CertifiedVoteClassifier(**as_objects(method, **parameters)).fit(*load_iris(return_X_y=True))


def random_numbers(certificate, purpose, *which):
    """The stream for a purpose: of the recorded seed and the digest of the data."""
    made = certificate.provenance
    return stream(purpose, *which, seed=made.entropy, digest=made.data_digest)


def row_order(certificate):
    """The order of the rows that the fit has divided."""
    return random_numbers(certificate, "split").permutation(certificate.provenance.n_rows)


def certified_rows(clf):
    """The rows that the deployed vote was certified on, by the rule."""
    split = make_split(clf.split)
    parts = split_rows(
        row_order(clf.certificate_), split.parts, 0.5 if split.train_share == "auto" else split.train_share
    )
    return np.sort(parts[clf.certificate_.deployed].certify)
