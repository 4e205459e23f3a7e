"""Entities and times: what is refused, how rows are divided, the order of bets, the test of drift."""

import numpy as np
import pandas as pd
import pytest
from fits import random_numbers
from scipy import stats
from sklearn.preprocessing import StandardScaler

from certivote import CertifiedVoteClassifier, compare
from certivote.pipeline._grouping import drift_of, make_grouping
from certivote.pipeline._streams import Seed, Streams
from certivote.splits import Single
from certivote.voters import Preprocessed, Stumps, VoterSet

RNG = np.random.default_rng(0)
N = 240
X = RNG.normal(size=(N, 4))
Y = (X[:, 0] + 0.5 * RNG.normal(size=N) > 0).astype(int)
GROUPS = np.array([f"p{k}" for k in RNG.integers(0, 60, N)])


def test_entities_are_numbered_as_they_come_and_then_at_random():
    units, names = make_grouping(N, GROUPS, None), list(dict.fromkeys(GROUPS))
    assert [names[code] for code in units.entities] == GROUPS.tolist()
    streams = Streams(Seed((0,), fresh=False), "data:" + 64 * "0")
    numbers = streams.of("bets").permutation(len(names))
    assert units.shuffled(streams).entities.tolist() == numbers[units.entities].tolist()


def in_order_of_bets(certificate, some):
    """These entities, once each."""
    names = list(dict.fromkeys(GROUPS))
    numbers = random_numbers(certificate, "bets").permutation(len(names))
    return [names[place] for place in np.argsort(numbers) if names[place] in set(some)]


def test_names_are_the_same_however_they_are_written():
    numbers = np.array([7, 3, 7, 10])
    for written in (numbers.astype(float), numbers.astype(str), numbers.astype(object), pd.Series(numbers)):
        assert make_grouping(4, written, None).entities.tolist() == make_grouping(4, numbers, None).entities.tolist()


def test_a_list_of_numbers_and_text_keeps_entities_whole():
    written = [*range(40), *map(float, range(40)), "A1"]
    assert len(set(make_grouping(81, written, None).entities)) == 41
    assert make_grouping(81, pd.Series(written, dtype=object), None).entities.tolist() == list(
        make_grouping(81, written, None).entities
    )


def test_large_numbers_and_moments_keep_their_names():
    large = pd.array([10**17 + k for k in (0, 1, 2, 0)], dtype="Int64")
    assert len(set(make_grouping(4, large, None).entities)) == 3
    days = pd.Series(pd.to_datetime(["2026-01-01", "2026-01-02", "2026-01-01", "2026-01-03"]))
    expected = make_grouping(4, days, None).entities.tolist()
    for unit in ("s", "us", "ns"):
        assert make_grouping(4, days.astype(f"datetime64[{unit}]"), None).entities.tolist() == expected
        assert make_grouping(4, days.to_numpy().astype(f"datetime64[{unit}]"), None).entities.tolist() == expected
        assert make_grouping(4, list(days.to_numpy().astype(f"datetime64[{unit}]")), None).entities.tolist() == expected
    assert len(set(make_grouping(3, [np.inf, 1.5, "\ud800"], None).entities)) == 3


@pytest.mark.parametrize(
    ("groups", "order", "message"),
    [
        (GROUPS, np.arange(N), "groups and order cannot be used together"),
        (GROUPS[:10], None, "inconsistent numbers of samples"),
        (["same"] * N, None, "at least two entities; all 240 rows are of 'same'"),
        ([None, *GROUPS[1:]], None, "groups must have a value for every row; 1 are missing, the first in row 0"),
        (None, [*range(N - 1), np.nan], "order must have a value for every row; 1 are missing, the first in row 239"),
        (None, ["monday"] * N, "order must hold numbers or dates"),
        (None, np.ones(N), "order must tell earlier rows from later ones"),
        (np.ones((N, 2)), None, "groups must have one value for each row; got an array of shape"),
    ],
)
def test_what_cannot_be_is_refused(groups, order, message):
    with pytest.raises(ValueError, match=message):
        CertifiedVoteClassifier("dis-b", "forest", random_state=0).fit(X, Y, groups=groups, order=order)


@pytest.mark.parametrize("split", ["single", "cross", 3])
def test_entities_are_divided_never_rows(split):
    clf = CertifiedVoteClassifier("dis-b", Stumps(n_thresholds=2), split, prior=0.5, random_state=0)
    clf.fit(X, Y, groups=GROUPS)
    for rows, record in zip(clf.parts_, clf.certificate_.parts, strict=True):
        assert not set(GROUPS[rows.train]) & set(GROUPS[rows.certify])
        assert sorted([*rows.train, *rows.certify]) == list(range(N))
        assert (record.entities, record.n) == (len(set(GROUPS[rows.certify])), len(rows.certify))
        wrong = clf.predict(X[rows.certify]) != Y[rows.certify]
        if rows is clf.part_:
            names = in_order_of_bets(clf.certificate_, GROUPS[rows.certify])
            assert record.losses == tuple(np.mean(wrong[GROUPS[rows.certify] == name]) for name in names)
            assert record.errors == wrong.sum()


