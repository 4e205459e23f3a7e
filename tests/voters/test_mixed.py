"""The mixed vote: out-of-sample votes of all its members, and rows and labels of every kind."""

import functools
import itertools
from unittest import mock

import numpy as np
import pytest
from ballots import codes_of, fractions_of
from sklearn.base import clone

from certivote import CertifiedVoteClassifier, load
from certivote.pipeline._priors import informed_weights
from certivote.splits import Single
from certivote.voters import Mixed, _mixed, _race, resolve_voters
from certivote.voters._members import NeighbourMember
from certivote.voters._race import unseen_votes
from certivote.votes import fixed_point, plurality

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


def accuracies(fractions, labels):
    """Of each group."""
    return np.mean(fractions.argmax(axis=2) == labels[:, None], axis=0)


@pytest.fixture(scope="module")
def of_noise():
    """A vote of all kinds, though none has earned it."""
    X, y = noise()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_race, "_earned", lambda training, tried: dict.fromkeys(tried, 1.0))
        return X, y, Mixed().fit(X, y, np.array([0, 1]), rng())


def test_no_group_votes_out_of_sample_on_what_it_has_seen(of_noise):
    X, y, fitted = of_noise
    out_of_sample = fitted.out_of_sample(X, y, np.arange(150))
    assert np.array_equal(out_of_sample.rows, np.arange(150))
    assert np.all(accuracies(fractions_of(out_of_sample.votes), y) < 0.68)
    np.testing.assert_allclose(fractions_of(out_of_sample.votes).sum(axis=2), 1.0)
    codes = codes_of(fitted.votes(X))
    # The trees of the first forest and the nearest neighbour, asked about what they know.
    assert np.mean((codes[:, : fitted.forests[0].n_voters].mean(axis=1) > 0.5) == y) > 0.95
    assert np.any(np.mean(codes[:, -3:] == y[:, None], axis=0) == 1.0)


def test_groups_are_numbered_as_the_voters_are(of_noise):
    X, y, fitted = of_noise
    rows = np.arange(40)
    out_of_sample = fitted.out_of_sample(X, y, rows)
    codes = codes_of(fitted.votes(X))
    groups = out_of_sample.groups
    assert codes.shape == (150, fitted.n_voters)
    assert len(groups) == fitted.n_voters
    assert sorted(set(groups)) == list(range(out_of_sample.votes.n_voters))
    first_voter, first_group = 0, 0
    for forest in fitted.forests:
        own = slice(first_voter, first_voter + forest.n_voters)
        assert np.all(groups[own] == first_group)
        assert np.array_equal(codes[:, own], codes_of(forest.votes(X)))
        fractions = fractions_of(forest.out_of_sample(X, y, rows).votes)[:, 0]
        assert np.array_equal(fractions_of(out_of_sample.votes)[:, first_group], fractions)
        first_voter, first_group = own.stop, first_group + 1
    for member in fitted.members:
        votes = member.votes(X)
        own = slice(first_voter, first_voter + votes.shape[1])
        assert np.array_equal(codes[:, own], votes)
        assert np.array_equal(groups[own], first_group + member.groups)
        kinds = slice(first_group, first_group + member.n_groups)
        assert np.array_equal(fractions_of(out_of_sample.votes)[:, kinds], unseen_votes(member, X, rows, 2))
        first_voter, first_group = own.stop, kinds.stop
    assert first_voter == fitted.n_voters


def test_informed_weights_of_a_mixed_vote(of_noise):
    X, y, fitted = of_noise
    weights = informed_weights(fitted, X, y, "plurality", rng())
    assert weights.shape == (fitted.n_voters,)
    assert np.all(weights >= 0)
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
    fitted = Mixed().fit(X, y, np.arange(n_classes), rng())
    out_of_sample = fitted.out_of_sample(X, y, np.arange(len(y)))
    np.testing.assert_allclose(fractions_of(out_of_sample.votes).sum(axis=2), 1.0)
    assert fractions_of(out_of_sample.votes).min() >= 0.0
    assert out_of_sample.votes.n_rows == len(out_of_sample.rows) > 0
    # Rows that were not among the training rows, with values where there were none and none where there were some.
    fresh = np.nan_to_num(X.astype(float), nan=1.5)
    fresh[::5, 0] = np.nan
    codes = codes_of(fitted.votes(fresh))
    assert codes.shape == (len(y), fitted.n_voters)
    assert set(np.unique(codes)) <= set(np.unique(y))


def test_labels_of_any_type_and_classes_unknown_to_the_training_rows():
    X, y = learnable()
    classes = np.array(["a", "b", "c", "d"])
    fitted = Mixed().fit(X, classes[2 * y + 1], classes, rng())
    assert set(np.unique(codes_of(fitted.votes(X)))) == {1, 3}
    assert fitted.out_of_sample(X, 2 * y + 1, np.arange(80)).votes.n_classes == 4


