"""Certificates of models that were given: honest ones pass against models and answers, forged ones are caught."""

import dataclasses
import json
from functools import cache

import numpy as np
import pandas as pd
import pytest
from altering import with_part
from sklearn.tree import DecisionTreeClassifier

pytest.importorskip("flint", reason="proofs need python-flint: install certivote[verify]")

from kinds import case, given_answers, patients, rows

from certivote import certify, certify_predictions, verify
from certivote.certificate import recorded_parameters
from certivote.theory.bounds import holdout

UNUSED = "rows that are new to the model"


def failures(checks):
    return {check.what for check in checks if not check.passed}


@cache
def trained():
    """Labels that are numbers, and two trees that know three of them."""
    X, y = rows(3)
    codes = np.unique(y, return_inverse=True)[1]
    return X, codes, [DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X + 0.3, codes) for depth in (1, 2)]


# --- What is honest.


def test_a_model_may_be_a_function_and_labels_are_matched_by_value():
    X, y, (_, tree) = trained()
    certificate = certify(tree, X, y)
    for model in (tree, [tree], tree.predict, lambda rows: tree.predict(rows).astype(float)):
        assert failures(verify(certificate, model, X, y)) == set()
    assert "answers" in failures(verify(certificate, tree, X, y.astype(float))), "0.0 is not how the rows wrote it"
    assert "answers" in failures(verify(certificate, tree, X, np.where(y == 0, 9, y)))


@pytest.mark.parametrize(
    "shape", [dict, pd.DataFrame, lambda answers: list(answers.values()), lambda a: np.stack(list(a.values()), axis=1)]
)
def test_answers_may_come_in_any_shape(shape):
    _, y = rows()
    certificate = certify_predictions(y, given_answers())
    checks = verify(certificate, y=y, predictions=shape(given_answers()))
    assert failures(checks) == set()
    assert {"certification rows", "voters", "candidate a, errors", "errors"} <= {check.what for check in checks}


def test_answers_by_name_may_come_in_any_order():
    _, y = rows()
    certificate = certify_predictions(y, given_answers())
    turned = dict(reversed(given_answers().items()))
    assert failures(verify(certificate, y=y, predictions=turned)) == set()
    assert "voters" in failures(verify(certificate, y=y, predictions=list(turned.values())))
    other = {f"other {name}": answers for name, answers in turned.items()}
    assert {"models", "answers"} <= failures(verify(certificate, y=y, predictions=other))


def test_answers_without_rows_leave_the_rows_on_trust():
    X, y, (_, tree) = trained()
    certificate = certify(tree, X, y)
    checks = verify(certificate, y=y, predictions=tree.predict(X))
    assert failures(checks) == set()
    assert "certification rows" not in {check.what for check in checks}
    assert "parts[0].certification_digest" in {field for check in checks for field in check.fields}
    checks = verify(certificate, tree, X, y, predictions=tree.predict(X))
    assert failures(checks) == set()
    assert {"certification rows", "answers of the models"} <= {check.what for check in checks}
    assert "parts[0].certification_digest" not in {field for check in checks for field in check.fields}


def test_what_nobody_can_show_is_the_first_thing_on_trust():
    X, y, (_, tree) = trained()
    certificate = certify(tree, X, y)
    for given in ((), (tree,), (tree, X, y), (tree, X, y, True)):
        on_trust = [check for check in verify(certificate, *given) if check.on_trust]
        on_trust = [check for check in on_trust if check.what != "refit"]
        assert on_trust[0].what == UNUSED
        assert "no part in training the model" in on_trust[0].detail
    own = case("dis-b")
    assert UNUSED not in {check.what for check in own.audit(own.certificate, "refit")}


def test_a_vote_of_given_answers_is_counted_again():
    given = case("the vote of given answers")
    assert given.certificate.certified == "the drawn vote"
    other = {**given.models, "a": given.y}
    found = failures(verify(given.certificate, y=given.y, predictions=other, **given.units))
    assert {"certification rows", "voters", "candidate a, errors"} <= found


def test_remarks_that_come_from_looking_at_the_rows_are_taken_on_trust():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(60, 3)), 5, axis=0) + 0.01 * rng.normal(size=(300, 3))
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(patient=np.repeat(np.arange(60), 5))
    y, shuffled = (X[:, 0] > 0).astype(int), rng.permutation(300)
    in_rows = certify_predictions(y, y, table=np.cumsum(rng.normal(size=(300, 3)), axis=0))
    assert [finding.kind for finding in in_rows.findings] == ["neighbours alike"]
    in_time = certify_predictions(y, y, table=table, order=shuffled)
    given = certify(lambda rows: (rows["a"] > 0).astype(int), table.iloc[shuffled], y[shuffled])
    assert [(finding.kind, finding.columns) for finding in given.findings] == [("repeated values", ("patient",))]
    for certificate in (in_rows, in_time, given):
        checks = verify(certificate)
        assert failures(checks) == set()
        assert "findings" in {field for check in checks for field in check.fields}


