"""Outcomes after deployment: what is counted, what is said, and with which guarantee."""

import math
from datetime import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from watching import outcomes, plain

from certivote import CertifiedVoteClassifier, Monitor, certify_predictions
from certivote.maths.evidence import ErrorBets
from certivote.voters import Stumps


def test_it_knows_what_it_has_seen():
    truth, said = outcomes(500, 0.05)
    monitor = Monitor(plain(), watch=())
    assert monitor.error_so_far is None
    assert monitor.error_limit == 1.0
    assert str(monitor) == "No outcomes have been counted yet."
    counted = monitor.update(truth, said)
    wrong = int(np.sum(truth != said))
    (stream,) = monitor.streams
    assert (counted.rows, counted.counted, counted.repeated) == (500, 500, 0)
    assert (monitor.n, monitor.error_so_far, stream.errors) == (500, wrong / 500, wrong)
    assert monitor.e_value == math.exp(ErrorBets(monitor.bound).log_evidence(500, wrong))
    assert monitor.error_so_far < monitor.error_limit < 0.2
    assert not monitor.alarm


def test_updates_may_be_cut_anyhow():
    truth, said = outcomes(1500, 0.09)
    one, many = Monitor(plain()), Monitor(plain())
    one.update(truth, said)
    for start in range(0, 1500, 7):
        many.update(truth[start : start + 7], said[start : start + 7])
    many.update([], [])
    assert one.alarm
    for own, other in zip(one.streams, many.streams, strict=True):
        assert (own.n, own.errors, own.log_evidence) == (other.n, other.errors, other.log_evidence)
        assert (own.log_evidence_max, own.alarm_at) == (other.log_evidence_max, other.alarm_at)
        assert (own.change_alarms, own.change_at) == (other.change_alarms, other.change_at)
        assert own.log_change == pytest.approx(other.log_change, abs=1e-8)
        assert [point.n for point in own.history] == [point.n for point in other.history]


def test_an_alarm_stays_and_says_when():
    truth, said = outcomes(1000, 0.5)
    monitor = Monitor(plain(), watch=(), alpha=0.05)
    monitor.update(truth, said, when="2026-02-01")
    assert monitor.alarm
    (stream,) = monitor.alarms
    bets, wrong = ErrorBets(monitor.bound), np.cumsum(truth != said)
    first = int(np.argmax(bets.log_evidence(np.arange(1, 1001), wrong) >= math.log(20.0))) + 1
    assert (stream.alarm_at, stream.alarm_when) == (first, "2026-02-01")
    monitor.update(*outcomes(100_000, 0.0))
    assert monitor.alarm
    assert monitor.e_value < 1e-6
    assert stream.log_evidence_max > math.log(20.0)
    text = monitor.summary()
    assert "ALARM" in text
    assert "does not hold any more" in text
    assert "2026-02-01" in text
    assert "at most 5 %" in text


def test_a_change_after_a_long_good_time_is_told_sooner():
    monitor = Monitor(plain(), watch=())
    monitor.update(*outcomes(20_000, 0.005))
    before = monitor.streams[0].change_alarms
    monitor.update(*outcomes(200, 0.3, seed=1), when="after")
    assert not monitor.alarm
    assert monitor.streams[0].change_alarms > before
    assert monitor.streams[0].change_when == "after"


