"""The share of training rows: chosen by the first 30 % of the order, and by nothing else."""

from dataclasses import replace

import numpy as np
import pytest
from ballots import codes_of
from sklearn.ensemble import RandomForestClassifier

from certivote import CertifiedVoteClassifier
from certivote.pipeline import _prepare, _train_share, make_plan, prepare
from certivote.pipeline._seeds import Seeds
from certivote.pipeline._train_share import _SHARES, choose_train_share
from certivote.voters import Forest, Mixed, Stumps

CLASSES = np.array([0, 1, 2])
N = 300


class Grove(Forest):
    """Few trees, quick to fit."""

    def pilot(self):
        return self


GROVE = Grove(RandomForestClassifier(12))


def learnable(n=N, seed=0):
    """Three classes without noise, in six features."""
    X = np.random.default_rng(seed).random((n, 6))
    return X, (np.digitize(X[:, 0], [0.33, 0.66]) + (X[:, 1] > 0.5)) % 3


def noise(n=N, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((n, 6)), rng.integers(3, size=n)


def choose(X, y, order, voters=GROVE, loss="plurality", seed=0):
    return choose_train_share(voters, X, y, CLASSES, order, loss, 0.05, np.random.default_rng(seed))


def garbage(X, y, rows, seed=1):
    """The same but for these rows."""
    rng = np.random.default_rng(seed)
    X, y = X.copy(), y.copy()
    X[rows] = 1e6 * rng.normal(size=(len(rows), X.shape[1]))
    y[rows] = rng.integers(3, size=len(rows))
    return X, y


@pytest.mark.parametrize("loss", ["plurality", "half-weight"])
@pytest.mark.parametrize("made", [learnable, noise])
def test_rows_after_the_pilot_play_no_part(made, loss):
    X, y = made()
    order = np.random.default_rng(2).permutation(N)
    first, later = order[: round(0.3 * N)], order[round(0.3 * N) :]
    answer = choose(X, y, order, loss=loss)
    assert answer == choose(*garbage(X, y, later), order, loss=loss)
    reversed_later = np.concatenate([first, later[::-1]])
    assert answer == choose(X, y, reversed_later, loss=loss)
    # Its own rows do: the words say how many errors there were.
    assert answer != choose(*garbage(X, y, first[:30]), order, loss=loss)


def prepared(X, y, split="single", share=None, voters=GROVE, prior="informed", seed=5):
    plan = make_plan("dis-b", voters, split, prior=prior, random_state=seed)
    return prepare(replace(plan, train_share=share), X, y)


def facts(ready):
    """All that must be fixed before the certification rows: the share, the voters by their votes, the prior."""
    probe = learnable(200, seed=8)[0]
    (part,) = ready.parts
    votes, (prior,) = codes_of(part.voters.votes(probe)), part.hyper_priors
    return ready.choices, part.rows.train.tobytes(), votes.tobytes(), prior.beta.tobytes()


@pytest.mark.parametrize("made", [learnable, noise])
def test_the_certification_rows_reach_neither_share_nor_voters_nor_prior(made):
    X, y = made()
    order = np.random.default_rng(Seeds((5,)).split).permutation(N)
    ready = prepared(X, y)
    training = len(ready.parts[0].rows.train)
    assert training in [round(share * N) for share in _SHARES]
    certified = order[training:]
    assert np.array_equal(ready.parts[0].rows.certify, np.sort(certified))
    assert np.array_equal(ready.parts[0].labels, y[np.sort(certified)])
    spoiled = prepared(*garbage(X, y, certified))
    assert facts(spoiled) == facts(ready)
    assert not np.array_equal(spoiled.parts[0].labels, ready.parts[0].labels)
    # The share alone does not depend on the rest of the training rows either; the voters do.
    pilot_only = prepared(*garbage(X, y, order[round(0.3 * N) :]))
    assert facts(pilot_only)[:2] == facts(ready)[:2]
    assert facts(pilot_only)[2] != facts(ready)[2]


def test_the_same_with_everything_left_at_auto():
    X, y = learnable(150)
    order = np.random.default_rng(Seeds((5,)).split).permutation(150)

    def fit(X, y):
        return CertifiedVoteClassifier(random_state=5).fit(X, y)

    clf = fit(X, y)
    (part,) = clf.certificate_.parts
    again = fit(*garbage(X, y, order[part.training_rows :]))
    assert again.certificate_.choices == clf.certificate_.choices
    assert again.certificate_.parts[0].training_rows == part.training_rows
    probe = learnable(100, seed=8)[0]
    assert np.array_equal(codes_of(again.voters_.votes(probe)), codes_of(clf.voters_.votes(probe)))
    # Staying or not, the prior is what it was.
    assert again.certificate_.parts[0].beta == part.beta
    assert again.certificate_.price_atoms == clf.certificate_.price_atoms
    assert "of the rows train the voters: a forest on the first 45 rows errs on" in clf.certificate_.choices[0]


def test_the_share_is_one_of_a_few_and_larger_where_there_is_something_to_learn():
    order = np.arange(1000)
    learned = [choose(*learnable(1000, seed), order, seed=seed)[0] for seed in range(2)]
    guessed = [choose(*noise(1000, seed), order, seed=seed)[0] for seed in range(2)]
    assert set(learned) | set(guessed) <= set(_SHARES)
    assert min(learned) > max(guessed)
    assert set(guessed) == {min(_SHARES)}


@pytest.mark.parametrize("n", [10, 40, 131])
def test_few_rows_are_halved(n):
    X, y = learnable(n)
    assert choose(X, y, np.arange(n)) == (
        0.5,
        f"half of the rows train the voters: {n} rows are too few for a learning curve",
    )


def test_enough_rows_are_looked_at():
    X, y = learnable(134)
    assert "are too few" not in choose(X, y, np.arange(134))[1]


def test_a_pilot_of_one_class_tells_nothing():
    X, y = learnable()
    order = np.argsort(y, kind="stable")
    assert choose(X, y, order)[1].startswith("half of the rows train the voters")


def test_a_half_of_one_class_is_no_obstacle():
    X, y = learnable()
    y[:] = 0
    y[3] = 1
    assert choose(X, y, np.arange(N))[0] in _SHARES


def curve(monkeypatch, late, early, n=1000):
    """The share for given rates of error on 30 % and on half of that."""

    def mistakes(pilot, X, y, classes, rows, units, loss, rng):
        rate = late if len(rows) == round(0.3 * n) else early
        return np.arange(len(rows)) < round(rate * len(rows))

    monkeypatch.setattr(_train_share, "_mistakes", mistakes)
    return choose(np.zeros((n, 1)), np.arange(n) % 2, np.arange(n))[0]


def test_the_share_grows_with_the_decay_of_the_curve(monkeypatch):
    shares = [curve(monkeypatch, 0.2, early, 5000) for early in (0.15, 0.2, 0.25, 0.3, 0.4)]
    assert shares == sorted(shares)
    assert shares[0] == min(_SHARES)
    assert shares[-1] >= 0.6


def test_the_pilot_is_called_with_rows_of_its_own_only(monkeypatch):
    seen = []
    original = Grove.fit

    def fit(self, X, y, classes, rng):
        seen.append(X)
        return original(self, X, y, classes, rng)

    monkeypatch.setattr(Grove, "fit", fit)
    X, y = learnable()
    order = np.random.default_rng(3).permutation(N)
    choose(X, y, order)
    allowed = {row.tobytes() for row in X[order[:90]]}
    assert [len(rows) for rows in seen] == [90] + [45] * 6
    assert {row.tobytes() for rows in seen for row in rows} == allowed


@pytest.mark.parametrize("split", ["cross", 2, 3])
def test_other_splits_never_ask_the_pilot(split, monkeypatch):
    monkeypatch.setattr(_prepare, "choose_train_share", None)
    ready = prepared(*learnable(150), split=split)
    assert ready.choices == ()
    assert len(ready.parts[0].rows.train) == (100 if split == 3 else 75)


@pytest.mark.parametrize(("voters", "share"), [(GROVE, 0.3), (Stumps(2), None)])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_given_share_or_voters_without_a_pilot_never_ask_it(voters, share, monkeypatch):
    monkeypatch.setattr(_prepare, "choose_train_share", None)
    X, y = learnable(150)
    ready = prepared(X, np.minimum(y, 1), share=share, voters=voters, prior=1.0)
    assert ready.choices == ()
    assert len(ready.parts[0].rows.train) == (45 if share else 75)


@pytest.mark.parametrize("method", ["dis-b", "dis-r", "holdout"])
def test_named_methods_train_on_half(method, monkeypatch):
    monkeypatch.setattr(_prepare, "choose_train_share", None)
    clf = CertifiedVoteClassifier(method, GROVE, random_state=0).fit(*learnable(150))
    assert clf.certificate_.choices == ()
    assert clf.certificate_.parts[0].training_rows == 75


def test_the_certificate_records_the_choice():
    X, y = learnable()
    clf = CertifiedVoteClassifier("auto", GROVE, random_state=0).fit(X, y)
    (choice,) = clf.certificate_.choices
    share = clf.certificate_.parts[0].training_rows / N
    assert choice.startswith(f"{share:.0%} of the rows train the voters: a forest on the first 90 rows errs on ")
    assert choice in str(clf.certificate_)
    assert clf.certificate_.parts[0].n == N - clf.certificate_.parts[0].training_rows
    few = CertifiedVoteClassifier("auto", GROVE, random_state=0).fit(*learnable(60))
    assert few.certificate_.choices == ("half of the rows train the voters: 60 rows are too few for a learning curve",)


def test_pilots_are_forests():
    assert isinstance(Mixed().pilot(), Forest)
    assert isinstance(Forest().pilot(), Forest)
    assert Stumps().pilot() is None
