"""Promises that all fit together in the record, and are not true: what catches each."""

import dataclasses
import json
from functools import cache

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("flint", reason="proofs need python-flint: install certivote[verify]")

from auditor import assert_close_above, recomputed_statements
from kinds import case, promised
from mpmath import mp, mpf

from certivote import certify, certify_predictions, verify
from certivote.certificate import Fixed
from certivote.promises import Abstention, Ledger, Precision, PredictionSets, Sensitivity, Subgroups
from certivote.promises import _abstention as abstention
from certivote.promises import _sensitivity as sensitivity
from certivote.promises import _sets as sets


def failures(checks):
    return {check.what for check in checks if not check.passed}


def told(checks):
    return {check.what: check.detail for check in checks}


N = 600
TARGET = 0.15
PAIRS = [f"p{number // 2}" for number in range(N)]


@cache
def answers():
    """How sure a model is of its answers, the true classes and the answers: the surer, the more of them are right."""
    rng = np.random.default_rng(1)
    score, y = rng.random(N).round(3), rng.integers(2, size=N)
    said = np.where(rng.random(N) < 0.5 * (1.0 - score), 1 - y, y)
    return score, np.array(["no", "yes"])[y], np.array(["no", "yes"])[said]


@cache
def table():
    return np.random.default_rng(2).normal(size=(N, 2)).round(2)


class Sure:
    """The model of these answers, or one that is sure of others of them."""

    def __init__(self, step=1):
        self.classes_, self.step = np.array(["no", "yes"]), step

    def predict(self, X):
        return answers()[2]

    def predict_proba(self, X):
        yes = 0.5 + 0.5 * answers()[0][:: self.step] * np.where(self.predict(X) == "yes", 1.0, -1.0)
        return np.stack([1.0 - yes, yes], axis=1)


@cache
def answered(*asked):
    score, y, said = answers()
    return certify_predictions(y, said, scores=score, table=table(), promises=list(asked))


def audited(certificate, **given):
    return verify(certificate, y=answers()[1], predictions=answers()[2], **given)


# --- What counting again catches.


def test_other_scores_give_other_counts():
    certificate = answered(Abstention(max_error=TARGET), Abstention(curve=3))
    assert failures(audited(certificate, scores=answers()[0])) == set()
    assert failures(audited(certificate, scores=answers()[0][::-1])) == {
        "digest of the data",
        "abstention (1), counted",
        "abstention (2), counted",
    }
    assert failures(audited(certificate, scores=answers()[0][1:])) == {"scores"}
    assert failures(audited(certificate, scores=["sure"] * N)) == {"scores"}


def test_another_table_gives_other_counts():
    certificate = answered(Subgroups("0", "1"))
    assert failures(audited(certificate, table=table())) == set()
    caught = {"digest of the data", "subgroups, counted"}
    assert failures(audited(certificate, table=table()[::-1])) == caught
    assert failures(audited(certificate, table=table()[:, :1])) == caught, "there is no column 1"
    assert failures(audited(certificate, table=table()[1:])) == {"table"}


@pytest.mark.parametrize("groups", [None, PAIRS], ids=["rows", "entities"])
def test_a_model_that_is_sure_otherwise_gives_other_counts(groups):
    asked = [
        PredictionSets(0.9),
        PredictionSets(0.85, by_class=True),
        Sensitivity(0.8, "yes"),
        Abstention(max_error=TARGET),
    ]
    X, y = table(), answers()[1]
    certificate = certify(Sure(), X, y, groups=groups, promises=asked)
    assert failures(verify(certificate, Sure(), X, y, groups=groups)) == set()
    caught = failures(verify(certificate, Sure(-1), X, y, groups=groups))
    assert caught == {f"{name}, counted" for name in ("sets (1)", "sets (2)", "sensitivity", "abstention")}


def test_rows_that_the_seed_does_not_set_aside_are_caught():
    certificate = answered(Abstention(max_error=TARGET))
    other = dataclasses.replace(certificate, provenance=dataclasses.replace(certificate.provenance, entropy=(7,) * 4))
    assert failures(audited(other, scores=answers()[0])) == {"abstention, counted"}


@pytest.mark.parametrize(("room", "asked"), [(sensitivity, Sensitivity(0.8, "yes")), (sets, PredictionSets(0.9))])
@pytest.mark.parametrize("groups", [None, PAIRS], ids=["rows", "entities"])
def test_a_threshold_that_the_rule_does_not_choose_is_caught(room, asked, groups, monkeypatch):
    """A smaller one misses fewer; but then rows of the other class may have chosen it."""
    honest = room.largest_threshold

    def shy(test, *arguments):
        found = honest(test, *arguments)
        steps = ((np.arange(1, 257) - 1 / 3) / 256) ** 2 if groups else Sure().predict_proba(table())[y == "yes", 1]
        return test(float(np.sort(steps[steps < found.threshold])[-3]))

    X, y = table(), answers()[1]
    with monkeypatch.context() as patch:
        patch.setattr(room, "largest_threshold", shy)
        certificate = certify(Sure(), X, y, groups=groups, promises=[asked])
    assert failures(verify(certificate)) == set()
    (what,) = failures(verify(certificate, Sure(), X, y, groups=groups))
    assert what.startswith(f"{asked.name}, threshold")


