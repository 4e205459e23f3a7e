import csv
import hashlib
import json
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import typer
from joblib import effective_n_jobs
from sklearn.datasets import load_breast_cancer
from typer.testing import CliRunner

from certivote import Certificate, CertifiedVoteClassifier, __version__
from certivote.cli import app
from certivote.theory.families import FAMILIES
from certivote.theory.methods import METHODS
from certivote.voters import VOTERS, Stumps


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    data = load_breast_cancer()
    path = tmp_path_factory.mktemp("data") / "cancer.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*data.feature_names[:6], "diagnosis"])
        writer.writerows(
            [*row[:6], data.target_names[k]] for row, k in zip(data.data.tolist(), data.target, strict=True)
        )
    return path


def test_fit_prints_and_writes_the_certificate(table, tmp_path):
    out = tmp_path / "certificate.json"
    result = run("fit", table, "--target", "diagnosis", "--out", out)
    assert result.exit_code == 0, result.output
    certificate = Certificate.from_json(out.read_text())
    assert str(certificate) in result.output
    assert f"Certificate written to {out}." in result.output
    assert certificate.classes == ("benign", "malignant")
    assert [path.name for path in tmp_path.iterdir()] == ["certificate.json"]


def test_the_work_on_a_table_uses_all_processors(table, monkeypatch):
    found = []
    monkeypatch.setattr(CertifiedVoteClassifier, "fit", lambda *rows, **more: found.append(effective_n_jobs(None)))
    run("fit", table, "--target", "diagnosis")
    assert found == [effective_n_jobs(-1)]


def test_fit_passes_its_options_on(table, tmp_path):
    out = tmp_path / "c.json"
    options = {
        "method": "dis-v",
        "voters": "stumps",
        "split": "cross",
        "loss": "half-weight",
        "delta": 0.1,
        "prior": 0.2,
        "solver": "adam",
        "train-share": 0.4,
        "tau": 0.3,
        "renyi-order": 2,
        "constant": "exact",
        "seed": 5,
    }
    flags = [text for name, value in options.items() for text in (f"--{name}", value)]
    result = run("fit", table, "--target", "diagnosis", "--out", out, *flags)
    assert result.exit_code == 0, result.output
    record = json.loads(out.read_text())
    expected = {
        "method": "dis-v",
        "split": "cross",
        "loss": "half-weight",
        "delta": 0.1,
        "solver": "adam",
        "average_weights": [0.3, 0.7],
        "renyi_orders": [2.0],
        "constant": "exact",
    }
    assert {key: record[key] for key in expected} == expected
    assert record["parts"][0]["statement"]["n"] == 569 - round(0.4 * 569)
    assert set(record["parts"][0]["beta"]) == {0.2}
    assert len(record["parts"][0]["alpha"]) == 6 * 10 * 2


def test_the_seed_decides(table):
    line = ["fit", table, "--target", "diagnosis", "--voters", "forest", "--train-share", 0.5, "--json"]
    records = [Certificate.from_json(run(*line, "--seed", seed).stdout) for seed in (3, 3, 4)]
    assert records[0] == records[1] != records[2]  # whenever they were made


@pytest.mark.parametrize("voters", ["mixed", "forest", "stumps"])
def test_missing_values_are_allowed(table, tmp_path, voters):
    lines = table.read_text().splitlines()
    for row in range(5, 300, 10):
        lines[row] = "," + lines[row].split(",", 1)[1]
    path = tmp_path / "missing.csv"
    path.write_text("\n".join(lines))
    result = run("fit", path, "--target", "diagnosis", "--voters", voters, "--method", "dis-b")
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("a,y\n", "there are no rows below the header"),
        ("a,a,y\n1,2,x\n", "the column 'a' occurs more than once"),
        ("a,y\n1,x\n2\n", "line 3: 1 fields, but the header has 2"),
        ("a,y\n1,x\ninf,z\n", "line 3: column 'a' holds 'inf'; only finite numbers"),
        ("a,y\n1,\n", "line 2: the target 'y' is empty"),
        ("y\nx\n", "no column besides the target"),
        ("a,yy\n1,x\n", "there is no column 'y'; did you mean 'yy'?"),
        ("apple,pear\n1,x\n", "the columns are apple, pear"),
        ("a,y\n1,x\n2,x\n3,x\n", "one class only"),
        ("a,y\n" + '"', "line 2: unexpected end of data; are quotation marks closed?"),
    ],
)
def test_bad_files_end_in_one_clear_line(tmp_path, text, message):
    path, out = tmp_path / "bad.csv", tmp_path / "out.json"
    path.write_text(text)
    result = run("fit", path, "--target", "y", "--out", out)
    assert result.exit_code == 1
    assert message in result.output
    assert result.output.startswith(f"certivote: {path}")
    assert result.output.count("\n") == 1
    assert not out.exists()


