"""Models survive the disk bit for bit, and files that are not models are refused without being run."""

import json
import os
import pickle
import zipfile

import numpy as np
import pandas as pd
import pytest
from models import opened
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from thorough import ALL

from certivote import Certificate, CertifiedVoteClassifier, __version__, load, verify
from certivote.io import ModelFileError, _models
from certivote.methods import DisB, make_method
from certivote.voters import ColumnEncoder, Forest, Preprocessed, Stumps

FOREST = Forest(RandomForestClassifier(n_estimators=12))
VOTERS = {
    "forest": FOREST,
    "mixed": "mixed",
    "stumps": Stumps(),
    "columns": Preprocessed(ColumnEncoder(), FOREST),
    "columns without gaps": Preprocessed(ColumnEncoder(fill=True), Stumps()),
    "preprocessed": Preprocessed(StandardScaler(), FOREST),
    "list": [make_pipeline(StandardScaler(), LogisticRegression()), RandomForestClassifier(n_estimators=3)],
}
SLIM = VOTERS if ALL else [kind for kind in VOTERS if kind != "mixed"]
"""Mixed voters, which take the longest to train, with a hyper-prior of their own only where all cases are tried."""


BROUGHT = ("preprocessed", "list")


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
    if kind in BROUGHT:
        with pytest.raises(ModelFileError, match="that its user brought"):
            load(tmp_path / "model.certivote")
    again = opened(tmp_path / "model.certivote")
    assert np.array_equal(again.predict_proba(data[0]), clf.predict_proba(data[0]))
    assert np.array_equal(again.predict(data[0]), clf.predict(data[0]))
    assert again.get_params(deep=False).keys() == clf.get_params(deep=False).keys()
    assert repr(again) == repr(clf)
    assert again.certificate_ == clf.certificate_
    assert all(check.passed for check in verify(again.certificate_, again, *data))


@pytest.mark.parametrize("kind", SLIM)
def test_a_slim_model_gives_the_same_answers_and_can_be_verified(kind, data, tmp_path):
    # A sparse hyper-prior draws most weights far below 2**-52.
    clf = CertifiedVoteClassifier("dis-b", VOTERS[kind], prior=0.002, random_state=1).fit(*data)
    zeros = np.count_nonzero(clf.weights_ == 0.0)
    path = tmp_path / "model.certivote"
    clf.save(path, slim=True)
    again = opened(path)
    assert np.array_equal(again.predict_proba(data[0]), clf.predict_proba(data[0]))
    assert again.certificate_ == clf.certificate_
    checks = verify(again.certificate_, again, *data)
    assert [str(check) for check in checks if not check.passed] == []
    if kind not in ("stumps", "columns without gaps"):
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
    failed = [check.what for check in verify(again.certificate_, again, *data) if not check.passed]
    assert failed == ["weights"]  # which are not the certified mean


@pytest.mark.parametrize("slim", [False, True])
@pytest.mark.parametrize("method", ["dis-b", "dis-v", "smv-mc"])
def test_a_vote_of_another_family_is_kept(method, slim, data, tmp_path):
    clf = CertifiedVoteClassifier(make_method(method, family="logistic-normal"), FOREST, random_state=0).fit(*data)
    clf.save(tmp_path / "model.certivote", slim=slim)
    again = load(tmp_path / "model.certivote")
    assert again.method.family == "logistic-normal"
    assert np.array_equal(again.predict_proba(data[0]), clf.predict_proba(data[0]))
    assert again.certificate_ == clf.certificate_
    assert [str(check) for check in verify(again.certificate_, again, *data) if not check.passed] == []


def test_the_file_says_its_format_and_all_versions(saved, model):
    with zipfile.ZipFile(saved) as archive:
        header = json.loads(archive.read("certivote.json"))
        assert Certificate.from_json(archive.read("certificate.json").decode()) == model.certificate_
    assert (header["format"], header["format_version"]) == ("certivote model", 1)
    assert header["versions"]["certivote"] == __version__
    assert header["versions"]["numpy"] == np.__version__
    assert {"python", "processor", "scipy", "scikit-learn", "pandas"} <= header["versions"].keys()


def test_labels_of_every_type_are_kept(tmp_path):
    X, y = load_iris(return_X_y=True)
    for names in (
        np.array([3, 5, 9], dtype=np.int8),
        np.array([-1.0, 1.0, 7.0]),
        np.array(["a", "bb", "ccc"]),
        np.array(["a", "bb", "ccc"], dtype=object),
        np.array([2**63, 2**63 + 1, 2**63 + 2], dtype=np.uint64),
    ):
        clf = CertifiedVoteClassifier("dis-b", FOREST, random_state=0).fit(X, names[y])
        clf.save(tmp_path / "model.certivote")
        again = load(tmp_path / "model.certivote")
        assert again.classes_.dtype == clf.classes_.dtype
        assert again.classes_.tolist() == clf.classes_.tolist()


def test_parameters_are_kept(data, tmp_path):
    forest = RandomForestClassifier(3, max_features=0.5, class_weight={"bad": 2.0, "good": 1.0}, min_samples_leaf=2)
    given = {
        "voters": Forest(forest),
        "prior": np.array([0.5, 1.0, 2.0]),
        "delta": np.float64(0.01),
        "random_state": np.random.RandomState(3),
    }
    clf = CertifiedVoteClassifier(DisB(price_list=[(0.0, 0.5)]), **given).fit(*data)
    clf.save(tmp_path / "model.certivote")
    again = load(tmp_path / "model.certivote")
    assert again.voters.estimator.get_params() == forest.get_params()
    assert again.prior.tolist() == [0.5, 1.0, 2.0]
    assert again.method.price_list == [(0.0, 0.5)]
    assert (again.delta, again.random_state) == (0.01, None)
    assert again.parts_[0].certify.tolist() == clf.parts_[0].certify.tolist() == again.part_.certify.tolist()


