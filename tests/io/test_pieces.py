"""Tables in pieces: the same rows as in memory, however they are divided; changed and unlike files are refused."""

import gzip
import os
import pickle

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from certivote.certificate import row_keys
from certivote.io import TableError, TableFile, divided, files_of, lay_out, read_predictions, read_table
from certivote.io import _pieces as dividing


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(dividing, "_BLOCK", 700)
    monkeypatch.setattr(dividing, "_AT_ONCE", 128)
    monkeypatch.setattr(dividing, "_ROWS", 40)


def table(n_rows=300, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 90, n_rows),
            "weight": np.where(rng.random(n_rows) < 0.1, np.nan, rng.normal(70, 10, n_rows).round(2)),
            "town": rng.choice(["Bern", "Ulm, Donau", 'the "Hague"', "two\nlines", "?"], n_rows),
            "code": rng.integers(0, 50, n_rows).astype(str),
            "outcome": rng.choice(["ill", "well"], n_rows),
        }
    )
    frame.loc[n_rows - 5, "code"] = "none of these"  # text far down
    frame.loc[n_rows - 9, "code"] = "NA"
    return frame


def in_pieces(paths, target="outcome", **options):
    return lay_out(divided([TableFile(path) for path in paths]), target, **options)


def read_all(found):
    return pd.concat([found.frame(number) for number in range(len(found.rows))], ignore_index=True)


def test_csv_is_read_as_in_memory(tmp_path):
    path = tmp_path / "rows.csv"
    table().to_csv(path, index=False)
    found, whole = in_pieces([path]), read_table(path, "outcome")
    assert len(found.rows) > 5
    assert sum(found.rows) == 300
    assert found.starts[:2] == (0, found.rows[0])
    together = read_all(found)
    assert_frame_equal(together.drop(columns="outcome"), whole.X)
    assert together["outcome"].tolist() == whole.y.tolist()
    assert found.layout.kinds == {"age": "number", "weight": "number", "town": "text", "code": "text"}


def test_digests_of_rows_are_those_of_memory(tmp_path):
    path = tmp_path / "rows.csv"
    table().to_csv(path, index=False)
    found, whole = in_pieces([path]), read_table(path, "outcome")
    keys = [key for number in range(len(found.rows)) for key in row_keys(found.frame(number).drop(columns="outcome"))]
    assert keys == row_keys(whole.X)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("a;y\n1,5;x\n2,5;z\n" * 1 + "3,5;x\n" * 300, {"decimal": ","}),
        ("\n\n a ,y\r\n" + "1,x\r\n2,z\r\n" * 200 + "\r\n\r\n", {}),
        ("a,b,y\n" + "1,2,x\n3,,z\n" * 200 + ",,\n,,\n", {}),
        ("\ufeffa,y\n" + "1,x\n2,z\n" * 200, {}),
        ("a,y\n" + "é,x\nü,z\n" * 200, {"encoding": "latin-1"}),
        ("a,y\n" + "NA,x\n,z\n" * 200 + "red,x\n", {}),
    ],
)
def test_ways_to_write_a_csv_file(tmp_path, text, options):
    path = tmp_path / "rows.csv"
    path.write_bytes(text.encode(options.get("encoding", "utf-8")))
    file = TableFile(path, **options)
    found, whole = lay_out(divided([file]), "y"), read_table(file, "y")
    assert len(found.rows) > 1
    assert_frame_equal(read_all(found).drop(columns="y"), whole.X)


def test_several_files_and_gzip(tmp_path):
    rows = table()
    for number, start in enumerate(range(0, 300, 100)):
        part = rows[start : start + 100]
        part.to_csv(tmp_path / f"{number}.csv", index=False)
        with gzip.open(tmp_path / f"{number}.csv.gz", "wt") as packed:
            part.to_csv(packed, index=False)
    rows.to_csv(tmp_path / "whole.csv", index=False)
    whole = read_table(tmp_path / "whole.csv", "outcome")
    for pattern in ("[0-9].csv", "[0-9].csv.gz"):
        paths = files_of(str(tmp_path / pattern))
        assert [path.name[0] for path in paths] == ["0", "1", "2"]
        assert_frame_equal(read_all(in_pieces(paths)).drop(columns="outcome"), whole.X)


