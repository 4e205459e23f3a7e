import csv
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import RandomForestClassifier
from typer.testing import CliRunner

from certivote import Certificate, CertifiedVoteClassifier, compare
from certivote.certificate import percent_up
from certivote.cli import app
from certivote.methods import CBound, DisR, DisV, SecondOrder
from certivote.present import comparison_text
from certivote.splits import Cross
from certivote.theory.methods import METHODS
from certivote.voters import Forest

COLUMNS = ["certified", "bound", "empirical risk", "penalty", "seconds"]
NOT_FREE = "Picking the smallest of the {} afterwards is not free"


@cache
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return X[:300], y[:300]


def small():
    return {"voters": Forest(RandomForestClassifier(n_estimators=7)), "random_state": 3}


@cache
def everything():
    return compare(*cancer(), **small())


def certificates_of(table):
    return {name: Certificate.from_json(text) for name, text in table.attrs["certificates"].items()}


class CountedForest(Forest):
    """A forest that counts how often it is fitted and how often it votes."""

    fitted = 0
    voted = 0

    def fit(self, X, y, classes, rng):
        CountedForest.fitted += 1
        learned = super().fit(X, y, classes, rng)
        vote = learned.votes

        def votes(X):
            CountedForest.voted += 1
            return vote(X)

        object.__setattr__(learned, "votes", votes)  # it is frozen
        return learned


@pytest.fixture
def counted_forest(monkeypatch):
    monkeypatch.setattr(CountedForest, "fitted", 0)
    monkeypatch.setattr(CountedForest, "voted", 0)
    return CountedForest(RandomForestClassifier(n_estimators=5))


def test_a_comparison_is_a_frame_with_a_row_for_each_method():
    table = everything()
    assert isinstance(table, pd.DataFrame)
    assert table.index.name == "method"
    assert table.index.tolist() == list(METHODS)
    assert table.columns.tolist() == COLUMNS
    assert list(table.attrs["certificates"]) == list(METHODS)
    for name, certificate in certificates_of(table).items():
        (part,) = certificate.parts
        expected = [METHODS[name].predictor.name, certificate.bound, part.risks[0], part.penalty]
        assert table.loc[name, COLUMNS[:4]].tolist() == expected
    assert np.all(table["seconds"] > 0)


def test_methods_come_in_the_order_they_were_asked_for():
    table = compare(*cancer(), methods=["holdout", "fo", "dis-r"], **small())
    assert table.index.tolist() == ["holdout", "fo", "dis-r"]


@pytest.mark.parametrize("method", METHODS)
def test_certificates_are_those_of_separate_fits(method):
    clf = CertifiedVoteClassifier(method, **small()).fit(*cancer())
    assert certificates_of(everything())[method] == clf.certificate_


def test_parameters_reach_every_fit():
    parameters = small() | {
        "split": Cross(tau=0.3, train_share=0.4),
        "loss": "half-weight",
        "delta": 0.1,
        "prior": 0.2,
    }
    methods = [DisV(order=2.0, solver="adam"), SecondOrder(solver="adam"), CBound(solver="adam")]
    certificates = certificates_of(compare(*cancer(), methods, **parameters))
    for method, certificate in zip(methods, certificates.values(), strict=True):
        assert certificate == CertifiedVoteClassifier(method, **parameters).fit(*cancer()).certificate_
        assert (certificate.delta, certificate.average_weights, certificate.solver) == (0.1, (0.3, 0.7), "adam")


def test_rows_of_a_cross_split_are_about_the_deployed_vote():
    deployed = set()
    for seed in range(10):
        parameters = small() | {"split": "cross", "random_state": seed}
        table = compare(*cancer(), ["so"], **parameters)
        assert table.index.tolist() == ["so"]
        certificate = certificates_of(table)["so"]
        part = certificate.parts[certificate.deployed]
        expected = [part.bound, part.risks[0], part.penalty]
        assert table.loc["so", ["bound", "empirical risk", "penalty"]].tolist() == expected
        deployed.add(certificate.deployed)
    assert deployed == {0, 1}


def test_the_order_of_methods_does_not_change_them():
    alone = certificates_of(compare(*cancer(), ["smv-mc"], **small()))["smv-mc"]
    assert alone == certificates_of(everything())["smv-mc"]


