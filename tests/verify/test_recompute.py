"""Anyone can recompute a certificate from its JSON: the statistics from the votes, the bounds from the statistics."""

import json
from functools import cache

import numpy as np
import pytest
from auditor import assert_recomputable, delta_of_one, log_constant, with_counts
from ballots import codes_of
from fits import CERTIFIED, DRAWN, LOSSES, MEAN, PLACED, RANDOM, cancer, certified_rows, fitted, iris_fit
from mpmath import mp, mpf
from sklearn.tree import DecisionTreeClassifier
from thorough import grid

from certivote.certificate import payments_of
from certivote.pipeline._learn import SOLVERS

PAPERS = ["stumps", "single", "cross"]
"""The splits that the paper has."""
EXACT = {"prior": "auto", "constant": "exact"}


def wrong_votes(clf, X, y):
    """Which voter errs where, by letting the trees or the stumps answer one by one."""
    if clf.split != "none":
        return codes_of(clf.voters_.votes(X)) != y[:, None]
    above = X[:, :, None] > clf.voters_.thresholds
    return np.stack([above, ~above], axis=-1).reshape(len(X), -1) != y[:, None]


@grid(method=CERTIFIED, setting=PAPERS, solver=SOLVERS, loss=LOSSES)
def test_a_stranger_can_recompute_the_bound_from_the_json(method, setting, solver, loss):
    certificate = fitted(method, setting, solver, loss).certificate_
    assert (certificate.method, certificate.solver, certificate.loss) == (method, solver, loss)
    assert certificate.certified == CERTIFIED[method]
    assert certificate.renyi_order == (1.5 if method == "dis-v" else None)
    assert_recomputable(certificate)
    assert certificate.bound < (0.65 if setting != "stumps" else 1.3)


@pytest.mark.parametrize("method", [name for name in CERTIFIED if name != "c-bound"])
@pytest.mark.parametrize("loss", LOSSES)
def test_a_stranger_can_recompute_the_bound_for_three_classes(method, loss):
    certificate = iris_fit(method, loss=loss, split="cross").certificate_
    assert len(certificate.classes) == 3
    assert_recomputable(certificate)


def exact_statistics(method, wrong, alpha):
    """What the record calls risks, from the votes and the learned parameters."""
    mass = [mp.fsum(a for a, w in zip(alpha, row, strict=True) if w) for row in wrong]
    if method in RANDOM:
        total = mp.fsum(alpha)
        table = {m: mp.betainc(total - m, m, 0, 0.5, regularized=True) for m in set(mass) if 0 < m < total}
        return [mp.fsum(table.get(m, mpf(m > 0)) for m in mass) / len(mass)]
    curves = {
        "fo": [lambda w: w],
        "so": [lambda w: w**2],
        "bin": [lambda w: mp.betainc(50, 51, 0, w, regularized=True)],
        "c-bound": [lambda w: w, lambda w: 2 * w * (1 - w)],
    }[method]
    return [mp.fsum(curve(m) for m in mass) / len(mass) for curve in curves]


@pytest.mark.parametrize("setting", ["single", "cross", "stumps"])
@pytest.mark.parametrize("method", [*RANDOM, *MEAN])
def test_the_recorded_risks_are_those_of_the_votes(method, setting):
    clf = fitted(method, setting)
    X, y = cancer()
    rows = certified_rows(clf)
    part = clf.certificate_.parts[clf.certificate_.deployed]
    assert part.n == len(rows)
    wrong = wrong_votes(clf, X[rows], y[rows])
    with mp.workdps(30):
        expected = exact_statistics(method, wrong, [mpf(a) for a in part.alpha])
        assert len(part.risks) == len(expected)
        # Bounds grow with the first statistic and fall with the second: each is rounded to the safe side.
        for got, true, side in zip(part.risks, expected, (1, -1), strict=False):
            assert 0 <= side * (got - true) <= mpf("1e-11")


# --- Beyond the paper.


@pytest.mark.parametrize(("method", "setting"), PLACED)
def test_a_stranger_can_recompute_the_bound_with_exact_constants_and_a_choice_of_priors(method, setting):
    certificate = fitted(method, setting, **EXACT).certificate_
    assert certificate.constant == "exact"
    dirichlet = method in DRAWN + RANDOM
    assert ("one of 3, each paid for" in certificate.hyper_prior) == dirichlet
    assert {part.prior_weight for part in certificate.parts} == {1 / 3 if dirichlet else 1.0}
    for part in certificate.parts:
        places = {0.5, 1 / len(part.beta), 5.0} if dirichlet else {1 / len(part.beta)}
        assert len(set(part.beta)) == 1
        assert any(part.beta[0] == pytest.approx(place, rel=1e-12) for place in places)
    assert_recomputable(certificate)
    assert certificate.bound < (0.65 if setting != "stumps" else 1.3)


def test_the_best_of_the_priors_is_not_always_the_same():
    fits = [fitted(method, setting, **EXACT) for method in DRAWN for setting in ("stumps", "single", "cross")]
    chosen = {round(part.beta[0], 6) for clf in fits for part in clf.certificate_.parts}
    assert len(chosen) > 1


