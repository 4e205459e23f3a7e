"""Adding a part is as short as CONTRIBUTING says: parts that exist in this file only go through everything."""

import json
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from typer.testing import CliRunner

from certivote import (
    Certificate,
    CertifiedVoteClassifier,
    certify_predictions,
    compare,
    load,
    plot_certificate,
    plot_comparison,
    plot_weights,
    verify,
)
from certivote.certificate import percent_up
from certivote.cli import app
from certivote.methods import DisR, make_method
from certivote.promises import PROMISES, Promise
from certivote.theory.calculator import formulas
from certivote.theory.families import FAMILIES
from certivote.theory.methods import METHODS
from certivote.theory.theorems import Ratio
from certivote.voters import VOTERS, Forest, VoterSet
from certivote.votes import build_votes

X, y = (array[:250] for array in load_breast_cancer(return_X_y=True))


@pytest.fixture
def method(monkeypatch):
    """A method is a row: here dis-r with another theorem, which pays one nat more, and another colour."""

    class Dearer(Ratio):
        def price(self, nats, setting):
            return nats + 1.0

        def drawn_penalty(self, family, parameters, prior, point, setting):
            value, *gradients = super().drawn_penalty(family, parameters, prior, point, setting)
            return self.price(value, setting), *gradients

    row = replace(
        METHODS["dis-r"], name="dummy", theorem=Dearer("a theorem of this test", "its average"), colour="#123456"
    )
    monkeypatch.setitem(METHODS, "dummy", row)
    return row


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "rows.csv"
    lines = [",".join([f"x{k}" for k in range(4)] + ["label"])]
    lines += [",".join(map(repr, [*row, int(label)])) for row, label in zip(X[:, :4].tolist(), y, strict=True)]
    path.write_text("\n".join(lines))
    return path


def fit(method="dummy", voters="forest", **parameters):
    return CertifiedVoteClassifier(method, voters, random_state=0, **parameters).fit(X, y)


def test_a_row_fits_and_is_recorded(method):
    clf = fit()
    certificate = clf.certificate_
    assert (certificate.method, certificate.theorem) == ("dummy", "a theorem of this test")
    assert Certificate.from_json(certificate.to_json()) == certificate
    dearer, plain = certificate.deployed_part, fit("dis-r").certificate_.deployed_part
    assert dearer.penalty == pytest.approx(plain.penalty + 1.0)
    assert dearer.bound > plain.bound


def test_a_row_is_averaged_and_bounded_by_class(method):
    for constant in ("exact", "paper"):
        certificate = fit(make_method("dummy", constant=constant), split="cross").certificate_
        assert 0 < certificate.average_bound < 1
        assert len(certificate.by_class) == 2


def test_a_row_is_compared_and_drawn(method):
    table = compare(X, y, ["dummy", "holdout"], voters="forest", random_state=0)
    assert list(table.index) == ["dummy", "holdout"]
    assert "dummy" in compare(X, y, voters="forest", random_state=0).index
    colours = {patch.get_facecolor()[:3] for patch in plot_comparison(table).patches}
    assert tuple(int("123456"[k : k + 2], 16) / 255 for k in (0, 2, 4)) in colours
    clf = fit()
    assert "dummy" in plot_certificate(clf.certificate_).get_title(loc="left")
    assert plot_weights(clf).get_ylabel() == "weight in %"


def test_a_row_is_reported(method, tmp_path):
    certificate = fit().certificate_
    certificate.report(tmp_path / "report.html")
    assert "a theorem of this test" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "dummy, a theorem of this test" in certificate.details()
    assert "a theorem of this test" in certificate._repr_html_()


def test_a_row_is_in_the_calculator(method):
    rows = {row.method: row for row in formulas(0.05, penalty=3.0) if row.constant != "paper"}
    dearer = {row.method: row for row in formulas(0.05, penalty=4.0) if row.constant != "paper"}["dis-r"]
    assert rows["dummy"].bound(12, 500) == dearer.bound(12, 500)
    shown = CliRunner().invoke(app, ["bound", "--errors", "12", "--n", "500", "--json"])
    assert "dummy" in [row["method"] for row in json.loads(shown.stdout)["bounds"]]


