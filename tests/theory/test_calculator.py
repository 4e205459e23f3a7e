"""Which bounds the calculator lists; what they are worth is tested with the command that prints them."""

import math
from fractions import Fraction

import pytest

from certivote.theory.calculator import LARGEST, formulas, rows_needed
from certivote.theory.methods import METHODS


def test_every_method_with_something_to_count_is_listed_holdout_first():
    listed = [row.method for row in formulas(0.05)]
    counted = [name for name, method in METHODS.items() if method.counted]
    assert listed[0] == "holdout"
    assert list(dict.fromkeys(listed)) == sorted(counted, key=lambda name: name != "holdout")
    assert {"smv-mc", "bin", "c-bound"}.isdisjoint(listed)


def test_theorems_with_a_constant_are_listed_with_both():
    for name, method in METHODS.items():
        constants = [row.constant for row in formulas(0.05) if row.method == name]
        expected = ["exact", "paper"] if method.theorem.has_constant else [""]
        assert constants == (expected if method.counted else [])


def test_a_line_says_what_the_table_of_methods_says():
    for row in formulas(0.05, 2.0, renyi_order=3.0):
        method = METHODS[row.method]
        assert row.theorem == method.theorem.name + (" (order 3)" if row.method == "dis-v" else "")
        assert (row.certified, row.counted) == (method.predictor.short, method.counted)
        assert row.bound(LARGEST // 10, LARGEST) == pytest.approx(row.factor / 10, rel=1e-2)


def test_a_negative_penalty_is_for_draws_only():
    assert {row.method for row in formulas(0.05, -1.0)} == {"holdout", "dis-b", "dis-r"}


def test_errors_need_not_be_whole():
    for row in formulas(0.05, 1.0):
        assert row.bound(3, 100) < row.bound(3.5, 100) < row.bound(4, 100)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.0,), "delta must be at least 1e-100 and less than 1; got 0.0"),
        ((1.0,), "delta must be at least 1e-100 and less than 1"),
        ((math.nan,), "delta must be at least 1e-100 and less than 1"),
        ((0.05, math.inf), "penalty must be a finite number of nats"),
        ((0.05, math.nan), "penalty must be a finite number of nats"),
        ((0.05, 0.0, 1.0), "renyi_order must be greater than 1; got 1.0"),
    ],
)
def test_bad_numbers_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        formulas(*arguments)


@pytest.mark.parametrize(
    ("rate", "target", "message"),
    [
        (Fraction(-1, 9), 0.1, "rate must lie between 0 and 1"),
        (Fraction(10, 9), 0.1, "rate must lie between 0 and 1"),
        (Fraction(0), 0.0, "target must lie strictly between 0 and 1"),
        (Fraction(0), 1.0, "target must lie strictly between 0 and 1"),
    ],
)
def test_impossible_rates_and_targets_are_refused(rate, target, message):
    with pytest.raises(ValueError, match=message):
        rows_needed(formulas(0.05)[0].bound, rate, target)


@pytest.mark.parametrize(
    "rate", [Fraction(0), Fraction(1, 20), Fraction(1, 7), Fraction(2, 7), Fraction(5, 12), Fraction(3, 10)]
)
@pytest.mark.parametrize("above", [0.06, 0.08, 0.11, 0.15, 0.22, 0.3, 0.6, 0.96])
def test_the_size_is_the_first_that_suffices(rate, above):
    """With as many errors as the rate makes, rounded up: of all sizes, tried one by one."""
    bound, target = formulas(0.05)[0].bound, min(float(rate) + above, 0.97)
    first = next(n for n in range(1, 5000) if bound(math.ceil(rate * n), n) <= target)
    assert rows_needed(bound, rate, target) == first
