"""Costs: both forms recomputed apart from the library, how the form is chosen, and what is refused."""

import dataclasses
import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from fits import random_numbers
from scipy import stats
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier

from certivote import Certificate, CertifiedVoteClassifier, certify_predictions
from certivote.certificate import Fixed, confidence_nats
from certivote.maths.betting import betting_upper, order_free_upper
from certivote.promises import PROMISES, Costs
from certivote.voters import Forest

DELTA = 0.05
SCREENING = {("ill", "well"): 20, ("well", "ill"): 1}
THREE = {("a", "b"): 1, ("a", "c"): 4, ("b", "a"): 2.5, ("b", "c"): 0, ("c", "a"): 7, ("c", "b"): 1}


def upper(k, n, delta):
    return stats.beta.ppf(1 - delta, k + 1, n - k)


def answers_of(classes, n, seed, error=0.2):
    rng = np.random.default_rng(seed)
    true = rng.choice(classes, n)
    return true, np.where(rng.random(n) < error, rng.choice(classes, n), true)


def promise_of(costs, true, said, **given):
    certificate = certify_predictions(true, said, promises=[Costs(costs)], **given)
    assert Certificate.from_json(certificate.to_json()) == certificate
    return certificate.promises[1]


def test_levels_are_exact_tails_that_add_up():
    true, said = answers_of(["ill", "well"], 500, 0)
    promise = promise_of(SCREENING, true, said)
    assert promise.fixed == (Fixed("costs", (0.0, 20.0, 1.0, 0.0), ("ill", "well")), Fixed("form", (), ("levels",)))
    errors, missed = int(np.sum(true != said)), int(np.sum((true == "ill") & (said == "well")))
    expected = [("cost at least", "1.0", 1.0, errors), ("cost at least", "20.0", 20.0, missed)]
    got = [(entry.kind, entry.label, entry.threshold, entry.errors) for entry in promise.statements]
    assert got == expected
    bounds = [upper(k, 500, DELTA / 2) for k in (errors, missed)]
    assert [entry.bound for entry in promise.statements] == pytest.approx(bounds, rel=1e-8)
    assert [entry.delta for entry in promise.statements] == [DELTA / 2] * 2
    exact = Fraction(promise.statements[0].bound) + 19 * Fraction(promise.statements[1].bound)
    assert exact <= Fraction(promise.value) <= exact * (1 + Fraction(1, 10**15))
    assert promise.value == pytest.approx(bounds[0] + 19 * bounds[1])


def test_one_level_is_the_bound_on_errors():
    true, said = answers_of(["ill", "well"], 300, 1)
    promise = promise_of({("ill", "well"): 3, ("well", "ill"): 3}, true, said)
    assert promise.fixed[1].words == ("levels",)
    assert promise.value == pytest.approx(3 * upper(int(np.sum(true != said)), 300, DELTA))


def test_levels_use_nothing_random_and_bets_do():
    two, three = answers_of(["ill", "well"], 200, 0), answers_of(["a", "b", "c"], 200, 0)
    by_levels = certify_predictions(*two, promises=[Costs(SCREENING)])
    assert by_levels.promises[1].fixed[1].words == ("levels",)
    assert (by_levels.provenance.entropy, by_levels.provenance.fresh) == ((), False)
    assert len(certify_predictions(*three, promises=[Costs(THREE)]).provenance.entropy) == 4
    assert certify_predictions(*three, promises=[Costs(THREE)], random_state=1).provenance.entropy == ()


