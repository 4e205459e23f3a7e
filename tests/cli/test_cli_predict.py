"""``certivote predict``: the answers of a saved model beside the rows of a file."""

import csv
import io
import os

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.preprocessing import FunctionTransformer
from typer.testing import CliRunner

from certivote import CertifiedVoteClassifier, load
from certivote.cli import app
from certivote.io import read_table
from certivote.voters import Forest, Preprocessed

FOREST = Forest(RandomForestClassifier(n_estimators=8))


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def table(n=300):
    rng = np.random.default_rng(0)
    age, town = rng.integers(18, 90, n), rng.choice(["Ulm", "Bonn", "Kiel"], n)
    labels = np.where((age > 50) ^ (town == "Ulm") ^ (rng.random(n) < 0.05), "ill", "well")
    ages = np.where(rng.random(n) < 0.1, "NA", [f"{value}.0" for value in age])
    codes = rng.choice(["7", "8", "A1"], n)
    return pd.DataFrame({"id": [f"P{k:03}" for k in range(n)], "age": ages, "town": town, "code": codes, "out": labels})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table, and the models that ``fit`` makes of it."""
    folder = tmp_path_factory.mktemp("predict")
    table().to_csv(folder / "data.csv", index=False)
    for voters in ("forest", "mixed", "stumps"):
        options = ["--target", "out", "--drop", "id", "--method", "dis-b", "--voters", voters]
        result = run("fit", folder / "data.csv", *options, "--model", folder / f"{voters}.certivote")
        assert result.exit_code == 0, result.output
    return folder


def predicted(folder, data, voters="forest", *options):
    result = run("predict", folder / f"{voters}.certivote", data, *options)
    assert result.exit_code == 0, result.output
    return pd.read_csv(io.StringIO(result.stdout), dtype=str, keep_default_na=False)


@pytest.mark.parametrize("voters", ["forest", "mixed", "stumps"])
def test_the_answers_are_those_of_the_model_in_python(folder, voters):
    model = load(folder / f"{voters}.certivote")
    X = read_table(folder / "data.csv", "out", ["id"]).X
    answers = predicted(folder, folder / "data.csv", voters)
    assert answers["certivote_label"].tolist() == model.predict(X).tolist()
    assert np.allclose(answers["certivote_mass"].astype(float), model.predict_proba(X).max(axis=1), atol=1e-6)


@pytest.mark.parametrize("voters", ["forest", "mixed", "stumps"])
def test_the_size_of_the_chunks_changes_nothing(folder, voters, monkeypatch):
    whole = predicted(folder, folder / "data.csv", voters)
    monkeypatch.setattr("certivote.cli._predict._CHUNK", 7)
    assert predicted(folder, folder / "data.csv", voters).equals(whole)


def test_all_columns_are_kept_as_they_are_written(folder, tmp_path):
    text = 'note, age ,town,code,x\n"a, ""b""", 07.50 ,Ulm,A1,\n,NA,Ulm,8, 1e3\n'
    (tmp_path / "new.csv").write_text(text)
    out = tmp_path / "out.csv"
    result = run("predict", folder / "forest.certivote", tmp_path / "new.csv", "-o", out)
    assert result.exit_code == 0, result.output
    rows = list(csv.reader(io.StringIO(out.read_text(), newline="")))
    assert [row[:-2] for row in rows] == list(csv.reader(io.StringIO(text)))
    assert rows[0][-2:] == ["certivote_label", "certivote_mass"]
    (tmp_path / "other").touch()
    assert out.stat().st_mode == (tmp_path / "other").stat().st_mode  # whoever may read other files may read this one


