import json
import math
from functools import cache

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy import stats
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import RandomForestClassifier

from certivote import CertifiedVoteClassifier, learn
from certivote.certificate import percent_up
from certivote.learn import SOLVERS, Problem
from certivote.maths.beta_tail import half_tail
from certivote.methods import METHODS, Setting
from certivote.split import make_folds
from certivote.voters import Forest, Stumps
from certivote.votes import DenseVotes

DELTA = 0.05
LOSSES = ["plurality", "half-weight"]
CERTIFIED = {
    "dis-r": "the drawn vote",
    "dis-v": "the drawn vote",
    "smv-exact": "the random vote",
    "smv-mc": "the random vote",
    "fo": "the mean vote",
    "so": "the mean vote",
    "bin": "the mean vote",
    "c-bound": "the mean vote",
    "holdout": "the fixed vote",
}
RANDOM = [name for name, who in CERTIFIED.items() if who == "the random vote"]
MEAN = [name for name, who in CERTIFIED.items() if who == "the mean vote"]
FIXED = [name for name, who in CERTIFIED.items() if who != "the random vote"]
COEFFICIENT = {"fo": 2, "so": 4, "bin": 2}
MULTIPLE = {"fo": 1, "so": 2, "bin": 100, "c-bound": 1}
"""Divergences that the surrogates pay."""


@cache
def cancer():
    return load_breast_cancer(return_X_y=True)


def noise():
    X, _ = cancer()
    return X, np.random.default_rng(0).integers(0, 2, len(X))


def stumps():
    X, _ = cancer()
    return Stumps(n_thresholds=3, ranges=[(0.0, 10.0 ** math.ceil(math.log10(high))) for high in X.max(axis=0)])


def forest(n_estimators=15, **parameters):
    return Forest(RandomForestClassifier(n_estimators=n_estimators, **parameters))


SETTINGS = {
    "stumps": lambda: {"voters": stumps(), "split": "none"},
    "single": lambda: {"voters": forest(), "split": "single", "teach_share": 0.4},
    "cross": lambda: {"voters": forest(), "split": "cross", "tau": 0.3},
}


@cache
def fitted(method, setting="single", solver="lbfgs", loss="plurality", seed=0):
    clf = CertifiedVoteClassifier(
        method, delta=DELTA, solver=solver, loss=loss, random_state=seed, **SETTINGS[setting]()
    )
    return clf.fit(*cancer())


def iris_fit(method="smv-exact", seed=0, **parameters):
    parameters = {"voters": forest(5, max_depth=1), "random_state": seed, **parameters}
    return CertifiedVoteClassifier(method, **parameters).fit(*load_iris(return_X_y=True))


def certified_rows(clf, n_rows):
    """The rows that the deployed vote was certified on: the split is the first stream of the seed."""
    rng = np.random.default_rng(np.random.SeedSequence((clf.random_state,)).spawn(7)[0])
    return make_folds(n_rows, clf.split, clf.teach_share, rng)[clf.certificate_.deployed].certify


def wrong_votes(clf, X, y):
    """Which voter errs where, by letting the trees or the stumps answer one by one."""
    if clf.split != "none":
        return np.stack([tree.predict(X).astype(int) != y for tree in clf.voters_.forest.estimators_], axis=1)
    above = X[:, :, None] > clf.voters_.thresholds
    return np.stack([above, ~above], axis=-1).reshape(len(X), -1) != y[:, None]


# --- What a stranger recomputes with the paper at hand.


def exact_kl(q, p):
    left = q * mp.log(q / p) if q > 0 else mpf(0)
    return left + ((1 - q) * mp.log((1 - q) / (1 - p)) if q < 1 else mpf(0))


def inverse(q, eps, end=1):
    """The end of ``{p : kl(q || p) <= eps}`` on the side of ``end``, 0 or 1, by bisection."""
    inside, outside = mpf(q), mpf(end)
    for _ in range(100 if eps > 0 else 0):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if exact_kl(mpf(q), middle) <= eps else (inside, middle)
    return inside


def log_beta(x):
    return mp.fsum(mp.loggamma(value) for value in x) - mp.loggamma(mp.fsum(x))


