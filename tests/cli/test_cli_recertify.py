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
        "--details",
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
    model_file = made / "m.certivote"
    checked = run(
        "verify", out, "--earlier", model_file, "--model", model_file, "--data", made / "new.csv", "--details"
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
    assert json.loads(printed.stdout)["provenance"]["earlier"]["digest"] == read(made / "c.json").digest
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


# What the certificate before was made with is not forgotten


@pytest.fixture(scope="module")
def ward(tmp_path_factory):
    """Visits of patients: a model that was fitted with groups and promises, one with times, and tables of new ones."""
    folder = tmp_path_factory.mktemp("ward")
    for name, n, seed in (("old", 400, 1), ("new", 300, 2)):
        rows = table(n, seed)[["a", "site", "outcome", "label"]].assign(
            patient=[f"{name} {row // 4}" for row in range(n)], day=range(seed * 1000, seed * 1000 + n)
        )
        rows.to_csv(folder / f"{name}.csv", index=False)
        rows.drop(columns=["patient", "day"]).to_csv(folder / f"{name} alone.csv", index=False)
    learn = ("--target", "outcome", "--drop", "label", "--voters", "forest", "--method", "dis-b", "-q")
    for name, option, other in (("groups", ("--group", "patient"), "day"), ("times", ("--time", "day"), "patient")):
        files = ("--model", folder / f"{name}.certivote", "--out", folder / f"{name}.json")
        asked = ("--precision", "--delta", "0.1") if name == "groups" else ()
        run("fit", folder / "old.csv", *learn, *option, "--drop", other, *asked, *files)
    return folder


def again(verb, model, data, out, *more, code=0):
    words = (model, data) if verb == "recertify" else (data, "--model", model)
    result = run(verb, *words, "--truth", "outcome", "--out", out, *more, "-q", code=code)
    return read(out) if code == 0 else result.stderr


@pytest.mark.parametrize("verb", ["recertify", "certify"])
def test_groups_and_times_are_those_of_the_certificate(ward, tmp_path, verb):
    out = tmp_path / "c.json"
    made = again(verb, ward / "groups.certivote", ward / "new.csv", out)
    assert (made.groups, made.deployed_part.entities) == ("patient", 75)
    assert again(verb, ward / "times.certivote", ward / "new.csv", out).order == "day"
    assert again(verb, ward / "groups.certivote", ward / "new.csv", out, "--group", "site").groups == "site"
    apart = again(verb, ward / "groups.certivote", ward / "new.csv", out, "--no-groups")
    assert apart.groups == apart.order == ""
    assert again(verb, ward / "groups.certivote", ward / "new.csv", out, "--no-groups", "--time", "day").order == "day"
    assert again(verb, ward / "times.certivote", ward / "new.csv", out, "--no-time").order == ""
    assert again(verb, ward / "times.certivote", ward / "new.csv", out, "--group", "patient").groups == "patient"


@pytest.mark.parametrize("verb", ["recertify", "certify"])
@pytest.mark.parametrize(
    ("model", "data", "options", "words"),
    [
        ("groups", "new alone", [], "--group: the model was certified with groups, by 'patient'; name the column of"),
        ("groups", "new", ["--time", "day"], "or give --no-groups to certify rows as if they were independent"),
        ("times", "new alone", [], "--time: the model was certified for a time, by 'day'; name the column of"),
        ("groups", "new", ["--group", "patient", "--no-groups"], "--no-groups: --group is given"),
        ("times", "new", ["--time", "day", "--no-time"], "--no-time: --time is given"),
    ],
)
def test_rows_are_not_taken_for_independent_without_a_word(ward, tmp_path, verb, model, data, options, words):
    told = again(verb, ward / f"{model}.certivote", ward / f"{data}.csv", tmp_path / "c.json", *options, code=1)
    assert words in told
    assert len(told.strip().splitlines()) == 1
    assert not (tmp_path / "c.json").exists()


def test_answers_have_no_certificate_before(ward, tmp_path):
    line = ["certify", ward / "new.csv", "--truth", "outcome", "--predicted", "label", "--out", tmp_path / "c.json"]
    assert "--no-groups: there is no certificate before" in run(*line, "--no-groups", code=1).stderr


def test_promises_are_those_of_the_certificate(ward, tmp_path):
    out = tmp_path / "c.json"
    made = again("recertify", ward / "groups.certivote", ward / "new.csv", out)
    assert [promise.name for promise in made.promises] == ["by class", "precision"]
    assert made.delta == 0.1
    assert [promise.name for promise in made.promises] == [
        promise.name for promise in read(ward / "groups.json").promises
    ]
    bare = again("recertify", ward / "groups.certivote", ward / "new.csv", out, "--no-promises")
    assert [promise.name for promise in bare.promises] == ["by class"]
    answers = ("--predicted", "label")
    by_answers = again("recertify", ward / "groups.json", ward / "new.csv", out, *answers)
    assert [promise.name for promise in by_answers.promises] == ["by class", "precision"]
    assert by_answers.groups == "patient"
    run("verify", out, "--data", ward / "new.csv", "--predicted", "label", "--earlier", ward / "groups.json")


def test_promises_of_answers_ask_for_what_they_need(ward, tmp_path):
    rows = pd.read_csv(ward / "new.csv").assign(sure=range(300))
    rows.to_csv(tmp_path / "sure.csv", index=False)
    old = pd.read_csv(ward / "old.csv").assign(sure=range(400))
    old.to_csv(tmp_path / "old.csv", index=False)
    first, out = tmp_path / "first.json", tmp_path / "c.json"
    said = ("--truth", "outcome", "--predicted", "label")
    asked = ("--score", "sure", "--abstain", "0.4", "--by", "site")
    run("certify", tmp_path / "old.csv", *said, *asked, "--group", "patient", "--out", first, "-q")
    line = ["recertify", first, tmp_path / "sure.csv", *said, "--out", out, "-q"]
    assert "give --score, the column that says how sure each answer is" in run(*line, code=1).stderr
    run(*line, "--score", "sure")
    assert [promise.name for promise in read(out).promises] == ["by class", "abstention", "subgroups"]
    assert read(out).groups == "patient"
    assert (
        "--score: it is for a certificate of answers" in run(*line, "--no-promises", "--score", "sure", code=1).stderr
    )
    line[2] = ward / "new alone.csv"
    assert "--group: the model was certified with groups" in run(*line, "--score", "sure", code=1).stderr
