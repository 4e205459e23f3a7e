"""The binomial bound with Occam's hammer, and what several orders, draws and folds cost."""

import importlib
import math
from dataclasses import replace

import numpy as np
import pytest
from hammer import assert_limit, exact_level
from mpmath import mp, mpf
from options import as_objects
from reference import exact_kl

from certivote import Certificate, CertifiedVoteClassifier
from certivote.certificate import confidence_nats, payments_of
from certivote.maths.binary_kl import kl_inverse_upper
from certivote.maths.occam import PriceList
from certivote.pipeline._priors import staying_price
from certivote.theory import bounds
from certivote.theory.general_bounds import disintegrated_renyi
from certivote.theory.methods import METHODS
from certivote.theory.theorems import Setting
from certivote.voters import Stumps, VoterSet
from certivote.votes import build_votes

RUN = importlib.import_module("certivote.pipeline.run")

DELTA = 0.05
STAY = PriceList.mixture(((0.0, 0.95),))
STUMPS = Stumps(n_thresholds=3, ranges=[(-2.0, 2.0)] * 3)


def data(n=100, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] + 0.3 * X[:, 1] + 0.7 * rng.normal(size=n) > 0).astype(int)


def fitted(method="dis-b", prior=0.5, **options):
    X, y = data()
    given = {"voters": STUMPS, "prior": prior, "random_state": 0, **options}
    return CertifiedVoteClassifier(**as_objects(method, "none", **given)).fit(X, y)


@pytest.mark.parametrize("price_list", [PriceList.mixture(), STAY, PriceList.mixture(((5.0, 0.5), (100.0, 0.3)))])
@pytest.mark.parametrize("n", [1, 7, 100, 2000])
def test_dis_b_against_mpmath(n, price_list):
    for errors in sorted({0, 1, n // 20, n // 2, n - 1, n} & set(range(n + 1))):
        for ratio in (-5.0, 0.0, 1e-12, 4.9, 99.0, 400.0):
            level = mpf(DELTA) * exact_level(price_list, ratio)
            assert_limit(bounds.dis_b(errors, price_list.price(ratio), n, DELTA), errors, n, level)


def test_dis_b_at_levels_that_are_no_floats():
    for ratio in (750.0, 3000.0):
        log_level = math.log(DELTA) - STAY.price(ratio)
        got = bounds.dis_b(100, STAY.price(ratio), 2000, DELTA)
        # The Chernoff limit, which is never below the exact one.
        assert got == pytest.approx(float(kl_inverse_upper(0.05, -log_level / 2000)), rel=1e-12)
        with mp.workdps(30):
            assert exact_kl(mpf(1) / 20, got) * 2000 >= -mp.log(mpf(DELTA) * exact_level(STAY, ratio))


@pytest.mark.parametrize(("errors", "n"), [(0, 10), (3, 50), (100, 2000), (2000, 2000)])
def test_a_draw_from_the_prior_costs_what_holdout_costs(errors, n):
    got = bounds.dis_b(errors, STAY.price(0.0), n, DELTA)
    assert bounds.holdout(errors, n, DELTA) <= got <= bounds.holdout(errors, n, 0.95 * DELTA * (1 - 1e-8))
    if errors < n:
        assert got > bounds.holdout(errors, n, 0.999 * DELTA)


def test_the_figures_of_one_example():
    # n = 2000, error 5 %, ln theta = 5: kl with the paper's constant, with the exact one, a mixture, a point mass.
    paper, exact = bounds.dis_r(0.05, 5.0, 2000, DELTA), bounds.dis_r(0.05, 5.0, 2000, DELTA, "exact")
    smooth = PriceList((), tuple((j, 0.25) for j in (1.0, 2.0, 4.0, 8.0)))
    point = PriceList(((5.0, 1 - 1e-9),), ((1.0, 1e-9),))
    hammers = [bounds.dis_b(100, price_list.price(5.0), 2000, DELTA) for price_list in (smooth, point)]
    assert [round(100 * bound, 2) for bound in (paper, exact, *hammers)] == [7.81, 7.76, 7.36, 6.87]


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.1, math.nan])
def test_dis_b_refuses_a_delta_that_is_none(delta):
    with pytest.raises(ValueError, match="delta"):
        bounds.dis_b(1, STAY.price(0.0), 10, delta)


