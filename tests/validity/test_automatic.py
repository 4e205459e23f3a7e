"""What auto decides by rows that it does not certify, in a few runs.

The study counts what the page on validity shows.
"""

import numpy as np
import pytest
from automatic import EASY, NOISE, ODD, STEEP, best_fold, divided, race, race_alone, sampled, strange_kinds
from chosen import SIZES, as_intended, better_of_two_fixed, certified, plan, sample, smaller_of_both
from honest import DELTA
from tallies import Tallies
from worlds import is_at_most

from certivote.pipeline import RowsInMemory, make_plan, prepare

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def violations(trial, runs):
    """Of each of the pairs that a trial gives."""
    rng = np.random.default_rng(1)
    outcomes = [pairs for pairs in (trial(rng) for _ in range(runs)) if pairs]
    return [sum(risk > bound + 1e-9 for bound, risk in pairs) for pairs in zip(*outcomes, strict=True)]


HOLDING = {
    "3 folds": (divided(NOISE, 202, Tallies(STEEP)), 25),
    "parts as a look says": (divided(ODD, 244, Tallies()), 25),
    "best of 3 folds": (best_fold(paid=True), 25),
    "raced on other rows": (race_alone(20, 40, on_certified=False), 100),
    **{f"fixed or learned, {where}": (as_intended(where, n), 60) for where, n in SIZES.items()},
    **{f"fixed and learned, {where}": (smaller_of_both(where, n), 60) for where, n in SIZES.items()},
    "two fixed votes at half of delta each": (better_of_two_fixed(50, 0.5), 1000),
}
BREACHES = {
    "best of 3 folds, each at the whole of delta": (best_fold(paid=False), 80),
    "two fixed votes at 0.95 of delta each": (better_of_two_fixed(50, 0.95), 1000),
    "raced on the certified rows": (race_alone(20, 40, on_certified=True), 20),
}


@pytest.mark.parametrize("name", HOLDING)
def test_decisions_by_other_rows_cost_nothing(name):
    trial, runs = HOLDING[name]
    found = violations(trial, runs)
    assert found
    assert all(is_at_most(count, runs, DELTA) for count in found)


@pytest.mark.parametrize("name", BREACHES)
def test_decisions_by_certified_rows_are_seen(name):
    trial, runs = BREACHES[name]
    (found,) = violations(trial, runs)
    assert not is_at_most(found, runs, DELTA)


def test_certified_rows_choose_a_fixed_vote_or_a_learned_one():
    chosen, rng = {}, np.random.default_rng(3)
    for where, n in SIZES.items():
        outcomes = [certified(plan(), *sample(where, n, rng), seed) for seed in range(20)]
        chosen[where] = sum(outcome.certificate.certified == "the drawn vote" for outcome in outcomes)
    assert chosen["pure noise"] <= 2
    assert chosen["told by one voter"] == 20
    assert 2 <= chosen["half told by one voter"] <= 18


def parts(where, n, voters, runs):
    """How many there are in each of some runs."""
    rng, found = np.random.default_rng(2), []
    for _ in range(runs):
        X, y, seed = sampled(where, n, rng)
        plan = make_plan("auto", voters, delta=DELTA, random_state=seed)
        found.append(len(prepare(plan, RowsInMemory(plan.voters, X, y)).parts))
    return found


def test_worlds_divide_rows_as_the_study_says():
    assert parts(NOISE, 202, Tallies(STEEP), 2) == [3, 3]
    assert parts(EASY, 204, Tallies(), 5) == [1] * 5
    mixed = parts(ODD, 244, Tallies(), 20)
    assert np.mean(np.array(mixed) > 1) > 0.5
    assert len(set(mixed)) > 1


def test_a_race_leaves_some_kinds_out_and_prefers_those_that_know_more():
    rng = np.random.default_rng(3)
    labels, answers = rng.integers(2, size=200), strange_kinds(8)[rng.integers(27, size=200)]
    answers[:, 5] = np.where(rng.random(200) < 0.9, labels, 1 - labels)
    weights = race(answers, labels)
    assert weights.argmax() == 5
    assert 0 < np.count_nonzero(weights == 0.0) < 8
