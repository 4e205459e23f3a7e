"""Method auto: a vote that is fixed beforehand, or one that is learned from the certification rows and drawn."""

import dataclasses
import json

import numpy as np
import pytest
from auditor import assert_recomputable, clopper_pearson, recomputed_by_class
from mpmath import mp, mpf
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.tree import DecisionTreeClassifier

from certivote import Certificate, CertifiedVoteClassifier, verify
from certivote.methods import Auto
from certivote.pipeline import Streams, make_plan, run
from certivote.promises import Precision
from certivote.theory.bounds import holdout
from certivote.theory.predictors import fixed_weights
from certivote.votes import plurality


def trees():
    return [DecisionTreeClassifier(max_depth=depth, random_state=0) for depth in (1, 2, 3)]


def staying(**options):
    return CertifiedVoteClassifier(voters=trees(), random_state=0, **options).fit(*load_iris(return_X_y=True))


def one_good(n=400, n_voters=40):
    """Voters that were fitted long ago, each to one column, of which only the first tells the class."""
    rng = np.random.default_rng(0)
    X = rng.integers(2, size=(n, n_voters)).astype(float)
    columns = [np.eye(n_voters)[place] for place in range(n_voters)]
    voters = [DecisionTreeClassifier(max_depth=1).fit(np.vstack([column, 0 * column]), [1, 0]) for column in columns]
    return X, X[:, 0].astype(int), voters


def learning(**options):
    X, y, voters = one_good()
    return CertifiedVoteClassifier(Auto(**options), voters, "none", random_state=0).fit(X, y), X, y


def failed(certificate, *evidence):
    return {check.what for check in verify(certificate, *evidence) if not check.passed}


# What is deployed, and its bound


def test_nothing_is_drawn_where_nothing_is_learned(monkeypatch):
    asked, of = set(), Streams.of
    monkeypatch.setattr(Streams, "of", lambda self, purpose, *which: asked.add(purpose) or of(self, purpose, *which))
    certificate = staying().certificate_
    assert (certificate.method, certificate.certified, certificate.share) == ("holdout", "the fixed vote", 0.95)
    assert "draw" not in asked
    assert learning()[0].certificate_.certified == "the drawn vote"
    assert "draw" in asked


def test_the_fixed_vote_is_the_same_for_every_seed_of_the_draw(monkeypatch):
    first, of = staying(), Streams.of
    monkeypatch.setattr(
        Streams,
        "of",
        lambda self, purpose, *which: np.random.default_rng(9) if purpose == "draw" else of(self, purpose, *which),
    )
    assert np.array_equal(first.weights_, staying().weights_)
    drawn = {tuple(learning()[0].weights_) for _ in range(2)}
    monkeypatch.undo()
    assert tuple(learning()[0].weights_) not in drawn


@pytest.mark.parametrize("delta", [0.05, 0.2, 1e-6])
def test_the_fixed_vote_is_certified_as_a_hold_out_at_95_percent_of_delta(delta):
    certificate = staying(delta=delta).certificate_
    part = certificate.deployed_part
    with mp.workdps(30):
        exact = clopper_pearson(part.errors, part.n, mpf(delta) * mpf("0.95"))
    assert exact <= certificate.bound <= exact + 1e-9
    assert part.delta == pytest.approx(0.95 * delta, rel=1e-15)
    assert part.penalty == 0.0
    assert part.holdout.errors == part.errors
    assert part.holdout.bound == holdout(part.errors, part.n, delta) < certificate.bound
    assert_recomputable(certificate)


def test_the_weights_are_those_of_the_informed_hyper_prior():
    outcome = run(make_plan("auto", "forest", "single", random_state=0), *load_breast_cancer(return_X_y=True))
    part = outcome.certificate.deployed_part
    assert outcome.certificate.prior == "informed"
    assert np.allclose(outcome.deployed.vote.weights, part.beta, atol=1e-6)
    assert np.array_equal(outcome.deployed.vote.weights, part.alpha)
    assert part.log_weights == ()


def test_voters_that_hardly_count_are_not_asked():
    assert fixed_weights(np.array([0.5, 0.5 - 3e-8, 3e-8])).tolist()[2] == 0.0
    assert np.count_nonzero(fixed_weights(np.full(100_000, 1e-5))) == 100_000


def test_a_learned_vote_has_the_rest_of_delta():
    clf, X, y = learning(n_draws=2)
    certificate = clf.certificate_
    part = certificate.deployed_part
    # Without training rows half of delta is the fixed vote's.
    assert (certificate.method, certificate.share, certificate.n_draws) == ("dis-b", 0.5, 2)
    assert certificate.bound < holdout(part.holdout.errors, part.n, 0.025)
    assert certificate.price_atoms == ()
    assert part.delta == 0.025
    assert not failed(certificate, clf, X, y)
    assert_recomputable(certificate)


def test_the_labels_of_the_certification_rows_decide():
    X, y, voters = one_good()
    noise = np.random.default_rng(1).permutation(y)
    plan = make_plan("auto", voters, "none", random_state=0)
    found = [run(plan, X, labels).certificate.certified for labels in (noise, y)]
    assert found == ["the fixed vote", "the drawn vote"]


def test_of_several_parts_all_are_fixed_or_all_are_learned():
    clf = staying(split=3)
    certificate = clf.certificate_
    assert [part.delta for part in certificate.parts] == pytest.approx([0.95 * 0.05 / 3] * 3, rel=1e-15)
    assert all(part.log_weights == () for part in certificate.parts)
    assert_recomputable(certificate)


