"""Certificates of models that are fitted already, or of their answers."""

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats
from sklearn.base import BaseEstimator
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from certivote import Certificate, CertifiedVoteClassifier, certify, certify_predictions
from certivote.pipeline import _given
from certivote.voters import Stumps

X, Y = load_breast_cancer(return_X_y=True)
ORDER = np.random.default_rng(0).permutation(len(Y))
TRAIN, NEW = ORDER[:300], ORDER[300:]
TREES = [DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X[TRAIN], Y[TRAIN]) for depth in (2, 4, 6)]
TREE = TREES[0]
WRONG = int((TREE.predict(X[NEW]) != Y[NEW]).sum())
LIMIT = stats.beta.isf(0.05, WRONG + 1, len(NEW) - WRONG)


def test_one_model_has_the_bound_of_clopper_and_pearson_at_delta():
    certificate = certify(TREE, X[NEW], Y[NEW])
    part = certificate.deployed_part
    assert (part.errors, part.n, part.delta, part.penalty) == (WRONG, len(NEW), 0.05, 0.0)
    assert LIMIT <= certificate.bound == pytest.approx(LIMIT, rel=1e-8)
    assert certificate.certified == "the given model"
    assert certificate.candidates == ()
    assert certificate.provenance.n_rows == len(NEW)
    assert Certificate.from_json(certificate.to_json()) == certificate
    assert "majority vote" not in str(certificate)


def test_what_was_not_checked_is_the_first_assumption():
    first = certify(TREE, X[NEW], Y[NEW]).assumptions[0]
    assert first.startswith("Not checked")
    assert "no part in training the model, in tuning it" in first
    assert "threshold" in first


def test_answers_alone_give_the_same_numbers():
    by_model, by_answers = certify(TREE, X[NEW], Y[NEW]), certify_predictions(Y[NEW], TREE.predict(X[NEW]))
    assert by_answers.bound == by_model.bound
    assert by_answers.by_class == by_model.by_class
    assert by_answers.deployed_part.votes_digest == by_model.deployed_part.votes_digest


def test_bounds_by_class():
    certificate = certify(TREE, X[NEW], Y[NEW], delta=0.1)
    for entry in certificate.by_class:
        own = Y[NEW] == int(entry.label)
        errors = int((TREE.predict(X[NEW])[own] != Y[NEW][own]).sum())
        assert entry.bound == pytest.approx(stats.beta.isf(0.05, errors + 1, own.sum() - errors), rel=1e-8)


# Labels


@pytest.mark.parametrize(
    ("truth", "answers"),
    [
        ([0, 1], [False, True]),
        ([0, 1], [0.0, 1.0]),
        ([False, True], [0, 1]),
        (["no", "yes"], np.array(["no", "yes"], dtype=object)),
        (pd.Series(["no", "yes"], dtype="category"), ["no", "yes"]),
        (pd.array([0, 1], dtype="Int64"), [0, 1]),
    ],
)
def test_labels_are_matched_by_value(truth, answers):
    certificate = certify_predictions(np.repeat(np.asarray(truth), 50), np.repeat(np.asarray(answers), 50))
    assert certificate.deployed_part.errors == 0
    assert len(certificate.classes) == 2


@pytest.mark.parametrize(
    "column",
    [
        pd.array([0, 1] * 20, dtype="Int64"),
        pd.Series([0, 1] * 20, dtype=object),
        pd.Series([False, True] * 20, dtype="boolean"),
        np.array([0, 1] * 20, dtype=np.uint8),
    ],
)
def test_labels_are_read_the_same_whatever_holds_them(column):
    certificate = certify_predictions(column, [0, 1] * 20)
    assert certificate.deployed_part.errors == 0
    assert certificate.classes in (("0", "1"), ("False", "True"))
    missing = pd.Series(["a", "b", pd.NA, "a"], dtype="string")
    with pytest.raises(ValueError, match="no label in 1 rows, the first of them row 2"):
        certify_predictions(["a", "b", "a", "a"], missing)


