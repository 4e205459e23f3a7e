"""The mixed vote: honest rehearsals of all its members, and rows and labels of every kind."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from certivote import CertifiedVoteClassifier, load
from certivote.informed import informed_weights
from certivote.voters import Mixed, _mixed, resolve_voters
from certivote.voters._landmarks import LandmarkMachine
from certivote.voters._members import FoldedMember, NeighbourMember
from certivote.voters._scale import KindScaler

pytestmark = pytest.mark.filterwarnings("error")


def rng(seed=0):
    return np.random.default_rng(seed)


def noise(n=150, n_classes=2, seed=0):
    source = rng(seed)
    return source.normal(size=(n, 4)), source.integers(n_classes, size=n)


def learnable(n=80, seed=0):
    source = rng(seed)
    X = source.normal(size=(n, 4))
    return X, (X[:, 0] + 0.3 * source.normal(size=n) > 0).astype(int)


def accuracies(shares, labels):
    """Of each group."""
    return np.mean(shares.argmax(axis=2) == labels[:, None], axis=0)


def scaled(X):
    return StandardScaler().fit(X)


# Members


@pytest.mark.parametrize(
    ("template", "stages"),
    [
        (DecisionTreeClassifier(random_state=0), ()),
        (make_pipeline(StandardScaler(), SVC(C=1e6, gamma=50.0)), ()),
        (HistGradientBoostingClassifier(max_iter=60, min_samples_leaf=1, early_stopping=False), (20, 60)),
    ],
)
def test_models_that_learned_noise_by_heart_rehearse_no_better_than_chance(template, stages):
    X, y = noise()
    folds = rng().permutation(150) % 3
    member = FoldedMember(template, X, y, folds, stages)
    shares = member.rehearse(X, np.arange(150), 2)
    assert shares.shape == (150, max(len(stages), 1), 2)
    assert np.all(accuracies(shares, y) < 0.65)
    assert np.all(accuracies(shares, y) > 0.35)
    votes = member.votes(X)
    for k in range(3):
        for stage in range(member.n_groups):
            voter = k * member.n_groups + stage
            assert member.groups[voter] == stage
            known = folds != k
            assert np.mean(votes[known, voter] == y[known]) > 0.9  # what it was taught, it knows
            # And a row is answered in rehearsal by the model of its own fold.
            assert np.array_equal(shares[~known, stage].argmax(axis=1), votes[~known, voter])


def test_rehearsals_are_given_in_the_order_asked_for():
    X, y = noise(60)
    member = FoldedMember(DecisionTreeClassifier(random_state=0), X, y, np.arange(60) % 3)
    rows = np.array([17, 3, 59, 4])
    assert np.array_equal(member.rehearse(X, rows, 2), member.rehearse(X, np.arange(60), 2)[rows])


def test_stages_of_boosting_are_votes_of_their_own():
    X, y = noise(90)
    model = HistGradientBoostingClassifier(max_iter=30, min_samples_leaf=2, early_stopping=False)
    member = FoldedMember(model, X, y, np.arange(90) % 2, (2, 30))
    votes = member.votes(X)
    for k, fitted in enumerate(member.models):
        staged = list(fitted.staged_predict(X))
        assert np.array_equal(votes[:, 2 * k], staged[1])
        assert np.array_equal(votes[:, 2 * k + 1], staged[29])
    assert np.any(votes[:, 0] != votes[:, 1])


def test_a_fold_that_sees_one_class_votes_for_it():
    X, y = noise(30)
    y[:] = 1
    y[:3] = 0
    folds = np.repeat(np.arange(3), 10)
    member = FoldedMember(DecisionTreeClassifier(), X, y, folds)
    assert isinstance(member.models[0], DummyClassifier)
    assert np.all(member.votes(X)[:, 0] == 1)
    assert member.rehearse(X, np.arange(3), 2)[:, 0, 0].sum() == 0


@pytest.mark.parametrize("copies", [1, 2, 40])
def test_neighbours_that_know_the_noise_by_heart_rehearse_no_better_than_chance(copies):
    X, _ = noise(240 // copies)
    X = np.repeat(X, copies, axis=0)
    y = rng(1).integers(2, size=240)  # copies have labels of their own
    member = NeighbourMember(scaled(X), X, y, np.arange(240))
    shares = member.rehearse(X, np.arange(240), 2)
    assert shares.shape == (240, 3, 2)
    assert np.all(np.abs(accuracies(shares, y) - 0.5) < 0.17)
    if copies == 1:
        assert np.mean(member.votes(X)[:, 0] == y) == 1.0


@pytest.mark.parametrize(("n", "copies"), [(40, 1), (40, 4), (60, 30), (9, 1), (16, 1), (17, 17), (2, 1)])
def test_no_row_is_its_own_neighbour(n, copies, monkeypatch):
    X, y = noise(n)
    X = np.repeat(X[: max(n // copies, 1)], copies, axis=0)[:n]
    y = y[: len(X)]
    member = NeighbourMember(scaled(X), X, y, np.arange(len(X)))
    polled = []
    original = member._poll
    monkeypatch.setattr(member, "_poll", lambda found: polled.append(found) or original(found))
    rows = rng().permutation(len(X))
    member.rehearse(X, rows, 2)
    (found,) = polled
    assert found.shape == (len(X), min(15, len(X) - 1))
    assert not np.any(found == rows[:, None])
    assert all(len(set(row)) == len(row) for row in found.tolist())


def test_rows_that_are_not_remembered_have_all_neighbours():
    X, y = noise(60)
    memory = np.arange(0, 60, 2)
    member = NeighbourMember(scaled(X), X, y, memory)
    votes = member.votes(X)
    shares = member.rehearse(X, np.arange(60), 2).argmax(axis=2)
    assert np.array_equal(shares[1::2], votes[1::2])
    assert np.array_equal(votes[::2, 0], y[::2])
    assert not np.array_equal(shares[::2, 0], y[::2])


def test_neighbours_vote_by_plurality_among_the_nearest():
    X = np.arange(20, dtype=float)[:, None]
    y = np.array([2] + [0] * 4 + [1] * 15)
    member = NeighbourMember(scaled(X), X, y, np.arange(20))
    assert member.votes(np.array([[-1.0]])).tolist() == [[2, 0, 1]]


# The whole


@pytest.fixture(scope="module")
def of_noise():
    X, y = noise()
    return X, y, Mixed().teach(X, y, np.array([0, 1]), rng())


def test_every_group_rehearses_honestly(of_noise):
    X, y, taught = of_noise
    rehearsal = taught.rehearse(X, y, np.arange(150))
    assert np.all(accuracies(rehearsal.votes.shares, y) < 0.68)
    np.testing.assert_allclose(rehearsal.votes.shares.sum(axis=2), 1.0)
    codes = taught.votes(X).codes
    # The trees of the first forest and the nearest neighbour, asked about what they know.
    assert np.mean((codes[:, :100].mean(axis=1) > 0.5) == y) > 0.95
    assert np.any(np.mean(codes[:, -3:] == y[:, None], axis=0) == 1.0)


def test_groups_are_numbered_as_the_voters_are(of_noise):
    X, y, taught = of_noise
    rows = np.arange(40)
    rehearsal = taught.rehearse(X, y, rows)
    codes = taught.votes(X).codes
    groups = rehearsal.groups
    assert codes.shape == (150, taught.n_voters)
    assert len(groups) == taught.n_voters
    assert sorted(set(groups)) == list(range(rehearsal.votes.n_voters))
    first_voter, first_group = 0, 0
    for forest in taught.forests:
        own = slice(first_voter, first_voter + forest.n_voters)
        assert np.all(groups[own] == first_group)
        assert np.array_equal(codes[:, own], forest.votes(X).codes)
        shares = forest.rehearse(X, y, rows).votes.shares[:, 0]
        assert np.array_equal(rehearsal.votes.shares[:, first_group], shares)
        first_voter, first_group = own.stop, first_group + 1
    for member in taught.members:
        votes = member.votes(X)
        own = slice(first_voter, first_voter + votes.shape[1])
        assert np.array_equal(codes[:, own], votes)
        assert np.array_equal(groups[own], first_group + member.groups)
        kinds = slice(first_group, first_group + member.n_groups)
        assert np.array_equal(rehearsal.votes.shares[:, kinds], member.rehearse(X, rows, 2))
        first_voter, first_group = own.stop, kinds.stop
    assert first_voter == taught.n_voters


def test_informed_weights_of_a_mixed_vote(of_noise):
    X, y, taught = of_noise
    weights = informed_weights(taught, X, y, "plurality", rng())
    assert weights.shape == (taught.n_voters,)
    assert np.all(weights > 0)
    assert weights.sum() == pytest.approx(1.0)


def of_kind(kind):
    """Rows and labels that might be awkward."""
    source = rng(3)
    X, y = learnable()
    codes = source.integers(5, size=(80, 3))
    y_rare, y_lonely = y.copy(), np.zeros(80, dtype=int)
    y_rare[:2], y_lonely[0] = 2, 1
    missing, blank = X.astype(np.float32), X.copy()
    missing[::3, 1] = np.nan
    missing[:, 3] = 7.0
    blank[:, 2] = np.nan
    blank[1:, 3] = np.nan
    coded = np.where(source.random((80, 3)) < 0.1, np.nan, codes)
    return {
        "a rare class": (X, y_rare),
        "one row of a class": (X, y_lonely),
        "one class": (X, np.zeros(80, dtype=int)),
        "fewer rows than neighbours": (X[:7], np.array([0, 1, 0, 1, 0, 1, 0])),
        "two rows": (X[:2], np.array([0, 1])),
        "float32 with missing values and a constant column": (missing, y),
        "columns with no value and with one": (blank, y),
        "constant columns only": (np.ones((80, 2)), y),
        "codes and missing values": (coded, y),
        "codes in bytes": (codes.astype(np.uint8), y),
        "truth values": (X > 0, y),
    }[kind]


KINDS = [
    "a rare class",
    "one row of a class",
    "one class",
    "fewer rows than neighbours",
    "two rows",
    "float32 with missing values and a constant column",
    "columns with no value and with one",
    "constant columns only",
    "codes and missing values",
    "codes in bytes",
    "truth values",
]


@pytest.mark.parametrize("kind", KINDS)
def test_rows_and_labels_of_every_kind(kind):
    X, y = of_kind(kind)
    n_classes = max(int(y.max()) + 1, 2)
    taught = Mixed().teach(X, y, np.arange(n_classes), rng())
    rehearsal = taught.rehearse(X, y, np.arange(len(y)))
    np.testing.assert_allclose(rehearsal.votes.shares.sum(axis=2), 1.0)
    assert rehearsal.votes.shares.min() >= 0.0
    # Rows that were not among those taught on, with values where there were none and none where there were some.
    fresh = np.nan_to_num(X.astype(float), nan=1.5)
    fresh[::5, 0] = np.nan
    codes = taught.votes(fresh).codes
    assert codes.shape == (len(y), taught.n_voters)
    assert set(np.unique(codes)) <= set(np.unique(y))


def test_labels_of_any_type_and_classes_unknown_to_the_teaching_rows():
    X, y = learnable()
    classes = np.array(["a", "b", "c", "d"])
    taught = Mixed().teach(X, classes[2 * y + 1], classes, rng())
    assert set(np.unique(taught.votes(X).codes)) == {1, 3}
    assert taught.rehearse(X, 2 * y + 1, np.arange(80)).votes.n_classes == 4


def test_columns_of_one_kind_keep_their_proportions():
    X = rng().uniform(size=(50, 8)) ** np.arange(1, 9)  # all between 0 and 1, the last mostly near 0
    X[:, 3] = 0.5
    scaled = KindScaler().fit_transform(X)
    assert np.allclose(scaled.mean(axis=0), 0)
    assert np.allclose((scaled**2).mean(), 1)
    assert np.allclose(scaled, (X - X.mean(axis=0)) / np.sqrt(X.var(axis=0).mean()))


@pytest.mark.parametrize("scales", [[1, 1, 1, 1, 1, 1, 9, 9], [1, 10, 100, 1000, 1, 10, 100, 1000], [0] * 8])
def test_columns_of_different_kinds_are_standardised(scales):
    X = rng().uniform(size=(50, 8)) * scales
    assert np.array_equal(KindScaler().fit_transform(X), StandardScaler().fit_transform(X))


@pytest.mark.parametrize("many", [10_000, 20])
def test_a_seed_decides_everything(many, monkeypatch):
    monkeypatch.setattr(_mixed, "_MANY", many)
    monkeypatch.setattr(_mixed, "_LANDMARKS", 8)
    X, y = learnable()
    first, second, other = (Mixed().teach(X, y, np.array([0, 1]), rng(seed)) for seed in (0, 0, 1))
    fresh = rng(9).normal(size=(50, 4))
    assert np.array_equal(first.votes(fresh).codes, second.votes(fresh).codes)
    assert not np.array_equal(first.votes(fresh).codes, other.votes(fresh).codes)
    rows = np.arange(80)
    assert np.array_equal(first.rehearse(X, y, rows).votes.shares, second.rehearse(X, y, rows).votes.shares)


def test_parameters_survive_cloning_and_naming():
    assert clone(Mixed(n_jobs=2)).n_jobs == 2
    assert isinstance(resolve_voters("mixed"), Mixed)


def test_the_estimator_with_mixed_voters_is_deterministic_and_learns():
    X, y = learnable(100)
    labels = np.array(["no", "yes"])[y]
    first, second = (
        CertifiedVoteClassifier(voters="mixed", teach_share=0.5, random_state=5).fit(X, labels) for _ in range(2)
    )
    assert first.certificate_ == second.certificate_
    fresh, truth = learnable(300, seed=4)
    assert np.array_equal(first.predict(fresh), second.predict(fresh))
    assert np.mean(first.predict(fresh) == np.array(["no", "yes"])[truth]) > 0.8
    assert first.certificate_.prior.startswith("concentrated at weights learned")


def test_landmarks_solve_the_regularised_least_squares():
    """Beside the closed form in the kernel's space: all rows are landmarks, so it is plain kernel ridge regression."""
    X, y = learnable(60)
    machine = LandmarkMachine(60, random_state=0).fit(X, y)
    kernel = np.exp(-machine.gamma_ * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    scores = kernel @ np.linalg.solve(kernel + machine.ridge_ * np.eye(60), 2.0 * y - 1.0)
    assert machine.gamma_ == pytest.approx(1 / (4 * X.var()))
    order = np.random.default_rng(0).permutation(60)
    assert np.array_equal(machine.landmarks_, X[order])
    own = kernel[:, order] @ machine.coefficients_
    assert np.allclose(own[:, 1], scores, atol=1e-4)
    assert np.allclose(own[:, 0], -scores, atol=1e-4)
    assert np.array_equal(machine.predict(X), scores > 0)


def test_landmarks_do_not_mind_equal_rows_and_constant_columns():
    X, y = learnable(40)
    twice, labels = np.vstack([X, X, 0 * X]), np.concatenate([y, y, y])
    machine = LandmarkMachine(120, random_state=1).fit(twice, np.array(["no", "yes"])[labels])
    assert np.mean(machine.predict(X) == np.array(["no", "yes"])[y]) > 0.8
    constant = LandmarkMachine(5, random_state=1).fit(np.ones((6, 2)), np.array([0, 1, 1, 1, 1, 1]))
    assert constant.predict(np.ones((2, 2))).tolist() == [1, 1]


def test_noise_gets_a_large_ridge_and_a_pattern_a_small_one():
    source = rng()
    X = source.normal(size=(1500, 2))
    pattern = (np.sin(4 * X[:, 0]) * np.sin(4 * X[:, 1]) > 0).astype(int)
    noisy = np.where(source.random(1500) < 0.4, 1 - (X[:, 0] > 0), X[:, 0] > 0).astype(int)
    assert LandmarkMachine(300, random_state=0).fit(X, pattern).ridge_ <= 0.1
    assert LandmarkMachine(300, random_state=0).fit(X, noisy).ridge_ >= 1.0


def test_a_machine_with_landmarks_is_saved_with_the_vote(monkeypatch, tmp_path):
    monkeypatch.setattr(_mixed, "_MANY", 20)
    X, y = learnable(100)
    clf = CertifiedVoteClassifier(voters="mixed", teach_share=0.5, random_state=5).fit(X, y)
    clf.save(tmp_path / "vote")
    fresh = rng(3).normal(size=(200, 4))
    assert np.array_equal(load(tmp_path / "vote").predict_proba(fresh), clf.predict_proba(fresh))
