"""Beside every headline that would hide a failure stands what fails: in text, card, report and comparison."""

from dataclasses import replace
from html import unescape

import numpy as np
import pandas as pd
import pytest
from altering import altered
from fits import fitted, iris_fit
from reports import certificate, rare_fit, rare_rows, with_classes
from sklearn.ensemble import RandomForestClassifier

from certivote import CertifiedVoteClassifier, compare
from certivote.certificate import Statement, percent_up
from certivote.present import cautions, certificate_card, certificate_text, comparison_text
from certivote.present._cautions import other_remarks
from certivote.voters import Forest

MISSED = "Class 'ill' is mostly missed: 8 of its 8 certification rows got a wrong answer."


def rare():
    """Eight ill among the certification rows, all of them missed."""
    made = rare_fit().certificate_
    ill, well = made.by_class
    return with_classes(made, replace(ill, n=8, errors=8, bound=1.0), well)


def with_part(made, **changes):
    """The certificate with numbers of its deployed part changed."""
    parts = list(made.parts)
    parts[made.deployed] = altered(made.deployed_part, **changes)
    return replace(made, parts=tuple(parts))


def with_class(made, **changes):
    first, *rest = made.by_class
    return with_classes(made, replace(first, **changes), *rest)


def sole(made):
    (text,) = cautions(made)
    return text


# What is said


def test_a_good_vote_needs_no_caution():
    for kind in ("dis-b", "dis-r", "folds", "auto", "half-weight"):
        assert cautions(certificate(kind)) == [], kind


@pytest.mark.parametrize(
    ("name", "column", "words"),
    [
        ("treated", lambda y, rng: y + 0.3 * rng.random(len(y)), "Column 'treated' alone tells the class of 100 %"),
        ("row", lambda y, rng: np.argsort(np.argsort(y, kind="stable")), "Column 'row' seems to number the rows of a"),
    ],
)
def test_a_column_that_tells_the_class_is_a_caution_beside_the_bound(name, column, words):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 200)
    X = pd.DataFrame({"a": rng.normal(size=400), name: column(y, rng), "site": 1.0})
    made = CertifiedVoteClassifier("dis-b", "forest", random_state=0).fit(X, y).certificate_
    assert made.bound < 0.1
    said, lost = cautions(made)
    assert said.startswith(words)
    assert lost.startswith("An estimate on training rows")
    assert f"with column {name!r}" in lost
    headline, beside, *_ = certificate_text(made).split("\n\n")
    assert "Any" in headline or "at most" in headline
    assert " ".join(beside.split()).startswith(f"Caution: {words}")
    assert words in unescape(certificate_card(made).split("<details")[0])
    assert not any(words in text for text in other_remarks(made))
    assert any("'site' has the same value" in text for text in other_remarks(made))


def test_a_class_that_is_missed_is_named_with_its_rows():
    real = rare_fit().certificate_
    assert real.bound < 0.1
    ill, _ = real.by_class
    assert ill.errors == ill.n > 0
    said = cautions(real)
    assert (
        f"Class 'ill' is mostly missed: {ill.errors} of its {ill.n} certification rows got a wrong answer." in said[-1]
    )
    assert "worse than a coin" in said[-1]
    assert said[0].startswith(
        ("Always answering 'well' is better", "This is certified no better than always answering")
    )


def test_a_class_of_one_row_is_said_in_good_words():
    made = certificate("dis-b")
    right = with_class(made, n=1, errors=0, bound=0.95)
    assert "by a coin: its only certification row got a right answer, which" in sole(right)
    wrong = with_class(made, n=1, errors=1, bound=1.0)
    assert "mostly missed: its only certification row got a wrong answer." in sole(wrong)
    drawn = with_class(made, n=1, errors=None, means=(0.4,), bound=0.95)
    assert "40.0 % of the answers to its only certification row were wrong" in sole(drawn)


