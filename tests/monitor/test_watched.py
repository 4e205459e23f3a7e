"""Which statements of a certificate are watched, and what outcomes say of each."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from watching import COSTS, Sure, of_entities, of_masses, outcomes, plain, rich, sure_rows

from certivote import Monitor, certify_predictions
from certivote.promises import PROMISES, Abstention

ONE = 1 << 32
"""A loss of 1, as it is stored."""


def stream(monitor, promise, kind, label=""):
    wanted = (promise, kind, label)
    (found,) = [own for own in monitor.streams if (own.promise, own.statement.kind, own.statement.label) == wanted]
    return found


def table(n, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"age": rng.integers(20, 90, n), "sex": rng.choice(["f", "m", "x"], n)})


def test_every_promise_can_be_watched():
    streams = [*Monitor(rich(), watch="all").streams, *Monitor(of_masses(), watch="all").streams]
    assert {own.promise for own in streams} == {"bound", *PROMISES}


def test_alpha_is_divided():
    for watch in ((), "auto", "all", ["by class", "costs"]):
        monitor = Monitor(rich(), alpha=0.02, watch=watch)
        shares = [own.alpha for own in monitor.streams]
        assert sum(map(Fraction, shares)) <= Fraction(0.02)
        assert sum(shares) == pytest.approx(0.02)
        if len(shares) > 1:
            assert shares[0] == 0.01
            assert len(set(shares[1:])) == 1


def test_what_is_watched_by_itself_needs_nothing_else():
    names = [own.promise for own in Monitor(rich()).streams]
    assert sorted(set(names)) == ["bound", "by class", "costs", "precision"]
    assert [names.count(name) for name in ("bound", "by class", "costs", "precision")] == [1, 6, 1, 6]
    assert [own.promise for own in Monitor(rich(), watch="costs").streams] == ["bound", "costs"]


def test_unknown_promises_cannot_be_watched():
    with pytest.raises(ValueError, match=r"which the certificate does not promise.*by class"):
        Monitor(plain(), watch=["subgroups"])


@pytest.mark.parametrize(("watch", "lacks"), [("subgroups", "table="), ("abstention", "scores=")])
def test_what_a_statement_needs_is_asked_for(watch, lacks):
    monitor = Monitor(rich(), watch=[watch])
    with pytest.raises(ValueError, match=lacks):
        monitor.update([0], [0])
    with pytest.raises(ValueError, match="masses of all classes"):
        Monitor(of_masses(), watch=["sensitivity"]).update([0], [0], scores=[0.5])


def test_every_statement_counts_what_it_is_about():
    n = 4000
    truth, said = outcomes(n, 0.1, classes=3, seed=3)
    truth = np.where(np.arange(n) % 50 == 0, 9, truth)  # a class that nobody knew
    scores, rows = np.random.default_rng(4).random(n) - 0.2, table(n)
    monitor = Monitor(rich(), watch="all")
    monitor.update(truth, said, table=rows, scores=scores)
    wrong = truth != said

    def assert_counts(own, among, event):
        assert (own.n, own.errors) == (np.sum(among), np.sum(event[among])), own.name

    everything = np.ones(n, dtype=bool)
    assert_counts(stream(monitor, "bound", "error"), everything, wrong)
    for place in range(3):
        label = str(place)
        assert_counts(stream(monitor, "by class", "error", label), truth == place, wrong)
        assert_counts(stream(monitor, "by class", "false alarm", label), truth != place, said == place)
        assert_counts(stream(monitor, "precision", "imprecision", label), said == place, wrong)
        assert_counts(stream(monitor, "precision", "omission", label), said != place, truth == place)
    for sex in ("f", "m"):
        assert_counts(stream(monitor, "subgroups", "error", f"sex = {sex}"), rows["sex"].to_numpy() == sex, wrong)
    ages = [own for own in monitor.streams if own.statement.label.startswith("age") or " age" in own.statement.label]
    assert len(ages) == 4
    assert sum(own.n for own in ages) == n
    (record,) = [promise for promise in rich().promises if promise.name == "abstention"]
    answered = scores >= record.thresholds[0]
    assert_counts(stream(monitor, "abstention", "error when answered"), answered, wrong)
    assert_counts(stream(monitor, "abstention", "unanswered"), everything, ~answered)
    assert stream(monitor, "abstention", "error when answered").bound == 0.2
    costs = stream(monitor, "costs", "cost")
    dearest = max(COSTS.values())
    pairs = zip(truth.tolist(), said.tolist(), strict=True)
    paid = sum(COSTS.get(pair, dearest if pair[0] == 9 else 0.0) for pair in pairs)
    assert costs.n == n
    assert 0.0 <= paid / dearest - costs.errors < 1e-5
    (record,) = [promise for promise in rich().promises if promise.name == "costs"]
    assert costs.bound == pytest.approx(record.value / dearest)
    assert not any(own.statement.kind == "right" for own in monitor.streams)
    assert all(own.name.isprintable() for own in monitor.streams)


def test_ranges_are_those_of_the_certificate():
    monitor = Monitor(rich(), watch="subgroups")
    (record,) = [promise for promise in rich().promises if promise.name == "subgroups"]
    (edges,) = [fixed.numbers for fixed in record.fixed if fixed.what == "age"]
    rows = table(3000, seed=5)
    truth, said = outcomes(3000, 0.1, classes=3)
    monitor.update(truth, said, table=rows)
    numbers = np.searchsorted(edges, rows["age"], side="right")
    ages = [own for own in monitor.streams if "age" in own.statement.label]
    assert [own.n for own in ages] == [int(np.sum(numbers == place)) for place in range(len(edges) + 1)]
    with pytest.raises(ValueError, match="one column 'sex'"):
        monitor.update([0], [0], table=pd.DataFrame({"age": [3]}))


def test_masses_tell_what_is_missed_and_left_out():
    monitor = Monitor(of_masses(), watch="all")
    X, truth = sure_rows(3000, 1)
    masses = Sure().predict_proba(X)
    said = masses.argmax(axis=1)
    monitor.update(truth, said, scores=masses)
    sensitivity, sets = (
        next(promise for promise in of_masses().promises if promise.name == name) for name in ("sensitivity", "sets")
    )
    missed = stream(monitor, "sensitivity", "missed", "1")
    low = masses[:, 1] < sensitivity.thresholds[0]
    assert (missed.n, missed.errors) == (np.sum(truth == 1), np.sum(low[truth == 1]))
    assert missed.bound == pytest.approx(0.1)
    alarms = stream(monitor, "sensitivity", "false alarm when flagged", "1")
    assert (alarms.n, alarms.errors) == (np.sum(truth == 0), np.sum(~low[truth == 0]))
    for place, threshold in enumerate(sets.thresholds):
        own = stream(monitor, "sets", "left out", str(place))
        out = (masses[:, place] < threshold) & (said != place)
        assert (own.n, own.errors) == (np.sum(truth == place), np.sum(out[truth == place]))
    assert not monitor.alarm


def test_of_a_curve_all_points_are_watched():
    truth, said = outcomes(2000, 0.05)
    scores = np.random.default_rng(0).random(2000)
    certificate = certify_predictions(truth, said, scores=scores, promises=[Abstention(curve=4)])
    monitor = Monitor(certificate, watch="abstention")
    kinds = [own.statement.kind for own in monitor.streams]
    assert kinds.count("error when answered") == kinds.count("unanswered") == 4


def test_a_subgroup_that_grows_worse_is_found_where_the_whole_does_not():
    n = 6000
    truth, said = outcomes(n, 0.045, classes=3)
    rows = table(n)
    few = (rows["sex"] == "f").to_numpy() & (np.arange(n) % 6 == 0)
    said = np.where(few, (truth + 1) % 3, said)
    monitor = Monitor(rich(), watch="subgroups")
    monitor.update(truth, said, table=rows)
    assert [own.statement.label for own in monitor.alarms if own.promise == "subgroups"][:1] == ["sex = f"]


# Entities


def test_an_entity_is_judged_when_it_first_appears():
    monitor = Monitor(of_entities(), watch=())
    counted = monitor.update([0, 0, 1, 1, 1], [0, 1, 1, 1, 0], groups=["a", "a", "b", "a", "c"])
    assert (counted.counted, counted.entities, counted.later) == (5, 3, 0)
    (own,) = monitor.streams
    assert own.n == 3
    assert own.loss_sum == ONE // 3 + 0 + ONE
    later = monitor.update([0, 1, 1], [1, 1, 1], groups=["a", "d", "d"])
    assert (later.counted, later.entities, later.later) == (2, 1, 1)
    assert (own.n, own.loss_sum) == (4, ONE // 3 + ONE)
    assert "entities" in monitor.summary()
    assert any("first appears" in text for text in monitor.assumptions)


def test_statements_about_entities_take_the_rows_they_are_about():
    monitor = Monitor(of_entities())
    monitor.update([0, 0, 1, 1, 1], [0, 1, 1, 0, 0], groups=["a", "a", "a", "b", "b"])
    zero, one = stream(monitor, "by class", "error", "0"), stream(monitor, "by class", "error", "1")
    assert (zero.n, zero.loss_sum) == (1, ONE // 2)
    assert (one.n, one.loss_sum) == (2, ONE)
    again = monitor.update([0], [1], groups=["b"])
    assert (again.later, zero.n) == (1, 1)


def test_entities_must_be_named():
    with pytest.raises(ValueError, match=r"about entities \(groups\): give groups="):
        Monitor(of_entities()).update([0], [0])


def test_an_entity_counts_once_however_its_number_is_written():
    monitor = Monitor(of_entities(), watch=())
    found = [monitor.update([0, 1], [0, 1], groups=own).counted for own in ([7, 7], ["7.0", "07"], [7.0, 8.0])]
    assert found == [2, 0, 1]


def test_ids_come_before_entities():
    monitor = Monitor(of_entities(), watch=())
    counted = monitor.update([0, 0, 0], [0, 1, 1], groups=["a", "a", "b"], ids=[1, 1, 2])
    assert (counted.counted, counted.repeated, counted.entities) == (2, 1, 2)
    assert monitor.streams[0].loss_sum == ONE


def test_parts_of_losses_err_to_the_safe_side():
    """Losses are rounded down for the evidence, and the limit makes up for it."""
    monitor = Monitor(of_entities(), watch=())
    monitor.update([0] * 300, [1] * 100 + [0] * 200, groups=[number % 100 for number in range(300)])
    (own,) = monitor.streams
    assert own.loss_sum == 100 * (ONE // 3)
    assert own.error_so_far < 1 / 3 < own.error_limit
    assert math.isfinite(own.log_evidence)
