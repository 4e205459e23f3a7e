"""The report: one page, everything escaped, nothing fetched, for every kind of certificate."""

import hashlib
import html
import json
import re
import sys
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from fits import cancer, fitted
from reports import HARMFUL, KINDS, certificate, harmful_fit, page_source
from typer.testing import CliRunner

from certivote.certificate import percent_up, used_rows
from certivote.cli import app

run = CliRunner().invoke


class Page(HTMLParser):
    """Tags with their attributes, and the text outside of styles and scripts."""

    def __init__(self, source):
        super().__init__()
        self.tags, self.text, self.open, self.scripts = [], [], [], []
        self.feed(source)
        self.words = " ".join(" ".join(self.text).replace("\u00a0", " ").split())

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in ("meta", "link", "br", "img", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)
        elif not self.open or self.open[-1] != "style":
            self.text.append(data)


def page_of(made, **options):
    return Page(page_source(made, **options))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_certificate_renders(kind):
    made = certificate(kind)
    page = page_of(made)
    assert page.open == []
    assert percent_up(min(made.bound, 1.0)) in page.words
    assert bool(re.search("nothing is promised(?! about later times)", page.words)) == made.vacuous
    assert page.words.count("at most") > 3
    assert not re.search(r"(?<!=)\b(nan|inf|None|undefined)\b", page.words)
    for sentence in made.assumptions:
        assert " ".join(sentence.split()) in page.words
    for entry in made.by_class:
        assert percent_up(min(entry.bound, 1.0)) in page.words
    assert ("no bounds by class" in page.words) == (not made.by_class)
    assert hashlib.sha256(made.to_json().encode()).hexdigest() in page.words


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_fetched_and_every_picture_has_words(kind):
    page = page_of(certificate(kind))
    for tag, attributes in page.tags:
        assert tag not in ("iframe", "object", "embed", "img")
        assert not {"src", "srcset", "action", "onload", "onerror", "onclick"} & attributes.keys()
        assert tag != "link" or attributes["href"] == "data:,"
        if attributes.get("role") == "img":
            assert attributes["aria-label"].strip()
        if tag == "svg":
            assert attributes["role"] == "img"
    assert "innerHTML" not in "".join(page.scripts)
    policy = next(a["content"] for t, a in page.tags if t == "meta" and "http-equiv" in a)
    assert "default-src 'none'" in policy


def test_names_are_shown_and_never_obeyed():
    clf = harmful_fit()
    page = page_of(clf.certificate_, title=HARMFUL[0], truth=HARMFUL, answers=HARMFUL, command=HARMFUL[2])
    assert [tag for tag, _ in page.tags].count("script") == 2
    assert "img" not in [tag for tag, _ in page.tags]
    for name in HARMFUL:
        assert name in page.words
    assert "49 &" not in page.words


@pytest.mark.parametrize("kind", ["dis-b", "folds", "vacuous"])
def test_the_slider_looks_up_what_the_library_computes(kind):
    made = certificate(kind)
    table = json.loads(page_of(made).scripts[0])
    assert len({len(table[name]) for name in ("x", "y", "delta", "bound")}) == 1
    assert table["delta"][table["recorded"]] == f"{made.delta:g}"
    assert table["bound"][table["recorded"]].replace("\u00a0", " ") == percent_up(min(made.bound, 1.0))
    assert table["x"] == sorted(table["x"])
    assert table["y"] == sorted(table["y"], reverse=True)


def test_bounds_are_rounded_up():
    made = certificate("dis-b")
    shown = float(re.search(r"wrong on at most ([\d.]+) %", page_of(made).words)[1])
    assert shown >= 100 * made.bound
    assert shown - 100 * made.bound < 0.01


def test_test_rows_are_counted():
    clf, (X, y) = fitted("dis-b"), cancer()
    answers = clf.predict(X[:50])
    answers[:3] = 1 - y[:3]
    answers[3:] = y[3:50]
    words = page_of(clf.certificate_, truth=y[:50], answers=answers).words
    assert "3 of 50 rows, said to have been used neither for training nor for certification" in words
    zeros = int(np.count_nonzero(y[:50] == 0))
    assert f"{np.count_nonzero(y[:3] == 0)} of {zeros}" in words


@pytest.mark.parametrize("kind", ["dis-b", "stumps", "folds", "three classes"])
def test_each_assumption_says_what_is_known_of_it(kind):
    made = certificate(kind)
    words = page_of(made).words
    assert words.count("ask whoever made it.") == 1
    assert "until the certificate looked good. not checked It is not in the record: ask" in words
    assert words.count("only duplicates were counted") == 1
    assert words.count("by construction") == 1
    assert words.count("not checked") == len(made.assumptions) - 2


