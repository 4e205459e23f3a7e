"""Sensitivity: the threshold is the largest that is certified, and false alarms pay for what could have chosen it."""

import math

import numpy as np
import pytest
from fits import cancer, forest
from sure_models import Says, account, clopper_pearson, two

from certivote import CertifiedVoteClassifier, certify
from certivote.certificate import number_down
from certivote.promises import Sensitivity

YES_NO = Says(["no", "yes"])


def screened(mass, ill, promise, **parameters):
    y = np.where(ill, "yes", "no")
    return certify(YES_NO, two(mass), y, promises=[promise], random_state=0, **parameters).promises[1]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    ill = np.arange(900) < 300
    # Multiples of 1/64: many ties.
    return np.round(64 * np.where(ill, rng.beta(5, 2, 900), rng.beta(2, 5, 900))) / 64, ill


@pytest.fixture(scope="module")
def vote():
    promises = [Sensitivity(0.9)]
    return CertifiedVoteClassifier("dis-b", forest(9, max_depth=2), promises=promises, random_state=0).fit(*cancer())


@pytest.mark.parametrize("at_least", [0.5, 0.9, 0.97])
def test_the_threshold_is_the_largest_mass_that_is_certified(rows, at_least):
    mass, ill = rows
    record = screened(mass, ill, Sensitivity(at_least, "yes"), delta=0.1)
    own = mass[ill]
    holds = [t for t in np.unique(own) if clopper_pearson(np.sum(own < t), 300, 0.09) <= 1 - at_least]
    below = own[own < max(holds)].max()
    assert below < record.thresholds[0] < max(holds)
    assert record.thresholds[0] == pytest.approx(max(max(holds) - 1e-9, (below + max(holds)) / 2), abs=1e-8)
    missed, alarms = record.statements
    assert (missed.kind, missed.label, missed.n, missed.errors) == ("missed", "yes", 300, np.sum(own < max(holds)))
    assert (alarms.n, alarms.errors) == (600, np.sum(mass[~ill] >= max(holds)))
    assert missed.bound == pytest.approx(clopper_pearson(missed.errors, 300, 0.09), rel=1e-9)
    assert alarms.bound == pytest.approx(clopper_pearson(alarms.errors, 600, 0.01), rel=1e-9)
    assert (missed.delta, alarms.delta) == (pytest.approx(0.09), pytest.approx(0.01))
    assert (record.chosen, record.value) == (0, at_least)


def test_too_few_are_found_in_no_more_runs_than_delta_allows():
    rng, delta, missed, alarms = np.random.default_rng(1), 0.2, 0, 0
    ill = np.arange(160) < 80
    for _ in range(150):
        # The mass of ill cases is uniform: a threshold t misses a share t of them.
        mass = np.where(ill, rng.random(160), rng.random(160) ** 2)
        record = Sensitivity(0.8, "yes").make(account(two(mass), ill.astype(int), ("no", "yes"), delta))
        (t,) = record.thresholds
        missed += t > 0.2
        alarms += 1.0 - math.sqrt(t) > record.statements[1].bound
    # Three standard deviations beyond what each has: nine tenths and one tenth.
    assert missed <= 150 * 0.18 + 3 * math.sqrt(150 * 0.18 * 0.82)
    assert alarms <= 150 * 0.02 + 3 * math.sqrt(150 * 0.02 * 0.98)


def test_false_alarms_of_a_learned_vote_pay_for_every_threshold_that_its_level_could_choose(vote):
    certificate, record = vote.certificate_, vote.certificate_.promises[1]
    missed, alarms = record.statements
    tests = 1 + math.floor(0.1 * missed.n)
    assert tests > 5
    assert alarms.delta == pytest.approx(certificate.delta / (10 * tests))
    level = alarms.delta * math.exp(-certificate.deployed_part.penalty)
    assert alarms.bound == pytest.approx(clopper_pearson(alarms.errors, alarms.n, level), rel=1e-9)
    masses, y = vote.predict_proba(cancer()[0])[:, 1], cancer()[1]
    own = masses[vote.part_.certify][y[vote.part_.certify] == 1]
    assert np.searchsorted(np.sort(own), record.thresholds[0]) < tests


