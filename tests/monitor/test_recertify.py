"""The same vote, certified on new rows: its own bound, and the certificate before it by name."""

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline

from certivote import Certificate, CertifiedVoteClassifier, certify, certify_predictions, recertify, verify
from certivote.certificate import Earlier
from certivote.promises import Abstention, Costs, Precision, PredictionSets, Sensitivity, Subgroups


def rows(n, seed, shift=0.0):
    """Cases of two classes that overlap, more so with a shift."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    return rng.normal(size=(n, 3)) + (2.0 - shift) * y[:, None], np.array(["ill", "well"])[y]


@pytest.fixture(scope="module")
def clf():
    return CertifiedVoteClassifier("dis-b", "forest", random_state=0).fit(*rows(400, 0))


def naming(certificate):
    """What a certificate that follows this one records of it."""
    made = certificate
    return Earlier(
        made.digest, made.provenance.created, made.loss, made.groups, made.delta, made.bound, made.deployed_part.n
    )


def failed(checks):
    return [str(check) for check in checks if not check.passed]


def test_the_bound_is_that_of_clopper_and_pearson_on_the_new_rows(clf):
    X, y = rows(500, 1)
    made = recertify(clf, X, y)
    errors = int(np.count_nonzero(clf.predict(X) != y))
    exact = beta.ppf(0.95, errors + 1, 500 - errors)
    assert made.deployed_part.errors == errors
    assert exact <= made.bound <= exact * (1 + 1e-9)
    assert made.provenance.follows == clf.certificate_.digest
    assert made.delta == clf.certificate_.delta


def test_it_is_what_certify_makes_but_for_what_it_follows(clf):
    X, y = rows(300, 2)
    groups = np.arange(300) // 3
    asked = {"delta": 0.01, "groups": groups, "promises": [Subgroups([0])], "together": True, "random_state": 0}
    made, plain = recertify(clf, X, y, **asked), certify(clf, X, y, **asked)
    assert made != plain
    origin = dataclasses.replace(made.provenance, earlier=None, watched=())
    assert dataclasses.replace(made, provenance=origin) == plain


def test_the_record_says_what_it_follows_and_comes_back_from_json(clf):
    made = recertify(clf, *rows(300, 3))
    again = Certificate.from_json(made.to_json())
    assert again == made
    assert again.digest == made.digest
    (first,) = made.provenance.since
    assert first.startswith(f"The certificate before, of {clf.certificate_.provenance.created[:10]}, bounded the error")
    assert "on 200 rows." in first
    text = made.details()
    assert f"the certificate with SHA-256 {clf.certificate_.digest[:16]}..." in text
    assert "chosen without regard to how they came out" in " ".join(text.split())
    assert "chosen without regard" not in certify(clf, *rows(300, 3)).details()


def test_rows_that_made_the_vote_are_refused(clf):
    X, y = rows(400, 0)
    with pytest.raises(ValueError, match=r"X has rows that .* was made from"):
        recertify(clf, X, y)
    certified = clf.part_.certify
    with pytest.raises(ValueError, match=r"X has rows that .* was made from"):
        recertify(clf, X[certified], y[certified])


def test_predictions_alone_go_with_a_certificate(clf):
    (X, y), (newer, truth) = rows(300, 4), rows(200, 5)
    before = certify_predictions(y, clf.predict(X), delta=0.1)
    made = recertify(before, y=truth, predictions=clf.predict(newer))
    assert made.provenance.follows == before.digest
    assert made.delta == 0.1
    assert made.bound == certify_predictions(truth, clf.predict(newer), delta=0.1).bound
    with pytest.raises(ValueError, match="These 300 rows have made the certificate before"):
        recertify(before, y=y, predictions=clf.predict(X))
    third = recertify(made, y=y, predictions=clf.predict(X))
    assert third.provenance.follows == made.digest
    assert recertify(clf.certificate_, y=truth, predictions=clf.predict(newer)).bound > 0


def test_several_models_answer_as_one():
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=600)
    answers = {f"model {k}": np.where(rng.random(600) < 0.2, 1 - truth, truth) for k in range(3)}
    before = certify_predictions(truth[:300], {name: said[:300] for name, said in answers.items()})
    combined = before.combine([said[300:] for said in answers.values()])
    made = recertify({"the vote": before}, y=truth[300:], predictions=combined)
    assert made.deployed_part.errors == int(np.count_nonzero(combined != truth[300:]))
    assert made.provenance.follows == before.digest
    assert json.loads(dict(made.provenance.parameters)["models"]) == ["the vote"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"y": None}, "y is missing"),
        ({"X": None}, "give the rows X"),
        ({"predictions": ["ill"] * 50}, "no predictions"),
        ({"model": "certificate"}, "no X"),
        ({"model": {"a": 1, "b": 2}}, "a dictionary of 2"),
        ({"delta": 1.5}, "delta"),
    ],
)
def test_what_does_not_go_together_is_refused(clf, change, words):
    X, y = rows(50, 6)
    given = {"model": clf, "X": X, "y": y, **change}
    if given["model"] == "certificate":
        given["model"] = clf.certificate_
    with pytest.raises(ValueError, match=words):
        recertify(**given)


def test_a_model_without_a_certificate_is_refused():
    with pytest.raises(TypeError, match=r"Use certivote\.certify"):
        recertify(object(), *rows(50, 7))


# Verified -------------------------------------------------------------------------------------------------------------


def test_it_is_verified_with_the_certificate_before(clf):
    X, y = rows(300, 8)
    made = recertify(clf, X, y)
    alone = verify(made, clf, X, y)
    assert not failed(alone)
    assert {"what it follows", "what has happened since"} <= {check.what for check in alone if check.on_trust}
    checks = verify(made, clf, X, y, earlier=clf.certificate_)
    assert not failed(checks)
    assert "what it follows" not in {check.what for check in checks if check.on_trust}
    assert {"follows", "made after it", "rows of its own"} <= {check.what for check in checks}


def test_another_certificate_before_is_noticed(clf):
    made = recertify(clf, *rows(300, 8))
    other = certify(clf, *rows(300, 9))
    assert any("follows" in line for line in failed(verify(made, earlier=other)))
    assert any("follows" in line for line in failed(verify(other, earlier=clf.certificate_)))
    later = dataclasses.replace(
        clf.certificate_, provenance=dataclasses.replace(clf.certificate_.provenance, created="2999-01-01T00:00:00Z")
    )
    forged = dataclasses.replace(made, provenance=dataclasses.replace(made.provenance, earlier=naming(later)))
    assert any("made after it" in line for line in failed(verify(forged, earlier=later)))


@pytest.mark.parametrize("changes", [{"bound": 0.9}, {"delta": 0.5}, {"n": 7}, {"groups": "x"}])
def test_other_numbers_of_the_certificate_before_are_noticed(clf, changes):
    made = recertify(clf, *rows(300, 8))
    told = dataclasses.replace(made.provenance.earlier, **changes)
    forged = dataclasses.replace(made, provenance=dataclasses.replace(made.provenance, earlier=told))
    assert not failed(verify(forged))
    (line,) = failed(verify(forged, earlier=clf.certificate_))
    assert "what it followed" in line


def test_the_same_rows_again_are_noticed(clf):
    made = certify(clf, *rows(300, 8))
    again = dataclasses.replace(made, provenance=dataclasses.replace(made.provenance, earlier=naming(made)))
    assert any("SAME rows" in line for line in failed(verify(again, earlier=made)))


def test_no_fit_follows_another(clf):
    origin = dataclasses.replace(clf.certificate_.provenance, earlier=naming(clf.certificate_))
    forged = dataclasses.replace(clf.certificate_, provenance=origin)
    assert any("earlier certificate" in line for line in failed(verify(forged)))


# Coverage -------------------------------------------------------------------------------------------------------------


def test_it_is_too_small_no_more_often_than_delta():
    """Errors of a fixed vote at a known rate, of 60 rows at a time: 1,000 new certificates at delta = 0.2."""
    rng, rate, n, runs = np.random.default_rng(0), 0.15, 60, 1000
    truth = np.array([0, 1] * (n // 2))
    before = certify_predictions(truth[:10], truth[:10])
    made: dict[int, float] = {}
    failures = 0
    for _ in range(runs):
        wrong = rng.random(n) < rate
        errors = int(wrong.sum())
        if errors not in made:
            made[errors] = recertify(before, y=truth, predictions=np.where(wrong, 1 - truth, truth), delta=0.2).bound
        failures += made[errors] < rate
    assert 0 < failures <= 0.2 * runs + 3 * np.sqrt(0.16 * runs)


# What the certificate before was made with is not forgotten


def visits(n_patients, seed):
    """Several visits of each patient, whose errors go together."""
    rng = np.random.default_rng(seed)
    patient = np.repeat(np.arange(n_patients), 5)
    y = rng.integers(2, size=len(patient))
    X = rng.normal(size=(len(patient), 3)) + 2.0 * y[:, None] + 1.5 * rng.normal(size=(n_patients, 1))[patient]
    return X, np.array(["ill", "well"])[y], patient + 1000 * seed


@pytest.fixture(scope="module")
def ward():
    X, y, patient = visits(80, 1)
    promises = [Precision(), Abstention(max_error=0.3)]
    clf = CertifiedVoteClassifier("dis-b", "forest", promises=promises, delta=0.1, together=True, random_state=0)
    return clf.fit(X, y, groups=pd.Series(patient, name="patient_id"))


@pytest.fixture(scope="module")
def season():
    X, y = rows(400, 0)
    return CertifiedVoteClassifier("dis-b", "forest", random_state=0).fit(X, y, order=np.arange(400))


def test_groups_of_the_certificate_must_be_given_or_left_out_on_purpose(ward):
    X, y, patient = visits(60, 2)
    for certify_again in (recertify, certify):
        with pytest.raises(ValueError, match=r"certified with groups \('patient_id'\).*groups=False"):
            certify_again(ward, X, y)
    again, alone = recertify(ward, X, y, groups=patient, random_state=1), recertify(ward, X, y, groups=False)
    assert (again.groups, again.deployed_part.entities) == ("groups", 60)
    assert alone.groups == ""
    assert alone.bound < again.bound
    assert certify(ward, X, y, 0.1, groups=False).groups == ""


def test_groups_of_a_certificate_alone_are_not_forgotten_either(ward):
    X, y, patient = visits(60, 2)
    answers = {"y": y, "predictions": ward.predict(X), "promises": []}
    with pytest.raises(ValueError, match="groups=False"):
        recertify(ward.certificate_, **answers)
    assert recertify(ward.certificate_, groups=patient, **answers).deployed_part.entities == 60
    given = certify_predictions(y, ward.predict(X), groups=patient)
    with pytest.raises(ValueError, match="groups=False"):
        recertify(given, **answers)


def test_a_vote_inside_another_model_is_found(ward):
    X, y, patient = visits(60, 2)
    inside = [ward.predict, lambda rows: ward.predict(rows), make_pipeline(FrozenEstimator(ward)), {"it": ward}]
    for model in inside:
        with pytest.raises(ValueError, match="certified with groups"):
            certify(model, X, y)
        assert certify(model, X, y, groups=patient).deployed_part.entities == 60


def test_the_time_of_the_certificate_is_not_forgotten(season):
    X, y = rows(200, 3)
    for certify_again in (recertify, certify):
        with pytest.raises(ValueError, match=r"certified with order \('order'\).*order=False"):
            certify_again(season, X, y)
    assert recertify(season, X, y, order=np.arange(200)).order == "order"
    assert recertify(season, X, y, order=False).order == ""
    assert recertify(season, X, y, groups=np.arange(200) // 2).groups == "groups"


def test_promises_of_the_certificate_are_made_again(ward):
    X, y, patient = visits(60, 2)
    again = recertify(ward, X, y, groups=patient)
    assert [each.name for each in again.promises] == ["by class", "precision", "abstention"]
    assert [each.parameters for each in again.promises] == [each.parameters for each in ward.certificate_.promises]
    assert (again.delta, again.together) == (0.1, True)
    others = recertify(ward, X, y, groups=patient, promises=[Sensitivity(0.8, "ill")], together=False)
    assert [each.name for each in others.promises] == ["by class", "sensitivity"]
    assert not others.together
    assert [each.name for each in recertify(ward, X, y, groups=patient, promises=()).promises] == ["by class"]
    assert not failed(verify(again, ward, X, y, groups=patient, earlier=ward.certificate_))


@pytest.mark.parametrize(
    "promise",
    [
        Precision(),
        Abstention(curve=5),
        Sensitivity(0.8, "ill"),
        PredictionSets(0.9),
        Subgroups(0, (0, 1), bins=2),
        Costs({("ill", "well"): 5.0, ("well", "ill"): 1.0}),
    ],
    ids=repr,
)
def test_every_promise_keeps_its_parameters(promise):
    before = CertifiedVoteClassifier("dis-b", "forest", promises=[promise], random_state=0).fit(*rows(400, 0))
    again = recertify(before, *rows(400, 7))
    assert again.promises[1].parameters == before.certificate_.promises[1].parameters


def test_promises_that_answers_cannot_make_again_are_named():
    X, y = rows(400, 0)
    rng = np.random.default_rng(0)
    said, sure = np.where(rng.random(400) < 0.2, "ill", y), rng.random(400)
    promises = [Abstention(max_error=0.3), Subgroups("age", bins=2)]
    table = pd.DataFrame({"age": X[:, 0]})
    before = certify_predictions(y[:200], said[:200], scores=sure[:200], table=table[:200], promises=promises)
    new = {"y": y[200:], "predictions": said[200:]}
    with pytest.raises(ValueError, match=r"Abstention\(.*give scores=, or promises= without it"):
        recertify(before, **new)
    with pytest.raises(ValueError, match=r"Subgroups\('age'.*give table=, or promises= without it"):
        recertify(before, scores=sure[200:], **new)
    again = recertify(before, scores=sure[200:], table=table[200:], **new)
    assert [each.name for each in again.promises] == ["by class", "abstention", "subgroups"]
    vote = CertifiedVoteClassifier("dis-b", "forest", promises=[PredictionSets(0.9)], random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="give a certivote model in place of its certificate"):
        recertify(vote.certificate_, **new)
    with pytest.raises(ValueError, match="table and scores go with predictions"):
        recertify(vote, *rows(50, 9), scores=sure[:50])


def test_of_another_loss_the_record_says_what_was_bounded():
    before = CertifiedVoteClassifier("dis-b", "forest", loss="half-weight", random_state=0).fit(*rows(400, 0))
    again = recertify(before, *rows(300, 3))
    assert again.loss == "plurality"
    assert "bounded the probability that half of the weight is wrong by" in again.provenance.since[0]
