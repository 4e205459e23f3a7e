"""``certivote certify`` of answers and of models, and what ``verify`` and ``report`` do with such certificates."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from certivote import Certificate, CertifiedVoteClassifier, certify, certify_predictions
from certivote.cli import app

N = 120
OUTCOME = ["--truth", "outcome", "--predicted", "label"]


def run(*arguments, **settings):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], **settings)


def table():
    rng = np.random.default_rng(0)
    truth = rng.choice(["ill", "well"], N)
    other = np.where(truth == "ill", "well", "ill")
    return pd.DataFrame(
        {
            "patient_id": np.arange(N) // 4,
            "age": rng.integers(20, 90, N),
            "taken": pd.date_range("2024-01-01", periods=N, freq="D").strftime("%d.%m.%Y"),
            "outcome": truth,
            "label": np.where(np.arange(N) % 20 == 0, other, truth),
            "rival": np.where(np.arange(N) % 6 == 0, other, truth),
        }
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A table of answers, and the certificates of all kinds that come from it."""
    folder = tmp_path_factory.mktemp("certify")
    data = folder / "predictions.csv"
    table().to_csv(data, index=False)
    table()[::2].to_csv(folder / "training.csv", index=False)
    kinds = {
        "plain": [],
        "groups": ["--group", "patient_id", "--seed", "0"],
        "times": ["--time", "taken"],
        "several": ["--predicted", "rival", "--seed", "0"],
        "training": ["--training", folder / "training.csv"],
    }
    for name, options in kinds.items():
        result = run("certify", data, *OUTCOME, *options, "--out", folder / f"{name}.json", "--quiet")
        assert (result.exit_code, result.output) == (0, ""), result.output
    return folder


def certificate(folder, name):
    return Certificate.from_json((folder / f"{name}.json").read_text())


@pytest.fixture
def folder(made, tmp_path, monkeypatch):
    """Copies of them, in the folder where commands run."""
    for path in made.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


# What is certified ----------------------------------------------------------------------------------------------------


def test_certificates_are_those_of_python(made):
    """But for the file that they come from, and dates, which Python gets as such."""
    read = table()
    source = certificate(made, "plain").provenance
    assert source.source == "predictions.csv"
    taken = pd.to_datetime(read["taken"], dayfirst=True).rename("taken")
    truth, label, rival = read["outcome"], read[["label"]], read[["label", "rival"]]
    expected = {
        "plain": certify_predictions(truth, label),
        "groups": certify_predictions(truth, label, groups=read["patient_id"], random_state=0),
        "times": certify_predictions(truth, label, order=taken),
        "several": certify_predictions(truth, rival, random_state=0),
    }
    for name, made_here in expected.items():
        assert certificate(made, name) == made_here.with_source("predictions.csv", source.source_digest), name


def test_the_certificate_is_printed_as_fit_does(folder):
    result = run("certify", "predictions.csv", *OUTCOME, "--out", "c.json", "--report", "r.html", "--delta", 0.1)
    assert result.exit_code == 0, result.output
    made = Certificate.from_json((folder / "c.json").read_text())
    assert made.delta == 0.1
    assert result.stdout == f"{made}\n\nCertificate written to c.json.\nReport written to r.html.\n"
    page = (folder / "r.html").read_text()
    command = " ".join(re.sub("<[^>]+>", " ", page).split())
    assert "certivote verify c.json --data predictions.csv --truth outcome --predicted label" in command
    printed = run("certify", "predictions.csv", *OUTCOME, "--out", "-", "--quiet")
    assert Certificate.from_json(printed.stdout) == certificate(folder, "plain")
    piped = run("certify", "-", *OUTCOME, "--json", input=(folder / "predictions.csv").read_bytes())
    assert Certificate.from_json(piped.stdout).bound == certificate(folder, "plain").bound


