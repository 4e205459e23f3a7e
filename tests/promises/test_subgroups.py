"""Subgroups: groups, bounds and gaps recomputed apart from the library, and what is refused."""

import dataclasses
import datetime
import json
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import clone

from certivote import Certificate, CertifiedVoteClassifier, certify_predictions
from certivote.certificate import Fixed
from certivote.maths.betting import betting_upper, order_free_upper
from certivote.maths.streams import stream
from certivote.present import promise_text
from certivote.promises import PROMISES, Subgroups
from certivote.splits import Single
from certivote.voters import Stumps

DELTA = 0.05


def table_of(n, seed):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "site": rng.choice(["a", "b", None], n, p=[0.6, 0.3, 0.1]),
            "age": rng.integers(20, 90, n).astype(float),
        }
    )


def answers_of(table, seed):
    """True classes and answers, which are wrong more often for one sex."""
    rng = np.random.default_rng(seed)
    true = rng.choice(["ill", "well"], len(table))
    wrong = rng.random(len(table)) < np.where(table["sex"] == "f", 0.15, 0.03)
    return true, np.where(wrong, np.where(true == "ill", "well", "ill"), true)


def promise_of(table, *columns, bins=4, seed=1):
    true, said = answers_of(table, seed)
    promises = [Subgroups(*columns, bins=bins)]
    certificate = certify_predictions(true, said, table=table, promises=promises, random_state=0)
    assert Certificate.from_json(certificate.to_json()) == certificate
    return certificate.promises[1]


def upper(k, n, delta):
    return 1.0 if k == n else stats.beta.ppf(1 - delta, k + 1, n - k)


def set_aside(n, digest):
    """Which rows guide, as the record says that they are drawn."""
    return np.sort(stream("promises", seed=(0,), digest=digest).permutation(n)[: int(0.2 * n)])


def check(promise, masks, wrong):
    """Each group's two bounds by the beta distribution, from the masks in their order."""
    assert len(promise.statements) == 2 * len(masks)
    pairs = list(zip(promise.statements[::2], promise.statements[1::2], strict=True))
    for (error, right), (label, mask) in zip(pairs, masks.items(), strict=True):
        n, k = int(mask.sum()), int((mask & wrong).sum())
        assert (error.kind, right.kind, error.label, right.label) == ("error", "right", label, label)
        assert (error.n, error.errors, right.n, right.errors) == (n, k, n, n - k)
        assert error.delta == right.delta == DELTA / len(promise.statements)
        assert error.bound == pytest.approx(upper(k, n, error.delta), rel=1e-8)
        assert right.bound == pytest.approx(upper(n - k, n, error.delta), rel=1e-8)
    return pairs


def test_values_of_text_columns_are_the_groups():
    table = table_of(500, 0)
    true, said = answers_of(table, 1)
    promise = promise_of(table, "sex", "site")
    assert (promise.guide_rows, promise.set_aside) == (0, 0)
    assert promise.fixed == (Fixed("sex", (), ("f", "m")), Fixed("site", (), ("a", "b", "missing")))
    masks = {f"sex = {value}": np.asarray(table["sex"] == value) for value in "fm"}
    masks |= {f"site = {value}": np.asarray(table["site"] == value) for value in "ab"}
    masks["site = missing"] = np.asarray(table["site"].isna())
    pairs = check(promise, masks, true != said)
    # The gap is that within a column, whichever has the larger.
    gaps = [
        max(error.bound for error, _ in own) - min(1 - right.bound for _, right in own)
        for own in (pairs[:2], pairs[2:])
    ]
    assert promise.value == pytest.approx(max(gaps), rel=1e-12)
    assert Fraction(promise.value) >= max(
        Fraction(error.bound) + Fraction(right.bound) - 1
        for own in (pairs[:2], pairs[2:])
        for error, _ in own
        for _, right in own
    )


