import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from reference import exact_inverse

from certivote.maths.binary_kl import kl
from certivote.theory import bounds, general_bounds

SIZES = [1, 2, 7, 306, 2000, 10**5]
DELTAS = [0.5, 0.05, 1e-3, 1e-9]
ORDERS = [1.01, 1.5, 2.0, 10.0]
TERMS = [-4.0, 0.0, 0.3, 5.0, 250.0]
CONSTANTS = ["paper", "exact"]


def exact_constant(n, constant):
    """``2 sqrt(n)``, or Maurer's sum term by term."""
    if constant == "paper":
        return 2 * mp.sqrt(n)
    if n > 10_000:
        return mp.gammainc(n + 1, n) * mp.exp(n - n * mp.log(n))
    total, weight = mpf(0), mpf(1)
    for k in range(n + 1):
        share = mpf(k) / n
        total += weight * share**k * (1 - share) ** (n - k)
        weight = weight * (n - k) / (k + 1)
    return total


def exact_c_bound(gibbs, disagreement):
    return 1 - (1 - 2 * Fraction(gibbs)) ** 2 / (1 - 2 * Fraction(disagreement))


def possible_disagreement(gibbs, share):
    """A share of ``2 r (1 - r)``, the largest disagreement that a mean wrong mass ``r`` allows, never above it."""
    largest = 2 * Fraction(gibbs) * (1 - Fraction(gibbs))
    value = share * float(largest)
    return math.nextafter(value, 0.0) if Fraction(value) > largest else value


def assert_close_above(got, true, scale=None):
    assert got >= true, f"below by {mp.nstr(true - got, 3)} of {mp.nstr(true, 12)}"
    assert got - true <= mpf("1e-11") * (true if scale is None else scale), f"above by {mp.nstr(got - true, 3)}"


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("constant", CONSTANTS)
def test_log_constant_against_mpmath(n, constant):
    with mp.workdps(40):
        true = mp.log(exact_constant(n, constant))
        assert abs(general_bounds.log_constant(n, constant) - true) <= 1e-12
        assert general_bounds.log_constant(n, constant) >= true - mpf("2e-15")


def test_log_constant_is_the_papers_by_default():
    assert (
        general_bounds.log_constant(2000)
        == general_bounds.log_constant(2000, "paper")
        > general_bounds.log_constant(2000, "exact")
    )


@settings(deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), max_size=6), st.floats(-1e6, 1e6))
def test_sums_are_never_rounded_down(terms, large):
    for nats in (terms, [*terms, large, -large], [*terms, -math.fsum(terms)]):
        exact = sum((Fraction(term) for term in nats), Fraction(0))
        got = general_bounds.add_up(*nats)
        assert got >= exact
        assert got - exact <= Fraction(2, 10**15) * sum(abs(Fraction(term)) for term in nats)


def test_a_sum_that_cancels_keeps_its_small_terms():
    assert general_bounds.add_up(1e8, 1e-9, -1e8) >= 1e-9
    assert general_bounds.add_up(1e8, 1e-9, -1e8) == pytest.approx(0.0, abs=1e-6)


def test_an_empty_sum_is_zero():
    assert general_bounds.add_up() == 0.0


@pytest.mark.parametrize("theorem", [general_bounds.pac_bayes, general_bounds.disintegrated_ratio])
@pytest.mark.parametrize("delta", DELTAS)
def test_theorems_1_and_3_against_mpmath(theorem, delta):
    with mp.workdps(40):
        for term in TERMS:
            for log_moment in (0.0, 3.7, -2.0, 60.0):
                true = mpf(term) + mpf(log_moment) + mp.log(1 / mpf(delta))
                scale = abs(mpf(term)) + abs(mpf(log_moment)) + mp.log(1 / mpf(delta))
                assert_close_above(theorem(term, log_moment, delta), true, scale)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("delta", DELTAS)
def test_theorem_4_against_mpmath(order, delta):
    with mp.workdps(40):
        for term in TERMS:
            for log_moment in (0.0, 3.7, -2.0):
                price = (2 * mpf(order) - 1) / (mpf(order) - 1) * mp.log(2 / mpf(delta))
                true = mpf(term) + mpf(log_moment) + price
                got = general_bounds.disintegrated_renyi(term, log_moment, delta, order)
                assert_close_above(got, true, abs(mpf(term)) + abs(mpf(log_moment)) + price)