@pytest.mark.parametrize("random_state", [None, 0])
def test_bets_are_on_costs_in_parts_of_the_largest(random_state):
    true, said = answers_of(["a", "b", "c"], 400, 2)
    certificate = certify_predictions(true, said, promises=[Costs(THREE)], random_state=random_state)
    promise = certificate.promises[1]
    assert promise.fixed[1].words == ("bets",)
    assert promise.fixed[0].numbers == (0.0, 1.0, 4.0, 2.5, 0.0, 0.0, 7.0, 1.0, 0.0)
    (entry,) = promise.statements
    costs = np.array([THREE.get((t, s), 0.0) for t, s in zip(true, said, strict=True)])
    # Who chose the seed could know the order of the bets: they then need none.
    in_order = random_state is None
    order = random_numbers(certificate, "promises").permutation(400) if in_order else np.arange(400)
    assert (entry.kind, entry.label, entry.n, entry.errors) == ("cost", "", 400, int(np.sum(costs > 0)))
    assert entry.losses == pytest.approx(costs[order] / 7, rel=1e-14)
    for loss, cost in zip(entry.losses, costs[order].tolist(), strict=True):
        assert Fraction(loss) * 7 >= Fraction(cost)  # rounded up, never down
    level = math.log(DELTA)
    limit = betting_upper(costs[order] / 7, level, level) if in_order else order_free_upper(costs / 7, level)
    assert entry.bound == pytest.approx(limit, rel=1e-9)
    assert Fraction(promise.value) >= 7 * Fraction(entry.bound)
    assert promise.value == pytest.approx(7 * entry.bound, rel=1e-15)
    assert f"the mean cost seen is {costs.mean():.4g}" in str(promise)


def test_right_answers_may_cost_too():
    true, said = answers_of(["ill", "well"], 200, 3)
    promise = promise_of({**SCREENING, ("ill", "ill"): 0.5}, true, said)
    costs = {**SCREENING, ("ill", "ill"): 0.5}
    mean = np.mean([costs.get(pair, 0) for pair in zip(true, said, strict=True)])
    assert promise.fixed[0].numbers == (0.5, 20.0, 1.0, 0.0)
    assert promise.value > mean
    assert promise.statements[0].errors == sum(costs.get(pair, 0) > 0 for pair in zip(true, said, strict=True))


def test_tiny_costs_are_not_lost():
    true, said = ["a", "b", "c"] * 30, ["b", "b", "c"] * 30
    costs = dict.fromkeys(itertools.permutations("abc", 2), 1.0) | {("a", "b"): 5e-324, ("b", "a"): 0.5}
    (entry,) = promise_of(costs, true, said).statements
    assert all(loss > 0 for loss in sorted(entry.losses)[-30:])
    assert entry.errors == 30


@pytest.mark.parametrize("random_state", [None, 0])
@pytest.mark.parametrize("costs", [SCREENING, {**SCREENING, ("ill", "ill"): 2}])
def test_entities_are_bet_on(costs, random_state):
    true, said = answers_of(["ill", "well"], 240, 4)
    patients = np.repeat(np.arange(60), 4)
    promise = promise_of(costs, true, said, groups=patients, random_state=random_state)
    assert promise.fixed[1].words == ("bets",)
    (entry,) = promise.statements
    own = np.array([costs.get((t, s), 0.0) for t, s in zip(true, said, strict=True)])
    means = sorted(own[patients == patient].mean() / 20 for patient in range(60))
    assert (entry.n, entry.entities) == (240, 60)
    assert sorted(entry.losses) == pytest.approx(means, rel=1e-14)
    level = math.log(DELTA)
    limit = order_free_upper(entry.losses, level) if random_state == 0 else betting_upper(entry.losses, level, level)
    assert entry.bound == pytest.approx(limit, rel=1e-9)
    assert "new groups" in str(promise)


