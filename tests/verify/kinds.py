"""Certificates of all kinds, from few rows and few voters, and what each can be held against."""

import copy
import dataclasses
import random
import warnings
from dataclasses import dataclass, field
from functools import cache
from unittest import mock

import numpy as np
import pandas as pd
from options import as_objects
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from certivote import Certificate, CertifiedVoteClassifier, certify, certify_predictions, verify
from certivote.promises import Abstention, Costs, Precision, PredictionSets, Sensitivity, Subgroups
from certivote.voters import Forest, Stumps


@cache
def rows(n_classes=2, noise=0.6, n=90):
    rng = np.random.default_rng(n_classes)
    y = rng.integers(n_classes, size=n)
    X = 2.0 * np.eye(n_classes, 3)[y] + noise * rng.normal(size=(n, 3))
    X[7] = X[3]  # duplicates there must be, to be miscounted
    return X.round(2), np.array(["no", "yes", "perhaps"])[y]


def forest():
    return Forest(RandomForestClassifier(n_estimators=4, max_depth=2))


def trees():
    return [DecisionTreeClassifier(max_depth=depth, max_features=1) for depth in (1, 2, 3)]


def came_fitted():
    X, y = rows()
    return [LogisticRegression().fit(X[::2] + 0.1, y[::2]), *trees()[:1]]


def patients():
    """Who each row is of: from one to four rows each."""
    return pd.Series([f"p{number % 29}" for number in range(90)], name="patient").where(np.arange(90) != 5, "p2")


def days():
    """When each row was taken, some on the same day."""
    return pd.Series((7 * np.arange(90)) % 60, name="day")


def surely():
    """How sure a model is of its answers, as it says."""
    return np.random.default_rng(7).random(90).round(3)


def costs(n_classes=2):
    labels = ("no", "yes", "perhaps")[:n_classes]
    pairs = [(true, said) for true in labels for said in labels if true != said]
    return Costs({pair: 1.0 + 2.5 * number for number, pair in enumerate(pairs)})


def promised(n_classes=2):
    """All promises, at targets that so few rows can meet."""
    found = [
        Precision(),
        Abstention(max_error=0.6),
        Abstention(curve=2),
        PredictionSets(0.6),
        Subgroups("0", ("0", "2"), bins=2),
        costs(n_classes),
    ]
    return [*found, Sensitivity(0.6, "yes")] if n_classes == 2 else [*found, PredictionSets(0.3, by_class=True)]


SETTINGS = {
    **{method: (method, {}) for method in ("dis-b", "dis-r", "dis-v", "smv-exact", "smv-mc")},
    **{method: (method, {}) for method in ("fo", "so", "bin", "c-bound", "holdout")},
    "auto": ("auto", {"voters": forest}),
    "auto in folds": ("auto", {"voters": forest, "n": 220, "noise": 2.5}),
    "dis-b of three classes": ("dis-b", {"n_classes": 3, "price_list": [[4.0, 0.9]]}),
    "dis-r across": ("dis-r", {"split": "cross", "constant": "paper", "tau": 0.3}),
    "dis-v in three folds": ("dis-v", {"split": 3, "n_draws": 2, "renyi_order": [1.2, 2.0], "prior": 0.5}),
    "dis-r without a split": ("dis-r", {"split": "none", "voters": lambda: Stumps(2, ranges=[(-4.0, 6.0)] * 3)}),
    "dis-r logistic-normal": ("dis-r", {"family": "logistic-normal", "prior": 0.5}),
    "dis-v logistic-normal": ("dis-v", {"family": "logistic-normal", "prior": "informed", "solver": "adam"}),
    "smv-mc logistic-normal": ("smv-mc", {"family": "logistic-normal", "n_classes": 3}),
    "smv-exact of three classes": ("smv-exact", {"n_classes": 3}),
    "so of three classes across": ("so", {"n_classes": 3, "split": "cross", "prior": [1.0, 2.0, 3.0, 4.0]}),
    "half-weight": ("dis-b", {"loss": "half-weight", "prior": "informed", "n_classes": 3, "train_share": 0.4}),
    "holdout of classifiers": ("holdout", {"voters": came_fitted, "prior": "informed"}),
    "c-bound that does not apply": ("c-bound", {"noise": 9.0}),
    "dis-b with groups": ("dis-b", {"groups": patients}),
    "dis-r with groups across": ("dis-r", {"groups": patients, "split": "cross", "n_classes": 3}),
    "smv-mc with groups": ("smv-mc", {"groups": patients, "n_classes": 3}),
    "bin with groups in folds": ("bin", {"groups": patients, "split": 3}),
    "holdout with an order": ("holdout", {"order": days}),
    "auto with groups": ("auto", {"groups": patients, "voters": forest}),
    "dis-b with promises": ("dis-b", {"promises": promised(), "together": True}),
    "dis-r of three classes with promises": ("dis-r", {"promises": promised(3), "n_classes": 3, "groups": patients}),
    "holdout with promises that cannot be kept": (
        "holdout",
        {"promises": [Abstention(max_error=0.001), Sensitivity(0.99, "no"), PredictionSets(0.99)], "noise": 3.0},
    ),
}
GIVEN = {
    "a given model": {"order": days, "training": lambda: rows()[0][60:]},
    "given models": {"groups": patients},
    "the vote of given answers": {"groups": patients},
    "given answers with a margin": {},
    "a given model with promises": {"groups": patients},
    "given answers with promises": {"scores": surely, "table": lambda: rows()[0]},
}
"""Certificates of models that were given, and what was given with them."""
GIVEN_PROMISES = {
    "a given model with promises": promised(),
    "given answers with promises": [each for each in promised() if each.needs != "masses"]
    + [Costs({("no", "yes"): 1.0, ("yes", "no"): 3.0, ("yes", "yes"): 0.5})],
}
PROMISED = (*(name for name in SETTINGS if "with promises" in name), *GIVEN_PROMISES)
"""Those that promise more than the bounds by class."""


