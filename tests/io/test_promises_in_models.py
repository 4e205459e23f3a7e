"""Promises in model files: plain data that decide the same after loading, and nothing that a stranger could run."""

import dataclasses

import numpy as np
import pytest
import tiny
from crafted import Crafted, refusal

from certivote import CertifiedVoteClassifier, load
from certivote.promises import PROMISES, Abstention, ByClass, Costs, Precision, PredictionSets, Sensitivity, Subgroups

ALL = [
    Precision(),
    Abstention(max_error=0.4),
    Abstention(curve=3),
    Sensitivity(0.6, label="yes"),
    PredictionSets(0.6, by_class=True),
    Subgroups("0", ("0", "1"), bins=2),
    Costs({("yes", "no"): 20, ("no", "yes"): 1.5}),
]


@pytest.fixture(scope="module")
def rows():
    X, y = tiny.rows(300)
    return X, np.where(y == np.unique(y)[0], "no", "yes")


@pytest.fixture(scope="module")
def vote(rows):
    return CertifiedVoteClassifier("dis-b", tiny.forest().voters, promises=ALL, together=True, random_state=0).fit(
        *rows
    )


@pytest.fixture(scope="module")
def content(vote, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "vote.certivote"
    vote.save(path)
    return path.read_bytes()


def test_every_promise_is_among_those_that_are_stored():
    assert {type(promise) for promise in ALL} | {ByClass} == set(PROMISES.values())


@pytest.mark.parametrize("slim", [False, True])
def test_a_loaded_model_decides_the_same(vote, rows, slim, tmp_path):
    vote.save(tmp_path / "vote.certivote", slim=slim)
    again, X = load(tmp_path / "vote.certivote"), rows[0]
    assert again.promises == ALL
    assert again.together is True
    assert again.certificate_ == vote.certificate_
    for decided in (
        lambda clf: clf.answers(X, 0.4),
        lambda clf: clf.flags(X),
        lambda clf: clf.predict_sets(X),
        lambda clf: clf.predict_proba(X),
    ):
        np.testing.assert_array_equal(decided(again), decided(vote))


def test_a_loaded_model_is_refitted_with_its_promises(vote, content, rows, tmp_path):
    (tmp_path / "vote.certivote").write_bytes(content)
    again = load(tmp_path / "vote.certivote").refit(*rows)
    assert dataclasses.replace(again.certificate_, provenance=vote.certificate_.provenance) == vote.certificate_


def test_they_are_stored_as_names_and_parameters(content):
    stored = Crafted(content).model["parameters"]["promises"]
    assert stored[0] == {"promise": "precision", "parameters": {}}
    assert stored[3] == {"promise": "sensitivity", "parameters": {"at_least": 0.6, "label": "yes"}}
    assert len(stored) == len(ALL)
    assert "brought" not in str(stored)


def test_a_model_without_promises_is_refused(content, tmp_path):
    crafted = Crafted(content)
    del crafted.model["parameters"]["promises"]
    assert "has other parameters than" in refusal(tmp_path / "model.certivote", crafted.content())


@pytest.mark.parametrize(
    "stored",
    [
        {"promise": "system", "parameters": {}},
        {"promise": ["precision"], "parameters": {}},
        {"promise": "precision", "parameters": []},
        {"promise": "precision", "parameters": {"self": 1}},
        {"promise": "precision", "parameters": {}, "more": 1},
        {"promise": "precision"},
        {"promise": "by class", "parameters": {}},
        {"promise": "sensitivity", "parameters": {"at_least": 2.0, "label": "yes"}},
        {"promise": "sensitivity", "parameters": {"at_least": {"float": "nan"}, "label": None}},
        {"promise": "sensitivity", "parameters": {"at_least": 0.5, "label": {"tuple": []}}},
        {"promise": "sensitivity", "parameters": {"at_least": {"array": 0}}},
        {"promise": "sets", "parameters": {"coverage": 0.5, "by_class": 1}},
        {"promise": "sets", "parameters": {"coverage": 10**400}},
        {"promise": "abstention", "parameters": {"max_error": None, "curve": None}},
        {"promise": "abstention", "parameters": {"max_error": None, "curve": 10**9}},
        {"promise": "subgroups", "parameters": {"columns": "sex", "bins": 4}},
        {"promise": "subgroups", "parameters": {"columns": [], "bins": 4}},
        {"promise": "subgroups", "parameters": {}},
        {"promise": "costs", "parameters": {"costs": {"pairs": []}}},
        {"promise": "costs", "parameters": {"costs": [["yes", "no"]]}},
        {"promise": "costs", "parameters": {"costs": [["yes", "no", -1]]}},
        {"promise": "costs", "parameters": {"costs": [[["yes"], "no", 1]]}},
        {"brought": 0},
        "precision",
        None,
        7,
    ],
    ids=lambda stored: str(stored)[:60],
)
def test_what_is_no_promise_is_refused(content, stored, tmp_path):
    crafted = Crafted(content)
    crafted.model["parameters"]["promises"] = [stored]
    refusal(tmp_path / "hostile.certivote", crafted.content())


@pytest.mark.parametrize("value", [{"promise": "precision", "parameters": {}}, "Precision()", 3, None])
def test_promises_are_a_list(content, value, tmp_path):
    crafted = Crafted(content)
    crafted.model["parameters"]["promises"] = value
    refusal(tmp_path / "hostile.certivote", crafted.content())


def test_a_promise_is_no_other_parameter(content, tmp_path):
    crafted = Crafted(content)
    crafted.model["parameters"]["delta"] = {"promise": "precision", "parameters": {}}
    refusal(tmp_path / "hostile.certivote", crafted.content())


@pytest.mark.parametrize("name", ["sets", "sensitivity", "abstention"])
def test_a_record_with_too_many_thresholds_decides_nothing(content, rows, name, tmp_path):
    crafted = Crafted(content)
    for record in crafted.certificate["promises"]:
        if record["name"] == name:
            record["thresholds"] = [0.1] * 5
    (tmp_path / "altered.certivote").write_bytes(crafted.content())
    model = load(tmp_path / "altered.certivote")
    decide = {"sets": model.predict_sets, "sensitivity": model.flags, "abstention": model.answers}[name]
    with pytest.raises(ValueError, match="damaged"):
        decide(rows[0])
