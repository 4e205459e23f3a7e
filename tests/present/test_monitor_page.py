"""The page of a monitor, its picture and its numbers: everything escaped, nothing fetched, alarms shown."""

import re
import sys
from functools import cache

import matplotlib as mpl
import numpy as np
import pytest
from reports import HARMFUL
from sklearn.datasets import load_breast_cancer
from test_report import Page

from certivote import CertifiedVoteClassifier, DriftMonitor, Monitor, certify_predictions, plot_monitor, recertify
from certivote.present import metrics_text
from certivote.present.monitor._curves import count_ticks, error_curve, evidence_curve
from certivote.present.monitor._happened import changes
from certivote.present.monitor._streams import evidence_text
from certivote.promises import Precision

mpl.use("Agg")


def outcomes(n, rate, seed, labels=("ill", "well")):
    rng = np.random.default_rng(seed)
    truth = rng.integers(len(labels), size=n)
    said = np.where(rng.random(n) < rate, (truth + 1) % len(labels), truth)
    return [labels[place] for place in truth], [labels[place] for place in said]


@cache
def certificate(labels=("ill", "well")):
    return certify_predictions(*outcomes(500, 0.05, 0, labels), promises=[Precision()])


@cache
def watched(kind):
    """Monitors in every state that a page may have to show."""
    if kind in ("rows", "rows that differ", "no rows"):
        X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        mixed = np.random.default_rng(0).permutation(len(y))  # those of the table are not all alike
        X, y = X.iloc[mixed], y.iloc[mixed]
        clf = CertifiedVoteClassifier("dis-b", "forest", random_state=0).fit(X[:300], y[:300])
        monitor = DriftMonitor(clf, random_state=0)
        if kind != "no rows":
            monitor.update(X[300:], when="2026-01-01")
        if kind == "rows that differ":
            monitor.update(X[300:] * 1.5, when="2026-01-02")
        return monitor
    if kind == "vacuous":
        monitor = Monitor(certify_predictions(["ill", "well"], ["well", "ill"]))
        monitor.update(*outcomes(30, 0.5, 1), when="2026-01-01")
        return monitor
    labels = HARMFUL if kind == "harmful" else ("ill", "well")
    monitor = Monitor(certificate(labels))
    if kind != "nothing yet":
        monitor.update(*outcomes(400, 0.03, 1, labels), when="2026-01-01")
    if kind in ("alarm", "harmful"):
        monitor.update(*outcomes(400, 0.4, 2, labels), when=HARMFUL[0] if kind == "harmful" else "2026-01-02")
    return monitor


KINDS = ["nothing yet", "quiet", "alarm", "harmful", "vacuous", "no rows", "rows", "rows that differ"]


def page_of(monitor, tmp_path, **options):
    monitor.report(tmp_path / "m.html", **options)
    return Page((tmp_path / "m.html").read_text(encoding="utf-8"))


@pytest.mark.parametrize("kind", KINDS)
def test_every_state_has_a_page_that_fetches_nothing(kind, tmp_path):
    monitor = watched(kind)
    page = page_of(monitor, tmp_path, title=HARMFUL[0], command=f"certivote recertify {HARMFUL[2]}")
    assert page.open == []
    assert [tag for tag, _ in page.tags if tag in ("script", "img", "iframe", "object", "embed")] == []
    for tag, attributes in page.tags:
        assert not {"src", "srcset", "action", "onload", "onerror", "onclick"} & attributes.keys()
        assert tag != "link" or attributes["href"] == "data:,"
        if tag == "svg":
            assert attributes["aria-label"].strip()
    policy = next(a["content"] for t, a in page.tags if t == "meta" and "http-equiv" in a)
    assert "default-src 'none'" in policy
    state = re.search(r"after [\d,]+ (?:outcomes|rows) (No alarm|Alarm)", page.words)[1]
    assert (state == "Alarm") == monitor.alarm
    assert HARMFUL[0] in page.words
    assert monitor.certificate_digest in page.words
    assert not re.search(r"\b(nan|inf|None|undefined)\b", page.words.replace("None.", ""))
    for text in monitor.assumptions:
        assert " ".join(text.split()) in page.words


