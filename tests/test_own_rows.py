"""Rows that a model was made from are recognised one by one, however they come; and honest new rows are let through."""

import functools
import os
import warnings
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from certivote import CertifiedVoteClassifier, DriftMonitor, certify, load, recertify, verify
from certivote.paper import load as load_data

X, Y = load_breast_cancer(return_X_y=True)
OWN, NEW = slice(0, 300), slice(300, None)
RNG = np.random.default_rng(0)


@functools.cache
def fitted():
    return CertifiedVoteClassifier("dis-b", "forest", random_state=0).fit(X[OWN], Y[OWN])


@functools.cache
def piped():
    vote = CertifiedVoteClassifier("dis-b", "forest", random_state=0)
    return make_pipeline(StandardScaler(), vote).fit(X[OWN], Y[OWN])


def own_lines(certificate, model, rows, labels):
    return [
        line for line in verify(certificate, model, rows, labels) if line.what == "rows that the model was made from"
    ]


# How own rows may come

SHUFFLED = RNG.permutation(300)
TRAINED = np.flatnonzero(np.isin(np.arange(300), fitted().part_.train))
FORMS = {
    "as they were": (X[OWN], Y[OWN]),
    "reversed": (X[OWN][::-1], Y[OWN][::-1]),
    "sorted": (X[OWN][np.argsort(X[OWN][:, 0])], Y[OWN][np.argsort(X[OWN][:, 0])]),
    "shuffled": (X[OWN][SHUFFLED], Y[OWN][SHUFFLED]),
    "one row less": (X[1:300], Y[1:300]),
    "single precision": (X[OWN].astype(np.float32), Y[OWN]),
    "with noise": (X[OWN] + 1e-12, Y[OWN]),
    "with other labels": (X[OWN], 1 - Y[OWN]),
    "among new ones": (X[150:450], Y[150:450]),
    "twice": (np.vstack([X[OWN], X[OWN]]), np.r_[Y[OWN], Y[OWN]]),
    "training rows alone": (X[TRAINED], Y[TRAINED]),
    "a tenth of the rows": (X[:30], Y[:30]),
    "as objects": (X[OWN].astype(object), Y[OWN]),
    "as a list": (X[OWN].tolist(), Y[OWN]),
}


@pytest.mark.parametrize("form", FORMS)
def test_own_rows_are_refused_in_any_form(form):
    with pytest.raises(ValueError, match=r"X has rows that CertifiedVoteClassifier was made from: of .* about"):
        certify(fitted(), *FORMS[form])
    with pytest.raises(ValueError, match="was made from"):
        recertify(fitted(), *FORMS[form])


def test_how_many_there_are_is_told():
    with pytest.raises(ValueError, match="of 300 rows, about 150 trained its voters and about 150 certified it"):
        certify(fitted(), X[OWN][::-1], Y[OWN][::-1])
    with pytest.raises(ValueError, match=r"of 150 rows, about 150 trained its voters\. Its"):
        certify(fitted(), X[TRAINED], Y[TRAINED])


def test_new_rows_are_certified_without_a_word():
    assert certify(fitted(), X[NEW], Y[NEW]).deployed_part.n == 269
    assert recertify(fitted(), X[NEW], Y[NEW]).deployed_part.n == 269


# Around the vote


class Renamed:
    """A wrapper that nobody knows."""

    def __init__(self, model):
        self.inside = {"model": [model]}

    def predict(self, rows):
        return self.inside["model"][0].predict(rows)


AROUND = {
    "pipeline": piped,
    "frozen": lambda: FrozenEstimator(fitted()),
    "frozen pipeline": lambda: FrozenEstimator(piped()),
    "pipeline in a pipeline": lambda: Pipeline([("same", "passthrough"), ("inner", piped())]),
    "voting": lambda: VotingClassifier([("vote", FrozenEstimator(fitted()))]).fit(X[NEW], Y[NEW]),
    "calibrated": lambda: CalibratedClassifierCV(FrozenEstimator(fitted())).fit(X[NEW], Y[NEW]),
    "method": lambda: fitted().predict,
    "closure": lambda: (lambda model: lambda rows: model.predict(rows))(piped()),
    "partial": lambda: functools.partial(CertifiedVoteClassifier.predict, fitted()),
    "own class": lambda: Renamed(piped()),
    "voters": lambda: CertifiedVoteClassifier("holdout", [fitted()], split="none").fit(X[NEW], Y[NEW]),
}


@pytest.mark.parametrize("around", AROUND)
def test_own_rows_are_refused_with_the_vote_inside_something(around):
    model = AROUND[around]()
    with pytest.raises(ValueError, match="was made from: of 300 rows, about 150 trained"):
        certify(model, X[OWN][::-1], Y[OWN][::-1])


@pytest.mark.parametrize("around", ["pipeline", "frozen pipeline", "method", "calibrated"])
def test_new_rows_are_certified_with_the_vote_inside_something(around):
    assert certify(AROUND[around](), X[NEW], Y[NEW]).deployed_part.n == 269


