"""Whatever is typed or put into a file, a command ends: with a result, or with one line and the exit code 1 or 2.

In one process, so that hundreds of commands take seconds. No file is half-written.
"""

import json
import warnings
from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier
from thorough import ALL
from typer.testing import CliRunner

from certivote import CertifiedVoteClassifier, certify_predictions
from certivote.cli import app
from certivote.io import TableError, read_table

COMMANDS = settings(max_examples=120 if ALL else 5, deadline=None, suppress_health_check=list(HealthCheck))
TEXTS = settings(max_examples=300 if ALL else 100, deadline=None, suppress_health_check=list(HealthCheck))


def run(*arguments):
    """What a command printed, its exit code being one of those documented, and nothing having come from inside."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code in (0, 1, 2, 3), (arguments, result.output, result.exception)
    assert result.exception is None or isinstance(result.exception, SystemExit), (arguments, repr(result.exception))
    assert "Traceback" not in result.output
    assert len(caught) <= 5, [str(warning.message) for warning in caught]
    if result.exit_code == 1 and "checks FAILED" not in result.stdout:
        lines = [line for line in result.stderr.splitlines() if not line.startswith("certivote: warning")]
        assert len(lines) == 1, (arguments, lines)
        assert lines[0].startswith("certivote: ")
        assert len(lines[0]) > 20
    return result


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table, a model and its certificate."""
    folder = tmp_path_factory.mktemp("files")
    frame, y = load_iris(return_X_y=True, as_frame=True)
    frame = frame.iloc[::3].rename(columns=lambda name: name.split(" (")[0].replace(" ", "_"))
    labels = y.iloc[::3].map({0: "setosa", 1: "versicolor", 2: "virginica"})
    frame.assign(species=labels).to_csv(folder / "iris.csv", index=False)
    (folder / "predictions.csv").write_text("outcome,label,who,when\n" + "1,1.0,a,3\n0,1.0,b,2\n0,0.0,b,1\n" * 5)
    trees = [DecisionTreeClassifier(max_depth=depth) for depth in (1, 2, None)]
    clf = CertifiedVoteClassifier("dis-b", trees, prior=0.5, random_state=0).fit(frame, labels)
    clf.save(folder / "iris.certivote")
    (folder / "certificate.json").write_text(clf.certificate_.to_json(), encoding="utf-8")
    return folder


words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=10)
values = st.one_of(
    words,
    st.integers().map(str),
    st.floats().map(str),
    st.sampled_from(
        [
            "",
            "auto",
            "single",
            "3",
            "0",
            "-1",
            "1e400",
            "nan",
            "inf",
            "species",
            "who",
            "when",
            "label",
            "--",
            "-o",
            ";",
            ",",
            "latin-1",
        ]
    ),
)
SHARED = ["--target", "--method", "--voters", "--split", "--loss", "--delta", "--family", "--prior", "--drop", "--seed"]
TABLE = ["--sep", "--decimal", "--encoding"]
COLUMNS = ["--target", "--predicted", "--group", "--time", "--training"]
LEARNING = ["--solver", "--train-share", "--tau", "--renyi-order", "--n-draws", "--constant"]
OPTIONS = {
    "fit": [*SHARED, *LEARNING, *TABLE, "--group", "--time", "--out", "--model", "--nonsense"],
    "certify": [*TABLE, *COLUMNS, "--model", "--delta", "--seed", "--out", "--report"],
    "compare": [*SHARED, *TABLE, "--group", "--time"],
    "predict": [*TABLE, "--out", "-o", "--trust"],
    "monitor": [*TABLE, *COLUMNS[:-2], "--id", "--alpha", "--watch", "--report", "--metrics", "--title", "--trust"],
    "recertify": [*TABLE, *COLUMNS[:-1], "--monitor", "--delta", "--seed", "--out", "--report"],
    "verify": [*TABLE, *COLUMNS, "--earlier", "--model", "--data", "--trust"],
    "report": [*TABLE, *COLUMNS[:-1], "--out", "--data", "--title", "--trust"],
    "bound": ["--errors", "--n", "--rate", "--delta", "--penalty", "--renyi-order", "--target"],
}
BASE = {
    "fit": ["iris.csv", "--target", "species", "--method", "holdout", "--voters", "stumps"],
    "certify": ["predictions.csv", "--truth", "outcome", "--predicted", "label"],
    "compare": ["iris.csv", "--target", "species", "--method", "holdout", "--voters", "stumps"],
    "predict": ["iris.certivote", "iris.csv"],
    "monitor": ["iris.certivote", "iris.csv", "--state", "state.json"],
    "recertify": ["iris.certivote", "iris.csv", "--truth", "species", "--out", "again.json"],
    "verify": ["certificate.json"],
    "report": ["certificate.json", "-o", "page.html"],
    "bound": ["--errors", "3", "--n", "90"],
}


