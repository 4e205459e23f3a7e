"""How each kind of a mixed vote is trained: without the rows that it then votes on as if it had not seen them."""

from importlib.util import find_spec

import joblib
import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from threadpoolctl import threadpool_info, threadpool_limits

from certivote.voters import Forest, Mixed, _race
from certivote.voters._boosters import BOOSTERS
from certivote.voters._forest import FittedForest
from certivote.voters._machines import Always, KernelPairs, KernelScores
from certivote.voters._members import FoldedMember, NeighbourMember, model_votes
from certivote.voters._race import ALL_KINDS, Training

pytestmark = pytest.mark.filterwarnings("error")
KINDS = tuple(kind for kind in ALL_KINDS if kind not in BOOSTERS or find_spec(kind))
_FOLDED = tuple(kind for kind in KINDS if kind in _race._FOLDED)


def rng(seed=0):
    return np.random.default_rng(seed)


def noise(n=150, width=4):
    source = rng()
    return source.normal(size=(n, width)), source.integers(2, size=n)


def planned(X, y, entities=None, n_jobs=None, n_classes=2):
    return Training.planned(X, y, n_classes, entities, rng(7), n_jobs, KINDS)


@pytest.fixture(scope="module")
def of_noise():
    training = planned(*noise())
    return training, training.trial(n_trees=5, n_folds=3)


def right_out_of_sample(member, y):
    rows = np.flatnonzero(member.left_out)
    return np.mean(member.unseen[rows] == y[rows, None], axis=0)


@pytest.mark.parametrize("kind", _FOLDED)
def test_out_of_sample_noise_is_noise(kind, of_noise):
    training, tried = of_noise
    assert tried[kind].left_out.all()
    assert np.all(np.abs(right_out_of_sample(tried[kind], training.y) - 0.5) < 0.15)
    # A model that has seen the rows knows something of them.
    assert np.mean(training.member(kind, tried=tried[kind]).votes(training.X) == training.y[:, None]) > 0.53


@pytest.mark.parametrize("kind", _FOLDED)
def test_the_rows_of_a_fold_play_no_part_in_the_votes_on_it(kind, of_noise):
    """Other labels, other values: what is said of the rest of the fold stays."""
    training, tried = of_noise
    fold = np.flatnonzero(training.places % 3 == 0)
    spoiled, kept = fold[::2], fold[1::2]
    X, y = training.X.copy(), training.y.copy()
    X[spoiled] = 1e3 * rng(1).normal(size=(len(spoiled), 4))
    y[fold] = 1 - y[fold]
    unseen = planned(X, y).trial(n_trees=1, n_folds=1)[kind].unseen
    assert np.array_equal(unseen[kept], tried[kind].unseen[kept])
    # The others do.
    X, y = training.X.copy(), training.y.copy()
    y[training.places % 3 != 0] = 1 - y[training.places % 3 != 0]
    assert not np.array_equal(planned(X, y).trial(n_trees=1, n_folds=1)[kind].unseen[fold], tried[kind].unseen[fold])


@pytest.mark.parametrize("n_folds", [1, 2])
def test_so_many_thirds_of_the_rows_are_voted_on_by_all_kinds(n_folds, of_noise):
    training, whole = of_noise
    tried = training.trial(n_trees=1, n_folds=n_folds)
    assert tuple(tried) == KINDS == tuple(whole)
    for kind in _FOLDED:
        assert np.array_equal(tried[kind].left_out, training.places % 3 < n_folds)
        assert np.array_equal(tried[kind].unseen[tried[kind].left_out], whole[kind].unseen[tried[kind].left_out])
        assert tried[kind].models == ()
        assert np.all(tried[kind].unseen[~tried[kind].left_out] == -1)


def test_what_is_tried_is_not_trained_again_but_for_the_model_that_votes(of_noise, monkeypatch):
    training, tried = of_noise
    sizes = []
    original = _race._fit

    def fit(kind, X, y, *how):
        sizes.append(len(y))
        return original(kind, X, y, *how)

    monkeypatch.setattr(_race, "_fit", fit)
    for kind in KINDS:
        member = training.member(kind, tried=tried[kind])
        if kind in _FOLDED:
            assert member.unseen is tried[kind].unseen
            assert len(member.models) == 1
        else:
            assert member is tried[kind]
    assert sizes == [150] * len(_FOLDED)


