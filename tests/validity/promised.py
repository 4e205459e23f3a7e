"""Promises about votes in worlds where the truth is known: drawn, fixed and given votes, adversaries, whole fits.

A run violates a promise if anything that it says is not so. What is counted is the furthest from being true of all that
one promise says: errors, answers, alarms, sets, groups and their gap, costs.
"""

import math
from functools import cache

import numpy as np
import pandas as pd
from grouped_worlds import one_fate, own_noise
from honest import DELTA, TREES
from options import as_objects
from promised_worlds import FEATURES, PromisedWorld, Said, rows_alone, scattered, truths
from sklearn.tree import DecisionTreeClassifier
from study import Case, Row
from worlds import furthest

from certivote import certify, certify_predictions
from certivote.pipeline import make_plan, run
from certivote.pipeline._promises import OutOfSampleRows, PromiseData, make_promises
from certivote.pipeline._streams import Seed, Streams
from certivote.promises import (
    Abstention,
    Costs,
    Precision,
    PredictionSets,
    Sensitivity,
    Subgroups,
    by_theorem,
    count_votes,
    margins,
    stated,
)
from certivote.theory.entities import Entities
from certivote.theory.families import DIRICHLET
from certivote.theory.predictors import Vote
from certivote.voters import OutOfSampleVotes
from certivote.votes import build_votes, fixed_point, plurality

CASES, VOTERS = 60, 15
ADVERSARY = 4
"""Votes that an adversary chooses from."""
NOTHING = (1.0, 0.0)
"""A promise that says nothing is not violated."""


def asked(max_error, share, n_classes=2):
    """A list of promises: the error among the answered that is sought, and the share that must be found or held."""
    costs = {(str(true), str(said)): 1.0 + 2.0 * true for true in range(n_classes) for said in range(n_classes)}
    promises = {
        "precision": Precision(),
        "abstention": Abstention(max_error=max_error),
        "abstention as a curve": Abstention(curve=5),
        "sensitivity": Sensitivity(at_least=share, label="1"),
        "sets": PredictionSets(share),
        "sets by class": PredictionSets(share, by_class=True),
        "subgroups": Subgroups("site", "age", bins=3),
        "costs": Costs({pair: cost for pair, cost in costs.items() if pair[0] != pair[1]}),
    }
    if n_classes > 2:
        del promises["sensitivity"]
    return promises


NOISE, KNOWING, THREE = "pure noise", "votes that know a little", "3 classes, pure noise"
FATE, ALIKE = "one fate, 1 to 6 rows, pure noise", "slightly alike, 1 to 6 rows, pure noise"
SIZES = [1, 3, 6]
PROMISED = {
    NOISE: asked(0.48, 0.8),
    KNOWING: asked(0.12, 0.85),
    THREE: asked(0.64, 0.8, 3),
    FATE: asked(0.48, 0.8),
    ALIKE: asked(0.48, 0.8),
}
"""What is promised in each world: mostly a little more than is so, and then any claim of a target is wrong."""


@cache
def promised_world(name):
    if name == THREE:
        return rows_alone(*scattered(CASES, VOTERS, 0.0, 2 / 3, 3))
    if name == KNOWING:
        return rows_alone(*scattered(CASES, VOTERS, 0.4, 0.05))
    world, answers = scattered(CASES, VOTERS, 0.0, 0.5)
    if name == NOISE:
        return rows_alone(world, answers)
    if name == FATE:
        return PromisedWorld(one_fate(world, SIZES), answers, alone=False)
    kinds = [scattered(CASES, VOTERS, 0.0, noise)[0] for noise in (0.4, 0.6)]
    return PromisedWorld(own_noise(kinds, [SIZES, SIZES]), answers, alone=False)


@cache
def weights_of(count):
    """Weight vectors that were fixed long ago, one a row."""
    log_weights = np.log(np.random.default_rng(5).dirichlet(np.full(VOTERS, 0.5), size=count) + 1e-12)
    return np.stack([fixed_point(row) for row in log_weights])


@cache
def said_by(where, count, number):
    """What one of these votes says of every case."""
    world = promised_world(where)
    return _said(build_votes(codes=world.answers, n_classes=world.n_classes).masses(weights_of(count)[number]))


def _said(masses):
    return Said(plurality(masses), masses, margins(masses))


def worst(records, bound, said, world, together):
    """Of each promise, what is the furthest from being true; of all and the bound, if they hold together."""
    each = [truths(record, said, world) for record in records]
    if not together:
        return [furthest(pairs) if pairs else NOTHING for pairs in each[1:]]
    everything = [pair for pairs in each for pair in pairs]
    wrong = world.share(*_errors(said, world))
    return [furthest([(bound, wrong), *everything])]


def _errors(said, world):
    wrong = np.arange(world.n_classes) != said.answers[:, None]
    return np.ones_like(wrong), wrong


# Votes of a finite hyper-prior, one of which the posterior is sure of


