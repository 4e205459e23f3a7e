"""Certificates of every kind, for tests of what shows them."""

import re
from dataclasses import replace
from functools import cache
from html import unescape
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from fits import CERTIFIED, cancer, fitted, forest, iris_fit, noise
from options import as_objects
from sklearn.base import BaseEstimator

from certivote import CertifiedVoteClassifier, certify, certify_predictions
from certivote.present import certificate_card, details_text
from certivote.promises import Abstention, Costs, Precision, PredictionSets, Sensitivity, Subgroups
from certivote.splits import Single
from certivote.voters import Stumps

HARMFUL = ("<script>alert(1)</script>", '"><img src=x onerror=alert(2)>', "</script> {{ 7 * 7 }} & 'co' %")


@cache
def harmful_fit():
    """A classifier of classes whose names would do harm if a page took them for markup."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=240)
    X = rng.normal(size=(240, 3)) + 2 * np.eye(3)[y]
    return CertifiedVoteClassifier("dis-b", "forest", random_state=0).fit(X, np.array(HARMFUL)[y])


@cache
def rare_rows():
    """16 of 600 are ill, and nothing tells who."""
    rng = np.random.default_rng(1)
    return rng.normal(size=(600, 3)), np.where(rng.permutation(600) < 16, "ill", "well")


@cache
def rare_fit():
    """A classifier that misses a class behind a small bound."""
    return CertifiedVoteClassifier("dis-b", "forest", random_state=8).fit(*rare_rows())


def labels(n=300, seed=0):
    """Four of five are well."""
    return np.where(np.random.default_rng(seed).random(n) < 0.2, "ill", "well")


def answers(truth, rate, seed=1):
    """The truth but for some errors."""
    wrong = np.random.default_rng(seed).random(len(truth)) < rate
    return np.where(wrong, np.where(truth == "ill", "well", "ill"), truth)


def patients(n=300, rows_each=5):
    """Each has so many rows that come one after the other."""
    return pd.Series(np.arange(n) // rows_each, name="patient_id")


def several(rates):
    """Answers of models that err at these rates."""
    return {f"model {k}": answers(labels(), rate, seed=k + 1) for k, rate in enumerate(rates)}


@cache
def grouped_fit(method="dis-b", **parameters):
    """A classifier of rows of forty patients, which are alike within each."""
    rng = np.random.default_rng(0)
    y = np.repeat(rng.integers(2, size=40), 5)
    X = np.repeat(rng.normal(size=(40, 2)), 5, axis=0) + 2 * y[:, None] + 0.3 * rng.normal(size=(200, 2))
    made = CertifiedVoteClassifier(**as_objects(method, voters=forest(5), random_state=0, **parameters))
    return made.fit(X, np.array(["ill", "well"])[y], groups=patients(200))


@cache
def timed_fit():
    """A classifier of rows that have days, late ones of which are all guessed."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=300)
    X = rng.normal(size=(300, 2)) + 3 * y[:, None] * (np.arange(300) < 225)[:, None]
    made = CertifiedVoteClassifier("dis-b", forest(5), Single(0.5), random_state=0)
    return made.fit(X, np.array(["ill", "well"])[y], order=pd.Series(np.arange(300), name="day")).certificate_


class Sure(BaseEstimator):
    """A model that is fitted already: says 1 the surer the larger the first column is."""

    classes_ = np.array(["ill", "well"])

    def predict_proba(self, X):
        ill = 1 / (1 + np.exp(-np.asarray(X)[:, 0].astype(float)))
        return np.column_stack([ill, 1 - ill])

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


@cache
def decided_rows(n=2000):
    """Four of ten are ill, which the first column tells with few errors; and columns by which to group."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(n) < 0.4, "ill", "well")
    first = rng.normal(size=n) + np.where(y == "ill", 2.0, -2.0)
    table = {"first": first, "age": rng.integers(20, 90, n), "site": rng.integers(3, size=n)}
    return pd.DataFrame(table), y


DECISIONS = (
    Abstention(max_error=0.01),
    Abstention(curve=5),
    Sensitivity(at_least=0.9, label="ill"),
    PredictionSets(coverage=0.95),
    PredictionSets(coverage=0.9, by_class=True),
    Precision(),
    Subgroups("age", ("site", "age"), bins=2),
    Costs({("ill", "well"): 20, ("well", "ill"): 1}),
)


@cache
def decided(together=False):
    """A model with every promise that there is."""
    return certify(Sure(), *decided_rows(), promises=list(DECISIONS), together=together)


def with_classes(made, *entries):
    """The certificate with these bounds by class."""
    first, *rest = made.promises
    return replace(made, promises=(replace(first, statements=entries), *rest))


def page_source(made, **options):
    """The report as HTML, written once if nothing is asked for."""
    return _written(made, **options) if options else _default_page(made)


def _written(made, **options):
    with TemporaryDirectory() as folder:
        made.report(Path(folder, "report.html"), **options)
        return Path(folder, "report.html").read_text(encoding="utf-8")


_default_page = cache(_written)


def page_words(made, **options):
    """What one reads in the report, and in its head alone."""
    source = page_source(made, **options)
    body = source[source.index("<body>") : source.index('<script type="application/json"')]
    return _words(body), _words(body[: body.index("</header>")])


def views(made):
    """What one reads in each view of a certificate."""
    text, card = " ".join(details_text(made).split()), _words(certificate_card(made))
    return {"text": text, "card": card, "page": page_words(made)[0]}


def _words(source):
    return " ".join(unescape(re.sub("<[^>]*>", " ", source)).replace("\u00a0", " ").split())


def _vacuous():
    X, y = noise()
    ranges = [(0.0, 1.0)] * X.shape[1]
    return CertifiedVoteClassifier("bin", Stumps(2, ranges), "none", prior=0.5, random_state=0).fit(X, y).certificate_


KINDS = {
    **{method: lambda method=method: fitted(method).certificate_ for method in CERTIFIED},
    "stumps": lambda: fitted("dis-r", "stumps").certificate_,
    "cross": lambda: fitted("dis-v", "cross").certificate_,
    "folds": lambda: fitted("dis-b", "three", n_draws=3).certificate_,
    "half-weight": lambda: fitted("dis-r", loss="half-weight").certificate_,
    "three classes": lambda: iris_fit("dis-b").certificate_,
    "simulated": lambda: iris_fit("smv-exact").certificate_,
    "auto": lambda: CertifiedVoteClassifier(voters="forest", random_state=0).fit(*cancer()).certificate_,
    "vacuous": _vacuous,
    "entities": lambda: grouped_fit().certificate_,
    "entities by kl": lambda: grouped_fit("dis-r").certificate_,
    "entities, mean vote": lambda: grouped_fit("fo").certificate_,
    "entities, random vote": lambda: grouped_fit("smv-exact").certificate_,
    "time": timed_fit,
    "a model": lambda: certify_predictions(labels(), answers(labels(), 0.05)),
    "a model of entities": lambda: certify_predictions(labels(), answers(labels(), 0.05), groups=patients()),
    "a model in time": lambda: certify_predictions(
        labels(), answers(labels(), 0.05), order=pd.Series(np.arange(300), name="day")
    ),
    "best of models": lambda: certify_predictions(labels(), several([0.03, 0.2])),
    "vote of models": lambda: certify_predictions(labels(), several([0.15] * 5), groups=patients()),
    "decisions": lambda: decided(together=True),
    "a class missed": lambda: rare_fit().certificate_,
    "harmful names": lambda: harmful_fit().certificate_,
}


@cache
def certificate(kind):
    return KINDS[kind]()