def test_parquet_by_row_groups(tmp_path):
    rows = table()
    rows["since"] = pd.date_range("2020-01-01", periods=300)
    rows["sure"] = np.random.default_rng(1).random(300) < 0.5
    rows["nothing"] = [None] * 300
    rows["late"] = [np.nan] * 250 + [1.5] * 50
    rows.to_parquet(tmp_path / "rows.parquet", row_group_size=30)
    found, whole = in_pieces([tmp_path / "rows.parquet"]), read_table(tmp_path / "rows.parquet", "outcome")
    assert found.rows == (30,) * 10
    assert_frame_equal(read_all(found).drop(columns="outcome"), whole.X)
    # Of a file whose column has no value, nothing is known of its type.
    rows[:250].assign(late=None).to_parquet(tmp_path / "a.parquet")
    rows[250:].to_parquet(tmp_path / "b.parquet")
    found = in_pieces([tmp_path / "a.parquet", tmp_path / "b.parquet"])
    assert_frame_equal(read_all(found).drop(columns="outcome"), whole.X)


def test_columns_are_chosen(tmp_path):
    table().to_csv(tmp_path / "rows.csv", index=False)
    found = in_pieces([tmp_path / "rows.csv"], drop=["town"])
    assert found.layout.kept == ("age", "weight", "code")
    found = in_pieces([tmp_path / "rows.csv"], features=["town", "age"])
    assert list(found.frame(0).columns) == ["town", "age", "outcome"]
    for options, message in (
        ({"target": "result"}, "there is no column 'result'"),
        ({"drop": ["outcome"]}, "the target 'outcome' cannot be dropped"),
        ({"drop": ["age", "weight", "code", "town"]}, "no column besides the target"),
    ):
        with pytest.raises(TableError, match=message):
            in_pieces([tmp_path / "rows.csv"], **options)


