"""Certificates of votes whose weights are the softmax of Gaussians: proved again, and caught where they are altered."""

import copy
import dataclasses
from functools import cache

import numpy as np
import pytest
from altering import with_part
from auditor import assert_close_above, assert_recomputable, recomputed_by_class
from kinds import with_statements
from mpmath import mp
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.ensemble import RandomForestClassifier
from thorough import grid

pytest.importorskip("flint", reason="proofs need python-flint: install certivote[verify]")

from options import as_objects

from certivote import Certificate, CertifiedVoteClassifier, verify
from certivote.voters import Forest

METHODS = ["dis-b", "dis-r", "dis-v", "smv-mc"]
DATA = {"two classes": load_breast_cancer, "three classes": load_wine}


@cache
def data(name="two classes"):
    return DATA[name](return_X_y=True)


@cache
def fitted(method="dis-r", name="two classes", **parameters):
    options = {"voters": Forest(RandomForestClassifier(n_estimators=12)), "random_state": 0, "prior": 0.5}
    if "orders" in parameters:
        options["renyi_order"] = list(parameters["orders"])
    given = {key: value for key, value in parameters.items() if key != "orders"}
    return CertifiedVoteClassifier(**as_objects(method, family="logistic-normal", **{**options, **given})).fit(
        *data(name)
    )


SETTINGS = [
    {},
    {"constant": "paper"},
    {"split": "cross", "prior": "auto"},
    {"split": "cross", "constant": "paper", "tau": 0.3},
    {"split": 3, "n_draws": 4, "orders": (1.2, 2.0)},
    {"loss": "half-weight", "prior": "informed"},
    {"solver": "adam"},
]


@grid(method=METHODS, setting=SETTINGS, name=DATA)
def test_every_certificate_is_proved_again(method, setting, name):
    clf = fitted(method, name, **setting)
    certificate = clf.certificate_
    assert {part.family for part in certificate.parts} == {"logistic-normal"}
    checks = verify(certificate, clf, *data(name))
    assert [str(check) for check in checks if not check.passed] == []
    assert len(checks) > 15
    assert_recomputable(certificate)
    assert Certificate.from_json(certificate.to_json()) == certificate


@pytest.mark.parametrize("method", METHODS)
def test_bounds_by_class_can_be_recomputed(method):
    certificate = fitted(method, "three classes").certificate_
    with mp.workdps(30):
        for entry, true in zip(certificate.by_class, recomputed_by_class(dataclasses.asdict(certificate)), strict=True):
            assert_close_above(entry.bound, true)


@pytest.mark.parametrize("method", METHODS)
def test_what_a_part_records(method):
    part = fitted(method).certificate_.deployed_part
    assert part.n_voters == 12
    assert len(part.alpha) == len(part.beta) == 24
    assert min(part.alpha[12:]) > 0
    assert min(part.beta[12:]) > 0
    assert len(part.log_weights) == (0 if method == "smv-mc" else 12)
    assert (part.statement.risk_draws > 0) == (part.statement.risk_delta > 0) == (method == "smv-mc")


@pytest.mark.parametrize("method", METHODS)
def test_the_reported_bound_is_close_above_the_proved_one(method):
    certificate = fitted(method).certificate_
    (part,) = certificate.parts
    assert part.bound < 1
    lower = part.bound * (1 - 1e-9)
    altered = with_part(certificate, bound=lower)
    assert [check.what for check in verify(altered) if not check.passed] == ["part, bound"]


def _set(values, place, value):
    return (*values[:place], value, *values[place + 1 :])


def _moved(name, place, by):
    """One entry of a field, moved."""

    def alter(certificate):
        values = getattr(certificate.parts[0], name)
        return with_part(certificate, **{name: _set(values, place, values[place] + by)})

    return alter


def _shorter(name):
    return lambda c: with_part(c, **{name: getattr(c.parts[0], name)[:-1]})


ALTERED = {
    "mean of the posterior": _moved("alpha", 3, 0.5),
    "precision of the posterior": _moved("alpha", 12, 0.5),
    "mean of the prior": _moved("beta", 0, 0.5),
    "precision of the prior": _moved("beta", 23, 0.5),
    "negative precision": lambda c: with_part(c, alpha=_set(c.parts[0].alpha, 20, -1.0)),
    "precision 0": lambda c: with_part(c, alpha=_set(c.parts[0].alpha, 12, 0.0)),
    "negative precision of the prior": lambda c: with_part(c, beta=_set(c.parts[0].beta, 12, -1.0)),
    "no number": lambda c: with_part(c, alpha=_set(c.parts[0].alpha, 0, float("nan"))),
    "endless": lambda c: with_part(c, alpha=_set(c.parts[0].alpha, 13, float("inf"))),
    "alpha too short": _shorter("alpha"),
    "beta too short": _shorter("beta"),
    "both too short": lambda c: _shorter("alpha")(_shorter("beta")(c)),
    "means only": lambda c: with_part(c, alpha=c.parts[0].alpha[:12], beta=c.parts[0].beta[:12]),
    "half of the voters": lambda c: with_part(c, n_voters=6),
    "as a Dirichlet": lambda c: with_part(c, family="dirichlet"),
    "as a Dirichlet of twice the voters": lambda c: with_part(c, family="dirichlet", n_voters=24),
    "as weights": lambda c: with_part(c, family="categorical"),
    "errors": lambda c: with_part(c, errors=0),
    "penalty": lambda c: with_part(c, penalty=0.0),
    "prior weight": lambda c: with_part(c, prior_weight=1e-9),
    "not one of its methods": lambda c: dataclasses.replace(c, method="smv-exact"),
}
OF_A_DRAW = {
    "draw": _moved("log_weights", 5, 0.3),
    "draw shifted as a whole": lambda c: with_part(c, log_weights=tuple(z + 1.0 for z in c.parts[0].log_weights)),
    "draw too short": _shorter("log_weights"),
    "no draw": lambda c: with_part(c, log_weights=()),
}
OF_A_SIMULATION = {
    "no simulation": lambda c: with_part(c, risk_draws=0, risk_delta=0.0),
    "a simulation of nothing": lambda c: with_part(c, risk_draws=0),
    "a simulation for nothing": lambda c: with_part(c, risk_delta=0.0),
    "a draw": lambda c: with_part(c, log_weights=c.parts[0].alpha[:12]),
}


