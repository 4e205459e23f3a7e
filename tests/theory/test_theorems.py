import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from reference import differences_of_bound, exact_inverse

from certivote.theory import bounds
from certivote.theory.theorems import (
    Account,
    CBound,
    ClopperPearson,
    OccamsHammer,
    Ratio,
    Renyi,
    SeegerMaurer,
    Setting,
    c_bound_slopes,
    kl_slopes,
)

FACTORS = [1.0, 2.0, 4.0]
CONFIDENCE = 6.0
CONSTANTS = ["paper", "exact"]
SETTINGS = {constant: Setting(0.05, 1.5, constant) for constant in CONSTANTS}
OTHER = Setting(0.02, 3.0, "paper")
KL = {
    "Theorem 5": SeegerMaurer(),
    "factor two": SeegerMaurer(factor=2.0),
    "second order": SeegerMaurer(factor=4.0, multiple=2.0),
    "Theorem 6": Ratio(),
    "Theorem 7": Renyi(),
}
BINOMIAL = {"Occam's hammer": OccamsHammer(), "Clopper-Pearson": ClopperPearson()}
THEOREMS = {**KL, **BINOMIAL, "C-bound": CBound()}


def exact_constant(n, constant):
    """``2 sqrt(n)``, or Maurer's sum in the form of an incomplete gamma function."""
    if constant == "paper":
        return 2 * mp.sqrt(n)
    return mp.gammainc(n + 1, n) * mp.exp(n - n * mp.log(n))


def exact_confidence(name, n, setting):
    """What the theorem of this name pays for holding with probability ``1 - delta``, as it is printed."""
    delta, moment = mpf(setting.delta), mp.log(exact_constant(n, setting.constant))
    if name in BINOMIAL:
        return -mp.log(delta)
    if name == "C-bound":
        return moment - mp.log(delta / 2)
    if name != "Theorem 7":
        return moment - mp.log(delta)
    order = mpf(setting.renyi_order)
    first = mpf(1) / 2 if setting.constant == "paper" else order / (2 * order - 1)
    return moment - order / (order - 1) * mp.log(first * delta) - mp.log((1 - first) * delta)


def exact_c_limits(risks, penalty, confidence, n):
    upper = exact_inverse(risks[0], (mpf(penalty) + mpf(confidence)) / n, 1)
    return upper, exact_inverse(risks[1], (2 * mpf(penalty) + mpf(confidence)) / n, 0)


def exact_c_bound(upper, lower):
    return mpf(1) if upper >= 0.5 else 1 - (1 - 2 * upper) ** 2 / (1 - 2 * lower)


def exact_binomial_limit(errors, n, level):
    """Largest ``p`` with ``P[Bin(n, p) <= errors] >= level``, by summing the tail."""
    low, high = mpf(0), mpf(1)
    if errors == n:
        return high
    for _ in range(110):
        middle = (low + high) / 2
        tail = mp.fsum(mp.binomial(n, k) * middle**k * (1 - middle) ** (n - k) for k in range(errors + 1))
        low, high = (middle, high) if tail >= level else (low, middle)
    return high


def assert_close_above(got, true):
    assert got >= true, f"below by {mp.nstr(true - got, 3)} of {mp.nstr(true, 12)}"
    assert got - true <= mpf("1e-9"), f"above by {mp.nstr(got - true, 3)} of {mp.nstr(true, 12)}"


@pytest.mark.parametrize("setting", [*SETTINGS.values(), OTHER], ids=["paper", "exact", "other"])
@pytest.mark.parametrize("n", [1, 7, 300, 10**5])
@pytest.mark.parametrize("name", THEOREMS)
def test_confidence_against_mpmath(name, n, setting):
    theorem = THEOREMS[name]
    with mp.workdps(40):
        true = exact_confidence(name, n, setting)
        assert abs(theorem.confidence(n, setting) - true) <= mpf("1e-11")
        assert theorem.confidence(n, setting) >= true - mpf("1e-14")
        constant = mp.log(exact_constant(n, setting.constant)) if theorem.has_constant else mpf(0)
        assert abs(theorem.constant_nats(n, setting) - constant) <= mpf("1e-12")