def clopper_pearson(errors, n, delta):
    """Root of ``P[Bin(n, p) <= errors] = delta``."""
    low, high = mpf(0), mpf(1)
    for _ in range(100 if errors < n else 0):
        p = (low + high) / 2
        term = tail = (1 - p) ** n
        for k in range(errors):
            term *= p / (1 - p) * (n - k) / (k + 1)
            tail += term
        low, high = (p, high) if tail >= delta else (low, p)
    return high


def penalty(record, part):
    """What the theorem charges for the weights, from the two distributions and the draw."""
    alpha, beta, logs = ([mpf(v) for v in part[name]] for name in ("alpha", "beta", "log_weights"))
    method = record["method"]
    if method == "holdout":
        return mpf(0)
    if method in MULTIPLE:
        return MULTIPLE[method] * mp.fsum(a * mp.log(a / b) for a, b in zip(alpha, beta, strict=True) if a > 0)
    ratio = log_beta(beta) - log_beta(alpha)
    if method == "dis-v":
        order = mpf(record["order"])
        tilted = [order * a + (1 - order) * b for a, b in zip(alpha, beta, strict=True)]
        return ratio + (log_beta(tilted) - log_beta(alpha)) / (order - 1)
    if method != "dis-r":
        total = mp.psi(0, mp.fsum(alpha))
        logs = [mp.psi(0, a) - total for a in alpha]
    return ratio + mp.fsum((a - b) * w for a, b, w in zip(alpha, beta, logs, strict=True))


def confidence(record, part):
    """What the theorem charges for holding with probability 1 - delta."""
    delta = mpf(record["delta"]) / len(record["parts"]) - mpf(part["risk_delta"])
    root = 2 * mp.sqrt(part["n"])
    if record["method"] == "dis-v":
        order = mpf(record["order"])
        return (2 * order - 1) / (order - 1) * mp.log(2 / delta) + mp.log(root)
    if record["method"] == "holdout":
        return -mp.log(delta)
    return mp.log(root / delta) + (mp.log(2) if record["method"] == "c-bound" else 0)


def empirical_risk(record, part):
    """The vote's own error rate where that is in the bound, else the statistic that the record states."""
    if record["certified"] in ("the drawn vote", "the fixed vote"):
        return mpf(part["errors"]) / part["n"]
    return mpf(part["risks"][0])


def c_limits(part, cost, sure):
    upper = inverse(part["risks"][0], (cost + sure) / part["n"])
    return upper, inverse(part["risks"][1], (2 * cost + sure) / part["n"], 0)


def c_bound(upper, lower):
    return mpf(1) if upper >= 0.5 else 1 - (1 - 2 * upper) ** 2 / (1 - 2 * lower)


def recomputed(record):
    """Own bound of each part, and the bound on the average."""
    parts, method = record["parts"], record["method"]
    costs = [(penalty(record, part), confidence(record, part)) for part in parts]
    risks = [empirical_risk(record, part) for part in parts]
    shares = [mpf(share) for share in record["shares"]]

    def mean(values):
        return mp.fsum(share * value for share, value in zip(shares, values, strict=True))

    if method == "holdout":
        own = [
            clopper_pearson(part["errors"], part["n"], mp.exp(-cost[1]))
            for part, cost in zip(parts, costs, strict=True)
        ]
        return own, mean(own)
    if method == "c-bound":
        limits = [c_limits(part, *cost) for part, cost in zip(parts, costs, strict=True)]
        return [c_bound(*limit) for limit in limits], c_bound(*(mean(side) for side in zip(*limits, strict=True)))
    eps = [sum(cost) / part["n"] for part, cost in zip(parts, costs, strict=True)]
    times = COEFFICIENT.get(method, 1)
    own = [times * inverse(risk, e) for risk, e in zip(risks, eps, strict=True)]
    return own, times * inverse(mean(risks), mean(eps))


def assert_close_above(got, true):
    assert got >= true, f"below by {mp.nstr(true - got, 3)} of {mp.nstr(true, 12)}"
    assert got - true <= mpf("1e-9"), f"above by {mp.nstr(got - true, 3)} of {mp.nstr(true, 12)}"


