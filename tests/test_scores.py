"""What users of other classifiers expect of this one: scores, logarithms, and an answer where they use other names."""

import numpy as np
import pytest
from fits import cancer, fitted, iris_fit
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics import roc_auc_score

from certivote import CertifiedVoteClassifier


def test_two_classes_have_one_score_and_its_sign_is_the_answer():
    clf, (X, y) = fitted("dis-b"), cancer()
    masses, scores = clf.predict_proba(X), clf.decision_function(X)
    assert scores.shape == (len(X),)
    np.testing.assert_array_equal(clf.classes_[(scores > 0).astype(int)], clf.predict(X))
    np.testing.assert_array_equal(scores, masses[:, 1] - masses[:, 0])
    assert roc_auc_score(y, scores) == pytest.approx(roc_auc_score(y, masses[:, 1]))


def test_more_classes_have_a_score_each():
    clf, X = iris_fit("dis-b"), load_iris().data
    np.testing.assert_array_equal(clf.decision_function(X), clf.predict_proba(X))


def test_logarithms_of_masses_are_finite_or_minus_infinity():
    clf, (X, _) = fitted("dis-b"), cancer()
    with np.errstate(all="raise"):
        logs = clf.predict_log_proba(X)
    np.testing.assert_allclose(np.exp(logs), clf.predict_proba(X), rtol=1e-15)
    assert logs.max() <= 0


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("class_weight", r"promises=\[Sensitivity"),
        ("n_estimators", "voters=Forest"),
        ("test_size", "split=Single"),
        ("alpha", "delta=0.05"),
        ("randomstate", "did you mean random_state\\?"),
        ("colour", "there are method, voters, split"),
    ],
)
def test_parameters_of_other_classifiers_are_answered_in_a_sentence(name, said):
    with pytest.raises(TypeError, match=f"CertifiedVoteClassifier has no parameter '{name}': .*{said}"):
        CertifiedVoteClassifier(**{name: 1})


def test_parameters_are_still_read_and_cloned():
    clf = CertifiedVoteClassifier("dis-r", delta=0.1)
    assert clone(clf).get_params() == clf.get_params()
