"""Hyper-priors: the grid, the informed one, and that the choice among them is made and paid before the draw."""

import math
from dataclasses import replace

import numpy as np
import pytest
from options import as_objects
from thorough import grid

from certivote import CertifiedVoteClassifier
from certivote.maths import dirichlet
from certivote.maths.occam import PriceList
from certivote.pipeline import (
    Division,
    Grouping,
    KeptRows,
    Prepared,
    PreparedPart,
    PromiseData,
    RowsWithVotes,
    Seed,
    Streams,
    Table,
    _learn,
    _rows,
    certify_votes,
    make_plan,
)
from certivote.pipeline._answers import AnsweredRows
from certivote.pipeline._learn import Problem, expected_bound
from certivote.pipeline._priors import (
    HyperPrior,
    given_hyper_priors,
    informed_hyper_prior,
    staying_price,
)
from certivote.voters import Stumps
from certivote.votes import build_votes

DRAWN = ["dis-b", "dis-r", "dis-v"]
STUMPS = Stumps(2, ranges=[(0, 1)] * 2)


def test_the_grid_has_a_flat_a_sparse_and_a_concentrated_prior():
    priors = given_hyper_priors("auto", 40)
    assert [prior.beta.tolist() for prior in priors] == [[0.5] * 40, [1 / 40] * 40, [5.0] * 40]
    assert math.fsum(prior.weight for prior in priors) == pytest.approx(1.0)
    assert len({prior.weight for prior in priors}) == 1


def test_a_number_and_an_array_are_one_prior_of_full_weight():
    (number,), (array,) = given_hyper_priors(2, 3), given_hyper_priors([1, 2, 3], 3)
    assert (number.beta.tolist(), number.weight) == ([2.0] * 3, 1.0)
    assert (array.beta.tolist(), array.weight) == ([1.0, 2.0, 3.0], 1.0)


@pytest.mark.parametrize("prior", [[1.0, 2.0], [[1.0, 2.0, 3.0]], np.ones((3, 1)), []])
def test_priors_of_a_wrong_shape_are_refused(prior):
    with pytest.raises(ValueError, match="one number per voter, 3 in all; got shape"):
        given_hyper_priors(prior, 3)


@pytest.mark.parametrize("prior", [0.0, -1.0, 1e-7, 1e7, math.nan, math.inf, [1.0, 0.0, 1.0], [1.0, math.nan, 1.0]])
def test_priors_that_are_not_positive_are_refused(prior):
    with pytest.raises(ValueError, match="prior must be positive, from 1e-6 to 1e6"):
        given_hyper_priors(prior, 3)


def test_the_informed_prior_is_concentrated_at_the_weights():
    weights = np.array([0.7, 0.2, 0.1, 0.0])
    prior = informed_hyper_prior(weights)
    assert prior.weight == 1.0
    assert np.all(prior.beta > 0)
    np.testing.assert_allclose(prior.beta / prior.beta.sum(), weights, atol=1e-7)
    assert prior.beta.sum() == pytest.approx(20.0 * 4)
    draws = np.array([np.exp(dirichlet.draw(prior.beta, np.random.default_rng(k))[0]) for k in range(300)])
    assert np.all(draws.std(axis=0) < 0.06)


def test_staying_is_cheap_at_each_kind_of_prior():
    assert staying_price("informed") == PriceList.mixture(((0.0, 0.95),))
    assert staying_price("auto") == PriceList.mixture(((math.log(3.0), 0.5),))
    assert staying_price(0.5) == staying_price([1.0, 2.0]) == PriceList.mixture(((0.0, 0.5),))


# The choice


def part_of(votes, labels, hyper_priors):
    """One part whose rows, voters and digests nobody looks at."""
    rows = AnsweredRows(
        np.array(["0", "1"]), labels, Table("", (), 1, (1, 1)), Grouping(), None, digests=("", ""), subject="vote"
    )
    certification = RowsWithVotes(votes, labels, digests=("", ""), duplicates=(0, 0))
    return PreparedPart(rows, None, hyper_priors, certification, (), PromiseData(), KeptRows())


