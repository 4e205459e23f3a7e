import dataclasses
import json
import math
from functools import cache

import numpy as np
import pandas as pd
import pytest
from altering import with_part
from auditor import assert_recomputable
from options import as_objects
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import RandomForestClassifier

from certivote import Certificate, CertifiedVoteClassifier, certify_predictions
from certivote.certificate import SCHEMA_VERSION, percent_up
from certivote.promises import Precision
from certivote.voters import Forest, Stumps

FOREST = Forest(RandomForestClassifier(n_estimators=20))


def certificate(method="dis-r", split="single", **parameters):
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :4]
    known = [(0.0, 10.0 ** math.ceil(math.log10(high))) for high in X.max(axis=0)]
    voters = Stumps(n_thresholds=3, ranges=known if split == "none" else None)
    clf = CertifiedVoteClassifier(**as_objects(method, split, voters=voters, random_state=0, **parameters))
    return clf.fit(X, y).certificate_


@cache
def usual():
    """One that many tests look at."""
    return certificate()


PAPER = {"prior": 0.5, "constant": "paper"}
GIVEN = [
    ("dis-r", "none", PAPER),
    ("dis-v", "single", PAPER),
    ("dis-r", "cross", PAPER),
    ("dis-v", "cross", PAPER),
    ("dis-b", "single", {}),
    ("dis-r", "none", {"n_draws": 3}),
    ("dis-v", "cross", {"renyi_order": [1.2, 2.0], "prior": 0.5}),
    ("dis-b", 3, {"n_draws": 2, "price_list": [[4.0, 0.5], [30.0, 0.3]]}),
    ("dis-r", 3, {}),
]


@pytest.fixture(scope="module", params=GIVEN, ids=lambda given: f"{given[0]}-{given[1]}-{'-'.join(given[2])}")
def any_certificate(request):
    method, split, parameters = request.param
    return certificate(method, split, tau=0.3, **parameters)


def test_a_stranger_can_recompute_the_bound_from_the_json(any_certificate):
    assert_recomputable(any_certificate)
    if any_certificate.average_bound is not None:
        assert any_certificate.bound <= any_certificate.average_bound


def test_json_round_trips_exactly(any_certificate):
    assert Certificate.from_json(any_certificate.to_json()) == any_certificate
    assert Certificate.from_json(any_certificate.to_json()).to_json() == any_certificate.to_json()


def test_json_holds_what_is_promised(any_certificate):
    record = json.loads(any_certificate.to_json())
    promised = [
        "schema_version",
        "subject",
        "method",
        "loss",
        "split",
        "delta",
        "parts",
        "average_weights",
        "renyi_orders",
        "n_draws",
        "price_atoms",
        "price_scales",
        "prior",
        "solver",
        "promises",
        "together",
    ]
    assert set(promised) <= record.keys()
    named = {"statement", "holdout", "majority", "penalty"}
    named |= {"alpha", "beta", "log_weights", "prior_weight", "renyi_order", "draw"}
    named |= {"family", "n_voters", "certification_digest", "training_digest", "training_rows", "duplicates"}
    assert all(named <= part.keys() for part in record["parts"])
    assert record["schema_version"] == SCHEMA_VERSION == 1
    assert all(isinstance(sentence, str) and sentence.endswith(".") for sentence in any_certificate.assumptions)
    assert len(record["parts"]) == {"cross": 2, "3": 3}.get(record["split"], 1)


def test_a_certificate_cannot_be_changed(any_certificate):
    with pytest.raises(dataclasses.FrozenInstanceError):
        any_certificate.delta = 0.0


def test_a_part_is_shown_without_thousands_of_weights(any_certificate):
    for part in any_certificate.parts:
        assert f"bound={part.bound}" in repr(part)
        assert "alpha" not in repr(part)
        assert len(repr(part)) < 2000


def test_text_states_the_promise_rounded_up(any_certificate):
    text = str(any_certificate)
    assert text.startswith("With 95 % confidence, this classifier is wrong on at most ")
    assert percent_up(any_certificate.bound) in text
    proof = {"dis-r": "Theorem 6", "dis-v": "Theorem 7", "dis-b": "Occam's hammer with the binomial tail"}
    assert f"{any_certificate.method}, {proof[any_certificate.method]}" in any_certificate.details()


def test_text_states_what_was_paid(any_certificate):
    text = " ".join(any_certificate.details().split())
    total = sum(each.nats for each in any_certificate.payments)
    items = [f"{each.what} {each.nats:.2f}" for each in any_certificate.payments if each.nats]
    assert f" cost {total:.2f} nats: {', '.join(items)} " in text
    draws = f"the best of {any_certificate.n_draws}, each paid for"
    assert (draws in text) == (any_certificate.n_draws > 1)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0493, "4.93 %"), (0.04930000001, "4.94 %"), (0.0, "0.00 %"), (1.0, "100.00 %"), (0.1 + 0.2, "30.01 %")],
)
def test_percentages_are_rounded_up(value, text):
    assert percent_up(value) == text


