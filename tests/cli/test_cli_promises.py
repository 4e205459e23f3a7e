"""Promises beside the bound on the command line: fit, certify, predict and verify."""

import io
import json
import re

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from certivote import Certificate, load
from certivote.cli import app

FIT = ["--target", "outcome", "--method", "holdout", "--voters", "forest"]
SAYING = ["--truth", "outcome", "--predicted", "label"]
EVERYTHING = [
    *["--abstain", "0.2", "--abstain-curve", "4", "--precision", "--sensitivity", "0.8", "--positive", "ill"],
    *["--by", "sex", "--by", "sex, site", "--by", "age", "--sets", "0.8"],
]


def run(*arguments, **settings):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], **settings)


def people(n, seed):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": rng.integers(20, 90, n),
            "sex": rng.choice(["f", "m"], n),
            "site": rng.choice(["north", "south"], n),
            "marker": rng.normal(size=n).round(2),
        }
    )
    sure = table["marker"] + table["age"] / 50 - 1.5
    table["outcome"] = np.where(sure + 0.2 * rng.normal(size=n) > 0, "ill", "well")
    table["label"], table["sureness"] = np.where(sure > 0, "ill", "well"), abs(sure).round(4)
    return table


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table, costs, answers of a model, and what ``fit`` and ``certify`` make of them."""
    folder = tmp_path_factory.mktemp("promises")
    table = people(400, 0)
    table.drop(columns=["label", "sureness"]).to_csv(folder / "people.csv", index=False)
    table.to_csv(folder / "answers.csv", index=False)
    people(30, 1).drop(columns=["outcome", "label", "sureness"]).to_csv(folder / "new.csv", index=False)
    (folder / "costs.csv").write_text("true,answered,cost\nill,well,20\nwell,ill,1\n")
    files = ["--out", folder / "fit.json", "--model", folder / "fit.certivote"]
    result = run("fit", folder / "people.csv", *FIT, *EVERYTHING, "--costs", folder / "costs.csv", "--together", *files)
    assert result.exit_code == 0, result.output
    options = ["--score", "sureness", "--abstain", "0.1", "--precision", "--by", "sex", "--by", "age"]
    result = run("certify", folder / "answers.csv", *SAYING, *options, "--out", folder / "answers.json")
    assert result.exit_code == 0, result.output
    return folder


def record(folder, name):
    return Certificate.from_json((folder / name).read_text())


def test_options_are_promises(folder):
    certificate = record(folder, "fit.json")
    asked = [
        (promise.name, {name: json.loads(value) for name, value in promise.parameters})
        for promise in certificate.promises
    ]
    assert asked == [
        ("by class", {}),
        ("abstention", {"max_error": 0.2, "curve": None}),
        ("abstention", {"max_error": None, "curve": 4}),
        ("precision", {}),
        ("sensitivity", {"at_least": 0.8, "label": "ill"}),
        ("subgroups", {"columns": ["sex", ["sex", "site"], "age"], "bins": 4}),
        ("costs", {"costs": [["ill", "well", 20.0], ["well", "ill", 1.0]]}),
        ("sets", {"coverage": 0.8, "by_class": False}),
    ]
    assert certificate.together
    assert not record(folder, "answers.json").together


def test_predict_writes_what_the_promises_decide(folder):
    result = run("predict", folder / "fit.certivote", folder / "new.csv", "--max-error", "0.3")
    assert result.exit_code == 0, result.output
    written = pd.read_csv(io.StringIO(result.stdout))
    clf, new = load(folder / "fit.certivote"), pd.read_csv(folder / "new.csv")
    assert list(written.columns[-4:]) == ["certivote_mass", "certivote_answers", "certivote_flagged", "certivote_set"]
    np.testing.assert_array_equal(written["certivote_answers"], clf.answers(new, 0.3))
    np.testing.assert_array_equal(written["certivote_flagged"], clf.flags(new))
    sets = [written["certivote_set"].str.split("|").map(lambda each, c=c: c in each) for c in ("ill", "well")]
    np.testing.assert_array_equal(np.stack(sets, axis=1), clf.predict_sets(new))
    assert 0 < written["certivote_flagged"].sum() < len(new)


def test_predict_says_what_it_lacks_for_a_curve(folder):
    result = run("predict", folder / "fit.certivote", folder / "new.csv", "-o", folder / "out.csv")
    assert "give --max-error to see which rows are answered" in result.stderr
    clf, new = load(folder / "fit.certivote"), pd.read_csv(folder / "new.csv")
    written = pd.read_csv(folder / "out.csv")
    np.testing.assert_array_equal(written["certivote_answers"], clf.answers(new, 0.2))


def test_predict_without_a_promise_has_no_such_column(folder, tmp_path):
    result = run("fit", folder / "people.csv", *FIT, "--precision", "--model", tmp_path / "plain.certivote")
    assert result.exit_code == 0, result.output
    result = run("predict", tmp_path / "plain.certivote", folder / "new.csv")
    assert result.stdout.splitlines()[0].endswith("certivote_label,certivote_mass")
    result = run("predict", tmp_path / "plain.certivote", folder / "new.csv", "--max-error", "0.1")
    assert (result.exit_code, "fitted with --abstain-curve" in result.stderr) == (1, True)


def test_nothing_certified_is_said_and_never_answered(folder, tmp_path):
    hard = ["--abstain", "0.0001", "--sensitivity", "0.9999", "--positive", "ill", "--model", tmp_path / "m.certivote"]
    assert run("fit", folder / "people.csv", *FIT, *hard).exit_code == 0
    result = run("predict", tmp_path / "m.certivote", folder / "new.csv")
    written = pd.read_csv(io.StringIO(result.stdout))
    assert not written["certivote_answers"].any()
    assert written["certivote_flagged"].all()
    assert "certivote_answers is False everywhere" in result.stderr
    assert "certivote_flagged is True everywhere" in result.stderr


def test_verify_counts_again(folder):
    result = run("verify", folder / "fit.certivote", "--data", folder / "people.csv")
    assert result.exit_code == 0, result.output
    result = run(
        "verify", folder / "answers.json", "--data", folder / "answers.csv", "--score", "sureness", "--details"
    )
    assert result.exit_code == 0, result.output
    for name in ("abstention", "precision", "subgroups"):
        assert f"ok    {name}, counted" in result.stdout


def test_verify_names_the_option_that_would_show_more(folder):
    result = run("verify", folder / "answers.json", "--data", folder / "answers.csv")
    assert result.exit_code == 0, result.output
    (line,) = [line for line in result.stdout.splitlines() if line.startswith("TRUST abstention")]
    assert "--score" in line
    assert "=," not in result.stdout
    assert "training=" not in result.stdout


def test_verify_finds_other_scores_and_other_groups(folder, tmp_path):
    table = pd.read_csv(folder / "answers.csv")
    for name, change in {"sureness": table["sureness"][::-1].to_numpy(), "sex": table["sex"].replace("f", "m")}.items():
        table.assign(**{name: change}).to_csv(tmp_path / "other.csv", index=False)
        result = run("verify", folder / "answers.json", "--data", tmp_path / "other.csv", "--score", "sureness")
        failed = [line for line in result.stdout.splitlines() if line.startswith("FAIL")]
        assert any(("abstention" if name == "sureness" else "subgroups") in line for line in failed), failed


def test_the_page_tells_how_to_verify_with_scores(folder, tmp_path):
    options = ["--score", "sureness", "--abstain", "0.1", "--report", tmp_path / "report.html"]
    result = run("certify", folder / "answers.csv", *SAYING, *options, "--quiet")
    assert result.exit_code == 0, result.output
    page = re.sub("<[^>]+>", "", (tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "--predicted label --score sureness" in page


def test_a_given_model_is_asked_how_sure_it_is(folder, tmp_path):
    people(200, 2).to_csv(tmp_path / "later.csv", index=False)
    options = ["--truth", "outcome", "--model", folder / "fit.certivote", "--sensitivity", "0.8", "--positive", "ill"]
    out = tmp_path / "given.json"
    result = run("certify", tmp_path / "later.csv", *options, "--abstain", "0.3", "--by", "site", "--out", out)
    assert result.exit_code == 0, result.output
    names = [promise.name for promise in record(tmp_path, "given.json").promises]
    assert names == ["by class", "abstention", "sensitivity", "subgroups"]
    arguments = ["verify", out, "--model", folder / "fit.certivote", "--data", tmp_path / "later.csv"]
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    assert "--score" in run(*arguments, "--score", "sureness").stderr


def test_a_column_whose_name_has_a_comma(folder, tmp_path):
    table = pd.read_csv(folder / "answers.csv").rename(columns={"site": "sex,site"})
    table.to_csv(tmp_path / "comma.csv", index=False)
    result = run("certify", tmp_path / "comma.csv", *SAYING, "--by", "sex,site", "--out", tmp_path / "comma.json")
    assert result.exit_code == 0, result.output
    assert record(tmp_path, "comma.json").promises[1].fixed[0].what == "sex,site"


FIT_WRONG = {
    "target": (["--by", "outcome"], "--by: 'outcome' holds the classes"),
    "dropped": (["--drop", "sex", "--by", "sex"], "--by: 'sex' is dropped"),
    "group": (["--group", "site", "--by", "site"], "--by: 'site' is not a feature"),
    "absent": (["--by", "sex,sight"], "there is no column 'sight'; did you mean 'site'?"),
    "twice": (["--by", "sex", "--by", "sex"], "--by: 'sex' has a column twice"),
    "which": (["--sensitivity", "0.9"], "--positive: name the class that is to be found, 'ill' or 'well'."),
    "alone": (["--positive", "ill"], "--positive: give --sensitivity with it"),
    "method": (["--method", "fo", "--precision"], "promises are about the answers of one vote"),
}
CERTIFY_WRONG = {
    "no score": (["--abstain", "0.1"], "--abstain: give --score with it"),
    "no masses": (["--sets", "0.9"], "--sets: answers alone do not say what stands behind each class"),
    "in vain": (["--score", "sureness"], "--score: give --abstain or --abstain-curve with it"),
    "no number": (["--score", "site", "--abstain", "0.1"], "line 2: the score 'site' holds '"),
    "two purposes": (["--score", "label", "--abstain", "0.1"], "cannot be the column of answers and the column of"),
    "two models": (["--predicted", "sex", "--score", "age", "--abstain", "0.1"], "--predicted names 2"),
    "answers": (["--by", "label"], "--by: 'label' holds answers"),
    "truth": (["--by", "outcome"], "--by: 'outcome' holds the true classes"),
}


@pytest.mark.parametrize(("options", "message"), FIT_WRONG.values(), ids=FIT_WRONG)
def test_fit_refuses_in_one_line(folder, options, message):
    result = run("fit", folder / "people.csv", *FIT, *options)
    assert result.exit_code == 1
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(("options", "message"), CERTIFY_WRONG.values(), ids=CERTIFY_WRONG)
def test_certify_refuses_in_one_line(folder, options, message):
    result = run("certify", folder / "answers.csv", *SAYING, *options)
    assert result.exit_code == 1
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "true,answered,cost\nill,well,20\nwell,ill,dear\n",
            "line 3: the cost 'cost' holds 'dear', which is no number",
        ),
        ("true,answered,cost\nill,well,20\nill,well,2\n", "line 3: the cost of answering 'well' for 'ill' is there"),
        ("true,answered,cost\nill,well,-20\nwell,ill,1\n", "line 2: the cost is -20; costs are 0 or more"),
        ("true,answered,cost\nill,,20\nwell,ill,1\n", "line 2: the class 'answered' is empty"),
        ("True,answered,cost\nill,well,20\nwell,ill,1\n", "there is no column 'true'; did you mean 'True'?"),
        ("true,answered,cost\nill,well,20\n", "costs has no cost for (well, ill)"),
        ("true,answered,cost\nill,well,20\nwell,sick,1\n", "costs has the label 'sick'"),
        ("", "the file is empty"),
    ],
)
def test_costs_are_refused_with_the_line(folder, tmp_path, text, message):
    (tmp_path / "costs.csv").write_text(text)
    result = run("fit", folder / "people.csv", *FIT, "--costs", tmp_path / "costs.csv")
    assert result.exit_code == 1
    assert "--costs" in result.stderr
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_costs_may_be_written_as_a_spreadsheet_does(folder, tmp_path):
    (tmp_path / "costs.csv").write_text("\ufefftrue;answered;cost\r\nill;well;20,5\r\nwell;ill;1\r\n", encoding="utf-8")
    table = pd.read_csv(folder / "answers.csv")
    table.to_csv(tmp_path / "answers.csv", index=False, sep=";", decimal=",")
    options = ["--costs", tmp_path / "costs.csv", "--decimal", ",", "--out", "-"]
    result = run("certify", tmp_path / "answers.csv", *SAYING, *options)
    assert result.exit_code == 0, result.output
    made = Certificate.from_json(result.stdout).promises[1]
    assert json.loads(dict(made.parameters)["costs"]) == [["ill", "well", 20.5], ["well", "ill", 1.0]]


@pytest.mark.parametrize(
    "option", [["--abstain", "2"], ["--sets", "nan"], ["--abstain-curve", "1"], ["--sensitivity", "x"]]
)
def test_numbers_out_of_range_are_wrong_usage(folder, option):
    assert run("fit", folder / "people.csv", *FIT, *option).exit_code == 2


def test_only_one_table_comes_through_a_pipe(folder):
    result = run("fit", "-", *FIT, "--costs", "-", input=b"")
    assert (result.exit_code, "--costs: standard input is the table already" in result.stderr) == (1, True)


def test_columns_that_cannot_be_read_are_no_obstacle_but_for_those_that_are_asked_for(folder, tmp_path):
    table = pd.read_csv(folder / "answers.csv")
    table["marker"] = table["marker"].replace(table["marker"].iloc[0], np.inf)
    table.to_csv(tmp_path / "odd.csv", index=False)
    result = run("certify", tmp_path / "odd.csv", *SAYING, "--by", "sex")
    assert result.exit_code == 0, result.output
    assert "was not looked for in the other columns" in result.stderr
    result = run("certify", tmp_path / "odd.csv", *SAYING, "--by", "marker")
    assert (result.exit_code, "only finite numbers" in result.stderr) == (1, True)


def test_the_help_has_the_promises_in_both_verbs_and_not_in_compare():
    for verb, has in {"fit": True, "certify": True, "compare": False}.items():
        text = run(verb, "--help", env={"COLUMNS": "120", "NO_COLOR": "1"}).stdout
        for option in ("--abstain", "--precision", "--sensitivity", "--by", "--costs", "--sets", "--together"):
            assert (option in text) == has, (verb, option)