def test_little_confidence_is_said_to_say_little():
    made = certificate("dis-b")
    assert cautions(replace(made, delta=0.5)) == []
    assert sole(replace(made, delta=0.9)) == (
        "A promise with 10 % confidence says little: it may fail more often than not."
    )
    seen = 100 * made.deployed_part.errors / made.deployed_part.n
    assert f"The bound is even below the error rate that was seen, {seen:.2f} %." in sole(
        replace(with_part(made, bound=0.001), delta=0.9)
    )


def test_a_class_with_too_few_rows_is_not_said_to_be_missed():
    made = with_class(certificate("dis-b"), n=3, errors=0, bound=0.75)
    assert sole(made) == (
        f"Class '{made.classes[0]}' is certified no better than by a coin: 0 of its 3 certification rows got a wrong "
        "answer, which bounds its errors by 75.00 % only."
    )
    empty = with_class(certificate("dis-b"), n=0, errors=None, bound=1.0)
    assert sole(empty) == f"Nothing is promised about class '{made.classes[0]}': no certification row has it."
    drawn = with_class(certificate("smv-exact"), n=40, errors=None, means=(0.6123,), bound=0.9)
    assert "61.2 % of the answers to its 40 certification rows were wrong" in sole(drawn)


def test_false_alarms_are_no_errors_and_half_is_no_better_than_a_coin():
    assert cautions(with_class(certificate("dis-b"), kind="false alarm", bound=0.9)) == []
    assert cautions(with_class(certificate("dis-b"), bound=0.5)) == []
    assert len(cautions(with_class(certificate("dis-b"), bound=0.5000001))) == 1


def test_of_many_classes_the_worst_are_named():
    entries = [Statement("error", f"c{k}", None, 10, 0, k, (), (), 0.01, 0, 0.0, 0.6 + k / 100) for k in range(9)]
    said = cautions(with_classes(certificate("dis-b"), *entries))
    assert [text[:10] for text in said[:3]] == ["Class 'c8'", "Class 'c7'", "Class 'c6'"]
    assert said[3:] == ["6 more classes are certified no better than by a coin."]


def test_the_majority_is_compared_by_bounds_and_by_errors():
    made = certificate("dis-b")
    part = made.deployed_part
    assert part.majority.bound > made.bound
    as_good = with_part(made, majority_bound=made.bound, majority_errors=part.errors)
    assert sole(as_good) == (
        f"This is certified no better than always answering '{part.majority.label}', which is wrong on at most "
        f"{percent_up(made.bound)} by the same rows."
    )
    better = with_part(made, majority_errors=part.errors - 1)
    assert "is better: on the same" in sole(better)
    assert f"it makes {part.errors - 1}" in sole(better)
    assert f"this classifier {part.errors} errors." in sole(better)
    assert cautions(with_part(made, majority_bound=float(np.nextafter(made.bound, 1)))) == []


def test_the_random_vote_is_compared_in_the_mean():
    made = certificate("smv-exact")
    part = made.deployed_part
    worse = with_part(made, majority_errors=int(part.risks[0] * part.n) - 1)
    assert "in the mean." in sole(worse)


def test_a_bound_that_says_nothing_is_called_so():
    assert "Any classifier is wrong on at most 100 %" in cautions(certificate("vacuous"))[0]
    assert "no better than guessing among 2 classes" in cautions(with_part(certificate("dis-b"), bound=0.5))[0]


# Where it is said


def test_text_and_card_say_it_beside_the_promise():
    text = " ".join(certificate_text(rare()).split())
    assert text.index("wrong on at most") < text.index(f"Caution: {MISSED}") < text.index("observed")
    card = certificate_card(rare())
    assert card.index("wrong on at most") < card.index("Class &#x27;ill&#x27; is mostly missed") < card.index("<table>")
    assert str(rare()) == certificate_text(rare())
    assert "Caution" not in certificate_text(certificate("dis-b"))