def chosen(method, where, n, count=1, trained=False, together=False):
    """The vote, of so many equally likely ones, of which a promise is the furthest from being true.

    A posterior that is sure of one of them may look at everything. Its ratio at the draw is their number, as are its
    divergences; for dis-b the price list has its atom there.
    """
    nats = math.log(count)
    promises = list(PROMISED[where].values())
    options = {"method": method, "voters": TREES, "split": "none", "delta": DELTA, "together": together}
    plan = make_plan(**as_objects(**options, price_list=[(nats, 0.95)]), promises=promises)

    def trial(rng):
        world = promised_world(where)
        cases, labels, groups = world.sample(n, rng)
        seed = int(rng.integers(2**31))
        here = plan if groups is None else plan.by_entity()
        entities = None if groups is None else Entities(groups)
        votes = build_votes(codes=world.answers[cases], n_classes=world.n_classes)
        data = PromiseData(columns=world.column_of(cases), **(_training(world, rng) if trained else {}))
        (setting,) = here.settings()
        penalty = 0.0 if count == 1 else here.method.theorem.price(nats, setting)
        found = []
        for number in range(count):
            vote = Vote(DIRICHLET, np.empty(0), np.empty(0), weights_of(count)[number])
            counted = count_votes(here.method, "plurality", votes, labels, vote, rng, entities)
            theorem = by_theorem(here.method.theorem, setting, penalty)
            bound = stated(counted.evidence(setting.delta), setting.delta, theorem, "error").bound
            names = np.arange(world.n_classes)
            records = make_promises(
                here, counted, data, names, setting, penalty, Streams(Seed((seed,), fresh=False), "")
            )
            found.append(worst(records, bound, said_by(where, count, number), world, together))
        return [furthest(pairs) for pairs in zip(*found, strict=True)]

    return trial


def _training(world, rng):
    """Other rows that fix thresholds and groups."""
    cases, labels, groups = world.sample(40, rng)
    votes = OutOfSampleVotes(build_votes(codes=world.answers[cases], n_classes=world.n_classes), np.arange(VOTERS))
    entities = None if groups is None else Entities(groups)
    columns = world.column_of(cases)
    return {"training": columns, "out_of_sample": lambda: OutOfSampleRows(votes, labels, columns, entities)}


# Whole fits, and given models


def table(X):
    return pd.DataFrame(X, columns=list(FEATURES))


STRANGERS = 6


@cache
def strangers(where):
    """Trees fitted on made-up labels, long before any sample."""
    world, rng = promised_world(where), np.random.default_rng(8)
    X = table(world.grouped.X)
    trees = [DecisionTreeClassifier(max_depth=4, max_features=1, random_state=k) for k in range(STRANGERS)]
    return [tree.fit(X, rng.permutation(np.arange(CASES) % world.n_classes)) for tree in trees]


def fitted(where, n, together=False, **options):
    """What an estimator with these parameters would do."""
    promises = list(PROMISED[where].values())

    def trial(rng):
        world = promised_world(where)
        cases, labels, groups = world.sample(n, rng)
        seed = int(rng.integers(2**31))
        if len(np.unique(labels)) < world.n_classes:
            return []  # refused, or without promises about all classes
        voters = strangers(where) if options["split"] == "none" else TREES
        plan = make_plan(
            **as_objects(**options, voters=voters, delta=DELTA, together=together, prior=0.5),
            promises=promises,
            random_state=seed,
        )
        outcome = run(plan, table(world.grouped.X[cases]), labels, groups=groups)
        deployed = outcome.deployed
        said = _said(deployed.voters.votes(world.grouped.X).masses(deployed.vote.weights))
        certificate = outcome.certificate
        return worst(certificate.promises, certificate.bound, said, world, together)

    return trial


class Model:
    """A model that somebody else has trained: one of the fixed votes."""

    def __init__(self, said):
        self.said, self.classes_ = said, np.arange(said.masses.shape[1])

    def predict(self, X):
        return self.said.answers[np.asarray(X)[:, 0].astype(int)]

    def predict_proba(self, X):
        return self.said.masses[np.asarray(X)[:, 0].astype(int)]


def names_for(where, models):
    """Promises that can be made about so many given models: how sure they are means something for one only."""
    return [name for name, each in PROMISED[where].items() if models == 1 or each.needs == "answers"]


def given(where, n, models=1, together=False):
    """``certify`` with one model, or with several of which the best is kept."""
    promises = [PROMISED[where][name] for name in names_for(where, models)]

    def trial(rng):
        world = promised_world(where)
        cases, labels, groups = world.sample(n, rng)
        seed = int(rng.integers(2**31))
        if len(np.unique(labels)) < world.n_classes:
            return []
        given = {f"model {k}": Model(said_by(where, models, k)) for k in range(models)}
        X, options = table(world.grouped.X[cases]), {"promises": promises, "together": together, "random_state": seed}
        certificate = certify(given if models > 1 else given["model 0"], X, labels, DELTA, groups, **options)
        if any(each.chosen for each in certificate.candidates) or models == 1:
            (best,) = [k for k in range(models) if models == 1 or certificate.candidates[k].chosen]
            said = said_by(where, models, best)
        else:  # their vote
            answers = np.stack([said_by(where, models, k).answers for k in range(models)], axis=1)
            weights = fixed_point(np.array(certificate.deployed_part.log_weights))
            said = _said(build_votes(codes=answers, n_classes=world.n_classes).masses(weights))
        return worst(certificate.promises, certificate.bound, said, world, together)

    return trial