def test_names_of_models_differ():
    with pytest.raises(ValueError, match="Names of models must differ; '1' occurs more than once"):
        certify_predictions([0, 1] * 10, {1: [0, 1] * 10, "1": [1, 1] * 10})
    with pytest.raises(ValueError, match="Names of models must differ; 'a' occurs more than once"):
        certify_predictions([0, 1] * 10, pd.DataFrame([[0, 1]] * 20, columns=["a", "a"]))
    with pytest.raises(ValueError, match="the answers of several models, give a dictionary"):
        certify_predictions([0, 1] * 10, np.zeros((20, 2), dtype=int))


def test_a_label_that_the_rows_have_not_is_an_error():
    certificate = certify_predictions(["a", "b"] * 30, ["a", "b"] * 29 + ["a", "other"])
    assert certificate.deployed_part.errors == 1
    assert certificate.classes == ("a", "b", "other")


def test_classes_that_a_model_knows_are_counted_though_no_row_has_them():
    iris, kinds = load_iris(return_X_y=True)
    model = DecisionTreeClassifier(random_state=0).fit(iris, kinds)
    assert certify(model, iris[:100:2], kinds[:100:2]).classes == ("0", "1", "2")


@pytest.mark.parametrize(
    ("truth", "answers", "message"),
    [
        (["no", "yes"] * 5, [0, 1] * 5, "never gives a label that the rows have: it says 0, 1, and the rows have 'no'"),
        (["0", "1"] * 5, [0, 1] * 5, r"They are equal as text: convert one of the two"),
        (
            [0, 1] * 5,
            np.linspace(0, 1, 10),
            r"must give labels; got numbers such as 0.1[1]*. If these are probabilities",
        ),
        ([0, 1] * 5, np.full((10, 2), 0.5), r"one label for each row; got an array of shape \(10, 2\)"),
        ([0, 1] * 5, [0, 1] * 4, "one label for each of the 10 rows; got 8"),
        ([0, 1] * 5, [0, None] * 5, "has no label in 5 rows, the first of them row 1"),
        ([0, np.nan] * 5, [0, 1] * 5, "y_true has no label in 5 rows, the first of them row 1"),
        (["1", "2"] * 5, ["1", 2] * 5, "The labels '2' and 2 differ and are written the same"),
        ([1] * 10, [1] * 10, "All rows and all answers have the one label 1"),
        ([], [], "y_true is empty"),
        (np.linspace(0, 1, 10), [0, 1] * 5, "y_true must give labels"),
    ],
)
def test_labels_that_cannot_be_are_refused_in_one_sentence(truth, answers, message):
    with pytest.raises(ValueError, match=message):
        certify_predictions(truth, answers)


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.1, "small"])
def test_delta_is_checked(delta):
    with pytest.raises(ValueError, match="'delta' parameter of certify must be"):
        certify_predictions([0, 1] * 10, [0, 1] * 10, delta=delta)


# Models of all kinds


class Scores(BaseEstimator):
    """As neural networks predict: probabilities of the classes."""

    def predict(self, X):
        return TREE.predict_proba(X)


def test_models_that_give_scores_need_a_function():
    with pytest.raises(ValueError, match="give a function that makes labels of them"):
        certify(Scores(), X[NEW], Y[NEW])
    certificate = certify(lambda rows: Scores().predict(rows).argmax(axis=1), X[NEW], Y[NEW])
    assert certificate.deployed_part.errors == WRONG


def test_answers_in_a_column_are_answers():
    """CatBoost has them so."""
    certificate = certify(lambda rows: TREE.predict(rows)[:, None], X[NEW], Y[NEW])
    assert certificate.deployed_part.errors == WRONG


