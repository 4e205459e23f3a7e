"""A certificate is proved again by other means, and an altered one is caught."""

import copy
import dataclasses
import json
from functools import cache

import numpy as np
import pytest
from altering import with_part
from fits import DRAWN
from options import as_objects
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.ensemble import RandomForestClassifier
from thorough import grid, placed

from certivote import CertifiedVoteClassifier, verify
from certivote.theory.methods import METHODS
from certivote.voters import Forest, Stumps

FOREST = Forest(RandomForestClassifier(n_estimators=15))


@cache
def data():
    X, y = load_breast_cancer(return_X_y=True)
    return X[:, :6], y


@cache
def fitted(method="dis-b", **parameters):
    options = {"voters": FOREST, "random_state": 0, **{k: v for k, v in parameters.items() if k != "orders"}}
    if "orders" in parameters:
        options["renyi_order"] = list(parameters["orders"])
    return CertifiedVoteClassifier(**as_objects(method, **options)).fit(*data())


SETTINGS = [
    {},
    {"constant": "paper", "prior": 0.5},
    {"split": "cross", "prior": 0.5},
    {"split": "cross", "constant": "paper", "tau": 0.3, "prior": 0.5},
    {"split": 3, "n_draws": 4, "orders": (1.2, 2.0)},
    {"loss": "half-weight", "prior": "informed"},
]


@pytest.mark.parametrize(("method", "setting"), placed(METHODS, SETTINGS, DRAWN, few=2), ids=str)
def test_every_certificate_is_proved_again(method, setting):
    clf = fitted(method, **setting)
    checks = verify(clf.certificate_, clf, *data())
    assert [str(check) for check in checks if not check.passed] == []
    assert len(checks) > 15


@cache
def wine(method):
    X, y = load_wine(return_X_y=True)
    return CertifiedVoteClassifier(method, FOREST, random_state=0).fit(X, y), (X, y)


def test_stumps_and_more_classes():
    clf, (X, y) = wine("smv-exact")
    assert all(check.passed for check in verify(clf.certificate_, clf, X, y))
    X, y = data()
    ranges = [(0.0, 100.0)] * X.shape[1]
    clf = CertifiedVoteClassifier("dis-r", Stumps(ranges=ranges), "none", random_state=0).fit(X, y)
    assert all(check.passed for check in verify(clf.certificate_, clf, X, y))


@pytest.mark.parametrize("method", METHODS)
def test_the_reported_bound_is_close_above_the_proved_one(method):
    certificate = fitted(method).certificate_
    (part,) = certificate.parts
    lower = part.bound * (1 - 1e-9)
    altered = with_part(certificate, bound=lower)
    if part.bound < 1:
        assert [check.what for check in verify(altered) if not check.passed] == ["part, bound"]


def of_whole(**changes):
    return lambda certificate: dataclasses.replace(certificate, **changes)


def nudged(values, by=0.1):
    return (values[0] + by, *values[1:])


