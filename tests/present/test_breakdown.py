"""What a bound is made of, and what it would be with other numbers."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from fits import CERTIFIED, DRAWN, MEAN, SETTINGS, fitted, iris_fit

from certivote.present._breakdown import bound_at, least_bound, observed_rate, rows_needed, steps, vote_weights


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("method", CERTIFIED)
def test_the_steps_lead_from_what_was_observed_to_the_bound(method, setting):
    certificate = fitted(method, setting, prior="auto", constant="exact").certificate_
    found, part = steps(certificate), certificate.deployed_part
    assert found[0].end == observed_rate(certificate)
    assert all(after.start == before.end for before, after in pairwise(found))
    assert found[-1].end == pytest.approx(certificate.bound, abs=1e-9)
    paid = math.fsum(step.nats for step in found if step.nats is not None)
    assert paid == pytest.approx(part.penalty + part.confidence, abs=1e-9)
    assert ("surrogate" in [step.what for step in found]) == (method in MEAN)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("method", CERTIFIED)
def test_at_the_recorded_numbers_the_bound_is_the_recorded_one(method, setting):
    certificate = fitted(method, setting, n_draws=3, prior="auto").certificate_
    n = certificate.deployed_part.n
    for given in ({}, {"n": n}, {"delta": certificate.delta}):
        assert bound_at(certificate, **given) == pytest.approx(certificate.bound, rel=1e-12)


@pytest.mark.parametrize("method", ["dis-b", "dis-v", "smv-exact", "fo", "c-bound", "holdout"])
def test_another_delta_gives_what_a_fit_of_the_same_vote_would(method):
    one = fitted(method).certificate_
    less = [bound_at(one, delta=delta) for delta in (0.5, 0.05, 1e-3, 1e-6)]
    assert less == sorted(less)
    if method == "holdout":  # where nothing is learned, the other fit has the same vote
        assert less[2] == fitted(method, delta=1e-3).certificate_.bound


def test_simulated_risks_keep_their_part_of_delta():
    certificate = iris_fit("smv-exact").certificate_
    assert certificate.parts[0].risk_delta > 0
    assert bound_at(certificate) == pytest.approx(certificate.bound, rel=1e-12)


@pytest.mark.parametrize("method", ["dis-b", "dis-r", "fo", "smv-exact"])
def test_the_rows_needed_are_just_enough(method):
    certificate = fitted(method).certificate_
    least = least_bound(certificate)
    assert observed_rate(certificate) * 0.99 < least < certificate.bound
    target = 0.5 * (least + certificate.bound)
    rows = rows_needed(certificate, target)
    assert rows > certificate.parts[0].n
    assert bound_at(certificate, n=rows) <= target < bound_at(certificate, n=rows - 1)
    assert target < bound_at(certificate, n=int(0.9 * rows))
    assert rows_needed(certificate, 0.9 * least) is None


@pytest.mark.parametrize("method", CERTIFIED)
def test_the_weights_are_those_of_the_model(method):
    clf = fitted(method)
    weights = vote_weights(clf.certificate_)
    assert weights.sum() == pytest.approx(1.0)
    assert np.allclose(weights, clf.weights_ / clf.weights_.sum(), atol=1e-12)
    assert (method in DRAWN) == bool(clf.certificate_.parts[0].log_weights)


@pytest.mark.parametrize("method", DRAWN)
def test_weights_that_are_known_up_to_a_summand_are_the_same(method):
    certificate = fitted(method).certificate_
    part = certificate.deployed_part
    moved = replace(part, log_weights=tuple(value + 5000.0 for value in part.log_weights))
    same = vote_weights(replace(certificate, parts=(moved,), deployed=0))
    assert np.allclose(same, vote_weights(certificate), atol=1e-11)