def assert_recomputable(certificate):
    record = json.loads(certificate.to_json())
    with mp.workdps(35):
        own, average = recomputed(record)
        for part, true in zip(record["parts"], own, strict=True):
            assert_close_above(part["bound"], true)
            assert_close_above(part["penalty"], penalty(record, part))
        assert_close_above(record["bound"], min(own))
        assert (record["average_bound"] is not None) == (record["split"] == "cross")
        if record["split"] == "cross":
            assert_close_above(record["average_bound"], average)
    assert record["bound"] == min(part["bound"] for part in record["parts"])
    assert record["vacuous"] == (record["bound"] >= 1)


def test_the_table_lists_every_method():
    assert {name: method.certified for name, method in METHODS.items()} == CERTIFIED


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("method", CERTIFIED)
def test_a_stranger_can_recompute_the_bound_from_the_json(method, setting, solver, loss):
    certificate = fitted(method, setting, solver, loss).certificate_
    assert (certificate.method, certificate.solver, certificate.loss) == (method, solver, loss)
    assert certificate.certified == CERTIFIED[method]
    assert certificate.order == (1.5 if method == "dis-v" else None)
    assert_recomputable(certificate)
    assert certificate.bound < (0.65 if setting != "stumps" else 1.2)


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
    rows = certified_rows(clf, len(y))
    part = clf.certificate_.parts[clf.certificate_.deployed]
    assert part.n == len(rows)
    wrong = wrong_votes(clf, X[rows], y[rows])
    with mp.workdps(30):
        expected = exact_statistics(method, wrong, [mpf(a) for a in part.alpha])
        assert len(part.risks) == len(expected)
        # Bounds grow with the first statistic and fall with the second: each is rounded to the safe side.
        for got, true, side in zip(part.risks, expected, (1, -1), strict=False):
            assert 0 <= side * (got - true) <= mpf("1e-11")


# --- Who is certified.


def words(certificate):
    return " ".join(str(certificate).split())


@pytest.mark.parametrize("method", CERTIFIED)
def test_the_text_says_who_is_certified(method):
    certificate = fitted(method).certificate_
    assert not certificate.vacuous
    text = words(certificate)
    assert f"what is certified {CERTIFIED[method]}; loss: plurality" in text
    assert f"method {method}, {METHODS[method].theorem}" in text
    says = {
        "the drawn vote": "(A majority vote whose weights were drawn once.)",
        "the random vote": "it draws a new vote for every case, and the same case may get different answers.",
        "the mean vote": "(The majority vote with the learned weights themselves.)",
        "the fixed vote": "(A majority vote with weights fixed before the certified rows were seen.)",
    }
    assert [who for who, sentence in says.items() if sentence in text] == [CERTIFIED[method]]
    random = method in RANDOM
    assert ("It is not one fixed classifier" in text) == random
    assert ("No single vote is certified." in text) == random
    assert ("this randomised predictor, averaged over its draws, is wrong on at most" in text) == random
    assert ("this classifier is wrong on at most" in text) != random
    assert ("It is one fixed classifier: the same case always gets the same answer." in text) != random
    assert ("averaged over the draws" in text) == random


@pytest.mark.parametrize("method", RANDOM)
def test_the_random_vote_has_no_count_of_errors_and_no_drawn_weights(method):
    certificate = fitted(method).certificate_
    assert certificate.parts[0].errors is None
    assert certificate.parts[0].log_weights == ()
    assert np.array_equal(fitted(method).weights_, certificate.parts[0].alpha)


@pytest.mark.parametrize("method", ["dis-r", "dis-v"])
def test_only_the_drawn_vote_records_a_draw(method):
    part = fitted(method).certificate_.parts[0]
    assert len(part.log_weights) == len(part.alpha) == 15
    assert math.fsum(np.exp(part.log_weights)) == pytest.approx(1.0, abs=1e-12)
    assert all(fitted(name).certificate_.parts[0].log_weights == () for name in [*MEAN, "holdout"])


@pytest.mark.parametrize("split", ["single", "cross"])
@pytest.mark.parametrize("method", CERTIFIED)
def test_the_text_of_a_cross_split_names_the_theorem_of_the_average(method, split):
    text = words(fitted(method, split).certificate_)
    assert ("at delta/2 on its own part" in text) == (split == "cross")
    assert (f"(the average: {METHODS[method].cross_theorem})" in text) == (split == "cross")


# --- The random vote.


