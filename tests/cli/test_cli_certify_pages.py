"""``certivote certify`` looks at other columns and heads its page; ``report`` makes no page of a forged record."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from certivote import Certificate
from certivote.cli import app

OUTCOME = ["--truth", "outcome", "--predicted", "label"]


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def certificate(folder, name):
    return Certificate.from_json((folder / f"{name}.json").read_text())


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where commands run, with a table and its certificates."""
    monkeypatch.chdir(tmp_path)
    visits().assign(rival="ill").to_csv("predictions.csv", index=False)
    kinds = {"plain": [], "groups": ["--group", "patient_id"], "several": ["--predicted", "rival"]}
    for name, options in kinds.items():
        assert run("certify", "predictions.csv", *OUTCOME, *options, "--out", f"{name}.json").exit_code == 0
    return tmp_path


def visits():
    """Patients whose rows are alike, in random order."""
    rng = np.random.default_rng(0)
    who = rng.permutation(np.repeat(np.arange(60), 5))
    truth = rng.choice(["ill", "well"], 60)[who]
    known = {name: rng.normal(size=60)[who] for name in ("a", "b", "c")}
    return pd.DataFrame({"patient_id": who, **known, "outcome": truth, "label": truth})


def test_other_columns_show_that_rows_belong_together(tmp_path):
    visits().to_csv(tmp_path / "v.csv", index=False)
    result = run("certify", tmp_path / "v.csv", *OUTCOME, "--out", tmp_path / "c.json")
    assert result.exit_code == 0, result.output
    made = certificate(tmp_path, "c")
    assert any("patient_id" in text for text in made.remarks)
    assert made.provenance.columns == ("label",)
    assert "Caution: " in result.stdout
    checked = run("verify", tmp_path / "c.json", "--data", tmp_path / "v.csv")
    assert checked.exit_code == 0, checked.output
    visits()[["outcome", "label"]].to_csv(tmp_path / "v.csv", index=False)
    run("certify", tmp_path / "v.csv", *OUTCOME, "--out", tmp_path / "c.json")
    assert certificate(tmp_path, "c").remarks == ()


def test_other_columns_are_no_reason_to_refuse_answers(tmp_path):
    visits().assign(a=np.inf).to_csv(tmp_path / "v.csv", index=False)
    result = run("certify", tmp_path / "v.csv", *OUTCOME)
    assert result.exit_code == 0, result.output
    assert "warning: Whether rows belong together was not looked for in the other columns: " in result.stderr
    assert "column 'a' holds 'inf'" in result.stderr


def test_the_page_of_certify_has_a_heading(folder):
    result = run("certify", "predictions.csv", *OUTCOME, "--report", "r.html", "--title", "Ward 7 & 8", "--quiet")
    assert result.exit_code == 0, result.output
    assert "<h1>Ward 7 &amp; 8</h1>" in (folder / "r.html").read_text()
    result = run("certify", "predictions.csv", *OUTCOME, "--title", "Ward 7")
    assert (result.exit_code, result.stderr.split(";")[0]) == (
        1,
        "certivote: --title: give --report with it, the page that has this heading.\n",
    )


@pytest.mark.parametrize("kind", ["plain", "groups", "several"])
def test_no_page_is_made_of_a_forged_record(folder, kind):
    record = json.loads((folder / f"{kind}.json").read_text())
    record["parts"][0]["statement"]["bound"] /= 2
    (folder / "forged.json").write_text(json.dumps(record))
    result = run("report", "forged.json", "--out", "page.html")
    assert result.exit_code == 1
    assert re.fullmatch(
        r"certivote: forged.json: the record fails \d+ of its checks, so no page is written: FAIL .*\n",
        result.stderr,
    )
    assert not (folder / "page.html").exists()
    assert run("report", f"{kind}.json", "--out", "page.html").exit_code == 0


def test_without_the_package_that_checks_a_page_is_made_with_a_note(folder):
    line = "import sys; sys.modules['flint'] = None; from certivote.cli import app; app()"
    command = [sys.executable, "-c", line, "report", "plain.json", "--out", "page.html"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == (
        "certivote: note: the record is shown unchecked. Verifying needs the package python-flint: install "
        "certivote[verify].\n"
    )
    assert Path("page.html").exists()
    assert subprocess.run([*command, "--quiet"], capture_output=True, text=True, check=True).stderr == ""
