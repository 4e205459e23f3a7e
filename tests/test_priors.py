"""Hyper-priors: the grid, the informed one, and that the choice among them is made and paid before the draw."""

import math
from dataclasses import replace

import numpy as np
import pytest

from certivote import CertifiedVoteClassifier, certify
from certivote.certify import Ballot, HyperPrior, Plan
from certivote.learn import Problem, expected_bound
from certivote.maths import dirichlet
from certivote.maths.occam import Gamma
from certivote.methods import METHODS, Setting
from certivote.priors import describe, given_priors, informed_prior, staying_price
from certivote.voters import Stumps
from certivote.votes import DenseVotes

DRAWN = ["dis-b", "dis-r", "dis-v"]


def test_the_grid_has_a_flat_a_sparse_and_a_concentrated_prior():
    priors = given_priors("auto", 40)
    assert [prior.beta.tolist() for prior in priors] == [[0.5] * 40, [1 / 40] * 40, [5.0] * 40]
    assert math.fsum(prior.weight for prior in priors) == pytest.approx(1.0)
    assert len({prior.weight for prior in priors}) == 1


def test_a_number_and_an_array_are_one_prior_of_full_weight():
    (number,), (array,) = given_priors(2, 3), given_priors([1, 2, 3], 3)
    assert (number.beta.tolist(), number.weight) == ([2.0] * 3, 1.0)
    assert (array.beta.tolist(), array.weight) == ([1.0, 2.0, 3.0], 1.0)


@pytest.mark.parametrize("prior", [[1.0, 2.0], [[1.0, 2.0, 3.0]], np.ones((3, 1)), []])
def test_priors_of_a_wrong_shape_are_refused(prior):
    with pytest.raises(ValueError, match="one number a voter, 3 in all; got shape"):
        given_priors(prior, 3)


@pytest.mark.parametrize("prior", [0.0, -1.0, 1e-7, 1e7, math.nan, math.inf, [1.0, 0.0, 1.0], [1.0, math.nan, 1.0]])
def test_priors_that_are_not_positive_are_refused(prior):
    with pytest.raises(ValueError, match="prior must be positive, from 1e-6 to 1e6"):
        given_priors(prior, 3)


def test_the_informed_prior_is_concentrated_at_the_weights():
    weights = np.array([0.7, 0.2, 0.1, 0.0])
    prior = informed_prior(weights)
    assert prior.weight == 1.0
    assert np.all(prior.beta > 0)
    np.testing.assert_allclose(prior.beta / prior.beta.sum(), weights, atol=1e-7)
    assert prior.beta.sum() == pytest.approx(20.0 * 4)
    draws = np.array([np.exp(dirichlet.draw(prior.beta, np.random.default_rng(k))[0]) for k in range(300)])
    assert np.all(draws.std(axis=0) < 0.06)


def test_staying_is_cheap_at_each_kind_of_prior():
    assert staying_price("informed") == Gamma.mixture(((0.0, 0.95),))
    assert staying_price("auto") == Gamma.mixture(((math.log(3.0), 0.5),))
    assert staying_price(0.5) == staying_price([1.0, 2.0]) == Gamma.mixture(((0.0, 0.5),))


def test_every_prior_has_words():
    words = [describe(prior) for prior in ("informed", "auto", 0.5, np.ones(3))]
    assert len(set(words)) == 4
    assert "each paid for: flat, sparse, concentrated" in words[1]
    assert words[2] == "Dirichlet with parameter 0.5 for every voter"


# The choice