def test_order_and_more_columns_do_not_matter_and_the_file_may_have_marks(folder, tmp_path):
    expected = predicted(folder, folder / "data.csv")
    frame = table()[["town", "out", "code", "age"]].assign(more="x")
    text = frame.to_csv(index=False, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    (tmp_path / "new.csv").write_bytes(b"\xef\xbb\xbf" + text.encode())
    answers = predicted(folder, tmp_path / "new.csv")
    assert answers["certivote_label"].tolist() == expected["certivote_label"].tolist()
    assert answers["certivote_mass"].tolist() == expected["certivote_mass"].tolist()


def test_columns_whose_kind_the_new_file_hides(folder, tmp_path):
    # Codes that happen to be numbers are the categories that they were, and unknown ones are missing values.
    frame = table()
    frame[frame["code"] == "7"].to_csv(tmp_path / "sevens.csv", index=False)
    sevens = predicted(folder, tmp_path / "sevens.csv")
    everything = predicted(folder, folder / "data.csv")
    assert sevens["certivote_mass"].tolist() == everything[everything["code"] == "7"]["certivote_mass"].tolist()
    frame.assign(code="B2", town="Atlantis", age="old").to_csv(tmp_path / "new.csv", index=False)
    frame.assign(code="", town="", age="").to_csv(tmp_path / "missing.csv", index=False)
    result = run("predict", folder / "forest.certivote", tmp_path / "new.csv")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "3 of 3 columns of row 0 hold values that cannot be read, such as 'old' in the column 'age'" in result.stderr
    more = "forest", "--max-unread", "1"
    masses = [
        predicted(folder, tmp_path / name, *more)["certivote_mass"].tolist() for name in ("new.csv", "missing.csv")
    ]
    assert masses[0] == masses[1]


def test_parquet_gets_the_same_answers(folder, tmp_path):
    frame = table()
    frame["age"] = pd.to_numeric(frame["age"], errors="coerce")
    frame.to_parquet(tmp_path / "new.parquet")
    answers = predicted(folder, tmp_path / "new.parquet")
    expected = predicted(folder, folder / "data.csv")
    assert answers["certivote_mass"].tolist() == expected["certivote_mass"].tolist()
    assert answers["id"].tolist() == expected["id"].tolist()


def test_a_model_from_parquet_is_fitted_verified_and_used(tmp_path):
    frame = table().assign(day=pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(300), "D"))
    path = tmp_path / "data.parquet"
    frame.to_parquet(path)
    command = ["fit", path, "--target", "out", "--drop", "id", "--method", "dis-b", "--voters", "forest"]
    assert run(*command, "--out", tmp_path / "c.json", "--model", tmp_path / "m.certivote").exit_code == 0
    record = ["verify", tmp_path / "c.json", "--model", tmp_path / "m.certivote"]
    assert run(*record, "--data", path, "--target", "out").exit_code == 0
    assert run("predict", tmp_path / "m.certivote", path).exit_code == 0


def test_names_that_are_taken_get_a_number(folder, tmp_path):
    frame = table().assign(certivote_label="old", certivote_label_2="older")
    frame.to_csv(tmp_path / "new.csv", index=False)
    answers = predicted(folder, tmp_path / "new.csv")
    assert answers.columns[-2:].tolist() == ["certivote_label_3", "certivote_mass"]
    assert set(answers["certivote_label"]) == {"old"}


def test_the_weight_behind_each_class_has_a_column(folder, tmp_path):
    data = table().rename(columns={"id": "certivote_mass_ill"})
    data.to_csv(tmp_path / "taken.csv", index=False)
    answers = predicted(folder, tmp_path / "taken.csv", "mixed", "--masses")
    model = load(folder / "mixed.certivote")
    columns = [f"certivote_mass_{label}" for label in model.classes_]
    columns[columns.index("certivote_mass_ill")] = "certivote_mass_ill_2"
    assert answers.columns.tolist()[-4:] == ["certivote_label", "certivote_mass", *columns]
    masses = model.predict_proba(read_table(folder / "data.csv", "out", ["id"]).X)
    assert np.allclose(answers[columns].astype(float), masses, atol=1e-6)
    assert answers["certivote_mass_ill"].tolist() == data["certivote_mass_ill"].tolist()


def test_a_table_without_rows_has_no_answers(folder, tmp_path):
    (tmp_path / "new.csv").write_text("age,town,code\n")
    result = run("predict", folder / "forest.certivote", tmp_path / "new.csv")
    assert result.stdout == "age,town,code,certivote_label,certivote_mass\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("age,Town,code\n1,Ulm,7\n", "there is no column 'town'; did you mean 'Town'?"),
        (
            "Age,Town,code\n1,Ulm,7\n",
            "there are no columns 'age' (did you mean 'Age'?) and 'town' (did you mean 'Town'?).",
        ),
        ("age,town,code\n1,Ulm\n", "line 2: 2 fields, but the header has 3"),
        ("age,town,code\n1,Ulm,7,8\n", "line 2: 4 fields, but the header has 3"),
        ("", "the file is empty"),
    ],
)
def test_files_that_do_not_fit_end_in_one_line_and_leave_no_file(folder, tmp_path, text, message):
    path = tmp_path / "new.csv"
    path.write_text(text)
    result = run("predict", folder / "forest.certivote", path, "-o", tmp_path / "out.csv")
    assert result.exit_code == 1
    assert message in result.output
    assert result.output.count("\n") == 1
    assert os.listdir(tmp_path) == ["new.csv"]


