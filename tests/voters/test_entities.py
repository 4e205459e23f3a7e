"""Rows that belong together: all entities count the same, and nobody votes out of sample on an entity it has seen."""

import numpy as np
import pytest
from ballots import codes_of, fractions_of
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from certivote.io._plain import PlainReader, PlainWriter
from certivote.voters import Classifiers, Forest, Mixed, Preprocessed, Stumps, VoterSet, _race
from certivote.voters._classifiers import _takes_weights
from certivote.voters._entities import checked_entities, row_weights, shuffled_rows
from certivote.voters._race import KINDS

pytestmark = pytest.mark.filterwarnings("error")

TWO = np.array([0, 1])


def rng(seed=0):
    return np.random.default_rng(seed)


def near_copies(n_entities=40, size=10, width=40):
    """Entities of nearly equal rows with a label drawn for each: what one tells, no other does."""
    source = rng(0)
    centres, labels = source.normal(size=(n_entities, width)), source.permutation(np.arange(n_entities) % 2)
    entities = source.permutation(np.repeat(np.arange(n_entities), size))
    return centres[entities] + 0.01 * source.normal(size=(len(entities), width)), labels[entities], entities


def wrong_shares(fitted, X, y):
    """Of each group of voters, the share of the mass that its out-of-sample votes give to the wrong class."""
    unseen = fitted.out_of_sample(X, y, np.arange(len(y)))
    labels = y if unseen.rows is None else y[unseen.rows]
    return 1.0 - np.take_along_axis(fractions_of(unseen.votes), labels[:, None, None], axis=2)[:, :, 0].mean(axis=0)


FAMILIES = {
    "forest": Forest(RandomForestClassifier(60)),
    "extra trees": Forest(ExtraTreesClassifier(60, bootstrap=True)),
    "list": Classifiers([DecisionTreeClassifier(), LogisticRegression(), KNeighborsClassifier(1)]),
    "preprocessed forest": Preprocessed(StandardScaler(), Forest(RandomForestClassifier(60))),
    "preprocessed list": Preprocessed(StandardScaler(), [KNeighborsClassifier(3)]),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_out_of_sample_votes_know_nothing_of_the_entity(name):
    X, y, entities = near_copies()
    leaking = wrong_shares(FAMILIES[name].fit(X, y, TWO, rng()), X, y)
    tight = wrong_shares(FAMILIES[name].fit(X, y, TWO, rng(), entities=entities), X, y)
    assert np.all(leaking < 0.05)
    assert np.all(np.abs(tight - 0.5) < 0.18)


@pytest.fixture
def all_kinds(monkeypatch):
    """Mixed votes of all kinds, whether these earn it or not."""
    monkeypatch.setattr(_race, "_earned", lambda training, tried: dict.fromkeys(tried, 1.0))


@pytest.fixture(params=["few", "many"])
def regime(request, monkeypatch):
    """With few rows; and as of many, with landmarks, not all neighbours remembered, and models trained once."""
    if request.param == "many":
        for name, value in {"_FEW": 20, "_LANDMARKS_FROM": 20, "_LANDMARKS": 90, "_REMEMBERED": 380}.items():
            monkeypatch.setattr(_race, name, value)


@pytest.mark.usefixtures("regime", "all_kinds")
def test_no_member_of_a_mixed_vote_knows_the_entity_out_of_sample():
    X, y, entities = near_copies()
    leaking = wrong_shares(Mixed().fit(X, y, TWO, rng()), X, y)
    tight = wrong_shares(Mixed().fit(X, y, TWO, rng(), entities=entities), X, y)
    assert leaking.shape == tight.shape
    assert len(tight) >= len(KINDS)
    assert np.all(leaking < 0.1)
    assert np.all(tight > 0.2)


def one_large():
    """One entity of 300 rows of a class, 30 of one to three rows of the other; the features tell nothing."""
    sizes = np.array([300, *np.resize([1, 2, 3], 30)])
    entities = rng(1).permutation(np.repeat(np.arange(31), sizes))
    return np.ones((len(entities), 2)), (entities == 0).astype(int), entities


def answers_of_groups(fitted, row):
    """What most voters of each group say."""
    codes, groups = codes_of(fitted.votes(row))[0], fitted._groups
    return np.array([np.bincount(codes[groups == group]).argmax() for group in range(groups.max() + 1)])


@pytest.mark.usefixtures("regime", "all_kinds")
def test_all_entities_count_the_same_in_a_mixed_vote():
    X, y, entities = one_large()
    by_rows = answers_of_groups(Mixed().fit(X, y, TWO, rng()), X[:1])
    by_entities = answers_of_groups(Mixed().fit(X, y, TWO, rng(), entities=entities), X[:1])
    assert np.all(by_rows == 1)
    # But for the neighbours: points of large entities are as near as others, and are thinned out only if too many.
    assert np.all(by_entities[:-3] == 0)


@pytest.mark.parametrize("name", ["forest", "extra trees", "preprocessed forest"])
def test_all_entities_count_the_same_in_a_forest(name):
    X, y, entities = one_large()
    assert np.all(codes_of(FAMILIES[name].fit(X, y, TWO, rng()).votes(X)) == 1)
    assert np.all(codes_of(FAMILIES[name].fit(X, y, TWO, rng(), entities=entities).votes(X)) == 0)


class Recorder(ClassifierMixin, BaseEstimator):
    """Remembers what it was fitted with."""

    fits = ()

    def fit(self, X, y, sample_weight=None):
        type(self).fits += ((X[:, 0].astype(int), sample_weight),)
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def test_classifiers_get_weights_and_folds_by_entity(monkeypatch):
    monkeypatch.setattr(Recorder, "fits", ())
    _, y, entities = one_large()
    X = np.arange(len(y), dtype=float)[:, None]
    fitted = Classifiers([Recorder(), KNeighborsClassifier(1)]).fit(X, y, TWO, rng(), entities=entities)
    fitted.out_of_sample(X, y, np.arange(5))
    (everything, weights), *folds = Recorder.fits
    assert np.array_equal(everything, np.arange(len(y)))
    np.testing.assert_allclose(weights, row_weights(entities))
    assert 1 <= len(folds) <= 2  # the large entity is one class, so of three folds one sees the other class only
    for rows, own in folds:
        asked = np.setdiff1d(np.arange(len(y)), rows)
        assert not set(entities[rows]) & set(entities[asked])
        assert 10 <= len(set(entities[asked])) <= 11
        np.testing.assert_allclose(own, row_weights(entities[rows]))


def test_entities_of_one_size_give_no_weights(monkeypatch):
    monkeypatch.setattr(Recorder, "fits", ())
    X, y, entities = near_copies(12, 5, 3)
    Classifiers([Recorder()]).fit(X, y, TWO, rng(), entities=entities).out_of_sample(X, y, np.arange(5))
    assert [weights for _, weights in Recorder.fits] == [None] * 4


@pytest.mark.parametrize(
    ("classifier", "takes"),
    [
        (DecisionTreeClassifier(), True),
        (AdaBoostClassifier(DecisionTreeClassifier()), True),
        (BaggingClassifier(), True),
        (BaggingClassifier(KNeighborsClassifier()), False),
        (KNeighborsClassifier(), False),
        (make_pipeline(StandardScaler(), LogisticRegression()), False),
        (BaggingClassifier(make_pipeline(StandardScaler(), LogisticRegression())), False),
        (GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}), False),
    ],
)
def test_only_classifiers_that_take_weights_get_them(classifier, takes):
    X, y, entities = near_copies(12, 5, 3)
    entities[entities == 1] = 0
    entities[entities > 1] -= 1
    assert _takes_weights(classifier) == takes
    fitted = Classifiers([classifier]).fit(X, y, TWO, rng(), entities=entities)
    assert fitted.out_of_sample(X, y, np.arange(60)).votes.n_rows == 60