def probability_of_second_class(clf, X):
    """That a vote drawn from the Dirichlet gives the second of two classes, row by row."""
    masses = clf.voters_.votes(X).masses(clf.weights_)
    inside = np.all(masses > 0, axis=1)
    first, second = np.where(inside[:, None], masses, 1.0).T
    return np.where(inside, stats.beta.sf(0.5, second, first), masses[:, 1] > 0)


def most_ambiguous_row(clf):
    """Among the rows, and rows that take some features from one class and the rest from the other."""
    X, y = cancer()
    first, second = (X[y == c].mean(axis=0) for c in (0, 1))
    mixed = [np.where(np.arange(X.shape[1]) < k, first, second) for k in range(X.shape[1] + 1)]
    candidates = np.vstack([X, mixed])
    chance = probability_of_second_class(clf, candidates)
    row = int(np.argmin(np.abs(chance - 0.5)))
    return candidates[row], float(chance[row])


@pytest.mark.parametrize("setting", ["single", "stumps"])
@pytest.mark.parametrize("method", RANDOM)
def test_the_random_vote_draws_for_every_row(method, setting):
    clf = fitted(method, setting)
    row, chance = most_ambiguous_row(clf)
    assert 0.02 < chance < 0.98
    repeated = np.tile(row, (2000, 1))
    answers = clf.predict(repeated)
    assert abs((answers == 1).mean() - chance) < 4 * math.sqrt(chance * (1 - chance) / 2000)
    assert np.any(answers[1:] != answers[:-1])
    assert len(np.unique(clf.predict_proba(repeated), axis=0)) > 1900


@pytest.mark.parametrize("method", RANDOM)
def test_predict_and_predict_proba_of_the_random_vote_agree(method):
    clf = fitted(method, "stumps")
    X, _ = cancer()
    masses, answers = clf.predict_proba(X), clf.predict(X)
    np.testing.assert_array_equal(answers, clf.classes_[masses.argmax(axis=1)])
    np.testing.assert_array_equal(clf.predict(X), answers)
    np.testing.assert_allclose(masses.sum(axis=1), 1.0, rtol=1e-12)
    moved = clf.predict(np.roll(X, 1, axis=0))
    assert np.any(np.roll(moved, -1) != answers)


@pytest.mark.parametrize("setting", ["single", "cross", "stumps"])
@pytest.mark.parametrize("method", RANDOM)
def test_errors_of_the_random_vote_are_as_frequent_as_recorded(method, setting):
    clf = fitted(method, setting)
    X, y = cancer()
    rows = certified_rows(clf, len(y))
    copies = 100
    errors = np.mean(clf.predict(np.tile(X[rows], (copies, 1))) != np.tile(y[rows], copies))
    risk = clf.certificate_.parts[clf.certificate_.deployed].risks[0]
    assert abs(errors - risk) < 4 * math.sqrt(risk * (1 - risk) / (copies * len(rows)))


@pytest.mark.parametrize("method", RANDOM)
@pytest.mark.parametrize("split", ["single", "cross"])
def test_expected_plurality_error_of_three_classes_is_bounded_by_simulation(method, split):
    certificate = iris_fit(method, split=split).certificate_
    for part in certificate.parts:
        assert part.risk_draws >= 200_000
        assert part.risk_draws % part.n == 0
        assert part.risk_delta == pytest.approx(0.01 * part.delta, rel=1e-12)
        paid = part.delta - part.risk_delta
        assert part.confidence == pytest.approx(math.log(2 * math.sqrt(part.n) / paid), rel=1e-12)
    assert_recomputable(certificate)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("method", RANDOM)
def test_the_simulated_risk_is_just_above_a_plain_estimate(method, seed):
    clf = iris_fit(method, seed)
    X, y = load_iris(return_X_y=True)
    rows = certified_rows(clf, len(y))
    part = clf.certificate_.parts[0]
    answers = np.stack([tree.predict(X[rows]).astype(int) for tree in clf.voters_.forest.estimators_], axis=1)
    drawn = np.random.default_rng(seed).dirichlet(part.alpha, size=4000)
    masses = np.stack([drawn @ (answers == c).T for c in range(3)], axis=-1)
    error_rates = (masses.argmax(axis=2) != y[rows]).mean(axis=1)
    error = error_rates.std() / math.sqrt(len(error_rates))
    assert part.risks[0] > 0.05
    assert part.risks[0] >= error_rates.mean() - 4 * error
    assert part.risks[0] <= error_rates.mean() + 4 * error + 0.01