@pytest.mark.parametrize("verb", sorted(BASE))
@COMMANDS
@given(data=st.data())
def test_options_of_all_kinds(verb, folder, data, monkeypatch):
    monkeypatch.chdir(folder)
    before = {path.name for path in folder.iterdir()}
    given = list(BASE[verb])
    for _ in range(data.draw(st.integers(1, 3))):
        given += [data.draw(st.sampled_from(OPTIONS[verb])), data.draw(values)]
    if "--n-draws" in given or "--train-share" in given:  # many draws take long, and are allowed
        given = [text if not text.isdigit() or int(text) < 50 else "7" for text in given]
    run(verb, *given)
    for path in folder.iterdir():
        if path.is_file() and path.name not in before:
            assert path.stat().st_size > 0 or path.suffix == ".lock"
            path.unlink()


@pytest.mark.parametrize("verb", sorted(BASE))
@COMMANDS
@given(arguments=st.lists(values, max_size=4))
def test_arguments_of_all_kinds(verb, folder, arguments, monkeypatch):
    monkeypatch.chdir(folder)
    run(verb, *arguments)
    assert {"iris.csv", "iris.certivote", "certificate.json"} <= {path.name for path in folder.iterdir()}


cells = st.one_of(st.sampled_from(["", "1", "2.5", "a", '"', '"x,y"', "nan", "inf", "é", "2020-01-01", "\r"]), words)
tables = st.one_of(
    st.lists(st.lists(cells, min_size=3, max_size=3), max_size=8).map(
        lambda rows: "\n".join(["a,b,y", *(",".join(row) for row in rows)]).encode("utf-8")
    ),
    st.lists(st.lists(cells, max_size=4), max_size=6).map(
        lambda rows: "\n".join(";".join(row) for row in rows).encode("utf-16")
    ),
    st.binary(max_size=60),
)


@TEXTS
@given(content=tables, name=st.sampled_from(["t.csv", "t.csv.gz", "t.parquet"]))
def test_tables_of_all_kinds(tmp_path_factory, content, name):
    path = tmp_path_factory.getbasetemp() / name
    path.write_bytes(content)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            table = read_table(path, "y")
        except TableError as error:
            told = str(error)
        else:
            told = f"{table.X.shape} and {len(table.y)}"
            assert table.X.shape[0] == len(table.y) > 0
    assert len(told) > 5
    assert not caught, [str(warning.message) for warning in caught]


@COMMANDS
@given(content=tables)
def test_tables_to_fit(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "fit.csv"
    path.write_bytes(content)
    run("fit", path, "--target", "y", "--voters", "stumps", "--method", "holdout")


@COMMANDS
@given(content=tables, options=st.sampled_from([[], ["--group", "a"], ["--time", "a"], ["--decimal", ","]]))
def test_tables_to_certify(tmp_path_factory, content, options):
    path, out = (tmp_path_factory.getbasetemp() / name for name in ("certify.csv", "certified.json"))
    path.write_bytes(content)
    out.unlink(missing_ok=True)
    result = run("certify", path, "--truth", "y", "--predicted", "b", *options, "--out", out)
    assert out.exists() == (result.exit_code == 0)
    if out.exists():
        told = run("verify", out, "--data", path, *options).stdout
        assert " is proved for" in told or " are proved for" in told


@COMMANDS
@given(content=tables)
def test_tables_to_predict(folder, tmp_path_factory, content):
    path, out = (tmp_path_factory.getbasetemp() / name for name in ("new.csv", "answers.csv"))
    path.write_bytes(content)
    result = run("predict", folder / "iris.certivote", path, "-o", out)
    assert out.exists() == (result.exit_code == 0)
    out.unlink(missing_ok=True)


@COMMANDS
@given(content=tables, options=st.sampled_from([[], ["--id", "a"], ["--predicted", "b"]]))
def test_tables_to_monitor(folder, tmp_path_factory, content, options):
    path, state = (tmp_path_factory.getbasetemp() / name for name in ("told.csv", "state.json"))
    path.write_bytes(content)
    for verb in (["--truth", "y", *options], options[:1] and ["--id", "a"]):
        state.unlink(missing_ok=True)
        result = run("monitor", folder / "iris.certivote", path, *verb, "--state", state)
        assert state.exists() == (result.exit_code in (0, 3))


@COMMANDS
@given(content=tables)
def test_tables_to_count_answers_of(tmp_path_factory, content):
    path, state, certificate = (tmp_path_factory.getbasetemp() / name for name in ("told.csv", "s.json", "two.json"))
    path.write_bytes(content)
    certificate.write_text(certify_predictions([1, 2] * 50, [1, 2] * 50).to_json(), encoding="utf-8")
    state.unlink(missing_ok=True)
    result = run("monitor", certificate, path, "--truth", "y", "--predicted", "b", "--state", state)
    assert state.exists() == (result.exit_code in (0, 3))


@cache
def record(path):
    return json.loads(path.read_text())


@COMMANDS
@given(data=st.data())
def test_certificates_to_verify_and_report(folder, tmp_path_factory, data):
    content = dict(record(folder / "certificate.json"))
    content[data.draw(st.sampled_from(sorted(content)))] = data.draw(
        st.one_of(st.none(), st.integers(), st.floats(), words, st.lists(st.integers(), max_size=2))
    )
    path = tmp_path_factory.getbasetemp() / "other.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    run("verify", path)
    run("report", path, "-o", tmp_path_factory.getbasetemp() / "other.html")
