"""Certificates of every kind, number by number: what a change of the house must leave as it was, digit for digit.

``python benchmarks/corpus.py make FILE`` writes what this code certifies; ``compare BEFORE AFTER`` names every number
that differs. ``make corpus BASE=...`` makes both files, the first with the code and with this script as they were at a
commit, and compares them. Numbers are recorded under what they mean, so that a record may change its form: only
`certificate_numbers` then changes too.
"""

import hashlib
import itertools
import json
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any
from unittest import mock

import numpy as np
import typer
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from certivote import (
    CertifiedVoteClassifier,
    DriftMonitor,
    Monitor,
    certify,
    certify_counts,
    certify_predictions,
    count_predictions,
    merge_counts,
    recertify,
)
from certivote.certificate import confidence_nats, payments_of
from certivote.methods import DisB, DisV, make_method
from certivote.promises import Abstention, Costs, Precision, PredictionSets, Sensitivity, Subgroups
from certivote.splits import Cross
from certivote.voters import Forest, Stumps

Numbers = dict[str, Any]
METHODS = ("dis-b", "dis-r", "dis-v", "smv-exact", "smv-mc", "fo", "so", "bin", "c-bound", "holdout")
DRAWN = ("dis-b", "dis-r", "dis-v", "smv-mc")
SPLITS = ("none", "single", "cross", 3)
UNITS = ("rows", "groups", "order")
ROWS, NEW = 120, 40


