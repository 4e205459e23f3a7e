"""Excel workbooks: what is stored in them is read, within bounds."""

import io
import time
import tracemalloc
import zipfile
from datetime import date, datetime, timedelta

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from certivote.cli import app
from certivote.io import TableError, TableFile, column_names, divided, read_table, stream_text
from certivote.voters import ColumnEncoder

openpyxl = pytest.importorskip("openpyxl")


def book(path, *sheets):
    made = openpyxl.Workbook()
    made.remove(made.active)
    for number, rows in enumerate(sheets):
        page = made.create_sheet(f"S{number}")
        for row in rows:
            page.append(row)
    made.save(path)
    return path


@pytest.fixture
def path(tmp_path):
    return tmp_path / "t.xlsx"


def test_values_are_those_that_are_stored(path):
    day, moment = date(2024, 1, 31), datetime(2024, 2, 1, 12, 30)
    rows = [
        ["n", "f", "day", "when", "is", "share", "word", "mixed", "stay", "y"],
        [1, 0.5, day, moment, True, 0.25, "a\nb", 7.5, timedelta(days=2), "u"],
        [None, 2, day, None, False, 0.5, None, "12,5", timedelta(hours=12), "v"],
    ]
    table = read_table(book(path, rows), "y")
    assert table.y.tolist() == ["u", "v"]
    assert np.array_equal(table.X["n"], [1.0, np.nan], equal_nan=True)
    assert table.X["f"].tolist() == [0.5, 2.0]
    assert table.X["when"].tolist()[0] == pd.Timestamp(moment)
    assert table.X["mixed"].tolist() == [7.5, "12,5"]  # the number is a number, whichever mark the text has
    encoder = ColumnEncoder().fit(table.X)
    assert encoder.kinds_ == ["number", "number", "date", "date", "category", "number", "category", "number", "number"]
    assert encoder.transform(table.X)[:, 7].tolist() == [7.5, 12.5]
    assert encoder.transform(table.X)[:, 8].tolist() == [2.0, 0.5]


def test_a_percentage_is_its_stored_fraction(path):
    made = openpyxl.Workbook()
    made.active.append(["p", "y"])
    made.active.append([0.255, "u"])
    made.active["A2"].number_format = "0%"
    made.save(path)
    assert read_table(path, "y").X["p"].tolist() == [0.255]


def test_empty_rows_and_columns_do_not_count_and_places_are_those_of_the_sheet(path):
    rows = [[], ["a", None, "y"], [1, None, "u"], [], [2, None, ""], []]
    assert column_names(book(path, rows)) == ["a", "y"]
    with pytest.raises(TableError, match=r"t\.xlsx, row 5: the target 'y' is empty"):
        read_table(path, "y")


@pytest.mark.parametrize(
    ("sheets", "message"),
    [
        ([[["a", "y"], [1, "u"]], [["b"], [2]]], r"the sheets 'S0', 'S1' hold values; say which by --sheet 'S0'"),
        ([[["a", None, "y"], [1, 2, "u"]]], "column 2 has no name in the header, and holds values"),
        ([[["a", "a", "y"], [1, 2, "u"]]], "the column 'a' occurs more than once"),
        ([[["a", "y"], [1, "u", 3]]], "row 2: 3 cells, but the header has 2"),
        ([[["a", "y"]]], "there are no rows below the header"),
        ([[]], "the workbook is empty"),
    ],
)
def test_sheets_that_are_not_tables(path, sheets, message):
    with pytest.raises(TableError, match=message):
        read_table(book(path, *sheets), "y")


def test_a_sheet_can_be_chosen(path):
    book(path, [["a", "y"], [1, "u"]], [["b", "y"], [2, "v"]])
    assert read_table(TableFile(path, sheet="S1"), "y").X["b"].tolist() == [2.0]
    with pytest.raises(TableError, match="there is no sheet 'x'; there are 'S0', 'S1'"):
        read_table(TableFile(path, sheet="x"), "y")


def test_rows_come_in_pieces_for_answers_and_not_for_clusters(path):
    book(path, [["a", "y"], *([number, "u"] for number in range(5))])
    assert [len(part) for part in stream_text(path, 2)] == [2, 2, 1]
    with pytest.raises(TableError, match="cannot be read in pieces"):
        divided([TableFile(path)])


def test_a_model_is_fitted_and_used(path, tmp_path):
    rng = np.random.default_rng(0)
    dose = rng.normal(10.0, 2.0, 300).round(2)
    state = np.where(dose + rng.normal(0.0, 0.5, 300) > 10.0, "ill", "well")
    book(
        path, [["dose", "site", "state"], *zip(dose.tolist(), rng.choice(["n", "s"], 300), state.tolist(), strict=True)]
    )
    model = tmp_path / "m.certivote"
    for line in (["fit", path, "--target", "state", "--model", model, "--seed", "0"], ["predict", model, path]):
        result = CliRunner().invoke(app, [str(each) for each in line])
        assert result.exit_code == 0, result.output
    found = pd.read_csv(io.StringIO(result.stdout))
    assert (found["certivote_label"] == found["state"]).mean() > 0.8
    result = CliRunner().invoke(app, ["verify", str(model), "--data", str(path), "--target", "state"])
    assert result.exit_code == 0, result.output


# What strangers may send ----------------------------------------------------------------------------------------------


def changed(path, name, change):
    """The workbook, with one of its entries changed."""
    content = io.BytesIO(path.read_bytes())
    with zipfile.ZipFile(content) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.namelist():
            new.writestr(entry, change(old.read(entry)) if entry == name else old.read(entry))


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        (
            "xl/worksheets/sheet1.xml",
            lambda old: b'<!DOCTYPE x [<!ENTITY a "b"><!ENTITY c "&a;&a;&a;">]>' + old,
            "declares texts that stand for others",
        ),
        ("xl/styles.xml", lambda old: old + b" " * (1 << 27), "would unpack to more than"),
        ("xl/styles.xml", lambda old: old.decode().encode("utf-16"), "declares texts that stand for others"),
        ("xl/worksheets/sheet1.xml", lambda old: old[:200], "not an Excel workbook, or damaged"),
        ("xl/workbook.xml", lambda old: b"<x/>", "not an Excel workbook, or damaged|the workbook is empty"),
    ],
)
def test_bombs_and_damage_are_refused(path, name, change, message):
    book(path, [["a", "y"], ["text", "u"]])
    changed(path, name, change)
    tracemalloc.start()
    start = time.perf_counter()
    with pytest.raises(TableError, match=message):
        read_table(path, "y")
    assert time.perf_counter() - start < 5.0
    assert tracemalloc.get_traced_memory()[1] < 1 << 27
    tracemalloc.stop()


def test_a_cell_far_away_takes_no_memory(path):
    made = openpyxl.Workbook()
    made.active["A1"], made.active["B1"], made.active["XFD1048576"] = "a", "y", 1
    made.save(path)
    with pytest.raises(TableError, match="row 1048576: 16384 cells, but the header has 2"):
        read_table(path, "y")


def test_a_zip_archive_is_no_workbook(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.csv", "a,y\n1,u\n")
    with pytest.raises(TableError, match="not an Excel workbook, or damaged"):
        read_table(path, "y")
