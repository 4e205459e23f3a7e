"""Models survive the disk bit for bit, and files that are not models are refused without being run."""

import io
import json
import os
import pickle
import zipfile

import numpy as np
import pytest
import skops.io
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from certivote import Certificate, CertifiedVoteClassifier, __version__, load, verify
from certivote.io import ModelFileError
from certivote.voters import Forest, Preprocessed, Stumps

FOREST = Forest(RandomForestClassifier(n_estimators=12))
VOTERS = {
    "forest": FOREST,
    "mixed": "mixed",
    "stumps": Stumps(),
    "preprocessed": Preprocessed(StandardScaler(), FOREST),
    "list": [make_pipeline(StandardScaler(), LogisticRegression()), RandomForestClassifier(n_estimators=3)],
}


@pytest.fixture(scope="module")
def data():
    X, y = load_breast_cancer(return_X_y=True)
    return X[:200, :5], np.array(["bad", "good"])[y[:200]]


@pytest.fixture(scope="module")
def model(data):
    return CertifiedVoteClassifier("dis-b", FOREST, random_state=0).fit(*data)


@pytest.fixture
def saved(model, tmp_path):
    path = tmp_path / "model.certivote"
    model.save(path)
    return path


@pytest.mark.parametrize("kind", VOTERS)
def test_what_is_loaded_is_what_was_saved(kind, data, tmp_path):
    clf = CertifiedVoteClassifier("dis-b", VOTERS[kind], random_state=0).fit(*data)
    clf.save(tmp_path / "model.certivote")
    again = load(tmp_path / "model.certivote")
    assert np.array_equal(again.predict_proba(data[0]), clf.predict_proba(data[0]))
    assert np.array_equal(again.predict(data[0]), clf.predict(data[0]))
    assert again.certificate_ == clf.certificate_
    assert all(check.passed for check in verify(again.certificate_, again, *data))


@pytest.mark.parametrize("kind", VOTERS)
def test_a_slim_model_gives_the_same_answers_and_can_be_verified(kind, data, tmp_path):
    # A sparse hyper-prior draws most weights far below 2**-52.
    clf = CertifiedVoteClassifier("dis-b", VOTERS[kind], prior=0.002, random_state=1).fit(*data)
    zeros = np.count_nonzero(clf.weights_ == 0.0)
    path = tmp_path / "model.certivote"
    clf.save(path, slim=True)
    again = load(path)
    assert np.array_equal(again.predict_proba(data[0]), clf.predict_proba(data[0]))
    assert again.certificate_ == clf.certificate_
    checks = verify(again.certificate_, again, *data)
    assert [str(check) for check in checks if not check.passed] == []
    if kind != "stumps":
        assert zeros
        assert len(again.weights_) < len(clf.weights_) == len(clf.kept_voters_)
        assert again.voters_.votes(data[0]).n_voters == len(again.weights_)
        clf.save(tmp_path / "whole")
        assert path.stat().st_size < (tmp_path / "whole").stat().st_size
        assert any("slim" in str(check) for check in checks)


def test_a_slim_model_that_lost_a_voter_of_weight_is_caught(data, tmp_path):
    clf = CertifiedVoteClassifier("dis-b", FOREST, prior=0.002, random_state=1).fit(*data)
    heaviest = int(np.argmax(clf.weights_))
    rest = np.setdiff1d(np.arange(len(clf.weights_)), [heaviest])
    certificate = clf.certificate_
    clf.voters_, clf.kept_voters_ = clf.voters_.only(rest)
    clf.weights_ = clf.weights_[rest]
    clf.save(tmp_path / "model.certivote")
    checks = verify(certificate, load(tmp_path / "model.certivote"), *data)
    assert "weights" in [check.what for check in checks if not check.passed]


def test_a_file_from_before_slim_models_is_read(model, data, tmp_path):
    old = CertifiedVoteClassifier("dis-b", FOREST, random_state=0).fit(*data)
    del old.kept_voters_
    old.save(tmp_path / "model.certivote")
    again = load(tmp_path / "model.certivote")
    assert all(check.passed for check in verify(again.certificate_, again, *data))


def test_the_random_vote_draws_the_same(tmp_path):
    X, y = load_iris(return_X_y=True)
    clf = CertifiedVoteClassifier("smv-exact", FOREST, loss="half-weight", random_state=0).fit(X, y)
    clf.save(tmp_path / "model.certivote")
    assert np.array_equal(load(tmp_path / "model.certivote").predict_proba(X), clf.predict_proba(X))


def test_a_slim_random_vote_keeps_all_its_voters(data, tmp_path):
    clf = CertifiedVoteClassifier("smv-exact", FOREST, loss="half-weight", random_state=0).fit(*data)
    # The mean weight of a voter that is hardly ever drawn may be too small for a float.
    clf.weights_ = np.where(np.arange(len(clf.weights_)) == 3, 0.0, clf.weights_)
    clf.save(tmp_path / "model.certivote", slim=True)
    again = load(tmp_path / "model.certivote")
    assert np.array_equal(again.predict_proba(data[0]), clf.predict_proba(data[0]))
    assert len(again.weights_) == len(again.hyper_posterior_) == again.voters_.n_voters == 12
    assert [str(check) for check in verify(again.certificate_, again, *data) if not check.passed] == []