def scored(where, n):
    """``certify_predictions`` with a score of how sure each answer is."""
    names = ("precision", "abstention", "abstention as a curve", "subgroups", "costs")
    promises = [PROMISED[where][name] for name in names]

    def trial(rng):
        world, said = promised_world(where), said_by(where, 1, 0)
        cases, labels, groups = world.sample(n, rng)
        seed = int(rng.integers(2**31))
        if len(np.unique(labels)) < world.n_classes:
            return []
        options = {"scores": said.scores[cases], "table": table(world.grouped.X[cases]), "promises": promises}
        certificate = certify_predictions(labels, said.answers[cases], DELTA, groups, **options, random_state=seed)
        return worst(certificate.promises, certificate.bound, said, world, together=False)

    return trial, names


# What is run


def rows_of(method, setting, where, n, names=None):
    if names is None:
        names = PROMISED[where]
    return tuple(Row("promises", method, f"{name}: {setting}", where, n, DELTA) for name in names)


ALL_AT_ONCE = ("all at once with the bound",)


def promised_cases():
    """Every promise, in several worlds and ways."""
    yield from fixed_cases()
    yield from adversarial_cases()
    yield from fitted_cases()
    yield from given_cases()


def fixed_cases():
    trained, aside = "fixed vote, training rows guide", "fixed vote, rows set aside"
    for words, where, n, runs in (
        (trained, NOISE, 60, 1000),
        (aside, NOISE, 60, 1000),
        (aside, KNOWING, 150, 1000),
        (trained, THREE, 90, 1000),
        (trained, FATE, 40, 1000),
        (aside, ALIKE, 40, 1000),
    ):
        trial = chosen("holdout", where, n, trained=words == trained)
        yield Case(rows_of("holdout", words, where, n), runs, trial)
    for where, n in ((NOISE, 60), (FATE, 40)):
        rows = rows_of("holdout", "fixed vote", where, n, ALL_AT_ONCE)
        yield Case(rows, 600, chosen("holdout", where, n, together=True))


def adversarial_cases():
    words = f"the most deceptive of {ADVERSARY} votes"
    for method, where, n, runs in (
        ("dis-b", NOISE, 60, 400),
        ("dis-b", FATE, 40, 400),
        ("dis-r", NOISE, 60, 60),
        ("dis-v", NOISE, 60, 60),
    ):
        yield Case(rows_of(method, words, where, n), runs, chosen(method, where, n, ADVERSARY, trained=True))
    rows = rows_of("dis-b", words, NOISE, 60, ALL_AT_ONCE)
    yield Case(rows, 200, chosen("dis-b", NOISE, 60, ADVERSARY, together=True))


def fitted_cases():
    for method, where, n, split, runs in (
        ("dis-b", NOISE, 60, "none", 300),
        ("dis-b", NOISE, 80, "cross", 200),
        ("dis-b", THREE, 120, "single", 200),
        ("dis-b", ALIKE, 40, "none", 600),
        ("dis-r", NOISE, 60, "none", 60),
        ("dis-v", NOISE, 60, "none", 60),
        ("holdout", FATE, 60, "single", 400),
    ):
        words = f"fit, split {split}"
        yield Case(rows_of(method, words, where, n), runs, fitted(where, n, method=method, split=split))
    rows = rows_of("dis-b", "fit, split none, best of 3 draws", NOISE, 60)
    yield Case(rows, 400, fitted(NOISE, 60, method="dis-b", split="none", n_draws=3))
    for method, split in (("dis-b", "none"), ("holdout", "cross")):
        rows = rows_of(method, f"fit, split {split}", NOISE, 80, ALL_AT_ONCE)
        yield Case(rows, 600, fitted(NOISE, 80, together=True, method=method, split=split))


def given_cases():
    for where, n, models, runs in ((NOISE, 60, 1, 1000), (FATE, 40, 1, 1000), (KNOWING, 150, 3, 100)):
        words = "one given model" if models == 1 else f"the best of {models} given models and their vote"
        yield Case(rows_of("certify", words, where, n, names_for(where, models)), runs, given(where, n, models))
    yield Case(rows_of("certify", "one given model", NOISE, 60, ALL_AT_ONCE), 600, given(NOISE, 60, together=True))
    trial, names = scored(NOISE, 60)
    yield Case(rows_of("certify", "answers with scores", NOISE, 60, names), 1000, trial)