ALTERED = {
    "bound": lambda c: with_part(c, bound=0.01),
    "bound, a tenth": lambda c: with_part(c, bound=0.9 * c.bound),
    "deltas of the comparisons": lambda c: with_part(c, holdout_delta=0.06, majority_delta=0.06),
    "rows of a comparison": lambda c: with_part(c, majority_n=c.parts[0].n + 1),
    "what a comparison is about": lambda c: with_part(c, majority_threshold=0.5),
    "statistics of a comparison": lambda c: with_part(c, holdout_means=(0.5,)),
    "simulation of a comparison": lambda c: with_part(c, holdout_risk_draws=7),
    "what the bound is about": lambda c: with_part(c, label="1"),
    "a mean beside counts": lambda c: with_part(c, means=(0.5,)),
    "delta larger": of_whole(delta=0.5),
    "delta out of range": of_whole(delta=1.5),
    "method": of_whole(method="dis-r"),
    "unknown method": of_whole(method="magic"),
    "what it is about": of_whole(subject="models"),
    "constant": of_whole(constant="better"),
    "average weights": of_whole(average_weights=(0.5,)),
    "more draws": of_whole(n_draws=1000),
    "no draws": of_whole(n_draws=0),
    "price list, weights": of_whole(price_atoms=((10.0, 5.0),)),
    "price list, gone": of_whole(price_atoms=(), price_scales=((1.0, 1e-9),)),
    "price list, a scale that pays": lambda c: dataclasses.replace(c, price_scales=((-0.5, c.price_scales[0][1]),)),
    "errors": lambda c: with_part(c, errors=0),
    "risk and errors": lambda c: with_part(c, errors=0, means=(0.0,)),
    "more rows": lambda c: with_part(c, n=10 * c.parts[0].n),
    "delta of the part": lambda c: with_part(c, delta=0.9),
    "penalty": lambda c: with_part(c, penalty=0.0),
    "alpha": lambda c: with_part(c, alpha=tuple(50.0 * np.exp(c.parts[0].log_weights) + c.parts[0].beta)),
    "beta": lambda c: with_part(c, beta=nudged(c.parts[0].beta, 50.0)),
    "alpha too short": lambda c: with_part(c, alpha=c.parts[0].alpha[1:]),
    "weights not normalised": lambda c: with_part(c, log_weights=nudged(c.parts[0].log_weights, 1.0)),
    "no weights": lambda c: with_part(c, log_weights=()),
    "prior weight": lambda c: with_part(c, prior_weight=1e-9),
    "draw number": lambda c: with_part(c, draw=7),
    "family": lambda c: with_part(c, family="categorical"),
    "another family over weights": lambda c: with_part(c, family="logistic-normal"),
    "unknown family": lambda c: with_part(c, family="magic"),
    "number of voters": lambda c: with_part(c, n_voters=c.parts[0].n_voters + 1),
    "negative alpha": lambda c: with_part(c, alpha=nudged(c.parts[0].alpha, -1e6)),
}


def assert_caught(certificate, alter):
    altered = alter(certificate)
    assert altered != certificate
    failed = [check for check in verify(altered) if not check.passed]
    assert failed
    assert all(check.detail for check in failed)


@pytest.mark.parametrize("kind", ALTERED)
def test_an_altered_record_is_caught(kind):
    assert_caught(fitted("dis-b", prior=0.5).certificate_, ALTERED[kind])


ALTERED_MEAN = {
    "weights not normalised": lambda c: with_part(c, alpha=nudged(c.parts[0].alpha, 1e-6)),
    "prior not normalised": lambda c: with_part(c, beta=nudged(c.parts[0].beta, 1e-6)),
    "negative weight": lambda c: with_part(c, alpha=(-0.1, c.parts[0].alpha[1] + 0.1, *c.parts[0].alpha[2:])),
    "weights of another vote": lambda c: with_part(c, log_weights=tuple(np.log(c.parts[0].beta).tolist())),
    "family": lambda c: with_part(c, family="dirichlet"),
    "order": lambda c: with_part(c, renyi_order=1.5),
    "two statistics": lambda c: with_part(c, means=c.parts[0].risks * 2),
    "no statistics": lambda c: with_part(c, means=(), losses=(0.5,)),
    "no part": of_whole(parts=()),
    "no such part": of_whole(deployed=3),
}


@pytest.mark.parametrize("method", ["fo", "holdout"])
@pytest.mark.parametrize("kind", ALTERED_MEAN)
def test_an_altered_record_of_weights_is_caught(kind, method):
    assert_caught(fitted(method).certificate_, ALTERED_MEAN[kind])