def test_rows_that_training_has_too_are_counted(made):
    part = certificate(made, "training").deployed_part
    assert (part.training_rows, part.duplicates_of_training_rows) == (N // 2, N // 2)
    assert certificate(made, "training").provenance.columns == ("patient_id", "age", "taken", "rival")
    result = run("certify", made / "predictions.csv", *OUTCOME, "--training", made / "training.csv")
    assert "by patient_id, age, taken, rival." in result.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "--predicted, --model: neither is given"),
        (["--predicted", "label", "--model", "m.certivote"], "--predicted, --model: both are given"),
        (["--predicted", "label", "--group", "patient_id", "--time", "taken"], "--group, --time: give one of them"),
        (
            ["--predicted", "label", "--group", "outcome"],
            "'outcome' cannot be the column of true classes and the group",
        ),
        (
            ["--predicted", "label", "--group", "nobody"],
            "there is no column 'nobody'; the columns are patient_id, age,",
        ),
        (["--predicted", "label", "--time", "label"], "'label' cannot be the column of answers and the time column"),
        (["--predicted", "age"], "predictions.csv: the column 'age' never holds a class that 'outcome' has"),
        (
            ["--predicted", "label", "--training", "other.csv"],
            "--training: other.csv and predictions.csv share no columns",
        ),
        (["--predicted", "label", "--report", "-"], "--report: give the name of a file"),
        (["--predicted", "label", "--out", "predictions.csv"], "--out: predictions.csv is what DATA reads"),
        (["--predicted", "label", "--out", "x", "--report", "x"], "--out, --report: x and x are one file"),
        (["--predicted", "label", "--delta", "2"], "delta"),
        (["--model", "plain.json"], "plain.json"),
    ],
)
def test_what_cannot_be_certified_is_refused_in_one_line(folder, options, message):
    (folder / "other.csv").write_text("outcome,height\nill,1\n")
    before = sorted(path.name for path in folder.iterdir())
    result = run("certify", "predictions.csv", "--truth", "outcome", *options)
    assert (result.exit_code, result.stdout) == (1, "")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert sorted(path.name for path in folder.iterdir()) == before


# Verified -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["plain", "groups", "times", "several", "training"])
def test_the_columns_need_not_be_named_again(made, name):
    result = run("verify", made / f"{name}.json", "--data", made / "predictions.csv", "--details")
    assert result.exit_code == 0, result.output
    assert "ok    digest of the file" in result.output
    assert "ok    certification rows" in result.output
    assert "ok    errors: " in result.output


def test_columns_that_are_named_are_taken(folder):
    renamed = {"outcome": "true", "label": "said", "patient_id": "who"}
    table().rename(columns=renamed).to_csv("renamed.csv", index=False)
    columns = ["--truth", "true", "--predicted", "said", "--group", "who"]
    result = run("verify", "groups.json", "--data", "renamed.csv", *columns)
    failed = [line.split(":")[0] for line in result.stdout.splitlines() if line.startswith("FAIL")]
    assert "FAIL  digest of the file" in failed
    assert not {"FAIL  certification rows", "FAIL  errors", "FAIL  voters"} & set(failed)
    result = run("verify", "groups.json", "--data", "predictions.csv", "--predicted", "rival")
    assert result.exit_code == 1
    assert "FAIL  voters" in result.stdout


def test_training_rows_are_verified_where_they_are_given(made):
    line = ["verify", made / "training.json", "--data", made / "predictions.csv", "--json"]
    before, after = (json.loads(run(*line, *more).stdout) for more in ([], ["--training", made / "training.csv"]))
    assert before["verified"]
    assert after["verified"]
    assert after["taken_on_trust"] < before["taken_on_trust"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("plain.json --truth outcome", "--target: give --data with it"),
        ("plain.json --group patient_id", "--group: give --data with it"),
        ("plain.json --data predictions.csv --refit", "--refit: this certificate is about a model that was given"),
        (
            "plain.json --data bare.csv",
            "--predicted: bare.csv has no column 'label'; name the column with the answ",
        ),
        (
            "several.json --data predictions.csv --predicted label",
            "1 column is given, and the certificate is about 2 mod",
        ),
        (
            "plain.json --data predictions.csv --training training.csv",
            "--training: this certificate is about answers only",
        ),
        ("plain.json --data predictions.csv --truth out", "there is no column 'out'; did you mean 'outcome'?"),
        ("- --data -", "--data: standard input is the certificate already"),
    ],
)
def test_what_cannot_be_verified_is_refused_in_one_line(folder, line, message):
    table().drop(columns="label").to_csv("bare.csv", index=False)
    result = run("verify", *line.split())
    assert (result.exit_code, result.stdout) == (1, "")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