@pytest.mark.parametrize("trouble", [KeyboardInterrupt, OSError("disk full"), ValueError("bad")])
def test_trouble_half_way_leaves_the_old_file(folder, tmp_path, monkeypatch, trouble):
    out = tmp_path / "out.csv"
    out.write_text("before")
    masses, calls = CertifiedVoteClassifier.predict_proba, []

    def breaking(self, rows):
        calls.append(len(rows))
        if len(calls) > 1:
            raise trouble
        return masses(self, rows)

    monkeypatch.setattr("certivote.cli._predict._CHUNK", 7)
    monkeypatch.setattr(CertifiedVoteClassifier, "predict_proba", breaking)
    assert run("predict", folder / "forest.certivote", folder / "data.csv", "-o", out).exit_code != 0
    assert out.read_text() == "before"
    assert os.listdir(tmp_path) == ["out.csv"]


def test_what_cannot_be_written_or_read_is_said_at_once(folder, tmp_path):
    model, data = folder / "forest.certivote", folder / "data.csv"
    assert "does not exist" in run("predict", model, data, "-o", tmp_path / "no" / "out.csv").output
    assert "written as plain CSV" in run("predict", model, data, "-o", tmp_path / "out.parquet").output
    assert "not a certivote model" in run("predict", data, data).output
    assert "No such file" in run("predict", tmp_path / "no.certivote", data).output


def test_the_random_vote_is_refused(folder, tmp_path):
    options = ["--target", "out", "--method", "smv-exact", "--voters", "stumps", "--model", tmp_path / "m.certivote"]
    assert run("fit", folder / "data.csv", "--drop", "id", *options).exit_code == 0
    result = run("predict", tmp_path / "m.certivote", folder / "data.csv")
    assert result.exit_code == 1
    assert "smv-exact certifies a random vote" in result.output


def test_models_of_numbers_made_in_python(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 2)), columns=["a", "b"])
    y = np.where(X["a"] > 0, "u", "v")
    X.assign(more="x").to_csv(tmp_path / "named.csv", index=False)
    X.to_csv(tmp_path / "bare.csv", index=False)
    named = CertifiedVoteClassifier("dis-b", FOREST, random_state=0).fit(X, y)
    named.save(tmp_path / "named.certivote")
    bare = CertifiedVoteClassifier("dis-b", FOREST, random_state=0).fit(X.to_numpy(), y)
    bare.save(tmp_path / "bare.certivote")
    for name in ("named", "bare"):
        answers = predicted(tmp_path, tmp_path / f"{name}.csv", name)
        assert answers["certivote_label"].tolist() == named.predict(X).tolist()
    result = run("predict", tmp_path / "bare.certivote", tmp_path / "named.csv")
    assert "3 columns, but the model takes 2" in result.output
    (tmp_path / "text.csv").write_text("a,b\n1,red\n")
    result = run("predict", tmp_path / "named.certivote", tmp_path / "text.csv")
    assert "column 'b' holds 'red', and this model was fitted to numbers" in result.output
    own = CertifiedVoteClassifier("dis-b", Preprocessed(FunctionTransformer(), FOREST), random_state=0).fit(X, y)
    own.save(tmp_path / "own.certivote")
    result = run("predict", tmp_path / "own.certivote", tmp_path / "named.csv")
    assert result.exit_code == 1
    assert "FunctionTransformer" in result.stderr
    assert "--trust TYPE" in result.stderr
    trust = ["--trust", "builtins.str", "--trust", "sklearn.preprocessing._function_transformer.FunctionTransformer"]
    answers = predicted(tmp_path, tmp_path / "named.csv", "own", *trust)
    assert answers["certivote_label"].tolist() == own.predict(X).tolist()
    assert run("verify", tmp_path / "own.certivote").exit_code == 1
    assert run("verify", tmp_path / "own.certivote", *trust).exit_code == 0
    assert run("report", tmp_path / "own.certivote", "-o", tmp_path / "page.html", *trust).exit_code == 0
