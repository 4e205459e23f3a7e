"""``--group`` and ``--time`` of the verbs that learn, and where what they learned is used."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from certivote import Certificate, load
from certivote.cli import app

FIT = ["--target", "outcome", "--method", "dis-b", "--voters", "stumps"]


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Visits of patients as a spreadsheet has them, and what ``fit`` makes of them with groups, and with times."""
    folder = tmp_path_factory.mktemp("groups")
    rng = np.random.default_rng(0)
    n = 200
    table = pd.DataFrame(
        {
            "patient": [f"P{number:03}" for number in rng.integers(0, 50, n)],
            "visit": pd.date_range("2024-01-01", periods=n, freq="D").strftime("%d.%m.%Y"),
            "age": rng.integers(20, 90, n),
            "outcome": "",
        }
    )
    table["outcome"] = np.where((table["age"] > 55) ^ (rng.random(n) < 0.05), "ill", "well")
    table = table.iloc[rng.permutation(n)]
    table.to_csv(folder / "visits.csv", index=False, sep=";", encoding="utf-8-sig", lineterminator="\r\n")
    for name, options in {"groups": ["--group", "patient"], "times": ["--time", "visit"]}.items():
        drop = ["--drop", "visit" if name == "groups" else "patient"]
        files = ["--out", folder / f"{name}.json", "--model", folder / f"{name}.certivote"]
        result = run("fit", folder / "visits.csv", *FIT, "--seed", "0", *options, *drop, *files)
        assert result.exit_code == 0, result.output
    return folder


def test_the_column_is_recorded_and_no_feature(folder):
    for name, expected in {"groups": ("patient", ""), "times": ("", "visit")}.items():
        certificate = Certificate.from_json((folder / f"{name}.json").read_text())
        assert (certificate.groups, certificate.order) == expected
        assert certificate.provenance.columns == ("age",)


def test_patients_are_not_divided_and_times_are_in_their_order(folder):
    table = pd.read_csv(folder / "visits.csv", sep=";")
    part = load(folder / "groups.certivote").part_
    assert not set(table["patient"].iloc[part.train]) & set(table["patient"].iloc[part.certify])
    part, when = load(folder / "times.certivote").part_, pd.to_datetime(table["visit"], format="%d.%m.%Y")
    assert when.iloc[part.train].max() < when.iloc[part.certify].min()


@pytest.mark.parametrize("name", ["groups", "times"])
def test_where_the_model_is_used_the_column_may_stay(folder, name):
    result = run("predict", folder / f"{name}.certivote", folder / "visits.csv")
    assert result.exit_code == 0, result.output
    answers = pd.read_csv(io.StringIO(result.stdout), sep=";")
    assert list(answers.columns[:3]) == ["patient", "visit", "age"]
    assert (answers["certivote_label"] == answers["outcome"]).mean() > 0.8
    result = run("report", folder / f"{name}.certivote", "--data", folder / "visits.csv", "-o", folder / "r.html")
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("name", ["groups", "times"])
def test_verify_finds_the_column_by_itself(folder, name):
    line = ["verify", folder / f"{name}.json", "--model", folder / f"{name}.certivote", "--data", folder / "visits.csv"]
    result = run(*line, "--refit")
    assert result.exit_code == 0, result.output
    wrong = ["--group", "age"] if name == "groups" else ["--time", "age"]
    assert run(*line, *wrong).exit_code == 1


def test_compare_takes_them_too(folder):
    line = [
        "compare",
        folder / "visits.csv",
        "--target",
        "outcome",
        "--voters",
        "stumps",
        "--method",
        "holdout",
        "--json",
    ]
    rows, groups, times = (
        json.loads(run(*line, *more).stdout)["methods"][0]["bound"]
        for more in (["--drop", "patient"], ["--group", "patient"], ["--time", "visit"])
    )
    assert len({rows, groups, times}) == 3


@pytest.mark.parametrize("verb", ["fit", "compare"])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--group", "outcome"], "the column 'outcome' cannot be the target and the group column"),
        (["--group", "patients"], "there is no column 'patients'; did you mean 'patient'?"),
        (["--group", "patient", "--time", "visit"], "--group, --time: give one of them"),
        (["--time", "patient"], "the time column 'patient' holds 'P0"),
    ],
)
def test_columns_that_cannot_be_used_are_refused_in_one_line(folder, verb, options, message):
    result = run(verb, folder / "visits.csv", "--target", "outcome", *options)
    assert (result.exit_code, result.stdout) == (1, "")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
