"""Which kinds are trained to vote: those that add something by votes on training rows that they have not seen."""

import joblib
import numpy as np
import pytest
from ballots import codes_of, fractions_of

from certivote import CertifiedVoteClassifier
from certivote.pipeline import _pilot
from certivote.voters import Mixed, _race
from certivote.voters._members import FoldedMember
from certivote.voters._race import KINDS, Training, _earned, left_out, trained, unseen_votes

pytestmark = pytest.mark.filterwarnings("error")


def rng(seed=0):
    return np.random.default_rng(seed)


def planned(X, y, entities=None, n_classes=2):
    return Training.planned(X, y, n_classes, entities, rng(7), None)


def raced(training):
    """Names of the kinds that would be trained in full."""
    found = []

    def members(self, tried):
        found.extend(tried)
        return ()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Training, "members", members)
        trained(training)
    return found


# What the votes earn


def answering(*answers):
    """A kind that gave these answers to the rows, at so many stages."""
    return FoldedMember((), (), len(answers), np.stack(answers, axis=1).astype(np.int32))


def wrong_on(y, rows):
    return np.where(np.isin(np.arange(len(y)), rows), 1 - y, y)


def labelled(n=600, entities=None):
    y = rng(1).integers(2, size=n)
    return planned(np.zeros((n, 1)), y, entities), y


def test_a_kind_that_guesses_earns_nothing_beside_one_that_knows():
    training, y = labelled()
    guess = rng(2).integers(2, size=600)
    earned = _earned(training, {"linear": answering(guess), "kernel": answering(wrong_on(y, np.arange(30)))})
    assert list(earned) == ["linear", "kernel"]
    assert sum(earned.values()) == pytest.approx(1.0)
    assert earned["linear"] < 0.05
    assert earned["kernel"] > 0.9


def test_kinds_that_err_on_other_rows_all_earn_and_a_copy_shares():
    training, y = labelled()
    own = [wrong_on(y, np.arange(120) + 120 * number) for number in range(3)]
    earned = _earned(
        training, {"linear": answering(own[0]), "kernel": answering(own[1]), "gaussian": answering(own[2])}
    )
    assert min(earned.values()) > 0.25
    copied = _earned(
        training, {"linear": answering(own[0]), "kernel": answering(own[1]), "gaussian": answering(own[1])}
    )
    assert copied["linear"] == pytest.approx(0.5, abs=0.05)
    assert copied["kernel"] == pytest.approx(copied["gaussian"])


def test_the_stages_of_a_kind_earn_together():
    training, y = labelled()
    guess = rng(2).integers(2, size=600)
    earned = _earned(training, {"boosting": answering(guess, wrong_on(y, np.arange(9)), y), "linear": answering(guess)})
    assert earned["boosting"] > 0.95


def test_few_rows_are_not_to_be_trusted():
    """Chance alone makes one of two kinds better on a few rows."""
    training, y = labelled(6)
    earned = _earned(training, {"linear": answering(wrong_on(y, [0, 1])), "kernel": answering(wrong_on(y, [2]))})
    assert min(earned.values()) > 0.3


def test_rows_without_votes_of_all_kinds_do_not_count():
    training, y = labelled()
    good, bad = answering(wrong_on(y, np.arange(300, 330))), answering(1 - y)
    half = np.where(np.arange(600)[:, None] < 300, bad.unseen, -1).astype(np.int32)
    some = FoldedMember((), (), 1, half)
    assert np.array_equal(left_out([good, some], 600), np.arange(600) < 300)
    earned = _earned(training, {"linear": good, "kernel": some})
    assert earned["linear"] > 0.95
    with pytest.raises(ValueError, match="only on rows that some training has left out"):
        unseen_votes(some, training.X, np.array([300]), 2)


def test_all_entities_count_the_same():
    """One kind is right on the only large entity, the other on all others."""
    entities = np.concatenate([np.zeros(540, dtype=int), 1 + np.arange(60)])
    training, y = labelled(600, entities)
    one, other = answering(wrong_on(y, np.arange(540, 600))), answering(wrong_on(y, np.arange(540)))
    by_entities = _earned(training, {"linear": one, "kernel": other})
    by_rows = _earned(planned(training.X, y), {"linear": one, "kernel": other})
    assert by_rows["linear"] > 0.8
    assert by_entities["kernel"] > 0.8


# Rows for which some kind is made


def crossed(n=400, width=6):
    """Two classes in opposite corners of two columns, which no line tells apart; the other columns tell nothing."""
    X = rng(3).normal(size=(n, width))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def straight(n=300, width=30):
    """The sum of many columns decides, a little each."""
    X = rng(4).normal(size=(n, width))
    return X, (X.sum(axis=1) > 0).astype(int)


def wells(n=400):
    """Two classes in turn on a board of six times six fields."""
    X = 6 * rng(5).random((n, 2))
    return X, (np.floor(X).sum(axis=1) % 2).astype(int)


def test_lines_are_dropped_where_they_tell_nothing_and_needed_where_they_tell_all():
    assert "linear" not in raced(planned(*crossed()))
    assert "linear" in raced(planned(*straight()))


def test_neighbours_are_needed_on_a_board():
    kept = raced(planned(*wells()))
    assert "neighbours" in kept
    assert not {"linear", "gaussian"} & set(kept)


def test_kinds_vote_in_their_order_and_only_those_that_earned():
    X, y = crossed()
    training = planned(X, y)
    kept = raced(training)
    assert kept == [kind for kind in KINDS if kind in kept]
    fitted = Mixed().fit(X, y, np.array([0, 1]), rng())
    assert 1 <= len(fitted.forests) + len(fitted.members) < len(KINDS)


