"""Digests of the rows of a frame."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from certivote.certificate import row_keys, rows_digest


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