@dataclass(frozen=True)
class Case:
    """A fitted classifier, its data, and what a new fit gives."""

    model: CertifiedVoteClassifier
    X: np.ndarray
    y: np.ndarray
    again: CertifiedVoteClassifier
    units: dict = field(default_factory=dict)

    @property
    def certificate(self):
        return self.model.certificate_

    def audit(self, certificate, level):
        """The checks of a level, of a model that carries the certificate."""
        model = copy.copy(self.model)
        model.certificate_ = certificate
        model.refit = lambda X, y, groups, order, table: self.again
        if level in ("record", "model"):
            return verify(certificate, *((model,) if level == "model" else ()))
        return verify(certificate, model, self.X, self.y, level == "refit", **self.units)


@dataclass(frozen=True)
class GivenCase:
    """A certificate of given models, and what it can be held against: there is no fit to repeat."""

    certificate: Certificate
    models: dict
    X: np.ndarray | None
    y: np.ndarray
    units: dict

    def audit(self, certificate, level):
        """The checks of a level; without rows, of the answers."""
        if level == "record":
            return verify(certificate)
        if level == "model":
            return verify(certificate, self.models)
        if self.X is None:
            return verify(certificate, y=self.y, predictions=self.models, refit=level == "refit", **self.units)
        return verify(certificate, self.models, self.X, self.y, level == "refit", **self.units)


def with_statements(certificate, statements, number=0):
    """The certificate with other statements of one of its promises: by default, of the bounds by class."""
    promise = dataclasses.replace(certificate.promises[number], statements=tuple(statements))
    promises = (*certificate.promises[:number], promise, *certificate.promises[number + 1 :])
    return dataclasses.replace(certificate, promises=promises)


def given_models():
    X, y = rows()
    X = X + 0.9 * np.random.default_rng(3).normal(size=X.shape)
    return {f"tree {depth}": DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, y) for depth in (1, 2, 3)}


def given_answers():
    """Answers of which one in four is wrong, each time another: a vote of them is better than any."""
    _, y = rows()
    rng = np.random.default_rng(1)
    return {name: np.where(rng.random(90) < 0.25, np.where(y == "yes", "no", "yes"), y) for name in "abcde"}


def as_fresh():
    """Seeds such as the system gives, the same in every run."""
    return mock.patch("secrets.randbits", random.Random(5).getrandbits)


@cache
def given_case(name):
    X, y = rows()
    units = {argument: values() for argument, values in GIVEN[name].items()}
    asked = GIVEN_PROMISES.get(name, [])
    with as_fresh():
        if "answers" in name:
            models = given_answers() if name == "the vote of given answers" else {"a": given_answers()["a"]}
            margin = 0.25 if "margin" in name else None
            if margin:
                models = {"a": given_answers()["a"], "b": y.copy()}
            found, X = certify_predictions(y, models, promises=asked, margin=margin, **units), None
        else:
            models = given_models() if name == "given models" else {"tree 2": given_models()["tree 2"]}
            found = certify(models, X, y, promises=asked, **units)
    return GivenCase(found.with_source("rows.csv", "0" * 63 + "1"), models, X, y, units)


@cache
def case(name):
    if name in GIVEN:
        return given_case(name)
    method, options = SETTINGS[name]
    options = dict(options)
    X, y = rows(options.pop("n_classes", 2), options.pop("noise", 0.6), options.pop("n", 90))
    voters = options.pop("voters", forest)()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        units = {argument: options.pop(argument)() for argument in ("groups", "order") if argument in options}
        clf = CertifiedVoteClassifier(**as_objects(method, voters=voters, random_state=5, **options)).fit(X, y, **units)
        clf.certificate_ = clf.certificate_.with_source("rows.csv", "0" * 63 + "1")
        again = clf.refit(X, y, **units)
    return Case(clf, X, y, again, units)
