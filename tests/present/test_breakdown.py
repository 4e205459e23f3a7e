"""What a bound is made of, and what it would be with other numbers."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from altering import altered
from fits import CERTIFIED, DRAWN, MEAN, PLACED, SETTINGS, fitted, iris_fit
from reports import certificate, grouped_fit
from thorough import grid

from certivote.certificate import setting_of
from certivote.maths.betting import betting_upper
from certivote.present._breakdown import bound_at, cases_needed, growth, least_bound, observed_rate, steps, vote_weights
from certivote.theory.families import FAMILIES
from certivote.theory.methods import METHODS


@pytest.mark.parametrize(("method", "setting"), PLACED)
def test_the_steps_lead_from_what_was_observed_to_the_bound(method, setting):
    certificate = fitted(method, setting, prior="auto", constant="exact").certificate_
    found = steps(certificate)
    assert found[0].end == observed_rate(certificate)
    assert all(after.start == before.end for before, after in pairwise(found))
    assert found[-1].end == pytest.approx(certificate.bound, abs=1e-9)
    paid = math.fsum(step.nats for step in found if step.nats is not None)
    assert paid == pytest.approx(math.fsum(each.nats for each in certificate.payments), abs=1e-9)
    assert ("surrogate" in [step.what for step in found]) == (method in MEAN)
    assert_recorded(certificate)


@grid(strength=1, method=CERTIFIED, setting=SETTINGS)
def test_at_the_recorded_numbers_the_bound_is_the_recorded_one(method, setting):
    assert_recorded(fitted(method, setting, n_draws=3, prior="auto").certificate_)


def assert_recorded(certificate):
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
    assert certificate.parts[0].statement.risk_delta > 0
    assert bound_at(certificate) == pytest.approx(certificate.bound, rel=1e-12)


@pytest.mark.parametrize("method", ["dis-b", "dis-r", "fo", "smv-exact"])
def test_the_rows_needed_are_just_enough(method):
    certificate = fitted(method).certificate_
    least = least_bound(certificate)
    assert observed_rate(certificate) * 0.99 < least < certificate.bound
    target = 0.5 * (least + certificate.bound)
    rows = cases_needed(certificate, target, ())
    assert rows > certificate.parts[0].n
    assert bound_at(certificate, n=rows) <= target < bound_at(certificate, n=rows - 1)
    assert target < bound_at(certificate, n=int(0.9 * rows))
    assert cases_needed(certificate, 0.9 * least, ()) is None


# Entities


@pytest.mark.parametrize("method", ["dis-b", "dis-r", "dis-v", "smv-exact", "fo", "c-bound", "holdout"])
def test_with_entities_the_steps_lead_to_the_bound_and_the_numbers_give_it(method):
    made = grouped_fit(method, prior="auto").certificate_
    found, part = steps(made), made.deployed_part
    assert part.entities == 20 < part.n
    assert found[-1].end == pytest.approx(made.bound, abs=1e-9)
    if part.losses:
        assert found[0].end == pytest.approx(np.mean(part.losses))
    for given in ({}, {"n": part.entities}, {"delta": made.delta}):
        assert bound_at(made, **given) == pytest.approx(made.bound, rel=1e-12)
    assert bound_at(made, n=part.n) < made.bound  # so many entities would be more


def test_where_learning_costs_more_than_confidence_the_steps_lead_to_the_bound_too():
    made = grouped_fit("dis-b", prior="auto").certificate_
    part = made.deployed_part
    theorem = METHODS["dis-b"].by_entity().theorem
    # The first posterior is the prior itself, so that all of the penalty is paid for the choice among priors.
    free = replace(part, alpha=part.beta, prior_weight=1e-4)
    paid = setting_of(made, free, part.statement)
    penalty = theorem.charge(FAMILIES[part.family], *map(np.array, (free.alpha, free.beta, free.log_weights)), paid)
    bound = theorem.bound(part.statement.statistics, penalty, part.size, paid)
    dear = altered(free, penalty=penalty, bound=bound)
    assert penalty > -math.log(made.delta)
    assert steps(replace(made, parts=(dear,)))[-1].end == pytest.approx(bound, abs=1e-9)


def test_losses_that_bets_are_placed_on_are_repeated():
    made = certificate("a model of entities")
    part, curve = made.deployed_part, growth(made)
    assert curve[0] == (part.entities, made.bound)
    assert all(size % part.entities == 0 for size, _ in curve)
    bounds = [bound for _, bound in curve]
    assert bounds == sorted(bounds, reverse=True)
    level = math.log(made.delta)
    twice = betting_upper(part.losses * 2, level, level)
    assert bound_at(made, n=2 * part.entities) == pytest.approx(twice, rel=1e-12)
    assert least_bound(made) == part.risks[0] < bounds[-1]


def test_between_repetitions_the_entities_needed_are_interpolated():
    made = certificate("a model of entities")
    m, curve = made.deployed_part.entities, growth(made)
    for share in (0.9, 0.5, 0.2):
        target = least_bound(made) + share * (made.bound - least_bound(made))
        needed = cases_needed(made, target, curve)
        more, less = math.ceil(1.02 * needed / m), math.floor(0.98 * needed / m)
        assert bound_at(made, n=more * m) <= target < bound_at(made, n=less * m)
    assert cases_needed(made, curve[-1][1], curve) == curve[-1][0]
    assert cases_needed(made, 0.999 * curve[-1][1], curve) is None


def test_the_kl_form_needs_entities_and_no_rows():
    made = certificate("entities by kl")
    target = 0.5 * (least_bound(made) + made.bound)
    needed = cases_needed(made, target, ())
    assert bound_at(made, n=needed) <= target < bound_at(made, n=needed - 1)
    assert made.deployed_part.size in [size for size, _ in growth(made)]


# Given models


@pytest.mark.parametrize("kind", ["a model", "a model of entities", "best of models", "vote of models"])
def test_the_bound_of_given_models_is_theirs_at_their_part_of_delta(kind):
    made = certificate(kind)
    assert bound_at(made) == made.bound
    assert steps(made)[-1].end == pytest.approx(made.bound, abs=1e-9)


@pytest.mark.parametrize("kind", ["a model", "a model of entities", "best of models"])
def test_a_given_model_pays_for_confidence_alone(kind):
    assert [step.what for step in steps(certificate(kind))] == ["observed", "confidence"]


# Weights


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