def table(n_classes: int = 2, seed: int = 0, n: int = ROWS) -> tuple[Any, Any, Any, Any]:
    """Rows, labels, patients and days."""
    rng = np.random.default_rng([n_classes, seed])
    y = rng.integers(n_classes, size=n)
    X = 1.6 * np.eye(n_classes, 3)[y] + 0.7 * rng.normal(size=(n, 3))
    X[7] = X[3]
    groups = np.array([f"p{number}" for number in rng.integers(n // 3, size=n)])
    return X.round(2), np.array(["no", "yes", "perhaps"])[y], groups, np.arange(n) * 7 % 50


def voters(split: Any) -> Any:
    if split == "none":
        return Stumps(3, ranges=[(-4.0, 6.0)] * 3)
    return Forest(RandomForestClassifier(n_estimators=5, max_depth=2))


def promised(n_classes: int) -> list[Any]:
    labels = ("no", "yes", "perhaps")[:n_classes]
    pairs = [(true, said) for true in labels for said in labels if true != said]
    costs = Costs({pair: 1.0 + 2.0 * number for number, pair in enumerate(pairs)})
    found = [Precision(), Abstention(max_error=0.5), Abstention(curve=3), PredictionSets(0.6), costs]
    found += [Subgroups("0", bins=2)]
    return [*found, Sensitivity(0.6, "yes")] if n_classes == 2 else [*found, PredictionSets(0.3, by_class=True)]


def shown(value: Any) -> Any:
    """A value as JSON, floats to the last digit; long lists as their digest."""
    if isinstance(value, float | np.floating):
        return float(value).hex()
    if isinstance(value, np.ndarray | list | tuple):
        found = [shown(each) for each in (value.tolist() if isinstance(value, np.ndarray) else value)]
        return found if len(found) <= 12 else hashlib.sha256(json.dumps(found).encode()).hexdigest()
    return value.item() if isinstance(value, np.generic) else value


def named(where: str, record: Any, names: str) -> Numbers:
    return {f"{where}{name}": shown(getattr(record, name)) for name in names.split()}


def certificate_numbers(c: Any) -> Numbers:
    """Everything that a bound rests on, and every bound."""
    found = named(
        "", c, "method loss split delta bound average_bound deployed average_weights n_draws constant classes"
    )
    found |= named("", c, "price_atoms price_scales together groups order division bets solver")
    found |= named("", c.provenance, "entropy data_digest n_rows class_counts columns")
    for number, part in enumerate(c.parts):
        where = f"part {number}: "
        found |= statement_numbers(where, c, part, part.statement)
        found |= named(
            where, part, "penalty family n_voters alpha beta prior_weight renyi_order log_weights draw training_rows"
        )
        found |= named(where, part, "certification_digest training_digest votes_digest duplicates")
        found |= named(where, part, "duplicates_of_training_rows")
        for name, other in (("holdout", part.holdout), ("majority", part.majority)):
            found |= named(f"{where}{name}_", other, "errors bound losses")
        found[f"{where}majority_class"] = part.majority.label
        found |= {f"{where}paid for {each.what}": shown(each.nats) for each in payments_of(c, part)}
        for drift in part.drift:
            found |= named(f"{where}drift: ", drift, "early_rows early_errors late_rows late_errors p_value")
    for number, promise in enumerate(c.promises):
        where = f"promise {number}: "
        found |= named(where, promise, "name delta guide_rows set_aside chosen thresholds value")
        found |= {f"{where}{fixed.what}": shown([fixed.numbers, fixed.words]) for fixed in promise.fixed}
        for place, each in enumerate(promise.statements):
            found |= named(f"{where}statement {place}: ", each, "kind label threshold")
            found |= statement_numbers(f"{where}statement {place}: ", c, c.deployed_part, each)
    for candidate in c.candidates:
        found |= named(f"candidate {candidate.name}: ", candidate, "chosen weight")
        found |= named(f"candidate {candidate.name}: ", candidate.statement, "errors losses bound")
    return found


def statement_numbers(where: str, c: Any, part: Any, statement: Any) -> Numbers:
    """What is said of the vote of a part, and what that rests on."""
    found = named(where, statement, "n entities errors losses risks delta risk_draws risk_delta bound")
    return found | {f"{where}confidence": shown(confidence_nats(c, part, statement))}


def vote_numbers(clf: Any, X: Any) -> Numbers:
    found = {"weights": shown(clf.weights_), "masses": shown(clf.predict_proba(X)), "answers": shown(clf.predict(X))}
    decisions = (clf.answers, clf.flags, clf.predict_sets)
    for decide in decisions:
        try:
            found[decide.__name__] = shown(np.asarray(decide(X)).astype(str))
        except ValueError:  # nothing of this kind was promised
            continue
    return found


def fitted(
    method: Any, split: Any, unit: str = "rows", n_classes: int = 2, own_voters: Any = None, **options: Any
) -> Callable[[], Numbers]:
    def make() -> Numbers:
        X, y, groups, days = table(n_classes)
        units = {"groups": {"groups": groups}, "order": {"order": days}}.get(unit, {})
        clf = CertifiedVoteClassifier(method, own_voters or voters(split), split, random_state=3, **options)
        clf.fit(X, y, **units)
        return certificate_numbers(clf.certificate_) | vote_numbers(clf, table(n_classes, 1, NEW)[0])

    return make


def several_draws(method: str) -> Any:
    """Three draws, where one vote is drawn."""
    return method if method == "smv-mc" else make_method(method, n_draws=3)


def models() -> dict[str, Any]:
    X, y, *_ = table(2, 2)
    return {f"tree {depth}": DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, y) for depth in (1, 2, 4)}


def given(how: str, unit: str, several: bool, seed: Any, with_promises: bool) -> Callable[[], Numbers]:
    def make() -> Numbers:
        X, y, groups, days = table()
        units = {"groups": {"groups": groups}, "order": {"order": days}}.get(unit, {})
        chosen = models() if several else {"tree 2": models()["tree 2"]}
        needs = (
            ("answers",) if several else ("answers", "scores") if how == "answers" else ("answers", "scores", "masses")
        )
        asked = [each for each in promised(2) if each.needs in needs] if with_promises else []
        if how == "model":
            found = certify(chosen, X, y, promises=asked, random_state=seed, **units)
        else:
            answers = {name: model.predict(X) for name, model in chosen.items()}
            extra = {"scores": np.linspace(0, 1, ROWS)[::-1], "table": X} if asked else {}
            found = certify_predictions(y, answers, promises=asked, random_state=seed, **extra, **units)
        return certificate_numbers(found)

    return make


def counted() -> Numbers:
    X, y, *_ = table()
    answers = models()["tree 2"].predict(X)
    pieces = [count_predictions(y[rows], answers[rows], first=int(rows[0])) for rows in np.split(np.arange(ROWS), 3)]
    return certificate_numbers(certify_counts(merge_counts(pieces), n_rows=ROWS))


def monitored(method: str, grouped: bool) -> Callable[[], Numbers]:
    def make() -> Numbers:
        X, y, groups, _ = table()
        units = {"groups": groups} if grouped else {}
        clf = CertifiedVoteClassifier(method, voters("single"), "single", random_state=3)
        clf.fit(X, y, **units)
        outcomes, drift, found = Monitor(clf, alpha=0.1), DriftMonitor(clf, alpha=0.1, random_state=4), {}
        for step in range(4):
            X, y, groups, _ = table(2, 5 + step, NEW)
            new = {"groups": [f"{step} {name}" for name in groups]} if grouped else {}
            outcomes.update(y, clf.predict(X), **new)
            drift.update(X, **new)
            found |= named(f"step {step}: ", outcomes, "n e_value change_value error_so_far error_limit alarm")
            found |= named(f"step {step}, drift: ", drift, "n log_evidence log_change alarm")
        return found

    return make


def certified_again() -> Numbers:
    X, y, groups, _ = table()
    clf = CertifiedVoteClassifier("dis-b", voters("single"), "single", random_state=3, promises=[Precision()])
    clf.fit(X, y, groups=groups)
    X, y, groups, _ = table(2, 9)
    return certificate_numbers(recertify(clf, X, y, groups=groups))


def on_a_cluster(method: str, partitions: int) -> Callable[[], Numbers]:
    def make() -> Numbers:
        import dask.array
        import distributed

        from certivote.dask import DaskCertifiedVoteClassifier

        X, y, *_ = table()
        size = -(-ROWS // partitions)
        here = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
        with distributed.LocalCluster(**here) as cluster, distributed.Client(cluster) as client:
            clf = DaskCertifiedVoteClassifier(client, method=method, voters=voters("single"), random_state=3)
            clf.fit(dask.array.from_array(X, chunks=(size, 3)), dask.array.from_array(y, chunks=size))
            return certificate_numbers(clf.certificate_) | vote_numbers(clf.to_local(), table(2, 1, NEW)[0])

    return make


def cases() -> Iterator[tuple[str, Callable[[], Numbers]]]:
    for method, split, unit, loss in itertools.product(METHODS, SPLITS, UNITS, ("plurality", "half-weight")):
        yield f"{method}, {split}, {unit}, {loss}", fitted(method, split, unit, loss=loss)
    for method, split, unit in itertools.product(METHODS, ("single", 3), ("rows", "groups")):
        yield f"{method}, {split}, {unit}, three classes", fitted(method, split, unit, 3)
    for method, n_classes, unit in itertools.product(("dis-b", "dis-r", "dis-v", "holdout", "fo"), (2, 3), UNITS[:2]):
        make = fitted(method, "single", unit, n_classes, promises=promised(n_classes), together=unit == "groups")
        yield f"{method}, {unit}, {n_classes} classes, promises", make
    for method, prior in itertools.product(METHODS, ("informed", 0.7)):
        yield f"{method}, prior {prior}", fitted(method, "single", prior=prior)
    for method, solver in itertools.product(METHODS, ("lbfgs", "adam")):
        yield (
            f"{method}, {solver}, paper's constant",
            fitted(make_method(method, solver=solver, constant="paper"), Cross(tau=0.3)),
        )
    for method in DRAWN:
        yield f"{method}, logistic-normal", fitted(make_method(method, family="logistic-normal"), "single", n_classes=3)
        yield f"{method}, three draws", fitted(several_draws(method), "single")
    yield "dis-v, three orders", fitted(DisV(order=[1.2, 1.5, 3.0]), "single")
    yield "dis-b, own price list", fitted(DisB(price_list=[[4.0, 0.9]]), "single")
    for unit in ("rows", "groups"):
        yield f"auto, {unit}", fitted("auto", "auto", unit, own_voters="auto")
        yield f"auto of a forest, {unit}", fitted("auto", "auto", unit)
    for how, unit, several, seed, asked in itertools.product(
        ("model", "answers"), UNITS, (False, True), (None, 7), (False, True)
    ):
        name = f"given {how}, {unit}, {'several' if several else 'one'}, seed {seed}{', promises' if asked else ''}"
        yield name, given(how, unit, several, seed, asked)
    yield "counts of answers", counted
    yield "certified again", certified_again
    for method, grouped in itertools.product(("dis-b", "fo", "holdout"), (False, True)):
        yield f"monitors of {method}{', groups' if grouped else ''}", monitored(method, grouped)
    for method, partitions in itertools.product(("dis-b", "dis-r", "fo", "holdout"), (1, 3)):
        yield f"{method} on a cluster, {partitions} partitions", on_a_cluster(method, partitions)


def numbers_of(make: Callable[[], Numbers]) -> Numbers:
    """What is certified; of what is refused, only that it is."""
    # Seeds such as the system gives, the same in every run.
    with warnings.catch_warnings(), mock.patch("secrets.randbits", random.Random(5).getrandbits):
        warnings.simplefilter("ignore")
        try:
            return make()
        except ValueError:
            return {"refused": True}


app = typer.Typer(add_completion=False, help=__doc__)


@app.command()
def make(out: Annotated[Path, typer.Argument(help="Where the numbers go, as JSON.")]) -> None:
    """Write what this code certifies."""
    found = {name: numbers_of(case) for name, case in cases()}
    refused = sum("refused" in numbers for numbers in found.values())
    out.write_text(json.dumps(found, indent=1, sort_keys=True), encoding="utf-8")
    typer.echo(f"{len(found)} cases, {refused} of them refused; {sum(map(len, found.values())):,} numbers: {out}")


@app.command()
def compare(before: Path, after: Path) -> None:
    """Name every number that differs."""
    old, new = (json.loads(path.read_text(encoding="utf-8")) for path in (before, after))
    differences = [
        f"{name}: {what}: {own.get(what, 'absent')} before, {other.get(what, 'absent')} now"
        for name in sorted(old | new)
        for own, other in [(old.get(name, {}), new.get(name, {}))]
        for what in sorted(own | other)
        if what not in own or what not in other or own[what] != other[what]
    ]
    for line in differences[:100]:
        typer.echo(line)
    typer.echo(f"{len(differences):,} of {sum(map(len, old.values())):,} numbers in {len(old)} cases differ.")
    sys.exit(bool(differences))


if __name__ == "__main__":
    app()
