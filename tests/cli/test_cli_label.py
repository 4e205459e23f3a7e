"""``certivote label`` and ``certivote carry``: files that are written, read back, verified, and refused."""

import json

import numpy as np
import pandas as pd
import pytest
from cases import table
from typer.testing import CliRunner

from certivote import certify_predictions
from certivote.certificate import any_certificate
from certivote.cli import app


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A model, the file that it was fitted to, rows without labels, their truth, and a certificate of answers."""
    folder = tmp_path_factory.mktemp("made")
    table(400, 1)[["a", "site", "outcome"]].to_csv(folder / "rows.csv", index=False)
    learned = ("--voters", "forest", "--method", "dis-b", "--model", folder / "m.certivote")
    run("fit", folder / "rows.csv", "--target", "outcome", *learned, "-q")
    rows = table(1500, 2)
    rows.to_csv(folder / "truth.csv", index=False)
    rows.drop(columns=["outcome", "label"]).to_csv(folder / "pool.csv", index=False)
    rows.drop(columns="outcome").to_csv(folder / "answered.csv", index=False)
    rows[["label"]].to_csv(folder / "answers.csv", index=False)
    old = table(500, 3)
    certificate = certify_predictions(old["outcome"].tolist(), old["label"].tolist())
    (folder / "c.json").write_text(certificate.to_json(), encoding="utf-8")
    return folder


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, (result.output, result.stderr, result.exception)
    return result


def read(path):
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def fill(path, folder, rows=None):
    """What the expert does: the true classes of rows that have none yet, of all or of the first of them."""
    labels, truth = read(path), pd.read_csv(folder / "truth.csv", dtype=str)
    empty = np.flatnonzero(labels["label"] == "")[:rows]
    places = labels["pool_row"].astype(int).to_numpy()[empty] - 1
    labels.loc[empty, "label"] = truth["outcome"].to_numpy()[places]
    labels.to_csv(path, index=False)


def told(*arguments):
    return json.loads(run(*arguments, "--json").stdout)


def test_it_asks_reads_back_and_stops(made, tmp_path):
    pool, labels, out = made / "answered.csv", tmp_path / "l.csv", tmp_path / "c.json"
    command = ("label", pool, "--predicted", "label", "--state", tmp_path / "s.json", "--labels", labels)
    first = run(*command, "--target", "0.1", "--expected", "0.04", "--batch", "20")
    assert "To label: 20 rows without a label" in first.stdout
    assert list(read(labels).columns) == ["pool_row", "case", "a", "site", "label"]  # and not the answers
    fill(labels, made, 7)
    labelled = read(labels)
    labelled.loc[12, "label"] = "ill"  # behind empty ones
    labelled.to_csv(labels, index=False)
    found = told(*command, "--batch", "20")
    assert (found["n"], found["waiting"], found["to_label"]) == (7, 1, 20)
    assert told(*command, "--batch", "20")["counted"] == 0
    for _ in range(40):
        fill(labels, made)
        found = told(*command, "--batch", "20", "--out", out, "--report", tmp_path / "r.html")
        if found["ended"]:
            break
    assert found["proven"]
    assert found["bound"] <= 0.1
    assert found["to_label"] == 0
    record = any_certificate(out.read_text(encoding="utf-8"))
    assert (record.n, record.errors, record.bound) == (found["n"], found["errors"], found["bound"])
    assert "Proven" in run(*command).stdout
    assert "labelling went on until that was proven" in (tmp_path / "r.html").read_text(encoding="utf-8")
    rows = ("--data", pool, "--predicted", "label", "--labels", labels)
    checked = run("verify", out, *rows, "--details").stdout
    assert "ok    digest of the outcomes" in checked
    assert "TRUST" not in checked
    assert "TRUST outcomes" in run("verify", out).stdout
    changed = read(labels)
    changed.loc[0, "label"] = "well" if changed.loc[0, "label"] == "ill" else "ill"
    changed.to_csv(labels, index=False)
    assert "FAIL  errors" in run("verify", out, *rows, code=1).stdout
    run("report", out, "-o", tmp_path / "again.html")
    refused = run("monitor", out, pool, "--state", tmp_path / "m.json", code=1)
    assert "labels until a target is proven" in refused.stderr


def test_a_model_answers_and_its_own_rows_are_refused(made, tmp_path):
    model = ("--model", made / "m.certivote", "--state", tmp_path / "s.json", "--labels", tmp_path / "l.csv")
    found = told("label", made / "pool.csv", *model, "--target", "0.3", "--pool", "--batch", "5")
    assert (found["to_label"], found["certified"]) == (5, "pool")
    fill(tmp_path / "l.csv", made, 3)
    found = told("label", made / "pool.csv", *model, "--missing-wrong", "--batch", "5")
    assert (found["n"], found["missing"]) == (5, 2)
    other = ("--state", tmp_path / "o.json", "--labels", tmp_path / "o.csv", "--target", "0.3")
    refused = run("label", made / "rows.csv", "--model", made / "m.certivote", *other, code=1)
    assert "rows that the model was made from" in refused.stderr
    assert not (tmp_path / "o.json").exists()


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (["--target", "0.2"], "was begun with target=0.3"),
        (["--truth", "site"], "a column 'site' already"),
        (["--batch", "0"], "whole number from 1"),
        (["--model", "m.certivote"], "give one of them"),
        (["--labels", "-"], "give the name of a file"),
        (["--labels", "l.xlsx"], "a name that ends with .csv"),
    ],
)
def test_what_does_not_fit_ends_in_a_line_and_changes_nothing(made, tmp_path, change, match):
    command = ["label", made / "answered.csv", "--predicted", "label", "--state", tmp_path / "s.json"]
    command += ["--labels", tmp_path / "l.csv"]
    run(*command, "--target", "0.3")
    before = (tmp_path / "s.json").read_bytes(), (tmp_path / "l.csv").read_bytes()
    ended = run(*command, *change, "--json", code=1)
    assert match in ended.stderr
    assert match in json.loads(ended.stdout)["error"]
    assert ((tmp_path / "s.json").read_bytes(), (tmp_path / "l.csv").read_bytes()) == before


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("a,label\n1,ill\n", "no column 'pool_row'"),
        ("pool_row,label\n0,ill\n", "no row of the table"),
        ("pool_row,label\n1501,ill\n", "no row of the table"),
        ("pool_row,label\n1,ill\n1,ill\n", "there twice"),
        ("pool_row,label\n99999999999999999999999,ill\n", "no row of the table"),
        ("pool_row,label\n\x1b[2J,ill\n", "no row of the table"),
    ],
)
def test_a_file_of_labels_that_is_none_is_refused(made, tmp_path, content, match):
    command = ["label", made / "answered.csv", "--predicted", "label", "--state", tmp_path / "s.json"]
    command += ["--labels", tmp_path / "l.csv"]
    run(*command, "--target", "0.3")
    (tmp_path / "l.csv").write_text(content, encoding="utf-8")
    ended = run(*command, code=1)
    assert match in ended.stderr
    assert "\x1b" not in ended.stderr
    assert (tmp_path / "l.csv").read_text(encoding="utf-8") == content


def test_another_pool_or_other_answers_are_refused(made, tmp_path):
    command = ["--predicted", "label", "--state", tmp_path / "s.json", "--labels", tmp_path / "l.csv"]
    run("label", made / "answered.csv", *command, "--target", "0.3")
    fill(tmp_path / "l.csv", made)
    rows = pd.read_csv(made / "answered.csv")
    rows.loc[5, "label"] = "well" if rows.loc[5, "label"] == "ill" else "ill"
    rows.to_csv(tmp_path / "other.csv", index=False)
    assert "other rows than these" in run("label", tmp_path / "other.csv", *command, code=1).stderr


# A changed model


def test_a_changed_model_is_certified_and_verified(made, tmp_path):
    out, model, pool = tmp_path / "k.json", made / "m.certivote", made / "pool.csv"
    shown = run("carry", model, pool, "--new", made / "answers.csv", "--out", out, "--report", tmp_path / "r.html")
    assert "they differ on at most" in " ".join(shown.stdout.split())
    record = any_certificate(out.read_text(encoding="utf-8"))
    assert record.disagreement.n == 1500
    assert record.bound > record.old_bound
    assert "they differ on at most" in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "ok    follows" in run("verify", out, "--earlier", model, "--details").stdout
    checked = run("verify", out, "--data", pool, "--model", model, "--new", made / "answers.csv", "--details").stdout
    assert "ok    disagreement counted" in checked
    same = any_certificate(run("carry", model, pool, "--new", model, "--out", "-").stdout)
    assert same.disagreement.errors == 0
    other = run("verify", out, "--data", pool, "--model", model, "--new", model, code=1)
    assert "FAIL" in other.stdout
    assert "of a changed model" in run("carry", out, pool, "--new", model, "--out", tmp_path / "z.json", code=1).stderr


def test_answers_alone_go_with_a_certificate(made, tmp_path):
    data, new, out = made / "answered.csv", ("--new", made / "truth.csv", "--answers", "outcome"), tmp_path / "k.json"
    run("carry", made / "c.json", data, "--predicted", "label", *new, "--delta-share", "0.5", "--out", out)
    record = any_certificate(out.read_text(encoding="utf-8"))
    assert record.delta_share == 0.5
    refused = run("carry", made / "c.json", data, *new, "--out", out, code=1)
    assert "--predicted" in refused.stderr
    refused = run("carry", made / "c.json", data, "--predicted", "label", "--new", data, "--out", "-", code=1)
    assert "name the one with the answers" in refused.stderr


def test_own_rows_and_other_lengths_are_refused(made, tmp_path):
    model, out = made / "m.certivote", ("--out", tmp_path / "k.json")
    refused = run("carry", model, made / "rows.csv", "--new", made / "answers.csv", *out, code=1)
    assert "rows that the model was made from" in refused.stderr
    (tmp_path / "few.csv").write_text("label\nill\n", encoding="utf-8")
    refused = run("carry", model, made / "pool.csv", "--new", tmp_path / "few.csv", *out, code=1)
    assert "1 answers, and" in refused.stderr
    assert not (tmp_path / "k.json").exists()