@grid(strength=1, method=CERTIFIED, constant=["paper", "exact"])
def test_a_stranger_can_recompute_the_bounds_of_three_folds(method, constant):
    certificate = fitted(method, "three", constant=constant).certificate_
    assert (certificate.split, len(certificate.parts)) == ("3", 3)
    assert certificate.average_weights == (1 / 3,) * 3
    assert sorted(part.n for part in certificate.parts) == [189, 190, 190]
    assert_recomputable(certificate)


@pytest.mark.parametrize("setting", ["single", "cross"])
@pytest.mark.parametrize("method", DRAWN)
def test_a_stranger_can_recompute_the_best_of_several_draws(method, setting):
    many = fitted(method, setting, n_draws=4, **EXACT)
    assert many.certificate_.n_draws == 4
    assert_recomputable(many.certificate_)


def test_any_of_the_draws_may_be_the_best():
    kept = {fitted("dis-r", n_draws=4, seed=seed).certificate_.parts[0].draw for seed in range(8)}
    assert len(kept) > 1


@grid(setting=["stumps", "cross"], n_draws=[1, 3], constant=["paper", "exact"])
def test_a_stranger_can_recompute_the_best_of_several_orders(setting, n_draws, constant):
    orders = (1.1, 1.5, 3.0, 10.0)
    certificate = fitted("dis-v", setting, renyi_order=orders, n_draws=n_draws, constant=constant).certificate_
    assert certificate.renyi_orders == orders
    assert_recomputable(certificate)


PRICE_LISTS = ["auto", ((0.0, 0.3), (5.0, 0.4)), ((20.0, 1.0),), ((1.5, 0.2), (3.0, 0.2), (6.0, 0.2), (12.0, 0.2))]


@grid(setting=["stumps", "single", "cross"], prior=[0.5, "auto"], price_list=PRICE_LISTS)
def test_a_stranger_can_recompute_the_level_of_occams_hammer(setting, prior, price_list):
    certificate = fitted("dis-b", setting, price_list=price_list, prior=prior, constant="exact").certificate_
    weights = [weight for _, weight in (*certificate.price_atoms, *certificate.price_scales)]
    assert sum(weights) == pytest.approx(1.0, abs=1e-12)
    if price_list != "auto":
        stated = [place for place, _ in certificate.price_atoms]
        assert stated == pytest.approx([place for place, _ in price_list], abs=2e-9)
        assert all(place > given for place, (given, _) in zip(stated, price_list, strict=True))
    assert_recomputable(certificate)


@pytest.mark.parametrize("split", ["single", "cross", 3])
def test_a_stranger_can_recompute_what_auto_does(split):
    certificate = fitted("auto", "three", split=split, train_share="auto", n_draws=2, **EXACT).certificate_
    assert (certificate.method, certificate.share, certificate.n_draws) == ("holdout", 0.95, 1)
    assert "concentrated at weights learned" in certificate.hyper_prior
    assert_recomputable(certificate)


@pytest.mark.parametrize("method", ["dis-b", "dis-r", "dis-v", "smv-exact", "so"])
def test_a_stranger_can_recompute_the_bound_with_an_informed_prior(method):
    voters = tuple(DecisionTreeClassifier(max_depth=depth, max_features=2) for depth in (1, 1, 2, 4, None))
    certificate = fitted(method, prior="informed", constant="exact", voters=voters).certificate_
    assert len(set(certificate.parts[0].beta)) > 1
    assert_recomputable(certificate)


@pytest.mark.parametrize("method", ["dis-r", "dis-v", "smv-mc", "holdout"])
def test_a_stranger_can_recompute_a_simulated_risk_with_exact_constants(method):
    certificate = iris_fit(method, split=3, n_draws=2, **EXACT).certificate_
    assert len(certificate.classes) == 3
    assert_recomputable(certificate)


@cache
def paid(method, **parameters):
    """The record of a fit, and what each of its parts paid for."""
    certificate = fitted(method, "cross", **parameters).certificate_
    record = json.loads(certificate.to_json())
    record["parts"] = list(map(with_counts, record["parts"]))
    return record, [{each.what: each.nats for each in payments_of(certificate, part)} for part in certificate.parts]


@grid(strength=1, method=CERTIFIED, constant=["paper", "exact"])
def test_every_payment_is_what_it_is_called(method, constant):
    record, payments = paid(method, prior="auto", constant=constant, n_draws=3)
    for part, items in zip(record["parts"], payments, strict=True):
        with mp.workdps(30):
            constant_nats = 0 if method in ("holdout", "dis-b") else log_constant(record, part)
            drawn = method in DRAWN
            first = ["draw", "occam"] if method == "dis-b" else ["draw" if drawn else "weights"]
            assert list(items) == [*first, "prior", "grid", "constant", "confidence"]
            assert abs(items["constant"] - constant_nats) < 1e-9
            # A third of delta, once or twice or (2 order - 1)/(order - 1) times: only dis-v has an order, 1.5.
            assert items["grid"] == pytest.approx((4 if method == "dis-v" else 1) * mp.log(3) * drawn, abs=1e-9)
            if method != "dis-b":
                assert items["prior"] == pytest.approx(-mp.log(mpf(part["prior_weight"])), abs=1e-9)
            if method not in ("dis-v", "c-bound"):
                assert items["confidence"] == pytest.approx(-mp.log(delta_of_one(record, part) * (3 if drawn else 1)))


def test_nothing_is_paid_for_choices_that_were_not_there():
    for method in CERTIFIED:
        _, payments = paid(method)
        assert all(items["prior"] == items["grid"] == 0 for items in payments)
