import math
import multiprocessing
import os
import signal
import time
from dataclasses import fields, replace
from types import SimpleNamespace

import made_data
import numpy as np
import pytest
from ballots import codes_of
from made_data import made_run
from scipy.special import softmax
from scipy.stats import beta
from sklearn.ensemble import RandomForestClassifier
from thorough import grid

from certivote import CertifiedVoteClassifier, verify
from certivote.certificate import Certificate
from certivote.methods import make_method
from certivote.paper import (
    DATASETS,
    PAPER_METHODS,
    PAPER_SETTING,
    PROTOCOLS,
    Run,
    RunStore,
    Unit,
    _protocol,
    _reproduce,
    load,
    paper_voters,
    plan_units,
    reproduce,
)
from certivote.paper._protocol import run_unit
from certivote.voters import Forest, Stumps


@pytest.fixture
def made(monkeypatch):
    made_data.install(lambda name, entry: monkeypatch.setitem(DATASETS, name, entry))


@pytest.fixture
def start():
    """Run a function in a process of its own, a copy of this one."""
    if "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("this system cannot copy a process")
    processes = []

    def begin(work, *arguments):
        process = multiprocessing.get_context("fork").Process(target=work, args=arguments)
        process.start()
        processes.append(process)
        return process

    yield begin
    for process in processes:
        process.kill()
        process.join()


# The store


def test_every_number_comes_back_exactly(tmp_path):
    rng = np.random.default_rng(1)
    odd = [0.1 + 0.2, 5e-324, 1.7976931348623157e308, math.inf, 1 / 3, -0.0]
    runs = [made_run(rng, seed=seed, bound=value) for seed, value in enumerate(odd)]
    runs.append(made_run(rng, test_error=np.float64(2 / 3), n=np.int64(3)))
    store = RunStore(tmp_path / "new" / "folder")
    assert store.read() == []
    for run in runs:
        store.append(run)
    assert store.read() == runs
    assert math.copysign(1, store.read()[5].bound) == -1
    assert all(type(getattr(store.read()[-1], field.name)) is field.type for field in fields(Run))


def test_the_file_is_a_table_with_a_header(tmp_path):
    store = RunStore(tmp_path)
    for seed in range(2):
        store.append(made_run(seed=seed))
    head, *lines = (tmp_path / "runs.csv").read_text().splitlines()
    assert head.split(",") == [field.name for field in fields(Run)]
    assert [line.split(",")[:4] for line in lines] == [["fast", "haberman", "dis-r", str(seed)] for seed in range(2)]


@pytest.mark.parametrize("kept", [0, 1, 2])
def test_a_line_cut_off_anywhere_is_left_out_and_then_removed(tmp_path, kept):
    """``kept`` lines of three (a header, two runs) are whole."""
    store, runs = RunStore(tmp_path), [made_run(seed=seed) for seed in range(3)]
    store.append(runs[0])
    store.append(runs[1])
    lines = store.path.read_bytes().splitlines(keepends=True)
    for cut in (1, len(lines[kept]) // 2, len(lines[kept]) - 1):
        store.path.write_bytes(b"".join(lines[:kept]) + lines[kept][:cut])
        assert store.read() == runs[: max(0, kept - 1)]
        store.append(runs[2])
        assert store.read() == [*runs[: max(0, kept - 1)], runs[2]]
        assert store.path.read_bytes().count(b"protocol") == 1


@pytest.mark.parametrize("rest", ["", "fast,haberman,dis-r,0\n"])
def test_other_columns_are_refused_and_left_alone(tmp_path, rest):
    store = RunStore(tmp_path)
    store.path.write_text(f"protocol,dataset,method,seed\n{rest}")
    for use in (store.read, lambda: store.append(made_run())):
        with pytest.raises(ValueError, match="other columns"):
            use()
    assert store.path.read_text() == f"protocol,dataset,method,seed\n{rest}"


def test_a_line_that_is_no_run_is_named(tmp_path):
    store = RunStore(tmp_path)
    store.append(made_run())
    with open(store.path, "a") as file:
        file.write("fast,haberman\n")
    with pytest.raises(ValueError, match=r"runs\.csv, line 3 is not a run"):
        store.read()


def test_processes_that_append_at_once_lose_nothing(tmp_path, start):
    def work(number):
        for seed in range(40):
            RunStore(tmp_path).append(made_run(np.random.default_rng([number, seed]), method=f"m{number}", seed=seed))

    processes = [start(work, number) for number in range(4)]
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0] * 4
    expected = [
        made_run(np.random.default_rng([number, seed]), method=f"m{number}", seed=seed)
        for number in range(4)
        for seed in range(40)
    ]
    assert sorted(RunStore(tmp_path).read(), key=lambda run: run.key) == expected


