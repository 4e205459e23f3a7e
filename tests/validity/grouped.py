"""Rows that belong to entities, in worlds where the truth is known: every kind of bound, and breaches beside controls.

What is promised is about a random row of a new entity, and ``n`` is the number of entities. In pure noise every vote
errs on half of the rows of a random entity.
"""

from functools import cache

import numpy as np
from grouped_worlds import clean_answers, mixture, one_fate, own_noise
from honest import DELTA, GROVE, ON_STUMPS, PURE, TREES, named, strangers, world
from sklearn.tree import DecisionTreeClassifier
from study import Case, Row

from certivote import certify_predictions
from certivote.maths.betting import betting_upper
from certivote.pipeline import make_plan, run
from certivote.theory.entities import mean_loss
from certivote.theory.methods import METHODS
from certivote.theory.theorems import Setting

EQUAL, UNEQUAL = [5, 5, 5], [1, 4, 25]
WORLDS = {
    "one fate, 5 rows each, pure noise": lambda: one_fate(world(0.5), EQUAL),
    "one fate, 20 rows each, pure noise": lambda: one_fate(world(0.5), [20]),
    "one fate, 5 rows each, error 0.1": lambda: one_fate(world(0.1), EQUAL),
    "one fate, 1 to 25 rows, error 0.1": lambda: one_fate(world(0.1), UNEQUAL),
    "one fate, 1 row if wrong and 20 if right, error 0.1": lambda: one_fate(world(0.1), [1], [20]),
    "one fate, 20 rows if wrong and 1 if right, error 0.1": lambda: one_fate(world(0.1), [20], [1]),
    "slightly alike, 5 rows each, pure noise": lambda: own_noise([world(0.4), world(0.6)], [EQUAL, EQUAL]),
    "slightly alike, 1 to 25 rows, error 0.1": lambda: own_noise([world(0.05), world(0.15)], [UNEQUAL, UNEQUAL]),
    "half of one fate, 1 to 25 rows, pure noise": lambda: mixture(
        one_fate(world(0.5), UNEQUAL), own_noise([world(0.4), world(0.6)], [UNEQUAL, UNEQUAL])
    ),
    "noise 0.1 with 20 rows or 0.9 with 1": lambda: own_noise([world(0.1), world(0.9)], [[20], [1]]),
    "3 classes, one fate, 1 to 25 rows, pure noise": lambda: one_fate(world(PURE[3], 3), UNEQUAL),
}
"""How the rows of an entity depend on each other, and how many there are."""


@cache
def grouped_world(name):
    return WORLDS[name]()


def fit(X, y, groups, seed, **options):
    """What an estimator with these parameters would do."""
    return run(make_plan(**options, delta=DELTA, random_state=seed), X, y, groups=groups)


def seed_from(rng):
    return int(rng.integers(2**31))


# Votes that were fixed beforehand


def betting(name, m):
    """The theorem alone, on the losses of a fixed vote."""
    theorem, setting = METHODS["holdout"].by_entity().theorem, Setting(DELTA, 1.5, "exact")

    def trial(rng):
        truth = grouped_world(name)
        answers = clean_answers(truth)
        losses = truth.losses(answers, m, rng)
        bound = theorem.bound((mean_loss(losses), *losses.tolist()), 0.0, m, setting)
        return [(bound, truth.risk_of_answers(answers))]

    return trial


def predictions(name, m):
    """``certify_predictions`` with groups: its bound, and the worst of its statements about classes."""

    def trial(rng):
        truth = grouped_world(name)
        X, y, groups = truth.sample(m, rng)
        answers = clean_answers(truth)
        certificate = certify_predictions(y, (X.sum(axis=1) >= 3).astype(int), DELTA, groups)
        if len(certificate.classes) < truth.rows.shape[2]:
            return []
        return [
            (certificate.bound, truth.risk_of_answers(answers)),
            truth.worst_statement_of_answers(certificate, answers),
        ]

    return trial