def test_with_entities_the_last_of_a_fixed_sequence_before_the_first_failure():
    rng = np.random.default_rng(2)
    ill = np.arange(600) % 3 == 0
    mass, people = np.where(ill, rng.beta(6, 2, 600), rng.beta(2, 6, 600)), np.arange(600) // 6
    record = screened(mass, ill, Sensitivity(0.7, "yes"), groups=people)
    (t,) = record.thresholds
    missed, alarms = record.statements
    assert 0.0 < t < 1.0
    assert t in [((k - 1 / 3) / 256) ** 2 for k in range(1, 257)]
    assert (missed.entities, len(missed.losses), missed.threshold) == (100, 100, t)
    assert alarms.delta == pytest.approx(0.05 / 2560)
    assert missed.bound <= 1 - 0.7
    # The share of each person's ill rows that are missed, in the order of the bets.
    share = sorted(np.mean(mass[ill & (people == person)] < t) for person in range(100))
    assert sorted(missed.losses) == pytest.approx(share)


@pytest.mark.parametrize("groups", [False, True])
def test_where_nothing_is_certified_the_record_says_how_many_rows_would_do(groups):
    def made(n):
        ill, mass = np.arange(n + 30) < n, np.where(np.arange(n + 30) < n, 0.9, 0.1)
        return screened(mass, ill, Sensitivity(0.9, "yes"), groups=np.arange(n + 30) if groups else None)

    record = made(10)
    assert (record.thresholds, record.chosen, record.value) == ((0.0,), None, None)
    assert [(entry.kind, entry.threshold, entry.n) for entry in record.statements] == [("missed", 0.0, 10)]
    label, needed = record.fixed
    assert (label.what, label.words, needed.what) == ("label", ("yes",), "rows needed")
    (n,) = map(int, needed.numbers)
    if not groups:
        assert n == math.ceil(math.log(0.9 * 0.05) / math.log(0.9))
    assert made(n - 1).chosen is None
    assert made(n).chosen == 0
    assert "not promised: no threshold is certified to find yes, so every case is flagged" in str(record)
    assert f"it takes at least {n}" in str(record)


def test_rounding_errors_of_a_mass_do_not_decide():
    """Masses that are computed again differ in their last bits; those of a table with few values are often tied."""
    rng = np.random.default_rng(0)
    ill = np.arange(900) % 3 == 0
    mass = np.round(np.where(ill, rng.beta(3, 2, 900), rng.beta(2, 4, 900)), 1)
    record = screened(mass, ill, Sensitivity(0.8, "yes"))
    missed, alarms = record.statements
    for other in (np.nextafter(mass, 0.0), np.nextafter(mass, 1.0), mass * (1 - 1e-12)):
        flags = other >= record.thresholds[0]
        assert (np.sum(ill & ~flags), np.sum(flags & ~ill)) == (missed.errors, alarms.errors)


def test_a_threshold_at_which_all_are_flagged_says_so():
    ill = np.arange(200) < 100
    text = str(screened(np.where(ill, 0.0, 0.1), ill, Sensitivity(0.9, "yes")))
    assert "every case is flagged, so that nothing is told apart" in text


def test_printed_thresholds_flag_no_fewer():
    assert number_down(0.001627749) == "0.001627"


def test_it_is_put_into_words(rows):
    text = str(screened(*rows, Sensitivity(0.9, "yes")))
    assert "a case is flagged where the mass of yes is at least" in text
    assert "yes: at least 90.00 % of such cases are flagged (missed: " in text
    assert "other cases: at most " in text


@pytest.mark.parametrize(
    ("classes", "label", "found"),
    [(("0", "1"), None, "1"), (("False", "True"), None, "True"), (("-1", "1"), None, "1"), (("1", "2"), 1, "1")],
)
def test_the_class_that_is_looked_for(classes, label, found):
    model = Says(classes)
    record = certify(model, two([0.9] * 50 + [0.1] * 50), [classes[1]] * 50 + [classes[0]] * 50, promises=[
        Sensitivity(0.9, label)
    ]).promises[1]  # fmt: skip
    assert record.fixed[0].words == (found,)


@pytest.mark.parametrize(
    ("promise", "classes", "said"),
    [
        (Sensitivity(), ("no", "yes"), "label='no' or label='yes'"),
        (Sensitivity(label="maybe"), ("no", "yes"), "label='no' or label='yes'"),
        (Sensitivity(), ("a", "b", "c"), "for two classes, and there are 3"),
    ],
)
def test_what_cannot_be_promised_is_refused(promise, classes, said):
    with pytest.raises(ValueError, match=said):
        promise.check(classes, None)


@pytest.mark.parametrize("parameters", [{"at_least": 1.0}, {"at_least": "all"}, {"at_least": True}, {"label": [1]}])
def test_parameters_are_checked(parameters):
    with pytest.raises(ValueError, match=f"{next(iter(parameters))} of Sensitivity must be"):
        Sensitivity(**parameters)
