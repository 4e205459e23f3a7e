"""Where a table comes from and how it is written: pipes, encodings, separators and decimal marks."""

import codecs
import gzip
import hashlib
import io
import os
import sys
import threading
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from certivote.io import (
    TableError,
    TableFile,
    _csv_tables,
    _tables,
    column_names,
    read_table,
    readable_columns,
    stream_text,
)

PLAIN = "größe,town,y\n1.5,Köln,x\n2.25,Ulm,z\n"


def written(path, content):
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.fixture
def path(tmp_path):
    return tmp_path / "table.csv"


def rows(table):
    return [*table.X.astype(str).to_numpy().tolist(), table.y.tolist()]


# Pipes ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["plain", "packed", "parquet"])
def test_standard_input_is_read_once_and_whole(tmp_path, monkeypatch, kind):
    content = gzip.compress(PLAIN.encode()) if kind == "packed" else PLAIN.encode()
    if kind == "parquet":
        frame = pd.DataFrame({"größe": [1.5, 2.25], "town": ["Köln", "Ulm"], "y": ["x", "z"]})
        frame.to_parquet(tmp_path / "t.parquet")
        content = (tmp_path / "t.parquet").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    file = TableFile(Path("-"))
    assert column_names(file) == ["größe", "town", "y"]
    table = read_table(file, "y")
    assert rows(table) == [["1.5", "Köln"], ["2.25", "Ulm"], ["x", "z"]]
    assert sum(len(part) for part in stream_text(file, 1)) == 2
    assert table.digest == hashlib.sha256(content).hexdigest()
    assert (str(file), file.name) == ("standard input", "standard input")


