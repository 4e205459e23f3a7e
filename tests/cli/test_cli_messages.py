"""What commands say: about values that cannot be read, to whom, how much, and without harm to a terminal."""

import io
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

from certivote import CertifiedVoteClassifier
from certivote.cli import app

FIT = ["--target", "out", "--method", "dis-b", "--voters", "stumps"]


def run(*arguments, **settings):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], **settings)


def table(n=120):
    rng = np.random.default_rng(0)
    age = rng.integers(18, 90, n)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n), "D")
    return pd.DataFrame(
        {
            "age": age.astype(str),
            "town": rng.choice(["Ulm", "Bonn", "Kiel"], n),
            "smokes": rng.choice(["true", "false"], n),
            "since": days.strftime("%Y-%m-%d"),
            "out": np.where((age > 50) ^ (rng.random(n) < 0.05), "ill", "well"),
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("messages")
    table().to_csv(folder / "data.csv", index=False)
    for voters in ("stumps", "forest"):
        options = ["--target", "out", "--method", "dis-b", "--voters", voters]
        result = run("fit", folder / "data.csv", *options, "--model", folder / f"{voters}.certivote")
        assert result.exit_code == 0, result.output
    return folder


# Values that cannot be read -------------------------------------------------------------------------------------------

UNSEEN = "{n} values were not seen in training, such as {example!r}"
ODD = {
    "units": ("age", lambda column: column + " y", "{n} values are not numbers, such as {example!r}"),
    "case": ("town", lambda column: column.str.lower(), UNSEEN),
    "truth": ("smokes", lambda column: column.map({"true": "1", "false": "0"}), UNSEEN),
    "dates": (
        "since",
        lambda column: pd.to_datetime(column).dt.strftime("%d.%m.%Y"),
        "{n} values are not dates as in training, such as {example!r}",
    ),
    "new": (
        "town",
        lambda column: column.where(column.index != 0, "Atlantis"),
        "1 value was not seen in training: 'Atlantis'",
    ),
}


@pytest.mark.parametrize("voters", ["stumps", "forest"])
@pytest.mark.parametrize("way", ODD)
def test_values_that_cannot_be_read_are_counted_and_shown(folder, tmp_path, monkeypatch, way, voters):
    monkeypatch.setattr("certivote.cli._predict._CHUNK", 7)
    name, change, message = ODD[way]
    frame = table().drop(columns="out").iloc[:40]
    frame[name] = change(frame[name])
    data, model, out = tmp_path / "odd.csv", folder / f"{voters}.certivote", tmp_path / "out.csv"
    frame.to_csv(data, index=False)
    said = f"column {name!r}: {message.format(n=40, example=frame[name][0])}"
    result = run("predict", model, data, "-o", out)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == f"certivote: warning: {data}: {said}; counted as missing.\n"
    out.unlink()
    for where in (["-o", out], []):
        result = run("predict", model, data, *where, "--strict")
        assert (result.exit_code, result.stdout) == (1, "")
        assert result.stderr == f"certivote: --strict: {data}: {said}.\n"
    assert not out.exists()
    result = run("predict", model, data, "--quiet")
    assert (result.exit_code, result.stderr, result.stdout.count("\n")) == (0, "", 41)


def test_missing_values_and_other_columns_are_not_complained_about(folder, tmp_path):
    frame = table().assign(more="?")
    frame.loc[::3, ["age", "town", "since"]] = ["NA", "", " null "]
    frame.to_csv(tmp_path / "new.csv", index=False)
    result = run("predict", folder / "stumps.certivote", tmp_path / "new.csv", "--strict")
    assert (result.exit_code, result.stderr) == (0, "")


def test_parquet_and_test_rows_of_a_report_are_looked_at_too(folder, tmp_path):
    frame = table().assign(age="old")
    frame.to_parquet(tmp_path / "odd.parquet")
    frame.to_csv(tmp_path / "odd.csv", index=False)
    model = folder / "stumps.certivote"
    said = "column 'age': 120 values are not numbers, such as 'old'"
    assert said in run("predict", model, tmp_path / "odd.parquet").stderr
    pytest.importorskip("jinja2", reason="the report needs jinja2: install certivote[report]")
    page = tmp_path / "page.html"
    result = run("report", model, "--data", tmp_path / "odd.csv", "--target", "out", "-o", page)
    assert (result.exit_code, said in result.stderr) == (0, True)


# How much is said -----------------------------------------------------------------------------------------------------


def test_quiet_commands_print_nothing_but_what_was_asked_for(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data, model = folder / "data.csv", folder / "stumps.certivote"
    silent = [
        ["fit", data, *FIT, "--out", "c.json", "--model", "m.certivote"],
        ["predict", model, data, "-o", "out.csv"],
        ["verify", "c.json"],
        ["verify", model],
        ["report", "c.json"],
    ]
    for line in silent:
        result = run(*line, "--quiet")
        assert (result.exit_code, result.output) == (0, ""), line
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.json", "m.certivote", "out.csv", "report.html"]
    assert json.loads(run("fit", data, *FIT, "-q", "--out", "-").output)["method"] == "dis-b"
    assert run("predict", model, data, "-q", "-o", "-").output == Path("out.csv").read_text()
    assert run("report", "c.json", "-q", "-o", "-").output == Path("report.html").read_text()
    compared = run("compare", data, "--target", "out", "--method", "holdout", "--voters", "stumps", "-q")
    assert compared.stdout.startswith("method")
    result = run("predict", model, tmp_path / "none.csv", "-q")
    assert (result.exit_code, "No such file" in result.stderr) == (1, True)


def test_quiet_means_no_warnings(tmp_path):
    rng = np.random.default_rng(0)
    rows = [f"{value},{'b' if value > 0 else 'a'}" for value in rng.normal(size=60)]
    (tmp_path / "rare.csv").write_text("\n".join(["x,y", *rows, "0.1,rare"]))
    line = ["fit", tmp_path / "rare.csv", "--target", "y", "--voters", "forest", "--method", "holdout"]
    seed = next(seed for seed in range(9) if "warning" in run(*line, "--seed", seed).stderr)
    assert run(*line, "--seed", seed, "-q").output == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit", "{folder}/data.csv", "--target", "absent"],
        ["verify", "{folder}/data.csv"],
        ["certify", "{folder}/data.csv", "--truth", "out"],
        ["compare", "{folder}/none.csv", "--target", "out"],
        ["monitor", "{folder}/stumps.certivote", "{folder}/data.csv", "--state", "{folder}/none/s.json"],
        ["bound", "--errors", "3", "--n", "2"],
        ["datasets", "info", "absent"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_with_json_an_error_is_json_too(folder, arguments):
    arguments = [each.replace("{folder}", str(folder)) for each in arguments]
    plain, asked = run(*arguments), run(*arguments, "--json")
    assert plain.exit_code == asked.exit_code == 1
    assert plain.stdout == ""
    assert plain.stderr == asked.stderr
    assert f"certivote: {json.loads(asked.stdout)['error']}\n" == asked.stderr


def test_a_quiet_audit_that_fails_says_so(folder, tmp_path):
    record = json.loads(run("fit", folder / "data.csv", *FIT, "--json").stdout)
    path = tmp_path / "c.json"
    record["parts"][0]["statement"]["bound"] /= 2
    path.write_text(json.dumps(record))
    result = run("verify", path, "-q")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "checks FAILED: do not rely on this certificate." in result.stderr
    assert result.stderr.count("\n") == 1


def commands(command, *path):
    yield path
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, *path, name)


def test_every_command_has_a_short_option_for_help():
    found = list(commands(typer.main.get_command(app)))
    assert len(found) > 10
    for path in found:
        short, long = (run(*path, option) for option in ("-h", "--help"))
        assert (short.exit_code, short.output) == (0, long.output), path
        assert "Usage" in short.output


# Names that may be meant ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "typed", "meant"),
    [("--method", "disb", "dis-b"), ("--voters", "stump", "stumps"), ("--family", "Dirichlet", "dirichlet")],
)
def test_near_names_are_suggested(folder, option, typed, meant):
    result = run("fit", folder / "data.csv", "--target", "out", option, typed)
    assert result.exit_code == 2
    assert f"Did you mean {meant}" in " ".join(result.output.replace("│", " ").split())


def test_near_names_of_experiments_are_suggested():
    pytest.importorskip("filelock", reason="reproduce needs filelock: install certivote[reproduce]")
    assert "Did you mean dis-r" in run("reproduce", "--method", "disr").stderr
    assert "Did you mean paper" in run("reproduce", "--protocol", "papers").stderr


def test_all_missing_columns_are_named(folder, tmp_path):
    table().rename(columns={"age": "Age", "since": "snce"}).drop(columns="smokes").to_csv(
        tmp_path / "n.csv", index=False
    )
    result = run("predict", folder / "stumps.certivote", tmp_path / "n.csv")
    assert result.exit_code == 1
    assert "no columns 'age' (did you mean 'Age'?), 'smokes' and 'since' (did you mean 'snce'?)." in result.stderr


# Terminals ------------------------------------------------------------------------------------------------------------

EVIL = "\x1b[2J\x1b]0;owned\x07\u202e\r\nok    bound"


def is_plain(text):
    return all(c.isprintable() or c == "\n" for c in text)


def test_labels_of_a_stranger_do_not_reach_the_terminal(folder, tmp_path):
    frame = table()
    frame["out"] = frame["out"].replace("ill", EVIL)
    data, out = tmp_path / "evil.csv", tmp_path / "c.json"
    frame.to_csv(data, index=False)
    result = run("fit", data, *FIT, "--out", out)
    assert result.exit_code == 0, result.output
    assert is_plain(result.output)
    checks = json.loads(run("verify", out, "--json").stdout)["checks"]
    result = run("verify", out, "--details")
    assert result.exit_code == 0, result.output
    assert is_plain(result.output)
    assert len(result.output.splitlines()) == len(checks) + 2  # no line was made by a label
    result = run("fit", data, "--target", EVIL)
    assert (result.exit_code, is_plain(result.stderr), result.stderr.count("\n")) == (1, True, 1)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_answers_on_a_terminal_are_plain_and_elsewhere_what_they_are(folder, tmp_path, monkeypatch):
    data = tmp_path / "new.csv"
    table().iloc[:2].assign(note="\x1b[31mred").to_csv(data, index=False)
    model = folder / "stumps.certivote"
    assert "\x1b[31mred" in run("predict", model, data).stdout

    monkeypatch.setattr(sys, "stdout", Terminal())
    app(["predict", str(model), str(data)], standalone_mode=False)
    shown = sys.stdout.getvalue()
    assert "\\x1b[31mred" in shown
    assert is_plain(shown)


def test_labels_in_messages_look_as_they_are_written():
    with pytest.raises(ValueError, match=r"one class only \('a'\)"):
        CertifiedVoteClassifier().fit(np.zeros((9, 1)), np.array(["a"] * 9))
