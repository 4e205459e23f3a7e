"""Data frames with columns of any kind, of pandas, polars and pyarrow, are as good as files."""

from datetime import date, datetime

import numpy as np
import pandas as pd
import pytest

from certivote import CertifiedVoteClassifier, DriftMonitor, certify, compare, load, verify
from certivote.frames import as_frame

pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

RNG = np.random.default_rng(0)
N = 300
SIZE, AGE = RNG.normal(size=N), RNG.integers(20, 90, N)
COLUMNS = {
    "size": [None if number % 9 == 0 else value for number, value in enumerate(SIZE.tolist())],
    "age": [None if number % 7 == 0 else value for number, value in enumerate(AGE.tolist())],
    "site": [None if number % 11 == 0 else "nsw"[number % 3] for number in range(N)],
    "smokes": [None if number % 5 == 0 else bool(number % 2) for number in range(N)],
    "since": [datetime(2024, 1 + number % 12, 1 + number % 28, 12, 30) for number in range(N)],
    "born": [None if number % 13 == 0 else date(1950 + number % 40, 1, 2) for number in range(N)],
    "dose": ["n/a" if number % 10 == 0 else f"{number / 10:.1f} mg".replace(".", ",") for number in range(N)],
}
Y = np.where((SIZE > 0) ^ (np.arange(N) % 3 == 1), "ill", "well")


def polars_frame():
    return pl.DataFrame(COLUMNS).with_columns(pl.col("site").cast(pl.Categorical))


def arrow_table():
    return pa.table(COLUMNS)


def nullable_frame():
    return arrow_table().to_pandas(types_mapper={pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}.get)


FRAMES = {
    "pandas": lambda: pd.DataFrame(COLUMNS).astype({"site": "category"}),
    "objects": lambda: pd.DataFrame(COLUMNS, dtype=object),
    "nullable": nullable_frame,
    "arrow dtypes": lambda: arrow_table().to_pandas(types_mapper=pd.ArrowDtype),
    "polars": polars_frame,
    "pyarrow": arrow_table,
}


def fitted(X, y=Y, **parameters):
    return CertifiedVoteClassifier("dis-b", random_state=0, **parameters).fit(X, y)


@pytest.fixture(scope="module")
def clf():
    return fitted(FRAMES["pandas"]())


@pytest.mark.parametrize("kind", FRAMES)
def test_a_table_has_one_certificate_whatever_holds_it(kind, clf):
    X = FRAMES[kind]()
    again = fitted(X)
    assert again.certificate_ == clf.certificate_
    assert again.voters_.encoder.kinds_ == ["number", "number", "category", "category", "date", "date", "number"]
    assert again.voters_.encoder.forms_[-1] == (",", "", "mg")
    assert again.feature_names_in_.tolist() == list(COLUMNS)
    assert np.array_equal(clf.predict_proba(X), clf.predict_proba(FRAMES["pandas"]()))


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_it_is_saved_audited_and_fitted_again(kind, clf, tmp_path):
    X = FRAMES[kind]()
    clf.save(tmp_path / "m.certivote")
    model = load(tmp_path / "m.certivote")
    assert np.array_equal(model.predict_proba(X), clf.predict_proba(X))
    audit = verify(model.certificate_, model, X, Y, refit=True)
    assert audit, str(audit)
    assert model.refit(X, Y).certificate_ == clf.certificate_
    DriftMonitor(model).update(X)


def test_labels_and_groups_may_be_columns_of_such_frames(clf):
    assert fitted(polars_frame(), pl.Series("y", Y)).certificate_.bound == clf.certificate_.bound
    assert fitted(arrow_table(), pa.chunked_array([Y.tolist()])).certificate_.bound == clf.certificate_.bound
    groups = [number // 2 for number in range(N)]
    with_lists = CertifiedVoteClassifier("dis-b", "forest", random_state=0).fit(FRAMES["pandas"](), Y, groups=groups)
    with_series = CertifiedVoteClassifier("dis-b", "forest", random_state=0).fit(
        polars_frame(), Y, groups=pl.Series("groups", groups)
    )
    assert with_series.certificate_.bound == with_lists.certificate_.bound


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_columns_are_found_by_their_names(kind, clf):
    X = FRAMES[kind]()
    names = [*COLUMNS][::-1]
    turned = X.select(names) if kind != "pandas" else X[names].assign(more=1)
    assert np.array_equal(clf.predict_proba(turned), clf.predict_proba(X))
    assert verify(clf.certificate_, clf, turned, Y)
    fewer = X.select(names[1:]) if kind != "pandas" else X[names[1:]].rename(columns={"age": "Age"})
    wrong = {"pandas": r"no column 'age' \(did you mean 'Age'\?\), and 1 more are missing"}
    with pytest.raises(ValueError, match=wrong.get(kind, "X has no column 'dose'")):
        clf.predict(fewer)


def test_given_models_get_what_they_were_trained_on():
    class Model:
        classes_ = np.array(["ill", "well"])

        def predict(self, X):
            assert isinstance(X, pl.DataFrame)
            return np.where(X["size"].fill_null(0.0).to_numpy() > 0, "ill", "well")

    assert certify(Model().predict, polars_frame(), Y).bound < 0.6


def test_stumps_and_comparisons_read_frames_too():
    X = FRAMES["pandas"]()
    assert fitted(X, voters="stumps").voters_.encoder.fill
    assert len(compare(polars_frame(), Y, ["dis-r", "fo"], voters="forest", random_state=0)) == 2


def test_frames_of_numbers_need_no_encoder():
    X = pd.DataFrame({"a": SIZE, "b": AGE, "c": AGE > 40})
    clf = CertifiedVoteClassifier("dis-b", "forest", random_state=0)
    plain = clf.fit(X, Y).certificate_
    assert not hasattr(clf.voters_, "encoder")
    assert clf.fit(pl.from_pandas(X), Y).certificate_ == plain
    assert clf.fit(pa.Table.from_pandas(X), Y).certificate_ == plain


def test_rows_that_are_not_computed_yet_are_asked_for():
    with pytest.raises(ValueError, match=r"collect them first: X.collect\(\)"):
        fitted(polars_frame().lazy())


def test_a_frame_of_pandas_stays_itself():
    X = FRAMES["pandas"]()
    assert as_frame(X) is X


def test_free_text_is_left_out_and_said():
    notes = [f"the patient said that day {number} had been much better than the day before" for number in range(N)]
    clf = fitted(FRAMES["pandas"]().assign(note=notes))
    encoder = clf.voters_.encoder
    assert encoder.kinds_[-1] == "text"
    assert encoder.readings(FRAMES["pandas"]().assign(note=notes))[-1].kind == "left out: free text"


def test_durations_are_numbers():
    X = pd.DataFrame({"stay": pd.to_timedelta([1, 2, 3] * 50, unit="D"), "site": ["n", "s", "w"] * 50})
    clf = fitted(X, ["u", "v", "w"] * 50)
    assert clf.voters_.encoder.kinds_ == ["number", "category"]
    assert clf.voters_.encoder.transform(X)[:3, 0].tolist() == [1.0, 2.0, 3.0]
