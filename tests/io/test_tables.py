"""Tables from files: what is read, and what is said about files that cannot be."""

import gzip
import io

import numpy as np
import pandas as pd
import pytest

from certivote.io import TableError, _csv_tables, column_names, read_table, stream_text
from certivote.voters import ColumnEncoder
from certivote.voters.text_columns import as_number, coded, is_missing, plain_numbers
from certivote.voters.text_dates import as_days


def written(path, text):
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.fixture
def read(tmp_path):
    return lambda text, target="y", **kinds: read_table(written(tmp_path / "table.csv", text), target, **kinds)


def numbers(frame):
    return ColumnEncoder().fit_transform(frame)


def test_numbers_are_those_that_python_reads(read):
    rng = np.random.default_rng(0)
    texts = [repr(value) for value in (rng.normal(size=500) * 10.0 ** rng.integers(-300, 300, 500)).tolist()]
    texts += ["1", "-2", " 3 ", "+4e2", ".5", "6.", "9007199254740993", "18446744073709551616", "1e-400"]
    table = read("a,y\n" + "".join(f"{text},x\n" for text in texts))
    assert table.X["a"].tolist() == [float(text) for text in texts]


@pytest.mark.parametrize("mark", ["", "NA", "na", "NaN", "NULL", "None", "nOnE", "?", " ", " NA "])
def test_marks_of_missing_values(read, mark):
    table = read(f"a,b,y\n1,u,x\n{mark},{mark},x\n3,v,x\n")
    assert numbers(table.X)[:, 0].tolist()[::2] == [1.0, 3.0]
    assert np.isnan(numbers(table.X)[1]).all()


def test_whether_a_value_is_text_does_not_depend_on_the_others(read):
    rows = ["1,True,x", "2.50,False,x", " 03,true,x"]
    alone = read("a,b,y\n" + "\n".join(rows))
    beside = read("a,b,y\n" + "\n".join([*rows, "red,maybe,x"]))
    assert alone.X["a"].dtype == float
    assert beside.X["a"].dtype == "category"
    fitted = [ColumnEncoder().fit(table.X[:3]) for table in (alone, beside)]
    assert fitted[0].kinds_ == fitted[1].kinds_ == ["number", "category"]
    assert np.array_equal(fitted[0].transform(alone.X), fitted[1].transform(beside.X[:3]))
    assert len(set(fitted[0].transform(alone.X)[:, 1])) == 3  # 'True' and 'true' are two categories


def test_text_far_down_the_file_is_kept_as_it_is_written(read, monkeypatch):
    monkeypatch.setattr(_csv_tables, "_CHUNK", 3)
    monkeypatch.setattr(_csv_tables, "_GLANCE", 2)
    table = read("a,b,y\n" + "".join(f"{i}.0,{i},x\n" for i in range(10)) + "red,10,x\n11.0,11,x\n")
    assert table.X["a"].astype(str).tolist() == [*(f"{i}.0" for i in range(10)), "red", "11.0"]
    assert table.X["b"].tolist() == list(range(12))


def test_labels_are_text(read):
    assert read("a,y\n1,1\n2,1.0\n3, 01 \n4,True\n").y.tolist() == ["1", "1.0", "01", "True"]


def test_the_chunks_do_not_show(read, monkeypatch):
    text = "a,b,y\n" + "".join(f"{i % 7 if i % 5 else ''},c{i % 4},{'uv'[i % 2]}\n" for i in range(50))
    whole = read(text)
    monkeypatch.setattr(_csv_tables, "_CHUNK", 7)
    parts = read(text)
    pd.testing.assert_frame_equal(whole.X, parts.X)
    assert whole.y.tolist() == parts.y.tolist()


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffa,b,y\n1,p q,x\n2,r,z\n",
        "a,b,y\r\n1,p q,x\r\n2,r,z\r\n",
        '"a","b","y"\n"1","p q","x"\n2,"r",z',
        "\na , b,y\n1,p q,x\n\n   \n2,r,z\n\n",
    ],
)
def test_marks_quotes_line_ends_and_blank_lines(read, text):
    table = read(text)
    assert table.X.columns.tolist() == ["a", "b"]
    assert table.X["a"].tolist() == [1.0, 2.0]
    assert table.X["b"].tolist() == ["p q", "r"]
    assert table.y.tolist() == ["x", "z"]
    assert (table.y.name, {type(label) for label in table.y}) == ("y", {str})