def test_of_new_rows_to_a_class_that_nobody_knows_it_is_said_that_they_may_be_own_ones():
    with pytest.warns(UserWarning, match="not checked: none of 269 rows equals"):
        assert certify(AROUND["own class"](), X[NEW], Y[NEW]).deployed_part.n == 269


def rescaled():
    inner = CertifiedVoteClassifier("dis-b", "forest", random_state=0).fit(2.0 * X[OWN] + 1.0, Y[OWN])
    return lambda rows: inner.predict(2.0 * rows + 1.0)


def test_what_may_change_rows_before_the_vote_sees_them_is_not_said_to_be_known():
    model = rescaled()
    with pytest.warns(UserWarning, match="not checked: none of 300 rows equals .* may change rows before it sees them"):
        certificate = certify(model, X[OWN], Y[OWN])
    (line,) = own_lines(certificate, model, X[OWN], Y[OWN])
    assert line.on_trust
    assert "may change rows before it sees them" in line.detail


# New rows without labels


def test_a_drift_monitor_tells_own_rows_from_new_ones(tmp_path):
    fitted().save(tmp_path / "m.certivote")
    for model in (fitted(), tmp_path / "m.certivote"):
        monitor = DriftMonitor(model)
        with pytest.warns(UserWarning, match="rows that the model was made from: of 300 rows, about 150 trained"):
            monitor.update(X[OWN][::-1].astype(np.float32))
        with warnings.catch_warnings(action="error"):
            monitor.update(X[NEW])
            monitor.update(X[NEW][:1])


# The audit


def test_the_audit_catches_own_rows_in_any_form():
    for rows, labels in (FORMS["reversed"], FORMS["single precision"], FORMS["with noise"], FORMS["one row less"]):
        for model in (fitted(), piped()):
            answers = model.predict(rows)
            certificate = certify(lambda _, answers=answers: answers, rows, labels)  # nobody sees the model in it
            (line,) = own_lines(certificate, model, rows, labels)
            assert not line.passed
            assert "trained its voters" in line.detail


def test_the_audit_says_what_it_has_seen_of_new_rows():
    for model in (fitted(), piped()):
        certificate = certify(model, X[NEW], Y[NEW])
        (line,) = own_lines(certificate, model, X[NEW], Y[NEW])
        assert line.passed
        assert not line.on_trust
        assert line.detail == "none of 269 rows equals one that the model keeps a witness of"


def test_without_witnesses_nothing_is_said_to_be_known(tmp_path):
    fitted().save(tmp_path / "m.certivote")
    model = load(tmp_path / "m.certivote")
    model.witnesses_ = None
    with pytest.warns(UserWarning, match="Whether CertifiedVoteClassifier was made from these rows was not checked"):
        certificate = certify(model, X[NEW], Y[NEW])
    (line,) = own_lines(certificate, model, X[NEW], Y[NEW])
    assert line.on_trust
    assert "not checked" in line.detail
    stripped = [line for line in verify(model.certificate_, model) if line.what == "witnesses of its rows"]
    assert [line.on_trust for line in stripped] == [True]
    model.save(tmp_path / "stripped.certivote")
    model = load(tmp_path / "stripped.certivote")
    assert all(line.passed for line in verify(model.certificate_, model, X[OWN], Y[OWN], refit=True))


def test_witnesses_of_other_rows_are_caught(tmp_path):
    fitted().save(tmp_path / "m.certivote")
    model, other = load(tmp_path / "m.certivote"), CertifiedVoteClassifier("dis-b", "forest", random_state=0)
    assert (model.witnesses_.train == fitted().witnesses_.train).all()
    assert all(line.passed for line in verify(model.certificate_, model, X[OWN], Y[OWN]))
    model.witnesses_ = other.fit(X[OWN] + 1.0, Y[OWN]).witnesses_
    failed = [line.what for line in verify(model.certificate_, model, X[OWN], Y[OWN]) if not line.passed]
    assert failed == ["witnesses among the rows"]
    model.witnesses_ = CertifiedVoteClassifier("dis-b", "forest", random_state=0).fit(X[:280], Y[:280]).witnesses_
    failed = [line.what for line in verify(model.certificate_, model) if not line.passed]
    assert failed == ["witnesses of its rows"]


# Tables of any kind


def mixed(n, seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n).astype(float),
            "site": rng.choice(["north", "south", "west"], n),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D"),
            "dose": rng.normal(size=n).round(3),
        }
    )
    frame.loc[rng.random(n) < 0.1, "dose"] = np.nan
    return frame, np.where(frame["age"] + 20 * rng.normal(size=n) > 50, "ill", "well")


def test_a_row_is_the_same_however_its_values_are_stored():
    from certivote.voters import ColumnEncoder, Preprocessed

    frame, labels = mixed(400, 1)
    voters = Preprocessed(ColumnEncoder(), "forest")
    model = CertifiedVoteClassifier("dis-b", voters, random_state=0).fit(frame, labels)
    assert certify(model, *mixed(300, 2)).deployed_part.n == 300
    forms = {
        "objects": frame.astype(object),
        "categories": frame.assign(site=frame["site"].astype("category")),
        "whole numbers": frame.assign(age=frame["age"].astype("Int64")),
        "numbers as texts": frame.assign(age=frame["age"].map("{:.2f}".format)),
        "dates as texts": frame.assign(day=frame["day"].dt.strftime("%Y-%m-%d")),
        "another clock": frame.assign(day=frame["day"].dt.tz_localize("UTC")),
        "other index": frame.set_index(np.arange(400) + 7),
    }
    for name, rows in forms.items():
        with pytest.raises(ValueError, match="was made from: of 400 rows, about"):
            certify({name: model}, rows[::-1], labels[::-1])