@grid(strength=1, method=["dis-b", "dis-r", "dis-v", "smv-exact", "so", "c-bound"], constant=["paper", "exact"])
def test_a_part_that_nothing_can_be_computed_from_is_caught(method, constant):
    certificate = fitted(method, split="cross", constant=constant, prior=0.5).certificate_
    broken = dataclasses.replace(certificate.parts[0], alpha=certificate.parts[0].alpha[1:])
    assert_caught(certificate, of_whole(parts=(broken, certificate.parts[1])))


@pytest.mark.parametrize("method", ["smv-exact", "smv-mc"])
def test_a_simulation_that_was_not_made_is_caught(method):
    """Among three classes the risk has no closed form: its limit was paid for, and is no lower than without errors."""
    clf, _ = wine(method)
    assert all(check.passed for check in verify(clf.certificate_))
    assert_caught(clf.certificate_, lambda c: with_part(c, risk_draws=0))
    assert_caught(clf.certificate_, lambda c: with_part(c, means=(0.0,)))
    assert_caught(clf.certificate_, lambda c: with_part(c, risk_draws=0, risk_delta=0.0))


def test_a_random_vote_is_compared_by_what_it_draws_from():
    clf, (X, y) = wine("smv-exact")
    other = copy.copy(clf)
    other.hyper_posterior_ = clf.hyper_posterior_ * np.linspace(0.2, 5.0, len(clf.hyper_posterior_))
    assert {"weights"} <= failures(clf.certificate_, other, X, y)
    other.hyper_posterior_ = clf.hyper_posterior_[1:]
    assert {"weights", "vote"} <= failures(clf.certificate_, other, X, y)
    other.hyper_posterior_ = None
    assert {"weights", "vote"} <= failures(clf.certificate_, other, X, y)


def test_a_simulated_risk_that_is_too_small_is_caught_with_the_data():
    clf, (X, y) = wine("smv-mc")
    part = clf.certificate_.parts[0]
    forged = with_part(clf.certificate_, means=(0.2 * part.risks[0],))
    assert "risk" in failures(forged, clf, X, y)
    assert "risk" not in failures(clf.certificate_, clf, X, y)


def failures(certificate, clf, X, y):
    return {check.what for check in verify(certificate, clf, X, y) if not check.passed}


def test_other_data_another_model_and_mixed_parts_are_caught():
    clf, (X, y) = fitted("dis-b", prior=0.5), data()
    assert failures(clf.certificate_, clf, X, y) == set()
    moved = X.copy()
    moved[clf.part_.certify[0], 0] += 1.0
    assert {"digest of the data", "certification rows"} <= failures(clf.certificate_, clf, moved, y)
    moved = X.copy()
    moved[clf.part_.train[0], 0] += 1.0
    named = {"digest of the data", "training rows", "witnesses among the rows"}
    assert failures(clf.certificate_, clf, moved, y) == named
    flipped = y.copy()
    flipped[clf.part_.certify[:9]] = 1 - flipped[clf.part_.certify[:9]]
    assert {"certification rows", "errors"} <= failures(clf.certificate_, clf, X, flipped)
    assert "rows" in failures(clf.certificate_, clf, X[:100], y[:100])
    other = CertifiedVoteClassifier("dis-b", FOREST, prior=0.5, random_state=1).fit(X, y)
    assert {"model", "weights", "voters"} <= failures(clf.certificate_, other, X, y)
    copied = CertifiedVoteClassifier("dis-b", FOREST, prior=0.5, random_state=0).fit(X, y)
    copied.part_ = dataclasses.replace(
        copied.part_, certify=np.concatenate([copied.part_.certify, copied.part_.train[:1]])
    )
    assert {"parts", "size"} <= failures(clf.certificate_, copied, X, y)


