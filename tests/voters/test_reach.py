"""Voters that know something before they are fitted: it is found wherever it is, and the certificate says so."""

import dataclasses
import operator
from functools import partial
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
from models import opened
from scipy import special, stats
from scipy.interpolate import NearestNDInterpolator
from scipy.spatial import KDTree
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier, StackingClassifier, VotingClassifier
from sklearn.feature_selection import SelectKBest, mutual_info_classif
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import GridSearchCV, KFold, RandomizedSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from certivote import CertifiedVoteClassifier, certify, verify
from certivote.voters import Classifiers, ColumnEncoder, Forest, Mixed, Preprocessed, Stumps, reachable, resolve_voters

ROWS = np.random.default_rng(0).normal(size=(300, 4))
LABELS = np.random.default_rng(1).integers(0, 2, 300)
KNOWS = RandomForestClassifier(10, random_state=0).fit(ROWS, LABELS)
"""It has seen all rows, whose labels are noise."""


def asks_a_global(X):
    return KNOWS.predict_proba(X)


def asks_from_around(model):
    def said(X):
        return model.predict_proba(X)

    return said


class Asks:
    def __init__(self, model):
        self.model = model

    def __call__(self, X):
        return self.model.predict_proba(X)


class Own(ClassifierMixin, BaseEstimator):
    """Nothing in its parameters tells that its fit learns nothing."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return KNOWS.predict(X)


def seen_through(function):
    return Preprocessed(FunctionTransformer(function), [LogisticRegression()])


KNOWING = {
    "frozen in a vote": lambda: [VotingClassifier([("it", FrozenEstimator(KNOWS))])],
    "frozen in a vote in a vote": lambda: [
        VotingClassifier([("all", VotingClassifier([("it", FrozenEstimator(KNOWS))]))])
    ],
    "stacked": lambda: [StackingClassifier([("it", FrozenEstimator(KNOWS))], cv="prefit")],
    "calibrated": lambda: [CalibratedClassifierCV(FrozenEstimator(KNOWS), cv=3)],
    "a step": lambda: [make_pipeline(FunctionTransformer(KNOWS.predict_proba), LogisticRegression())],
    "a frozen step": lambda: [make_pipeline(FrozenEstimator(PCA(2).fit(ROWS)), LogisticRegression())],
    "one that is searched": lambda: [
        GridSearchCV(make_pipeline("passthrough", LogisticRegression()), {"passthrough": [FrozenEstimator(KNOWS)]})
    ],
    "method": lambda: seen_through(KNOWS.predict_proba),
    "partial": lambda: seen_through(partial(KNOWS.predict_proba)),
    "closure": lambda: seen_through(asks_from_around(KNOWS)),
    "global": lambda: seen_through(asks_a_global),
    "lambda": lambda: seen_through(lambda X, model=KNOWS: model.predict_proba(X)),
    "object": lambda: seen_through(Asks(KNOWS)),
    "compiled": lambda: seen_through(operator.methodcaller("pipe", KNOWS.predict_proba)),
    "argument": lambda: Preprocessed(FunctionTransformer(np.tanh, kw_args={"where": [KNOWS]}), "forest"),
    "in a table": lambda: Preprocessed(FunctionTransformer(np.tanh, kw_args={"x": pd.DataFrame({"a": [KNOWS]})})),
    "an interpolator": lambda: seen_through(NearestNDInterpolator(ROWS, LABELS)),
    "nearest rows": lambda: seen_through(KDTree(ROWS).query),
    "a table of answers": lambda: seen_through(np.vectorize(dict(enumerate(LABELS)).get)),
    "frozen transformer": lambda: Preprocessed(FrozenEstimator(StandardScaler().fit(ROWS)), "forest"),
    "behind a transformer": lambda: Preprocessed(
        StandardScaler(), [VotingClassifier([("it", FrozenEstimator(KNOWS))])]
    ),
    "fitted": lambda: [KNOWS],
    "of one's own": lambda: [Own()],
}
UNKNOWING = {
    "names": lambda: "mixed",
    "a forest": lambda: Forest(RandomForestClassifier(5, class_weight={0: 1, 1: 2})),
    "stumps": lambda: Stumps(ranges=[(0.0, 1.0)] * 4),
    "a table": lambda: Preprocessed(ColumnEncoder(fill=True), Mixed()),
    "classifiers": lambda: [VotingClassifier([("a", LogisticRegression())]), DecisionTreeClassifier()],
    "a function of numpy": lambda: seen_through(np.abs),
    "another function of numpy": lambda: Preprocessed(FunctionTransformer(np.clip, kw_args={"a_min": 0, "a_max": 1})),
    "a function of scipy": lambda: seen_through(special.expit),
    "functions of libraries": lambda: [
        make_pipeline(FunctionTransformer(np.log1p), SelectKBest(mutual_info_classif), LogisticRegression())
    ],
    "columns": lambda: [
        make_pipeline(
            make_column_transformer(
                (OneHotEncoder(categories=[["a", "b"]]), make_column_selector(dtype_include=object)),
                remainder=StandardScaler(),
            ),
            LogisticRegression(),
        )
    ],
    "a search": lambda: [
        RandomizedSearchCV(
            LogisticRegression(),
            {"C": stats.loguniform(0.1, 10)},
            scoring=make_scorer(f1_score),
            cv=KFold(3, shuffle=True, random_state=np.random.RandomState(0)),
        )
    ],
}


@pytest.mark.parametrize("kind", KNOWING)
def test_what_knows_something_is_found(kind):
    voters = resolve_voters(KNOWING[kind]())
    assert voters.learned_before()


@pytest.mark.parametrize("kind", UNKNOWING)
def test_what_is_not_fitted_knows_nothing(kind):
    assert resolve_voters(UNKNOWING[kind]()).learned_before() == ()


def test_boosters_know_something_once_they_are_fitted():
    xgboost = pytest.importorskip("xgboost")
    model = xgboost.XGBClassifier(n_estimators=2)
    assert Classifiers([VotingClassifier([("a", model)])]).learned_before() == ()
    model.fit(ROWS, LABELS)
    assert "XGBClassifier" in Classifiers([VotingClassifier([("a", FrozenEstimator(model))])]).learned_before()


UNTRIED = ("one that is searched", "compiled", "argument", "in a table", "nearest rows", "a table of answers")
IN_CERTIFICATES = [kind for kind in KNOWING if kind not in UNTRIED and kind != "an interpolator"]


@pytest.mark.parametrize("kind", IN_CERTIFICATES)
def test_certificates_say_that_voters_know_something(kind):
    clf = CertifiedVoteClassifier("dis-b", KNOWING[kind](), "single", prior="auto", random_state=0).fit(ROWS, LABELS)
    certificate = clf.certificate_
    assert "came fitted" in certificate.assumptions[-1]
    assert [str(check) for check in verify(certificate, clf, ROWS, LABELS) if not check.passed] == []
    silent = dataclasses.replace(certificate, came_fitted=False)
    clf.certificate_ = silent
    caught = [check for check in verify(silent, clf) if not check.passed]
    assert [check.what for check in caught] == ["voters that came fitted"]
    assert "the record does NOT say so" in caught[0].detail


def test_what_is_assumed_is_what_the_bound_rests_on():
    voters = KNOWING["frozen in a vote"]()
    clf = CertifiedVoteClassifier("dis-b", voters, "single", prior="auto", random_state=0).fit(ROWS, LABELS)
    assert clf.certificate_.bound < 0.2  # of labels that are noise: true only if what is assumed is


def test_certificates_of_others_do_not():
    clf = CertifiedVoteClassifier("dis-b", UNKNOWING["classifiers"](), "single", random_state=0).fit(ROWS, LABELS)
    assert not any("came fitted" in text for text in clf.certificate_.assumptions)
    assert [str(check) for check in verify(clf.certificate_, clf, ROWS, LABELS) if not check.passed] == []


def test_a_model_file_still_tells(tmp_path):
    pytest.importorskip("skops")
    voters = KNOWING["frozen in a vote"]()
    clf = CertifiedVoteClassifier("dis-b", voters, "single", prior="auto", random_state=0).fit(ROWS, LABELS)
    clf.save(tmp_path / "model.certivote")
    again = opened(tmp_path / "model.certivote")
    checks = list(verify(again.certificate_, again, ROWS, LABELS))
    assert [str(check) for check in checks if not check.passed] == []
    (line,) = (check for check in checks if check.what == "voters that came fitted" and not check.on_trust)
    assert "RandomForestClassifier" in line.detail


def test_a_frozen_transformer_stays_as_it_is():
    scaler = StandardScaler().fit(ROWS + 5)
    clf = CertifiedVoteClassifier("dis-b", Preprocessed(FrozenEstimator(scaler), "forest"), random_state=0)
    clf.fit(ROWS, LABELS)
    assert np.array_equal(clf.voters_.transformer.transform(ROWS), scaler.transform(ROWS))


def test_a_frozen_classifier_is_no_transformer():
    voters = Preprocessed(FrozenEstimator(KNOWS), "forest")
    with pytest.raises(TypeError, match="must have a transform method"):
        CertifiedVoteClassifier("dis-b", voters, random_state=0).fit(ROWS, LABELS)


def test_models_inside_others_can_be_reached():
    class Slotted:
        __slots__ = ("model",)

        def __init__(self, model):
            self.model = model

    def asks_in_a_list(X):
        return [KNOWS.predict([row]) for row in X]

    boxed = np.empty(1, dtype=object)
    boxed[0] = KNOWS
    inside = [{"a": [KNOWS]}, Slotted(KNOWS), asks_a_global, asks_from_around(KNOWS), asks_in_a_list, boxed]
    for each in inside:
        assert any(found is KNOWS for found in reachable(each))


def test_nothing_is_run_on_the_way():
    class Lazy(dict):
        def values(self):
            raise AssertionError("read")

        def get_params(self, deep=True):
            raise AssertionError("asked")

    def unfinished():
        def function():
            return later

        found = list(reachable([function, Lazy(model=KNOWS), Mock()]))
        later = found
        return later

    assert any(each is KNOWS for each in unfinished())


def test_given_models_always_assume_it():
    model = FrozenEstimator(KNOWS)
    assert "had no part in training the model" in certify(model, ROWS, LABELS).assumptions[0]
