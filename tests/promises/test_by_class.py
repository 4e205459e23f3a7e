"""Bounds by class: counted by hand, recomputed by a stranger, proved again, and caught when altered."""

import dataclasses
import json
from functools import cache

import numpy as np
import pytest
from altering import with_part
from auditor import assert_close_above, recomputed_by_class
from fits import CERTIFIED, DRAWN, FIXED, MEAN, SETTINGS, cancer, fitted, forest
from mpmath import mp
from options import as_objects
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from thorough import grid

from certivote import Certificate, CertifiedVoteClassifier, verify

COUNTED = [*DRAWN, "holdout"]


@cache
def wine():
    X, y = load_wine(return_X_y=True)
    return X[:, :4], np.array(["red", "white", "rosé"])[y]


@cache
def wine_fit(method="dis-b", **parameters):
    parameters = {"voters": forest(9, max_depth=2), "prior": 0.5, "random_state": 0, **parameters}
    return CertifiedVoteClassifier(**as_objects(method, **parameters)).fit(*wine())


def assert_recomputable_by_class(certificate):
    with mp.workdps(35):
        expected = recomputed_by_class(json.loads(certificate.to_json()))
        for entry, true in zip(certificate.by_class, expected, strict=True):
            assert_close_above(entry.bound, true)


@grid(strength=1, method=CERTIFIED, setting=SETTINGS)
def test_a_stranger_can_recompute_the_bounds_of_two_classes(method, setting):
    certificate = fitted(method, setting, prior="auto", constant="exact").certificate_
    assert [(entry.label, entry.kind) for entry in certificate.by_class] == [("0", "error"), ("1", "error")]
    assert_recomputable_by_class(certificate)


@pytest.mark.parametrize("loss", ["plurality", "half-weight"])
@pytest.mark.parametrize("method", [name for name in CERTIFIED if name != "c-bound"])
def test_a_stranger_can_recompute_the_bounds_of_three_classes(method, loss):
    certificate = wine_fit(method, loss=loss, split="cross").certificate_
    kinds = ["error", "false alarm"] if method in COUNTED else ["error"]
    named = [(entry.label, entry.kind) for entry in certificate.by_class]
    assert named == [(label, kind) for label in ("red", "rosé", "white") for kind in kinds]
    assert {entry.delta for entry in certificate.by_class} == {0.05 / 2 / len(named)}
    assert_recomputable_by_class(certificate)


@pytest.mark.parametrize("parameters", [{"n_draws": 4}, {"renyi_order": (1.2, 2.0), "n_draws": 2}], ids=str)
def test_draws_and_orders_are_paid_for(parameters):
    method = "dis-v" if "renyi_order" in parameters else "dis-r"
    assert_recomputable_by_class(wine_fit(method, **parameters).certificate_)


@pytest.mark.parametrize("method", ["dis-b", "holdout"])
@pytest.mark.parametrize("loss", ["plurality", "half-weight"])
def test_the_counts_are_those_of_the_answers(method, loss):
    clf, (X, y) = wine_fit(method, loss=loss), wine()
    rows = clf.part_.certify
    answers, masses = clf.predict(X[rows]).tolist(), clf.predict_proba(X[rows]).tolist()
    for entry in clf.certificate_.by_class:
        own = clf.classes_.tolist().index(entry.label)
        cases = [
            (said, mass[own])
            for said, mass, true in zip(answers, masses, y[rows], strict=True)
            if (true == entry.label) == (entry.kind == "error")
        ]
        if entry.kind == "false alarm":
            errors = sum(said == entry.label for said, _ in cases)
        elif loss == "plurality":
            errors = sum(said != entry.label for said, _ in cases)
        else:
            errors = sum(mass <= 0.5 for _, mass in cases)
        assert (entry.n, entry.errors) == (len(cases), errors)
    assert sum(entry.errors for entry in clf.certificate_.by_class) > 0


@pytest.mark.parametrize("method", FIXED)
def test_errors_of_the_classes_are_those_of_the_whole(method):
    certificate = fitted(method).certificate_
    assert sum(entry.errors for entry in certificate.by_class) == certificate.parts[0].errors


def test_a_class_without_certification_rows_has_bound_one():
    X, y = cancer()
    X, y = np.concatenate([X, X[:1]]), np.append(y, 2)
    # Fixed voters and few rows of the third class: some seed puts it among the training rows.
    fits = (
        CertifiedVoteClassifier("holdout", [LogisticRegression(C=1e-6)], random_state=seed).fit(X, y)
        for seed in range(20)
    )
    clf = next(clf for clf in fits if len(y) - 1 in clf.part_.train)
    absent = {entry.kind: entry for entry in clf.certificate_.by_class if entry.label == "2"}
    assert (absent["error"].n, absent["error"].bound, absent["error"].risks) == (0, 1.0, ())
    assert absent["false alarm"].n == clf.certificate_.parts[0].n
    assert [str(check) for check in verify(clf.certificate_, clf, X, y) if not check.passed] == []
    assert Certificate.from_json(clf.certificate_.to_json()) == clf.certificate_
    assert "2: errors at most 100.00 % (0 rows)" in clf.certificate_.details()