def exact_ratio(part):
    """``ln Q(rho)/P(rho)`` from the record, with the mixture over hyper-priors bounded by one of them."""
    log_beta = [
        mp.fsum(mp.loggamma(mpf(a)) for a in values) - mp.loggamma(mp.fsum(map(mpf, values)))
        for values in (part.alpha, part.beta)
    ]
    terms = [(mpf(a) - mpf(b)) * mpf(w) for a, b, w in zip(part.alpha, part.beta, part.log_weights, strict=True)]
    return log_beta[1] - log_beta[0] + mp.fsum(terms) - mp.log(mpf(part.prior_weight))


def exact_penalty(certificate, part):
    with mp.workdps(40):
        price_list = PriceList(certificate.price_atoms, certificate.price_scales)
        return -mp.log(exact_level(price_list, float(exact_ratio(part))))


@pytest.mark.parametrize(
    "options",
    [
        {"prior": 0.5},
        {"prior": "auto"},
        {"prior": 50.0},
        {"price_list": [(3.0, 0.4), (12.0, 0.4)]},
        {"delta": 0.2, "n_draws": 3},
        {"split": "cross"},
    ],
)
def test_the_bound_follows_from_the_record(options):
    if "split" in options:
        X, y = data()
        clf = CertifiedVoteClassifier("dis-b", Stumps(3), random_state=0, **options).fit(X, y)
    else:
        clf = fitted(**options)
    certificate = Certificate.from_json(clf.certificate_.to_json())
    for part in certificate.parts:
        penalty = exact_penalty(certificate, part)
        assert penalty <= part.penalty <= penalty + 1e-9
        assert part.delta == certificate.delta / len(certificate.parts)
        log_level = -penalty + mp.log(mpf(part.delta) / certificate.n_draws)
        assert_limit(part.bound, part.errors, part.n, mp.exp(log_level))
        paid = math.fsum(payment.nats for payment in payments_of(certificate, part))
        assert paid == pytest.approx(part.penalty + confidence_nats(certificate, part, part.statement))
    assert certificate.bound == min(part.bound for part in certificate.parts)
    if "split" not in options:
        X, y = data()
        assert part.errors == np.count_nonzero(clf.predict(X) != y)


def test_a_price_list_of_the_user_is_used_and_recorded():
    certificate = fitted(price_list=[(3.0, 0.5), (12.0, 0.25)]).certificate_
    assert certificate.price_atoms == ((3.0 + 1e-9, 0.5), (12.0 + 1e-9, 0.25))
    assert math.fsum(weight for _, weight in certificate.price_scales) == pytest.approx(0.25)
    scaled = fitted(price_list=[(3.0, 4.0)]).certificate_
    assert scaled.price_atoms == ((3.0 + 1e-9, 0.95),)


def test_the_price_list_of_other_methods_is_not_recorded():
    assert fitted("dis-r", price_list=[(3.0, 0.5)]).certificate_.price_scales == ()


@pytest.mark.parametrize(("prior", "place", "weight"), [(0.5, 0.0, 0.5), ("auto", math.log(3.0), 0.5)])
def test_the_price_list_makes_staying_cheap(prior, place, weight):
    assert fitted(prior=prior).certificate_.price_atoms == ((pytest.approx(place, abs=2e-9), weight),)


def test_where_learning_does_not_pay_the_draw_from_the_prior_is_cheap():
    X = np.random.default_rng(0).normal(size=(12, 3))
    clf = CertifiedVoteClassifier("dis-b", STUMPS, "none", prior=5.0, random_state=0).fit(X, np.arange(12) % 2)
    (part,) = clf.certificate_.parts
    assert part.alpha == part.beta
    assert part.penalty <= math.log(2.0)


def test_staying_at_one_of_three_priors_costs_what_the_price_list_says():
    beta = np.full(4, 5.0)
    setting = Setting(DELTA, 1.5, "exact", prior_nats=-math.log(1 / 3), price_list=staying_price("auto"))
    theorem, family = METHODS["dis-b"].theorem, METHODS["dis-b"].family
    point = family.draw(beta, np.random.default_rng(0)).point
    expected = theorem.penalty(family, beta, beta, setting)[0]
    assert math.log(3.0) < expected < math.log(6.0)
    assert theorem.drawn_penalty(family, beta, beta, point, setting)[0] == pytest.approx(expected, abs=1e-9)
    assert theorem.charge(family, beta, beta, point, setting) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("price_list", [[(0.0, -0.5)], [(math.nan, 0.5)], [(math.inf, 0.5)]])