def test_other_encodings_and_missing_files_are_refused(tmp_path):
    path = tmp_path / "latin.csv"
    path.write_bytes("größe,y\n1,x\n".encode("latin-1"))
    assert "not a UTF-8 text file" in run("fit", path, "--target", "y").output
    assert "No such file" in run("fit", tmp_path / "none.csv", "--target", "y").output
    assert "Is a directory" in run("fit", tmp_path, "--target", "y").output


def test_a_missing_folder_is_noticed_before_the_work(table, tmp_path):
    result = run("fit", table, "--target", "diagnosis", "--out", tmp_path / "nowhere" / "c.json")
    assert result.exit_code == 1
    assert "does not exist" in result.output


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--delta", "2", "The 'delta' parameter of CertifiedVoteClassifier must be a"),
        ("--prior", "0", "The 'prior' parameter of CertifiedVoteClassifier must be a"),
        ("--renyi-order", "1", "--renyi-order: The 'order' parameter of DisV must be a"),
        ("--n-draws", "0", "--n-draws: The 'n_draws' parameter of DisV must be an int"),
        ("--train-share", "1", "--train-share: The 'train_share' parameter of Single must be a"),
    ],
)
def test_bad_options_end_in_one_clear_line(table, option, value, said):
    result = run("fit", table, "--target", "diagnosis", "--method", "dis-v", option, value)
    assert result.exit_code == 1
    assert said in result.output
    assert "in the range" in result.output
    assert result.output.count("\n") == 1


def test_warnings_are_shown_plainly(tmp_path):
    path = tmp_path / "rare.csv"
    rng = np.random.default_rng(0)
    rows = [f"{value},{'b' if value > 0 else 'a'}" for value in rng.normal(size=60)]
    path.write_text("\n".join(["x,y", *rows, "0.1,rare"]))
    line = ["fit", path, "--target", "y", "--voters", "forest", "--train-share", 0.5]
    outputs = [run(*line, "--seed", seed).output for seed in range(4)]
    assert any("certivote: warning: No training row has class 'rare'" in output for output in outputs)


def options(verb):
    return {option.name: option for option in typer.main.get_command(app).commands[verb].params}


NAMES = {
    "--method": ("auto", *METHODS),
    "--voters": ("auto", *VOTERS),
    "--family": tuple(name for name, family in FAMILIES.items() if family.over_weights),
}


def test_every_method_can_be_asked_for(tmp_path):
    assert NAMES["--method"] == (
        *("auto", "dis-b", "dis-r", "dis-v", "smv-exact", "smv-mc"),
        *("fo", "so", "bin", "c-bound", "holdout"),
    )
    assert NAMES["--voters"] == ("auto", "mixed", "boosted", "forest", "stumps")
    assert NAMES["--family"] == ("dirichlet", "logistic-normal")
    for verb in ("fit", "compare"):
        for name, known in NAMES.items():
            option = options(verb)[name.removeprefix("--")]
            allowed = known[1:] if (verb, name) == ("compare", "--method") else known
            for each in allowed:  # it is the file that is complained about
                result = run(verb, tmp_path / "none.csv", "--target", "y", name, each)
                assert (result.exit_code, "No such file" in result.output) == (1, True)
            assert completed(f"certivote {verb} data.csv {name} ") == list(allowed)
            assert ", ".join(allowed) in option.help


@pytest.mark.parametrize("option", NAMES)
@pytest.mark.parametrize("verb", ["fit", "compare"])
def test_a_name_that_is_in_no_table_is_wrong_usage_and_all_names_are_listed(verb, option, tmp_path):
    result = run(verb, tmp_path / "none.csv", "--target", "y", option, "nonsense")
    assert result.exit_code == 2
    said = " ".join(result.output.replace("│", " ").split())
    allowed = NAMES[option][1:] if (verb, option) == ("compare", "--method") else NAMES[option]
    assert f"Invalid value for '{option}': 'nonsense' is not one of {', '.join(allowed)}." in said


