"""``--engine dask``: the verbs on tables in pieces, by one small cluster; what it cannot serve is refused."""

import json
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from certivote import Certificate, dask, load
from certivote.cli import app

N = 2400
FIT = ["--target", "outcome", "--drop", "label", "--voters", "forest", "--engine", "dask", "--seed", "0"]
ANSWERS = ["--truth", "outcome", "--predicted", "label"]


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def scheduler():
    import distributed

    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        scheduler_kwargs={"dashboard": False},
    ) as cluster:
        yield cluster.scheduler_address


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"age": rng.integers(20, 90, N), "town": rng.choice(["Bern", "Rom"], N)})
    rows["outcome"] = np.where(rng.random(N) < 1 / (1 + np.exp((55 - rows["age"]) / 6)), "ill", "well")
    rows["label"] = np.where(rng.random(N) < 0.9, rows["outcome"], "ill")
    folder = tmp_path_factory.mktemp("engine")
    (folder / "rows").mkdir()
    for number in range(3):
        rows[number * 800 : (number + 1) * 800].to_parquet(folder / "rows" / f"{number}.parquet", row_group_size=300)
    rows.to_csv(folder / "rows.csv", index=False)
    rows[["outcome", "label"]].to_csv(folder / "answers.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def fitted(folder, scheduler):
    result = run(
        *("fit", folder / "rows" / "*.parquet", *FIT, "--scheduler", scheduler, "--precision", "--quiet"),
        *("--out", folder / "c.json", "--model", folder / "m.certivote"),
    )
    assert (result.exit_code, result.output) == (0, ""), result.output
    return Certificate.from_json((folder / "c.json").read_text())


def as_record(certificate):
    record = json.loads(certificate.to_json())
    for name in ("created", "source", "source_digest"):
        del record["provenance"][name]
    return record


def test_fit_of_several_files(folder, fitted):
    assert fitted.provenance.source == "*.parquet (3 files)"
    assert fitted.provenance.n_rows == N
    assert fitted.division == "by row number"
    assert [promise.name for promise in fitted.promises] == ["by class", "precision"]
    model = load(folder / "m.certivote")
    assert model.certificate_ == fitted
    assert set(model.predict(pd.DataFrame({"age": [20, 80], "town": ["Bern", "Ulm"]}))) == {"ill", "well"}


def test_division_into_files_and_blocks_makes_no_difference(folder, fitted, scheduler):
    result = run("fit", folder / "rows.csv", *FIT, "--precision", "--scheduler", scheduler, "--json", "--quiet")
    assert result.exit_code == 0, result.output
    other = Certificate.from_json(result.output)
    assert other.provenance.source == "rows.csv"
    assert as_record(other) == as_record(fitted)


@pytest.mark.usefixtures("fitted")
def test_verify_in_pieces_and_in_memory(folder, scheduler):
    pieces = ["--data", folder / "rows" / "*.parquet", "--engine", "dask", "--scheduler", scheduler]
    result = run("verify", folder / "m.certivote", *pieces, "--json")
    found = {check["what"]: check["passed"] for check in json.loads(result.output)["checks"]}
    assert result.exit_code == 0, result.output
    assert {"certification rows", "training rows", "voters", "errors", "digest of the file", "size"} <= found.keys()
    in_memory = run("verify", folder / "m.certivote", "--data", folder / "rows.csv", "--json")
    failed = [check["what"] for check in json.loads(in_memory.output)["checks"] if not check["passed"]]
    assert failed == ["digest of the file"]  # the same rows in another file
    result = run("verify", folder / "m.certivote", *pieces, "--refit")
    assert result.exit_code == 1
    assert "--refit: this needs all rows at once" in result.output


@pytest.mark.usefixtures("fitted")
def test_verify_notices_other_rows(folder, scheduler, tmp_path):
    for path in sorted((folder / "rows").iterdir()):
        rows = pd.read_parquet(path)
        if path.name == "2.parquet":
            rows.loc[rows.index[-1], "outcome"] = "ill" if rows["outcome"].iloc[-1] == "well" else "well"
        rows.to_parquet(tmp_path / path.name)
    pieces = ["--engine", "dask", "--scheduler", scheduler, "--quiet"]
    result = run("verify", folder / "m.certivote", "--data", tmp_path / "*.parquet", *pieces)
    assert result.exit_code == 1
    assert "FAILED: do not rely on this certificate" in result.output
    (tmp_path / "2.parquet").unlink()
    result = run("verify", folder / "m.certivote", "--data", tmp_path / "*.parquet", *pieces)
    assert result.exit_code == 1


def test_certify_is_that_of_memory(folder, scheduler, monkeypatch):
    monkeypatch.setattr("certivote.io._pieces._BLOCK", 3000)
    options = ["--precision", "--delta", "0.01", "--json", "--quiet"]
    whole = run("certify", folder / "answers.csv", *ANSWERS, *options)
    pieces = run("certify", folder / "answers.csv", *ANSWERS, *options, "--engine", "dask", "--scheduler", scheduler)
    assert pieces.exit_code == 0, pieces.output
    records = [json.loads(result.output) for result in (whole, pieces)]
    for record in records:
        del record["provenance"]["created"]
    assert records[0] == records[1]
    (folder / "of_pieces.json").write_text(pieces.output)
    checked = run("verify", folder / "of_pieces.json", "--data", folder / "answers.csv")
    assert checked.exit_code == 0, checked.output


def test_workers_of_its_own(folder):
    command = ["certify", str(folder / "rows" / "*.parquet"), *ANSWERS, "--engine", "dask"]
    done = subprocess.run(
        [sys.executable, "-m", "certivote", *command], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "of 2,400 rows)" in done.stdout


REFUSED = {
    "fit": [
        *(["--group", "town"], ["--time", "age"], ["--split", "cross"], ["--abstain", "0.1"], ["--by", "town"]),
        *(["--sets", "0.1"], ["--sensitivity", "0.9"], ["--tau", "0.3"]),
    ],
    "certify": [
        *(["--group", "town"], ["--time", "age"], ["--score", "age", "--abstain", "0.1"], ["--training", "rows.csv"]),
        *(["--predicted", "town"], ["--seed", "3"]),
    ],
    "verify": [["--group", "town"], ["--refit"], ["--score", "age"], ["--training", "rows.csv"]],
}


@pytest.mark.parametrize(("verb", "options"), [(verb, options) for verb, each in REFUSED.items() for options in each])
def test_options_that_need_all_rows_are_refused_before_any_work(verb, options, monkeypatch):
    monkeypatch.setattr(dask, "connected", lambda scheduler: pytest.fail("work has begun"))
    usual = {
        "fit": ["no*.csv", "--target", "outcome"],
        "certify": ["no*.csv", *ANSWERS],
        "verify": ["no.certivote", "--data", "no*.csv"],
    }
    result = run(verb, *usual[verb], *options, "--engine", "dask")
    assert result.exit_code == 1
    assert result.output.count("\n") == 1
    assert f"{options[0]}" in result.output
    assert "needs all rows at once" in result.output


def test_other_refusals(folder, scheduler, monkeypatch, tmp_path):
    monkeypatch.setattr("certivote.dask._files._PATIENCE", "1s")
    rows, whole, on = folder / "rows" / "*.parquet", folder / "rows.csv", ["--scheduler", scheduler]
    for arguments, message in (
        (["fit", rows, *FIT, "--scheduler", "tcp://127.0.0.1:1"], "no Dask scheduler answers at tcp://127.0.0.1:1"),
        (["fit", rows, *FIT, "--scheduler", "here"], "no Dask scheduler answers at here"),
        (["fit", tmp_path / "*.csv", *FIT], "there is no file of this name, and none whose name fits it"),
        (["fit", folder / "rows", *FIT], "this is a folder; give a pattern for the files in it"),
        (["fit", "-", *FIT], "standard input can be read only once"),
        (["fit", whole, "--target", "outcome", *on], "--scheduler: give --engine dask"),
        (["fit", rows, *FIT, "--method", "so", *on], "method='so' is certified by more than counts"),
        (["fit", rows, *FIT[4:], "--target", "result", *on], "there is no column 'result'"),
        (["fit", whole, *FIT, "--out", whole], "would be replaced"),
        (["verify", folder / "c.json", "--engine", "dask"], "--engine: give --data with it"),
    ):
        result = run(*arguments)
        assert (result.exit_code, result.output.count("\n")) == (1, 1), result.output
        assert message in result.output


def test_files_that_disappear_during_the_work_end_it(folder, scheduler, monkeypatch, tmp_path):
    for path in sorted((folder / "rows").iterdir()):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    whole = dask.source_of

    def source_of(*files):
        found = whole(*files)
        (tmp_path / "1.parquet").unlink()
        return found

    monkeypatch.setattr(dask, "source_of", source_of)
    result = run("fit", tmp_path / "*.parquet", *FIT, "--scheduler", scheduler, "--out", tmp_path / "c.json")
    assert (result.exit_code, result.output.count("\n")) == (1, 1), result.output
    assert "1.parquet: No such file or directory" in result.output
    assert not (tmp_path / "c.json").exists()
    (tmp_path / "1.parquet").write_bytes((folder / "rows" / "1.parquet").read_bytes())
    result = run("certify", tmp_path / "*.parquet", *ANSWERS, "--engine", "dask", "--scheduler", scheduler)
    assert (result.exit_code, result.output.count("\n")) == (1, 1), result.output
    assert "1.parquet: No such file or directory" in result.output


SLOW = """
import signal, sys, time
from certivote.cli import app
from certivote.dask._rows import PartOnCluster

def vote(*_):
    print("voting", flush=True)
    time.sleep(60)

PartOnCluster.vote = vote
signal.signal(signal.SIGINT, signal.default_int_handler)  # which shells take away from what runs in the background
app(sys.argv[1:])
"""
"""The command, which stays where voters are asked, after two passes over the table."""


def test_interrupted_work_leaves_nothing(folder, scheduler, tmp_path):
    command = [sys.executable, "-c", SLOW, "fit", str(folder / "rows" / "*.parquet"), *FIT]
    command += ["--scheduler", scheduler, "--out", str(tmp_path / "c.json"), "--model", str(tmp_path / "m.certivote")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "voting\n"
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode != 0
    assert "Traceback" not in told
    assert list(tmp_path.iterdir()) == []
