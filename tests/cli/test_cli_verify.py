"""``certivote verify``, and models written by ``certivote fit``."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from certivote import certify_predictions, load
from certivote.cli import app
from certivote.pipeline import _pilot

run = CliRunner().invoke


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A CSV file, and what ``fit`` makes of it."""
    folder = tmp_path_factory.mktemp("verify")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3)).round(3)
    labels = np.where(X[:, 0] + 0.3 * rng.normal(size=300) > 0, "ill", "well")
    lines = ["a,b,c,state", *(f"{a},{b},{c},{label}" for (a, b, c), label in zip(X.tolist(), labels, strict=True))]
    (folder / "data.csv").write_text("\n".join(lines) + "\n")
    command = ["fit", str(folder / "data.csv"), "--target", "state", "--method", "dis-b", "--voters", "forest"]
    result = run(app, [*command, "--out", str(folder / "c.json"), "--model", str(folder / "m.certivote")])
    assert result.exit_code == 0, result.output
    return folder


def everything(folder):
    data = ["--data", str(folder / "data.csv"), "--target", "state"]
    return ["verify", str(folder / "c.json"), "--model", str(folder / "m.certivote"), *data]


def test_the_record_alone(folder):
    result = run(app, ["verify", str(folder / "c.json")])
    assert result.exit_code == 0
    assert "FAIL" not in result.output
    assert re.search(r"The bound of .* and 1 promise are proved for these numbers", result.output)


def test_record_model_and_data(folder):
    result = run(app, [*everything(folder), "--details"])
    assert result.exit_code == 0
    for what in ("weights", "parts", "certification rows", "training rows", "voters", "errors"):
        assert f"ok    {what}:" in result.output


def test_what_is_taken_on_trust_is_counted(folder):
    found = [json.loads(run(app, [*line, "--json"]).stdout) for line in (everything(folder)[:2], everything(folder))]
    for line, record in zip((everything(folder)[:2], everything(folder)), found, strict=True):
        trusted = sum(check["on_trust"] for check in record["checks"])
        assert record["taken_on_trust"] == trusted > 0
        shown = run(app, line).output
        assert sum(text.startswith("TRUST ") for text in shown.splitlines()) == trusted
        made = len(record["checks"]) - trusted
        assert f"All {made} checks passed; {trusted} things are taken on trust." in shown
    assert found[0]["taken_on_trust"] > found[1]["taken_on_trust"]


def test_fitting_again_leaves_less_to_trust(folder):
    before, after = (json.loads(run(app, [*everything(folder), *more, "--json"]).stdout) for more in ([], ["--refit"]))
    assert after["verified"]
    assert after["taken_on_trust"] < before["taken_on_trust"]
    result = run(app, ["verify", str(folder / "m.certivote"), "--refit"])
    assert result.exit_code == 1
    assert "--refit: give --data with it" in result.stderr


def test_another_file_with_the_same_rows_is_noticed(folder, tmp_path):
    other = tmp_path / "data.csv"
    other.write_text((folder / "data.csv").read_text() + "\n")
    result = run(app, [*everything(folder)[:-3], str(other), "--target", "state"])
    assert result.exit_code == 1
    assert [text.split(":")[0] for text in result.output.splitlines() if text.startswith("FAIL")] == [
        "FAIL  digest of the file"
    ]


def test_the_model_predicts(folder):
    model = load(folder / "m.certivote")
    assert set(model.predict(pd.DataFrame(np.zeros((2, 3)), columns=["a", "b", "c"]))) <= {"ill", "well"}


def test_a_changed_number_fails(folder, tmp_path):
    record = json.loads((folder / "c.json").read_text())
    record["parts"][0]["statement"]["bound"] *= 0.9
    (tmp_path / "c.json").write_text(json.dumps(record))
    result = run(app, ["verify", str(tmp_path / "c.json")])
    assert result.exit_code == 1
    assert "FAIL  part, bound" in result.output
    assert "do not rely" in result.output


def test_other_data_fail(folder, tmp_path):
    lines = (folder / "data.csv").read_text().splitlines()
    other = tmp_path / "data.csv"
    other.write_text("\n".join([lines[0], *reversed(lines[1:])]) + "\n")
    result = run(app, [*everything(folder)[:-3], str(other), "--target", "state"])
    assert result.exit_code == 1
    assert "FAIL  certification rows" in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.json"], "nothing.json"),
        (["{c}", "--target", "state"], "--target: give --data with it"),
        (["{c}", "--data", "{data}"], "--model"),
        (["{c}", "--data", "{data}", "--target", "state"], "--model"),
        (["{data}"], "Not a certificate"),
        (["{c}", "--model", "{data}"], "not a certivote model"),
        (["{c}", "--model", "{m}", "--data", "{data}", "--target", "stat"], "did you mean 'state'"),
    ],
)
def test_what_cannot_be_verified_ends_in_one_line(folder, arguments, message):
    places = {"c": folder / "c.json", "m": folder / "m.certivote", "data": folder / "data.csv"}
    result = run(app, ["verify", *(argument.format(**places) for argument in arguments)])
    assert result.exit_code == 1
    assert message in result.output
    assert len(result.output.strip().splitlines()) == 1
    assert "Traceback" not in result.output