def test_a_named_pipe_loses_no_row(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    lines = "a,y\n" + "".join(f"{k},{'uv'[k % 2]}\n" for k in range(20_000))
    writer = threading.Thread(target=lambda: path.write_text(lines))
    writer.start()
    table = read_table(TableFile(path), "y")
    writer.join(timeout=60)
    assert table.X["a"].tolist() == list(range(20_000))
    assert table.digest == hashlib.sha256(lines.encode()).hexdigest()


def test_devices_are_no_tables():
    with pytest.raises(TableError, match="/dev/zero: this is a device"):
        read_table(TableFile(Path("/dev/zero")), "y")


def test_a_file_that_changes_while_it_is_read_is_refused(path, monkeypatch):
    written(path, PLAIN)
    read = _tables.read_csv

    def changing(*arguments):
        found = read(*arguments)
        path.write_text(PLAIN.replace("1.5", "9.5"))
        return found

    monkeypatch.setattr(_tables, "read_csv", changing)
    with pytest.raises(TableError, match="was changed while it was read"):
        read_table(path, "y")


# Encodings ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        (PLAIN.encode("utf-8-sig"), None),
        (PLAIN.encode("utf-8-sig"), "utf-8"),
        (PLAIN.encode("utf-16"), None),
        (codecs.BOM_UTF16_BE + PLAIN.encode("utf-16-be"), None),
        (codecs.BOM_UTF16_LE + PLAIN.encode("utf-16-le"), "utf-16-le"),
        (PLAIN.encode("utf-16-le"), "utf-16-le"),
        (PLAIN.encode("utf-16-be"), "UTF-16BE"),
        (PLAIN.encode("utf-32"), None),
        (PLAIN.encode("latin-1"), "latin-1"),
        (PLAIN.encode("cp1252"), "windows-1252"),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_encodings_are_read(path, content, encoding, packed):
    written(path, gzip.compress(content) if packed else content)
    file = TableFile(path, encoding=encoding)
    assert column_names(file) == ["größe", "town", "y"]
    assert rows(read_table(file, "y")) == [["1.5", "Köln"], ["2.25", "Ulm"], ["x", "z"]]
    assert next(stream_text(file, 9)).to_numpy().tolist() == [["1.5", "Köln", "x"], ["2.25", "Ulm", "z"]]


@pytest.mark.parametrize(
    ("content", "encoding", "message"),
    [
        (PLAIN.encode("latin-1"), None, "not a UTF-8 text file .*; give its --encoding, such as latin-1"),
        (("a,y\n1,x\n" * 9000 + "1,ö\n").encode("cp1252"), None, "give its --encoding, such as latin-1"),
        (PLAIN.encode("utf-16-le"), None, "--encoding utf-16-le"),
        (PLAIN.encode("utf-16-be"), None, "--encoding utf-16-be"),
        (PLAIN.encode(), "ascii", "not a text file in the encoding ascii"),
        (PLAIN.encode("utf-8-sig"), "latin-1", "begins with the mark of UTF-8: leave out --encoding"),
        (PLAIN.encode("utf-16"), "utf-8", "begins with the mark of UTF-16: leave out --encoding"),
        (b"PK\x03\x04" + b"\0" * 40, None, "not an Excel workbook, or damaged|need the package openpyxl"),
        (b"\xd0\xcf\x11\xe0" + b"\0" * 40, None, "an Excel workbook of an old format; give it as CSV"),
        (b"BZh91AY", None, "packed by bzip2; give it as CSV"),
    ],
)
def test_other_encodings_are_refused_with_the_option_to_give(path, content, encoding, message):
    written(path, content)
    with pytest.raises(TableError, match=message) as error:
        read_table(TableFile(path, encoding=encoding), "y")
    assert "\n" not in str(error.value)


# Separators -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
@pytest.mark.parametrize("given", [True, False])
def test_separators_are_found_or_given(path, mark, given):
    written(path, mark.join(["a", "b b", "y"]) + "\n" + mark.join(["1", '"p, q; r"', "x"]) + f"\n2{mark}{mark}z\n")
    file = TableFile(path, mark if given else None)
    table = read_table(file, "y")
    assert table.X["a"].tolist() == [1.0, 2.0]
    assert table.X["b b"].tolist()[0] == "p, q; r"
    assert table.y.tolist() == ["x", "z"]
    assert next(stream_text(file, 9)).to_numpy().tolist() == [["1", "p, q; r", "x"], ["2", "", "z"]]


def test_decimal_commas_do_not_hide_the_separator(path):
    written(path, "a;b;y\n1,5;2,5;x\n3;4,5;z\n")
    assert TableFile(path).separator == ";"
    assert read_table(path, "y").X["a"].tolist() == ["1,5", "3"]
    table = read_table(TableFile(path, decimal=","), "y")
    assert table.X.to_numpy().tolist() == [[1.5, 2.5], [3.0, 4.5]]


def test_two_separators_that_both_fit_are_refused(path):
    written(path, "a,b;y\n1,5;x\n")
    with pytest.raises(TableError, match="a comma or a semicolon may separate the columns; say which by --sep ',' or"):
        read_table(path, "y")
    assert read_table(TableFile(path, ",", "."), "b;y").X.columns.tolist() == ["a"]
    assert read_table(TableFile(path, ";", ","), "y").X["a,b"].tolist() == [1.5]


def test_lines_that_do_not_fit_are_named_whatever_the_separator(path):
    written(path, "a;y\n1;x\n2\n")
    with pytest.raises(TableError, match="line 3: 1 fields, but the header has 2"):
        read_table(path, "y")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sep": ";;"}, "sep must be one character"),
        ({"sep": ""}, "sep must be one character"),
        ({"sep": "é"}, "sep must be one character"),
        ({"sep": '"'}, "sep must be one character"),
        ({"sep": "x"}, "no letter"),
        ({"decimal": ";"}, "decimal must be . or a comma; got ';'"),
        ({"encoding": "klingon"}, "encoding must be the name of one"),
        ({"encoding": "base64"}, "encoding must be the name of one"),
    ],
)
def test_options_that_are_none_are_refused(path, options, message):
    with pytest.raises(ValueError, match=message):
        TableFile(path, **options)