@pytest.mark.parametrize("slim", [False, True])
@pytest.mark.parametrize("method", ["dis-b", "dis-v", "smv-mc"])
def test_a_vote_of_another_family_is_kept(method, slim, data, tmp_path):
    clf = CertifiedVoteClassifier(method, FOREST, family="logistic-normal", random_state=0).fit(*data)
    clf.save(tmp_path / "model.certivote", slim=slim)
    again = load(tmp_path / "model.certivote")
    assert again.family == "logistic-normal"
    assert np.array_equal(again.predict_proba(data[0]), clf.predict_proba(data[0]))
    assert again.certificate_ == clf.certificate_
    assert [str(check) for check in verify(again.certificate_, again, *data) if not check.passed] == []


def test_the_file_says_its_format(saved, model):
    with zipfile.ZipFile(saved) as archive:
        header = json.loads(archive.read("certivote.json"))
        assert Certificate.from_json(archive.read("certificate.json").decode()) == model.certificate_
    assert header == {"format": "certivote model", "format_version": 2, "library_version": __version__}


def test_names_of_features_are_kept(tmp_path):
    X, y = load_iris(return_X_y=True, as_frame=True)
    clf = CertifiedVoteClassifier("dis-b", FOREST, random_state=0).fit(X, y)
    clf.save(tmp_path / "model.certivote")
    assert load(tmp_path / "model.certivote").feature_names_in_.tolist() == list(X.columns)


def test_an_unfitted_model_cannot_be_saved(tmp_path):
    with pytest.raises(NotFittedError):
        CertifiedVoteClassifier().save(tmp_path / "model.certivote")
    assert os.listdir(tmp_path) == []


def test_a_failed_write_leaves_the_old_file(model, saved, monkeypatch):
    before = saved.read_bytes()

    def refuse(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError, match="disk full"):
        model.save(saved)
    assert saved.read_bytes() == before
    assert os.listdir(saved.parent) == [saved.name]


def rewritten(path, **members):
    """The file with some of its members replaced."""
    with zipfile.ZipFile(path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    content.update({name.replace("_", "."): value for name, value in members.items()})
    with zipfile.ZipFile(path, "w") as archive:
        for name, value in content.items():
            if value is not None:
                archive.writestr(name, value)
    return path


class Evil:
    """Unpickling it would make a folder."""

    def __reduce__(self):
        return os.mkdir, ("harm",)


BAD = {
    "text": lambda path: path.write_text("hello"),
    "empty": lambda path: path.write_bytes(b""),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-2000]),
    "pickle": lambda path: path.write_bytes(pickle.dumps(Evil())),
    "pickle as model": lambda path: rewritten(path, model_skops=pickle.dumps(Evil())),
    "no header": lambda path: rewritten(path, certivote_json=None),
    "header of something else": lambda path: rewritten(path, certivote_json=json.dumps({"format": "cake"})),
    "header is a list": lambda path: rewritten(path, certivote_json="[]"),
    "newer format": lambda path: rewritten(
        path, certivote_json=json.dumps({"format": "certivote model", "format_version": 99})
    ),
    "another object": lambda path: rewritten(path, model_skops=skops.io.dumps(LogisticRegression())),
    "no certificate": lambda path: rewritten(path, certificate_json=None),
    "certificate is no JSON": lambda path: rewritten(path, certificate_json="{"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_files_are_refused_in_one_sentence(kind, saved, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    BAD[kind](saved)
    with pytest.raises(ModelFileError, match=r"model\.certivote"):
        load(saved)
    assert not (tmp_path / "harm").exists()


def test_a_missing_file_is_said_to_be_missing(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing.certivote")


def with_schema(path, edit):
    """The skops part with its description edited."""
    with zipfile.ZipFile(path) as archive:
        inner = io.BytesIO(archive.read("model.skops"))
    with zipfile.ZipFile(inner) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    content["schema.json"] = edit(content["schema.json"].decode()).encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, value in content.items():
            archive.writestr(name, value)
    return rewritten(path, model_skops=out.getvalue())


def test_a_file_made_to_run_code_is_refused(saved, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with_schema(
        saved, lambda text: text.replace('"PartRows"', '"system"').replace('"certivote.pipeline._split"', '"os"')
    )
    with pytest.raises(ModelFileError, match=r"os\.system"):
        load(saved)


def test_foreign_types_must_be_named(data, tmp_path):
    from sklearn.preprocessing import FunctionTransformer

    voters = [make_pipeline(FunctionTransformer(foreign), StandardScaler(), LogisticRegression())]
    clf = CertifiedVoteClassifier("dis-b", voters, random_state=0).fit(*data)
    clf.save(tmp_path / "model.certivote")
    with pytest.raises(ModelFileError, match=r"foreign.*trusted="):
        load(tmp_path / "model.certivote")
    again = load(tmp_path / "model.certivote", trusted=[f"{__name__}.foreign"])
    assert np.array_equal(again.predict(data[0]), clf.predict(data[0]))


def foreign(X):
    return X


def test_a_tree_that_leads_nowhere_is_refused(model, tmp_path):
    tree = model.voters_.forest.estimators_[0].tree_
    left = tree.children_left[0]
    try:
        tree.children_left[0] = 1_000_000
        model.save(tmp_path / "model.certivote")
    finally:
        tree.children_left[0] = left
    with pytest.raises(ModelFileError, match="lead nowhere"):
        load(tmp_path / "model.certivote")
