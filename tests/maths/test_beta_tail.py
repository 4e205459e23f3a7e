import math

import numpy as np
import pytest
from mpmath import mp, mpf

from certivote.maths.beta_tail import BetaTailTable, half_tail, half_tail_derivative

PARAMETERS = [1e-3, 0.03, 0.5, 1.0, 3.7, 40.0, 41.5, 1e3, 1.05e3, 2e4, 9.9e4, 1e5]
TOTALS = [0.001, 0.1, 1.0, 2.0, 10.0, 50.0, 300.0, 1e4, 1e5, 1e6]


def exact_tail(a, b):
    """``I_{1/2}(a, b)`` for ``a >= b`` by the series 2F1(a+b, 1; a+1; 1/2) of positive terms: no digit is lost."""
    a, b = mpf(a), mpf(b)
    term = total = mpf(1)
    k = 0
    while term > total * mpf(10) ** (-mp.dps):
        term *= (a + b + k) / (2 * (a + 1 + k))
        total += term
        k += 1
    return total * mpf(2) ** -(a + b) / (a * mp.beta(a, b))


def exact_half_tail(a, b):
    return exact_tail(a, b) if a >= b else 1 - exact_tail(b, a)


def exact_derivative(a, b):
    """``d/da I_{1/2}(a, b)``, by differences of whichever tail is the small one."""
    a, b = mpf(a), mpf(b)
    h = a * mpf(10) ** (-mp.dps // 3)
    if a >= b:
        return (exact_tail(a + h, b) - exact_tail(a - h, b)) / (2 * h)
    return (exact_tail(b, a - h) - exact_tail(b, a + h)) / (2 * h)


def dense_grid(total):
    """Wrong masses over the whole range, over the tail's width, and close to both ends."""
    return np.concatenate(
        [
            np.linspace(0.0, total, 3001),
            np.clip(total / 2 + np.linspace(-10, 10, 3001) * math.sqrt(total) / 2, 0.0, total),
            total * np.geomspace(1e-15, 1.0, 301),
            total * (1 - np.geomspace(1e-15, 1.0, 301)),
        ]
    )


def test_the_reference_agrees_with_mpmath():
    with mp.workdps(40):
        for a, b in [(3.7, 2.2), (2.2, 3.7), (0.01, 5.0), (30.0, 20.5)]:
            assert abs(exact_half_tail(a, b) - mp.betainc(a, b, 0, 0.5, regularized=True)) < mpf(10) ** -35


@pytest.mark.parametrize("right", PARAMETERS)
def test_half_tail_against_mpmath(right):
    with mp.workdps(30):
        for wrong in PARAMETERS:
            total = right + wrong
            got = float(half_tail(np.array([wrong]), total)[0])
            assert got == pytest.approx(float(exact_half_tail(total - wrong, wrong)), rel=1e-10, abs=1e-300), wrong


@pytest.mark.parametrize("a", PARAMETERS)
def test_derivative_against_mpmath(a):
    with mp.workdps(60):
        for b in PARAMETERS:
            expected = float(exact_derivative(a, b))
            assert float(half_tail_derivative(a, b)) == pytest.approx(expected, rel=1e-8, abs=1e-300), b


def test_derivative_of_arrays():
    a, b = np.array([[0.5], [3.0]]), np.array([0.1, 2.0, 70.0])
    table = half_tail_derivative(a, b)
    assert table.shape == (2, 3)
    expected = [[float(half_tail_derivative(row[0], column)) for column in b] for row in a]
    np.testing.assert_allclose(table, expected, rtol=1e-13)


@pytest.mark.parametrize("total", TOTALS)
def test_edges(total):
    wrong = np.array([0.0, total / 2, total])
    value = half_tail(wrong, total)
    assert value[[0, 2]].tolist() == [0.0, 1.0]
    assert value[1] == pytest.approx(0.5, rel=1e-12)
    np.testing.assert_allclose(BetaTailTable(total, 0.0, total)(wrong)[0], value, rtol=0, atol=1e-7)


@pytest.mark.parametrize("total", TOTALS)
def test_table_value(total):
    wrong = dense_grid(total)
    value, _, _ = BetaTailTable(total, 0.0, total)(wrong)
    assert np.max(np.abs(value - half_tail(wrong, total))) < 1e-7


@pytest.mark.parametrize("total", TOTALS)
def test_table_derivatives(total):
    wrong = dense_grid(total)
    wrong = wrong[(wrong > 1e-6 * total) & (wrong < (1 - 1e-6) * total)]
    _, slope, in_total = BetaTailTable(total, 0.0, total)(wrong)
    by_right = half_tail_derivative(total - wrong, wrong)
    by_wrong = -half_tail_derivative(wrong, total - wrong)
    assert np.max(np.abs(in_total - by_right)) < 1e-3 * np.max(np.abs(by_right))
    assert np.max(np.abs(slope - (by_wrong - by_right))) < 1e-3 * np.max(np.abs(by_wrong - by_right))


@pytest.mark.parametrize("total", [0.1, 1.0, 10.0, 1e5])
@pytest.mark.parametrize(
    ("low", "high"), [(0.0, 0.0), (1.0, 1.0), (0.5, 0.5), (0.499, 0.5), (0.45, 0.6), (0.0, 0.3), (0.9, 1.0)]
)
def test_table_over_a_part_of_the_range(total, low, high):
    wrong = np.linspace(low * total, high * total, 501)
    value, slope, in_total = BetaTailTable(total, wrong[0], wrong[-1])(wrong)
    assert np.max(np.abs(value - half_tail(wrong, total))) < 1e-7
    inside = (wrong > 0) & (wrong < total)
    by_right = half_tail_derivative(total - wrong[inside], wrong[inside])
    by_wrong = -half_tail_derivative(wrong[inside], total - wrong[inside])
    steepest = -2 * float(half_tail_derivative(total / 2, total / 2))
    assert np.all(np.abs(in_total[inside] - by_right) < 1e-3 * steepest)
    assert np.all(np.abs(slope[inside] - (by_wrong - by_right)) < 1e-3 * steepest)
    assert np.all(np.isfinite(slope))
    assert np.all(np.isfinite(in_total))