def test_bad_price_lists_are_refused(price_list):
    with pytest.raises(ValueError, match="price list"):
        fitted(price_list=price_list)


# dis-v


def exact_dis_v(risk, renyi, n, delta, order):
    """MATHS 4I: delta divided as is best between the two inequalities of Markov."""
    order, delta = mpf(order), mpf(delta)
    first = delta * order / (2 * order - 1)
    constant = mp.gammainc(n + 1, n) * mp.exp(n - n * mp.log(n))
    price = order / (order - 1) * mp.log(1 / first) + mp.log(1 / (delta - first))
    eps = (mpf(renyi) + price + mp.log(constant)) / n
    low, high = mpf(risk), mpf(1)
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if exact_kl(mpf(risk), middle) <= eps else (low, middle)
    return low


@pytest.mark.parametrize("order", [1.01, 1.5, 2.0, 10.0])
@pytest.mark.parametrize("n", [10, 2000])
def test_dis_v_divides_delta_in_the_best_way(n, order):
    with mp.workdps(40):
        for errors in (0, n // 10, n // 2):
            for renyi in (0.0, 5.0, 100.0):
                true = exact_dis_v(mpf(errors) / n, renyi, n, DELTA, order)
                got = bounds.dis_v(errors / n, renyi, n, DELTA, order, "exact")
                assert true <= got <= true * (1 + mpf("1e-9")) + mpf("1e-15")


def test_half_a_nat_is_saved_at_the_default_order():
    paper = disintegrated_renyi(0.0, 0.0, DELTA, 1.5, "paper")
    assert paper - disintegrated_renyi(0.0, 0.0, DELTA, 1.5, "exact") == pytest.approx(0.523, abs=1e-3)
    for order in (1.1, 1.5, 4.0):
        best = disintegrated_renyi(0.0, 0.0, DELTA, order, "exact")
        first = np.linspace(1e-4, 0.0499, 400)
        divided = -order / (order - 1) * np.log(first) - np.log(DELTA - first)
        assert best <= divided.min() + 1e-12
        assert best >= divided.min() - 1e-3


def test_several_orders_share_delta():
    orders = [1.2, 1.5, 3.0]
    several = fitted("dis-v", renyi_order=orders, delta=0.15).certificate_
    (part,) = several.parts
    assert several.renyi_orders == tuple(orders)
    assert several.renyi_order == part.renyi_order
    assert part.renyi_order in orders
    alone = fitted("dis-v", renyi_order=part.renyi_order, delta=0.05).certificate_
    assert alone.parts[0].alpha == part.alpha
    assert alone.bound == several.bound
    grid = {payment.what: payment.nats for payment in several.payments}["grid"]
    assert grid == pytest.approx((2 * part.renyi_order - 1) / (part.renyi_order - 1) * math.log(3.0))


def test_the_best_order_is_taken():
    orders = [1.05, 1.5]
    alone = {order: fitted("dis-v", renyi_order=order, delta=0.05).certificate_.bound for order in orders}
    several = fitted("dis-v", renyi_order=orders, delta=0.1).certificate_
    assert several.renyi_order == min(alone, key=lambda order: alone[order])


# Several draws


@pytest.mark.parametrize("method", ["dis-b", "dis-r", "dis-v"])
def test_the_best_draw_is_kept_and_paid(method, monkeypatch):
    attempts = []
    original = RUN._attempt

    def spy(*arguments):
        attempts.append(original(*arguments))
        return attempts[-1]

    monkeypatch.setattr(RUN, "_attempt", spy)
    clf = fitted(method, n_draws=8, delta=0.4)
    certificate, (part,) = clf.certificate_, clf.certificate_.parts
    tried = [attempt.statement.bound for attempt in attempts]
    assert len(tried) == certificate.n_draws == 8
    assert len({tuple(attempt.vote.point) for attempt in attempts}) == 8
    assert [attempt.number for attempt in attempts] == list(range(8))
    assert certificate.bound == min(tried) < max(tried)
    assert part.draw == int(np.argmin(tried))
    assert np.array_equal(clf.weights_, attempts[part.draw].vote.weights)
    one = fitted(method, delta=0.05)  # 0.4 / 8: the same learning, and the first draw
    assert one.certificate_.parts[0].alpha == part.alpha
    assert one.certificate_.bound == tried[0]


@pytest.mark.parametrize(("method", "factor"), [("dis-b", 1.0), ("dis-r", 1.0), ("dis-v", 4.0)])
def test_twice_as_many_draws_cost_so_many_times_ln_2(method, factor):
    few, many = (fitted(method, n_draws=k).certificate_ for k in (3, 6))
    paid = [confidence_nats(each, each.parts[0], each.parts[0].statement) for each in (few, many)]
    assert paid[1] - paid[0] == pytest.approx(factor * math.log(2.0))
    assert few.parts[0].delta == many.parts[0].delta == DELTA


def test_methods_that_do_not_draw_pay_for_no_draws():
    for method in ("so", "smv-exact", "holdout"):
        many, one = (fitted(method, n_draws=k).certificate_ for k in (10, 1))
        assert replace(many, provenance=one.provenance) == one


# Folds


class Spies(VoterSet):
    """Voters that say whether feature 0 or feature 1 is positive, and write down whom they meet (feature 2)."""

    input_checks = {"dtype": float}  # noqa: RUF012
    needs_training = True

    def fit(self, X, y, classes, rng):
        return FittedSpies(X[:, 2].astype(int))


class FittedSpies:
    n_voters = 2

    def __init__(self, seen):
        self.seen, self.asked = seen, []

    def votes(self, X):
        self.asked.append(X[:, 2].astype(int))
        return build_votes(codes=(X[:, :2] > 0).astype(np.uint8), n_classes=2)


@pytest.mark.parametrize("method", ["dis-b", "dis-r", "dis-v", "holdout"])
@pytest.mark.parametrize("folds", [2, 3, 7])
def test_folds_certify_each_part_with_voters_of_the_others(folds, method, monkeypatch):
    met = []
    original = Spies.fit
    monkeypatch.setattr(Spies, "fit", lambda *arguments: met.append(original(*arguments)) or met[-1])
    X, y = data(100)
    X[:, 2] = np.arange(100)
    clf = CertifiedVoteClassifier(method, Spies(), folds, prior=1.0, random_state=3).fit(X, y)
    certificate = clf.certificate_
    sizes = [len(part) for part in np.array_split(np.arange(100), folds)]
    assert [part.n for part in certificate.parts] == sizes
    assert [part.training_rows for part in certificate.parts] == [100 - size for size in sizes]
    certified = [voters.asked[0] for voters in met]
    assert sorted(np.concatenate(certified)) == list(range(100))
    for voters, rows in zip(met, certified, strict=True):
        assert sorted(np.concatenate([voters.seen, rows])) == list(range(100))
    assert certificate.split == str(folds)
    assert certificate.average_weights == pytest.approx([1 / folds] * folds)
    for part in certificate.parts:
        assert part.delta == DELTA / folds
        assert part.bound == pytest.approx(own_bound(method, part, certificate, DELTA / folds), rel=1e-9)
    own = [part.bound for part in certificate.parts]
    assert certificate.bound == min(own)
    assert clf.voters_ is met[certificate.deployed]
    assert certificate.average_bound == pytest.approx(np.mean(own), rel=1e-9)


def own_bound(method, part, certificate, delta):
    ratio = float(exact_ratio(part)) if part.log_weights else 0.0
    price_list = PriceList(certificate.price_atoms, certificate.price_scales) if method == "dis-b" else STAY
    return {
        "dis-b": lambda: bounds.dis_b(part.errors, price_list.price(ratio), part.n, delta),
        "dis-r": lambda: bounds.dis_r(part.errors / part.n, ratio, part.n, delta, "exact"),
        "dis-v": lambda: bounds.dis_v(
            part.errors / part.n, part.penalty, part.n, delta, part.renyi_order or 0.0, "exact"
        ),
        "holdout": lambda: bounds.holdout(part.errors, part.n, delta),
    }[method]()


def test_more_folds_than_rows_are_refused():
    with pytest.raises(ValueError, match="Too few rows"):
        CertifiedVoteClassifier("dis-b", Spies(), 7, prior=1.0).fit(np.eye(5, 3), [0, 1, 0, 1, 0])