@pytest.mark.parametrize("kind", _FOLDED)
def test_a_model_that_was_not_tried_is_trained_without_a_fifth_of_the_rows(kind, monkeypatch):
    monkeypatch.setattr(_race, "_AGAIN_BELOW", 150)
    X, y = noise()
    training = planned(X, y)
    member = training.member(kind)
    out = training.places < 30
    assert np.array_equal(member.left_out, out)
    assert np.array_equal(member.unseen[out], model_votes(member.models[0], X[out], member.n_ballots))
    assert np.all(member.unseen[~out] == -1)
    y = y.copy()
    y[out] = 1 - y[out]
    assert np.array_equal(planned(X, y).member(kind).votes(X), member.votes(X))


@pytest.mark.parametrize("kind", _FOLDED)
def test_of_not_too_many_rows_it_is_trained_again_on_all_to_vote(kind, monkeypatch):
    X, y = noise()
    again = planned(X, y).member(kind)
    whole = planned(X, y)._trained(kind, np.ones(150, dtype=bool))
    assert np.array_equal(again.votes(X), model_votes(whole, X, again.n_ballots))
    monkeypatch.setattr(_race, "_AGAIN_BELOW", 150)
    once = planned(X, y).member(kind)
    # What is said of rows that were left out comes from a model that has not seen them, either way.
    assert np.array_equal(again.unseen, once.unseen)
    assert not np.array_equal(again.votes(X), once.votes(X))
    monkeypatch.undo()
    monkeypatch.setattr(_race, "_LANDMARKS_FROM", 150)
    monkeypatch.setattr(_race, "_LANDMARKS", 20)
    dear = planned(X, y).member("kernel")
    assert np.array_equal(dear.votes(X), planned(X, y)._trained("kernel", ~dear.left_out).answers(X))


def test_of_many_rows_not_more_than_a_number_are_left_out(monkeypatch):
    monkeypatch.setattr(_race, "_MOST_LEFT_OUT", 12)
    training = planned(*noise())
    assert training.member("gaussian").left_out.sum() == 12
    entities = np.arange(150) // 3
    assert planned(*noise(), entities).member("gaussian").left_out.sum() == 12


@pytest.mark.parametrize("kind", KINDS)
def test_entities_are_left_out_as_a_whole(kind):
    X, y = noise()
    entities = np.repeat(np.arange(30), 5)
    training = planned(X, y, entities)
    assert len(set(zip(training.places, entities, strict=True))) == 30
    tried = training.trial(n_trees=1, n_folds=1)[kind]
    if isinstance(tried, FoldedMember):
        own = training.member(kind)
        for member in (tried, own):
            assert 0 < len(set(entities[member.left_out])) < 30
            assert not set(entities[member.left_out]) & set(entities[~member.left_out])
    elif isinstance(tried, NeighbourMember):
        assert len(set(zip(tried.folds, entities, strict=True))) == 30
    else:
        assert isinstance(tried, FittedForest)
        seen = np.unpackbits(tried.seen, axis=1, count=150)[0].astype(bool)
        assert not set(entities[seen]) & set(entities[~seen])


