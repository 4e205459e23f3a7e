import gzip
import importlib
import io
import json
import logging
import os
import shutil
import sys
import threading
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from certivote.cli import app
from certivote.paper import DATASETS, _fetch, fetch
from certivote.paper._entry import digest

DATA = Path(os.environ.get("CERTIVOTE_DATA") or Path(__file__).parents[3] / "shared" / "data")
needs_data = pytest.mark.skipif(
    not DATA.is_dir(),
    reason="the benchmark data are not here: set CERTIVOTE_DATA to their folder, or put them into ../shared/data",
)

TINY = "30,64,1,1\n30,62,3,1\n31,65,0,2\n"
TINY_ROWS = np.array([[30.0, 64, 1], [30, 62, 3], [31, 65, 0]]), np.array([1, 1, 2])


def run(*arguments):
    return CliRunner().invoke(app, ["datasets", *(str(argument) for argument in arguments)])


def listed(*arguments):
    return {record["name"]: record for record in json.loads(run("list", "--json", *arguments).stdout)}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """An empty cache folder, nothing elsewhere, and no dataset with an address where somebody listens."""
    monkeypatch.setattr(_fetch, "_cache_directory", lambda: tmp_path / "cache")
    monkeypatch.setattr(_fetch, "RETRIES", 0)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("CERTIVOTE_DATA", raising=False)
    for name, entry in list(DATASETS.items()):
        files = tuple(replace(file, url=f"http://127.0.0.1:1/{file.url.rpartition('/')[2]}") for file in entry.files)
        monkeypatch.setitem(DATASETS, name, replace(entry, files=files))
    return tmp_path / "cache"


@pytest.fixture
def tiny(monkeypatch):
    """Haberman with three rows."""
    entry = replace(DATASETS["haberman"], shape=(3, 3), class_counts=(2, 1), digest=digest(*TINY_ROWS))
    monkeypatch.setitem(DATASETS, "haberman", entry)


@pytest.fixture
def server(tiny, tmp_path, monkeypatch):
    """The folder that a server offers, with haberman's file; it is asked for haberman alone."""
    pytest.importorskip("pooch", reason="downloading needs pooch: install certivote[data]")

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass

    folder = tmp_path / "server"
    folder.mkdir()
    (folder / "haberman.data.gz").write_bytes(gzip.compress(TINY.encode()))
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=folder)) as httpd:
        entry = DATASETS["haberman"]
        url = f"http://127.0.0.1:{httpd.server_port}/haberman.data.gz"
        monkeypatch.setitem(DATASETS, "haberman", replace(entry, files=(replace(entry.files[0], url=url),)))
        thread = threading.Thread(target=httpd.serve_forever)
        thread.start()
        yield folder
        httpd.shutdown()
        thread.join()


def test_the_list_is_a_table_of_all_datasets():
    result = run("list")
    assert result.exit_code == 0
    head, *lines = result.stdout.splitlines()
    assert head.split() == ["name", "task", "rows", "features", "classes", "voters", "available", "licence"]
    assert [line.split()[0] for line in lines] == list(DATASETS)
    assert lines[4].split("  ")[-1] == DATASETS["phishing"].licence
    cells = {line.split()[0]: line.split()[1:6] for line in lines}
    assert cells["phishing"] == ["binary", "11,055", "68", "2", "stumps"]
    assert cells["sensorless"] == ["multiclass", "58,509", "48", "11", "forests"]
    # Numbers end, and words begin, under their heading.
    for number in ("rows", "features", "classes"):
        end = head.index(number) + len(number)
        assert all(line[end - 1].isdigit() and line[end] == " " for line in lines)
    assert all(line[head.index("licence") - 1] == " " != line[head.index("licence")] for line in lines)


def test_the_list_as_json_has_the_same():
    record = listed()["fashion-mnist"]
    assert record == {
        "name": "fashion-mnist",
        "task": "multiclass",
        "rows": 70_000,
        "features": 784,
        "classes": 10,
        "voters": "forests",
        "available": "to download",
        "folder": None,
        "licence": "MIT",
    }


def test_nine_binary_datasets_are_for_stumps_and_six_others_for_forests():
    pairs = [(record["task"], record["voters"]) for record in listed().values()]
    assert pairs == [("binary", "stumps")] * 9 + [("multiclass", "forests")] * 6


def test_the_list_says_where_each_dataset_is(tmp_path, cache):
    data = tmp_path / "data"
    for folder, name in [(data, "svmguide1"), (data, "haberman.data.xz"), (cache, "svmguide1"), (cache, "svmguide1.t")]:
        folder.mkdir(exist_ok=True)
        (folder / name).touch()
    with_data, without = listed("--data", data), listed()
    places = {
        name: (with_data[name]["available"], with_data[name]["folder"]) for name in ("haberman", "svmguide", "adult")
    }
    assert places == {
        "haberman": ("data directory", str(data)),
        "svmguide": ("cache", str(cache)),  # one of two files is not enough
        "adult": ("to download", None),
    }
    assert (without["haberman"]["available"], without["svmguide"]["available"]) == ("to download", "cache")


