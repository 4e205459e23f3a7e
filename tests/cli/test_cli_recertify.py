"""``certivote recertify``: a certificate of new rows that names the one before it, and is verified with it."""

import json

import pandas as pd
import pytest
from cases import table
from typer.testing import CliRunner

from certivote import Certificate, certify_predictions, load
from certivote.cli import app


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A model, the file that it was fitted to, new rows, and a certificate of answers."""
    folder = tmp_path_factory.mktemp("made")
    rows = table(400, 1)
    rows[["a", "site", "outcome"]].to_csv(folder / "rows.csv", index=False)
    learned = ("--voters", "forest", "--method", "dis-b", "--model", folder / "m.certivote")
    run("fit", folder / "rows.csv", "--target", "outcome", *learned, "-q")
    certificate = certify_predictions(rows["outcome"].tolist(), rows["label"].tolist())
    (folder / "c.json").write_text(certificate.to_json(), encoding="utf-8")
    table(300, 2).to_csv(folder / "new.csv", index=False)
    return folder


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, (result.output, result.stderr, result.exception)
    return result


def read(path):
    return Certificate.from_json(path.read_text(encoding="utf-8"))


def test_the_model_is_certified_again_and_verified(made, tmp_path):
    out, state = tmp_path / "new.json", tmp_path / "s.json"
    run("monitor", made / "m.certivote", made / "new.csv", "--truth", "outcome", "--state", state)
    run("monitor", made / "m.certivote", made / "new.csv", "--state", tmp_path / "d.json")
    shown = run(
        "recertify",
        made / "m.certivote",
        made / "new.csv",
        "--truth",
        "outcome",
        "--out",
        out,
        "--monitor",
        state,
        "--monitor",
        tmp_path / "d.json",
        "--report",
        tmp_path / "r.html",
    )
    certificate, model = read(out), load(made / "m.certivote")
    assert certificate.provenance.follows == model.certificate_.digest
    assert certificate.delta == model.certificate_.delta
    assert certificate.provenance.source == "new.csv"
    before, watched, quiet, compared, also = certificate.provenance.since
    assert "bounded the error by" in before
    assert watched.startswith("300 outcomes were watched")
    assert quiet.startswith("No alarm was raised until")
    assert compared.startswith("300 new rows were compared without labels")
    assert also.startswith("They raised no alarm")
    assert "the certificate with SHA-256" in shown.stdout
    assert "300 outcomes were watched" in (tmp_path / "r.html").read_text(encoding="utf-8")
    checked = run(
        "verify", out, "--earlier", made / "m.certivote", "--model", made / "m.certivote", "--data", made / "new.csv"
    )
    assert "ok    follows:" in checked.stdout
    assert "FAIL" not in checked.stdout
    other = run("verify", out, "--earlier", made / "c.json", code=1)
    assert "FAIL  follows:" in other.stdout


def test_answers_alone_go_with_a_certificate(made, tmp_path):
    out = tmp_path / "new.json"
    command = ["recertify", made / "c.json", made / "new.csv", "--truth", "outcome", "--predicted", "label"]
    run(*command, "--out", out, "--delta", "0.01", "-q")
    certificate = read(out)
    rows = pd.read_csv(made / "new.csv")
    assert certificate.deployed_part.errors == int((rows["outcome"] != rows["label"]).sum())
    assert certificate.delta == 0.01
    assert certificate.provenance.follows == read(made / "c.json").digest
    printed = run(*command, "--out", "-", "-q")
    assert json.loads(printed.stdout)["provenance"]["follows"] == read(made / "c.json").digest
    run("verify", out, "--earlier", made / "c.json", "--data", made / "new.csv", "--truth", "outcome")


def test_rows_of_the_certificate_before_are_refused(made, tmp_path):
    base = ["recertify", made / "m.certivote", made / "rows.csv", "--truth", "outcome", "--out", tmp_path / "x.json"]
    assert "was made from" in run(*base, code=1).stderr
    assert not (tmp_path / "x.json").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["c.json", "new.csv"], "--predicted: a certificate cannot answer the rows"),
        (["m.certivote", "new.csv", "--predicted", "label"], "--predicted: the model itself answers"),
        (["m.certivote", "new.csv", "--title", "T"], "--title: give --report"),
        (["m.certivote", "new.csv", "--monitor", "c.json"], "is not the state of a monitor"),
        (["m.certivote", "new.csv", "--group", "site", "--time", "a"], "--group, --time: give one of them"),
        (["m.certivote", "new.csv", "--delta", "2"], "delta"),
    ],
)
def test_what_does_not_go_together_is_refused(made, tmp_path, arguments, words):
    paths = [made / word if word.endswith((".csv", ".json", ".certivote")) else word for word in arguments]
    result = run("recertify", *paths, "--truth", "outcome", "--out", tmp_path / "x.json", code=1)
    assert words in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "x.json").exists()


def test_the_monitor_of_another_certificate_is_refused(made, tmp_path):
    state = tmp_path / "s.json"
    run("monitor", made / "c.json", made / "new.csv", "--truth", "outcome", "--predicted", "label", "--state", state)
    result = run(
        "recertify",
        made / "m.certivote",
        made / "new.csv",
        "--truth",
        "outcome",
        "--out",
        tmp_path / "x.json",
        "--monitor",
        state,
        code=1,
    )
    assert "is the state of another certificate" in result.stderr
