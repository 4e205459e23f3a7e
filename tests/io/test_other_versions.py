"""Files under other versions of the libraries than wrote them: opened if votes are the same, refused if not."""

import re

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_digits
from sklearn.ensemble import ExtraTreesClassifier

from certivote import CertifiedVoteClassifier, load
from certivote.io import ModelFileError, _models
from certivote.voters import Forest

X, Y = (rows[:200] for rows in load_digits(return_X_y=True))


class Threshold(ClassifierMixin, BaseEstimator):
    """A classifier of a user's library, of which there will be another version."""

    def __init__(self, at=8.0):
        self.at = at

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[(X[:, 20] > self.at).astype(int)]


@pytest.fixture(scope="module")
def brought(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "brought.certivote"
    CertifiedVoteClassifier("dis-b", [Threshold(), Threshold(4.0)], random_state=0).fit(X, Y % 2).save(path)
    return path


@pytest.fixture
def elsewhere(monkeypatch):
    """Other versions of the libraries are said to be installed."""
    here = _models._versions()
    monkeypatch.setattr(_models, "_versions", lambda: {**here, "scikit-learn": "9.0"})


def opened(path):
    """As a user opens it, who trusts what the file names."""
    with pytest.raises(ModelFileError) as refused:
        load(path)
    return load(path, trusted=re.findall(r"'([\w.]+)'", str(refused.value)))


def refusal(path):
    with pytest.raises(ModelFileError) as refused:
        opened(path)
    return str(refused.value)


def test_sparse_rows(tmp_path, elsewhere):
    rows = sparse.csr_array(X)
    clf = CertifiedVoteClassifier("dis-b", Forest(ExtraTreesClassifier(n_estimators=5)), random_state=0).fit(rows, Y)
    clf.save(tmp_path / "model.certivote")
    assert np.array_equal(load(tmp_path / "model.certivote").predict_proba(rows), clf.predict_proba(rows))


def test_objects_that_vote_as_they_did_are_opened(brought, elsewhere):
    assert np.isin(opened(brought).predict(X), [0, 1]).all()


def test_objects_that_lack_a_parameter_are_refused(brought, elsewhere, monkeypatch):
    """Votes would be the same, but scikit-learn asks for the parameter at the next turn."""

    def later(self, at=8.0, strict=False):
        self.at, self.strict = at, strict

    monkeypatch.setattr(Threshold, "__init__", later)
    message = refusal(brought)
    assert "which cannot be made again with the versions here (AttributeError" in message
    assert "9.0); open it with these versions" in message


def test_objects_that_cannot_be_found_are_refused(brought, elsewhere, monkeypatch):
    monkeypatch.delitem(globals(), "Threshold")
    assert "which cannot be made again with the versions here" in refusal(brought)


def test_objects_that_cannot_vote_are_refused(brought, elsewhere, monkeypatch):
    monkeypatch.setattr(Threshold, "predict", lambda self, X: self.at_)
    message = refusal(brought)
    assert "cannot be asked here" in message
    assert "9.0); open it with these versions" in message


def test_objects_that_vote_otherwise_are_refused(brought, elsewhere, monkeypatch):
    monkeypatch.setattr(Threshold, "predict", lambda self, X: self.classes_[(X[:, 20] >= self.at).astype(int)])
    assert "its voters vote otherwise here than where it was written, with scikit-learn" in refusal(brought)
