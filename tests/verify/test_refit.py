"""What only training again shows: voters, hyper-priors, draws and price lists that were made by looking."""

import dataclasses
import importlib
from importlib.metadata import PackageNotFoundError

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

pytest.importorskip("flint", reason="proofs need python-flint: install certivote[verify]")

from kinds import case, forest, rows, trees
from options import as_objects

from certivote import CertifiedVoteClassifier, load, verify
from certivote.certificate import recorded_parameters
from certivote.theory.families import FAMILIES
from certivote.voters import Forest, Mixed

RUN = importlib.import_module("certivote.pipeline.run")


def failures(clf, X, y, refit=True):
    return {check.what for check in verify(clf.certificate_, clf, X, y, refit=refit) if not check.passed}


def fit(method="dis-r", voters=None, seed=5, noise=1.5, **options):
    X, y = rows(2, noise)
    return (
        CertifiedVoteClassifier(**as_objects(method, voters=voters or forest(), random_state=seed, **options)).fit(
            X, y
        ),
        X,
        y,
    )


def passing_as(clf, voters):
    """The classifier as if it had been given these voters."""
    clf.voters = clf.voter_set_ = voters
    own, ((_, text),) = clf.certificate_.provenance.parameters, recorded_parameters({"voters": voters})
    parameters = tuple((name, text if name == "voters" else value) for name, value in own)
    origin = dataclasses.replace(clf.certificate_.provenance, parameters=parameters)
    clf.certificate_ = dataclasses.replace(clf.certificate_, provenance=origin, came_fitted=False)
    return clf


class AllRows(Forest):
    """A forest that is trained on all rows, whatever it is given."""

    def fit(self, X, y, classes, rng):
        return super().fit(*rows(2, 1.5), classes, rng)


@pytest.mark.parametrize("split", ["single", "cross"])
def test_voters_trained_on_certified_rows_are_caught(split):
    estimator = clone(forest().estimator).set_params(max_depth=None, n_estimators=9)
    clf, X, y = fit("dis-r", AllRows(estimator), split=split)
    honest, _, _ = fit("dis-r", Forest(estimator), split=split)
    assert clf.certificate_.bound < 0.8 * honest.certificate_.bound
    clf = passing_as(clf, Forest(estimator))
    assert failures(clf, X, y, refit=False) == set()
    assert {"refit, voters", "refit, bounds", "refit, errors", "refit, vote masses"} <= failures(clf, X, y)
    assert failures(honest, X, y) == set()


def test_a_hyper_prior_picked_by_looking_is_caught(monkeypatch):
    X, y = rows(2, 1.5)
    with monkeypatch.context() as patch:
        learn = RUN.informed_weights

        def look(voters, training, labels, loss, rng, entities):
            weights = learn(voters, training, labels, loss, rng, entities)
            errors = [
                np.mean(voters.votes(X).masses(np.eye(len(weights))[j]).argmax(1) != (y == "yes")) for j in range(4)
            ]
            return np.exp(-20 * np.array(errors)) / np.exp(-20 * np.array(errors)).sum()

        patch.setattr(RUN, "informed_weights", look)
        clf, X, y = fit("dis-r", prior="informed")
    assert failures(clf, X, y, refit=False) == set()
    assert "refit, hyper-prior" in failures(clf, X, y)


def test_a_draw_picked_by_looking_is_caught(monkeypatch):
    """The best of many draws, recorded as the only one."""
    honest, X, y = fit("dis-r", prior=0.5)
    found, kind = [], type(FAMILIES["dirichlet"])
    draw = kind.draw
    for seed in range(12):
        with monkeypatch.context() as patch:
            other = np.random.default_rng(seed)
            patch.setattr(kind, "draw", lambda self, parameters, rng, other=other: draw(self, parameters, other))
            found.append(fit("dis-r", prior=0.5)[0])
    clf = min(found, key=lambda clf: clf.certificate_.bound)
    assert clf.certificate_.bound < honest.certificate_.bound
    assert failures(clf, X, y, refit=False) == set()
    failed = failures(clf, X, y)
    assert {"refit, draw", "refit, bounds"} <= failed
    assert not {"refit, voters", "refit, hyper-prior", "refit, what was learned"} & failed


def test_a_draw_that_was_shifted_is_caught(monkeypatch):
    """Weights that are a softmax do not see a common summand, but the density ratio does."""
    with monkeypatch.context() as patch:
        kind = type(FAMILIES["logistic-normal"])
        draw = kind.draw

        def shifted(self, parameters, rng):
            drawn = draw(self, parameters, rng)
            return dataclasses.replace(drawn, point=drawn.point - 0.25)

        patch.setattr(kind, "draw", shifted)
        clf, X, y = fit("dis-r", family="logistic-normal", prior=0.5)
    honest, _, _ = fit("dis-r", family="logistic-normal", prior=0.5)
    assert clf.weights_ == pytest.approx(honest.weights_, abs=1e-12)
    assert clf.certificate_.deployed_part.penalty != pytest.approx(honest.certificate_.deployed_part.penalty, abs=1e-3)
    assert failures(clf, X, y, refit=False) == set()
    assert {"refit, draw", "refit, bounds"} <= failures(clf, X, y)


