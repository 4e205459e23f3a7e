"""Boosters of CatBoost and LightGBM, read as plain arrays."""

import builtins
import pickle

import numpy as np
import pytest

from certivote import CertifiedVoteClassifier
from certivote.voters import Mixed, Preprocessed, _boosters, _race, boosted, resolve_voters
from certivote.voters._boosters import BOOSTERS, check_installed, fit_booster
from certivote.voters._machines import Always
from certivote.voters._members import FoldedMember
from certivote.voters._oblivious import ObliviousTrees
from certivote.voters._race import ALL_KINDS, KINDS, Training

pytestmark = pytest.mark.filterwarnings("error")


def rng(seed=0):
    return np.random.default_rng(seed)


def data(n, n_classes=2, seed=0):
    """Columns: plain, of few values, with gaps in training, without; and one that is constant."""
    source = rng(seed)
    X = source.normal(size=(n, 5)).astype(np.float32).astype(float)
    X[:, 1] = np.round(2 * X[:, 1])
    X[:, 4] = 7.0
    score = X[:, 0] + X[:, 1] + X[:, 3] ** 2 + 0.5 * source.normal(size=n)
    X[source.random(n) < 0.1, 2] = np.nan
    return X, np.digitize(score, np.linspace(0, 2, n_classes - 1))


def asked(n):
    """Rows with gaps in every column, values that training has not seen, and some on borders."""
    X, _ = data(n, seed=5)
    X *= rng(6).choice([1.0, 10.0], size=X.shape)
    X[rng(7).random(X.shape) < 0.1] = np.nan
    return X


@pytest.fixture
def library(request, monkeypatch):
    """The library, and the models that it trains meanwhile."""
    module, seen = pytest.importorskip(request.param), []
    if request.param == "catboost":
        train = module.CatBoostClassifier.fit

        def fit(self, *given, **named):
            seen.append(train(self, *given, **named))
            return seen[-1]

        monkeypatch.setattr(module.CatBoostClassifier, "fit", fit)
    else:
        train = module.train

        def trained(*given, **named):
            seen.append(train(*given, **named))
            return seen[-1]

        monkeypatch.setattr(module, "train", trained)
    return request.param, seen


def theirs(name, model, X, stage):
    """Raw scores of the library, of shape (n_rows, n_scores)."""
    if name == "catboost":
        found = model.predict(X.astype(np.float32), prediction_type="RawFormulaVal", ntree_end=stage)
    else:
        found = model.predict(X, raw_score=True, num_iteration=stage)
    return found.reshape(len(X), -1)


both = pytest.mark.parametrize("library", BOOSTERS, indirect=True)


@both
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_it_answers_as_the_library_does(library, n_classes, weighted):
    name, seen = library
    X, y = data(900, n_classes)
    weights = rng(1).exponential(size=900) + 0.1 if weighted else None
    model = fit_booster(name, X, 2 * y + 1, weights, seed=3, pace="quick")
    model.check(5, 2 * n_classes, _boosters.N_STAGES)
    for fresh in (asked(2000), asked(40)):
        answers = model.answers(fresh)
        for stage, own in zip(model.stages.tolist(), answers.T, strict=True):
            scores = theirs(name, seen[0], fresh, stage)
            if n_classes == 2:
                best, clear = (scores[:, 0] > 0).astype(int), np.abs(scores[:, 0]) > 1e-5
            else:
                top = np.sort(scores, axis=1)
                best, clear = scores.argmax(axis=1), top[:, -1] - top[:, -2] > 1e-5
            assert np.array_equal(own[clear], 2 * best[clear] + 1)
            assert clear.mean() > 0.99
    assert np.mean(model.answers(X)[:, -1] == 2 * y + 1) > 0.8


@pytest.mark.parametrize("library", ["catboost"], indirect=True)
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("n_rows", [1, 64, 65, 9000])
def test_the_scores_are_those_of_catboost(library, n_classes, n_rows):
    X, y = data(500, n_classes)
    model, fresh = fit_booster("catboost", X, y, None, seed=3, pace="quick"), asked(n_rows)
    for rows, stage, scores in model.scores(fresh):
        np.testing.assert_allclose(scores, theirs("catboost", library[1][0], fresh[rows], stage), rtol=1e-5, atol=1e-6)