@pytest.mark.parametrize(("split", "folds"), [("single", 1), ("cross", 2)])
def test_voters_are_fitted_once(counted_forest, split, folds):
    table = compare(*cancer(), voters=counted_forest, split=split, prior=0.5, random_state=0)
    assert len(table) == len(METHODS) == 10
    assert CountedForest.fitted == folds
    assert CountedForest.voted == folds


@pytest.mark.parametrize("methods", [["dis-r", "fo", "holdout", "c-bound"], None])
def test_a_joint_comparison_divides_delta(methods):
    common = {**small(), "prior": 0.5}
    table = compare(*cancer(), methods, joint=True, delta=0.08, **common)
    count = 4 if methods else 10
    assert len(table) == count
    note, certificates = table.attrs["note"], certificates_of(table)
    assert len(certificates) == count
    for name, certificate in certificates.items():
        assert certificate.delta == 0.08 / count
        if methods or name in ("dis-b", "smv-exact"):
            alone = CertifiedVoteClassifier(name, delta=0.08 / count, **common).fit(*cancer())
            assert certificate == alone.certificate_
    assert f"With probability at least 0.92, all {count} bounds hold together" in note
    assert f"delta = 0.08/{count}" in note
    assert "any of them may be picked" in note
    assert "not free" not in note


def test_joint_bounds_are_never_smaller():
    joint = compare(*cancer(), methods=["fo", "so", "holdout"], joint=True, **small())
    for name in joint.index:
        assert joint.loc[name, "bound"] > certificates_of(everything())[name].bound


def test_without_joint_the_note_says_that_picking_is_not_free():
    note = everything().attrs["note"]
    assert "Each bound holds on its own with probability at least 0.95." in note
    assert NOT_FREE.format(10) in note
    assert "joint=True" in note
    assert "may be picked" not in note
    assert all(certificate.delta == 0.05 for certificate in certificates_of(everything()).values())


def test_a_comparison_prints_as_a_table():
    table = compare(*cancer(), ["dis-r", "smv-exact", "holdout"], **small())
    assert table.index.tolist() == ["dis-r", "smv-exact", "holdout"]
    lines = comparison_text(table).splitlines()
    assert lines[0].split("  ")[0].strip() == "method"
    assert all(column in lines[0] for column in COLUMNS)
    for line, (name, row) in zip(lines[1:4], table.iterrows(), strict=True):
        assert line.startswith(name)
        starts = [lines[0].index(column) for column in COLUMNS]
        cells = [line[a:b].strip() for a, b in zip(starts, [*starts[1:], None], strict=True)]
        assert cells[:2] == [row["certified"], percent_up(row["bound"])]
        assert cells[2] == f"{100 * row['empirical risk']:.2f} %"
        assert cells[3] == f"{row['penalty']:.2f}"
    assert lines[4] == ""
    assert lines[5].startswith("Always answering '0' is certified at most ")
    assert lines[6:] == ["", f"Made with seed {table.attrs['entropy'][0]}.", "", table.attrs["note"]]


def test_vacuous_bounds_are_marked_in_the_table():
    X, _ = cancer()
    y = np.random.default_rng(0).integers(0, 2, len(X))
    table = compare(X, y, ["so", "holdout"], **small())
    lines = comparison_text(table).splitlines()
    assert table.loc["so", "bound"] > 1
    assert f"{percent_up(table.loc['so', 'bound'])} (vacuous)" in lines[1]
    assert "(vacuous)" not in lines[2]


@pytest.mark.parametrize("methods", [["dis-r", "sorcery"], ["DIS-R"], ["sorcery"]])
def test_unknown_methods_are_refused_with_the_list_of_names(methods):
    with pytest.raises(ValueError, match=r"Unknown method '(sorcery|DIS-R)'; there are") as error:
        compare(*cancer(), methods=methods, **small())
    assert all(name in str(error.value) for name in METHODS)


def test_unknown_methods_are_refused_before_any_work(counted_forest):
    with pytest.raises(ValueError, match="Unknown method"):
        compare(*cancer(), methods=["fo", "sorcery"], voters=counted_forest)
    assert CountedForest.fitted == 0


def test_bad_parameters_are_refused_before_any_work(counted_forest):
    with pytest.raises(ValueError, match="'delta' parameter"):
        compare(*cancer(), voters=counted_forest, delta=2.0)
    assert CountedForest.fitted == 0