def told(name, m):
    """The names of entities, and the order of the rows, tell who has errors: neither is that of the bets."""

    def trial(rng):
        truth = grouped_world(name)
        X, y, groups = truth.sample(m, rng)
        predicted = (X.sum(axis=1) >= 3).astype(int)
        losses = losses_of(groups, predicted != y)
        names = np.array(
            [f"{loss:g}-{number}" for loss, number in zip(losses, rng.integers(2**62, size=m), strict=True)]
        )
        rows = np.argsort(losses[groups], kind="stable")
        certificate = certify_predictions(y[rows], predicted[rows], DELTA, names[groups][rows])
        return [(certificate.bound, truth.risk_of_answers(clean_answers(truth)))]

    return trial


def losses_of(groups, wrong):
    return np.bincount(groups, weights=wrong) / np.bincount(groups)


# Votes that are learned on entities


def fitting(name, m, options):
    """The deployed vote, the average where there are several, and the worst of the statements about classes."""

    def trial(rng):
        truth = grouped_world(name)
        X, y, groups = truth.sample(m, rng)
        seed = seed_from(rng)
        if len(np.unique(y)) < truth.rows.shape[2]:
            return []  # refused, or without statements about all classes
        outcome = fit(X, y, groups, seed, **options)
        certificate = outcome.certificate
        risks = [truth.risk_of_part(outcome, number) for number in range(len(outcome.parts))]
        pairs = [(certificate.bound, risks[certificate.deployed])]
        if certificate.average_bound is not None:
            pairs.append((certificate.average_bound, float(np.dot(certificate.average_weights, risks))))
        return [*pairs, truth.worst_statement(outcome)]

    return trial


def patients(m, size, rng, jitter=1e-3):
    """Patients with nearly equal rows and one label each, which nothing can tell: true error 1/2 on a new patient."""
    groups = np.repeat(np.arange(m), size)
    X = rng.random((m, 3))[groups] + jitter * rng.standard_normal((m * size, 3))
    return X, rng.integers(2, size=m)[groups], groups


def fitting_patients(m, size, options, with_groups=True):
    def trial(rng):
        X, y, groups = patients(m, size, rng)
        seed = seed_from(rng)
        if len(np.unique(y)) < 2:
            return []
        outcome = fit(X, y, groups if with_groups else None, seed, **options)
        return [(outcome.certificate.bound, 0.5)]

    return trial


# Breaches


def ignored(name, m, one_by_one):
    """Rows are taken as independent: without groups, or each as an entity of its own."""

    def trial(rng):
        truth = grouped_world(name)
        X, y, _ = truth.sample(m, rng)
        groups = np.arange(len(y)) if one_by_one else None
        certificate = certify_predictions(y, (X.sum(axis=1) >= 3).astype(int), DELTA, groups)
        return [(certificate.bound, truth.risk_of_answers(clean_answers(truth)))]

    return trial


def best_order(name, m, orders):
    """The smallest bound of so many orders of the bets."""

    def trial(rng):
        truth = grouped_world(name)
        answers = clean_answers(truth)
        losses, level = truth.losses(answers, m, rng), np.log(DELTA)
        bounds = [betting_upper(rng.permutation(losses), level, level) for _ in range(orders)]
        return [(min(bounds), truth.risk_of_answers(answers))]

    return trial


FATE, FATE_RARE = "one fate, 5 rows each, pure noise", "one fate, 5 rows each, error 0.1"
LONG_FATE = "one fate, 20 rows each, pure noise"
ALIKE, HALF = "slightly alike, 5 rows each, pure noise", "half of one fate, 1 to 25 rows, pure noise"
MANY_WRONG = "one fate, 20 rows if wrong and 1 if right, error 0.1"
FEW_WRONG = "one fate, 1 row if wrong and 20 if right, error 0.1"
ALIKE_RARE, TWO_KINDS = "slightly alike, 1 to 25 rows, error 0.1", "noise 0.1 with 20 rows or 0.9 with 1"
THREE = "3 classes, one fate, 1 to 25 rows, pure noise"
FOREST = {"method": "auto", "voters": GROVE, "split": "single"}
TREE = {"method": "holdout", "voters": [DecisionTreeClassifier(max_features=1, random_state=0)], "split": "single"}


