"""Forged certificates: every field changed in every way that matters, one at a time, and what catches each.

``PYTHONPATH=tests python tests/verify/forging.py`` writes the table of ``docs/auditing.md`` anew.
"""

import copy
import itertools
import json
import re
import warnings
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from thorough import ALL

from certivote import Certificate, CertifiedVoteClassifier, certify, certify_predictions, verify
from certivote.voters import Forest, Stumps

PAGE = Path(__file__).parents[2] / "docs" / "auditing.md"
MARKS = ("<!-- the table of forgeries -->\n", "<!-- end of the table of forgeries -->\n")
LEVELS = ("reading", "record", "model", "data", "refit")


# --- Certificates of all kinds, from few rows and few voters.


@cache
def rows(n_classes=2, noise=0.6):
    rng = np.random.default_rng(n_classes)
    y = rng.integers(n_classes, size=90)
    X = 2.0 * np.eye(n_classes, 3)[y] + noise * rng.normal(size=(90, 3))
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


SETTINGS = {
    **{method: (method, {}) for method in ("dis-b", "dis-r", "dis-v", "smv-exact", "smv-mc")},
    **{method: (method, {}) for method in ("fo", "so", "bin", "c-bound", "holdout")},
    "auto": ("auto", {"voters": forest}),
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
}
GIVEN = {
    "a given model": {"order": days, "training": lambda: rows()[0][60:]},
    "given models": {"groups": patients},
    "the vote of given answers": {"groups": patients},
}
"""Certificates of models that were given, and what was given with them."""


TABLE_OF = ("dis-b of three classes", "dis-r across", "dis-b with groups", "a given model", "given models")
"""Those that the table is about: fields that are missing, null or of another type are tried with these only."""
OF_TYPE = ("missing", "null", "other type", "text", "number", "fraction", "one more")
"""What the reader sees whatever the method is."""


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
        model.refit = lambda X, y, groups, order: self.again
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


def given_models():
    X, y = rows()
    X = X + 0.9 * np.random.default_rng(3).normal(size=X.shape)
    return {f"tree {depth}": DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, y) for depth in (1, 2, 3)}


def given_answers():
    """Answers of which one in four is wrong, each time another: a vote of them is better than any."""
    _, y = rows()
    rng = np.random.default_rng(1)
    return {name: np.where(rng.random(90) < 0.25, np.where(y == "yes", "no", "yes"), y) for name in "abcde"}


@cache
def given_case(name):
    X, y = rows()
    units = {argument: values() for argument, values in GIVEN[name].items()}
    if name == "the vote of given answers":
        found, models, X = certify_predictions(y, given_answers(), **units), given_answers(), None
    else:
        models = given_models() if name == "given models" else {"tree 2": given_models()["tree 2"]}
        found = certify(models, X, y, **units)
    return GivenCase(found.with_source("rows.csv", "0" * 63 + "1"), models, X, y, units)


@cache
def case(name):
    if name in GIVEN:
        return given_case(name)
    method, options = SETTINGS[name]
    options = dict(options)
    X, y = rows(options.pop("n_classes", 2), options.pop("noise", 0.6))
    voters = options.pop("voters", forest)()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        units = {argument: options.pop(argument)() for argument in ("groups", "order") if argument in options}
        clf = CertifiedVoteClassifier(method, voters, random_state=5, **options).fit(X, y, **units)
        clf.certificate_ = clf.certificate_.with_source("rows.csv", "0" * 63 + "1")
        again = clf.refit(X, y, **units)
    return Case(clf, X, y, again, units)


# --- Every change of every field.


