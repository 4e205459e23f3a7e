"""A changed model: the sum holds where the truth is known, its own rows are refused, and forgeries are found."""

import dataclasses
import json

import numpy as np
import pytest
from auditor import clopper_pearson
from mpmath import mp
from scipy.stats import beta
from sklearn.ensemble import RandomForestClassifier

from certivote import CertifiedVoteClassifier, carry, certify, certify_predictions, recertify, verify
from certivote.certificate import CarriedCertificate, any_certificate


def rows(n, seed):
    """Cases of three classes that overlap."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    return rng.normal(size=(n, 3)) + 1.6 * np.eye(3)[y], np.array(["a", "b", "c"])[y]


@pytest.fixture(scope="module")
def models():
    X, y = rows(600, 0)
    clf = CertifiedVoteClassifier("dis-b", "forest", random_state=0).fit(X, y)
    other = RandomForestClassifier(30, random_state=1).fit(X, y)
    return clf, other, carry(clf.certificate_, clf, other, rows(2000, 1)[0])


def failed(record, **given):
    return [check.what for check in verify(record, **given) if not check.passed]


# What it says


def test_the_bound_is_the_sum_of_two_and_falls_to_the_old_one_as_differences_vanish():
    truth = ["a", "b"] * 500
    old = certify_predictions(truth, ["a", "b"] * 490 + ["a"] * 20)
    same = carry(old, truth, truth, delta_share=0.2)
    assert same.old_bound == pytest.approx(beta.ppf(1 - 0.04, 11, 990), rel=1e-9)
    assert same.disagreement.bound == pytest.approx(1 - 0.01 ** (1 / 1000), rel=1e-9)
    assert same.bound == pytest.approx(same.old_bound + same.disagreement.bound, rel=1e-12)
    changed = carry(old, truth, ["b", "b"] * 20 + ["a", "b"] * 480)
    assert changed.disagreement.errors == 20
    assert changed.disagreement.bound == pytest.approx(beta.ppf(1 - 0.01, 21, 980), rel=1e-9)
    assert changed.bound > same.bound
    assert same.follows == old.digest


def test_by_class_it_divides_by_the_share_of_the_class():
    truth = ["a"] * 300 + ["b"] * 700
    old = certify_predictions(truth, truth)
    made = carry(old, truth, ["b"] * 10 + ["a"] * 290 + ["b"] * 700)
    first, second = made.by_class
    assert [(entry.kind, entry.label, entry.differ.errors) for entry in made.by_class] == [
        ("error", "a", 10),
        ("error", "b", 0),
    ]
    part = 0.05 / 2
    half = 0.2 * part / 2
    assert first.old == pytest.approx(1 - (0.8 * part) ** (1 / 300), rel=1e-9)
    assert first.share == pytest.approx(1 - beta.ppf(1 - half, 701, 300), rel=1e-9)
    assert first.bound == pytest.approx(first.old + beta.ppf(1 - half, 11, 990) / first.share, rel=1e-9)
    assert second.bound < first.bound


def test_an_answer_that_no_class_is_differs(models):
    clf, _, _ = models
    X, _ = rows(100, 5)
    answers = clf.predict(X).astype(object)
    answers[:3] = "unknown"
    assert carry(clf, clf, answers, X).disagreement.errors == 3


def test_of_groups_both_sides_are_by_group():
    X, y = rows(900, 2)
    groups = np.arange(900) // 3
    clf = CertifiedVoteClassifier("dis-b", "forest", random_state=0).fit(X, y, groups=groups)
    new_rows = rows(600, 3)[0]
    other = RandomForestClassifier(30, random_state=1).fit(X, y)
    with pytest.raises(ValueError, match="give groups="):
        carry(clf, clf, other, new_rows)
    made = carry(clf, clf, other, new_rows, groups=np.arange(600) // 4)
    assert made.disagreement.entities == 150
    assert made.by_class == ()
    given = {"model": [clf, other], "X": new_rows}
    assert failed(made, **given, groups=np.arange(600) // 4) == []
    assert failed(made, **given, groups=np.arange(600) // 3) == ["digest of the answers", "disagreement counted"]
    plain = certify_predictions(["a", "b"] * 50, ["a", "b"] * 50)
    with pytest.raises(ValueError, match="leave groups out"):
        carry(plain, ["a", "b"] * 50, ["a", "b"] * 50, groups=np.arange(100))


# Where the truth is known


@pytest.mark.parametrize(("error", "moved"), [(0.05, 0.02), (0.3, 0.1)])
def test_it_fails_at_most_as_often_as_delta(error, moved):
    """Where the old model is right, the new one is wrong wherever it differs: then nothing is lost by the sum."""
    rng, failures, by_class, n_runs = np.random.default_rng(0), 0, 0, 400
    truth = error + (1 - error) * moved

    def draw(n):
        y = np.where(rng.random(n) < 0.4, "a", "b")
        flipped = np.where(y == "a", "b", "a")
        old = np.where(rng.random(n) < error, flipped, y)
        return y, old, np.where((old == y) & (rng.random(n) < moved), flipped, old)

    for _ in range(n_runs):
        y, old, _ = draw(200)
        certificate = certify_predictions(y, old, delta=0.2)
        _, old, new = draw(300)
        made = carry(certificate, old, new, delta_share=0.5)
        failures += made.bound < truth
        by_class += any(entry.bound < truth for entry in made.by_class)
    most = 0.2 * n_runs + 4 * np.sqrt(0.16 * n_runs)
    assert failures <= most
    assert by_class <= most


# What it refuses


def test_rows_that_made_either_model_are_refused(models):
    clf, other, _ = models
    X = rows(600, 0)[0]
    for first, second in ((clf, other), (clf, clf)):
        with pytest.raises(ValueError, match="rows that old was made from"):
            carry(clf, first, second, X[::-1])
    again = CertifiedVoteClassifier("dis-b", "forest", random_state=1).fit(*rows(500, 9))
    with pytest.raises(ValueError, match="rows that new was made from"):
        carry(clf, clf, again, rows(500, 9)[0])


def test_along_a_chain_and_of_other_models_nothing_is_carried(models):
    clf, other, made = models
    X = rows(300, 7)[0]
    with pytest.raises(ValueError, match="carried over itself"):
        carry(made, other, other, X)
    stranger = CertifiedVoteClassifier("dis-b", "forest", random_state=1).fit(*rows(500, 9))
    with pytest.raises(ValueError, match="another model than old"):
        carry(clf.certificate_, stranger, other, X)
    with pytest.raises(ValueError, match="delta_share"):
        carry(clf, clf, other, X, delta_share=1.0)
    with pytest.raises(ValueError, match="X is missing"):
        carry(clf, clf, other)
    with pytest.raises(ValueError, match="answer each row once"):
        carry(clf, ["a", "b"], ["a"])
    with pytest.raises(ValueError, match="none of the certificate's classes"):
        carry(clf, ["a", "z"], ["a", "b"])
    random = CertifiedVoteClassifier("smv-exact", "forest", random_state=0).fit(*rows(300, 4))
    with pytest.raises(ValueError, match="random vote"):
        carry(random, ["a"], ["a"])


# The record


@pytest.mark.parametrize("method", ["auto", "dis-b", "dis-r", "dis-v", "fo", "so", "bin", "c-bound", "holdout"])
def test_every_method_with_fixed_answers_is_carried_and_proved(method):
    X, y = rows(400, 0)
    y = np.where(y == "c", "b", y) if method == "c-bound" else y
    clf = CertifiedVoteClassifier(method, "forest", random_state=0, together=method == "dis-b").fit(X, y)
    new_rows = rows(500, 1)[0]
    other = RandomForestClassifier(20, random_state=1).fit(X, y)
    made = carry(clf, clf, other, new_rows)
    assert failed(made, model=[clf, other], X=new_rows, earlier=clf.certificate_) == []
    assert made.old_bound >= min(clf.certificate_.bound, 1.0)
    assert any_certificate(made.to_json()) == made


def test_it_is_read_back_printed_and_reported(models, tmp_path):
    _, _, made = models
    text = made.to_json()
    assert CarriedCertificate.from_json(text) == made
    assert CarriedCertificate.from_json(text).to_json() == text
    assert "they differ on at most" in " ".join(str(made).split())
    made.report(tmp_path / "r.html")
    assert "they differ on at most" in (tmp_path / "r.html").read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="Not a certificate"):
        CarriedCertificate.from_json(made.old.to_json())


def test_a_stranger_can_recompute_it_from_the_json():
    """With mpmath, from the numbers in the record alone."""
    truth = np.array(["a", "b"] * 400)
    old = np.where(np.arange(800) % 50 == 0, "b", truth)
    new = np.where(np.arange(800) % 30 == 1, "a", old)
    record = json.loads(carry(certify_predictions(truth, old), old, new, delta_share=0.3).to_json())
    part, share, slack = record["old"]["parts"][0]["statement"], record["delta_share"], 1 + 1e-9

    def limit(said, delta):
        with mp.workdps(30):
            return float(clopper_pearson(said["errors"], said["n"], delta))

    first, second = limit(part, (1 - share) * record["delta"]), limit(record["disagreement"], share * record["delta"])
    assert first + second <= record["bound"] <= (first + second) * slack
    made = record["old"]["promises"][0]
    one = made["delta"] / len(made["statements"])
    n_rows = sum(said["n"] for said in made["statements"])
    for entry, said in zip(record["by_class"], made["statements"], strict=True):
        least = 1 - limit({"errors": n_rows - said["n"], "n": n_rows}, share * one / 2)
        exact = limit(said, (1 - share) * one) + limit(entry["differ"], share * one / 2) / least
        assert exact <= entry["bound"] <= exact * slack


def test_a_vote_that_was_certified_again_and_one_of_answers_are_carried(models):
    clf, other, _ = models
    again = recertify(clf, *rows(400, 11))
    X = rows(300, 12)[0]
    made = carry(again, clf, other, X)
    assert failed(made, predictions={"old": clf.predict(X), "new": other.predict(X)}, X=X, earlier=again) == []
    assert failed(made, earlier=clf.certificate_) == ["follows"]
    several = certify({"one": clf, "two": other}, *rows(400, 13), random_state=0)
    answers = several.combine([clf.predict(X), other.predict(X)])
    assert failed(carry(several, answers, clf.predict(X))) == []


def test_forged_records_are_found(models):
    clf, other, made = models
    X = rows(2000, 1)[0]
    first = made.by_class[0]

    def with_first(**change):
        return {"by_class": (dataclasses.replace(first, **change), *made.by_class[1:])}

    fewer = dataclasses.replace(made.disagreement, errors=made.disagreement.errors - 1)
    forged = [
        {"bound": made.bound * 0.999},
        {"old_bound": made.old_bound * 0.999, "bound": made.bound * 0.999},
        {"disagreement": fewer},
        {"disagreement": dataclasses.replace(made.disagreement, bound=made.disagreement.bound * 0.9)},
        {"disagreement": dataclasses.replace(made.disagreement, delta=0.04)},
        {"disagreement": dataclasses.replace(made.disagreement, n=made.disagreement.n * 2)},
        {"delta": 0.01},
        {"delta_share": 0.1},
        {"by_class": made.by_class[1:]},
        {"answers_digest": "x"},
        {"schema_version": 7},
        {"old": dataclasses.replace(made.old, delta=0.01)},
        with_first(bound=first.bound * 0.99),
        with_first(old=first.old * 0.99, bound=first.bound * 0.99),
        with_first(share=first.share * 1.01),
        with_first(delta=first.delta * 2),
        with_first(differ=dataclasses.replace(first.differ, errors=0)),
    ]
    for change in forged:
        assert failed(dataclasses.replace(made, **change)), change
    assert failed(made, model=[clf, other], X=X) == []
    assert failed(made, model=[clf, other], X=X[::-1]) == ["rows", "digest of the answers"]
    assert "disagreement counted" in failed(made, model=[clf, clf], X=X)
    assert failed(made, model=[clf], X=X) == ["answers"]


def test_hostile_files_are_refused(models):
    content = json.loads(models[2].to_json())
    for change in (
        {"old": {}},
        {"bound": 2.0},
        {"disagreement": content["disagreement"] | {"errors": 10**6}},
        {"disagreement": content["disagreement"] | {"kind": "error"}},
        {"disagreement": content["disagreement"] | {"n": 0, "errors": 0}},
        {"old": content["old"] | {"deployed": 7}},
        {"old": content["old"] | {"schema_version": 9}},
        {"delta_share": 0.0},
        {"more": 1},
    ):
        with pytest.raises(ValueError, match="Not a certificate"):
            any_certificate(json.dumps(content | change))