# Reported -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["plain", "groups", "times", "several", "training"])
def test_reports_of_given_models(folder, name):
    result = run("report", f"{name}.json", "-o", "page.html")
    assert (result.exit_code, result.stdout) == (0, "Report written to page.html.\n"), result.output
    words = " ".join(re.sub("<[^>]+>", " ", (folder / "page.html").read_text()).split())
    assert f"certivote verify {name}.json --data predictions.csv --truth outcome --predicted label" in words


def test_test_rows_of_a_given_model(folder, monkeypatch):
    shown = {}
    monkeypatch.setattr(Certificate, "report", lambda self, path, **content: shown.update(content))
    for name in ("plain", "several", "training"):
        assert run("report", f"{name}.json", "--data", "predictions.csv").exit_code == 0
        assert (shown["used"].found, shown["used"].certified) == (True, N), name
        assert sum(a != b for a, b in zip(shown["truth"], shown["answers"], strict=True)) == N // 20
    table()[:50].to_csv("fresh.csv", index=False)
    assert run("report", "plain.json", "--data", "fresh.csv", "--predicted", "rival").exit_code == 0
    assert shown["used"] is None
    assert sum(a != b for a, b in zip(shown["truth"], shown["answers"], strict=True)) == 9


def test_test_rows_have_the_names_of_the_certificate(tmp_path, monkeypatch):
    """Whether 1 is written as 1 or as 1.0, and whichever of several models was chosen."""
    monkeypatch.chdir(tmp_path)
    truth = np.arange(60) % 2
    pd.DataFrame({"y": truth, "a": truth, "b": 1 - truth}).to_csv("old.csv", index=False)
    pd.DataFrame({"y": [1, 0], "a": [1.0, 1.0], "b": [0, 1]}).to_csv("new.csv", index=False)
    assert (
        run("certify", "old.csv", "--truth", "y", "--predicted", "a", "--predicted", "b", "--out", "c.json").exit_code
        == 0
    )
    shown = {}
    monkeypatch.setattr(Certificate, "report", lambda self, path, **content: shown.update(content))
    assert run("report", "c.json", "--data", "new.csv").exit_code == 0
    assert (list(shown["truth"]), list(shown["answers"])) == (["1", "0"], ["1", "1"])


def test_test_rows_without_answers_are_refused(folder):
    table().drop(columns="label").to_csv("bare.csv", index=False)
    result = run("report", "plain.json", "--data", "bare.csv")
    assert result.exit_code == 1
    assert "--predicted: bare.csv has no column 'label'" in result.stderr


# Models of our own ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """A model, and rows that are new to it."""
    folder = tmp_path_factory.mktemp("own")
    rng = np.random.default_rng(1)
    rows = pd.DataFrame({"age": rng.integers(20, 90, 240), "weight": rng.normal(70, 9, 240).round(4)})
    rows["outcome"] = ((rows["age"] > 55) ^ (rng.random(240) < 0.05)).astype(int)
    rows[:120].to_csv(folder / "old.csv", index=False)
    rows[110:].to_csv(folder / "new.csv", index=False)
    fit = ["--target", "outcome", "--method", "dis-b", "--voters", "stumps", "--model", folder / "m.certivote"]
    assert run("fit", folder / "old.csv", *fit).exit_code == 0
    line = ["certify", folder / "new.csv", "--truth", "outcome", "--model", folder / "m.certivote"]
    result = run(*line, "--training", folder / "old.csv", "--out", folder / "c.json")
    assert result.exit_code == 0, result.output
    return folder