def test_histories_are_bounded():
    monitor = Monitor(plain(), watch=())
    for seed in range(600):
        monitor.update(*outcomes(37, 0.03, seed=seed))
    (stream,) = monitor.streams
    history = stream.history
    assert 250 <= len(history) <= 501
    assert history[-1].n == monitor.n == 600 * 37
    assert len(monitor.calls) <= 500
    assert monitor.calls[-1][0] == monitor.n
    for point in history[:: len(history) // 10]:
        assert point.log_evidence == stream.evidence_at(np.array(point.n), np.array(round(point.errors) << 32))
        assert point.error_limit > point.errors / point.n


# Rows


def test_a_row_counts_once():
    monitor = Monitor(plain(), watch=())
    first = monitor.update([0, 1, 1, 0], [0, 0, 1, 0], ids=["a", "b", "a", "c"])
    assert (first.rows, first.counted, first.repeated) == (4, 3, 1)
    again = monitor.update([0, 1, 1], [0, 1, 0], ids=["a", "d", "b"])
    assert (again.counted, again.repeated) == (1, 2)
    assert (monitor.n, monitor.streams[0].errors) == (4, 1.0)
    assert monitor.update([1], [1], ids=[7.0]).counted == 1
    assert monitor.update([1, 1], [1, 1], ids=[7, "7"]).counted == 0


@pytest.mark.parametrize(
    "ids",
    [
        [1, 1.0, "1", " 1", "1.0", "01", "+1", "1e+00", b"1", Decimal("1.00"), np.int8(1), np.float32(1), True + 0],
        ["1e+16", 1e16, 10**16, "10000000000000000.0", np.uint64(10**16)],
        ["0.5", 0.5, ".50", np.float16(0.5), Decimal("0.5")],
        ["x ", "x", b"x"],
        [np.datetime64("2026-01-31", "ns"), pd.Timestamp("2026-01-31"), datetime(2026, 1, 31)],
    ],
)
def test_an_id_is_the_same_in_every_spelling(ids):
    monitor = Monitor(plain(), watch=())
    for own in ids:
        monitor.update([0], [0], ids=[own])
    assert (monitor.n, monitor.total.repeated) == (1, len(ids) - 1)
    assert Monitor(plain(), watch=()).update([0] * len(ids), [0] * len(ids), ids=ids).counted == 1


def test_names_that_look_like_numbers_are_told_apart():
    """Digits with an e between them are a name, such as the beginning of a digest; an exponent has a sign."""
    ids = ["1e5", "10e4", "0e1", "0e2", "100000", "1e1", "10", "1_0", "0x1", "-1", "1", "nan", "inf", "1,0"]
    assert Monitor(plain(), watch=()).update([0] * len(ids), [0] * len(ids), ids=ids).counted == len(ids)


def test_moments_as_ids_are_the_same_in_arrays_and_in_frames():
    monitor, days = Monitor(plain(), watch=()), np.array(["2026-01-31", "2026-02-01"], dtype="datetime64[ns]")
    assert [monitor.update([0, 0], [0, 0], ids=each).counted for each in (days, pd.Series(days), list(days))] == [
        2,
        0,
        0,
    ]


@pytest.mark.parametrize("ids", [[1.0, float("nan")], [1, None], np.ma.array([1, 2], mask=[False, True]), [1, pd.NA]])
def test_an_id_is_not_missing(ids):
    with pytest.raises(ValueError, match="ids has no value in 1 of 2 rows, the first of them row 1"):
        Monitor(plain(), watch=()).update([0, 0], [0, 0], ids=ids)


@pytest.mark.parametrize(
    ("truth", "said"),
    [
        (["0", "1", "1"], [0, 1, 0]),
        ([0.0, 1.0, 1.0], ["0", "1", "0"]),
        ([False, True, True], np.array([0, 1, 0])),
        (pd.Series([0, 1, 1], dtype="category"), pd.DataFrame({"said": [0, 1, 0]})),
        (pd.array([0, 1, 1], dtype="Int64"), np.array([[0], [1], [0]])),
        (np.array([0, 1, 1], dtype=object), (0, 1, 0)),
    ],
)
def test_labels_are_matched_by_value(truth, said):
    monitor = Monitor(plain(), watch=())
    monitor.update(truth, said)
    assert (monitor.n, monitor.streams[0].errors) == (3, 1.0)


def test_a_class_that_nobody_knew_is_an_error():
    monitor = Monitor(plain())
    monitor.update([2, "other", 0], [0, 1, 0])
    assert [stream.n for stream in monitor.streams] == [3, 1, 0]
    assert monitor.streams[0].errors == 2.0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (([0, 1], [0]), "y_pred has 1 values, and y_true has 2"),
        (([0, None], [0, 1]), "y_true has no value in 1 of 2 rows, the first of them row 1"),
        (([0, 1], [math.nan, 1]), "y_pred has no value"),
        (([0, 1], [0, 2]), "y_pred has the label 2, which is none of the certificate's classes 0, 1"),
        (("01", [0, 1]), "one value for each row"),
        (([[0, 1]], [0, 1]), "one value for each row"),
    ],
)
def test_what_cannot_be_counted_changes_nothing(given, message):
    monitor = Monitor(plain())
    with pytest.raises(ValueError, match=message):
        monitor.update(*given)
    assert monitor.n == monitor.total.rows == 0


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"weights": [1, 2]}, "a random sample of all cases"),
        ({"ids": [1]}, "ids has 1 values"),
        ({"ids": [1, None]}, "ids has no value"),
        ({"groups": [1, 2]}, "about single rows"),
        ({"when": "x" * 65}, "when must be"),
        ({"when": "\x1b[2J"}, "when must be"),
        ({"scores": [0.1]}, "scores must hold"),
        ({"scores": [0.1, math.nan]}, "scores must hold"),
        ({"table": pd.DataFrame({"a": [1]})}, "table must have a row"),
    ],
)
def test_what_else_is_given_is_checked(more, message):
    monitor = Monitor(plain())
    with pytest.raises(ValueError, match=message):
        monitor.update([0, 1], [0, 1], **more)
    assert monitor.n == 0