def test_what_must_come_together_is_asked_for():
    X, y, (_, tree) = trained()
    certificate = certify(tree, X, y)
    with pytest.raises(ValueError, match="their answers are needed"):
        verify(certificate, y=y)
    with pytest.raises(ValueError, match="come with y"):
        verify(certificate, predictions=y)
    with pytest.raises(ValueError, match="training is compared with the rows X"):
        verify(certificate, y=y, predictions=y, training=X)
    assert "rows" in failures(verify(certificate, tree, X[:50], y[:50]))
    assert "answers" in failures(verify(certificate, y=y, predictions=y[:50]))
    assert "answers" in failures(verify(certificate, y=y, predictions=[None, *y[1:].tolist()]))


# --- What is forged.


def test_another_model_is_caught():
    X, y, (stump, tree) = trained()
    certificate = certify(tree, X, y)
    assert {"voters", "errors", "prior vote counted"} <= failures(verify(certificate, stump, X, y))
    assert "models" in failures(verify(certificate, [tree, stump], X, y))
    changed = X.copy()
    changed[0, 0] += 1e-3
    assert "certification rows" in failures(verify(certificate, lambda _: tree.predict(X), changed, y))


def as_a_vote(certificate):
    """A given model's certificate as one of a fit without a split."""
    fit = case("dis-r without a split").certificate
    own = dict(fit.provenance.parameters) | {"method": '"holdout"', "delta": "0.05", "prior": '"auto"'}
    origin = dataclasses.replace(certificate.provenance, parameters=tuple(own.items()))
    return dataclasses.replace(certificate, provenance=origin, subject="vote")


def test_a_given_model_is_not_passed_off_as_a_vote_nor_a_vote_as_a_given_model():
    X, y, (_, tree) = trained()
    given = certify(tree, X, y)
    assert {"parameters", "digests"} <= failures(verify(dataclasses.replace(given, subject="vote")))
    assert {"digests", "kind of hyper-prior"} <= failures(verify(as_a_vote(given)))
    vote = case("holdout").certificate
    assert "parameters" in failures(verify(dataclasses.replace(vote, subject="models")))
    given = {"models": ["tree"], "delta": 0.05, "promises": [], "together": False, "margin": None}
    parameters = recorded_parameters(given)
    origin = dataclasses.replace(vote.provenance, parameters=parameters)
    forged = dataclasses.replace(vote, subject="models", provenance=origin)
    assert {"parameter split", "rows of the parts"} <= failures(verify(forged))


def test_models_and_answers_do_not_fit_the_certificate_of_a_vote():
    vote, (_, y, (_, tree)) = case("holdout"), trained()
    assert "model" in failures(verify(vote.certificate, tree))
    assert "predictions" in failures(verify(vote.certificate, predictions=y))
    assert "model" in failures(verify(vote.certificate, tree, vote.X, vote.y))


def test_rows_that_a_vote_was_made_from_are_caught():
    """Its own certificate pays for having learned from them; another, by their errors alone, would not."""
    own = case("dis-b")
    answers = own.model.predict(own.X)
    certificate = certify(lambda _: answers, own.X, own.y)
    assert failures(verify(certificate, lambda _: answers, own.X, own.y)) == set()
    assert failures(verify(certificate, own.model, own.X, own.y)) == {"rows that the model was made from"}


@cache
def several():
    X, y = rows()
    trees = {f"tree {depth}": DecisionTreeClassifier(max_depth=depth, random_state=0) for depth in (1, 2, 3)}
    X = X + 0.9 * np.random.default_rng(3).normal(size=X.shape)
    return certify({name: tree.fit(X, y) for name, tree in trees.items()}, *rows())


def with_bound(candidate, bound):
    return dataclasses.replace(candidate, statement=dataclasses.replace(candidate.statement, bound=bound))


def test_a_chosen_candidate_that_is_not_the_smallest_is_caught():
    certificate, caught = several(), {"chosen candidate", "weights of the candidates"}
    worst = max(certificate.candidates, key=lambda candidate: candidate.bound)
    chosen = [dataclasses.replace(one, chosen=one.name == worst.name) for one in certificate.candidates]
    forged = dataclasses.replace(certificate, candidates=tuple(chosen))
    assert failures(verify(forged)) == caught
    both = [dataclasses.replace(one, chosen=True) for one in certificate.candidates]
    assert failures(verify(dataclasses.replace(certificate, candidates=tuple(both)))) == caught
    none = [dataclasses.replace(one, chosen=False) for one in certificate.candidates]
    assert failures(verify(dataclasses.replace(certificate, candidates=tuple(none)))) == caught