def test_thresholds_taken_from_the_certification_rows_are_caught():
    X, y = data()
    taken = list(zip(X.min(axis=0).tolist(), X.max(axis=0).tolist(), strict=True))
    with pytest.warns(UserWarning, match="is exactly that of the certification rows"):
        clf = CertifiedVoteClassifier("dis-r", Stumps(ranges=taken), "none", random_state=0).fit(X, y)
    assert failures(clf.certificate_, clf, X, y) == {"voters fixed beforehand"}
    known = [(0.0, 10.0 ** np.ceil(np.log10(high))) for _, high in taken]
    clf = CertifiedVoteClassifier("dis-r", Stumps(ranges=known), "none", random_state=0).fit(X, y)
    assert failures(clf.certificate_, clf, X, y) == set()
    # Ends that few digits can say are reached by honest declarations too.
    coded = np.round(X)
    whole = list(zip(coded.min(axis=0).tolist(), coded.max(axis=0).tolist(), strict=True))
    assert not Stumps(ranges=whole[:2]).doubt(coded[:, :2])


def test_data_without_a_model_are_refused():
    with pytest.raises(ValueError, match="with the model"):
        verify(fitted().certificate_, None, *data())


def _with(recorded, name, parameter, text):
    """The JSON of a parameter, in which it, or an option of it, has this value."""
    options = json.loads(recorded)
    if isinstance(options, dict) and name in options:
        return json.dumps({**options, name: "HERE"}).replace('"HERE"', text)
    return text if name == parameter else recorded


@pytest.mark.parametrize("name", ["delta", "n_draws", "tau", "prior", "order", "price_list"])
@pytest.mark.parametrize("infinite", ["Infinity", "1e999", "-Infinity"])
def test_recorded_parameters_that_are_infinite_are_no_other_number(name, infinite):
    method = "dis-v" if name == "order" else "dis-b"
    certificate = fitted(method, split="cross", prior=0.5, tau=0.3, n_draws=2).certificate_
    origin = certificate.provenance
    text = f"[[{infinite}, 0.5]]" if name == "price_list" else infinite
    parameters = tuple((each, _with(value, name, each, text)) for each, value in origin.parameters)
    forged = dataclasses.replace(certificate, provenance=dataclasses.replace(origin, parameters=parameters))
    failed = {check.what for check in verify(forged) if not check.passed}
    named = {"prior": "hyper-prior", "order": "parameter renyi_order"}.get(name, f"parameter {name}")
    assert named in {what.split(", ")[-1] for what in failed}


@pytest.mark.parametrize(
    ("name", "change", "caught"),
    [
        ("method", lambda given: {**given, "n_draws": 3}, "parameter n_draws"),
        ("method", lambda given: {**given, "constant": "exact"}, "parameter constant"),
        ("method", lambda given: {**given, "solver": "adam"}, "parameter solver"),
        ("method", lambda given: {**given, "name": "dis-r"}, "parameters"),  # which has no price list
        ("method", lambda given: {**given, "order": 1.5}, "parameters"),
        ("method", lambda given: {key: given[key] for key in given if key != "family"}, "parameters"),
        ("method", lambda _: {"name": ["dis-b"]}, "parameters"),
        ("method", lambda given: given["name"], "parameter n_draws"),
        ("split", lambda given: {**given, "tau": 0.4}, "parameter tau"),
        ("split", lambda given: {**given, "train_share": 0.4}, "rows of the parts"),
        ("split", lambda given: {**given, "n_folds": 2}, "parameters"),
        ("split", lambda _: {"name": "folds", "n_folds": 2}, "parameter split"),
        ("split", lambda _: {"name": "none"}, "parameters"),
        ("split", lambda _: True, "parameters"),
    ],
)
def test_options_other_than_those_of_the_fit_are_caught(name, change, caught):
    certificate = fitted("dis-b", split="cross", prior=0.5, tau=0.3, n_draws=2, constant="paper").certificate_
    origin = certificate.provenance
    parameters = tuple(
        (each, json.dumps(change(json.loads(value))) if each == name else value) for each, value in origin.parameters
    )
    forged = dataclasses.replace(certificate, provenance=dataclasses.replace(origin, parameters=parameters))
    assert caught in {check.what for check in verify(forged) if not check.passed}