def test_more_than_two_classes_leave_the_c_bound_out():
    table = compare(*load_iris(return_X_y=True), **small())
    assert table.index.tolist() == [name for name in METHODS if name != "c-bound"]
    assert NOT_FREE.format(9) in table.attrs["note"]


def test_the_c_bound_of_more_than_two_classes_is_refused_when_asked_for():
    with pytest.raises(ValueError, match="method='c-bound' is for two classes, and y has 3"):
        compare(*load_iris(return_X_y=True), methods=["fo", "c-bound"], **small())


# --- The command line.


def run(*arguments):
    return CliRunner().invoke(app, ["compare", *(str(argument) for argument in arguments)])


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    X, y = cancer()
    path = tmp_path_factory.mktemp("data") / "data.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["a", "b", "c", "y"])
        writer.writerows([*row, f"class {k}"] for row, k in zip(X[:, :3].tolist(), y.tolist(), strict=True))
    return path


def first_words(output):
    return [line.split(" ")[0] for line in output.splitlines() if line]


def test_the_command_prints_every_method_and_the_note(data):
    result = run(data, "--target", "y")
    assert result.exit_code == 0, result.output
    assert first_words(result.output)[: len(METHODS) + 1] == ["method", *METHODS]
    assert NOT_FREE.format(10) in result.output
    for method in METHODS.values():
        assert method.predictor.name in result.output


def test_the_command_prints_the_comparison_itself(data):
    X, y = cancer()
    expected = compare(X[:, :3], np.array([f"class {k}" for k in y]), ["fo", "holdout"], random_state=4)
    lines = run(data, "--target", "y", "--method", "fo", "--method", "holdout", "--seed", 4).output.splitlines()
    for line, text in zip(lines, comparison_text(expected).splitlines(), strict=True):
        # All but the last column, the seconds.
        assert line.rsplit("  ", 1)[0].rstrip() == text.rsplit("  ", 1)[0].rstrip()


def test_naming_methods_restricts_the_comparison(data):
    result = run(data, "--target", "y", "--method", "holdout", "--method", "dis-v")
    assert result.exit_code == 0, result.output
    assert first_words(result.output)[:3] == ["method", "holdout", "dis-v"]
    assert NOT_FREE.format(2) in result.output
    assert "smv-exact" not in result.output


def test_joint_changes_the_note(data):
    result = run(data, "--target", "y", "--method", "holdout", "--method", "fo", "--joint", "--delta", "0.1")
    assert result.exit_code == 0, result.output
    assert "With probability at least 0.9, all 2 bounds hold together" in result.output
    assert "delta = 0.1/2" in result.output
    assert "not free" not in result.output


def test_the_command_passes_its_options_on(data):
    X, y = cancer()
    parameters = {"voters": "stumps", "split": "cross", "loss": "half-weight", "prior": 0.1}
    options = [text for name, value in {**parameters, "solver": "adam"}.items() for text in (f"--{name}", value)]
    result = run(data, "--target", "y", "--method", "dis-r", "--seed", 7, *options)
    assert result.exit_code == 0, result.output
    expected = compare(
        X[:, :3], np.array([f"class {k}" for k in y]), [DisR(solver="adam")], random_state=7, **parameters
    )
    assert percent_up(expected.loc["dis-r", "bound"]) in result.output
    assert f"{expected.loc['dis-r', 'penalty']:.2f}" in result.output


def test_a_bad_method_name_is_wrong_usage_and_all_names_are_listed(data):
    result = run(data, "--target", "y", "--method", "dis-r", "--method", "sorcery")
    assert result.exit_code == 2
    said = " ".join(result.output.replace("│", " ").split())
    assert f"Invalid value for '--method': 'sorcery' is not one of {', '.join(METHODS)}." in said
    assert "method" not in first_words(result.output)  # no table


@pytest.mark.parametrize(
    ("options", "message"),
    [(["--delta", "2"], "'delta' parameter"), (["--prior", "0"], "'prior' parameter")],
)
def test_bad_options_end_in_one_clear_line(data, options, message):
    result = run(data, "--target", "y", *options)
    assert result.exit_code == 1
    assert message in result.output
    assert result.output.count("\n") == 1


def test_a_missing_target_ends_in_one_clear_line(data):
    result = run(data, "--target", "z")
    assert result.exit_code == 1
    assert "there is no column 'z'" in result.output
    assert result.output.count("\n") == 1
