"""Digests of the rows of a frame."""

import numpy as np
import pandas as pd

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