# Where the certificate comes from


def test_certificates_models_and_files_are_the_same(tmp_path):
    X = np.random.default_rng(0).normal(size=(200, 2))
    clf = CertifiedVoteClassifier("dis-b", Stumps(2), random_state=0).fit(X, X[:, 0] > 0)
    clf.save(tmp_path / "model.certivote")
    (tmp_path / "certificate.json").write_text(clf.certificate_.to_json())
    sources = [clf.certificate_, clf, tmp_path / "model.certivote", str(tmp_path / "certificate.json")]
    assert {Monitor(source).certificate_digest for source in sources} == {clf.certificate_.digest}
    with pytest.raises(TypeError, match="source must be a certificate"):
        Monitor(3)
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(ValueError, match="neither a certificate nor a model"):
        Monitor(tmp_path / "other.json")
    with pytest.raises(FileNotFoundError):
        Monitor(tmp_path / "nothing.json")


@pytest.mark.parametrize("alpha", [0, 1, 1.5, -0.1, math.nan, "0.01", True, None])
def test_alpha_is_a_probability(alpha):
    with pytest.raises(ValueError, match="alpha must be a number between 0 and 1"):
        Monitor(plain(), alpha=alpha)


def test_a_bound_that_says_nothing_is_not_watched():
    certificate = certify_predictions([0, 1], [1, 0])
    assert certificate.vacuous
    monitor = Monitor(certificate)
    monitor.update(*outcomes(5000, 0.9))
    assert not monitor.alarm
    assert monitor.error_so_far > 0.8
    assert monitor.error_limit < 1.0
    assert "cannot be watched" in monitor.summary()


def test_it_says_what_it_takes_for_granted():
    X = np.random.default_rng(0).normal(size=(200, 2))
    random = CertifiedVoteClassifier("smv-exact", Stumps(2), loss="half-weight", random_state=0).fit(X, X[:, 0] > 0)
    assert len(Monitor(plain()).assumptions) == 2
    assert any("drawn for it" in text for text in Monitor(random).assumptions)
    assert any("half of the weight" in text for text in Monitor(random).assumptions)
    monitor = Monitor(random, watch=())
    monitor.update(X[:, 0] > 0, random.predict(X))
    assert monitor.n == 200


# Guarantees


def test_alarms_are_rare_while_all_bounds_hold():
    """Errors exactly as frequent as the bounds allow, on all of them at once."""
    truth, said = outcomes(400, 0.1)
    certificate = certify_predictions(truth, said)
    error, count, monitors, alpha = certificate.bound, 0, 120, 0.2
    by_class = [min(entry.bound, 1.0) for entry in certificate.by_class]
    assert min(by_class) >= error
    for seed in range(monitors):
        monitor = Monitor(certificate, alpha=alpha)
        monitor.update(*outcomes(600, error, seed=seed))
        count += monitor.alarm
    assert count <= monitors * alpha + 2.33 * math.sqrt(monitors * alpha)
    assert count > 0
