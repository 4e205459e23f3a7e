import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from certivote.voters import Forest, Prefit, Stumps, resolve_voters

CLASSES = np.array([0, 1])


def rng(seed=0):
    return np.random.default_rng(seed)


def votes_matrix(taught, X, n_classes):
    """The class of each voter on each row, read off one voter at a time."""
    votes = taught.votes(X)
    assert votes.n_classes == n_classes
    columns = [votes.masses(np.eye(taught.n_voters)[j]) for j in range(taught.n_voters)]
    assert all(np.all(column.sum(axis=1) == 1) for column in columns)
    return np.stack([column.argmax(axis=1) for column in columns], axis=1)


def test_stumps_vote_by_their_thresholds():
    taught = Stumps(n_thresholds=2, ranges=[(0.0, 1.0), (-1.0, 1.0)]).teach(None, None, CLASSES, rng())
    X = np.array([[0.0, -1.0], [0.4, 0.0], [0.6, 0.1], [-5.0, 9.0]])
    # thresholds 0, 0.5 and -1, 0; "above" is strict; each is followed by its twin
    expected = np.array(
        [
            [0, 1, 0, 1, 0, 1, 0, 1],
            [1, 0, 0, 1, 1, 0, 0, 1],
            [1, 0, 1, 0, 1, 0, 1, 0],
            [0, 1, 0, 1, 1, 0, 1, 0],
        ]
    )
    assert votes_matrix(taught, X, 2).tolist() == expected.tolist()


def test_stump_ranges_come_from_the_teaching_rows_alone():
    X = np.array([[0.0], [10.0]])
    taught = Stumps(n_thresholds=5).teach(X, None, CLASSES, rng())
    assert taught.thresholds.tolist() == [[0.0, 2.0, 4.0, 6.0, 8.0]]
    assert Stumps().needs_rows
    assert not Stumps(ranges=[(0, 1)]).needs_rows


@pytest.mark.parametrize("ranges", [[(1.0, 0.0)], [(0.0, np.inf)], [0.0, 1.0], [(0.0, 1.0, 2.0)]])
def test_bad_ranges_are_refused(ranges):
    with pytest.raises(ValueError, match="ranges must hold one"):
        Stumps(ranges=ranges).teach(None, None, CLASSES, rng())


def test_ranges_of_another_number_of_features_are_refused():
    taught = Stumps(ranges=[(0, 1)] * 3).teach(None, None, CLASSES, rng())
    with pytest.raises(ValueError, match="ranges were given for 3 features, but X has 2"):
        taught.votes(np.zeros((4, 2)))


@pytest.mark.parametrize("n_thresholds", [0, 256])
def test_bad_number_of_thresholds_is_refused(n_thresholds):
    with pytest.raises(ValueError, match="n_thresholds must lie between 1 and 255"):
        Stumps(n_thresholds=n_thresholds, ranges=[(0, 1)]).teach(None, None, CLASSES, rng())


@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_each_tree_votes_as_it_predicts(kind, convert):
    X, y = load_iris(return_X_y=True)
    labels = np.array(["a", "b", "c"])[y]
    keep = y != 1  # the voters see two of the three classes
    forest = kind(n_estimators=7, min_samples_leaf=5, max_depth=3)
    taught = Forest(forest).teach(convert(X)[keep], labels[keep], np.array(["a", "b", "c"]), rng())
    expected = [tree.predict(X.astype(np.float32)).astype(int) for tree in taught.forest.estimators_]
    seen = np.array([0, 2])  # codes of the classes the trees know
    assert np.array_equal(votes_matrix(taught, convert(X), 3), seen[np.array(expected).T])


def test_a_forest_follows_the_seed_unless_it_has_its_own():
    X, y = load_iris(return_X_y=True)
    classes = np.arange(3)

    def thresholds(forest, seed):
        return Forest(forest).teach(X, y, classes, rng(seed)).forest.estimators_[0].tree_.threshold.tolist()

    free = RandomForestClassifier(n_estimators=2)
    assert thresholds(free, 0) == thresholds(free, 0)
    assert thresholds(free, 0) != thresholds(free, 1)
    fixed = RandomForestClassifier(n_estimators=2, random_state=5)
    assert thresholds(fixed, 0) == thresholds(fixed, 1)
    assert free.random_state is None


def test_fitted_classifiers_vote_as_they_are_and_others_are_taught():
    X, y = load_iris(return_X_y=True)
    fitted = DecisionTreeClassifier(max_depth=1).fit(X, y)
    fresh = LogisticRegression(max_iter=1000)
    voters = Prefit([fitted, fresh])
    assert voters.needs_rows
    taught = voters.teach(X[::2], y[::2], np.arange(3), rng())
    assert taught.classifiers[0] is fitted
    again = LogisticRegression(max_iter=1000).fit(X[::2], y[::2])
    assert np.array_equal(votes_matrix(taught, X, 3), np.stack([fitted.predict(X), again.predict(X)], axis=1))
    assert not hasattr(fresh, "coef_")


def test_cloning_keeps_what_fitted_classifiers_have_learned():
    X, y = load_iris(return_X_y=True)
    voters = Prefit([DecisionTreeClassifier().fit(X, y)])
    assert not clone(voters).needs_rows


def test_bad_lists_are_refused():
    with pytest.raises(ValueError, match="empty list"):
        Prefit([]).teach(None, None, CLASSES, rng())
    with pytest.raises(TypeError, match="must be a classifier with a predict method"):
        Prefit([3]).teach(None, None, CLASSES, rng())


@pytest.mark.parametrize("voters", ["trees", None, 3])
def test_unknown_voters_are_refused(voters):
    with pytest.raises(ValueError, match="voters must be 'mixed', 'forest', 'stumps'"):
        resolve_voters(voters)