def rows_of(method, setting, where, m, *others):
    return tuple(Row("entities", method, f"{setting}{other}", where, m, DELTA) for other in ("", *others))


def grouped_cases():
    for where in (FATE, FATE_RARE, ALIKE, ALIKE_RARE, HALF, TWO_KINDS):
        # Bets come near to delta, with few entities above all.
        for m, runs in ((20, 4000), (50, 2000), (100, 2000), (300, 2000), (1000, 1500)):
            yield Case(rows_of("holdout", "fixed vote", where, m), runs, betting(where, m))
    for where, m in (
        (FATE, 20),
        (ALIKE_RARE, 20),
        (HALF, 50),
        (TWO_KINDS, 50),
        (FEW_WRONG, 100),
        (MANY_WRONG, 100),
        (THREE, 100),
        (FATE, 300),
    ):
        rows = rows_of("holdout", "certify_predictions", where, m, ": by class")
        yield Case(rows, 2000 if where in (FEW_WRONG, MANY_WRONG) else 1000, predictions(where, m))
    setting = "certify_predictions, names and order of rows tell the errors"
    yield Case(rows_of("holdout", setting, FATE, 50), 1000, told(FATE, 50))
    yield from learned_cases()
    yield from trained_cases()


def learned_cases():
    """Weights learned on entities, with voters that are given."""
    plans = [("dis-b", where, 23, 250) for where in (FATE, ALIKE, HALF, TWO_KINDS)]
    plans += [("dis-b", FATE_RARE, 100, 60), ("dis-b", THREE, 46, 200)]
    plans += [("dis-r", where, m, 60) for where, m in ((FATE, 23), (HALF, 23), (TWO_KINDS, 50), (FATE, 300))]
    plans += [("smv-exact", where, 23, 50) for where in (FATE, HALF, TWO_KINDS)]
    plans += [("fo", where, 23, 50) for where in (FATE, TWO_KINDS)]
    for method, where, m, runs in plans:
        options = {"method": method, **ON_STUMPS, "prior": 0.5}
        if where == THREE:
            options["voters"] = strangers(3)
        rows = rows_of(method, "split none", where, m, ": by class")
        yield Case(rows, runs, fitting(where, m, options))


def trained_cases():
    """Voters trained on other entities."""
    for method, split, m, runs in (
        ("holdout", "single", 46, 600),
        ("holdout", 3, 72, 400),
        ("dis-b", "cross", 46, 100),
    ):
        options = {"method": method, "voters": TREES, "split": split, "prior": 0.5}
        others = [": by class"] if split == "single" else [": average", ": by class"]
        yield Case(rows_of(method, named(split), HALF, m, *others), runs, fitting(HALF, m, options))
    where = "patients, pure noise, 3 nearly equal rows each"
    yield Case(rows_of("auto", "forest, informed prior", where, 46), 600, fitting_patients(46, 3, FOREST))
    setting = "forest, training share by the learning curve"
    yield Case(rows_of("auto", setting, where, 200), 400, fitting_patients(200, 3, FOREST))


def grouped_breaches():
    """Entities not given, or given falsely, beside controls."""

    def row(part, method, setting, where, m):
        return (Row(part, method, setting, where, m, DELTA),)

    where = "patients, pure noise, 10 nearly equal rows each"
    for method, setting, m, options in (
        ("auto", "fit without groups, parts as a look at few rows says", 100, {**FOREST, "split": "auto"}),
        ("holdout", "fit without groups", 800, TREE),
    ):
        trial = fitting_patients(m, 10, options, with_groups=False)
        yield Case(row("broken", method, setting, where, m), 30, trial)
    yield Case(row("control", "holdout", "fit with groups", where, 46), 400, fitting_patients(46, 10, TREE))
    where = LONG_FATE
    for setting, one_by_one in (("certify_predictions without groups", False), ("every row is an entity", True)):
        yield Case(row("broken", "holdout", setting, where, 20), 400, ignored(where, 20, one_by_one))
    yield Case(row("broken", "holdout", "best of 50 orders of the bets", where, 50), 200, best_order(where, 50, 50))
    yield Case(row("control", "holdout", "one order of the bets", where, 50), 2000, best_order(where, 50, 1))
