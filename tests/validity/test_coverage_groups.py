"""How often certificates for entities, given models and rows in time are wrong, where the truth is known: a few runs.

The study counts what the page on validity shows.
"""

import numpy as np
import pytest
from given import STUMPS, one_by_one, together
from grouped import (
    FATE,
    HALF,
    LONG_FATE,
    TREE,
    TWO_KINDS,
    best_order,
    betting,
    fitting,
    fitting_patients,
    ignored,
    predictions,
    told,
)
from honest import DELTA, GROVE, ON_STUMPS, TREES, strangers
from timed import p_values, timed
from worlds import is_at_most

from certivote.theory.bets import Betting

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def violations(trial, runs, seed=1):
    """Of each of the pairs that a trial gives."""
    rng = np.random.default_rng(seed)
    outcomes = [pairs for pairs in (trial(rng) for _ in range(runs)) if pairs]
    return [sum(risk > bound + 1e-9 for bound, risk in pairs) for pairs in zip(*outcomes, strict=True)]


HOLDING = {
    "fixed vote": (betting(FATE, 50), 200),
    "predictions": (predictions(TWO_KINDS, 40), 50),
    "told names": (told(FATE, 20), 50),
    "dis-b": (fitting(HALF, 23, {"method": "dis-b", **ON_STUMPS, "prior": 0.5}), 8),
    "dis-r": (fitting(FATE, 23, {"method": "dis-r", **ON_STUMPS, "prior": 0.5}), 6),
    "fo": (fitting(TWO_KINDS, 23, {"method": "fo", **ON_STUMPS, "prior": 0.5}), 6),
    "folds": (fitting(HALF, 72, {"method": "holdout", "voters": TREES, "split": 3}), 15),
    "forest": (fitting_patients(46, 3, {"method": "auto", "voters": GROVE, "split": "single"}), 8),
    "one model": (together(STUMPS[:1], 0.1, 60), 50),
    "several models": (together(strangers(2)[:3], FATE, 30), 6),
    "order in time": (timed(0.1, 0.5, 46, "holdout", with_order=True), 40),
}


@pytest.mark.parametrize("name", HOLDING)
def test_promises_fail_at_most_as_often_as_they_may(name):
    trial, runs = HOLDING[name]
    found = violations(trial, runs)
    assert found
    assert all(is_at_most(count, runs, DELTA) for count in found)


BREACHES = {
    "fit without groups": (fitting_patients(60, 10, TREE, with_groups=False), 10),
    "predictions without groups": (ignored(LONG_FATE, 20, one_by_one=False), 80),
    "every row is an entity": (ignored(LONG_FATE, 20, one_by_one=True), 80),
    "best of 20 orders": (best_order(LONG_FATE, 50, 20), 60),
    "best of 20 models one by one": (one_by_one(strangers(2, 20), 0.5, 16), 12),
    "order in time not given": (timed(0.1, 0.5, 200, "holdout", with_order=False), 15),
}


@pytest.mark.parametrize("name", BREACHES)
def test_breaches_are_seen(name):
    trial, runs = BREACHES[name]
    (found,) = violations(trial, runs)
    assert not is_at_most(found, runs, DELTA)


def test_the_p_value_of_drift_is_rarely_small_without_drift():
    runs, levels = 100, (0.05, 0.2)
    for count, level in zip(violations(p_values(0.3, 0.3, 60, levels), runs), levels, strict=True):
        assert is_at_most(count, runs, level)
    (count,) = violations(p_values(0.1, 0.4, 100, (0.05,)), 20)
    assert not is_at_most(count, 20, 0.05)


@pytest.mark.parametrize("repeated", [False, True])
def test_losses_that_are_bet_on_repeatedly_are_caught(repeated, monkeypatch):
    honest = Betting.bound
    if repeated:
        # As if the losses were those of many times as many entities.
        monkeypatch.setattr(
            Betting, "bound", lambda self, risks, *rest: honest(self, [risks[0], *risks[1:] * 20], *rest)
        )
    (found,) = violations(betting(FATE, 40), 200)
    assert is_at_most(found, 200, DELTA) is not repeated