@pytest.mark.parametrize("method", CERTIFIED)
def test_nothing_is_simulated_where_there_is_a_closed_form(method):
    certificates = [fitted(method).certificate_]
    if method != "c-bound":
        certificates.append(iris_fit(method, loss="half-weight").certificate_)
    for certificate in certificates:
        assert all((part.risk_draws, part.risk_delta) == (0, 0.0) for part in certificate.parts)


# --- The votes with weights of their own.


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("method", FIXED)
def test_deployed_weights_are_fixed_point_and_err_as_recorded(method, setting):
    clf = fitted(method, setting)
    units = clf.weights_ * 2.0**52
    assert np.all(units == np.round(units))
    assert np.all(units >= 0)
    assert sum(int(unit) for unit in units) == 2**52
    X, y = cancer()
    rows = certified_rows(clf, len(y))
    part = clf.certificate_.parts[clf.certificate_.deployed]
    assert part.errors == np.count_nonzero(clf.predict(X[rows]) != y[rows])
    if method in MEAN:
        assert np.array_equal(clf.weights_, part.alpha)
    np.testing.assert_array_equal(clf.predict(X[::-1]), clf.predict(X)[::-1])


@pytest.mark.parametrize("method", [name for name in FIXED if name != "c-bound"])
def test_recorded_errors_of_three_classes_are_those_of_predict(method):
    clf = iris_fit(method, seed=2)
    X, y = load_iris(return_X_y=True)
    rows = certified_rows(clf, len(y))
    assert clf.certificate_.parts[0].errors == np.count_nonzero(clf.predict(X[rows]) != y[rows]) > 0


@pytest.mark.parametrize("prior", [0.5, np.linspace(0.1, 3.0, 15)])
@pytest.mark.parametrize("solver", SOLVERS)
def test_holdout_has_the_weights_of_the_prior(prior, solver):
    clf = CertifiedVoteClassifier("holdout", forest(), prior=prior, solver=solver, random_state=0).fit(*cancer())
    expected = np.broadcast_to(prior, 15) / np.broadcast_to(prior, 15).sum()
    np.testing.assert_allclose(clf.weights_, expected, rtol=0, atol=15 * 2.0**-52)
    part = clf.certificate_.parts[0]
    assert part.penalty == 0.0
    assert part.errors == part.holdout_errors
    assert part.bound == pytest.approx(part.holdout_bound, rel=1e-9)


@pytest.mark.parametrize("method", MEAN)
def test_the_mean_vote_has_learned_something(method):
    clf = fitted(method)
    assert clf.certificate_.parts[0].penalty > 1e-6
    assert np.max(np.abs(clf.weights_ - 1 / 15)) > 1e-4


@pytest.mark.parametrize("method", MEAN)
def test_bounds_of_the_mean_vote_are_above_its_error(method):
    part = fitted(method).certificate_.parts[0]
    assert part.errors / part.n < part.bound


# --- Bounds that do not apply, or say nothing.


def test_the_c_bound_refuses_three_classes():
    with pytest.raises(ValueError, match=r"method='c-bound' is for two classes, and y has 3\. Use 'so' or 'fo'"):
        iris_fit("c-bound")


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("split", ["single", "cross"])
def test_the_c_bound_of_noise_says_why_it_does_not_apply(solver, split):
    clf = CertifiedVoteClassifier("c-bound", forest(), split, solver=solver, random_state=0).fit(*noise())
    certificate = clf.certificate_
    assert certificate.bound == 1.0
    assert certificate.vacuous
    (remark,) = certificate.remarks
    assert "the C-bound does not apply: it needs a mean wrong mass below one half" in remark
    assert f"{certificate.parts[certificate.deployed].risks[0]:.4f}" in remark
    text = words(certificate)
    assert remark in text
    assert "This certificate promises nothing" in text
    assert "what is certified the mean vote" in text
    assert_recomputable(certificate)


@pytest.mark.parametrize("method", CERTIFIED)
def test_there_are_no_remarks_where_the_bound_applies(method):
    assert fitted(method).certificate_.remarks == ()


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("method", ["fo", "so", "bin"])
def test_bounds_above_one_are_reported_as_they_come(method, solver):
    clf = CertifiedVoteClassifier(method, forest(), solver=solver, random_state=0).fit(*noise())
    certificate = clf.certificate_
    assert certificate.bound > 1
    assert certificate.vacuous
    assert percent_up(certificate.bound) in str(certificate)
    assert "This certificate promises nothing" in words(certificate)
    assert_recomputable(certificate)