SAMPLES = [(0.0, 0.0, 100), (0.05, 3.0, 300), (0.2, 40.0, 2000), (0.45, 5.0, 50), (1.0, 5.0, 100), (0.1, -20.0, 100)]


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize(("risk", "penalty", "n"), SAMPLES)
def test_an_inverted_kl_against_mpmath(factor, risk, penalty, n):
    with mp.workdps(40):
        true = factor * exact_inverse(risk, (mpf(penalty) + mpf(CONFIDENCE)) / n, 1)
        assert_close_above(SeegerMaurer(factor=factor).invert((risk,), penalty, CONFIDENCE, n), true)


@pytest.mark.parametrize("setting", [*SETTINGS.values(), OTHER], ids=["paper", "exact", "other"])
@pytest.mark.parametrize("name", KL)
@pytest.mark.parametrize(("risk", "penalty", "n"), SAMPLES)
def test_bounds_by_the_kl_against_mpmath(name, risk, penalty, n, setting):
    with mp.workdps(40):
        eps = (mpf(penalty) + exact_confidence(name, n, setting)) / n
        true = KL[name].factor * exact_inverse(risk, eps, 1)
        assert_close_above(KL[name].bound((risk,), penalty, n, setting), true)


def test_theorem_5_has_factor_one_by_default():
    value = SeegerMaurer().invert((0.05,), 5.0, math.log(2 * math.sqrt(2000) / 0.05), 2000)
    assert value == pytest.approx(bounds.dis_r(0.05, 5.0, 2000, 0.05), rel=1e-12)


@pytest.mark.parametrize(("factor", "risk"), [(2.0, 0.45), (4.0, 0.25), (4.0, 0.9)])
def test_bounds_above_one_come_as_they_are(factor, risk):
    theorem, setting = SeegerMaurer(factor=factor), SETTINGS["paper"]
    value = theorem.bound((risk,), 3.0, 200, setting)
    assert value > 1
    assert value == pytest.approx(factor * SeegerMaurer().bound((risk,), 3.0, 200, setting), rel=1e-15)
    both = theorem.average([Account((risk,), 3.0, 200, setting)] * 2, [0.5] * 2)
    assert both == pytest.approx(value, rel=1e-12)
    assert theorem.slopes(risk, 3.0, 200, setting)[0] == pytest.approx(value, rel=1e-12)
    assert theorem.invert((risk,), 3.0, CONFIDENCE, 200) > 1


MOMENTS = [
    ((0.0, 0.0), 0.0, 100),
    ((0.1, 0.15), 3.0, 300),
    ((0.2, 0.3), 5.0, 2000),
    ((0.3, 0.2), 1.0, 2000),
    ((0.1, 0.0), 2.0, 500),
    ((0.45, 0.48), 5.0, 100),
    ((0.8, 0.2), 0.0, 100),
]


@pytest.mark.parametrize(("risks", "penalty", "n"), MOMENTS)
def test_the_c_bound_against_mpmath(risks, penalty, n):
    with mp.workdps(40):
        true = exact_c_bound(*exact_c_limits(risks, penalty, CONFIDENCE, n))
        assert_close_above(CBound().invert(risks, penalty, CONFIDENCE, n), true)
        for setting in SETTINGS.values():
            confidence = exact_confidence("C-bound", n, setting)
            true = exact_c_bound(*exact_c_limits(risks, penalty, confidence, n))
            assert_close_above(CBound().bound(risks, penalty, n, setting), true)


@pytest.mark.parametrize(("risks", "penalty", "n"), [((0.45, 0.48), 5.0, 100), ((0.8, 0.2), 0.0, 100)])
def test_the_c_bound_is_one_where_it_does_not_apply(risks, penalty, n):
    setting = SETTINGS["paper"]
    assert CBound().invert(risks, penalty, CONFIDENCE, n) == 1.0
    assert CBound().bound(risks, penalty, n, setting) == 1.0
    assert CBound().slopes(risks, penalty, n, setting)[0] >= 1.0