ALL_FAMILIES = {**FAMILIES, "mixed": Mixed(), "stumps": Stumps(3)}


@pytest.mark.parametrize("name", ALL_FAMILIES)
def test_entities_of_one_row_each_are_no_entities(name):
    X, y, _ = near_copies(40, 2, 4)
    sources = rng(5), rng(5), rng(5)
    bare, without, alone = (
        ALL_FAMILIES[name].fit(X, y, TWO, source, **given)
        for source, given in zip(sources, ({}, {"entities": None}, {"entities": rng(2).permutation(80)}), strict=True)
    )
    expected = codes_of(bare.votes(X)), fractions_of(bare.out_of_sample(X, y, np.arange(80)).votes)
    for other in (without, alone):
        assert np.array_equal(codes_of(other.votes(X)), expected[0])
        assert np.array_equal(fractions_of(other.out_of_sample(X, y, np.arange(80)).votes), expected[1])
    assert len({source.integers(2**31) for source in sources}) == 1


def test_stumps_have_nothing_to_do_with_entities():
    X, y, entities = near_copies(10, 3, 4)
    plain, grouped = Stumps(3).fit(X, y, TWO, rng()), Stumps(3).fit(X, y, TWO, rng(), entities=entities)
    assert np.array_equal(plain.thresholds, grouped.thresholds)


def test_fitted_classifiers_need_no_training_rows():
    fitted = Classifiers([DummyClassifier().fit([[0.0]], [1])]).fit(None, None, TWO, rng())
    assert fitted.n_voters == 1


def test_a_family_that_has_nothing_to_do_with_groups_is_not_told_of_none():
    class Plain(VoterSet):
        input_checks = {"dtype": float}  # noqa: RUF012
        needs_training = True

        def fit(self, X, y, classes, rng):
            return Stumps(2).fit(X, y, classes, rng)

    X, y, entities = near_copies(10, 3, 4)
    assert Preprocessed(StandardScaler(), Plain()).fit(X, y, TWO, rng()).n_voters == 16
    with pytest.raises(TypeError, match="entities"):
        Preprocessed(StandardScaler(), Plain()).fit(X, y, TWO, rng(), entities=entities)