@pytest.mark.parametrize("method", ["dis-r", "smv-exact", "holdout"])
def test_bounds_of_noise_are_at_least_one_half(method):
    certificate = CertifiedVoteClassifier(method, forest(), random_state=0).fit(*noise()).certificate_
    assert 0.5 < certificate.bound <= 1
    assert "That is no better than guessing among 2 classes" in words(certificate)


# --- Seeds and solvers.


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("method", CERTIFIED)
def test_the_same_seed_gives_the_same_certificate(method, solver):
    X, y = cancer()
    first = fitted(method, "cross", solver)
    again = CertifiedVoteClassifier(method, solver=solver, random_state=0, **SETTINGS["cross"]()).fit(X, y)
    assert again.certificate_ == first.certificate_
    assert np.array_equal(again.weights_, first.weights_)
    assert np.array_equal(again.predict_proba(X), first.predict_proba(X))


@pytest.mark.parametrize("method", CERTIFIED)
def test_another_seed_gives_another_certificate(method):
    assert fitted(method).certificate_ != fitted(method, seed=1).certificate_


def test_the_plurality_risk_of_the_random_vote_follows_its_seed():
    first, again = iris_fit().certificate_, iris_fit().certificate_
    assert first == again
    assert iris_fit(seed=1).certificate_.parts[0].risks != first.parts[0].risks


def random_problem(method, loss="half-weight", n_classes=2, n_rows=300, n_voters=8, accuracy=0.5):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, n_classes, n_rows)
    codes = rng.integers(0, n_classes, (n_rows, n_voters))
    right = rng.random((n_rows, n_voters)) < accuracy * np.linspace(0.5, 1.5, n_voters)
    votes = DenseVotes(np.where(right, labels[:, None], codes).astype(np.uint8), n_classes)
    row = METHODS[method]
    prior = np.linspace(0.3, 0.7, n_voters)
    prior = prior if row.distribution == "dirichlet" else prior / prior.sum()
    return Problem(votes, labels, loss, prior, row, Setting(DELTA, 1.5, "paper"))


def full_bound(problem):
    """The training objective with the method's own risk on all rows, as a function of the parameters."""
    risk = problem.method.risk(problem.votes, problem.labels, problem.loss)
    return lambda parameters: learn._expected_bound(problem, risk, parameters)


@pytest.mark.parametrize("accuracy", [0.3, 0.6])
@pytest.mark.parametrize("method", ["fo", "so", "bin", "smv-exact"])
def test_lbfgs_is_at_least_as_good_as_adam(method, accuracy):
    problem = random_problem(method, n_rows=500, n_voters=20, accuracy=accuracy)
    bound = full_bound(problem)
    value = {
        name: bound(solver(problem, np.random.default_rng(0), lambda: None))[0] for name, solver in SOLVERS.items()
    }
    start = bound(problem.beta)[0]
    assert value["lbfgs"] <= 1.02 * value["adam"]
    assert value["lbfgs"] < start
    assert value["adam"] < 1.02 * start


LEARNING = [name for name in CERTIFIED if name != "holdout"]
CASES = [("half-weight", 2, 0.5), ("half-weight", 4, 0.5), ("plurality", 4, 0.4), ("half-weight", 2, 0.0)]


@pytest.mark.parametrize(("loss", "n_classes", "accuracy"), CASES)
@pytest.mark.parametrize("method", LEARNING)
def test_gradient_of_the_training_objective_in_x(method, loss, n_classes, accuracy):
    problem = random_problem(method, loss, n_classes, accuracy=accuracy)
    risk = learn._full_batch_risk(problem, np.random.default_rng(1))
    for seed, shift in [(2, 0.0), (3, 1.5)]:
        x = shift + np.random.default_rng(seed).uniform(-1.0, 1.0, 8)

        def objective(x):
            return learn._expected_bound(problem, risk, problem.parameters(x))

        _, gradient = objective(x)
        steps = 2e-4 * np.eye(8)
        expected = np.array([(objective(x + h)[0] - objective(x - h)[0]) / 4e-4 for h in steps])
        assert np.max(np.abs(expected)) > 1e-4
        # The expected risk of a Dirichlet is looked up in a table, whose slope has fewer digits.
        tolerance = 1e-3 if problem.method.risk is METHODS["dis-r"].risk and method != "smv-mc" else 1e-5
        np.testing.assert_allclose(
            problem.chain(x, gradient), expected, rtol=0, atol=tolerance * np.max(np.abs(expected))
        )


