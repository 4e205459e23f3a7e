"""The estimator on a cluster: everything in one file, so that one cluster serves all tests."""

import dataclasses
import functools
import inspect
import itertools
import json
import os
import warnings

import dask
import dask.array
import dask.dataframe
import distributed
import numpy as np
import pandas as pd
import pytest
from options import as_objects
from scipy import sparse, stats
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

from certivote import CertifiedVoteClassifier, load, verify
from certivote.dask import DaskCertifiedVoteClassifier, _classifier
from certivote.dask._blocks import ClusterBlocks
from certivote.dask._boosters import train_booster
from certivote.dask._partition import fingerprint
from certivote.maths.streams import stream_key
from certivote.pipeline import ROWS_BY_NUMBER, ByNumber, _learn, make_plan, run, trains
from certivote.pipeline._blocks import LocalBlocks, blocked_boosting, blocked_risk
from certivote.promises import Abstention, Precision
from certivote.theory.families import FAMILIES
from certivote.theory.methods import METHODS
from certivote.voters import ColumnEncoder, Forest, Mixed, Preprocessed
from certivote.votes import build_votes, plurality

FEATURES = ["age", "dose", "site"]
FEW = Forest(RandomForestClassifier(n_estimators=12, max_depth=4))


def table(n=1200, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"age": rng.normal(size=n), "dose": rng.integers(0, 5, n) * 1.0, "site": rng.normal(size=n)})
    outcome = np.where(X.age + 0.4 * X.dose + rng.normal(size=n) > 0.8, "ill", "well")
    return X.assign(outcome=outcome)


def divided(frame, cuts):
    """A dask frame with partitions that end at these rows."""
    ends = [0, *cuts, len(frame)]
    pieces = [dask.delayed(frame.iloc[a:b]) for a, b in itertools.pairwise(ends)]
    return dask.dataframe.from_delayed(pieces, meta=frame.iloc[:0], verify_meta=False)


def fit(client, ddf, **parameters):
    given = as_objects(**{"voters": FEW, "random_state": 3, **parameters})
    return DaskCertifiedVoteClassifier(client=client, **given).fit(ddf[FEATURES], ddf["outcome"])


def in_memory(X, y, sample_rows=100_000, learn_rows=1_000_000, block_rows=1 << 18, **parameters):
    plan = make_plan(**as_objects(**{"voters": FEW, "random_state": 3, "split": "single", **parameters}))
    return run(dataclasses.replace(plan, by_number=ByNumber(sample_rows, learn_rows, block_rows)), X, y)


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.fixture(scope="module")
def frame():
    return table()


@pytest.fixture(scope="module")
def fitted(client, frame):
    return fit(client, divided(frame, [300, 700]))


# The certificate is the same for any partitioning, and in memory


@pytest.mark.parametrize("n_partitions", [1, 2, 7, 64])
def test_the_certificate_does_not_depend_on_partitions(client, frame, n_partitions):
    cuts = sorted(np.random.default_rng(n_partitions).choice(len(frame), n_partitions - 1, replace=False).tolist())
    clf, outcome = fit(client, divided(frame, cuts)), in_memory(frame[FEATURES], frame.outcome)
    assert clf.certificate_ == outcome.certificate
    assert clf.certificate_.division == "by row number"
    assert np.array_equal(clf.to_local().weights_, outcome.deployed.vote.weights)


@pytest.mark.parametrize(
    "options",
    [
        {"sample_rows": 150, "learn_rows": 200},
        {"method": "dis-r", "prior": "auto", "n_draws": 3, "learn_rows": 250},
        {"method": "dis-v", "loss": "half-weight", "constant": "paper"},
        {"method": "holdout", "train_share": 0.3},
        {"family": "logistic-normal", "together": True, "promises": [Precision()]},
        {"voters": "mixed"},
        {"voters": "stumps", "method": "dis-b", "prior": 0.5},
    ],
    ids=lambda options: "-".join(map(str, options)),
)
def test_options_give_what_they_give_in_memory(client, frame, options):
    clf = fit(client, divided(frame, [5, 500, 500, 1100]), **options)
    outcome = in_memory(frame[FEATURES], frame.outcome, **options)
    assert clf.certificate_ == outcome.certificate
    assert all(check.passed for check in verify(clf.certificate_, clf.to_local(), frame[FEATURES], frame.outcome))


