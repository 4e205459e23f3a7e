"""How promises come into a run: what is refused, what is set aside, and how delta is divided."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from fits import random_numbers, row_order
from options import as_objects
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import RandomForestClassifier

from certivote import CertifiedVoteClassifier, certify, certify_predictions, compare
from certivote.certificate import confidence_nats
from certivote.pipeline import _memory, make_plan
from certivote.promises import ByClass, Precision, Promise

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
IRIS = load_iris(return_X_y=True)
SEEN = []


class Looking(Promise):
    """Records what it may look at, and says that the answers are wrong at most so often."""

    name = "looking"
    needs = "scores"

    def __init__(self, at="votes"):
        self.at = at

    def guide(self, columns, trained):
        return self.at

    def make(self, ledger):
        SEEN.append(ledger)
        everything = np.ones(len(ledger.rows.labels), dtype=bool)
        statement = ledger.events("error", "", everything, ledger.rows.wrong)
        return ledger.record(self.name, [statement], self.parameters, guide_rows=len(ledger.guide.labels))

    @staticmethod
    def sentences(record):
        return ["wrong answers"]


@pytest.fixture(autouse=True)
def forget():
    SEEN.clear()


def forest(**parameters):
    return CertifiedVoteClassifier(**as_objects("dis-b", voters="forest", random_state=0, **parameters))


# What is refused


def test_only_promises():
    with pytest.raises(TypeError, match=r"promises must hold promises such as Precision.*got 'precision'"):
        forest(promises=["precision"]).fit(*IRIS)
    with pytest.raises(ValueError, match="'promises' parameter of CertifiedVoteClassifier must be"):
        forest(promises=Precision()).fit(*IRIS)


def test_each_once():
    with pytest.raises(ValueError, match=r"Precision\(\) more than once"):
        forest(promises=[Precision(), Precision()]).fit(*IRIS)
    with pytest.raises(ValueError, match="every certificate has the bounds by class"):
        forest(promises=[ByClass()]).fit(*IRIS)


@pytest.mark.parametrize("method", ["smv-exact", "fo"])
def test_votes_that_are_not_drawn_or_fixed(method):
    with pytest.raises(ValueError, match=f"method='{method}' certifies another. Use method='auto' or one of dis-b"):
        CertifiedVoteClassifier(method, "forest", promises=[Precision()]).fit(*IRIS)


def test_a_model_that_does_not_say_how_sure_it_is():
    with pytest.raises(ValueError, match="asks how sure each answer is, which model does not say: give scores"):
        certify_predictions(["a", "b"] * 20, ["a", "b"] * 20, promises=[Looking()])
    model = RandomForestClassifier(5, random_state=0).fit(*IRIS)
    with pytest.raises(ValueError, match="which predict does not say"):
        certify(model.predict, *IRIS, promises=[Looking()])


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([0.5] * 39, "one finite number for each of the 40 rows; got 39"),
        ([float("nan")] * 40, "one finite number"),
        (["sure"] * 40, "scores must hold numbers"),
    ],
)
def test_scores_are_checked(scores, message):
    with pytest.raises(ValueError, match=message):
        certify_predictions(["a", "b"] * 20, ["a", "b"] * 20, scores=scores, promises=[Looking()])


def test_scores_are_those_of_one_model():
    said = {"one": ["a", "b"] * 20, "other": ["a", "b"] * 20}
    with pytest.raises(ValueError, match="scores are those of one model, and y_pred has the answers of 2"):
        certify_predictions(["a", "b"] * 20, said, scores=[0.5] * 40, promises=[Looking()])


# What a promise may look at


def test_training_rows_guide_where_there_are_some():
    clf = forest(promises=[Looking()]).fit(*IRIS)
    (ledger,) = SEEN
    record = clf.certificate_.promises[1]
    assert (record.set_aside, record.guide_rows, record.statements[0].n) == (0, 75, 75)
    trained = row_order(clf.certificate_)[:75]
    assert sorted(trained) == clf.part_.train.tolist()
    assert ledger.guide.labels.tolist() == IRIS[1][trained].tolist()
    out_of_bag = np.mean(ledger.guide.wrong)
    assert 0.0 < out_of_bag < 0.3
    masses = clf.predict_proba(IRIS[0][clf.part_.certify])
    assert (ledger.rows.masses == masses).all()
    top = np.sort(masses, axis=1)
    assert (ledger.rows.scores == top[:, -1] - top[:, -2]).all()


def test_all_promises_are_guided_by_the_same_training_rows(monkeypatch):
    class Again(Looking):
        name = "looking again"

    monkeypatch.setattr(_memory, "GUIDE_ROWS", 20)
    forest(promises=[Looking(), Again()]).fit(X, y)
    first, second = SEEN
    assert len(first.guide.labels) == 20
    assert first.guide.columns("mean radius") == second.guide.columns("mean radius")


def test_columns_of_training_rows_without_votes():
    forest(promises=[Looking("columns")]).fit(X, y)
    (ledger,) = SEEN
    assert ledger.guide.masses is None
    assert len(ledger.guide.columns("mean radius")) == 284
    assert len(ledger.rows.columns("mean radius")) == 285
    with pytest.raises(ValueError, match="no column 'colour' in X; its columns are mean radius, mean texture"):
        ledger.rows.columns("colour")


def test_rows_are_set_aside_where_there_are_no_training_rows():
    model = RandomForestClassifier(10, random_state=0).fit(X[:200], y[:200])
    certificate = certify(model, X[200:], y[200:], promises=[Looking(), Precision()])
    looking, precision = certificate.promises[1:]
    assert (looking.set_aside, looking.guide_rows, looking.statements[0].n) == (73, 73, 296)
    assert (precision.set_aside, sum(entry.n for entry in precision.statements)) == (0, 369)
    (ledger,) = SEEN
    order = random_numbers(certificate, "promises").permutation(369)
    aside = np.sort(order[:73])
    assert np.setdiff1d(np.arange(369), ledger.kept).tolist() == aside.tolist()
    assert (ledger.kept[ledger.rows.order()] == order[73:]).all()
    shown = model.predict_proba(X[200:])
    assert (ledger.guide.masses == shown[aside]).all()
    assert ledger.guide.columns("mean area") == X["mean area"][200:].to_numpy()[aside].tolist()


def test_entities_are_set_aside_as_a_whole():
    groups = np.arange(400) // 4
    true = np.arange(400) % 2
    certify_predictions(true, true, groups=groups, scores=true, promises=[Looking()])
    (ledger,) = SEEN
    kept = set(groups[ledger.kept].tolist())
    assert len(kept) == 80
    assert len(ledger.kept) == 320
    assert ledger.rows.entities.count == 80


# How delta is divided


def test_each_promise_has_a_delta_of_its_own():
    alone = forest().fit(*IRIS).certificate_
    more = forest(promises=[Precision()]).fit(*IRIS).certificate_
    assert more.bound == alone.bound
    assert more.promises[0] == alone.promises[0]
    assert [promise.delta for promise in more.promises] == [0.05, 0.05]
    assert not more.together


@pytest.mark.parametrize("split", ["single", "cross"])
def test_together_the_bound_has_four_fifths_and_promises_share_the_rest(split):
    clf = forest(promises=[Precision()], together=True, split=split, n_draws=2).fit(*IRIS)
    certificate, parts = clf.certificate_, {"single": 1, "cross": 2}[split]
    assert certificate.together
    assert certificate.delta == 0.05
    assert certificate.deployed_part.delta == pytest.approx(0.04 / parts)
    for promise in certificate.promises:
        assert promise.delta == pytest.approx(0.005)
        for entry in promise.statements:
            assert entry.delta == pytest.approx(0.005 / parts / 6)
            nats = confidence_nats(certificate, certificate.deployed_part, entry)
            assert nats == pytest.approx(-np.log(entry.delta / 2))
    spent = parts * certificate.deployed_part.delta + sum(promise.delta for promise in certificate.promises)
    assert spent == pytest.approx(certificate.delta)


def test_together_is_as_if_everything_had_its_own_share():
    together = forest(promises=[Precision()], together=True).fit(*IRIS).certificate_
    bound = forest(delta=0.04).fit(*IRIS).certificate_
    promises = forest(promises=[Precision()], delta=0.005).fit(*IRIS).certificate_.promises
    assert together.bound == pytest.approx(bound.bound, rel=1e-9)
    for one, other in zip(together.promises, promises, strict=True):
        for mine, theirs in zip(one.statements, other.statements, strict=True):
            assert mine.bound == pytest.approx(theirs.bound, rel=1e-9)


def test_several_given_models_divide_the_delta_of_promises_too():
    first, second = (np.where(np.random.default_rng(seed).random(150) < 0.1, 0, IRIS[1]) for seed in (0, 1))
    certificate = certify_predictions(IRIS[1], {"first": first, "second": second}, promises=[Precision()])
    assert {entry.delta for entry in certificate.promises[1].statements} == {0.05 / 3 / 6}


# Around it


def test_plans_keep_them():
    plan = make_plan(promises=[Precision()], together=True, delta=0.1)
    assert plan.promises == (ByClass(), Precision())
    assert (plan.bound_delta, plan.promise_delta) == (pytest.approx(0.08), pytest.approx(0.01))
    assert make_plan(together=True).promise_delta == pytest.approx(0.01)


def test_a_refit_makes_the_same_promises():
    clf = CertifiedVoteClassifier("dis-b", "forest", promises=[Precision(), Looking()]).fit(*IRIS)
    assert clf.refit(*IRIS).certificate_.promises == clf.certificate_.promises
    assert clone(clf).promises == clf.promises


def test_what_must_be_fixed_beforehand_is_said():
    assert not any("targets, columns" in text for text in forest().fit(*IRIS).certificate_.assumptions)
    assert any(
        "targets, columns" in text for text in forest(promises=[Precision()]).fit(*IRIS).certificate_.assumptions
    )


def test_parameters_are_recorded():
    certificate = forest(promises=[Precision(), Looking("columns")]).fit(*IRIS).certificate_
    recorded = dict(certificate.provenance.parameters)
    assert recorded["promises"] == "\"[Precision(), Looking(at='columns')]\""
    assert recorded["together"] == "false"
    assert certificate.promises[2].parameters == (("at", '"columns"'),)


def test_comparisons_of_other_methods_refuse_them():
    with pytest.raises(ValueError, match="promises are about the answers"):
        compare(*IRIS, methods=["fo"], voters="forest", promises=[Precision()], random_state=0)


def test_frames_of_any_kind_of_column():
    table = pd.DataFrame({"a": np.arange(40.0), "site": pd.Categorical(["x", None] * 20), 3: [True, False] * 20})
    true = ["p", "q"] * 20
    certify_predictions(true, true, table=table, scores=np.arange(40), promises=[Looking()])
    (ledger,) = SEEN
    assert set(map(str, ledger.rows.columns("site"))) == {"x", "nan"}
    assert set(ledger.rows.columns("3")) == {True, False}


def test_promises_compare_by_what_they_ask():
    assert Looking("votes") == Looking()
    assert Looking() != Looking("columns")
    assert len({Looking(), Looking("votes"), Precision()}) == 2
    assert repr(Looking()) == "Looking(at='votes')"
    assert Looking.from_parameters({"at": "columns"}) == Looking("columns")


def test_a_record_is_frozen():
    record = forest(promises=[Precision()]).fit(*IRIS).certificate_.promises[1]
    with pytest.raises(dataclasses.FrozenInstanceError):
        record.delta = 0.5


def test_several_models_have_no_common_sureness():
    models = {str(n): RandomForestClassifier(n, random_state=0).fit(X[:200], y[:200]) for n in (3, 5)}
    with pytest.raises(ValueError, match="what its scores mean differs among the 2 models"):
        certify(models, X[200:], y[200:], promises=[Looking()])
    assert len(certify(models, X[200:], y[200:], promises=[Precision()]).promises) == 2


def test_a_column_is_the_one_of_that_name_whatever_names_are():
    table = pd.DataFrame({1: np.arange(60.0), 0: np.arange(60.0)[::-1]})
    forest(promises=[Looking("columns")]).fit(table, np.arange(60) % 2)
    (ledger,) = SEEN
    assert sorted(ledger.rows.columns("1") + ledger.guide.columns("1")) == np.arange(60.0).tolist()
    assert ledger.rows.columns("1") != ledger.rows.columns("0")
    twice = pd.DataFrame(np.zeros((40, 2)), columns=["a", "a"])
    true = ["p", "q"] * 20
    with pytest.raises(ValueError, match="table has 2 columns of the name 'a'"):
        certify_predictions(true, true, table=twice, scores=np.arange(40), promises=[Looking()])