@pytest.mark.parametrize("method", ["fo", "so", "bin", "c-bound", "smv-exact"])
def test_gradient_of_a_batch_in_x(method):
    problem = random_problem(method)
    rows, rng = np.arange(40, 120), np.random.default_rng(4)
    x = rng.uniform(-1.0, 1.0, 8)

    def objective(x):
        return learn._batch_bound(problem, rows, problem.parameters(x), rng)

    steps = 2e-4 * np.eye(8)
    expected = np.array([(objective(x + h)[0] - objective(x - h)[0]) / 4e-4 for h in steps])
    assert np.max(np.abs(expected)) > 1e-4
    np.testing.assert_allclose(
        problem.chain(x, objective(x)[1]), expected, rtol=0, atol=1e-3 * np.max(np.abs(expected))
    )


def test_the_c_bound_is_trained_on_both_sides_of_where_it_applies():
    applies, flat = (full_bound(random_problem("c-bound", accuracy=accuracy)) for accuracy in (0.9, 0.0))
    uniform = np.full(8, 1 / 8)
    assert applies(uniform)[0] < 1 < flat(uniform)[0]


@pytest.mark.parametrize("method", LEARNING)
def test_parameters_are_feasible_whatever_x_is(method):
    problem = random_problem(method)
    rng = np.random.default_rng(5)
    for _ in range(20):
        parameters = problem.parameters(rng.uniform(-14, 14, 8))
        assert np.all(parameters > problem.floor())
        value, gradient = problem.method.penalty(parameters, problem.beta, problem.setting)
        assert 0 <= value < math.inf
        assert np.all(np.isfinite(gradient))
        if problem.method.distribution == "categorical":
            assert parameters.sum() == pytest.approx(1.0, abs=1e-14)


@pytest.mark.parametrize("method", ["fo", "so", "bin", "c-bound"])
def test_penalties_of_the_surrogates_are_multiples_of_one_divergence(method):
    problem = random_problem(method)
    weights = np.random.default_rng(6).dirichlet(np.ones(8))
    value, _ = problem.method.penalty(weights, problem.beta, problem.setting)
    assert value == pytest.approx(MULTIPLE[method] * stats.entropy(weights, problem.beta), rel=1e-12)


@pytest.mark.parametrize("method", CERTIFIED)
def test_confidence_of_each_method_against_its_theorem(method):
    got = METHODS[method].confidence(2000, Setting(0.05, 3.0, "paper"))
    ratio = math.log(2 * math.sqrt(2000) / 0.05)
    expected = {
        "dis-v": 2.5 * math.log(2 / 0.05) + math.log(2 * math.sqrt(2000)),
        "c-bound": ratio + math.log(2),
        "holdout": -math.log(0.05),
    }
    assert got == pytest.approx(expected.get(method, ratio), rel=1e-13)


@pytest.mark.parametrize("method", ["smv-exact", "smv-mc"])
def test_the_random_vote_draws_afresh_for_rows_that_come_one_by_one(method):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = (X[:, 0] + rng.normal(size=300) > 0).astype(int)
    clf = CertifiedVoteClassifier(
        method, Forest(RandomForestClassifier(n_estimators=15, max_depth=1)), random_state=0, loss="half-weight"
    ).fit(X, y)
    # Rows that no voter can tell apart, each in a call of its own: shares of the answers follow the Dirichlet.
    rows = np.zeros((400, 2)) + 1e-9 * np.arange(400)[:, None]
    parameters = clf.voters_.votes(rows).masses(clf.weights_)
    assert np.unique(parameters, axis=0).shape == (1, 2)
    chance = half_tail(parameters[:1, 1], clf.weights_.sum())[0]
    ones = np.mean([clf.predict(row[None]) == 1 for row in rows])
    assert abs(ones - chance) < 4 * np.sqrt(chance * (1 - chance) / 400) + 1e-12