def test_a_kind_that_takes_long_has_to_earn_more(monkeypatch):
    X, y = crossed(120)
    training = planned(X, y)
    assert {training.price(kind) for kind in KINDS} == {_race._CHEAP}
    monkeypatch.setattr(_race, "_LANDMARKS_FROM", 100)
    assert training.price("kernel") == _race._DEAR > _race._CHEAP
    assert training.price("linear") == _race._CHEAP


# Few rows and many


@pytest.fixture
def many(monkeypatch):
    """As of many rows, with 100."""
    monkeypatch.setattr(_race, "_FEW", 100)
    monkeypatch.setattr(_race, "_LANDMARKS_FROM", 100)
    monkeypatch.setattr(_race, "_LANDMARKS", 20)
    monkeypatch.setattr(_race, "_ROWS", 400)


def test_of_many_rows_some_decide_and_the_others_play_no_part(many):
    X, y = crossed(500)
    training = planned(X, y)
    others = training.places >= 400
    spoiled_X, spoiled_y = X.copy(), y.copy()
    spoiled_X[others] = 1e4 * rng(6).normal(size=(others.sum(), 6))
    spoiled_y[others] = rng(7).integers(2, size=others.sum())
    kept = raced(training)
    assert "linear" not in kept
    assert raced(planned(spoiled_X, spoiled_y)) == kept
    # Those that decide do.
    spoiled_X, spoiled_y = X.copy(), (X[:, 2] > 0).astype(int)
    spoiled_y[others] = y[others]
    assert "linear" in raced(planned(spoiled_X, spoiled_y))


@pytest.mark.parametrize("again_below", [300, 301])
def test_of_many_rows_every_model_votes_and_a_fifth_tells_how_far_to_trust_it(again_below, many, monkeypatch):
    monkeypatch.setattr(_race, "_AGAIN_BELOW", again_below)
    X, y = crossed(300)
    fitted = Mixed().fit(X, y, np.array([0, 1]), rng())
    unseen = fitted.out_of_sample(X, y, np.arange(300))
    assert len(unseen.rows) == 60
    folded = [member for member in fitted.members if isinstance(member, FoldedMember)]
    for member in folded:
        assert len(member.models) == 1
        assert np.array_equal(np.flatnonzero(member.left_out), unseen.rows)
        once = np.array_equal(member.votes(X[unseen.rows]), member.unseen[unseen.rows])
        assert once == (again_below == 300)
    assert folded
    assert fitted.votes(X).n_voters == len(unseen.groups) == fitted.n_voters


@pytest.mark.parametrize(("n", "n_folds"), [(40, 3), (99, 3), (100, 2), (120, 2)])
def test_the_fewer_rows_the_more_of_them_are_voted_on(n, n_folds, monkeypatch):
    monkeypatch.setattr(_race, "_ENOUGH", 100)
    X, y = crossed(n)
    unseen = Mixed().fit(X, y, np.array([0, 1]), rng()).out_of_sample(X, y, np.arange(n))
    assert len(unseen.rows) == pytest.approx(n * n_folds / 3, abs=1)
    assert unseen.votes.n_rows == len(unseen.rows)


@pytest.mark.parametrize("regime", ["few", "many"])
def test_what_a_kind_votes_does_not_depend_on_which_others_are_trained(regime, request, monkeypatch):
    if regime == "many":
        request.getfixturevalue("many")
    X, y = crossed(120)
    fresh = rng(8).normal(size=(60, 6))

    def votes(kept):
        with monkeypatch.context() as patch:
            patch.setattr(_race, "_earned", lambda training, tried: {kind: float(kind in kept) for kind in tried})
            fitted = Mixed().fit(X, y, np.array([0, 1]), rng())
        found = [codes_of(forest.votes(fresh)) for forest in fitted.forests]
        return dict(zip(kept, found + [member.votes(fresh) for member in fitted.members], strict=True))

    everything = votes(KINDS)
    for kept in (KINDS[::2], KINDS[1::2]):
        for kind, own in votes(kept).items():
            assert np.array_equal(own, everything[kind])


# Any number of cores


@pytest.mark.parametrize("regime", ["few", "many"])
def test_voters_are_the_same_for_any_number_of_jobs(regime, request):
    if regime == "many":
        request.getfixturevalue("many")
    X, y = crossed(200)
    found = []
    for jobs in (1, 2):
        with joblib.parallel_config("threading"):
            fitted = Mixed(n_jobs=jobs).fit(X, y, np.array([0, 1]), rng())
        unseen = fitted.out_of_sample(X, y, np.arange(200))
        found.append((codes_of(fitted.votes(X)), fractions_of(unseen.votes), unseen.groups, unseen.rows))
    for one, two in zip(*found, strict=True):
        assert np.array_equal(one, two)


def test_certificates_and_folds_are_the_same_for_any_number_of_jobs(monkeypatch):
    X, y = crossed(200)
    fits = []
    limit = _pilot._expected_limit
    monkeypatch.setattr(_pilot, "_expected_limit", lambda *how: 1e-3 if how[2] == 2 else limit(*how))
    monkeypatch.setattr(_pilot, "_FEWEST_ERRORS", 0)
    for jobs in (1, 2):
        with joblib.parallel_config("threading", n_jobs=jobs):
            fits.append(CertifiedVoteClassifier(random_state=5).fit(X, y))
    one, two = fits
    assert one.certificate_.split == "2"
    assert one.certificate_ == two.certificate_
    assert np.array_equal(one.predict_proba(X), two.predict_proba(X))
