"""Certificates of every kind, for tests of what shows them."""

from functools import cache
from pathlib import Path

import numpy as np
from fits import CERTIFIED, cancer, fitted, iris_fit, noise

from certivote import Certificate, CertifiedVoteClassifier
from certivote.voters import Stumps

HARMFUL = ("<script>alert(1)</script>", '"><img src=x onerror=alert(2)>', "</script> {{ 7 * 7 }} & 'co' %")


@cache
def harmful_fit():
    """A classifier of classes whose names would do harm if a page took them for markup."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=240)
    X = rng.normal(size=(240, 3)) + 2 * np.eye(3)[y]
    return CertifiedVoteClassifier("dis-b", "forest", random_state=0).fit(X, np.array(HARMFUL)[y])


@cache
def rare_rows():
    """16 of 600 are ill, and nothing tells who."""
    rng = np.random.default_rng(1)
    return rng.normal(size=(600, 3)), np.where(rng.permutation(600) < 16, "ill", "well")


@cache
def rare_fit():
    """A classifier that misses a class behind a small bound."""
    return CertifiedVoteClassifier("dis-b", "forest", random_state=8).fit(*rare_rows())


def _vacuous():
    X, y = noise()
    ranges = [(0.0, 1.0)] * X.shape[1]
    return CertifiedVoteClassifier("bin", Stumps(2, ranges), "none", prior=0.5, random_state=0).fit(X, y).certificate_


KINDS = {
    **{method: lambda method=method: fitted(method).certificate_ for method in CERTIFIED},
    "stumps": lambda: fitted("dis-r", "stumps").certificate_,
    "cross": lambda: fitted("dis-v", "cross").certificate_,
    "folds": lambda: fitted("dis-b", "three", n_draws=3).certificate_,
    "half-weight": lambda: fitted("dis-r", loss="half-weight").certificate_,
    "three classes": lambda: iris_fit("dis-b").certificate_,
    "simulated": lambda: iris_fit("smv-exact").certificate_,
    "auto": lambda: CertifiedVoteClassifier(voters="forest", random_state=0).fit(*cancer()).certificate_,
    "vacuous": _vacuous,
    "version 1": lambda: Certificate.from_json(
        (Path(__file__).parent / "certificate" / "certificate_version_1.json").read_text(encoding="utf-8")
    ),
    "a class missed": lambda: rare_fit().certificate_,
    "harmful names": lambda: harmful_fit().certificate_,
}


@cache
def certificate(kind):
    return KINDS[kind]()
