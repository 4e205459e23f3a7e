"""New rows without labels: alarms where they look different, rarely elsewhere, and columns named as a hint."""

import dataclasses
import json
import math
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier
from watching import with_content

from certivote import CertifiedVoteClassifier, DriftMonitor, Monitor
from certivote.maths.rank_bets import evidence_of_ranks
from certivote.monitor import StateFileError
from certivote.monitor._drift import candidates_of
from certivote.pipeline import Reference, on_grid
from certivote.voters import ColumnEncoder, Forest, Preprocessed

FEW = Forest(RandomForestClassifier(n_estimators=15))


def rows(n, seed=0, shift=0.0):
    """Rows of which the first column tells the class, surely where it is large."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    X[:, 0] = X[:, 0] * (1.0 - shift)
    return X, (X[:, 0] + 0.7 * rng.normal(size=n) > 0).astype(int)


@pytest.fixture(scope="module")
def model():
    return CertifiedVoteClassifier("holdout", FEW, split="single", random_state=0).fit(*rows(1200))


def test_rows_of_the_same_kind_are_no_news(model):
    monitor = DriftMonitor(model)
    assert str(monitor) == "No rows have been counted yet."
    counted = monitor.update(rows(3000, 1)[0])
    assert (counted.counted, monitor.n) == (3000, 3000)
    assert not monitor.alarm
    assert monitor.moved == ()
    assert "no alarm" in str(monitor)


def test_other_rows_are(model):
    monitor = DriftMonitor(model, random_state=0)
    monitor.update(rows(300, 1)[0])
    monitor.update(rows(300, 2, shift=0.8)[0], when="2026-02-01")
    assert monitor.alarm
    assert 300 < monitor.alarm_at < 520  # 412 to 469 with 40 other ways to break ties
    assert monitor.alarm_when == "2026-02-01"
    assert monitor.change_alarms > 0
    assert [each.column for each in monitor.moved] == ["0"]
    text = str(monitor)
    assert "the rows look different" in text
    assert "does not say that the error has grown" in text
    assert "moved most: 0." in text


def test_a_saved_model_sees_the_same(model, tmp_path):
    model.save(tmp_path / "model.certivote")
    one, other = (DriftMonitor(own, random_state=0) for own in (model, tmp_path / "model.certivote"))
    for monitor in (one, other):
        monitor.update(rows(500, 3, shift=0.3)[0])
    assert one.history == other.history
    assert one.log_change == other.log_change


def test_updates_may_be_cut_anyhow(model):
    X = rows(900, 4, shift=0.5)[0]
    one, many = (DriftMonitor(model, random_state=7) for _ in range(2))
    one.update(X)
    for start in range(0, 900, 70):
        many.update(X[start : start + 70])
    assert one.alarm_at == many.alarm_at
    assert one.log_evidence == pytest.approx(many.log_evidence, abs=1e-9)
    assert one.log_change == pytest.approx(many.log_change, abs=1e-8)
    assert np.array_equal(one.new_scores, many.new_scores)
    assert one.change_alarms == many.change_alarms


def test_a_row_counts_once(model):
    monitor = DriftMonitor(model)
    X = rows(10, 5)[0]
    assert monitor.update(X, ids=range(10)).counted == 10
    again = monitor.update(X, ids=range(5, 15))
    assert (again.counted, again.repeated, monitor.n) == (5, 5, 15)


def test_false_alarms_are_rare(model):
    """A model that learned no weights from these rows, and new rows from the same population."""
    count, monitors, alpha = 0, 60, 0.2
    for seed in range(monitors):
        fresh = CertifiedVoteClassifier("holdout", FEW, split="single", random_state=seed).fit(*rows(200, 100 + seed))
        monitor = DriftMonitor(fresh, alpha=alpha)
        monitor.update(rows(400, 1000 + seed)[0])
        count += monitor.alarm
    assert count <= monitors * alpha + 2.33 * math.sqrt(monitors * alpha)


def alarmed(model):
    monitor = DriftMonitor(model)
    monitor.update(rows(300, 1)[0])
    monitor.update(rows(400, 2, shift=0.9)[0])
    assert monitor.alarm
    return monitor


# Votes that the certification rows have chosen, or learned


def half_known(n, rng):
    """Rows of which voters are sure in four of five cases, and then right; elsewhere their majority is wrong."""
    y, sure = rng.integers(0, 2, n), rng.random(n) < 0.8
    return np.stack([np.where(sure, y, 1 - y), sure], axis=1).astype(float), y


class Says(BaseEstimator):
    """A voter that was fixed beforehand: all agree where they are sure, and two of three elsewhere."""

    def __init__(self, number=0):
        self.number, self.classes_, self.n_features_in_ = number, np.array([0, 1]), 2

    def fit(self, X, y):
        return self

    def predict(self, X):
        X = np.asarray(X)
        return np.where(X[:, 1] > 0.5, X[:, 0], (X[:, 0] + (self.number == 0)) % 2).astype(int)


PARTS = 50


@pytest.fixture(scope="module")
def best_part():
    """The deployed vote is the best of fifty parts, on the rows of which it is surest."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rng = np.random.default_rng(0)
        voters = [Says(number) for number in range(3)]
        clf = CertifiedVoteClassifier("holdout", voters, split=PARTS, random_state=0).fit(*half_known(PARTS * 50, rng))
    errors = [part.errors for part in clf.certificate_.parts]
    assert clf.certificate_.deployed_part.errors == min(errors)
    return clf


