"""Coverage where positions and names go with the errors, and that a constant order or division would be seen."""

import numpy as np
import pytest
from arranged import DELTA, FRESH, NUMBERS, settings
from thorough import ALL
from worlds import is_at_most

from certivote.maths import streams

TRIALS = {f"{setting}, {where}, {n}": trial for _, setting, where, n, trial in settings()}


def violations(trial, runs):
    rng = np.random.default_rng(4)
    pairs = [pair for _ in range(runs) for pair in trial(rng)]
    return sum(truth > bound for bound, truth in pairs)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("how", [FRESH, NUMBERS])
@pytest.mark.parametrize("name", TRIALS)
def test_a_certificate_fails_at_most_as_often_as_promised(name, how):
    assert is_at_most(violations(TRIALS[name](how=how), 30), 30, DELTA)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    "name",
    [
        "entities numbered by their loss, errors last, true error 0.15, 35",
        "split none, entities numbered and sorted by class, all rows alike, 15% of the second class, 35",
        "split single, sorted by class, all rows alike, 35% of the second class, 70",
        "costs by bets, sorted by loss, 30% of the answers cost 4, 25",
    ],
)
def test_streams_that_are_constant_are_caught(name, monkeypatch):
    """An enemy arranges the file for the constant order that he knows: here the worst of some, counted anew."""
    key, trial = streams.stream_key, TRIALS[name](how=FRESH)

    def constant(number):
        monkeypatch.setattr(
            streams, "stream_key", lambda purpose, *which, seed, digest: key(purpose, seed=(number,), digest="")
        )
        return number

    worst = max(range(60 if ALL else 20), key=lambda number: violations(trial, 12 if constant(number) == number else 0))
    constant(worst)
    assert not is_at_most(violations(trial, 100), 100, DELTA)