def test_sparse_rows_and_extremely_randomised_trees(tmp_path):
    X, y = load_iris(return_X_y=True)
    X = sparse.csr_array(np.where(X < 2, 0, X))
    clf = CertifiedVoteClassifier("dis-b", Forest(ExtraTreesClassifier(5)), "cross", random_state=0).fit(X, y)
    clf.save(tmp_path / "model.certivote")
    again = load(tmp_path / "model.certivote")
    assert np.array_equal(again.predict_proba(X), clf.predict_proba(X))
    assert len(again.parts_) == 2


def table():
    source = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": source.integers(20, 80, size=120),
            "weight": np.where(source.random(120) < 0.1, np.nan, source.normal(70, 10, size=120)),
            "since": pd.date_range("2020-01-01", periods=120),
            "state": pd.Categorical(source.choice(["ill", "well"], size=120)),
            "note": source.choice(["a", "b", None], size=120),
            "fit": source.random(120) < 0.5,
        }
    )


@pytest.mark.parametrize("columns", [["age", "weight"], ["age", "note", "fit"], ["since", "state", "weight", "note"]])
def test_tables_of_every_kind(columns, tmp_path):
    X = table()[columns]
    y = np.where(np.arange(120) % 3, "no", "yes")
    clf = CertifiedVoteClassifier("dis-b", Preprocessed(ColumnEncoder(), FOREST), random_state=0).fit(X, y)
    clf.save(tmp_path / "model.certivote")
    again = load(tmp_path / "model.certivote")
    assert np.array_equal(again.predict_proba(X), clf.predict_proba(X))
    assert again.feature_names_in_.tolist() == columns
    assert again.voters_.transformer.kinds_ == clf.voters_.transformer.kinds_


def test_a_file_holds_no_row_of_the_data(data, model, saved):
    """Forests know thresholds only, and a probe row is made of values of several rows."""
    rows = {row.tobytes() for row in data[0]}
    probe = load(saved)._probe
    assert len(probe)
    assert not any(np.ascontiguousarray(row).tobytes() in rows for row in probe)
    assert all(np.isin(probe[:, column], data[0][:, column]).all() for column in range(probe.shape[1]))


def test_voters_that_vote_otherwise_here_are_refused(saved, monkeypatch):
    with zipfile.ZipFile(saved) as archive:
        model = json.loads(archive.read("model.json"))
    model["probe_votes"] = "0" * 64
    rewritten(saved, model_json=json.dumps(model))
    with pytest.raises(ModelFileError, match=r"vote otherwise here than where it was written: it is damaged"):
        load(saved)
    monkeypatch.setattr(_models, "_LIBRARIES", ("numpy", "scipy"))
    with pytest.raises(ModelFileError, match=r"with scikit-learn [\d.]+ \(here None\).*Open it with these versions"):
        load(saved)


def test_what_cannot_be_written_is_said_and_nothing_is_left(data, tmp_path):
    voters = [make_pipeline(FunctionTransformer(lambda X: X), LogisticRegression())]
    clf = CertifiedVoteClassifier("dis-b", voters, random_state=0).fit(*data)
    with pytest.raises(TypeError, match=r"cannot be written to a file \(Pipeline\)"):
        clf.save(tmp_path / "model.certivote")
    remembering = [make_pipeline(StandardScaler(), LogisticRegression(), memory=str(tmp_path / "cache"))]
    clf = CertifiedVoteClassifier("dis-b", remembering, random_state=0).fit(*data)
    with pytest.raises(ValueError, match=r"memory set.*Set memory=None"):
        clf.save(tmp_path / "model.certivote")
    assert not (tmp_path / "model.certivote").exists()


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
    "pickle as model": lambda path: rewritten(path, model_json=pickle.dumps(Evil())),
    "pickle as what was brought": lambda path: rewritten(path, brought_skops=pickle.dumps(Evil())),
    "no header": lambda path: rewritten(path, certivote_json=None),
    "header of something else": lambda path: rewritten(path, certivote_json=json.dumps({"format": "cake"})),
    "header is a list": lambda path: rewritten(path, certivote_json="[]"),
    "newer format": lambda path: rewritten(
        path, certivote_json=json.dumps({"format": "certivote model", "format_version": 99})
    ),
    "no certificate": lambda path: rewritten(path, certificate_json=None),
    "certificate is no JSON": lambda path: rewritten(path, certificate_json="{"),
    "something more": lambda path: rewritten(path, more_json="{}"),
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


@pytest.mark.parametrize("version", [0, 2, True, "1"])
def test_a_file_of_another_format_is_refused_in_one_sentence(version, saved):
    rewritten(saved, certivote_json=json.dumps({"format": "certivote model", "format_version": version}))
    with pytest.raises(ModelFileError, match=rf"format version {version!r}; this certivote reads version 1\. Open it"):
        load(saved)


def test_functions_of_the_user_must_be_named(data, tmp_path):
    voters = [make_pipeline(FunctionTransformer(foreign), StandardScaler(), LogisticRegression())]
    clf = CertifiedVoteClassifier("dis-b", voters, random_state=0).fit(*data)
    clf.save(tmp_path / "model.certivote")
    with pytest.raises(ModelFileError, match=r"foreign.*trusted="):
        load(tmp_path / "model.certivote")
    again = opened(tmp_path / "model.certivote")
    assert np.array_equal(again.predict(data[0]), clf.predict(data[0]))


def foreign(X):
    return X
