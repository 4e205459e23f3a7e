import io
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import made_data
import pytest
from typer.testing import CliRunner

pytest.importorskip("matplotlib", reason="reproduce needs matplotlib: install certivote[reproduce]")

from certivote import paper
from certivote.cli import app
from certivote.paper import DATASETS, PAPER_METHODS, RunStore, Unit, _fetch

DATA = Path(os.environ.get("CERTIVOTE_DATA") or Path(__file__).parents[3] / "shared" / "data")
needs_data = pytest.mark.skipif(
    not DATA.is_dir(),
    reason="the benchmark data are not here: set CERTIVOTE_DATA to their folder, or put them into ../shared/data",
)


def run(*arguments):
    return CliRunner().invoke(app, ["reproduce", *(str(argument) for argument in arguments)])


def keys(folder):
    return sorted(run.key for run in RunStore(folder).read())


def one_line(result):
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith("certivote: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


@pytest.fixture(autouse=True)
def made(tmp_path, monkeypatch):
    """Small datasets under three names; the others are nowhere to be had."""
    monkeypatch.setattr(_fetch, "_cache_directory", lambda: tmp_path / "cache")
    monkeypatch.setattr(_fetch, "RETRIES", 0)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("CERTIVOTE_DATA", raising=False)
    real = {name: DATASETS[name] for name in made_data.BINARY}
    for name, entry in list(DATASETS.items()):
        files = tuple(replace(file, url=f"http://127.0.0.1:1/{file.path}") for file in entry.files)
        monkeypatch.setitem(DATASETS, name, replace(entry, files=files))
    made_data.install(lambda name, entry: monkeypatch.setitem(DATASETS, name, entry))
    return real


@pytest.fixture
def no_results(monkeypatch):
    monkeypatch.setattr(paper, "write_results", lambda out: [Path(out) / "table"])


def test_any_subset_is_run_and_the_results_are_written(tmp_path):
    chosen = [
        "--dataset",
        "haberman",
        "--dataset",
        "pendigits",
        "--method",
        "dis-r",
        "--method",
        "fo",
        "--method",
        "fo",
    ]
    result = run(
        *chosen, "--protocol", "fast", "--repeats", 2, "--seed", 7, "--out", tmp_path / "out", "--certificates"
    )
    assert (result.exit_code, result.stderr) == (0, "")
    assert keys(tmp_path / "out") == [
        ("fast", dataset, method, seed)
        for dataset in ("haberman", "pendigits")
        for method in ("dis-r", "fo")
        for seed in (7, 8)
    ]
    lines = result.stdout.splitlines()
    assert sum(line.startswith("haberman   ") for line in lines) == 2  # bound and test error
    assert lines[2].split()[:2] == ["dataset", "splits"]
    assert {"dis-r", "fo"} < set(lines[2].split())
    assert all(len(line) <= 100 for line in lines[:-1])
    assert lines[-1] == f"16 files of tables and figures written to {tmp_path / 'out' / 'fast'}."
    written = [*(tmp_path / "out" / "fast").iterdir()]
    assert len(written) == 16
    assert all(path.stat().st_size for path in written)
    assert len(list((tmp_path / "out" / "certificates").iterdir())) == 8


def test_the_tables_alone_run_nothing(tmp_path, monkeypatch):
    RunStore(tmp_path).append(made_data.made_run(bound=0.4321))
    before = RunStore(tmp_path).path.read_bytes()
    monkeypatch.setattr(paper, "reproduce", None)
    result = run("--tables", "--out", tmp_path)
    assert result.exit_code == 0
    assert "haberman       1  43.2 (51.5)" in result.stdout
    assert "10 files" in result.stdout
    assert run("--tables", "--out", tmp_path, "--quiet").stdout == ""
    assert RunStore(tmp_path).path.read_bytes() == before


def test_both_protocols_are_run_with_their_solver(tmp_path, monkeypatch, no_results):
    protocol = import_module("certivote.paper._protocol")
    solvers, certify = [], protocol.certify_votes
    monkeypatch.setattr(protocol, "certify_votes", lambda plan, *rest: solvers.append(plan) or certify(plan, *rest))
    result = run(
        *("--protocol", "paper", "--protocol", "fast", "--dataset", "haberman", "--method", "dis-r"),
        *("--repeats", 1, "--out", tmp_path),
    )
    assert result.exit_code == 0
    assert [run.protocol for run in RunStore(tmp_path).read()] == ["paper", "fast"]
    assert [(plan.solver, plan.loss, plan.delta) for plan in solvers] == [
        ("adam", "half-weight", 0.05),
        ("lbfgs", "half-weight", 0.05),
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--protocol", "slow"], ["--protocol", "'slow'", "paper, fast"]),
        (["--method", "c-bound"], ["--method", "'c-bound'", "smv-exact"]),
        (["--dataset", "mnsit"], ["--dataset: there is no dataset 'mnsit'", "Did you mean mnist"]),
        (["--dataset", "protein"], ["protein", "is not available", "--data"]),
        (["--tables"], ["no finished runs"]),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path, arguments, words):
    line = one_line(run(*arguments, "--out", tmp_path / "out"))
    assert all(word in line for word in words)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("arguments", [["--repeats", 0], ["--jobs", 0], ["--seed", -1], ["--data", "nowhere"]])
def test_impossible_values_are_refused(tmp_path, arguments):
    result = run(*arguments, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert f"'{arguments[0]}'" in result.output


def test_datasets_that_cannot_be_had_are_left_out_with_a_line(tmp_path, no_results):
    result = run("--method", "fo", "--repeats", 1, "--out", tmp_path / "out")
    assert result.exit_code == 0
    assert [key[1] for key in keys(tmp_path / "out")] == ["haberman", "pendigits", "tictactoe"]
    left_out = re.findall(r"certivote: The dataset (\S+) is not available", result.stderr)
    assert left_out == [name for name in DATASETS if name not in {"haberman", "pendigits", "tictactoe"}]
    assert result.stderr.count("\n") == len(left_out)
    again = run("--method", "fo", "--repeats", 1, "--out", tmp_path / "out", "--quiet")
    assert (again.exit_code, again.output) == (0, "")


def test_no_dataset_at_all_is_an_error(tmp_path, monkeypatch):
    for name in DATASETS.keys() - {"protein"}:
        monkeypatch.delitem(DATASETS, name)
    result = run("--out", tmp_path / "out")
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1] == "certivote: none of the datasets is available."


@pytest.mark.parametrize("package", ["filelock", "matplotlib"])
def test_a_package_that_is_missing_is_named_before_any_run(tmp_path, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    line = one_line(run("--dataset", "haberman", "--out", tmp_path / "out"))
    assert package in line
    assert "certivote[reproduce]" in line
    assert not (tmp_path / "out").exists()


def test_a_file_of_other_columns_is_refused_in_one_line(tmp_path):
    (tmp_path / "runs.csv").write_text("a,b\n")
    assert "other columns" in one_line(run("--dataset", "haberman", "--out", tmp_path))
    assert (tmp_path / "runs.csv").read_text() == "a,b\n"


def test_a_killed_worker_ends_in_one_line(tmp_path, monkeypatch):
    def die(*arguments, **options):
        raise BrokenProcessPool("a long explanation")

    monkeypatch.setattr(paper, "reproduce", die)
    assert "--jobs" in one_line(run("--dataset", "haberman", "--out", tmp_path))


def test_runs_of_another_process_are_told(tmp_path, no_results):
    with RunStore(tmp_path).claim(Unit("fast", "haberman", 0).name):
        result = run("--dataset", "haberman", "--method", "fo", "--protocol", "fast", "--repeats", 2, "--out", tmp_path)
    assert result.exit_code == 0
    assert result.stderr == f"certivote: 1 runs are left to another process that works on {tmp_path}.\n"
    assert keys(tmp_path) == [("fast", "haberman", "fo", 1)]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_with_time_left_on_a_terminal_only(tmp_path, monkeypatch, no_results):
    for name in ("NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    now = [0.0]
    monkeypatch.setattr("rich.console.monotonic", lambda: now[0])

    def work(units, *arguments, done, **settings):
        done(units[0], 0)  # done before: three are left
        now[0] += 100
        done(units[1], 7)
        done(units[2], 0)  # done by another process: one is left
        now[0] += 30
        return 0

    monkeypatch.setattr(paper, "reproduce", work)
    for stream, quiet in ((io.StringIO(), []), (Terminal(), ["--quiet"]), (Terminal(), [])):
        monkeypatch.setattr(sys, "stderr", stream)
        options = ["--dataset", "haberman", "--protocol", "fast", "--repeats", "4", "--out", str(tmp_path), *quiet]
        app(["reproduce", *options], standalone_mode=False)
        assert bool(stream.getvalue()) == (stream.isatty() and not quiet)
    last = re.sub(r"\x1b\[[0-9;?]*\w", "", stream.getvalue()).strip().splitlines()[-1]
    assert "haberman, seed 1 done" in last
    assert last.endswith("50% 0:02:10 0:01:10 left")


# Python runs it at every start; the helper of joblib that only counts semaphores need not wait for it.
SITE = """import sys
if "resource_tracker" not in "".join(sys.orig_argv):
    import made_data
    made_data.install()
"""


def real_process(tmp_path, *arguments):
    """``certivote reproduce`` as a command, where it and its workers know the small datasets."""
    (tmp_path / "site").mkdir(exist_ok=True)
    (tmp_path / "site" / "sitecustomize.py").write_text(SITE)
    paths = [str(tmp_path / "site"), str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    return subprocess.Popen(
        [sys.executable, "-m", "certivote", "reproduce", "--dataset", "tictactoe", *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # Started in the background by a script, the tests themselves may be deaf to interrupts, and hand that down.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


@pytest.mark.skipif(os.name != "posix", reason="it needs signals of POSIX")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_interrupted_command_goes_on_where_it_stopped(tmp_path, jobs):
    store, out = RunStore(tmp_path / "out"), str(tmp_path / "out")
    arguments = ["--protocol", "paper", "--repeats", "2", "--jobs", jobs, "--out", out]
    process = real_process(tmp_path, *arguments)
    while process.poll() is None and not store.read():
        time.sleep(0.005)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stdout) == (1, "")
    # On a busy machine it has said before how far it is.
    assert stderr.splitlines()[-1:] == [
        f"certivote: interrupted; finished runs are in {store.path}, and the same command goes on from there."
    ]
    assert "Traceback" not in stderr
    before, kept = store.path.read_bytes(), store.read()
    assert 1 <= len(kept) < 2 * len(PAPER_METHODS)
    result = run("--dataset", "tictactoe", *arguments[:4], "--out", out)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.count("\ntictactoe       2  ") == 2
    assert store.path.read_bytes().startswith(before[: before.rfind(b"\n") + 1])
    assert keys(out) == sorted(("paper", "tictactoe", method, seed) for method in PAPER_METHODS for seed in range(2))


@needs_data
def test_the_real_haberman(tmp_path, monkeypatch, made, no_results):
    for name, entry in made.items():
        monkeypatch.setitem(DATASETS, name, entry)
    result = run("--dataset", "haberman", "--repeats", 1, "--data", DATA, "--out", tmp_path / "out")
    assert (result.exit_code, result.stderr) == (0, "")
    runs = {run.method: run for run in RunStore(tmp_path / "out").read()}
    assert set(runs) == set(PAPER_METHODS)
    assert {(run.n, run.test_rows, run.voters) for run in runs.values()} == {(244, 62, 60)}
    assert 0.25 < runs["smv-exact"].bound < runs["dis-v"].bound < 0.6
    assert all(0.1 < run.test_error < 0.5 for run in runs.values())