def test_quotes_may_hold_commas_and_line_ends(read):
    table = read('"a,1",b,y\n"x, ""y""\nz",1,u\nw,2,v\n')
    assert table.X["a,1"].tolist() == ['x, "y"\nz', "w"]


def test_gzip(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,y\n1,x\n2,z\n"))
    assert read_table(path, "y").X["a"].tolist() == [1.0, 2.0]
    path.write_bytes(b"a,y\n1,x\n2,z\n")
    with pytest.raises(TableError, match="not a gzip file"):
        read_table(path, "y")


def test_columns_can_be_left_out_or_chosen(read):
    text = "id,a,b,y\n1,2,3,x\n4,5,6,z\n"
    assert read(text, drop=["id"]).X.columns.tolist() == ["a", "b"]
    assert read(text, features=["b", "a"]).X.columns.tolist() == ["b", "a"]


BAD = {
    "": "the file is empty",
    "\n\n": "the file is empty",
    "a,y\n": "there are no rows below the header",
    "a,a,y\n1,2,x\n": "the column 'a' occurs more than once",
    "a,y\n1,x\n2\n": "line 3: 1 fields, but the header has 2",
    "a,y\n1,x\n\n2,x,3\n": "line 4: 3 fields, but the header has 2",
    "a,y\n1,x,\n2,x,\n": "line 2: 3 fields, but the header has 2",
    "y,a\nx,1\nx\n": "line 3: 1 fields, but the header has 2",
    'a,y\n"p\nq",x\n2\n': "line 4: 1 fields, but the header has 2",
    "a,y\n1,x\ninf,z\n": "line 3: column 'a' holds 'inf'; only finite numbers",
    "a,y\n1,x\n\n-1e999,z\n": "line 4: column 'a' holds '-1e999'; only finite numbers",
    "a,y\n1,\n": "line 2: the target 'y' is empty",
    "a,y\n1,x\n2, NA \n": "line 3: the target 'y' holds ' NA ', which counts as missing; if it is a class, rename it.",
    "y\nx\n": "no column besides the target",
    "a,yy\n1,x\n": "there is no column 'y'; did you mean 'yy'?",
    "a,Y\n1,x\n": "there is no column 'y'; did you mean 'Y'?",
    "apple,pear\n1,x\n": "the columns are apple, pear",
    'a,y\n1,x\n2,"x\n': "quotation marks closed",
    f"a,y\n{'1' * 140_000},x\n": "line 2: field larger than field limit (131072); are quotation marks closed?",
    f"a,{'y' * 140_000}\n1,x\n": "line 1: field larger than field limit (131072); are quotation marks closed?",
    b"a,y\n1,x\n" + b"2,\xf6\n": "not a UTF-8 text file",
    "größe,y\n1,x\n".encode("latin-1"): "not a UTF-8 text file",
}


@pytest.mark.parametrize("text", BAD)
def test_what_is_wrong_is_said_with_its_place(read, text):
    with pytest.raises(TableError) as error:
        read(text)
    assert BAD[text] in str(error.value)
    assert "table.csv" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_target_that_is_no_class_is_refused(read):
    with pytest.raises(TableError, match="'y' has 150 different values in 150 rows"):
        read("a,y\n" + "".join(f"1,{k / 7}\n" for k in range(150)))
    assert len(read("a,y\n" + "".join(f"1,{k % 75}\n" for k in range(150))).y) == 150


def test_empty_values_in_the_last_column_are_no_fault(read):
    assert np.isnan(read("y,a\nx,1\nx,\n").X["a"][1])


def test_columns_to_leave_out_must_be_there_and_leave_something(read):
    with pytest.raises(TableError, match="no column 'ID'; did you mean 'id'"):
        read("id,a,y\n1,2,x\n", drop=["ID"])
    with pytest.raises(TableError) as error:
        read("Age,weight,town,y\n1,2,3,x\n", features=["age", "weight", "towns", "zzz"])
    assert str(error.value).endswith(
        "there are no columns 'age' (did you mean 'Age'?), 'towns' (did you mean 'town'?) and 'zzz'."
    )
    with pytest.raises(TableError, match="'y' cannot be dropped"):
        read("id,a,y\n1,2,x\n", drop=["y"])
    with pytest.raises(TableError, match="besides the target 'y' and what is dropped"):
        read("id,y\n1,x\n", drop=["id"])


def test_parquet_columns_of_every_kind(tmp_path):
    frame = pd.DataFrame(
        {
            "whole": [1, 2, 3],
            "missing": [1.5, None, 2.5],
            "text": ["u", None, " v"],
            "truth": [True, False, True],
            "day": pd.to_datetime(["1970-01-02", "1970-01-03", None]).date,
            "moment": pd.to_datetime(["1970-01-01T12:00", None, "1970-01-02T00:00"]),
            "digits": ["1", "2", None],
            "label": [7, 8, 7],
        }
    )
    frame.to_parquet(tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet", "label")
    assert table.y.tolist() == ["7", "8", "7"]
    encoder = ColumnEncoder().fit(table.X)
    assert encoder.kinds_ == ["number", "number", "category", "category", "date", "date", "number"]
    expected = [[1, 1.5, 0, 1, 1, 0.5, 1], [2, np.nan, np.nan, 0, 2, np.nan, 2], [3, 2.5, 1, 1, np.nan, 1, np.nan]]
    assert np.array_equal(encoder.transform(table.X), expected, equal_nan=True)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": [1.0, np.inf], "y": ["u", "v"]}, "row 2: column 'a' holds 'inf'"),
        ({"a": [1.0, 2.0], "y": ["u", None]}, "row 2: the target 'y' is empty"),
        (
            {"a": [[1], [2]], "y": ["u", "v"]},
            "column 'a' holds values of type list<.*>, which are neither",
        ),
        ({"a": [1.0, 2.0], "z": ["u", "v"]}, "no column 'y'"),
        ({"a": [], "y": []}, "there are no rows"),
    ],
)
def test_bad_parquet(tmp_path, columns, message):
    path = tmp_path / "t.parquet"
    pd.DataFrame(columns).to_parquet(path)
    with pytest.raises(TableError, match=message):
        read_table(path, "y")