def test_parquet_takes_no_options_of_text(tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"a": [1.0, 2.0], "y": ["u", "v"]}).to_parquet(path)
    with pytest.raises(TableError, match="--sep and --encoding is for CSV files"):
        read_table(TableFile(path, ";", None, "latin-1"), "y")


# Decimal marks --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["1,5", "-,5", "1,234", "1,234,567", "1.234,5", "1,234.5", "2,5e3"])
def test_numbers_with_commas_stay_text_until_the_training_rows_are_known(path, text):
    for content in (f'a,y\n"{text}",x\n7,z\n', f"a;y\n{text};x\n{text};z\n", f'a,y\n"{text}",x\nred,z\n'):
        written(path, content)
        assert read_table(path, "y").X["a"].tolist()[0] == text
        assert readable_columns(TableFile(path), next(stream_text(path, 9))[["a"]])["a"].tolist()[0] == text


def test_commas_in_words_are_no_numbers(path):
    written(path, 'a,y\n"Ulm, Bonn",x\n"Kiel",z\n"1,5",z\n"3,14159, roughly",z\n')
    assert read_table(path, "y").X["a"].tolist()[2] == "1,5"


def test_decimal_commas_are_read_wherever_they_stand(path, monkeypatch):
    monkeypatch.setattr(_csv_tables, "_CHUNK", 2)
    written(path, 'a;b;y\n1,5;"2,5";x\n,25;red;x\n-3,;1,50;z\n4e2;2;z\nNA;;z\n')
    file = TableFile(path, decimal=",")
    table = read_table(file, "y")
    assert np.array_equal(table.X["a"], [1.5, 0.25, -3.0, 400.0, np.nan], equal_nan=True)
    assert table.X["b"].tolist()[:4] == [2.5, "red", 1.5, 2.0]
    streamed = pd.concat([readable_columns(file, part) for part in stream_text(file, 2)])
    assert streamed["a"].tolist()[:3] == [1.5, 0.25, -3.0]
    assert streamed["b"].tolist()[:4] == [2.5, "red", 1.5, 2.0]


@pytest.mark.parametrize(
    ("text", "value"), [("1.234", 1234.0), ("1.234,5", 1234.5), ("1.234.567", 1234567.0), ("0.5", "0.5")]
)
def test_where_the_comma_is_the_decimal_mark_points_separate_thousands(path, text, value):
    written(path, f"a;y\n{text};x\n2,5;z\n")
    assert read_table(TableFile(path, decimal=","), "y").X["a"].tolist() == [value, 2.5]


def test_labels_keep_their_commas(path):
    written(path, "a;y\n1;1,5\n2;2,5\n")
    assert read_table(path, "y").y.tolist() == ["1,5", "2,5"]
    assert read_table(TableFile(path, decimal=","), "y").y.tolist() == ["1,5", "2,5"]


def test_text_in_parquet_is_read_the_same_way(tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"a": ["1,5", "2"], "y": ["u", "v"]}).to_parquet(path)
    assert read_table(path, "y").X["a"].tolist() == ["1,5", "2"]
    assert read_table(TableFile(path, decimal=","), "y").X["a"].tolist() == [1.5, 2.0]


def test_columns_of_other_types_are_left_as_they_are(path):
    frame = pd.DataFrame(
        {"a": [Decimal("1.5"), None], "b": [[1], [2]], "c": [1.5, 2.0], "d": [True, None]}, dtype=object
    )
    frame["c"] = frame["c"].astype(float)
    found = readable_columns(TableFile(path, decimal=","), frame.assign(e=pd.Categorical(["x", None])))
    assert found["a"].tolist()[0] == "1.5"
    assert found["b"].tolist() == [[1], [2]]
    assert found["c"].tolist() == [1.5, 2.0]
    assert found["e"].tolist()[0] == "x"
    given = frame.assign(e=pd.Categorical(["1,5", None]))
    assert readable_columns(TableFile(path, decimal=","), given)["e"].tolist()[0] == 1.5
