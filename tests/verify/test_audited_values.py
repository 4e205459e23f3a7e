"""Labels, groups and times in whatever holds them, and training rows of another type: the auditor reads them alike."""

import dataclasses
import datetime

import numpy as np
import pandas as pd
import pytest
from altering import with_part
from scipy import sparse, stats

pytest.importorskip("flint", reason="proofs need python-flint: install certivote[verify]")

from kinds import case, forest, patients, rows

from certivote import CertifiedVoteClassifier, certify, certify_predictions, verify

DAY = datetime.date(2026, 1, 31)
NOON = datetime.datetime(2026, 1, 31, 12)


def failures(checks):
    return {check.what for check in checks if not check.passed}


def details(checks):
    return {check.what: check.detail for check in checks}


def numbers():
    """True labels and answers of 40 rows, of which every fifth is wrong."""
    y = np.arange(40) % 2
    return y, np.where(np.arange(40) % 5 == 0, 1 - y, y)


# --- Values.


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT])
def test_missing_values_are_refused(missing):
    y, answers = numbers()
    certificate = certify_predictions(y, answers)
    for hold in (list, lambda values: pd.Series(values, dtype=object)):
        checks = verify(certificate, y=hold([missing, *y[1:].tolist()]), predictions=answers)
        assert failures(checks) == {"answers"}
        assert "some rows have no value" in details(checks)["answers"]
    checks = verify(certificate, y=y, predictions=answers, groups=np.eye(40))
    assert "got shape (40, 40)" in details(checks)["groups"]


@pytest.mark.parametrize(
    ("first", "other"),
    [
        ([7, 8], [7.0, "8"]),
        ([DAY, 8], ["2026-01-31", 8]),
        ([NOON, pd.Timestamp(NOON)], ["2026-01-31T12:00:00", "2026-01-31T12:00:00"]),
        ([float("inf"), float("-inf")], ["inf", "-inf"]),
    ],
)
def test_an_entity_has_one_name_however_it_is_written(first, other):
    y, answers = numbers()
    certificate = certify_predictions(y, answers, groups=[*first, *range(100, 138)])
    assert failures(verify(certificate, y=y, predictions=answers, groups=[*other, *range(100, 138)])) == set()
    assert "entities" not in failures(verify(certificate, y=y, predictions=answers, groups=[*first, *range(200, 238)]))


