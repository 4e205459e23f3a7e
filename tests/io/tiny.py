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

FOREST = Forest(RandomForestClassifier(3, max_depth=3))
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
    """A mixed vote of which one model of each kind is left, and of boosting two iterations."""
    clf = CertifiedVoteClassifier("dis-b", "mixed", random_state=0).fit(*rows(160))
    whole = clf.voters_
    first = [0, *np.cumsum([forest.n_voters for forest in whole.forests])]
    members = []
    for member in whole.members:
        models = [_short(model) for model in getattr(member, "models", ())[:1]]
        cut = {"models": tuple(models), "columns": member.columns[:1]} if models else {}
        members.append(replace(member, **cut))
    forests = tuple(forest.only(np.arange(1))[0] for forest in whole.forests)
    clf.voters_ = replace(whole, forests=forests, members=tuple(members))
    few = [*first[:-1]]
    for member, short in zip(whole.members, members, strict=True):
        few += range(first[-1], first[-1] + len(short.groups))
        first.append(first[-1] + len(member.groups))
    clf.kept_voters_, clf.weights_ = np.array(few), clf.weights_[few]
    return clf


def _short(model):
    if not hasattr(model, "stages"):
        return model
    trees, nodes = model.trees.only(np.arange(2 * len(model.baseline)))
    return replace(model, trees=trees, values=model.values[nodes], stages=np.array([1, 2]))


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
    voters = [make_pipeline(StandardScaler(), LogisticRegression()), GaussianNB()]
    return CertifiedVoteClassifier("dis-b", voters, random_state=0).fit(*rows())


MODELS = {"forest": forest, "mixed": mixed, "table": table, "random stumps": random_stumps, "brought": brought}