def test_folds_that_the_first_rows_decided_for_are_verified_and_repeated(folder, tmp_path, monkeypatch):
    limit = _pilot._expected_limit
    monkeypatch.setattr(_pilot, "_expected_limit", lambda *how: 1e-3 if how[2] == 3 else limit(*how))
    monkeypatch.setattr(_pilot, "_FEWEST_ERRORS", 0)
    files = ["--out", str(tmp_path / "c.json"), "--model", str(tmp_path / "m.certivote")]
    result = run(app, ["fit", str(folder / "data.csv"), "--target", "state", "--voters", "forest", "--details", *files])
    assert result.exit_code == 0, result.output
    said = " ".join(result.output.split())
    assert "split: 3 folds" in said
    assert (
        "3 votes, each certified on a fold of its own: on the first 40 rows, which are in no fold, voters err on"
        in said
    )
    rows = ["--data", str(folder / "data.csv"), "--target", "state"]
    result = run(
        app,
        ["verify", str(tmp_path / "c.json"), "--model", str(tmp_path / "m.certivote"), *rows, "--refit", "--details"],
    )
    assert (result.exit_code, "FAIL" in result.output) == (0, False)
    assert "ok    row numbers: those that the seed gives" in result.output
    assert "ok    refit, choices: as a new fit gives" in result.output


# How columns are read


def as_categories(encoder, table):
    """Columns of numbers become categories: numbers of the table are read as before, and any other is missing."""
    for place, name in enumerate(table):
        values = table[name].unique()
        names = {str(int(value)) if value.is_integer() else str(value): value for value in values.tolist()}
        encoder.categories_[place] = np.array(sorted(names), dtype=object)
        encoder.places_[place] = np.array([names[text] for text in sorted(names)])
        encoder.kinds_[place], encoder.forms_[place] = "category", ()


@pytest.fixture(scope="module")
def unreadable(tmp_path_factory):
    """A table, its model, and the model after its encoder has learned the numbers of the table by heart."""
    folder = tmp_path_factory.mktemp("unreadable")
    rng = np.random.default_rng(0)
    table = pd.DataFrame(10.0 + rng.normal(size=(300, 3)).round(4), columns=["a", "b", "c"])
    state = np.where(table["a"] + 0.2 * rng.normal(size=300) > 10.0, "ill", "well")
    table.assign(state=state).to_csv(folder / "data.csv", index=False)
    command = ["fit", str(folder / "data.csv"), "--target", "state", "--seed", "0", "--quiet"]
    assert run(app, [*command, "--model", str(folder / "honest.certivote")]).exit_code == 0
    clf = load(folder / "honest.certivote")
    as_categories(clf.voters_.transformer, table)
    clf.save(folder / "forged.certivote")
    return folder


def test_an_encoder_that_reads_only_the_rows_at_hand_is_caught(unreadable):
    new = pd.DataFrame(10.0 + np.random.default_rng(1).normal(size=(500, 3)), columns=["a", "b", "c"])
    truth = np.where(new["a"] > 10.0, "ill", "well")
    errors = {}
    for name in ("honest", "forged"):
        clf = load(unreadable / f"{name}.certivote")
        clf.voters_.encoder.max_unread = 1.0
        errors[name] = np.mean(clf.predict(new) != truth)
    assert errors["forged"] > errors["honest"] + 0.2
    for name, caught in (("honest", []), ("forged", ["encoder of the columns"])):
        command = ["verify", str(unreadable / f"{name}.certivote"), "--data", str(unreadable / "data.csv"), "--json"]
        for more, also in (([], []), (["--refit"], ["refit, members"])):
            found = json.loads(run(app, [*command, *more]).stdout)["checks"]
            assert [check["what"] for check in found if not check["passed"]] == (caught + also if caught else [])
    assert any("model.voters.fields.transformer.columns.kinds" in check["detail"] for check in found)


def test_without_a_new_fit_it_is_said_what_other_rows_may_show(unreadable):
    command = ["verify", str(unreadable / "honest.certivote")]
    for data, words in (
        ([], "not compared without the data"),
        (["--data", str(unreadable / "data.csv")], "on these rows"),
    ):
        (line,) = [text for text in run(app, [*command, *data]).output.splitlines() if "model on other rows" in text]
        assert line.startswith("TRUST ")
        assert words in line
    assert "model on other rows" not in run(app, [*command, *data, "--refit"]).output


@pytest.mark.parametrize("value", ["9" * 400, "1e400", "NaN", "[" * 50 + "]" * 50])
def test_a_recorded_number_beyond_all_numbers_ends_in_one_line(value, tmp_path):
    y = ["ill", "well"] * 50
    record = json.loads(certify_predictions(y, y).to_json())
    record["provenance"]["parameters"][1][1] = value
    (tmp_path / "c.json").write_text(json.dumps(record), encoding="utf-8")
    for verb in (["verify"], ["report", "-o", tmp_path / "r.html"]):
        result = CliRunner().invoke(app, [str(word) for word in [verb[0], tmp_path / "c.json", *verb[1:]]])
        assert (result.exit_code, result.stderr.count("\n")) == (1, 1), result.output
        assert "Not a certificate: provenance.parameters: 'delta'" in result.stderr