@pytest.mark.parametrize("n_entities", [2, 3])
def test_fewer_entities_than_folds(n_entities):
    X, y = noise(60)
    entities = np.minimum(np.arange(60) // 7, n_entities - 1)
    for member in planned(X, y, entities).trial(n_trees=1, n_folds=3).values():
        if isinstance(member, FoldedMember):
            assert member.left_out.all()


def test_a_model_that_sees_one_class_votes_for_it():
    X, _ = noise(30)
    training = planned(X, np.zeros(30, dtype=int))
    y = np.where(training.places % 3 == 0, 0, 1)
    tried = planned(X, y).trial(n_trees=1, n_folds=1)
    for kind in _FOLDED:
        assert np.all(tried[kind].unseen[y == 0] == 1)
    constant = planned(X, np.ones(30, dtype=int)).member("boosting")
    assert constant.models == (Always(1, constant.n_groups),)
    constant.check(4, 2)


def test_of_many_columns_boosting_sees_some_and_there_are_no_normal_distributions(monkeypatch):
    monkeypatch.setattr(_race, "_WIDE", 3)
    X, y = noise(60, width=8)
    training = planned(X, y)
    assert training.kinds() == tuple(kind for kind in KINDS if kind != "gaussian")
    boosting = training.member("boosting")
    (columns,) = boosting.columns
    assert len(columns) == len(set(columns.tolist())) == 4
    boosting.check(8, 2)
    assert np.array_equal(boosting.votes(X), model_votes(boosting.models[0], X[:, columns], boosting.n_ballots))
    # What it has not seen plays no part, in the trial neither.
    hidden = np.setdiff1d(np.arange(8), columns)
    X = X.copy()
    X[:, hidden] = rng(2).normal(size=(60, len(hidden)))
    other = planned(X, y)
    assert np.array_equal(other.member("boosting").votes(X), boosting.votes(X))
    tried = [each.trial(n_trees=1, n_folds=1)["boosting"].unseen for each in (training, other)]
    assert np.array_equal(*tried)
    assert len(training.member("linear").columns[0]) == 8


def test_of_many_rows_the_kernel_machine_has_landmarks(monkeypatch):
    training = planned(*noise(100))
    assert isinstance(training.member("kernel").models[0], KernelPairs)
    monkeypatch.setattr(_race, "_LANDMARKS_FROM", 60)
    monkeypatch.setattr(_race, "_LANDMARK_ROWS", 50)
    (machine,) = training.member("kernel").models
    assert isinstance(machine, KernelScores)
    assert len(machine.points) == 10


def test_of_many_rows_some_are_remembered(monkeypatch):
    monkeypatch.setattr(_race, "_REMEMBERED", 40)
    member = planned(*noise(100)).member("neighbours")
    assert len(member.points) == len(set(member.remembered.tolist())) == 40


def test_some_of_the_rows_come_with_all_of_their_entities():
    X, y = noise(60)
    training = planned(X, y)
    few = training.some(20)
    assert len(few.y) == 20
    assert sorted(few.places) == list(range(20))
    assert np.array_equal(few.X, X[training.places < 20])
    assert np.array_equal(few.seeds, training.seeds)
    assert len(training.some(1000).y) == 60
    entities = np.repeat(np.arange(10), 6)
    together = planned(X, y, entities)
    few = together.some(20)
    assert len(few.y) == 24
    assert sorted(set(few.entities)) == [0, 1, 2, 3]
    assert np.array_equal(np.bincount(few.entities), [6] * 4)
    few.trial(n_trees=1, n_folds=3)


def test_the_number_of_jobs_changes_nothing():
    X, y = noise(90)
    one, two = (planned(X, y, n_jobs=jobs) for jobs in (1, 2))
    with joblib.parallel_config("threading"):
        tried = [training.trial(n_trees=3, n_folds=2) for training in (one, two)]
    for kind in KINDS:
        first, second = (
            training.member(kind, tried=own[kind]) for training, own in zip((one, two), tried, strict=True)
        )
        if isinstance(first, FittedForest):
            assert np.array_equal(first.seen, second.seen)
            assert np.array_equal(first.leaf_votes, second.leaf_votes)
            assert np.array_equal(first.trees.threshold, second.trees.threshold)
        else:
            assert np.array_equal(first.votes(X), second.votes(X))
        if isinstance(first, FoldedMember):
            assert np.array_equal(first.unseen, second.unseen)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_sums_are_made_by_one_thread_whatever_runs_besides(n_jobs, monkeypatch):
    """The limit of one thread is the process's own: a model that is done must not lift it for the others."""
    seen = []
    original = _race._fit

    def blas_threads():
        return {found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas"}

    def fit(*how):
        seen.append(blas_threads())
        return original(*how)

    monkeypatch.setattr(_race, "_fit", fit)
    training = planned(*noise(60), n_jobs=n_jobs)
    with threadpool_limits(2, user_api="blas"), joblib.parallel_config("threading"):
        tried = training.trial(n_trees=1, n_folds=3)
        training.members({kind: tried[kind] for kind in _FOLDED})
        assert blas_threads() == {2}
    assert seen == [{1}] * 4 * len(_FOLDED)


def with_rare_classes(n, seed):
    """Two classes that can be told apart, and four rows each of four others among them."""
    source = rng(seed)
    X = source.normal(size=(n, 4))
    y = (X[:, 0] + X[:, 1] > 1.5).astype(int)
    for rare in (2, 3, 4, 5):
        y[source.choice(n, 4, replace=False)] = rare
    return X, y


def test_boosting_does_not_run_away_for_the_sake_of_rare_classes(monkeypatch):
    def most_errors():
        found = []
        for seed in range(5):
            (X, y), (new, truth) = (with_rare_classes(3000, 10 * place + seed) for place in range(2))
            model = planned(X, y, n_classes=6)._trained("boosting", np.ones(len(y), dtype=bool))
            found.append(np.mean(model.answers(new)[:, -1] != truth))
        return max(found)

    held_back = most_errors()
    monkeypatch.setattr(_race, "_RARE", 0.0)
    assert most_errors() > 2 * held_back
    assert held_back < 0.03


@pytest.mark.parametrize("n_jobs", [10**9, -1, -(10**9)])
def test_no_more_processes_than_cores(n_jobs, monkeypatch):
    asked = []
    original = joblib.Parallel.__init__

    def parallel(self, n_jobs=None, *others, **options):
        asked.append(n_jobs)
        original(self, n_jobs, *others, **options)

    monkeypatch.setattr(joblib.Parallel, "__init__", parallel)
    X, y = noise(60)
    with joblib.parallel_config("threading"):
        Mixed(n_jobs).fit(X, y, np.array([0, 1]), rng())
        Forest(RandomForestClassifier(3, n_jobs=n_jobs)).fit(X, y, np.array([0, 1]), rng())
    assert asked
    assert all(count is None or 1 <= count <= joblib.cpu_count() for count in asked)


@pytest.mark.parametrize("n_jobs", [0, 1.5, "two"])
@pytest.mark.parametrize("make", [Mixed, lambda n_jobs: Forest(RandomForestClassifier(3, n_jobs=n_jobs))])
def test_other_numbers_of_jobs_are_refused(make, n_jobs):
    X, y = noise(60)
    with pytest.raises(ValueError, match="n_jobs must be a whole number other than 0, or None; got"):
        make(n_jobs).fit(X, y, np.array([0, 1]), rng())


def test_classes_that_no_training_row_has_decide_nothing(monkeypatch):
    """A label among the certification rows, first, between or after the others, may not change what is trained."""
    monkeypatch.setattr(_race, "_FEW", 20)
    X, y = noise()
    inside = np.ones(len(y), dtype=bool)
    models = [
        planned(X, codes, n_classes=count)._trained("boosting", inside)
        for codes, count in ((y, 2), (y + 1, 3), (2 * y, 3), (y, 3))
    ]
    for model in models[1:]:
        assert np.array_equal(model.values, models[0].values)
        assert np.array_equal(model.stages, models[0].stages)


def test_a_large_entity_is_left_out_or_tried_with_another(monkeypatch):
    X, y = noise(600)
    entities = np.repeat(np.arange(4), [500, 40, 40, 20])
    for seed in range(8):
        training = Training.planned(X, y, 2, entities, rng(seed), None)
        few = training.some(30)
        assert len(np.unique(few.entities)) >= 2
        few.trial(n_folds=1, n_trees=2)
        monkeypatch.setattr(_race, "_FEW", 20)
        # A fifth of the rows are 120: entities beyond that stay, but for the first.
        left_out = np.unique(entities[~training._kept()])
        assert len(left_out) == 1 or np.isin(entities, left_out).sum() <= 120
