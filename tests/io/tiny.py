"""Models so small that thousands of files of theirs can be opened, of every kind that a file may hold."""

from dataclasses import replace

import numpy as np
import pandas as pd
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from certivote import CertifiedVoteClassifier
from certivote.voters import ColumnEncoder, Forest, Preprocessed, Stumps
from certivote.voters._boosting import Boosting
from certivote.voters._forest import FittedForest
from certivote.voters._members import FoldedMember
from certivote.voters._mixed import FittedMixed
from certivote.voters._oblivious import ObliviousTrees
from certivote.voters._race import KINDS, Training

FOREST = Forest(RandomForestClassifier(3, max_depth=3))
BROUGHT = [make_pipeline(StandardScaler(), LogisticRegression()), GaussianNB()]
TRUSTED = (
    "sklearn.linear_model._logistic.LogisticRegression",
    "sklearn.naive_bayes.GaussianNB",
    "sklearn.pipeline.Pipeline",
    "sklearn.preprocessing._data.StandardScaler",
)


def rows(n=60):
    """Rows of 4 columns, of which one holds codes, and 3 classes."""
    source = np.random.default_rng(0)
    X = source.normal(size=(n, 4)).round(2)
    X[:, 3] = source.integers(4, size=n)
    return X, np.array(["a", "b", "c"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)]


def forest():
    return CertifiedVoteClassifier("dis-b", FOREST, random_state=0).fit(*load_iris(return_X_y=True))


def mixed():
    """A mixed vote with a model of each kind, of forests one tree, of boosting two iterations and of CatBoost three."""
    X, y = rows(160)
    clf = CertifiedVoteClassifier("dis-b", "mixed", random_state=0).fit(X, y)
    codes, rng = np.unique(y, return_inverse=True)[1], np.random.default_rng(0)
    trained = [Training.planned(X, codes, 3, None, rng, None).member(kind) for kind in KINDS]
    forests = [member.only(np.arange(1))[0] for member in trained if isinstance(member, FittedForest)]
    others = [_short(member) for member in trained if not isinstance(member, FittedForest)]
    others.append(_oblivious())
    clf.voters_ = FittedMixed(tuple(forests), tuple(others), 3)
    clf.kept_voters_ = np.arange(clf.voters_.n_voters)
    clf.weights_ = clf.weights_[: clf.voters_.n_voters]
    return clf


def _oblivious():
    """As CatBoost grows them: three trees of two levels, in a member with three votes."""
    source = np.random.default_rng(0)
    model = ObliviousTrees(
        source.integers(4, size=(3, 2)).astype(np.int32),
        source.normal(size=(3, 2)).astype(np.float32),
        source.normal(size=(3, 4, 3)).astype(np.float32),
        np.zeros(3),
        np.array([1, 2, 3]),
        np.arange(3),
    )
    return FoldedMember((model,), (np.arange(4),), 3)


def _short(member):
    (model,) = getattr(member, "models", [None])
    if not isinstance(model, Boosting):
        return member
    trees, leaves = model.trees.only(np.arange(2 * len(model.baseline)))
    short = replace(
        model, trees=trees, values=model.values[leaves], stages=np.minimum(np.arange(len(model.stages)) + 1, 2)
    )
    return replace(member, models=(short,))


def table():
    X, y = rows()
    frame = pd.DataFrame({"one": X[:, 0], "two": X[:, 1], "state": np.array(list("uvwx"))[X[:, 3].astype(int)]})
    return CertifiedVoteClassifier("dis-b", Preprocessed(ColumnEncoder(fill=True), FOREST), random_state=0).fit(
        frame, y
    )


def random_stumps():
    X, y = rows()
    clf = CertifiedVoteClassifier("smv-exact", Stumps(2), loss="half-weight", random_state=0)
    return clf.fit(X[:, :2], y == "a")


def brought():
    return CertifiedVoteClassifier("dis-b", BROUGHT, random_state=0).fit(*rows())


MODELS = {"forest": forest, "mixed": mixed, "table": table, "random stumps": random_stumps, "brought": brought}
