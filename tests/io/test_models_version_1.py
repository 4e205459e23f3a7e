"""Model files of format version 1, written by certivote 0.1.0 with its certificates of schema 3.

``models_version_1`` holds one for each kind of voters, and the vote masses that it gave the rows it was fitted to.
"""

import io
import json
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from typer.testing import CliRunner

from certivote import load, verify
from certivote.certificate import SCHEMA_VERSION
from certivote.cli import app
from certivote.io import ModelFileError
from certivote.voters import Classifiers, Forest, Preprocessed, Stumps

FOLDER = Path(__file__).with_name("models_version_1")


def cancer():
    return load_breast_cancer(return_X_y=True)


def cancer_table():
    X, y = cancer()
    return pd.DataFrame({"a": X[:, 0], "b": np.where(X[:, 1] > 18, "hi", "lo")}), y


DATA = {
    "forest": lambda: load_iris(return_X_y=True),
    "list": lambda: load_iris(return_X_y=True),
    "stumps": lambda: (cancer()[0][:, :5], cancer()[1]),
    "pre": cancer_table,
}
METHODS = {"forest": "dis-r", "list": "smv-mc", "stumps": "dis-v", "pre": "dis-b"}
VOTER_SETS = {"forest": Forest, "list": Classifiers, "stumps": Stumps, "pre": Preprocessed}


@cache
def model(kind):
    return load(FOLDER / f"{kind}.certivote")


def masses(kind):
    return np.load(FOLDER / f"{kind}.npy")


def header(path):
    with zipfile.ZipFile(path) as archive:
        return json.loads(archive.read("certivote.json")), json.loads(archive.read("certificate.json"))


def schema(path):
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(io.BytesIO(archive.read("model.skops"))) as inner:
        return inner.read("schema.json").decode()