def test_ranges_of_numbers_are_fixed_by_rows_that_are_not_counted(one_digest):
    table = table_of(600, 0)
    table.loc[::40, "age"] = np.nan
    true, said = answers_of(table, 1)
    promise = promise_of(table, "age", ("sex", "age"))
    aside = set_aside(600, one_digest)
    kept = np.setdiff1d(np.arange(600), aside)
    assert (promise.guide_rows, promise.set_aside) == (120, 120)
    ages = np.sort(table["age"].to_numpy()[aside])
    ages = ages[~np.isnan(ages)]
    edges = [float(ages[math.ceil(len(ages) * quarter / 4) - 1]) for quarter in (1, 2, 3)]
    assert promise.fixed[0] == Fixed("age", tuple(edges), ("missing",))
    own = table.iloc[kept]
    low, middle, high = (f"{edge:g}" for edge in edges)
    age = own["age"].to_numpy()
    masks = {
        f"age < {low}": age < edges[0],
        f"{low} <= age < {middle}": (age >= edges[0]) & (age < edges[1]),
        f"{middle} <= age < {high}": (age >= edges[1]) & (age < edges[2]),
        f"age >= {high}": age >= edges[2],
        "age = missing": np.isnan(age),
    }
    both = {
        f"sex = {value}, {label}": np.asarray(own["sex"] == value) & mask
        for value in "fm"
        for label, mask in masks.items()
    }
    check(promise, masks | both, (true != said)[kept])


def test_counted_rows_do_not_move_the_edges(one_digest):
    table, other = table_of(600, 0), table_of(600, 5)
    aside = set_aside(600, one_digest)
    other.loc[aside] = table.loc[aside]
    first, second = promise_of(table, "age"), promise_of(other, "age", seed=7)
    assert first.fixed == second.fixed
    assert first.statements != second.statements


def test_whether_rows_are_set_aside_is_decided_by_these_alone(one_digest):
    aside = set_aside(600, one_digest)
    few = np.arange(600) % 30
    few[aside] = np.arange(120) % 3  # the others have thirty different numbers
    true, said = answers_of(table_of(600, 0), 1)
    given = {"promises": [Subgroups(0)], "random_state": 0}
    promise = certify_predictions(true, said, table=few[:, None], **given).promises[1]
    assert (promise.set_aside, promise.fixed[0].words) == (0, tuple(map(str, range(30))))
    many = np.arange(600) % 3
    many[aside] = np.arange(120)
    promise = certify_predictions(true, said, table=many[:, None], **given).promises[1]
    assert (promise.set_aside, promise.fixed[0].numbers) == (120, (29.0, 59.0, 89.0))


def test_training_rows_fix_the_groups_of_a_fit():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"dose": rng.integers(0, 3, 400), "age": rng.normal(50, 9, 400), "x": rng.normal(size=400)})
    y = (X["x"] + 0.3 * rng.normal(size=400) > 0).astype(int)
    clf = CertifiedVoteClassifier(
        "dis-b", "stumps", promises=[Subgroups("dose", "age", bins=3)], split=Single(0.5), random_state=0
    )
    # A dose that only one row has is in the training rows or belongs to no group.
    X.loc[0, "dose"] = 9
    clf.fit(X, y)
    promise, part = clf.certificate_.promises[1], clf.part_
    assert (promise.guide_rows, promise.set_aside) == (len(part.train), 0)
    doses = sorted(set(X["dose"].iloc[part.train]))
    assert promise.fixed[0] == Fixed("dose", (), tuple(map(str, doses)))
    ages = np.sort(X["age"].iloc[part.train].to_numpy())
    assert promise.fixed[1].numbers == tuple(ages[math.ceil(len(ages) * third / 3) - 1] for third in (1, 2))
    rows = X.iloc[part.certify]
    wrong = clf.predict(rows) != y.iloc[part.certify]
    for entry, dose in zip(promise.statements[::2], doses, strict=False):
        mask = rows["dose"] == dose
        assert (entry.label, entry.n, entry.errors or 0) == (f"dose = {dose}", mask.sum(), (wrong & mask).sum())
    # The price of the draw is that of the part: the bound at the level of what it has.
    nats = clf.certificate_.deployed_part.penalty
    entry = promise.statements[0]
    assert entry.bound == pytest.approx(upper(entry.errors, entry.n, entry.delta * math.exp(-nats)), rel=1e-8)
    copy = clone(clf)
    assert copy.promises == clf.promises


def test_a_group_without_rows_is_said_to_have_none(one_digest):
    table = table_of(300, 0)
    aside = set_aside(300, one_digest)
    table.loc[aside[0], "site"] = "c"
    promise = promise_of(table, "site", "age")
    entry = next(entry for entry in promise.statements if entry.label == "site = c")
    assert (entry.n, entry.errors, entry.bound) == (0, None, 1.0)
    text = str(promise)
    assert "site = c: no rows, so nothing is known" in text
    # It has no part in the gap.
    own = [entry for entry in promise.statements if entry.label.startswith("site") and entry.n]
    gap = max(e.bound for e in own if e.kind == "error") - min(1 - e.bound for e in own if e.kind == "right")
    assert promise.value >= gap
    assert f"to {100 * gap:.1f}"[:6] in text


