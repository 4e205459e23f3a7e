"""``certivote monitor``: every outcome counts once, whatever happens, and the exit code tells of an alarm."""

import json
import os
import re

import numpy as np
import pandas as pd
import pytest
from cases import table
from typer.testing import CliRunner

from certivote import CertifiedVoteClassifier, DriftMonitor, Monitor, certify_predictions
from certivote.cli import app
from certivote.io import read_outcomes
from certivote.voters import ColumnEncoder, Preprocessed

ANSWERS = ("--truth", "outcome", "--predicted", "label")
HARMFUL = "<script>alert(1)</script>\x1b[31m\u202e"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A model of such cases, and the certificate of their answers."""
    folder = tmp_path_factory.mktemp("made")
    rows = table(600, 1)
    clf = CertifiedVoteClassifier("dis-b", Preprocessed(ColumnEncoder(), "forest"), random_state=0)
    clf.fit(rows[["a", "site"]], rows["outcome"].rename("outcome")).save(folder / "m.certivote")
    certificate = certify_predictions(rows["outcome"].tolist(), rows["label"].tolist())
    (folder / "c.json").write_text(certificate.to_json(), encoding="utf-8")
    return folder


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, (result.output, result.stderr, result.exception)
    return result


def watch(made, rows, state, *more, code=0, source="c.json"):
    """One run of the verb on some rows; what it said as JSON."""
    path = state.parent / "rows.csv"
    rows.to_csv(path, index=False)
    given = ["--predicted", "label"] if source == "c.json" else []
    result = run(
        "monitor", made / source, path, "--truth", "outcome", *given, "--state", state, "--json", *more, code=code
    )
    return json.loads(result.stdout)


def test_outcomes_are_counted_once_however_often_they_are_given(made, tmp_path):
    rows, state = table(300, 2), tmp_path / "s.json"
    first = watch(made, rows[:200], state)
    assert (first["given"], first["counted"], first["n"]) == (200, 200, 200)
    again = watch(made, rows[100:], state)
    assert (again["counted"], again["counted_before"], again["n"]) == (100, 100, 300)
    assert watch(made, rows.sample(frac=1, random_state=0), state)["n"] == 300
    wrong = int((rows["outcome"] != rows["label"]).sum())
    assert again["statements"][0]["errors"] == wrong
    known = Monitor.load(state)
    assert (known.n, known.total.repeated) == (300, 400)
    assert not known.alarm


def test_an_alarm_ends_with_a_code_of_its_own_then_and_later(made, tmp_path):
    state = tmp_path / "s.json"
    assert not watch(made, table(300, 2), state)["alarm"]
    found = watch(made, table(300, 3, noise=0.4), state, code=3)
    assert found["alarm"]
    assert 300 < found["statements"][0]["alarm_at"] <= 600
    assert watch(made, table(10, 4), state, code=3)["n"] == 610
    shown = run(
        "monitor",
        made / "c.json",
        tmp_path / "rows.csv",
        *ANSWERS,
        "--state",
        state,
        code=3,
    )
    assert "ALARM: the bound of" in shown.stdout
    assert "10 rows: 0 counted; 10 left out, as they were counted before." in shown.stdout
    assert "give --id" in shown.stdout
    quiet = run(
        "monitor",
        made / "c.json",
        tmp_path / "rows.csv",
        *ANSWERS,
        "--state",
        state,
        "-q",
        code=3,
    )
    assert quiet.output == ""


def test_rows_without_an_outcome_wait_for_it(made, tmp_path):
    rows, state = table(100, 5), tmp_path / "s.json"
    early = rows.copy()
    early.loc[40:, "outcome"] = None
    assert watch(made, early, state)["without_outcome"] == 60
    late = watch(made, rows, state)
    assert (late["counted"], late["counted_before"], late["n"]) == (60, 40, 100)
    unknown = rows.assign(outcome=None)
    assert watch(made, unknown, state)["n"] == 100


def test_ids_tell_rows_apart_that_are_equal(made, tmp_path):
    rows = pd.DataFrame({"case": ["1", "2", "3"], "outcome": ["ill"] * 3, "label": ["ill"] * 3})
    plain, named = tmp_path / "plain.json", tmp_path / "named.json"
    without = rows.drop(columns="case")
    assert watch(made, without, plain)["counted"] == 3  # three cases in one file
    assert watch(made, without, plain)["counted"] == 0  # and the same three in the next
    assert watch(made, rows, named, "--id", "case")["counted"] == 3
    assert watch(made, rows.assign(case=["3", "4", "4"]), named, "--id", "case")["counted"] == 1
    for state, more, words in ((plain, ["--id", "case"], "by their ids"), (named, [], "by their contents")):
        rows.to_csv(tmp_path / "rows.csv", index=False)
        result = run(
            "monitor",
            made / "c.json",
            tmp_path / "rows.csv",
            *ANSWERS,
            "--state",
            state,
            *more,
            code=1,
        )
        assert words in result.stderr
        assert Monitor.load(state).n in (3, 4)


def test_ids_are_compared_by_value(made, tmp_path):
    state, rows = tmp_path / "s.json", table(4, 2)
    found = []
    for ids in (["7", "8", "9", "A1"], ["7.0", "08", " 9", "A1 "], [" 7", "8.00", "+9", "A1"]):
        found.append(watch(made, rows.assign(case=ids), state, "--id", "case")["counted"])
    assert found == [4, 0, 0]
    commas = tmp_path / "commas.csv"
    rows.assign(case=["7,0", "8,0", "10,0", "A1"]).to_csv(commas, sep=";", decimal=",", index=False)
    given = ["--truth", "outcome", "--predicted", "label", "--id", "case", "--state", state, "--decimal", ",", "--json"]
    assert json.loads(run("monitor", made / "c.json", commas, *given).stdout)["counted"] == 1


def test_rows_that_differ_in_blanks_or_in_the_spelling_of_numbers_are_one(made, tmp_path):
    state, path = tmp_path / "s.json", tmp_path / "rows.csv"
    found = []
    for line in ("ill,ill,1,x", "ill,ill ,1,x", "ill, ill,1, x ", "ill,ill,1.0,x", "ill,ill,01,x", "ill,ill,2,x"):
        path.write_text(f"outcome,label,a,site\n{line}\n", encoding="utf-8")
        given = ["--truth", "outcome", "--predicted", "label", "--state", state, "--json"]
        found.append(json.loads(run("monitor", made / "c.json", path, *given).stdout)["counted"])
    assert found == [1, 0, 0, 0, 0, 1]


def test_a_separator_at_the_end_of_every_line_makes_no_other_row(made, tmp_path):
    state, path = tmp_path / "s.json", tmp_path / "rows.csv"
    found = []
    for end in ("", ",", ",,"):
        path.write_text("".join(f"{line}{end}\n" for line in ("outcome,label,a", "ill,ill,1", "well,ill,2")), "utf-8")
        given = ["--truth", "outcome", "--predicted", "label", "--state", state, "--json"]
        found.append(json.loads(run("monitor", made / "c.json", path, *given).stdout)["counted"])
    assert found == [2, 0, 0]


def test_the_order_of_columns_and_the_way_of_quoting_make_no_other_row(made, tmp_path):
    rows, state = table(50, 6), tmp_path / "s.json"
    watch(made, rows, state)
    (tmp_path / "other.csv").write_text(rows[rows.columns[::-1]].to_csv(index=False, sep=";", quoting=1), "utf-8")
    result = run(
        "monitor",
        made / "c.json",
        tmp_path / "other.csv",
        *ANSWERS,
        "--state",
        state,
        "--json",
    )
    assert json.loads(result.stdout)["counted"] == 0


def test_the_model_answers_the_rows_itself(made, tmp_path):
    rows = table(300, 7)
    found = watch(made, rows, tmp_path / "s.json", source="m.certivote")
    from certivote import load

    answers = load(made / "m.certivote").predict(read_outcomes(tmp_path / "rows.csv", features=["a", "site"]).X)
    assert found["statements"][0]["errors"] == int((answers != rows["outcome"]).sum())
    recorded = watch(made, rows, tmp_path / "t.json", "--predicted", "label", source="m.certivote")
    assert recorded["statements"][0]["errors"] == int((rows["label"] != rows["outcome"]).sum())


def test_a_single_wrong_outcome_is_no_wrong_file(made, tmp_path):
    rows = table(300, 8)
    wrong = rows[rows["outcome"] != rows["label"]]
    assert watch(made, wrong[:1], tmp_path / "s.json")["counted"] == 1


def test_classes_are_compared_by_value_and_unknown_ones_count_as_errors(tmp_path):
    certificate = certify_predictions([0, 1] * 100, [0, 1] * 100)
    (tmp_path / "c.json").write_text(certificate.to_json(), encoding="utf-8")
    rows = pd.DataFrame({"outcome": ["1.0", "0", HARMFUL], "label": ["1", "0.0", "1"]})
    found = watch(tmp_path, rows, tmp_path / "s.json")
    assert found["statements"][0]["errors"] == 1
    result = run(
        "monitor",
        tmp_path / "c.json",
        tmp_path / "rows.csv",
        *ANSWERS,
        "--state",
        tmp_path / "t.json",
    )
    assert "1 outcome of classes that the certificate does not know" in result.stderr
    assert "\x1b" not in result.output
    assert "\u202e" not in result.output


def test_without_labels_it_says_whether_rows_look_different(made, tmp_path):
    state = tmp_path / "d.json"
    DriftMonitor(made / "m.certivote", random_state=0).save(state)  # a fresh seed may raise a false alarm
    table(400, 9).to_csv(tmp_path / "same.csv", index=False)
    near = table(400, 10).assign(site="s")  # cases of which the vote is less sure
    near["a"] = (0.3 + 0.05 * near["a"]).round(6)
    near.to_csv(tmp_path / "other.csv", index=False)
    same = run("monitor", made / "m.certivote", tmp_path / "same.csv", "--state", state)
    assert "no alarm" in same.stdout
    assert f"(seed {DriftMonitor.load(state, made / 'm.certivote').seed})" in same.stdout + same.stderr
    found = json.loads(run("monitor", made / "m.certivote", tmp_path / "same.csv", "--state", state, "--json").stdout)
    assert (found["counted"], found["n"], found["alarm"]) == (0, 400, False)
    other = run(
        "monitor",
        made / "m.certivote",
        tmp_path / "other.csv",
        "--state",
        state,
        "--report",
        tmp_path / "d.html",
        code=3,
    )
    assert "the rows look different" in other.stdout
    assert "It does not say that the error has grown" in other.stdout
    page = (tmp_path / "d.html").read_text(encoding="utf-8")
    assert "never that the error has grown" in page
    assert DriftMonitor.load(state, made / "m.certivote").n == 800


def test_entities_are_counted_instead_of_their_rows(tmp_path):
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(100), 3)
    truth = rng.choice(["ill", "well"], 300)
    certificate = certify_predictions(truth, truth, groups=pd.Series(groups, name="patient"))
    (tmp_path / "c.json").write_text(certificate.to_json(), encoding="utf-8")
    rows = pd.DataFrame({"patient": groups + 1000, "visit": np.arange(300), "outcome": truth, "label": truth})
    found = watch(tmp_path, rows, tmp_path / "s.json")
    assert (found["n"], found["counted"]) == (100, 300)
    more = rows[:3].assign(visit=[900, 901, 902])
    assert watch(tmp_path, more, tmp_path / "s.json")["of_known_entities"] == 3
    rows.rename(columns={"patient": "who"}).to_csv(tmp_path / "rows.csv", index=False)
    command = ["monitor", tmp_path / "c.json", tmp_path / "rows.csv", *ANSWERS]
    assert (
        "--group: the certificate is about entities, by 'patient'"
        in run(*command, "--state", tmp_path / "t.json", code=1).stderr
    )
    assert json.loads(run(*command, "--state", tmp_path / "t.json", "--group", "who", "--json").stdout)["n"] == 100


def test_rows_that_made_the_model_are_refused(made, tmp_path):
    table(600, 1).to_csv(tmp_path / "old.csv", index=False)
    command = [
        "monitor",
        made / "m.certivote",
        tmp_path / "old.csv",
        "--truth",
        "outcome",
        "--state",
        tmp_path / "s.json",
    ]
    assert "has rows that the model was made from: of 600 rows, about 300 trained" in run(*command, code=1).stderr
    assert not (tmp_path / "s.json").exists()


# What is refused ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["c.json", "--truth", "outcome"], "--predicted: a certificate cannot answer the rows"),
        (["c.json"], "without --truth the model itself looks at the rows"),
        (["m.certivote", "--predicted", "label"], "--predicted: give --truth"),
        (["m.certivote", "--watch", "all"], "--watch: give --truth"),
        (
            ["c.json", *ANSWERS, "--group", "case"],
            "--group: the certificate is about single rows",
        ),
        (
            ["c.json", "--truth", "outcome", "--predicted", "outcome"],
            "cannot be for two purposes: true classes, answers",
        ),
        (["c.json", "--truth", "Outcome", "--predicted", "label"], "did you mean 'outcome'?"),
        (["c.json", "--truth", "outcome", "--predicted", "a"], "y_pred has the label"),
        (
            ["c.json", *ANSWERS, "--watch", "nonsense"],
            "which the certificate does not promise",
        ),
        (["c.json", *ANSWERS, "--title", "T"], "--title: give --report"),
    ],
)
def test_what_does_not_go_together_is_refused_and_nothing_is_written(made, tmp_path, arguments, words):
    table(50, 2).to_csv(tmp_path / "rows.csv", index=False)
    source, *rest = arguments
    result = run("monitor", made / source, tmp_path / "rows.csv", *rest, "--state", tmp_path / "s.json", code=1)
    assert words in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "s.json").exists()


def test_the_state_of_another_certificate_is_refused_in_one_sentence(made, tmp_path):
    state = tmp_path / "s.json"
    watch(made, table(50, 2), state)
    before = state.read_bytes()
    result = run("monitor", made / "m.certivote", tmp_path / "rows.csv", "--truth", "outcome", "--state", state, code=1)
    assert "is the state of another certificate" in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    other = run("monitor", made / "m.certivote", tmp_path / "rows.csv", "--state", state, code=1)
    assert "another kind of monitor" in other.stderr
    alpha = run(
        "monitor",
        made / "c.json",
        tmp_path / "rows.csv",
        *ANSWERS,
        "--state",
        state,
        "--alpha",
        "0.1",
        code=1,
    )
    assert "was begun with alpha=0.01" in alpha.stderr
    assert state.read_bytes() == before


@pytest.mark.parametrize("content", ["", "{}", "[" * 100_000, '{"format": "\\u001b[2J"}', "\x1b[2J", "null", "1e999"])
def test_a_file_that_is_no_state_is_refused_and_kept(made, tmp_path, content):
    state = tmp_path / "s.json"
    state.write_text(content, encoding="utf-8")
    table(50, 2).to_csv(tmp_path / "rows.csv", index=False)
    result = run(
        "monitor",
        made / "c.json",
        tmp_path / "rows.csv",
        *ANSWERS,
        "--state",
        state,
        code=1,
    )
    assert "is not the state of a monitor" in result.stderr
    assert "\x1b" not in result.output
    assert state.read_text(encoding="utf-8") == content


def test_results_replace_nothing_that_is_read(made, tmp_path):
    table(50, 2).to_csv(tmp_path / "rows.csv", index=False)
    base = ["monitor", made / "c.json", tmp_path / "rows.csv", *ANSWERS]
    assert "is what DATA reads" in run(*base, "--state", tmp_path / "rows.csv", code=1).stderr
    same = run(*base, "--state", tmp_path / "s.json", "--report", tmp_path / "s.json", code=1)
    assert "are one file" in same.stderr
    assert "give the name of a file" in run(*base, "--state", "-", code=1).stderr


# Malicious names ------------------------------------------------------------------------------------------------------


def test_no_name_steers_the_terminal_the_page_or_the_metrics(tmp_path):
    labels = [HARMFUL, 'a"b\\c\nd', "plain"]
    truth = np.array(labels * 60, dtype=object)
    certificate = certify_predictions(truth.tolist(), truth.tolist())
    (tmp_path / "c.json").write_text(certificate.to_json(), encoding="utf-8")
    rows = pd.DataFrame({"outcome": truth, "label": np.roll(truth, 1)})
    rows.to_csv(tmp_path / "rows.csv", index=False)
    result = run(
        "monitor",
        tmp_path / "c.json",
        tmp_path / "rows.csv",
        *ANSWERS,
        "--state",
        tmp_path / "s.json",
        "--report",
        tmp_path / "m.html",
        "--metrics",
        tmp_path / "m.prom",
        "--title",
        HARMFUL,
        code=3,
    )
    page = (tmp_path / "m.html").read_text(encoding="utf-8")
    assert "<script" not in page
    metrics = (tmp_path / "m.prom").read_text(encoding="utf-8")
    for text in (result.output, page, metrics):
        assert {c for c in text if not c.isprintable()} <= {"\n", "\u00a0"}
    label = re.compile(r'[a-z]+="(?:[^"\\\n]|\\\\|\\"|\\n)*"')
    line = re.compile(rf"certivote_[a-z_]+\{{{label.pattern}(?:,{label.pattern})*\}} (?:[+-]Inf|[-+.e0-9]+)")
    for each in metrics.splitlines():
        assert each.startswith(("# HELP certivote_", "# TYPE certivote_")) or line.fullmatch(each), each


def test_metrics_have_each_series_once_with_its_type(made, tmp_path):
    watch(made, table(300, 2), tmp_path / "s.json", "--metrics", tmp_path / "m.prom")
    lines = (tmp_path / "m.prom").read_text(encoding="utf-8").splitlines()
    series = [line.rpartition(" ")[0] for line in lines if not line.startswith("#")]
    assert len(set(series)) == len(series)
    types = {line.split()[2]: line.split()[3] for line in lines if line.startswith("# TYPE")}
    for name in series:
        assert name.split("{")[0] in types
    assert all((kind == "counter") == name.endswith("_total") for name, kind in types.items())
    values = {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if not line.startswith("#")}
    known = Monitor.load(tmp_path / "s.json")
    (outcomes,) = [value for name, value in values.items() if "outcomes_total" in name and 'number="0"' in name]
    (limit,) = [value for name, value in values.items() if "error_limit" in name and 'number="0"' in name]
    assert (outcomes, limit) == (known.n, known.error_limit)
    printed = run(
        "monitor",
        made / "c.json",
        tmp_path / "rows.csv",
        *ANSWERS,
        "--state",
        tmp_path / "s.json",
        "--metrics",
        "-",
        "-q",
    )
    assert printed.stdout.startswith("# HELP certivote_outcomes_total")


def test_results_are_written_whole_or_not_at_all(made, tmp_path):
    rows = table(50, 2)
    watch(made, rows, tmp_path / "s.json", "--report", tmp_path / "m.html", "--metrics", tmp_path / "m.prom")
    left = {name for name in os.listdir(tmp_path) if name not in ("rows.csv", "s.json.lock")}
    assert left == {"s.json", "m.html", "m.prom"}