def ballot(seed=0, n=80, n_voters=12, priors=None):
    """A few good voters among many bad ones."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(2, size=n)
    wrong = rng.random((n, n_voters)) < np.where(np.arange(n_voters) < 2, 0.1, 0.5)
    codes = np.where(wrong, 1 - labels[:, None], labels[:, None]).astype(np.uint8)
    return Ballot(DenseVotes(codes, 2), labels, priors or given_priors("auto", n_voters), 0, (0, 0))


def plan(method, **options):
    return Plan(method, "plurality", "none", Setting(0.05, 1.5, "exact"), (1.0,), "lbfgs", **options)


def certified(method, some_ballot, draw_seed=0, **options):
    streams = [(np.random.default_rng(1), np.random.default_rng(draw_seed))]
    certificate, _ = certify.certify(
        plan(method, **options), [some_ballot], streams, np.array([0, 1]), (), lambda: None
    )
    return certificate.parts[0]


@pytest.mark.parametrize("method", DRAWN)
def test_everything_is_chosen_before_the_draw(method, monkeypatch):
    calls = []

    def watch(owner, name, what):
        original = getattr(owner, name)
        monkeypatch.setattr(owner, name, lambda *a, **k: calls.append(what) or original(*a, **k))

    watch(certify, "expected_bound", "choose")
    monkeypatch.setitem(certify.SOLVERS, "lbfgs", spy_solver(calls))
    watch(dirichlet, "draw", "draw")
    watch(certify, "hear", "count")
    certified(method, ballot(), orders=(1.3, 1.5), n_draws=2)
    options = 3 * (2 if method == "dis-v" else 1)
    assert calls[:options] == ["learn"] * options
    assert calls[options : 2 * options] == ["choose"] * options
    assert calls[2 * options] == "draw"
    assert calls.count("draw") == 2
    assert set(calls[2 * options :]) == {"draw", "count"}


def spy_solver(calls):
    original = certify.SOLVERS["lbfgs"]
    return lambda *arguments: calls.append("learn") or original(*arguments)


@pytest.mark.parametrize("method", DRAWN)
def test_the_draw_stream_reaches_the_draw_only(method):
    first, second = (certified(method, ballot(), seed, orders=(1.3, 1.5)) for seed in (0, 1))
    assert first.log_weights != second.log_weights
    assert (first.beta, first.alpha, first.order) == (second.beta, second.alpha, second.order)


@pytest.mark.parametrize("method", [*DRAWN, "smv-exact"])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_prior_with_the_smallest_expected_bound_is_taken_and_paid(method, seed):
    everyone = ballot(seed)
    kept = certified(method, everyone)
    expected = []
    for prior in everyone.priors:
        setting = replace(plan(method).candidates()[0], prior_nats=math.log(3.0))
        problem = Problem(everyone.votes, everyone.labels, "plurality", prior.beta, METHODS[method], setting)
        alone = certified(method, replace(everyone, priors=(HyperPrior(prior.beta, 1 / 3),)))
        expected.append((expected_bound(problem, np.array(alone.alpha)), alone))
    best = min(expected, key=lambda pair: pair[0])[1]
    assert kept == best
    assert kept.prior_weight == pytest.approx(1 / 3)
    paid = {payment.what: payment.nats for payment in kept.payments}["prior"]
    if method == "dis-b":
        assert paid > math.log(3.0) - 1e-9  # at the least: the level falls faster than the ratio rises
    else:
        assert paid == pytest.approx(math.log(3.0))


def test_few_good_voters_choose_the_sparse_prior_and_many_fair_ones_the_concentrated():
    rng = np.random.default_rng(0)
    labels = rng.integers(2, size=400)

    def chosen(errors):
        codes = np.where(rng.random((400, len(errors))) < errors, 1 - labels[:, None], labels[:, None])
        votes = DenseVotes(codes.astype(np.uint8), 2)
        return certified("dis-r", Ballot(votes, labels, given_priors("auto", len(errors)), 0, (0, 0))).beta[0]

    assert chosen(np.where(np.arange(60) == 0, 0.02, 0.5)) == 1 / 60
    assert chosen(np.full(60, 0.3)) == 5.0


@pytest.mark.parametrize("method", ["so", "holdout", "c-bound"])
def test_methods_over_voters_have_nothing_to_choose_or_pay(method):
    part = certified(method, ballot())
    assert part.prior_weight == 1.0
    assert np.array(part.beta) == pytest.approx(np.full(12, 1 / 12))
    assert {payment.what: payment.nats for payment in part.payments}["prior"] == 0.0


def test_the_estimator_records_the_prior():
    rng = np.random.default_rng(0)
    X = rng.random((60, 2))
    y = (X[:, 0] > 0.5).astype(int)
    stumps = Stumps(2, ranges=[(0, 1)] * 2)
    auto = CertifiedVoteClassifier("dis-r", stumps, "none", random_state=0).fit(X, y).certificate_
    assert auto.prior == describe("auto")
    assert auto.parts[0].prior_weight == pytest.approx(1 / 3)
    given = CertifiedVoteClassifier("dis-r", stumps, "none", prior=2.0, random_state=0).fit(X, y).certificate_
    assert given.prior == describe(2.0)
    assert (given.parts[0].beta, given.parts[0].prior_weight) == ((2.0,) * 8, 1.0)
    with pytest.raises(ValueError, match="one number a voter, 8 in all"):
        CertifiedVoteClassifier("dis-r", stumps, "none", prior=[1.0, 2.0]).fit(X, y)
    with pytest.raises(ValueError, match="split='none' has none"):
        CertifiedVoteClassifier("dis-r", stumps, "none", prior="informed").fit(X, y)
