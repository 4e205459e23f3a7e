"""Columns of a table as numbers."""

import numpy as np
import pandas as pd
import pytest

from certivote.voters import ColumnEncoder


def test_rare_categories_share_a_number():
    common = [f"c{k}" for k in range(5)] * 10
    encoder = ColumnEncoder(max_categories=6).fit(pd.DataFrame({"a": [*common, "r1", "r2", "r3"]}))
    out = encoder.transform(pd.DataFrame({"a": ["c0", "c4", "r1", "r3", "new", None]}))[:, 0]
    assert out[2] == out[3]
    assert len(set(out[:3])) == 3
    assert np.isnan(out[4:]).all()


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "boolean", "category", "datetime64[s]"])
def test_columns_of_pandas_own_types(dtype):
    values = {"boolean": [True, None], "category": ["u", None], "datetime64[s]": ["1970-01-02", None]}
    column = pd.Series(values.get(dtype, [1, None]), dtype=dtype)
    out = ColumnEncoder().fit_transform(pd.DataFrame({"a": column}))
    assert np.isnan(out[1, 0])
    assert out[0, 0] == (0.0 if dtype in ("boolean", "category") else 1.0)
