"""Learning and certifying when rows are many: what comes out, and how much memory it takes."""

import subprocess
import sys
import tracemalloc
from unittest import mock

import numpy as np
import pytest
from many import LOOPS, blocks, floats, hard_rows, loops
from options import as_objects
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from thorough import grid

from certivote import CertifiedVoteClassifier
from certivote.pipeline import _learn
from certivote.theory.families import FAMILIES
from certivote.theory.methods import METHODS
from certivote.theory.predictors import RANDOM
from certivote.theory.theorems import Setting
from certivote.verify import verify
from certivote.voters import Forest
from certivote.votes import build_votes

KINDS = [*((name, method.family.name) for name, method in METHODS.items()), ("dis-r", "logistic-normal")]


def problem_of(votes, labels, method, family="dirichlet"):
    chosen = FAMILIES[family]
    prior = chosen.prior(np.full(votes.n_voters, 0.5))
    return _learn.Problem(votes, labels, "plurality", prior, chosen, METHODS[method], Setting(0.05, 1.5, "paper"))


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_boosting_starts_are_those_of_one_piece(n_classes, loop):
    codes, labels = hard_rows(400, 23, n_classes)
    votes = build_votes(codes=codes, n_classes=n_classes)
    shares = np.random.default_rng(0).dirichlet(np.ones(400))
    for given in (None, shares):
        with floats():
            expected = _learn._boosting_path(votes, labels, given, (1, 3))
        with blocks(700), loops(loop):
            found = _learn._boosting_path(votes, labels, given, (1, 3))
        assert len(expected) == 2
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@grid(strength=1, kind=KINDS, n_classes=[2, 3], split=["single", "cross"], loop=LOOPS)
def test_certificates_of_many_rows(kind, n_classes, split, loop):
    """Their bounds are those of one piece, but for the tables that steer the training, and their data confirm them."""
    method, family = kind
    if method == "c-bound" and n_classes > 2:
        pytest.skip("for two classes")
    chosen = family if METHODS[method].family.over_weights else "dirichlet"
    X, y = make_classification(400, 6, n_informative=4, n_classes=n_classes, flip_y=0.1, random_state=0)
    clf = CertifiedVoteClassifier(
        **as_objects(method, split, family=chosen, voters=Forest(RandomForestClassifier(20)), random_state=0, prior=0.5)
    )
    with floats():
        expected = clf.fit(X, y).certificate_
    with blocks(1500), loops(loop):
        found = clf.fit(X, y).certificate_
        checks = verify(found, clf, X, y)
        assert [check for check in checks if not check.passed] == []
    assert found.bound == pytest.approx(expected.bound, rel=0.02)
    assert [part.votes_digest for part in found.parts] == [part.votes_digest for part in expected.parts]
    assert [part.holdout.errors for part in found.parts] == [part.holdout.errors for part in expected.parts]


@grid(strength=1, kind=KINDS, n_classes=[2, 10], loop=LOOPS)
def test_memory_for_many_rows(kind, n_classes, loop):
    """As a multiple of the votes, a byte each: at most 1.5, and half with compiled loops."""
    n_rows = 100_000
    codes, labels = hard_votes(n_rows, n_classes)
    votes = build_votes(codes=codes, n_classes=n_classes)
    problem = problem_of(votes, labels, *kind)
    with loops(loop), mock.patch.object(_learn, "_MAX_STEPS", 1):
        tracemalloc.start()
        try:
            learned = _learn.lbfgs(problem, np.random.default_rng(0), lambda *_: None)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert np.all(np.isfinite(learned))
    assert peak <= (0.5 if loop == "numba" else 1.5) * codes.nbytes


@pytest.mark.parametrize("method", ["dis-r", "smv-mc"])
def test_memory_for_counting(method):
    codes, labels = hard_votes(100_000, 10)
    votes = build_votes(codes=codes, n_classes=10)
    problem = problem_of(votes, labels, method)
    row = METHODS[method]
    vote = row.predictor.deploy(problem.family, problem.prior, np.random.default_rng(0))
    tracemalloc.start()
    try:
        tally = row.predictor.tally(vote, votes, labels, "plurality", np.random.default_rng(0))
        votes.digest()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert tally.wrong.shape == (2 if row.predictor is RANDOM else 1, 100_000)
    assert peak <= codes.nbytes


def hard_votes(n_rows, n_classes):
    """Ten thousand rows again and again: what the rows are does not change what they take."""
    codes, labels = hard_rows(10_000, 100, n_classes)
    return np.tile(codes, (n_rows // 10_000, 1)), np.tile(labels, n_rows // 10_000)


def test_small_fits_do_not_import_numba():
    code = """
import sys
import numpy as np
from certivote import CertifiedVoteClassifier
X = np.random.default_rng(0).normal(size=(200, 3))
CertifiedVoteClassifier("dis-r", "stumps").fit(X, X[:, 0] > 0)
assert "numba" not in sys.modules
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)
