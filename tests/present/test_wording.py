"""The words that users read: one vocabulary in text, card and report, and nothing decided by a name."""

import ast
import re
from dataclasses import replace
from pathlib import Path

import pytest
from fits import fitted
from reports import KINDS, answers, certificate, labels, page_words, views

import certivote.present
from certivote import certify_predictions
from certivote.present import certificate_card, details_text
from certivote.theory.families import FAMILIES
from certivote.theory.methods import METHODS
from certivote.theory.predictors import PREDICTORS

SOURCE = Path(certivote.present.__file__).parent
OURS = re.compile(r"\b(teach\w*|taught|cop(y|ies)|certified rows?|equal voters|a line a|a row a)\b", re.IGNORECASE)


def own_words(made):
    """The certificate with duplicates, and without what depends on the data."""
    parts = tuple(replace(part, duplicates=3, duplicates_of_training_rows=2) for part in made.parts)
    return replace(made, parts=parts, findings=(), first_rows=None)


@pytest.mark.parametrize("kind", KINDS)
def test_users_read_one_vocabulary(kind, tmp_path):
    made = own_words(certificate(kind))
    path = tmp_path / "report.html"
    made.report(path)
    page = path.read_text(encoding="utf-8")
    for text in (details_text(made), certificate_card(made), page[page.index("<body>") :]):
        assert not OURS.search(text), OURS.search(text)
        assert "certification rows" in text


def test_terms_are_explained_where_they_first_appear(tmp_path):
    path = tmp_path / "report.html"
    fitted("dis-r", prior="auto").certificate_.report(path)
    page = path.read_text(encoding="utf-8")
    page = page[page.index('id="glance"') :]
    for term, explanation in (
        (r"\bdraws?\b", "a draw is the random choice of the weights"),
        (r"\bnats\b", "nats (natural logarithms of probabilities"),
        (r"[Hh]yper-prior", "the hyper-prior, that is, from what was assumed about the weights"),
        (r"effective number", "how many voters of equal weight would be as concentrated"),
    ):
        assert abs(page.index(explanation) - re.search(term, page).start()) < 200


def test_facts_have_their_names():
    made = fitted("dis-b").certificate_
    part, text = made.deployed_part, " ".join(details_text(made).split())
    assert f"voters {part.n_voters:,}, trained on {part.training_rows:,} rows; split: single" in text
    assert f"observed errors {part.errors} of {part.n} certification rows" in text
    assert "duplicates no certification row equals another one or a training row" in text
    assert f"prior weights {made.hyper_prior}" in text
    found = " ".join(details_text(own_words(made)).split())
    assert "3 certification rows equal an earlier one, 2 equal a training row (all are counted)" in found


@pytest.mark.parametrize(("errors", "words"), [(0, "0 errors"), (1, "1 error)"), (2, "2 errors")])
def test_one_error_is_not_plural(errors, words):
    made = fitted("dis-b").certificate_
    part = made.deployed_part
    part = replace(part, holdout=replace(part.holdout, errors=errors))
    assert f"({words}" in " ".join(details_text(replace(made, parts=(part,))).split())


def test_nothing_is_decided_by_the_name_of_a_method():
    names = {*METHODS, *PREDICTORS, *FAMILIES}
    for path in SOURCE.rglob("*.py"):
        constants = {node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)}
        assert not names & constants, path
    page = (SOURCE / "report" / "page.html.jinja").read_text()
    assert not [name for name in names if f'"{name}"' in page or f"'{name}'" in page]


@pytest.mark.parametrize(
    ("delta", "shown"),
    [(1e-7, "99.99999 %"), (1e-12, "99.9999999 %"), (1 / 60, "98.333 %"), (0.1 + 0.2, "70 %")],
)
def test_the_confidence_is_rounded_down_and_never_whole(delta, shown):
    made = certify_predictions(labels(), answers(labels(), 0.05), delta)
    for name, words in views(made).items():
        assert f"With {shown} confidence" in words, name
        assert "100 % confidence" not in words, name


@pytest.mark.parametrize("kind", ["a model", "a model of entities", "best of models", "time", "dis-r", "smv-exact"])
def test_percentages_are_written_in_one_way(kind):
    made = certificate(kind)
    for name, words in views(made).items():
        assert not re.search(r"\d%", words), name


def test_bounds_of_many_classes_are_one_line_of_the_print_and_all_of_the_details():
    truth = [f"class {k % 11}" for k in range(220)]
    many = certify_predictions(truth, truth)
    assert "errors within a class at most" in str(many)
    assert str(many).count("class ") <= 5
    assert details_text(many).count(": errors at most ") == 11


def test_without_errors_nothing_is_said_of_a_least_bound():
    truth = labels()
    assert "would bring the bound below" not in page_words(certify_predictions(truth, truth))[0]
    said = answers(truth, 0.05)
    share = 100 * (said != truth).mean()
    words = page_words(certify_predictions(truth, said))[0]
    assert f"no number of rows would bring the bound below {share:.2f} %." in words