def changed(value):
    """Other values in place of one, each with what was done."""
    yield "null", None
    yield "other type", {"text": 1} if not isinstance(value, dict) else [1]
    if isinstance(value, bool):
        yield "flipped", not value
        yield "number", int(value)
    elif isinstance(value, int | float):
        one = 1 if isinstance(value, int) else 1.0
        yield "smaller", value - one if isinstance(value, int) else 0.9 * value - 0.001 * (abs(value) < 1e-6)
        yield "larger", value + one if isinstance(value, int) else 1.1 * value + 0.01
        if abs(value) > 1e-6:
            yield "zero", 0 * one
        yield "negative", -value - one
        yield "text", str(value)
        if isinstance(value, float) and abs(value) > 1e-6:
            yield "hardly smaller", value * (1.0 - 1e-6)
    elif isinstance(value, str):
        yield "emptied", ""
        yield "longer", f"{value} not"
        yield "number", 3
    elif value is None:
        yield "number", 0
        yield "fraction", 0.5
    elif isinstance(value, list):
        yield "emptied", []
        yield "text", "none"
        yield "an entry more", [*value, "All is well."]
        if value:
            yield "first one twice", [value[0], *value]
            yield "last one gone", value[:-1]
        if len(value) > 1:
            yield "turned round", value[::-1]
            yield "first two swapped", [value[1], value[0], *value[2:]]
    elif isinstance(value, dict):
        yield "emptied", {}
        yield "one more", {**value, "surplus": 1}


WORDS = {
    "method": ("dis-b", "dis-r", "dis-v", "smv-exact", "fo", "holdout"),
    "certified": ("the drawn vote", "the random vote", "the mean vote", "the fixed vote", "the given model"),
    "loss": ("plurality", "half-weight"),
    "constant": ("paper", "exact"),
    "split": ("none", "single", "cross", "3", "2"),
    "family": ("dirichlet", "logistic-normal", "categorical"),
    "kind": ("error", "false alarm"),
    "label": ("no", "yes", "perhaps"),
    "majority_class": ("no", "yes", "perhaps"),
    "solver": ("lbfgs", "adam"),
    "theorem": ("Theorem 5", "Theorem 6", "Clopper-Pearson", "Occam's hammer with bets on entities"),
    "hyper_prior": ("equal weights", "Dirichlet with given parameters", "Dirichlet with parameter 0.5 for every voter"),
    "what": ("draw", "weights", "confidence", "prior"),
    "library_version": ("9.9.9",),
    "created": ("2001-01-01T00:00:00Z",),
    **dict.fromkeys(("certification_digest", "training_digest", "votes_digest", "source_digest"), ("f" * 64,)),
    "source": ("other.csv",),
    **dict.fromkeys(("groups", "order"), ("patient", "day")),
    "target": ("income",),
}
"""Other words that a field may hold."""
VALUES = ("null", "0.5", '"auto"', '"informed"', "[1.0, 2.0]")
"""Other values that the parameters of a fit may have."""


def other_words(path, value):
    """Other words in place of one."""
    if path[:2] == ("provenance", "parameters") and len(path) == 4:
        return VALUES if path[3] == 1 else ("delta",)
    if path[0] == "classes" and len(path) == 2:
        return ("none", "yes")
    return [word for word in WORDS.get(path[-1], ()) if isinstance(value, str)]


def forgeries(record, path=()):
    """Every change of a record: the path of the field, what was done to it, and a function that does it."""
    value = at(record, path)
    if path:
        for kind, other in changed(value):
            if other != value or type(other) is not type(value):
                yield path, kind, lambda root, other=other: put(root, path, other)
        for word in other_words(path, value):
            if word != value:
                yield path, f"another: {word}", lambda root, word=word: put(root, path, word)
    if isinstance(value, dict):
        names = list(value)
        for name in names:
            yield (*path, name), "missing", lambda root, name=name: at(root, path).pop(name)
        for name, neighbour in itertools.pairwise(names):
            if type(value[name]) is type(value[neighbour]) and value[name] != value[neighbour]:
                swap = {name: value[neighbour], neighbour: value[name]}
                yield (*path, name), "swapped with its neighbour", lambda root, swap=swap: at(root, path).update(swap)
        for name in names:
            yield from forgeries(record, (*path, name))
    elif isinstance(value, list):
        few = len(value) <= 3 or path == ("provenance", "parameters")
        for number in range(len(value)) if few else (0, len(value) - 1):
            yield from forgeries(record, (*path, number))


def at(root, path):
    for step in path:
        root = root[step]
    return root


def put(root, path, value):
    at(root, path[:-1])[path[-1]] = value