def test_rows_of_a_sparse_matrix_are_recognised():
    rng = np.random.default_rng(0)
    rows = rng.poisson(0.2, size=(300, 40)) * rng.random((300, 40))
    labels = (rows.sum(axis=1) > np.median(rows.sum(axis=1))).astype(int)
    model = CertifiedVoteClassifier("dis-b", "forest", random_state=0).fit(sparse.csr_array(rows), labels)
    for same in (sparse.csr_array(rows[::-1]), sparse.csc_matrix(rows[::-1]), rows[::-1]):
        with pytest.raises(ValueError, match="was made from"):
            certify(model, same, labels[::-1])


def test_with_folds_and_without_training_rows_own_rows_are_recognised_too():
    for split, voters in (("cross", "forest"), (3, "forest"), ("none", [fitted()])):
        rows, labels = (X[NEW], Y[NEW]) if split == "none" else (X[OWN], Y[OWN])
        model = CertifiedVoteClassifier("holdout", voters, split=split, random_state=0).fit(rows, labels)
        with pytest.raises(ValueError, match="was made from"):
            certify(model, rows[::-1], labels[::-1])


# False alarms


def share_of_halves_taken_for_own(rows, labels, halves=100):
    """How often one random half is refused after a vote was fitted to the other; and that this half itself is."""
    rng, refused = np.random.default_rng(0), 0
    for seed in range(halves):
        places = rng.permutation(len(labels))
        first, second = places[: len(places) // 2], places[len(places) // 2 :]
        vote = CertifiedVoteClassifier("holdout", [DummyClassifier()], split="single", random_state=seed)
        vote.fit(rows[first], labels[first])
        with suppress(ValueError):
            certify(vote, rows[second], labels[second])
            refused -= 1
        refused += 1
        if seed < 3:
            with pytest.raises(ValueError, match="was made from"):
                certify(vote, rows[first], labels[first])
    return refused / halves


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["tictactoe", "mushrooms", "haberman"])
def test_honest_halves_of_discrete_tables_are_not_refused(name):
    if not os.environ.get("CERTIVOTE_DATA"):
        pytest.skip("the benchmark data are not here: set CERTIVOTE_DATA to their folder")
    data = load_data(name)
    assert share_of_halves_taken_for_own(data.X, data.y) <= 0.01


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("values", [3, 6, 30])
def test_honest_halves_of_a_table_full_of_repeats_are_not_refused(values):
    """Of 3^5 and 6^5 kinds of rows; with 30 values, hardly any repeat."""
    rng = np.random.default_rng(values)
    rows = (values * rng.random((600, 5)) ** 2).astype(int)
    assert share_of_halves_taken_for_own(rows, rng.integers(0, 2, 600)) <= 0.01


def test_fresh_rows_of_numbers_are_never_refused():
    rng = np.random.default_rng(0)
    for _ in range(50):
        sizes = rng.integers(20, 400, size=2)
        vote = CertifiedVoteClassifier("holdout", [DummyClassifier()], split="single", random_state=0)
        vote.fit(rng.normal(size=(sizes[0], 3)), np.arange(sizes[0]) % 2)
        certify(vote, rng.normal(size=(sizes[1], 3)), np.arange(sizes[1]) % 2)


def test_one_row_that_comes_again_and_again_is_no_own_row():
    """Such as the readings of a sensor that is switched off."""
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(400, 3)), rng.integers(0, 2, 400)
    rows[:2] = 0.0
    model = CertifiedVoteClassifier("holdout", "forest", random_state=0).fit(rows[:200], labels[:200])
    rows[250:300] = 0.0
    assert certify(model, rows[200:], labels[200:]).deployed_part.n == 200


# Where it is stored


def test_witnesses_are_few_in_the_model_and_none_in_the_certificate(tmp_path):
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(30_000, 2)), rng.integers(0, 2, 30_000)
    model = CertifiedVoteClassifier("holdout", [DummyClassifier()], split="single", random_state=0).fit(rows, labels)
    assert len(model.witnesses_.train) == len(model.witnesses_.certify) == 10_000
    assert "witness" not in model.certificate_.to_json()
    with pytest.raises(ValueError, match=r"of 300 rows, about \d+ trained its voters and about \d+ certified"):
        certify(model, rows[:300], labels[:300])
    assert all(line.passed for line in verify(model.certificate_, model, rows, labels))


def test_a_refit_gives_the_same_witnesses():
    again = fitted().refit(X[OWN], Y[OWN])
    assert again.witnesses_.key == fitted().witnesses_.key
    assert (again.witnesses_.certify == fitted().witnesses_.certify).all()
