"""Voters of weight zero are not asked, and no mass changes by a bit; nor by the number of rows or of jobs."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from certivote import CertifiedVoteClassifier, load
from certivote.voters import Classifiers, DecisiveVoters, Forest, Mixed, Preprocessed, Stumps
from certivote.voters._boosting import Boosting
from certivote.voters._machines import Always
from certivote.voters._members import FoldedMember
from certivote.votes import build_votes, fixed_point

X, Y = load_breast_cancer(return_X_y=True)
FOREST = Forest(RandomForestClassifier(20, random_state=0))
FAMILIES = {
    "forest": FOREST,
    "stumps": Stumps(),
    "mixed": Mixed(),
    "preprocessed": Preprocessed(StandardScaler(), FOREST),
    "classifiers": Classifiers([LogisticRegression(C=c, max_iter=5000) for c in (0.1, 1.0)] + [ExtraTreesClassifier()]),
}


@pytest.fixture(scope="module")
def fitted():
    return {
        name: family.fit(X[:250], Y[:250], np.arange(2), np.random.default_rng(0)) for name, family in FAMILIES.items()
    }


def sparse_weights(n, seed, share):
    """Fixed-point weights of which about this share is exactly 0."""
    source = np.random.default_rng(seed)
    logs = np.where(source.random(n) < share, -1000.0, np.log(source.exponential(size=n)))
    logs[source.integers(n)] = 0.0
    return fixed_point(logs - np.log(np.exp(logs).sum()))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("share", [0.5, 0.98])
def test_masses_are_the_same_without_voters_of_no_weight(family, share, fitted):
    voters = fitted[family]
    for seed in range(3):
        weights = sparse_weights(voters.n_voters, seed, share)
        few, own = DecisiveVoters().among(voters, weights)
        assert own.sum() == weights.sum() == 1.0
        assert few.n_voters == len(own) <= voters.n_voters
        expected = voters.votes(X).masses(weights)
        for rows in (X, X[:100], X[:5], X[:1]):
            assert few.votes(rows).masses(own).tobytes() == expected[: len(rows)].tobytes()


def test_members_without_weight_are_gone(fitted):
    voters = fitted["mixed"]
    members = (*voters.forests, *voters.members)
    ends = np.cumsum([member.n_voters for member in members])
    for end, member in zip(ends, members, strict=True):
        weights = np.zeros(voters.n_voters)
        weights[end - 1] = 1.0
        few, own = DecisiveVoters().among(voters, weights)
        (left,) = (*few.forests, *few.members)
        assert type(left) is type(member)
        assert len(own) == (member.n_voters if hasattr(member, "points") else getattr(member, "n_ballots", 1))
        few.check(X.shape[1], 2)


@pytest.mark.parametrize("wanted", [[0], [1], [2], [0, 2], [3, 5], [1, 4], range(6)])
def test_of_models_read_at_several_stages_only_what_is_needed_stays(wanted):
    stages = (3, 8)
    model = HistGradientBoostingClassifier(max_iter=8, early_stopping=False)
    models = [Boosting.grown(model.fit(X[k:200], Y[k:200]), stages) for k in (0, 100)]
    member = FoldedMember((*models, Always(1, 2)), (np.arange(30),) * 3, 2)
    few, kept = member.only(np.array(wanted))
    few.check(30, 2)
    assert set(wanted) <= set(kept.tolist())
    assert np.array_equal(few.votes(X), member.votes(X)[:, kept])
    assert len(few.models) == len({voter // 2 for voter in wanted})
    last = max(stages[voter % 2] for voter in wanted)
    assert all(left.trees.n_trees == last for left in few.models if isinstance(left, Boosting))


def test_divided_votes_are_the_same_to_the_bit_too():
    source = np.random.default_rng(0)
    fractions = source.dirichlet(np.ones(3), size=(50, 40))
    weights = sparse_weights(40, 1, 0.7)
    some = np.flatnonzero(weights)
    few = build_votes(fractions=fractions[:, some])
    assert few.masses(weights[some]).tobytes() == build_votes(fractions=fractions).masses(weights).tobytes()


def test_weights_that_are_changed_are_noticed(fitted):
    voters, decisive = fitted["forest"], DecisiveVoters()
    weights = np.zeros(20)
    weights[3] = 1.0
    assert decisive.among(voters, weights)[0] is decisive.among(voters, weights)[0]
    weights[3], weights[5] = 0.0, 1.0
    few, own = decisive.among(voters, weights)
    assert few.votes(X).masses(own).tobytes() == voters.votes(X).masses(weights).tobytes()
    nothing = np.zeros(20)
    assert decisive.among(voters, nothing)[0] is voters


@pytest.fixture(scope="module")
def sparse_vote():
    """A sparse hyper-prior draws most weights far below 2**-52."""
    clf = CertifiedVoteClassifier("dis-b", "mixed", prior=0.002, random_state=0).fit(X, Y)
    assert np.count_nonzero(clf.weights_ == 0.0) > len(clf.weights_) / 2
    return clf


def test_a_classifier_asks_only_voters_with_weight(sparse_vote, monkeypatch):
    expected = sparse_vote.voters_.votes(X).masses(sparse_vote.weights_)
    asked = []
    original = type(sparse_vote.voters_).votes
    monkeypatch.setattr(
        type(sparse_vote.voters_), "votes", lambda self, X: asked.append(self.n_voters) or original(self, X)
    )
    assert sparse_vote.predict_proba(X).tobytes() == expected.tobytes()
    assert asked[0] < len(sparse_vote.weights_) == sparse_vote.voters_.n_voters


@pytest.mark.parametrize("again", [copy.deepcopy, lambda clf: pickle.loads(pickle.dumps(clf))])
def test_copies_find_them_again(again, sparse_vote):
    expected = sparse_vote.predict_proba(X)
    other = again(sparse_vote)
    assert other._decisive._known is None
    assert other.predict_proba(X).tobytes() == expected.tobytes()


@pytest.mark.parametrize("slim", [False, True])
def test_what_is_loaded_answers_as_what_was_fitted_by_rows_and_together(slim, sparse_vote, tmp_path):
    sparse_vote.save(tmp_path / "model.certivote", slim=slim)
    loaded, expected = load(tmp_path / "model.certivote"), sparse_vote.predict_proba(X)
    assert loaded.predict_proba(X).tobytes() == expected.tobytes()
    pieces = [loaded.predict_proba(X[start : start + size]) for start, size in ((0, 1), (1, 11), (12, 60), (72, 497))]
    assert np.concatenate(pieces).tobytes() == expected.tobytes()


def test_the_number_of_jobs_changes_nothing():
    masses = []
    for jobs in (1, 2):
        family = Forest(RandomForestClassifier(10, n_jobs=jobs, random_state=0))
        clf = CertifiedVoteClassifier("dis-b", family, prior=0.01, random_state=0).fit(X, Y)
        masses.append(clf.predict_proba(np.tile(X, (10, 1))).tobytes())
    assert masses[0] == masses[1]