def test_the_option_comes_before_the_variable(tmp_path, monkeypatch):
    for folder, name in [("named", "haberman.data"), ("given", "tic-tac-toe.data")]:
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).touch()
    monkeypatch.setenv("CERTIVOTE_DATA", str(tmp_path / "named"))
    assert listed()["haberman"]["folder"] == str(tmp_path / "named")
    records = listed("--data", tmp_path / "given")
    assert records["haberman"]["available"] == "to download"
    assert records["tictactoe"]["folder"] == str(tmp_path / "given")


def test_a_data_folder_that_does_not_exist_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for arguments in (["list"], ["info", "mnist"], ["fetch", "mnist"]):
        result = run(*arguments, "--data", "nowhere")
        assert result.exit_code == 2
        assert "'--data'" in result.output
        assert "'nowhere'" in result.output
    monkeypatch.setenv("CERTIVOTE_DATA", "nowhere")
    assert "CERTIVOTE_DATA" in run("list").output


@pytest.mark.parametrize("name", list(DATASETS))
def test_info_says_all_that_is_known(name):
    entry = DATASETS[name]
    words = " ".join(run("info", name).stdout.split())
    for text in (entry.source, entry.licence, entry.citation, entry.note, *(file.url for file in entry.files)):
        assert text in words
    assert f"size {entry.shape[0]:,} rows, {entry.shape[1]} features" in words
    if entry.class_counts:
        assert f": {' / '.join(f'{count:,}' for count in entry.class_counts)} rows" in words


def test_info_of_two_datasets_line_by_line():
    lines = run("info", "codrna").stdout.splitlines()
    assert lines[0] == "codrna"
    assert "classes    2 (binary): 39,690 / 19,845 rows" in lines
    assert "voters     stumps in the paper" in lines
    assert "ranges     feature 1 from -1,000 to 0; feature 2 from 0 to 200; features 3 to 8 from 0 to 1" in lines
    assert "available  to download" in lines
    lines = run("info", "protein").stdout.splitlines()
    assert "classes    3 (multiclass): rows of each class not known" in lines
    assert "ranges     none declared, so no stumps" in lines
    assert sum(line.startswith("address ") for line in lines) == 2


@pytest.mark.parametrize(
    ("name", "traps"),
    [
        ("phishing", ["11,055 rows", "2,456", "duplicates"]),
        ("svmguide", ["3,089 training and 4,000 test rows"]),
        ("adult", ["32,561 rows"]),
        ("splice", ["N (none) stands against EI and IE", "3,190 rows"]),
    ],
)
def test_info_warns_of_the_traps(name, traps):
    note = " ".join(run("info", name).stdout.partition("\nnote ")[2].split())
    assert all(trap in note for trap in traps)


def test_info_as_json(tmp_path):
    (tmp_path / "australian.dat").touch()
    record = json.loads(run("info", "australian", "--json", "--data", tmp_path).stdout)
    entry = DATASETS["australian"]
    assert record["files"] == [{"path": "australian.dat", "url": entry.files[0].url, "sha256": entry.files[0].sha256}]
    assert record["class_counts"] == [383, 307]
    assert record["ranges"] == [list(pair) for pair in entry.ranges]
    assert (record["source"], record["note"], record["digest"]) == (entry.source, entry.note, entry.digest)
    assert (record["available"], record["folder"]) == ("data directory", str(tmp_path))
    assert json.loads(run("info", "protein", "--json").stdout)["ranges"] is None


def test_equal_neighbouring_ranges_are_told_together(monkeypatch):
    entry = replace(DATASETS["haberman"], ranges=((0, 1), (0, 1), (0, 2.5), (0, 1)))
    monkeypatch.setitem(DATASETS, "haberman", entry)
    told = " ".join(run("info", "haberman").stdout.partition("\nranges ")[2].partition("\navailable")[0].split())
    assert told == "features 1 to 2 from 0 to 1; feature 3 from 0 to 2.5; feature 4 from 0 to 1"


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ("mnsit", "Did you mean mnist"),
        ("MNIST", "Did you mean mnist"),
        ("Svmguide1", "Did you mean svmguide?"),
        ("fashion", "Did you mean fashion-mnist"),
        ("iris", "'iris'. There are adult, "),
    ],
)
@pytest.mark.parametrize("verb", ["info", "fetch"])
def test_wrong_names_end_in_one_line_with_near_ones(verb, given, hint):
    result = run(verb, given)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith(f"certivote: NAME: there is no dataset '{given}'. ")
    assert hint in result.stderr
    assert "There are adult, australian, " in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_wrong_name_is_noticed_before_any_download(server, cache):
    assert run("fetch", "haberman", "nothing").exit_code == 1
    assert not cache.exists()


