"""Digests of the rows of a frame."""

from datetime import datetime, timedelta, timezone

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from certivote.certificate import data_digest, part_digest, row_keys, rows_digest


def test_digests_see_values_and_not_storage():
    values = ["b", "a", None, "b"]
    numbers = [0.0, -0.0, np.nan, 0.0]
    stored = [
        pd.DataFrame({"t": pd.Categorical(values), "x": numbers}),
        pd.DataFrame({"t": pd.Categorical(values, categories=["z", "b", "a"]), "x": numbers}),
        pd.DataFrame({"t": pd.Series(values, dtype=object), "x": numbers}),
        pd.concat([pd.DataFrame({"t": values[k : k + 1], "x": numbers[k : k + 1]}) for k in range(4)]),
    ]
    keys = [row_keys(frame) for frame in stored]
    assert keys[0] == keys[1] == keys[2] == keys[3]
    assert keys[0][0] == keys[0][3]
    assert len(set(keys[0])) == 3
    changed = stored[0].assign(t=pd.Categorical(["b", "a", "a", "b"]))
    assert [a == b for a, b in zip(row_keys(changed), keys[0], strict=True)] == [True, True, False, True]
    assert rows_digest(changed) != rows_digest(stored[0])


def test_digests_of_many_rows_are_those_of_few(monkeypatch):
    frame = pd.DataFrame(
        {"t": [f"v{k % 9}" for k in range(40)], "x": np.arange(40.0), "l": [[k % 3] for k in range(40)]}
    )
    whole, plain = row_keys(frame), row_keys(frame[["x"]].to_numpy())
    monkeypatch.setattr("certivote.certificate._digests._CHUNK", 7)
    assert row_keys(frame) == whole
    assert row_keys(frame[["x"]].to_numpy()) == row_keys(frame[["x"]]) == plain


@pytest.mark.parametrize("zone", [None, "UTC", "Asia/Tokyo"])
def test_digests_of_dates_do_not_depend_on_their_unit(zone):
    """One pandas keeps dates in nanoseconds, another in microseconds; a certificate must fit the data under both."""
    dates = pd.Series(pd.to_datetime(["2024-02-29 12:30:00", None, "1969-12-31 23:59:59", "2024-03-01 00:00:00"]))
    keys = [
        row_keys(pd.DataFrame({"seen": dates.astype(f"datetime64[{unit}]").dt.tz_localize("UTC").dt.tz_convert(zone)}))
        for unit in ("s", "ms", "us", "ns")
    ]
    assert keys[0] == keys[1] == keys[2] == keys[3]
    assert len(set(keys[0])) == 4


def test_digests_of_dates_see_what_nanoseconds_cannot_hold():
    """Moments whose numbers of nanoseconds would be equal modulo 2**64."""
    near, far = np.datetime64("2024-01-01", "us"), np.datetime64("2024-01-01", "us") + (1 << 61)
    first, second = (row_keys(pd.DataFrame({"seen": np.array([date])})) for date in (near, far))
    assert (int(far.view(np.int64)) * 1000 - int(near.view(np.int64)) * 1000) % (1 << 64) == 0
    assert first != second


def test_digests_of_sparse_rows_do_not_depend_on_the_type_of_column_numbers():
    rows = sparse.csr_array(np.diag([1.0, 2.0, 0.0]))
    wide = sparse.csr_array((rows.data, rows.indices.astype(np.int64), rows.indptr.astype(np.int64)), shape=rows.shape)
    assert wide.indices.dtype != rows.indices.dtype
    assert row_keys(wide) == row_keys(rows)


NUMBERS = [[0.5, 1.0], [2.0, np.nan], [-0.0, 3.0]]
MIXED = [[1, "a"], [2.5, None], [True, "b"], [1, "1"]]


