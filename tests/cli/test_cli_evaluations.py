"""``certivote certify`` of logs of evaluations: one run, two runs, and what is refused."""

import json
import re

import pytest
from logs import inspect_samples, promptfoo_results, write_inspect, write_lines, write_promptfoo
from typer.testing import CliRunner

from certivote import Certificate, certify_difference, certify_predictions
from certivote.cli import app

N = 400
NEW, OLD = set(range(4)), set(range(1, 12))


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def verdicts(wrong, n=N):
    return ["I" if number in wrong else "C" for number in range(n)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Two runs on the same items, in two formats of Inspect."""
    monkeypatch.chdir(tmp_path)
    write_inspect(tmp_path / "new.eval", inspect_samples(verdicts(NEW)))
    write_inspect(tmp_path / "old.json", inspect_samples(verdicts(OLD)))
    return tmp_path


def certificate(name="c.json"):
    with open(name, encoding="utf-8") as file:
        return Certificate.from_json(file.read())


def labels(wrong):
    return ["wrong" if number in wrong else "right" for number in range(N)]


def test_the_error_of_a_run_is_certified_and_verified(folder):
    made = run("certify", "new.eval", "--rows", "rows.csv", "--out", "c.json", "--report", "r.html")
    assert made.exit_code == 0, made.output
    for told in ("Caution", "baseline", "within a class"):  # of answers that are right or wrong, these say nothing
        assert told not in made.output
    found, same = certificate(), certify_predictions(["right"] * N, labels(NEW))
    assert found.deployed_part.statement == same.deployed_part.statement
    assert (found.deployed_part.errors, found.deployed_part.n, found.bound) == (4, N, same.bound)
    page = re.sub("<[^>]*>", "", (folder / "r.html").read_text())
    assert "certivote verify c.json --data rows.csv --truth truth --predicted new.eval" in page
    audit = run("verify", "c.json", "--data", "rows.csv")
    assert audit.exit_code == 0, audit.output
    (folder / "rows.csv").write_text((folder / "rows.csv").read_text().replace("right,wrong", "right,right", 1))
    assert run("verify", "c.json", "--data", "rows.csv").exit_code == 1


def test_two_runs_are_compared_and_a_margin_that_is_not_shown_ends_with_code_4(folder):
    words = ["certify", "new.eval", "--difference", "old.json"]
    made = run(*words, "--margin", "0.01", "--rows", "rows.csv", "--out", "c.json")
    assert made.exit_code == 0, made.output
    (found,) = certificate().differences
    alone = certify_difference(["right"] * N, labels(NEW), labels(OLD), margin=0.01)
    assert (found.first, found.second, found.discordant) == ("new.eval", "old.json", alone.discordant)
    assert (found.lower, found.upper) == (alone.lower, alone.upper)
    assert run("verify", "c.json", "--data", "rows.csv").exit_code == 0
    ended = run("certify", "old.json", "new.eval", "--difference", "--margin", "0.0001")
    assert ended.exit_code == 4
    assert "not shown: that 'old.json' is not worse than 'new.eval' by more than 0.01 percentage points" in ended.stderr
    write_inspect(folder / "fewer.eval", inspect_samples(verdicts(NEW, N - 1)))
    refused = run("certify", "new.eval", "--difference", "fewer.eval")
    assert refused.exit_code == 1
    assert "new.eval has item '399', which fewer.eval does not have; runs can be compared on the same" in refused.stderr


def test_epochs_and_paraphrases_are_groups(folder):
    write_inspect(folder / "epochs.eval", inspect_samples(verdicts(NEW, 100), epochs=2))
    made = run("certify", "epochs.eval", "--seed", "0", "--rows", "rows.csv", "--out", "c.json")
    assert made.exit_code == 0, made.output
    assert certificate().groups == "item"
    assert run("verify", "c.json", "--data", "rows.csv").exit_code == 0
    write_inspect(folder / "poor.eval", inspect_samples(verdicts(set(range(40)), 100), epochs=2))
    words = ["--difference", "poor.eval", "--margin", "0.1", "--rows", "rows.csv", "--out", "c.json"]
    made = run("certify", "epochs.eval", *words)
    assert made.exit_code == 0, made.output
    assert certificate().differences[0].verdict == "better"
    assert run("verify", "c.json", "--data", "rows.csv").exit_code == 0
    made = run("certify", "new.eval", "--group", "question", "--seed", "0", "--rows", "rows.csv", "--out", "c.json")
    assert made.exit_code == 0, made.output
    found = certificate()
    assert found.groups == "group"
    same = certify_predictions(
        ["right"] * N, labels(NEW), groups=[f"q{number // 2}" for number in range(N)], random_state=0
    )
    assert found.deployed_part.n == same.deployed_part.n
    assert found.deployed_part.errors == same.deployed_part.errors
    assert run("verify", "c.json", "--data", "rows.csv").exit_code == 0


def test_the_providers_of_promptfoo_are_compared(folder):
    passed = [[number not in wrong for number in range(N)] for wrong in (NEW, OLD)]
    write_promptfoo(folder / "output.json", promptfoo_results(passed, ("openai:new", "openai:old")))
    made = run("certify", "output.json", "--difference", "--margin", "0.01")
    assert made.exit_code == 0, made.output
    assert "'openai:new'" in made.stdout


def test_metric_and_threshold_are_options(folder):
    lines = [{"id": number, "style": 1, "fact": 0.9 if number in NEW else 0.95} for number in range(N)]
    write_lines(folder / "plain.jsonl", lines)
    assert "name one by --metric (there are: 'style', 'fact')" in run("certify", "plain.jsonl").stderr
    assert "give --threshold" in run("certify", "plain.jsonl", "--metric", "fact").stderr
    made = run("certify", "plain.jsonl", "--metric", "fact", "--threshold", "0.95", "--json")
    assert made.exit_code == 0
    assert Certificate.from_json(made.stdout).deployed_part.errors == len(NEW)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["new.eval", "--truth", "y"], "--truth: this is for tables, and new.eval is the log of an evaluation"),
        (["new.eval", "--predicted", "a"], "--predicted: this is for tables"),
        (["new.eval", "--time", "a"], "--time: this is for tables"),
        (["new.eval", "--by", "a"], "--by: this is for tables"),
        (["new.eval", "--precision"], "--precision: this is for tables"),
        (["new.eval", "--sep", ";"], "--sep: this is for tables"),
        (["new.eval", "--engine", "dask"], "--engine: this is for tables"),
        (["new.eval", "--no-groups"], "--no-groups: there is no certificate before"),
        (["new.eval", "--difference"], "--difference: it compares models"),
        (["new.eval", "table.csv", "--difference"], "OTHER: two files are compared if both are logs"),
        (["new.eval", "--rows", "rows.parquet"], "--rows: give the name of a CSV file"),
        (["new.eval", "--rows", "none/rows.csv"], "--rows: none"),
        (["new.eval", "--threshold", "nan"], "--threshold: give a finite number"),
        (["new.eval", "--rows", "c.csv", "--out", "c.csv"], "c.csv"),
        (["absent.eval"], "absent.eval: No such file or directory."),
        (["table.csv", "--predicted", "a"], "--truth: name the column that holds the true classes."),
        (["table.csv", "--metric", "a"], "--metric: this is for logs of evaluations"),
    ],
)
def test_what_does_not_fit_is_refused_in_a_line(folder, words, message):
    (folder / "table.csv").write_text("y,a\n" + "1,1\n2,2\n" * 20)
    refused = run("certify", *words)
    assert (refused.exit_code, message in refused.stderr) == (1, True), refused.output
    assert refused.stderr.count("\n") == 1
    assert not {path.name for path in folder.iterdir()} - {"new.eval", "old.json", "table.csv"}


def test_several_runs_without_a_comparison_are_certified_beside_one_another(folder):
    made = run("certify", "new.eval", "old.json", "--json")
    assert made.exit_code == 0
    assert [each["name"] for each in json.loads(made.stdout)["candidates"]] == ["new.eval", "old.json"]