def test_a_row_is_on_the_command_line(method, table, tmp_path):
    runner = CliRunner()
    out, model = tmp_path / "certificate.json", tmp_path / "rows.certivote"
    files = ["--out", str(out), "--model", str(model)]
    options = ["fit", str(table), "--target", "label", "--method", "dummy", "--voters", "forest", *files]
    result = runner.invoke(app, options)
    assert result.exit_code == 0, result.output
    assert json.loads(out.read_text())["method"] == "dummy"
    result = runner.invoke(app, ["predict", str(model), str(table)])
    assert result.exit_code == 0, result.output
    options = ["compare", str(table), "--target", "label", "--method", "dummy", "--method", "fo", "--voters", "forest"]
    result = runner.invoke(app, options)
    assert result.exit_code == 0, result.output
    assert "dummy" in result.stdout


def test_only_the_verifier_does_not_know_a_new_row(method):
    assert not all(check.passed for check in verify(fit().certificate_))


def test_a_named_voter_family_is_a_line(monkeypatch, table):
    class Twins(Forest):
        """A forest by another name."""

    monkeypatch.setitem(VOTERS, "twins", Twins)
    assert fit("dis-r", "twins").certificate_.bound == fit("dis-r", "forest").certificate_.bound
    options = ["fit", str(table), "--target", "label", "--method", "dis-r", "--voters", "twins"]
    result = CliRunner().invoke(app, options)
    assert result.exit_code == 0, result.output


def test_a_voter_family_of_its_own():
    clf = CertifiedVoteClassifier("dis-r", _Signs(), "none", random_state=0).fit(X[:, :3] - X[:, :3].mean(axis=0), y)
    assert clf.certificate_.deployed_part.n_voters == 6


class _Signs(VoterSet):
    """Each feature's sign and its opposite: a family in one class, its fitted form in another."""

    input_checks: ClassVar = {"dtype": float}
    needs_training = False

    def fit(self, X, y, classes, rng):
        return _FittedSigns()


class _FittedSigns:
    n_voters = 6

    def votes(self, X):
        return build_votes(codes=np.hstack([X > 0, X <= 0]).astype(np.uint8), n_classes=2)


def test_a_posterior_family_is_a_line(monkeypatch):
    """A family is a class and a line of the table; its mathematics may have a file of its own."""

    class Renamed(type(FAMILIES["logistic-normal"])):
        name = "renamed"

    monkeypatch.setitem(FAMILIES, "renamed", Renamed())
    certificate = fit(DisR(family="renamed")).certificate_
    other = fit(DisR(family="logistic-normal")).certificate_
    assert certificate.deployed_part.family == "renamed"
    assert Certificate.from_json(certificate.to_json()) == certificate
    assert certificate.bound == other.bound


class Unsure(Promise):
    """How often the vote is hardly surer of its answer than of the next class."""

    name = "unsure"
    needs = "scores"

    def __init__(self, below=0.1):
        self.below = below

    def make(self, ledger):
        everywhere = np.ones(len(ledger.rows.labels), dtype=bool)
        event = ledger.rows.scores < self.below
        statement = ledger.events("unsure", "", everywhere, event, threshold=self.below)
        return ledger.record(self.name, [statement], self.parameters)

    @staticmethod
    def sentences(record):
        (entry,) = record.statements
        return [f"unsure in at most {percent_up(entry.bound)} of cases ({entry.errors} of {entry.n})"]


@pytest.fixture
def promise(monkeypatch):
    """A promise is a class and a line of the table."""
    monkeypatch.setitem(PROMISES, Unsure.name, Unsure)
    return Unsure(0.2)


def test_a_promise_is_a_class_and_a_line(promise, tmp_path):
    clf = fit("dis-r", promises=[promise], together=True)
    certificate = clf.certificate_
    _, made = certificate.promises
    (entry,) = made.statements
    masses = clf.predict_proba(X[clf.part_.certify])
    assert (entry.n, entry.errors) == (len(masses), int(np.sum(abs(masses[:, 0] - masses[:, 1]) < 0.2)))
    assert entry.errors / entry.n < entry.bound < 1
    assert Certificate.from_json(certificate.to_json()) == certificate
    for text in (str(made), str(certificate), certificate._repr_html_()):
        assert f"unsure in at most {percent_up(entry.bound)}" in text
    certificate.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8").replace("\N{NO-BREAK SPACE}", " ")
    assert f"unsure in at most {percent_up(entry.bound)}" in page
    clf.save(tmp_path / "unsure.certivote")
    assert load(tmp_path / "unsure.certivote").promises == [promise]
    assert not all(check.passed for check in verify(certificate))  # the verifier does not know it


def test_a_promise_is_made_about_answers(promise):
    rng = np.random.default_rng(0)
    certificate = certify_predictions(y, y, scores=rng.random(len(y)), promises=[promise])
    assert "unsure in at most" in str(certificate.promises[1])