# dis-v pays for the distributions and not for the draw, which the model shows; but there must be one.
OWN = {
    "dis-b": OF_A_DRAW,
    "dis-r": OF_A_DRAW,
    "dis-v": {kind: OF_A_DRAW[kind] for kind in ("draw too short", "no draw")},
    "smv-mc": OF_A_SIMULATION,
}


@pytest.mark.parametrize(
    ("method", "kind"), [(method, kind) for method in METHODS for kind in {**ALTERED, **OWN[method]}]
)
def test_an_altered_record_is_caught(method, kind):
    alter = {**ALTERED, **OWN[method]}[kind]
    # With its usual price list dis-b stays at the prior, where every draw has the same density ratio.
    moved = {"price_list": ((15.0, 0.95),)} if method == "dis-b" else {}
    certificate = fitted(method, **moved).certificate_
    assert certificate.parts[0].alpha != certificate.parts[0].beta
    altered = alter(certificate)
    assert altered != certificate
    failed = [check for check in verify(altered) if not check.passed]
    assert failed
    assert all(check.detail for check in failed)


@pytest.mark.parametrize("kind", ["nan", "inf", "negative precision"])
def test_a_forged_record_does_not_pass_the_reader_and_the_auditor(kind):
    certificate = fitted("dis-r").certificate_
    value = {"nan": "NaN", "inf": "Infinity", "negative precision": "-1.0"}[kind]
    text = certificate.to_json().replace(repr(certificate.parts[0].alpha[15]), value)
    try:
        read = Certificate.from_json(text)
    except ValueError:
        return
    assert not all(check.passed for check in verify(read))


def failures(certificate, clf, name="two classes"):
    return {check.what for check in verify(certificate, clf, *data(name)) if not check.passed}


def test_the_renyi_divergence_of_a_wide_posterior_is_infinite():
    certificate = fitted("dis-v").certificate_
    part = certificate.parts[0]
    floor = (part.renyi_order - 1.0) / part.renyi_order * part.beta[12]
    failed = [
        check for check in verify(with_part(certificate, alpha=_set(part.alpha, 12, 0.999 * floor))) if not check.passed
    ]
    assert any("the Rényi divergence is infinite" in check.detail for check in failed)


@pytest.mark.parametrize("method", ["dis-b", "dis-r", "dis-v"])
def test_a_draw_that_is_not_the_models_is_caught(method):
    clf = fitted(method)
    assert failures(clf.certificate_, clf) == set()
    draw = clf.certificate_.parts[0].log_weights
    moved = with_part(clf.certificate_, log_weights=_set(draw, 2, draw[2] + 1e-9))
    assert "weights" in failures(moved, clf)
    other = copy.copy(clf)
    other.weights_ = np.roll(clf.weights_, 1)
    assert "weights" in failures(clf.certificate_, other)


def test_the_model_must_draw_from_what_was_certified():
    clf = fitted("smv-mc")
    other = copy.copy(clf)
    other.hyper_posterior_ = clf.hyper_posterior_.copy()
    other.hyper_posterior_[0] += 1e-9
    assert "weights" in failures(clf.certificate_, other)
    for wrong in (None, clf.hyper_posterior_[:12], clf.hyper_posterior_[:-1]):
        other.hyper_posterior_ = wrong
        assert {"weights", "vote"} <= failures(clf.certificate_, other)


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("loss", ["plurality", "half-weight"])
def test_a_risk_below_that_of_a_new_simulation_is_caught(loss, name):
    clf = fitted("smv-mc", name, loss=loss)
    part = clf.certificate_.parts[0]
    assert part.risks[0] > 0.02
    assert failures(clf.certificate_, clf, name) == set()
    assert "risk" in failures(with_part(clf.certificate_, means=(0.2 * part.risks[0],)), clf, name)
    # One of the classes has errors; its own limit is compared too.
    worst = max(range(len(clf.certificate_.by_class)), key=lambda k: clf.certificate_.by_class[k].risks[0])
    entry = clf.certificate_.by_class[worst]
    forged = dataclasses.replace(entry, means=(0.1 * entry.risks[0],))
    altered = with_statements(clf.certificate_, _set(clf.certificate_.by_class, worst, forged))
    assert f"errors, class {entry.label}, risk" in failures(altered, clf, name)