def test_the_report_says_it_in_its_head(tmp_path):
    rare().report(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    head = page[page.index("<header>") : page.index("</header>")]
    assert "Class &#39;ill&#39; is mostly missed: 8 of its 8 certification rows" in head
    certificate("dis-b").report(tmp_path / "r.html")
    assert '<ul class="cautions"' not in (tmp_path / "r.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", ["dis-b", "folds", "smv-exact", "three classes"])
def test_the_majority_is_always_shown(kind, tmp_path):
    made = certificate(kind)
    part = made.deployed_part
    words = f"always answering '{part.majority.label}' is certified at most {percent_up(part.majority.bound)}"
    assert words in " ".join(made.details().split())
    assert f"observed {100 * part.majority.risks[0]:.2f} %: always answering" in str(made)
    made.report(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8").replace("\u00a0", " ").replace("&#39;", "'")
    assert f"To compare: {words} on the same rows" in page


def test_a_comparison_says_which_methods_are_no_better():
    voters = Forest(RandomForestClassifier(n_estimators=5))
    table = compare(*rare_rows(), ["dis-b", "so"], voters=voters, random_state=8)
    text = comparison_text(table)
    assert "Always answering 'well' is certified at most " in text
    assert "Caution: no better than that are dis-b, so." in text
    fine = compare(*load_small(), ["dis-b"], voters=voters, random_state=0)
    assert "Always answering" in comparison_text(fine)
    assert "Caution" not in comparison_text(fine)


def test_a_comparison_says_with_which_seed_it_was_made():
    voters = Forest(RandomForestClassifier(n_estimators=5))
    given, fresh = (
        compare(*load_small(), ["dis-b", "holdout"], voters=voters, random_state=seed) for seed in (3, None)
    )
    assert comparison_text(given).count("Made with seed 3.") == 1
    assert (given.attrs["entropy"], given.attrs["fresh"]) == ([3], False)
    assert len(fresh.attrs["entropy"]) == 4
    assert fresh.attrs["fresh"]
    words = f"Made with fresh seed {', '.join(map(str, fresh.attrs['entropy']))}."
    assert words in " ".join(comparison_text(fresh).split())


def load_small():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=300)
    return rng.normal(size=(300, 2)) + 3 * y[:, None], y


# Where it comes from


def test_text_says_where_it_comes_from():
    made = rare_fit().certificate_.with_source("rows.csv", "0123456789abcdef" * 4)
    text = " ".join(made.details().split())
    assert f"UTC by certivote {made.library_version}, seed 8" in text
    assert f"made {made.provenance.created[:10]}" in text
    assert "data 600 rows, 3 columns; classes: ill 16, well 584" in text
    assert "file rows.csv (SHA-256 0123456789abcdef...)" in text
    assert "rows.csv: 600 rows (300 train, 300 certify), 3 columns" in str(made)


def test_long_lists_of_columns_and_classes_are_cut():
    made = iris_fit("dis-b").certificate_
    names = tuple(f"f{k}" for k in range(7))
    seen = replace(made.provenance, columns=names, n_columns=7, target="species")
    text = " ".join(replace(made, provenance=seen).details().split())
    assert "7 columns ('f0', 'f1', 'f2', 'f3', 'f4' and 2 more); target 'species': 0 50, 1 50, 2 50" in text


def test_the_report_says_it_below_the_headline(tmp_path):
    made = fitted("dis-r").certificate_.with_source("rows.csv", "0123456789abcdef" * 4)
    made.report(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    section = page[page.index('id="provenance"') : page.index('id="verify"')]
    for words in (
        made.provenance.created[:10],
        "seed 0",
        "numpy",
        "569 rows, 30 columns",
        "rows.csv",
        "0123456789abcdef" * 4,
    ):
        assert words in section
    assert "method=dis-r" in section
    assert page.index("</header>") < page.index('id="provenance"')
