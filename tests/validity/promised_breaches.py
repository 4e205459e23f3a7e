"""What promises do not allow, beside controls: thresholds, groups and orders that are chosen by the counted rows.

All votes are fixed beforehand, so that what is counted of rows is binomial.
"""

import numpy as np
from honest import DELTA
from study import Case, Row

from certivote.maths.betting import betting_upper
from certivote.theory.bounds import holdout

LEVEL = float(np.log(DELTA))
PLACES = 20
"""Thresholds or groups to choose from."""


def conditions(n, rng):
    """In pure noise, whether each row is wrong, and above how many of the thresholds its score is."""
    return rng.random(n) < 0.5, rng.integers(1, PLACES + 1, size=n)


def bounds_of(wrong, places, level):
    """The bound on the error among rows that are answered, from the surest on."""
    found = []
    for place in np.unique(places[places > 0])[::-1]:
        among = wrong[places >= place]
        found.append(holdout(int(among.sum()), len(among), level))
    return found


def best_threshold(paid):
    """The threshold with the smallest bound of all, whether each has its part of delta or not."""

    def trial(rng):
        bounds = bounds_of(*conditions(100, rng), DELTA / PLACES if paid else DELTA)
        return [(min(bounds), 0.5)]

    return trial


def sequence(stops):
    """Thresholds with a bound of at most 0.48: only if the first has one, or wherever there is one."""

    def trial(rng):
        wrong, places = conditions(100, rng)
        if stops:
            places = np.where(places > PLACES // 2, PLACES, 0)  # half of the rows at first, and no more is needed
        claimed = min(bounds_of(wrong, places, DELTA)) <= 0.48
        return [(0.48 if claimed else 1.0, 0.5)]

    return trial


def two_steps(smaller):
    """Two thresholds, tested one after the other; promised is the target, or the smaller bound of the last that holds.

    A fifth of the rows are sure: 5 % of these are wrong, 11.9 % of the others, and 10.5 % of all. The target is 10.6 %.
    """
    target, first, whole = 0.106, 0.05, 0.2 * 0.05 + 0.8 * 0.11875

    def trial(rng):
        sure = rng.random(400) < 0.2
        wrong = rng.random(400) < np.where(sure, first, 0.11875)
        bounds = [holdout(int(wrong[rows].sum()), int(rows.sum()), DELTA) for rows in (sure, sure | True)]
        if bounds[0] > target:
            return []
        last = int(bounds[1] <= target)
        return [(bounds[last] if smaller else target, (first, whole)[last])]

    return trial


def coverage(paid):
    """No answer is ever wrong, and a small error is certified where enough rows are answered.

    Of two thresholds, the rows say which is in force. Its coverage pays for both, or not.
    """
    shares = np.array([0.2, 0.5])

    def trial(rng):
        places = rng.random(300)
        answered = [int((places < share).sum()) for share in shares]
        last = int(holdout(0, answered[1], DELTA) <= 0.0102)
        level = DELTA / 2 if paid else DELTA
        return [(holdout(300 - answered[last], 300, level), 1.0 - shares[last])]

    return trial


def best_group(paid):
    """Of many groups, the one with the smallest bound is shown."""

    def trial(rng):
        wrong, groups = conditions(600, rng)
        level = DELTA / PLACES if paid else DELTA
        sizes = [wrong[groups == group + 1] for group in range(PLACES)]
        return [(min(holdout(int(rows.sum()), len(rows), level) for rows in sizes if len(rows)), 0.5)]

    return trial


def costs_in_order(ascending):
    """Bets on costs of 0, 0.2 or 1 a row, in a random order or with small costs first."""

    def trial(rng):
        costs = rng.choice([0.0, 0.2, 1.0], p=[0.5, 0.3, 0.2], size=100)
        return [(betting_upper(np.sort(costs) if ascending else costs, LEVEL, LEVEL), 0.26)]

    return trial


def promised_breaches():
    noise = "pure noise"
    for setting, world, n, runs, make in (
        ("best threshold of {PLACES}", noise, 100, 300, best_threshold),
        ("best group of {PLACES}", noise, 600, 300, best_group),
        ("coverage of the threshold in force", "no errors", 300, 3000, coverage),
    ):
        words = setting.format(PLACES=PLACES)
        yield Case((Row("broken", "promises", f"{words}, not paid for", world, n, DELTA),), runs, make(False))
        yield Case((Row("control", "promises", f"{words}, paid for", world, n, DELTA),), max(runs, 500), make(True))
    for breach, control, world, n, runs, make in (
        ("thresholds tested without stopping", "thresholds tested in sequence", noise, 100, 300, sequence),
        (
            "bets on costs, small ones first",
            "bets on costs in random order",
            "mean cost 0.26",
            100,
            200,
            costs_in_order,
        ),
    ):
        yield Case((Row("broken", "promises", breach, world, n, DELTA),), runs, make(make is costs_in_order))
        yield Case((Row("control", "promises", control, world, n, DELTA),), 600, make(make is sequence))
    for smaller, part, words in ((True, "broken", "the smaller bound"), (False, "control", "the target")):
        setting = f"{words} of a sequence is promised"
        yield Case((Row(part, "promises", setting, "errors of 5 % and 10.5 %", 400, DELTA),), 1500, two_steps(smaller))