@pytest.mark.parametrize(("arguments", "given"), [([], "neither is given"), (["mnist", "--all"], "both are given")])
def test_fetch_wants_names_or_all(arguments, given):
    result = run("fetch", *arguments)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"certivote: NAME, --all: {given}; ")


def test_fetch_downloads_once_and_says_where(server, cache):
    result = run("fetch", "haberman", "haberman")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == f"haberman: downloaded into {cache}, all values checked.\n"
    assert [path.name for path in cache.iterdir()] == ["haberman.data.gz"]
    assert run("fetch", "haberman", "--quiet").output == ""
    (server / "haberman.data.gz").unlink()
    assert run("fetch", "haberman").stdout == f"haberman: found in {cache}, all values checked.\n"


def test_fetch_finds_what_the_data_folder_has(tiny, cache, tmp_path):
    (tmp_path / "haberman.data").write_text(TINY)
    result = run("fetch", "haberman", "--data", tmp_path)
    assert result.stdout == f"haberman: found in {tmp_path}, all values checked.\n"
    assert not cache.exists()


def test_fetch_says_what_it_could_not_check(tiny, tmp_path, monkeypatch):
    monkeypatch.setitem(DATASETS, "haberman", replace(DATASETS["haberman"], digest=None))
    (tmp_path / "haberman.data").write_text(TINY)
    assert "size checked (no checksum is declared)" in run("fetch", "haberman", "--data", tmp_path).stdout


def test_one_failure_does_not_stop_the_others(server, cache):
    result = run("fetch", "splice", "haberman", "adult")
    assert result.exit_code == 1
    assert result.stdout == f"haberman: downloaded into {cache}, all values checked.\n"
    lines = result.stderr.splitlines()
    assert len(lines) == 2
    for line, name in zip(lines, ["splice", "adult"], strict=True):
        assert line.startswith(f"certivote: The dataset {name} is not available: ")
        assert DATASETS[name].files[0].url in line
        assert "--data" in line


def test_all_means_all(server, cache):
    result = run("fetch", "--all")
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [f"haberman: downloaded into {cache}, all values checked."]
    assert [line.split()[3] for line in result.stderr.splitlines()] == [name for name in DATASETS if name != "haberman"]


def test_wrong_files_are_reported_with_what_to_do(tiny, tmp_path):
    (tmp_path / "haberman.data").write_text(TINY.replace("62", "63"))
    result = run("fetch", "haberman", "--data", tmp_path)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("certivote: haberman has the right size")
    assert f"Remove its files (haberman.data, compressed or not) from {tmp_path}, and fetch it again." in result.stderr
    assert result.stderr.count("\n") == 1


def test_without_pooch_the_message_names_it(tiny, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    result = run("fetch", "haberman")
    assert result.exit_code == 1
    assert "certivote[data]" in result.stderr


class Recorder:
    """A progress bar that writes down what it is told."""

    def __init__(self):
        self.calls = []

    def __setattr__(self, name, value):
        if name == "total":
            self.calls.append(("total", value))
        super().__setattr__(name, value)

    def update(self, n):
        self.calls.append(("update", n))

    def reset(self):
        self.calls.append(("reset",))

    def close(self):
        self.calls.append(("close",))


def test_a_download_tells_its_progress(server):
    bar, size = Recorder(), (server / "haberman.data.gz").stat().st_size
    fetch("haberman", progressbar=bar)
    assert bar.calls[0] == ("total", size)
    assert bar.calls[-3:] == [("reset",), ("update", size), ("close",)]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_the_progress_of_a_download_is_shown_on_a_terminal_only(server, cache, monkeypatch):
    size, log = (server / "haberman.data.gz").stat().st_size, importlib.import_module("pooch").get_logger()
    monkeypatch.setattr(log, "level", logging.INFO)
    for name in ("NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    for stream, quiet in ((io.StringIO(), []), (Terminal(), ["--quiet"]), (Terminal(), [])):
        monkeypatch.setattr(sys, "stderr", stream)
        app(["datasets", "fetch", "haberman", *quiet], standalone_mode=False)
        shown = stream.getvalue()
        assert log.level == logging.ERROR  # of pooch there are no lines
        if not (stream.isatty() and not quiet):
            assert shown == ""
        shutil.rmtree(cache)
    assert "haberman" in shown
    assert f"{size}/{size} bytes" in shown


@needs_data
def test_the_benchmark_data_are_found_and_are_right(cache):
    names = ["haberman", "tictactoe", "svmguide", "splice", "australian"]
    result = run("fetch", *names, "--data", DATA)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.splitlines() == [f"{name}: found in {DATA}, all values checked." for name in names]
    assert not cache.exists()
    assert listed("--data", DATA)["phishing"]["available"] == "data directory"
