"""Prediction sets: the largest certified threshold, for all cases or for each class."""

import math

import numpy as np
import pytest
from fits import forest
from sklearn.datasets import load_wine
from sure_models import Says, account, clopper_pearson, two

from certivote import CertifiedVoteClassifier, certify
from certivote.promises import PredictionSets

ABC = Says(["a", "b", "c"])


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 600)
    masses = rng.dirichlet([1.0, 1.0, 1.0], 600) + 0.5 * np.eye(3)[codes]
    return np.round(32 * masses / masses.sum(axis=1, keepdims=True)) / 32, codes


def made(rows, promise, **parameters):
    masses, codes = rows
    return certify(ABC, masses, ABC.classes_[codes], promises=[promise], random_state=0, **parameters).promises[1]


def left_out(rows, t):
    """Where the true class is neither the answer nor of mass t."""
    masses, codes = rows
    return (masses[np.arange(len(codes)), codes] < t) & (ABC.predict(masses) != ABC.classes_[codes])


@pytest.mark.parametrize("coverage", [0.6, 0.85, 0.95])
def test_the_threshold_is_the_largest_that_is_certified(rows, coverage):
    record = made(rows, PredictionSets(coverage))
    masses, codes = rows
    own = np.unique(masses[np.arange(600), codes])
    holds = [t for t in own if clopper_pearson(left_out(rows, t).sum(), 600, 0.05) <= 1 - coverage]
    (entry,) = record.statements
    assert record.thresholds == (entry.threshold,)
    assert max(own[own < max(holds)], default=0.0) < entry.threshold < max(holds)
    assert (entry.kind, entry.label, entry.n, entry.errors) == ("left out", "", 600, left_out(rows, max(holds)).sum())
    assert (record.value, record.chosen, record.fixed, entry.delta) == (coverage, None, (), 0.05)


def test_each_class_has_a_threshold_and_a_part_of_delta(rows):
    masses, codes = rows
    record = made(rows, PredictionSets(0.8, by_class=True))
    assert [entry.label for entry in record.statements] == ["a", "b", "c"]
    for code, (entry, t) in enumerate(zip(record.statements, record.thresholds, strict=True)):
        among = codes == code
        own = np.unique(masses[among, code])
        counts = [left_out(rows, each)[among].sum() for each in own]
        assert entry.delta == 0.05 / 3
        assert (entry.n, entry.threshold) == (among.sum(), t)
        holds = max(
            each for each, k in zip(own, counts, strict=True) if clopper_pearson(k, among.sum(), 0.05 / 3) <= 1 - 0.8
        )
        assert max(own[own < holds], default=0.0) < t < holds
    assert "a: at least 80.00 % of such cases have their class in the set (threshold " in str(record)


def test_true_classes_are_left_out_too_often_in_no_more_runs_than_delta_allows():
    rng, failed = np.random.default_rng(1), 0
    for _ in range(150):
        # All are "yes", and the mass of it is uniform: wrong below one half, and left out below t.
        mass = rng.random(120)
        record = PredictionSets(0.8).make(account(two(mass), np.ones(120, dtype=int), ("no", "yes"), 0.2))
        failed += record.thresholds[0] > 0.2
    assert failed <= 150 * 0.2 + 3 * math.sqrt(150 * 0.2 * 0.8)


def test_a_vote_that_is_right_often_enough_needs_no_second_class():
    masses = two(np.r_[np.full(95, 0.75), np.full(5, 0.25), np.full(100, 0.0)])
    y = ["yes"] * 100 + ["no"] * 100
    record = certify(Says(["no", "yes"]), masses, y, promises=[PredictionSets(0.9)]).promises[1]
    assert record.thresholds == (pytest.approx(1.0),)
    assert record.thresholds[0] < 1.0
    assert record.statements[0].errors == 5


@pytest.mark.parametrize("method", ["dis-b", "dis-r", "dis-v"])
def test_of_a_learned_vote_by_every_theorem(method):
    X, y = load_wine(return_X_y=True)
    promise = PredictionSets(0.6)
    vote = CertifiedVoteClassifier(method, forest(5, max_depth=2), promises=[promise], random_state=0).fit(X[:, :4], y)
    record, rows = vote.certificate_.promises[1], vote.part_.certify
    (entry,) = record.statements
    assert entry.bound <= 1 - 0.6
    masses = vote.predict_proba(X[rows, :4])
    own = masses[np.arange(len(rows)), y[rows]]
    out = (own < record.thresholds[0]) & (vote.predict(X[rows, :4]) != y[rows])
    assert (entry.errors, entry.n) == (out.sum(), len(rows))
    assert not vote.predict_sets(X[rows, :4])[np.arange(len(rows)), y[rows]][out].any()
    assert vote.predict_sets(X[rows, :4])[np.arange(len(rows)), y[rows]].sum() == len(rows) - out.sum()


def test_with_entities_thresholds_are_on_the_grid(rows):
    record = made(rows, PredictionSets(0.8), groups=np.arange(600) // 4)
    (entry,) = record.statements
    assert 0.0 < entry.threshold < 1.0
    assert entry.threshold in [((k - 1 / 3) / 256) ** 2 for k in range(1, 257)]
    assert (entry.entities, entry.errors) == (150, left_out(rows, entry.threshold).sum())
    assert entry.bound <= 1 - 0.8


def test_where_nothing_is_certified_sets_hold_every_class(rows):
    few = tuple(each[:20] for each in rows)
    record = made(few, PredictionSets(0.95))
    assert (record.thresholds, record.value) == ((0.0,), 0.95)
    (entry,) = record.statements
    assert (entry.errors, entry.n) == (0, 20)
    (needed,) = record.fixed
    assert (needed.what, needed.numbers) == ("rows needed", (math.ceil(math.log(0.05) / math.log(0.95)),))
    assert "it takes at least 59" in str(record)


@pytest.mark.parametrize("parameters", [{"coverage": 0}, {"coverage": float("nan")}, {"by_class": "yes"}])
def test_parameters_are_checked(parameters):
    with pytest.raises(ValueError, match=f"{next(iter(parameters))} of PredictionSets must be"):
        PredictionSets(**parameters)