@pytest.mark.parametrize("together", [False, True])
def test_promises_have_the_same_share(together):
    certificate = staying(promises=[Precision()], together=together).certificate_
    own = 0.01 / 2 if together else 0.05
    for promise in certificate.promises:
        assert promise.delta == pytest.approx(own, rel=1e-15)
        deltas = [statement.delta for statement in promise.statements]
        assert deltas == pytest.approx([0.95 * own / len(deltas)] * len(deltas), rel=1e-14)
    with mp.workdps(30):
        exact = recomputed_by_class(json.loads(certificate.to_json()))
    for statement, bound in zip(certificate.by_class, exact, strict=True):
        assert bound <= statement.bound <= bound + 1e-9


def test_entities_are_bet_on():
    patients = np.arange(150) // 3
    clf = CertifiedVoteClassifier(voters="forest", random_state=0).fit(*load_iris(return_X_y=True), groups=patients)
    certificate = clf.certificate_
    assert (certificate.certified, certificate.share) == ("the fixed vote", 0.95)
    assert certificate.theorem == "bets on groups (Waudby-Smith and Ramdas) at 0.95 delta"
    assert not failed(certificate)
    assert_recomputable(certificate)


@pytest.mark.parametrize("method", ["dis-b", "dis-r", "holdout", Auto(price_list=[(0.0, 0.9)])])
def test_other_methods_have_all_of_delta(method):
    certificate = CertifiedVoteClassifier(method, trees(), "single", prior="informed", random_state=0)
    certificate = certificate.fit(*load_iris(return_X_y=True)).certificate_
    assert certificate.share == 1.0
    assert certificate.deployed_part.delta == 0.05
    assert certificate.certified == ("the fixed vote" if method == "holdout" else "the drawn vote")
    assert not failed(certificate)


def test_it_says_so_in_plain_words():
    certificate = staying().certificate_
    assert "weights fixed before the certification rows were looked at" in certificate.details()
    assert "the weights that they had before" not in certificate.details()  # the same vote twice
    learned = learning()[0].certificate_.details()
    assert "promised a larger bound" in learned
    assert "the weights that they had before" in learned


# Forgeries


def recomputed(certificate, **changes):
    """A record of other shares, methods or weights, whose bound is that of its own numbers."""
    forged = dataclasses.replace(certificate, **changes)
    (part,) = forged.parts
    delta = forged.share * forged.delta
    bound = holdout(part.errors, part.n, delta)
    statement = dataclasses.replace(part.statement, delta=delta, bound=bound)
    return dataclasses.replace(forged, parts=(dataclasses.replace(part, statement=statement),))


@pytest.mark.parametrize("share", [1.0, 0.951, 0.5, 0.05])
def test_a_fixed_vote_may_not_have_another_share(share):
    forged = recomputed(staying(split="single").certificate_, share=share)
    assert "parameter share" in failed(forged)
    assert "parameter share" in failed(Certificate.from_json(forged.to_json()))


@pytest.mark.parametrize("share", [1.0, 0.95, 0.5001])
def test_a_learned_vote_may_not_have_the_share_of_a_fixed_one(share):
    certificate = learning()[0].certificate_
    assert "parameter share" not in failed(certificate)
    assert "parameter share" in failed(dataclasses.replace(certificate, share=share))


def test_the_share_is_that_of_the_bound_and_of_each_promise():
    certificate = staying(split="single").certificate_
    (part,) = certificate.parts
    whole = dataclasses.replace(part.statement, delta=0.05, bound=holdout(part.errors, part.n, 0.05))
    assert "part, delta" in failed(
        dataclasses.replace(certificate, parts=(dataclasses.replace(part, statement=whole),))
    )
    (promise,) = certificate.promises
    larger = tuple(
        dataclasses.replace(each, delta=0.05 / 6, bound=holdout(each.errors, each.n, 0.05 / 6))
        for each in promise.statements
    )
    promise = dataclasses.replace(promise, statements=larger)
    assert "by class, delta" in failed(dataclasses.replace(certificate, promises=(promise,)))


def test_a_vote_that_was_learned_may_not_be_called_fixed():
    clf, _, _ = learning()
    certificate = clf.certificate_
    (part,) = certificate.parts
    mean = tuple((np.array(part.beta) / sum(part.beta)).tolist())
    fixed = dataclasses.replace(
        part,
        family="categorical",
        alpha=tuple(clf.weights_.tolist()),
        beta=mean,
        log_weights=(),
        penalty=0.0,
        prior_weight=1.0,
    )
    forged = dataclasses.replace(certificate, method="holdout", parts=(fixed,), price_scales=(), prior="equal")
    assert "recorded weights" in failed(recomputed(forged))


def test_fixed_weights_are_those_of_the_recorded_hyper_prior():
    clf = staying(split="single")
    certificate = clf.certificate_
    (part,) = certificate.parts
    moved = np.array(part.alpha)
    moved[0] += 2.0**-20
    moved[1] -= 2.0**-20
    other = dataclasses.replace(part, alpha=tuple(moved.tolist()))
    assert "recorded weights" in failed(dataclasses.replace(certificate, parts=(other,)))
    masses = clf.voters_.votes(load_iris().data).masses(np.array(part.alpha))
    assert np.array_equal(clf.predict(load_iris().data), plurality(masses))
