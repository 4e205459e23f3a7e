"""Models that are given: one, or several of which the best is kept, or the vote of several learned on these rows."""

import numpy as np
from grouped import FATE, grouped_world
from honest import DELTA, strangers, world
from study import Case, Row
from worlds import furthest

from certivote import certify
from certivote.votes import build_votes, fixed_point


def stump(feature, limit):
    return lambda X: (X[:, feature] >= limit).astype(int)


STUMPS = [stump(feature, limit) for feature in range(3) for limit in (1, 2)]
"""Each knows a little; their vote knows more."""


def answers_of(model, X):
    return np.asarray(model(X) if callable(model) else model.predict(X))


def statements(certificate, models, truth):
    """Bound and true error of every candidate, the vote among them if it is the smallest."""
    answers = np.stack([answers_of(model, truth.X) for model in models], axis=1)
    if len(models) == 1:
        return [(certificate.bound, truth.risk_of_answers(answers[:, 0]))]
    risks = [truth.risk_of_answers(column) for column in answers.T]
    pairs = [(each.bound, risk) for each, risk in zip(certificate.candidates, risks, strict=True)]
    if not any(each.chosen for each in certificate.candidates):
        weights = fixed_point(np.array(certificate.deployed_part.log_weights))
        masses = build_votes(codes=answers, n_classes=2).masses(weights)
        pairs.append((certificate.bound, truth.risk_of_answers(masses.argmax(axis=1))))
    return pairs


def certified(models, where, n, rng):
    """All statements of one certificate for several models; none without both classes."""
    truth = grouped_world(where) if isinstance(where, str) else world(where)
    X, y, *groups = truth.sample(n, rng)
    seed = int(rng.integers(2**31))
    if len(np.unique(y)) < 2:
        return []
    return statements(certify(models, X, y, DELTA, *groups, random_state=seed), models, truth)


def together(models, where, n):
    """The statement about a model, or about the vote, that is the furthest from being true."""

    def trial(rng):
        pairs = certified(models, where, n, rng)
        return pairs and [furthest(pairs)]

    return trial


def the_vote(models, where, n):
    """The statement about the vote, in runs in which it is certified smaller than every model."""
    return lambda rng: certified(models, where, n, rng)[len(models) :]


def one_by_one(models, noise, n):
    """Each certified by itself at delta, and the smallest bound is kept."""

    def trial(rng):
        X, y = world(noise).sample(n, rng)
        pairs = [statements(certify(model, X, y, DELTA), [model], world(noise))[0] for model in models]
        return [min(pairs)]

    return trial


def row(setting, where, n, part="given"):
    return (Row(part, "certify", setting, where, n, DELTA),)


NOISE = "2 classes, pure noise"


def given_cases():
    some = "2 classes, label noise 0.1"
    yield Case(row("one model", NOISE, 23), 800, together(strangers(2)[:1], 0.5, 23))
    yield Case(row("one model", some, 37), 800, together(STUMPS[:1], 0.1, 37))
    models = strangers(2)
    setting, where = "5 models, the worst statement", "2 classes, label noise 0.3"
    yield Case(row(setting, where, 15), 120, together(models[:5], 0.3, 15))
    yield Case(row("6 models, their vote where it is smallest", some, 200), 40, the_vote(STUMPS, 0.1, 200))
    yield Case(row("3 models, entities, the worst statement", FATE, 20), 100, together(models[:3], FATE, 20))


def given_breaches():
    models = strangers(2, 20)
    breach = row("best of 20 models, certified one by one", NOISE, 16, "broken")
    yield Case(breach, 60, one_by_one(models, 0.5, 16))
    control = row("best of 20 models, certified together", NOISE, 16, "control")
    yield Case(control, 60, together(models, 0.5, 16))