def chosen_reference(clf, rng):
    """How sure the vote is of the rows of the part in which it errs least, of so many parts."""
    unsure = int(rng.binomial(50, 0.2, PARTS).min())
    masses = clf.predict_proba(np.array([[1.0, 0.0]] * unsure + [[1.0, 1.0]] * (50 - unsure))).max(axis=1)
    return Reference(np.sort(on_grid(masses)), ())


def test_alarms_are_rare_where_the_certification_rows_have_chosen_the_part(best_part):
    rng, alpha, runs, alarms, unpaid = np.random.default_rng(1), 0.2, 120, 0, 0
    for _ in range(runs):
        best_part.reference_ = chosen_reference(best_part, rng)
        monitor = DriftMonitor(best_part, alpha, random_state=int(rng.integers(2**31)))
        monitor.update(half_known(700, rng)[0])
        alarms += monitor.alarm
        unpaid += monitor.log_evidence_max >= -math.log(alpha)
    assert stats.beta.ppf(0.99, alarms + 1, runs - alarms) <= alpha
    assert stats.beta.ppf(0.01, unpaid, runs - unpaid + 1) > alpha, "without a price it fails"


def test_the_price_is_that_of_all_that_might_have_been_chosen(best_part, model):
    assert DriftMonitor(model, 0.05).log_threshold == pytest.approx(math.log(20))
    monitor = DriftMonitor(best_part, 0.05)
    assert monitor.log_threshold == pytest.approx(math.log(PARTS / 0.05))
    assert "have chosen the vote among 50" in monitor.assumptions[-1]
    monitor.update(half_known(10, np.random.default_rng(0))[0])
    assert "an alarm needs 1000" in str(monitor)


def test_a_learned_vote_might_have_been_chosen_in_place_of_the_fixed_one():
    auto = CertifiedVoteClassifier("auto", FEW, split=3, random_state=0).fit(*rows(300))
    assert auto.certificate_.certified == "the fixed vote"
    monitor = DriftMonitor(auto, 0.05)
    assert (monitor.learned, monitor.candidates) == (False, 4)
    assert monitor.log_threshold == pytest.approx(math.log(4 / 0.05))
    learned = dataclasses.replace(auto.certificate_, method="dis-b", share=0.05)
    assert candidates_of(learned) == 4
    assert candidates_of(dataclasses.replace(learned, share=1.0)) == 1


def test_rows_that_weights_were_learned_from_are_no_reference():
    """The vote is surer of them than of any others, so that new ones of the same kind look different."""
    rng, alpha, runs, alarms = np.random.default_rng(2), 0.3, 60, 0
    X, y = rows(60, 3)
    clf = CertifiedVoteClassifier("fo", FEW, split="single", random_state=0).fit(X, y)
    clf.reference_ = Reference(np.full(500, 4096, dtype=np.uint16), clf.reference_.columns)
    for run in range(runs):
        monitor = DriftMonitor(clf, alpha, random_state=int(rng.integers(2**31)))
        assert monitor.candidates == 1
        monitor.update(rows(200, 100 + run)[0])
        alarms += monitor.alarm
    assert stats.beta.ppf(0.99, alarms + 1, runs - alarms) <= alpha
    monitor.update(rows(1500, 7, shift=0.9)[0])
    assert monitor.alarm, "new rows that differ from those before them"


def test_ties_depend_on_the_seed_and_on_the_rows(model):
    X = rows(300, 1)[0]

    def logs(seed, X):
        monitor = DriftMonitor(model, random_state=seed)
        monitor.update(X)
        return monitor.log_evidence

    assert logs(0, X) == logs(0, X) != logs(1, X)
    assert len({DriftMonitor(model).seed for _ in range(5)}) == 5
    one, other = DriftMonitor(model, random_state=0), DriftMonitor(model, random_state=0)
    one.update(X[:1])
    other.update(X[1:2])
    assert one.chain != other.chain
    for wrong in (-1, True, 0.5, "7"):
        with pytest.raises(ValueError, match="random_state must be None or a whole number"):
            DriftMonitor(model, random_state=wrong)


