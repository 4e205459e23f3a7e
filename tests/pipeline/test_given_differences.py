"""The differences of given models: counted, at which part of delta, and what follows from their limits."""

import dataclasses
import itertools
import json

import numpy as np
import pytest

from certivote import Certificate, certify, certify_difference, certify_predictions
from certivote.certificate import Difference
from certivote.maths.difference import difference_upper
from certivote.present import difference_text

RNG = np.random.default_rng(0)
TRUTH = np.where(RNG.random(600) < 0.4, "ill", "well")
PATIENTS = np.repeat(np.arange(120), 5)


def wrong_at(rows):
    answers = TRUTH.copy()
    answers[list(rows)] = np.where(answers[list(rows)] == "ill", "well", "ill")
    return answers


MODELS = {"xgb": wrong_at(range(20)), "cat": wrong_at(range(5, 30)), "rf": wrong_at(range(100, 200))}


def test_every_pair_is_counted_and_limited_on_both_sides_at_its_part_of_delta():
    certificate = certify_predictions(TRUTH, MODELS, delta=0.1)
    found = certificate.differences
    assert [(each.first, each.second) for each in found] == list(itertools.combinations(MODELS, 2))
    assert [each.discordant for each in found] == [(5, 10), (20, 100), (25, 100)]
    for each in found:
        assert (each.n, each.entities, each.losses, each.margin) == (600, 0, (), None)
        assert each.delta == pytest.approx(0.1 / 3)
        upper = difference_upper(*each.discordant, 600, each.delta / 2)
        lower = -difference_upper(*each.discordant[::-1], 600, each.delta / 2)
        assert upper <= each.upper <= upper + 2.0**-24
        assert lower - 2.0**-24 <= each.lower <= lower
        assert each.observed == (each.first_only - each.second_only) / 600
    assert [each.verdict for each in found] == ["cannot be told apart", "better", "better"]
    assert "'xgb' and 'cat' cannot be told apart on these rows" in certificate.details()
    assert Certificate.from_json(certificate.to_json()) == certificate


def test_differences_do_not_widen_what_was_promised_before():
    alone, both = certify_predictions(TRUTH, MODELS["xgb"]), certify_predictions(TRUTH, MODELS)
    assert both.candidates[0].statement.delta == pytest.approx(0.05 / 4)  # three models and their vote
    assert alone.differences == ()
    assert both.promises[0].delta == alone.promises[0].delta == 0.05


def test_together_with_the_bound_they_are_one_promise_more():
    certificate = certify_predictions(TRUTH, MODELS, together=True)
    own = sum(each.delta for each in certificate.differences)
    assert own == pytest.approx(certificate.promises[0].delta) == pytest.approx(0.05 / 5 / 2)


def test_of_more_than_ten_models_none_are_compared():
    several = {f"model {number}": wrong_at(range(number, number + 9)) for number in range(11)}
    assert len(certify_predictions(TRUTH, {name: several[name] for name in list(several)[:10]}).differences) == 45
    assert certify_predictions(TRUTH, several).differences == ()
    with pytest.raises(ValueError, match="give two, or up to 10"):
        certify_predictions(TRUTH, several, margin=0.1)


def test_models_are_compared_as_their_answers_are():
    models = {name: lambda X, answers=answers: answers for name, answers in MODELS.items()}
    X = np.arange(600.0)[:, None]
    assert certify(models, X, TRUTH).differences == certify_predictions(TRUTH, MODELS).differences


def test_with_groups_the_difference_is_that_of_a_row_of_a_new_one():
    found = certify_predictions(TRUTH, MODELS, groups=PATIENTS).differences[1]
    assert (found.entities, len(found.losses)) == (120, 120)
    first, second = (MODELS[name] != TRUTH for name in ("xgb", "rf"))
    each = (first.astype(float) - second).reshape(120, 5).mean(axis=1)
    assert sorted(found.losses) == pytest.approx(sorted((1 + each) / 2))
    assert found.observed == pytest.approx(each.mean())
    assert found.lower < each.mean() < found.upper < 0.05  # by bets in a fresh order
    seeded = certify_predictions(TRUTH, MODELS, groups=PATIENTS, random_state=1)
    assert (seeded.bets, seeded.differences[1].lower < each.mean() < seeded.differences[1].upper) == ("at once", True)