def test_nothing_is_called_checked_that_was_not():
    for kind in KINDS:
        assert "checked in part" not in page_of(certificate(kind)).words


def test_rows_that_were_used_are_no_test():
    clf, (X, y) = fitted("dis-b"), cancer()
    words = page_of(clf.certificate_, truth=y, answers=clf.predict(X), used=used_rows(clf, X)).words
    assert (
        "of 569 rows: this is no test (of 569 rows, about 228 trained its voters and about 341 certified it)" in words
    )
    assert "Some of the 569 rows that were given as a test are those that this certificate was made from" in words
    for untrue in ("Seen on test rows", "in the test:", "would certify at most", "used neither for training"):
        assert untrue not in words
    words = page_of(clf.certificate_, truth=y, answers=clf.predict(X)).words
    assert "Seen on test rows" in words
    assert "no test" not in words
    for other, known in (
        (X + 1.0, "none of 569 rows equals one"),
        (X[:, :1], "not checked: the model keeps no witness"),
    ):
        words = page_of(clf.certificate_, truth=y, answers=clf.predict(X), used=used_rows(clf, other)).words
        assert f"neither for training nor for certification ({known}" in words


def test_truth_and_answers_come_together(tmp_path):
    made = certificate("dis-b")
    with pytest.raises(ValueError, match="truth and answers come together"):
        made.report(tmp_path / "r.html", truth=[1])
    with pytest.raises(ValueError, match="must have the same length"):
        made.report(tmp_path / "r.html", truth=[1], answers=[1, 0])
    assert not list(tmp_path.iterdir())


def test_a_missing_template_engine_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"install certivote\[report\]"):
        certificate("dis-b").report(tmp_path / "r.html")


# The command


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    clf, (X, y) = fitted("dis-b"), cancer()
    clf.save(folder / "m.certivote")
    (folder / "c.json").write_text(clf.certificate_.to_json(), encoding="utf-8")
    lines = [",".join([*(f"f{k}" for k in range(X.shape[1])), "state"])]
    lines += [
        ",".join([*(f"{v:.17g}" for v in row), str(label)]) for row, label in zip(X[:40] + 0.5, y[:40], strict=True)
    ]
    (folder / "test.csv").write_text("\n".join(lines) + "\n")
    return folder


def test_a_report_from_the_model_with_test_rows(folder):
    out = folder / "model.html"
    data = ["--data", str(folder / "test.csv"), "--target", "state"]
    result = run(app, ["report", str(folder / "m.certivote"), "-o", str(out), *data, "--title", "Ward 3"])
    assert result.exit_code == 0, result.output
    page = Page(out.read_text(encoding="utf-8"))
    assert "Ward 3" in page.words
    assert "of 40 rows, said to have been used neither for training nor for certification (none of 40" in page.words
    assert "certivote verify m.certivote --data TRAINING_DATA" in page.words


def test_a_report_with_the_training_file_says_what_it_is(folder):
    X, y = cancer()
    table = pd.DataFrame(X, columns=[f"f{k}" for k in range(X.shape[1])]).assign(state=y)
    table.to_csv(folder / "all.csv", index=False)
    data = ["--data", str(folder / "all.csv"), "--target", "state"]
    done = run(app, ["report", str(folder / "m.certivote"), *data, "-o", str(folder / "all.html")])
    assert done.exit_code == 0, done.output
    words = Page((folder / "all.html").read_text(encoding="utf-8")).words
    rows = fitted("dis-b").part_
    assert f"about {len(rows.train)} trained its voters and about {len(rows.certify)} certified it" in words


def test_a_report_from_the_certificate(folder):
    out = folder / "certificate.html"
    result = run(app, ["report", str(folder / "c.json"), "-o", str(out)])
    assert result.exit_code == 0, result.output
    assert "certivote verify c.json" in Page(html.unescape(out.read_text(encoding="utf-8"))).words


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["absent.json"], "absent.json"),
        (["c.json", "--target", "state"], "give --data"),
        (["c.json", "--data", "test.csv", "--target", "state"], "need the model"),
        (["m.certivote", "--data", "test.csv", "--target", "stat"], "state"),
        (["test.csv"], "Not a certificate"),
        (["c.json", "-o", "absent/report.html"], "does not exist"),
    ],
)
def test_what_is_wrong_ends_in_one_line(folder, monkeypatch, arguments, message):
    monkeypatch.chdir(folder)
    before = set(folder.iterdir())
    result = run(app, ["report", *arguments])
    assert result.exit_code == 1
    assert message in result.output
    assert len(result.output.strip().splitlines()) == 1
    assert set(folder.iterdir()) == before
