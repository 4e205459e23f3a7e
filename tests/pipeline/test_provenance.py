"""What a certificate records of where it comes from, and of what the most frequent class would achieve."""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest
import sklearn
from fits import cancer, fitted, stumps
from scipy.stats import beta
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import DataConversionWarning

from certivote import Certificate, CertifiedVoteClassifier, compare
from certivote.certificate import recorded_parameters
from certivote.methods import DisR, DisV
from certivote.pipeline import make_plan, run
from certivote.pipeline._record import certified_majority
from certivote.voters import Forest

FEW = Forest(RandomForestClassifier(n_estimators=3))


def made(X, y, **parameters):
    return CertifiedVoteClassifier("dis-r", FEW, **{"random_state": 0, **parameters}).fit(X, y).certificate_


# Where it comes from


def test_a_frame_leaves_its_names():
    X, y = load_iris(return_X_y=True, as_frame=True)
    seen = made(X, y.rename("species")).provenance
    assert (seen.target, seen.columns) == ("species", tuple(X.columns))
    assert (seen.n_rows, seen.n_columns, seen.class_counts) == (150, 4, (50, 50, 50))
    assert (seen.entropy, seen.source, seen.source_digest) == ((0,), "", "")
    with pytest.warns(DataConversionWarning):
        assert made(X, y.to_frame("kind")).provenance.target == "kind"


def test_an_array_has_none():
    X, y = cancer()
    seen = made(X, y).provenance
    assert (seen.target, seen.columns) == ("", ())
    assert (seen.n_rows, seen.n_columns) == X.shape
    assert seen.class_counts == tuple(np.bincount(y))


def test_names_of_an_earlier_fit_are_forgotten():
    X, y = load_iris(return_X_y=True, as_frame=True)
    clf = CertifiedVoteClassifier("dis-r", FEW, random_state=0)
    assert clf.fit(X, y).certificate_.provenance.columns
    again = clf.fit(X.to_numpy()[:, :3], y.to_numpy()).certificate_.provenance
    assert (again.columns, again.n_columns, again.target) == ((), 3, "")


def test_the_time_is_that_of_the_fit_and_says_nothing_about_equality():
    X, y = load_iris(return_X_y=True)
    before = datetime.now(UTC).replace(microsecond=0)
    first = made(X, y)
    moment = datetime.fromisoformat(first.provenance.created)
    assert before <= moment <= datetime.now(UTC)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", first.provenance.created)
    later = replace(first, provenance=replace(first.provenance, created="2000-01-01T00:00:00Z"))
    assert later == first
    assert later.to_json() != first.to_json()
    assert replace(first, provenance=replace(first.provenance, n_rows=3)) != first


def test_versions_are_those_of_the_libraries():
    versions = dict(fitted("dis-r").certificate_.provenance.versions)
    assert list(versions) == ["certivote", "python", "numpy", "scipy", "scikit-learn", "pandas"]
    assert versions["numpy"] == np.__version__
    assert versions["scikit-learn"] == sklearn.__version__
    assert versions["certivote"] == fitted("dis-r").certificate_.library_version


@pytest.mark.parametrize("seed", [7, None, "state"])
def test_the_entropy_repeats_the_fit(seed):
    X, y = load_iris(return_X_y=True)
    state = np.random.RandomState(3) if seed == "state" else seed
    first = made(X, y, random_state=state)
    assert first.provenance.entropy == ((7,) if seed == 7 else first.provenance.entropy)
    assert len(first.provenance.entropy) == (1 if seed == 7 else 4)
    assert Certificate.from_json(first.to_json()).provenance == first.provenance


def test_parameters_are_those_of_the_estimator():
    X, y = load_iris(return_X_y=True)
    clf = CertifiedVoteClassifier(DisV(order=[1.5, 2]), FEW, 2, delta=0.1, random_state=0).fit(X, y)
    recorded = dict(clf.certificate_.provenance.parameters)
    assert recorded.keys() == clf.get_params(deep=False).keys() - {"random_state", "n_jobs", "verbose"}
    assert (json.loads(recorded["method"])["order"], recorded["delta"], recorded["split"]) == ([1.5, 2], "0.1", "2")
    assert json.loads(recorded["voters"]) == repr(FEW)
    assert recorded == dict(recorded_parameters(clf.get_params(deep=False)))


def test_a_comparison_records_the_parameters_that_each_method_had():
    X, y = cancer()
    table = compare(X[:200], y[:200], [DisR(solver="adam"), "holdout"], voters="forest", joint=True, random_state=0)
    for name, text in table.attrs["certificates"].items():
        certificate = Certificate.from_json(text)
        recorded = {key: json.loads(value) for key, value in certificate.provenance.parameters}
        method = recorded["method"] if name == "holdout" else recorded["method"]["name"]
        assert (method, recorded["delta"], recorded["voters"]) == (name, 0.025, "forest")
        assert certificate.solver == ("lbfgs" if name == "holdout" else "adam")


# The most frequent class


def quantile(errors, n, delta):
    return beta.ppf(1 - delta, errors + 1, n - errors)


@pytest.mark.parametrize(
    ("train", "certify", "expected"),
    [
        ([0, 1, 1, 2], [1, 0, 2, 1], (1, 2, 0.05)),
        ([2, 0, 0, 2], [1, 0, 2, 1], (0, 3, 0.05)),  # of several the first
        ([1], [0, 0, 0, 0, 2], (1, 5, None)),
        ([], [1, 2, 2, 1, 0], (1, 3, 0.05 / 3)),
    ],
)
def test_the_most_frequent_class_of_the_training_rows_is_certified(train, certify, expected):
    found = certified_majority(np.array(train, dtype=int), np.array(certify), ["a", "b", "c"], 0.05)
    code, errors, delta = expected
    assert (found.label, found.errors) == ("abc"[code], errors)
    wanted = 1.0 if delta is None else quantile(errors, len(certify), delta)
    assert found.bound == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("setting", ["single", "cross", "three", "stumps"])
def test_every_part_has_its_own(setting):
    _, y = cancer()
    clf = fitted("dis-r", setting)
    labels = np.array(clf.certificate_.classes)
    parts = run(make_plan("dis-r", clf.voters, clf.split, random_state=0), *cancer()).parts
    for part, rows in zip(clf.certificate_.parts, (part.rows for part in parts), strict=True):
        counts = np.bincount(y[rows.train] if len(rows.train) else y[rows.certify])
        assert part.majority.label == labels[counts.argmax()]
        assert part.majority.errors == np.count_nonzero(y[rows.certify] != counts.argmax())
        # All hold at once, since the deployed one is chosen.
        delta = clf.delta / len(parts) if len(rows.train) else clf.delta / 2
        assert part.majority.bound == pytest.approx(quantile(part.majority.errors, part.n, delta), rel=1e-9)
        level = clf.delta / len(parts)
        assert part.holdout.bound == pytest.approx(quantile(part.holdout.errors, part.n, level), rel=1e-9)


def test_errors_of_the_majority_are_counted_by_answers_whatever_the_loss():
    X, y = cancer()
    one, two = (
        CertifiedVoteClassifier("dis-r", stumps(), "none", loss, random_state=0).fit(X, y).certificate_.parts[0]
        for loss in ("plurality", "half-weight")
    )
    assert (one.majority.errors, one.majority.bound) == (two.majority.errors, two.majority.bound)


def test_labels_of_a_series_with_a_number_for_a_name_are_named():
    X, y = load_iris(return_X_y=True)
    assert made(X, pd.Series(y, name=0)).provenance.target == "0"