def test_values_on_a_border_are_not_above_it():
    """Of single precision, as the borders are: numbers that are rounded to one are on it."""
    border = np.float32(0.1)
    values = np.array([[[1.0], [2.0], [4.0], [8.0]]], dtype=np.float32)
    tree = ObliviousTrees(
        np.array([[0, 1]], dtype=np.int32),
        np.array([[border, 0.0]], dtype=np.float32),
        values,
        np.zeros(1),
        np.array([1]),
        np.array([0, 1]),
    )
    tree.check(2, 2, 1)
    rows = np.array([[0.1, -1.0], [0.2, -1.0], [0.1, 1.0], [1e300, 1.0], [np.nan, np.nan], [-1e300, 0.0]])
    many = np.tile(rows, (30, 1))
    for X in (rows, many):
        found = np.concatenate([scores.ravel() for _, _, scores in tree.scores(X)])
        assert found.tolist() == [1.0, 2.0, 4.0, 8.0, 1.0, 1.0] * (len(X) // 6)


@both
@pytest.mark.parametrize("n_classes", [2, 4])
def test_answers_are_the_same_in_any_company_and_after_a_copy(library, n_classes):
    X, y = data(400, n_classes)
    model, fresh = fit_booster(library[0], X, y, None, seed=3, pace="quick"), asked(700)
    answers = model.answers(fresh)
    assert np.array_equal(answers, pickle.loads(pickle.dumps(model)).answers(fresh))
    assert np.array_equal(
        answers, np.concatenate([model.answers(fresh[first : first + 7]) for first in range(0, 700, 7)])
    )
    assert np.array_equal(answers[:, [0]], model.only(np.array([0])).answers(fresh))
    assert np.array_equal(answers[:, 1:], model.only(np.array([1, 2])).answers(fresh))


@both
def test_training_again_gives_the_same(library):
    X, y = data(300)
    one, another = (fit_booster(library[0], X, y, None, seed=3, pace="quick") for _ in range(2))
    assert pickle.dumps(one) == pickle.dumps(another)
    assert pickle.dumps(one) != pickle.dumps(fit_booster(library[0], X[:290], y[:290], None, seed=3, pace="quick"))


@both
@pytest.mark.parametrize(
    "X", [np.zeros((50, 1)), np.full((50, 2), np.nan), np.arange(50.0)[:, None], np.tile([np.nan, 1.0], 25)[:, None]]
)
def test_one_column_constant_ones_and_empty_ones(library, X):
    y = np.r_[np.zeros(20, dtype=int), np.full(30, 2)]
    X = np.where(np.isnan(X).all(axis=0), 0.0, X)  # as the race hands them over
    model = fit_booster(library[0], X, y, None, seed=3, pace="quick")
    model.check(X.shape[1], 3, 3)
    answers = model.answers(X)
    assert set(np.unique(answers)) <= {0, 2}
    if np.ptp(np.nan_to_num(X)) == 0.0:
        assert isinstance(model, Always) or len(np.unique(answers)) == 1
        assert np.all(answers == 2)


# In the race


def planned(X, y, n_classes=2, entities=None, wanted=ALL_KINDS):
    return Training.planned(X, y, n_classes, entities, rng(7), None, wanted)


@both
@pytest.mark.parametrize("grouped", [False, True])
def test_a_member_votes_out_of_sample_on_rows_that_its_models_have_not_seen(library, grouped):
    X, y = data(120, 3)
    training = planned(X, y, 3, np.arange(120) // 2 if grouped else None, wanted=(library[0],))
    tried = training.trial(n_folds=3)
    assert list(tried) == [library[0]]
    (member,) = training.members(tried).values()
    assert isinstance(member, FoldedMember)
    assert member.left_out.all()
    middle = -1 - member.n_ballots // 2  # of the votes at the last stage
    assert np.mean(member.unseen[:, middle] == y) < np.mean(member.votes(X)[:, middle] == y)
    assert np.mean(member.unseen[:, middle] == y) > 0.5


@both
def test_a_class_that_a_fold_lacks_and_one_that_no_row_has(library):
    X, y = data(60, 2)
    y[:] = np.where(y == 1, 3, 0)
    y[7] = 2
    training = planned(X, y, 5, wanted=(library[0],))
    (member,) = training.members(training.trial(n_folds=3)).values()
    member.check(5, 5)
    assert set(np.unique(member.votes(X))) <= {0, 2, 3}


def test_of_many_classes_there_are_none():
    X, y = rng(3).normal(size=(300, 2)), np.arange(300) % 101
    assert not set(planned(X, y, 101).kinds()) & {*BOOSTERS, "boosting"}
    assert set(planned(X, y % 100, 100).kinds()) >= {*BOOSTERS, "boosting"}


@both
def test_of_many_columns_some_are_seen(library, monkeypatch):
    monkeypatch.setattr(_race, "_WIDE", 3)
    X, y = data(80)
    member = planned(X, y, wanted=(library[0],)).member(library[0])
    assert len(member.columns[0]) == 3
    member.check(5, 2)
    assert member.votes(X).shape == (80, member.n_voters)
    assert member.n_groups == _boosters.N_STAGES


def test_other_kinds_are_those_of_a_race_without_boosters():
    X, y = data(90)
    plain, together = planned(X, y, wanted=KINDS), planned(X, y)
    for kind in ("random forest", "boosting", "neighbours"):
        one, another = plain.member(kind), together.member(kind)
        votes = [each.votes(X) for each in (one, another)]
        if kind == "random forest":
            votes = [each.masses(np.full(each.n_voters, 1.0 / each.n_voters)) for each in votes]
        assert np.array_equal(*votes)


# By name


def test_kinds_are_pinned_and_recorded():
    X, y = data(200)
    pinned = Mixed(kinds=["linear", "random forest"])
    clf = CertifiedVoteClassifier("dis-b", pinned, random_state=0).fit(X, y)
    part = clf.certificate_.deployed_part
    assert part.raced == ("random forest", "linear")
    assert set(part.kept) <= set(part.raced)
    assert len(clf.voters_.forests) + len(clf.voters_.members) == len(part.kept)
    assert any("random forest" in choice for choice in clf.certificate_.choices)
    names = dict(clf.certificate_.provenance.versions)
    assert not {*names} & {*BOOSTERS}


def test_without_a_name_they_do_not_race():
    assert Mixed().libraries == ()
    assert Mixed(kinds=KINDS).libraries == ()
    assert resolve_voters("boosted").libraries == boosted().libraries == BOOSTERS
    assert Preprocessed(None, "boosted").libraries == BOOSTERS
    assert Mixed(kinds=["lightgbm"]).libraries == ("lightgbm",)


@pytest.mark.parametrize("kinds", [[], ["trees"], [3], ["linear", None], 7, "trees"])
def test_other_kinds_are_refused_and_the_known_are_named(kinds):
    X, y = data(60)
    with pytest.raises(
        ValueError, match=r"kinds must be None, or a list or tuple of some of 'random forest', .*'lightgbm'; got"
    ):
        CertifiedVoteClassifier("dis-b", Mixed(kinds=kinds)).fit(X, y)


def test_without_the_package_a_sentence_says_what_to_install(monkeypatch):
    original = builtins.__import__
    monkeypatch.setattr(_boosters, "import_module", lambda name: original(f"no_such_{name}"))
    X, y = data(60)
    with pytest.raises(ImportError, match=r"'catboost' need the package catboost: pip install 'certivote\[boost\]'"):
        CertifiedVoteClassifier(voters="boosted").fit(X, y)
    with pytest.raises(ImportError, match="lightgbm"):
        check_installed(["lightgbm"])
    CertifiedVoteClassifier("dis-b", Mixed(kinds=["linear"]), random_state=0).fit(X, y)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_vote_with_boosters(n_classes, tmp_path):
    for name in BOOSTERS:
        pytest.importorskip(name)
    from certivote import load

    X, y = data(400, n_classes)
    clf = CertifiedVoteClassifier(voters=Mixed(kinds=BOOSTERS), random_state=0).fit(X, y)
    part = clf.certificate_.deployed_part
    assert part.raced == BOOSTERS
    assert clf.certificate_.bound < 0.45
    versions = dict(clf.certificate_.provenance.versions)
    assert {*versions} > {*BOOSTERS}
    clf.save(tmp_path / "model.certivote")
    stored, fresh = load(tmp_path / "model.certivote"), asked(500)
    assert np.array_equal(stored.predict_proba(fresh), clf.predict_proba(fresh))
    assert np.array_equal(stored.predict_proba(fresh[:1]), clf.predict_proba(fresh[:1]))
