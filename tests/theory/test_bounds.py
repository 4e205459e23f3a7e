import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from reference import exact_kl
from scipy import stats

from certivote.theory import bounds, general_bounds

DELTA = 0.05
HALVES = (DELTA / 2, DELTA / 2)
DIVISIONS = [HALVES, (0.01, 0.04)]
SIZES = [1, 2, 10, 306, 2000, 20_000, 10**6, 10**8]
PENALTIES = [-2.0, 0.0, 0.3, 5.0, 100.0]
CONSTANTS = ["paper", "exact"]

risks = st.one_of(st.floats(0.0, 1.0), st.floats(0.0, 0.1), st.sampled_from([0.0, 1.0]))
nats = st.floats(-5.0, 200.0)
sizes = st.integers(1, 10**6)


def counts(n):
    """Numbers of errors to try: none, few, half, nearly all and all."""
    return sorted({0, 1, n // 20, n // 3, n // 2, n - 1, n})


def exact_inverse(q, eps):
    """``max{p >= q : kl(q || p) <= eps}`` by bisection in mpmath."""
    if eps <= 0 or q == 1:
        return q
    low, high = q, mpf(1)
    while high - low > low * mpf(10) ** -20:
        middle = (low + high) / 2
        low, high = (middle, high) if exact_kl(q, middle) <= eps else (low, middle)
    return low


def exact_constant(n, constant):
    """``2 sqrt(n)``, or Maurer's sum in the form of an incomplete gamma function."""
    if constant == "paper":
        return 2 * mp.sqrt(n)
    return mp.gammainc(n + 1, n) * mp.exp(n - n * mp.log(n))


def nats_r(log_ratio, n, delta, constant):
    return mpf(log_ratio) + mp.log(exact_constant(n, constant) / delta)


def nats_v(renyi, n, delta, order, constant):
    order = mpf(order)
    if constant == "paper":
        price = (2 * order - 1) / (order - 1) * mp.log(2 / delta)
    else:
        # Markov twice, with a share of delta each that makes the derivative in it vanish.
        share = order / (2 * order - 1)
        price = order / (order - 1) * mp.log(1 / (share * delta)) + mp.log(1 / ((1 - share) * delta))
    return mpf(renyi) + price + mp.log(exact_constant(n, constant))


def assert_close_above(got, true):
    assert got >= true, f"below by {mp.nstr(true - got, 3)} of {mp.nstr(true, 12)}"
    assert got - true <= mpf("1e-9") * true, f"above by {mp.nstr(got - true, 3)} of {mp.nstr(true, 12)}"


@pytest.mark.parametrize("constant", CONSTANTS)
@pytest.mark.parametrize("n", SIZES)
def test_dis_r_against_mpmath(n, constant):
    with mp.workdps(40):
        for errors in counts(n):
            for log_ratio in PENALTIES:
                true = exact_inverse(mpf(errors) / n, nats_r(log_ratio, n, mpf(DELTA), constant) / n)
                assert_close_above(bounds.dis_r(errors / n, log_ratio, n, DELTA, constant), true)


@pytest.mark.parametrize("constant", CONSTANTS)
@pytest.mark.parametrize("n", SIZES)
def test_dis_v_against_mpmath(n, constant):
    with mp.workdps(40):
        for errors in counts(n):
            for renyi, order in [(0.0, 1.5), (5.0, 1.1), (5.0, 2.0), (100.0, 10.0)]:
                true = exact_inverse(mpf(errors) / n, nats_v(renyi, n, mpf(DELTA), order, constant) / n)
                assert_close_above(bounds.dis_v(errors / n, renyi, n, DELTA, order, constant), true)


CROSSES = [
    # errors, penalties, sizes, share of the first
    ((0, 0), (5.0, 3.0), (1, 1), 0.5),
    ((0, 0), (5.0, 3.0), (2000, 1500), 0.5),
    ((100, 80), (5.0, 3.0), (2000, 1500), 0.5),
    ((100, 80), (0.0, 30.0), (2000, 1500), 0.3),
    ((100, 1500), (5.0, 3.0), (2000, 1500), 0.9),
    ((2000, 1500), (5.0, 3.0), (2000, 1500), 0.25),
    ((7, 7), (0.2, 0.1), (100, 100), 1.0),
    ((12345, 10**6), (50.0, 40.0), (10**6, 10**8), 1 / 3),
    ((5, 0), (20.0, 0.0), (10, 10**8), 0.1),
]


@pytest.mark.parametrize("deltas", DIVISIONS)
@pytest.mark.parametrize("constant", CONSTANTS)
@pytest.mark.parametrize(("errors", "penalties", "parts", "share"), CROSSES)
def test_dis_r_cross_against_mpmath(errors, penalties, parts, share, constant, deltas):
    with mp.workdps(40):
        shares = [mpf(share), 1 - mpf(share)]
        risk = mp.fsum(t * mpf(k) / n for t, k, n in zip(shares, errors, parts, strict=True))
        eps = mp.fsum(
            t * nats_r(pen, n, mpf(delta), constant) / n
            for t, pen, n, delta in zip(shares, penalties, parts, deltas, strict=True)
        )
        got = bounds.dis_r_cross(
            [k / n for k, n in zip(errors, parts, strict=True)], penalties, parts, deltas, [share, 1 - share], constant
        )
        assert_close_above(got, exact_inverse(risk, eps))


@pytest.mark.parametrize("deltas", DIVISIONS)
@pytest.mark.parametrize("constant", CONSTANTS)
@pytest.mark.parametrize("orders", [(1.5, 1.5), (3.0, 3.0), (1.1, 2.0)])
@pytest.mark.parametrize(("errors", "penalties", "parts", "share"), CROSSES)
def test_dis_v_cross_against_mpmath(errors, penalties, parts, share, orders, constant, deltas):
    with mp.workdps(40):
        shares = [mpf(share), 1 - mpf(share)]
        risk = mp.fsum(t * mpf(k) / n for t, k, n in zip(shares, errors, parts, strict=True))
        eps = mp.fsum(
            t * nats_v(pen, n, mpf(delta), order, constant) / n
            for t, pen, n, delta, order in zip(shares, penalties, parts, deltas, orders, strict=True)
        )
        rates = [k / n for k, n in zip(errors, parts, strict=True)]
        got = bounds.dis_v_cross(rates, penalties, parts, deltas, orders, [share, 1 - share], constant)
        assert_close_above(got, exact_inverse(risk, eps))


@pytest.mark.parametrize("n", [10, 100, 10**6])
def test_a_penalty_that_nearly_cancels_the_confidence_is_not_rounded_down(n):
    confidence = math.log(2 * math.sqrt(n) / DELTA)
    with mp.workdps(40):
        for errors in (0, 1, n // 2):
            for rest in (1e-12, 1e-9, 1e-6, 1e-3):
                eps = nats_r(rest - confidence, n, mpf(DELTA), "paper") / n
                true = exact_inverse(mpf(errors) / n, eps)
                assert bounds.dis_r(errors / n, rest - confidence, n, DELTA) >= true, (errors, rest)


@pytest.mark.parametrize("n", [1, 7, 2000, 10**8])
@pytest.mark.parametrize("delta", [1e-6, 0.05, 0.5])
@pytest.mark.parametrize("constant", CONSTANTS)
def test_what_the_theorems_pay_against_their_formulas(n, delta, constant):
    moment = general_bounds.log_constant(n, constant)
    with mp.workdps(40):
        assert moment == pytest.approx(float(mp.log(exact_constant(n, constant))), abs=1e-11)
        for penalty in (-3.0, 0.0, 40.0):
            expected = float(nats_r(penalty, n, mpf(delta), constant))
            assert general_bounds.disintegrated_ratio(penalty, moment, delta) == pytest.approx(expected, abs=1e-11)
            assert general_bounds.pac_bayes(penalty, moment, delta) == pytest.approx(expected, abs=1e-11)
            expected = float(nats_v(penalty, n, mpf(delta), 1.5, constant))
            got = general_bounds.disintegrated_renyi(penalty, moment, delta, 1.5, constant)
            assert got == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize("order", [1.01, 1.5, 2.0, 10.0, 1000.0])
def test_no_other_division_of_delta_is_cheaper(order):
    got = general_bounds.disintegrated_renyi(0.0, 0.0, DELTA, order, "exact")
    with mp.workdps(40):
        order = mpf(order)
        for share in [mpf(k) / 100 for k in range(1, 100)]:
            price = -order / (order - 1) * mp.log(share * DELTA) - mp.log((1 - share) * DELTA)
            assert got <= price + mpf("1e-11")


@pytest.mark.parametrize(
    ("n", "log_ratio", "paper", "exact", "renyi"),
    [
        (2000, 0.0, 0.0711, 0.0704, 0.0819),
        (2000, 5.0, 0.0781, 0.0776, 0.0875),
        (2000, 20.0, 0.0945, 0.0941, 0.1019),
        (2000, 100.0, 0.1538, 0.1535, 0.1588),
        (20_000, 5.0, 0.0585, 0.0583, 0.0608),
        (20_000, 20.0, 0.0625, 0.0624, 0.0643),
    ],
)
def test_published_figures_at_five_percent_error(n, log_ratio, paper, exact, renyi):
    assert round(bounds.dis_r(0.05, log_ratio, n, 0.05), 4) == paper
    assert round(bounds.dis_r(0.05, log_ratio, n, 0.05, "exact"), 4) == exact
    assert round(bounds.dis_v(0.05, log_ratio, n, 0.05, renyi_order=2.0), 4) == renyi


@pytest.mark.parametrize("n", [1, 2, 3, 5, 10, 100, 2000, 10**5, 10**8])
@pytest.mark.parametrize("risk", [0.0, 0.05, 0.5, 1.0])
def test_the_exact_constant_is_never_looser(n, risk):
    for penalty in (0.0, 5.0, 100.0):
        assert bounds.dis_r(risk, penalty, n, DELTA, "exact") <= bounds.dis_r(risk, penalty, n, DELTA) * (1 + 1e-12)
        paper, exact = (bounds.dis_v(risk, penalty, n, DELTA, 1.5, constant) for constant in CONSTANTS)
        assert exact <= paper * (1 + 1e-12)
    if n >= 2 and risk < 1:
        assert bounds.dis_r(risk, 0.0, n, DELTA, "exact") < bounds.dis_r(risk, 0.0, n, DELTA)


@settings(deadline=None)
@given(risks, risks, nats, nats, sizes, sizes, st.floats(0.0, 1.0))
def test_theorem_8_is_never_tighter_than_the_average_of_the_two_bounds(r1, r2, pen1, pen2, n1, n2, share):
    together = bounds.dis_r_cross([r1, r2], [pen1, pen2], [n1, n2], HALVES, [share, 1 - share])
    own = [bounds.dis_r(r, pen, n, DELTA / 2) for r, pen, n in [(r1, pen1, n1), (r2, pen2, n2)]]
    assert together >= (share * own[0] + (1 - share) * own[1]) * (1 - 1e-12)


@settings(deadline=None)
@given(risks, nats, sizes, st.floats(0.0, 1.0))
def test_two_equal_parts_are_one_at_half_the_delta(risk, penalty, n, share):
    together = bounds.dis_r_cross([risk, risk], [penalty, penalty], [n, n], HALVES, [share, 1 - share])
    assert together == pytest.approx(bounds.dis_r(risk, penalty, n, DELTA / 2), rel=1e-11)
    together = bounds.dis_v_cross([risk, risk], [abs(penalty)] * 2, [n, n], HALVES, [1.5, 1.5], [share, 1 - share])
    assert together == pytest.approx(bounds.dis_v(risk, abs(penalty), n, DELTA / 2, 1.5), rel=1e-11)


@settings(deadline=None)
@given(risks, nats, nats, sizes)
def test_bounds_grow_with_the_penalty(risk, first, second, n):
    small, large = sorted((first, second))
    assert risk <= bounds.dis_r(risk, small, n, DELTA) <= bounds.dis_r(risk, large, n, DELTA) * (1 + 1e-12) <= 1 + 1e-12


@pytest.mark.parametrize("risk", [0.0, 0.05, 1.0])
def test_a_very_negative_penalty_leaves_the_risk(risk):
    assert risk <= bounds.dis_r(risk, -1e4, 2000, DELTA) <= risk * (1 + 1e-15)
    assert risk <= bounds.sample_bound(risk, -1e4, 2000) <= risk * (1 + 1e-15)
    both = bounds.dis_r_cross([risk, risk], [-1e4, -1e4], [2000, 100], HALVES, [0.5, 0.5])
    assert risk <= both <= risk * (1 + 2e-15)


def test_the_penalty_of_one_part_does_not_pay_for_the_other():
    with_credit = bounds.average_bound([0.1, 0.1], [-50.0, 10.0], [100, 100], [0.5, 0.5])
    assert with_credit == bounds.average_bound([0.1, 0.1], [0.0, 10.0], [100, 100], [0.5, 0.5])
    assert with_credit == pytest.approx(bounds.sample_bound(0.1, 5.0, 100), rel=1e-12)


@pytest.mark.parametrize("delta", [0.5, 0.05, 1e-3, 1e-9])
@pytest.mark.parametrize("n", [1, 2, 30, 1000, 10**6])
def test_holdout_against_the_beta_quantile(n, delta):
    for errors in counts(n):
        expected = stats.beta.isf(delta, errors + 1, n - errors) if errors < n else 1.0
        assert bounds.holdout(errors, n, delta) == pytest.approx(expected, rel=1e-8)
        if errors < n and delta >= 0.05:
            assert bounds.holdout(errors, n, delta) == pytest.approx(
                stats.beta.ppf(1 - delta, errors + 1, n - errors), rel=1e-8
            )


CALLS = {
    "dis_r": lambda delta=DELTA, n=100, constant="paper": bounds.dis_r(0.1, 1.0, n, delta, constant),
    "dis_v": lambda delta=DELTA, n=100, constant="paper": bounds.dis_v(0.1, 1.0, n, delta, 1.5, constant),
    "dis_r_cross": lambda delta=DELTA, n=100, constant="paper": bounds.dis_r_cross(
        [0.1, 0.1], [1.0, 1.0], [100, n], [DELTA / 2, delta], [0.5, 0.5], constant
    ),
    "dis_v_cross": lambda delta=DELTA, n=100, constant="paper": bounds.dis_v_cross(
        [0.1, 0.1], [1.0, 1.0], [100, n], [DELTA / 2, delta], [1.5, 1.5], [0.5, 0.5], constant
    ),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("delta", [0.0, 1.0, 1.5, -0.05, math.nan, math.inf])
def test_an_impossible_delta_is_refused(name, delta):
    with pytest.raises(ValueError, match="delta must lie strictly between 0 and 1"):
        CALLS[name](delta=delta)


@pytest.mark.parametrize("delta", [0.0, 1.0, 1.5, -0.05, math.nan, math.inf])
def test_an_impossible_delta_is_refused_by_holdout(delta):
    with pytest.raises(ValueError, match="delta must lie strictly between 0 and 1"):
        bounds.holdout(1, 10, delta)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("n", [0, -3])
def test_an_empty_sample_is_refused(name, n):
    with pytest.raises(ValueError, match="n must be at least 1"):
        CALLS[name](n=n)


def test_holdout_refuses_impossible_counts():
    with pytest.raises(ValueError, match="n must be at least 1"):
        bounds.holdout(0, 0, DELTA)
    for errors in (-1, 11):
        with pytest.raises(ValueError, match="errors must lie between 0 and n"):
            bounds.holdout(errors, 10, DELTA)


@pytest.mark.parametrize("name", CALLS)
def test_an_unknown_constant_is_refused(name):
    with pytest.raises(ValueError, match="constant must be 'paper' or 'exact'"):
        CALLS[name](constant="maurer")


@pytest.mark.parametrize("order", [1.0, 0.5, -2.0, math.nan])
def test_an_order_of_at_most_one_is_refused(order):
    with pytest.raises(ValueError, match="renyi_order must be greater than 1"):
        bounds.dis_v(0.1, 1.0, 100, DELTA, order)
    with pytest.raises(ValueError, match="renyi_order must be greater than 1"):
        bounds.dis_v_cross([0.1, 0.1], [1.0, 1.0], [100, 100], HALVES, [1.5, order], [0.5, 0.5])


@pytest.mark.parametrize("weights", [[0.5, 0.6], [0.5, 0.4], [1.5, -0.5], [0.5, 0.5 + 1e-9]])
def test_weights_that_do_not_sum_to_one_are_refused(weights):
    with pytest.raises(ValueError, match="weights of an average must be non-negative and sum to 1"):
        bounds.dis_r_cross([0.1, 0.1], [1.0, 1.0], [100, 100], HALVES, weights)
    with pytest.raises(ValueError, match="weights of an average must be non-negative and sum to 1"):
        bounds.dis_v_cross([0.1, 0.1], [1.0, 1.0], [100, 100], HALVES, [1.5, 1.5], weights)


@pytest.mark.parametrize("risk", [-0.1, 1.1, math.nan])
def test_a_risk_outside_the_unit_interval_is_refused(risk):
    with pytest.raises(ValueError, match=r"q must lie in \[0, 1\]"):
        bounds.dis_r(risk, 1.0, 100, DELTA)


def test_a_penalty_that_is_no_number_is_refused():
    with pytest.raises(ValueError, match="NaN"):
        bounds.dis_r(0.1, math.nan, 100, DELTA)
    with pytest.raises(ValueError, match="NaN"):
        bounds.dis_r_cross([0.1, 0.1], [1.0, math.nan], [100, 100], HALVES, [0.5, 0.5])


def test_an_infinite_penalty_gives_one():
    assert bounds.dis_r(0.1, math.inf, 100, DELTA) == 1.0
    assert bounds.dis_v(0.1, math.inf, 100, DELTA, 1.5) == 1.0