def few_good(seed=0, n=80, n_voters=12):
    """A few good voters among many bad ones."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(2, size=n)
    wrong = rng.random((n, n_voters)) < np.where(np.arange(n_voters) < 2, 0.1, 0.5)
    codes = np.where(wrong, 1 - labels[:, None], labels[:, None]).astype(np.uint8)
    return part_of(build_votes(codes=codes, n_classes=2), labels, given_hyper_priors("auto", n_voters))


def plan(method, **options):
    resolved = make_plan(**as_objects(method, "none", voters=STUMPS, delta=0.05, **options))
    return replace(resolved, price_list=PriceList.mixture())


class Draws(Streams):
    """Only the draw depends on the seed."""

    def of(self, purpose, *which):
        return super().of(purpose, *which) if purpose == "draw" else np.random.default_rng(1)


def certificate_of(method, part, draw_seed=0, **options):
    draws = Draws(Seed((draw_seed,), fresh=False), "data:" + 64 * "0")
    prepared = Prepared(part.source, Division((part.source,), "single"), (part,), draws)
    return certify_votes(plan(method, **options), prepared).certificate


def certified(method, part, draw_seed=0, **options):
    return certificate_of(method, part, draw_seed, **options).parts[0]


@pytest.mark.parametrize("method", DRAWN)
def test_everything_is_chosen_before_the_draw(method, monkeypatch):
    calls = []

    def watch(owner, name, what):
        original = getattr(owner, name)
        monkeypatch.setattr(owner, name, lambda *a, **k: calls.append(what) or original(*a, **k))

    watch(_learn, "expected_bound", "choose")
    monkeypatch.setitem(_learn.SOLVERS, "lbfgs", spy_solver(calls))
    watch(dirichlet, "draw", "draw")
    watch(_rows, "count_votes", "count")
    certified(method, few_good(), renyi_order=(1.3, 1.5), n_draws=2)
    options = 3 * (2 if method == "dis-v" else 1)
    assert calls[:options] == ["learn"] * options
    assert calls[options : 2 * options] == ["choose"] * options
    assert calls[2 * options] == "draw"
    assert calls.count("draw") == 2
    assert set(calls[2 * options :]) == {"draw", "count"}


def spy_solver(calls):
    original = _learn.SOLVERS["lbfgs"]
    return lambda *arguments: calls.append("learn") or original(*arguments)


@pytest.mark.parametrize("method", DRAWN)
def test_the_draw_stream_reaches_the_draw_only(method):
    first, second = (certified(method, few_good(), seed, renyi_order=(1.3, 1.5)) for seed in (0, 1))
    assert first.log_weights != second.log_weights
    assert (first.beta, first.alpha, first.renyi_order) == (second.beta, second.alpha, second.renyi_order)


@grid(strength=1, method=[*DRAWN, "smv-exact"], seed=[0, 1])
def test_the_prior_with_the_smallest_expected_bound_is_taken_and_paid(method, seed):
    everyone, resolved = few_good(seed), plan(method)
    certificate = certificate_of(method, everyone)
    (kept,) = certificate.parts
    expected = []
    for prior in everyone.hyper_priors:
        setting = replace(resolved.settings()[0], prior_nats=math.log(3.0))
        problem = Problem(
            *everyone.certification.to_learn(), "plurality", prior.beta, resolved.family, resolved.method, setting
        )
        alone = certified(method, replace(everyone, hyper_priors=(HyperPrior(prior.beta, 1 / 3),)))
        expected.append((expected_bound(problem, np.array(alone.alpha)), alone))
    best = min(expected, key=lambda pair: pair[0])[1]
    assert kept == best
    assert kept.prior_weight == pytest.approx(1 / 3)
    paid = {payment.what: payment.nats for payment in certificate.payments}["prior"]
    if method == "dis-b":
        assert paid > math.log(3.0) - 1e-9  # at the least: the level falls faster than the ratio rises
    else:
        assert paid == pytest.approx(math.log(3.0))


def test_few_good_voters_choose_the_sparse_prior_and_many_fair_ones_the_concentrated():
    rng = np.random.default_rng(0)
    labels = rng.integers(2, size=400)

    def chosen(errors):
        codes = np.where(rng.random((400, len(errors))) < errors, 1 - labels[:, None], labels[:, None])
        votes = build_votes(codes=codes.astype(np.uint8), n_classes=2)
        return certified("dis-r", part_of(votes, labels, given_hyper_priors("auto", len(errors)))).beta[0]

    assert chosen(np.where(np.arange(60) == 0, 0.02, 0.5)) == 1 / 60
    assert chosen(np.full(60, 0.3)) == 5.0


@pytest.mark.parametrize("method", ["so", "holdout", "c-bound"])
def test_methods_over_voters_have_nothing_to_choose_or_pay(method):
    certificate = certificate_of(method, few_good())
    (part,) = certificate.parts
    assert part.prior_weight == 1.0
    assert np.array(part.beta) == pytest.approx(np.full(12, 1 / 12))
    assert {payment.what: payment.nats for payment in certificate.payments}["prior"] == 0.0


def test_the_estimator_records_the_prior():
    rng = np.random.default_rng(0)
    X = rng.random((60, 2))
    y = (X[:, 0] > 0.5).astype(int)
    auto = CertifiedVoteClassifier("dis-r", STUMPS, "none", random_state=0).fit(X, y).certificate_
    assert auto.prior == "grid"
    assert auto.parts[0].prior_weight == pytest.approx(1 / 3)
    given = CertifiedVoteClassifier("dis-r", STUMPS, "none", prior=2.0, random_state=0).fit(X, y).certificate_
    assert given.prior == "given"
    assert given.hyper_prior == "Dirichlet with parameter 2 for every voter"
    assert (given.parts[0].beta, given.parts[0].prior_weight) == ((2.0,) * 8, 1.0)
    with pytest.raises(ValueError, match="one number per voter, 8 in all"):
        CertifiedVoteClassifier("dis-r", STUMPS, "none", prior=[1.0, 2.0]).fit(X, y)
    with pytest.raises(ValueError, match="split='none' has none"):
        CertifiedVoteClassifier("dis-r", STUMPS, "none", prior="informed").fit(X, y)