def test_a_model_of_our_own_answers_new_rows(own):
    made = certificate(own, "c")
    assert json.loads(dict(made.provenance.parameters)["models"]) == ["m.certivote"]
    assert (made.deployed_part.n, made.deployed_part.duplicates_of_training_rows) == (130, 10)
    assert made.provenance.columns == ("age", "weight")
    line = ["verify", own / "c.json", "--data", own / "new.csv"]
    result = run(*line, "--model", own / "m.certivote", "--training", own / "old.csv")
    assert result.exit_code == 0, result.output
    result = run(*line)
    assert result.exit_code == 1
    assert "new.csv has no column 'm.certivote'" in result.stderr


def test_answers_that_predict_wrote_are_those_of_the_model(own, tmp_path):
    answered = tmp_path / "answered.csv"
    assert run("predict", own / "m.certivote", own / "new.csv", "-o", answered).exit_code == 0
    result = run("certify", answered, "--truth", "outcome", "--predicted", "certivote_label", "--json")
    assert Certificate.from_json(result.stdout).bound == certificate(own, "c").bound


def test_classes_of_a_model_are_matched_by_value(own, tmp_path):
    text = re.sub(r",(\d)$", r",\1.0", (own / "new.csv").read_text(), flags=re.MULTILINE)
    (tmp_path / "new.csv").write_text(text)
    result = run("certify", tmp_path / "new.csv", "--truth", "outcome", "--model", own / "m.certivote", "--json")
    assert Certificate.from_json(result.stdout).deployed_part.errors == certificate(own, "c").deployed_part.errors


def test_rows_that_a_model_was_made_from_are_refused(own):
    result = run("certify", own / "old.csv", "--truth", "outcome", "--model", own / "m.certivote")
    assert result.exit_code == 1
    assert "X has rows that m.certivote was made from" in result.stderr


def test_python_certificates_are_verified_with_a_table_of_answers(tmp_path):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(80, 2)), rng.integers(0, 2, 80)
    made = certify(lambda rows: (rows[:, 0] > 0).astype(int), X, pd.Series(y, name="y"))
    (tmp_path / "c.json").write_text(made.to_json())
    pd.DataFrame({"y": y, "said": (X[:, 0] > 0).astype(int)}).to_csv(tmp_path / "answers.csv", index=False)
    result = run("verify", tmp_path / "c.json", "--data", tmp_path / "answers.csv", "--predicted", "said", "--details")
    assert result.exit_code == 0, result.output
    assert "ok    errors: " in result.output


def test_a_certificate_that_names_no_column_needs_the_name(tmp_path):
    made = certify_predictions(["a", "b"] * 20, ["a", "b"] * 20)
    (tmp_path / "c.json").write_text(made.to_json())
    (tmp_path / "answers.csv").write_text("true,model\n" + "a,a\nb,b\n" * 20)
    line = ["verify", tmp_path / "c.json", "--data", tmp_path / "answers.csv"]
    result = run(*line)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "--target: the certificate does not name the column of the true classes" in result.stderr
    failed = [text.split(":")[0] for text in run(*line, "--truth", "true").stdout.splitlines() if text[:4] == "FAIL"]
    assert set(failed) <= {"FAIL  target"}


def test_a_vote_of_several_models(tmp_path, monkeypatch):
    """Three models that err on rows of their own: their vote is certified, verified and shown."""
    monkeypatch.chdir(tmp_path)
    n = 600
    truth = np.arange(n) % 2
    said = {f"m{k}": np.where(np.arange(n) % 12 == k, 1 - truth, truth) for k in range(3)}
    pd.DataFrame({"y": truth, **said}).to_csv("t.csv", index=False)
    models = [word for name in said for word in ("--predicted", name)]
    assert run("certify", "t.csv", "--truth", "y", *models, "--out", "c.json").exit_code == 0
    made = certificate(tmp_path, "c")
    assert made.deployed_part.errors == 0
    assert not any(candidate.chosen for candidate in made.candidates)
    result = run("verify", "c.json", "--data", "t.csv")
    assert result.exit_code == 0, result.output
    shown = {}
    monkeypatch.setattr(Certificate, "report", lambda self, path, **content: shown.update(content))
    assert run("report", "c.json", "--data", "t.csv").exit_code == 0
    assert list(shown["truth"]) == list(shown["answers"]) == list(map(str, truth))


