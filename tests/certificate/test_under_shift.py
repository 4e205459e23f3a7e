"""What a certificate says of other populations, and the calculator with it."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from certivote import certify_predictions
from certivote.cli import app
from certivote.theory.calculator import formulas


@pytest.fixture(scope="module")
def certificate():
    return certify_predictions(["a", "b"] * 250, ["a", "b"] * 240 + ["b", "a"] * 10)


def test_without_a_difference_the_bound_stays(certificate):
    assert certificate.under_shift() == certificate.bound


def test_each_difference_by_hand(certificate):
    bound = certificate.bound
    assert certificate.under_shift(total_variation=0.01) == pytest.approx(bound + 0.01, rel=1e-15)
    assert certificate.under_shift(label_noise=0.02) == pytest.approx(bound + 0.02, rel=1e-15)
    shifted = certificate.under_shift(kl=0.01)
    divergence = shifted * np.log(shifted / bound) + (1 - shifted) * np.log((1 - shifted) / (1 - bound))
    assert shifted > bound
    assert divergence == pytest.approx(0.01, rel=1e-9)


def test_differences_are_given_by_name(certificate):
    with pytest.raises(TypeError):
        certificate.under_shift(0.01)
    with pytest.raises(ValueError, match="kl must be a finite number of nats"):
        certificate.under_shift(kl=-1.0)


def test_it_fails_only_where_the_bound_itself_does():
    """Draws from a known population, and the worst other one within the divergence: errors alone become more."""
    rng, error = np.random.default_rng(0), 0.05
    elsewhere = 0.11
    divergence = elsewhere * np.log(elsewhere / error) + (1 - elsewhere) * np.log((1 - elsewhere) / (1 - error))
    outcomes = set()
    for _ in range(30):
        wrong = rng.random(400) < error
        drawn = certify_predictions(np.zeros(400, dtype=int), wrong.astype(int), delta=0.5)
        fails = drawn.bound < error
        assert (drawn.under_shift(kl=divergence) < elsewhere) == fails
        assert (drawn.under_shift(total_variation=elsewhere - error) < elsewhere) == fails
        outcomes.add(fails)
    assert outcomes == {True, False}


def test_the_calculator_shifts_every_bound():
    plain, shifted = formulas(0.05, 2.0), formulas(0.05, 2.0, kl=0.01, label_noise=0.02)
    for own, other in zip(plain, shifted, strict=True):
        assert other.bound(12, 500) > own.bound(12, 500) + 0.02
        assert other.limit(0.1) > own.limit(0.1) + 0.02 == own.factor * 0.1 + 0.02
    with pytest.raises(ValueError, match="kl must be a finite number"):
        formulas(0.05, kl=-1.0)


def test_the_command_shows_the_shifted_bounds():
    def asked(*arguments):
        return CliRunner().invoke(app, ["bound", "--errors", "12", "--n", "500", *arguments])

    record = json.loads(asked("--shift-kl", "0.01", "--total-variation", "0.005", "--json").output)
    assert (record["shift_kl"], record["total_variation"], record["label_noise"]) == (0.01, 0.005, 0.0)
    expected = [row.bound(12, 500) for row in formulas(0.05, kl=0.01, total_variation=0.005)]
    assert [row["bound"] for row in record["bounds"]] == expected
    page = asked("--shift-kl", "0.01", "--label-noise", "0.02", "--target", "0.03").output
    assert "allow for a Kullback-Leibler divergence of 0.01 nats and wrong labels in 0.02 of all cases" in page
    assert "never" in page
    refused = asked("--shift-kl", "-1")
    assert refused.exit_code != 0
    assert "--shift-kl must be a finite number of nats" in refused.output