def test_the_same_numbers_have_the_same_keys_whatever_holds_them(tmp_path):
    pa = pytest.importorskip("pyarrow")
    array = np.array(NUMBERS)
    frame = pd.DataFrame(array, columns=["x", "y"])
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    held = [
        NUMBERS,
        array.astype(np.float32),
        array.astype(object),
        np.asfortranarray(array),
        frame,
        frame.astype(np.float32),
        frame.convert_dtypes(),
        frame.astype(object),
        frame.astype({"x": pd.ArrowDtype(pa.float64()), "y": "Float32"}),
        pd.read_csv(tmp_path / "t.csv"),
        pd.read_parquet(tmp_path / "t.parquet"),
        pa.Table.from_pandas(frame).to_pandas(types_mapper=pd.ArrowDtype),
    ]
    assert all(row_keys(each) == row_keys(array) for each in held)


def test_whole_numbers_and_truth_values_are_numbers():
    as_floats = row_keys([[1.0], [0.0]])
    for values in ([[1], [0]], [[True], [False]], np.array([[1], [0]], dtype=np.uint8), [[np.float32(1)], [False]]):
        assert row_keys(values) == as_floats
    assert row_keys(np.array([["1"], ["0"]])) != as_floats


def test_texts_numbers_and_dates_in_one_column_have_keys_by_value():
    objects = pd.DataFrame(MIXED, columns=["x", "t"])
    typed = pd.DataFrame({"x": np.array([1, 2.5, 1, 1], dtype=np.float32), "t": pd.Categorical(["a", None, "b", "1"])})
    assert row_keys(objects) == row_keys(typed) == row_keys(np.array(MIXED, dtype=object))
    dates = pd.to_datetime(["2024-02-29 12:30:00.000001", "2024-03-01 00:00:00.000000"])
    held = [
        pd.Series(dates),
        pd.Series(list(dates.to_pydatetime()), dtype=object),
        pd.Series(dates.tz_localize("UTC").tz_convert("Asia/Tokyo")),
        pd.Series(list(dates.to_numpy()), dtype=object),
    ]
    assert all(row_keys(each.to_frame()) == row_keys(held[0].to_frame()) for each in held)
    assert row_keys(pd.DataFrame({"d": [dates[1].date()]})) == row_keys(pd.DataFrame({"d": [dates[1]]}))


def test_lists_of_numbers_beside_text_have_the_keys_of_a_frame():
    frame = pd.DataFrame(MIXED, columns=["x", "t"])
    assert row_keys(MIXED) == row_keys([tuple(row) for row in MIXED]) == row_keys(frame)
    assert row_keys([[1, "a"], [2, np.nan]]) == row_keys(pd.DataFrame({"x": [1, 2], "t": ["a", None]}))
    assert row_keys([[1, "a"]]) != row_keys([["1", "a"]]) == row_keys(np.array([[1, "a"]]))


def test_a_row_of_numbers_has_one_key_whatever_stands_beside_it():
    alone, beside = pd.DataFrame({"x": [1.0, 2.0]}), pd.DataFrame({"x": [1.0, "text"]})
    assert row_keys(alone)[0] == row_keys(beside)[0]


def test_large_whole_numbers_are_told_apart():
    large = [(1 << 53) + 1, 1 << 53, (1 << 53) - 1, 10**400]
    assert len(set(row_keys(np.array(large[:3]).reshape(-1, 1)))) == 3
    assert len(set(row_keys(pd.DataFrame({"x": pd.Series(large, dtype=object)})))) == 4
    assert row_keys(np.array(large[:2]).reshape(-1, 1)) == row_keys(pd.DataFrame({"x": large[:2]}))


def test_other_values_have_other_keys():
    values = ["1", 1, b"1", "a", b"nan", None, 1j, pd.Timedelta(1), pd.Timestamp("1970-01-02"), (1,), "", "True", 0.1]
    values += [np.float32(0.1), "\ud800"]
    keys = row_keys(pd.DataFrame({"x": pd.Series(values, dtype=object)}))
    assert len(set(keys)) == len(values)