def blobs(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return np.column_stack([y + rng.normal(0, 0.6, n), rng.normal(size=n)]), np.array(["a", "b", "c"])[y]


@pytest.fixture(scope="module")
def fitted():
    X, y = blobs(400, 0)
    even = dict.fromkeys(itertools.permutations("abc", 2), 1) | {("b", "c"): 20}
    graded = {pair: 1 + place for place, pair in enumerate(itertools.permutations("abc", 2))}
    promises = [Costs(even), Costs(graded), Costs(dict.fromkeys(itertools.permutations("abc", 2), 2))]
    return (
        CertifiedVoteClassifier("dis-b", Forest(RandomForestClassifier(20)), promises=promises, random_state=0).fit(
            X, y
        ),
        X,
        y,
    )


def test_training_rows_choose_the_form(fitted):
    clf, _, _ = fitted
    two, six, one = clf.certificate_.promises[1:]
    assert [promise.fixed[1].words[0] for promise in (two, six, one)] == ["levels", "bets", "levels"]
    trained = clf.certificate_.deployed_part.training_rows
    assert [promise.guide_rows for promise in (two, six, one)] == [trained, trained, 0]
    assert [promise.set_aside for promise in (two, six, one)] == [0, 0, 0]


def test_the_drawn_vote_pays_as_its_bound_does(fitted):
    clf, X, y = fitted
    rows, nats = clf.part_.certify, clf.certificate_.deployed_part.penalty
    two, six, _ = clf.certificate_.promises[1:]
    said = clf.predict(X[rows])
    dear = int(np.sum((y[rows] == "b") & (said == "c")))
    assert two.statements[1].errors == dear
    assert two.statements[1].bound == pytest.approx(upper(dear, len(rows), DELTA / 2 * math.exp(-nats)), rel=1e-8)
    (entry,) = six.statements
    graded = dict(clf.promises[1].costs)
    mean = np.mean([graded.get(pair, 0.0) for pair in zip(y[rows].tolist(), said.tolist(), strict=True)])
    assert 6 * np.mean(entry.losses) == pytest.approx(mean)
    expected = betting_upper(entry.losses, math.log(DELTA) - nats, math.log(DELTA))
    assert entry.bound == pytest.approx(expected, rel=1e-9)
    assert clone(clf).promises == clf.promises


@pytest.mark.parametrize("method", ["dis-r", "holdout"])
def test_other_theorems_hold_for_mean_costs(method):
    X, y = blobs(400, 1)
    graded = {pair: 1 + place for place, pair in enumerate(itertools.permutations("abc", 2))}
    clf = CertifiedVoteClassifier(
        method, Forest(RandomForestClassifier(20)), promises=[Costs(graded)], random_state=0
    ).fit(X, y)
    promise, part = clf.certificate_.promises[1], clf.certificate_.deployed_part
    rows = clf.part_.certify
    mean = np.mean([graded.get(pair, 0) for pair in zip(y[rows], clf.predict(X[rows]), strict=True)])
    (entry,) = promise.statements
    assert 6 * entry.risks[0] == pytest.approx(mean)
    assert bool(entry.losses) == (method == "holdout")
    if method == "dis-r":
        nats = (part.penalty + confidence_nats(clf.certificate_, part, entry)) / part.n
        q, p = entry.risks[0], entry.bound
        assert q * math.log(q / p) + (1 - q) * math.log((1 - q) / (1 - p)) == pytest.approx(nats, rel=1e-6)


@pytest.mark.parametrize(
    ("truth", "costs"),
    [
        ([0, 1] * 50, {(0, 1): 5, (1, 0): 1}),
        ([0, 1] * 50, {("0", "1"): 5, ("1", "0"): 1}),
        ([0.0, 1.0] * 50, {(0, 1): 5, (1.0, 0.0): 1}),
        ([False, True] * 50, {(False, True): 5, (True, False): 1}),
        ([False, True] * 50, {(0, 1): 5, (1, 0): 1}),
        ([0, 1] * 50, {(np.int64(0), np.int64(1)): np.float64(5), (np.int64(1), np.int64(0)): 1}),
    ],
)
def test_labels_are_matched_however_they_are_written(truth, costs):
    assert promise_of(costs, truth, truth).fixed[0].numbers == (0.0, 5.0, 1.0, 0.0)


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ({}, "costs must be a dictionary such as"),
        ([("a", "b", 1)], "costs must be a dictionary such as"),
        ({"ab": 1}, "costs must have keys .true class, answer.; got 'ab'"),
        ({("a", "b", "c"): 1}, "costs must have keys"),
        ({("a", None): 1}, "costs must have labels that are text, numbers or booleans; got None"),
        ({("a", math.nan): 1}, "costs must have labels"),
        ({("a", "b"): -1}, "costs must be finite numbers from 0 on; got -1 for .'a', 'b'."),
        ({("a", "b"): math.inf}, "costs must be finite numbers from 0 on; got inf"),
        ({("a", "b"): math.nan}, "costs must be finite numbers"),
        ({("a", "b"): True}, "costs must be finite numbers"),
        ({("a", "b"): "1"}, "costs must be finite numbers"),
        ({("a", "b"): 10**400}, "costs must be finite numbers"),
        ({("a", "b"): 0}, "costs must hold a cost that is not 0"),
    ],
)
def test_costs_are_checked(costs, message):
    with pytest.raises(ValueError, match=message):
        Costs(costs)


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ({("ill", "well"): 1}, r"costs has no cost for \(well, ill\): give one for every"),
        ({**SCREENING, ("ill", "unsure"): 1}, "costs has the label 'unsure', which is none of the classes ill, well"),
        ({(1, 0): 1, (0, 1): 2}, "costs has the label 0, which is none"),
    ],
)
def test_costs_must_fit_the_classes(costs, message):
    with pytest.raises(ValueError, match=message):
        certify_predictions(["ill", "well"] * 50, ["ill", "well"] * 50, promises=[Costs(costs)])