@pytest.mark.parametrize(("verb", "names"), [("fit", "auto nor single nor cross"), ("compare", "single nor cross")])
def test_a_split_is_a_name_or_a_number_of_folds(verb, names, tmp_path):
    for wrong in ("nonsense", "2.5", "1", *(["auto"] if verb == "compare" else [])):
        result = run(verb, tmp_path / "none.csv", "--target", "y", "--split", wrong)
        assert result.exit_code == 2
        said = " ".join(result.output.replace("│", " ").split())
        assert f"Invalid value for '--split': '{wrong}' is neither {names} nor a whole number from 2 on." in said


@pytest.mark.parametrize("verb", ["fit", "compare"])
def test_the_tables_of_names_are_read_when_the_command_is(verb, table, monkeypatch):
    arguments = [verb, table, "--target", "diagnosis", "--method", "holdout", "--json"]
    assert run(*arguments, "--voters", "own").exit_code == 2
    monkeypatch.setitem(VOTERS, "own", Stumps)
    assert completed(f"certivote {verb} {table} --voters o") == ["own"]
    result = run(*arguments, "--voters", "own")
    assert result.exit_code == 0, result.output
    monkeypatch.setitem(METHODS, "mine", replace(METHODS["holdout"], name="mine"))
    assert completed(f"certivote {verb} {table} --method m") == ["mine"]
    result = run(
        verb,
        table,
        "--target",
        "diagnosis",
        "--method",
        "mine",
        "--voters",
        "forest",
        *(["--details"] if verb == "fit" else []),
    )
    assert result.exit_code == 0, result.output
    assert "mine" in result.output


@pytest.mark.parametrize("method", ["dis-b", "smv-mc"])
def test_the_family_is_passed_on(table, tmp_path, method):
    out = tmp_path / "c.json"
    common = [table, "--target", "diagnosis", "--voters", "stumps", "--family", "logistic-normal", "--method", method]
    for name in load_breast_cancer().feature_names[2:6]:  # few columns, few stumps
        common += ["--drop", name]
    common += ["--prior", 0.5]
    result = run("fit", *common, "--out", out)
    assert result.exit_code == 0, result.output
    part = Certificate.from_json(out.read_text()).deployed_part
    assert (part.family, len(part.alpha)) == ("logistic-normal", 2 * part.n_voters)
    assert run("verify", out).exit_code == 0
    result = run("compare", *common)
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("verb", ["fit", "compare"])
def test_a_family_that_does_not_go_with_the_method_ends_in_one_line(verb, table):
    result = run(
        *(verb, table, "--target", "diagnosis", "--voters", "stumps"),
        *("--family", "logistic-normal", "--method", "fo"),
    )
    assert result.exit_code == 1
    assert "--family: fo has no such option; it is for auto, dis-b, dis-r, dis-v, smv-mc." in result.output
    assert result.output.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--method", "dis-r", "--renyi-order", "2"), "--renyi-order: dis-r has no such option; it is for dis-v."),
        (
            ("--method", "so", "--n-draws", "3"),
            "--n-draws: so has no such option; it is for auto, dis-b, dis-r, dis-v.",
        ),
        (("--tau", "0.3"), "--tau: this is for --split cross."),
        (("--split", "3", "--train-share", "0.3"), "--train-share: this is for --split single and cross"),
    ],
)
def test_an_option_of_another_method_or_split_ends_in_one_line(options, said, table):
    result = run("fit", table, "--target", "diagnosis", *options)
    assert result.exit_code == 1
    assert said in result.output
    assert result.output.count("\n") == 1


def test_version():
    assert run("--version").output.startswith(f"certivote {__version__}")


def test_every_verb_has_a_line_of_help_and_examples():
    verbs = typer.main.get_command(app).commands
    assert {"fit", "predict", "compare", "verify", "bound", "datasets"} <= set(verbs)
    assert all(verb.get_short_help_str() for verb in verbs.values())
    assert all(f"certivote {name}" in (verb.epilog or "") for name, verb in verbs.items() if name != "datasets")


def test_every_option_is_explained():
    """Help is what docstrings say of parameters, so that one with another name would be lost."""
    verbs = typer.main.get_command(app).commands
    of_datasets = {f"datasets {name}": verb for name, verb in verbs.pop("datasets").commands.items()}
    for name, verb in {**verbs, **of_datasets}.items():
        unexplained = [option.name for option in verb.params if not option.help]
        assert (name, unexplained) == (name, [])
        assert "{names}" not in "".join(option.help for option in verb.params)
        assert "----" not in verb.help