def test_bets_are_on_the_same_losses_in_an_order_that_seed_and_data_decide():
    renamed = np.array([f"another {name}" for name in GROUPS])
    rows = np.random.default_rng(5).permutation(N)
    made = [
        CertifiedVoteClassifier("holdout", Stumps(3, ranges=[(-5.0, 5.0)] * 4), "none", random_state=seed)
        .fit(X[p], Y[p], groups=groups[p])
        .certificate_.deployed_part.losses
        for seed, groups, p in (
            (0, GROUPS, np.arange(N)),
            (1, GROUPS, np.arange(N)),
            (0, renamed, np.arange(N)),
            (0, GROUPS, rows),
        )
    ]
    assert len(set(map(tuple, map(sorted, made)))) == 1
    assert len(set(made)) == 4


def test_bounds_by_class_are_about_entities_that_have_the_class():
    clf = CertifiedVoteClassifier("dis-b", Stumps(n_thresholds=2), random_state=0).fit(X, Y, groups=GROUPS)
    rows = clf.part_.certify
    wrong, names = clf.predict(X[rows]) != Y[rows], GROUPS[rows]
    for entry in clf.certificate_.by_class:
        own = Y[rows] == int(entry.label)
        having = in_order_of_bets(clf.certificate_, names[own])
        assert (entry.n, entry.entities, entry.errors) == (own.sum(), len(having), wrong[own].sum())
        assert entry.losses == tuple(np.mean(wrong[own & (names == name)]) for name in having)
        assert np.mean(entry.losses) < entry.bound


def test_false_alarms_by_entity():
    y = (X[:, 0] > 0.5).astype(int) + (X[:, 0] > -0.5)
    clf = CertifiedVoteClassifier("dis-b", "forest", random_state=0).fit(X, y, groups=GROUPS)
    rows = clf.part_.certify
    answers, names = clf.predict(X[rows]), GROUPS[rows]
    alarms = [entry for entry in clf.certificate_.by_class if entry.kind == "false alarm"]
    assert len(alarms) == 3
    for entry in alarms:
        others = y[rows] != int(entry.label)
        false = answers == int(entry.label)
        having = in_order_of_bets(clf.certificate_, names[others])
        assert entry.losses == tuple(np.mean(false[others & (names == name)]) for name in having)
        assert entry.errors == false[others].sum()


def test_entities_of_one_row_are_said_to_be_so():
    clf = CertifiedVoteClassifier("holdout", Stumps(n_thresholds=2), random_state=0)
    without = clf.fit(X, Y).certificate_.bound
    grouped = clf.fit(X, Y, groups=np.arange(N)).certificate_
    assert any("Every certified group has one row" in remark for remark in grouped.remarks)
    assert grouped.bound < 1.5 * without
    assert not any("one row" in remark for remark in clf.fit(X, Y, groups=GROUPS).certificate_.remarks)


def test_the_name_of_the_column_is_recorded():
    clf = CertifiedVoteClassifier("holdout", Stumps(n_thresholds=2), random_state=0)
    assert clf.fit(X, Y, groups=pd.Series(GROUPS, name="patient")).certificate_.groups == "patient"
    assert clf.fit(X, Y, groups=GROUPS).certificate_.groups == "groups"
    assert clf.fit(X, Y, order=pd.Series(np.arange(N), name="day")).certificate_.order == "day"
    assert clf.fit(X, Y).certificate_.groups == clf.certificate_.order == ""


def test_every_method_compares_on_entities():
    common = {"voters": Stumps(n_thresholds=1), "prior": 0.5, "random_state": 0}
    table = compare(X, Y, groups=GROUPS, **common)
    assert len(table) == 10
    ungrouped = compare(X, Y, **common)
    assert (table["bound"] > table["empirical risk"]).all()
    assert set(table.index) == set(ungrouped.index)


class Aloof(VoterSet):
    """A family of somebody who has not heard of entities."""

    needs_training = True

    @property
    def input_checks(self):
        return {"dtype": float}

    def fit(self, X, y, classes, rng):
        raise AssertionError("never asked")


@pytest.mark.parametrize("voters", [Aloof(), Preprocessed(StandardScaler(), Aloof())])
def test_voters_that_do_not_know_of_entities_are_refused(voters):
    with pytest.raises(ValueError, match="groups cannot be used with Aloof: its fit takes no 'entities'"):
        CertifiedVoteClassifier("dis-b", voters).fit(X, Y, groups=GROUPS)


def test_weights_in_the_place_of_scikit_learn_are_not_taken_for_groups():
    with pytest.raises(TypeError, match="positional"):
        CertifiedVoteClassifier("dis-b", "forest").fit(X, Y, np.ones(N))


# Time


@pytest.mark.parametrize("moments", [np.arange(N)[::-1], pd.Series(pd.date_range("2026-01-01", periods=N))[::-1]])
def test_the_earliest_rows_train_and_the_latest_certify(moments):
    clf = CertifiedVoteClassifier("dis-b", Stumps(n_thresholds=2), random_state=0).fit(X, Y, order=moments)
    times = np.asarray(moments)
    assert times[clf.part_.train].max() < times[clf.part_.certify].min()
    assert len(clf.part_.train) == N // 2