@pytest.mark.parametrize("constant", CONSTANTS)
@pytest.mark.parametrize("n", SIZES)
def test_theorem_2_against_mpmath(n, constant):
    with mp.workdps(40):
        confidence = mp.log(exact_constant(n, constant) / mpf(0.05))
        for errors in {0, 1, n // 20, n // 2, n}:
            for divergence in (0.0, 0.3, 5.0, 250.0):
                nats = mpf(divergence) + confidence
                true = exact_inverse(mpf(errors) / n, nats / n, 1)
                got = bounds.seeger_maurer(errors / n, divergence, n, 0.05, constant)
                assert_close_above(got, true)


INSTANCES = {
    "seeger_maurer": (
        lambda risk, term, n, delta: bounds.seeger_maurer(risk, term, n, delta),
        lambda term, n, delta: general_bounds.pac_bayes(term, math.log(2 * math.sqrt(n)), delta),
    ),
    "dis_r": (
        lambda risk, term, n, delta: bounds.dis_r(risk, term, n, delta),
        lambda term, n, delta: general_bounds.disintegrated_ratio(term, math.log(2 * math.sqrt(n)), delta),
    ),
    # Theorem 4 with phi = exp[(lambda-1)/lambda n kl]: the left side is n kl, the moment that of e^(n kl).
    "dis_v": (
        lambda risk, term, n, delta: bounds.dis_v(risk, term, n, delta, 1.5),
        lambda term, n, delta: general_bounds.disintegrated_renyi(term, math.log(2 * math.sqrt(n)), delta, 1.5),
    ),
}


@pytest.mark.parametrize("name", INSTANCES)
@pytest.mark.parametrize("n", [7, 306, 2000, 10**5])
def test_concrete_bounds_solve_the_general_theorem_at_n_kl(name, n):
    bound, right_side = INSTANCES[name]
    for risk in (0.0, 0.05, 0.4):
        for term in (0.0, 2.0, 20.0):
            for delta in (0.05, 1e-3):
                value = bound(risk, term, n, delta)
                if value < 1 - 1e-6:
                    assert n * float(kl(risk, value)) == pytest.approx(right_side(term, n, delta), rel=1e-9)


def test_theorem_4_with_its_own_phi_is_theorem_7():
    # lambda/(lambda-1) ln phi = n kl for phi = exp[(lambda-1)/lambda n kl], whose moment is E e^(n kl) <= 2 sqrt(n).
    n, delta, order, renyi, risk = 500, 0.05, 3.0, 4.0, 0.1
    value = bounds.dis_v(risk, renyi, n, delta, order)
    log_phi = (order - 1) / order * n * float(kl(risk, value))
    right = general_bounds.disintegrated_renyi(renyi, general_bounds.log_constant(n), delta, order)
    assert order / (order - 1) * log_phi == pytest.approx(right, rel=1e-9)


@settings(deadline=None)
@given(st.floats(0.0, 0.5, exclude_max=True), st.floats(0.0, 1.0))
def test_c_bound_against_its_formula(gibbs, share):
    disagreement = possible_disagreement(gibbs, share)
    excess = Fraction(bounds.c_bound(gibbs, disagreement)) - exact_c_bound(gibbs, disagreement)
    assert 0 <= excess <= Fraction(15, 10**16)


@pytest.mark.parametrize("gibbs", [0.0, 1e-300, 1e-17, 1e-9, 0.1, 0.25, 1 / 3, 0.499999, 0.5 - 2**-54])
@pytest.mark.parametrize("share", [0.0, 1e-9, 0.3, 1.0])
def test_c_bound_against_its_formula_at_its_edges(gibbs, share):
    disagreement = possible_disagreement(gibbs, share)
    got = bounds.c_bound(gibbs, disagreement)
    assert 0 <= Fraction(got) - exact_c_bound(gibbs, disagreement) <= Fraction(15, 10**16)
    assert 0 <= got <= 1


@pytest.mark.parametrize(
    ("gibbs", "disagreement"),
    [
        (0.14551580149836255, 0.24861456546528402),
        (0.1434878693383779, 0.2457754411354218),
        (0.14264649834030432, 0.24288014045354464),
    ],
)
def test_c_bound_where_all_its_roundings_go_down(gibbs, disagreement):
    assert Fraction(disagreement) <= 2 * Fraction(gibbs) * (1 - Fraction(gibbs))
    assert Fraction(bounds.c_bound(gibbs, disagreement)) >= exact_c_bound(gibbs, disagreement)


@settings(deadline=None)
@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.floats(0.0, 0.49), st.floats(0.0, 0.49))
def test_c_bound_grows_with_the_risk_and_falls_with_the_disagreement(first, second, one, other):
    (low, high), (few, many) = sorted((first, second)), sorted((one, other))
    for disagreement in (few, many):
        assert bounds.c_bound(low, disagreement) <= bounds.c_bound(high, disagreement)
    for gibbs in (low, high):
        assert bounds.c_bound(gibbs, many) <= bounds.c_bound(gibbs, few)