def test_the_page_shows_what_the_monitor_says(tmp_path):
    monitor = watched("alarm")
    page = page_of(monitor, tmp_path, title="Triage")
    first = monitor.streams[0]
    assert f"alarm after outcome {first.alarm_at:,}, 2026-01-02" in page.words
    assert f"({first.errors:.0f} of {first.n:,})" in page.words
    for stream in monitor.streams:
        assert stream.name in page.words
    assert page.words.count("Promise: ") == 2
    assert [tag for tag, _ in page.tags].count("svg") == 4
    quiet = page_of(watched("quiet"), tmp_path)
    assert "alarm after" not in quiet.words


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("nothing yet", "No outcomes were counted yet"),
        ("quiet", "of 400 outcomes were wrong, and at most"),
        ("alarm", "Do not rely on the certificate, look for what has changed, and certify the model again"),
        ("vacuous", "promises nothing about errors"),
        ("no rows", "No rows were counted yet"),
        ("rows", "nothing needs to be done"),
        ("rows that differ", "let a random sample of them be labelled"),
    ],
)
def test_a_sentence_says_what_happened_and_what_to_do(kind, said, tmp_path):
    page = page_of(watched(kind), tmp_path)
    head, details = page.words.split("Evidence ")[0], page.words.split("Details: ")[1]
    assert said in head
    assert "has reached the line" not in page.words.split("Details: ")[0]
    assert str(watched(kind)).split()[0] in details
    assert ("Columns that have moved most: " in head) == (kind == "rows that differ")


def test_the_page_says_that_a_class_has_become_more_frequent(tmp_path):
    def cases(n, share, seed):
        rng = np.random.default_rng(seed)
        truth = np.where(rng.random(n) < share, "ill", "well")
        missed = rng.random(n) < np.where(truth == "ill", 0.3, 0.02)
        return truth, np.where(missed, np.where(truth == "ill", "well", "ill"), truth)

    monitor = Monitor(certify_predictions(*cases(2000, 0.05, 0)))
    monitor.update(*cases(1000, 0.05, 1), when="2026-01-01")
    assert not any(each.is_large for each in changes(monitor))
    assert "Also changed" not in page_of(monitor, tmp_path).words
    monitor.update(*cases(1000, 0.15, 2), when="2026-01-02")
    first = changes(monitor)[0]
    assert (first.name, first.is_large) in {("class ill", True), ("class well", True)}
    truth = [*cases(1000, 0.05, 1)[0], *cases(1000, 0.15, 2)[0]]
    ill = next(each for each in changes(monitor) if each.name == "class ill")
    assert ill.now == pytest.approx(truth.count("ill") / 2000)
    assert ill.before == pytest.approx(np.mean(cases(2000, 0.05, 0)[0] == "ill"))
    words = page_of(monitor, tmp_path).words
    assert f"Also changed: {first.words}." in words
    monitor.save(tmp_path / "state.json")
    assert changes(Monitor.load(tmp_path / "state.json")) == changes(monitor)


def test_rows_are_never_said_to_have_more_errors(tmp_path):
    words = page_of(watched("rows that differ"), tmp_path).words
    assert "An alarm says that the rows look different, never that the error has grown" in words
    assert watched("rows that differ").moved[0].column in words
    assert "by chance hardly above" in words


def test_without_jinja_one_line_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"install certivote\[report\]"):
        watched("quiet").report(tmp_path / "m.html")
    assert not (tmp_path / "m.html").exists()


# Curves ---------------------------------------------------------------------------------------------------------------


def test_evidence_is_drawn_by_powers_of_ten_and_stays_on_the_page():
    logs = [(1, 0.0), (50, -100.0), (100, np.log(1000.0))]
    curve = evidence_curve([("", logs)], np.log(100.0), 100)
    heights = [y for _, y in curve.points]
    ticks = {text: place for place, text in curve.up}
    assert heights[1] == 0.0
    assert heights[2] == pytest.approx(ticks["1,000"])
    ((kind, level),) = curve.lines
    assert (kind, level[0][1]) == ("level", pytest.approx(ticks["100"]))
    assert all(0.0 <= y <= 1.0 for y in heights)


