"""Differences of two models whose errors are known: few rows and many, ties, all rows discordant, and none."""

import itertools
from dataclasses import replace
from functools import cache

import numpy as np
from honest import DELTA
from scipy import stats
from study import Case, Row
from worlds import furthest

from certivote.pipeline import make_plan
from certivote.pipeline._differences import make_differences
from certivote.theory.entities import Entities

SIZES = (10, 20, 50, 100, 250, 1000)
WORLDS = {
    "none discordant": (0.0, 0.0),
    "few discordant, equal errors": (0.03, 0.03),
    "all discordant, equal errors": (0.5, 0.5),
    "unequal errors": (0.02, 0.12),
    "one is always right": (0.1, 0.0),
}
"""Probabilities that the first alone is wrong, and the second alone."""
RUNS = {1000: 10_000}


def two_models():
    """What is done with the answers of two models: the certificate's own plan for them."""
    return replace(make_plan(split="none", delta=DELTA), n_candidates=3)


def limits_of(first, second, entities=None):
    """Both limits of the certificate, from the rows at which each model is wrong."""
    (found,) = make_differences(two_models(), {"a": first, "b": second}, entities, None)
    return found.lower, found.upper


@cache
def limits_of_counts(first_only, second_only, n):
    rows = np.arange(n)
    return limits_of(rows < first_only, (rows >= first_only) & (rows < first_only + second_only))


def by_rows(rates, n):
    """The limit that is the furthest from being true; the lower one with its sign changed."""
    truth = rates[0] - rates[1]

    def trial(rng):
        first, second, _ = rng.multinomial(n, [*rates, max(1.0 - sum(rates), 0.0)]).tolist()
        lower, upper = limits_of_counts(first, second, n)
        return [furthest([(upper, truth), (-lower, -truth)])]

    return trial


def by_entities(rates, entities, rows):
    """Entities of several rows, all of them alike: what happens at one, happens at most others."""
    truth = rates[0] - rates[1]

    def trial(rng):
        kinds = np.repeat(rng.choice(3, size=entities, p=[*rates, 1.0 - sum(rates)]), rows)
        groups = Entities(np.repeat(rng.permutation(entities), rows))
        lower, upper = limits_of(kinds == 0, kinds == 1, groups)
        return [furthest([(upper, truth), (-lower, -truth)])]

    return trial


def by_the_normal(rates, n):
    """The usual limits, of the normal distribution with the variance that was seen."""
    truth = rates[0] - rates[1]

    def trial(rng):
        first, second, _ = rng.multinomial(n, [*rates, 1.0 - sum(rates)]).tolist()
        seen = (first - second) / n
        half = stats.norm.isf(DELTA / 2.0) * np.sqrt(((first + second) / n - seen**2) / n)
        return [furthest([(seen + half, truth), (half - seen, -truth)])]

    return trial


def row(setting, where, n, part="given"):
    return (Row(part, "difference", setting, where, n, DELTA),)


def compared_cases():
    for n, (name, rates) in itertools.product(SIZES, WORLDS.items()):
        yield Case(row("two models", name, n), RUNS.get(n, 20_000), by_rows(rates, n))
    for name in ("few discordant, equal errors", "unequal errors"):
        yield Case(row("two models, entities", name, 30), 2_000, by_entities(WORLDS[name], 30, 4))


def compared_breaches():
    name = "one is always right, the other mostly"
    yield Case(row("limits by the normal distribution", name, 20, "broken"), 2_000, by_the_normal((0.03, 0.0), 20))


def exact_rate(rates, n):
    """The probability that either limit fails, by adding up all outcomes."""
    truth, total = rates[0] - rates[1], 0.0
    for first, second in itertools.product(range(n + 1), repeat=2):
        if first + second <= n:
            lower, upper = limits_of_counts(first, second, n)
            chance = stats.multinomial.pmf([first, second, n - first - second], n, [*rates, 1.0 - sum(rates)])
            total += chance * (not lower <= truth <= upper)
    return float(total)
