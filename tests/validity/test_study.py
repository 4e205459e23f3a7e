"""The study of validity itself: it sees a bug, goes on after an interruption, and its page says what was counted."""

import csv
import math
import re
from dataclasses import replace

import honest
import numpy as np
import pytest
from counting import missing, run_study
from digest import source_digest
from exact import enumerated_rate, worst_failures
from figure import write_figure
from honest import TREES, fit, fitting, honest_cases
from page import complaints, write_page
from plan import plan
from planted import Forgetful
from scipy import stats
from store import CountStore, Records, totals
from study import CHUNKS, Case, Count, Row, verdict
from worlds import grid_world, right_among_draws, right_in_the_mean

from certivote import CertifiedVoteClassifier
from certivote.maths.dirichlet import draw_rows
from certivote.pipeline import SOLVERS
from certivote.splits import Cross
from certivote.theory.methods import METHODS
from certivote.votes import build_votes

ROW = Row("honest", "holdout", "split none, plurality", "2 classes, pure noise", 20, 0.2)


def coin(rate, part="honest", runs=200, **labels):
    """A case whose bound fails at a known rate."""
    row = replace(ROW, part=part, setting=f"fails at {rate}", **labels)
    return Case((row,), runs, lambda rng: [(0.5, float(rng.random() < rate))])


def finished(cases, path, scale=1.0):
    store = CountStore(path)
    for _ in run_study(cases, store, scale):
        pass
    return store.read().counts


def test_every_method_split_loss_constant_and_solver_is_in_the_plan():
    rows = [row for case in plan() for row in case.rows]
    assert len(rows) == len(set(rows))
    assert all(case.runs % CHUNKS == 0 for case in plan())
    settings = {(row.method, row.setting) for row in rows}
    for method in set(METHODS) - {"dis-b", "holdout"}:
        for split in ("split none", "split single", "split cross", "3 folds"):
            for loss in ("plurality", "half-weight"):
                for constant in ("exact", "paper"):
                    for solver in SOLVERS:
                        assert (method, f"{split}, {loss}, {constant}, {solver}") in settings
    assert {"auto", "dis-b", "holdout"} <= {row.method for row in rows if row.part == "honest"}


def test_entities_given_models_and_time_are_in_the_plan():
    rows = [row for case in plan() for row in case.rows]
    entities = [row for row in rows if row.part == "entities"]
    assert {20, 50, 100, 300, 1000} <= {row.n for row in entities}
    assert {"holdout", "dis-b", "dis-r", "smv-exact", "fo", "auto"} == {row.method for row in entities}
    by_class = {row.method for row in entities if row.setting.endswith("by class")}
    assert {"holdout", "dis-b", "dis-r", "smv-exact", "fo"} == by_class
    breaches = {row.setting for row in rows if row.part == "broken"}
    assert {"fit without groups", "every row is an entity", "best of 20 models, certified one by one"} <= breaches
    assert {row.delta for row in rows if row.method == "drift test"} == {0.05, 0.2}


def test_every_promise_is_in_the_plan_for_every_kind_of_vote():
    rows = [row for case in plan() for row in case.rows if row.part == "promises"]
    names = {row.setting.split(":")[0] for row in rows}
    assert names == {
        "precision",
        "abstention",
        "abstention as a curve",
        "sensitivity",
        "sets",
        "sets by class",
        "subgroups",
        "costs",
        "all at once with the bound",
    }
    for method in ("dis-b", "dis-r", "dis-v", "holdout", "certify"):
        assert len({row.setting.split(":")[0] for row in rows if row.method == method}) >= 8
    assert sum(case.runs for case in plan() for row in case.rows if row.part == "promises") >= 20_000


def test_what_auto_decides_is_in_the_plan_beside_adversaries_who_decide_by_the_certified_rows():
    rows = [row for case in plan() for row in case.rows]
    decided = [row for row in rows if row.part == "automatic"]
    assert {"auto", "holdout"} == {row.method for row in decided}
    for words in (
        "parts as a look at few rows says",
        "one class always",
        "mostly folds",
        "no folds",
        "3 folds",
        "raced",
        "mixed voters",
    ):
        assert any(words in row.setting for row in decided)
    assert {
        ("broken", "best of 1, 2, 3 and 5 parts"),
        ("control", "best of 1, 2, 3 and 5 parts, paid"),
        ("broken", "best of 3 folds, each at the whole of delta"),
        ("control", "best of 3 folds"),
        ("broken", "20 kinds raced on the certified rows"),
        ("control", "20 kinds raced on other rows"),
    } <= {(row.part, row.setting) for row in rows}


def test_rows_have_runs_enough_to_decide():
    # With no violation at all, the interval must end below delta.
    for one in plan():
        for row in one.rows:
            assert Count(one.runs, 0, 0.0, 0.0, 0.0).interval()[1] <= row.delta


