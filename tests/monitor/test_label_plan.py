"""Labels until it is proven: the guarantee where the truth is known, the state between sessions, and the audit."""

import dataclasses
import json
import math

import numpy as np
import pandas as pd
import pytest
from mpmath import mp, mpf

from certivote import LabelPlan, verify
from certivote.certificate import StoppedCertificate, any_certificate
from certivote.maths.stopping import StoppingBets, capped_threshold, pool_evidence
from certivote.monitor import StateFileError

STREAMS = 10_000


def pool_of(n, error, seed):
    """Rows, their true labels, and answers of which such a share is wrong."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=n)
    return rng.normal(size=(n, 2)), truth, np.where(rng.random(n) < error, 1 - truth, truth)


def labelled(plan, rows, truth, answers, batch=25):
    while not plan.ended:
        chosen = plan.next(rows, batch)
        plan.update(truth[chosen], answers[chosen])
    return plan


@pytest.fixture(scope="module")
def done():
    rows, truth, answers = pool_of(2000, 0.02, 0)
    return labelled(LabelPlan(0.05, expected=0.02, random_state=1), rows, truth, answers), rows, truth, answers


# The guarantee


@pytest.mark.parametrize(("expected", "cap"), [(None, None), (0.02, None), (0.02, 466)])
def test_false_proofs_ever_are_at_most_delta(expected, cap):
    """The error is the target itself, which is the worst that is not to be proven to be rarer."""
    horizon = cap or 3000
    bets = StoppingBets(0.05, expected)
    threshold = capped_threshold(0.05, expected, 0.05, cap) if cap else -math.log(0.05)
    boundary, rng, failed = bets.boundary(horizon, threshold), np.random.default_rng(7), 0
    for _ in range(10):
        errors = np.cumsum(rng.random((STREAMS // 10, horizon)) < 0.05, axis=1)
        failed += int(np.any(errors <= boundary[1:], axis=1).sum())
    assert 0.02 * STREAMS < failed <= 0.05 * STREAMS


def test_the_bound_holds_at_every_look_for_any_error():
    """It fails if the evidence against the true error ever reaches 1/delta, whatever the target was."""
    bets, rng, log = StoppingBets(0.05, 0.02), np.random.default_rng(8), -math.log(0.05)
    n = np.arange(1, 1501)
    for error in (0.01, 0.03, 0.2):
        failed = 0
        for _ in range(20):
            errors = np.cumsum(rng.random((100, 1500)) < error, axis=1)
            failed += int(np.any(bets.log_evidence(n, errors, error) >= log, axis=1).sum())
        assert failed <= 0.05 * 2000


def test_false_proofs_of_a_pool_are_at_most_delta():
    rng, n_pool, failed = np.random.default_rng(9), 200, 0
    bets, wrong = StoppingBets(0.05), np.arange(n_pool) < 10
    for _ in range(STREAMS // 5):
        evidence = pool_evidence(bets, rng.permutation(wrong), n_pool, math.log(0.05))
        failed += bool(np.any(evidence >= -math.log(0.05)))
    assert 0 < failed <= 0.05 * STREAMS / 5


def test_the_plan_itself_proves_what_is_not_so_seldom_enough():
    proven = 0
    for seed in range(200):
        rows, truth, answers = pool_of(600, 0.1, seed)
        plan = LabelPlan(0.1, random_state=seed)
        while not plan.ended:
            chosen = plan.next(rows, 100)
            plan.update(truth[chosen], answers[chosen])
        proven += plan.proven
    assert proven <= 20  # 0.05 of 200, and four standard deviations


# What it asks for and counts


def test_rows_are_asked_for_in_a_random_order_that_depends_on_all_of_them():
    rows, truth, answers = pool_of(500, 0.0, 3)
    first = LabelPlan(0.05, random_state=0).next(rows, 500)
    assert sorted(first.tolist()) == list(range(500))
    assert first.tolist() != list(range(500))
    changed = rows.copy()
    changed[499] += 1.0
    assert LabelPlan(0.05, random_state=0).next(changed, 500).tolist() != first.tolist()
    plan = LabelPlan(0.05, random_state=0)
    assert plan.next(rows, 10).tolist() == first[:10].tolist()
    plan.update(truth[first[:4]], answers[first[:4]])
    assert plan.next(rows, 10).tolist() == first[4:14].tolist()
    with pytest.raises(ValueError, match="begun with other rows"):
        plan.next(changed)


def test_missing_labels_count_as_wrong_and_spellings_as_one():
    plan = LabelPlan(0.2)
    assert plan.update([1, "2", None, float("nan"), "a"], ["1.0", 2, 1, 1, "b"]) == 3
    assert (plan.n, plan.wrong, plan.missing) == (5, [3, 4, 5], 2)
    assert plan.certificate().missing == 2


def test_batches_prove_the_same_as_single_labels():
    _, truth, answers = pool_of(300, 0.03, 4)
    once, one_by_one = LabelPlan(0.1), LabelPlan(0.1)
    once.update(truth, answers)
    bounds = []
    for label, answer in zip(truth, answers, strict=True):
        one_by_one.update([label], [answer])
        bounds.append(one_by_one.bound)
    assert bounds[-1] == once.bound == min(bounds)
    assert bounds == sorted(bounds, reverse=True)
    assert one_by_one.outcomes_digest == once.outcomes_digest


def test_a_capped_plan_says_nothing_until_it_has_proven_all():
    plan = LabelPlan(0.05, expected=0.02, max_labels=466)
    plan.update([0] * 40, [0] * 40)
    assert (plan.proven, plan.bound) == (False, 1.0)
    plan.update([0] * 60, [0] * 60)
    assert (plan.proven, plan.bound) == (True, 0.05)
    with pytest.raises(ValueError, match="more than the 366"):
        plan.update([0] * 367, [0] * 367)


def test_the_number_of_labels_is_told_beside_a_fixed_one():
    plan = LabelPlan(0.05, expected=0.02)
    needed = plan.labels_needed()
    assert needed.error == 0.02
    assert needed.fixed == 311
    assert needed.quantiles[0] < needed.quantiles[1] < needed.quantiles[2]
    assert needed.mean < 0.82 * needed.fixed
    assert "a fixed number: 311" in str(plan)
    rng, counts = np.random.default_rng(0), []
    for _ in range(200):
        errors = np.cumsum(rng.random(3000) < 0.02)
        counts.append(1 + int(np.argmax(errors <= StoppingBets(0.05, 0.02).boundary(3000, plan.log_threshold)[1:])))
    assert abs(np.mean(counts) - needed.mean) < 4 * np.std(counts) / np.sqrt(200)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"target": 0.0}, "target"),
        ({"target": True}, "target"),
        ({"target": 0.05, "delta": 1.0}, "delta"),
        ({"target": 0.05, "expected": 0.05}, "below the target"),
        ({"target": 0.05, "certified": "rows"}, "certified"),
        ({"target": 0.05, "max_labels": 0}, "max_labels"),
        ({"target": 0.05, "max_labels": 10, "certified": "pool"}, "its own cap"),
    ],
)
def test_wrong_parameters_are_named(given, match):
    with pytest.raises(ValueError, match=match):
        LabelPlan(**given)


def test_what_cannot_be_counted_is_refused():
    plan = LabelPlan(0.05, certified="pool")
    with pytest.raises(ValueError, match="ask next"):
        plan.update([1], [1])
    with pytest.raises(ValueError, match="nothing to certify"):
        plan.certificate()
    plan = LabelPlan(0.05)
    with pytest.raises(ValueError, match="one for each"):
        plan.update([1, 2], [1])
    with pytest.raises(ValueError, match="no value"):
        plan.update([1, 2], [1, None])
    plan.update([1], [1])
    with pytest.raises(ValueError, match="other rows"):
        plan.next([[1], [2]])
    assert plan.n == 1


# Between two sessions


def test_a_state_goes_on_where_it_was(tmp_path, done):
    _, rows, truth, answers = done
    path = tmp_path / "s.json"
    for _ in range(3):
        with LabelPlan.open(path, target=0.05, expected=0.02, random_state=1) as plan:
            chosen = plan.next(rows, 25)
            plan.update(truth[chosen], answers[chosen])
    again, at_once = LabelPlan.load(path), LabelPlan(0.05, expected=0.02, random_state=1)
    chosen = at_once.next(rows, 75)
    at_once.update(truth[chosen], answers[chosen])
    assert (again.n, again.wrong, again.bound) == (at_once.n, at_once.wrong, at_once.bound)
    assert again.outcomes_digest == at_once.outcomes_digest
    assert again.next(rows).tolist() == at_once.next(rows).tolist()
    with pytest.raises(StateFileError, match="was begun with target"), LabelPlan.open(path, target=0.06):
        pass
    with pytest.raises(StateFileError, match="give target"), LabelPlan.open(tmp_path / "none.json"):
        pass


def test_nothing_is_written_where_a_session_fails(tmp_path):
    path = tmp_path / "s.json"
    with LabelPlan.open(path, target=0.05) as plan:
        plan.update([1], [1])
    before = path.read_bytes()
    with pytest.raises(ValueError, match="one for each"), LabelPlan.open(path) as plan:
        plan.update([1, 1], [2])
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "change",
    [
        {"n": 10**12},
        {"n": 3},
        {"wrong": [2, 1]},
        {"wrong": [0]},
        {"wrong": [9]},
        {"missing": 3},
        {"seed": []},
        {"target": 0.0},
        {"expected": 0.9},
        {"max_labels": 10**9},
        {"certified": "pool"},
        {"rows_digest": "data:00"},
        {"calls": [[7, "now"]]},
        {"calls": [[5, "\x1b[2J"]]},
    ],
)
def test_a_state_that_contradicts_itself_is_refused(tmp_path, change):
    from certivote.monitor._label_state import KIND, LabelState
    from certivote.monitor._state import write_state

    plan = LabelPlan(0.05)
    plan.update([1, 2, 3, 4, 5], [1, 2, 3, 4, 0])
    content = json.loads(json.dumps(dataclasses.asdict(LabelState.of(plan)))) | change
    write_state(tmp_path / "s.json", KIND, content)
    with pytest.raises(StateFileError) as told:
        LabelPlan.load(tmp_path / "s.json")
    assert str(told.value).isprintable()


def test_the_state_of_a_monitor_is_another_kind(tmp_path):
    from certivote import Monitor, certify_predictions

    Monitor(certify_predictions([0, 1] * 50, [0, 1] * 50)).save(tmp_path / "m.json")
    with pytest.raises(StateFileError, match="another kind"):
        LabelPlan.load(tmp_path / "m.json")


# The record


def failed(record, **given):
    return [check.what for check in verify(record, **given) if not check.passed]


def test_the_record_is_read_back_printed_and_reported(tmp_path, done):
    record = done[0].certificate()
    text = record.to_json()
    assert any_certificate(text) == StoppedCertificate.from_json(text) == record
    assert "labelling went on until that was proven" in " ".join(str(record).split())
    record.report(tmp_path / "r.html", title="<b>")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "labelling went on until that was proven" in page
    assert "<b>" not in page.replace("&lt;b&gt;", "")
    assert any("in that order" in text for text in record.assumptions)


def test_the_audit_counts_again_in_the_order_of_the_seed(done):
    plan, rows, truth, answers = done
    record = plan.certificate()
    assert failed(record) == []
    assert failed(record, X=rows, y=truth, predictions=answers) == []
    trusted = {check.what for check in verify(record) if check.on_trust}
    assert trusted == {"order of the labels", "outcomes"}
    assert not any(check.on_trust for check in verify(record, X=rows, y=truth, predictions=answers))
    unlabelled = pd.Series(truth.astype(object))
    order = LabelPlan(0.05, random_state=1).next(rows, 2000)
    unlabelled[order[plan.n :]] = None
    assert failed(record, X=rows, y=unlabelled, predictions=answers) == []
    other = truth.copy()
    other[order[0]] = 1 - other[order[0]]
    assert failed(record, X=rows, y=other, predictions=answers) == ["errors", "digest of the outcomes"]
    assert failed(record, X=rows[::-1], y=truth, predictions=answers) == ["pool"]


def test_a_stranger_can_recompute_the_bound_from_the_json(done):
    """With mpmath, from the places of the wrong labels alone: the smallest limit of all moments."""
    record = json.loads(done[0].certificate().to_json())
    shares = (0.15, 0.185, 0.23, 0.28, 0.35, 0.43, 0.53, 0.65, 0.8)
    bets = [(mpf(share * record["target"]), mpf(1) / 45) for share in shares]
    bets.append((mpf(record["expected"]), mpf(4) / 5))

    def reached(t):
        found = False
        for n in range(1, record["n"] + 1):
            errors = sum(place <= n for place in record["wrong"])
            wealth = mp.fsum(w * (q / t) ** errors * ((1 - q) / (1 - t)) ** (n - errors) for q, w in bets if q < t)
            found = found or (wealth >= 1 / mpf(record["delta"]) and errors <= n * t)
        return found

    assert reached(mpf(record["bound"]))
    assert not reached(mpf(record["bound"]) * (1 - mpf("1e-8")))


@pytest.mark.parametrize(
    "settings", [{}, {"expected": 0.02}, {"expected": 0.02, "max_labels": 466}, {"certified": "pool"}]
)
def test_forged_records_are_found(settings):
    rows, truth, answers = pool_of(2000, 0.02, 0)
    plan = labelled(LabelPlan(0.05, random_state=1, **settings), rows, truth, answers)
    record = plan.certificate()
    assert plan.proven
    assert failed(record) == []
    fewer = {"wrong": record.wrong[:-1]} if record.wrong else {"n": record.n + 100}
    forged = [
        {"bound": record.bound * 0.99},
        {"bound": min(record.bound * 1.01, 1.0)},
        {"wrong": tuple(range(1, 40))} if record.n > 40 else {"delta": 1e-6},
        {"delta": record.delta / 10},
        {"log_threshold": 1.0},
        {"target": 0.03},
        {"outcomes_digest": ""},
        {"schema_version": 2},
        {"rows_digest": "data:" + "0" * 64},
        {"provenance": dataclasses.replace(record.provenance, entropy=())},
    ]
    for change in forged:
        assert failed(dataclasses.replace(record, **change)), change
    changed = dataclasses.replace(record, **fewer)
    assert failed(changed, X=rows, y=truth, predictions=answers)
    again = dataclasses.replace(record.provenance, entropy=(2,))
    assert failed(dataclasses.replace(record, provenance=again), X=rows, y=truth, predictions=answers)


def test_a_threshold_that_is_reached_too_often_is_found():
    plan = LabelPlan(0.05, expected=0.02, max_labels=466)
    plan.update([0] * 90, [0] * 90)
    record = plan.certificate()
    lower = dataclasses.replace(record, log_threshold=record.log_threshold - 0.05)
    assert "threshold" in failed(lower)
    assert "threshold" in failed(dataclasses.replace(record, max_labels=5000))


@pytest.mark.parametrize(
    "change",
    [
        '"n": 1e400',
        '"n": 100000000000',
        '"wrong": [3, 2]',
        '"wrong": [0]',
        '"missing": 99',
        '"bound": 2.0',
        '"expected": 0.5',
        '"max_labels": 10000000',
        '"certified": "all"',
        '"kind": "other"',
        '"more": 1',
    ],
)
def test_hostile_files_are_refused(done, change):
    record = json.loads(done[0].certificate().to_json())
    name = change.split('"')[1]
    record.pop(name, None)
    text = json.dumps(record)[:-1] + ", " + change + "}"
    with pytest.raises(ValueError, match="Not a certificate"):
        any_certificate(text)
