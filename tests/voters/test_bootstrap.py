"""Forests on bootstrap samples of entities."""

import numpy as np
import pytest
from ballots import codes_of, fractions_of
from scipy import sparse
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from certivote.voters import Forest
from certivote.voters._forest import grow_on_entities

pytestmark = pytest.mark.filterwarnings("error")

TWO = np.array([0, 1])
SIZES = np.array([1, 2, 3, 40, 5, 1, 8, 2, 2, 6, 7, 3, 1, 4, 5])


def rng(seed=0):
    return np.random.default_rng(seed)


def rows(sizes=SIZES, n_classes=2):
    source = rng()
    entities = source.permutation(np.repeat(np.arange(len(sizes)), sizes))
    return source.normal(size=(len(entities), 4)), source.integers(n_classes, size=len(entities)), entities


def seen_by(fitted, n):
    return np.unpackbits(fitted.seen, axis=1)[:, :n].astype(bool)


@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
@pytest.mark.parametrize("sizes", [SIZES, np.full(12, 5)])
def test_all_rows_of_an_entity_are_in_a_sample_or_none(kind, sizes):
    X, y, entities = rows(sizes)
    fitted = Forest(kind(80, bootstrap=True)).fit(X, y, TWO, rng(), entities)
    seen = seen_by(fitted, len(y))
    by_entity = np.stack([seen[:, entities == entity].mean(axis=1) for entity in range(len(sizes))], axis=1)
    assert set(np.unique(by_entity)) == {0.0, 1.0}
    # A sample of m with replacement holds 1 - (1 - 1/m)^m of them.
    assert by_entity.mean() == pytest.approx(1 - (1 - 1 / len(sizes)) ** len(sizes), abs=0.04)


def test_out_of_bag_votes_come_from_trees_that_saw_no_row_of_the_entity():
    X, y, entities = rows()
    fitted = Forest(RandomForestClassifier(25)).fit(X, y, TWO, rng(), entities)
    seen, codes = seen_by(fitted, len(y)), codes_of(fitted.votes(X))
    fractions = fractions_of(fitted.out_of_sample(X, y, np.arange(len(y))).votes)[:, 0]
    for row, fraction in enumerate(fractions):
        blind = [j for j in range(25) if not seen[j, entities == entities[row]].any()]
        np.testing.assert_allclose(fraction[1], np.mean(codes[row, blind]) if blind else 0.5)
    for row in np.flatnonzero(np.bincount(entities)[entities] > 1):
        assert np.array_equal(seen[:, row], seen[:, entities == entities[row]].any(axis=1))


@pytest.mark.parametrize("sizes", [SIZES, np.full(12, 5)])
@pytest.mark.parametrize(("max_samples", "share"), [(None, 1.0), (0.5, 0.5), (18, None)])
def test_a_tree_weighs_entities_as_often_as_they_were_drawn(sizes, max_samples, share):
    X, y, entities = rows(sizes)
    n, m = len(y), len(sizes)
    n_draws = round(m * (18 / n if share is None else share))
    forest = RandomForestClassifier(30, max_samples=max_samples, random_state=0)
    trees, seen = grow_on_entities(forest, X, y, entities, kept=lambda tree: tree)
    unequal = False
    for tree, sample in zip(trees, np.unpackbits(seen, axis=1)[:, :n].astype(bool), strict=True):
        assert tree.tree_.n_node_samples[0] == sample.sum()
        # Every entity has the weight n / m each time it is drawn.
        assert tree.tree_.weighted_n_node_samples[0] == pytest.approx(n_draws * n / m)
        drawn = np.unique(entities[sample])
        assert 1 <= len(drawn) <= n_draws
        if len(drawn) == n_draws:  # each once: the root's share of a class is the mean over entities
            means = [np.mean(y[entities == entity]) for entity in drawn]
            assert tree.tree_.value[0, 0, 1] == pytest.approx(np.mean(means))
            unequal = True
    assert unequal or n_draws > 5