def test_the_text_has_a_line_for_each_class():
    text = wine_fit().certificate_.details()
    said = "it holds with 95 % confidence (delta = 0.05 of its own), all of its statements at once"
    assert said in " ".join(text.split())
    for label in ("red", "rosé", "white"):
        (line,) = (line for line in text.splitlines() if line.strip().startswith(f"{label}: errors at most"))
        assert "false alarms at most" in line


@pytest.mark.parametrize("method", [name for name in CERTIFIED if name != "c-bound"])
def test_three_classes_are_proved_and_recounted(method):
    clf = wine_fit(method, split="cross")
    checks = verify(clf.certificate_, clf, *wine())
    assert [str(check) for check in checks if not check.passed] == []
    named = {check.what for check in checks}
    assert {"by class, bounds", "errors, class rosé, rows"} <= named
    assert ("false alarms, class rosé, errors" in named) == (method in COUNTED)


def saying(certificate, by_class):
    """The certificate with other bounds by class."""
    first, *others = certificate.promises
    return dataclasses.replace(certificate, promises=(dataclasses.replace(first, statements=by_class), *others))


def entry_with(place, **changes):
    def alter(c):
        changed = {name: value(c.by_class[place]) if callable(value) else value for name, value in changes.items()}
        entries = list(c.by_class)
        entries[place] = dataclasses.replace(entries[place], **changed)
        return saying(c, tuple(entries))

    return alter


ALTERED = {
    "bound": entry_with(0, bound=lambda e: 0.9 * e.bound),
    "false alarm bound": entry_with(1, bound=lambda e: 0.9 * e.bound),
    "errors": entry_with(0, errors=0),
    "false alarms": entry_with(3, errors=0),
    "risk": entry_with(0, means=(0.0,)),
    "rows": entry_with(0, n=lambda e: e.n + 50),
    "no rows": entry_with(0, n=0, errors=None, bound=0.5),
    "delta": entry_with(0, delta=0.05),
    "simulated": entry_with(0, risk_delta=0.04),
    "class": entry_with(0, label="green"),
    "kind": entry_with(0, kind="false alarm"),
    "one left out": lambda c: saying(c, c.by_class[1:]),
    "undivided delta": lambda c: saying(c, tuple(dataclasses.replace(entry, delta=0.05) for entry in c.by_class)),
}


@pytest.mark.parametrize("kind", ALTERED)
def test_an_altered_record_is_caught(kind):
    certificate = wine_fit("dis-b", prior=0.5).certificate_
    assert all(check.passed for check in verify(certificate))
    assert not all(check.passed for check in verify(ALTERED[kind](certificate)))


@pytest.mark.parametrize("method", [*MEAN, "smv-exact"])
def test_a_changed_statistic_is_caught_by_the_data(method):
    clf = fitted(method)
    (part,) = clf.certificate_.parts
    changed = with_part(clf.certificate_, means=(0.99 * part.risks[0], *part.risks[1:]))
    failed = {check.what for check in verify(changed, clf, *cancer()) if not check.passed}
    assert "risk" in failed
    entry = entry_with(1, means=lambda e: (0.99 * e.risks[0], *e.risks[1:]))(clf.certificate_)
    failed = {check.what for check in verify(entry, clf, *cancer()) if not check.passed}
    assert "errors, class 1, risk" in failed
    assert "risk" not in failed


def test_a_simulated_risk_that_is_too_low_is_caught_by_the_data():
    clf = wine_fit("smv-exact")
    (part,) = clf.certificate_.parts
    assert part.statement.risk_draws > 0
    changed = with_part(clf.certificate_, means=(0.8 * part.risks[0],))
    assert "risk" in {check.what for check in verify(changed, clf, *wine()) if not check.passed}


def test_other_labels_are_caught():
    clf, (X, y) = wine_fit("dis-b"), wine()
    flipped = y.copy()
    rows = clf.part_.certify[y[clf.part_.certify] == "red"][:5]
    flipped[rows] = "white"
    failed = {check.what for check in verify(clf.certificate_, clf, X, flipped) if not check.passed}
    assert {"errors, class red, rows", "false alarms, class red, rows"} <= failed