def test_few_rows_are_shown_with_their_width():
    table = pd.DataFrame({"site": ["a"] * 198 + ["b"] * 2})
    certificate = certify_predictions(["x", "y"] * 100, ["x", "y"] * 100, table=table, promises=[Subgroups("site")])
    promise = certificate.promises[1]
    bound = upper(0, 2, DELTA / 4)
    assert f"site = b: errors between 0.00 % and {math.ceil(bound * 1e4) / 100:.2f} % (0 of 2)" in str(promise)
    assert promise.value == pytest.approx(bound, rel=1e-9)


def test_a_gap_that_is_sure_is_said():
    table = pd.DataFrame({"sex": ["f", "m"] * 300})
    true, said = ["ill"] * 600, ["ill", "ill", "well", "ill"] * 150
    promise = certify_predictions(true, said, table=table, promises=[Subgroups("sex")]).promises[1]
    low = (1 - upper(150, 300, DELTA / 4)) - upper(0, 300, DELTA / 4)
    high = upper(150, 300, DELTA / 4)
    expected = f"{math.floor(low * 1e4) / 100:.2f} to {math.ceil(high * 1e4) / 100:.2f} percentage points"
    assert expected in str(promise)


def test_one_group_has_no_gap():
    table = pd.DataFrame({"sex": ["f"] * 100})
    promise = certify_predictions(["a", "b"] * 50, ["a", "b"] * 50, table=table, promises=[Subgroups("sex")]).promises[
        1
    ]
    assert promise.value is None
    assert "percentage points" not in str(promise)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([7, 7.0, "7", "x"] * 25, ("7", "x")),
        ([10, 9, 2, 9] * 25, ("2", "9", "10")),
        ([True, False] * 50, ("False", "True")),
        (pd.Categorical(["b", "a"] * 50, categories=["b", "a", "c"]), ("a", "b")),
        ([None, "missing", "z", float("nan")] * 25, ("z", "missing")),
        ([1.5, pd.NA, 2.5, None] * 25, ("1.5", "2.5", "missing")),
        ([float("inf"), 1] * 50, ("1", "inf")),
        ([10**400, 1] * 50, ("1", str(10**400))),
    ],
)
def test_values_are_compared_as_text(values, words):
    table = pd.DataFrame({"x": pd.Series(values, dtype=None if isinstance(values, pd.Categorical) else object)})
    certificate = certify_predictions(["a", "b"] * 50, ["a", "b"] * 50, table=table, promises=[Subgroups("x")])
    promise = certificate.promises[1]
    assert set(promise.fixed[0].words) == set(words)
    assert [word for word in promise.fixed[0].words if word == "missing"] == [
        word for word in words if word == "missing"
    ]
    assert sum(entry.n for entry in promise.statements[::2]) == 100


def test_numbers_are_in_their_own_order_and_missing_last():
    table = pd.DataFrame({"x": [10, 9, 2, None] * 25})
    certificate = certify_predictions(["a", "b"] * 50, ["a", "b"] * 50, table=table, promises=[Subgroups("x")])
    assert certificate.promises[1].fixed[0].words == ("2", "9", "10", "missing")


def test_a_number_that_most_rows_have_is_a_group_of_its_own(one_digest):
    values = np.where(np.arange(500) % 10 > 0, 0.0, np.arange(500))
    table = pd.DataFrame({"x": values})
    given = {"table": table, "promises": [Subgroups("x")], "random_state": 0}
    promise = certify_predictions(["a", "b"] * 250, ["a", "b"] * 250, **given).promises[1]
    seen = values[set_aside(500, one_digest)]
    smallest = np.min(seen[seen > 0])
    assert promise.fixed[0].numbers == (smallest,)
    assert [entry.label for entry in promise.statements[::2]] == [f"x < {smallest:g}", f"x >= {smallest:g}"]


@pytest.mark.parametrize("column", [1, "1"])
def test_columns_without_names_go_by_number(column):
    X = np.column_stack([np.arange(200.0), np.arange(200) % 3])
    y = np.arange(200) % 2
    promise = certify_predictions(y, y, table=X, promises=[Subgroups(column)]).promises[1]
    assert promise.fixed == (Fixed("1", (), ("0", "1", "2")),)