def test_errors_limit_and_bound_share_an_axis():
    points = watched("alarm").streams[0].history
    curve = error_curve(points, 0.05)
    for _, line in (("", curve.seen), *curve.lines):
        assert all(0.0 <= x <= 1.0 and 0.0 <= y <= 1.0 for x, y in line)
    limits = dict(curve.lines)["limit"]
    assert all(high >= low for (_, high), (_, low) in zip(limits, curve.seen, strict=True))


@pytest.mark.parametrize("last", [1, 2, 3, 7, 10, 99, 100, 338, 6000, 123_456])
def test_numbers_of_outcomes_are_round_and_few(last):
    ticks = count_ticks(last)
    assert 2 <= len(ticks) <= 6
    assert ticks[0] == (0.0, "0")
    assert all(0.0 <= place <= 1.0 for place, _ in ticks)


def test_evidence_is_never_rounded_up():
    for value in (0.03, 1.0, 9.99, 10.04, 105.8, 999.9, 1000.9, 123_456.7):
        shown = float(evidence_text(np.log(value)).replace(",", ""))
        assert shown <= value * (1 + 1e-12)
        assert shown >= 0.98 * value


# Pictures and numbers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["quiet", "alarm", "rows", "rows that differ"])
def test_a_picture_shows_the_evidence_and_the_line(kind):
    monitor = watched(kind)
    ax = plot_monitor(monitor)
    own = monitor if isinstance(monitor, DriftMonitor) else monitor.streams[0]
    change, evidence, line = ax.get_lines()
    assert line.get_ydata()[0] == pytest.approx(np.exp(own.log_threshold))
    assert evidence.get_xdata()[-1] == own.n
    assert np.log(evidence.get_ydata()[-1]) == pytest.approx(own.log_evidence)
    assert len(change.get_ydata()) == len(own.history)
    assert ("alarm after" in ax.get_title(loc="left")) == own.alarm
    assert plot_monitor(monitor, ax) is ax
    mpl.pyplot.close("all")


def test_a_picture_needs_evidence():
    with pytest.raises(ValueError, match="counted nothing yet"):
        plot_monitor(watched("nothing yet"))
    with pytest.raises(ValueError, match="nothing can exceed"):
        plot_monitor(watched("vacuous"))
    with pytest.raises(TypeError, match="must be a Monitor"):
        plot_monitor(certificate())


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_for_operators_can_be_read(kind):
    text = metrics_text(watched(kind))
    assert text.endswith("\n")
    assert "nan" not in text.lower()
    prefix = "certivote_drift_" if isinstance(watched(kind), DriftMonitor) else "certivote_"
    names = {line.split("{")[0] for line in text.splitlines() if not line.startswith("#")}
    assert all(name.startswith(prefix) for name in names)
    assert f"{prefix}any_alarm" in names


# Recorded -------------------------------------------------------------------------------------------------------------


def test_a_new_certificate_says_what_was_seen():
    before = certificate(("ill", "well"))
    truth, said = outcomes(300, 0.05, 9)
    made = recertify(before, y=truth, predictions=said, monitor=watched("alarm"))
    _, counts, *alarms = made.provenance.since
    assert counts.startswith("800 outcomes were watched from 2026-01-01 to 2026-01-02")
    assert len(alarms) == len(watched("alarm").alarms)
    assert "was found not to hold" in alarms[0]
    quiet = recertify(before, y=truth, predictions=said, monitor=[watched("quiet")])
    assert quiet.provenance.since[2] == "No alarm was raised until 2026-01-01."
    nothing = recertify(before, y=truth, predictions=said, monitor=watched("nothing yet"))
    assert nothing.provenance.since[1] == "It was watched, and nothing was counted."
    with pytest.raises(ValueError, match="watched another certificate"):
        recertify(before, y=truth, predictions=said, monitor=watched("harmful"))
    with pytest.raises(TypeError, match="monitor must be a Monitor"):
        recertify(before, y=truth, predictions=said, monitor="monitor.json")