def test_c_bound_is_strictly_monotone_where_it_applies():
    assert bounds.c_bound(0.1, 0.1) < bounds.c_bound(0.2, 0.1) < bounds.c_bound(0.3, 0.1) < 1
    assert bounds.c_bound(0.3, 0.3) < bounds.c_bound(0.3, 0.2) < bounds.c_bound(0.3, 0.1)


@pytest.mark.parametrize("gibbs", [0.5, 0.500001, 0.75, 1.0])
@pytest.mark.parametrize("disagreement", [0.0, 0.3, 0.5])
def test_c_bound_says_nothing_from_one_half_on(gibbs, disagreement):
    assert bounds.c_bound(gibbs, disagreement) == 1.0


@pytest.mark.parametrize("n", [1, 30, 2000, 10**5])
def test_moment_limits_against_mpmath(n):
    with mp.workdps(40):
        for risk, disagreement in [(0.0, 0.0), (0.1, 0.15), (0.3, 0.42), (0.5, 0.5), (1.0, 0.0)]:
            for nats in [(0.0, 0.0), (3.0, 7.0), (40.0, 60.0)]:
                upper, lower = bounds.moment_limits(risk, disagreement, nats, n)
                assert_close_above(upper, exact_inverse(risk, mpf(nats[0]) / n, 1))
                true = exact_inverse(disagreement, mpf(nats[1]) / n, 0)
                assert 0 <= true - lower <= mpf("1e-11") * true + mpf("1e-35")


def test_moment_limits_treat_negative_nats_and_disagreement_as_none():
    upper, lower = bounds.moment_limits(0.2, 0.25, (-5.0, -5.0), 100)
    # One step outward, for statistics that were rounded to the nearest float.
    assert 0.2 < upper <= 0.2 * (1 + 1e-15)
    assert 0.25 * (1 - 1e-15) <= lower < 0.25
    assert bounds.moment_limits(0.2, -1e-17, (3.0, 3.0), 100)[1] == 0.0


CALLS = {
    "pac_bayes": lambda delta: general_bounds.pac_bayes(1.0, 2.0, delta),
    "disintegrated_ratio": lambda delta: general_bounds.disintegrated_ratio(1.0, 2.0, delta),
    "disintegrated_renyi": lambda delta: general_bounds.disintegrated_renyi(1.0, 2.0, delta, 1.5),
    "seeger_maurer": lambda delta: bounds.seeger_maurer(0.1, 1.0, 100, delta),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("delta", [0.0, 1.0, 1.5, -0.05, math.nan, math.inf])
def test_an_impossible_delta_is_refused(name, delta):
    with pytest.raises(ValueError, match="delta must lie strictly between 0 and 1; got"):
        CALLS[name](delta)


@pytest.mark.parametrize("order", [1.0, 0.5, -2.0, math.nan])
def test_an_order_of_at_most_one_is_refused(order):
    with pytest.raises(ValueError, match="renyi_order must be greater than 1; got"):
        general_bounds.disintegrated_renyi(1.0, 2.0, 0.05, order)


@pytest.mark.parametrize("n", [0, -3])
@pytest.mark.parametrize("constant", CONSTANTS)
def test_an_empty_sample_is_refused(n, constant):
    with pytest.raises(ValueError, match="n must be at least 1; got"):
        general_bounds.log_constant(n, constant)
    with pytest.raises(ValueError, match="n must be at least 1; got"):
        bounds.seeger_maurer(0.1, 1.0, n, 0.05, constant)


def test_an_unknown_constant_is_refused():
    with pytest.raises(ValueError, match="constant must be 'paper' or 'exact'; got 'maurer'"):
        general_bounds.log_constant(100, "maurer")
