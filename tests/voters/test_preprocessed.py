"""Voters behind a transformer: it learns from the training rows only, and is saved with the model."""

import numpy as np
import pandas as pd
import pytest
from ballots import codes_of
from fits import row_order
from models import opened
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.random_projection import GaussianRandomProjection

from certivote import CertifiedVoteClassifier, compare, verify
from certivote.voters import Classifiers, ColumnEncoder, Forest, Mixed, Preprocessed, Stumps

FOREST = Forest(RandomForestClassifier(n_estimators=8))


@pytest.fixture(scope="module")
def people():
    """A frame with columns of every kind, gaps included, and labels that depend on them."""
    rng = np.random.default_rng(0)
    n = 250
    age, town = rng.integers(18, 90, n), rng.choice(["Ulm", "Bonn", "Kiel"], n)
    frame = pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.1, "", age.astype(str)),
            "income": rng.normal(size=n),
            "town": np.where(rng.random(n) < 0.1, None, town),
            "since": (np.datetime64("2020-01-01") + rng.integers(0, 900, n)).astype(str),
            "member": rng.random(n) < 0.5,
            "always": "same",
            "never": [None] * n,
        }
    )
    labels = np.where((age > 50) ^ (town == "Ulm") ^ (rng.random(n) < 0.05), "ill", "well")
    return frame, labels


def fit(X, y, voters=FOREST, transformer=None, **parameters):
    voters = Preprocessed(transformer or ColumnEncoder(), voters)
    return CertifiedVoteClassifier("dis-b", voters, random_state=0, **parameters).fit(X, y)


def with_imputer():
    return make_pipeline(ColumnEncoder(), SimpleImputer(keep_empty_features=True))


@pytest.mark.parametrize(
    ("voters", "transformer"),
    [
        ("forest", None),
        ("mixed", None),
        (Stumps(n_thresholds=3), with_imputer()),
        ([GaussianNB(), RandomForestClassifier(n_estimators=3)], with_imputer()),
    ],
    ids=["forest", "mixed", "stumps", "list"],
)
def test_every_kind_of_voters_reads_tables_and_survives_the_disk(people, voters, transformer, tmp_path):
    X, y = people
    clf = fit(X, y, voters, transformer, prior="informed")
    assert clf.certificate_.bound < 0.6
    clf.save(tmp_path / "m.certivote")
    again = opened(tmp_path / "m.certivote")
    assert np.array_equal(again.predict_proba(X), clf.predict_proba(X))
    assert all(check.passed for check in verify(again.certificate_, again, X, y))


def everything_about_the_voters(clf, X):
    """The votes of every voter on some rows."""
    return codes_of(clf.voters_.votes(X))


@pytest.mark.parametrize(("voters", "method"), [("forest", "auto"), ("forest", "dis-b"), ("mixed", "dis-b")])
def test_certification_rows_do_not_reach_the_voters(people, voters, method, one_digest):
    X, y = people
    known = {"method": method, "voters": Preprocessed(ColumnEncoder(), voters), "split": "single", "random_state": 0}
    clf = CertifiedVoteClassifier(**known).fit(X, y)
    changed = X.copy()
    rows = clf.part_.certify
    changed.loc[rows, "age"] = "old"  # no number any more
    changed.loc[rows, "income"] = 1e9
    changed.loc[rows, "town"] = [f"Town {row}" for row in rows]
    changed.loc[rows, "since"] = "long ago"
    changed.loc[rows, "always"] = "other"
    changed.loc[rows, "never"] = "sometimes"
    other = CertifiedVoteClassifier(**known).fit(changed, y)
    assert np.array_equal(other.part_.train, clf.part_.train)
    assert np.array_equal(everything_about_the_voters(other, X), everything_about_the_voters(clf, X))


def test_training_rows_do(people):
    X, y = people
    clf = fit(X, y)
    changed = X.copy()
    changed.loc[clf.part_.train[:60], "age"] = "90"
    other = fit(changed, y)
    assert not np.array_equal(everything_about_the_voters(other, X), everything_about_the_voters(clf, X))


class Witness(TransformerMixin, BaseEstimator):
    """Writes down which rows it is fitted on."""

    seen: list

    def fit(self, X, y=None):
        Witness.seen.append((X["row"].to_numpy(), np.asarray(y)))
        return self

    def transform(self, X):
        return X[["value"]].to_numpy()