def test_a_vote_that_was_fitted_takes_no_answers(own, tmp_path):
    for verb in ("verify", "report"):
        line = [verb, own / "m.certivote", "--data", own / "old.csv", "--target", "outcome", "--predicted", "outcome"]
        result = run(*line)
        assert result.exit_code == 1
        assert "--predicted: this certificate is about a vote that was fitted" in result.stderr


def test_columns_without_names_leave_out_the_group(tmp_path):
    """A model that was fitted to an array takes as many columns as it had; the group is none of them."""
    rng = np.random.default_rng(3)
    X, who = rng.normal(size=(160, 2)), pd.Series(np.arange(160) // 4, name="who")
    labels = np.where(X[:, 0] > 0, "a", "b")
    CertifiedVoteClassifier("holdout", "stumps", random_state=0).fit(X, labels, groups=who).save(
        tmp_path / "m.certivote"
    )
    pd.DataFrame({"u": X[:, 0], "who": who, "v": X[:, 1]}).to_csv(tmp_path / "new.csv", index=False)
    result = run("predict", tmp_path / "m.certivote", tmp_path / "new.csv")
    assert result.exit_code == 0, result.output
    pd.DataFrame({"u": X[:, 0], "who": who, "v": X[:, 1], "y": labels}).to_csv(tmp_path / "old.csv", index=False)
    result = run("verify", tmp_path / "m.certivote", "--data", tmp_path / "old.csv", "--target", "y")
    failed = [line for line in result.stdout.splitlines() if line.startswith("FAIL")]
    assert [line for line in failed if not line.startswith(("FAIL  target", "FAIL  digest of the file"))] == []


def test_models_are_compared_and_a_margin_that_is_not_shown_ends_with_code_4(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    truth = np.arange(400) % 2
    wrong = {"new": range(4), "old": range(1, 8), "poor": range(100, 160)}
    answers = {name: np.where(np.isin(np.arange(400), list(rows)), 1 - truth, truth) for name, rows in wrong.items()}
    pd.DataFrame({"y": truth, **answers}).to_csv("p.csv", index=False)
    words = ["certify", "p.csv", "--truth", "y", "--predicted", "new", "--predicted", "old", "--difference"]
    shown = run(*words, "--margin", "0.02", "--out", "c.json", "--report", "r.html")
    assert shown.exit_code == 0
    assert "'new' is not worse than 'old' by more than 2 percentage points" in shown.stdout
    record = Certificate.from_json((tmp_path / "c.json").read_text())
    assert record.differences[0].discordant == (1, 4)
    assert "Which model is better" in (tmp_path / "r.html").read_text()
    assert run("verify", "c.json", "--data", "p.csv").exit_code == 0
    ended = run(*words, "--predicted", "poor", "--margin", "0.0001")
    assert ended.exit_code == 4
    assert "not shown: that 'new' is not worse than 'old' by more than 0.01 percentage points" in ended.stderr
    assert "'poor'" not in ended.stderr
    assert ended.stdout.count("wrong alone on") == 3
    silent = run(*words, "--margin", "0.0001", "--quiet")
    assert (silent.exit_code, silent.stdout) == (4, "")
    assert "With 95" not in run(*words, "--json").stdout
    for line, message in [
        (["--predicted", "new", "--margin", "0.01"], "--margin: give --difference with it"),
        (["--predicted", "new", "--difference"], "--difference: it compares models"),
    ]:
        refused = run("certify", "p.csv", "--truth", "y", *line)
        assert (refused.exit_code, message in refused.stderr) == (1, True)