@pytest.mark.parametrize("name", BINOMIAL)
@pytest.mark.parametrize("delta", [0.5, 0.05, 1e-6])
@pytest.mark.parametrize(("errors", "n"), [(0, 1), (0, 50), (1, 50), (7, 50), (50, 50), (12, 400)])
def test_bounds_by_the_binomial_tail_against_the_tail(name, errors, n, delta):
    with mp.workdps(40):
        true = exact_binomial_limit(errors, n, mpf(delta))
        assert_close_above(BINOMIAL[name].invert((errors / n,), 0.0, -math.log(delta), n), true)
        assert_close_above(BINOMIAL[name].bound((errors / n,), 0.0, n, Setting(delta, 1.5, "exact")), true)
        true = exact_binomial_limit(errors, n, mpf(delta) * mp.exp(-2))
        assert_close_above(BINOMIAL[name].bound((errors / n,), 2.0, n, Setting(delta, 1.5, "exact")), true)


@pytest.mark.parametrize("name", BINOMIAL)
@pytest.mark.parametrize("n", [3, 7, 569, 10**5 + 3])
def test_bounds_by_the_binomial_tail_find_the_count_behind_the_error_rate(name, n):
    theorem, setting = BINOMIAL[name], SETTINGS["exact"]
    for errors in {1, n // 3, n // 2, n - 1}:
        for got in (
            theorem.invert((errors / n,), 0.0, -math.log(0.05), n),
            theorem.bound((errors / n,), 0.0, n, setting),
            theorem.of_errors(errors, 0.0, n, setting),
        ):
            assert got == pytest.approx(bounds.holdout(errors, n, 0.05), rel=1e-9)


@pytest.mark.parametrize("name", BINOMIAL)
@pytest.mark.parametrize(("errors", "penalty", "n"), [(0, 0.0, 50), (7, 3.0, 50), (12, 40.0, 400), (399, 1.0, 400)])
def test_the_binomial_tail_is_trained_by_the_chernoff_limit_above_it(name, errors, penalty, n):
    setting = Setting(math.exp(-CONFIDENCE), 1.5, "exact")
    got = BINOMIAL[name].slopes(errors / n, penalty, n, setting)
    with mp.workdps(40):
        true = exact_inverse(mpf(errors) / n, (mpf(penalty) + mpf(CONFIDENCE)) / n, 1)
        assert got[0] == pytest.approx(float(true), rel=1e-5)  # smoothed where there are no errors
    assert got == kl_slopes(errors / n, penalty + BINOMIAL[name].confidence(n, setting), n)
    # Without errors the two are the same, and only the bound is rounded up.
    assert got[0] >= BINOMIAL[name].bound((errors / n,), penalty, n, setting) * (1 - 1e-12)


@pytest.mark.parametrize("constant", CONSTANTS)
@pytest.mark.parametrize("name", THEOREMS)
@pytest.mark.parametrize(
    ("risks", "penalty", "n"), [((0.05, 0.07), 3.0, 300), ((0.2, 0.3), 40.0, 2000), ((0.45, 0.48), 5.0, 50)]
)
def test_a_bound_is_its_inversion_at_its_own_confidence(name, risks, penalty, n, constant):
    theorem, setting = THEOREMS[name], SETTINGS[constant]
    value = theorem.bound(risks, penalty, n, setting)
    assert theorem.invert(risks, penalty, theorem.confidence(n, setting), n) == pytest.approx(value, rel=1e-13)
    if name != "C-bound" and name not in BINOMIAL:
        assert theorem.of_errors(risks[0] * n, penalty, n, setting) == pytest.approx(value, rel=1e-13)


@pytest.mark.parametrize("constant", CONSTANTS)
@pytest.mark.parametrize("name", KL)
@pytest.mark.parametrize(("risk", "penalty", "n"), [(0.05, 3.0, 300), (0.2, 40.0, 2000), (0.45, 5.0, 50)])
def test_slopes_of_bounds_by_the_kl_against_differences(name, risk, penalty, n, constant):
    theorem, setting = KL[name], SETTINGS[constant]
    value, in_risk, in_penalty = theorem.slopes(risk, penalty, n, setting)
    assert value == pytest.approx(theorem.bound((risk,), penalty, n, setting), rel=1e-12)
    expected = differences_of_bound(lambda r, p: theorem.bound(r, p, n, setting), np.array([risk]), penalty)
    assert in_risk == pytest.approx(expected[0][0], rel=1e-5)
    assert in_penalty == pytest.approx(expected[1], rel=1e-5)


def test_slopes_of_bounds_by_the_kl_accept_statistics_in_an_array():
    theorem, setting = SeegerMaurer(factor=2.0), SETTINGS["paper"]
    assert theorem.slopes(np.array([0.1]), 3.0, 300, setting) == theorem.slopes(0.1, 3.0, 300, setting)


@pytest.mark.parametrize("risk", [0.0, 1.0])
@pytest.mark.parametrize("name", [*KL, *BINOMIAL])
def test_slopes_are_finite_at_the_edges(name, risk):
    for penalty in (-1e4, 0.0, 1e4):
        slopes = THEOREMS[name].slopes(risk, penalty, 100, SETTINGS["exact"])
        assert all(math.isfinite(part) for part in slopes)


@pytest.mark.parametrize(
    ("risks", "penalty", "n"),
    [((0.1, 0.15), 3.0, 300), ((0.2, 0.3), 5.0, 2000), ((0.3, 0.2), 1.0, 2000), ((0.02, 0.03), 30.0, 1000)],
)
def test_slopes_of_the_c_bound_against_differences(risks, penalty, n):
    theorem, setting = CBound(), SETTINGS["exact"]
    value, in_risks, in_penalty = theorem.slopes(np.array(risks), penalty, n, setting)
    assert value < 1
    assert value == pytest.approx(theorem.bound(risks, penalty, n, setting), rel=1e-9)
    expected = differences_of_bound(lambda r, p: theorem.bound(r, p, n, setting), np.array(risks), penalty)
    np.testing.assert_allclose(in_risks, expected[0], rtol=1e-5)
    assert in_penalty == pytest.approx(expected[1], rel=1e-5)
    assert in_risks[0] > 0 > in_risks[1]
    assert in_penalty > 0


@pytest.mark.parametrize(("risks", "penalty", "n"), [((0.45, 0.48), 5.0, 100), ((0.6, 0.2), 2.0, 1000)])
def test_slopes_of_the_c_bound_where_it_does_not_apply(risks, penalty, n):
    theorem, setting = CBound(), SETTINGS["paper"]
    value, in_risks, in_penalty = theorem.slopes(np.array(risks), penalty, n, setting)
    assert theorem.bound(risks, penalty, n, setting) == 1.0
    nats = penalty + theorem.confidence(n, setting)
    assert value == pytest.approx(0.5 + bounds.sample_bound(risks[0], nats, n), rel=1e-12)
    expected = c_bound_slopes(np.array(risks), penalty, theorem.confidence(n, setting), n)
    np.testing.assert_array_equal(in_risks, expected[1])
    assert in_penalty == expected[2] > 0
    assert in_risks[0] > 0


risks_of = st.floats(0.0, 1.0)
halves = st.tuples(risks_of, st.floats(0.0, 1.0), st.floats(0.0, 60.0), st.integers(20, 5000))


def two_accounts(parts, share):
    """Two halves with settings of their own, the second statistic no larger than the first allows."""
    accounts = [
        Account((risk, part * 2 * risk * (1 - risk)), penalty, n, setting)
        for (risk, part, penalty, n), setting in zip(parts, (SETTINGS["paper"], OTHER), strict=True)
    ]
    return accounts, [share, 1 - share]


@pytest.mark.parametrize("name", THEOREMS)
@settings(deadline=None)
@given(st.tuples(halves, halves), st.floats(0.0, 1.0))
def test_an_average_is_never_below_the_mean_of_the_own_bounds(name, parts, share):
    accounts, weights = two_accounts(parts, share)
    theorem = THEOREMS[name]
    own = [theorem.bound(*account) for account in accounts]
    average = theorem.average(accounts, weights)
    assert average >= math.fsum(t * bound for t, bound in zip(weights, own, strict=True)) * (1 - 1e-12) - 1e-14
    assert average >= min(own) * (1 - 1e-12) - 1e-14


CROSSES = [
    (((0.1, 0.5, 3.0, 300), (0.2, 0.9, 5.0, 200)), 0.5),
    (((0.1, 0.5, 3.0, 300), (0.6, 0.9, 5.0, 200)), 0.8),
    (((0.0, 0.5, 30.0, 3000), (0.4, 0.1, 0.0, 250)), 0.3),
    (((0.3, 1.0, 1.0, 2000), (0.3, 1.0, 1.0, 2000)), 1.0),
    (((0.9, 0.5, 3.0, 300), (0.8, 0.9, 5.0, 200)), 0.5),
]


@pytest.mark.parametrize("name", KL)
@pytest.mark.parametrize(("parts", "share"), CROSSES)
def test_the_average_of_bounds_by_the_kl_is_that_of_theorem_8(parts, share, name):
    accounts, weights = two_accounts(parts, share)
    with mp.workdps(40):
        exact = [mpf(share), 1 - mpf(share)]
        risk = mp.fsum(t * mpf(account.risks[0]) for t, account in zip(exact, accounts, strict=True))
        eps = mp.fsum(
            t * (mpf(account.penalty) + exact_confidence(name, account.n, account.setting)) / account.n
            for t, account in zip(exact, accounts, strict=True)
        )
        true = KL[name].factor * exact_inverse(risk, eps, 1)
        assert_close_above(KL[name].average(accounts, weights), true)


@pytest.mark.parametrize(("parts", "share"), CROSSES)
def test_the_average_of_the_c_bound_is_that_of_the_average_limits(parts, share):
    accounts, weights = two_accounts(parts, share)
    with mp.workdps(40):
        limits = [
            exact_c_limits(risks, penalty, exact_confidence("C-bound", n, setting), n)
            for risks, penalty, n, setting in accounts
        ]
        upper, lower = (mpf(share) * first + (1 - mpf(share)) * second for first, second in zip(*limits, strict=True))
        assert_close_above(CBound().average(accounts, weights), exact_c_bound(upper, lower))


@pytest.mark.parametrize("name", BINOMIAL)
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_the_average_of_bounds_by_the_binomial_tail_is_the_mean_of_the_own_bounds(share, name):
    deltas = (math.exp(-CONFIDENCE), 0.05)
    with mp.workdps(40):
        own = [exact_binomial_limit(3, 40, mpf(deltas[0])), exact_binomial_limit(9, 60, mpf(deltas[1]) * mp.exp(-2))]
        true = mpf(share) * own[0] + (1 - mpf(share)) * own[1]
        accounts = [
            Account((3 / 40,), 0.0, 40, Setting(deltas[0], 1.5, "paper")),
            Account((9 / 60,), 2.0, 60, Setting(deltas[1], 1.5, "paper")),
        ]
        assert_close_above(BINOMIAL[name].average(accounts, [share, 1 - share]), true)
        got = bounds.average_of_bounds([BINOMIAL[name].bound(*account) for account in accounts], [share, 1 - share])
        assert_close_above(got, true)


@pytest.mark.parametrize("constant", CONSTANTS)
@pytest.mark.parametrize("name", THEOREMS)
def test_the_average_of_two_equal_halves_is_the_bound_of_one(name, constant):
    account = Account((0.1, 0.15), 3.0, 300, SETTINGS[constant])
    average = THEOREMS[name].average([account, account], [0.5, 0.5])
    assert average == pytest.approx(THEOREMS[name].bound(*account), rel=1e-12)


@pytest.mark.parametrize("theorem", THEOREMS.values(), ids=THEOREMS)
def test_weights_of_an_average_that_do_not_sum_to_one_are_refused(theorem):
    account = Account((0.1, 0.1), 1.0, 100, SETTINGS["paper"])
    with pytest.raises(ValueError, match="weights of an average must be non-negative and sum to 1"):
        theorem.average([account] * 2, [0.5, 0.6])
    with pytest.raises(ValueError, match="weights of an average must be non-negative and sum to 1"):
        bounds.average_of_bounds([0.1, 0.1], [0.5, 0.6])