def test_a_claim_is_exclusive_and_ends_with_its_process(tmp_path, start):
    ours, theirs = multiprocessing.get_context("fork").Pipe()

    def work():
        with RunStore(tmp_path).claim("unit") as mine:
            theirs.send(mine)
            time.sleep(60)

    process = start(work)
    assert ours.recv() is True
    with RunStore(tmp_path).claim("unit") as mine, RunStore(tmp_path).claim("other") as other:
        assert (mine, other) == (False, True)
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    for _ in range(2):  # and a claim that ended can be made again
        with RunStore(tmp_path).claim("unit") as mine:
            assert mine


# One unit


def without_times(run):
    return replace(run, train_seconds=0.0, voter_seconds=0.0)


def rows_of(unit):
    data = load(unit.dataset)
    order = np.random.default_rng(unit.seed).permutation(len(data.y))
    return data, order[: len(order) * 4 // 5], order[len(order) * 4 // 5 :]


@pytest.mark.parametrize(("dataset", "family", "votes"), [("haberman", Stumps, 1), ("pendigits", Forest, 2)])
def test_voters_are_fitted_and_asked_once_for_all_methods(made, monkeypatch, dataset, family, votes):
    fitted, asked, fit = [], [], family.fit

    def counted(self, X, *rest):
        voters = fit(self, X, *rest)
        fitted.append(len(X))
        return SimpleNamespace(n_voters=voters.n_voters, votes=lambda X: asked.append(len(X)) or voters.votes(X))

    monkeypatch.setattr(family, "fit", counted)
    runs = [run for run, _ in run_unit(Unit("fast", dataset, 0), PAPER_METHODS)]
    assert [run.method for run in runs] == list(PAPER_METHODS)
    assert len(fitted) == votes
    total = len(load(dataset).y)
    assert sorted(asked) == sorted([total // 5] * votes + [total * 4 // 5 // votes] * votes)
    assert len({run.voter_seconds for run in runs}) == 1


def test_the_setting_and_the_voters_of_the_paper():
    assert PAPER_METHODS == ("fo", "so", "bin", "smv-exact", "smv-mc", "dis-v", "dis-r")
    assert PAPER_SETTING == {"loss": "half-weight", "prior": 0.5, "delta": 0.05}
    assert PROTOCOLS == {"paper": "adam", "fast": "lbfgs", "own": "lbfgs"}
    for name, entry in DATASETS.items():
        voters, split = paper_voters(name, threads=2)
        if entry.ranges is not None:
            assert (type(voters), split, voters.n_thresholds, voters.ranges) == (Stumps, "none", 10, entry.ranges)
        else:
            trees = voters.estimator
            assert (type(voters), split, type(trees)) == (Forest, "cross", RandomForestClassifier)
            assert (trees.n_estimators, trees.max_samples, trees.n_jobs) == (100, 0.5, 2)


@pytest.mark.parametrize("dataset", ["haberman", "pendigits"])
def test_a_run_does_not_depend_on_the_other_methods(made, dataset):
    unit = Unit("fast", dataset, 3)
    methods = ("fo", "smv-mc", "dis-r")
    together = {run.method: without_times(run) for run, _ in run_unit(unit, methods)}
    for method in methods:
        ((alone, _),) = run_unit(unit, [method], threads=2)
        assert without_times(alone) == together[method]
    ((other, _),) = run_unit(replace(unit, seed=4), ["dis-r"])
    assert other.bound != together["dis-r"].bound


@grid(strength=1, protocol=PROTOCOLS, dataset=["haberman", "pendigits"])
def test_a_run_is_what_the_estimator_gives_for_the_same_rows_and_seed(made, protocol, dataset):
    unit, own = Unit(protocol, dataset, 1), protocol == "own"
    data, train, test = rows_of(unit)
    forest = RandomForestClassifier(n_estimators=100, max_samples=0.5)
    for run, certificate in run_unit(unit, ["so", "dis-v", "dis-r"]):
        clf = CertifiedVoteClassifier(
            make_method(run.method, solver=PROTOCOLS[protocol], constant="exact" if own else "paper"),
            Forest(forest) if data.ranges is None else Stumps(ranges=DATASETS[dataset].ranges),
            split="cross" if data.ranges is None else "none",
            loss="plurality" if own else "half-weight",
            delta=0.05,
            prior="auto" if own else 0.5,
            random_state=1,
        ).fit(data.X[train], data.y[train])
        # "auto" and what it stands for are recorded as they were given.
        same = replace(clf.certificate_.provenance, parameters=certificate.provenance.parameters)
        assert certificate == replace(clf.certificate_, provenance=same)
        assert run.own_bound == clf.certificate_.bound
        assert run.bound == (clf.certificate_.bound if data.ranges is not None else clf.certificate_.average_bound)
        assert run.deployed_error == np.mean(clf.predict(data.X[test]) != data.y[test])
        assert (run.n, run.test_rows, run.voters) == (len(train), len(test), len(clf.weights_))
        assert (run.delta, run.key) == (0.05, (protocol, dataset, run.method, 1))


def test_the_error_of_the_random_vote_is_its_expectation(made):
    unit = Unit("fast", "haberman", 0)
    data, _, test = rows_of(unit)
    ((run, certificate),) = run_unit(unit, ["smv-exact"])
    alpha = np.array(certificate.parts[0].alpha)
    stumps = Stumps(ranges=DATASETS["haberman"].ranges).fit(
        np.empty((0, 3)), np.empty(0), np.array([1, 2]), np.random.default_rng(0)
    )
    masses = stumps.votes(data.X[test]).masses(alpha)
    wrong = masses[np.arange(len(test)), 2 - data.y[test]]
    assert run.test_error == pytest.approx(np.mean(beta.sf(0.5, wrong, alpha.sum() - wrong)), rel=1e-6)
    assert run.test_error > 0.01


def test_several_classes_show_the_average_of_both_votes(made, monkeypatch):
    kept = []
    prepare = _protocol.prepare
    monkeypatch.setattr(_protocol, "prepare", lambda *a, **k: kept.append(prepare(*a, **k)) or kept[0])
    unit = Unit("fast", "pendigits", 0)
    data, _, test = rows_of(unit)
    ((run, certificate),) = run_unit(unit, ["dis-r"])
    errors = []
    for prepared, part in zip(kept[0].parts, certificate.parts, strict=True):
        answers = codes_of(prepared.voters.votes(data.X[test])).T + 1
        wrong = softmax(part.log_weights) @ (answers != data.y[test])
        errors.append(np.mean(wrong >= 0.5))
    assert errors[0] != errors[1]
    assert run.test_error == pytest.approx(np.mean(errors), rel=1e-12)
    assert run.bound == certificate.average_bound != run.own_bound
    assert run.own_bound == min(part.bound for part in certificate.parts)
    assert run.empirical_risk == pytest.approx(np.mean([part.errors / part.n for part in certificate.parts]))
    assert run.penalty == pytest.approx(np.mean([part.penalty for part in certificate.parts]))


# All units

QUICK = ("fo", "so", "bin", "dis-r")


def expected_keys(units, methods=PAPER_METHODS):
    return sorted((unit.protocol, unit.dataset, method, unit.seed) for unit in units for method in methods)


def keys(folder):
    return sorted(run.key for run in RunStore(folder).read())


def test_units_are_planned_once_each_and_the_longest_of_a_repetition_first():
    units = plan_units(["fast", "fast", "paper"], ["haberman", "mnist", "haberman"], 2, seed=5)
    assert units == [
        Unit(protocol, dataset, seed)
        for seed in (5, 6)
        for protocol in ("fast", "paper")
        for dataset in ("mnist", "haberman")
    ]


def test_it_goes_on_after_an_exception_and_repeats_nothing(made, tmp_path, monkeypatch):
    units, done, told = plan_units(["fast"], made_data.BINARY, 2), [], []

    def breaking(unit, methods, *rest):
        for pair in run_unit(unit, methods, *rest):
            if len(done) == 6:
                raise MemoryError
            yield pair
            done.append(pair[0].key)

    monkeypatch.setattr(_reproduce, "run_unit", breaking)
    with pytest.raises(MemoryError):
        reproduce(units, QUICK, tmp_path)
    before = RunStore(tmp_path).path.read_bytes()
    assert keys(tmp_path) == sorted(done)
    done.append("not the sixth")
    assert reproduce(units, QUICK, tmp_path, done=lambda unit, runs: told.append((unit, runs))) == 0
    assert RunStore(tmp_path).path.read_bytes().startswith(before)
    assert keys(tmp_path) == expected_keys(units, QUICK)
    assert sorted(done[:6] + done[7:]) == expected_keys(units, QUICK)
    assert told == [(units[0], 0), (units[1], 2), (units[2], 4), (units[3], 4)]
    assert reproduce(units, QUICK, tmp_path) == 0
    assert len(done) == 17


def test_a_subset_can_be_widened_and_a_method_named_twice_is_run_once(made, tmp_path):
    units = plan_units(["fast"], ["haberman"], 1)
    reproduce(units, ["dis-r", "fo", "dis-r"], tmp_path, certificates=True)
    assert keys(tmp_path) == expected_keys(units, ["dis-r", "fo"])
    reproduce(units, PAPER_METHODS, tmp_path)
    assert keys(tmp_path) == expected_keys(units)
    fresh = {run.method: without_times(run) for run, _ in run_unit(units[0], PAPER_METHODS)}
    assert {run.method: without_times(run) for run in RunStore(tmp_path).read()} == fresh
    files = {path.name: Certificate.from_json(path.read_text()) for path in (tmp_path / "certificates").iterdir()}
    assert sorted(files) == ["fast-haberman-0-dis-r.json", "fast-haberman-0-fo.json"]
    assert files["fast-haberman-0-dis-r.json"].bound == fresh["dis-r"].own_bound
    assert all(check.passed for certificate in files.values() for check in verify(certificate))


def test_two_processes_share_a_folder(made, tmp_path, start):
    units = plan_units(["fast"], made_data.BINARY, 2)
    counts = multiprocessing.get_context("fork").SimpleQueue()

    def work():
        told = []
        reproduce(units, QUICK, tmp_path, done=lambda unit, runs: told.append(runs))
        counts.put(sum(told))

    processes = [start(work) for _ in range(2)]
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0, 0]
    assert keys(tmp_path) == expected_keys(units, QUICK)
    assert counts.get() + counts.get() == len(units) * len(QUICK)


def test_what_another_process_has_is_left_to_it(made, tmp_path):
    units = plan_units(["fast"], made_data.BINARY, 1)
    with RunStore(tmp_path).claim(units[0].name):
        assert reproduce(units, ["fo", "so"], tmp_path) == 2
        assert keys(tmp_path) == expected_keys(units[1:], ["fo", "so"])
    assert reproduce(units, ["fo", "so"], tmp_path) == 0


def test_a_killed_process_loses_no_finished_run(made, tmp_path, start):
    units, store = plan_units(["fast"], made_data.BINARY, 2), RunStore(tmp_path)
    process = start(reproduce, units, QUICK, tmp_path)
    while process.is_alive() and len(store.read()) < 3:
        time.sleep(0.002)
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    kept = store.read()
    assert 3 <= len(kept) < len(units) * len(QUICK)
    assert reproduce(units, QUICK, tmp_path) == 0
    assert store.read()[: len(kept)] == kept
    assert keys(tmp_path) == expected_keys(units, QUICK)