# --- What the record alone catches.


def test_statements_that_do_not_share_delta_are_caught(monkeypatch):
    made = Ledger._statement
    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "_statement", lambda self, own, theorem, of, *rest: made(self, own, theorem, 1, *rest))
        certificate = certify_predictions(*answers()[1:], promises=[Precision()])
    assert failures(verify(certificate)) == {"by class, delta", "precision, delta"}


def test_a_sequence_that_goes_on_after_a_failure_is_caught(monkeypatch):
    def stubborn(tests, target):
        made = list(tests)
        passed = [number for number, entry in enumerate(made) if entry.bound <= target]
        return made, passed[-1] if passed else None

    with monkeypatch.context() as patch:
        patch.setattr(abstention, "until_failure", stubborn)
        score, y, said = answers()
        certificate = certify_predictions(y, said, scores=score, promises=[Abstention(max_error=TARGET)])
    bounds = [entry.bound for entry in certificate.promises[1].statements[:-1]]
    assert max(bounds) > TARGET
    assert "abstention" in failures(verify(certificate))


def test_a_sequence_that_stops_too_early_is_caught():
    certificate = answered(Abstention(max_error=TARGET))
    own = certificate.promises[1]
    assert own.chosen
    earlier = dataclasses.replace(
        own,
        statements=own.statements[: own.chosen] + own.statements[-1:],
        chosen=own.chosen - 1,
        thresholds=(own.statements[own.chosen - 1].threshold,),
    )
    assert "abstention" in failures(verify(_with(certificate, earlier)))


def _with(certificate, promise, number=1):
    promises = (*certificate.promises[:number], promise, *certificate.promises[number + 1 :])
    return dataclasses.replace(certificate, promises=promises)