def spelled(path):
    """The path as the auditor writes it."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


def general(path):
    """The same for all parts and classes."""
    return re.sub(r"\[\d+\]", "[]", spelled(path))


def is_named(path, kind, checks):
    """Whether a field, or what it is in, is among those that are taken on trust; of what changed places, some field."""
    places = {spelled(path), re.sub(r"^by_class\[\d+\]", "by_class[]", spelled(path))}
    places |= {re.sub(r"^(parts|candidates)\[\d+\]", r"\1[]", place) for place in places}
    fields = {field for check in checks if check.on_trust for field in check.fields}
    if kind in ("turned round", "first two swapped") and any(field.startswith(f"{spelled(path)}[") for field in fields):
        return True
    return any(re.match(re.escape(field) + r"($|[.\[])", place) for field in fields for place in places)


@dataclass(frozen=True)
class Verdict:
    """What became of a forgery.

    Attributes
    ----------
    setting, field, kind : str
    caught : str
        The level that caught it; empty if none did.
    by : str
        The check that did.
    silent : tuple of str
        Levels that neither caught it nor named its field.
    certificate : Certificate or None
        What was accepted.
    """

    setting: str
    field: str
    kind: str
    caught: str
    by: str
    silent: tuple[str, ...]
    certificate: Certificate | None


def judge(name, path, kind, forge):
    """Hand a forgery to every level until one catches it."""
    given = case(name)
    record = json.loads(text(name))
    forge(record)
    field = general(path)
    try:
        certificate = Certificate.from_json(json.dumps(record))
    except ValueError:
        return Verdict(name, field, kind, "reading", "the reader", (), None)
    silent = []
    for level in LEVELS[1:]:
        checks = given.audit(certificate, level)
        failed = [check.what for check in checks if not check.passed]
        if failed:
            return Verdict(name, field, kind, level, failed[0], tuple(silent), certificate)
        if not is_named(path, kind, checks):
            silent.append(level)
    return Verdict(name, field, kind, "", "on trust", tuple(silent), certificate)


@cache
def text(name):
    return case(name).certificate.to_json()


def tried(name):
    """The forgeries of one certificate."""
    for path, kind, forge in forgeries(json.loads(text(name))):
        if name in TABLE_OF or kind not in OF_TYPE:
            yield path, kind, forge


@cache
def all_forgeries(name):
    return [judge(name, *forgery) for forgery in tried(name)]


def some_forgeries(name):
    """A fifth of them, another one of each certificate; all with ``make attacks``."""
    if ALL:
        return all_forgeries(name)
    first = [*SETTINGS, *GIVEN].index(name) % 5
    return [judge(name, *forgery) for number, forgery in enumerate(tried(name)) if number % 5 == first]


# --- The table.


def table(verdicts):
    """One line per field: the levels that catch its forgeries, and the checks that do."""
    lines = ["| field | caught by | checks that catch it first |", "|---|---|---|"]
    by_field = {}
    for verdict in verdicts:
        by_field.setdefault(verdict.field, []).append(verdict)
    for name, found in by_field.items():
        levels = [level for level in LEVELS if any(verdict.caught == level for verdict in found)]
        if any(not verdict.caught for verdict in found):
            levels.append("*on trust*")
        names = Counter(kind_of(verdict.by) for verdict in found if verdict.caught not in ("", "reading"))
        first = sorted(names, key=lambda check: (-names[check], check))[:3]
        lines.append(f"| `{name}` | {', '.join(levels)} | {'; '.join(first)} |")
    return "\n".join(lines) + "\n"


def kind_of(check):
    """The name of a check without the part, the class or the model that it is about."""
    check = re.sub(r"^(errors|false alarms), class .+?, ", "by class, ", check)
    check = re.sub(r"^candidate [^,]+", "candidate", check)
    return re.sub(r"^part( \d+)?, ", "", check)


def write_page():
    verdicts = [verdict for name in TABLE_OF for verdict in all_forgeries(name)]
    before, rest = PAGE.read_text(encoding="utf-8").split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    PAGE.write_text(before + MARKS[0] + "\n" + table(verdicts) + "\n" + MARKS[1] + after, encoding="utf-8")


if __name__ == "__main__":
    write_page()