def test_what_it_takes_for_granted(model):
    assert len(DriftMonitor(model).assumptions) == 1
    learned = CertifiedVoteClassifier("fo", FEW, split="single", random_state=0).fit(*rows(300))
    assert any("learned from the certification rows" in text for text in DriftMonitor(learned).assumptions)
    assert "look different from those before them" in str(alarmed(learned))
    assert "look different from those that certified the vote" in str(alarmed(model))
    X, y = rows(300)
    grouped = CertifiedVoteClassifier("dis-b", FEW, random_state=0).fit(X, y, groups=np.arange(300) // 3)
    monitor = DriftMonitor(grouped)
    assert any("each group" in text for text in monitor.assumptions)
    with pytest.raises(ValueError, match="give groups="):
        monitor.update(X)
    counted = monitor.update(X[:6], groups=["a", "a", "b", "b", "b", "c"])
    assert (counted.counted, counted.entities, counted.later) == (3, 3, 0)
    assert monitor.update(X[:2], groups=["a", "d"]).later == 1
    assert "groups" in str(monitor)
    with pytest.raises(ValueError, match="about single rows"):
        DriftMonitor(model).update(X, groups=np.arange(300))


def test_a_state_remembers_that_entities_had_several_rows(tmp_path):
    X, y = rows(300)
    model = CertifiedVoteClassifier("dis-b", FEW, random_state=0).fit(X, y, groups=np.arange(300) // 3)
    monitor = DriftMonitor(model)
    monitor.update(rows(30, 1)[0], groups=np.arange(30) // 3)
    monitor.save(tmp_path / "monitor.json")
    again = DriftMonitor.load(tmp_path / "monitor.json", model)
    assert again.total == monitor.total
    assert (again.total.rows, again.total.counted) == (30, 10)


def test_a_certificate_alone_is_refused(model):
    with pytest.raises(TypeError, match="a certificate alone cannot vote"):
        DriftMonitor(model.certificate_)


def test_rows_of_other_columns_change_nothing(model):
    monitor = DriftMonitor(model)
    with pytest.raises(ValueError, match="features"):
        monitor.update(np.zeros((4, 2)))
    with pytest.raises(ValueError, match="ids has 3 values, and X has 4"):
        monitor.update(np.zeros((4, 3)), ids=[1, 2, 3])
    assert monitor.n == 0


# Tables


def test_columns_of_a_table_are_named():
    rng = np.random.default_rng(0)

    def table(n, state):
        return pd.DataFrame(
            {
                "age": rng.normal(50, 10, n),
                "state": rng.choice(["ill", "well"], n, p=[state, 1.0 - state]),
                "site\x1b[2J": rng.choice(["a", "b"], n),
            }
        )

    frame = table(1500, 0.5)
    y = (frame["state"] == "ill") ^ (rng.random(1500) < 0.2)
    clf = CertifiedVoteClassifier("dis-b", Preprocessed(ColumnEncoder(fill=True), FEW), random_state=0).fit(frame, y)
    monitor = DriftMonitor(clf)
    other = table(2000, 0.95)
    other["site\x1b[2J"] = None
    monitor.update(other)
    found = monitor.moved
    assert [each.column for each in found] == ["site\x1b[2J", "state"]
    assert found[0].distance == pytest.approx(1.0, abs=0.01)
    assert found[1].distance == pytest.approx(0.45, abs=0.05)
    assert all(each.distance > each.by_chance for each in found)
    assert "\x1b" not in str(monitor)


def test_sparse_rows_have_no_columns_to_name():
    X, y = rows(400)
    clf = CertifiedVoteClassifier("dis-b", FEW, random_state=0).fit(sparse.csr_array(X), y)
    monitor = DriftMonitor(clf)
    monitor.update(sparse.csr_array(rows(100, 1)[0]))
    assert monitor.n == 100
    assert monitor.moved == ()
    dense = DriftMonitor(CertifiedVoteClassifier("dis-b", FEW, random_state=0).fit(X, y))
    dense.update(sparse.csr_array(rows(100, 1)[0]))
    dense.update(rows(100, 1)[0].tolist())
    assert [int(counts.sum()) for counts in dense.column_counts] == [100] * 3


def test_columns_that_have_not_moved_are_hardly_ever_named():
    def table(rng, n):
        words = rng.choice(list("abcd"), n)
        return pd.DataFrame({**{str(number): rng.normal(size=n) for number in range(5)}, "word": words})

    named = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        frame = table(rng, 400)
        voters = Preprocessed(ColumnEncoder(), FEW)
        clf = CertifiedVoteClassifier("holdout", voters, random_state=seed).fit(frame, frame["0"] > 0)
        for _ in range(30):
            monitor = DriftMonitor(clf)
            monitor.update(table(rng, 300))
            named += bool(monitor.moved)
    assert named <= 8


# State


def test_it_goes_on_where_it_was(model, tmp_path):
    path = tmp_path / "drift.json"
    whole = DriftMonitor(model, alpha=0.05, random_state=3)
    DriftMonitor(model, alpha=0.05, random_state=3).save(path)
    for seed in range(3):
        X, ids = rows(150, seed, shift=0.3)[0], [f"{seed} {number}" for number in range(150)]
        whole.update(X, ids=ids, when="x")
        with DriftMonitor.open(path, model, alpha=0.05) as monitor:
            monitor.update(X, ids=ids, when="x")
            monitor.update(X, ids=ids, when="x")
    again = DriftMonitor.load(path, model)
    assert again.history == whole.history
    assert (again.log_change, again.alarm_at, again.change_at) == (whole.log_change, whole.alarm_at, whole.change_at)
    assert again.moved == whole.moved
    assert again.total.repeated == 450
    with pytest.raises(StateFileError, match="begun with alpha"), DriftMonitor.open(path, model, alpha=0.1):
        pass
    with pytest.raises(StateFileError, match="another kind"):
        Monitor.load(path)
    other = CertifiedVoteClassifier("holdout", FEW, split="single", random_state=1).fit(*rows(1200))
    with pytest.raises(StateFileError, match="another certificate"):
        DriftMonitor.load(path, other)


def at(*names, value):
    def change(content):
        node = content
        for name in names[:-1]:
            node = node[name]
        node[names[-1]] = value(node[names[-1]]) if callable(value) else value

    return change


ATTACKS = {
    "another entry": at("more", value=1),
    "another reference": at("reference", value="0" * 64),
    "no certificate": at("certificate", value=None),
    "alpha 0": at("alpha", value=0.0),
    "smaller alpha": at("alpha", value=1e-300),
    "scores off the grid": at("scores", 0, 0, value=5000),
    "negative scores": at("scores", 0, 1, value=-1),
    "a score twice": at("scores", value=lambda scores: [*scores, scores[0]]),
    "fewer scores": at("scores", value=lambda scores: scores[1:]),
    "sums above 0": at("sums", value=[1.0, -500.0]),
    "sums that are too sure": at("sums", value=[-0.1, -0.1]),
    "sums that are too small": at("sums", value=[-1e9, -1.0]),
    "more evidence now": at("sums", value=lambda sums: [sums[0], 3 * sums[1]]),
    "less evidence ever": at("largest", value=0.0),
    "no alarm": at("first_alarm", value=None),
    "an alarm later": at("first_alarm", "n", value=10**6),
    "a past out of order": at("past", 3, 0, value=1),
    "a past of more evidence": at("past", 3, 1, value=1e6),
    "a stride of 0": at("stride", value=0),
    "another seed": at("seed", value=-1),
    "no seed": at("seed", value="7"),
    "a short chain": at("chain", value="ab"),
    "a chain that is none": at("chain", value="x" * 64),
    "evidence of change": at("changes", "logs", value=lambda logs: [99.0] * len(logs)),
    "fewer columns": at("columns", value=lambda columns: columns[1:]),
    "longer columns": at("columns", 0, value=lambda counts: [*counts, 0]),
    "more rows of a column": at("columns", 0, 0, value=10**6),
    "rows that do not add up": at("total", "rows", value=7),
    "entities of rows": at("total", "entities", value=7),
    "calls that stop": at("calls", value=[]),
    "entities of nobody": at("entities", value="AAAAAAAAAAA="),
}


@pytest.mark.parametrize("attack", [None, *ATTACKS])
def test_what_cannot_have_been_counted_is_refused(attack, model, tmp_path):
    path = tmp_path / "drift.json"
    monitor = DriftMonitor(model, alpha=0.05)
    monitor.update(rows(400, 1, shift=0.8)[0])
    assert monitor.alarm
    monitor.save(path)
    content = json.loads(path.read_text())["content"]
    if attack is None:
        with_content(path, content)
        assert DriftMonitor.load(path, model).history == monitor.history
        return
    ATTACKS[attack](content)
    with_content(path, content)
    with pytest.raises(StateFileError) as refused:
        DriftMonitor.load(path, model)
    assert str(refused.value).isprintable()


def test_evidence_is_that_of_the_ranks(model):
    monitor = DriftMonitor(model)
    monitor.update(rows(200, 6)[0])
    assert monitor.log_evidence == float(evidence_of_ranks(np.array(200), monitor.sums))
    assert monitor.log_evidence_max >= max(point[1] for point in monitor.history)