def test_a_forged_part_that_is_not_deployed_is_caught():
    """Its vote is not in the model: until a new fit, it is named as taken on trust, and with it the average."""
    honest, X, y = fit("dis-r", split="cross")
    better, _, _ = fit("dis-r", Forest(clone(forest().estimator).set_params(max_depth=1)), split="cross")
    other = 1 - honest.certificate_.deployed
    parts = list(honest.certificate_.parts)
    parts[other] = better.certificate_.parts[other]
    assert parts[other] != honest.certificate_.parts[other]
    mean = sum(part.bound for part in parts) / 2
    honest.certificate_ = dataclasses.replace(
        honest.certificate_, parts=tuple(parts), average_bound=float(np.nextafter(mean, 1.0))
    )
    checks = verify(honest.certificate_, honest, X, y)
    assert {check.what for check in checks if not check.passed} <= {"deployed vote", "bound"}
    named = {field for check in checks for field in check.fields}
    assert {"average_bound", f"parts[{other}].votes_digest", f"parts[{other}].statement.errors"} <= named
    assert {"refit, voters", "refit, bounds"} <= failures(honest, X, y)


def test_another_seed_is_caught():
    clf, X, y = fit()
    origin = dataclasses.replace(clf.certificate_.provenance, entropy=(6,))
    clf.certificate_ = dataclasses.replace(clf.certificate_, provenance=origin)
    assert failures(clf, X, y, refit=False) == {"row numbers", "seed of the model"}
    assert {"refit, row numbers", "refit, voters"} <= failures(clf, X, y)


def test_parameters_other_than_those_of_the_fit_are_caught():
    clf, X, y = fit("dis-r", trees())
    assert failures(clf, X, y) == set()
    clf = passing_as(clf, Forest(clone(forest().estimator).set_params(n_estimators=3)))
    assert "refit, voters" in failures(clf, X, y)


@pytest.mark.parametrize("state", [None, 3, np.random.RandomState(7)], ids=str)
def test_a_fit_can_be_repeated_whatever_its_random_state_was(state):
    clf, X, y = fit("dis-b", seed=state)
    again = clf.refit(X, y)
    assert again.certificate_ == clf.certificate_
    assert np.array_equal(again.predict_proba(X), clf.predict_proba(X))
    assert failures(clf, X, y) == set()


@pytest.mark.parametrize("slim", [False, True])
@pytest.mark.parametrize("method", ["dis-b", "smv-mc"])
def test_a_model_that_was_saved_can_be_refitted(method, slim, tmp_path):
    X, y = rows(2, 1.5)
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    clf = CertifiedVoteClassifier(method, forest(), random_state=5).fit(table, y)
    clf.save(tmp_path / "model.certivote", slim=slim)
    model = load(tmp_path / "model.certivote")
    assert failures(model, table, y) == set()


def test_voters_that_answer_alike_on_the_rows_of_the_data_alone_are_caught():
    """Without missing values, no row shows where a tree sends them."""
    clf, X, y = fit("dis-b")
    assert failures(clf, X, y) == set()
    trees = clf.voters_.trees
    turned = dataclasses.replace(trees, missing_left=~trees.missing_left)
    clf.voters_ = dataclasses.replace(clf.voters_, trees=turned)
    assert failures(clf, X, y, refit=False) == set()
    assert failures(clf, X, y) == {"refit, members"}


def test_a_slim_model_leaves_the_votes_of_all_voters_to_trust(tmp_path):
    X, y = rows(2, 1.5)
    for seed in range(20):
        clf = CertifiedVoteClassifier("dis-r", "forest", prior=1e-3, random_state=seed).fit(X, y)
        if clf.weights_.min() == 0:
            break
    clf.save(tmp_path / "model.certivote", slim=True)
    model = load(tmp_path / "model.certivote")
    assert len(model.kept_voters_) < len(clf.weights_)
    checks = verify(model.certificate_, model, X, y)
    assert [str(check) for check in checks if not check.passed] == []
    assert "parts[0].votes_digest" in {field for check in checks for field in check.fields}
    checks = verify(model.certificate_, model, X, y, refit=True)
    assert [str(check) for check in checks if not check.passed] == []
    assert "parts[0].votes_digest" not in {field for check in checks for field in check.fields}


