"""Who is certified by each method, what the vote then does, and what its certificate says."""

import math

import numpy as np
import pytest
from auditor import assert_recomputable
from ballots import codes_of
from fits import (
    CERTIFIED,
    DRAWN,
    FIXED,
    MEAN,
    PAPER,
    RANDOM,
    SETTINGS,
    cancer,
    certified_rows,
    fitted,
    forest,
    iris_fit,
    noise,
)
from options import as_objects
from scipy import stats
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from thorough import grid

from certivote import CertifiedVoteClassifier
from certivote.certificate import confidence_nats, percent_up
from certivote.maths.beta_tail import half_tail
from certivote.methods import CBound, Holdout, make_method
from certivote.pipeline._learn import SOLVERS
from certivote.theory.methods import METHODS
from certivote.voters import Forest


def test_the_table_lists_every_method():
    assert {name: method.predictor.name for name, method in METHODS.items()} == CERTIFIED


def words(certificate):
    return " ".join(certificate.details().split())


@pytest.mark.parametrize("method", CERTIFIED)
def test_the_text_says_who_is_certified(method):
    certificate = fitted(method).certificate_
    assert not certificate.vacuous
    text = words(certificate)
    assert f"what is certified {CERTIFIED[method]}; loss: plurality" in text
    assert f"method {method}, {METHODS[method].theorem.name}" in text
    says = {
        "the drawn vote": "(A majority vote whose weights were drawn once.)",
        "the random vote": "it draws a new vote for every case, and the same case may get different answers.",
        "the mean vote": "(The majority vote with the learned weights themselves.)",
        "the fixed vote": "(A majority vote with weights fixed before the certification rows were looked at.)",
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
    clf = fitted(method)
    (part,) = clf.certificate_.parts
    assert part.errors is None
    assert part.log_weights == ()
    assert np.array_equal(clf.hyper_posterior_, part.alpha)
    np.testing.assert_allclose(clf.weights_, np.array(part.alpha) / math.fsum(part.alpha), rtol=1e-14)


@pytest.mark.parametrize("method", FIXED)
def test_what_was_learned_is_known_of_every_method(method):
    clf = fitted(method)
    assert not clf.certificate_.is_random
    assert clf.hyper_posterior_.tolist() == list(clf.certificate_.deployed_part.alpha)


@pytest.mark.parametrize("method", DRAWN)
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
    assert (f"(the average: {METHODS[method].theorem.average_name})" in text) == (split == "cross")


@pytest.mark.parametrize("method", CERTIFIED)
def test_with_exact_constants_the_average_is_the_mean_of_the_bounds(method):
    certificate = fitted(method, "cross", constant="exact").certificate_
    assert "at delta/2 on its own part (the average: the mean of the bounds of the parts)" in words(certificate)
    expected = 0.3 * certificate.parts[0].bound + 0.7 * certificate.parts[1].bound
    assert certificate.average_bound == pytest.approx(expected, rel=1e-14)


# --- The random vote.


def probability_of_second_class(clf, X):
    """That a vote drawn from the Dirichlet gives the second of two classes, row by row."""
    masses = clf.voters_.votes(X).masses(clf.hyper_posterior_)
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
    rows = certified_rows(clf)
    copies = 100
    errors = np.mean(clf.predict(np.tile(X[rows], (copies, 1))) != np.tile(y[rows], copies))
    risk = clf.certificate_.parts[clf.certificate_.deployed].risks[0]
    assert abs(errors - risk) < 4 * math.sqrt(risk * (1 - risk) / (copies * len(rows)))


@pytest.mark.parametrize("method", RANDOM)
@pytest.mark.parametrize("split", ["single", "cross"])
def test_expected_plurality_error_of_three_classes_is_bounded_by_simulation(method, split):
    certificate = iris_fit(method, split=split).certificate_
    for part in certificate.parts:
        assert part.statement.risk_draws >= 200_000
        assert part.statement.risk_draws % part.n == 0
        assert part.statement.risk_delta == pytest.approx(0.01 * part.delta, rel=1e-12)
        paid = part.delta - part.statement.risk_delta
        nats = confidence_nats(certificate, part, part.statement)
        assert nats == pytest.approx(math.log(2 * math.sqrt(part.n) / paid), rel=1e-12)
    assert_recomputable(certificate)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("method", RANDOM)
def test_the_simulated_risk_is_just_above_a_plain_estimate(method, seed):
    clf = iris_fit(method, seed)
    X, y = load_iris(return_X_y=True)
    rows = certified_rows(clf)
    part = clf.certificate_.parts[0]
    answers = codes_of(clf.voters_.votes(X[rows]))
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
        assert all((part.statement.risk_draws, part.statement.risk_delta) == (0, 0.0) for part in certificate.parts)


# --- The votes with weights of their own.


@grid(strength=1, method=FIXED, setting=SETTINGS)
def test_deployed_weights_are_fixed_point_and_err_as_recorded(method, setting):
    clf = fitted(method, setting)
    units = clf.weights_ * 2.0**52
    assert np.all(units == np.round(units))
    assert np.all(units >= 0)
    assert sum(int(unit) for unit in units) == 2**52
    X, y = cancer()
    rows = certified_rows(clf)
    part = clf.certificate_.parts[clf.certificate_.deployed]
    assert part.errors == np.count_nonzero(clf.predict(X[rows]) != y[rows])
    if method in MEAN:
        assert np.array_equal(clf.weights_, part.alpha)
    np.testing.assert_array_equal(clf.predict(X[::-1]), clf.predict(X)[::-1])


@pytest.mark.parametrize("method", [name for name in FIXED if name != "c-bound"])
def test_recorded_errors_of_three_classes_are_those_of_predict(method):
    clf = iris_fit(method, seed=2)
    X, y = load_iris(return_X_y=True)
    rows = certified_rows(clf)
    assert clf.certificate_.parts[0].errors == np.count_nonzero(clf.predict(X[rows]) != y[rows]) > 0


@pytest.mark.parametrize("prior", [0.5, np.linspace(0.1, 3.0, 15)])
@pytest.mark.parametrize("solver", SOLVERS)
def test_holdout_has_the_weights_of_the_prior(prior, solver):
    clf = CertifiedVoteClassifier(Holdout(solver), forest(), prior=prior, random_state=0).fit(*cancer())
    expected = np.broadcast_to(prior, 15) / np.broadcast_to(prior, 15).sum()
    np.testing.assert_allclose(clf.weights_, expected, rtol=0, atol=15 * 2.0**-52)
    part = clf.certificate_.parts[0]
    assert part.penalty == 0.0
    assert part.errors == part.holdout.errors
    assert part.bound == pytest.approx(part.holdout.bound, rel=1e-9)


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
    clf = CertifiedVoteClassifier(CBound(solver), forest(), split, random_state=0).fit(*noise())
    certificate = clf.certificate_
    assert certificate.bound == 1.0
    assert certificate.vacuous
    (remark,) = certificate.remarks
    assert "The theorem needs a mean wrong mass below one half" in remark
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
    clf = CertifiedVoteClassifier(make_method(method, solver=solver), forest(), random_state=0).fit(*noise())
    certificate = clf.certificate_
    assert certificate.bound > 1
    assert certificate.vacuous
    assert percent_up(certificate.bound) in str(certificate)
    assert "This certificate promises nothing" in words(certificate)
    assert_recomputable(certificate)


@pytest.mark.parametrize("method", ["dis-b", "dis-r", "smv-exact", "holdout"])
def test_bounds_of_noise_are_at_least_one_half(method):
    certificate = CertifiedVoteClassifier(method, forest(), random_state=0).fit(*noise()).certificate_
    assert 0.5 < certificate.bound <= 1
    assert "Caution: The bound is no better than guessing among 2 classes" in words(certificate)


# --- Seeds and solvers.


@grid(strength=1, method=CERTIFIED, solver=SOLVERS)
def test_the_same_seed_gives_the_same_certificate(method, solver):
    X, y = cancer()
    first = fitted(method, "cross", solver)
    again = CertifiedVoteClassifier(
        **as_objects(method, solver=solver, random_state=0, **PAPER, **SETTINGS["cross"]())
    ).fit(X, y)
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
    parameters = clf.voters_.votes(rows).masses(clf.hyper_posterior_)
    assert np.unique(parameters, axis=0).shape == (1, 2)
    chance = half_tail(parameters[:1, 1], clf.hyper_posterior_.sum())[0]
    ones = np.mean([clf.predict(row[None]) == 1 for row in rows])
    assert abs(ones - chance) < 4 * np.sqrt(chance * (1 - chance) / 400) + 1e-12
