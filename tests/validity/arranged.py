"""Files in which where a row stands, or what it is called, goes with the errors: nothing random may follow from either.

The rows are drawn as everywhere, then sorted. A split, an order of bets or a set of rows put aside that were a function
of a seed and of positions or names would be one constant permutation, and a sorted file could defeat it. Every setting
is repeated with fresh entropy in every run, and with numbers as seeds: the promise is then one on average over seeds,
and each run takes one of 200.
"""

from functools import partial

import numpy as np
from honest import STUMPS, TREES
from study import Case, Row
from worlds import World, furthest

from certivote import certify_predictions
from certivote.pipeline import make_plan, run
from certivote.promises import Abstention, Costs

DELTA = 0.05
SEEDS = 200
FRESH, NUMBERS = "fresh seeds", f"{SEEDS} numbers as seeds"
ROWS_EACH = 2


def seed_from(how, rng):
    """The ``random_state`` of a run; None takes fresh numbers, in the study those that its generator makes."""
    return int(rng.integers(SEEDS)) if how == NUMBERS else None


def answers_to(y, wrong):
    return np.where(wrong, 1 - y, y)


def of_entities(wrong, names, y, how, rng):
    """The bound for a fixed model that is right or wrong on all rows of an entity."""
    seed = seed_from(how, rng)
    y, wrong, names = (np.repeat(each, ROWS_EACH) for each in (y, wrong, names))
    return certify_predictions(y, answers_to(y, wrong), DELTA, names, random_state=seed).bound


def numbered_by_loss(m, error, errors_first, how):
    """Entities 1 to m, sorted by whether the model errs on them."""

    def trial(rng):
        wrong = np.sort(rng.random(m) < error)[:: -1 if errors_first else 1]
        return [(of_entities(wrong, np.arange(1, m + 1), np.arange(m) % 2, how, rng), error)]

    return trial


def controls_first(m, missed, how):
    """Entities 1 to m, controls first; the model misses so many of the cases and errs on no control."""

    def trial(rng):
        y = np.sort(rng.integers(2, size=m))
        wrong = (y == 1) & (rng.random(m) < missed)
        return [(of_entities(wrong, np.arange(1, m + 1), y, how, rng), missed / 2)]

    return trial


def numbered_by_covariate(m, steepest, how):
    """Entities are numbered by a covariate, with which errors become more frequent; their rows stand in any order."""

    def trial(rng):
        covariates = np.sort(rng.random(m))
        wrong = rng.random(m) < steepest * covariates
        mixed = rng.permutation(m)
        y = rng.integers(2, size=m)
        return [(of_entities(wrong[mixed], 1 + mixed, y, how, rng), steepest / 2)]

    return trial


def blind_world(share):
    """All rows look alike, and the second class has this share: a vote says one class always."""
    return World(np.zeros((1, 3)), np.ones(1), np.array([[1.0 - share, share]]))


def fitting(n, share, how, grouped=False, **options):
    """A fit to a file sorted by class; with ``grouped``, to entities 1 to n of two rows each."""
    truth = blind_world(share)

    def trial(rng):
        X, y = truth.sample(n, rng)
        X, y = X[np.argsort(y, kind="stable")], np.sort(y)
        if len(np.unique(y)) < 2:
            return []  # refused
        groups = None
        if grouped:
            X, y, groups = (np.repeat(each, ROWS_EACH, axis=0) for each in (X, y, np.arange(1, n + 1)))
        seed = seed_from(how, rng)
        outcome = run(make_plan(**options, delta=DELTA, random_state=seed), X, y, groups=groups)
        return [(outcome.certificate.bound, truth.risk(outcome))]

    return trial


COSTS = Costs({("0", "1"): 1.0, ("0", "2"): 2.0, ("1", "0"): 4.0, ("1", "2"): 1.0, ("2", "0"): 2.0, ("2", "1"): 1.0})


def by_bets(n, share, how):
    """The expected cost, certified by bets, of a model whose costly errors stand last in the file."""

    def trial(rng):
        costly = np.sort(rng.random(n) < share)
        y = np.where(costly, 1, np.arange(n) % 3)
        said = np.where(costly, 0, y)
        seed = seed_from(how, rng)
        costs = certify_predictions(y, said, DELTA, promises=[COSTS], random_state=seed).promises[-1]
        return [(costs.value, 4.0 * share)]

    return trial


def set_aside(n, error, how):
    """The error among the answered at any threshold, which rows set aside have fixed: scores say nothing of errors."""

    def trial(rng):
        wrong = np.sort(rng.random(n) < error)
        y, scores = np.arange(n) % 2, rng.random(n)
        seed = seed_from(how, rng)
        record = certify_predictions(
            y, answers_to(y, wrong), DELTA, scores=scores, promises=[Abstention(curve=3)], random_state=seed
        ).promises[-1]
        return [furthest([(each.bound, error) for each in record.statements if "error" in each.kind])]

    return trial


def settings():
    """Method, setting, world, size and runs, and a trial that asks where its seed comes from.

    Error rates are those at which, with such a file, one constant order or division failed most often.
    """
    by_loss = "entities numbered by their loss, errors {}"
    for where, m, error in (("last", 35, 0.15), ("first", 60, 0.57), ("first", 300, 0.16)):
        trial = partial(numbered_by_loss, m, error, where == "first")
        yield "certify", by_loss.format(where), f"true error {error:g}", m, trial
    for m, missed in ((35, 0.6), (300, 0.2)):
        where = f"{missed:.0%} of the cases missed"
        yield "certify", "entities numbered, controls first", where, m, partial(controls_first, m, missed)
    for m, steepest in ((35, 0.7), (300, 0.4)):
        where = f"errors rise from 0 to {steepest:g}"
        yield "certify", "entities numbered by a covariate", where, m, partial(numbered_by_covariate, m, steepest)
    blind = "all rows alike, {:.0%} of the second class"
    fixed = {"method": "holdout", "voters": STUMPS, "split": "none", "grouped": True}
    trial = partial(fitting, 35, 0.15, **fixed)
    yield "holdout", "split none, entities numbered and sorted by class", blind.format(0.15), 35, trial
    trial = partial(fitting, 70, 0.35, method="holdout", voters=TREES, split="single")
    yield "holdout", "split single, sorted by class", blind.format(0.35), 70, trial
    yield "certify", "costs by bets, sorted by loss", "30% of the answers cost 4", 25, partial(by_bets, 25, 0.3)
    for n, error in ((60, 0.5), (200, 0.05)):
        trial = partial(set_aside, n, error)
        yield "certify", "a fifth set aside, sorted by loss", f"true error {error:g}", n, trial


def arranged_cases():
    for method, setting, where, n, trial in settings():
        for how in (FRESH, NUMBERS):
            row = Row("arranged", method, f"{setting}; {how}", where, n, DELTA)
            # Bets that need no order, and sets aside, are far from delta; the others come near to it, and a tail of few
            # rows that is divided the nearest.
            near = "aside" not in setting and (how == FRESH or method == "holdout")
            runs = 32_000 if "split single" in setting else 8000 if near else 1000
            yield Case((row,), runs, trial(how=how))