@pytest.mark.parametrize("voters", [Forest(), Mixed(), Preprocessed(StandardScaler(), "forest")])
def test_one_entity_is_not_enough_to_train(voters):
    X, y, _ = near_copies(10, 3, 4)
    with pytest.raises(ValueError, match="groups has one entity among the training rows"):
        voters.fit(X, y, TWO, rng(), entities=np.zeros(30, dtype=int))


def test_one_entity_is_not_enough_for_folds():
    X, y, _ = near_copies(10, 3, 4)
    fitted = Classifiers([DecisionTreeClassifier()]).fit(X, y, TWO, rng(), entities=np.zeros(30, dtype=int))
    with pytest.raises(ValueError, match="groups has one entity among the training rows"):
        fitted.out_of_sample(X, y, np.arange(30))


@pytest.mark.usefixtures("regime", "all_kinds")
@pytest.mark.parametrize("n_entities", [2, 3])
def test_fewer_entities_than_folds(n_entities):
    X, y, _ = near_copies(10, 6, 4)
    entities = np.minimum(np.arange(60) // 7, n_entities - 1)
    fitted = Mixed().fit(X, y, TWO, rng(), entities=entities)
    np.testing.assert_allclose(fractions_of(fitted.out_of_sample(X, y, np.arange(60)).votes).sum(axis=2), 1.0)
    listed = Classifiers([DecisionTreeClassifier()]).fit(X, y, TWO, rng(), entities=entities)
    assert listed.out_of_sample(X, y, np.arange(60)).votes.n_rows == 60


@pytest.mark.usefixtures("all_kinds")
def test_mixed_voters_with_entities_are_stored_as_all_others():
    _, y, entities = one_large()
    X = rng(7).normal(size=(len(y), 4))
    labels = (rng(8).random(len(y)) < 0.5).astype(int)
    fitted = Mixed().fit(X, labels, TWO, rng(), entities=entities)
    writer = PlainWriter()
    plain = writer.value(fitted)
    assert not writer.brought
    again = PlainReader(writer.arrays, []).reader(type(fitted))(plain)
    again.check(4, 2)
    assert np.array_equal(codes_of(again.votes(X)), codes_of(fitted.votes(X)))
    assert {forest.seen is None for forest in again.forests} == {True}
    assert [member.unseen for member in again.members[:-1]] == [None] * 4
    assert again.members[-1].folds is None


def test_a_list_is_stored_without_its_entities():
    X, y, entities = near_copies(10, 3, 4)
    fitted = Classifiers([DecisionTreeClassifier()]).fit(X, y, TWO, rng(), entities=entities)
    assert np.array_equal(fitted.only(np.array([0]))[0].entities, entities)
    writer = PlainWriter()
    assert set(writer.value(fitted)["fields"]) == {"classifiers", "came_fitted", "classes"}


def test_weights_give_every_entity_the_same():
    entities = np.array([3, 0, 0, 1, 3, 3, 3, 7])
    weights = row_weights(entities)
    assert weights.mean() == pytest.approx(1.0)
    np.testing.assert_allclose([weights[entities == entity].sum() for entity in (0, 1, 3, 7)], 2.0)
    assert row_weights(None) is None
    assert row_weights(np.array([2, 2, 5, 5])) is None


def test_rows_of_large_entities_come_later():
    entities = np.concatenate([np.zeros(900, dtype=int), 1 + np.arange(100)])
    order = shuffled_rows(entities, 1000, rng())
    assert sorted(order) == list(range(1000))
    assert np.mean(entities[order[:50]] > 0) > 0.8
    even = shuffled_rows(np.repeat(np.arange(2), 500), 1000, rng())
    assert np.array_equal(even, rng().permutation(1000))


@pytest.mark.parametrize(
    ("entities", "message"),
    [
        ([0, 1], "array of 3 whole numbers"),
        ([0.0, 1.0, 1.0], "array of 3 whole numbers"),
        (["a", "b", "b"], "array of 3 whole numbers"),
        ([[0, 1, 1]], "array of 3 whole numbers"),
        ([0, 2, 2], "without gaps"),
        ([-1, 0, 0], "without gaps"),
        ([0, 0, 10**12], "without gaps"),
    ],
)
@pytest.mark.parametrize("voters", [Forest(), Mixed(), Classifiers([DecisionTreeClassifier()])])
def test_what_are_no_entities_is_refused(entities, message, voters):
    with pytest.raises(ValueError, match=message):
        voters.fit(np.zeros((3, 1)), np.array([0, 1, 1]), TWO, rng(), entities=entities)


def test_entities_may_be_of_any_whole_type():
    for kind in (np.uint64, np.int8, np.int32):
        assert checked_entities(np.array([1, 0, 0], dtype=kind), 3).dtype == np.intp
