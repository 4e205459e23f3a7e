"""Deployed weights are proved on any processor, and a changed weight is seen."""

import copy
from functools import cache

import numpy as np
import pytest

pytest.importorskip("flint", reason="proofs need python-flint: install certivote[verify]")

from flint import arb, ctx
from kinds import case

from certivote.maths.gaussian import log_softmax
from certivote.verify._balls import BITS
from certivote.verify._families import FAMILIES, are_fixed_point, could_be_weights

UNIT = 2.0**-52


def deployed(log_weights, exponential):
    """The maker's fixed-point weights, with an exponential of another processor."""
    units = np.floor(exponential(log_weights) / UNIT)
    units[np.argmax(units)] += 2.0**52 - units.sum()
    return units * UNIT


def off_by(places, rng=None):
    """An exponential that is off by so many units in the last place, up, down or at random."""

    def exponential(x):
        exact = np.exp(x)
        if rng is not None:
            return exact + rng.integers(-abs(places), abs(places) + 1, size=len(x)) * np.spacing(exact)
        return exact + places * np.spacing(exact)

    return exponential


@cache
def draws(family):
    """Draws of all shapes, from one heavy voter to many equal ones."""
    rng = np.random.default_rng(3)
    shapes = [np.full(n, value) for n, value in ((2, 0.05), (5, 1.0), (40, 0.5), (100, 1000.0), (300, 20.0))]
    if family == "dirichlet":
        return [np.log(np.maximum(rng.dirichlet(shape), 1e-300)) for shape in shapes]
    return [3.0 * rng.normal(size=len(shape)) + shift for shape in shapes for shift in (0.0, -700.0, 1e5)]


def proved(family, draw, weights):
    with ctx.workprec(BITS):
        row = FAMILIES[family]
        return could_be_weights(weights, row.log_weights([arb(z) for z in draw.tolist()]), row.rounds_draw)


def logs(family, draw):
    return log_softmax(draw) if family == "logistic-normal" else draw


@pytest.mark.parametrize("places", [0, 1, -1, "any"])
@pytest.mark.parametrize("family", ["dirichlet", "logistic-normal"])
def test_an_honest_weight_passes_on_every_processor(family, places):
    rng = np.random.default_rng(0)
    exponential = off_by(1, rng) if places == "any" else off_by(places)
    for draw in draws(family):
        assert proved(family, draw, deployed(logs(family, draw), exponential))


@pytest.mark.parametrize("family", ["dirichlet", "logistic-normal"])
def test_another_processor_gives_other_weights(family):
    """So that the test above tries something."""
    others = [
        not np.array_equal(deployed(logs(family, draw), off_by(1)), deployed(logs(family, draw), np.exp))
        for draw in draws(family)
    ]
    assert sum(others) > 2


@pytest.mark.parametrize("units", [16, -16, 2**20, 2**40])
@pytest.mark.parametrize("family", ["dirichlet", "logistic-normal"])
def test_a_changed_weight_is_seen(family, units):
    for draw in draws(family):
        weights = deployed(logs(family, draw), np.exp)
        giver, taker = np.argsort(weights)[-2:]
        if len(weights) > 2:
            giver, taker = np.argsort(weights)[-3:-1]  # not the largest, which takes what is left
        moved = weights.copy()
        moved[taker] += units * UNIT
        moved[giver] -= units * UNIT
        if moved.min() >= 0:
            assert not proved(family, draw, moved)


def test_what_is_no_fixed_point_is_seen():
    assert are_fixed_point(np.array([0.25, 0.75]))
    assert not are_fixed_point(np.array([0.25, 0.5]))
    assert not are_fixed_point(np.array([-0.25, 1.25]))
    assert not are_fixed_point(np.array([0.1, 1.0 - 0.1 - UNIT / 2]))
    assert not are_fixed_point(np.array([np.nan, 1.0]))
    logs_of_halves = [arb(0.5).log()] * 2
    assert could_be_weights(np.array([0.5, 0.5]), logs_of_halves, rounded=False)
    assert not could_be_weights(np.array([0.5, 0.25, 0.25]), logs_of_halves, rounded=False)


@pytest.mark.parametrize("name", ["dis-r", "dis-v", "dis-r logistic-normal"])
def test_a_model_of_another_processor_passes_the_audit(name):
    given = case(name)
    draw = np.array(given.model.certificate_.deployed_part.log_weights)
    family = given.model.certificate_.deployed_part.family
    for places in (1, -1):
        model = copy.copy(given.model)
        model.weights_ = deployed(logs(family, draw), off_by(places))
        other = type(given)(model, given.X, given.y, given.again)
        assert [str(check) for check in other.audit(model.certificate_, "data") if not check.passed] == []


@pytest.mark.parametrize(
    "name", ["dis-b", "dis-v", "fo", "holdout of classifiers", "smv-exact", "dis-r logistic-normal"]
)
def test_a_model_with_other_weights_fails_the_audit(name):
    given = case(name)
    model = copy.copy(given.model)
    model.weights_ = np.roll(given.model.weights_, 1)
    assert not np.array_equal(model.weights_, given.model.weights_)
    other = type(given)(model, given.X, given.y, given.again)
    assert "weights" in {check.what for check in other.audit(model.certificate_, "model") if not check.passed}


@pytest.mark.parametrize(
    "kept", [[0, 1, 2, 2], [0, 1, 2, 10**12], [-1, 0, 1, 2], [3, 2, 1, 0], [0, 1, 2], [0.0, 1.0, 2.0, 3.0]]
)
def test_numbers_of_voters_that_cannot_be_fail_the_audit(kept):
    given = case("dis-b")
    model = copy.copy(given.model)
    model.kept_voters_ = np.array(kept)
    other = type(given)(model, given.X, given.y, given.again)
    assert "weights" in {check.what for check in other.audit(model.certificate_, "model") if not check.passed}
