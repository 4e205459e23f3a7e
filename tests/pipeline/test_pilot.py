"""How the rows are divided: decided by the first rows of the order, and by nothing else."""

import math
from dataclasses import replace

import numpy as np
import pytest
from ballots import codes_of
from scipy import stats
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from thorough import grid

from certivote import CertifiedVoteClassifier
from certivote.certificate import FirstRows
from certivote.maths.streams import stream
from certivote.pipeline import RowsInMemory, _pilot, make_plan, prepare
from certivote.pipeline._pilot import (
    _FOLDS,
    _SHARES,
    Look,
    _expected_limit,
    _power_law,
    look_at_first,
    may_fold,
    n_first,
)
from certivote.promises import Precision
from certivote.splits import Single
from certivote.voters import Forest, Mixed, Preprocessed, Stumps, VoterSet

CLASSES = np.array([0, 1, 2])
N = 300
SEED = 5


class Grove(Forest):
    """Few trees, quick to fit."""

    def pilot(self, n_rows):
        return self


GROVE = Grove(RandomForestClassifier(12))


def learnable(n=N, seed=0):
    """Three classes without noise, in six features."""
    X = np.random.default_rng(seed).random((n, 6))
    return X, (np.digitize(X[:, 0], [0.33, 0.66]) + (X[:, 1] > 0.5)) % 3


