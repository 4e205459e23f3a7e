"""A realistic export, from file to report without an option."""

import io
import re

import numpy as np
import pandas as pd
import pytest
from hospital import table, write_csv, write_xlsx
from thorough import ALL
from typer.testing import CliRunner

from certivote import load
from certivote.cli import app
from certivote.io import TableFile, read_table
from certivote.voters import ColumnEncoder

N = 500
KINDS = {
    "Fall": "category of 500, 251 rare ones as one",
    "Alter": "number",
    "CRP": "number, decimal comma",
    "Hb": "number, decimal comma, in g/dl",
    "Gewicht": "number, decimal comma, in kg",
    "Kreatinin": "number, decimal comma",
    "Dosis": "number, decimal comma, with thousands",
    "Kosten": "number, decimal comma",
    "SpO2": "number, decimal comma, in %",
    "Aufnahme": "date, the day first",
    "Entlassung": "date, the day first",
    "Station": "category of 7",
    "Notfall": "category of 2",
    "Diagnose": "category of 5",
    "Pflegegrad": "category of 9",
    "Arztbrief": "left out: free text",
    "Bemerkung": "left out: no values",
}


def run(*line):
    result = CliRunner().invoke(app, [str(each) for each in line])
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hospital")
    write_csv(folder / "export.csv", table(N))
    return folder


@pytest.fixture(scope="module")
def fitted(folder):
    return run("fit", folder / "export.csv", "--target", "outcome", "--model", folder / "m.certivote", "--seed", "0")


def test_every_column_becomes_what_it_is(folder):
    read = read_table(TableFile(folder / "export.csv"), "outcome")
    found = {each.column: each.kind for each in ColumnEncoder().fit(read.X).readings(read.X)}
    assert found == KINDS


def test_from_file_to_report_without_an_option(folder, fitted):
    assert "With 95 % confidence" in fitted.stdout
    said = fitted.stderr.splitlines()
    assert "Columns, as the training rows show them:" in said
    (line,) = [line for line in said if line.split()[:1] == ["Hb"]]
    assert re.search(r"number, decimal comma, in g/dl +\d+ \((.*#NV.*)\)$", line)
    assert "Free text can be used in Python, with skrub's TextEncoder or a pipeline in Preprocessed." in said
    clf = load(folder / "m.certivote")
    assert clf.certificate_.bound < 0.35
    rows = ["--data", folder / "export.csv", "--target", "outcome"]
    run("verify", folder / "m.certivote", *rows, *(["--refit"] if ALL else []))
    write_csv(folder / "new.csv", {name: texts for name, texts in table(100, seed=1).items() if name != "outcome"})
    answers = run("predict", folder / "m.certivote", folder / "new.csv")
    found = pd.read_csv(io.StringIO(answers.stdout), sep=";", dtype=str)
    truth = np.array(table(100, seed=1)["outcome"])
    assert (found["certivote_label"].to_numpy() == truth).mean() > 0.65
    assert re.search(r"column 'Fall': \d+ values were not seen in training", answers.stderr)
    assert "'Hb'" not in answers.stderr
    pytest.importorskip("jinja2", reason="the report needs jinja2: install certivote[report]")
    run("report", folder / "m.certivote", "-o", folder / "report.html")


def test_the_workbook_has_the_same_numbers(folder):
    pytest.importorskip("openpyxl")
    write_xlsx(folder / "export.xlsx", table(N))
    values = {}
    for name in ("export.csv", "export.xlsx"):
        read = read_table(folder / name, "outcome")
        encoder = ColumnEncoder().fit(read.X)
        assert set(encoder.kinds_) == {"number", "date", "category", "text", "empty"}
        values[name] = pd.DataFrame(encoder.transform(read.X), columns=read.X.columns)
    for name in KINDS:
        one, other = values["export.csv"][name], values["export.xlsx"][name]
        assert np.allclose(one, other, rtol=1e-6, equal_nan=True), name


def test_what_cannot_be_read_is_refused_with_the_cell_the_row_and_the_option(folder):
    columns = table(N)
    columns["CRP"][6:400:7] = ["hämolytisch"] * len(columns["CRP"][6:400:7])
    write_csv(folder / "odd.csv", columns)
    line = ["fit", str(folder / "odd.csv"), "--target", "outcome", "--seed", "0"]
    result = CliRunner().invoke(app, line)
    assert result.exit_code == 1
    said = "odd.csv, line 8: column 'CRP' holds 'hämolytisch', where most values are numbers; if this stands for a "
    assert said in result.stderr
    assert "--na 'hämolytisch'" in result.stderr
    assert "--category CRP" in result.stderr
    line += ["--voters", "forest", "--method", "holdout"]  # what columns are does not depend on who votes
    shown = run(*line, "--na", "hämolytisch").stderr
    assert re.search(r"CRP +number, decimal comma", shown)
    shown = run(*line, "--category", "CRP").stderr
    assert re.search(r"CRP +category of \d+", shown)