@pytest.mark.parametrize("cuts", [[], [5, 500, 500, 1100], list(range(50, 1200, 50))], ids=len)
def test_weights_may_be_learned_from_all_rows_where_they_lie(client, frame, monkeypatch, cuts):
    monkeypatch.setattr(_classifier, "ByNumber", functools.partial(ByNumber, block_rows=128))
    options = {"method": "dis-r", "prior": 0.5, "learn_rows": None}
    clf = fit(client, divided(frame, cuts), **options)
    outcome = in_memory(frame[FEATURES], frame.outcome, block_rows=128, **options)
    assert clf.certificate_ == outcome.certificate
    # New rows are compared with rows of all partitions, though no more than a block of votes is here.
    assert len(clf.to_local().reference_.masses) == clf.certificate_.deployed_part.n > 500
    evaluations, moved = clf.evaluations_
    # Every voter has a parameter, which one or two workers are told, and a slope for each of five blocks.
    assert 10 < evaluations < 1000
    assert evaluations * 8 * (12 + 13 * 5) <= moved <= evaluations * 8 * (12 * 2 + 13 * 5)


def test_learning_in_blocks_is_learning():
    """The sums of blocks are the risk, its gradient and the boosting path of all rows."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 500)
    codes = np.where(rng.random((500, 8)) < 0.6, labels[:, None], rng.integers(0, 3, (500, 8)))
    votes = build_votes(codes=codes, n_classes=3)
    blocks, method, alpha = LocalBlocks.divided(votes, labels, 64), METHODS["dis-r"], rng.uniform(0.5, 2.0, 8)
    value, gradient = blocked_risk(blocks, "dis-r", "dirichlet", "plurality")(alpha)
    whole, slope = method.risk.smooth(FAMILIES["dirichlet"], votes, labels, "plurality", None)(alpha)
    assert value == pytest.approx(whole, abs=1e-7)
    assert gradient == pytest.approx(slope, abs=1e-7)
    path = _learn._boosting_path(votes, labels)
    assert len(path) == 2
    for one, other in zip(blocked_boosting(blocks), path, strict=True):
        assert one == pytest.approx(other, abs=1e-9)


def test_many_rows_train_voters_where_they_lie(client, tmp_path):
    """Trees of all partitions and a booster vote together with voters of the sample; the model is a plain file."""
    many = table(4000, seed=5)
    clf = fit(client, divided(many, [500, 500, 2000]), voters="auto", sample_rows=400, learn_rows=500)
    local = clf.to_local()
    apart, *_ = local.voters_.forests
    assert apart.n_voters == 100
    assert local.voters_.members[-1].models[0].trees.n_trees == 150
    local.save(tmp_path / "model.certivote")
    again = load(tmp_path / "model.certivote")
    assert all(check.passed for check in verify(again.certificate_, again, many[FEATURES], many.outcome))
    assert clf.certificate_.bound < 0.32

    class Given(Mixed):
        """Those voters, whatever they are given."""

        def fit(self, X, y, classes, rng):
            return local.voters_

    # The sample weighs them: given the same voters and weights, the certificate is that of the rows in memory.
    mean = np.array(clf.certificate_.deployed_part.beta)
    weights = np.maximum(20.0 * len(mean) * mean, 1e-6)
    same = {"prior": weights, "voters": Given(), "sample_rows": 400, "learn_rows": 500}
    outcome = in_memory(many[FEATURES], many.outcome, **same)
    part, other = clf.certificate_.deployed_part, outcome.certificate.deployed_part
    for name in ("n", "votes_digest", "certification_digest", "training_digest", "holdout", "duplicates"):
        assert getattr(part, name) == getattr(other, name)
    again = fit(client, divided(many, [3000]), **same)
    assert again.certificate_ == outcome.certificate


def test_an_xgboost_that_cannot_be_imported_is_warned_about(unusable):
    """With it there would be another vote: without a word, nobody would know why."""
    unusable("xgboost", "no library of OpenMP")
    with pytest.warns(UserWarning, match="xgboost cannot be imported, .* does not vote: no library of OpenMP"):
        assert train_booster(None, [], np.zeros(1, dtype=np.int64), [], 3, 0) is None


def test_a_tree_that_was_grown_apart_is_weighed_by_rows_that_it_has_not_seen(client):
    many = table(3000, seed=6)
    many["outcome"] = np.where(np.random.default_rng(0).random(3000) < 0.5, "ill", "well")  # nothing to be learned
    clf = fit(client, divided(many, [1500]), voters="auto", method="auto", sample_rows=300, learn_rows=300)
    assert clf.certificate_.deployed_part.holdout.errors > 0.42 * clf.certificate_.deployed_part.n


def test_the_certificate_keeps_its_promise():
    """Of fits where the truth is known, hardly more than delta have an error above the bound."""
    points = np.array([[a, b] for a in range(4) for b in range(3)], dtype=float)
    truth = np.random.default_rng(9).uniform(0.05, 0.95, len(points))
    broken, runs, delta = 0, 50, 0.25
    voters = Forest(RandomForestClassifier(n_estimators=5, max_depth=3))
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        rows = rng.integers(len(points), size=160)
        y = (rng.random(160) < truth[rows]).astype(int)
        X = points[rows]
        options = {"method": "dis-b", "prior": 0.5, "delta": delta, "random_state": seed}
        outcome = in_memory(X, y, voters=voters, sample_rows=70, learn_rows=50, **options)
        part = outcome.deployed
        answers = plurality(part.voters.votes(points).masses(part.vote.weights))
        error = np.where(answers == 1, 1.0 - truth, truth).mean()
        broken += error > outcome.certificate.bound
    assert broken <= stats.binom.ppf(0.999, runs, delta)


def test_few_rows_train_everything_that_they_train_in_memory(client, frame):
    clf = fit(client, divided(frame, [200]), voters="auto")
    assert clf.certificate_ == in_memory(frame[FEATURES], frame.outcome, voters="auto").certificate


def test_arrays_of_three_classes(client):
    X, y = load_iris(return_X_y=True)
    lazy = dask.array.from_array(X, chunks=(40, 3)), dask.array.from_array(y, chunks=40)
    clf = DaskCertifiedVoteClassifier(client, voters=FEW, random_state=3).fit(*lazy)
    assert clf.certificate_ == in_memory(X, y).certificate
    assert len(clf.certificate_.by_class) == 6
    answers, masses = clf.predict(lazy[0]), clf.predict_proba(lazy[0])
    assert isinstance(answers, dask.array.Array)
    assert np.array_equal(answers.compute(), clf.to_local().predict(X))
    assert np.array_equal(masses.compute(), clf.to_local().predict_proba(X))


def test_columns_of_categories(client, frame):
    frame = frame.assign(site=np.where(frame.site > 0, "north", "south"))
    voters = Preprocessed(ColumnEncoder(fill=True), FEW)
    clf = fit(client, dask.dataframe.from_pandas(frame, npartitions=3, sort=False), voters=voters)
    held = dask.dataframe.from_pandas(frame, npartitions=3, sort=False).compute()
    assert clf.certificate_ == in_memory(held[FEATURES], held.outcome, voters=voters).certificate


def test_partitions_without_rows_or_with_one_class(client, frame):
    ordered = frame.sort_values("outcome", kind="stable").reset_index(drop=True)
    n_ill = int((ordered.outcome == "ill").sum())
    clf = fit(client, divided(ordered, [0, n_ill, n_ill, n_ill + 1]))
    assert clf.certificate_ == in_memory(ordered[FEATURES], ordered.outcome).certificate


def test_a_class_that_no_training_row_has_is_warned_of(client, frame):
    rare = frame.assign(outcome=frame.outcome.where(~frame.index.isin([7, 400]), "odd"))
    with warnings.catch_warnings(action="ignore"):
        digest = in_memory(rare[FEATURES], rare.outcome).certificate.provenance.data_digest
    keys = (stream_key(ROWS_BY_NUMBER, seed=(seed,), digest=digest) >> 128 for seed in range(100))
    seed = next(seed for seed, key in enumerate(keys) if not trains(key, 0, len(rare), 0.5)[[7, 400]].any())
    with pytest.warns(UserWarning, match="No training row has class 'odd'") as caught:
        clf = fit(client, divided(rare, [600]), method="dis-r", random_state=seed)
    assert [entry.filename for entry in caught] == [__file__]
    (odd,) = [entry for entry in clf.certificate_.by_class if (entry.label, entry.kind) == ("odd", "error")]
    assert (odd.n, odd.errors) == (2, 2)


def test_duplicates_are_counted(client, frame):
    doubled = pd.concat([frame, frame.iloc[:100]], ignore_index=True)
    part = fit(client, divided(doubled, [400])).certificate_.deployed_part
    assert (part.duplicates, part.duplicates_of_training_rows) != (0, 0)
    other = in_memory(doubled[FEATURES], doubled.outcome).certificate.deployed_part
    assert part == other


# What is refused


def bad(frame, place, change):
    pieces = [frame.iloc[:400], frame.iloc[400:800], frame.iloc[800:]]
    pieces[place] = change(pieces[place])
    return dask.dataframe.from_delayed(list(map(dask.delayed, pieces)), meta=frame.iloc[:0], verify_meta=False)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda part: part.assign(age=part.age.astype("float32")), "Partition 2 has column 'age' of type float32"),
        (lambda part: part.assign(outcome=1), "Partition 2 has labels of type int64"),
        (lambda part: part.assign(age=np.inf), "Partition 2 cannot be used: .*infinity"),
        (lambda part: part.assign(outcome=None), "Partition 2 (has labels|cannot be used)"),
    ],
)
def test_a_partition_that_differs_is_named(client, frame, change, message):
    with pytest.raises(ValueError, match=message):
        fit(client, bad(frame, 2, change))


def test_other_columns_are_named(client, frame):
    X = [
        dask.delayed(frame[FEATURES].iloc[:600]),
        dask.delayed(frame[FEATURES].iloc[600:].rename(columns={"age": "x"})),
    ]
    ddf = dask.dataframe.from_delayed(X, meta=frame[FEATURES].iloc[:0], verify_meta=False)
    y = divided(frame, [600])["outcome"]
    with pytest.raises(
        ValueError, match="Partition 1 has other columns than the first: 'x', 'dose', 'site' instead of 'age'"
    ):
        DaskCertifiedVoteClassifier(client, voters=FEW).fit(ddf, y)


def test_what_a_cluster_cannot_do_is_said_before_any_work(client, frame):
    ddf = divided(frame, [600])
    with pytest.raises(ValueError, match="method='smv-exact' is certified by more than counts"):
        fit(client, ddf, method="smv-exact")
    with pytest.raises(ValueError, match="asks for more than counts"):
        fit(client, ddf, promises=[Abstention(max_error=0.1)])
    with pytest.raises(TypeError, match="X must be a dask data frame, series or array; got DataFrame"):
        DaskCertifiedVoteClassifier(client).fit(frame[FEATURES], frame.outcome)
    with pytest.raises(ValueError, match="X has 2 partitions and y has 3"):
        DaskCertifiedVoteClassifier(client).fit(ddf[FEATURES], divided(frame, [1, 2])["outcome"])
    with pytest.raises(ValueError, match=r"Partition . has 600 rows and (1|1,199) labels"):
        DaskCertifiedVoteClassifier(client).fit(ddf[FEATURES], divided(frame, [1])["outcome"])
    with pytest.raises(TypeError, match=r"client must be a distributed.Client"):
        fit("tcp://127.0.0.1:8786", ddf)
    with pytest.raises(ValueError, match="groups cannot be used on a cluster"):
        DaskCertifiedVoteClassifier(client).fit(ddf[FEATURES], ddf["outcome"], groups=ddf["site"])
    with pytest.raises(ValueError, match="sample_weight cannot be used here"):
        DaskCertifiedVoteClassifier(client).fit(ddf[FEATURES], ddf["outcome"], sample_weight=ddf["site"])
    with pytest.raises(ValueError, match="solver='adam' goes through rows one by one"):
        fit(client, ddf, solver="adam", learn_rows=None)
    with pytest.raises(ValueError, match="learn_rows"):
        fit(client, ddf, learn_rows=0)
    with pytest.raises(ValueError, match="None of the 1 partitions has a row"):
        fit(client, divided(frame.iloc[:0], []))


def test_without_a_client(client, frame, monkeypatch):
    assert fit(None, divided(frame, [600])).certificate_.deployed_part.n > 0  # the current one
    monkeypatch.setattr(distributed, "default_client", lambda: (_ for _ in ()).throw(ValueError("none")))
    with pytest.raises(ValueError, match="There is no Dask client: make one"):
        fit(None, divided(frame, [600]))


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(ImportError, match=r"install certivote\[dask\]"):
        DaskCertifiedVoteClassifier().fit(None, None)


# Failures


def on_read(folder, frame, number, happens):
    """A table of which something happens to partition 0 when it is read for this time."""

    def change(part, partition_info=None):
        if partition_info is None or partition_info["number"]:
            return part
        done = len(os.listdir(folder))
        (folder / str(done)).touch()
        return happens(part) if done == number else part

    ddf = divided(frame, [400, 800])
    # Rows and labels are read together, so that a pass reads a partition once.
    return ddf.map_partitions(change, meta=frame.iloc[:0])


def die(part):
    os._exit(1)


def vanish(part):
    raise FileNotFoundError("rows/0.parquet")


def test_a_worker_dies_while_weights_are_learned(client, frame, monkeypatch):
    monkeypatch.setattr(_classifier, "ByNumber", functools.partial(ByNumber, block_rows=128))
    options = {"method": "dis-r", "prior": 0.5, "learn_rows": None}
    wanted = fit(client, divided(frame, [600]), **options).certificate_
    asked, each = [], ClusterBlocks.each

    def interrupted(self, *arguments):
        asked.append(1)
        if len(asked) == 20:
            victim = next(iter(client.has_what()))
            client.run(os._exit, 1, workers=[victim], on_error="ignore")
        return each(self, *arguments)

    monkeypatch.setattr(ClusterBlocks, "each", interrupted)
    assert fit(client, divided(frame, [600]), **options).certificate_ == wanted
    assert len(asked) > 20
    client.wait_for_workers(2)


@pytest.mark.parametrize("number", [1, 2, 4])
def test_a_worker_dies(client, frame, fitted, tmp_path, number):
    """While the digest is taken, training rows are gathered, and errors counted; its nanny starts another."""
    ddf = on_read(tmp_path, frame, number, die)
    clf = fit(client, ddf)
    assert len(os.listdir(tmp_path)) > number + 1
    assert clf.certificate_ == fitted.certificate_
    client.wait_for_workers(2)


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_lost_rows_are_noticed_in_every_pass(client, frame, tmp_path, number):
    with pytest.raises(RuntimeError, match="Partition 0 cannot be read, and nothing is certified on the others alone"):
        fit(client, on_read(tmp_path, frame, number, vanish))


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_changed_rows_are_noticed_in_every_pass(client, frame, tmp_path, number):
    with pytest.raises(ValueError, match="Partition 0 had 400 rows when it was first read, and has 399 now"):
        fit(client, on_read(tmp_path, frame, number, lambda part: part.iloc[1:]))


@pytest.mark.parametrize("number", [1, 2, 4])
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda part: part.iloc[::-1], id="order"),
        pytest.param(lambda part: part.assign(outcome=part["outcome"][::-1].set_axis(part.index)), id="labels"),
    ],
)
def test_rows_in_another_order_are_noticed_in_every_pass(client, frame, tmp_path, number, change):
    """They would have other numbers, so that some of them would train the voters and certify the vote."""
    with pytest.raises(ValueError, match="Partition 0 has other rows, or the same in another order"):
        fit(client, on_read(tmp_path, frame, number, change))


@pytest.mark.parametrize(
    "rows",
    [
        np.arange(12.0).reshape(4, 3),
        np.array([["a", 1], ["b", 2], ["a", 3], ["c", 4]], dtype=object),
        pd.DataFrame({"a": [1, 2, 3, 4], "b": pd.Categorical(["x", "y", "y", "z"]), "c": [None, "t", "u", 2]}),
        pd.DataFrame({"a": [[1], [2], [3], [4]]}),
        sparse.csr_array(np.eye(4)),
    ],
    ids=["array", "objects", "frame", "lists", "sparse"],
)
def test_a_fingerprint_tells_rows_and_their_order(rows):
    y, other = np.array(["no", "yes", "no", "yes"], dtype=object), [1, 0, 2, 3]
    moved = rows.iloc[other] if hasattr(rows, "iloc") else rows[other]
    assert fingerprint(rows, y) == fingerprint(rows.copy(), y.copy())
    assert fingerprint(rows, y) != fingerprint(moved, y)
    assert fingerprint(rows, y) != fingerprint(rows, y[other])
    assert fingerprint(rows, np.array([0, 1, 0, 1])) != fingerprint(rows, np.array([1, 0, 0, 1]))


# What comes of it


def touching(part, path):
    open(path, "w").close()
    return part


def test_predictions_are_lazy(frame, fitted, tmp_path):
    ddf = divided(frame, [300, 300, 700])[FEATURES]
    read = tmp_path / "read"
    watched = ddf.map_partitions(touching, str(read), meta=frame[FEATURES].iloc[:0])
    answers, masses = fitted.predict(watched), fitted.predict_proba(watched)
    assert not read.exists()
    local = fitted.to_local()
    with dask.config.set(scheduler="synchronous"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Running on a single-machine scheduler")  # of earlier versions of dask
        assert answers.compute().tolist() == local.predict(frame[FEATURES]).tolist()
        held = masses.compute()
        assert np.array_equal(held, local.predict_proba(frame[FEATURES]))
    assert held.columns.tolist() == ["ill", "well"]
    assert held.index.equals(frame.index)
    assert read.exists()
    assert answers.npartitions == 4
    assert np.array_equal(fitted.predict(frame[FEATURES]), local.predict(frame[FEATURES]))


def test_it_becomes_an_ordinary_classifier(frame, fitted, tmp_path):
    local = fitted.to_local()
    assert type(local) is CertifiedVoteClassifier
    assert local.split == "single"
    local.save(tmp_path / "model.certivote")
    again = load(tmp_path / "model.certivote")
    assert again.certificate_ == fitted.certificate_
    assert np.array_equal(again.part_.train, local.part_.train)
    checks = verify(again.certificate_, again, frame[FEATURES], frame.outcome)
    assert [check for check in checks if not check.passed] == []
    assert {"parts", "size", "choices", "certification rows", "voters"} <= {check.what for check in checks}
    changed = frame.outcome.where(frame.index != 7, "ill" if frame.outcome[7] == "well" else "well")
    assert not all(check.passed for check in verify(again.certificate_, again, frame[FEATURES], changed))


def test_it_is_not_repeated(frame, fitted):
    local = fitted.to_local()
    with pytest.raises(ValueError, match="trained on a cluster, which cannot be repeated"):
        local.refit(frame[FEATURES], frame.outcome)
    with pytest.raises(ValueError, match="trained on a cluster, which cannot be repeated"):
        verify(local.certificate_, local, frame[FEATURES], frame.outcome, refit=True)
    assert "not the recipe" in fitted.certificate_.choices[0]


def forged(fitted, **changes):
    record = json.loads(fitted.certificate_.to_json())
    for path, value in changes.items():
        *place, last = path.split("__")
        inside = record
        for step in place:
            inside = inside[int(step) if step.isdigit() else step]
        inside[last] = value
    return type(fitted.certificate_).from_json(json.dumps(record))


def test_the_auditor_knows_the_rule(frame, fitted):
    local = fitted.to_local()

    def failed(certificate, model):
        return {check.what for check in verify(certificate, model, frame[FEATURES], frame.outcome) if not check.passed}

    assert failed(fitted.certificate_, local) == set()
    first = {"looked_at": 9, "found": "too few", "share": 0.5, "late": None, "early": None}
    assert "choices" in failed(forged(fitted, first_rows=first), local)
    assert "size" in failed(forged(fitted, provenance__entropy=[4]), local) | {
        check.what for check in verify(forged(fitted, provenance__entropy=[4]), local) if not check.passed
    }
    other = load_with_share(local, 0.4)
    assert "parts" in failed(fitted.certificate_, other)


def load_with_share(local, share):
    other = CertifiedVoteClassifier(**local.get_params(deep=False))
    vars(other).update(vars(local))
    other.part_ = dataclasses.replace(local.part_, share=share)
    other.parts_ = (other.part_,)
    return other


def test_the_file_of_a_model_does_not_grow_with_its_rows(client, tmp_path, fitted):
    fitted.to_local().save(tmp_path / "few.certivote")
    many = table(20_000)
    fit(client, divided(many, [10_000]), sample_rows=600, learn_rows=600).to_local().save(tmp_path / "many.certivote")
    few, many = ((tmp_path / f"{name}.certivote").stat().st_size for name in ("few", "many"))
    assert many < few + 4096


def test_parameters_have_the_defaults_of_the_estimator():
    own, usual = (inspect.signature(kind).parameters for kind in (DaskCertifiedVoteClassifier, CertifiedVoteClassifier))
    assert set(usual) - {"n_jobs"} <= set(own)  # a cluster has workers
    assert set(own) - set(usual) == {"client", "learn_rows", "sample_rows"}
    assert all(own[name].default == usual[name].default for name in set(own) & set(usual))


# Rows and labels whose indexes say that they are in another order


@pytest.mark.parametrize("order", [[1, 0], [0, 1]], ids=["partitions", "rows"])
def test_labels_with_the_index_of_the_rows_in_another_order_are_refused(client, order):
    frame = table(400)
    halves = [frame["outcome"].iloc[:200], frame["outcome"].iloc[200:]]
    pieces = [dask.delayed(halves[place] if order == [1, 0] else halves[place][::-1]) for place in order]
    y = dask.dataframe.from_delayed(pieces, meta=frame["outcome"].iloc[:0], verify_meta=False)
    clf = DaskCertifiedVoteClassifier(client=client, voters=FEW, random_state=3)
    with pytest.raises(ValueError, match="index labels of X in another order"):
        clf.fit(divided(frame, [200])[FEATURES], y)