def completed(line):
    """What the shell would be offered for the last word."""
    words = line.split(" ")
    asked = {"_CERTIVOTE_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    return CliRunner().invoke(app, [], env=asked, prog_name="certivote").output.split()


def test_the_shell_completes_verbs_and_columns(table, tmp_path):
    assert completed("certivote pre") == ["predict"]
    assert completed(f"certivote fit {table} --target diag") == ["diagnosis"]
    assert completed(f"certivote fit {table} --target diagnosis --drop diag") == ["diagnosis"]
    assert completed(f"certivote fit {tmp_path / 'none.csv'} --target d") == []
    (tmp_path / "odd.csv").write_text("day;\x1b[2Jdown\n1;2\n")
    assert completed(f"certivote fit {tmp_path / 'odd.csv'} --target ") == ["day"]
    os.mkfifo(tmp_path / "pipe.csv")
    assert completed(f"certivote fit {tmp_path / 'pipe.csv'} --target ") == []  # and does not wait for it
    assert "--install-completion" in run("--help").output


def test_json_for_programs(table, tmp_path):
    common = [table, "--target", "diagnosis", "--voters", "stumps", "--json"]
    result = run("fit", *common, "--method", "dis-r", "--out", tmp_path / "c.json")
    assert result.exit_code == 0
    assert json.loads(result.stdout) == json.loads((tmp_path / "c.json").read_text())
    assert "Certificate written" in result.stderr
    compared = json.loads(run("compare", *common, "--method", "dis-r", "--method", "fo").stdout)
    assert [row["method"] for row in compared["methods"]] == ["dis-r", "fo"]
    assert "on its own" in compared["note"]
    assert (len(compared["entropy"]), compared["fresh"]) == (4, True)
    verified = json.loads(run("verify", tmp_path / "c.json", "--json").stdout)
    assert verified["verified"]
    record = json.loads((tmp_path / "c.json").read_text())
    record["parts"][0]["statement"]["bound"] /= 2
    (tmp_path / "c.json").write_text(json.dumps(record))
    result = run("verify", tmp_path / "c.json", "--json")
    assert result.exit_code == 1
    assert not json.loads(result.stdout)["verified"]


def test_columns_can_be_left_out(table, tmp_path):
    lines = table.read_text().splitlines()
    path = tmp_path / "more.csv"
    path.write_text("\n".join(f"{'id' if not k else f'P{k}'},{line}" for k, line in enumerate(lines)))
    options = ["--target", "diagnosis", "--voters", "forest", "--method", "dis-b", "--json", "--seed", "0"]
    plain, dropped = run("fit", table, *options), run("fit", path, "--drop", "id", *options)
    records = [json.loads(result.stdout) for result in (plain, dropped)]
    sources = [record.pop("provenance") for record in records]
    assert records[0] == records[1]
    assert [source["source"] for source in sources] == ["cancer.csv", "more.csv"]
    assert [source["source_digest"] for source in sources] == [sha256(table), sha256(path)]
    assert [source["target"] for source in sources] == ["diagnosis"] * 2
    assert "did you mean 'id'" in run("fit", path, "--drop", "Id", *options).output
    assert "did you mean 'diagnosis'" in run("compare", path, "--target", "diagnoses").output


def test_a_table_with_words_dates_and_missing_values_is_fitted_and_compared(tmp_path):
    rng = np.random.default_rng(0)
    rows = []
    for k in range(200):
        town, ill = rng.choice(["Ulm", "Bonn", ""]), rng.random() < 0.5
        rows.append(f"{town},{'?' if k % 9 == 0 else k % 40 + 50 * ill},2024-01-{k % 28 + 1:02},{ill}")
    path = tmp_path / "people.csv"
    path.write_text("\n".join(["town,age,since,ill", *rows]))
    for verb in (["fit", "--method", "dis-b"], ["compare", "--method", "dis-r"]):
        for voters in ("forest", "stumps"):
            result = run(*verb, path, "--target", "ill", "--voters", voters)
            assert result.exit_code == 0, result.output


def test_python_m_runs_the_same_commands():
    done = subprocess.run([sys.executable, "-m", "certivote", "fit"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "certivote fit" in done.stderr