@pytest.mark.parametrize("regime", ["few", "many"])
def test_a_seed_decides_everything(regime, monkeypatch):
    if regime == "many":
        monkeypatch.setattr(_race, "_FEW", 20)
        monkeypatch.setattr(_race, "_LANDMARKS_FROM", 20)
    X, y = learnable()
    first, second, other = (Mixed().fit(X, y, np.array([0, 1]), rng(seed)) for seed in (0, 0, 1))
    fresh = rng(9).normal(size=(50, 4))
    votes = [codes_of(fitted.votes(fresh)) for fitted in (first, second, other)]
    assert np.array_equal(votes[0], votes[1])
    assert not np.array_equal(votes[0], votes[2])
    unseen = [fitted.out_of_sample(X, y, np.arange(80)) for fitted in (first, second)]
    assert np.array_equal(unseen[0].rows, unseen[1].rows)
    assert np.array_equal(*(fractions_of(each.votes) for each in unseen))


def test_parameters_survive_cloning_and_naming():
    assert clone(Mixed(n_jobs=2)).n_jobs == 2
    assert isinstance(resolve_voters("mixed"), Mixed)


def test_the_estimator_with_mixed_voters_is_deterministic_and_learns():
    X, y = learnable(100)
    labels = np.array(["no", "yes"])[y]
    first, second = (
        CertifiedVoteClassifier(voters="mixed", split=Single(0.5), random_state=5).fit(X, labels) for _ in range(2)
    )
    assert first.certificate_ == second.certificate_
    fresh, truth = learnable(300, seed=4)
    assert np.array_equal(first.predict(fresh), second.predict(fresh))
    assert np.mean(first.predict(fresh) == np.array(["no", "yes"])[truth]) > 0.8
    assert first.certificate_.hyper_prior.startswith("concentrated at weights learned")


def test_all_kinds_and_a_machine_with_landmarks_are_saved_with_the_vote(monkeypatch, tmp_path):
    monkeypatch.setattr(_race, "_LANDMARKS_FROM", 20)
    monkeypatch.setattr(_race, "_earned", lambda training, tried: dict.fromkeys(tried, 1.0))
    X, y = learnable(100)
    clf = CertifiedVoteClassifier(voters="mixed", split=Single(0.5), random_state=5).fit(X, y)
    assert len(clf.voters_.forests) + len(clf.voters_.members) == len(_race.KINDS)
    clf.save(tmp_path / "vote")
    fresh = rng(3).normal(size=(200, 4))
    assert np.array_equal(load(tmp_path / "vote").predict_proba(fresh), clf.predict_proba(fresh))


def test_very_many_columns_are_refused_in_one_sentence():
    X, y = np.zeros((60, 50_001)), np.arange(60) % 2
    with pytest.raises(ValueError, match=r"X has 50,001 columns; mixed voters .* Give voters='forest'"):
        CertifiedVoteClassifier(random_state=0).fit(X, y)


@functools.cache
def all_kinds(n_classes):
    X, y = noise(150, n_classes)
    with mock.patch.object(_race, "_earned", lambda training, tried: dict.fromkeys(tried, 1.0)):
        return Mixed().fit(X, y, np.arange(n_classes), rng())


@pytest.mark.parametrize("n_classes", [2, 4])
def test_members_that_can_change_no_vote_are_not_asked(n_classes, monkeypatch):
    """The answers are those of all members, whatever the weights; where one member has half of them, it is enough."""
    fitted, rows, source = all_kinds(n_classes), rng(5).normal(size=(400, 4)), rng(1)
    votes = fitted.votes(rows)
    for sharpness in (0.02, 0.3, 30.0):
        weights = fixed_point(np.log(source.dirichlet(np.full(fitted.n_voters, sharpness)) + 1e-300))
        masses = votes.masses(weights)
        assert np.array_equal(plurality(fitted.decided(rows, weights)), plurality(masses))
        few = [plurality(fitted.decided(row[None], weights))[0] for row in rows[:20]]
        assert np.array_equal(few, plurality(masses)[:20])
    first = np.zeros(fitted.n_voters)
    first[[0, -1]] = 0.75, 0.25
    monkeypatch.setattr(_mixed, "_cost", lambda member: float(isinstance(member, NeighbourMember)))
    with mock.patch.object(NeighbourMember, "votes") as asked:
        answers = plurality(fitted.decided(rows, first))
    assert not asked.called
    assert np.array_equal(answers, plurality(votes.masses(first)))


def test_ties_go_to_the_smallest_class_whoever_is_asked_first():
    fitted, X = all_kinds(2), rng(5).normal(size=(400, 4))
    votes = fitted.votes(X)
    places = np.cumsum([0] + [part.n_voters for part in (*fitted.forests, *fitted.members)])[:-1]
    for one, other in itertools.combinations(places, 2):
        weights = np.zeros(fitted.n_voters)
        weights[[one, other]] = 0.5
        assert np.array_equal(plurality(fitted.decided(X, weights)), plurality(votes.masses(weights)))