def objects(*values):
    return row_keys(pd.DataFrame({"x": pd.Series(list(values), dtype=object)}))


def test_values_of_numpy_that_stand_by_themselves_are_those_of_python():
    for large in ((1 << 53) + 1, (1 << 63) + 1):
        kind = np.uint64 if large >> 63 else np.int64
        assert objects(kind(large)) == objects(large) == row_keys(np.array([[large]], dtype=kind))
        assert objects(kind(large)) != objects(kind(large - 1))
    second = np.timedelta64(5, "s")
    assert objects(second) == objects(pd.Timedelta(second)) != objects(5)
    far = np.datetime64("20000-01-01T00:00:01")
    assert objects(far) == row_keys(np.array([[far]])) != objects(np.datetime64("20000-01-01"))


def test_moments_at_the_ends_of_the_calendar_have_keys_in_any_time_zone():
    east, west = timezone(timedelta(hours=5)), timezone(timedelta(hours=-5, minutes=-30))
    first, last = datetime(1, 1, 1, 4, tzinfo=east), datetime(9999, 12, 31, 23, 59, 59, 7, tzinfo=west)
    assert len({*objects(first), *objects(last), *objects(first.replace(tzinfo=None))}) == 3
    noon = datetime(2024, 2, 29, 2, 30, 1, 5)
    assert objects(noon.replace(tzinfo=west)) == objects(noon + timedelta(hours=5, minutes=30))
    assert objects(noon.replace(tzinfo=east)) == objects(noon - timedelta(hours=5))


def test_lists_in_a_cell_have_keys_by_value():
    """Their text leaves out the middle of long ones, and digits."""
    long = np.arange(5_000.0)
    near = long.copy()
    near[2_500] = np.nextafter(2_500.0, 0.0)
    assert objects(long) == objects(long.tolist()) == objects(tuple(long.astype(int).tolist())) != objects(near)
    assert objects(np.ones((2, 3))) == objects(np.ones((2, 3)).tolist()) != objects(np.ones((3, 2)))
    assert objects([1, "1", None]) == objects([1.0, "1", np.nan]) != objects(["1", 1, None])
    beside = objects([1], "[1]", 5, None)
    assert len(set(beside)) == 4
    assert beside[1:] == objects("[1]", 5, None)


def test_texts_that_no_file_could_hold_have_keys_too():
    texts = ["\ud800", "b", None]
    column = pd.Series(texts, dtype=object).to_frame()
    assert row_keys(np.array(texts, dtype=object).reshape(-1, 1)) == row_keys(column)
    assert row_keys(np.array(texts[:2]).reshape(-1, 1)) == row_keys(column)[:2]


def test_sparse_rows_by_value():
    rows = sparse.csr_array(np.array([[0.0, 1.0], [2.0, 0.0]]))
    stored = sparse.coo_array(([1, 2, 0], ([0, 1, 0], [1, 0, 0])), shape=(2, 2), dtype=np.int32)
    before = stored.copy()
    assert row_keys(stored) == row_keys(rows.astype(np.float32)) == row_keys(rows) == row_keys(rows.tocsc())
    assert (stored != before).nnz == 0
    assert stored.nnz == before.nnz


def test_digest_of_data_sees_rows_labels_and_what_stands_beside_them():
    def digest(X=((1.0,), (2.0,)), y=(0, 1), **beside):
        keys = row_keys(np.array(X))
        return data_digest(part_digest(keys, np.array(y, dtype=object), np.arange(len(keys))), beside)

    same = {digest(), digest(y=(0.0, 1.0)), digest(y=(False, True)), digest(X=[[1], [2]])}
    assert len(same) == 1
    others = [
        digest(y=(1, 0)),
        digest(y=("0", "1")),
        digest(X=[[2], [1]]),
        digest(groups=["a", "b"]),
        digest(groups=["b", "a"]),
        digest(order=["a", "b"]),
        digest(groups=["a", "b"], order=[1, 2]),
    ]
    assert len({*same, *others}) == 8