@pytest.mark.parametrize("random_state", [None, 0])
def test_entities_are_counted_once_each(random_state):
    rng = np.random.default_rng(0)
    patients = np.repeat(np.arange(60), 4)
    table = pd.DataFrame({"side": rng.choice(["left", "right"], 240)})
    true = rng.choice(["ill", "well"], 240)
    said = np.where(rng.random(240) < 0.1, "ill", true)
    given = {"table": table, "promises": [Subgroups("side")], "groups": patients, "random_state": random_state}
    promise = certify_predictions(true, said, **given).promises[1]
    level = math.log(DELTA / 4)
    for entry in promise.statements:
        mask = np.asarray(table["side"] == entry.label.removeprefix("side = "))
        event = (true != said) if entry.kind == "error" else (true == said)
        shares = sorted(event[mask & (patients == p)].mean() for p in set(patients[mask]))
        assert (entry.n, entry.entities) == (mask.sum(), len(set(patients[mask])))
        assert sorted(entry.losses) == pytest.approx(shares)
        limit = (
            order_free_upper(entry.losses, level) if random_state == 0 else betting_upper(entry.losses, level, level)
        )
        assert entry.bound == pytest.approx(limit, rel=1e-9)
    assert "means over new groups that have such cases" in str(promise)


def unequal_entities(m, rng):
    """Entities of two kinds: one row of v, right, beside rows of many other values; or ten rows of v, mostly wrong."""
    kinds = rng.random(m) < 0.15
    sizes = np.where(kinds, 10, 6)
    who = np.repeat(np.arange(m), sizes)
    first = np.concatenate([[True], who[1:] != who[:-1]])
    hard = kinds[who]
    values = np.where(hard | first, "v", rng.choice(list("abcdefgh"), len(who)))
    wrong = np.where(hard, rng.random(len(who)) < 0.9, rng.random(len(who)) < np.where(values == "v", 0.0, 0.2))
    return who, values, wrong


def test_promised_is_a_random_row_of_a_new_entity_that_has_one():
    """Whatever other values go with the errors; and not the error over all rows of the group, which is far larger."""
    rng, delta, runs = np.random.default_rng(0), 0.2, 120
    failures, below_all_rows = 0, 0
    for _ in range(runs):
        who, values, wrong = unequal_entities(40, rng)
        true = rng.integers(0, 2, len(who))
        table = pd.DataFrame({"g": values})
        said = np.where(wrong, 1 - true, true)
        certificate = certify_predictions(
            true, said, delta, groups=who, table=table, promises=[Subgroups("g")], random_state=int(rng.integers(2**31))
        )
        bounds = {(entry.kind, entry.label): entry.bound for entry in certificate.promises[1].statements}
        truth = {"g = v": 0.15 * 0.9} | {f"g = {value}": 0.2 for value in "abcdefgh"}
        failures += any(
            bound < (truth[label] if kind == "error" else 1.0 - truth[label]) for (kind, label), bound in bounds.items()
        )
        below_all_rows += bounds["error", "g = v"] < 1.5 * 0.9 / (1.5 + 0.85)
    assert stats.beta.ppf(0.99, failures + 1, runs - failures) <= delta
    assert below_all_rows > 0.9 * runs


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("when", [datetime.date(2024, 1, 1)], "the column 'when' holds dates or times; make a column of what matters"),
        ("when", [pd.Timedelta("1h"), None], "the column 'when' holds dates or times"),
        ("city", [f"city {place}" for place in range(60)], "the column 'city' has 60 different values; at most 50"),
        ("absent", [1], "There is no column 'absent'"),
        (("a", "b"), [1], "together make"),
    ],
)
def test_columns_that_will_not_do_are_refused_early(column, values, message):
    n = 240
    table = pd.DataFrame(
        {"x": np.arange(n), "a": [f"a{i % 20}" for i in range(n)], "b": [f"b{i % 20}" for i in range(n)]}
    )
    if isinstance(column, str) and column != "absent":
        table[column] = [values[place % len(values)] for place in range(n)]
    y = np.arange(n) % 2
    with pytest.raises(ValueError, match=message):
        certify_predictions(y, y, table=table, promises=[Subgroups(column)])


class Unfit(Stumps):
    def fit(self, *args, **given):
        raise AssertionError("voters were fitted, though the promise cannot be made")