def noise(n=N, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((n, 6)), rng.integers(3, size=n)


def look(X, y, order, voters=GROVE, loss="plurality", seed=0, folds=False):
    rng = np.random.default_rng(seed)
    return look_at_first(voters, X, y, CLASSES, order, loss, 0.05, rng, folds=folds)


def garbage(X, y, rows, seed=1):
    """The same but for these rows."""
    rng = np.random.default_rng(seed)
    X, y = X.copy(), y.copy()
    X[rows] = 1e6 * rng.normal(size=(len(rows), X.shape[1]))
    y[rows] = rng.integers(3, size=len(rows))
    return X, y


@grid(made=[learnable, noise], loss=["plurality", "half-weight"], folds=[False, True])
def test_rows_after_the_first_play_no_part(made, loss, folds):
    X, y = made()
    order = np.random.default_rng(2).permutation(N)
    first, later = np.split(order, [n_first(N, folds)])
    answer = look(X, y, order, loss=loss, folds=folds)
    assert answer == look(*garbage(X, y, later), order, loss=loss, folds=folds)
    assert answer == look(X, y, np.concatenate([first, later[::-1]]), loss=loss, folds=folds)
    # Its own rows do: the words say how many errors there were.
    assert answer != look(*garbage(X, y, first[:30]), order, loss=loss, folds=folds)


def test_the_pilot_is_called_with_rows_of_its_own_only(monkeypatch):
    seen = []
    original = Grove.fit

    def fit(self, X, y, classes, rng):
        seen.append(X)
        return original(self, X, y, classes, rng)

    monkeypatch.setattr(Grove, "fit", fit)
    X, y = learnable()
    order = np.random.default_rng(3).permutation(N)
    look(X, y, order)
    assert [len(rows) for rows in seen] == [60, 30, 30]
    assert {row.tobytes() for rows in seen for row in rows} == {row.tobytes() for row in X[order[:60]]}


# What is fixed before the certification rows are seen


def row_order(n, digest):
    """The order that is divided."""
    return stream("split", seed=(SEED,), digest=digest).permutation(n)


def prepared(X, y, split="single", share=None, voters=GROVE, prior="informed"):
    plan = make_plan("dis-b", voters, split, prior=prior, random_state=SEED)
    return prepare(replace(plan, train_share=share), RowsInMemory(plan.voters, X, y))


def facts(part):
    """All that must be fixed before the certification rows: the training rows, the voters by their votes, the prior."""
    (prior,) = part.hyper_priors
    votes = codes_of(part.voters.votes(learnable(200, seed=8)[0]))
    return part.rows.train.tobytes(), votes.tobytes(), prior.beta.tobytes()


def first_rows(ready):
    return ready.division.first_rows


@pytest.mark.parametrize("made", [learnable, noise])
def test_the_certification_rows_reach_neither_share_nor_voters_nor_prior(made, one_digest):
    X, y = made()
    order = row_order(N, one_digest)
    ready = prepared(X, y)
    (part,) = ready.parts
    training = len(part.rows.train)
    assert training in [round(share * N) for share in _SHARES]
    certified = order[training:]
    assert np.array_equal(part.rows.certify, np.sort(certified))
    assert np.array_equal(part.certification.labels, y[np.sort(certified)])
    spoiled = prepared(*garbage(X, y, certified))
    assert (first_rows(spoiled), facts(spoiled.parts[0])) == (first_rows(ready), facts(part))
    assert not np.array_equal(spoiled.parts[0].certification.labels, part.certification.labels)
    # The share alone does not depend on the rest of the training rows either; the voters do.
    first_only = prepared(*garbage(X, y, order[n_first(N, folds=False) :]))
    assert (first_rows(first_only), facts(first_only.parts[0])[0]) == (
        first_rows(ready),
        facts(part)[0],
    )
    assert facts(first_only.parts[0])[1] != facts(part)[1]


def folds_of(monkeypatch, k):
    """The first rows ask for so many folds."""
    limit = _expected_limit

    def expected(error, n, votes, delta):
        return 1e-3 if votes == k else limit(error, n, votes, delta)

    monkeypatch.setattr(_pilot, "_expected_limit", expected)
    monkeypatch.setattr(_pilot, "_FEWEST_ERRORS", 0)


@pytest.mark.parametrize("k", _FOLDS)
def test_no_vote_of_a_fold_has_seen_it_and_the_first_rows_train_all(k, monkeypatch, one_digest):
    folds_of(monkeypatch, k)
    X, y = learnable()
    order = row_order(N, one_digest)
    ready = prepared(X, y, "auto")
    assert (ready.division.split, len(ready.parts)) == (k, k)
    assert (first_rows(ready).looked_at, first_rows(ready).found, first_rows(ready).share) == (
        40,
        "learning curve",
        None,
    )
    folds = np.array_split(order[40:], k)
    for number, (part, fold) in enumerate(zip(ready.parts, folds, strict=True)):
        assert np.array_equal(part.rows.certify, np.sort(fold))
        assert np.array_equal(part.rows.train, np.setdiff1d(np.arange(N), fold))
        spoiled = prepared(*garbage(X, y, fold), "auto")
        assert (first_rows(spoiled), facts(spoiled.parts[number])) == (first_rows(ready), facts(part))
        assert facts(spoiled.parts[number - 1])[1] != facts(ready.parts[number - 1])[1]


@pytest.mark.parametrize("made", [learnable, noise])
def test_the_number_of_folds_is_the_same_whatever_the_other_rows_are(made, one_digest):
    X, y = made(600)
    order = row_order(600, one_digest)
    ready = prepared(X, y, "auto")
    for seed in range(2):
        again = prepared(*garbage(X, y, order[60:], seed), "auto")
        assert (again.division.split, first_rows(again)) == (ready.division.split, first_rows(ready))
        assert [part.rows.certify.tobytes() for part in again.parts] == [
            part.rows.certify.tobytes() for part in ready.parts
        ]


def test_the_same_with_everything_left_at_auto(monkeypatch, one_digest):
    folds_of(monkeypatch, 2)
    X, y = learnable(200)

    def fit(X, y):
        return CertifiedVoteClassifier(random_state=SEED).fit(X, np.minimum(y, 1))

    clf = fit(X, y)
    own, deployed = clf.certificate_, clf.certificate_.deployed
    assert own.split == "2"
    again = fit(*garbage(X, y, clf.part_.certify))
    assert (again.certificate_.split, again.certificate_.choices[0]) == (own.split, own.choices[0])
    assert again.certificate_.parts[deployed].kept == own.deployed_part.kept
    assert np.array_equal(again.parts_[deployed].train, clf.part_.train)
    # Staying or not, the prior is what it was.
    assert again.certificate_.parts[deployed].beta == own.deployed_part.beta
    assert again.certificate_.parts[deployed].training_digest == own.deployed_part.training_digest
    assert again.certificate_.price_atoms == own.price_atoms


# The number of folds


def curve(monkeypatch, late, early, n=1000, folds=False):
    """What given rates of error on the first rows and on half of them suggest."""

    def mistakes(pilot, X, y, classes, rows, units, loss, rng):
        rate = late if len(rows) == n_first(n, folds) else early
        return np.arange(len(rows)) < round(rate * len(rows))

    monkeypatch.setattr(_pilot, "_mistakes", mistakes)
    return look(np.zeros((n, 1)), np.arange(n) % 2, np.arange(n), folds=folds)


def test_folds_where_errors_are_many_and_one_split_where_they_are_rare(monkeypatch):
    many = curve(monkeypatch, 0.15, 0.2, folds=True)
    assert many.split in _FOLDS
    assert many.first == 100
    # Few errors might turn out to be none.
    few = curve(monkeypatch, 0.02, 0.02, folds=True)
    assert few.split == "single"
    monkeypatch.setattr(_pilot, "_FEWEST_ERRORS", 5)
    assert curve(monkeypatch, 0.02, 0.02, folds=True).split in _FOLDS
    rare = curve(monkeypatch, 0.0, 0.0, folds=True)
    assert (rare.split, rare.first) == ("single", 0)
    assert curve(monkeypatch, 0.15, 0.2).split == "single"


@pytest.fixture
def asked(monkeypatch):
    """Whether folds were allowed, each time that the first rows were looked at."""
    found = []

    def noted(pilot, X, y, classes, shuffled, loss, delta, rng, units, folds):
        found.append(folds)
        return Look("single", 0.5, 0, "half of the rows train the voters: so said the test")

    monkeypatch.setattr(_pilot, "look_at_first", noted)
    return found


def small(method="auto", split="auto", n=60, **given):
    units = {name: given.pop(name) for name in ("groups", "order") if name in given}
    return CertifiedVoteClassifier(method, GROVE, split, random_state=0, **given).fit(*learnable(n), **units)


def test_folds_may_be_chosen_where_rows_are_few_and_nothing_else_is_asked_for(asked, monkeypatch):
    small()
    assert asked == [True]
    small(split="single")
    small(promises=[Precision()])
    small(groups=np.arange(60) // 2)
    small(order=np.arange(60))
    monkeypatch.setattr(_pilot, "_QUICK", 60)
    small(n=59)
    small()  # 60 rows of so many columns and classes are little work
    monkeypatch.setattr(_pilot, "_FOLDED_BELOW", 60)
    small()
    assert asked == [True, False, False, False, False, True, True, False]


def test_of_many_rows_there_are_folds_where_columns_and_classes_are_few():
    assert may_fold(9_999, 10_000, 100)
    for n_rows, n_columns, n_classes in ((10_000, 200, 2), (10_000, 40, 10), (40_000, 50, 2), (49_999, 2, 40)):
        assert may_fold(n_rows, n_columns, n_classes) == (n_rows * n_columns * n_classes <= 4_000_000)
        assert not may_fold(n_rows, 2 * n_columns + 1, n_classes)
        assert not may_fold(n_rows, n_columns, 2 * n_classes + 1)
    assert not may_fold(50_000, 1, 2)


@pytest.mark.parametrize("given", [{"method": "dis-b"}, {"method": "holdout"}, {"split": Single(0.4)}])
def test_other_methods_and_given_shares_make_one_split_without_a_look(given, asked):
    certificate = small(**given).certificate_
    assert (asked, certificate.split, certificate.first_rows) == ([], "single", None)
    assert certificate.parts[0].training_rows == (24 if "split" in given else 30)
    if "method" in given:
        assert dict(certificate.provenance.parameters)["split"] == '"auto"'


@pytest.mark.parametrize("split", ["cross", 2, 3])
def test_other_splits_never_look(split, asked):
    ready = prepared(*learnable(150), split=split)
    assert (asked, first_rows(ready), ready.division.split) == ([], None, split)
    assert len(ready.parts[0].rows.train) == (100 if split == 3 else 75)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_voters_without_a_pilot_make_one_split(asked):
    X, y = learnable(150)
    ready = prepared(X, np.minimum(y, 1), "auto", voters=Stumps(2), prior=1.0)
    assert (asked, first_rows(ready), ready.division.split) == ([], None, "single")
    assert len(ready.parts[0].rows.train) == 75


# The share


def test_the_share_is_one_of_a_few_and_larger_where_there_is_something_to_learn():
    order = np.arange(1000)
    learned = [look(*learnable(1000, seed), order, seed=seed).share for seed in range(2)]
    guessed = [look(*noise(1000, seed), order, seed=seed).share for seed in range(2)]
    assert set(learned) | set(guessed) <= set(_SHARES)
    assert min(learned) > max(guessed)
    assert set(guessed) == {min(_SHARES)}


def test_the_share_grows_with_the_decay_of_the_curve(monkeypatch):
    shares = [curve(monkeypatch, 0.2, early, 3000).share for early in (0.15, 0.2, 0.25, 0.3, 0.4)]
    assert shares == sorted(shares)
    assert shares[0] == min(_SHARES)
    assert shares[-1] >= 0.6


@pytest.mark.parametrize("n", [10, 40, 131])
def test_few_rows_are_halved(n):
    first = FirstRows(n_first(n, folds=True), "too few", 0.5, None, None)
    assert look(*learnable(n), np.arange(n), folds=True) == Look("single", 0.5, 0, first)


@pytest.mark.parametrize(("n", "folds"), [(132, True), (198, False)])
def test_enough_rows_are_looked_at(n, folds):
    assert look(*learnable(n), np.arange(n), folds=folds).first_rows.found == "learning curve"
    assert look(*learnable(n - 1), np.arange(n - 1), folds=folds).first_rows.found == "too few"


def test_voters_that_cannot_be_fitted_on_few_rows_are_no_obstacle():
    """Preprocessing may need more rows than half a look has."""
    X = np.random.default_rng(0).normal(size=(300, 60))
    y = (X[:, 0] > 0).astype(int)
    clf = CertifiedVoteClassifier("auto", Preprocessed(PCA(50), GROVE), random_state=0).fit(X, y)
    assert clf.certificate_.first_rows == FirstRows(40, "not fitted", 0.5, None, None)
    assert clf.certificate_.parts[0].training_rows == 150
    with pytest.raises(ValueError, match="n_components=60"):
        CertifiedVoteClassifier("auto", Preprocessed(PCA(60), GROVE), random_state=0).fit(X[:100], y[:100])


def test_first_rows_of_one_class_tell_nothing():
    X, y = learnable()
    order = np.argsort(y, kind="stable")
    assert look(X, y, order).first_rows.found == "too few"


def test_a_half_of_one_class_is_no_obstacle():
    X, y = learnable()
    y[:] = 0
    y[3] = 1
    assert look(X, y, np.arange(N)).share in _SHARES


def test_the_certificate_records_the_choice():
    X, y = learnable()
    clf = CertifiedVoteClassifier("auto", GROVE, "single", random_state=0).fit(X, y)
    first, (choice,) = clf.certificate_.first_rows, clf.certificate_.choices
    assert (first.looked_at, first.share) == (60, clf.certificate_.parts[0].training_rows / N)
    assert choice in " ".join(clf.certificate_.details().split())
    assert clf.certificate_.parts[0].n == N - clf.certificate_.parts[0].training_rows
    few = small()
    assert few.certificate_.first_rows.found == "too few"


# What the first rows promise


@pytest.mark.parametrize("votes", [1, 2, 3])
@pytest.mark.parametrize(("error", "n"), [(0.02, 60), (0.2, 150), (0.0, 30), (0.9, 20)])
def test_the_expected_limit_is_that_of_a_simulation(error, n, votes):
    errors = np.random.default_rng(0).binomial(n, error, size=(20_000, votes)).min(axis=1)
    limits = stats.beta.ppf(1.0 - 0.05 / votes, np.arange(n + 1) + 1, n - np.arange(n + 1))
    limits[n] = 1.0
    drawn = limits[errors]
    expected = _expected_limit(error, n, votes, 0.05)
    assert expected == pytest.approx(drawn.mean(), abs=5 * drawn.std() / math.sqrt(len(drawn)) + 1e-9)


def counted(errors, n=100_000):
    return (np.arange(n) < errors).astype(float)


def test_many_errors_give_the_power_law_that_they_follow():
    # Halving the rows makes half as many errors again.
    law = _power_law(counted(30_000), counted(20_000), 0.15)
    assert law(0.15) == pytest.approx(0.2, rel=1e-3)
    assert law(0.3) == pytest.approx(0.2 / 1.5, rel=0.01)
    assert law(0.6) == pytest.approx(0.2 / 1.5**2, rel=0.02)


def test_few_errors_follow_the_usual_law():
    # One error in 1,000 rows, and one in each half: that tells next to nothing about what more rows would do.
    late = counted(1, 1000)
    law = _power_law(late, late, 0.15)
    usual = 0.1 * (-math.log(1.5 / 1000) - 1.0)
    decay = -math.log2(law(0.3) / law(0.15))
    assert 0.9 * usual < decay <= usual
    # Where errors are frequent they are mostly noise.
    frequent = counted(500, 1000)
    flat = _power_law(frequent, frequent, 0.15)
    assert flat(0.8) == pytest.approx(flat(0.15), rel=0.01)


def test_errors_that_grow_with_the_rows_end_at_one():
    law = _power_law(counted(100, 1000), counted(900, 1000), 0.15)
    assert law(0.8) == 1.0


def test_pilots_are_forests_where_rows_are_many_and_all_kinds_where_they_are_few():
    assert isinstance(Forest().pilot(100), Forest)
    assert isinstance(Mixed().pilot(10_000), Forest)
    few = Mixed(n_jobs=2).pilot(9_999)
    assert isinstance(few, Mixed)
    assert few.n_jobs == 2
    assert Stumps().pilot(100) is None
    assert VoterSet().pilot(100) is None