@pytest.mark.parametrize("class_weight", ["balanced", "balanced_subsample"])
def test_classes_are_balanced_by_the_weights_of_entities(class_weight):
    _, _, entities = rows()
    y = (entities < 5).astype(int)  # five entities of one class, among them the largest
    X = np.zeros((len(y), 1))
    forest = RandomForestClassifier(120, class_weight=class_weight, random_state=0)
    shares = np.array(
        [tree.tree_.value[0, 0, 1] for tree in grow_on_entities(forest, X, y, entities, kept=lambda tree: tree)[0]]
    )
    if class_weight == "balanced":
        assert shares.mean() == pytest.approx(0.5, abs=0.04)
        assert shares.std() > 0.05
    else:
        np.testing.assert_allclose(shares[(shares > 0) & (shares < 1)], 0.5)


def test_classes_have_the_weights_that_the_user_gives():
    X, _, entities = rows()
    labels = np.where(entities < 5, "rare", "usual")
    classes = np.unique(labels)
    plain, heavy = (
        Forest(RandomForestClassifier(20, max_depth=1, class_weight=weight)).fit(
            0 * X, labels, classes, rng(), entities
        )
        for weight in (None, {"rare": 1000.0, "usual": 1.0})
    )
    assert codes_of(plain.votes(X)).mean() > 0.5
    assert np.mean(codes_of(heavy.votes(X)) == 0) > 0.9


def test_seeds_and_jobs():
    X, y, entities = rows()

    def thresholds(seed, **parameters):
        forest = RandomForestClassifier(4, **parameters)
        return Forest(forest).fit(X, y, TWO, rng(seed), entities).trees.threshold.tolist()

    assert thresholds(0) == thresholds(0) == thresholds(0, n_jobs=2)
    assert thresholds(0) != thresholds(1)
    assert thresholds(0, random_state=5) == thresholds(1, random_state=5)
    assert thresholds(0, random_state=np.random.RandomState(5)) == thresholds(1, random_state=5)
    assert len(thresholds(0, max_depth=1)) <= 12


def test_sparse_rows_labels_of_texts_and_classes_that_no_row_has():
    X, y, entities = rows(np.full(15, 6), n_classes=3)
    X[np.abs(X) < 0.5] = 0.0
    labels, classes = np.array(["b", "c", "e"])[y], np.array(["a", "b", "c", "d", "e"])
    dense, thin = (
        Forest(RandomForestClassifier(9)).fit(kind, labels, classes, rng(), entities)
        for kind in (X, sparse.csr_array(X))
    )
    codes = codes_of(dense.votes(X))
    assert np.array_equal(codes, codes_of(thin.votes(sparse.csr_array(X))))
    assert set(np.unique(codes)) == {1, 2, 4}


def test_missing_values_are_learned_from():
    X, _, entities = rows()
    X[:, 0] = np.where(rng(3).random(len(X)) < 0.5, np.nan, X[:, 0])
    fitted = Forest(RandomForestClassifier(20, max_features=None)).fit(
        X, np.isnan(X[:, 0]).astype(int), TWO, rng(), entities
    )
    assert np.mean(codes_of(fitted.votes(X)) == np.isnan(X[:, :1])) > 0.95


def test_trees_without_bootstrap_see_all_rows_by_weight():
    X, y, entities = rows()
    fitted = Forest(ExtraTreesClassifier(3)).fit(X, y, TWO, rng(), entities)
    assert fitted.seen is None
    with pytest.raises(ValueError, match="set bootstrap=True"):
        fitted.out_of_sample(X, y, np.arange(5))
    largest = (entities == 3).astype(int)  # 40 of 90 rows, one of 15 entities
    largest[entities == 6] = 1
    assert largest.mean() > 0.5
    for given, answer in ((None, 1), (entities, 0)):
        fitted = Forest(RandomForestClassifier(3, bootstrap=False)).fit(0 * X, largest, TWO, rng(), given)
        assert np.all(codes_of(fitted.votes(X)) == answer)


@pytest.mark.parametrize("parameters", [{"n_estimators": 0}, {"max_samples": -1.0}, {"min_samples_leaf": 0}])
def test_parameters_are_checked_as_without_groups(parameters):
    X, y, entities = rows()
    with pytest.raises(ValueError, match=next(iter(parameters))):
        Forest(RandomForestClassifier(**parameters)).fit(X, y, TWO, rng(), entities)