def test_a_fit_refuses_before_voters_are_fitted():
    X, y = pd.DataFrame({"x": np.arange(40.0)}), np.arange(40) % 2
    with pytest.raises(ValueError, match="There is no column 'sex' in X; its columns are x"):
        CertifiedVoteClassifier("dis-b", Unfit(), promises=[Subgroups("x", ("x", "sex"))]).fit(X, y)
    with pytest.raises(AssertionError, match="voters were fitted"):
        CertifiedVoteClassifier("dis-b", Unfit(), promises=[Subgroups("x")]).fit(X, y)


def test_without_a_table_there_are_no_columns():
    with pytest.raises(ValueError, match="there is no table of rows"):
        certify_predictions(["a", "b"] * 10, ["a", "b"] * 10, promises=[Subgroups("sex")])


@pytest.mark.parametrize(
    ("columns", "given", "message"),
    [
        ((), {}, "needs the name of a column"),
        (("a", "a"), {}, "a column or combination twice"),
        (("a", ("a",)), {}, "a column or combination twice"),
        ((("a", "a"),), {}, "a combination of a column with itself"),
        (((),), {}, "takes names of columns"),
        ((1.5,), {}, "takes names of columns"),
        ((True,), {}, "takes names of columns"),
        (("a",), {"bins": 1}, "bins of Subgroups must be a whole number from 2 to 50; got 1"),
        (("a",), {"bins": 2.5}, "bins of Subgroups"),
        (("a",), {"bins": True}, "bins of Subgroups"),
    ],
)
def test_parameters_are_checked(columns, given, message):
    with pytest.raises(ValueError, match=message):
        Subgroups(*columns, **given)


def test_parameters_can_be_written_down():
    promise = Subgroups("sex", 3, ("sex", "site"), bins=3)
    assert repr(promise) == "Subgroups('sex', '3', ('sex', 'site'), bins=3)"
    assert eval(repr(promise)) == promise
    assert PROMISES["subgroups"].from_parameters(json.loads(json.dumps(promise.parameters))) == promise
    with pytest.raises(ValueError, match="columns, a list, and bins"):
        Subgroups.from_parameters({"columns": "sex", "bins": 4})
    with pytest.raises(ValueError, match="columns, a list, and bins"):
        Subgroups.from_parameters({"columns": ["sex"], "bins": 4, "other": 1})


def test_a_record_that_is_not_in_order_is_worded_all_the_same():
    promise = promise_of(table_of(300, 0), "sex", "site")
    shorter = dataclasses.replace(promise, statements=promise.statements[:6])
    nameless = dataclasses.replace(promise, parameters=())
    hostile = dataclasses.replace(promise, parameters=(("columns", "["), ("bins", "4")))
    for record in (shorter, nameless, hostile, dataclasses.replace(promise, fixed=())):
        assert "sex = f: errors between" in promise_text(record)
    assert promise_text(dataclasses.replace(promise, statements=())).startswith("With 95 % confidence")


def test_text_of_columns_cannot_steer_a_terminal():
    table = pd.DataFrame({"sex\x1b[31m": ["f\u202e", "m\n"] * 50})
    promises = [Subgroups("sex\x1b[31m")]
    text = str(certify_predictions(["a", "b"] * 50, ["a", "b"] * 50, table=table, promises=promises).promises[1])
    assert not any(mark in text for mark in ("\x1b", "\u202e"))
    assert len(text.splitlines()) == 4


def test_statements_hold_as_often_as_they_say():
    """Three groups with known errors, of which one is rare: all statements and the gap, in 40 samples at 0.5."""
    rng, delta = np.random.default_rng(0), 0.5
    errors, shares = np.array([0.05, 0.2, 0.1]), [0.6, 0.3, 0.1]
    failures = 0
    for _ in range(40):
        group = rng.choice(3, 150, p=shares)
        wrong = rng.random(150) < errors[group]
        table = pd.DataFrame({"g": group.astype(str)})
        said = wrong.astype(int)
        promise = certify_predictions(
            np.r_[0, 1, np.zeros(148, dtype=int)],
            np.r_[said[:2] ^ [0, 1], said[2:]],
            delta=delta,
            table=table,
            promises=[Subgroups("g")],
        ).promises[1]
        limits = {(entry.label[-1], entry.kind): entry.bound for entry in promise.statements}
        fails = any(
            limits[str(g), "error"] < errors[g] or limits[str(g), "right"] < 1 - errors[g]
            for g in range(3)
            if (str(g), "error") in limits
        )
        failures += fails
        assert fails or promise.value >= 0.15
    assert failures > 0
    assert stats.binom.sf(failures - 1, 40, delta) > 1e-3