def test_of_classifiers_that_came_fitted_a_refit_says_what_it_does_not_show():
    X, y = rows(2, 1.5)
    clf = CertifiedVoteClassifier("dis-r", [LogisticRegression().fit(X, y), *trees()], random_state=5).fit(X, y)
    checks = verify(clf.certificate_, clf, X, y, refit=True)
    assert [str(check) for check in checks if not check.passed] == []
    (line,) = (check for check in checks if check.what == "refit, not compared")
    assert line.on_trust
    assert "compared by their answers on these rows alone: model." in line.detail
    assert "model.voters.fields.classifiers (sklearn.linear_model._logistic.LogisticRegression)" in line.detail
    (line,) = (check for check in checks if check.what == "voters that came fitted" and check.on_trust)
    assert "what they were trained on, no fit shows" in line.detail
    assert not [
        check for check in verify(*three(fit("dis-r")), refit=True) if check.on_trust and "fitted" in check.what
    ]


def three(fitted):
    clf, X, y = fitted
    return clf.certificate_, clf, X, y


def test_other_versions_are_named_where_something_differs():
    clf, X, y = fit()
    versions = tuple(
        (name, "0.1" if name == "numpy" else number) for name, number in clf.certificate_.provenance.versions
    )
    origin = dataclasses.replace(clf.certificate_.provenance, versions=versions)
    clf.certificate_ = dataclasses.replace(clf.certificate_, provenance=origin)
    assert failures(clf, X, y) == set()
    clf.certificate_ = dataclasses.replace(clf.certificate_, provenance=dataclasses.replace(origin, entropy=(6,)))
    told = {check.what: check.detail for check in verify(*three((clf, X, y)), refit=True) if not check.passed}
    assert "may come from other versions: numpy 0.1 recorded" in told["refit, voters"]


def test_other_rows_are_a_failed_check_and_no_error():
    clf, X, y = fit()
    assert "rows" in failures(clf, X[:-20], y[:-20])
    one = np.where(y == "yes", "no", y)
    assert "refit" in failures(clf, X, one)


def test_a_refit_needs_the_data():
    certificate = case("dis-b").model.certificate_
    with pytest.raises(ValueError, match="give model, X and y"):
        verify(certificate, case("dis-b").model, refit=True)


def test_the_classifier_itself_stays_as_it_is():
    clf, X, y = fit()
    before = (clf.certificate_, clf.weights_.copy())
    again = clf.refit(X, y)
    assert again is not clf
    assert again.random_state == clf.random_state
    assert clf.certificate_ is before[0]
    assert np.array_equal(clf.weights_, before[1])


def test_a_booster_of_another_version_is_not_comparable(monkeypatch):
    """Also where the record names no version, or the package is not there: what was not compared has not passed."""
    pytest.importorskip("lightgbm")
    clf, X, y = fit("dis-b", Mixed(kinds=["random forest", "lightgbm"]))
    assert failures(clf, X, y) == set()
    honest = clf.certificate_
    names = dict(honest.provenance.versions)
    room = importlib.import_module("certivote.verify._rows")

    def only_refit(said):
        assert failures(clf, X, y, refit=False) == set()
        checks = [check for check in verify(clf.certificate_, clf, X, y, refit=True) if check.what.startswith("refit")]
        assert [(check.what, check.passed) for check in checks] == [("refit", False)]
        assert checks[0].detail.startswith(f"not comparable: lightgbm {said}")

    for recorded in (
        {**names, "lightgbm": "1.2.3"},
        {name: text for name, text in names.items() if name != "lightgbm"},
    ):
        origin = dataclasses.replace(honest.provenance, versions=tuple(recorded.items()))
        clf.certificate_ = dataclasses.replace(honest, provenance=origin)
        only_refit(f"{recorded.get('lightgbm', 'no version')} recorded, {names['lightgbm']} here")
    clf.certificate_ = honest
    original = room.version

    def without(name):
        if name == "lightgbm":
            raise PackageNotFoundError(name)
        return original(name)

    monkeypatch.setattr(room, "version", without)
    only_refit(f"{names['lightgbm']} recorded, not installed here")


def test_kinds_that_did_not_race_are_caught():
    clf, X, y = fit("dis-b", Mixed(kinds=["random forest", "linear"]))
    honest = clf.certificate_
    for change in ({"raced": ("random forest", "linear", "catboost")}, {"kept": ("boosting",)}):
        part = dataclasses.replace(honest.parts[0], **change)
        clf.certificate_ = dataclasses.replace(honest, parts=(part,))
        assert failures(clf, X, y) == {"refit, voters"}
        fields = {field for check in verify(clf.certificate_, clf, X, y) for field in check.fields}
        assert {"parts[0].raced", "parts[0].kept"} <= fields