def test_weights_that_are_not_those_of_the_vote_are_caught():
    truth = np.random.default_rng(0).integers(0, 2, 2000)
    said = {str(k): np.where(np.random.default_rng(k + 1).random(2000) < 0.2, 1 - truth, truth) for k in range(5)}
    for certificate in (several(), certify_predictions(truth, said)):
        heavier = dataclasses.replace(certificate.candidates[0], weight=certificate.candidates[0].weight + 2.0**-40)
        forged = dataclasses.replace(certificate, candidates=(heavier, *certificate.candidates[1:]))
        assert failures(verify(forged)) == {"weights of the candidates"}
    turned = [one.weight for one in certificate.candidates][::-1]
    forged = [dataclasses.replace(one, weight=own) for one, own in zip(certificate.candidates, turned, strict=True)]
    forged = dataclasses.replace(certificate, candidates=tuple(forged))
    assert failures(verify(certificate, y=truth, predictions=said)) == set()
    assert "weights of the candidates" in failures(verify(forged))


def test_a_delta_that_is_not_divided_is_caught():
    certificate = several()
    n = certificate.deployed_part.n
    whole = [with_bound(one, holdout(one.errors, n, 0.05)) for one in certificate.candidates]
    forged = dataclasses.replace(certificate, candidates=tuple(whole))
    assert {f"candidate {one.name}" for one in whole} <= failures(verify(forged))
    assert "part, delta" in failures(verify(with_part(certificate, delta=0.05)))


def test_candidates_that_were_removed_are_caught_as_long_as_the_models_are_named():
    certificate = several()
    assert {"candidates", "part, delta"} <= failures(verify(dataclasses.replace(certificate, candidates=())))
    _, y = rows()
    alone = certify_predictions(y, given_answers()["a"])
    assert failures(verify(alone)) == set(), "that others were tried, nothing shows"
    assert "models" in failures(verify(alone, y=y, predictions=given_answers()))
    fewer = dataclasses.replace(certificate, candidates=certificate.candidates[:2])
    assert {"candidates", "part, delta"} <= failures(verify(fewer))
    names = dict(certificate.provenance.parameters) | {"models": json.dumps(["tree 1", "tree 2"])}
    origin = dataclasses.replace(certificate.provenance, parameters=tuple(names.items()))
    assert "part, delta" in failures(verify(dataclasses.replace(fewer, provenance=origin)))


def test_hidden_training_rows_are_caught_by_the_training_rows():
    X, y, (_, tree) = trained()
    certificate = certify(tree, X, y, training=X[70:])
    assert certificate.deployed_part.duplicates_of_training_rows == 20
    assert failures(verify(certificate, tree, X, y, training=X[70:])) == set()
    hidden = with_part(certificate, duplicates_of_training_rows=0)
    assert failures(verify(hidden, tree, X, y, training=X[70:])) == {"training rows among these"}
    gone = with_part(hidden, training_rows=0, training_digest="")
    assert failures(verify(gone, tree, X, y, training=X[70:])) == {"training rows", "training rows among these"}
    for forged in (hidden, gone):
        checks = verify(forged, tree, X, y)
        assert failures(checks) == set()
        assert "parts[0].duplicates_of_training_rows" in {field for check in checks for field in check.fields}


def test_classes_that_nobody_knows_are_caught_with_the_models():
    _, y = rows()
    certificate = certify_predictions(y, y)
    more = certify_predictions(np.array([*y, "perhaps"]), np.array([*y, "perhaps"]))
    assert more.classes == ("no", "perhaps", "yes")
    forged = dataclasses.replace(certificate, classes=more.classes)
    assert {"by class"} <= failures(verify(forged))


def test_groups_of_given_models_are_counted_by_the_auditor():
    given = case("given models")
    moved = patients().to_numpy().copy()
    moved[0] = moved[1]
    assert failures(verify(given.certificate, given.models, given.X, given.y, groups=moved)) >= {"losses"}


def test_rows_in_a_list_are_those_of_a_frame():
    """Numbers that stand beside text are no text."""
    rows, y, groups = [[k, "ab"[k % 2]] for k in range(60)], ["ab"[k % 2] for k in range(60)], np.arange(60) // 3
    frame = pd.DataFrame(rows, columns=["k", "says"])

    def says(X):
        return X["says"].tolist() if hasattr(X, "columns") else [row[1] for row in X]

    certificate = certify({"says": says}, rows, y, groups=groups)
    given = {"model": {"says": says}, "y": y, "groups": groups}
    assert [check.what for check in verify(certificate, X=rows, **given) if not check.passed] == []
    # The names of the columns are all that differs.
    failed = [check.what for check in verify(certificate, X=frame, **given) if not check.passed]
    assert failed == ["columns of the rows"]
