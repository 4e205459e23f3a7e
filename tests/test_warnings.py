"""Warnings name the line of the user's call, however deep in the library something was noticed."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import certivote
from certivote import CertifiedVoteClassifier, certify, compare
from certivote.voters import ColumnEncoder, Preprocessed, Stumps

RANGES = Stumps(ranges=[(-4.0, 4.0)] * 2)
FOR_NOTHING = "split='none' certifies on all of them"


def rows(seed=0, n=60):
    X = np.random.default_rng(seed).normal(size=(n, 2))
    return X, (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize(
    "call",
    [
        lambda clf, X, y: clf.fit(X, y),
        lambda clf, X, y: compare(X, y, methods=["dis-b"], voters=RANGES, split="single", random_state=0),
        lambda clf, X, y: make_pipeline(StandardScaler(), clf).fit(X, y),
        lambda clf, X, y: cross_val_score(clf, X, y, cv=2),
    ],
    ids=["fit", "compare", "a pipeline", "cross-validation"],
)
def test_warnings_of_a_fit_name_the_file_of_the_caller(call):
    with pytest.warns(UserWarning, match=FOR_NOTHING) as caught:
        call(CertifiedVoteClassifier("dis-b", RANGES, "single", random_state=0), *rows())
    assert {entry.filename for entry in caught} == {__file__}


def test_warnings_of_certify_name_the_file_of_the_caller():
    clf = CertifiedVoteClassifier("dis-b", RANGES, "none", random_state=0).fit(*rows())
    with pytest.warns(UserWarning, match="made from these rows was not checked") as caught:
        certify(lambda X: clf.predict(X + 0.0), *rows(1))
    assert {entry.filename for entry in caught} == {__file__}


def test_warnings_of_predict_name_the_file_of_the_caller():
    X, y = rows()
    table = pd.DataFrame(X, columns=["a", "b"])
    clf = CertifiedVoteClassifier("dis-b", Preprocessed(ColumnEncoder(fill=True), "forest"), random_state=0)
    clf.fit(table, y)
    with pytest.warns(UserWarning, match="counted as missing") as caught:
        clf.predict(table.astype({"a": object}).assign(a="nonsense"))
    assert {entry.filename for entry in caught} == {__file__}


def test_a_package_whose_name_begins_like_this_one_is_a_caller():
    file = f"{Path(certivote.__file__).parent}_extra/user.py"
    code = compile("from certivote._warn import warn\nwarn('look here')", file, "exec")
    with pytest.warns(UserWarning, match="look here") as caught:
        exec(code, {"__name__": "certivote_extra.user"})
    assert caught[0].filename == file