def test_pipelines_on_frames_and_text():
    frame = pd.DataFrame({"colour": ["red", "blue"] * 40, "x": np.arange(80.0)})
    y = np.where(frame["colour"] == "red", "stop", "go")
    encoder = make_column_transformer((OneHotEncoder(), ["colour"]), remainder="drop")
    model = make_pipeline(encoder, LogisticRegression()).fit(frame[:40], y[:40])
    certificate = certify(model, frame[40:], pd.Series(y[40:], name="action"))
    assert certificate.deployed_part.errors == 0
    assert certificate.provenance.columns == ("colour", "x")
    assert certificate.provenance.target == "action"
    words = ["good book", "bad film"] * 30
    model = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(words[:20], [1, 0] * 10)
    assert certify(model, words[20:], [1, 0] * 20).deployed_part.errors == 0
    assert certify(model, pd.Series(words[20:]), [1, 0] * 20).deployed_part.errors == 0


def test_lightgbm_with_labels_of_text():
    lightgbm = pytest.importorskip("lightgbm")
    labels = np.where(Y == 1, "benign", "malignant")
    model = lightgbm.LGBMClassifier(n_estimators=5, verbose=-1).fit(X[TRAIN], labels[TRAIN])
    certificate = certify(model, X[NEW], labels[NEW])
    assert certificate.deployed_part.errors == int((model.predict(X[NEW]) != labels[NEW]).sum())
    with pytest.raises(ValueError, match="LGBMClassifier never gives a label that the rows have"):
        certify(model, X[NEW], Y[NEW])


@pytest.mark.parametrize("what", ["a name", 3, None, DecisionTreeClassifier, []])
def test_what_is_no_model_is_refused(what):
    with pytest.raises((TypeError, ValueError), match="model"):
        certify(what, X[NEW], Y[NEW])


# Models of certivote


@pytest.fixture(scope="module")
def vote():
    return CertifiedVoteClassifier("dis-b", Stumps(n_thresholds=3), random_state=0).fit(X[TRAIN], Y[TRAIN])


def test_a_vote_is_certified_on_new_rows(vote):
    certificate = certify(vote, X[NEW], Y[NEW])
    assert certificate.deployed_part.errors == int((vote.predict(X[NEW]) != Y[NEW]).sum())
    assert certificate.bound < vote.certificate_.bound


def test_rows_that_it_was_made_from_are_refused(vote):
    for labels in (Y, Y.astype(float), Y.astype(bool)):
        with pytest.raises(ValueError, match=r"rows that CertifiedVoteClassifier was made from: .* 150 trained its"):
            certify(vote, X[TRAIN], labels[TRAIN])
    with pytest.raises(ValueError, match="151 trained its voters"):
        certify(vote, np.vstack([X[TRAIN], X[TRAIN][vote.part_.train[:1]]]), [*Y[TRAIN].tolist(), 2])


def test_a_vote_that_is_drawn_anew_is_refused():
    vote = CertifiedVoteClassifier("smv-exact", Stumps(n_thresholds=1), random_state=0).fit(X[TRAIN], Y[TRAIN])
    with pytest.raises(ValueError, match="draws a new vote for every case"):
        certify(vote, X[NEW], Y[NEW])


# Training rows


def test_rows_that_occur_in_training_are_counted():
    certificate = certify(TREE, X[NEW], Y[NEW], training=X[TRAIN])
    part = certificate.deployed_part
    assert (part.training_rows, part.duplicates_of_training_rows) == (300, 0)
    some = np.concatenate([NEW, TRAIN[:7]])
    assert certify(TREE, X[some], Y[some], training=X[TRAIN]).deployed_part.duplicates_of_training_rows == 7
    assert certify(TREE, X[NEW], Y[NEW]).deployed_part.training_rows == 0