def test_a_bound_no_better_than_guessing_says_so():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(UserWarning, match="No training row has class 0"):
        text = str(CertifiedVoteClassifier(voters=FOREST, random_state=0).fit(X[::15], y[::15]).certificate_)
    assert "no better than guessing among 3 classes" in " ".join(text.split())


def test_vacuous_certificates_say_so():
    source = usual()
    vacuous = with_part(source, bound=1.0)
    assert "promises nothing" in str(vacuous)
    assert vacuous.vacuous
    assert not source.vacuous


@pytest.mark.parametrize("method", ["dis-b", "dis-r"])
def test_half_weight_bound_is_never_below_plurality_for_the_same_vote(method):
    # Two classes: the same trained vote, and equal errors up to ties.
    same = {"voters": FOREST, "random_state": 3, "split": "single"}
    X, y = load_breast_cancer(return_X_y=True)
    bounds = [
        CertifiedVoteClassifier(method, loss=loss, **same).fit(X, y).certificate_.bound
        for loss in ("plurality", "half-weight")
    ]
    assert bounds[0] <= bounds[1]


def own(record):
    return record["parts"][0]["statement"]


def statement(record, number):
    return record["promises"][0]["statements"][number]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda record: record.update(schema_version=2), "schema version 2; this certivote reads version 1. Open it"),
        (lambda record: record.update(schema_version=0), "schema version 0"),
        (lambda record: record.update(schema_version=True), "schema version True"),
        (lambda record: record.update(schema_version=1.0), r"schema version 1\.0"),
        (lambda record: record["parts"][0].update(n_voters=2**50), "more voters than parameters"),
        (lambda record: record["parts"][0].pop("penalty"), r"parts\[0\] lacks penalty"),
        (lambda record: record["parts"][0].update(drift=[3]), r"parts\[0\].drift\[0\] must be an object"),
        (
            lambda record: record["parts"][0]["statement"].update(kind="majority"),
            r"parts\[0\].statement must be of the kind 'error'; got 'majority'",
        ),
        (lambda record: record.pop("n_draws"), "lacks n_draws"),
        (lambda record: record.pop("schema_version"), "no schema_version"),
        (lambda record: record.pop("delta"), "lacks delta"),
        (lambda record: record.update(bound=0.01), "has unknown fields, such as 'bound'"),
        (lambda record: record.update(colour="red"), "has unknown fields, such as 'colour'"),
        (lambda record: record.update(parts={}), "parts must be a list"),
        (lambda record: record.update(parts=[3]), r"parts\[0\] must be an object"),
        (lambda record: own(record).pop("n"), r"parts\[0\].statement lacks n"),
        (lambda record: own(record).update(n="many"), r"parts\[0\].statement.n must be a whole number"),
        (lambda record: own(record).update(n=True), r"parts\[0\].statement.n must be a whole number"),
        (lambda record: record["parts"][0].update(alpha=3), r"parts\[0\].alpha must be a list"),
        (lambda record: record["parts"][0].update(alpha=["x"]), r"parts\[0\].alpha\[0\] must be a finite number"),
        (lambda record: own(record).update(bound=None), "bound must be a finite number"),
        (lambda record: own(record).update(bound=-0.1), r"bound must be in \[0.0, 4.0\]; got -0.1"),
        (lambda record: own(record).update(bound=10**400), "bound must be a finite number"),
        (lambda record: record.update(delta=1.0), r"delta must be in \(0.0, 1.0\); got 1.0"),
        (lambda record: record.update(deployed=1), "has 1 as the deployed one of 1 parts"),
        (lambda record: record.update(parts=[]), "must have at least one of its parts"),
        (lambda record: record.update(subject="the best vote"), "subject must be"),
        (lambda record: record.update(subject=["vote"]), "subject must be"),
        (lambda record: record.update(method="magic"), "method must be one of dis-b"),
        (
            lambda record: record["parts"][0].update(alpha=[]),
            r"parts\[0\] has more voters than parameters|other than 0",
        ),
        (lambda record: record["parts"][0].update(family="beta"), r"parts\[0\].family must be one of dirichlet"),
        (lambda record: record["parts"][0].update(n_voters=0), r"parts\[0\].n_voters must be in \[1, "),
        (
            lambda record: record["parts"][0]["beta"].__setitem__(0, -1.0),
            r"parts\[0\].beta must be in \(0.0, inf\); got -1.0",
        ),
        (lambda record: own(record).update(n=0), r"parts\[0\] must have an n of at least 1; got 0"),
        (lambda record: own(record).update(errors=10**6), r"statement has 1000000 errors in 284 rows|in 285"),
        (lambda record: own(record).update(errors=-1), r"parts\[0\].statement.errors must be in \[0, .*got -1"),
        (lambda record: own(record).update(means=[1.5]), r"statement.means\[0\] must be in \[0.0, 1.0\]; got 1.5"),
        (lambda record: record["parts"][0].update(prior_weight=0), r"prior_weight must be in \(0.0, 1.0\]; got 0.0"),
        (lambda record: statement(record, 0).update(kind=3), r"statements\[0\].kind must be a text"),
        (
            lambda record: statement(record, 1).update(bound=-1),
            r"promises\[0\].statements\[1\].bound must be in \[0.0, 4.0\]; got -1.0",
        ),
        (lambda record: statement(record, 1).pop("n"), r"promises\[0\].statements\[1\] lacks n"),
        (lambda record: statement(record, 1).update(errors=10**5), r"statements\[1\] has 100000 errors"),
        (lambda record: record["promises"][0].update(chosen=-1), r"promises\[0\].chosen must be in \[0, "),
        (lambda record: record["promises"][0].update(fixed=[3]), r"promises\[0\].fixed\[0\] must be an object"),
    ],
)
def test_a_damaged_certificate_is_refused_with_a_reason(change, message):
    record = json.loads(usual().to_json())
    change(record)
    with pytest.raises(ValueError, match=message):
        Certificate.from_json(json.dumps(record))


