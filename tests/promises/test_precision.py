"""Precision and omissions, counted and computed by hand."""

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_iris

from certivote import Certificate, CertifiedVoteClassifier, certify_predictions
from certivote.promises import ByClass, Precision

RNG = np.random.default_rng(0)
TRUE = RNG.choice(["a", "b", "c"], size=600, p=[0.6, 0.3, 0.1])
SAID = np.where(RNG.random(600) < 0.2, RNG.choice(["a", "b", "c"], size=600), TRUE)


def clopper_pearson(errors, n, delta):
    return 1.0 if errors == n else stats.beta.ppf(1.0 - delta, errors + 1, n - errors)


def test_three_classes_by_hand():
    precision = certify_predictions(TRUE, SAID, promises=[Precision()]).promises[1]
    assert (precision.name, precision.delta, precision.parameters, precision.set_aside) == ("precision", 0.05, (), 0)
    assert [(entry.kind, entry.label) for entry in precision.statements] == [
        (kind, label) for label in "abc" for kind in ("imprecision", "omission")
    ]
    for entry in precision.statements:
        own = entry.label == SAID
        among, event = (own, entry.label != TRUE) if entry.kind == "imprecision" else (~own, entry.label == TRUE)
        assert (entry.n, entry.errors) == (among.sum(), (among & event).sum())
        assert entry.delta == 0.05 / 6
        expected = clopper_pearson(entry.errors, entry.n, 0.05 / 6)
        assert expected <= entry.bound <= expected * (1 + 1e-9)


def test_of_two_classes_the_omissions_of_one_are_the_imprecision_of_the_other():
    two = TRUE != "c"
    precision = certify_predictions(TRUE[two], SAID[two], promises=[Precision()]).promises[1]
    assert {entry.kind for entry in precision.statements[:2]} == {"imprecision", "omission"}  # "c" is an answer
    both = np.where(SAID == "c", "a", SAID)[two]
    precision = certify_predictions(TRUE[two], both, promises=[Precision()]).promises[1]
    assert [(entry.kind, entry.label) for entry in precision.statements] == [("imprecision", "a"), ("imprecision", "b")]


def test_a_class_that_is_never_answered_is_bounded_by_1():
    said = np.where(SAID == "c", "a", SAID)
    precision = certify_predictions(TRUE, said, promises=[Precision()]).promises[1]
    (never,) = [entry for entry in precision.statements if (entry.kind, entry.label) == ("imprecision", "c")]
    assert (never.n, never.errors, never.bound, never.risks) == (0, None, 1.0, ())
    assert "c: at least 0.00 % of such answers are right (it was never answered)" in str(precision)


@pytest.mark.parametrize("method", ["auto", "dis-r", "dis-v", "holdout"])
def test_of_a_vote(method):
    X, y = load_iris(return_X_y=True)
    clf = CertifiedVoteClassifier(method, "forest", promises=[Precision()], random_state=0).fit(X, y)
    by_class, precision = clf.certificate_.promises
    assert by_class.name == ByClass.name
    rows = clf.part_.certify
    said, true = clf.predict(X[rows]), y[rows]
    for entry in precision.statements:
        own = said == int(entry.label)
        assert entry.n == (own if entry.kind == "imprecision" else ~own).sum()
    wrong = sum(entry.errors for entry in precision.statements if entry.kind == "imprecision")
    assert wrong == (said != true).sum() == clf.certificate_.deployed_part.errors
    assert Certificate.from_json(clf.certificate_.to_json()) == clf.certificate_


def test_it_holds_for_means_over_entities():
    groups = np.repeat(np.arange(120), 5)
    precision = certify_predictions(TRUE, SAID, groups=groups, promises=[Precision()], random_state=0).promises[1]
    for entry in precision.statements:
        if entry.kind == "imprecision":
            own = entry.label == SAID
            assert (entry.entities, entry.n) == (len(np.unique(groups[own])), own.sum())
            wrong = [np.mean(TRUE[own & (groups == g)] != entry.label) for g in np.unique(groups[own])]
            assert sorted(entry.losses) == pytest.approx(sorted(wrong))
            assert entry.bound > np.mean(wrong)
    assert "means over new groups" in str(precision)
