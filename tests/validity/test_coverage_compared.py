"""Coverage of the differences of two models, by adding up all outcomes of few rows; and by chance, of entities."""

import numpy as np
import pytest
from compared import WORLDS, by_entities, by_the_normal, exact_rate
from honest import DELTA


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("n", [10, 22])
def test_the_limits_fail_at_most_as_often_as_promised(world, n):
    rate = exact_rate(WORLDS[world], n)
    assert rate <= DELTA
    if world == "all discordant, equal errors":
        assert rate > DELTA / 10


def test_the_limits_of_entities_fail_at_most_as_often_as_promised():
    rng = np.random.default_rng(0)
    pairs = [by_entities(WORLDS["unequal errors"], 30, 4)(rng)[0] for _ in range(120)]
    assert sum(truth > bound for bound, truth in pairs) <= 120 * DELTA


def test_the_usual_limits_are_caught():
    rng = np.random.default_rng(0)
    pairs = [by_the_normal((0.03, 0.0), 20)(rng)[0] for _ in range(300)]
    assert sum(truth > bound for bound, truth in pairs) > 1.5 * DELTA * 300