PLACES = {promise.name: number for number, promise in enumerate(promised(), start=1)}
"""Where the certificate with all promises has each of them."""
CHANGES = {
    "a smaller target": ("parameter promises", lambda own: {"parameters": (("max_error", "0.3"), ("curve", "null"))}),
    "the bound in place of the target": (
        "abstention, decision",
        lambda own: {"value": own.statements[own.chosen].bound},
    ),
    "another threshold for new cases": ("abstention, decision", lambda own: {"thresholds": (0.0123,)}),
    "none for new cases": ("abstention, decision", lambda own: {"thresholds": ()}),
    "another one in force": ("abstention, decision", lambda own: {"chosen": own.chosen + 1}),
    "all of delta": ("abstention, delta", lambda own: {"delta": 2 * own.delta}),
    "rows that are set aside and counted": ("abstention, guide", lambda own: {"set_aside": 0, "guide_rows": 0}),
    "a promise that nobody knows": ("promise 2", lambda own: {"name": "luck"}),
    "no statements": ("abstention", lambda own: {"statements": ()}),
    "no thresholds": ("abstention, fixed", lambda own: {"fixed": ()}),
    "parameters of another": ("abstention, parameters", lambda own: {"parameters": (("at_least", "0.9"),)}),
    "parameters that are no JSON": (
        "abstention, parameters",
        lambda own: {"parameters": (("max_error", "0.15"), ("curve", "{"))},
    ),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_a_promise_that_contradicts_itself_is_caught(kind):
    certificate = answered(Abstention(max_error=TARGET))
    name, change = CHANGES[kind]
    forged = _with(certificate, dataclasses.replace(certificate.promises[1], **change(certificate.promises[1])))
    assert name in failures(audited(forged, scores=answers()[0]))


STRANGE = {
    "costs": [[[["no", "yes", 10**400]]], [[["no", 10**400, 1.0]]], [[["no", "yes"]]], ["none"], [[["a", "b", -0.5]]]],
    "subgroups": [[[], 4], [[["a"]], 4], ["a", 4], [["a", "a"], 4], [["a"], 10**400], [["a"], True]],
    "sensitivity": [[10**400, None], [0.9, ["yes"]], ["0.9", None]],
    "sets": [[1.5, False], [0.9, 0]],
    "abstention": [[None, None], [0.1, 3], [None, 0], [None, True]],
}


@pytest.mark.parametrize("name", STRANGE)
def test_parameters_that_nobody_can_ask_for_end_in_no_traceback(name):
    certificate = answered(Precision())
    names = dict(case("dis-b with promises").certificate.promises[PLACES[name]].parameters)
    for values in STRANGE[name]:
        parameters = tuple((key, json.dumps(value)) for key, value in zip(names, values, strict=True))
        forged = _with(certificate, dataclasses.replace(certificate.promises[1], name=name, parameters=parameters))
        assert f"{name}, parameters" in failures(audited(forged))


def test_more_combinations_than_there_is_room_for_are_not_listed():
    certificate = answered(Precision())
    columns = [f"c{number}" for number in range(40)]
    fixed = tuple(Fixed(name, (), tuple(map(str, range(50)))) for name in columns)
    parameters = (("columns", json.dumps([columns])), ("bins", "4"))
    many = dataclasses.replace(certificate.promises[1], name="subgroups", parameters=parameters, fixed=fixed)
    caught = failures(audited(_with(certificate, many), table=table()))
    assert {"subgroups, fixed", "subgroups, counted"} <= caught


def test_promises_that_are_left_out_or_made_up_are_caught():
    certificate = answered(Precision())
    assert "parameter promises" in failures(verify(dataclasses.replace(certificate, promises=certificate.promises[:1])))
    twice = (*certificate.promises, certificate.promises[1])
    assert "parameter promises" in failures(verify(dataclasses.replace(certificate, promises=twice)))
    turned = certificate.promises[::-1]
    assert "promises" in failures(verify(dataclasses.replace(certificate, promises=turned)))


def test_promises_that_hold_together_must_share_delta():
    certificate = answered(Precision())
    caught = failures(verify(dataclasses.replace(certificate, together=True)))
    assert {"part, delta", "by class, delta", "precision, delta", "parameter together"} <= caught
    certificate = case("dis-b with promises").certificate
    assert certificate.together
    caught = failures(verify(dataclasses.replace(certificate, together=False)))
    assert {"part, delta", "precision, delta", "parameter together"} <= caught


# --- What is told, and what is taken on trust.


def test_what_is_needed_and_not_given_is_taken_on_trust():
    certificate = answered(Abstention(max_error=TARGET), Subgroups("0"), Precision())
    checks = audited(certificate)
    assert failures(checks) == set()
    lines = {check.what: check for check in checks}
    for number, name, needs in ((1, "abstention", "scores="), (2, "subgroups", "table=")):
        line = lines[f"{name}, counted"]
        assert line.on_trust
        assert needs in line.detail
        assert f"promises[{number}].statements[].errors" in line.fields
    assert not lines["precision, counted"].on_trust
    fixed = {field for check in checks if check.on_trust for field in check.fields}
    assert "promises[1].fixed" in fixed, "what the rows set aside have fixed, only certifying again shows"


def test_the_ledger_says_what_each_statement_has_and_what_that_costs():
    lines = told(verify(case("dis-b with promises").certificate))
    assert lines["precision, delta"].startswith("0.00125 of 0.05, 2 statements with 0.000625 each: as if ")
    assert lines["precision, delta"].endswith(" % of the rows were missing")
    alone = told(verify(answered(Precision())))["precision, delta"]
    assert alone.startswith("0.05 of 0.05, 2 statements with 0.025 each: as if 19 % of the rows were missing")


def test_scores_and_tables_are_of_given_models():
    given = case("dis-b")
    scores, table = answers()[0][:90], pd.DataFrame(given.X)
    for extra, told in (
        ({"scores": scores}, "belong to the certificate of a given model"),
        ({"table": table}, "refit=True"),
    ):
        with pytest.raises(ValueError, match=told):
            verify(given.certificate, given.model, given.X, given.y, **extra)


def test_a_new_fit_shows_what_training_rows_have_fixed():
    given = case("dis-b with promises")
    own = given.certificate.promises[2]
    assert own.fixed[1].what == "rows needed"
    fixed = (own.fixed[0], dataclasses.replace(own.fixed[1], numbers=(7.0,)))
    forged = _with(given.certificate, dataclasses.replace(own, fixed=fixed), 2)
    assert failures(given.audit(forged, "data")) == set()
    assert failures(given.audit(forged, "refit")) == {"refit, promises"}


@pytest.mark.parametrize("name", ["dis-b with promises", "holdout with promises that cannot be kept"])
def test_a_stranger_can_recompute_every_statement(name):
    record = json.loads(case(name).certificate.to_json())
    with mp.workdps(35):
        for promise in record["promises"]:
            entries = [entry for entry in promise["statements"] if entry["kind"] != "cost"]
            parts = [mpf(promise["delta"]) / mpf(entry["delta"]) for entry in entries]
            for entry, true in zip(entries, recomputed_statements(record, entries, parts), strict=True):
                assert_close_above(entry["bound"], true)


def test_every_promise_is_tried():
    from certivote.promises import PROMISES

    assert {promise.name for promise in promised()} | {"by class"} == set(PROMISES)