def test_answers_are_compared_by_value(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text("outcome,label\n" + "1,1.0\n0,1.0\n" * 200)
    found = in_pieces([path], predicted=["label"])
    whole = read_predictions(path, "outcome", ["label"])
    together = read_all(found)
    assert together["outcome"].tolist() == whole.y.tolist()
    assert together["label"].tolist() == whole.predicted["label"].tolist()
    assert found.layout.kept == ()
    path.write_text("outcome,label\n" + "1,0.7\n0,0.2\n" * 200)
    with pytest.raises(TableError, match="these look like probabilities or scores"):
        in_pieces([path], predicted=["label"])


def test_errors_name_the_line(tmp_path):
    path = tmp_path / "rows.csv"
    good = "age,y\n" + "1,x\n2,z\n" * 500
    for line, message in (
        ("3,\n", r"rows.csv, line 1002: the target 'y' is empty"),
        ("inf,x\n", r"rows.csv, line 1002: column 'age' holds 'inf'; only finite numbers"),
        ("3,x,5\n", r"rows.csv, line 1002: 3 fields, but the header has 2"),
        ('3,"x\n', r"rows.csv, line \d+: unexpected end of data; are quotation marks closed"),
    ):
        path.write_text(good + line + "1,x\n" * 3)
        with pytest.raises(TableError, match=message):
            in_pieces([path], "y")
    rows = table()
    rows.loc[200, "outcome"] = None
    rows.to_parquet(tmp_path / "rows.parquet", row_group_size=30)
    with pytest.raises(TableError, match=r"rows.parquet, row 201: the target 'outcome' is empty"):
        in_pieces([tmp_path / "rows.parquet"])


def test_a_stray_quotation_mark_never_goes_unnoticed(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text('a,y\n5" pipe,x\n' + "".join(f'"two\nlines",{"xz"[place % 2]}\n' for place in range(300)))
    with pytest.raises(TableError, match=r"quotation|expected"):
        in_pieces([path], "y")


def test_unlike_files_are_refused(tmp_path):
    rows = table()
    rows.to_parquet(tmp_path / "a.parquet")
    for changed, message in (
        (rows.drop(columns="town"), r"b.parquet: there is no column 'town', which .*a.parquet has"),
        (rows.assign(more=1), r"a.parquet: there is no column 'more', which .*b.parquet has"),
        (
            rows.assign(age=rows["age"].astype(str) + " y"),
            r"b.parquet: the column 'age' holds text, and in",
        ),
        (rows.assign(age=pd.Timestamp("2026-01-01")), r"a.parquet: the column 'age' holds numbers, and"),
        (rows[:0], r"b.parquet: there are no rows"),
    ):
        changed.to_parquet(tmp_path / "b.parquet")
        with pytest.raises(TableError, match=message):
            in_pieces([tmp_path / "a.parquet", tmp_path / "b.parquet"])
    rows.to_csv(tmp_path / "c.csv", index=False)
    with pytest.raises(TableError, match=r"c.csv: .*a.parquet is of another kind"):
        in_pieces([tmp_path / "a.parquet", tmp_path / "c.csv"])
    (tmp_path / "d.csv").write_text("age,,y\n1,2,x\n")
    with pytest.raises(TableError, match=r"d.csv: column 2 has no name"):
        in_pieces([tmp_path / "d.csv"], "y")
    (tmp_path / "e.csv").write_bytes("a,y\n1,x\n".encode("utf-16"))
    with pytest.raises(TableError, match=r"e.csv: a text in utf-16 cannot be read in pieces"):
        in_pieces([tmp_path / "e.csv"], "y")
    (tmp_path / "f.csv").write_text("a,y\n")
    with pytest.raises(TableError, match=r"f.csv: there are no rows below the header"):
        in_pieces([tmp_path / "f.csv"], "y")


def test_changed_and_lost_files_are_refused(tmp_path):
    path = tmp_path / "rows.csv"
    table().to_csv(path, index=False)
    found = pickle.loads(pickle.dumps(in_pieces([path])))
    before = path.stat()
    content = path.read_bytes()
    path.write_bytes(content + b"1,2,Bern,3,ill\n")
    with pytest.raises(TableError, match="the file was changed while it was read"):
        found.frame(0)
    # Of the same size and time, and with fewer rows, or other values.
    path.write_bytes(content.replace(b"ill\n", b"ill,", 1))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(TableError, match=r"line 2: \d+ fields, but the header has 5|rows where there were"):
        read_all(found)
    path.write_bytes(content.replace(b"Bern", b"Born"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(TableError, match="the column 'town' holds other values than before"):
        read_all(found)
    path.unlink()
    with pytest.raises(TableError, match=r"rows.csv: No such file"):
        found.frame(0)


def test_patterns(tmp_path):
    with pytest.raises(TableError, match="there is no file of this name, and none whose name fits"):
        files_of(str(tmp_path / "*.parquet"))
    with pytest.raises(TableError, match="this is a folder; give a pattern"):
        files_of(str(tmp_path))
    odd = tmp_path / "rows[1].csv"
    odd.write_text("a,y\n1,x\n")
    assert files_of(str(odd)) == [odd]
    (tmp_path / "sub").mkdir()
    assert files_of(str(tmp_path / "*")) == [odd]


def test_memory_is_that_of_a_piece(tmp_path, monkeypatch):
    path = tmp_path / "rows.csv"
    path.write_text("a,y\n" + "1,x\n2,z\n" * 5000)
    sizes, real = [], dividing.raw_csv

    def counting(file, *rest):
        sizes.append(len(file.content))
        return real(file, *rest)

    monkeypatch.setattr(dividing, "raw_csv", counting)
    read_all(in_pieces([path], "y"))
    assert max(sizes) < 2 * 700 < path.stat().st_size / 20