def with_schema(path, text, out):
    """The file with another description of its model."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    inner = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(parts["model.skops"])) as old, zipfile.ZipFile(inner, "w") as new:
        for name in old.namelist():
            new.writestr(name, text if name == "schema.json" else old.read(name))
    with zipfile.ZipFile(out, "w") as archive:
        for name, value in {**parts, "model.skops": inner.getvalue()}.items():
            archive.writestr(name, value)
    return out


@pytest.mark.parametrize("kind", DATA)
def test_the_files_are_old(kind):
    head, certificate = header(FOLDER / f"{kind}.certivote")
    assert head == {"format": "certivote model", "format_version": 1, "library_version": "0.1.0"}
    assert (certificate["schema_version"], certificate["method"]) == (3, METHODS[kind])


@pytest.mark.parametrize("kind", DATA)
def test_they_predict_bit_for_bit_the_same(kind):
    X, _ = DATA[kind]()
    clf = model(kind)
    assert np.array_equal(clf.predict_proba(X), masses(kind))
    assert np.array_equal(clf.predict(X), clf.classes_[masses(kind).argmax(axis=1)])


@pytest.mark.parametrize("kind", DATA)
def test_they_verify_against_their_data(kind):
    clf = model(kind)
    checks = verify(clf.certificate_, clf, *DATA[kind]())
    assert [str(check) for check in checks if not check.passed] == []
    assert {"model", "weights", "parts", "certification rows", "training rows", "voters"} <= {c.what for c in checks}


@pytest.mark.parametrize("kind", DATA)
def test_other_data_fail(kind):
    X, y = DATA[kind]()
    clf = model(kind)
    failed = {check.what for check in verify(clf.certificate_, clf, X[::-1], y[::-1]) if not check.passed}
    assert {"certification rows", "training rows"} <= failed


@pytest.mark.parametrize("kind", DATA)
def test_everything_has_its_present_name(kind):
    clf = model(kind)
    assert isinstance(clf.voter_set_, VOTER_SETS[kind])
    assert (clf.family, clf.train_share, clf.price_list) == ("dirichlet", "auto", "auto")
    assert (
        clf.get_params().keys()
        == clone(clf).get_params().keys()
        == type(clf)().get_params().keys() | {name for name in clf.get_params() if name.startswith("voters__")}
    )
    rows = np.concatenate([clf.part_.train, clf.part_.certify])
    assert np.array_equal(np.sort(rows), np.arange(len(masses(kind))))
    assert not {"teach_share", "gamma", "fold_"} & set(vars(clf))
    assert clf.certificate_.schema_version == SCHEMA_VERSION
    assert np.array_equal(clf.kept_voters_, np.arange(len(clf.weights_)))


@pytest.mark.parametrize("kind", DATA)
def test_the_random_vote_keeps_its_parameters_and_has_mean_weights(kind):
    clf = model(kind)
    assert (clf.hyper_posterior_ is not None) == (kind == "list")
    assert clf.weights_.sum() == pytest.approx(1.0, abs=1e-12)
    if kind == "list":
        assert clf.hyper_posterior_.tolist() == list(clf.certificate_.deployed_part.alpha)
        assert clf.weights_ == pytest.approx(clf.hyper_posterior_ / clf.hyper_posterior_.sum())


@pytest.mark.parametrize("slim", [False, True])
@pytest.mark.parametrize("kind", DATA)
def test_they_are_saved_as_version_2(kind, slim, tmp_path):
    X, y = DATA[kind]()
    clf = model(kind)
    clf.save(tmp_path / "new.certivote", slim=slim)
    head, certificate = header(tmp_path / "new.certivote")
    assert (head["format_version"], certificate["schema_version"]) == (2, SCHEMA_VERSION)
    for old in ("taught", "Taught", "Fold", "teach", "gamma", "fold_", "_prefit"):
        assert f'"{old}' not in schema(tmp_path / "new.certivote")
    again = load(tmp_path / "new.certivote")
    assert np.array_equal(again.predict_proba(X), masses(kind))
    assert again.certificate_ == clf.certificate_
    assert [str(check) for check in verify(again.certificate_, again, X, y) if not check.passed] == []


@pytest.mark.parametrize("kind", DATA)
def test_an_old_model_can_be_fitted_again(kind):
    X, y = DATA[kind]()
    clf = clone(model(kind)).fit(X, y)
    assert clf.certificate_.method == METHODS[kind]
    assert [str(check) for check in verify(clf.certificate_, clf, X, y) if not check.passed] == []


def test_the_command_line_takes_them(tmp_path):
    frame, labels = cancer_table()
    frame.assign(y=labels).to_csv(tmp_path / "data.csv", index=False)
    model_path = str(FOLDER / "pre.certivote")
    result = CliRunner().invoke(app, ["verify", model_path])
    assert result.exit_code == 0, result.output
    result = CliRunner().invoke(app, ["predict", model_path, str(tmp_path / "data.csv"), "-o", str(tmp_path / "o.csv")])
    assert result.exit_code == 0, result.output
    answers = pd.read_csv(tmp_path / "o.csv")
    assert np.array_equal(answers["certivote_label"], masses("pre").argmax(axis=1))
    assert np.allclose(answers["certivote_mass"], masses("pre").max(axis=1), atol=1e-6)
    result = CliRunner().invoke(app, ["report", model_path, "-o", str(tmp_path / "page.html")])
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    ("old", "new"), [(('"certivote.split"', '"Fold"'), ('"os"', '"system"')), (('"Forest"',), ('"Stranger"',))]
)
def test_an_old_file_made_to_run_code_is_refused(old, new, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = schema(FOLDER / "forest.certivote")
    for before, after in zip(old, new, strict=True):
        assert before in text
        text = text.replace(before, after)
    with pytest.raises(ModelFileError, match=r"os\.system|Stranger"):
        load(with_schema(FOLDER / "forest.certivote", text, tmp_path / "evil.certivote"))


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "[" * 100_000, '{"__module__": [], "__class__": {}}'])
def test_an_old_file_with_a_damaged_description_is_refused(text, tmp_path):
    with pytest.raises(ModelFileError, match=r"bad\.certivote"):
        load(with_schema(FOLDER / "stumps.certivote", text, tmp_path / "bad.certivote"))


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(junk=st.binary(min_size=1, max_size=8), place=st.integers(0, 10**6), gone=st.integers(0, 8))
def test_an_old_file_damaged_anywhere_is_read_or_refused(tmp_path_factory, junk, place, gone):
    content = schema(FOLDER / "list.certivote").encode()
    place %= len(content)
    path = tmp_path_factory.getbasetemp() / "old.certivote"
    told = "old.certivote was read"
    try:
        load(with_schema(FOLDER / "list.certivote", content[:place] + junk + content[place + gone :], path))
    except ModelFileError as error:
        told = str(error)
    assert "old.certivote" in told
