"""What commands read and write: nothing is lost by a name, and pipes, devices and links are what they are."""

import hashlib
import json
import os
import stat
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from copies import in_a_copy
from typer.testing import CliRunner

from certivote import CertifiedVoteClassifier, Monitor, load
from certivote.cli import app

FIT = ["--target", "out", "--method", "holdout", "--voters", "stumps", "--seed", "0"]
FROM = ["data.csv", "-"]
FIXED = ["data.csv", "m.certivote", "c.json"]


def run(*arguments, **settings):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], **settings)


def table(n=120):
    rng = np.random.default_rng(0)
    age, weight = rng.integers(18, 90, n), rng.normal(70, 9, n).round(1)
    town = rng.choice(["Ulm", "Bonn", "Köln"], n)
    labels = np.where((age > 50) ^ (rng.random(n) < 0.05), "ill", "well")
    return pd.DataFrame({"age": age, "weight": weight, "town": town, "out": labels})


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A table, its model and its certificate."""
    folder = tmp_path_factory.mktemp("files")
    table().to_csv(folder / "data.csv", index=False)
    result = run("fit", folder / "data.csv", *FIT, "--model", folder / "m.certivote", "--out", folder / "c.json")
    assert result.exit_code == 0, result.output
    return folder


@pytest.fixture
def folder(made, tmp_path, monkeypatch):
    """Copies of them, in the folder where commands run."""
    for name in FIXED:
        (tmp_path / name).write_bytes((made / name).read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def idle(monkeypatch):
    """No work is done: whatever ends a command does so before."""
    monkeypatch.setattr(CertifiedVoteClassifier, "fit", None)
    monkeypatch.setattr("certivote.estimator.load", None)


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


# What would be lost ---------------------------------------------------------------------------------------------------

SAME = {
    "fit data.csv --out data.csv": "--out: data.csv is what DATA reads",
    "fit data.csv --model data.csv": "--model: data.csv is what DATA reads",
    "fit data.csv --out c.json --model data.csv": "--model: data.csv is what DATA reads",
    "fit data.csv --out new --model new": "--out, --model: new and new are one file",
    "fit data.csv --out c.json --model ./c.json": "--out, --model: c.json and c.json are one file",
    "fit data.csv --out New --model new": "--out, --model: New and new are one file",
    "fit data.csv --out link.csv": "--out: link.csv is what DATA reads",
    "fit data.csv --out hard.csv": "--out: hard.csv is what DATA reads",
    "fit link.csv --model hard.csv": "--model: hard.csv is what DATA reads",
    "fit data.csv --out inner/../data.csv": "--out: inner/../data.csv is what DATA reads",
    "fit data.csv --out c.json --model copy.json": "--out, --model: c.json and copy.json are one file",
    "predict m.certivote data.csv -o data.csv": "--out: data.csv is what DATA reads",
    "predict m.certivote data.csv -o m.certivote": "--out: m.certivote is what MODEL reads",
    "report m.certivote -o m.certivote": "--out: m.certivote is what SOURCE reads",
    "report c.json -o c.json": "--out: c.json is what SOURCE reads",
    "report m.certivote --data data.csv --target out -o data.csv": "--out: data.csv is what --data reads",
}


@pytest.mark.parametrize("line", SAME)
def test_an_output_that_is_an_input_or_another_output_is_refused_before_any_work(folder, idle, line):
    (folder / "inner").mkdir()
    (folder / "link.csv").symlink_to("data.csv")
    (folder / "hard.csv").hardlink_to("data.csv")
    (folder / "copy.json").hardlink_to("c.json")
    before = contents(folder)
    verb, *words = line.split()
    result = run(verb, *words, *(FIT if verb == "fit" else []))
    assert (result.exit_code, result.stdout) == (1, "")
    assert SAME[line] in result.stderr
    assert result.stderr.count("\n") == 1
    assert contents(folder) == before
    assert (folder / "link.csv").is_symlink()


def command(*arguments, stdin=None, stdout=None):
    """A command in a process of its own, with the streams that a shell would give it; what it prints goes to files."""
    with tempfile.TemporaryFile("w+") as printed, tempfile.TemporaryFile("w+") as complaints:
        streams = stdin, stdout or printed, complaints
        code = in_a_copy(lambda: run_with(arguments, streams))
        said = [file.seek(0) or file.read() for file in (printed, complaints)]
    return SimpleNamespace(returncode=code, stdout=said[0], stderr=said[1])


def run_with(arguments, streams):
    for number, stream in enumerate(streams):
        if stream is not None:
            os.dup2(stream.fileno(), number)
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(number, "w" if number else "r") for number in range(3))
    sys.argv = ["certivote", *map(str, arguments)]
    app()


def test_what_the_shell_reads_from_and_prints_to_is_looked_at_too(folder):
    before = contents(folder)
    with (folder / "data.csv").open() as read:
        done = command("predict", "m.certivote", "-", "-o", "data.csv", stdin=read)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "--out: data.csv is what DATA reads" in done.stderr
    with (folder / "data.csv").open("a") as printed:
        done = command("predict", "m.certivote", "data.csv", stdout=printed)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "standard output goes to data.csv" in done.stderr
    assert contents(folder) == before


# What cannot be written -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "message"),
    [
        (".", ".: this is a folder"),
        ("nowhere/out", "nowhere: the folder does not exist"),
        ("data.csv/out", "data.csv: the folder does not exist"),
        ("lost", "nowhere: the folder does not exist"),
        ("locked", "locked: the file is read-only"),
    ],
)
@pytest.mark.parametrize("start", ["fit data.csv --out", "fit data.csv --model", "predict m.certivote data.csv -o"])
def test_what_cannot_be_written_is_said_before_any_work(folder, idle, start, place, message):
    (folder / "lost").symlink_to("nowhere/out")
    (folder / "locked").write_text("before")
    (folder / "locked").chmod(0o444)
    verb, *words = start.split()
    result = run(verb, *words, place, *(FIT if verb == "fit" else []))
    assert (result.exit_code, result.stdout) == (1, "")
    assert message in result.stderr
    assert (folder / "locked").read_text() == "before"


def test_a_folder_that_may_not_be_written_to_is_refused_before_any_work(folder, idle, monkeypatch):
    allowed = os.access

    def access(path, mode, **settings):
        return (Path(path) != Path("closed") or not mode & os.W_OK) and allowed(path, mode, **settings)

    monkeypatch.setattr(os, "access", access)
    (folder / "closed").mkdir()
    result = run("fit", "data.csv", *FIT, "--out", "closed/c.json")
    assert result.exit_code == 1
    assert "--out: closed: the folder may not be written to" in result.stderr
    pytest.importorskip("filelock", reason="reproduce needs filelock: install certivote[reproduce]")
    result = run("reproduce", "--out", "closed")
    assert result.exit_code == 1
    assert "--out: closed: the folder may not be written to" in result.stderr


def test_results_of_experiments_do_not_go_among_the_data_or_into_a_file(folder):
    pytest.importorskip("filelock", reason="reproduce needs filelock: install certivote[reproduce]")
    result = run("reproduce", "--data", ".", "--out", f"../{folder.name}")
    assert result.exit_code == 1
    assert "is the folder of the data files" in result.stderr
    result = run("reproduce", "--out", "data.csv/results")
    assert result.exit_code == 1
    assert "data.csv: this is a file, not a folder" in result.stderr
    assert sorted(contents(folder)) == sorted(FIXED)


# Links, devices and pipes to write to ---------------------------------------------------------------------------------


def test_a_link_is_written_through(folder):
    (folder / "link").symlink_to("target")
    assert run("fit", "data.csv", *FIT, "--out", "link").exit_code == 0
    assert os.readlink("link") == "target"
    assert json.loads(Path("target").read_text())["method"] == "holdout"


def test_devices_and_pipes_are_written_to(folder):
    os.mkfifo("pipe")
    got = []
    reader = threading.Thread(target=lambda: got.append(Path("pipe").read_text()))
    reader.start()
    result = run("fit", "data.csv", *FIT, "--out", "pipe", "--model", "/dev/null")
    assert result.exit_code == 0, result.output
    reader.join(timeout=60)
    assert json.loads(got[0])["method"] == "holdout"
    assert stat.S_ISFIFO(os.stat("pipe").st_mode)
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    assert run("predict", "m.certivote", "data.csv", "-o", "/dev/null").exit_code == 0
    result = run("fit", "data.csv", *FIT, "--out", "/dev/full")
    assert result.exit_code == 1
    assert "--out: /dev/full: No space left on device" in result.stderr


@contextmanager
def full_disk():
    """No file can grow beyond a few bytes: what the system says then is that the file is too large."""
    resource = pytest.importorskip("resource", reason="the size of files is limited here")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


WATCHED = ["monitor", "c.json", "said.csv", "--truth", "out", "--predicted", "label"]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["fit", "data.csv", *FIT, "--model", "new"], "--model: new"),
        (["fit", "data.csv", *FIT, "--out", "new"], "--out: new"),
        (["predict", "m.certivote", "data.csv", "-o", "new"], "--out: new"),
        (["certify", "said.csv", "--truth", "out", "--predicted", "label", "--out", "new"], "--out: new"),
        (["recertify", "c.json", "more.csv", "--truth", "out", "--predicted", "label", "--out", "new"], "--out: new"),
        ([*WATCHED, "--state", "new"], "new"),
        (["monitor", "m.certivote", "more.csv", "--state", "new"], "new"),
        ([*WATCHED, "--state", "s.json", "--metrics", "new"], "s.json"),
        (["report", "m.certivote", "-o", "new"], "new"),
    ],
)
def test_a_full_disk_is_said_with_the_name_of_the_file(arguments, named, folder):
    pytest.importorskip("jinja2", reason="the report needs jinja2: install certivote[report]")
    table().assign(label=table()["out"]).to_csv("said.csv", index=False)
    more = table().assign(age=lambda rows: rows["age"] + 0.5)
    more.assign(label=more["out"]).to_csv("more.csv", index=False)
    before = sorted(os.listdir())
    with full_disk():
        result = run(*arguments)
    assert result.exit_code == 1, result.output
    assert result.stderr.splitlines()[-1] == f"certivote: {named}: File too large."
    assert "Traceback" not in result.output
    assert sorted(name for name in os.listdir() if not name.endswith(".lock")) == before


def test_a_full_disk_is_said_with_the_name_of_the_file_in_python_too(folder):
    clf = load("m.certivote")
    for write in (clf.save, clf.certificate_.report, lambda path: Monitor(clf).save(path)):
        with full_disk(), pytest.raises(OSError, match="File too large: 'new'"):
            write("new")
    assert not Path("new").exists()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is full")
@pytest.mark.parametrize(
    "verb",
    [
        ["report", "m.certivote", "-o", "-"],
        ["verify", "c.json"],
        ["predict", "m.certivote", "data.csv"],
        ["bound", "--errors", "1", "--n", "9"],
    ],
)
def test_results_that_cannot_be_printed_end_in_one_line(verb, folder):
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "certivote", *verb]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert "Traceback" not in done.stderr
    assert "certivote: standard output: No space left on device." in done.stderr.splitlines()
    assert done.returncode != 0


def test_a_lack_of_memory_ends_in_one_line(folder, monkeypatch):
    def too_much(*arguments, **settings):
        raise MemoryError

    monkeypatch.setattr("certivote.estimator.load", too_much)
    result = run("predict", "m.certivote", "data.csv")
    assert (result.exit_code, result.output.count("\n")) == (1, 1)
    assert "certivote: there is not enough memory for this" in result.output


def test_a_dash_prints(folder):
    result = run("fit", "data.csv", *FIT, "--out", "-")
    assert json.loads(result.stdout)["method"] == "holdout"
    result = run("predict", "m.certivote", "data.csv", "-o", "-")
    assert result.stdout.startswith("age,weight,town,out,certivote_label")
    pytest.importorskip("jinja2", reason="the report needs jinja2: install certivote[report]")
    assert run("report", "c.json", "-o", "-").stdout.startswith("<!doctype html>")
    result = run("fit", "data.csv", *FIT, "--model", "-")
    assert result.exit_code == 1
    assert "--model: this writes a binary file" in result.stderr
    assert sorted(contents(folder)) == sorted(FIXED)


# Standard input and pipes to read from --------------------------------------------------------------------------------


def test_a_table_from_standard_input_gives_what_the_file_gives(folder):
    content = Path("data.csv").read_bytes()
    record = json.loads(Path("c.json").read_text())
    piped = json.loads(run("fit", "-", *FIT, "--json", input=content).stdout)
    origins = [found.pop("provenance") for found in (record, piped)]
    assert piped == record
    digest = hashlib.sha256(content).hexdigest()
    assert [origin["source_digest"] for origin in origins] == [digest] * 2
    assert [origin["source"] for origin in origins] == ["data.csv", "standard input"]
    assert [origin["target"] for origin in origins] == ["out"] * 2
    answers = [run("predict", "m.certivote", data, input=content).stdout for data in FROM]
    assert answers[0] == answers[1]
    assert answers[0].count("\n") == 121
    assert compared("data.csv") == compared("-", input=content)
    pages = [run("report", "m.certivote", "--data", data, *FIT[:2], "-o", "-", input=content).stdout for data in FROM]
    assert pages[0] == pages[1] != ""
    checked = [run("verify", "m.certivote", "--data", data, "--target", "out", input=content) for data in FROM]
    assert [result.exit_code for result in checked] == [0, 0]
    assert checked[0].stdout == checked[1].stdout


@pytest.mark.parametrize("name", ["/dev/stdin", "/dev/fd/0"])
def test_devices_of_standard_input_lose_no_row(folder, name):
    reads, writes = os.pipe()
    os.write(writes, Path("data.csv").read_bytes())
    os.close(writes)
    with open(reads) as piped:
        done = command("predict", "m.certivote", name, stdin=piped)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") == 121


def test_a_certificate_from_standard_input(folder):
    content = Path("c.json").read_bytes()
    assert run("verify", "-", input=content).stdout == run("verify", "c.json").stdout
    result = run("verify", "-", input=Path("m.certivote").read_bytes())
    assert result.exit_code == 1
    assert "a model cannot come through a pipe" in result.stderr
    result = run("verify", "-", "--data", "-", "--target", "out", input=content)
    assert result.exit_code == 1
    assert "standard input is the certificate already" in result.stderr


@pytest.mark.parametrize("verb", ["verify", "report"])
def test_a_device_without_end_is_no_certificate(verb, folder):
    result = run(verb, "/dev/zero", *(("-o", "r.html") if verb == "report" else ()))
    assert result.exit_code == 1
    assert "Not a certificate" in result.stderr
    assert not Path("r.html").exists()


def test_nothing_on_standard_input_is_an_empty_file():
    result = run("fit", "-", *FIT, input=b"")
    assert (result.exit_code, result.stderr) == (1, "certivote: standard input: the file is empty.\n")


def test_standard_input_that_is_closed_is_said(folder, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", None)
    for line in (["fit", "-", *FIT], ["verify", "-"]):
        with pytest.raises(SystemExit, match="1"):
            app([str(word) for word in line], standalone_mode=False)
        assert capsys.readouterr().err == "certivote: standard input: it is closed.\n"


def test_names_of_files_that_are_no_text(folder):
    name = os.fsdecode(b"\xff\\.csv")
    Path(name).write_bytes(Path("data.csv").read_bytes())
    result = run("fit", name, *FIT, "--out", os.fsdecode(b"\xfe.json"), "--model", "m.certivote")
    assert result.exit_code == 0, result.output
    record = json.loads(Path(os.fsdecode(b"\xfe.json")).read_text())
    assert record["provenance"]["source"] == "\ufffd_.csv"
    assert "Certificate written to \\udcfe.json." in result.stdout


# How tables are written -----------------------------------------------------------------------------------------------

WRITTEN = {
    "german": ({"sep": ";", "decimal": ",", "encoding": "latin-1"}, ["--encoding", "latin-1", "--decimal", ","]),
    "excel": ({"sep": "\t", "encoding": "utf-16"}, []),
    "marked": ({"encoding": "utf-8-sig"}, []),
    "bars": ({"sep": "|"}, ["--sep", "|"]),
    "quoted": ({"decimal": ",", "quoting": 1}, ["--decimal", ","]),
}


@pytest.mark.parametrize("way", WRITTEN)
def test_every_verb_reads_a_table_however_it_is_written(folder, way):
    settings, options = WRITTEN[way]
    table().to_csv("other.csv", index=False, **settings)
    expected = json.loads(Path("c.json").read_text())
    found = json.loads(run("fit", "other.csv", *FIT, *options, "--json").stdout)
    assert found["parts"] == expected["parts"]
    assert compared("data.csv") == compared("other.csv", *options)
    pd.testing.assert_frame_equal(
        *(
            pd.read_csv(Path(name), usecols=["certivote_label", "certivote_mass"], **reading)
            for name, reading in zip(
                (predicted("data.csv"), predicted("other.csv", *options)),
                ({}, {key: value for key, value in settings.items() if key in ("sep", "decimal")}),
                strict=True,
            )
        )
    )
    result = run("report", "m.certivote", "--data", "other.csv", "--target", "out", "-q", *options)
    assert (result.exit_code, result.output) == (0, "")
    result = run("verify", "m.certivote", "--data", "other.csv", "--target", "out", *options)
    failed = [line for line in result.stdout.splitlines() if line.startswith("FAIL")]
    assert all("file" in line or "source" in line for line in failed), failed  # which is another one


def compared(data, *options, **settings):
    line = [
        "compare",
        data,
        "--target",
        "out",
        "--method",
        "holdout",
        "--voters",
        "stumps",
        "--seed",
        "0",
        "--json",
        *options,
    ]
    return json.loads(run(*line, **settings).stdout)["methods"][0]["bound"]


def predicted(data, *options):
    result = run("predict", "m.certivote", data, "-o", f"{data}.answers", *options)
    assert (result.exit_code, result.output) == (0, "")
    return f"{data}.answers"


@pytest.mark.parametrize("verb", ["fit", "compare", "predict", "verify", "report"])
def test_every_verb_says_which_option_to_give(folder, verb):
    table().to_csv("latin.csv", index=False, encoding="latin-1")
    table().to_csv("comma.csv", index=False, sep=";", decimal=",")
    start = {
        "fit": lambda data: ["fit", data, *FIT],
        "compare": lambda data: ["compare", data, "--target", "out"],
        "predict": lambda data: ["predict", "m.certivote", data],
        "verify": lambda data: ["verify", "m.certivote", "--data", data, "--target", "out"],
        "report": lambda data: ["report", "m.certivote", "--data", data, "--target", "out"],
    }[verb]
    result = run(*start("latin.csv"))
    assert (result.exit_code, result.stdout) == (1, "")
    assert "give its --encoding" in result.stderr
    assert result.stderr.count("\n") == 1
    result = run(*start("comma.csv"))
    if verb in ("fit", "compare"):  # the training rows show how numbers are written
        assert result.exit_code == 0
    else:
        assert result.exit_code == 1
        assert "such as" in result.stderr or "OTHER" in result.output
    for option, value in (("--sep", "ab"), ("--decimal", "x"), ("--encoding", "klingon")):
        result = run(*start("data.csv"), option, value)
        assert (result.exit_code, result.stdout) == (2, "")
        assert option in result.stderr