def again(shown, rows, model=lambda X: [0, 1] * (X.shape[0] // 2)):
    certificate = certify(model, rows, [0, 1] * (rows.shape[0] // 2), training=shown[1:])
    return certificate.deployed_part.duplicates_of_training_rows


def test_rows_are_compared_by_name_and_value():
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"a": rng.normal(size=40), "k": rng.integers(0, 9, 40), "c": rng.choice(["x", "y"], 40)})
    assert again(table, table) == 39
    assert again(table.assign(label=1)[["c", "label", "k", "a"]], table) == 39
    gap = pd.concat([table, pd.DataFrame({"a": [0.5], "k": [np.nan], "c": ["x"]})])
    assert again(gap, table) == 39
    assert again(table.assign(extra=np.float32(0.5)), table) == 39
    assert again(table.assign(a=table["a"].astype(np.float32)), table) == 39
    numbers = table[["a", "k"]]
    assert again(numbers.to_numpy(), numbers) == again(numbers, numbers.to_numpy()) == 39
    assert again(numbers.to_numpy().astype(np.float32), numbers.to_numpy()) == 39
    assert again(sparse.csr_array(numbers.to_numpy()), sparse.csr_array(numbers.to_numpy())) == 39
    assert again(numbers.to_numpy() + 1.0, numbers.to_numpy()) == 0
    with pytest.raises(ValueError, match="training must have the columns of X, to be compared with it; it lacks c"):
        again(numbers, table)
    with pytest.raises(ValueError, match=r"got shape \(39, 1\) beside \(40, 2\)"):
        again(numbers.to_numpy()[:, :1], numbers.to_numpy())


DATED = pd.DataFrame({"a": np.arange(40) / 8, "on": pd.date_range("2024-01-01", periods=40), "c": list("xyz?") * 10})


@pytest.mark.parametrize("kind", [object, "category"])
def test_training_rows_of_other_types_are_counted_by_value(kind):
    assert again(DATED.astype(kind), DATED) == again(DATED, DATED.astype(kind)) == 39
    assert again(DATED.assign(on=DATED["on"].dt.date), DATED) == 39
    assert again(DATED.to_numpy(), DATED) == 39


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"a": DATED["a"].astype(str)}, "text in the column 'a', and X has numbers"),
        ({"a": DATED["a"].astype(str).astype("category")}, "text in the column 'a', and X has numbers"),
        ({"on": DATED["on"].astype(str)}, "text in the column 'on', and X has dates"),
        ({"c": DATED["a"]}, "numbers in the column 'c', and X has text"),
    ],
)
def test_training_rows_that_never_could_equal_one_are_refused(other, said):
    with pytest.raises(ValueError, match=f"training has {said}: give it the same types as X"):
        again(DATED.assign(**other), DATED)
    with pytest.raises(ValueError, match="give it the same types as X"):
        again(DATED.assign(**other).to_numpy(), DATED)


def test_rows_that_all_trained_the_model_are_not_certified():
    for shown in (X, X[::-1], X.astype(np.float32)):
        with pytest.raises(ValueError, match="training has all 269 rows of X, more than chance explains"):
            certify(TREE, X[NEW], Y[NEW], training=shown)
    with pytest.raises(ValueError, match="training has all 40 rows of X"):
        certify(lambda rows: [0, 1] * 20, DATED, [0, 1] * 20, training=DATED.astype(object))


def test_new_rows_of_a_table_that_repeats_by_itself_are_certified():
    shown, new = (np.random.default_rng(seed).integers(0, 2, (200, 3)) for seed in (0, 1))
    certificate = certify(lambda rows: rows[:, 0], new, new[:, 0], training=shown)
    assert certificate.deployed_part.duplicates_of_training_rows == 200