def test_files_that_are_no_parquet_and_pyarrow_that_is_not_there(tmp_path, monkeypatch):
    path = written(tmp_path / "t.parquet", "a,y\n1,x\n")
    with pytest.raises(TableError, match="not a parquet file"):
        read_table(path, "y")
    monkeypatch.setitem(__import__("sys").modules, "pyarrow.parquet", None)
    with pytest.raises(TableError, match=r"install certivote\[parquet\]"):
        column_names(path)


def test_a_stream_gives_back_every_text(tmp_path):
    text = 'a, b,y\n01,"p, q",x\n1.50,,NA\n 2 ,?,z\n'
    path = written(tmp_path / "t.csv", text)
    parts = list(stream_text(path, 2))
    assert [len(part) for part in parts] == [2, 1]
    again = io.StringIO()
    for place, part in enumerate(parts):
        part.to_csv(again, index=False, header=place == 0, lineterminator="\n")
    assert again.getvalue() == text


def test_a_stream_refuses_short_lines(tmp_path):
    path = written(tmp_path / "t.csv", "a,b\n1,2\n3\n")
    with pytest.raises(TableError, match="line 3: 1 fields"):
        list(stream_text(path, 1))


def test_texts_as_numbers_and_days():
    assert as_number("1e3") == 1000.0
    assert all(np.isnan(as_number(text)) for text in ("", "red", "inf", "-Infinity", "0x10", "1,5"))
    assert as_days("1970-01-02") == 1.0
    assert as_days("1970-01-02T00:00:00+02:00") == pytest.approx(1 - 2 / 24)
    assert np.isnan(as_days("02.01.1970"))
    assert [is_missing(text) for text in ("?", "NULL", "nonex", "0")] == [True, True, False, False]


def test_the_quick_way_to_numbers_is_the_slow_one():
    rng = np.random.default_rng(0)
    texts = [repr(value) for value in rng.normal(size=50).tolist()]
    texts += ["", "NA", "nan", "inf", "-Infinity", "1_000", " 7 ", "?", "null"]
    for column in (texts, [*texts, "red"]):
        expected = [np.nan if is_missing(text) else as_number(text) for text in column]
        for dtype in (str, object):
            got = plain_numbers(pd.Series(column, dtype=dtype))
            assert (got is None) if "red" in column else np.array_equal(got, expected, equal_nan=True)
    assert plain_numbers(pd.Series([True, "1"], dtype=object)) is None


def test_codes_of_a_column_are_those_of_its_values():
    values = ["b", None, " a", "a ", 3.0, "NA"]
    for column in (pd.Series(values, dtype=object), pd.Series(values, dtype=object).astype("category")):
        codes, texts = coded(column)
        assert [texts[code] if code >= 0 else None for code in codes] == ["b", None, "a", "a", "3", None]
