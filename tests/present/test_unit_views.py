"""Rows that belong to entities, or come in time: what the promise is about, and what must be said beside it."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from altering import with_part
from fits import forest
from reports import answers, certificate, grouped_fit, labels, page_words, patients, views, with_classes
from sklearn.ensemble import RandomForestClassifier

from certivote import CertifiedVoteClassifier, certify_predictions
from certivote.certificate import Drift, Finding
from certivote.present import cautions, comparison_text
from certivote.present import details_text as wrapped_text
from certivote.present.report._curves import delta_curve
from certivote.voters import Forest


def details_text(made):
    """All that is said, on one line."""
    return " ".join(wrapped_text(made).split())


ENTITIES = ["entities", "entities by kl", "entities, mean vote", "entities, random vote", "a model of entities"]


def told(made, words):
    """The one caution with these words."""
    (text,) = [text for text in cautions(made) if words in text]
    return text


# Entities


@pytest.mark.parametrize("kind", ENTITIES)
def test_the_promise_is_about_new_entities(kind):
    made = certificate(kind)
    part = made.deployed_part
    for name, words in views(made).items():
        assert "the cases of a new group ('patient_id') from the same source, every group counting the same" in words
        assert f"{part.n} certification rows in {part.entities} groups" in words, name
        assert "means over new groups that have such cases" in words or "They are means over groups" in words


@pytest.mark.parametrize("kind", ENTITIES)
def test_rows_are_never_the_size_of_the_sample(kind):
    made = certificate(kind)
    part, words = made.deployed_part, page_words(made)[0]
    assert f"nats in all, on {part.entities} groups" in words
    assert "on this many groups" in words
    assert "no number of groups would bring the bound below" in words
    assert "certified groups" in words
    assert not any(text in words for text in ("on this many rows", "number of rows would", "certification rows, about"))


def test_observed_rates_are_means_over_entities():
    """One patient with 90 rows that are wrong, ten with one row that is right."""
    truth = np.array(["ill", "well"] * 50)
    said, who = truth.copy(), np.arange(100)
    said[10:], who[10:] = truth[9:-1], 10
    made = certify_predictions(truth, said, groups=who)
    assert made.deployed_part.errors == 90
    text = details_text(made)
    assert "9.09 % in the mean over groups (90 of 100 certification rows in 11 groups)" in text
    assert "rows with the same 'groups' are one group" in " ".join(text.split())


def test_entities_of_one_row_each_are_said_to_change_nothing():
    truth = labels()
    made = certify_predictions(truth, answers(truth, 0.05), groups=patients(rows_each=1))
    assert "300 certified; rows with the same 'patient_id' are one group, and each has one row" in details_text(made)
    assert "each has one row" not in details_text(certificate("a model of entities"))


def test_few_entities_are_said_beside_the_bound():
    truth = labels()
    few = certify_predictions(truth, answers(truth, 0.05), groups=patients(rows_each=16))
    assert few.deployed_part.entities == 19
    said = "Only 19 groups were certified. The bound rests on these few, not on their 300 rows."
    assert told(few, "Only") == said
    assert said in page_words(few)[1]
    assert not any("Only" in text for text in cautions(with_part(few, entities=20)))
    assert not any("Only" in text for text in cautions(certificate("a model")))


def test_a_vacuous_bound_has_too_few_entities():
    made = with_part(certificate("a model of entities"), bound=1.0)
    assert "too few certified groups" in cautions(made)[0]


def test_the_majority_is_compared_in_the_mean_over_entities():
    made = certificate("a model of entities")
    part = made.deployed_part
    fewer_rows = with_part(made, majority_errors=part.errors - 1)
    assert not any("is better" in text for text in cautions(fewer_rows))
    less = with_part(made, majority_losses=tuple(0.5 * loss for loss in part.losses))
    assert f"it is wrong on {50 * part.risks[0]:.2f} % in the mean over groups" in told(less, "is better")
    assert f"({100 * np.mean(part.majority.losses):.2f} % in the mean over groups, " in details_text(made)


def test_a_class_is_judged_by_the_mean_over_entities():
    made = certificate("a model of entities")
    first, *rest = made.by_class
    entry = replace(first, n=40, entities=3, errors=2, losses=(1.0, 1.0, 0.5), bound=0.99)
    said = told(with_classes(made, entry, *rest), "mostly missed")
    assert "2 of its 40 certification rows in 3 groups got a wrong answer" in said


@pytest.mark.parametrize("method", ["dis-b", "fo", "smv-exact"])
def test_by_class_says_what_it_is_about(method):
    made = grouped_fit(method).certificate_
    entry = made.by_class[0]
    line = next(line for line in wrapped_text(made).splitlines() if f"{entry.label}: errors at most" in line)
    assert f"{entry.n} rows, {entry.entities} groups)" in line
    words = page_words(made)[0]
    assert "They are not the error on a random case of the class." in words
    assert f"over {entry.entities} groups" in words or f"rows of {entry.entities} groups" in words


def test_test_rows_without_their_entities_certify_nothing():
    truth = labels(50, seed=5)
    words = page_words(certificate("entities"), truth=truth, answers=truth)[0]
    assert "The test rows alone would certify nothing" in words
    assert "a share of these rows, not a mean over groups" in words
    assert "would certify at most" not in words
    assert "would certify at most" in page_words(certificate("dis-b"), truth=truth, answers=truth)[0]


def test_bets_on_many_entities_are_drawn_with_fewer_points():
    made = certificate("a model of entities")
    losses = made.deployed_part.losses * 40
    many = with_part(made, entities=len(losses), losses=losses)
    assert len(delta_curve(made)[0].points) > 200 > len(delta_curve(many)[0].points) > 20


def test_columns_that_repeat_are_a_caution_and_no_remark():
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(60), 5)
    X = np.column_stack([who, rng.normal(size=(60, 3))[who] + 0.05 * rng.normal(size=(300, 3))])
    order = rng.permutation(300)
    table = pd.DataFrame(X[order], columns=["patient_id", "a", "b", "c"]).astype({"patient_id": int})
    voters = Forest(RandomForestClassifier(n_estimators=5))
    y = rng.integers(2, size=60)[who][order]
    made = CertifiedVoteClassifier("dis-b", voters, random_state=0).fit(table, y).certificate_
    (remark,) = [text for text in made.remarks if "'patient_id' repeats" in text]
    assert remark in cautions(made)
    page, head = page_words(made)
    assert "--group patient_id" in head
    assert page.count("'patient_id' repeats") == 1
    assert "".join(details_text(made).split()).count("".join(remark.split())) == 1


def test_other_remarks_stay_where_they_were():
    made = replace(certificate("dis-b"), findings=(Finding("constant", (0,), ("a",)),))
    assert cautions(made) == []
    assert "note Column 'a' has the same value in every training row" in details_text(made)
    page, head = page_words(made)
    assert "Remark Column 'a' has the same value in every training row" in page
    assert "the same value" not in head


# Time


@pytest.mark.parametrize("kind", ["time", "a model in time"])
def test_the_promise_is_about_the_time_of_the_rows(kind):
    made = certificate(kind)
    for name, words in views(made).items():
        assert "new cases from the same source and the same time" in words
        assert "Nothing is promised about times after those of the certification rows ('day')" in words, name
        assert "errors early: " in words
        assert "Fisher's exact test" in words


def drifting(early, late, p_value):
    return with_part(certificate("a model in time"), drift=(Drift(200, early, 100, late, p_value),))


def test_drift_is_said_beside_the_bound_if_chance_does_not_explain_it():
    made = certificate("time")
    (drift,) = made.deployed_part.drift
    assert drift.p_value < 0.05
    late, early = 100 * drift.late_errors / drift.late_rows, 100 * drift.early_errors / drift.early_rows
    rates = f"late ({late:.2f} %) than early ({early:.2f} %)"
    assert f"Errors were more frequent {rates}" in told(made, "chance")
    assert f"Errors were more frequent {rates}" in page_words(made)[1]
    assert not any("chance" in text for text in cautions(drifting(4, 9, 0.05)))
    assert "less frequent late (1.00 %) than early (15.00 %)" in told(
        drifting(30, 1, math.nextafter(0.05, 0)), "chance"
    )


def test_the_p_value_is_in_words():
    """And so is what the test assumes."""
    words = details_text(drifting(4, 1, 0.6667))
    assert "errors early: 4 of 200 rows (2.00 %), late: 1 of 100 rows (1.00 %); p = 0.67 by Fisher's exact" in words
    assert "Fisher's exact test, which takes the rows for independent: no clear sign" in words
    drifted = drifting(4, 40, 1e-9)
    said = "p < 0.0001 by Fisher's exact test, which takes the rows for independent"
    assert f"{said}: errors that come in random order are hardly ever" in details_text(drifted)
    assert f"({said})" in told(drifted, "chance")


def test_a_comparison_by_entities_has_its_majority():
    from certivote import compare

    rng = np.random.default_rng(0)
    y = np.repeat(rng.integers(2, size=40), 5)
    X = rng.normal(size=(200, 2)) + 2 * y[:, None]
    table = compare(
        X, y, ["dis-b"], voters=Forest(RandomForestClassifier(n_estimators=5)), random_state=0, groups=patients(200)
    )
    text = comparison_text(table)
    assert "in the mean over groups" in text
    assert "These bounds are about a random row of a new group: rows with the same 'patient_id' are one" in text
    assert "new group" not in comparison_text(compare(X, y, ["dis-b"], voters=forest(5), random_state=0))
