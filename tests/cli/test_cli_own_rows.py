"""Every verb recognises rows that the model was made from, and the columns that ``--drop`` takes away are looked at."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from certivote import certify, load
from certivote.cli import app

LEARNED = ("--target", "outcome", "--voters", "forest", "--method", "dis-b", "-q")


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, (result.output, result.stderr, result.exception)
    return result


def rows(n, seed):
    rng = np.random.default_rng(seed)
    patient = np.repeat(np.arange(n // 6), 6) + 1000 * seed
    age = rng.integers(20, 90, n // 6)[patient - 1000 * seed] + rng.normal(size=n).round(4)
    outcome = np.where(age + 25 * rng.normal(size=n) > 55, "ill", "well")
    site = rng.choice(["north", "south", "west"], n)
    table = {"age": age, "dose": rng.normal(size=n).round(3), "site": site, "outcome": outcome, "patient_id": patient}
    return pd.DataFrame(table).sample(frac=1, random_state=seed)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A model and its file; the same rows in another form, and new rows."""
    folder = tmp_path_factory.mktemp("own")
    own = rows(600, 1)
    own.to_csv(folder / "rows.csv", index=False)
    run("fit", folder / "rows.csv", *LEARNED, "--drop", "patient_id", "--model", folder / "m.certivote")
    shown = own[::-1].drop(columns="patient_id")
    shown.astype({"age": np.float32, "dose": np.float32})[5:].to_csv(folder / "old.csv", index=False)
    shown.to_parquet(folder / "old.parquet")
    pd.concat([shown[:200], rows(600, 2)[shown.columns]]).to_csv(folder / "mixed.csv", index=False)
    rows(300, 3).drop(columns="patient_id").to_csv(folder / "new.csv", index=False)
    return folder


@pytest.mark.parametrize("file", ["rows.csv", "old.csv", "old.parquet", "mixed.csv"])
def test_own_rows_are_refused(made, file, tmp_path):
    model, truth = made / "m.certivote", ("--truth", "outcome")
    for verb in (
        ("certify", made / file, *truth, "--model", model),
        ("recertify", model, made / file, *truth, "--out", tmp_path / "new.json"),
        ("monitor", model, made / file, *truth, "--state", tmp_path / "s.json"),
        ("monitor", model, made / file, "--state", tmp_path / "d.json"),
    ):
        said = run(*verb, code=1).stderr
        assert "was made from: of " in said
        assert "about" in said
        assert "trained its voters" in said
    assert not list(tmp_path.iterdir())


def test_the_report_says_that_own_rows_are_no_test(made, tmp_path):
    for file, own in (("old.csv", True), ("new.csv", False)):
        run("report", made / "m.certivote", "--data", made / file, "--target", "outcome", "-o", tmp_path / "r.html")
        page = (tmp_path / "r.html").read_text(encoding="utf-8")
        assert ("this is no test" in page) is own
        assert ("none of 300 rows equals one that the model keeps a witness of" in page) is not own


def test_the_audit_of_another_certificate_says_what_it_has_found(made, tmp_path):
    answered = load(made / "m.certivote")
    for file, own in (("old.csv", True), ("new.csv", False)):
        table = pd.read_csv(made / file)
        answers = answered.predict(table[["age", "dose", "site"]])
        certificate = certify(lambda _, said=answers: said, table[["age", "dose", "site"]], table["outcome"])
        (tmp_path / "c.json").write_text(certificate.to_json(), encoding="utf-8")
        line = ["verify", tmp_path / "c.json", "--model", made / "m.certivote", "--data", made / file, "--details"]
        said = CliRunner().invoke(app, [*map(str, line), "--target", "outcome"]).stdout
        told = [text for text in said.splitlines() if "rows that the model was made from" in text]
        assert [text[:4] for text in told] == ["FAIL" if own else "ok  "]
        assert "of them trained" not in said


def test_new_rows_are_taken(made, tmp_path):
    model, truth = made / "m.certivote", ("--truth", "outcome")
    run("certify", made / "new.csv", *truth, "--model", model, "-q")
    run("recertify", model, made / "new.csv", *truth, "--out", tmp_path / "new.json", "-q")
    run("monitor", model, made / "new.csv", *truth, "--state", tmp_path / "s.json")


def test_a_dropped_column_is_looked_at_for_rows_that_belong_together(made, tmp_path):
    shown = run("fit", made / "rows.csv", *LEARNED[:-1], "--drop", "patient_id").stdout
    assert "Caution: Column 'patient_id' repeats" in " ".join(shown.split())
    assert "--group patient_id" in " ".join(shown.split())
    assert "repeats" not in run("fit", made / "rows.csv", *LEARNED[:-1], "--group", "patient_id").stdout
    shown = run("verify", made / "m.certivote", "--data", made / "rows.csv", "--refit").stdout
    assert "FAIL" not in shown


def test_a_dropped_column_that_cannot_be_read_does_not_stop_the_fit(made, tmp_path):
    table = pd.read_csv(made / "rows.csv")
    table["amount"] = np.inf
    table.to_csv(tmp_path / "rows.csv", index=False, sep=";")
    shown = run("fit", tmp_path / "rows.csv", *LEARNED[:-1], "--drop", "amount", "--drop", "patient_id")
    assert "was not looked for in all that is left out" in shown.stderr
    assert "Caution: Column 'patient_id' repeats" in " ".join(shown.stdout.split())