def test_the_transformer_is_fitted_on_the_training_rows_and_nothing_else():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"row": np.arange(200), "value": rng.normal(size=200)})
    y = (X["value"] > 0).to_numpy()
    Witness.seen = []
    clf = fit(X, y, FOREST, Witness())
    clf.predict(X)
    ((rows, labels),) = Witness.seen
    assert np.array_equal(rows, row_order(clf.certificate_)[:100])
    assert np.array_equal(np.sort(rows), clf.part_.train)
    assert np.array_equal(labels, y[rows])
    Witness.seen = []
    clf = CertifiedVoteClassifier("auto", Preprocessed(Witness(), FOREST), random_state=0).fit(X, y)
    assert len(Witness.seen) > 1  # the pilot's, for the learning curve
    assert all(np.isin(rows, clf.part_.train).all() for rows, _ in Witness.seen)


@pytest.mark.parametrize(
    ("voters", "method"), [(FOREST, "dis-b"), (FOREST, "auto"), (Stumps(), "dis-b"), ("mixed", "dis-b")]
)
def test_of_plain_numbers_the_voters_are_those_of_the_plain_rows(voters, method, monkeypatch):
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:250, :5], y[:250]
    table = pd.DataFrame(X, columns=list("abcde"))
    text = table.astype({"b": str, "d": str})  # as the reader stores columns that hold a word somewhere
    for rows in (table, text):
        if rows is text:  # it has another digest than numbers: random numbers are to be the same all the same
            for digest in ("data_digest", "part_digest"):
                monkeypatch.setattr(f"certivote.pipeline._memory.{digest}", lambda *_: "data:" + 64 * "0")
        plain = CertifiedVoteClassifier(method, voters, random_state=0).fit(X, y)
        clf = CertifiedVoteClassifier(method, Preprocessed(ColumnEncoder(), voters), random_state=0).fit(rows, y)
        assert np.array_equal(clf.voters_.votes(rows).masses(clf.weights_), plain.predict_proba(X))
        assert clf.certificate_.bound == plain.certificate_.bound
        assert clf.certificate_.first_rows == plain.certificate_.first_rows


def test_what_is_new_at_prediction_is_missing(people):
    X, y = people
    clf = fit(X, y)
    new = X[:3].copy()
    new["age"], new["town"], new["since"], new["never"] = "old", "Atlantis", "soon", "now"
    gaps = new.copy()
    gaps["age"], gaps["town"], gaps["since"], gaps["never"] = "", None, None, None
    with pytest.raises(ValueError, match=r"^3 of 7 columns of row 0 hold values .* such as 'old' in the column 'age'"):
        clf.predict_proba(new)
    clf.voters_.encoder.max_unread = 0.5
    assert np.array_equal(clf.predict_proba(new), clf.predict_proba(gaps))


def test_any_transformer_and_more_than_two_classes():
    X, y = load_iris(return_X_y=True, as_frame=True)
    X["size"] = np.where(X.iloc[:, 0] > 5.8, "large", "small")
    columns = make_column_transformer((OneHotEncoder(), ["size"]), remainder=StandardScaler())
    clf = fit(X, y, [LogisticRegression(), GaussianNB()], columns)
    assert clf.certificate_.bound < 0.35
    assert len(compare(X, y, ["dis-r", "so"], voters=Preprocessed(columns, FOREST), random_state=0)) == 2


def test_random_transformers_get_seeds_of_their_own():
    X, y = load_iris(return_X_y=True)
    answers = [fit(X, y, FOREST, GaussianRandomProjection(2)).predict_proba(X) for _ in range(2)]
    assert np.array_equal(*answers)


def test_what_the_voters_cannot_take_is_said_in_one_sentence(people):
    X, y = people
    with pytest.raises(ValueError, match="X after preprocessing contains NaN"):
        fit(X, y, Stumps())
    with pytest.raises(ValueError, match="binary"):
        fit(*load_iris(return_X_y=True), Stumps())
    with pytest.raises(ValueError, match="split='none'"):
        fit(X, y, split="none")
    with pytest.raises(ValueError, match="voters must be"):
        fit(X, y, "everyone")


def test_it_asks_its_voters(people):
    fitted = LogisticRegression().fit([[0.0], [1.0]], ["ill", "well"])
    assert Preprocessed(ColumnEncoder(), [fitted]).known_classes() == ["ill", "well"]
    assert Preprocessed(ColumnEncoder(), Classifiers([fitted])).pilot(90) is None
    assert not Preprocessed(ColumnEncoder(), "stumps").multi_class
    assert isinstance(Preprocessed(ColumnEncoder(), "mixed").pilot(90).voters, Mixed)
    assert isinstance(Preprocessed(ColumnEncoder(), "mixed").pilot(10_000).voters, Forest)