@pytest.mark.parametrize(
    "hold",
    [
        lambda groups: groups.astype("Int64"),
        lambda groups: groups.astype("category"),
        lambda groups: groups.astype(float).tolist(),
        lambda groups: [str(value) if value % 2 else value for value in groups],
        lambda groups: groups.to_frame(),
    ],
)
def test_groups_are_the_same_whatever_holds_them(hold):
    y, answers = numbers()
    groups = pd.Series(np.arange(40) // 3, name="patient")
    certificate = certify_predictions(y, answers, groups=groups)
    checks = verify(certificate, y=y, predictions=answers, groups=hold(groups))
    assert failures(checks) == set()
    assert "losses" in details(checks)
    assert failures(verify(certify_predictions(y, answers, groups=hold(groups)))) == set()


@pytest.mark.parametrize(
    "groups",
    [
        [DAY + datetime.timedelta(days=row // 3) for row in range(40)],
        pd.date_range("2026-01-31", periods=40, tz="Asia/Tokyo").floor("3D"),
        [float("inf") if row < 3 else "\ud800" if row < 6 else row // 2 for row in range(40)],
    ],
)
def test_entities_with_unusual_names_pass(groups):
    y, answers = numbers()
    certificate = certify_predictions(y, answers, groups=groups)
    assert failures(verify(certificate, y=y, predictions=answers, groups=groups)) == set()


@pytest.mark.parametrize(
    "hold",
    [
        lambda y: pd.Series(y, dtype="Int64"),
        lambda y: pd.Categorical(y),
        lambda y: y.astype(object),
        lambda y: y.tolist(),
        lambda y: list(y),
    ],
)
def test_labels_are_the_same_whatever_holds_them(hold):
    y, answers = numbers()
    certificate = certify_predictions(y, answers)
    assert failures(verify(certificate, y=hold(y), predictions=hold(answers))) == set()
    assert failures(verify(certify_predictions(hold(y), hold(answers)), y=y, predictions=answers)) == set()
    flags = pd.Series(answers == 1, dtype="boolean")
    assert failures(verify(certify_predictions(y, flags), y=hold(y), predictions=flags)) == set()


def test_labels_that_are_only_equal_as_text_are_refused():
    y, answers = numbers()
    certificate = certify_predictions(y, answers)
    mixed = [str(label) if row == 7 else label for row, label in enumerate(answers.tolist())]
    checks = verify(certificate, y=y, predictions=mixed)
    assert "equal as text and not as values" in details(checks)["answers"]
    assert failures(checks) == {"answers"}


# --- Times.


def test_times_that_are_no_numbers_or_dates_are_refused():
    y, answers = numbers()
    certificate = certify_predictions(y, answers, order=range(40))
    for order in ([str(day) for day in range(40)], [DAY, *range(39)]):
        assert "order in time" in failures(verify(certificate, y=y, predictions=answers, order=order))


@pytest.mark.parametrize(
    "hold",
    [
        lambda days: days.tolist(),
        lambda days: [day.date() for day in days],
        lambda days: days.dt.tz_localize("UTC").dt.tz_convert("America/New_York"),
        lambda days: days.dt.as_unit("s"),
        lambda days: (days - days.min()).dt.days.astype("Int64"),
    ],
)
def test_times_are_the_same_whatever_holds_them(hold):
    y, answers = numbers()
    days = pd.Series(pd.date_range("2026-03-01", periods=40))[::-1].reset_index(drop=True)
    certificate = certify_predictions(y, answers, order=days)
    checks = verify(certificate, y=y, predictions=answers, order=hold(days))
    assert failures(checks) == set()
    assert "drift counted" in details(checks)
    assert certify_predictions(y, answers, order=hold(days)).parts == certificate.parts


@pytest.mark.parametrize(
    ("moments", "early"),
    [([0] * 10 + [1] * 30, 10), ([0] * 5 + [1] * 30 + [2] * 5, 5), ([0] * 18 + [1] * 4 + [2] * 18, 18)],
)
def test_the_drift_is_not_tested_within_a_moment(moments, early):
    """Of two moments that are equally near to the middle, the rows are divided at the earlier one."""
    y, answers = numbers()
    order = np.random.default_rng(0).permutation(moments)
    certificate = certify_predictions(y, answers, order=order)
    (drift,) = certificate.deployed_part.drift
    assert (drift.early_rows, drift.late_rows) == (early, 40 - early)
    assert failures(verify(certificate, y=y, predictions=answers, order=order)) == set()
    other = dataclasses.replace(drift, early_rows=20, late_rows=20)
    table = [[other.early_errors, 20 - other.early_errors], [other.late_errors, 20 - other.late_errors]]
    other = dataclasses.replace(other, p_value=stats.fisher_exact(table).pvalue)
    forged = with_part(certificate, drift=(other,))
    assert failures(verify(forged)) == set()
    assert failures(verify(forged, y=y, predictions=answers, order=order)) == {"drift counted"}
    for wrong in ({"early_rows": early + 1}, {"early_rows": 0, "early_errors": 0, "late_rows": 40, "late_errors": 8}):
        one = dataclasses.replace(drift, **wrong)
        assert failures(verify(with_part(certificate, drift=(one,)))) == {"drift"}


def fitted(order):
    X, y = rows()
    return CertifiedVoteClassifier("holdout", forest(), random_state=5).fit(X, y, order=order)


def test_certification_rows_of_one_moment_have_no_drift():
    X, y = rows()
    order = (np.arange(90) >= 20).astype(int)
    clf = fitted(order)
    assert clf.certificate_.deployed_part.drift == ()
    checks = verify(clf.certificate_, clf, X, y, order=order)
    assert failures(checks) == set()
    assert {"order of the rows", "drift counted"} <= set(details(checks))


def test_a_drift_that_was_removed_is_caught_with_the_data():
    given = case("holdout with an order")
    forged = with_part(given.certificate, drift=())
    assert failures(verify(forged)) == set(), "the certification rows might be of one moment"
    assert any("parts[0].drift" in check.fields for check in verify(forged))
    assert failures(given.audit(forged, "data")) == {"drift counted"}


def test_rows_of_one_moment_may_train_or_certify():
    X, y = rows()
    order = np.arange(90) // 30
    clf = fitted(order)
    train = clf.part_.train
    assert len(train) == 45
    assert train.tolist() != list(range(45)), "chance decides, not the order of the file"
    assert failures(verify(clf.certificate_, clf, X, y, order=order)) == set()
    later = np.where(np.arange(90) == train[0], 9, order)
    assert "order of the rows" in failures(verify(clf.certificate_, clf, X, y, order=later))


# --- Rows.


@pytest.mark.parametrize("kind", [float, bool, object])
def test_rows_that_a_vote_was_made_from_are_recognised_whatever_the_type_of_labels(kind):
    X, y = rows()
    codes = (y == "yes").astype(int)
    clf = CertifiedVoteClassifier("holdout", forest(), random_state=5).fit(X, codes)
    labels = codes.astype(kind)
    answers = clf.predict(X)
    certificate = certify(lambda _: answers, X, labels)
    assert failures(verify(certificate, lambda _: answers, X, labels)) == set()
    assert failures(verify(certificate, clf, X, labels)) == {"rows that the model was made from"}


def test_rows_that_a_vote_was_made_from_are_recognised_before_rows_of_other_classes():
    X, y = rows()
    clf = case("holdout").model
    X, y = np.vstack([X, X[:1] + 9.0]), [*y.tolist(), "other"]
    answers = clf.predict(X)
    certificate = certify(lambda _: answers, X, y)
    assert failures(verify(certificate, clf, X, y)) == {"rows that the model was made from"}


FRAME = pd.DataFrame({"a": rows()[0][:, 0], "b": rows()[0][:, 1], "c": np.arange(90) % 4, "d": patients()})


def first(X):
    """A model that looks at one number, whatever holds it."""
    X = X.toarray() if sparse.issparse(X) else X
    values = X["a"] if hasattr(X, "columns") else np.asarray(X)[:, 0]
    return np.where(np.asarray(values, dtype=float) > 0.5, "no", "yes")


@pytest.mark.parametrize(
    ("X", "training"),
    [
        (FRAME, FRAME[70:][["d", "c", "b", "a"]].assign(e=1.0)),
        (FRAME, FRAME[70:].astype({"a": np.float32, "c": float})),
        (FRAME.astype({"b": np.float32, "d": "category"}), FRAME[70:]),
        (FRAME[["a", "c"]], FRAME[70:][["a", "c"]].to_numpy()),
        (rows()[0], rows()[0][70:].astype(np.float32)),
        (np.round(rows()[0]).astype(int), np.round(rows()[0])[70:]),
        (sparse.csr_array(rows()[0]), sparse.csr_array(rows()[0][70:].astype(np.float32))),
        (sparse.csr_array(rows()[0]), rows()[0][70:]),
    ],
)
def test_training_rows_are_compared_by_their_values(X, training):
    _, y = rows()
    certificate = certify(first, X, y, training=training)
    assert certificate.deployed_part.duplicates_of_training_rows >= 20
    assert failures(verify(certificate, first, X, y, training=training)) == set()
    hidden = with_part(certificate, duplicates_of_training_rows=0)
    assert failures(verify(hidden, first, X, y, training=training)) == {"training rows among these"}


def test_training_rows_of_other_columns_cannot_be_compared():
    _, y = rows()
    certificate = certify(first, FRAME, y, training=FRAME[70:])
    checks = verify(certificate, first, FRAME, y, training=FRAME[70:].drop(columns="b"))
    assert failures(checks) == {"training rows", "training rows among these"}
    assert "no column b" in details(checks)["training rows among these"]
    narrow = certify(first, rows()[0], y, training=rows()[0][70:])
    checks = verify(narrow, first, rows()[0], y, training=rows()[0][70:, :2])
    assert "shape (20, 2)" in details(checks)["training rows among these"]


def test_a_column_of_text_is_rows():
    y = np.array(["no", "yes"] * 20)
    X = pd.Series([f"text {row} {label}" for row, label in enumerate(y)], name="review")

    def last_word(texts):
        return [text.split()[-1] for text in texts]

    certificate = certify(last_word, X, y, training=X[30:])
    assert certificate.deployed_part.duplicates_of_training_rows == 10
    assert failures(verify(certificate, last_word, X, y, training=X[30:])) == set()
    assert "certification rows" in failures(verify(certificate, last_word, X.str.replace("0", "9"), y))


# --- What is said.


def test_other_losses_with_as_many_errors_are_named():
    y, answers = numbers()
    groups, models = np.arange(40) // 4, {"a": answers, "b": answers[::-1]}
    certificate = certify_predictions(y, models, groups=groups)
    told = details(verify(certificate, y=y, predictions=models, groups=np.arange(40) % 10))
    for what in ("prior vote counted", "majority counted", "candidate a, errors"):
        assert "the losses of the entities are OTHER than recorded" in told[what]
    told = details(verify(certificate, y=y, predictions=models, groups=groups))
    assert not any("OTHER" in detail for detail in told.values())