@pytest.mark.parametrize(
    ("part", "violations", "shown"),
    [
        ("honest", 0, "holds"),
        ("honest", 200, "FAILS"),
        ("honest", 40, "too few runs"),
        ("control", 0, "holds"),
        ("broken", 200, "broken"),
        ("broken", 40, "unclear"),
        ("broken", 0, "not seen"),
    ],
)
def test_verdicts_follow_from_the_interval(part, violations, shown):
    assert verdict(replace(ROW, part=part), Count(200, violations, 0.0, 0.0, 0.0)) == shown


def test_intervals_are_those_of_clopper_and_pearson():
    low, high = Count(60, 0, 0.0, 0.0, 0.0).interval()
    assert (low, high) == (0.0, pytest.approx(1 - 0.005 ** (1 / 60), rel=1e-9))


def test_a_dropped_confidence_fails_the_study(tmp_path, monkeypatch):
    (one,) = [
        c
        for c in honest_cases()
        if c.rows[0].setting == "split none, plurality, exact, lbfgs"
        and c.rows[0].method == "holdout"
        and c.rows[0].n == 23
    ]
    one = replace(one, runs=100)
    assert not complaints(totals(finished([one], tmp_path / "right.csv")), complete=False)
    monkeypatch.setitem(METHODS, "holdout", replace(METHODS["holdout"], theorem=Forgetful()))
    sums = totals(finished([one], tmp_path / "wrong.csv"))
    assert verdict(one.rows[0], sums[one.rows[0]]) == "FAILS"
    assert any("promised 0.2" in sentence for sentence in complaints(sums, complete=False))
    assert "| FAILS |" in write_page("", sums, 100, {})


def test_a_simulation_that_disagrees_with_the_enumeration_is_seen():
    rate = enumerated_rate(ROW)
    assert rate == pytest.approx(sum(math.comb(20, k) for k in range(8)) / 2**20)  # at most 7 of 20
    assert enumerated_rate(replace(ROW, part="given", method="certify", setting="one model")) == rate
    right, wrong = Count(2000, round(2000 * rate), 0.0, 0.0, 0.0), Count(2000, 100, 0.0, 0.0, 0.0)
    assert not complaints({ROW: right}, complete=False)
    assert any("disagree" in sentence for sentence in complaints({ROW: wrong}, complete=False))


def test_no_bound_fails_too_often_without_simulation():
    failures = worst_failures()
    assert all(worst <= delta * (1 + 1e-9) for _, delta, worst in failures)
    # Clopper and Pearson's limit gives nothing away.
    assert all(worst > 0.999 * delta for name, delta, worst in failures if name == "holdout")


def test_a_study_in_which_no_breach_is_seen_has_no_power():
    quiet = {replace(ROW, part="broken", setting=str(k)): Count(200, 10, 0.0, 0.0, 0.0) for k in range(4)}
    assert any("no power" in sentence for sentence in complaints(quiet, complete=True))
    loud = {row: Count(200, 150, 0.0, 0.0, 0.0) for row in quiet}
    assert not complaints(loud, complete=True)


def test_an_interrupted_study_goes_on_without_counting_twice(tmp_path):
    cases, path = [coin(0.1), coin(0.3, "broken")], tmp_path / "counts.csv"
    whole = finished(cases, tmp_path / "whole.csv")
    for done, _ in run_study(cases, CountStore(path)):
        if done == 7:
            break
    with open(path, "a") as file:
        file.write("a line that was cut o")
    assert len(CountStore(path).read().counts) == 7
    resumed = finished(cases, path)
    assert without_time(resumed) == without_time(whole)
    assert totals(resumed)[cases[0].rows[0]].runs == 200
    assert missing(cases, 1.0, resumed) == []
    assert without_time(finished(cases, path)) == without_time(whole)


def without_time(counts):
    return {key: replace(count, seconds=0.0) for key, count in counts.items()}


def test_a_small_study_grows_into_the_whole(tmp_path):
    cases = [coin(0.1)]
    small = finished(cases, tmp_path / "counts.csv", scale=0.1)
    assert totals(small)[cases[0].rows[0]].runs == 20
    grown = finished(cases, tmp_path / "counts.csv")
    assert without_time(grown) == without_time(finished(cases, tmp_path / "whole.csv"))


def test_counts_of_other_code_are_dropped(tmp_path):
    path = tmp_path / "counts.csv"
    finished([coin(0.1)], path)
    path.write_text(path.read_text().replace(source_digest(), "0" * 12))
    assert CountStore(path).begin(source_digest()) == {}
    assert CountStore(path).read() == Records()