def test_the_learning_curve_is_that_of_the_earliest_rows():
    clf = CertifiedVoteClassifier(voters="forest", random_state=0).fit(X, Y, order=np.arange(N))
    assert "first 48 rows" in clf.certificate_.choices[0]
    assert clf.part_.certify.tolist() == list(range(len(clf.part_.train), N))


@pytest.mark.parametrize("split", ["cross", 4])
def test_time_does_not_run_backwards(split):
    with pytest.raises(ValueError, match="order goes with split='single'"):
        CertifiedVoteClassifier("dis-b", "forest", split).fit(X, Y, order=np.arange(N))


def test_drift_is_fishers_test_of_the_two_halves():
    rng = np.random.default_rng(2)
    times, wrong = rng.permutation(101), rng.random(101) < 0.3
    (drift,) = drift_of(wrong, times)
    late = times >= 50
    assert (drift.early_rows, drift.late_rows) == (50, 51)
    assert (drift.early_errors, drift.late_errors) == (wrong[~late].sum(), wrong[late].sum())
    table = [[wrong[~late].sum(), (~wrong[~late]).sum()], [wrong[late].sum(), (~wrong[late]).sum()]]
    assert drift.p_value == pytest.approx(stats.fisher_exact(table)[1], rel=1e-12)


def test_rows_of_one_moment_have_no_order():
    """Files are often sorted by outcome within a day: neither the split nor the test may go by that."""
    times, wrong = np.repeat([3, 1, 2], [20, 50, 31]), np.arange(101) % 2 == 0
    (drift,) = drift_of(wrong, times)
    assert (drift.early_rows, drift.late_rows) == (50, 51)
    assert drift.early_errors == wrong[times == 1].sum()
    assert drift_of(wrong, np.ones(101)) == ()
    month = np.repeat([1, 2], N // 2)
    y = np.concatenate([np.sort(Y[: N // 2]), np.sort(Y[N // 2 :])])
    clf = CertifiedVoteClassifier("holdout", Stumps(n_thresholds=2), Single(0.75), random_state=0)
    rows = clf.fit(X, y, order=month).part_.certify
    assert month[rows].tolist() == [2] * 60
    later = y[N // 2 :]
    assert abs(y[rows].mean() - later.mean()) < 0.25  # in the order of the file, all of them were of the last class
    assert y[-60:].min() == 1


@pytest.mark.parametrize(
    "moments",
    [
        pd.Series(pd.date_range("2026-03-28", periods=N, freq="h", tz="Europe/Berlin")),
        list(pd.date_range("2026-01-01", periods=N).to_pydatetime()),
        list(pd.date_range("2026-01-01", periods=N).date),
        pd.date_range("2026-01-01", periods=N).to_numpy(),
        pd.Series(pd.timedelta_range("1h", periods=N)),
    ],
    ids=["zone", "datetimes", "dates", "numpy", "since"],
)
def test_moments_of_all_kinds(moments):
    times = make_grouping(N, None, moments).times
    assert (np.diff(times) > np.timedelta64(0, "s")).all()


def test_a_fit_is_not_repeated_without_its_groups():
    clf = CertifiedVoteClassifier("dis-b", "forest", random_state=0).fit(X, Y, groups=GROUPS)
    with pytest.raises(ValueError, match="certified with groups \\('groups'\\): give groups= to repeat its fit"):
        clf.refit(X, Y)
    assert clf.refit(X, Y, groups=GROUPS).certificate_ == clf.certificate_
    clf.fit(X, Y, order=np.arange(N))
    with pytest.raises(ValueError, match="certified with order"):
        clf.refit(X, Y)


def test_groups_are_pointed_out_in_a_recording_too():
    patient = np.repeat(np.arange(60), 8)
    rng = np.random.default_rng(4)
    table = pd.DataFrame(rng.normal(size=(60, 5))[patient] + 0.02 * rng.normal(size=(480, 5)), columns=list("abcde"))
    y, when = rng.integers(0, 2, 60)[patient], rng.permutation(480)
    clf = CertifiedVoteClassifier("holdout", Stumps(n_thresholds=2), random_state=0)
    clf.fit(table.assign(patient_id=patient), y, order=when)
    assert any(remark.startswith("Column 'patient_id' repeats") for remark in clf.certificate_.remarks)


def test_drift_is_seen_where_there_is_some():
    changed = np.where(np.arange(N) < 180, Y, 1 - Y)
    fitted = CertifiedVoteClassifier("holdout", "forest", random_state=0)
    assert fitted.fit(X, changed, order=np.arange(N)).certificate_.deployed_part.drift[0].p_value < 1e-6
    assert fitted.fit(X, Y, order=np.arange(N)).certificate_.deployed_part.drift[0].p_value > 0.01
    random_vote = CertifiedVoteClassifier("smv-exact", Stumps(n_thresholds=3), random_state=0)
    assert random_vote.fit(X, Y, order=np.arange(N)).certificate_.deployed_part.drift == ()