def test_a_model_that_changes_the_rows_is_asked_afterwards():
    table = pd.DataFrame({"a": np.arange(40.0), "id": np.arange(40)})
    assert again(table.copy(), table, lambda X: [0, 1] * (len(X.pop("id")) // 2)) == 39
    table["id"] = np.arange(40)
    certificate = certify(lambda X: [0, 1] * (len(X.pop("id")) // 2), table, [0, 1] * 20)
    assert (certificate.provenance.columns, certificate.provenance.n_columns) == (("a", "id"), 2)


def test_the_rows_are_looked_at_once_for_all_models(monkeypatch):
    calls = []
    monkeypatch.setattr(_given, "related_rows", lambda *given, **named: calls.append(given) or ())
    certify(TREES, X[NEW], Y[NEW], random_state=0)
    assert len(calls) == 1


# Several models


def test_of_several_models_the_best_may_be_chosen():
    certificate = certify(TREES, X[NEW], Y[NEW], random_state=0)
    errors = [int((tree.predict(X[NEW]) != Y[NEW]).sum()) for tree in TREES]
    assert [candidate.errors for candidate in certificate.candidates] == errors
    for candidate in certificate.candidates:
        limit = stats.beta.isf(0.05 / 4, candidate.errors + 1, len(NEW) - candidate.errors)
        assert candidate.bound == pytest.approx(limit, rel=1e-8)
    assert certificate.bound <= min(candidate.bound for candidate in certificate.candidates)
    assert certificate.deployed_part.delta == 0.05 / 4
    assert [candidate.name for candidate in certificate.candidates] == [
        "DecisionTreeClassifier",
        "DecisionTreeClassifier (2)",
        "DecisionTreeClassifier (3)",
    ]
    assert Certificate.from_json(certificate.to_json()) == certificate


def test_the_chosen_one_answers():
    certificate = certify(TREES, X[NEW], Y[NEW], random_state=0)
    answers = [tree.predict(X[NEW]) for tree in TREES]
    assert (certificate.combine(answers) != Y[NEW]).sum() == certificate.deployed_part.errors
    assert [one.weight for one in certificate.candidates] == [float(one.chosen) for one in certificate.candidates]
    with pytest.raises(ValueError, match="predictions must hold the answers of 3 models"):
        certificate.combine(answers[:2])


def test_one_model_answers_for_itself():
    certificate = certify(TREE, X[NEW], Y[NEW])
    assert (certificate.combine([TREE.predict(X[NEW])]) == TREE.predict(X[NEW])).all()
    with pytest.raises(ValueError, match="the answers of 1 model to the same cases; got 2"):
        certificate.combine([[0], [1]])


def several(n=3000, share=0.2, seed=0):
    """Models whose errors are independent: their vote is far better than each."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    return truth, {f"model {k}": np.where(rng.random(n) < share, 1 - truth, truth) for k in range(5)}


def test_the_vote_has_the_weights_that_are_recorded():
    """Where they were counted, the exponential of a logarithm may have been another in the last place."""
    certificate = certify_predictions(*several(), random_state=0)
    unit = 2.0**-52
    weights = (0.5 + unit, 0.25, 0.125, 0.0625, 0.0625 - unit)
    part = dataclasses.replace(certificate.parts[0], log_weights=tuple(np.log([0.5, 0.25, 0.125, 0.0625, 0.0625])))
    named = zip(certificate.candidates, weights, strict=True)
    other = dataclasses.replace(
        certificate, parts=(part,), candidates=tuple(dataclasses.replace(one, weight=own) for one, own in named)
    )
    assert other.combine([[1], [0], [0], [0], [0]]).tolist() == [1]
    assert Certificate.from_json(other.to_json()).combine([[1], [0], [0], [0], [0]]).tolist() == [1]


def test_a_vote_of_them_is_a_candidate():
    truth, answers = several()
    certificate = certify_predictions(truth, answers, random_state=0)
    assert certificate.certified == "the drawn vote"
    assert certificate.bound < 0.75 * min(candidate.bound for candidate in certificate.candidates)
    assert not any(candidate.chosen for candidate in certificate.candidates)
    combined = certificate.combine(list(answers.values()))
    assert (combined != truth).sum() == certificate.deployed_part.errors
    assert certificate.assumptions[0].startswith("Not checked")
    others = [
        answer.astype(kind) for answer, kind in zip(answers.values(), (float, int, bool, int, float), strict=True)
    ]
    assert (certificate.combine(others) == combined).all()
    weights = np.array([candidate.weight for candidate in certificate.candidates])
    masses = np.array([(np.array(list(answers.values())) == label).T @ weights for label in (0, 1)])
    assert weights.sum() == 1.0
    assert (combined == masses.argmax(axis=0)).all()
    with pytest.raises(ValueError, match="the label '7', which is none of 0, 1"):
        certificate.combine([[7], *[[1]] * 4])


def test_where_the_vote_gains_nothing_a_model_is_chosen():
    truth, answers = several()
    same = dict.fromkeys("abc", answers["model 0"])
    certificate = certify_predictions(truth, pd.DataFrame(same), random_state=0)
    assert certificate.certified == "the given model"
    assert [candidate.chosen for candidate in certificate.candidates] == [True, False, False]


# Groups and time


def test_groups_are_entities():
    truth, answers = several(600)
    groups = np.repeat(np.arange(60), 10)
    certificate = certify_predictions(
        truth, answers["model 0"], groups=pd.Series(groups, name="patient"), random_state=0
    )
    part = certificate.deployed_part
    assert (part.entities, part.n, certificate.groups) == (60, 600, "patient")
    assert part.risks[0] == pytest.approx((answers["model 0"] != truth).mean())
    assert certificate.bound > certify_predictions(truth, answers["model 0"]).bound
    both = certify_predictions(truth, answers, groups=groups, random_state=0)
    assert all(len(candidate.statement.losses) == 60 for candidate in both.candidates)


def test_the_number_of_rows_of_an_entity_does_not_weigh():
    """One patient of 1,000 rows, all of them wrong, among 99 of one row."""
    truth = np.ones(1099, dtype=int)
    truth[:50] = 0
    answers = np.where(np.arange(1099) < 99, truth, 1 - truth)
    groups = np.where(np.arange(1099) < 99, np.arange(1099), 99)
    certificate = certify_predictions(truth, answers, groups=groups, random_state=0)
    assert certificate.deployed_part.risks[0] == 0.01
    assert certificate.bound < 0.1
    assert certify_predictions(truth, answers).bound > 0.9


def test_time_tells_early_from_late():
    truth, _ = several(400)
    late = np.where(np.arange(400) < 200, truth, 1 - truth)
    certificate = certify_predictions(truth, late, order=np.arange(400))
    (drift,) = certificate.deployed_part.drift
    assert (drift.early_errors, drift.late_errors) == (0, 200)
    assert drift.p_value < 1e-50
    assert "the promise is about that time" in certificate.assumptions[1]


def test_no_errors_are_worth_what_they_are():
    certificate = certify_predictions([0, 1] * 150, [0, 1] * 150)
    assert certificate.bound == pytest.approx(-math.expm1(math.log(0.05) / 300), rel=1e-12)


def test_rows_that_seem_to_belong_together_are_pointed_out():
    rng = np.random.default_rng(1)
    patient = np.repeat(np.arange(200), 8)
    table = pd.DataFrame(rng.normal(size=(200, 5))[patient] + 0.05 * rng.normal(size=(1600, 5)), columns=list("abcde"))
    truth = rng.integers(0, 2, 200)[patient]
    (remark,) = certify(lambda X: (X["a"] > 0).astype(int), table.assign(patient_id=patient), truth).remarks
    assert remark.startswith("Column 'patient_id' repeats: its 200 values have 8 rows each")
    assert certify(lambda X: (X["a"] > 0).astype(int), table, truth, groups=patient).remarks == ()
    wrong = certify_predictions(truth, 1 - truth, table=table.assign(patient_id=patient))
    assert wrong.remarks == (remark,)
    (alone,) = certify_predictions(truth, truth, groups=np.arange(1600)).remarks
    assert alone.startswith("Every certified group has one row")