def test_a_file_with_other_columns_is_refused(tmp_path):
    (tmp_path / "counts.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="other columns"):
        CountStore(tmp_path / "counts.csv").read()


def test_processes_count_the_same(tmp_path):
    cases = [one for one in plan() if one.rows[0].setting == "half of the errors dropped"]
    number = plan().index(cases[0])
    store = CountStore(tmp_path / "two.csv")
    for _ in run_study(cases, store, 0.01, 2, lambda: plan()[number:]):
        pass
    assert without_time(store.read().counts) == without_time(finished(cases, tmp_path / "one.csv", 0.01))


def test_the_page_states_what_the_file_holds(tmp_path):
    parts = {
        "honest": 0.1,
        "broken": 0.9,
        "control": 0.05,
        "entities": 0.12,
        "given": 0.07,
        "time": 0.02,
        "promises": 0.11,
        "automatic": 0.08,
        "arranged": 0.05,
    }
    cases = [coin(0.15, "adversarial", 100), *(coin(rate, part) for part, rate in parts.items())]
    finished(cases, tmp_path / "counts.csv")
    records = CountStore(tmp_path / "counts.csv").read()
    sums = totals(records.counts)
    text = write_page(records.source, sums, 2200, records.runs_by_code())
    assert f"source digest `{source_digest()}`" in text
    assert "counted by exactly this code" not in text  # no other has counted anything
    assert "Written from 1,900 runs (of 2,200 planned: a smaller run, to be completed)" in text
    with open(tmp_path / "counts.csv", newline="") as file:
        lines = list(csv.DictReader(file))
    for one in cases:
        (row,) = one.rows
        mine = [line for line in lines if (line["part"], line["setting"]) == (row.part, row.setting)]
        runs, violations = (sum(int(line[name]) for line in mine) for name in ("runs", "violations"))
        assert runs == one.runs
        assert re.search(
            rf"\| {row.setting} \| {row.world} \| 20 \| {runs} \| {violations} \|", text.replace("control: ", "")
        )
    write_figure(sums, tmp_path)
    assert (tmp_path / "validity.svg").stat().st_size > 5000
    assert (tmp_path / "validity.png").stat().st_size > 5000


def test_the_committed_counts_are_of_this_code(request):
    records = CountStore(request.config.rootpath / "benchmarks/results/validity.csv").read()
    source = records.source
    remedy = "run `make validity`, and commit benchmarks/results/validity.csv."
    assert source == source_digest(), f"The counts are of other code ({source}) than this ({source_digest()}): {remedy}"
    left = missing(plan(), 1.0, records.counts)
    assert not left, f"{len(left)} parts of the simulations are still to be counted: {remedy}"
    repeated = {row for (row, _), code in records.counted_by.items() if code == source}
    unseen = {row for row, _ in records.counts} - repeated
    assert not unseen, f"{len(unseen)} rows stand for this code, which has counted no part of them: {remedy}"


def test_both_promises_of_a_certificate_with_several_parts_are_checked():
    options = {"method": "holdout", "voters": TREES, "split": Cross(tau=0.2), "delta": 0.2}
    (own_bound, own), (bound, average) = fitting(0.1, 2, 40, options)(np.random.default_rng(3))
    truth, rng = honest.world(0.1), np.random.default_rng(3)
    X, y = truth.sample(40, rng)
    seed = int(rng.integers(2**31))
    outcome, clf = fit(X, y, seed, **options), CertifiedVoteClassifier(**options, random_state=seed).fit(X, y)
    certificate, risks = outcome.certificate, [truth.risk_of_part(outcome, number) for number in range(2)]
    assert certificate == clf.certificate_
    assert (own_bound, bound) == (certificate.bound, certificate.average_bound)
    assert own == risks[certificate.deployed] == pytest.approx(truth.risk_of_answers(clf.predict(truth.X)))
    assert risks[0] != risks[1]
    assert average == pytest.approx(0.2 * risks[0] + 0.8 * risks[1])


def test_votes_among_three_classes_err_as_often_as_the_integral_says():
    masses = np.array([[0.3, 1.2, 2.0], [5.0, 5.0, 5.0], [0.0, 1.0, 3.0]])
    rng = np.random.default_rng(0)
    draws = draw_rows(np.tile(masses, (100_000, 1)), rng).argmax(axis=1).reshape(-1, 3)
    shares = np.stack([(draws == c).mean(axis=0) for c in range(3)], axis=1)
    np.testing.assert_allclose(right_in_the_mean(masses, "plurality"), shares, atol=6e-3)


def test_logistic_normal_votes_are_right_as_often_as_known():
    votes, parameters = build_votes(codes=np.array([[0, 1], [1, 1]]), n_classes=2), np.array([1.0, 0.5, 4.0, 0.5])
    expected = stats.norm.cdf((1.0 - 0.5) / np.sqrt(1 / 4.0 + 1 / 0.5))  # that the first has the larger weight
    for loss in ("plurality", "half-weight"):
        shares = right_among_draws(votes, parameters, loss)
        np.testing.assert_allclose(shares, [[expected, 1 - expected], [0, 1]], atol=0.02)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_world_samples_what_it_says(classes):
    world = grid_world(0.3, np.random.default_rng(1), classes)
    X, y = world.sample(200_000, np.random.default_rng(2))
    first = (world.X[0] == X).all(axis=1)
    assert first.mean() == pytest.approx(world.p[0], abs=0.005)
    np.testing.assert_allclose(np.bincount(y[first], minlength=classes) / first.sum(), world.chances[0], atol=0.03)
    assert world.risk_of_answers(np.zeros(27, dtype=int)) == pytest.approx((y != 0).mean(), abs=0.01)