def test_duplicates_are_stated():
    X, y = load_breast_cancer(return_X_y=True)
    X, y = np.repeat(X, 2, axis=0), np.repeat(y, 2)
    made = CertifiedVoteClassifier("dis-r", FOREST, random_state=0).fit(X, y).certificate_
    part = made.parts[0]
    assert part.duplicates > 0
    assert part.duplicates_of_training_rows > 0
    assert part.n == 569
    assert f"{part.duplicates:,} certification rows equal an earlier one" in made.details()


@pytest.mark.parametrize("value", ["[" * 100_000, "{max_error: 1}", "9" * 5000, ""])
def test_parameters_of_promises_are_json(value):
    record = json.loads(usual().to_json())
    record["promises"][0]["parameters"] = [["max_error", value]]
    with pytest.raises(ValueError, match=r"promises\[0\].parameters: 'max_error' is not JSON"):
        Certificate.from_json(json.dumps(record))


def test_a_promise_is_there_once():
    record = json.loads(usual().to_json())
    record["promises"] *= 2
    with pytest.raises(ValueError, match=r"promises\[1\] is there twice"):
        Certificate.from_json(json.dumps(record))


def recorded(value):
    """The record of a certificate in which a parameter of the fit, or of a promise, holds this JSON."""
    y = ["ill", "well"] * 50
    made = certify_predictions(y, y, promises=[Precision()])
    of_fit, of_promise = json.loads(made.to_json()), json.loads(made.to_json())
    of_fit["provenance"]["parameters"][1][1] = value
    of_promise["promises"][1]["parameters"] = [["max_error", value]]
    return [json.dumps(record) for record in (of_fit, of_promise)]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("9" * 400, "must be a number that a float can be; got .*"),
        (f'[1, {{"a": -{"9" * 400}}}]', "must be a number that a float can be; got .*"),
        ("1e400", "must be a number that a float can be; got .*"),
        ("NaN", "is not JSON .*"),
        ("-Infinity", "is not JSON .*"),
        ("9" * 5000, "is not JSON .*"),
        ("{", "is not JSON .*"),
        ("[" * 100_000, "is not JSON .*"),
        ("[" * 50 + "]" * 50, "is nested too deeply"),
        ('"\\ud800"', "holds half of a surrogate pair, .*"),
        ('{"\\udfff": 1}', "holds half of a surrogate pair, .*"),
    ],
)
def test_a_recorded_parameter_is_a_value_that_others_can_work_with(value, message):
    for record in recorded(value):
        with pytest.raises(ValueError, match=rf"^Not a certificate: .*parameters: '\w+' {message}\.$"):
            Certificate.from_json(record)


HALF = "\ud800"


@pytest.mark.parametrize(
    "make",
    [
        lambda: certify_predictions([HALF, "b"] * 50, [HALF, "b"] * 50),
        lambda: certify_predictions(["a", "b"] * 50, {HALF: ["a", "b"] * 50}),
        lambda: certify_predictions(["a", "b"] * 50, {HALF: ["a", "b"] * 50, "c": ["a"] * 100}),
        lambda: certify_predictions(pd.Series(["a", "b"] * 50, name=HALF), ["a", "b"] * 50),
        lambda: certify_predictions(["a", "b"] * 50, ["a", "b"] * 50, groups=pd.Series(range(100), name=HALF)),
        lambda: certificate().with_source(f"{HALF}.csv", "0" * 64),
    ],
)
def test_what_no_file_could_hold_is_refused_when_the_certificate_is_made(make):
    with pytest.raises(ValueError, match=r"No file could hold the text '.*\\ud800.*Rename the class, the column or"):
        make()


def test_other_texts_are_kept():
    labels = ["\U0001f40d\x00\x1b[31m", "é"] * 50
    made = certify_predictions(labels, labels)
    assert Certificate.from_json(made.to_json()) == made