def test_one_pair_has_one_cost():
    with pytest.raises(ValueError, match="two costs for one pair"):
        certify_predictions([0, 1] * 50, [0, 1] * 50, promises=[Costs({(0, 1): 1, ("0", 1): 2, (1, 0): 1})])


def test_parameters_can_be_written_down():
    costs = Costs({("well", "ill"): 1, ("ill", "well"): 20, (1, True): 0.5})
    assert repr(costs) == "Costs({('ill', 'well'): 20.0, ('well', 'ill'): 1.0, (1, True): 0.5})"
    assert eval(repr(costs)) == costs
    other = Costs({(1, True): 0.5, ("ill", "well"): 20, ("well", "ill"): 1})
    assert (other, hash(other)) == (costs, hash(costs))
    assert PROMISES["costs"].from_parameters(json.loads(json.dumps(costs.parameters))) == costs
    for wrong in ({"costs": {"a": 1}}, {"costs": [["a", "b"]]}, {"costs": [["a", "b", 1]], "other": 1}):
        with pytest.raises(ValueError, match="a list of"):
            Costs.from_parameters(wrong)
    with pytest.raises(ValueError, match="costs must have labels"):
        Costs.from_parameters({"costs": [[["a"], "b", 1]]})


def test_words_round_up_and_bear_strange_records():
    true, said = answers_of(["ill", "well"], 500, 0)
    promise = promise_of(SCREENING, true, said)
    first, *_, last = str(promise).splitlines()
    shown = float(first.rsplit(" ", 1)[1].rstrip("."))
    assert promise.value <= shown <= promise.value * 1.001
    assert last == "  costs: 20 for well where it is ill, 1 for ill where it is well"
    for changes in ({"fixed": ()}, {"value": None}, {"statements": ()}, {"fixed": (Fixed("costs", (1.0,), ()),)}):
        assert "the mean cost of a case is" in str(dataclasses.replace(promise, **changes))
    ten = {(f"c{i}", f"c{j}"): 1 + abs(i - j) for i in range(10) for j in range(10) if i != j}
    many = certify_predictions([f"c{i}" for i in range(10)] * 20, ["c0"] * 200, promises=[Costs(ten)]).promises[1]
    assert "costs of 90 kinds of answers, up to 10" in str(many)


@pytest.mark.parametrize(("classes", "costs"), [(["ill", "well"], SCREENING), (["a", "b", "c"], THREE)])
def test_the_expected_cost_is_bounded_as_often_as_it_says(classes, costs):
    """Known populations, in 40 samples at 0.5."""
    rng, error, failures = np.random.default_rng(0), 0.3, 0
    k = len(classes)
    mean = sum(costs.values()) * error / k**2
    for _ in range(40):
        true = rng.choice(classes, 120)
        said = np.where(rng.random(120) < error, rng.choice(classes, 120), true)
        true[:k] = said[:k] = classes  # each class occurs
        promise = certify_predictions(true, said, delta=0.5, promises=[Costs(costs)]).promises[1]
        failures += promise.value < mean * (120 - k) / 120
    assert stats.binom.sf(failures - 1, 40, 0.5) > 1e-3