@pytest.mark.parametrize(
    ("lower", "upper", "margin", "verdict", "shown"),
    [
        (-0.03, -0.01, None, "better", True),
        (-0.03, 0.01, None, "cannot be told apart", False),
        (0.01, 0.03, None, "worse", False),
        (-0.03, 0.01, 0.02, "not worse by more than 0.02", True),
        (-0.03, 0.01, 0.01, "cannot be told apart", False),
        (-0.03, -0.01, 0.01, "better", True),
        (0.001, 0.01, 0.02, "worse, but not worse by more than 0.02", True),
        (0.01, 0.03, 0.02, "worse", False),
    ],
)
def test_what_is_said_follows_from_the_limits(lower, upper, margin, verdict, shown):
    found = Difference("a", "b", 100, 0, 3, 4, (), 0.05, margin, lower, upper)
    assert (found.verdict, found.within_margin) == (verdict, shown)
    text = difference_text(found)
    for word in verdict.split(" worse")[0].split(", ")[0].split():
        assert word in text
    assert ("by more than 2 percentage points" in text) == ("0.02" in verdict)


def test_limits_in_words_are_rounded_outwards():
    found = Difference("a", "b", 100, 0, 3, 4, (), 0.05, None, -0.012345, 0.012345)
    assert "-1.24 to 1.24 percentage points" in str(found)
    assert "smaller by 1.23 to 2.35" in str(dataclasses.replace(found, lower=-0.02345, upper=-0.01234))
    assert "larger by 1.23 to 2.35" in str(dataclasses.replace(found, lower=0.01234, upper=0.02345))


def test_rows_needed_would_do():
    """With so many rows, and the shares that were seen, four of five samples tell the models apart, or nearly so."""
    found = certify_difference(TRUTH, MODELS["xgb"], wrong_at([*range(5, 20), *range(30, 41)]))
    assert found.verdict == "cannot be told apart"
    n = found.rows_needed()
    assert 600 < n < found.rows_needed(0.95)
    outcomes = np.random.default_rng(0).multinomial(n, [5 / 600, 11 / 600, 584 / 600], size=150)[:, :2].tolist()
    shown = np.mean([difference_upper(a, b, n, 0.025) < 0.0 for a, b in outcomes])
    assert 0.68 < shown < 0.95
    same = certify_difference(TRUTH, MODELS["xgb"], wrong_at(range(5, 25)))
    assert same.rows_needed() is None
    assert dataclasses.replace(same, margin=0.01).rows_needed() > 600
    with pytest.raises(ValueError, match="power"):
        same.rows_needed(1.0)


def test_a_margin_is_recorded_and_checked():
    found = certify_difference(TRUTH, MODELS["xgb"], MODELS["rf"], margin=0.05)
    assert (found.first, found.second, found.margin) == ("first", "second", 0.05)
    certificate = certify_predictions(TRUTH, MODELS, margin=0.05)
    assert dict(certificate.provenance.parameters)["margin"] == "0.05"
    for wrong in (0.0, 1.0, "0.1", True, float("nan")):
        with pytest.raises(ValueError, match="margin"):
            certify_difference(TRUTH, MODELS["xgb"], MODELS["rf"], margin=wrong)
    with pytest.raises(ValueError, match="give two"):
        certify_predictions(TRUTH, MODELS["xgb"], margin=0.1)


@pytest.mark.parametrize(
    "change",
    [
        {"first_only": 596, "second_only": 5},
        {"lower": 0.5, "upper": 0.25},
        {"entities": 3},
        {"losses": [0.5]},
        {"upper": 1.5},
        {"delta": 0.0},
        {"margin": -0.5},
    ],
)
def test_records_that_contradict_themselves_are_refused(change):
    record = json.loads(certify_predictions(TRUTH, MODELS).to_json())
    record["differences"][0] |= change
    with pytest.raises(ValueError, match="differences"):
        Certificate.from_json(json.dumps(record))
